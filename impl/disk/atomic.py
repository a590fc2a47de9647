"""Replaces a small file as a whole: a reader finds the old content or the new, never a mixture."""

from __future__ import annotations

from posixpath import dirname

from impl.disk.port import Disk


def replace_file(disk: Disk, path: str, content: bytes) -> None:
    """Write ``path.tmp``, sync it, rename it over ``path``, sync the directory.

    Source: CheckpointFile.write, Utils.atomicMoveWithFallback. Releases before 2.8 left the
    directory's entry to the file system's journal; here it is synced.
    """
    written = f"{path}.tmp"
    if disk.exists(written):
        disk.remove(written)
    file = disk.open(written, create=True)
    try:
        file.write(0, content)
        file.sync()
    finally:
        file.close()
    disk.rename(written, path)
    disk.sync_directory(dirname(path))


def ensure_file(disk: Disk, path: str) -> None:
    """Create an empty file if there is none, as ``CheckpointFile`` does before its first entry."""
    if not disk.exists(path):
        disk.open(path, create=True).close()


def read_file(disk: Disk, path: str) -> bytes:
    """The whole content; OSError if there is no such file."""
    file = disk.open(path)
    try:
        return file.read(0, file.size())
    finally:
        file.close()
