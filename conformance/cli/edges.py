"""`insync edges`: every edge of the model's state graph, taken on the implementation."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import click

from conformance.cli.chosen_system import Size, refusals, system_named
from conformance.cli.common import (
    Progress,
    WrongUse,
    emit_json,
    finish,
    json_option,
    say,
    show_table,
    unknown,
)
from conformance.cli.coverage_option import coverage_option, measured
from conformance.cli.keep_results import keep_story_text, open_option, show, story_option
from conformance.mapping import MAPPED, SystemMap, map_of
from conformance.mapping.rows import Family
from impl.releases import DEFAULT, Release
from model.former_names import family_now
from specs.rendering import as_data
from specs.verdict import Verdict, combine

if TYPE_CHECKING:
    from conformance.diagnosis import Diagnosis
    from conformance.edges import EdgeMismatch

SMALL = map_of("replication").small
"""The bounds of `replication` by default: a graph that is walked whole in a second."""


@click.command()
@click.argument("system", default="replication")
@click.option("--all", "everything", is_flag=True, help="Every system that has a map, in turn.")
@click.option("--deep", is_flag=True, help="With --all: also the families that take minutes each.")
@click.option("--version", metavar="V", help="A release (see versions).")
@click.option("--brokers", metavar="N", help="Short for --bound brokers=N.")
@click.option("--bound", "bounds", metavar="NAME=N", multiple=True, help="Change one bound.")
@click.option(
    "--max-states",
    metavar="N",
    type=click.IntRange(min=1),
    help="Walk the edges of the first N states only; the answer is then at best unknown.",
)
@click.option("--family", metavar="NAME", help="A part of the graph: one family of faults.")
@click.option(
    "--map", "only_map", is_flag=True, help="Print instead which step is which transition."
)
@coverage_option
@story_option
@open_option
@json_option
def edges(
    system: str,
    everything: bool,
    deep: bool,
    version: str | None,
    brokers: str | None,
    bounds: tuple[str, ...],
    max_states: int | None,
    family: str | None,
    only_map: bool,
    coverage: str | None,
    save_story: str | None,
    opens: bool,
    json_target: str | None,
) -> None:
    """Walk every edge of the graph of SYSTEM on the implementation, and back.

    In every state the implementation takes each transition that the model allows there, and must
    end in the same state; each step that the implementation offers must be one of the model's.
    Exits 0 when a whole graph is covered, 1 at a mismatch, 2 when states were left out. The first
    mismatch is reported as a shrunk run from the initial state: --save-story keeps it, --open shows
    it. --map lists the parts of a system's graph, one family of faults each.

    \b
    Example:
      insync edges
      insync edges election --max-states 2000
      insync edges election --map
      insync edges topics --brokers 1 --bound partitions=2
      insync edges topics --family deposed
      insync edges --all --coverage coverage.json
      insync edges reassignment --version 2.4 --save-story mismatch.story
      insync edges --bound versions=2 --bound expiries=1 --max-states 5000 --json -
    """
    from conformance.edges import walk_edges

    if everything:
        if bounds or brokers or version or family or only_map or save_story or opens:
            raise WrongUse("--all walks each system at its own bounds; leave the others out")
        finish(_all(deep, max_states, coverage, json_target))
    if deep:
        raise WrongUse("--deep is of --all; name a family with --family, or write --all --deep")
    if system not in MAPPED:
        raise unknown("system with a map", system, MAPPED)
    about = map_of(system)
    if only_map:
        _show_map(about, json_target)
        return
    given = [text.partition("=")[0] for text in bounds] + (["brokers"] if brokers else [])
    chosen = Size(brokers, bounds).limits(system_named(system))
    _refuse_what_has_no_row(about, version)
    part = None if family is None else _family(about, family)
    limits = {**about.small, **(part.bounds if part else {})}
    limits |= {name: chosen[name] for name in given}
    with refusals():
        system_named(system).version(version)
    began = time.monotonic()
    try:
        with measured(coverage, json_target), Progress() as progress:
            report = walk_edges(limits, max_states, progress, about, version, part)
    except ValueError as error:
        raise WrongUse(str(error)) from error
    seconds = round(time.monotonic() - began, 3)
    for mismatch in report.mismatches:
        say(f"{mismatch}\n", json_target)
    diagnosis = None if report.first is None else _diagnosed(report.first, about, limits, version)
    if diagnosis is not None:
        say(f"from the beginning:\n{diagnosis.as_text()}\n", json_target)
    show_table(("transition", "edges"), sorted(report.fired.items()), json_target, right=("edges",))
    shown = ", ".join(f"{name}={value}" for name, value in limits.items())
    left = sum(report.not_walked.values())
    say(
        f"{report.verdict}: {report.covered:,} of {report.edges:,} edges covered, "
        f"{f'{left:,} of transitions that {family} leaves out, ' if left else ''}"
        f"{report.states:,} states{'' if report.complete else ' (not all)'} ({shown}), "
        f"{seconds:.1f} s",
        json_target,
    )
    found = {"diagnosis": None if diagnosis is None else diagnosis.as_text()}
    emit_json(json_target, as_data(report) | found | {"seconds": seconds})
    story = None if diagnosis is None else diagnosis.story
    if save_story is not None:
        keep_story_text(save_story, story, json_target)
    if opens:
        _show_in_the_browser(story, json_target)
    finish(report.verdict)


RELEASES: Mapping[str, tuple[str, ...]] = {
    "cluster": ("2.4",), "election": ("2.1", "2.7"), "reassignment": ("2.4", "2.7"),
    "replication": ("2.5", "2.0", "0.10"), "topics": ("1.1", "2.1", "2.7"),
}  # fmt: skip
"""In which releases ``--all`` walks a system beside today's default."""


