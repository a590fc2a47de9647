"""Moves replicas between the log directories of one broker, and describes them (KIP-113, 1.1).

A replica is copied to a ``-future`` log while it is fetched; the future log replaces the old one
once it has caught up. The caller holds the replica manager's lock. Source:
ReplicaManager.alterReplicaLogDirs, describeLogDirs, ReplicaAlterLogDirsThread; fact sheet k.4, l.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from impl.error_codes import KAFKA_STORAGE_ERROR, NONE
from impl.log import Log, StorageError
from impl.log.directory_names import LONGEST, future_name
from impl.log.log_directory import LogDirectory
from impl.log.stored_log import StoredLog
from impl.server.replicas import HostedReplicas
from impl.znodes import TopicPartition
from impl.zookeeper.errors import ZooKeeperError

_LOG_MANAGER = "kafka.log.LogManager"
SLICE_BYTES = 1 << 20
SLICE_S = 0.02


class DescribedReplica(NamedTuple):
    """A replica's size in bytes, its lag in records, and whether it is a future replica."""

    partition: TopicPartition
    size: int
    behind: int
    future: bool


class DescribedDir(NamedTuple):
    """A directory with its replicas."""

    path: str
    error: str
    replicas: list[DescribedReplica]


class LogDirs:
    """Moves replicas between log directories, and describes each directory."""

    def __init__(self, manager: HostedReplicas) -> None:
        self.manager = manager
        self.logs = manager.logs
        self._compared: set[TopicPartition] = set()

    # Requests

    def alter(self, wanted: Mapping[TopicPartition, str]) -> dict[TopicPartition, str]:
        """AlterReplicaLogDirs: move each replica to a directory; returns an error for each.

        A replica that does not exist yet is REPLICA_NOT_AVAILABLE, and is created there later.
        """
        return {one: self._alter(one, path) for one, path in sorted(wanted.items())}

    def _alter(self, partition: TopicPartition, path: str) -> str:
        if len(future_name(partition, self.logs.unique())) > LONGEST:
            return "INVALID_TOPIC_EXCEPTION"  # KAFKA-4893
        target = str(Path(path).resolve()) if "\0" not in path else ""
        directory = next((one for one in self.logs.directories if one.path == target), None)
        if directory is None or not Path(path).is_absolute():
            return "LOG_DIR_NOT_FOUND"
        if directory.failure or partition in self.logs.offline:
            return KAFKA_STORAGE_ERROR
        if self.logs.home(partition) is None or partition not in self.manager.partitions:
            self.logs.prefer(partition, target)
            return "REPLICA_NOT_AVAILABLE"
        try:
            if partition not in directory.futures:
                self.logs.start_move(partition, target)
                self._compared.add(partition)
        except (StorageError, OSError) as error:
            self._failed(directory, partition, error)
            return KAFKA_STORAGE_ERROR
        return NONE

    def describe(self) -> list[DescribedDir]:
        """DescribeLogDirs: each directory with its replicas."""
        found = []
        for directory in self.logs.directories:
            replicas: list[DescribedReplica] = []
            for partition, log in sorted(directory.logs.items()):
                behind = max(0, log.high_watermark - log.log_end)
                one = TopicPartition(*partition)
                replicas.append(DescribedReplica(one, log.size, behind, future=False))
            for partition, log in sorted(directory.futures.items()):
                current = self._current(partition)
                behind = 0 if current is None else max(0, current.log_end - log.log_end)
                one = TopicPartition(*partition)
                replicas.append(DescribedReplica(one, log.size, behind, future=True))
            error = KAFKA_STORAGE_ERROR if directory.failure else NONE
            found.append(DescribedDir(directory.path, error, replicas))
        return found

    def _current(self, partition: tuple[str, int]) -> Log | None:
        home = self.logs.home(partition)
        return None if home is None else home.logs[partition]

    # What happens by itself

    def copy(self) -> None:
        """Copy for a short time; future logs that have caught up replace the current ones."""
        deadline = time.monotonic() + SLICE_S
        for directory in self.logs.directories:
            for name in sorted(directory.futures):
                partition = TopicPartition(*name)
                while partition in directory.futures and partition in self.manager.partitions:
                    if self.manager.quotas.moves.exceeded or time.monotonic() > deadline:
                        break
                    try:
                        self._copy_some(directory, partition)
                    except (StorageError, OSError, ZooKeeperError) as error:
                        self._failed(directory, partition, error)
                        break

    def _copy_some(self, directory: LogDirectory, partition: TopicPartition) -> None:
        if partition not in self._compared:  # it is left over from before a restart
            self.logs.compare_future(partition)
            self._compared.add(partition)
        future = directory.futures[partition]
        before = future.size
        caught_up = self.logs.copy_some(partition, SLICE_BYTES)
        self.manager.quotas.moves.record(max(0, future.size - before))
        if caught_up:
            self.logs.finish_move(partition)
            self._compared.discard(partition)
            log = self.manager.partitions[partition].log
            assert isinstance(log, StoredLog), "brokers have their logs on disks"
            log.moved_to(future)
            text = "The current replica is successfully replaced with the future replica for "
            self.manager.files.line("server.log", "INFO", f"{text}{partition}", _LOG_MANAGER)

    def _failed(self, directory: LogDirectory, partition: TopicPartition, error: Exception) -> None:
        text = f"Error while moving partition {partition} to {directory.path}: {error}"
        self.manager.files.insync_line(text)
        if isinstance(error, OSError):
            self.logs.fail(directory.path, str(error))
        else:
            self.logs.abandon_move(partition)
