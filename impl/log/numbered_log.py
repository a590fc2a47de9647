"""A log of (record id, leader epoch) pairs, for simulated worlds; `log.py` is the log on disk."""

from __future__ import annotations

from impl.log.by_release import Numbers, epoch_cache_of, has_epochs

NEWEST = (2, 8)

Record = tuple[int, int]
"""A record is its id (in place of a payload) and the leader epoch it was appended in."""

SavedLog = tuple[tuple[Record, ...], tuple[tuple[int, int], ...]]


class ReplicaLog:
    """Records at offsets 0, 1, 2…; ``end`` is the log end offset (exclusive).

    ``release``: its numbers, as (2, 3); up to 0.10 no leader epochs are kept.
    """

    def __init__(self, release: Numbers = NEWEST) -> None:
        self.records: list[Record] = []
        self.epochs = epoch_cache_of(release)
        self.has_epochs = has_epochs(release)

    @property
    def end(self) -> int:
        """The log end offset: the offset of the next record."""
        return len(self.records)

    def append(self, record: Record) -> None:
        """Append at the end; a new epoch is added to the epoch cache."""
        if self.has_epochs:
            self.epochs.assign(record[1], len(self.records))
        self.records.append(record)

    def end_offset_for(self, epoch: int) -> tuple[int, int]:
        """``endOffsetFor`` of this log: (epoch, exclusive end), see the epoch cache."""
        return self.epochs.end_offset_for(epoch, len(self.records))

    def truncate_to(self, end: int) -> None:
        """Remove all records from offset ``end`` on, and their epochs.

        The epochs are cut even if no record is: a leader that appended nothing has left an entry at
        the very end, and a follower that kept it would ask about it for ever.
        """
        del self.records[end:]
        self.epochs.truncate_from_end(end)

    def save(self) -> SavedLog:
        """Everything, as an immutable value."""
        return tuple(self.records), tuple(self.epochs.entries)

    def load(self, saved: SavedLog) -> None:
        """Restore what `save` returned."""
        self.records = list(saved[0])
        self.epochs.entries = list(saved[1])


class HighWatermarkCheckpoint:
    """``replication-offset-checkpoint`` for one partition, in memory."""

    def __init__(self) -> None:
        self.offset = 0

    def write(self, high_watermark: int) -> None:
        """Replace the checkpointed high watermark."""
        self.offset = high_watermark

    def read_bounded(self, log_end: int) -> int:
        """The checkpointed high watermark, no lower than 0 and no higher than the log end."""
        return max(0, min(self.offset, log_end))
