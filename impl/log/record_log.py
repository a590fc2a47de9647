"""A log of numbered records with a high watermark, as leaders and fetchers use it."""

from __future__ import annotations

from typing import NamedTuple

from impl.log.errors import OffsetOutOfRange
from impl.log.leader_epoch_cache import UNDEFINED, LeaderEpochFileCache
from impl.log.numbered_log import Record, ReplicaLog


class Records(tuple[Record, ...]):
    """The records of a read; each counts as one byte."""

    __slots__ = ()

    @property
    def length(self) -> int:
        """The number of records."""
        return len(self)


class LogAppendInfo(NamedTuple):
    """The first and last offset of appended records."""

    first_offset: int
    last_offset: int


class RecordLog:
    """A log over a ``ReplicaLog``, which survives the process; the high watermark does not."""

    directory = "memory"

    def __init__(self, log: ReplicaLog, high_watermark: int = 0) -> None:
        self.log = log
        self.high_watermark = high_watermark
        self.log_start = 0

    @property
    def epochs(self) -> LeaderEpochFileCache:
        """The leader epochs of its records."""
        return self.log.epochs

    @property
    def log_end(self) -> int:
        """The log end offset."""
        return self.log.end

    def latest_epoch(self) -> int | None:
        """The newest epoch in the log, None if there is none."""
        latest = self.log.epochs.latest_epoch
        return None if latest == UNDEFINED else latest

    def end_offset_for(self, epoch: int) -> tuple[int, int]:
        """Epoch and exclusive end, see the epoch cache."""
        return self.log.end_offset_for(epoch)

    # A leader's

    async def append_as_leader(self, records: tuple[int, ...], leader_epoch: int) -> LogAppendInfo:
        """Append a producer's records, given by their ids."""
        first = self.log.end
        for record in records:
            self.log.append((record, leader_epoch))
        return LogAppendInfo(first, self.log.end - 1)

    async def read(
        self, offset: int, max_bytes: int, up_to: int | None, at_least_one: bool
    ) -> Records:
        """Records from an offset on, below ``up_to``. OffsetOutOfRange."""
        if not self.log_start <= offset <= self.log.end:
            raise OffsetOutOfRange(offset, self.log_start, self.log.end)
        most = max(max_bytes, int(at_least_one))
        return Records(self.log.records[offset:up_to][:most])

    async def offset_for_time(self, timestamp: int) -> None:
        """None: its records have no timestamps."""

    # A follower's

    async def append(self, batch: tuple[Record, ...]) -> None:
        """Append fetched records."""
        for record in batch:
            self.log.append(record)

    async def truncate_to(self, offset: int) -> None:
        """Remove records from an offset on."""
        self.log.truncate_to(offset)
        self.high_watermark = min(self.high_watermark, self.log.end)

    async def truncate_fully_and_start_at(self, offset: int) -> None:
        """Remove every record."""
        self.log.truncate_to(0)
        self.log.epochs.clear()
        self.log_start = self.high_watermark = offset
