"""`insync surgery`: take out each guard of a system in turn, and see who notices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from conformance.cli.choice import Size, Variant, described, listed, refusals, system_named
from conformance.cli.common import Progress, emit_json, finish, json_option, say
from conformance.cli.kept import open_option, show_comparison
from conformance.cli.options import size_options, system_argument, variant_options
from conformance.cli.tables import show_table
from model.language import RecordedSystem
from specs.story import Story, read_story
from specs.story.heading import heading_line
from specs.surgery import CLAIM, Finding, Surgery, guards_of, without
from specs.verdict import Verdict, combine

STORIES = Path(__file__).resolve().parents[2] / "specs" / "stories"
ENOUGH = 3_000_000


@click.command()
@system_argument
@variant_options
@size_options
@click.option("--guard", metavar="REASON", help="Only the guards with this reason.")
@click.option("--symmetry", is_flag=True, help="Visit one state for all that rename brokers only.")
@click.option(
    "--max-states",
    metavar="N",
    type=click.IntRange(min=1),
    default=ENOUGH,
    show_default=True,
    help="Look at no more than N states for each guard.",
)
@open_option
@json_option
def surgery(
    system: str,
    variant: Variant,
    size: Size,
    guard: str | None,
    symmetry: bool,
    max_states: int,
    opens: bool,
    json_target: str | None,
) -> None:
    """Take each guard (`require`) of SYSTEM out in turn, and say who notices.

    A claim may break, a step may leave a field's domain, a story may go otherwise. A guard that
    nobody notices is either marked `# redundant because …` in the code, or a claim is missing.
    Exit code: 0 each is noticed or marked, 1 one is neither, 2 the bounds are too small to say, or
    --max-states came first. --open lays the run that breaks a claim without the first guard that a
    claim needs beside the whole system, which refuses it.

    \b
    Example:
      insync surgery election
      insync surgery classic --guard "the replica is in the registered ISR"
      insync surgery classic --version kip_320 --brokers 2 --json -
    """
    chosen = system_named(system)
    recorded = variant.recorded(chosen)
    limits = size.limits(chosen)
    with Progress() as progress, refusals():
        guards = guards_of(recorded, guard)
        work = Surgery(recorded, limits, _stories(), max_states, symmetry, progress)
        findings = list(work.findings(guards))
    verdict = combine(one.verdict for one in findings)
    say(f"{described(recorded)} ({listed(limits)})", json_target)
    show_table(
        ["transition", "guard", "noticed by", "after"],
        [(one.guard.step, one.guard.reason, _noticed(one), one.after) for one in findings],
        json_target,
        right=["after"],
        prose=["guard", "noticed by"],
    )
    say(f"{verdict}: {_sum(findings)}", json_target)
    emit_json(json_target, {
        "format": "insync.surgery/1", "verdict": verdict, "system": chosen.name,
        "version": recorded.version, "without": recorded.without, "bounds": limits,
        "symmetry": symmetry, "guards": [one.as_json() for one in findings],
    })  # fmt: skip
    if opens:
        _show_in_the_browser(findings, recorded, limits, json_target)
    finish(verdict)


def _show_in_the_browser(
    findings: Sequence[Finding], recorded: RecordedSystem, limits: dict[str, int],
    json_target: str | None,
) -> None:  # fmt: skip
    """The first guard that a claim needs: the run without it, beside the system that has it."""
    from conformance.web.findings import without_guard
    from specs.explorer import find

    for one in findings:
        cut = without(recorded, one.guard)
        if one.by != CLAIM or one.who is None or cut is None:
            continue
        _, run = find(cut, {**limits, **one.within}, one.who)
        if run is not None:
            shown = without_guard(recorded, cut, one.guard, run.steps, limits, one.who)
            show_comparison(shown, heading_line(recorded, {"brokers": limits["brokers"]}))
            return
    say("there is no run to show: no claim breaks without any of these guards", json_target)


def _stories() -> list[Story]:
    return [read_story(path) for path in sorted(STORIES.glob("*.story"))]


def _noticed(one: Finding) -> str:
    if one.mark_is_wrong:
        return f"{one.who}, yet it is marked redundant: {one.mark}"
    if one.by is not None:
        return _who(one)
    if one.mark is not None:
        return f"marked redundant: {one.mark}"
    if one.unknown:
        return f"unknown: {one.unknown}"
    return f"nobody ({_what_it_changes(one)})"


def _who(one: Finding) -> str:
    where = f" (with {listed(one.within)})" if one.within else ""
    if one.by == "story":
        return f"the story {Path(one.who or '').stem}"
    return (f"a check of values: {one.who}" if one.by == "raises" else str(one.who)) + where


def _what_it_changes(one: Finding) -> str:
    if one.changes_nothing:
        return "it decides nothing: other guards imply it"
    return f"{one.more_states:,} states and {one.more_steps:,} steps more without it"


def _sum(findings: Sequence[Finding]) -> str:
    noticed = sum(one.by is not None for one in findings)
    marked = sum(one.by is None and one.mark is not None for one in findings)
    rest = {
        "unnoticed": sum(one.verdict is Verdict.BROKEN and one.by is None for one in findings),
        "marked wrongly": sum(one.mark_is_wrong for one in findings),
        "unknown": sum(one.verdict is Verdict.UNKNOWN for one in findings),
    }
    words = [f"{len(findings)} guards", f"{noticed} noticed", f"{marked} marked redundant"]
    return ", ".join(words + [f"{count} {what}" for what, count in rest.items() if count])
