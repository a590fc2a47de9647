"""Shows brokers' log lines about one partition, beside what the protocol allowed.

Logs hold no whole state, so there is no board to draw: each row is a log line, in order of time,
about the partition (or the controllers) of the first violation.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from conformance.ingest.files import discover
from conformance.ingest.schema import Event, events_of
from conformance.pipeline.local import LocalEngine
from conformance.pipeline.rules import Finding, FindingKind
from conformance.web.compare import ComparedRow, ComparedSide, Comparison
from conformance.web.run_files import NoRunError

AROUND = 60
"""Rows before and after the first violation."""

_FIELDS = (
    "controller_epoch", "leader", "leader_epoch", "state_epoch", "version", "replica", "offset",
    "high_watermark", "from_state", "to_state",
)  # fmt: skip


@dataclass(frozen=True)
class LogComparison:
    """A comparison, and how often a rule compared anything: at 0 the comparison shows nothing."""

    comparison: Comparison
    compared: int


def with_logs(path: Path) -> LogComparison:
    """The logs beside the rules that judge them. Raises NoRunError, OSError."""
    found = discover((str(path),))
    if not found.logs:
        raise NoRunError(f"{path}: holds no log of a broker, and is no trace; name one of them")
    engine = LocalEngine()
    corpus = engine.ingest(found, None)
    judged = engine.judge(corpus)
    events = sorted(events_of(corpus.events), key=lambda one: (one.at, one.file, one.line))
    wrong: dict[tuple[str, int], list[Finding]] = defaultdict(list)
    for finding in judged.findings:
        if finding.kind in (FindingKind.VIOLATION, FindingKind.IMPOSSIBLE):
            wrong[finding.file, finding.line].append(finding)
    if not events:
        raise NoRunError(f"{path}: holds no line of a broker that is understood")
    worst = next((one for one in events if (one.file, one.line) in wrong), None)
    result = Comparison("the protocol", f"the logs of {path}", unit="line")
    kept = _events_of_same_partition(events, worst)
    at = kept.index(worst) if worst is not None else 0
    for event in kept[max(at - AROUND, 0) : at + AROUND + 1]:
        result.rows.append(_row(event, wrong.get((event.file, event.line), [])))
    if worst is not None:
        first = wrong[worst.file, worst.line][0]
        result.diagnosis = (
            f"{first.file}:{first.line}: {first.rule}: {first.why}. Allowed: {first.allowed}"
        )
    return LogComparison(result, sum(judged.checked.values()))


def _events_of_same_partition(events: list[Event], worst: Event | None) -> list[Event]:
    """What is logged of the same partition; of controllers, where the violation is about them."""
    if worst is None:
        return events
    return [one for one in events if one.cluster == worst.cluster and one.tp == worst.tp]


def _row(event: Event, findings: list[Finding]) -> ComparedRow:
    label = _label(event)
    if not findings:
        return ComparedRow(ComparedSide(label, None, None), ComparedSide(label, None, None), ())
    allowed = "; ".join(dict.fromkeys(one.allowed for one in findings))
    why = "; ".join(f"{one.rule}: {one.why}" for one in findings)
    return ComparedRow(
        ComparedSide(f"allowed: {allowed}", None, None), ComparedSide(label, None, None), (), why
    )


def _label(event: Event) -> str:
    when = datetime.fromtimestamp(event.at / 1000, UTC).strftime("%H:%M:%S.%f")[:-3]
    who = f"broker {event.broker} " if event.broker is not None else ""
    what = [f"{name} {value}" for name in _FIELDS if (value := getattr(event, name)) is not None]
    if event.isr is not None:
        what.append(f"isr {{{','.join(map(str, sorted(event.isr)))}}}")
    about = f"{event.topic}-{event.partition} " if event.tp is not None else ""
    return f"{when} {who}{event.kind} {about}{' '.join(what)} ({event.where})"
