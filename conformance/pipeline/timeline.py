"""Controllers, leaders and ISRs over time, for a report to draw."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from conformance.ingest.schema import Event, events_of
from conformance.pipeline.spill import Spill, StoredRows

CONTROLLERS = ("controller_elected", "controller_ready", "controller_resigned", "controller_moved")
STATES = (
    "partition_changed", "isr_removed", "leader_and_isr_sent", "leader_and_isr_received",
    "leadership_cached", "isr_written", "metadata_cached", "leader_started",
)  # fmt: skip
CHANGES = ("isr_shrunk", "isr_expanded", "isr_updated")
STARTS = ("process_started",)
DRAWN = (*CONTROLLERS, *STATES, *CHANGES, *STARTS)


@dataclass(frozen=True)
class ControllerTerm:
    """The time of a controller; `until` is None if no line shows its end."""

    broker: int
    epoch: int | None
    since: int
    until: int | None
    where: str


@dataclass(frozen=True)
class LeadershipState:
    """A partition from a moment on: its leader (-1: none), leader epoch and ISR, as logged."""

    at: int
    leader: int | None
    epoch: int | None
    isr: tuple[int, ...]
    where: str


@dataclass(frozen=True)
class Start:
    """The start of a broker's process."""

    broker: int
    at: int
    where: str


@dataclass
class Timeline:
    """One cluster. `partitions` by name, each in order of time; times in ms since 1970."""

    cluster: str
    since: int = 0
    until: int = 0
    terms: list[ControllerTerm] = field(default_factory=list)
    partitions: dict[str, list[LeadershipState]] = field(default_factory=dict)
    starts: list[Start] = field(default_factory=list)


def drawn(events: Any) -> pa.Table:
    """The events that a report draws, from an engine's own table."""
    if isinstance(events, pa.Table):
        return events.filter(pc.is_in(events["kind"], pa.array(DRAWN)))
    if isinstance(events, Spill | StoredRows):
        return pa.concat_tables(map(drawn, events.tables()))
    return events.where(events["kind"].isin(list(DRAWN))).toArrow()


def timelines(events: Any) -> list[Timeline]:
    """A timeline for each cluster of the table."""
    by_cluster: dict[str, list[Event]] = defaultdict(list)
    for event in events_of(drawn(events)):
        by_cluster[event.cluster].append(event)
    return [_timeline(name, found) for name, found in sorted(by_cluster.items())]


def _timeline(cluster: str, events: list[Event]) -> Timeline:
    events.sort(key=lambda event: (event.at, event.file, event.line))
    line = Timeline(cluster, events[0].at, events[-1].at)
    line.starts = [
        Start(event.broker, event.at, event.where)
        for event in events
        if event.kind in STARTS and event.broker is not None
    ]
    line.terms = _terms(event for event in events if event.kind in CONTROLLERS)
    lines: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        if (
            event.kind not in (*CONTROLLERS, *STARTS)
            and event.tp is not None
            and event.leader != -2
        ):
            lines[f"{event.topic}-{event.partition}"].append(event)
    line.partitions = {name: _states(found) for name, found in sorted(lines.items())}
    return line


def _terms(events: Iterable[Event]) -> list[ControllerTerm]:
    terms: list[ControllerTerm] = []
    for event in events:
        if event.broker is None:
            continue
        if terms and terms[-1].until is None and _ends(event, terms[-1]):
            last = terms[-1]
            terms[-1] = ControllerTerm(last.broker, last.epoch, last.since, event.at, last.where)
        if event.kind == "controller_elected":
            terms.append(
                ControllerTerm(event.broker, event.controller_epoch, event.at, None, event.where)
            )
    return terms


def _ends(event: Event, term: ControllerTerm) -> bool:
    if event.kind == "controller_elected":
        return True
    return event.kind in ("controller_resigned", "controller_moved") and event.broker == term.broker


def _states(events: list[Event]) -> list[LeadershipState]:
    """Each state once, when it is first logged; in between, a leader's own ISR changes."""
    states: list[LeadershipState] = []
    known: set[tuple[int | None, int | None, tuple[int, ...]]] = set()
    for event in events:
        last = states[-1] if states else None
        isr = tuple(sorted(event.isr)) if event.isr is not None else ()
        leader, epoch = event.leader, event.leader_epoch
        if event.kind in CHANGES and last is not None:
            leader, epoch = last.leader, last.epoch
        elif event.kind == "leader_started":
            leader = event.broker
        if epoch is None or leader is None:
            continue
        if not isr and last is not None and last.epoch == epoch:
            isr = last.isr
        if last is not None and last.epoch is not None and epoch < last.epoch:
            continue  # logged late, by a broker that got it later; a finding says if it is wrong
        if (leader, epoch, isr) not in known or event.kind in CHANGES:
            if last is None or (last.leader, last.epoch, last.isr) != (leader, epoch, isr):
                states.append(LeadershipState(event.at, leader, epoch, isr, event.where))
            known.add((leader, epoch, isr))
    return states
