"""Brokers that stand for controller, write as one and are deposed: each registration and write of
a state is a step, its execution at ZooKeeper another, and each answer a third.

The code is that of a running broker: the events are those of `EventController`, suspended where its
writes are under way (`impl.sim.event_run`), and its `ReplicaManager` refuses controllers. What the
events are about does not matter here: every write is a preferred election of one partition, whose
leader is a broker that stands for nothing and always lives. Source: fact sheet b.2 to b.6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from typing import Any

from impl.core.event_controller import EventController
from impl.core.replica_manager import ReplicaManager
from impl.core.request_batch import NO_BROKER_EPOCH
from impl.core.requests import LeaderAndIsr, Request, UpdateMetadata
from impl.releases import DEFAULT, Release
from impl.sim.checkpoint import keep, put_back
from impl.sim.effects import Ask, Report, Send
from impl.sim.event_run import ControllerThread, Place
from impl.sim.places import is_lost, is_registered, registered_epoch, states_written
from impl.world.stepped.host import LogsInMemory
from impl.world.steps import Step, StepNotPossible
from impl.znodes import BrokerInfo, LeaderIsrAndControllerEpoch, TopicPartition, paths
from impl.znodes.client import ZnodeClient
from impl.znodes.states import decode_state, encode_state
from impl.zookeeper import Op, ZooKeeper
from impl.zookeeper.port import wait
from impl.zookeeper.session import EmbeddedSession

PARTITION = TopicPartition("t", 0)
STATE = paths.state(*PARTITION)
FIRST_FENCED = "2.1"
"""Before, the epoch was counted by a write of its own after `/controller` was created."""
BROKER_EPOCHS = "2.2"
"""Since then a request names the registration of the broker that it is for (KIP-380)."""
NO_SESSION = 0

Sent = tuple[int, int]
"""A controller, and the epoch under which it sent its requests."""


def at_writes(thread: ControllerThread, place: Place) -> bool:
    """The grain: before a registration and after it, and before a write of the state."""
    if not isinstance(place.effect, Ask):
        return False
    if registered_epoch(place.effect) is not None:
        return True
    return bool(states_written(place.effect)) and not place.is_done


async def _stands(controller: EventController) -> None:
    await controller.elect(0)


async def _elects(controller: EventController) -> None:
    await controller.guarded(lambda: controller.elect_preferred([PARTITION]))


async def _fails(controller: EventController) -> None:
    await controller.trigger_move()


class ElectionWorld:
    """Brokers 1..N without a session, and a partition's state that whoever is controller writes.

    ``threads`` are their controllers; ``abandoned`` the writes that a process left under way when
    it ended; ``requests`` what was sent, by controller and epoch, which may come often and late.
    ``version`` is a release from 2.1 on; ValueError for an older one, which registered in two
    writes.
    """

    def __init__(self, brokers: int = 2, version: str = DEFAULT) -> None:
        self.release = Release.of(version)
        if not self.release.since(FIRST_FENCED):
            raise ValueError(f"registration is one write since {FIRST_FENCED}, not in {version}")
        self.brokers = range(1, brokers + 1)
        self.zookeeper = ZooKeeper()
        self._begin(brokers + 1)
        self.threads = {one: self._thread(one) for one in self.brokers}
        self.abandoned: dict[int, tuple[Op, ...]] = {}
        self.queued: dict[int, dict[type, Request]] = {}
        self.requests: dict[Sent, tuple[Request, ...]] = {}
        self.replicas = {broker: self._fresh_replicas(broker) for broker in self.brokers}

    def _begin(self, leader: int) -> None:
        admin = ZnodeClient(EmbeddedSession(self.zookeeper), self.release)
        for path in paths.persistent(self.release):
            wait(admin.make_path(path))
        wait(admin.make_path(paths.CONTROLLER_EPOCH, "0"))
        replicas = (leader, *self.brokers)
        wait(admin.create_topic(PARTITION.topic, {PARTITION.partition: replicas}))
        state = LeaderIsrAndControllerEpoch(leader, 0, (leader,), 0)
        wait(admin.make_path(STATE, encode_state(state)))
        wait(admin.register_broker(leader, _info(leader)))

    def _thread(self, broker: int) -> ControllerThread:
        return ControllerThread(
            broker, self.zookeeper, NO_SESSION, self.release, at_writes,
            lambda effect: self._carry_out(broker, effect),
        )  # fmt: skip

    def _fresh_replicas(self, broker: int) -> ReplicaManager:
        return ReplicaManager(broker, self.release, LogsInMemory(), 0, _nobody)

    def _carry_out(self, broker: int, effect: Send | Report) -> None:
        """What a controller sends waits in its channel to itself; to the others it sends alike."""
        if isinstance(effect, Send):
            for to, request in effect.requests:
                if to == broker:
                    self.queued.setdefault(broker, {}).setdefault(type(request), request)
        elif effect.event == "resigned":
            self.queued.pop(broker, None)

    # What can be seen

    def session_alive(self, broker: int) -> bool:
        """ZooKeeper holds the broker's session."""
        return self.threads[broker].port.session in self.zookeeper.sessions

    def under_way(self, broker: int) -> tuple[Op, ...]:
        """The write of the partition's state that ZooKeeper has not executed yet; or none."""
        place = self.threads[broker].place
        if place is not None and isinstance(place.effect, Ask) and states_written(place.effect):
            return place.effect.ops
        return self.abandoned.get(broker, ())

    def election_of(self, broker: int) -> Place | None:
        """Where its registration as the controller stands: sent, or answered."""
        place = self.threads[broker].place
        asks = place is not None and registered_epoch(place.effect) is not None
        return place if asks else None

    # Steps

    def enabled(self) -> list[Step]:
        """Every step that may be taken now, sorted by name and arguments."""
        steps = [Step(name, (one,)) for name in sorted(STEPS) for one in self.brokers]
        steps += [
            Step(name, (broker, *sent))
            for name in ARRIVALS
            for broker, sent in product(self.brokers, sorted(self.requests))
        ]
        return [step for step in steps if self.why_not(step) is None]

    def why_not(self, step: Step) -> str | None:
        """The first condition of the step that does not hold, None if it may be taken."""
        if step.name in ARRIVALS:
            broker, sender, epoch = step.args
            if (sender, epoch) not in self.requests:
                return "the request was sent"
            is_newer = self.replicas[broker].controller_epoch > epoch
            return None if is_newer == (step.name == "request_is_refused") else ARRIVALS[step.name]
        if step.name not in STEPS:
            return f"{step.name} is the name of a step"
        return STEPS[step.name][0](self, step.args[0])

    def do(self, step: Step) -> None:
        """Take a step; StepNotPossible with the reason if it is not enabled."""
        reason = self.why_not(step)
        if reason is not None:
            raise StepNotPossible(step, reason)
        if step.name in ARRIVALS:
            self.request_arrives(*step.args)
        else:
            STEPS[step.name][1](self, step.args[0])
        self.zookeeper.watches.pending.clear()  # which events come of it does not matter here

    # Sessions

    def broker_connects(self, broker: int) -> None:
        """A session is opened, and the broker registers under it."""
        thread = self.threads[broker]
        session = EmbeddedSession(self.zookeeper)
        wait(ZnodeClient(session, self.release).register_broker(broker, _info(broker)))
        thread.reconnect(session.session)

    def session_expires(self, broker: int) -> None:
        """ZooKeeper ends it, and `/controller` goes with it if it is the session's."""
        self.zookeeper.expire(self.threads[broker].port.session)

    def broker_crashes(self, broker: int) -> None:
        """Memory is lost. What was sent is under way; the session lasts until it expires.

        Since 2.2 what is sent to an earlier registration is refused (KIP-380), as if the broker
        still knew of the controllers that it had known.
        """
        ops = self.under_way(broker)
        if ops:
            self.abandoned[broker] = ops
        thread = self.threads[broker]
        thread.renew(thread.port.session)
        self.queued.pop(broker, None)
        if not self.release.since(BROKER_EPOCHS):
            self.replicas[broker] = self._fresh_replicas(broker)

    @contextmanager
    def _connection(self, broker: int) -> Iterator[EmbeddedSession]:
        """The client's: where its session is over, it reconnects before the broker knows."""
        port = self.threads[broker].port
        last = port.embedded
        if not last.alive:
            port.embedded = EmbeddedSession(self.zookeeper)
        try:
            yield port.embedded
        finally:
            if port.embedded is not last:
                port.embedded.close()
                port.embedded = last

    # Office

    def broker_stands(self, broker: int) -> None:
        """Nobody is registered, `/controller_epoch` is read; the registration is on its way."""
        self.threads[broker].begin(_stands)

    def zookeeper_executes_registration(self, broker: int) -> None:
        """Both or neither: `/controller`, and the next epoch. Nobody has heard of it yet."""
        self.threads[broker].go_on()

    def answer_is_lost(self, broker: int) -> None:
        """The connection broke after the registration was executed."""
        self.threads[broker].lose_answer()

    def broker_hears(self, broker: int) -> None:
        """The answer comes; or it was lost, and the broker asks again and looks whose office it is.

        What follows in the same event is executed at once: a winner reads what there is, and has
        its first requests ready.
        """
        thread = self.threads[broker]
        while thread.place is not None:
            thread.go_on()

    def controller_resigns(self, broker: int) -> None:
        """Out of office, and `/controller` is deleted by the fence of one's own epoch."""
        with self._connection(broker):
            self.threads[broker].begin(_fails)

    # Writes

    def controller_starts_write(self, broker: int) -> None:
        """The state is read, and written under the version that it had: that is on its way.

        One that a newer controller has written is left alone.
        """
        with self._connection(broker):
            self.threads[broker].begin(_elects)

    def zookeeper_executes_write(self, broker: int) -> None:
        """Applied or refused, by the fence and by the version; its sender hears of it, if it is
        still there."""
        ops = self.abandoned.pop(broker, None)
        with self._connection(broker) as session:
            if ops is None:
                self.threads[broker].go_on()
            else:
                wait(session.multi(ops))

    # Requests

    def controller_sends_request(self, broker: int) -> None:
        """Its channels send what it had ready at first; it may come often and late."""
        queued = self.queued[broker]
        epoch = self.threads[broker].controller.core.context.epoch
        self.requests[broker, epoch] = tuple(
            replace(queued[kind], broker_epoch=NO_BROKER_EPOCH)
            for kind in (UpdateMetadata, LeaderAndIsr)
        )

    def request_arrives(self, broker: int, sender: int, epoch: int) -> None:
        """Obeyed, or refused for its controller epoch."""
        for request in self.requests[sender, epoch]:
            wait(self.replicas[broker].handle(request, NO_BROKER_EPOCH, 0))

    # Plain data

    def snapshot(self) -> Any:
        """The whole state as a value."""
        return (
            self.zookeeper.save(), dict(self.abandoned), dict(self.requests),
            {one: dict(queue) for one, queue in self.queued.items()},
            dict(self.replicas), keep(self.replicas.values()),
            [thread.save() for thread in self.threads.values()],
        )  # fmt: skip

    def restore(self, snapshot: Any) -> None:
        """Become what a snapshot says."""
        zookeeper, abandoned, requests, queued, replicas, held, threads = snapshot
        self.zookeeper.load(zookeeper)
        self.abandoned, self.requests = dict(abandoned), dict(requests)
        self.queued = {one: dict(queue) for one, queue in queued.items()}
        self.replicas = dict(replicas)
        put_back(held)
        for thread, saved in zip(self.threads.values(), threads, strict=True):
            thread.load(saved)


