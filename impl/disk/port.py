"""Operations that storage needs of a disk. Paths are POSIX; every failure is an ``OSError``."""

from __future__ import annotations

from typing import Protocol

Buffer = bytes | bytearray | memoryview


class Locked(Exception):
    """Another process, or another broker of this one, uses the directory."""


class File(Protocol):
    """An open file. Positions and sizes are bytes; nothing is durable before ``sync``."""

    @property
    def path(self) -> str:
        """Where the file was opened, or where it was moved since (``moved_to``)."""

    def size(self) -> int:
        """Bytes in the file."""

    def read(self, position: int, length: int) -> bytes:
        """Up to ``length`` bytes from ``position``; fewer only where the file ends."""

    def write(self, position: int, *parts: Buffer) -> None:
        """Write the parts one after the other; beyond the end, what lies between is zeros."""

    def truncate(self, size: int) -> None:
        """Cut the file, or let it grow by zeros."""

    def sync(self) -> None:
        """Return when the content is durable (``fsync``)."""

    def send(self, socket: int, position: int, length: int) -> int:
        """Send a region to the socket of that descriptor, unparsed; bytes that were taken."""

    def again(self) -> File:
        """The same file once more, to be closed by itself: for whoever sends while it may go."""

    def moved_to(self, path: str) -> None:
        """The file, or a directory above it, was renamed: this is its path now."""

    def close(self) -> None:
        """Let go of the file; nothing is synced by that."""


class Disk(Protocol):
    """Files in directories. Entries of a directory are durable after ``sync_directory``."""

    def open(self, path: str, create: bool = False) -> File:
        """An open file; with ``create`` an empty one if there is none."""

    def exists(self, path: str) -> bool:
        """There is a file or a directory."""

    def is_directory(self, path: str) -> bool:
        """There is a directory."""

    def names(self, directory: str) -> list[str]:
        """What is in a directory, sorted."""

    def make_directory(self, path: str) -> None:
        """Make a directory, and those above it, durably; nothing happens if it is there."""

    def rename(self, old: str, new: str) -> None:
        """Rename within one directory, atomically; a file at ``new`` is replaced."""

    def remove(self, path: str) -> None:
        """Remove a file."""

    def remove_directory(self, path: str) -> None:
        """Remove an empty directory."""

    def sync_directory(self, path: str) -> None:
        """Return when entries that came, went or were renamed in a directory are durable."""

    def modified_ms(self, path: str) -> int:
        """When a file was last changed, in milliseconds."""

    def set_modified_ms(self, path: str, when_ms: int) -> None:
        """Let a file have been changed last at that time (``utimes``)."""

    def lock(self, path: str) -> File:
        """Hold a lock file until it is closed, or its process ends; Locked if another does."""
