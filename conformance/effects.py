"""Compares requests and writes of an implementation's step with those of the model's step.

A state may be right although something was written twice, or sent and forgotten. So every write
that ZooKeeper executes and every request that a controller hands to the network is recorded, in
order. The leaves that the step changed determine the expected ones; no others are allowed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from conformance.mapping import Facts, SystemMap
from impl.sim.suspension_points import STATE_NODE
from impl.world.cluster import STATE
from impl.world.stepped.controller_run import FIRST
from impl.znodes import paths
from impl.zookeeper.watches import Change, Watches
from impl.zookeeper.znode import EventType


class EffectRecorder(Watches):
    """Records ZooKeeper's changes where watches are fired, and still notifies the watchers."""

    def __init__(self, watches: Watches, recorded: list[Any]) -> None:
        super().__init__()
        self.data, self.children, self.pending = watches.data, watches.children, watches.pending
        self.recorded = recorded

    def fire(self, changes: list[Change]) -> None:
        """Records what a transaction changed."""
        self.recorded.extend(changes)
        super().fire(changes)


class RecordedRequest(NamedTuple):
    """A request as a controller handed it to the network."""

    controller: int
    to: int
    request: Any


class Effects(ABC):
    """Records the writes and requests of a world's steps; `writes` and `requests` count them."""

    def __init__(self) -> None:
        self.writes = self.requests = 0

    def __call__(self, world: Any, about: SystemMap, act: Callable[[], None]) -> list[str]:
        """Runs the step; yields effects that are unexpected, and those that are missing."""
        before, recorded = self.facts_before(world, about), list[Any]()
        watches, on_request_sent = world.zookeeper.watches, world.on_request_sent
        world.zookeeper.watches = EffectRecorder(watches, recorded)
        world.on_request_sent = lambda *sent: recorded.append(RecordedRequest(*sent))
        try:
            act()
        finally:
            world.zookeeper.watches, world.on_request_sent = watches, on_request_sent
        writes = [one for one in recorded if not isinstance(one, RecordedRequest)]
        sent = [one for one in recorded if isinstance(one, RecordedRequest)]
        self.writes += len(writes)
        self.requests += len(sent)
        wrong = [*self.differences(writes, sent, before, self.facts_after(world, about))]
        states = [at for at, one in enumerate(recorded) if _is_write_of_state(one)]
        requests = [at for at, one in enumerate(recorded) if isinstance(one, RecordedRequest)]
        if states and requests and max(states) > min(requests):
            wrong.append("a request goes out before the write that it announces")
        return wrong

    def facts_before(self, world: Any, about: SystemMap) -> Facts:
        """What the world shows before the step."""
        return about.facts(world)

    def facts_after(self, world: Any, about: SystemMap) -> Facts:
        """What the world shows after the step."""
        return about.facts(world)

    @abstractmethod
    def differences(
        self, writes: list[Change], sent: list[RecordedRequest], before: Facts, after: Facts
    ) -> Iterator[str]:
        """Effects that no changed field shows, and changed fields that no effect explains."""


def _is_write_of_state(recorded: Change | RecordedRequest) -> bool:
    return (
        not isinstance(recorded, RecordedRequest) and STATE_NODE.fullmatch(recorded[1]) is not None
    )


class EffectsOfOnePartition(Effects):
    """The effects of steps of `PartitionCluster`."""

    def differences(
        self, writes: list[Change], sent: list[RecordedRequest], before: Facts, after: Facts
    ) -> Iterator[str]:
        """Compares ZooKeeper's changes and LeaderAndIsr requests; requests go out by broker id."""
        changes = [f"{comparable_event_type(kind, path)} {path}" for kind, path in writes]
        yield from _differences_of("ZooKeeper's change", changes, _changes(before, after))
        orders = [_order(one) for one in sent]
        yield from _differences_of("request", orders, _requests(before, after))
        if sent != sorted(sent, key=lambda one: one.to):
            yield "requests go out by broker in their order"


def comparable_event_type(kind: EventType, path: str) -> str:
    """The event type; for ``/controller_epoch`` always a data change (up to 2.0 it is created)."""
    return (EventType.DATA_CHANGED if path == paths.CONTROLLER_EPOCH else kind).value


def _differences_of(what: str, recorded: Sequence[str], expected: Iterator[str]) -> Iterator[str]:
    was, wanted = Counter(recorded), Counter(expected)
    for one in sorted((was - wanted).elements()):
        yield f"{what} {one}, which shows nowhere"
    for one in sorted((wanted - was).elements()):
        yield f"no {what} {one}, which shows"


def _order(sent: RecordedRequest) -> str:
    state = sent.request.partitions[FIRST].state
    return _named(state.leader_epoch, sent.request.controller_epoch, sent.to)


def _named(leader_epoch: int, controller_epoch: int, target: int) -> str:
    return (
        f"LeaderAndIsr of leader epoch {leader_epoch}, controller epoch {controller_epoch} "
        f"to {target}"
    )


def _changes(before: Facts, after: Facts) -> Iterator[str]:
    """What ZooKeeper must have changed."""
    changed = EventType.DATA_CHANGED.value
    was, version = before.get(("zk.version", ()), 0), after.get(("zk.version", ()), 0)
    yield from [f"{changed} {STATE}"] * (version - was)
    was, owner = before.get(("zk.controller", ()), 0), after.get(("zk.controller", ()), 0)
    if was and not owner:
        yield f"{EventType.DELETED.value} {paths.CONTROLLER}"
    if owner and not was:
        yield f"{EventType.CREATED.value} {paths.CONTROLLER}"
    was, epoch = before.get(("zk.epoch", ()), 0), after.get(("zk.epoch", ()), 0)
    yield from [f"{changed} {paths.CONTROLLER_EPOCH}"] * (epoch - was)
    for field, (broker, *_) in sorted(
        key for key in before.keys() ^ after.keys() if key[0] == "zk.registered"
    ):
        gone = (field, (broker,)) in before
        yield f"{(EventType.DELETED if gone else EventType.CREATED).value} {paths.broker(broker)}"


def _requests(before: Facts, after: Facts) -> Iterator[str]:
    """What must have been put in flight."""
    for field, index in sorted(after.keys() - before.keys()):
        if field == "request.in_flight":
            yield _named(*index)