def _info(broker: int) -> BrokerInfo:
    return BrokerInfo((f"PLAINTEXT://b{broker}:9092",), 0)


def _nobody() -> ZnodeClient:
    raise AssertionError("no candidate leads, so none writes an ISR")


# When each step may be taken: the first condition that does not hold, or None

_SESSION = "the broker has a session"
_IN_OFFICE = "the broker is the controller"
_EXECUTED = "its registration was executed"
ARRIVALS = {
    "request_arrives": "the broker knows no newer controller",
    "request_is_refused": "the broker knows a newer controller",
}


def _connects(world: ElectionWorld, broker: int) -> str | None:
    if world.session_alive(broker):
        return "the broker has no session"
    return "no election of it is under way" if world.election_of(broker) else None


def _expires(world: ElectionWorld, broker: int) -> str | None:
    return None if world.session_alive(broker) else _SESSION


def _crashes(world: ElectionWorld, broker: int) -> str | None:
    controller = world.threads[broker].controller
    knows = (
        controller.active or world.election_of(broker) or world.replicas[broker].controller_epoch
    )
    return None if knows else "the broker has something to forget"


def _may_stand(world: ElectionWorld, broker: int) -> str | None:
    thread = world.threads[broker]
    if not world.session_alive(broker):
        return _SESSION
    if thread.controller.active:
        return "the broker is not the controller"
    if thread.place is not None or world.under_way(broker):
        return "its event thread waits for nothing"
    return "nobody is registered" if paths.CONTROLLER in world.zookeeper.nodes else None


