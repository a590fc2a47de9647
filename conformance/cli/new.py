"""`insync new`: the files of a new system, switch, claim or historic bug, each with a test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from conformance.cli.common import RenamedOption, WrongUse, emit_json, json_option, say
from conformance.scaffold import Edits, NotPossible, new_bug, new_claim, new_switch, new_system

ROOT = Path(__file__).resolve().parents[2]


@click.group()
def new() -> None:
    """Write the files for a change of the protocol that you want to try, with a test.

    What is written can be explored at once; from there you edit. docs/a-new-idea.md goes from an
    idea to its bug, its fix and its proof. Every command below takes --json FILE (or - for standard
    output).

    \b
    Example:
      insync new system lease --about "who may write, by leases"
      insync new switch writes_are_fenced --system lease --source "my idea" \\
          --about "storage refuses writes of an older lease"
      insync new claim one_writer --system lease --says "one broker writes" \\
          --formula "not_(now.stale_write)" --companion somebody_writes \\
          --companion-formula "some(BROKERS, lambda b: now.writes[b].any)"
      insync new bug MY-1 --system lease --claim one_writer --without writes_are_fenced \\
          --title "a late write lands" --fixed-in "not yet"
    """


def _carry_out(json_target: str | None, write: Callable[[Edits], list[str]]) -> None:
    edits = Edits(ROOT)
    try:
        following = write(edits)
        written = edits.write()
    except NotPossible as error:
        raise WrongUse(str(error)) from error
    except OSError as error:
        raise WrongUse(f"{error.filename}: {error.strerror}; nothing more was written") from error
    for path in written:
        say(f"{'new    ' if path in edits.new else 'changed'}  {path}", json_target)
    say("next:", json_target)
    for line in following:
        say(f"    {line}", json_target)
    emit_json(
        json_target,
        {"format": "insync.new/1", "new": sorted(edits.new),
         "changed": [one for one in written if one not in edits.new], "next": following},
    )  # fmt: skip


@new.command()
@click.argument("name")
@click.option("--about", required=True, help="What it is about, in a line.")
@json_option
def system(name: str, about: str, json_target: str | None) -> None:
    """A system of its own: a state, two steps and a claim that can be explored at once.

    \b
    Example:
      insync new system lease --about "who may write, by leases"
    """
    _carry_out(json_target, lambda edits: new_system(edits, name, about))


@new.command()
@click.argument("name")
@click.option("--system", "of", required=True, help="The system that asks for it.")
@click.option("--about", required=True, help="What holds if it is on, in one line.")
@click.option("--source", required=True, help="Its KIP or JIRA, or where the idea is from.")
@click.option("--values", default="false,true", show_default=True,
              help="Its values, the one before the fix first.")  # fmt: skip
@click.option("--since", metavar="RELEASE",
              help="The release that has the fix; default: every release has it.")  # fmt: skip
@json_option
def switch(
    name: str, of: str, about: str, source: str, values: str, since: str | None,
    json_target: str | None,
) -> None:  # fmt: skip
    """A decision that releases, or designs, differ in.

    \b
    Example:
      insync new switch writes_are_fenced --system lease --source KIP-9999 \\
          --about "storage refuses writes of an older lease"
    """
    _known(of)
    words = [one.strip() for one in values.split(",") if one.strip()]
    _carry_out(json_target, lambda edits: new_switch(edits, name, of, about, source, words, since))


@new.command()
@click.argument("name")
@click.option("--system", "of", required=True, help="The system that it is about.")
@click.option("--says", required=True, help="The claim as a sentence.")
@click.option("--formula", required=True, help="The claim in the notation, of `now`.")
@click.option("--companion", required=True, help="The name of the case that it is about.")
@click.option("--companion-formula", "reaches", cls=RenamedOption, former="--reaches",
              required=True, help="That case in the notation: it must be reachable.")  # fmt: skip
@json_option
def claim(
    name: str, of: str, says: str, formula: str, companion: str, reaches: str,
    json_target: str | None,
) -> None:  # fmt: skip
    """A claim of every state, with the companion without which it would say nothing.

    \b
    Example:
      insync new claim a_holder_is_up --system lease --says "only who is up holds it" \\
          --formula "every(BROKERS, lambda b: implies(now.holds[b], now.up[b]))" \\
          --companion a_broker_is_down \\
          --companion-formula "some(BROKERS, lambda b: not_(now.up[b]))"
    """
    _known(of)
    _carry_out(
        json_target, lambda edits: new_claim(edits, name, of, says, formula, companion, reaches)
    )


@new.command()
@click.argument("name", metavar="ID")
@click.option("--system", "of", required=True, help="The system that shows it.")
@click.option("--claim", "breaks", required=True, help="The claim that breaks.")
@click.option("--version", "base", help="The release that it is shown on.")
@click.option("--without", multiple=True, help="A switch reverted to before its fix.")
@click.option("--bound", multiple=True, metavar="NAME=N", help="A bound to find it within.")
@click.option("--title", required=True, help="What went wrong, in a line.")
@click.option("--fixed-in", required=True, help="The release that fixed it.")
@json_option
def bug(
    name: str, of: str, breaks: str, base: str | None, without: tuple[str, ...],
    bound: tuple[str, ...], title: str, fixed_in: str, json_target: str | None,
) -> None:  # fmt: skip
    """A historic bug of the list, which `insync bugs` finds again each time.

    \b
    Example:
      insync new bug KAFKA-99999 --system election --claim single_writer \\
          --without zk_writes_fenced --title "a late write lands" --fixed-in 2.1
    """
    from model.language import ProtocolError
    from model.systems import SYSTEMS
    from model.versions import SWITCHES

    _known(of)
    chosen = SYSTEMS[of]
    bounds: dict[str, int] = {}
    for one in bound:
        key, _, number = one.partition("=")
        if key not in chosen.bounds or not number.isdecimal():
            known = ", ".join(chosen.bounds)
            raise WrongUse(f"--bound {one}: write NAME=N with a bound of {of}: {known}")
        bounds[key] = int(number)
    version = base or chosen.default_version
    try:
        recorded = chosen.recorded(version, {one: SWITCHES[one].values[0] for one in without})
        recorded.claim(breaks)
    except KeyError as error:
        raise WrongUse(f"{error.args[0]} is no switch; insync versions lists them") from error
    except ProtocolError as error:
        raise WrongUse(str(error)) from error
    reverted = {one: SWITCHES[one].values[0] for one in without}
    _carry_out(
        json_target,
        lambda edits: new_bug(edits, name, title, fixed_in, of, breaks, version, reverted, bounds),
    )


def _known(name: str) -> None:
    from model.language import ProtocolError
    from model.systems import system as system_named

    try:
        system_named(name)
    except ProtocolError as error:
        raise WrongUse(str(error)) from error
