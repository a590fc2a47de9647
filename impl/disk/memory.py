"""An in-memory disk that fails on demand, also in the middle of a write, and loses unsynced data.

A power failure leaves what POSIX guarantees and no more. The content of a file is durable when the
file was synced, an entry of a directory when the directory was. Of later writes anything may
remain: nothing, all of them, a prefix that ends within a write, or any of the sectors. Changes of
one directory's entries survive in order, as with a journal.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable
from posixpath import dirname, normpath
from random import Random

from impl.disk.memory_tree import Directory, Node
from impl.disk.port import Buffer, File, Locked


class Killed(BaseException):
    """The process died here. Not an Exception: no code of the process may handle its own death."""


class MemoryFile:
    """An open file of a memory disk; dead once the disk has crashed."""

    def __init__(self, disk: MemoryDisk, path: str, node: Node) -> None:
        self.disk = disk
        self.path = path
        self.node = node
        self.life = disk.life
        self.closed = False

    def _alive(self) -> None:
        if self.life != self.disk.life or self.disk.dead:
            raise Killed(f"{self.path}: its process is dead")
        self.disk.check_failure(self.path)

    def size(self) -> int:
        """Bytes in the file."""
        return self.node.size

    def read(self, position: int, length: int) -> bytes:
        """Up to ``length`` bytes from ``position``; fewer only where the file ends."""
        self._alive()
        return self.node.read(position, length)

    def write(self, position: int, *parts: Buffer) -> None:
        """Write the parts; if the process is killed here, only a prefix of them."""
        self._alive()
        content = bytes(parts[0]) if len(parts) == 1 else b"".join(parts)
        if self.disk.dies_now():
            content = content[: self.disk.chance.randint(0, len(content))]
            self.node.write(position, content, self.disk.now_ms())
            raise Killed(f"{self.path}: killed while writing")
        self.node.write(position, content, self.disk.now_ms())

    def truncate(self, size: int) -> None:
        """Truncate the file, or extend it with zeros."""
        self._alive()
        self.disk.may_die(self.path)
        self.node.truncate(size, self.disk.now_ms())

    def sync(self) -> None:
        """Make the content durable, unless this disk lies."""
        self._alive()
        self.disk.may_die(self.path)
        if not self.disk.lies(self.path):
            self.node.sync()

    def send(self, socket: int, position: int, length: int) -> int:
        """Write the region to a descriptor, as a real file's ``sendfile`` would."""
        self._alive()
        return os.write(socket, self.node.read(position, length))

    def again(self) -> MemoryFile:
        """The same file, with its own ``close``."""
        self._alive()
        return MemoryFile(self.disk, self.path, self.node)

    def moved_to(self, path: str) -> None:
        """Record the new path of the same file."""
        self.path = path

    def close(self) -> None:
        """Close the file, and release the lock if it is one."""
        self.closed = True


