"""Stray replicas: in no assignment any more, and never deleted, as in Kafka.

A move takes a replica out of the assignment, and the StopReplica that would delete it is lost with
the controller that sent it: the next one reads an assignment in which the replica is not. It stays
where it is. If the topic is created again, or the broker gets the partition back, LeaderAndIsr of a
leader epoch that is not above the stray's own is ignored (``becomeLeaderOrFollower``), up to topic
ids (KIP-516).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from impl.core.events import LogDeleted
from impl.world.wide.node import WideBroker
from impl.znodes import TopicPartition, paths
from impl.znodes.topics import decode_topic
from impl.zookeeper.store import ZooKeeper

Assignment = Mapping[int, tuple[int, ...]]


class Strays:
    """The replicas that moves have left behind, kept up to date by ``look`` after each step."""

    def __init__(self, zookeeper: ZooKeeper, nodes: Mapping[int, WideBroker]) -> None:
        self.zookeeper = zookeeper
        self.nodes = nodes
        self.left: set[tuple[TopicPartition, int]] = set()
        self._seen: dict[str, int] = {}
        self._assigned: dict[str, Assignment] = {}

    def __contains__(self, replica: tuple[TopicPartition, int]) -> bool:
        return replica in self.left

    def look(self, topics: Iterable[str], happened: Iterable[tuple[int, object]]) -> None:
        """Note what the last step took out of an assignment, and what it deleted."""
        for broker, event in happened:
            if isinstance(event, LogDeleted):
                self.left.discard((event.partition, broker))
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
