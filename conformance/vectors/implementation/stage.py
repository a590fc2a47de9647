"""A controller on an embedded ZooKeeper, in the state that a question describes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from impl.core.controller_parts import ControllerConfig, ControllerParts
from impl.core.event_controller import EventController
from impl.core.journal import ControllerJournal
from impl.core.request_batch import Round
from impl.core.requests import LeaderAndIsr, Request, StopReplica, UpdateMetadata, kind_of
from impl.releases import Release
from impl.znodes import (
    BrokerInfo,
    LeaderIsrAndControllerEpoch,
    TopicPartition,
    encode_state,
    paths,
)
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import Port, wait
from impl.zookeeper.session import EmbeddedSession
from impl.zookeeper.store import ZooKeeper

NOW_MS = 1_577_836_800_000
Sent = tuple[int, Request]


class ControllerStage:
    """One ZooKeeper, the sessions of brokers, and the requests that controllers sent.

    ``open_session`` opens sessions on another ZooKeeper than the embedded one.
    """

    def __init__(self, release: Release, open_session: Callable[[], Port] | None = None) -> None:
        self.release = release
        self.zookeeper = ZooKeeper()
        self.open_session = open_session or (lambda: EmbeddedSession(self.zookeeper))
        self.sent: list[Sent] = []
        self.sessions: dict[int, Port] = {}
        self.admin = ZnodeClient(self.open_session(), release)
        for path in paths.persistent(release):
            wait(self.admin.make_path(path))
        wait(self.admin.make_path("/admin/delete_topics"))

    async def send(self, requests: Round) -> None:
        """Records a request of a controller."""
        self.sent.extend(requests)

    def take_sent(self) -> list[Sent]:
        """Returns what was sent since the last call."""
        sent, self.sent = self.sent, []
        return sent

    # Brokers

    def start_broker(self, broker: int) -> int:
        """Register a broker under a session of its own; returns its epoch."""
        self.sessions[broker] = self.open_session()
        client = ZnodeClient(self.sessions[broker], self.release)
        return wait(
            client.register_broker(broker, BrokerInfo((f"PLAINTEXT://b{broker}:9092",), NOW_MS))
        )

    def stop_broker(self, broker: int) -> None:
        """Ends the session of a broker."""
        self.sessions.pop(broker).close()

    # Topics

    def create_topic(self, topic: str, assignment: Mapping[int, Iterable[int]]) -> None:
        """Create a topic's znode, as admin code does."""
        wait(self.admin.create_topic(topic, assignment))

    def put_state(self, partition: TopicPartition, state: LeaderIsrAndControllerEpoch) -> None:
        """Create a state znode and bring it to the state's zkVersion."""
        path = paths.state(*partition)
        text = encode_state(state)
        wait(self.admin.make_path(path, text))
        for _ in range(state.zk_version):
            wait(self.admin.port.set_data(path, text))

    def state(self, partition: TopicPartition) -> LeaderIsrAndControllerEpoch | None:
        """The registered state."""
        return wait(self.admin.state(partition))

    def leader_writes_isr(self, partition: TopicPartition, isr: Iterable[int]) -> None:
        """The leader changes its ISR; the leader epoch stays."""
        state = self.state(partition)
        assert state is not None, f"{partition} has no state"
        changed = LeaderIsrAndControllerEpoch(
            state.leader,
            state.leader_epoch,
            tuple(isr),
            state.controller_epoch,
            state.zk_version,
        )
        updated = wait(self.admin.update_states({partition: changed}))
        assert partition in updated.done, f"the ISR of {partition} could not be written"

    # Controllers

    def core(
        self,
        controller: int,
        epoch: int,
        config: ControllerConfig,
        journal: ControllerJournal | None = None,
    ) -> ControllerParts:
        """The parts of an active controller, in an epoch."""
        wait(self.admin.make_path(paths.CONTROLLER_EPOCH, str(epoch)))
        node = wait(self.admin.read(paths.CONTROLLER_EPOCH))
        session = EmbeddedSession(self.zookeeper)
        core = ControllerParts(controller, session, self.release, self.send, config, journal)
        core.context.epoch = epoch
        core.context.epoch_version = 0 if node is None else node.version
        return core

    def controller(
        self,
        broker: int,
        config: ControllerConfig | None = None,
        journal: ControllerJournal | None = None,
        protocol: Release | None = None,
    ) -> EventController:
        """A broker's controller, elected; the broker has to be registered."""
        controller = EventController(
            broker, self.sessions[broker], self.release, self.send, config, journal, protocol
        )
        wait(controller.elect(NOW_MS))
        assert controller.active, f"broker {broker} did not become controller"
        return controller

    def run(self, controller: EventController) -> None:
        """Handles every event that ZooKeeper has sent the controller."""
        while events := controller.core.client.port.events():
            for event in events:
                wait(controller.handle_watch_event(event, NOW_MS))


def state_of(fields: Mapping[str, Any], controller_epoch: int) -> LeaderIsrAndControllerEpoch:
    """A state as questions write it."""
    return LeaderIsrAndControllerEpoch(
        fields["leader"],
        fields.get("leaderEpoch", 0),
        tuple(fields["isr"]),
        fields.get("controllerEpoch", controller_epoch),
        fields.get("zkVersion", 0),
    )


def shown_state(state: LeaderIsrAndControllerEpoch) -> dict[str, Any]:
    """A state as answers write it."""
    return {
        "leader": state.leader,
        "isr": list(state.isr),
        "leaderEpoch": state.leader_epoch,
        "controllerEpoch": state.controller_epoch,
        "zkVersion": state.zk_version,
    }


def shown_orders(sent: Iterable[Sent]) -> list[dict[str, Any]]:
    """The LeaderAndIsr requests; those with the same content are merged."""
    grouped: dict[str, dict[str, Any]] = {}
    for broker, request in sent:
        if not isinstance(request, LeaderAndIsr):
            continue
        for partition, order in request.partitions.items():
            said = {"isNew": order.is_new, **shown_state(order.state)}
            entry = grouped.setdefault(f"{partition} {said}", {"to": [], **said})
            entry["to"].append(broker)
    return list(grouped.values())


def shown_stops(sent: Iterable[Sent]) -> list[dict[str, Any]]:
    """The StopReplica requests; those with the same content are merged."""
    grouped: dict[tuple[TopicPartition, bool], list[int]] = {}
    for broker, request in sent:
        if isinstance(request, StopReplica):
            for partition, stop in request.partitions.items():
                grouped.setdefault((partition, stop.delete), []).append(broker)
    return [{"to": brokers, "delete": delete} for (_, delete), brokers in grouped.items()]


def shown_metadata(sent: Iterable[Sent], about: Iterable[TopicPartition]) -> list[dict[str, Any]]:
    """The UpdateMetadata requests, merged, with the partitions that they were sent for."""
    brokers = [broker for broker, request in sent if isinstance(request, UpdateMetadata)]
    return [{"to": brokers, "partitions": [str(one) for one in about]}] if brokers else []


def kinds_to(broker: int, sent: Iterable[Sent]) -> list[str]:
    """The names of the requests to a broker, in order."""
    return [kind_of(request) for to, request in sent if to == broker]
