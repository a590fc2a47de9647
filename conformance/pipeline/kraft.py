"""Separates the lines of a ZooKeeper cluster from those after KRaft takes over.

The rules are those of the ZooKeeper-era protocol. A KRaft broker applies its metadata log, and
applies the same leader epoch again whenever it replays it: these rules would report a correct KRaft
broker as broken. So KRaft clusters are not judged, and migrating ones (KIP-866) only up to the
point where KRaft takes over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from conformance.ingest.schema import Event
from conformance.ingest.templates_kraft import BROKER, KINDS, SEEN, TAKES_OVER
from conformance.pipeline.cluster_evidence import OBEYED
from conformance.pipeline.rules import KRAFT, Finding, FindingKind

ZOOKEEPER = frozenset(
    (
        *OBEYED,
        "broker_epochs", "broker_registered", "controller_elected", "controller_lost",
        "controller_ready", "controller_resigned", "controller_won", "leader_and_isr_sent",
        "metadata_sent", "partition_changed", "process_controller_thread", "process_started",
        "replica_changed", "session_expired",
    )
)  # fmt: skip
"""Kinds that only a broker with a ZooKeeper writes."""

NOTHING = -(1 << 62)
"""A cutoff before every line."""


def cutoff(first: Mapping[str, int]) -> int | None:
    """The time from which nothing is judged, by the first time of each kind; None if there is none.

    Times are the logs' stamps, in milliseconds. `NOTHING` where no line shows a ZooKeeper.
    """
    if not any(kind in first for kind in KINDS):
        return None
    taken = min((first[kind] for kind in (TAKES_OVER, BROKER) if kind in first), default=None)
    keeper = min((first[kind] for kind in ZOOKEEPER if kind in first), default=None)
    if keeper is None:
        return NOTHING
    if taken is None:
        return None
    return taken if keeper < taken else NOTHING


def split(events: Iterable[Event]) -> tuple[list[Event], list[Finding]]:
    """The events of a cluster that are judged, and a finding that names those that are not."""
    events = list(events)
    marks = [event for event in events if event.kind in KINDS]
    if not marks:
        return events, []
    first: dict[str, int] = {}
    for event in events:
        first[event.kind] = min(event.at, first.get(event.kind, event.at))
    until = cutoff(first)
    rest = [event for event in events if event.kind not in KINDS]
    if until is None:
        return rest, []
    kept = [event for event in rest if event.at < until and not _of_kraft(event, marks)]
    return kept, [_finding(marks, until, len(rest) - len(kept))]


def _of_kraft(event: Event, marks: Sequence[Event]) -> bool:
    """Whether a broker whose clock is behind mentions a KRaft controller."""
    nodes = {mark.controller for mark in marks if mark.kind == TAKES_OVER} - {None}
    return event.controller in nodes


def _finding(marks: Sequence[Event], until: int, left: int) -> Finding:
    order = sorted(marks, key=lambda each: (each.at, each.file, each.line))
    if until == NOTHING:
        kinds = (BROKER, SEEN, TAKES_OVER)
        mark = min(order, key=lambda each: (kinds.index(each.kind), each.at, each.file, each.line))
        why = "this cluster runs in KRaft mode, without a ZooKeeper: nothing of it is judged"
    else:
        mark = next(each for each in order if each.at == until and each.kind != SEEN)
        why = f"KRaft takes over here: {left} lines that come after it are not judged"
    name = mark.logger.rsplit(".", 1)[-1]
    return Finding(
        kind=FindingKind.NOT_JUDGED.value,
        cluster=mark.cluster,
        file=mark.file,
        line=mark.line,
        rule=KRAFT.name,
        why=f"{why} (a line of {name})",
        allowed=KRAFT.allowed,
        positions=tuple(mark.positions) or (mark.where,),
    )
