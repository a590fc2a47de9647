"""The ``.snapshot`` files of a log: the state of its producers at the offset in the file's name.

One is written when a segment is rolled, at a clean stop, and at the end of a log that was scanned
at a start or truncated (2.0). After a start the newest one that is sound and lies within the log
is read, and what the log has beyond it is read again. Files that are
behind are removed after each checkpoint, files beyond the end before a truncation: so none ever
mentions records that are others now. Source: ProducerStateManager, Log.loadProducerState.
"""

from __future__ import annotations

from impl.disk import Disk, replace_file
from impl.disk.atomic import read_file
from impl.log.errors import CorruptRecord
from impl.log.producer_state import ProducerRules, ProducerStates

SNAPSHOT = ".snapshot"


class ProducerSnapshots:
    """A log's producers and their files. Without ``rules`` (0.10) it has neither."""

    def __init__(self, disk: Disk, directory: str, rules: ProducerRules | None) -> None:
        self.disk = disk
        self.directory = directory
        self.kept = rules is not None
        self.states = ProducerStates(rules or ProducerRules())
        self._offsets: list[int] | None = None

    def path(self, offset: int) -> str:
        """The path of the snapshot for an offset."""
        return f"{self.directory}/{offset:020d}{SNAPSHOT}"

    @property
    def offsets(self) -> list[int]:
        """The offsets of the snapshots, ascending; the directory is listed once."""
        if self._offsets is None:
            stems = [
                name.removesuffix(SNAPSHOT)
                for name in self.disk.names(self.directory)
                if name.endswith(SNAPSHOT)
            ]
            self._offsets = sorted(int(stem) for stem in stems if stem.isdigit())
        return self._offsets

    def take(self, log_start: int) -> None:
        """Write a snapshot of the current state, if there are records after the newest snapshot."""
        offset = self.states.end
        if self.kept and offset > max(self.offsets, default=log_start):
            replace_file(self.disk, self.path(offset), self.states.snapshot())
            self._offsets = sorted([*self.offsets, offset])

    def remove_below(self, offset: int) -> None:
        """Remove the snapshots for offsets below."""
        self._remove([one for one in self.offsets if one < offset])

    def remove_outside(self, log_start: int, end: int) -> None:
        """Remove the snapshots beyond the log end, and those for offsets without a record."""
        self._remove([one for one in self.offsets if not log_start < one <= end])

    def remove_all(self) -> None:
        """Remove every snapshot, for a log that starts empty."""
        self._remove([*self.offsets])

    def _remove(self, offsets: list[int]) -> None:
        for offset in offsets:
            self.disk.remove(self.path(offset))
        if offsets:
            self._offsets = [one for one in self.offsets if one not in offsets]
            self.disk.sync_directory(self.directory)

    def load_newest(self, log_start: int, end: int, now_ms: int) -> list[str]:
        """Load the newest valid snapshot; without one, start with no state at the log's start.

        What was wrong with others, which are removed.
        """
        self.remove_outside(log_start, end)
        notes: list[str] = []
        for offset in [*reversed(self.offsets)]:
            try:
                content = read_file(self.disk, self.path(offset))
                self.states.restore(content, offset, log_start, now_ms)
                return notes
            except CorruptRecord as error:
                notes.append(f"{self.path(offset)}: {error}; removed")
                self._remove([offset])
        self.states.forget_all(log_start)
        return notes

    def moved_to(self, directory: str) -> None:
        """The directory was renamed."""
        self.directory = directory
