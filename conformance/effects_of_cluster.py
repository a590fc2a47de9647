"""Compares requests and writes of a step of a whole cluster with those of the model's step.

Every change of ZooKeeper and every request that a controller's channel takes is recorded, in order,
while the step runs. The leaves that the step changed determine the expected changes. Each
connection's new requests are those at the end of its queue: in that order, and no others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.effects import Effects, RecordedRequest, comparable_event_type
from conformance.mapping import Facts, SystemMap
from impl.core.requests import LeaderAndIsr, UpdateMetadata
from impl.world.simulated_broker import SentRequest
from impl.world.staged.staged_cluster import StagedCluster, versions_in
from impl.znodes import paths
from impl.zookeeper.watches import Change
from impl.zookeeper.znode import EventType
from model.cluster.state import REQUESTS

Connection = tuple[int, int]
Shape = tuple[int, tuple[tuple[int, int], ...]]
"""A request as the model has it: its kind, and the version of each partition that it mentions."""

COUNTED = {
    paths.ISR_CHANGES: "notifications of ISR changes",
    paths.LOG_DIR_EVENTS: "notifications of log directories",
}
KINDS: dict[type, str] = {LeaderAndIsr: "leader_and_isr", UpdateMetadata: "update_metadata"}


class EffectsOfCluster(Effects):
    """The effects of steps of `StagedCluster`."""

    def __init__(self) -> None:
        super().__init__()
        self._last: tuple[Any, int, Facts] | None = None

    def facts_before(self, world: StagedCluster, about: SystemMap) -> Facts:
        """Returns the facts after the last step: they are those before this step."""
        if self._last is not None and self._last[:2] == (world, world.clock):
            return self._last[2]
        return super().facts_before(world, about)

    def facts_after(self, world: StagedCluster, about: SystemMap) -> Facts:
        """Returns the facts after the step, and keeps them for the next step."""
        after = super().facts_after(world, about)
        self._last = (world, world.clock, after)
        return after

    def differences(
        self, writes: list[Change], sent: list[RecordedRequest], before: Facts, after: Facts
    ) -> Iterator[str]:
        """Compares ZooKeeper's changes, and the queue of each connection."""
        yield from _differences_of(_named(writes), Counter(_changes(before, after)))
        yield from _queues(sent, before, after)


def _named(writes: list[Change]) -> Counter[str]:
    """ZooKeeper's changes, notifications by their kind."""
    found: Counter[str] = Counter()
    for kind, path in writes:
        parent = path.rpartition("/")[0]
        found[
            f"{comparable_event_type(kind, path)} {path if parent not in COUNTED else parent}"
        ] += 1
    return found


def _differences_of(recorded: Counter[str], expected: Counter[str]) -> Iterator[str]:
    # A change that leaves no leaf, as one notification more of what was noted, is not minded.
    for one in sorted((recorded - expected).elements()):
        if not any(one.endswith(parent) for parent in COUNTED):
            yield f"ZooKeeper's change {one}, which shows nowhere"
    for one in sorted((expected - recorded).elements()):
        yield f"no change {one} in ZooKeeper, which shows"


