"""`insync bugs`: historic bugs, each found by exploration, and gone with the fixed switch."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import click

from conformance.cli.chosen_system import described, listed, refusals
from conformance.cli.claim_answer import steps
from conformance.cli.common import (
    Progress,
    WrongUse,
    emit_json,
    finish,
    json_option,
    say,
    show_table,
)
from conformance.cli.keep_results import KeepOptions, keep_options
from conformance.cli.options import fault_option
from conformance.cli.remaining_time import left_of
from model.bugs import HISTORIC_BUGS, HistoricBug, Reproduction
from model.bugs import entry as entry_named
from model.language import RecordedSystem
from specs.explorer import Exploration, Report
from specs.explorer import find as shortest
from specs.rendering import rounded
from specs.runs import Run, RunStep
from specs.verdict import Verdict, combine


@dataclass(frozen=True)
class BugSearch:
    """The results of exploration for a historic bug: with the bug, and with its fix."""

    entry: HistoricBug
    shown: Reproduction
    bug: Exploration
    run: Run | None
    fixed: Exploration
    counter: Run | None

    @property
    def verdict(self) -> Verdict:
        """Holds if the bug is found and its fix holds; a bug that is not there is a defect too."""
        with_bug = self.bug.claims[self.shown.claim].verdict
        found = {Verdict.BROKEN: Verdict.HOLDS, Verdict.HOLDS: Verdict.BROKEN}
        return combine([found.get(with_bug, with_bug), self.fixed.claims[self.shown.claim].verdict])

    @property
    def seconds(self) -> float:
        """Both explorations, without setting them up."""
        return self.bug.seconds + self.fixed.seconds


def search_bug(entry: HistoricBug, max_states: int | None, report: Report) -> BugSearch:
    """Finds an entry's run, then explores the fixed variant within the same bounds."""
    shown = entry.shown
    if shown is None:
        raise AssertionError(f"{entry.id} is not shown by any system: {entry.excuse}")

    def search(recorded: RecordedSystem, word: str) -> tuple[Exploration, Run | None]:
        return shortest(
            recorded, shown.limits, shown.claim, max_states,
            lambda line: report(f"{entry.id} {word}: {line}"), symmetry=shown.symmetry,
            engine="python" if shown.plain else "native",
        )  # fmt: skip

    bug, run = search(shown.broken(), "with its bug")
    fixed, counter = search(shown.as_fixed(), "as fixed")
    return BugSearch(entry, shown, bug, run, fixed, counter)


@click.command()
@click.argument("name", metavar="ID", required=False)
@click.option("--all", "every", is_flag=True, help="Find every bug that a system shows: minutes.")
@click.option("--quick", is_flag=True, help="Find those that take a few seconds each.")
@click.option(
    "--max-states",
    metavar="N",
    type=click.IntRange(min=1),
    help="Stop each search before more than N states; what is open then is unknown.",
)
@fault_option
@keep_options
@json_option
def bugs(
    name: str | None,
    every: bool,
    quick: bool,
    max_states: int | None,
    faults: tuple[str, ...],
    keeping: KeepOptions,
    json_target: str | None,
) -> None:
    """List historic bugs; find one by ID, or --all of them, and show that its fix helps.

    ID is a number, a JIRA or a KIP of the list. The shortest run is found again each time; then
    the protocol as history fixed it is explored whole, within the same bounds; with --fault, both
    where that goes wrong as well, and the fix need not help there. Exit code: 0 the
    bug is found and its fix holds, 1 one of the two is not so, 2 --max-states or memory came
    first, 3 no system shows this one yet.

    \b
    Example:
      insync bugs
      insync bugs KAFKA-1188
      insync bugs KIP-279 --save-story diverged.story
      insync bugs KIP-279 --fault disk_loss
      insync bugs --quick
    """
    if sum((name is not None, every, quick)) > 1:
        raise WrongUse("an ID, --all and --quick exclude each other; write one of them")
    if name is None and keeping != KeepOptions(None, False):
        raise WrongUse("--save-story and --open keep one run; write: insync bugs ID --save-story F")
    if name is None and faults:
        raise WrongUse(f"--fault is for one bug; write: insync bugs ID --fault {faults[0]}")
    if name is not None:
        with refusals():
            chosen = _with_faults(entry_named(name), faults)
        _hunt_one(chosen, max_states, keeping, json_target)
    elif every or quick:
        hunted = [one for one in HISTORIC_BUGS if one.shown and (every or one.shown.quick)]
        _hunt_all(hunted, max_states, json_target)
    else:
        _list(json_target)


