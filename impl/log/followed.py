"""A follower's log, as far as a fetcher reads it and moves its ends, wherever the log lies."""

from __future__ import annotations

from abc import ABC, abstractmethod

from impl.log.log import Log
from impl.releases import Release


class FollowedLog(ABC):
    """Ends, high watermark and epochs; up to 0.10 logs have no epochs."""

    def __init__(self, release: Release) -> None:
        self.release = release

    @property
    @abstractmethod
    def log(self) -> Log:
        """The log, wherever it is now."""

    @property
    def end(self) -> int:
        """The log end offset."""
        return self.log.log_end

    @property
    def start(self) -> int:
        """Where the log begins."""
        return self.log.log_start

    @start.setter
    def start(self, offset: int) -> None:
        self.log.advance_log_start(offset)

    @property
    def high_watermark(self) -> int:
        """What the leader said, as far as the log goes."""
        return self.log.high_watermark

    @high_watermark.setter
    def high_watermark(self, offset: int) -> None:
        self.log.high_watermark = max(self.log.log_start, offset)

    def latest_epoch(self) -> int | None:
        """The newest epoch, None if there is none."""
        latest = self.log.epochs.latest_epoch
        return latest if latest >= 0 and self.release.since("0.11") else None

    def end_offset_for(self, epoch: int) -> tuple[int, int]:
        """Epoch and exclusive end, see ``LeaderEpochFileCache``."""
        return self.log.end_offset_for(epoch)
