"""Detects two clusters in one folder: their lines contradict each other though neither is wrong.

A cluster id is stored in ZooKeeper (KIP-78, 0.10.1), and each process logs it when it starts. A
new ZooKeeper has another id, which all brokers then log from some time on. Two ids are of two
clusters if they are logged alternately, or by logs that are written at the same time for longer
than a restart takes; unless a broker logs both into one file: it was started with one ZooKeeper
and then with another. If one id follows another and no broker logs both, the case is undecided. It
is also undecided if a broker id logs both in separate files and its log directories differ, or the
later one runs an older release or another release on another host, or a rolled file of its log is
newer than the current file.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise

from conformance.ingest.schema import Event
from conformance.pipeline.places import Place, is_live
from conformance.pipeline.request_rows import release_number
from conformance.pipeline.rules import ONE_CLUSTER, Finding, FindingKind

_STARTING = 60_000  # milliseconds that a broker takes to start
AS_SHIPPED = "tmp/kafka-logs"  # log.dirs in config/server.properties; many change it later
_BESIDE = 600_000  # milliseconds for which two logs of two ids are written at the same time


def two_clusters(events: Sequence[Event], places: Mapping[str, Place]) -> Finding | None:
    """A finding that names two clusters, if lines of two clusters were put together."""
    named = [event for event in events if event.kind == "cluster_id" and event.detail]
    if len({event.detail for event in named}) < 2:
        return None
    logs: dict[str, list[Event]] = defaultdict(list)
    for event in named:
        logs[places[event.file].stream].append(event)
    ends: dict[str, int] = defaultdict(int)
    for place in places.values():
        ends[place.stream] = max(ends[place.stream], place.until or 0)
    of_one_clock = [event for event in named if not places[event.file].jumps]
    pair = _in_turns(of_one_clock, _moved(named, places)) or _side_by_side(logs, ends)
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


def perhaps_two_clusters(
    events: Sequence[Event], places: Mapping[str, Place]
) -> Iterator[tuple[Event, str]]:
    """Lines with another cluster id than the one before, if no broker is seen to have both.

    A broker that has both was started with another ZooKeeper, and is judged separately (`resets`).
    Two brokers of one number, with ids never in one file, are two if their properties differ.
    """
    named = [event for event in events if event.kind == "cluster_id" and event.detail]
    if len({event.detail for event in named}) < 2:
        return
    moved = _moved(named, places)
    brokers: dict[str | None, set[int | None]] = defaultdict(set)
    for event in named:
        brokers[event.detail].add(event.broker)
    for a, b in pairwise(sorted(named, key=lambda event: (event.at, event.where))):
        one, other = brokers[a.detail], brokers[b.detail]
        if a.detail == b.detail or None in one | other:
            continue
        if one & other:
            apart = frozenset((a.detail, b.detail)) not in moved and (
                _older_than_rolled(places, b) or _differs(events, a, b)
            )
        else:
            apart = "no broker has both"
        if apart:
            yield (
                b,
                f"cluster {b.detail} begins here, after {a.detail} at {a.where}, and {apart}: "
                "these seem to be logs of two clusters, which belong into a folder each",
            )


def _older_than_rolled(places: Mapping[str, Place], event: Event) -> str:
    """Says that the current file of a line's log is older than a rolled one; "" if it is not."""
    stream = places[event.file].stream
    files = [(place.roll, name) for name, place in places.items() if place.stream == stream]
    newest = max(files)[1]
    older = sorted(name for _, name in files if is_live(name) and not is_live(newest))
    return f"{older[0]} is older than {newest}" if older else ""


def _differs(events: Sequence[Event], a: Event, b: Event) -> str:
    """Evidence that the brokers of two cluster ids differ, although they have the same numbers."""
    found = []
    for kind in ("configuration", "release", "broker_registered"):
        said = [event for event in events if event.kind == kind and event.detail]
        found.append([_near(said, events, each.detail) for each in (a, b)])
    (old, new), (before, after), (at, since) = found
    for broker in sorted(old.keys() & new.keys()):
        if old[broker].isdisjoint(new[broker]) and not _as_shipped(old[broker]):
            return (
                f"broker {broker} keeps its logs in {', '.join(sorted(new[broker]))} since, and "
                f"in {', '.join(sorted(old[broker]))} before"
            )
    for broker in sorted(before.keys() & after.keys()):
        newest = max(after[broker], key=release_number)
        oldest = min(before[broker], key=release_number)
        if release_number(newest) < release_number(oldest):
            return f"broker {broker} runs release {newest} since, and {oldest} before"
        moved = _hosts(at[broker]).isdisjoint(_hosts(since[broker])) and at[broker]
        stays = old[broker] & new[broker] and not _as_shipped(old[broker])
        if moved and since[broker] and not stays and before[broker].isdisjoint(after[broker]):
            return (
                f"broker {broker} runs release {newest} on {', '.join(_hosts(since[broker]))} "
                f"since, and {oldest} on {', '.join(_hosts(at[broker]))} before"
            )
    return ""


def _hosts(addresses: Iterable[str]) -> set[str]:
    """The hosts that registrations name: `PLAINTEXT://host:9092`, `EndPoint(host,9092,..)`."""
    return {
        first or second
        for each in addresses
        for first, second in re.findall(r"://([^:,]+):|EndPoint\(([^,]+),", each)
    }


def _as_shipped(directories: Iterable[str]) -> bool:
    return any(each.endswith(AS_SHIPPED) for each in directories)


def _near(
    said: Sequence[Event], events: Iterable[Event], cluster: str | None
) -> dict[int, set[str]]:
    """By broker, what its lines say around the time at which it logs a cluster id."""
    found: dict[int, set[str]] = defaultdict(set)
    for event in events:
        if event.kind != "cluster_id" or event.detail != cluster or event.broker is None:
            continue
        for each in said:
            if abs(each.at - event.at) < _STARTING and each.broker == event.broker and each.detail:
                found[event.broker].add(each.detail)
    return found


def _moved(named: Sequence[Event], places: Mapping[str, Place]) -> set[frozenset[str | None]]:
    """Pairs of cluster ids that a broker logs into one file whose stamps never jump back."""
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
    """One id, another, and the first again, by the clock; clocks do not differ this much.

    `moved`: pairs of ids between which a broker moved.
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
    """Two logs, each with one id of its own, that are written at the same time."""
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
