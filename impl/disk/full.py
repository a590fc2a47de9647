"""Real files on a disk that can be made full on demand."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from impl.disk.files import RealDisk, RealFile
from impl.disk.port import Buffer, File


class FillableDisk(RealDisk):
    """While the file ``marker`` exists, the directory that it names has no space left.

    Existing files can be read, renamed, truncated and removed. A write that would extend a file
    writes a part of its data and raises ENOSPC, as on a disk that becomes full during the write.
    """

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def refuse(self, path: str) -> None:
        """Raise OSError (ENOSPC) if the path is on the full disk."""
        try:
            full = self.marker.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return
        if full and Path(path).is_relative_to(full):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    def open(self, path: str, create: bool = False) -> File:
        """An open file; ENOSPC if it would have to be created."""
        if create and not self.exists(path):
            self.refuse(path)
        found = super().open(path, create)
        assert isinstance(found, RealFile), "it is on this machine"
        return FillableFile(self, path, found.descriptor)

    def make_directory(self, path: str) -> None:
        """Make a directory, and those above it; ENOSPC if one would have to be created."""
        if not self.exists(path):
            self.refuse(path)
        super().make_directory(path)


class FillableFile(RealFile):
    """One open file of a FillableDisk."""

    def __init__(self, disk: FillableDisk, path: str, descriptor: int) -> None:
        super().__init__(path, descriptor)
        self.disk = disk

    def write(self, position: int, *parts: Buffer) -> None:
        """Write the parts; if the file would grow, write a part of them and raise ENOSPC."""
        wanted = sum(len(part) for part in parts)
        if position + wanted > self.size():
            try:
                self.disk.refuse(self.path)
            except OSError:
                os.pwrite(self.descriptor, b"".join(parts)[: wanted // 2], position)
                raise
        super().write(position, *parts)
