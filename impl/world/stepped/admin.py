"""Topics that administrators write into ZooKeeper, without any check."""

from __future__ import annotations

from impl.world.processes import once
from impl.world.stepped.controller_run import TOPIC
from impl.world.stepped.parts import Many, SteppedParts, Unmet, each_list, step
from impl.znodes import paths
from impl.znodes.topics import ReplicaAssignment, TopicZnode, encode_topic, topic_version
from impl.zookeeper.port import wait


def each_list_and_count(world: SteppedParts) -> Many:
    """(first, second, third, partitions)."""
    counts = range(1, len(world.partitions) + 1)
    return ((*ids, count) for ids in each_list(world) for count in counts)


def each_partition_and_list(world: SteppedParts) -> Many:
    """(partition, first, second, third)."""
    return ((number, *ids) for number in world.partitions for ids in each_list(world))


class Administrators(SteppedParts):
    """A topic is created, gets partitions, is marked for deletion."""

    def _admin_creates_topic_unmet(self, *args: int) -> Unmet:
        if self.registered_lists():
            return "there is no topic of that name"
        *ids, count = args
        if tuple(ids) not in self.lists:
            return "the list names brokers, each once"
        return None if 1 <= count <= len(self.partitions) else "it has so many partitions"

    @step(each_list_and_count)
    def admin_creates_topic(self, first: int, second: int, third: int, count: int) -> None:
        """Its replica lists are written, each turned by one against the one before.

        What brokers hold by that name, and what is on its way to them, is of an earlier topic.
        """
        ids = [one for one in (first, second, third) if one]
        wait(self.admin.create_topic(TOPIC, {
            number: [*ids[number % len(ids):], *ids[: number % len(ids)]] for number in range(count)
        }))  # fmt: skip
        self.created += 1

    def _admin_adds_partition_unmet(self, number: int, *args: int) -> Unmet:
        lists = self.registered_lists()
        if not lists:
            return "the topic exists"
        if number != len(lists):
            return "it is the next partition"
        ids = [one for one in args if one]
        if len({*ids}) < len(ids):
            return "no broker is named twice"
        return None if len(ids) == len(lists[0]) else "it has as many replicas"

    @step(each_partition_and_list)
    def admin_adds_partition(self, number: int, first: int, second: int, third: int) -> None:
        """The topic's node is written with one partition more."""
        lists = self.registered_lists() | {
            number: tuple(one for one in (first, second, third) if one)
        }
        node = TopicZnode({one: ReplicaAssignment(ids) for one, ids in lists.items()})
        text = encode_topic(node, min(topic_version(self.release), 2))
        wait(self.admin.port.set_data(paths.topic(TOPIC), text))

    def _admin_deletes_topic_unmet(self) -> Unmet:
        if not self.registered_lists():
            return "the topic exists"
        return "no deletion is requested" if wait(self.admin.deletions()) else None

    @step(once)
    def admin_deletes_topic(self) -> None:
        """A deletion is requested."""
        wait(self.admin.request_deletion(TOPIC))
