"""What the steps of one topic's life work on: ZooKeeper, controllers, connections, brokers.

A broker is as much of one as a controller can tell: a process with a session or without, that
leads, follows, stops, has a directory or none, and answers; `impl.world.wide` has the whole of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from impl.core.cluster_context import ClusterContext
from impl.core.requests import LeaderAndIsr, Request, StopReplica
from impl.releases import DEFAULT, Release
from impl.sim.event_run import Place
from impl.world.steps import Step, StepNotPossible
from impl.world.topics.controller_run import ControllerRun, leaders_last
from impl.world.topics.grain import sets_watches
from impl.world.topics.hosted import HostedTopic
from impl.znodes import BrokerInfo, LeaderIsrAndControllerEpoch, TopicPartition, paths
from impl.znodes.client import ZnodeClient
from impl.znodes.cluster import decode_controller_epoch
from impl.znodes.states import decode_state
from impl.znodes.topics import decode_topic
from impl.zookeeper import EmbeddedSession, EventType, ZooKeeper
from impl.zookeeper.port import wait

TOPIC = "t"
FIRST_ALIKE = "2.1"
"""Before, a controller registered in two writes."""

KINDS = {paths.TOPICS: "topics", paths.DELETE_TOPICS: "deletions", paths.topic(TOPIC): "partitions"}
"""Path of a watch -> the event that it brings."""

Connection = tuple[int, int]
"""Controller epoch and target."""

Steps = Iterable[Step]
Refusal = str | None


@dataclass(frozen=True, slots=True)
class RequestInFlight:
    """A request on its way; ``outdated``: about a topic of that name that was deleted since."""

    request: Request
    outdated: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """A broker's answer to a StopReplica: an error for each partition that was to be deleted.

    Up to 2.2 there is a request for each partition, and an answer: here they come together.
    """

    request: StopReplica
    errors: Mapping[TopicPartition, str]

    def and_before(self, earlier: Answered | None) -> Answered:
        """Both answers."""
        if earlier is None:
            return self
        asked = {**earlier.request.partitions, **self.request.partitions}
        raises = earlier.request.raises_event | self.request.raises_event
        both = replace(self.request, partitions=asked, raises_event=raises)
        return Answered(both, {**earlier.errors, **self.errors})


class TopicWorld:
    """Brokers 1..N, registered, and no topic; ``partitions`` is how many it may come to have.

    A step is a method with a sibling ``_NAME_refusal``, and is offered by ``offers``.
    ``version`` is a release from 2.1 on; ValueError for an older one.
    """

    def __init__(self, brokers: int = 2, partitions: int = 1, version: str = DEFAULT) -> None:
        self.release = Release.of(version)
        if not self.release.since(FIRST_ALIKE):
            raise ValueError(f"deletion is stepped as since {FIRST_ALIKE}, not as in {version}")
        self.partitions = range(partitions)
        self.zookeeper = ZooKeeper()
        self.admin = ZnodeClient(EmbeddedSession(self.zookeeper), self.release)
        for path in paths.persistent(self.release):
            wait(self.admin.make_path(path))
        wait(self.admin.make_path(paths.CONTROLLER_EPOCH, "0"))
        self.brokers = range(1, brokers + 1)
        self.up = frozenset(self.brokers)
        self.controllers: dict[int, ControllerRun] = {}
        self.connections: dict[Connection, tuple[RequestInFlight, ...]] = {}
        self.answers: dict[Connection, Answered] = {}
        self.inbox = {broker: frozenset[str]() for broker in self.brokers}
        self.hosted = {one: HostedTopic(one, self.release) for one in self.brokers}
        for broker in self.brokers:
            run = ControllerRun(
                broker, self.zookeeper, self.open_session(broker), self.release, self._send
            )
            core = run.controller.core
            core.replicas.in_turn = leaders_last(core.context, TopicPartition(TOPIC, 0))
            self.controllers[broker] = run

    def open_session(self, broker: int) -> int:
        """A new session, under which the broker registers."""
        session = EmbeddedSession(self.zookeeper)
        registered = ZnodeClient(session, self.release)
        wait(registered.register_broker(broker, BrokerInfo((f"PLAINTEXT://b{broker}:9092",), 0)))
        return session.session

    def _send(self, broker: int, request: Request) -> None:
        if not isinstance(request, LeaderAndIsr | StopReplica):
            return
        if isinstance(request, StopReplica) and not request.partitions:
            return  # up to 2.2 one comes before the others
        registered = self.registrations().get(broker, request.broker_epoch)
        if self.fences_brokers and registered != request.broker_epoch:
            return  # STALE_BROKER_EPOCH: it was made for an earlier registration (KIP-380)
        to = (request.controller_epoch, broker)
        self.connections[to] = (*self.connections.get(to, ()), RequestInFlight(request))

    # What can be seen

    @property
    def fences_brokers(self) -> bool:
        """Requests name the registration that they are for (KIP-380)."""
        return self.release.since("2.2")

    def registrations(self) -> dict[int, int]:
        """Registered broker -> its epoch."""
        nodes = self.zookeeper.nodes
        there = (one for one in self.brokers if paths.broker(one) in nodes)
        return {broker: nodes[paths.broker(broker)].czxid for broker in there}

    def has_session(self, broker: int) -> bool:
        """ZooKeeper holds the session of the broker's process."""
        return self.controllers[broker].port.alive

    def epoch(self) -> int:
        """The newest controller epoch."""
        return decode_controller_epoch(self.zookeeper.nodes[paths.CONTROLLER_EPOCH].data)

    def registered_lists(self) -> dict[int, tuple[int, ...]]:
        """Partition -> its replicas in ZooKeeper; nothing if there is no topic."""
        node = self.zookeeper.nodes.get(paths.topic(TOPIC))
        return {} if node is None else dict(_lists(node.data))

    def known(self, broker: int) -> dict[int, tuple[int, ...]]:
        """Partition -> its replicas, as far as a controller knows."""
        context = self.context(broker)
        return {
            one.partition: context.replicas(one)
            for one in context.partitions_of(TOPIC)
            if context.replicas(one)
        }

    def state(self, number: int) -> LeaderIsrAndControllerEpoch | None:
        """A partition's registered state."""
        node = self.zookeeper.nodes.get(paths.state(TOPIC, number))
        return None if node is None else _state(number, node.data, node.version)

    def context(self, broker: int) -> ClusterContext:
        """What a broker's controller knows."""
        return self.controllers[broker].controller.core.context

    def place(self, broker: int) -> Place | None:
        """Where a broker's controller is suspended; None if it is in the middle of nothing."""
        return self.controllers[broker].place

    def is_active(self, broker: int) -> bool:
        """The broker believes that it is controller."""
        return self.controllers[broker].controller.active

    def must_wait(self, broker: int) -> Refusal:
        """Why the broker's controller may not begin an event."""
        if not self.has_session(broker):
            return "it has a ZooKeeper session"
        waits = self.is_active(broker) and self.place(broker) is None
        return None if waits else "it waits for events"

    # Steps

    def offers(self) -> Steps:
        """Every step by its name and arguments, whether it may be taken or not."""
        return ()

    def enabled(self) -> list[Step]:
        """Every step that may be taken now, sorted by name and arguments."""
        return sorted({step for step in self.offers() if self.why_not(step) is None})

    def why_not(self, step: Step) -> Refusal:
        """The first condition of the step that does not hold, None if it may be taken."""
        refusal = getattr(self, f"_{step.name}_refusal", None)
        if refusal is None:
            return f"{step.name} is the name of a step"
        reason: Refusal = refusal(*step.args)
        return reason

    def do(self, step: Step) -> None:
        """Take a step; StepNotPossible with the reason if it is not enabled."""
        reason = self.why_not(step)
        if reason is not None:
            raise StepNotPossible(step, reason)
        getattr(self, step.name)(*step.args)
        self.take_notifications()

    def take_notifications(self) -> None:
        """What watches brought is kept until its controller has time for it.

        A watch of the topic's node counts only while the controller knows the topic: Kafka takes
        its handler back when a deletion is complete. Of that node it minds new data alone.
        """
        for broker, one in self.controllers.items():
            heard = {
                KINDS[event.path]
                for event in one.port.events()
                if event.path in KINDS
                and (event.path != paths.topic(TOPIC) or event.type is EventType.DATA_CHANGED)
            }
            listens = self.is_active(broker) and not sets_watches(one.place)
            inbox = self.inbox[broker] | heard if listens else frozenset()
            known = bool(self.known(broker))
            self.inbox[broker] = inbox if known else inbox - {"partitions"}

    # Plain data

    def snapshot(self) -> Any:
        """The whole state as a value."""
        return (
            self.zookeeper.save(), self.up, tuple(one.save() for one in self.controllers.values()),
            dict(self.connections), dict(self.answers), dict(self.inbox), dict(self.hosted),
        )  # fmt: skip

    def restore(self, snapshot: Any) -> None:
        """Become what a snapshot says."""
        zookeeper, self.up, controllers, connections, answers, inbox, hosted = snapshot
        self.zookeeper.load(zookeeper)
        for one, saved in zip(self.controllers.values(), controllers, strict=True):
            one.load(saved)
        self.connections, self.answers = dict(connections), dict(answers)
        self.inbox, self.hosted = dict(inbox), dict(hosted)


@lru_cache(maxsize=64)  # a walk asks about few texts a great many times
def _lists(text: str) -> tuple[tuple[int, tuple[int, ...]], ...]:
    node = decode_topic(TOPIC, text)
    return tuple((number, one.replicas) for number, one in node.partitions.items())


@lru_cache(maxsize=1024)
def _state(number: int, text: str, version: int) -> LeaderIsrAndControllerEpoch:
    return decode_state(TOPIC, number, text, version)
