"""A sparse index: entries of one size, appended in order, found by binary search.

While its segment is active, the file is preallocated to its maximum size; it is trimmed to its
entries when the segment is rolled or closed (``AbstractIndex``). What was written is also
kept in memory, so that a search asks the disk once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from struct import Struct
from typing import Generic, TypeVar

from impl.disk import Disk, File
from impl.log.errors import CorruptIndex

Entry = TypeVar("Entry", bound=tuple[int, int])


class IndexFile(ABC, Generic[Entry]):
    """Entries of two numbers, whose meaning the subclass defines. Offsets are absolute here.

    ``max_bytes`` is rounded down to whole entries.
    """

    layout: Struct

    def __init__(self, disk: Disk, path: str, base_offset: int, max_bytes: int) -> None:
        self.disk = disk
        self.path = path
        self.base_offset = base_offset
        self.max_entries = max(1, max_bytes // self.layout.size)
        self._file: File | None = None
        self._data: bytearray | None = None
        self._allocated = False

    # The file

    @property
    def file(self) -> File:
        """The open file; opened, and created if missing, at first use."""
        if self._file is None:
            self._file = self.disk.open(self.path, create=True)
        return self._file

    def create(self) -> None:
        """Create an empty index, with room for its maximum number of entries."""
        self.file.truncate(0)
        self.file.truncate(self.max_entries * self.layout.size)
        self._data = bytearray()
        self._allocated = True

    def grow(self) -> None:
        """Make room for further entries: the segment is active again after a restart."""
        if not self._allocated:
            self._loaded()
            self.file.truncate(self.max_entries * self.layout.size)
            self._allocated = True

    def trim(self) -> None:
        """Truncate the file to its entries: no further ones are expected."""
        if self._allocated:
            self.file.truncate(len(self._loaded()))
            self._allocated = False

    def sync(self) -> None:
        """Return when the entries are durable."""
        self.file.sync()

    def moved_to(self, path: str) -> None:
        """The file was renamed."""
        self.path = path
        if self._file is not None:
            self._file.moved_to(path)

    def close(self) -> None:
        """Close the file; it is opened again at the next use."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _loaded(self) -> bytearray:
        if self._data is None:
            size = self.file.size()
            if size % self.layout.size:
                raise CorruptIndex(
                    self.path, f"byte {size - size % self.layout.size}",
                    f"{size % self.layout.size} bytes, an entry has {self.layout.size}",
                )  # fmt: skip
            self._data = bytearray(self.file.read(0, size))
            self._check()
        return self._data

    def _check(self) -> None:
        """CorruptIndex at the first entry that does not increase."""
        least, last = -1, -1
        for slot, (first, second) in enumerate(self.layout.iter_unpack(self._loaded())):
            if first <= least or second <= last:  # perhaps wrong: asked in full, which is slow
                why = self.contradiction(self.entry(slot - 1) if slot else None, self.entry(slot))
                if why:
                    raise self.corrupt(slot, why)
            least, last = first, second

    def corrupt(self, slot: int, why: str) -> CorruptIndex:
        """The error for an invalid entry in that slot."""
        return CorruptIndex(self.path, f"byte {slot * self.layout.size}", why)

    @abstractmethod
    def contradiction(self, before: Entry | None, entry: Entry) -> str:
        """The reason why an entry cannot follow another; empty if it can."""

    # The entries

    def __len__(self) -> int:
        return len(self._loaded()) // self.layout.size

    @abstractmethod
    def entry(self, slot: int) -> Entry:
        """The entry in that slot, counted from 0."""

    def entries(self) -> list[Entry]:
        """All entries."""
        return [self.entry(slot) for slot in range(len(self))]

    @property
    def last(self) -> Entry | None:
        """The newest entry."""
        return self.entry(len(self) - 1) if len(self) else None

    @property
    def full(self) -> bool:
        """Whether there is no room for another entry."""
        return len(self) >= self.max_entries

    def keep(self, count: int) -> None:
        """Keep the first ``count`` entries; the rest of the file becomes zeros."""
        size = count * self.layout.size
        data = self._loaded()
        if size < len(data):
            del data[size:]
            self.file.truncate(size)
            if self._allocated:
                self.file.truncate(self.max_entries * self.layout.size)

    def _append(self, first: int, second: int) -> None:
        data = self._loaded()
        packed = self.layout.pack(first, second)
        self.file.write(len(data), packed)
        data += packed

    def slots_up_to(self, entry: Entry) -> int:
        """The number of entries up to that one, by their first number."""
        return self._slots_up_to(lambda each: each[0] <= entry[0])

    def _slots_up_to(self, is_up_to: Callable[[Entry], bool]) -> int:
        """How many entries, from the first on, satisfy what none after them does."""
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if is_up_to(self.entry(middle)):
                low = middle + 1
            else:
                high = middle
        return low
