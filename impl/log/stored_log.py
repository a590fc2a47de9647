"""A broker's logs as its replicas use them, through a log manager; any call may fail.

An OSError takes the directory offline (``LogDirFailureChannel``), a corrupt file the partition;
both come out as StorageError. Nothing here waits: the calls are coroutines, since to the replicas a
disk is a part of the world, and whoever simulates one may let it answer later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from impl.disk import replace_file
from impl.disk.atomic import read_file
from impl.log.checkpoint_file import TopicPartition
from impl.log.errors import StorageError
from impl.log.log import AppendedRange, Log
from impl.log.log_manager import LogManager
from impl.log.record_batch import whole_batches
from impl.log.region import Region
from impl.log.segment import TimedOffset
from impl.releases import Release

PARTITION_METADATA = "partition.metadata"
"""The file with the id of a replica's topic (2.8). Source: PartitionMetadataFile."""


class StoredLog:
    """One replica's log. Up to 0.10 logs have no leader epochs."""

    def __init__(
        self, logs: LogManager, partition: TopicPartition, log: Log, release: Release
    ) -> None:
        self.logs = logs
        self.partition = partition
        self.log = log
        self.release = release
        self.raised: Callable[[TopicPartition, int, str], None] = lambda *_: None
        """Hears of its log's new start, and of its directory."""

    @contextmanager
    def _using(self) -> Iterator[Log]:
        try:
            with self.logs.using(self.partition) as log:
                yield log
        except KeyError as error:
            raise StorageError(self.log.directory, "", "the log is not here any more") from error

    def moved_to(self, log: Log) -> None:
        """The log is in another directory from now on (KIP-113)."""
        self.log = log

    @property
    def directory(self) -> str:
        """The directory of its files."""
        return self.log.directory

    def check_or_set_topic_id(self, topic_id: str) -> bool:
        """Whether the log is of the topic with this id; one without an id gets it. StorageError."""
        with self._using() as log:
            disk, path = log.disk, f"{log.directory}/{PARTITION_METADATA}"
            said = f"version: 0\ntopic_id: {topic_id}\n".encode()
            if disk.exists(path):
                return read_file(disk, path) == said
            replace_file(disk, path, said)
            return True

    @property
    def log_end(self) -> int:
        """The log end offset."""
        return self.log.log_end

    @property
    def log_start(self) -> int:
        """The log start offset; raising it deletes the records below. StorageError."""
        return self.log.log_start

    @log_start.setter
    def log_start(self, offset: int) -> None:
        with self._using() as log:
            if log.advance_log_start(offset):
                self.raised(self.partition, offset, log.directory)

    @property
    def high_watermark(self) -> int:
        """The high watermark; it is never below the log's start."""
        return self.log.high_watermark

    @high_watermark.setter
    def high_watermark(self, offset: int) -> None:
        self.log.high_watermark = max(self.log.log_start, offset)

    @property
    def epochs(self) -> StoredLog:
        """The leader epochs of its records; see ``assign``."""
        return self

    def assign(self, epoch: int, start: int) -> None:
        """Add a leader epoch that begins at an offset, durably, if the log has epochs.
        StorageError."""
        with self._using() as log:
            log.epochs.assign(epoch, start)

    def latest_epoch(self) -> int | None:
        """The newest epoch, None if there is none."""
        latest = self.log.epochs.latest_epoch
        return latest if latest >= 0 and self.release.since("0.11") else None

    def end_offset_for(self, epoch: int) -> tuple[int, int]:
        """Epoch and exclusive end, see ``LeaderEpochFileCache``."""
        return self.log.end_offset_for(epoch)

    async def append_as_leader(self, records: bytes, leader_epoch: int) -> AppendedRange:
        """Append a producer's batches. InvalidBatch, CorruptRecord, StorageError."""
        with self._using() as log:
            return log.append_as_leader(records, leader_epoch)

    async def append(self, batch: bytes) -> None:
        """Append the complete batches of a fetch response. InvalidBatch, CorruptRecord,
        StorageError.

        What is cut off at the end is left out: it is fetched again.
        """
        whole = whole_batches(batch)
        if whole:
            with self._using() as log:
                log.append_as_follower(whole)

    async def read(
        self, offset: int, max_bytes: int, up_to: int | None, at_least_one: bool
    ) -> Region:
        """The region of the records from an offset on. OffsetOutOfRange, StorageError."""
        with self._using() as log:
            return log.read(offset, max_bytes, up_to, at_least_one).region

    async def offset_for_time(self, timestamp: int) -> TimedOffset | None:
        """The first record at that time (ms) or later, None if all are older. StorageError."""
        with self._using() as log:
            return log.offset_for_time(timestamp)

    async def truncate_to(self, offset: int) -> None:
        """Remove records from an offset on, in the copy in progress too. StorageError."""
        with self._using() as log:
            log.truncate_to(offset)
            self.logs.truncate_future(self.partition, offset)

    async def truncate_fully_and_start_at(self, offset: int) -> None:
        """Remove every record; the log continues at an offset. StorageError."""
        with self._using() as log:
            log.truncate_fully_and_start_at(offset)
            self.logs.truncate_future(self.partition, offset)


class StoredLogs:
    """The logs of one broker by partition; offline are those whose directory failed."""

    def __init__(self, logs: LogManager, release: Release) -> None:
        self.logs = logs
        self.release = release

    def has(self, partition: TopicPartition) -> bool:
        """Whether the partition has a usable log."""
        return self.logs.home(partition) is not None

    def is_offline(self, partition: TopicPartition) -> bool:
        """Whether the partition's log is in a failed directory."""
        return partition in self.logs.offline

    @property
    def some_offline(self) -> bool:
        """Whether some log directory is offline."""
        return any(directory.failure for directory in self.logs.directories)

    async def create(self, partition: TopicPartition) -> StoredLog:
        """A partition's log, created if missing. StorageError."""
        return StoredLog(self.logs, partition, self.logs.create(partition), self.release)

    async def delete(self, partition: TopicPartition) -> str | None:
        """Rename a log, to be removed later: the new name, None without a log. StorageError."""
        log = self.logs.log(partition)
        self.logs.delete(partition)
        return None if log is None else log.directory
