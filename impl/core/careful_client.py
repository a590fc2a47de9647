"""A controller's reads, which no broken znode stops: it is named, and taken as if it were missing.

So a partition whose state cannot be read has no leader, a topic whose assignment cannot be read has
no partitions, and everything else goes on (``Json.parseBytes`` of Kafka's decoders; fact sheet a).
Administrators' tools read without this care: they show the error.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from impl.releases import Release
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, paths
from impl.znodes.brokers import BrokerInfo, decode_broker
from impl.znodes.client import ZnodeClient
from impl.znodes.cluster import decode_log_dir_event
from impl.znodes.partitions import decode_partition_set
from impl.znodes.text import MalformedZnode
from impl.znodes.topics import TopicZnode
from impl.zookeeper.port import Port

NOBODY = -1
T = TypeVar("T")


class CarefulClient(ZnodeClient):
    """``trouble`` is told what is wrong with a znode, once until it is wrong in another way."""

    def __init__(self, port: Port, release: Release, trouble: Callable[[str], None]) -> None:
        super().__init__(port, release)
        self.trouble = trouble
        self._told: dict[str, str] = {}

    def _or(self, path: str, read: Callable[[], T], otherwise: T) -> T:
        try:
            found = read()
        except MalformedZnode as error:
            text = str(error)
            if self._told.get(path) != text:
                self._told[path] = text
                self.trouble(text)
            return otherwise
        self._told.pop(path, None)
        return found

    def state(self, partition: TopicPartition) -> LeaderIsrAndControllerEpoch | None:
        """The registered state; None if there is none that can be read."""
        return self._or(paths.state(*partition), partial(super().state, partition), None)

    def topic(self, name: str, watch: bool = False) -> TopicZnode | None:
        """The assignment of a topic's replicas; None if there is none that can be read."""
        return self._or(paths.topic(name), partial(super().topic, name, watch), None)

    def reassignments(self) -> dict[TopicPartition, tuple[int, ...]]:
        """What ``/admin/reassign_partitions`` asks for, nothing if it cannot be read."""
        path = paths.REASSIGN_PARTITIONS
        return self._or(path, super().reassignments, {})

    def preferred_election(self) -> list[TopicPartition] | None:
        """The partitions that a preferred election was asked for; of a broken request, none."""
        nothing: list[TopicPartition] | None = []
        return self._or(paths.PREFERRED_ELECTION, super().preferred_election, nothing)

    def brokers(self, watch: bool = False) -> dict[int, tuple[BrokerInfo, int]]:
        """Registered brokers that can be read, by id: what they say, and their epoch.

        A watch is left on who is there, and since 1.1 (KIP-226) on what each of them says.
        """
        found = {}
        each = watch and self.release.since("1.1")
        for number in sorted(map(int, self.names(paths.BROKER_IDS, watch))):
            there = self.broker(number, each)
            if there is not None:
                found[number] = there
        return found

    def broker(self, number: int, watch: bool = False) -> tuple[BrokerInfo, int] | None:
        """What one broker says of itself, and its epoch; None if that is not there to be read."""
        path = paths.broker(number)
        node = self.read(path, watch)
        if node is None:
            return None
        info = self._or(path, partial(decode_broker, number, node.data), None)
        return None if info is None else (info, node.czxid)

    def isr_changes(self, watch: bool = False) -> dict[str, list[TopicPartition]]:
        """The notifications there are; one that cannot be read names no partition."""
        found: dict[str, list[TopicPartition]] = {}
        for name in self.names(paths.ISR_CHANGES, watch):
            path = f"{paths.ISR_CHANGES}/{name}"
            node = self.read(path)
            if node is not None:
                found[name] = self._or(path, partial(decode_partition_set, path, node.data), [])
        return found

    def log_dir_events(self, watch: bool = False) -> dict[str, int]:
        """The notifications of failed directories; one that cannot be read names no broker."""
        found: dict[str, int] = {}
        for name in self.names(paths.LOG_DIR_EVENTS, watch):
            path = f"{paths.LOG_DIR_EVENTS}/{name}"
            node = self.read(path)
            if node is not None:
                broker = self._or(path, partial(decode_log_dir_event, path, node.data), None)
                found[name] = NOBODY if broker is None else broker
        return found
