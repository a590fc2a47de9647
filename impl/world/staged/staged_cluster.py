"""A whole cluster with one topic, whose controllers run from effect to effect.

Every read, write, batch, partition of a request, notification and fault is a step that the caller
chooses; the grain decides at which effects a controller's event is suspended. In the initial state,
left by a controller of epoch 0, every broker runs, is registered, and knows all partitions. Source:
fact sheet b, c, d, e, f, g, h, k.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any

from impl.core.cluster_context import ClusterContext
from impl.core.request_batch import NO_BROKER_EPOCH, RequestBatch, Round
from impl.core.requests import LeaderAndIsr, StopReplica, UpdateMetadata
from impl.releases import DEFAULT, Release
from impl.sim.effects import JournalReport, SendRequests
from impl.sim.event_run import ControllerThread, Grain, SuspensionPoint, as_watch_event
from impl.sim.simulation import Step, StepKind
from impl.sim.suspension_points import make_controller_epoch
from impl.world.simulated_broker import SentRequest
from impl.world.simulated_cluster import SimulatedCluster
from impl.world.staged.server import StagedBroker
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, paths
from impl.znodes.states import decode_state, encode_state
from impl.zookeeper import EventType, ZooKeeper
from impl.zookeeper.port import wait

TOPIC = "t"
FIRST_ALIKE = "1.1"
"""Before, another controller: every state was read and written by itself, where there are several
partitions one after the other."""

MINDED = (
    paths.BROKER_IDS, paths.ISR_CHANGES, paths.LOG_DIR_EVENTS, paths.PREFERRED_ELECTION,
)  # fmt: skip
"""What a controller watches beside /controller and each broker's registration."""


def every_effect(thread: ControllerThread, place: SuspensionPoint) -> bool:
    """The finest grain: before each ZooKeeper operation and round, and after each multi."""
    if isinstance(place.effect, JournalReport):
        return False
    return not place.is_done or getattr(place.effect, "operation", "") == "multi"