def _is_registered(world: ElectionWorld, broker: int) -> str | None:
    place = world.election_of(broker)
    if place is None or place.is_done:
        return "its registration is on its way"
    return None if world.session_alive(broker) else _SESSION


def _loses(world: ElectionWorld, broker: int) -> str | None:
    place = world.election_of(broker)
    there = place is not None and place.is_done and not is_lost(place)
    return None if there else _EXECUTED


def _is_late(world: ElectionWorld, broker: int, place: Place) -> bool:
    node = world.zookeeper.nodes.get(paths.CONTROLLER)
    is_own = node is not None and node.owner == world.threads[broker].port.session
    return is_registered(place) and not is_lost(place) and not is_own


def _hears(world: ElectionWorld, broker: int) -> str | None:
    place = world.election_of(broker)
    if place is None or (not place.is_done and world.session_alive(broker)):
        return _EXECUTED
    return "what it hears is so still" if _is_late(world, broker, place) else None


def _hears_late(world: ElectionWorld, broker: int) -> str | None:
    place = world.election_of(broker)
    if place is None or not place.is_done:
        return _EXECUTED
    late = _is_late(world, broker, place)
    return None if late else "it won, and is not registered any more"


def _acts(world: ElectionWorld, broker: int) -> str | None:
    thread = world.threads[broker]
    if not thread.controller.active:
        return _IN_OFFICE
    return None if thread.place is None else "it does not wait for a write"


