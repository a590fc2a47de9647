"""A simulated cluster: brokers, one ZooKeeper, topics; ``enabled`` lists steps, ``do`` takes one.

Every listed step may be taken; only a step that is not listed is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from impl.core.controller_parts import ControllerConfig
from impl.core.replica_events import LogCreated, LogDeleted
from impl.releases import DEFAULT, Release
from impl.sim.simulation import Step, StepKind
from impl.world.fetches import MOST_BYTES
from impl.world.simulated_broker import FOLDER
from impl.world.simulated_cluster import SimulatedCluster
from impl.world.whole_cluster.node import BrokerObserver, ClusterNode
from impl.znodes import TopicPartition, paths
from impl.znodes.topics import decode_topic
from impl.zookeeper.port import wait
from impl.zookeeper.store import ZooKeeper

FIRST_INSTANT_MS = 1_577_836_800_000
MOST_BROKERS = 9


class LeftoverReplicas:
    """The replicas that reassignments have left behind: no longer assigned, and never deleted, as
    in Kafka. ``look`` updates them after each step.

    A reassignment removes a replica from the assignment, and the StopReplica that would delete it
    is lost with its controller. The next controller reads an assignment without the replica, which
    stays on its broker. If the topic is created again, or the broker gets the partition back, a
    LeaderAndIsr whose leader epoch is not above the stray's own is ignored
    (``becomeLeaderOrFollower``), up to topic ids (KIP-516).
    """

    def __init__(self, zookeeper: ZooKeeper, nodes: Mapping[int, ClusterNode]) -> None:
        self.zookeeper = zookeeper
        self.nodes = nodes
        self.left: set[tuple[TopicPartition, int]] = set()
        self._seen: dict[str, int] = {}
        self._assigned: dict[str, Mapping[int, tuple[int, ...]]] = {}

    def __contains__(self, replica: tuple[TopicPartition, int]) -> bool:
        return replica in self.left

    def look(self, topics: Iterable[str], happened: Iterable[tuple[int, object]]) -> None:
        """Record which replicas the last step removed from an assignment, and which it deleted."""
        for broker, event in happened:
            if isinstance(event, LogDeleted):
                self.left.discard((event.partition, broker))
            elif isinstance(event, LogCreated):  # it may have been taken out before it obeyed
                topic, number = event.partition
                if broker not in self._assigned.get(topic, {}).get(number, ()):
                    self.left.add((event.partition, broker))
        for topic in topics:
            node = self.zookeeper.nodes.get(paths.topic(topic))
            if node is None:  # deleted: all that was assigned has been deleted before
                self._assigned.pop(topic, None)
                self._seen.pop(topic, None)
            elif self._seen.get(topic) != node.mzxid:
                self._seen[topic] = node.mzxid
                self._compare(topic, node.data)

    def _compare(self, topic: str, text: str) -> None:
        found = {
            number: tuple(one.replicas)
            for number, one in decode_topic(topic, text).partitions.items()
        }
        for number, before in self._assigned.get(topic, {}).items():
            one = TopicPartition(topic, number)
            for broker in set(before) - set(found.get(number, ())):
                if self._holds(broker, one):
                    self.left.add((one, broker))
        for one, broker in [*self.left]:
            assigned = one.topic == topic and broker in found.get(one.partition, ())
            if assigned and not self._holds(broker, one):
                self.left.discard((one, broker))
        self._assigned[topic] = found

    def _holds(self, broker: int, partition: TopicPartition) -> bool:
        logs = self.nodes[broker].logs
        return logs.home(partition) is not None or partition in logs.offline


@dataclass
class Acknowledged:
    """The records that were acknowledged to producers, by offset, as long as they are retained.

    ``at`` is by incarnation of the topic and partition: records of a deleted topic are not claimed.
    """

    at: dict[TopicPartition, dict[int, int]]
    acknowledged: int = 0


class WholeCluster(SimulatedCluster[ClusterNode]):
    """Brokers 1..N, or from ``first_broker`` on, and topics ``t0``, ``t1``, …, each with
    ``partitions`` partitions, created at the start.

    ``factor``: replicas of each partition, at most as many as there are brokers, round robin unless
    ``assignment`` says which. ``seed`` only decides what a disk keeps after a power failure;
    ``config`` is the controllers'. Each broker has ``directories`` log directories; a follower
    fetches up to ``fetch_bytes``. ``observer`` creates a broker's observer. ValueError for invalid
    numbers. ``happened``: the last step's events by broker, for the claims: those of replicas and
    of ``ghosts``.
    """

    first_ms = FIRST_INSTANT_MS
    nodes: dict[int, ClusterNode]

    def __init__(
        self,
        kinds: Mapping[str, StepKind],
        brokers: int = 3,
        topics: int = 2,
        partitions: int = 3,
        factor: int = 3,
        release: str = DEFAULT,
        seed: int = 0,
        config: ControllerConfig | None = None,
        directories: int = 1,
        fetch_bytes: int = MOST_BYTES,
        first_broker: int = 1,
        assignment: Mapping[int, Sequence[int]] | None = None,
        zookeeper: ZooKeeper | None = None,
        observer: Callable[[ClusterNode], BrokerObserver] = BrokerObserver,
    ) -> None:
        if not 1 <= brokers <= MOST_BROKERS:
            raise ValueError(
                f"a whole cluster has 1 to {MOST_BROKERS} brokers, not {brokers}; try 3"
            )
        if topics < 1 or partitions < 1 or not 1 <= factor <= brokers:
            raise ValueError(
                f"a whole cluster has 1 topic or more, 1 partition or more, and 1 to {brokers} "
                f"replicas of each, not {topics}, {partitions}, {factor}"
            )
        super().__init__(kinds, Release.of(release), zookeeper or ZooKeeper())
        self.topics, self.partitions, self.factor = topics, partitions, factor
        self.assignment = assignment
        folders = tuple(FOLDER + f"-{one}" * (one > 1) for one in range(1, directories + 1))
        self.client_view = Acknowledged({})
        self.happened: list[tuple[int, object]] = []
        self._running: list[tuple[int, ClusterNode]] | None = None
        self.fetch_bytes = fetch_bytes
        self.to_be_deleted: set[str] = set()  # topics of which that was asked
        self.misled: set[tuple[TopicPartition, int]] = set()  # with the topic's incarnation
        """Led by a broker because of a request to its last life (before KIP-380, KAFKA-7235):
        what it acknowledges by an ISR that is not registered any more, nobody else may have. Or an
        administrator asked for an unclean election: what was committed may go with it."""
        self.diverged: dict[tuple[TopicPartition, int], set[int]] = {}
        """Offsets at which replicas may hold different records, by incarnation: a leader had a
        follower keep records of an epoch that it never had (up to 1.1, KAFKA-6361)."""
        self.consumed: dict[TopicPartition, int] = {}  # where consumers read on
        self.moves = 0
        self.nodes = {
            number: ClusterNode(
                number,
                self.zookeeper,
                self.release,
                self.now_ms,
                seed,
                self.happened,
                folders,
                observer,
                config,
            )
            for number in range(first_broker, first_broker + brokers)
        }
        self.leftover_replicas = LeftoverReplicas(self.zookeeper, self.nodes)
        for node in self.nodes.values():
            node.register()
        for topic in range(topics):
            self.create_topic(topic)

    # Topics

    def create_topic(self, topic: int) -> None:
        """Create a topic as the tool does: replicas round robin, the first broker shifted by
        topic.
        """
        ids = sorted(self.nodes)
        assignment = self.assignment or {
            number: [ids[(topic + number + one) % len(ids)] for one in range(self.factor)]
            for number in range(self.partitions)
        }
        self.to_be_deleted.discard(f"t{topic}")
        wait(self.admin.create_topic(f"t{topic}", assignment))

    def forget(self, topic: str) -> None:
        """Drop the claims about a topic that is deleted, or created again."""
        for known in (self.client_view.at, self.consumed):
            for one in [one for one in known if one.topic == topic]:
                del known[one]

    def incarnation_of(self, topic: str) -> int:
        """The incarnation of the topic of that name, 0 if there is none."""
        return next(iter(self.nodes.values())).incarnation_of(topic)

    def existing_topics(self) -> list[int]:
        """The numbers of the topics that exist, and are not to be deleted."""
        nodes = self.zookeeper.nodes
        return [
            one
            for one in range(self.topics)
            if paths.topic(f"t{one}") in nodes and paths.deletion(f"t{one}") not in nodes
        ]

    def existing_partitions(self) -> list[TopicPartition]:
        """Every partition of the existing topics."""
        numbers = range(self.partitions)
        return [
            TopicPartition(f"t{one}", each) for one in self.existing_topics() for each in numbers
        ]

    def running(self) -> list[tuple[int, ClusterNode]]:
        """The nodes whose process is up and not paused, by id."""
        if self._running is None:  # asked for by most kinds of steps, and changed by few steps
            self._running = [(number, node) for number, node in self.nodes.items() if node.running]
        return self._running

    @property
    def keeps_requests(self) -> bool:
        """Whether topic deletion requests are neither carried out nor removed (up to 0.10.1)."""
        deletion = next(iter(self.nodes.values())).controller.core.deletion
        return not (deletion.enabled or self.release.since("0.10.2"))

    # Stepping

    def take(self, step: Step) -> None:
        """Take a step that ``enabled`` has just listed."""
        self.happened.clear()
        self._running = None
        try:
            super().take(step)
            self.leftover_replicas.look(
                [f"t{topic}" for topic in range(self.topics)], self.happened
            )
        finally:
            self._running = None
