"""A broker's replica manager over a log directory in memory, in the state of a question."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from impl.core.replica_manager import Answered, ReplicaManager
from impl.core.requests import (
    LeaderAndIsr,
    LeaderAndIsrPartitionState,
    Request,
    UpdateMetadata,
)
from impl.disk import MemoryDisk
from impl.log import LogManager, LogSettings
from impl.log.by_release import config_of, epoch_cache_of, has_epochs
from impl.log.config import LogConfig
from impl.log.record import StoredRecord
from impl.log.record_batch import encode_batch
from impl.log.stored_log import StoredLogs
from impl.releases import Release
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait
from impl.zookeeper.session import EmbeddedSession
from impl.zookeeper.store import ZooKeeper

PARTITION = TopicPartition("t", 0)
DIRECTORY = "/d"
ME, OTHER = 0, 1


class HostedFetchers:
    """Fetchers that store only their partitions."""

    def __init__(self) -> None:
        self.partitions: set[TopicPartition] = set()

    def remove(self, partitions: Collection[TopicPartition]) -> None:
        """Stops following these partitions."""
        self.partitions -= set(partitions)

    def add(self, partitions: Mapping[TopicPartition, Any]) -> None:
        """Follows each partition's leader."""
        self.partitions |= set(partitions)


class HostedBroker:
    """Broker 0, with one log directory, and the requests that controllers send to it.

    ``message_format``: the magic that it stores.
    """

    def __init__(self, release: Release, message_format: int = 2) -> None:
        self.release = release
        self.disk = MemoryDisk(lambda: 0)
        parts = release.parts
        settings = LogSettings(
            lambda: 0,
            config_of(parts, LogConfig(message_format=message_format)),
            new_cache=lambda: epoch_cache_of(parts),
            has_epochs=has_epochs(parts),
        )
        self.logs = LogManager(self.disk, [DIRECTORY], settings, failed=self._failed)
        self.logs.start(ME)
        client = ZnodeClient(EmbeddedSession(ZooKeeper()), release)
        self.manager = ReplicaManager(
            ME, release, StoredLogs(self.logs, release), 30_000, lambda: client
        )
        self.followed = HostedFetchers()
        self.manager.fetchers = self.followed

    def _failed(self, directory: str, why: str) -> None:
        self.manager.log_dir_failed()

    def hears(self, request: Request) -> Answered:
        """Handles a controller's request, and returns the answer."""
        return wait(self.manager.handle(request, 0, 0, 0, self._endpoints(request)))

    def _endpoints(self, request: Request) -> Mapping[int, tuple[str, int]]:
        alive = request.live_brokers if isinstance(request, UpdateMetadata) else ()
        return {broker: (f"b{broker}", 9092) for broker in alive}

    def knows(self, controller_epoch: int, alive: Collection[int]) -> None:
        """Handles an UpdateMetadata with a controller epoch and the live brokers."""
        self.hears(UpdateMetadata(0, OTHER, controller_epoch, -1, {}, tuple(alive)))

    def ordered(
        self,
        controller_epoch: int,
        leader: int,
        epoch: int,
        assigned: bool = True,
        topic_id: str | None = None,
    ) -> Answered:
        """Handles LeaderAndIsr about the partition."""
        replicas = (ME, OTHER) if assigned else (OTHER,)
        state = LeaderIsrAndControllerEpoch(leader, epoch, replicas, controller_epoch)
        order = LeaderAndIsrPartitionState(state, replicas, True, topic_id)
        return self.hears(
            LeaderAndIsr(0, OTHER, controller_epoch, -1, {PARTITION: order}, (leader,))
        )

    def appends(self, records: int) -> None:
        """A producer's records, which the leader takes."""
        batch = [StoredRecord(number, 0, None, b"x") for number in range(records)]
        done = wait(self.manager.append(PARTITION, encode_batch(batch), 0, 1, 0))
        assert done.error == "NONE", done

    @property
    def leader_epoch(self) -> int:
        """The partition's leader epoch, -1 if it is not hosted."""
        hosted = self.manager.partitions.get(PARTITION)
        return -1 if hosted is None else hosted.leader_epoch

    @property
    def has_log(self) -> bool:
        """Whether the partition's log is here, under its name, on a disk that has not failed."""
        return self.logs.home(PARTITION) is not None
