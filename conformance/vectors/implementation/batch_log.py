"""In-memory logs with the operations that fetchers and leaders need."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from impl.log.leader_epoch_cache import UNDEFINED, LeaderEpochFileCache
from impl.znodes.client import ZnodeClient


def no_client() -> ZnodeClient:
    """The client of a replica that writes no ISR to ZooKeeper."""
    raise AssertionError("no ISR is written")


class LogBatch(NamedTuple):
    """That many records from offset ``base`` on, appended in leader epoch ``epoch``."""

    base: int
    epoch: int
    records: int

    @property
    def end(self) -> int:
        """The offset after the last record."""
        return self.base + self.records


class BatchLog:
    """Batches in order, the log's start, its high watermark, its epochs."""

    def __init__(
        self, batches: tuple[LogBatch, ...] = (), high_watermark: int = 0, start: int = 0
    ) -> None:
        self.batches: list[LogBatch] = []
        self.log_start = batches[0].base if batches else start
        self.high_watermark = high_watermark
        self.epochs = LeaderEpochFileCache()
        for batch in batches:
            self._add(batch)

    @property
    def log_end(self) -> int:
        """The log end offset."""
        return self.batches[-1].end if self.batches else self.log_start

    def latest_epoch(self) -> int | None:
        """The newest epoch in the log, None if there is none."""
        latest = self.epochs.latest_epoch
        return None if latest == UNDEFINED else latest

    def end_offset_for(self, epoch: int) -> tuple[int, int]:
        """Epoch and exclusive end, see ``LeaderEpochFileCache``."""
        return self.epochs.end_offset_for(epoch, self.log_end)

    async def append(self, batch: LogBatch) -> None:
        """Append a batch at the very end; ValueError elsewhere."""
        self._add(batch)

    def _add(self, batch: LogBatch) -> None:
        if self.batches and batch.base < self.log_end:
            raise ValueError(f"a batch at {batch.base} cannot follow offset {self.log_end}")
        self.batches.append(batch)
        self.epochs.assign(batch.epoch, batch.base)

    async def truncate_to(self, offset: int) -> None:
        """Removes batches from an offset on; a batch that reaches beyond it is removed whole."""
        self.batches = [batch for batch in self.batches if batch.end <= offset]
        self.epochs.truncate_from_end(offset)
        self.high_watermark = min(self.high_watermark, self.log_end)

    async def truncate_fully_and_start_at(self, offset: int) -> None:
        """Removes every record; the log begins anew at an offset."""
        self.batches.clear()
        self.epochs.clear()
        self.log_start = self.high_watermark = offset

    def read(self, offset: int) -> LogBatch | None:
        """The first batch that ends after an offset, None at the end."""
        return next((batch for batch in self.batches if batch.end > offset), None)


@dataclass(slots=True)
class LogEnds:
    """A log that stores only offsets and epochs."""

    log_end: int = 0
    high_watermark: int = 0
    log_start: int = 0
    epochs: LeaderEpochFileCache = field(default_factory=LeaderEpochFileCache)
