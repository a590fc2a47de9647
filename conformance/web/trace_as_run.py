"""Shows a recorded trace as a run of the model, up to the last line that fits.

For a trace with missing parts a run that fits is searched and shown. Traces of systems other than
`replication` are played step by step. A line that does not fit is no error here: the run ends
before it, and the diagnosis says why.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conformance.mapping import AS_RELEASED, ROWS, UNOBSERVED, abstract, model_arguments
from conformance.partial import is_partial
from conformance.partial.check_partial import judge_partial
from conformance.partial.read_partial import read_partial
from conformance.replay import REPLAYED, judge
from conformance.web.played_trace import stepped, system_of
from conformance.web.replayed_run import NoRunError, ReplayedRun
from impl.world.trace import TraceError, opened, read_trace
from model.language import RecordedSystem
from model.language.evaluate import SparseState
from model.language.recording import Recorded
from model.systems import system
from specs.partial.compiled_steps import TransitionMove
from specs.story.commands import step_line
from specs.story.heading import heading_line
from specs.verdict import Finding

Facts = Mapping[tuple[str, tuple[int, ...]], int]


@dataclass(frozen=True)
class ObservedStep:
    """The step and the observed state at the first line of a trace that does not fit.

    `candidates` are the steps of the model that the line could have been.
    """

    label: str
    facts: Facts
    candidates: tuple[str, ...] = ()

    def over(self, state: SparseState) -> SparseState:
        """The model's state, overwritten by the observed fields; fields that no trace observes are
        kept."""
        seen: dict[str, dict[tuple[int, ...], int]] = {
            name: dict(cells) for name, cells in state.items() if name in UNOBSERVED
        }
        for (name, index), value in self.facts.items():
            seen.setdefault(name, {})[index] = value
        return {name: cells for name, cells in seen.items() if cells}


def traced(path: Path) -> tuple[ReplayedRun, ObservedStep | None]:
    """The run of a trace, and what was observed where it does not fit; None if it fits.

    Raises NoRunError for a file that is no complete trace, OSError.
    """
    if system_of(path) != REPLAYED:
        return stepped(path), None
    try:
        return _partial(path) if is_partial(path) else _complete_trace(path)
    except TraceError as error:
        raise NoRunError(str(error)) from error


def _complete_trace(path: Path) -> tuple[ReplayedRun, ObservedStep | None]:
    trace = read_trace(path)
    recorded = system(trace.header.system).recorded(trace.header.version, AS_RELEASED)
    heading = heading_line(recorded, {"brokers": trace.header.brokers})
    lines: list[str] = []
    places: list[str] = []
    steps = {event.line: event.step for event in trace.events}

    def heard(line: int, move: TransitionMove, given: tuple[int, ...]) -> None:
        lines.append(_line(move.recorded, given))
        places.append(f"{path.name}:{line} {steps[line]}")

    report = judge(trace, str(path), heard)
    first = next(iter(report.findings), None)
    found = ReplayedRun(
        f"{path.name}: {report.accepted} of {report.events} lines are a run of "
        f"replication {trace.header.version}",
        heading, tuple(lines), None, diagnosis(first), tuple(places),
    )  # fmt: skip
    if first is None:
        return found, None
    at = next((n for n, event in enumerate(trace.events) if event.line == first.line), None)
    if at is None:
        return found, ObservedStep("the beginning", abstract(next(trace.observations())))
    event = trace.events[at]
    before, after = itertools.islice(trace.observations(), at, at + 2)
    given = ", ".join(f"{name}={value}" for name, value in event.args.items())
    label, could = f"{event.step}({given})", _candidates(recorded, event.step, event.args, before)
    return found, ObservedStep(label, abstract(after), could)


def _candidates(
    recorded: RecordedSystem, step: str, arguments: Mapping[str, int], before: Any
) -> tuple[str, ...]:
    """The transitions that a step of the implementation may be, as lines of a story."""
    if step not in ROWS:
        return ()
    row = ROWS[step]
    values = model_arguments(
        row, {name: int(arguments[name]) for name in row.parameters},
        lambda broker: int(before["brokers"][broker]["leader"]),
    )  # fmt: skip
    found = []
    for one in recorded.steps:
        if one.transition.name in row.transitions:
            found.append(step_line(one, {name: values[name] for name in one.parameters}))
    return tuple(found)


def _partial(path: Path) -> tuple[ReplayedRun, ObservedStep | None]:
    trace = read_partial(path)
    report = judge_partial(trace, str(path))
    first = next(iter(report.findings), None)
    while report.findings and trace.events:
        # Find a run for the lines before the first one that does not fit.
        end = report.findings[0].line
        kept = tuple(event for event in trace.events if event.line < end)
        if len(kept) == len(trace.events):
            break
        trace = replace(trace, events=kept)
        report = judge_partial(trace, str(path))
    recorded = system(REPLAYED).recorded(trace.version, AS_RELEASED)
    steps = {step.transition.name: step for step in recorded.steps}
    lines, places = [], []
    for line, step, hidden in report.run:
        name, _, given = step.rstrip(")").partition("(")
        lines.append(_line(steps[name], [int(one) for one in given.split(", ") if one]))
        places.append(f"{path.name}:{line} {'hidden before it' if hidden else ''}".strip())
    found = ReplayedRun(
        f"{path.name}: a run of replication {trace.version} that fits {len(trace.events)} lines",
        heading_line(recorded, {"brokers": trace.brokers}), tuple(lines), None, diagnosis(first),
        tuple(places),
    )  # fmt: skip
    return found, None


def _line(step: Recorded, given: Sequence[int]) -> str:
    return step_line(step, dict(zip(step.parameters, given, strict=True)))


def diagnosis(finding: Finding | None) -> str | None:
    """A finding in a sentence: where, which rule, why, and what would be allowed."""
    if finding is None:
        return None
    return (
        f"{finding.file}:{finding.line}: {finding.kind}: {finding.rule}: {finding.why}. "
        f"Allowed: {finding.allowed}"
    )


def of_findings(path: Path, findings: Sequence[Any], rule: str | None) -> ReplayedRun:
    """The run of the first finding of `insync check --json` for which a trace can be played.

    Findings in logs have no run: `insync check --report` shows them.
    """
    chosen = [one for one in findings if isinstance(one, dict)
              and (rule is None or one.get("rule") == rule)]  # fmt: skip
    for one in chosen:
        file = Path(str(one.get("file", "")))
        if is_trace(file):
            return traced(file)[0]
    if not chosen:
        what = f"no finding of the rule {rule!r}" if rule else "no finding"
        raise NoRunError(f"{path}: holds {what}, so there is nothing to show")
    raise NoRunError(
        f"{path}: its findings are of logs, which are no run; write the report instead: "
        "insync check LOGS --report FILE.html"
    )


def is_trace(file: Path) -> bool:
    """Whether a file's first line says that it is a trace. False for what cannot be read."""
    try:
        with opened(file) as lines:
            header = json.loads(next(iter(lines), "null"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(header, dict) and str(header.get("format", "")).startswith("insync.trace/")
