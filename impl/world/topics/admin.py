"""What administrators write of a topic into ZooKeeper: nobody checks anything there."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from impl.world.steps import Step
from impl.world.topics.world import TOPIC, Refusal, Steps, TopicWorld
from impl.znodes import paths
from impl.znodes.topics import ReplicaAssignment, TopicZnode, encode_topic, topic_version
from impl.zookeeper.port import wait


class Administrators(TopicWorld):
    """A topic is created, gets partitions, is marked for deletion; `/controller` is deleted."""

    def offers(self) -> Steps:
        """Those of the others, and those of administrators."""
        yield from super().offers()
        lists = self._padded_lists()
        for number in self.partitions:
            yield from (Step("admin_adds_partition", (number, *ids)) for ids in lists)
        for count in range(1, len(self.partitions) + 1):
            yield from (Step("admin_creates_topic", (*ids, count)) for ids in lists)
        yield Step("admin_deletes_topic", ())
        yield Step("controller_node_is_deleted", ())

    def _lists(self) -> list[tuple[int, ...]]:
        most = min(3, len(self.brokers))
        return [ids for size in range(1, most + 1) for ids in permutations(self.brokers, size)]

    def _padded_lists(self) -> list[tuple[int, ...]]:
        return [(*ids, *[0] * (3 - len(ids))) for ids in self._lists()]

    def _admin_creates_topic_refusal(self, *args: int) -> Refusal:
        if self.registered_lists():
            return "there is no topic of that name"
        *ids, count = args
        if tuple(ids) not in self._padded_lists():
            return "the list names brokers, each once"
        return None if 1 <= count <= len(self.partitions) else "it has so many partitions"

    def admin_creates_topic(self, first: int, second: int, third: int, count: int) -> None:
        """Its replica lists are written, each turned by one against the one before.

        What brokers hold by that name, and what is on its way to them, is of an earlier topic.
        """
        ids = [one for one in (first, second, third) if one]
        wait(self.admin.create_topic(TOPIC, {
            number: [*ids[number % len(ids):], *ids[: number % len(ids)]] for number in range(count)
        }))  # fmt: skip
        for broker, one in self.hosted.items():
            self.hosted[broker] = one.becomes_stale()
        for to, queue in self.connections.items():
            self.connections[to] = tuple(replace(sent, outdated=True) for sent in queue)

    def _admin_adds_partition_refusal(self, number: int, *args: int) -> Refusal:
        lists = self.registered_lists()
        if not lists:
            return "the topic exists"
        if number != len(lists):
            return "it is the next partition"
        ids = [one for one in args if one]
        if len({*ids}) < len(ids):
            return "no broker is named twice"
        return None if len(ids) == len(lists[0]) else "it has as many replicas"

    def admin_adds_partition(self, number: int, first: int, second: int, third: int) -> None:
        """The topic's node is written with one partition more."""
        lists = self.registered_lists() | {
            number: tuple(one for one in (first, second, third) if one)
        }
        node = TopicZnode({one: ReplicaAssignment(ids) for one, ids in lists.items()})
        text = encode_topic(node, min(topic_version(self.release), 2))
        wait(self.admin.port.set_data(paths.topic(TOPIC), text))

    def _admin_deletes_topic_refusal(self) -> Refusal:
        if not self.registered_lists():
            return "the topic exists"
        return "no deletion is requested" if wait(self.admin.deletions()) else None

    def admin_deletes_topic(self) -> None:
        """A deletion is requested."""
        wait(self.admin.request_deletion(TOPIC))

    def _controller_node_is_deleted_refusal(self) -> Refusal:
        return "/controller exists" if wait(self.admin.controller()) is None else None

    def controller_node_is_deleted(self) -> None:
        """To force an election; whoever owned it lives on with its session."""
        wait(self.admin.port.delete(paths.CONTROLLER))