def _with_faults(entry: HistoricBug, faults: tuple[str, ...]) -> HistoricBug:
    """The entry in a world where more goes wrong, with its bug and without it."""
    return replace(entry, shown=entry.shown.with_faults(faults)) if entry.shown else entry


def _list(json_target: str | None) -> None:
    show_table(
        ["#", "id", "what goes wrong", "breaks", "shown by"],
        [
            (one.number, one.id, one.title, one.breaks, one.shown.system if one.shown else "-")
            for one in HISTORIC_BUGS
        ],
        json_target,
        right=["#"],
        prose=["what goes wrong"],
    )
    shown = [one for one in HISTORIC_BUGS if one.shown]
    say(
        f"{len(shown)} of {len(HISTORIC_BUGS)} are shown by a system; `insync bugs ID` finds one.",
        json_target,
    )
    say("Not shown yet, and what it would take:", json_target)
    for one in HISTORIC_BUGS:
        if one.shown is None:
            say(f"  {one.id}: {one.excuse}", json_target)
    emit_json(json_target, _payload([_listed(one) for one in HISTORIC_BUGS]))


def _hunt_one(
    entry: HistoricBug, max_states: int | None, keeping: KeepOptions, json_target: str | None
) -> None:
    for line in _entry_lines(entry):
        say(line, json_target)
    if entry.shown is None:
        say(f"not shown by any system: {entry.excuse}", json_target)
        emit_json(json_target, _payload([_listed(entry)], Verdict.NOT_CHECKED))
        finish(Verdict.NOT_CHECKED)
    with refusals(), Progress() as progress:
        done = search_bug(entry, max_states, progress)
    for line in _report(done):
        say(line, json_target)
    emit_json(json_target, _payload([_report_of(done)], done.verdict))
    keeping.keep(done.run, json_target)
    finish(done.verdict)


def _hunt_all(
    entries: Sequence[HistoricBug], max_states: int | None, json_target: str | None
) -> None:
    searches: list[BugSearch] = []
    began = time.monotonic()
    with refusals(), Progress() as progress:
        for one in entries:
            left = left_of(began, len(searches), len(entries))
            searches.append(
                search_bug(one, max_states, _placed(progress, len(searches), len(entries), left))
            )
    show_table(
        ["#", "id", "of", "reverted", "verdict", "steps", "states", "as fixed", "states", "s"],
        [
            (
                one.entry.number, one.entry.id, f"{one.shown.system} {one.shown.base}",
                _reverted(one.shown), _outcome(one).partition(" (")[0],
                len(one.run.steps) if one.run else None, f"{one.bug.distinct:,}",
                one.fixed.claims[one.shown.claim].verdict, f"{one.fixed.distinct:,}",
                f"{one.seconds:.1f}",
            )
            for one in searches
        ],
        json_target,
        right=["#", "steps", "states", "s"],
    )  # fmt: skip
    verdict = combine(one.verdict for one in searches)
    good = sum(one.verdict is Verdict.HOLDS for one in searches)
    say(f"{verdict}: {good} of {len(searches)} found, and gone with their fix", json_target)
    for done in searches:
        if done.verdict is not Verdict.HOLDS:
            said = "NOT AS HISTORY SAYS" if done.verdict is Verdict.BROKEN else done.verdict
            say(f"{said}: {done.entry.id}; see insync bugs {done.entry.id}", json_target)
    emit_json(json_target, _payload([_report_of(one) for one in searches], verdict))
    finish(verdict)


def _placed(report: Report, done: int, of: int, left: str) -> Report:
    return lambda line: report(f"{done} of {of}{left}; {line}")


def _entry_lines(entry: HistoricBug) -> list[str]:
    also = f" ({', '.join(entry.sources)})" if entry.sources else ""
    lines = [
        f"{entry.number}. {entry.id}{also}: {entry.title}",
        f"  {entry.story}",
        f"  Fixed in {entry.fixed_in}. Breaks {entry.breaks}.",
    ]
    return [*lines, *([f"  {entry.remark}"] if entry.remark else []), ""]


