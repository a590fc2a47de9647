"""Requests and writes of an implementation's step, compared with those of the model's step.

A state may be right though something was written twice, or sent and forgotten. So every write that
ZooKeeper executes and every request that a controller hands to the network is heard while the step
acts, in order; the leaves that the step changed say which ones there had to be, and no others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from conformance.mapping import Facts, SystemMap
from impl.world import World
from impl.world.cluster import STATE
from impl.world.journal import Journal
from impl.world.network import OrderInFlight
from impl.znodes import paths
from impl.zookeeper.watches import Change, Watches
from impl.zookeeper.znode import EventType


class SentOrder(NamedTuple):
    """A LeaderAndIsr in flight, as the model names it."""

    leader_epoch: int
    controller_epoch: int
    target: int


class EffectRecorder(Watches, Journal):
    """Hears ZooKeeper's changes as its watches do, and a controller's requests as its log does."""

    def __init__(self, watches: Watches) -> None:
        super().__init__()
        self.load(watches.save())
        self.heard: list[Change | SentOrder] = []

    def fire(self, changes: list[Change]) -> None:
        """What a transaction changed."""
        self.heard.extend(changes)
        super().fire(changes)

    def controller_sends(self, broker: int, request: OrderInFlight) -> None:
        """A request goes out."""
        state = request.state
        self.heard.append(SentOrder(state.leader_epoch, request.controller_epoch, request.target))


class EffectsOfOnePartition:
    """Watches the steps of `impl.World`; `writes` and `requests` count what was heard."""

    def __init__(self) -> None:
        self.writes = self.requests = 0

    def __call__(self, world: World, about: SystemMap, act: Callable[[], None]) -> list[str]:
        """Let the step act; what it did and should not have, or should have and did not."""
        before, journal = about.facts(world), world.journal
        recorder = EffectRecorder(world.zookeeper.watches)
        world.zookeeper.watches = world.journal = recorder
        try:
            act()
        finally:
            world.journal = journal
        writes = [one for one in recorder.heard if not isinstance(one, SentOrder)]
        requests = [one for one in recorder.heard if isinstance(one, SentOrder)]
        self.writes += len(writes)
        self.requests += len(requests)
        after = about.facts(world)
        wrong = [
            *_differs("ZooKeeper's change", Counter(writes), Counter(_changes(before, after))),
            *_differs("request", Counter(requests), Counter(_requests(before, after))),
        ]
        if recorder.heard != [*writes, *requests]:
            wrong.append("a request goes out before the write that it announces")
        if requests != sorted(requests, key=lambda one: one.target):
            wrong.append("requests go out by broker in their order")
        return wrong


def _differs(what: str, heard: Counter[Any], expected: Counter[Any]) -> Iterator[str]:
    for one in sorted((heard - expected).elements(), key=str):
        yield f"{what} {_named(one)}, which shows nowhere"
    for one in sorted((expected - heard).elements(), key=str):
        yield f"no {what} {_named(one)}, which shows"


def _named(one: Change | SentOrder) -> str:
    if not isinstance(one, SentOrder):
        return f"{one[0].value} {one[1]}"
    return (
        f"LeaderAndIsr of leader epoch {one.leader_epoch}, controller epoch "
        f"{one.controller_epoch} to {one.target}"
    )


def _changes(before: Facts, after: Facts) -> Iterator[Change]:
    """What ZooKeeper must have changed."""

    def now(field: str) -> tuple[int, int]:
        return before.get((field, ()), 0), after.get((field, ()), 0)

    was, version = now("zk.version")
    yield from [(EventType.DATA_CHANGED, STATE)] * (version - was)
    was, owner = now("zk.controller")
    if was and not owner:
        yield EventType.DELETED, paths.CONTROLLER
    if owner and not was:
        yield EventType.CREATED, paths.CONTROLLER
    was, epoch = now("zk.epoch")
    yield from [(EventType.DATA_CHANGED, paths.CONTROLLER_EPOCH)] * (epoch - was)
    for field, (broker, *_) in sorted(
        key for key in before.keys() ^ after.keys() if key[0] == "zk.registered"
    ):
        gone = (field, (broker,)) in before
        yield (EventType.DELETED if gone else EventType.CREATED), paths.broker(broker)


def _requests(before: Facts, after: Facts) -> Iterator[SentOrder]:
    """What must have been put in flight."""
    for field, index in sorted(after.keys() - before.keys()):
        if field == "request.in_flight":
            epoch, controller, target = index
            yield SentOrder(epoch, controller, target)
