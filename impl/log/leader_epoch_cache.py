"""The start offset of each leader epoch: ``LeaderEpochFileCache`` of Kafka 2.0 and later."""

from __future__ import annotations

UNDEFINED = -1
"""``UNDEFINED_EPOCH`` and ``UNDEFINED_EPOCH_OFFSET``: there is no such epoch, no such offset."""


class LeaderEpochFileCache:
    """Entries (epoch, start offset), strictly increasing in both."""

    def __init__(self, entries: tuple[tuple[int, int], ...] = ()) -> None:
        self.entries: list[tuple[int, int]] = list(entries)

    @property
    def latest_epoch(self) -> int:
        """The newest epoch, UNDEFINED if the cache is empty."""
        return self.entries[-1][0] if self.entries else UNDEFINED

    @property
    def previous_epoch(self) -> int:
        """The epoch before the newest, UNDEFINED if there is none."""
        return self.entries[-2][0] if len(self.entries) > 1 else UNDEFINED

    def assign(self, epoch: int, start: int) -> None:
        """Add an epoch that begins at an offset.

        An epoch that has begun keeps its start. Otherwise entries that conflict (as new an epoch,
        or as late a start) are removed. ValueError for a negative epoch.
        """
        if epoch < 0:
            raise ValueError(f"a leader epoch is 0 or higher, not {epoch}")
        if self.entries and self.entries[-1][0] == epoch and start >= self.entries[-1][1]:
            return
        while self.entries and (self.entries[-1][0] >= epoch or self.entries[-1][1] >= start):
            self.entries.pop()
        self.entries.append((epoch, start))

    def end_offset_for(self, epoch: int, log_end: int) -> tuple[int, int]:
        """The newest epoch up to the requested one, and the exclusive end offset of its records.

        The newest epoch ends with the log. (UNDEFINED, UNDEFINED) for an undefined epoch or one
        newer than all. An epoch older than all ends where the oldest begins (KIP-279).
        """
        if epoch == UNDEFINED or not self.entries or epoch > self.entries[-1][0]:
            return UNDEFINED, UNDEFINED
        if epoch == self.entries[-1][0]:
            return epoch, log_end
        known, end = epoch, UNDEFINED
        for start_epoch, start in self.entries:
            if start_epoch > epoch:
                end = start
                break
            known = start_epoch
        return known, end

    def truncate_from_end(self, end: int) -> None:
        """Remove the epochs that begin at the new log end or later; a negative end is ignored."""
        while end >= 0 and self.entries and self.entries[-1][1] >= end:
            self.entries.pop()

    def truncate_from_start(self, start: int) -> None:
        """Remove epochs below the new log start; the epoch that contains it now begins there."""
        covered = [entry for entry in self.entries if entry[1] <= start]
        if covered:
            kept = [entry for entry in self.entries if entry[1] > start]
            self.entries = [(covered[-1][0], start), *kept]

    def clear(self) -> None:
        """Remove all epochs (the log was emptied)."""
        self.entries.clear()
