"""A segment: a ``.log`` file of batches from a base offset, with its two indexes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from impl.disk import Disk, File
from impl.log.config import LogConfig
from impl.log.errors import CorruptRecord, CorruptSegment
from impl.log.indexes import NoTimeIndex, OffsetIndex, TimeIndex
from impl.log.record import NO_TIMESTAMP
from impl.log.record_batch import HEADER, Batch, header_at, records_of
from impl.log.region import Region

LOG, INDEX, TIME_INDEX, TXN_INDEX = ".log", ".index", ".timeindex", ".txnindex"
DELETED, CLEANED, SWAP = ".deleted", ".cleaned", ".swap"
MAX_RELATIVE = 2**31 - 1

LOOK_AHEAD = 4096
"""Bytes read at once to see headers: small batches share a read."""


class TimedOffset(NamedTuple):
    """The first record with a timestamp or a later one: its offset and timestamp."""

    timestamp: int
    offset: int
    leader_epoch: int


def file_name(base_offset: int, suffix: str) -> str:
    """Twenty digits and a suffix."""
    return f"{base_offset:020d}{suffix}"


class Segment:
    """Files named by the base offset. Positions and ``size`` are bytes in the ``.log`` file.

    ``max_timestamp`` is the greatest so far, -1 if there is none, ``offset_of_max`` where it is:
    the last offset of its batch, which is as good for a search.
    """

    def __init__(
        self, disk: Disk, directory: str, base_offset: int, config: LogConfig, now_ms: int,
        suffix: str = "",
    ) -> None:  # fmt: skip
        self.disk = disk
        self.directory = directory
        self.base_offset = base_offset
        self.config = config
        self.suffix = suffix
        limit = config.segment_index_bytes
        self.index = OffsetIndex(disk, self.path(INDEX), base_offset, limit)
        by_time = TimeIndex if config.time_index else NoTimeIndex
        self.time_index = by_time(disk, self.path(TIME_INDEX), base_offset, limit)
        self._file: File | None = None
        self.size = 0
        self.created_ms = now_ms
        self.first_timestamp: int | None = None
        self.max_timestamp = NO_TIMESTAMP
        self.offset_of_max = base_offset
        self.bytes_since_index = 0

    def path(self, suffix: str) -> str:
        """The path of one of the segment's files."""
        return f"{self.directory}/{file_name(self.base_offset, suffix)}{self.suffix}"

    @property
    def log_file(self) -> File:
        """The ``.log`` file, opened when first used."""
        if self._file is None:
            self._file = self.disk.open(self.path(LOG))
        return self._file

    def create(self) -> None:
        """Create the files, empty."""
        self._file = self.disk.open(self.path(LOG), create=True)
        self._file.truncate(0)
        self.index.create()
        self.time_index.create()

    def load(self) -> None:
        """Open a segment whose files exist and are valid; CorruptIndex, CorruptSegment."""
        self.size = self.log_file.size()
        last = self.index.last
        if last is not None and last.position >= self.size:
            raise self.index.corrupt(len(self.index) - 1, f"{last} in a log of {self.size} bytes")
        self.load_max_timestamp()

    # Appending

    def append(
        self, parts: list[bytes | memoryview], size: int, first_offset: int, last_offset: int,
        max_timestamp: int, offset_of_max: int,
    ) -> int:  # fmt: skip
        """Write batches at the end, in parts; before them an index entry if one is due.

        Returns the position of the first batch. What a failed write left is cut off again.
        """
        position = self.size
        try:
            self.log_file.write(position, *parts)
        except OSError:
            self.log_file.truncate(position)
            raise
        if max_timestamp > self.max_timestamp:
            self.max_timestamp, self.offset_of_max = max_timestamp, offset_of_max
        if self.first_timestamp is None and max_timestamp >= 0 and not position:
            self.first_timestamp = max_timestamp
        if self.bytes_since_index > self.config.index_interval_bytes:
            entry = last_offset if self.config.index_last_offset else first_offset
            self.index.append(entry, position)
            self.time_index.maybe_append(self.max_timestamp, self.offset_of_max)
            self.bytes_since_index = 0
        self.bytes_since_index += size
        self.size += size
        return position

    def should_roll(self, size: int, max_timestamp: int, last_offset: int, now_ms: int) -> bool:
        """Whether the segment is too large or too old, an index is full, or offsets are too far
        from its base."""
        config = self.config
        return (
            self.size > config.segment_bytes - size
            or (self.size > 0 and self._age(max_timestamp, now_ms) > self._longest())
            or self.index.full
            or self.time_index.full
            or not 0 <= last_offset - self.base_offset <= MAX_RELATIVE
        )

    def _longest(self) -> int:
        return self.config.segment_ms - self.config.segment_jitter_ms

    def _age(self, max_timestamp: int, now_ms: int) -> int:
        """By the records' own time if they have one, else by the clock."""
        if not self.config.time_index:
            return now_ms - self.created_ms
        if self.first_timestamp is None and self.size > 0:
            found = next(self.batches(), None)
            if found is not None and found[1].max_timestamp >= 0:
                self.first_timestamp = found[1].max_timestamp
        if self.first_timestamp is None or max_timestamp < 0:
            return now_ms - self.created_ms
        return max_timestamp - self.first_timestamp

    def become_inactive(self) -> None:
        """Write the last time index entry, and trim the files: no further appends."""
        self.time_index.maybe_append(self.max_timestamp, self.offset_of_max)
        self.index.trim()
        self.time_index.trim()

    def become_active(self) -> None:
        """Make room in the indexes for appends."""
        self.index.grow()
        self.time_index.grow()

    # Reading

    def batches(self, position: int = 0) -> Iterator[tuple[int, Batch]]:
        """Headers from the position of a batch on; CorruptSegment at the first invalid one.

        Offsets go up: the checksum does not cover them, so this is all that can be seen of them.
        """
        expected = self.base_offset
        while position < self.size:
            ahead = self.log_file.read(position, min(LOOK_AHEAD, self.size - position))
            at = 0
            while at < len(ahead) and (at == 0 or len(ahead) - at >= HEADER.size):
                try:
                    batch = header_at(ahead, at)
                except CorruptRecord as error:
                    shift = position + error.position
                    raise CorruptSegment(self.path(LOG), f"byte {shift}", error.why) from error
                if position + at + batch.size > self.size:
                    why = f"a batch of {batch.size} bytes, the file ends after {self.size}"
                    raise CorruptSegment(self.path(LOG), f"byte {position + at}", why)
                first = batch.last_offset if batch.magic < 2 else batch.base_offset
                if not expected <= first <= batch.last_offset <= self.base_offset + MAX_RELATIVE:
                    why = f"offsets {first} to {batch.last_offset} after {expected - 1}"
                    raise CorruptSegment(self.path(LOG), f"byte {position + at}", why)
                expected = batch.next_offset
                yield position + at, batch
                at += batch.size
            position += at

    def find(self, offset: int, position: int = 0) -> tuple[int, Batch] | None:
        """Position and header of the batch that contains an offset, or of the first one after it.

        CorruptIndex if the entry that leads there leads too far.
        """
        entry = self.index.lookup(offset)
        for place, batch in self.batches(max(entry.position, position)):
            # A compressed wrapper of before v2 has only the last offset of what is in it.
            has_base = batch.magic == 2 or batch.codec == "none"
            if place == entry.position > 0 and has_base and batch.base_offset > entry.offset:
                slot = self.index.slots_up_to(entry) - 1
                raise self.index.corrupt(slot, f"{tuple(entry)}; there {batch.base_offset} begins")
            if batch.last_offset >= offset:
                return place, batch
        return None

    def next_offset(self) -> int:
        """The offset after the last record; the base offset if there is none."""
        last = self.index.last
        found = self.base_offset
        for _, batch in self.batches(last.position if last else 0):
            found = batch.next_offset
        return found

    def region(self, position: int, length: int) -> Region:
        """A part of the ``.log`` file, to be returned unparsed."""
        return Region(self.log_file, position, length)

    def offset_for_time(self, timestamp: int, from_offset: int) -> TimedOffset | None:
        """The first record at that time or later, from an offset on."""
        entry = self.time_index.lookup(timestamp)
        if entry.timestamp >= 0:
            latest = self.find(entry.offset)
            if latest is None or latest[1].max_timestamp != entry.timestamp:
                slot = self.time_index.slots_up_to(entry) - 1
                raise self.time_index.corrupt(slot, f"{tuple(entry)}; no such time is there")
        begin = max(entry.offset, from_offset)
        for place, batch in self.batches(self.index.lookup(begin).position):
            if batch.max_timestamp < timestamp or batch.last_offset < from_offset:
                continue
            try:
                records = records_of(self.log_file.read(place, batch.size))
            except CorruptRecord as error:
                where = f"byte {place + error.position}"
                raise CorruptSegment(self.path(LOG), where, error.why) from error
            for record in records:
                if record.timestamp >= timestamp and record.offset >= from_offset:
                    return TimedOffset(record.timestamp, record.offset, batch.leader_epoch)
        return None

    def largest_timestamp(self) -> int:
        """The largest timestamp of the records; without one, or without a time index, the file's
        mtime.
        """
        if self.config.time_index and self.max_timestamp >= 0:
            return self.max_timestamp
        return self.modified_ms

    @property
    def modified_ms(self) -> int:
        """The modification time of the ``.log`` file; of a compacted segment that of its
        records."""
        return self.disk.modified_ms(self.path(LOG))

    def load_max_timestamp(self) -> None:
        """Find the largest timestamp, from the last time index entry and the records after it."""
        last = self.time_index.last
        self.max_timestamp, self.offset_of_max = NO_TIMESTAMP, self.base_offset
        if last is not None:
            self.max_timestamp, self.offset_of_max = last.timestamp, last.offset
        for _, batch in self.batches(self.index.lookup(self.offset_of_max).position):
            if batch.max_timestamp > self.max_timestamp:
                self.max_timestamp, self.offset_of_max = batch.max_timestamp, batch.last_offset

    # Cutting

    def truncate_to(self, offset: int, now_ms: int) -> int:
        """Remove the batch that contains an offset and all after it, durably; returns the
        removed bytes."""
        found = self.find(offset)
        if found is None:
            return 0
        self.index.truncate_to(found[0])
        self.time_index.truncate_to(offset)
        cut = self.size - found[0]
        self.cut_bytes(found[0])
        if not self.size:
            self.created_ms, self.first_timestamp = now_ms, None
        self.bytes_since_index = 0
        if self.offset_of_max >= offset:  # else the greatest so far is still there
            self.load_max_timestamp()
        return cut

    def cut_bytes(self, size: int) -> None:
        """Truncate the ``.log`` file durably: removed bytes must not return after a power
        failure."""
        self.log_file.truncate(size)
        self.log_file.sync()
        self.size = size

    # Files

    def sync(self) -> None:
        """Return when records and indexes are durable."""
        self.log_file.sync()
        self.index.sync()
        self.time_index.sync()

    def mark_deleted(self) -> None:
        """Rename the files to ``.deleted``, the ``.log`` file first: the others are useless
        without it."""
        self.rename(DELETED)

    def rename(self, suffix: str) -> None:
        """Append a suffix to the names of the files, the ``.log`` file first."""
        before = {kind: self.path(kind) for kind in (LOG, INDEX, TIME_INDEX, TXN_INDEX)}
        self.suffix = suffix
        for kind, path in before.items():
            if self.disk.exists(path):
                self.disk.rename(path, self.path(kind))
        self.moved_to(self.directory)

    def remove(self) -> None:
        """Remove the files; a missing one is no error."""
        self.close()
        for suffix in (LOG, INDEX, TIME_INDEX, TXN_INDEX):
            if self.disk.exists(self.path(suffix)):
                self.disk.remove(self.path(suffix))

    def moved_to(self, directory: str) -> None:
        """Record that the directory was renamed; open files stay open."""
        self.directory = directory
        if self._file is not None:
            self._file.moved_to(self.path(LOG))
        self.index.moved_to(self.path(INDEX))
        self.time_index.moved_to(self.path(TIME_INDEX))

    def close(self) -> None:
        """Close the files."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self.index.close()
        self.time_index.close()
