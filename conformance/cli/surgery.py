"""`insync surgery`: each guard of a system removed in turn, and which checks notice it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from conformance.cli.chosen_system import Size, Variant, described, listed, refusals, system_named
from conformance.cli.common import Progress, emit_json, finish, json_option, say, show_table
from conformance.cli.keep_results import keep_story_text, open_option, show_comparison, story_option
from conformance.cli.options import size_options, system_argument, variant_options
from model.language import RecordedSystem
from specs.rendering import rows
from specs.runs import Run
from specs.story import Story, read_story
from specs.story.heading import heading_line
from specs.surgery import CLAIM, Guard, GuardTrial, Surgery, guards_of, remove_guard
from specs.verdict import Verdict, combine

STORIES = Path(__file__).resolve().parents[2] / "specs" / "stories"
ENOUGH = 3_000_000


@click.command()
@system_argument
@variant_options
@size_options
@click.option("--guard", metavar="REASON", help="Only the guards with this reason.")
@click.option(
    "--symmetry", is_flag=True, help="Visit one of all states that differ by broker ids only."
)
@click.option(
    "--max-states",
    metavar="N",
    type=click.IntRange(min=1),
    default=ENOUGH,
    show_default=True,
    help="Look at no more than N states for each guard.",
)
@story_option
@open_option
@json_option
def surgery(
    system: str,
    variant: Variant,
    size: Size,
    guard: str | None,
    symmetry: bool,
    max_states: int,
    save_story: str | None,
    opens: bool,
    json_target: str | None,
) -> None:
    """Remove each guard (`require`) of SYSTEM in turn, and say which claims or stories notice.

    A claim may break, a step may leave a field's domain, a story may go otherwise. A guard that
    nobody notices is either marked `# redundant because …` in the code, or a claim is missing.
    Exit code: 0 each is noticed or marked, 1 one is neither, 2 the bounds are too small to say, or
    --max-states came first. --open lays the run that breaks a claim without the first guard that a
    claim needs beside the whole system, which refuses it; --save-story keeps it with that refusal.

    \b
    Example:
      insync surgery election
      insync surgery classic --guard "the replica is in the registered ISR"
      insync surgery election --guard "/controller_epoch is as it was won" --save-story it.story
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
    say(f"{verdict}: {_totals(findings)}", json_target)
    emit_json(json_target, {
        "format": "insync.surgery/1", "verdict": verdict, "system": chosen.name,
        "version": recorded.version, "without": recorded.without, "bounds": limits,
        "symmetry": symmetry, "guards": rows(findings),
    })  # fmt: skip
    if save_story is not None or opens:
        needed = _first_needed(findings, recorded, limits)
        if needed is None:
            say("there is no run to keep: no claim breaks without any of these guards", json_target)
        elif save_story is not None:
            keep_story_text(save_story, needed.story(), json_target)
        if needed is not None and opens:
            needed.show()
    finish(verdict)


@dataclass(frozen=True)
class _NeededGuard:
    """A guard that a claim needs, and the shortest run that breaks the claim without it."""

    guard: Guard
    claim: str
    run: Run
    cut: RecordedSystem
    whole: RecordedSystem
    limits: dict[str, int]

    def heading(self) -> str:
        return heading_line(self.whole, {"brokers": self.limits["brokers"]})

    def story(self) -> str:
        """The run up to where the whole system refuses it, with the refusal."""
        from conformance.story_of_run import as_story
        from conformance.web.run_files import line_of_step

        lines = [line_of_step(one.step, one.args) for one in self.run.steps]
        title = f"{self.guard.step}: why it requires that {self.guard.reason}"
        return as_story(title, f"without it {self.claim} breaks.", self.heading(), lines)

    def show(self) -> None:
        """The run without the guard, beside the system that has it."""
        from conformance.web.findings import without_guard

        steps = self.run.steps
        shown = without_guard(
            self.whole, self.cut, self.guard, steps, self.limits, self.claim
        )  # fmt: skip
        show_comparison(shown, self.heading())


def _first_needed(
    findings: Sequence[GuardTrial], recorded: RecordedSystem, limits: dict[str, int]
) -> _NeededGuard | None:
    from specs.explorer import find

    for one in findings:
        cut = remove_guard(recorded, one.guard)
        if one.by != CLAIM or one.who is None or cut is None:
            continue
        _, run = find(cut, {**limits, **one.within}, one.who)
        if run is not None:
            return _NeededGuard(one.guard, one.who, run, cut, recorded, limits)
    return None


def _stories() -> list[Story]:
    return [read_story(path) for path in sorted(STORIES.glob("*.story"))]


def _noticed(one: GuardTrial) -> str:
    if one.mark_is_wrong:
        return f"{one.who}, yet it is marked redundant: {one.mark}"
    if one.by is not None:
        return _detected_by(one)
    if one.mark is not None:
        return f"marked redundant: {one.mark}"
    if one.unknown:
        return f"unknown: {one.unknown}"
    return f"nobody ({_what_it_changes(one)})"


def _detected_by(one: GuardTrial) -> str:
    where = f" (with {listed(one.within)})" if one.within else ""
    if one.by == "story":
        return f"the story {Path(one.who or '').stem}"
    return (f"a check of values: {one.who}" if one.by == "raises" else str(one.who)) + where


def _what_it_changes(one: GuardTrial) -> str:
    if one.changes_nothing:
        return "it decides nothing: other guards imply it"
    return f"{one.more_states:,} states and {one.more_steps:,} steps more without it"


def _totals(findings: Sequence[GuardTrial]) -> str:
    noticed = sum(one.by is not None for one in findings)
    marked = sum(one.by is None and one.mark is not None for one in findings)
    rest = {
        "unnoticed": sum(one.verdict is Verdict.BROKEN and one.by is None for one in findings),
        "marked wrongly": sum(one.mark_is_wrong for one in findings),
        "unknown": sum(one.verdict is Verdict.UNKNOWN for one in findings),
    }
    words = [f"{len(findings)} guards", f"{noticed} noticed", f"{marked} marked redundant"]
    return ", ".join(words + [f"{count} {what}" for what, count in rest.items() if count])
