"""A broker on a disk of memory: process, session, logs, replicas and fetchers.

What leads it (a controller handled event by event, or suspended in the middle of one), and when a
follower asks, is up to its world.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from impl.core.events import ReplicaEvent
from impl.core.replica_manager import Replica, ReplicaManager
from impl.disk import MemoryDisk
from impl.log import LogConfig, LogManager, LogSettings
from impl.log.by_release import config_of, epoch_cache_of, has_epochs
from impl.log.stored_log import StoredLogs
from impl.releases import Release
from impl.world.fetches import FollowerConnection
from impl.znodes import TopicPartition
from impl.znodes.client import ZnodeClient
from impl.zookeeper import ZooKeeper
from impl.zookeeper.session import EmbeddedSession

FOLDER = "/kafka-logs"


class StoredBroker:
    """``up`` is its process, ``epoch`` that of its last registration, -1 before there was one."""

    lag_ms: int
    """``replica.lag.time.max.ms``."""
    config: LogConfig
    stored_logs = StoredLogs
    connections: dict[int, FollowerConnection]

    def __init__(
        self, broker: int, zookeeper: ZooKeeper, release: Release, now_ms: Callable[[], int]
    ) -> None:
        self.broker = broker
        self.zookeeper = zookeeper
        self.release = release
        self.now_ms = now_ms
        self.up = False
        self.epoch = -1
        self.names = 0
        self.disk: MemoryDisk

    def load(self, folders: Sequence[str], **replicas: Any) -> None:
        """What is in memory at a start: nothing but what the disk holds."""
        numbers = self.release.parts
        settings = LogSettings(
            self.now_ms,
            config_of(numbers, self.config),
            new_cache=lambda: epoch_cache_of(numbers),
            has_epochs=has_epochs(numbers),
        )
        self.logs = LogManager(self.disk, folders, settings, self._unique, self.directory_failed)
        self.logs.start(self.broker)
        self.connections = {}
        self.replicas = ReplicaManager(
            self.broker, self.release, self.stored_logs(self.logs, self.release), self.lag_ms,
            lambda: self.client, self.observe, **replicas,
        )  # fmt: skip
        self.replicas.fetchers = self

    def _unique(self) -> str:
        self.names += 1
        return f"{self.broker:016x}{self.names:016x}"

    def directory_failed(self, directory: str, why: str) -> None:
        """A log directory went offline in the course of whatever used it."""

    def open_session(self) -> None:
        """A new one, under which nothing is registered yet."""
        self.session = EmbeddedSession(self.zookeeper)
        self.client = ZnodeClient(self.session, self.release)

    @property
    def alive(self) -> bool:
        """ZooKeeper still holds its session."""
        return self.session.alive

    def observe(self, event: ReplicaEvent) -> None:
        """What happens to the replicas."""

    # Its fetchers: one for each leader

    def add(self, partitions: Mapping[TopicPartition, Replica]) -> None:
        """Follow each one's leader."""
        for replica in partitions.values():
            assert replica.leader is not None, "a follower has a leader"
            connection = self.connections.get(replica.leader)
            if connection is None:
                connection = FollowerConnection(replica.leader, self.release, self.observe)
                self.connections[replica.leader] = connection
            connection.add(replica)

    def remove(self, partitions: list[TopicPartition]) -> None:
        """Follow these no more."""
        for leader, connection in [*self.connections.items()]:
            for partition in partitions:
                connection.remove(partition)
            if not connection.rounds.states and connection.round is None:
                del self.connections[leader]
