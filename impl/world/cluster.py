"""The cluster as plain data: ZooKeeper, brokers and network, saved and restored as one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from impl.releases import DEFAULT, Release
from impl.sim.suspension_points import newest_controller_epoch
from impl.world.broker import PartitionBroker, SavedBroker
from impl.world.network import PARTITION, LeaderAndIsrInFlight, Network, SavedNetwork
from impl.world.processes import Process, WorldOfProcesses
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
from impl.znodes.controller import ControllerEpoch
from impl.znodes.states import NO_LEADER, decode_state
from impl.zookeeper import ZooKeeper
from impl.zookeeper.store import Saved as SavedZooKeeper

MOST_BROKERS = 9
STATE = paths.state(*PARTITION)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything in a world at one moment."""

    zookeeper: SavedZooKeeper
    brokers: tuple[SavedBroker, ...]
    network: SavedNetwork
    next_record: int


class PartitionCluster(WorldOfProcesses):
    """Brokers 1..N with one partition, assigned to all of them in that order.

    Any replica that may be elected can be. ``seed`` only moves the numbers at which session ids and
    zxids begin, so that nothing may depend on them. ``hears`` is called with each request that is
    sent. ``version`` is the release. ValueError for a number of brokers that makes no sense.
    """

    brokers: dict[int, PartitionBroker]

    def __init__(
        self,
        brokers: int = 3,
        seed: int = 0,
        version: str = DEFAULT,
    ) -> None:
        if not 1 <= brokers <= MOST_BROKERS:
            raise ValueError(f"a world has 1 to {MOST_BROKERS} brokers, not {brokers}; try 3")
        self.release = Release.of(version)
        self.seed = seed
        self.hears: Callable[[int, int, LeaderAndIsrInFlight], None] = lambda *_: None
        self.assignment = tuple(range(1, brokers + 1))
        self.zookeeper = ZooKeeper(first_zxid=seed % 1000, first_session=seed % 1000 + 1)
        self._make_znodes()
        self.network = Network(self.assignment)
        self.next_record = 0
        self.brokers = {
            broker: PartitionBroker(broker, self.assignment, self.zookeeper, self.release)
            for broker in self.assignment
        }
        for broker in self.brokers.values():
            broker.start()

    def _make_znodes(self) -> None:
        """Those of a cluster with one created, never led partition."""
        never_led = LeaderIsrAndControllerEpoch(NO_LEADER, 0, self.assignment, 0)
        topic = TopicZnode({PARTITION.partition: ReplicaAssignment(self.assignment)})
        text = encode_topic(topic, min(topic_version(self.release), 2))
        self.zookeeper.make_path(paths.BROKER_IDS)
        self.zookeeper.make_path(paths.topic(PARTITION.topic), text)
        self.zookeeper.make_path(STATE, encode_state(never_led))
        if self.release.since("2.1"):
            self.zookeeper.make_path(paths.CONTROLLER_EPOCH, "0")

    # What ZooKeeper holds

    @property
    def registered_state(self) -> LeaderIsrAndControllerEpoch:
        """The state of the partition, with its zkVersion."""
        node = self.zookeeper.get(STATE)
        return decode_state(*PARTITION, node.data, node.version)

    @property
    def controller_session(self) -> int | None:
        """The session that owns /controller, None if nobody is registered."""
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

    # Processes and sessions

    def process(self, broker: int) -> Process:
        """A broker by its id."""
        return self.brokers[broker]

    def crash(self, broker: int) -> None:
        """Memory is lost, connections break."""
        self.brokers[broker].crash()
        self.network.discard_dead(broker)
        self.network.disconnect(broker)

    def start(self, broker: int) -> None:
        """The disk is read, a session opened, a registration made."""
        self.brokers[broker].start()
        self.network.discard_dead(broker)

    def expire(self, broker: int) -> None:
        """ZooKeeper ends its session."""
        self.zookeeper.expire(self.brokers[broker].session)

    def reconnect(self, broker: int) -> None:
        """A new session: it resigns and registers again."""
        self.brokers[broker].reconnect()
        self.network.discard_dead(broker)

    # Plain data

    def snapshot(self) -> Snapshot:
        """The whole state as a value."""
        return Snapshot(
            self.zookeeper.save(),
            tuple(broker.save() for broker in self.brokers.values()),
            self.network.save(),
            self.next_record,
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Become what a snapshot says; it must be of a world of as many brokers (ValueError)."""
        if len(snapshot.brokers) != len(self.brokers):
            raise ValueError(
                f"the snapshot is of {len(snapshot.brokers)} brokers, "
                f"this world has {len(self.brokers)}"
            )
        self.zookeeper.load(snapshot.zookeeper)
        for broker, saved in zip(self.brokers.values(), snapshot.brokers, strict=True):
            broker.load(saved)
        self.network.load(snapshot.network)
        self.next_record = snapshot.next_record
