"""One partition on all brokers, before its first leader: ZooKeeper, brokers and requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from impl.core.requests import LeaderAndIsr
from impl.releases import DEFAULT, Release
from impl.sim.effects import EffectPort
from impl.sim.simulation import StepKind
from impl.sim.suspension_points import newest_controller_epoch
from impl.world.broker import PartitionBroker
from impl.world.in_memory_cluster import InMemoryCluster
from impl.world.partition_controller import PartitionController
from impl.world.stepped.controller_run import FIRST
from impl.world.stepped.in_memory_broker import RequestInFlight
from impl.znodes import (
    LeaderIsrAndControllerEpoch,
    ReplicaAssignment,
    TopicZnode,
    decode_controller,
    encode_state,
    encode_topic,
    paths,
    topic_version,
)
from impl.znodes.client import ControllerEpoch
from impl.znodes.states import NO_LEADER, decode_state
from impl.zookeeper import EmbeddedSession

MOST_BROKERS = 9
STATE = paths.state(*FIRST)


class PartitionCluster(InMemoryCluster[PartitionController, PartitionBroker]):
    """Brokers 1..N with one partition, assigned to all of them in that order.

    An election may choose any eligible replica. ``on_request_sent`` is called with the controller,
    the target and the request. ``version`` is the release. ValueError for an impossible number of
    brokers.
    """

    def __init__(
        self,
        kinds: Mapping[str, StepKind],
        brokers: int = 3,
        seed: int = 0,
        version: str = DEFAULT,
    ) -> None:
        if not 1 <= brokers <= MOST_BROKERS:
            raise ValueError(f"a world has 1 to {MOST_BROKERS} brokers, not {brokers}; try 3")
        self.kinds, self.seed = kinds, seed
        self.on_request_sent: Callable[[int, int, LeaderAndIsr], None] = lambda *_: None
        self.assignment = tuple(range(1, brokers + 1))
        super().__init__(brokers, Release.of(version), seed)
        never_led = LeaderIsrAndControllerEpoch(NO_LEADER, 0, self.assignment, 0)
        topic = TopicZnode({FIRST.partition: ReplicaAssignment(self.assignment)})
        text = encode_topic(topic, min(topic_version(self.release), 2))
        self.zookeeper.make_path(paths.topic(FIRST.topic), text)
        self.zookeeper.make_path(STATE, encode_state(never_led))

    def _new_broker(self, broker: int) -> tuple[PartitionController, PartitionBroker]:
        session = EmbeddedSession.known(self.zookeeper, self.open_session(broker))
        port = EffectPort(session)
        controller = PartitionController(broker, self.assignment, port, self.release)
        return controller, PartitionBroker(broker, self.release, port, self.assignment)

    # What ZooKeeper holds

    @property
    def registered_state(self) -> LeaderIsrAndControllerEpoch:
        """The state of the partition, with its zkVersion."""
        node = self.zookeeper.get(STATE)
        return decode_state(*FIRST, node.data, node.version)

    @property
    def controller_session(self) -> int | None:
        """The session that owns /controller, None without this znode."""
        node = self.zookeeper.nodes.get(paths.CONTROLLER)
        return None if node is None else node.owner

    @property
    def registered_controller(self) -> int | None:
        """The broker that /controller names, None if there is no such znode."""
        node = self.zookeeper.nodes.get(paths.CONTROLLER)
        return None if node is None else decode_controller(node.data)

    @property
    def registered_controller_epoch(self) -> ControllerEpoch:
        """The controller epoch and the data version of its znode."""
        return newest_controller_epoch(self.zookeeper)

    # What is under way

    def in_flight(self, target: int, leader_epoch: int, controller: int) -> LeaderAndIsr | None:
        """The LeaderAndIsr of these epochs to a broker, or None; there is at most one."""
        for sent in self.connections.get((controller, target), ()):
            if sent.epoch == leader_epoch:
                assert isinstance(sent.request, LeaderAndIsr), "no other is sent"
                return sent.request
        return None

    def send(self, target: int, request: LeaderAndIsr) -> None:
        """Put a LeaderAndIsr in flight; none of the same epochs may be in flight."""
        epoch = request.partitions[FIRST].state.leader_epoch
        at = (request.controller_epoch, target)
        known = self.in_flight(target, epoch, request.controller_epoch)
        assert known is None, f"in flight already: {request}"
        self.connections[at] = (
            *self.connections.get(at, ()), RequestInFlight(request, 0, epoch),
        )  # fmt: skip

    def take_off(self, target: int, leader_epoch: int, controller: int) -> LeaderAndIsr:
        """Take a LeaderAndIsr off its connection."""
        request = self.in_flight(target, leader_epoch, controller)
        assert request is not None, "such a request is in flight"
        at = (controller, target)
        rest = tuple(one for one in self.connections.pop(at) if one.epoch != leader_epoch)
        if rest:
            self.connections[at] = rest
        return request
