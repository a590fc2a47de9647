"""The disk operations that storage needs. Paths are POSIX; every failure is an ``OSError``."""

from __future__ import annotations

from typing import Protocol

Buffer = bytes | bytearray | memoryview


class Locked(Exception):
    """Another process, or another broker of this one, uses the directory."""


class File(Protocol):
    """An open file. Positions and sizes are bytes; nothing is durable before ``sync``."""

    @property
    def path(self) -> str:
        """The path where the file was opened, or its new path (``moved_to``)."""

    def size(self) -> int:
        """Bytes in the file."""

    def read(self, position: int, length: int) -> bytes:
        """Up to ``length`` bytes from ``position``; fewer only where the file ends."""

    def write(self, position: int, *parts: Buffer) -> None:
        """Write the parts one after the other; a gap beyond the end is filled with zeros."""

    def truncate(self, size: int) -> None:
        """Truncate the file, or extend it with zeros."""

    def sync(self) -> None:
        """Return when the content is durable (``fsync``)."""

    def send(self, socket: int, position: int, length: int) -> int:
        """Send a region to a socket's descriptor, unparsed; returns the number of bytes sent."""

    def again(self) -> File:
        """The same file with its own ``close``, for a sender while the file may be removed."""

    def moved_to(self, path: str) -> None:
        """Record that the file, or a directory above it, was renamed."""

    def close(self) -> None:
        """Close the file; this does not sync it."""


class Disk(Protocol):
    """Files in directories. Entries of a directory are durable after ``sync_directory``."""

    def open(self, path: str, create: bool = False) -> File:
        """An open file; with ``create`` an empty one if there is none."""

    def exists(self, path: str) -> bool:
        """Whether there is a file or a directory."""

    def is_directory(self, path: str) -> bool:
        """Whether there is a directory."""

    def names(self, directory: str) -> list[str]:
        """The names in a directory, sorted."""

    def make_directory(self, path: str) -> None:
        """Make a directory, and those above it, durably; does nothing if it exists."""

    def rename(self, old: str, new: str) -> None:
        """Rename within one directory, atomically; a file at ``new`` is replaced."""

    def remove(self, path: str) -> None:
        """Remove a file."""

    def remove_directory(self, path: str) -> None:
        """Remove an empty directory."""

    def sync_directory(self, path: str) -> None:
        """Return when created, removed and renamed entries of a directory are durable."""

    def modified_ms(self, path: str) -> int:
        """The modification time of a file, in milliseconds."""

    def set_modified_ms(self, path: str, when_ms: int) -> None:
        """Set the modification time of a file (``utimes``)."""

    def lock(self, path: str) -> File:
        """Hold a lock file until it is closed, or its process ends; Locked if it is held."""
