"""Selects the lines of one partition that need a closer look; the other lines stay in it.

Every rule is applied to the partition's lines, with what is known of the whole cluster (`Within`):
restarts, new ZooKeepers, deleted topics. Where that is not known yet, as while logs grow, no line
is excused by what only other lines could show (`LinesAssumedComplete`). A selected line is no
finding: it is handed on with its neighbours, and judged where the lines of all partitions are
together. Every line that can be reported there is among the selected ones.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from conformance.ingest.schema import Event
from conformance.pipeline import (
    rules_brokers,
    rules_controllers,
    rules_data_plane,
    rules_deletion,
    rules_isr,
    rules_lines,
    rules_model,
    rules_order,
    rules_partitions,
    rules_requests,
    rules_states,
    rules_truncation,
)
from conformance.pipeline.history import History, Within
from conformance.pipeline.places import Place
from conformance.pipeline.request_rows import fences_sessions
from conformance.pipeline.resets import Reset
from conformance.pipeline.rule_context import RuleContext
from conformance.pipeline.rules import OF_CLUSTERS

NEAR = 3  # lines of each kind about the same thing, before and after
_BEGINS = frozenset(("log_created", "log_removed", "stop_replica_handled"))


@dataclass
class ScreenedLines:
    """Lines to look at more closely, and how often each rule compared."""

    evidence: list[Event] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)
    fired: Counter[str] = field(default_factory=Counter)
    sequences: int = 0

    def add(self, other: ScreenedLines) -> None:
        """Adds those of another partition."""
        self.evidence += other.evidence
        self.checked += other.checked
        self.fired += other.fired
        self.sequences += other.sequences


class LinesAssumedComplete(History):
    """A partition's lines, none of which is excused by what only other lines can show."""

    def suspects(self, event: Event, other: str) -> bool:
        """Assumes that all lines are here; contradictory lines are handed on as such."""
        return True

    def contiguous(self, a: Event, b: Event) -> bool:
        """Assumes that no line is missing."""
        return True

    def complete(self, event: Event) -> bool:
        """Assumes that no line is missing."""
        return True

    def server_log_covers(self, a: Event, b: Event) -> bool:
        """Assumes that no line is missing."""
        return True

    def log_covers(self, event: Event, until: int) -> bool:
        """Assumes that no line is missing."""
        return True

    def tells_isr_changes(self, leader: int | None, low: int, high: int) -> bool:
        """Assumes that no line is missing."""
        return True

    def restart_between(self, a: Event, b: Event, but: Collection[str] = ()) -> Event | None:
        """Assumes that no process restarted."""
        return None

    def same_process(self, a: Event, b: Event) -> bool:
        """Assumes that no process restarted."""
        return True

    def reset(self, a: Event, b: Event) -> Reset | None:
        """Assumes that no new ZooKeeper began."""
        return None

    def age(self, event: Event) -> int | None:
        """Assumes that all lines are of one ZooKeeper."""
        return 0

    def same_zookeeper_throughout(self, a: Event, b: Event) -> bool:
        """Assumes that all lines are of one ZooKeeper."""
        return True

    def same_zookeeper(self, a: Event, b: Event, epoch: int) -> bool:
        """Assumes that all lines are of one ZooKeeper."""
        return True

    def doubted(self, a: Event, b: Event) -> bool:
        """Assumes no sign of a new ZooKeeper."""
        return False

    def lived_twice(self, event: Event) -> bool:
        """Assumes that the topic was never recreated."""
        return False

    def clock_was_set(self, *events: Event) -> bool:
        """Assumes that no clock was set."""
        return False

    def out_of_step(self, broker: int | None) -> bool:
        """Assumes that no log was shifted in time."""
        return False

    def replica_stopped(self, a: Event, b: Event) -> bool:
        """Assumes that no replica was stopped."""
        return False


