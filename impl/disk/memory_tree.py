"""Files and directories of an in-memory disk: as they are now, and as a power failure leaves them.

Each keeps its current content, its durable content, and the changes since, in order.
"""

from __future__ import annotations

from itertools import pairwise
from random import Random

SECTOR = 512
"""Bytes that a disk writes as a whole."""


class _Content:
    """Bytes, with zeros up to ``size`` where nothing was written."""

    __slots__ = ("data", "size")

    def __init__(self, data: bytearray | None = None, size: int = 0) -> None:
        self.data = bytearray() if data is None else data
        self.size = size

    def write(self, position: int, content: bytes) -> None:
        data, end = self.data, position + len(content)
        if position > len(data):
            data.extend(bytes(position - len(data)))
        data[position:end] = content
        self.size = max(self.size, end)

    def truncate(self, size: int) -> None:
        del self.data[size:]
        self.size = size

    def copy(self) -> _Content:
        return _Content(bytearray(self.data), self.size)


SavedNode = tuple[bytes, int, int, tuple[bytes, int, tuple[tuple[int, bytes | None], ...]] | None]


class Node:
    """A file: its current content, its durable content, and the changes since."""

    def __init__(self, power_loss: bool, now_ms: int) -> None:
        self.now = _Content()
        self.durable = _Content()  # where ``since`` is kept
        self.since: list[tuple[int, bytes | None]] | None = [] if power_loss else None
        self.modified_ms = now_ms

    @property
    def size(self) -> int:
        """Bytes in the file."""
        return self.now.size

    def read(self, position: int, length: int) -> bytes:
        """Up to ``length`` bytes; zeros where nothing was written below the size."""
        end = min(position + max(length, 0), self.now.size)
        found = bytes(self.now.data[position:end])
        return found + bytes(max(0, end - position) - len(found))

    def write(self, position: int, content: bytes, now_ms: int) -> None:
        """Write, not durably."""
        self.now.write(position, content)
        self.modified_ms = now_ms
        if self.since is not None:
            self.since.append((position, content))

    def truncate(self, size: int, now_ms: int) -> None:
        """Truncate or extend, not durably."""
        self.now.truncate(size)
        self.modified_ms = now_ms
        if self.since is not None:
            self.since.append((size, None))

    def sync(self) -> None:
        """Make the content durable."""
        if self.since is not None:
            for position, content in self.since:
                _apply(self.durable, position, content)
            self.since.clear()

    def lose_power(self, chance: Random) -> None:
        """Keep the durable content, and a random part of the changes since."""
        assert self.since is not None
        kind = chance.choice(("nothing", "everything", "beginning", "sectors"))
        if kind == "everything":
            kept = self.since
        elif kind == "beginning":
            kept = self.since[: chance.randint(0, len(self.since))]
            if kept and (torn := kept[-1][1]) is not None:
                kept = [*kept[:-1], (kept[-1][0], torn[: chance.randint(0, len(torn))])]
        elif kind == "sectors":
            kept = [each for change in self.since for each in _sectors(change, chance)]
        else:
            kept = []
        for position, content in kept:
            _apply(self.durable, position, content)
        self.now = self.durable.copy()
        self.since = []

    def save(self) -> SavedNode:
        """Everything, as a value."""
        now, durable, since = self.now, self.durable, self.since
        apart = None if since is None else (bytes(durable.data), durable.size, tuple(since))
        return bytes(now.data), now.size, self.modified_ms, apart

    def load(self, saved: SavedNode) -> None:
        """Restore what `save` returned."""
        now, (data, now.size, self.modified_ms, apart) = self.now, saved
        now.data[:] = data
        if apart is not None:
            data, self.durable.size, since = apart
            self.durable.data[:] = data
            self.since = list(since)


def _apply(content: _Content, position: int, written: bytes | None) -> None:
    if written is None:
        content.truncate(position)
    else:
        content.write(position, written)


def _sectors(change: tuple[int, bytes | None], chance: Random) -> list[tuple[int, bytes | None]]:
    """The parts of a change that reach the disk: each sector does, or does not."""
    position, written = change
    if written is None:
        return [change] if chance.random() < 0.5 else []
    cuts = [0, *range(SECTOR - position % SECTOR, len(written), SECTOR), len(written)]
    return [
        (position + begin, written[begin:end])
        for begin, end in pairwise(cuts)
        if chance.random() < 0.5
    ]


class Directory:
    """Entries by name; changes since the last sync may be lost, the last ones first."""

    def __init__(self, power_loss: bool) -> None:
        self.entries: dict[str, Node | Directory] = {}
        self.durable: dict[str, Node | Directory] = {}
        self.since: list[dict[str, Node | Directory | None]] | None = [] if power_loss else None

    def change_entries(self, names: dict[str, Node | Directory | None]) -> None:
        """Add, or (None) remove entries, all at once."""
        _update_entries(self.entries, names)
        if self.since is not None:
            self.since.append(names)

    def sync(self) -> None:
        """Make the entries durable."""
        if self.since is not None:
            self.durable = dict(self.entries)
            self.since.clear()

    def lose_power(self, chance: Random) -> None:
        """Keep the durable entries, a prefix of the changes since, and let each file lose power."""
        assert self.since is not None
        for names in self.since[: chance.randint(0, len(self.since))]:
            _update_entries(self.durable, names)
        self.since.clear()
        self.entries = dict(self.durable)
        for name in sorted(self.entries):
            self.entries[name].lose_power(chance)


def _update_entries(
    entries: dict[str, Node | Directory], names: dict[str, Node | Directory | None]
) -> None:
    for name, found in names.items():
        if found is None:
            entries.pop(name, None)
        else:
            entries[name] = found
