"""Two clusters in one folder: their lines contradict each other without a fault of either.

A cluster id stands in ZooKeeper (KIP-78, 0.10.1), and each process tells it when it starts. A new
ZooKeeper has another id, which then all brokers log from some time on. Two ids that are logged in
turns, or by logs that are written at the same time for longer than a restart takes, are of two
clusters; but for a broker that logs both into one file: it was started with one ZooKeeper and then
with another. Where one id follows on another and no broker logs both, nothing says which it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import pairwise

from conformance.ingest.schema import Event
from conformance.pipeline.places import Place
from conformance.pipeline.rules import ONE_CLUSTER, Finding, FindingKind

_BESIDE = 600_000  # milliseconds for which two logs of two ids are written at the same time


def two_clusters(events: Sequence[Event], places: Mapping[str, Place]) -> Finding | None:
    """A finding that names both, if the lines of two clusters were put together."""
    named = [event for event in events if event.kind == "cluster_id" and event.detail]
    if len({event.detail for event in named}) < 2:
        return None
    logs: dict[str, list[Event]] = defaultdict(list)
    for event in named:
        logs[places[event.file].stream].append(event)
    ends: dict[str, int] = defaultdict(int)
    for place in places.values():
        ends[place.stream] = max(ends[place.stream], place.until or 0)
    pair = _in_turns(named, _moved(named, places)) or _side_by_side(logs, ends)
    if pair is None:
        return None
    a, b = pair
    return Finding(
        kind=FindingKind.NOT_JUDGED.value,
        cluster=b.cluster,
        file=b.file,
        line=b.line,
        rule=ONE_CLUSTER.name,
        why=(
            f"the logs of two clusters lie together: {a.detail} at {a.where}, and {b.detail} here; "
            "nothing of them is judged. Put each cluster's logs into a folder of its own"
        ),
        allowed=ONE_CLUSTER.allowed,
        positions=(b.where, a.where),
    )


def perhaps_two_clusters(events: Sequence[Event]) -> Iterator[tuple[Event, str]]:
    """Lines with another cluster id than the one before, if no broker logs both of them.

    One that does was started with another ZooKeeper, or is of the other cluster: what it says is
    judged apart either way (`resets`).
    """
    named = [event for event in events if event.kind == "cluster_id" and event.detail]
    brokers: dict[str | None, set[int | None]] = defaultdict(set)
    for event in named:
        brokers[event.detail].add(event.broker)
    for a, b in pairwise(sorted(named, key=lambda event: (event.at, event.where))):
        one, other = brokers[a.detail], brokers[b.detail]
        if a.detail != b.detail and None not in one | other and not one & other:
            yield (
                b,
                f"cluster {b.detail} begins here, after {a.detail} at {a.where}, and no broker has "
                "both: these seem to be logs of two clusters, which belong into a folder each",
            )


def _moved(named: Sequence[Event], places: Mapping[str, Place]) -> set[frozenset[str | None]]:
    """Pairs of ids that one broker logs into one file, whose stamps show that it is one."""
    logged: dict[tuple[int | None, str], list[Event]] = defaultdict(list)
    for event in named:
        if not places[event.file].jumps:
            logged[event.broker, event.file].append(event)
    return {
        frozenset((a.detail, b.detail))
        for (broker, _), events in logged.items()
        if broker is not None
        for a, b in pairwise(sorted(events, key=lambda each: each.line))
        if a.detail != b.detail
    }


def _in_turns(
    named: Sequence[Event], moved: Set[frozenset[str | None]]
) -> tuple[Event, Event] | None:
    """One id, another, and the first again, by the clock: clocks are not so far apart.

    `moved`: pairs of which a broker went from one to the other.
    """
    order = sorted(named, key=lambda event: (event.at, event.where))
    last: dict[str | None, Event] = {}
    for event in order:
        before = last.get(event.detail)
        between = [
            other
            for name, other in last.items()
            if name != event.detail
            and before is not None
            and other.at > before.at
            and frozenset((name, event.detail)) not in moved
        ]
        if before is not None and between and event.at - before.at > _BESIDE:
            return before, between[0]
        last[event.detail] = event
    return None


def _side_by_side(
    logs: Mapping[str, Sequence[Event]], ends: Mapping[str, int]
) -> tuple[Event, Event] | None:
    """Two logs, each with its own id alone, that are written at the same time."""
    single = [(name, found) for name, found in sorted(logs.items()) if len(_ids(found)) == 1]
    for n, (one, first) in enumerate(single):
        for other, second in single[n + 1 :]:
            if _ids(first) == _ids(second):
                continue
            since = max(first[0].at, second[0].at)
            if min(ends[one], ends[other]) - since > _BESIDE:
                return first[0], second[0]
    return None


def _ids(events: Sequence[Event]) -> set[str | None]:
    return {event.detail for event in events}