def _walks(deep: bool) -> Iterator[tuple[SystemMap, str, str | None]]:
    """What ``--all`` walks: systems, families ("": from the start), releases."""
    for name in MAPPED:
        about = map_of(name)
        yield about, "", None
        for release in RELEASES.get(name, ()):
            yield about, "", release
        for family, part in about.families.items():
            if deep or not part.is_large:
                yield about, family, part.version
                if name in ("replication", "topics") and not part.is_large:
                    yield from (
                        (about, family, release)
                        for release in RELEASES[name]
                        if Release.of(release).since(part.since)
                    )


def _all(
    deep: bool, max_states: int | None, coverage: str | None, json_target: str | None
) -> Verdict:
    """Each system's graph at its small bounds, and each of its families of faults."""
    from conformance.edges import EdgeReport, walk_edges

    outcomes: list[tuple[str, str, EdgeReport, float]] = []
    walks = list(_walks(deep))
    with measured(coverage, json_target), Progress() as progress:
        for number, (about, family, release) in enumerate(walks):
            began = time.monotonic()
            part = about.families[family] if family else None
            limits = {**about.small, **(part.bounds if part else {})}
            name = f"{about.system} {release or DEFAULT}"
            progress(f"{name} {family}: {number} of {len(walks)} graphs walked")
            report = walk_edges(limits, max_states, progress, about, release, part)
            outcomes.append((name, family, report, time.monotonic() - began))
    for name, where, report, _ in outcomes:
        for mismatch in report.mismatches:
            say(f"{name} {where}: {mismatch}\n", json_target)
    numbers = ("states", "edges", "covered", "s")
    show_table(
        ("system", "family", *numbers, "verdict"),
        [
            (name, where, f"{one.states:,}", f"{one.edges:,}", f"{one.covered:,}", f"{s:.1f}",
             one.verdict.value)
            for name, where, one, s in outcomes
        ],
        json_target,
        right=numbers,
    )  # fmt: skip
    verdict = combine(report.verdict for _, _, report, _ in outcomes)
    edges, covered = (
        sum(getattr(one, n) for _, _, one, _ in outcomes) for n in ("edges", "covered")
    )
    say(f"{verdict}: {covered:,} of {edges:,} edges covered", json_target)
    emit_json(json_target, {
        "format": "insync.edges/1", "verdict": verdict.value,
        "walks": [
            as_data(one) | {"release": name.split()[1], "family": where, "seconds": round(s, 3)}
            for name, where, one, s in outcomes
        ],
    })  # fmt: skip
    return verdict


def _refuse_what_has_no_row(about: SystemMap, version: str | None) -> None:
    """A transition that was added to the model and not yet to the map."""
    mapped = {name for one in about.rows.values() for name in one.transitions}
    recorded = system_named(about.system).recorded(version or DEFAULT, about.switches)
    for name in sorted({step.transition.name for step in recorded.steps}):
        if name not in mapped and name not in about.left_out:
            raise WrongUse(
                f"conformance/mapping/{about.system}.py has no row for the transition {name}; "
                f'add row("{name}", "PARAMETERS", "{name}"), or say in left_out why the '
                "implementation has no such step"
            )


def _diagnosed(
    first: EdgeMismatch, about: SystemMap, bounds: dict[str, int], version: str | None
) -> Diagnosis | None:
    """The run to the first mismatch, shrunk; None where no run from the beginning shows it."""
    from conformance.diagnosis import LockstepSetup, diagnose_edge

    return diagnose_edge(first, LockstepSetup(about, bounds, version))


def _show_in_the_browser(story: str | None, json_target: str | None) -> None:
    """The run to the first mismatch, up to where both sides still agree."""
    if story is None:
        say("there is no run to show", json_target)
        return
    from conformance.web.findings import of_story_text

    show(of_story_text(story))


def _family(about: SystemMap, asked: str) -> Family:
    name = family_now(about.system, asked)
    if name not in about.families:
        raise unknown(f"family of {about.system}", asked, about.families)
    return about.families[name]


def _show_map(about: SystemMap, json_target: str | None) -> None:
    rows = [
        (one.step, ", ".join(one.transitions), "; ".join(filter(None, (one.why, one.silent))))
        if one.beyond is None
        else (one.step, "(none)", one.beyond)
        for one in about.rows.values()
    ]
    heads = ("step of the implementation", "transition of the model", "why, and when silent")
    show_table(heads, rows, json_target, prose=heads[2:])
    left_out = sorted(about.left_out.items())
    if left_out:
        show_table(("transition", "why it is left out"), left_out, json_target, prose=heads[2:])
    families = [(name, one.why) for name, one in about.families.items()]
    if families:
        show_table(("family", "what for"), families, json_target, prose=("what for",))
    unobserved = sorted(about.unobserved.items())
    show_table(("field", "why it is not compared"), unobserved, json_target, prose=heads[2:])
    emit_json(
        json_target,
        {
            "system": about.system,
            "rows": [
                {
                    "step": one.step, "transitions": list(one.transitions),
                    "why": one.why, "silent": one.silent, "beyond": one.beyond,
                }
                for one in about.rows.values()
            ],
            "left_out": dict(left_out),
            "families": dict(families),
            "unobserved": dict(unobserved),
        },
    )  # fmt: skip