def _report(done: BugSearch) -> list[str]:
    claim = done.bug.claims[done.shown.claim]
    lines = [f"{described(done.bug.grounded.recorded)} ({listed(done.bug.grounded.bounds)})"]
    lines += [f"  {claim.name}: {claim.sentence}"]
    looked = f"{_states(done.bug)} in {done.bug.seconds:.1f} s"
    if done.run is not None:
        shape = "a shortest run" if done.run.loop is None else "a run into a loop"
        lines += [f"found, {shape} of {len(done.run.steps)} steps: {looked}", ""]
        lines += [done.run.as_text(), "", f"again: {done.run.replay}", ""]
    else:
        lines += [f"{_outcome(done)}; looked at {looked}"]
    fixed = done.fixed.claims[claim.name]
    looked = f"{_states(done.fixed)}, none further than {steps(done.fixed.depth - 1)}, "
    looked += f"{done.fixed.seconds:.1f} s"
    lines += [f"as history fixed it, {described(done.fixed.grounded.recorded)}: {fixed.verdict}"]
    lines[-1] += f" ({fixed.why}; {looked})" if fixed.why else f" within the same bounds ({looked})"
    if done.counter is not None:
        lines += ["", done.counter.as_text(), "", f"again: {done.counter.replay}"]
    return lines


def _states(found: Exploration) -> str:
    return f"{found.distinct:,} {'orbits' if found.engine.symmetry else 'states'}"


def _outcome(done: BugSearch) -> str:
    if done.run is not None:
        return "found"
    why = done.bug.claims[done.shown.claim].why or listed(done.bug.grounded.bounds)
    return f"not found ({why})"


def _reverted(shown: Reproduction) -> str:
    """`truncation=hw`; a switch that was only on or off by its name. Designs have no switches."""
    return ", ".join(
        name if value is False else f"{name}={str(value).lower()}"
        for name, value in shown.reverted.items()
    )


@dataclass(frozen=True)
class EntryReport:
    """A historic bug in the report; from `steps` on, the result of the search for it, if there
    was one."""

    number: int
    id: str
    sources: tuple[str, ...]
    title: str
    story: str
    fixed_in: str
    flag: str
    remark: str | None
    system: str | None
    base: str | None
    without: Mapping[str, object]
    bounds: Mapping[str, int] | None
    claim: str | None
    quick: bool
    verdict: str
    steps: list[RunStep] | None = None
    loop: int | None = None
    distinct: int | None = None
    seconds: float | None = field(default=None, metadata=rounded(3))
    replay: str | None = None
    fixed: dict[str, Any] | None = None


def _listed(entry: HistoricBug) -> EntryReport:
    shown = entry.shown
    return EntryReport(
        entry.number, entry.id, entry.sources, entry.title, entry.story, entry.fixed_in,
        entry.flag, entry.remark or None,
        system=shown.system if shown else None, base=shown.base if shown else None,
        without=dict(shown.reverted) if shown else {}, bounds=shown.limits if shown else None,
        claim=entry.breaks, quick=bool(shown and shown.quick),
        verdict="not checked" if shown else f"not expressed ({entry.excuse})",
    )  # fmt: skip


def _report_of(done: BugSearch) -> EntryReport:
    fixed, run = done.fixed.claims[done.shown.claim], done.run
    return replace(
        _listed(done.entry), verdict=_outcome(done),
        steps=run.steps if run else None, loop=run.loop if run else None,
        replay=run.replay if run else None,
        distinct=done.bug.distinct, seconds=done.bug.seconds,
        fixed={
            "version": done.fixed.grounded.recorded.version, "verdict": fixed.verdict,
            "why": fixed.why, "distinct": done.fixed.distinct, "depth": done.fixed.depth,
            "seconds": round(done.fixed.seconds, 3),
        },
    )  # fmt: skip


def _payload(entries: list[EntryReport], verdict: Verdict | None = None) -> dict[str, Any]:
    said = {} if verdict is None else {"verdict": verdict}
    return {"format": "insync.verdict/1", **said, "entries": entries}