def _changes(before: Facts, after: Facts) -> Iterator[str]:
    """What ZooKeeper must have changed."""
    for (field, index), version in after.items():
        if field == "partition.version":
            node = paths.state("t", *index)
            more = version - before.get((field, index), 0)
            yield from [f"{EventType.DATA_CHANGED.value} {node}"] * more
    was, owner = before.get(("zk.controller", ()), 0), after.get(("zk.controller", ()), 0)
    if was and was != owner:
        yield f"{EventType.DELETED.value} {paths.CONTROLLER}"
    if owner and was != owner:
        yield f"{EventType.CREATED.value} {paths.CONTROLLER}"
    counted = after.get(("zk.epoch", ()), 0) - before.get(("zk.epoch", ()), 0)
    yield from [f"{EventType.DATA_CHANGED.value} {paths.CONTROLLER_EPOCH}"] * counted
    yield from _registrations(before, after)
    for broker in sorted(index[0] for index in _members(after, "zk.endpoints")):
        key = ("zk.endpoints", (broker,))
        more = after[key] - before.get(key, 0)
        yield from [f"{EventType.DATA_CHANGED.value} {paths.broker(broker)}"] * more
    wanted = [bool(_members(one, "partition.wanted")) for one in (before, after)]
    if wanted[0] != wanted[1]:
        kind = EventType.DELETED if wanted[0] else EventType.CREATED
        yield f"{kind.value} {paths.PREFERRED_ELECTION}"
    for field, parent in (
        ("partition.noted", paths.ISR_CHANGES), ("zk.log_dir_events", paths.LOG_DIR_EVENTS)
    ):  # fmt: skip
        found = [set(one) for one in (_members(before, field), _members(after, field))]
        yield from [f"{EventType.CREATED.value} {parent}"] * bool(found[1] - found[0])
        yield from [f"{EventType.DELETED.value} {parent}"] * bool(found[0] - found[1])


def _members(facts: Facts, field: str) -> list[tuple[int, ...]]:
    return [index for name, index in facts if name == field]


def _registrations(before: Facts, after: Facts) -> Iterator[str]:
    """Brokers that come or go; one whose last session's node is there is replaced."""
    was, now = (_members(one, "zk.registered") for one in (before, after))
    aged = set(_members(before, "zk.outlived")) - set(_members(after, "zk.outlived"))
    for index in sorted({*was, *now}):
        path, replaced = paths.broker(*index), index in now and index in aged
        if index not in now or replaced:
            yield f"{EventType.DELETED.value} {path}"
        if index not in was or replaced:
            yield f"{EventType.CREATED.value} {path}"


# Requests


def _queues(sent: list[RecordedRequest], before: Facts, after: Facts) -> Iterator[str]:
    """Each connection's queue is what was left of it, and then what was sent now."""
    news: dict[Connection, list[Shape]] = {}
    for one in sent:
        news.setdefault((one.controller, one.to), []).append(_shape(one.request))
    was, now = _shapes(before), _shapes(after)
    for to in sorted({*was, *now, *news}):
        old, here, new = was.get(to, []), now.get(to, []), news.get(to, [])
        kept = here[: len(here) - len(new)]
        if here[len(kept) :] != new and here:  # a queue that was dropped holds nothing
            yield f"the requests of controller {to[0]} to broker {to[1]} are not queued as sent"
        elif kept != old[len(old) - len(kept) :] and not _is_shortened(old, kept):
            yield f"a request of controller {to[0]} to broker {to[1]} is queued and was not sent"


def _is_shortened(old: list[Shape], kept: list[Shape]) -> bool:
    """Of the first request a partition is dealt with."""
    if len(old) != len(kept) or not kept:
        return False
    (kind, described), (same, rest) = old[0], kept[0]
    return kind == same and set(rest) < set(described) and old[1:] == kept[1:]


def _shape(sent: SentRequest) -> Shape:
    kind = REQUESTS.code(KINDS.get(type(sent.request), "stop_replica"))
    described = {one.partition: version for one, version in versions_in(sent).items()}
    return kind, tuple(sorted(described.items()))


def _shapes(facts: Mapping[tuple[str, tuple[int, ...]], int]) -> dict[Connection, list[Shape]]:
    found: dict[Connection, list[Shape]] = {}
    described: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for (field, index), code in facts.items():
        if field == "cache.queue.at.about":
            described.setdefault(index[:3], []).append((index[3], code))
    for (field, index), length in facts.items():
        if field == "cache.queue.end":
            found[index[0], index[1]] = [
                (
                    facts.get(("cache.queue.at.kind", (*index, slot)), 0),
                    tuple(sorted(described.get((*index, slot), ()))),
                )
                for slot in range(length)
            ]
    return found
