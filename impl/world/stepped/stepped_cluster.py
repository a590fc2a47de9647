"""A stepped cluster: every event, request and fault is a step, and a grain suspends controllers.

Controllers and brokers are those that serve clients (`impl.core`), over logs of numbered records. A
grain sets the suspension points: batch by batch in the life of a topic (`BATCHES`), write by write
where a partition moves (`WRITES`), or by controller registrations and the controllers' writes
(`ELECTIONS`). Source: fact sheet b to k.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import permutations
from typing import Any

from impl.core.cluster_context import ClusterContext
from impl.core.requests import LeaderAndIsr, Request, UpdateMetadata
from impl.releases import DEFAULT, Release
from impl.sim.event_run import SuspensionPoint, as_watch_event
from impl.sim.simulation import Arguments, Step, StepKind
from impl.world.in_memory_cluster import Connection, InMemoryCluster
from impl.world.stepped.controller_run import FIRST, TOPIC, ControllerRun, Grain, leaders_last
from impl.world.stepped.in_memory_broker import InMemoryBroker, RequestInFlight
from impl.world.stepped.replica import SteppedReplica
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, paths
from impl.znodes.states import decode_state
from impl.znodes.topics import decode_topic
from impl.zookeeper import EventType, Op
from impl.zookeeper.znode import WatchEvent as Notification

NOTIFICATIONS = {
    "topics": Notification(EventType.CHILDREN_CHANGED, paths.TOPICS),
    "deletions": Notification(EventType.CHILDREN_CHANGED, paths.DELETE_TOPICS),
    "partitions": Notification(EventType.DATA_CHANGED, paths.topic(TOPIC)),
    "moves": Notification(EventType.CREATED, paths.REASSIGN_PARTITIONS),
    "state": Notification(EventType.DATA_CHANGED, paths.state(*FIRST)),
}
"""What a controller is notified of, by the kind that its inbox has."""

KIND_OF = {one.path: kind for kind, one in NOTIFICATIONS.items()}

Unmet = str | None
"""The first condition of a step that does not hold, as a positive sentence; None if all hold."""


def each_two(world: SteppedCluster) -> Arguments:
    """(one, another), a broker with itself included."""
    return ((one, two) for one in world.brokers for two in world.brokers)


def each_list(world: SteppedCluster) -> Arguments:
    """(first, second, third) of each list of replicas, 0 for no replica."""
    return world.lists


def each_broker_and_list(world: SteppedCluster) -> Arguments:
    """(broker, first, second, third)."""
    return ((broker, *ids) for broker in world.brokers for ids in world.lists)


def each_broker_and_partition(world: SteppedCluster) -> Arguments:
    """(broker, partition)."""
    return ((broker, number) for broker in world.brokers for number in world.partitions)


def each_connection(world: SteppedCluster) -> Arguments:
    """(target, controller epoch) of every connection with requests under way."""
    return sorted((broker, controller) for controller, broker in world.connections)


class SteppedCluster(InMemoryCluster[ControllerRun, InMemoryBroker]):
    """Brokers 1..N, registered, and no topic; ``partitions`` is its maximum number of partitions.

    Replica lists have at most ``most`` replicas. ``only`` names the ``kinds`` of steps that are
    offered, None for all. ``version`` is a release not older than the grain's first; ValueError
    otherwise. ``shows_memory``: observers of a controller see its memory, not its past actions.
    """

    shows_memory = False

    def __init__(
        self,
        kinds: Mapping[str, StepKind],
        brokers: int,
        grain: Grain,
        version: str = DEFAULT,
        partitions: int = 1,
        most: int = 3,
        only: Iterable[str] | None = None,
    ) -> None:
        release, self.grain = Release.of(version), grain
        if not release.since(grain.first_alike):
            raise ValueError(
                f"{grain.stepped} stepped as since {grain.first_alike}, not as in {version}"
            )
        self.partitions = range(partitions)
        super().__init__(brokers, release)
        self.lists = sorted(
            (*ids, *[0] * (3 - len(ids)))
            for size in range(1, min(most, brokers) + 1)
            for ids in permutations(self.brokers, size)
        )
        self.kinds = {name: kinds[name] for name in sorted(only or kinds)}
        self.carried: dict[Connection, tuple[int, int]] = {}
        self.slow: dict[Connection, tuple[RequestInFlight, ...]] = {}
        self.answers: dict[Connection, Any] = {}
        self.inbox = {broker: frozenset[str]() for broker in self.brokers}
        self.abandoned: dict[int, tuple[Op, ...]] = {}  # writes that a process left under way
        self.sent = frozenset[Connection]()  # what may come again, where requests repeat
        self.created = 0
        grain.begins(self)

    def _new_broker(self, broker: int) -> tuple[ControllerRun, InMemoryBroker]:
        run = ControllerRun(
            broker, self.zookeeper, self.open_session(broker), self.release, self.grain,
            lambda to, request: self._send(broker, to, request),
        )  # fmt: skip
        core = run.controller.core
        if self.grain.in_batches:
            core.replicas.in_turn = leaders_last(core.context, FIRST)
        return run, InMemoryBroker(broker, self.release, run.port, self.grain.new_replica)

    # Requests on their way

    def _send(self, broker: int, to: int, request: Request) -> None:
        """A request takes its place; of other topics brokers get no requests here.

        What was made for an earlier registration is refused (KIP-380). UpdateMetadata arrives at
        once, but where the connection is slow.
        """
        registered = self.registrations().get(to, request.broker_epoch)
        if self.fences_brokers and registered != request.broker_epoch:
            return
        at = (request.controller_epoch, to)
        if self.grain.repeats:
            self._keep_first(broker, at, request)
            return
        known = self.context(broker).leadership.get(FIRST), self.controllers[broker].wrote
        epoch = max((one.leader_epoch for one in known if one is not None), default=0)
        if isinstance(request, UpdateMetadata):
            reported = {one: said for one, said in request.partitions.items() if one == FIRST}
            sent = RequestInFlight(replace(request, partitions=reported), self.created, epoch)
            if at in self.slow:
                self.slow[at] += (sent,)
            elif self.is_up(to):
                self.hosts[to].obey(sent)
            return
        about = {one: said for one, said in request.partitions.items() if one.topic == TOPIC}
        if not about:
            return  # or up to 2.2 the empty one that comes before the others
        if len(about) < len(request.partitions):
            request = replace(request, partitions=about)  # type: ignore[arg-type]
        echo = False
        if isinstance(request, LeaderAndIsr) and not self.grain.in_batches:
            epoch = request.partitions[FIRST].state.leader_epoch
            life, newest = self.carried.get(at, (-1, -1))
            echo = life == request.broker_epoch and epoch <= newest
            self.carried[at] = self.carried[at] if echo else (request.broker_epoch, epoch)
        sent = RequestInFlight(request, self.created, epoch, echo)
        self.keep(at, [*self.connections.get(at, ()), sent])

    def _keep_first(self, broker: int, at: Connection, request: Request) -> None:
        """The first of each kind that it has for itself; to the others it sends alike."""
        kept = self.connections.get(at, ())
        if at[1] == broker and not any(type(one.request) is type(request) for one in kept):
            self.connections[at] = (*kept, RequestInFlight(request, self.created))

    def keep(self, at: Connection, queue: list[RequestInFlight]) -> None:
        """Store the requests of a connection; first deliver any ``echo`` at its front."""
        while queue and queue[0].echo and self.is_up(at[1]):
            self.hosts[at[1]].obey(queue.pop(0))
        if queue:
            self.connections[at] = tuple(queue)
        else:
            self.connections.pop(at, None)

    # What can be seen

    def registered_lists(self) -> dict[int, tuple[int, ...]]:
        """Partition -> its replicas in ZooKeeper; empty if there is no topic."""
        node = self.zookeeper.nodes.get(paths.topic(TOPIC))
        known = {} if node is None else decode_topic(TOPIC, node.data).partitions
        return {number: one.replicas for number, one in known.items()}

    def known(self, broker: int) -> dict[int, tuple[int, ...]]:
        """Partition -> its replicas in a controller's memory."""
        context = self.context(broker)
        return {
            one.partition: context.replicas(one)
            for one in context.partitions_of(TOPIC)
            if context.replicas(one)
        }

    def state(self, number: int = 0) -> LeaderIsrAndControllerEpoch | None:
        """A partition's registered state."""
        node = self.zookeeper.nodes.get(paths.state(TOPIC, number))
        return None if node is None else state_of(number, node.data, node.version)

    def context(self, broker: int) -> ClusterContext:
        """The memory of a broker's controller."""
        return self.controllers[broker].controller.core.context

    def place(self, broker: int) -> SuspensionPoint | None:
        """The suspension point of a broker's controller; None if no event is under way."""
        return self.controllers[broker].place

    def is_active(self, broker: int) -> bool:
        """Whether the broker believes that it is the controller."""
        return self.controllers[broker].controller.active

    def is_deposed(self, broker: int) -> bool:
        """Whether a newer controller epoch was registered."""
        return self.context(broker).epoch < self.epoch()

    def is_fenced(self, broker: int) -> bool:
        """Whether its writes are refused, because it is deposed (KAFKA-6082, 2.1)."""
        return self.release.since("2.1") and self.is_deposed(broker)

    def must_wait(self, broker: int) -> Unmet:
        """Why the broker's controller may not begin an event."""
        if not self.has_session(broker):
            return "it has a ZooKeeper session"
        waits = self.is_active(broker) and self.place(broker) is None
        return None if waits else "it waits for events"

    def why_not_notified(self, broker: int, kind: str) -> Unmet:
        """Why a controller cannot be notified of something now."""
        return self.must_wait(broker) or (None if kind in self.inbox[broker] else "its watch fired")

    def handle_watch(self, broker: int, kind: str) -> None:
        """Begin the event of a running broker whose watch fired."""
        self.inbox[broker] -= {kind}
        self.controllers[broker].begin(as_watch_event(NOTIFICATIONS[kind]))

    def reachable(self, broker: int) -> list[int]:
        """The brokers that a controller knows, except those that registered again since."""
        known = self.context(broker).broker_epochs
        epochs = self.registrations() if self.fences_brokers else known
        return [one for one, epoch in known.items() if epochs.get(one, epoch) == epoch]

    def role(self, broker: int, number: int = 0) -> str:
        """A broker's role for a partition."""
        return self.hosts[broker].role(TopicPartition(TOPIC, number))

    def replica(self, broker: int) -> SteppedReplica:
        """A hosted replica of the partition that moves."""
        replica: SteppedReplica | None = self.hosts[broker].hosted(FIRST)
        assert replica is not None, "the broker hosts the partition"
        return replica

    # Steps

    def take(self, step: Step) -> None:
        """Take a step, and deliver the notifications that it causes."""
        super().take(step)
        self._take_notifications()

    def _take_notifications(self) -> None:
        """Keep notifications until the controller can handle them.

        A watch of the topic's node counts only while the controller knows the topic: Kafka
        unregisters its handler when a deletion is complete. It handles only data changes of that
        node. A new controller ignores watches of an earlier controller in the same session.
        """
        for broker, one in self.controllers.items():
            heard = {
                KIND_OF[event.path]
                for event in one.port.events()
                if event.path in KIND_OF
                and (event.path != paths.topic(TOPIC) or event.type is EventType.DATA_CHANGED)
            }
            if one.queued:
                heard, one.queued = {*heard, "moves"}, False
            listens = self.is_active(broker) and not one.takes_up_work
            inbox = self.inbox[broker] | heard if listens else frozenset()
            known = "partitions" not in inbox or bool(self.known(broker))
            self.inbox[broker] = inbox if known else inbox - {"partitions"}

    # Processes and sessions

    def drop_requests(self, broker: int) -> None:
        """Drop the requests to earlier registrations, on slow connections too."""
        super().drop_requests(broker)
        if self.fences_brokers:
            for to in [to for to in self.slow if to[1] == broker]:
                del self.slow[to]

    def crash(self, broker: int) -> None:
        """The process dies: its memory is lost, and its connections break."""
        super().crash(broker)
        if self.fences_brokers:
            for to in [to for to in self.answers if to[1] == broker]:
                del self.answers[to]

    # Plain data

    def snapshot(self) -> Any:
        """The whole state as a value."""
        return (
            super().snapshot(), self.created, dict(self.carried), dict(self.slow),
            dict(self.answers), dict(self.inbox), dict(self.abandoned), self.sent,
        )  # fmt: skip

    def restore(self, snapshot: Any) -> None:
        """Restore a snapshot."""
        hosted, self.created, carried, slow, answers, inbox, abandoned, self.sent = snapshot
        super().restore(hosted)
        self.carried, self.slow, self.answers = dict(carried), dict(slow), dict(answers)
        self.inbox, self.abandoned = dict(inbox), dict(abandoned)


@lru_cache(maxsize=1024)
def state_of(number: int, text: str, version: int) -> LeaderIsrAndControllerEpoch:
    """A partition's state by the text of its znode."""
    return decode_state(TOPIC, number, text, version)