class MemoryDisk:
    """A disk in memory; ``crash`` ends every process that used it.

    ``power_loss`` False does not track synced data: it needs half the memory, and only processes
    can die. ``kill_after``: the process is killed during the change after that many changes (0: the
    next one). ``lies``: whether a sync of a path does nothing. ``failing``: directories in which
    every operation is an input/output error.
    """

    def __init__(
        self,
        now_ms: Callable[[], int] = lambda: 0,
        chance: Random | None = None,
        power_loss: bool = True,
    ) -> None:
        self.now_ms = now_ms
        self.chance = chance or Random(0)
        self.root = Directory(power_loss)
        self.power_loss = power_loss
        self.kill_after: int | None = None
        self.lies: Callable[[str], bool] = lambda path: False
        self.failing: set[str] = set()
        self.changes = 0
        self.life = 0
        self.dead = False
        self._locks: dict[str, MemoryFile] = {}

    # Death

    def dies_now(self) -> bool:
        """Count a change; True if the process dies during it."""
        if self.dead:
            raise Killed("the process is dead")
        self.changes += 1
        if self.kill_after is None:
            return False
        self.kill_after -= 1
        self.dead = self.kill_after < 0
        return self.dead

    def may_die(self, path: str) -> None:
        """Count an atomic change; if the process dies, half of the time it did not happen."""
        if self.dies_now():
            raise Killed(f"{path}: killed before it changed")

    def crash(self, power: bool) -> None:
        """End every process. If ``power`` is lost, so is unsynced data, or parts of it."""
        self.life += 1
        self.dead = False
        self.kill_after = None
        self._locks.clear()
        if power:
            if not self.power_loss:
                raise ValueError("a MemoryDisk made with power_loss=False cannot lose power")
            self.root.lose_power(self.chance)

    def check_failure(self, path: str) -> None:
        """Raise OSError if the path is in a failing directory."""
        for directory in self.failing:
            if path == directory or path.startswith(f"{directory}/"):
                raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    # The port

    def open(self, path: str, create: bool = False) -> File:
        """An open file; with ``create`` an empty one if there is none."""
        return self._open(path, create)

    def _open(self, path: str, create: bool) -> MemoryFile:
        parent, name = self._parent(path)
        found = parent.entries.get(name)
        if found is None and create:
            self.may_die(path)
            found = Node(self.power_loss, self.now_ms())
            parent.change_entries({name: found})
        if not isinstance(found, Node):
            raise _error(errno.ENOENT if found is None else errno.EISDIR, path)
        return MemoryFile(self, path, found)

    def exists(self, path: str) -> bool:
        """Whether there is a file or a directory."""
        return self._find(path) is not None

    def is_directory(self, path: str) -> bool:
        """Whether there is a directory."""
        return isinstance(self._find(path), Directory)

    def names(self, directory: str) -> list[str]:
        """The names in a directory, sorted."""
        return sorted(self._directory(directory).entries)

    def make_directory(self, path: str) -> None:
        """Make a directory, and those above it, durably unless this disk lies."""
        self.check_failure(path)
        here = self.root
        for name in _parts(path):
            found = here.entries.get(name)
            if found is None:
                self.may_die(path)
                found = Directory(self.power_loss)
                here.change_entries({name: found})
                self.may_die(path)
                if not self.lies(path):
                    here.sync()
            if not isinstance(found, Directory):
                raise _error(errno.ENOTDIR, path)
            here = found

    def rename(self, old: str, new: str) -> None:
        """Rename within one directory, atomically."""
        parent, name = self._parent(old)
        other, new_name = self._parent(new)
        if other is not parent:
            raise _error(errno.EXDEV, new)
        if name not in parent.entries:
            raise _error(errno.ENOENT, old)
        if isinstance(parent.entries.get(new_name), Directory):
            raise _error(errno.EEXIST, new)
        self.may_die(old)
        parent.change_entries({name: None, new_name: parent.entries[name]})

    def remove(self, path: str) -> None:
        """Remove a file."""
        parent, name = self._parent(path)
        if not isinstance(parent.entries.get(name), Node):
            raise _error(errno.ENOENT, path)
        self.may_die(path)
        parent.change_entries({name: None})

    def remove_directory(self, path: str) -> None:
        """Remove an empty directory."""
        parent, name = self._parent(path)
        if self._directory(path).entries:
            raise _error(errno.ENOTEMPTY, path)
        self.may_die(path)
        parent.change_entries({name: None})

    def sync_directory(self, path: str) -> None:
        """Make the entries of a directory durable, unless this disk lies."""
        found = self._directory(path)
        self.may_die(path)
        if not self.lies(path):
            found.sync()

    def modified_ms(self, path: str) -> int:
        """The modification time of a file, in milliseconds."""
        found = self._find(path)
        if not isinstance(found, Node):
            raise _error(errno.ENOENT, path)
        return found.modified_ms

    def set_modified_ms(self, path: str, when_ms: int) -> None:
        """Set the modification time of a file."""
        found = self._find(path)
        if not isinstance(found, Node):
            raise _error(errno.ENOENT, path)
        self.may_die(path)
        found.modified_ms = when_ms

    def lock(self, path: str) -> File:
        """Hold a lock file until it is closed, or the disk crashes."""
        held = self._locks.get(normpath(path))
        if held is not None and not held.closed:
            raise Locked(path)
        file = self._open(path, create=True)
        self._locks[normpath(path)] = file
        return file

    # Finding

    def _find(self, path: str) -> Node | Directory | None:
        self.check_failure(path)
        found: Node | Directory | None = self.root
        for name in _parts(path):
            if not isinstance(found, Directory):
                return None
            found = found.entries.get(name)
        return found

    def _directory(self, path: str) -> Directory:
        found = self._find(path)
        if not isinstance(found, Directory):
            raise _error(errno.ENOENT if found is None else errno.ENOTDIR, path)
        return found

    def _parent(self, path: str) -> tuple[Directory, str]:
        if self.dead:
            raise Killed(f"{path}: the process is dead")
        return self._directory(dirname(normpath(path))), normpath(path).rpartition("/")[2]


def _parts(path: str) -> Iterable[str]:
    return (part for part in normpath(path).split("/") if part not in ("", "."))


def _error(number: int, path: str) -> OSError:
    return OSError(number, os.strerror(number), path)
