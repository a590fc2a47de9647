"""`insync versions`: releases with their switches, and the claims and bounds of each system."""

from __future__ import annotations

from typing import Any

import click

from conformance.cli.common import emit_json, json_option, say, show_table
from model.assumptions import ASSUMPTIONS
from model.bugs.flags import FLAGS, PublishedFlag
from model.language import System
from model.language.system import shown
from model.systems import SYSTEMS
from model.versions import INCOMPATIBLE_SWITCHES, LINES, RELEASES, SWITCHES
from specs.rendering import rows


@click.command()
@click.option("--flags", is_flag=True, help="Also list the flags of the published list of bugs.")
@json_option
def versions(flags: bool, json_target: str | None) -> None:
    """List releases and switches with their KIP or JIRA, and every system's versions and bounds.

    What stands here is what --version, --set, --without, --brokers and --bound accept. --flags
    adds what each flag of the sheet of historic bugs is here: a switch and its value.

    \b
    Example:
      insync versions
      insync versions --flags
      insync versions --json -
    """
    _show_releases(json_target)
    _show_switches(json_target)
    _show_assumptions(json_target)
    if flags:
        _show_flags(json_target)
    for system in SYSTEMS.values():
        _show_system(system, json_target)
    emit_json(
        json_target,
        {
            "releases": [
                {"name": name, "about": about, "switches": switches}
                for name, (about, switches) in RELEASES.items()
            ],
            "switches": [
                {
                    "name": switch.name,
                    "values": list(switch.values),
                    "before": switch.values[0],
                    "about": switch.about,
                    "source": switch.source,
                    "systems": _users(switch.name),
                }
                for switch in SWITCHES.values()
            ],
            "clashes": [
                {
                    "switches": {clash.one: list(clash.ones), clash.other: list(clash.others)},
                    "why": clash.why,
                    "instead": clash.instead,
                }
                for clash in INCOMPATIBLE_SWITCHES
            ],
            "assumptions": rows(ASSUMPTIONS),
            "flags": [
                {
                    "name": flag.name,
                    "entries": list(flag.entries),
                    "system": flag.system,
                    "switches": dict(flag.settings),
                    "excuse": flag.excuse or None,
                }
                for flag in FLAGS.values()
            ],
            "systems": [_shown_system(system) for system in SYSTEMS.values()],
        },
    )


def _users(switch: str) -> list[str]:
    return [system.name for system in SYSTEMS.values() if switch in system.switches]


def _show_releases(json_target: str | None) -> None:
    # A release is a column: there are more switches than releases that a reader compares.
    say("releases", json_target)
    show_table(
        ["switch", *RELEASES, "source"],
        [
            (
                name,
                *(shown(switches[name]) for _, switches in RELEASES.values()),
                switch.source,
            )
            for name, switch in SWITCHES.items()
        ],
        json_target,
    )
    for name, (about, _) in RELEASES.items():
        say(f"{name:<5} {about}", json_target)
    for line, (last, base, apart) in LINES.items():
        but = ", ".join(f"{name}={shown(value)}" for name, value in apart.items())
        also = f"as {base}{f', but {but}' if but else ''}"
        if line != base:
            say(f"{line:<6} ({line}.0 to {line}.{last}) {also}", json_target)


def _show_switches(json_target: str | None) -> None:
    say("\nswitches (the value before the fix first)", json_target)
    show_table(
        ["switch", "values", "systems"],
        [
            (
                switch.name,
                " ".join(shown(value) for value in switch.values),
                " ".join(_users(switch.name)) or "none yet",
            )
            for switch in SWITCHES.values()
        ],
        json_target,
    )
    for switch in SWITCHES.values():
        say(f"{switch.name}: {switch.about}", json_target)
    say("\nwhat does not go together", json_target)
    for clash in INCOMPATIBLE_SWITCHES:
        one, other = _side(clash.one, clash.ones), _side(clash.other, clash.others)
        say(f"{one} and {other}: {clash.why}", json_target)
    say("", json_target)


def _show_assumptions(json_target: str | None) -> None:
    say("assumed in every release, though not every release has it", json_target)
    for one in ASSUMPTIONS:
        value = f"{one.switch}={shown(SWITCHES[one.switch].values[-1])}"
        breaks = f"breaks {one.claim} of {one.system}"
        say(f"{value} (untrue: {one.untrue}): {one.limit}; {breaks}", json_target)
    say("", json_target)


def _side(switch: str, values: tuple[object, ...]) -> str:
    return f"{switch}={' or '.join(shown(value) for value in values)}"


def _show_flags(json_target: str | None) -> None:
    say("flags of the sheet of bugs", json_target)
    show_table(
        ["flag", "bugs", "here"],
        [(flag.name, " ".join(flag.entries), _settings_of(flag)) for flag in FLAGS.values()],
        json_target,
        prose=["here"],
    )
    say("", json_target)


def _settings_of(flag: PublishedFlag) -> str:
    if flag.system is None:
        return f"not expressed: {flag.excuse}"
    return ", ".join(f"{name}={shown(value)}" for name, value in flag.settings.items())


def _show_system(system: System, json_target: str | None) -> None:
    say(f"system {system.name}: {system.about}", json_target)
    show_table(
        ["bound", "default", "least", "what it limits"],
        [
            (name, "no limit" if bound.default is None else bound.default, bound.least, bound.what)
            for name, bound in system.bounds.items()
        ],
        json_target,
        right=["default", "least"],
        prose=["what it limits"],
    )
    if _follows_releases(system):
        say(f"versions: the releases (default {system.default_version})", json_target)
    else:
        for version in system.versions.values():
            default = " (default)" if version.name == system.default_version else ""
            say(f"version {version.name}{default}: {version.about}", json_target)
    say(f"claims: {', '.join(claim.name for claim in system.claims)}\n", json_target)


def _follows_releases(system: System) -> bool:
    return set(system.versions) == set(RELEASES)


def _shown_system(system: System) -> dict[str, Any]:
    return {
        "name": system.name,
        "about": system.about,
        "default_version": system.default_version,
        "versions": [
            {"name": one.name, "about": one.about, "switches": one.switches}
            for one in system.versions.values()
        ],
        "switches": system.switches,
        "bounds": [
            row for name, bound in system.bounds.items() for row in rows([bound], name=name)
        ],
        "claims": [
            {"name": claim.name, "kind": claim.kind, "sentence": claim.sentence}
            for claim in system.claims
        ],
    }