class StagedCluster(SimulatedCluster[StagedBroker]):
    """A small cluster in which each read, write and message of a controller is a step.

    Brokers are 1..N; partition P of the topic has ``replicas`` of them, the first is broker P+1.

    ``on_request_sent`` is called with each request that is sent. ValueError for several
    partitions in a release before 1.1.
    """

    def __init__(
        self,
        kinds: Mapping[str, StepKind],
        brokers: int = 2,
        partitions: int = 1,
        replicas: int = 2,
        version: str = DEFAULT,
        grain: Grain = every_effect,
    ) -> None:
        if partitions > 1 and not Release.of(version).since(FIRST_ALIKE):
            raise ValueError(
                f"a cluster of several partitions is staged as since {FIRST_ALIKE}, not as in "
                f"{version}"
            )
        super().__init__(kinds, Release.of(version), ZooKeeper())
        make_controller_epoch(self.admin)
        self.on_request_sent: Callable[[int, int, SentRequest], None] = (
            lambda controller, to, sent: None
        )
        self.asked: dict[int, int] = {}  # who wants to go -> the registration that asks
        self.late: dict[int, SentRequest] = {}
        self.committed: dict[TopicPartition, dict[int, int]] = {}
        self.history: dict[TopicPartition, list[LeaderIsrAndControllerEpoch]] = {}
        self.nodes = {
            number: StagedBroker(
                number, self.zookeeper, self.release, self.now_ms, grain, self.perform_effect
            )
            for number in range(1, brokers + 1)
        }
        ids = sorted(self.nodes)
        self.assignment = {
            TopicPartition(TOPIC, number): tuple(
                [ids[number], *(one for one in ids if one != ids[number])][:replicas]
            )
            for number in range(partitions)
        }
        self._begin()

    def _begin(self) -> None:
        wait(self.admin.create_topic(TOPIC, {
            one.partition: replicas for one, replicas in self.assignment.items()
        }))  # fmt: skip
        context = ClusterContext()
        context.broker_epochs = {one: server.epoch for one, server in self.nodes.items()}
        context.broker_infos = {one: server.info() for one, server in self.nodes.items()}
        for partition, replicas in self.assignment.items():
            state = LeaderIsrAndControllerEpoch(replicas[0], 0, replicas, 0)
            wait(self.admin.make_path(paths.state(*partition), encode_state(state)))
            context.assign(partition, replicas)
            context.leadership[partition] = state
            self.committed[partition] = {}
            self.history[partition] = [state]
        ports = {one: server.port for one, server in self.nodes.items()}

        async def at_once(requests: Round) -> None:
            for broker, request in requests:
                server = self.nodes[broker]
                server.handle_request(SentRequest(request, ports))

        first = RequestBatch(0, context, self.release, at_once)
        first.begin()
        first.add_update_metadata(self.nodes, [])
        wait(first.send_requests(0))
        first.begin()
        for partition, replicas in self.assignment.items():
            state = context.leadership[partition]
            first.add_leader_and_isr(replicas, partition, state, replicas, is_new=True)
        wait(first.send_requests(0))

    def existing_partitions(self) -> Iterable[TopicPartition]:
        """Every partition."""
        return self.assignment

    # What is under way

    def perform_effect(self, controller: int, effect: SendRequests | JournalReport) -> None:
        """Perform an effect of a controller that is not a ZooKeeper operation."""
        if isinstance(effect, SendRequests):
            for to, sent in self.nodes[controller].sent(effect.requests):
                self.send(controller, to, sent)
        elif effect.event == "brokers":  # the channels to those that bounced or died are closed
            _, dead, bounced, _ = effect.arguments
            self.drop_requests(controller, [*bounced, *dead])
        elif effect.event == "resigned":
            self.nodes[controller].forget()
            self.drop_requests(controller)
        elif effect.event == "shut_down":
            broker, remaining = effect.arguments
            if not remaining and self.nodes[broker].departure == "asks":
                self.nodes[broker].departure = "may_go"

    def send(self, controller: int, to: int, sent: SentRequest) -> None:
        """Queue a controller's request.

        Drops it if there is no channel to the broker, or if it names an earlier registration, which
        the broker would refuse; up to 2.2 also the empty StopReplica before the others. A broker
        whose session has ended obeys requests until it registers again.
        """
        if isinstance(sent.request, StopReplica) and not sent.request.partitions:
            return
        if sent.request.broker_epoch not in (NO_BROKER_EPOCH, self.nodes[to].epoch):
            return
        node = self.nodes[controller]
        if node.channels.send(to, sent, node.controller.core.context.channel_epochs):
            self.on_request_sent(controller, to, sent)

    def queue(self, controller: int, to: int) -> list[SentRequest]:
        """The next request of a controller for a broker, and those queued behind it."""
        channel = self.nodes[controller].channels.open.get(to)
        if channel is None or channel.under_way is None:
            return []
        return [channel.under_way, *channel.waiting]

    def queues(self) -> list[tuple[int, int, list[SentRequest]]]:
        """(controller, broker, its requests) of every channel that is busy."""
        pairs = product(self.nodes, repeat=2)
        return [(one, to, queue) for one, to in pairs if (queue := self.queue(one, to))]

    def has_registered(self, broker: int) -> None:
        """Deliver, as refused, the requests to the broker's earlier registration (KIP-380).

        Up to 2.1 requests name no registration: any broker with the id gets them in turn.
        """
        if not self.release.since("2.2"):
            return
        server = self.nodes[broker]
        for controller in self.nodes:
            for sent in self.queue(controller, broker):
                server.handle_request(sent)
            self.drop_requests(controller, [broker])
        copy = self.late.pop(broker, None)
        if copy is not None:
            server.handle_request(copy)

    def drop_requests(self, controller: int, brokers: Iterable[int] | None = None) -> None:
        """Close a controller's channels to some brokers, by default to all."""
        self.nodes[controller].channels.close(None if brokers is None else [*brokers])

    # Stepping

    def take(self, step: Step) -> None:
        """Take a step, and queue the events that it causes."""
        super().take(step)
        self._after(step)

    def _after(self, step: Step) -> None:
        for partition, states in self.history.items():
            node = self.zookeeper.nodes[paths.state(*partition)]
            if node.version >= len(states):
                states.append(decode_state(*partition, node.data, node.version))
        acting = step.args[0] if step.args else 0
        for server in self.nodes.values():
            if server.up:
                self._take_notifications(server, server.broker == acting)

    def _take_notifications(self, server: StagedBroker, acts: bool) -> None:
        """Each notification is an event in the queue of a controller that handles its path."""
        thread = server.thread
        for event in server.session.events():
            path, is_minded = event.path, event.path in MINDED
            if path == paths.CONTROLLER:
                node = self.zookeeper.nodes.get(path)
                if node is not None and node.owner == server.session.session:
                    # Its own election: it would read /controller, and find itself the controller.
                    wait(server.session.exists(path, watch=True))
                elif thread.controller.active or thread.place is not None:
                    # Registering as controller is a step of its own.
                    server.put(path, lambda controller: controller.maybe_resign())
                continue
            if path == paths.PREFERRED_ELECTION and event.type is EventType.DELETED:
                # Only the controller that deleted it handles this; the others set the watch again.
                if not (acts and server.has_begun):
                    wait(server.session.exists(path, watch=True))
                    continue
            elif path.startswith(f"{paths.BROKER_IDS}/"):
                is_minded = event.type is EventType.DATA_CHANGED
            if is_minded and server.has_begun:
                server.put(path, as_watch_event(event))

    # Plain data

    def snapshot(self) -> Any:
        """The whole state as a value."""
        return (
            self.zookeeper.save(), self.clock, self.next_record,
            dict(self.asked), dict(self.late),
            {one: dict(records) for one, records in self.committed.items()},
            {one: list(states) for one, states in self.history.items()},
            [server.save() for server in self.nodes.values()],
            [server.thread.save() for server in self.nodes.values()],
        )  # fmt: skip

    def restore(self, snapshot: Any) -> None:
        """Restore a snapshot."""
        (
            zookeeper, self.clock, self.next_record, asked, late, committed, history,
            servers, threads,
        ) = snapshot  # fmt: skip
        self.zookeeper.load(zookeeper)
        self.asked, self.late = dict(asked), dict(late)
        self.committed = {one: dict(records) for one, records in committed.items()}
        self.history = {one: list(states) for one, states in history.items()}
        for server, saved, thread in zip(self.nodes.values(), servers, threads, strict=True):
            server.load(saved)
            server.thread.load(thread)


def versions_in(sent: SentRequest) -> dict[TopicPartition, int]:
    """The partitions in a request, each with the zkVersion of its state."""
    match sent.request:
        case LeaderAndIsr(partitions=orders):
            return {one: order.state.zk_version for one, order in orders.items()}
        case UpdateMetadata(partitions=partitions):
            return {one: news.state.zk_version for one, news in partitions.items()}
        case stop:
            return {one: sent.versions[one] for one in stop.partitions}