def _state_is_newer(world: ElectionWorld, broker: int) -> bool:
    node = world.zookeeper.nodes[STATE]
    written = decode_state(*PARTITION, node.data, node.version).controller_epoch
    return written > world.threads[broker].controller.core.context.epoch


def _starts_write(world: ElectionWorld, broker: int) -> str | None:
    refusal = _acts(world, broker)
    if refusal is None and _state_is_newer(world, broker):
        return "no newer controller has written the state"
    return refusal


def _finds_newer(world: ElectionWorld, broker: int) -> str | None:
    refusal = _acts(world, broker)
    if refusal is None and not _state_is_newer(world, broker):
        return "a newer controller has written the state"
    return refusal


def _executes(world: ElectionWorld, broker: int) -> str | None:
    return None if world.under_way(broker) else "a write of the broker is under way"


def _sends(world: ElectionWorld, broker: int) -> str | None:
    controller = world.threads[broker].controller
    if not controller.active:
        return _IN_OFFICE
    sent = (broker, controller.core.context.epoch) in world.requests
    return "it has not sent this before" if sent else None


STEPS: dict[
    str, tuple[Callable[[ElectionWorld, int], str | None], Callable[[ElectionWorld, int], None]]
]
STEPS = {
    "answer_is_lost": (_loses, ElectionWorld.answer_is_lost),
    "broker_connects": (_connects, ElectionWorld.broker_connects),
    "broker_crashes": (_crashes, ElectionWorld.broker_crashes),
    "broker_hears": (_hears, ElectionWorld.broker_hears),
    "broker_hears_late": (_hears_late, ElectionWorld.broker_hears),
    "broker_stands": (_may_stand, ElectionWorld.broker_stands),
    "controller_finds_newer_state": (_finds_newer, ElectionWorld.controller_starts_write),
    "controller_resigns": (_acts, ElectionWorld.controller_resigns),
    "controller_sends_request": (_sends, ElectionWorld.controller_sends_request),
    "controller_starts_write": (_starts_write, ElectionWorld.controller_starts_write),
    "session_expires": (_expires, ElectionWorld.session_expires),
    "zookeeper_executes_registration": (
        _is_registered, ElectionWorld.zookeeper_executes_registration),
    "zookeeper_executes_write": (_executes, ElectionWorld.zookeeper_executes_write),
}  # fmt: skip
"""Step of one broker -> its refusal, and what it does."""
