"""Files on the machine's file systems."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

from impl.disk.port import Buffer, File, Locked


class RealFile:
    """One open file, by its descriptor."""

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor

    def size(self) -> int:
        """Bytes in the file."""
        return os.fstat(self.descriptor).st_size

    def read(self, position: int, length: int) -> bytes:
        """Up to ``length`` bytes from ``position``; fewer only where the file ends."""
        found = os.pread(self.descriptor, length, position)
        if len(found) == length or not found:
            return found
        parts = [found]
        while found:
            position, length = position + len(found), length - len(found)
            found = os.pread(self.descriptor, length, position)
            parts.append(found)
        return b"".join(parts)

    def write(self, position: int, *parts: Buffer) -> None:
        """Write all parts one after the other; OSError otherwise."""
        wanted = sum(len(part) for part in parts)
        written = os.pwritev(self.descriptor, parts, position)
        if written == wanted:
            return
        rest = memoryview(b"".join(parts))[written:]  # the disk took a part: it gets the rest
        position += written
        while rest:
            written = os.pwrite(self.descriptor, rest, position)
            position, rest = position + written, rest[written:]

    def truncate(self, size: int) -> None:
        """Truncate the file, or extend it with zeros."""
        os.ftruncate(self.descriptor, size)

    def sync(self) -> None:
        """Return when the content is durable."""
        os.fsync(self.descriptor)

    def send(self, socket: int, position: int, length: int) -> int:
        """``sendfile``: the region goes from the page cache to the socket, uncopied."""
        return os.sendfile(socket, self.descriptor, position, length)

    def again(self) -> RealFile:
        """The same file by a new descriptor (``dup``), whose number no other file takes."""
        return RealFile(self.path, os.dup(self.descriptor))

    def moved_to(self, path: str) -> None:
        """Record the new path; the descriptor stays valid."""
        self.path = path

    def close(self) -> None:
        """Close the descriptor; a second time does nothing."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


class RealDisk:
    """The files of this machine."""

    def open(self, path: str, create: bool = False) -> File:
        """An open file; with ``create`` an empty one if there is none."""
        flags = os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0)
        return RealFile(path, os.open(path, flags, 0o644))

    def exists(self, path: str) -> bool:
        """Whether there is a file or a directory."""
        return os.path.lexists(path)

    def is_directory(self, path: str) -> bool:
        """Whether there is a directory."""
        return os.path.isdir(path)

    def names(self, directory: str) -> list[str]:
        """The names in a directory, sorted."""
        return sorted(os.listdir(directory))

    def make_directory(self, path: str) -> None:
        """Make a directory, and those above it, durably."""
        missing = [each for each in (Path(path), *Path(path).parents) if not each.exists()]
        for each in reversed(missing):
            each.mkdir(exist_ok=True)
            self.sync_directory(str(each.parent))
        if not Path(path).is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)

    def rename(self, old: str, new: str) -> None:
        """Rename, replacing a file at ``new``."""
        os.rename(old, new)

    def remove(self, path: str) -> None:
        """Remove a file."""
        os.unlink(path)

    def remove_directory(self, path: str) -> None:
        """Remove an empty directory."""
        os.rmdir(path)

    def sync_directory(self, path: str) -> None:
        """``fsync`` of the directory."""
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def modified_ms(self, path: str) -> int:
        """The modification time of a file, in milliseconds."""
        return os.stat(path).st_mtime_ns // 1_000_000

    def set_modified_ms(self, path: str, when_ms: int) -> None:
        """Set the modification time of a file."""
        os.utime(path, ns=(when_ms * 1_000_000, when_ms * 1_000_000))

    def lock(self, path: str) -> File:
        """``flock``: the lock is released when the process ends, in any way."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            raise Locked(path) from error
        return RealFile(path, descriptor)
