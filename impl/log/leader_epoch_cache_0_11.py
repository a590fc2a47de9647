"""The start offset of each leader epoch, by the rules of 0.11 to 1.1 (KIP-101 before KIP-279)."""

from __future__ import annotations

from impl.log.leader_epoch_cache import UNDEFINED, LeaderEpochFileCache


class LeaderEpochFileCache011(LeaderEpochFileCache):
    """Entries (epoch, start offset): epochs strictly increase, start offsets may repeat.

    ``asks_undefined``: the first 0.11 compares an undefined epoch like any other, so that a replica
    without epochs which is asked for -1 answers its log end.
    """

    def __init__(
        self, entries: tuple[tuple[int, int], ...] = (), asks_undefined: bool = False
    ) -> None:
        super().__init__(entries)
        self.asks_undefined = asks_undefined

    def assign(self, epoch: int, start: int) -> None:
        """Add a newer epoch that begins no earlier than the last one; anything else is ignored."""
        if epoch > self.latest_epoch and (not self.entries or start >= self.entries[-1][1]):
            self.entries.append((epoch, start))

    def end_offset_for(self, epoch: int, log_end: int) -> tuple[int, int]:
        """The exclusive end offset of an epoch's records; the response has no epoch, so it is -1.

        An epoch older than all is unknown here, as is one newer than all.
        """
        if epoch == UNDEFINED and not self.asks_undefined:
            return UNDEFINED, UNDEFINED
        if epoch == self.latest_epoch:
            return UNDEFINED, log_end
        later = [start for known, start in self.entries if known > epoch]
        if not later or epoch < self.entries[0][0]:
            return UNDEFINED, UNDEFINED
        return UNDEFINED, later[0]

    def truncate_from_start(self, start: int) -> None:
        """Remove epochs that begin below; the last of them is kept if no other epoch contains
        ``start``."""
        below = [entry for entry in self.entries if entry[1] < start]
        kept = [entry for entry in self.entries if entry[1] >= start]
        if below and (not kept or start < kept[0][1]):
            kept.insert(0, (below[-1][0], start))
        self.entries = kept
