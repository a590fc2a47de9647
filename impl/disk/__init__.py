"""The disk port: what a broker asks of a disk; real files, and a memory that fails on demand."""

from impl.disk.atomic import replace_file
from impl.disk.files import RealDisk
from impl.disk.memory import Killed, MemoryDisk
from impl.disk.port import Disk, File, Locked

__all__ = ["Disk", "File", "Killed", "Locked", "MemoryDisk", "RealDisk", "replace_file"]
