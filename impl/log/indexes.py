"""The two indexes of a segment: offset to file position, and timestamp to offset."""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from impl.log.index_file import IndexFile


class OffsetPosition(NamedTuple):
    """An offset, and the position of its batch in the segment's file."""

    offset: int
    position: int


class TimestampOffset(NamedTuple):
    """The greatest timestamp up to an offset, and that offset."""

    timestamp: int
    offset: int


class OffsetIndex(IndexFile[OffsetPosition]):
    """``.index``: 8 bytes an entry, the offset relative to the segment's base, the position."""

    layout = Struct(">ii")

    def entry(self, slot: int) -> OffsetPosition:
        """The entry in that slot."""
        relative, position = self.layout.unpack_from(self._loaded(), slot * 8)
        return OffsetPosition(self.base_offset + relative, position)

    def contradiction(self, before: OffsetPosition | None, entry: OffsetPosition) -> str:
        """Offsets and positions increase strictly, and no offset lies below the base."""
        if entry.offset < self.base_offset or entry.position < 0:
            return f"{_described(entry)} below the base offset {self.base_offset}, or position 0"
        if before and (entry.offset <= before.offset or entry.position <= before.position):
            return f"{_described(entry)} after {_described(before)}"
        return ""

    def append(self, offset: int, position: int) -> None:
        """Append an entry; CorruptIndex if it does not follow the last one
        (InvalidOffsetException)."""
        entry, last = OffsetPosition(offset, position), self.last
        if why := self.contradiction(last, entry):
            raise self.corrupt(len(self), why)
        self._append(offset - self.base_offset, position)

    def lookup(self, offset: int) -> OffsetPosition:
        """The greatest entry up to an offset; the segment's start if there is none."""
        found = self._slots_up_to(lambda entry: entry.offset <= offset)
        return self.entry(found - 1) if found else OffsetPosition(self.base_offset, 0)

    def truncate_to(self, position: int) -> None:
        """Drop the entries of batches from a position on: one may name an offset inside its batch
        that is below the one to cut at.
        """
        self.keep(self._slots_up_to(lambda entry: entry.position < position))


class TimeIndex(IndexFile[TimestampOffset]):
    """``.timeindex``: 12 bytes an entry, the timestamp in milliseconds, the relative offset."""

    layout = Struct(">qi")

    def entry(self, slot: int) -> TimestampOffset:
        """The entry in that slot."""
        timestamp, relative = self.layout.unpack_from(self._loaded(), slot * 12)
        return TimestampOffset(timestamp, self.base_offset + relative)

    def contradiction(self, before: TimestampOffset | None, entry: TimestampOffset) -> str:
        """Timestamps increase strictly; offsets do not go back, nor below the base."""
        if entry.offset < self.base_offset or entry.timestamp < 0:
            return f"{_described(entry)} below the base offset {self.base_offset}, or time 0"
        if before and (entry.timestamp <= before.timestamp or entry.offset < before.offset):
            return f"{_described(entry)} after {_described(before)}"
        return ""

    @property
    def full(self) -> bool:
        """Whether only the entry fits that is made when the segment is rolled."""
        return len(self) >= self.max_entries - 1

    def maybe_append(self, timestamp: int, offset: int) -> None:
        """Append an entry if the timestamp is later than the last one's."""
        last = self.last
        if timestamp < 0 or (last is not None and timestamp <= last.timestamp):
            return
        entry = TimestampOffset(timestamp, offset)
        if why := self.contradiction(last, entry):
            raise self.corrupt(len(self), why)
        self._append(timestamp, offset - self.base_offset)

    def lookup(self, timestamp: int) -> TimestampOffset:
        """The greatest entry up to a timestamp; (-1, base offset) if there is none."""
        found = self._slots_up_to(lambda entry: entry.timestamp <= timestamp)
        return self.entry(found - 1) if found else TimestampOffset(-1, self.base_offset)

    def truncate_to(self, offset: int) -> None:
        """Drop the entries of this offset and above."""
        self.keep(self._slots_up_to(lambda entry: entry.offset < offset))


class NoTimeIndex(TimeIndex):
    """The time index before 0.10.1, which has none (KIP-33): no file, no entries."""

    full = False

    def _loaded(self) -> bytearray:
        return bytearray()

    def create(self) -> None:
        """No file."""

    def grow(self) -> None:
        """No file."""

    def sync(self) -> None:
        """No file."""

    def maybe_append(self, timestamp: int, offset: int) -> None:
        """No entry."""


def _described(entry: tuple[int, int]) -> str:
    return f"{entry[0]} -> {entry[1]}"
