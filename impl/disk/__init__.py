"""The disk port: real files, and in-memory disks that fail on demand."""

from impl.disk.atomic import replace_file
from impl.disk.files import RealDisk
from impl.disk.full import FillableDisk
from impl.disk.memory import Killed, MemoryDisk
from impl.disk.port import Disk, File, Locked

__all__ = [
    "Disk", "File", "FillableDisk", "Killed", "Locked", "MemoryDisk", "RealDisk", "replace_file",
]  # fmt: skip
