"""A replica's epoch cache together with its file, ``leader-epoch-checkpoint``."""

from __future__ import annotations

from impl.disk import Disk, replace_file
from impl.disk.atomic import ensure_file, read_file
from impl.log.checkpoint_file import encode_lines, parse_epochs
from impl.log.leader_epoch_cache import LeaderEpochFileCache

NAME = "leader-epoch-checkpoint"


class LeaderEpochFile:
    """An epoch cache with its file: every change is durable when the method returns.

    Without ``has_epochs`` (0.10) there is no file, and no epoch is ever kept; nor as long as the
    log is in a message format without them (see ``discard``).
    """

    def __init__(
        self, disk: Disk, directory: str, cache: LeaderEpochFileCache, has_epochs: bool = True
    ) -> None:
        self.disk = disk
        self.known = self.has_epochs = has_epochs
        self.path = f"{directory}/{NAME}"
        self.cache = cache

    @property
    def entries(self) -> list[tuple[int, int]]:
        """Epochs and their start offsets."""
        return self.cache.entries

    @property
    def latest_epoch(self) -> int:
        """The newest epoch, -1 if there is none."""
        return self.cache.latest_epoch

    def load(self) -> None:
        """Read the entries from the file, created if missing. MalformedCheckpoint, OSError."""
        self.cache.entries = []
        if self.has_epochs:
            ensure_file(self.disk, self.path)
            self.cache.entries = parse_epochs(self.path, read_file(self.disk, self.path))

    def assign(self, epoch: int, start: int) -> None:
        """Add an epoch that begins at an offset; see the cache."""
        if not self.has_epochs:
            return
        before = list(self.cache.entries)
        self.cache.assign(epoch, start)
        self._write_unless(before)

    def end_offset_for(self, epoch: int, log_end: int) -> tuple[int, int]:
        """The newest epoch up to the requested one, and the exclusive end offset of its records."""
        return self.cache.end_offset_for(epoch, log_end)

    def truncate_from_end(self, end: int) -> None:
        """Truncate to a new log end."""
        before = list(self.cache.entries)
        self.cache.truncate_from_end(end)
        self._write_unless(before)

    def truncate_from_start(self, start: int) -> None:
        """Truncate to a new log start."""
        before = list(self.cache.entries)
        self.cache.truncate_from_start(start)
        self._write_unless(before)

    def clear(self) -> None:
        """Remove all epochs; the file stays, without entries."""
        self.cache.clear()
        self.write()

    def discard(self) -> None:
        """Remove the epochs and the file: the log's message format has no epochs."""
        self.cache.clear()
        if self.known and self.disk.exists(self.path):
            self.disk.remove(self.path)
        self.has_epochs = False

    def resume(self) -> None:
        """Keep epochs from now on: the log's message format has them (again)."""
        self.has_epochs = self.known
        if self.has_epochs:
            ensure_file(self.disk, self.path)

    def write(self) -> None:
        """Write the cache to the file."""
        if not self.has_epochs:
            return
        replace_file(
            self.disk,
            self.path,
            encode_lines([f"{epoch} {start}" for epoch, start in self.entries]),
        )

    def moved_to(self, directory: str) -> None:
        """The directory was renamed."""
        self.path = f"{directory}/{NAME}"

    def _write_unless(self, before: list[tuple[int, int]]) -> None:
        if self.cache.entries != before:
            self.write()