def screen(
    events: Sequence[Event],
    places: Mapping[str, Place],
    releases: Sequence[str | None],
    ends: bool = False,
    suspects: AbstractSet[tuple[str, int]] = frozenset(),
    cluster: History | None = None,
) -> ScreenedLines:
    """Applies every rule to lines of one partition, beside what is known of the cluster.

    If nothing is known of the cluster, every doubt counts against the lines. `releases`: what the
    cluster may run; with several, a write has to fit each. With `ends`, these are only a part of
    the partition's lines, and the lines that join it to other parts are handed on too. `suspects`:
    files and lines that are always handed on.
    """
    if cluster is None:
        context = RuleContext(LinesAssumedComplete(events, places))
        rules_controllers.check(context)
    else:
        context = RuleContext(Within(events, places, cluster))
    context.cut, context.thinned = ends or cluster is None, cluster is None
    rules_lines.check(context)
    rules_partitions.check(context)
    rules_brokers.check(context)
    rules_truncation.check(context)
    rules_deletion.check_names(context)
    rules_deletion.check_made_again(context)
    rules_data_plane.check(context, all(map(fences_sessions, releases)))
    rules_states.check_versions(context)
    rules_states.check(context)
    rules_isr.check(context)
    sequences = context.sequences
    for number, release in enumerate(releases):
        rules_model.check(context, release)
        sequences = context.sequences if number == 0 else sequences
    rules_requests.check(context)
    rules_order.check(context)
    for event, other in context.beside:
        event.beside = other
    suspects = {*suspects, *((finding.file, finding.line) for finding in context.findings)}
    suspects |= {(event.file, event.line) for event, _ in context.beside}
    suspects |= _overtaken(context.history)
    checked = Counter({n: c for n, c in context.checked.items() if n not in OF_CLUSTERS})
    for event in events:
        if event.beside is None and (event.file, event.line) in suspects:
            event.beside = ""  # what it does not go with, nobody asks
    found = _evidence(context.history, suspects, ends)
    return ScreenedLines(found, checked, context.fired, sequences)


def _overtaken(history: History) -> set[tuple[str, int]]:
    """Writes under an older controller epoch than that of an earlier version of the state."""
    found: set[tuple[str, int]] = set()
    for versions in rules_model.lives(history, history.events):
        newest: Event | None = None
        for version in sorted(versions):
            for events in versions[version].shown.values():
                for event in events:
                    if event.kind != "partition_changed" or event.controller_epoch is None:
                        continue
                    if newest is None or event.controller_epoch >= (newest.controller_epoch or 0):
                        newest = event
                    else:
                        found |= {(event.file, event.line), (newest.file, newest.line)}
    return found


def tail(events: Iterable[Event], places: Mapping[str, Place], newest: int) -> list[Event]:
    """The newest lines, and of older ones the last of each kind about the same thing.

    The last line of a kind is the last in its log: a clock may have been set back.
    """
    ordered = History(events, places).events
    times = sorted((event.at for event in ordered), reverse=True)
    since = times[newest - 1] if len(times) > newest else None
    seen: Counter[tuple[object, ...]] = Counter()
    kept = []
    for event in reversed(ordered):
        about = places[event.file].stream, *_about(event)
        seen[about] += 1
        if since is None or event.at >= since or seen[about] <= NEAR:
            kept.append(event)
    return kept[::-1]


def _evidence(history: History, suspects: set[tuple[str, int]], ends: bool) -> list[Event]:
    """The suspects, with the lines before and after them that they are compared with.

    In a suspect's own log those are the next lines; in other logs, the next in time.
    """
    if not suspects and not ends:
        return []
    events = history.events
    about: dict[tuple[str, tuple[object, ...]], list[int]] = defaultdict(list)
    for number, event in enumerate(events):
        about[history.places[event.file].stream, _about(event)].append(number)
    times = {key: [events[number].at for number in found] for key, found in about.items()}
    kept: set[int] = set()
    for number, event in enumerate(events):
        if (event.file, event.line) in suspects:
            here = history.places[event.file].stream
            for key, found in about.items():
                own = key[0] == here
                at = bisect_left(found, number) if own else bisect_left(times[key], event.at)
                kept.update(found[max(0, at - NEAR) : at + NEAR + 1])
        elif event.kind in _BEGINS or event.to_state == "NewPartition":
            kept.add(number)
    if ends:
        for found in about.values():
            kept.update(found[:NEAR] + found[-NEAR:])
    return [events[number] for number in sorted(kept)]


def _about(event: Event) -> tuple[object, ...]:
    return event.kind, event.broker, event.replica, event.from_state == "NonExistentPartition"
