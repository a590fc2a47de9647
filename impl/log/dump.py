"""The files of a log as text, as ``kafka-dump-log.sh`` prints them (DumpLogSegments, 2.8).

Whatever is damaged is reported with the byte where it begins, and what comes before it is printed.
A file is given by its path and its content; the file beside it that it belongs to, by ``read``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from posixpath import basename

from impl.log.crc32c import Buffer
from impl.log.errors import CorruptRecord
from impl.log.indexes import OffsetIndex, TimeIndex
from impl.log.legacy_messages import checksums_of
from impl.log.producer_snapshots import SNAPSHOT
from impl.log.producer_state import decode_snapshot
from impl.log.record import StoredRecord
from impl.log.record_batch import (
    CONTROL,
    TRANSACTIONAL,
    Batch,
    batches_in,
    check,
    header_at,
    records_of,
    size_at,
)
from impl.log.segment import INDEX, LOG, TIME_INDEX

Read = Callable[[str], Buffer]
"""The content of a file by its path; OSError if there is none."""

ABORT, COMMIT = 0, 1


@dataclass(frozen=True)
class DumpOptions:
    """``deep``: each record, not batches alone; ``contents``: keys and values too. ``sanity``: an
    index is checked and not printed; ``verify``: an index is compared and not printed.
    """

    deep: bool = False
    contents: bool = False
    sanity: bool = False
    verify: bool = False


@dataclass
class Dump:
    """The findings about a file, collected while its lines are read.

    ``damage``: where it cannot be read, with the byte. ``findings``: what Kafka's tool remarks, of
    which gaps between offsets (compaction leaves them) and index entries that lead to an earlier
    batch (of a fetch that brought several) are no fault. ``sound``: there is none. ``known``: it is
    a file of a kind that is printed.
    """

    path: str
    read: Read
    options: DumpOptions = field(default_factory=DumpOptions)
    damage: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    known: bool = True
    sound: bool = True

    def lines(self) -> Iterator[str]:
        """The file's lines. OSError if it cannot be read."""
        name = basename(self.path)
        stem, dot, rest = name.partition(".")
        suffix = f".{rest}" if dot else ""
        if suffix not in (LOG, INDEX, TIME_INDEX, SNAPSHOT):
            self.known = False
            return
        data = self.read(self.path)
        yield f"Dumping {self.path}"
        if suffix != SNAPSHOT and not stem.isdigit():
            self._damaged(0, f"{name} is no segment's file: these are named by their base offset")
            return
        match suffix:
            case ".log":
                yield from self._log(int(stem), data)
            case ".index":
                yield from self._index(int(stem), data)
            case ".timeindex":
                yield from self._time_index(int(stem), data)
            case _:
                yield from self._snapshot(data)

    def _damaged(self, position: int, why: str) -> None:
        self._fault(f"{self.path}: byte {position}: {why}")

    def _fault(self, text: str) -> None:
        self.damage.append(text)
        self.sound = False

    # Segments

    def _log(self, base: int, data: Buffer) -> Iterator[str]:
        yield f"Starting offset: {base}"
        at = 0
        before = -1
        while at < len(data):
            try:
                size = size_at(data, at)
                batch = header_at(data, at)
            except CorruptRecord as error:
                self._damaged(error.position, error.why)
                break
            if at + size > len(data):
                self._damaged(at, f"a batch of {size} bytes, of which {len(data) - at} are")
                break
            valid = True
            try:
                check(data, at)
            except CorruptRecord as error:
                valid = False
                self._damaged(error.position, error.why)
            yield _batch_line(batch, data, at, valid)
            if self.options.deep or self.options.contents:
                records = self._records(data, at, batch, valid)
                for record, crc in records:
                    if 0 <= before != record.offset - 1:
                        if not any(one.startswith("Non-consecutive") for one in self.findings):
                            self.findings.append(f"Non-consecutive offsets in {self.path}")
                        self.findings.append(f"  {before} is followed by {record.offset}")
                    before = record.offset
                    first = records[0][0].offset if batch.magic < 2 else batch.base_offset
                    sure = batch._replace(base_offset=first)
                    yield _record_line(record, sure, at, crc, self.options.contents)
            at += size
        if at < len(data):
            yield f"Found {len(data) - at} invalid bytes at the end of {basename(self.path)}"

    def _records(
        self, data: Buffer, at: int, batch: Batch, valid: bool
    ) -> list[tuple[StoredRecord, str]]:
        """Each record, and its checksum as text: since v2 only batches have one."""
        if not valid:
            return []
        try:
            records = records_of(data, at)
            if batch.magic == 2:
                return [(record, "null") for record in records]
            whole = bytes(data[at : at + batch.size])
            return [*zip(records, map(str, checksums_of(whole)), strict=True)]
        except CorruptRecord as error:
            self._damaged(at, error.why)
            return []

    # Indexes

    def _entries(self, base: int, data: Buffer, size: int) -> int:
        """How many entries there are before the zeros that an active segment's index ends with."""
        if len(data) % size:
            where = len(data) - len(data) % size
            self._damaged(where, f"{len(data) % size} bytes, an entry has {size}")
        count = len(data) // size
        if bytes(data[:size]) == b"\0" * size:
            return 0
        relative = slice(0, 4) if size == OffsetIndex.layout.size else slice(8, 12)
        for slot in range(1, count):
            entry = bytes(data[slot * size : (slot + 1) * size])
            if entry[relative] == b"\0\0\0\0":
                return slot
        return count

    def _segment(self) -> Buffer | None:
        """The segment that an index belongs to."""
        path = f"{self.path.rpartition('.')[0]}{LOG}"
        try:
            return self.read(path)
        except OSError as error:
            self._fault(f"{self.path}: its segment {path} cannot be read: {error.strerror}")
            return None

    def _index(self, base: int, data: Buffer) -> Iterator[str]:
        layout = OffsetIndex.layout
        count = self._entries(base, data, layout.size)
        if not count or self.options.sanity:
            yield from self._without_entries(count)
            return
        segment = self._segment()
        least = -1, -1
        for slot in range(count):
            relative, position = layout.unpack_from(data, slot * layout.size)
            if relative <= least[0] or position <= least[1]:
                self._damaged(slot * layout.size, f"offset {base + relative} at position "
                              f"{position}, after {base + least[0]} at {least[1]}")  # fmt: skip
                return
            least = relative, position
            if segment is not None:
                self._compare(base + relative, position, segment, slot * layout.size)
            if not self.options.verify:
                yield f"offset: {base + relative} position: {position}"

    def _without_entries(self, count: int) -> Iterator[str]:
        """What is said of an index that is empty, or asked for its sanity alone."""
        if not count:
            yield f"{self.path} is empty."
        elif not self.damage:
            yield f"{self.path} passed sanity check."

    def _compare(self, offset: int, position: int, segment: Buffer, place: int) -> None:
        """The batch at an entry's position is not beyond the entry's offset."""
        try:
            batch = header_at(segment, position)
            first = batch.base_offset
            if batch.magic < 2 and batch.codec != "none":
                first = records_of(segment, position)[0].offset
        except CorruptRecord as error:
            self._damaged(place, f"position {position} of the segment: {error.why}")
            return
        if first > offset:
            self._damaged(place, f"offset {offset} leads to offset {first}")
        elif offset not in (first, batch.last_offset):
            if not self.findings:
                self.findings.append(f"Mismatches in :{self.path}")
            found = batch.last_offset
            self.findings.append(f"  Index offset: {offset}, log offset: {found}")

    def _time_index(self, base: int, data: Buffer) -> Iterator[str]:
        layout = TimeIndex.layout
        count = self._entries(base, data, layout.size)
        if not count or self.options.sanity:
            yield from self._without_entries(count)
            return
        segment = self._segment()
        latest = self._latest_times(segment) if segment is not None else {}
        previous = -1
        mismatches: list[str] = []
        disordered: list[str] = []
        missing: list[str] = []
        for slot in range(count):
            timestamp, relative = layout.unpack_from(data, slot * layout.size)
            offset = base + relative
            if segment is not None:
                found = latest.get(offset)
                if found is None:
                    following = min((one for one in latest if one > offset), default=-1)
                    missing.append(f"Indexed offset: {offset}, found log offset: {following}")
                elif found != timestamp:
                    mismatches.append(f"  Index timestamp: {timestamp}, log timestamp: {found}")
                if previous >= timestamp:
                    disordered.append(f"  Index timestamp: {timestamp}, Previously indexed "
                                      f"timestamp: {previous}")  # fmt: skip
            if not self.options.verify:
                yield f"timestamp: {timestamp} offset: {offset}"
            previous = timestamp
        for title, rows in (
            (f"Found timestamp mismatch in :{self.path}", mismatches),
            (f"Found out of order timestamp in :{self.path}", disordered),
            ("The following indexed offsets are not found in the log.", missing),
        ):
            if rows:
                self.sound = False
                self.findings += [title, *rows]

    def _latest_times(self, segment: Buffer) -> dict[int, int]:
        """By the last offset of each batch, its latest timestamp."""
        found: dict[int, int] = {}
        try:
            for _, batch in batches_in(segment):
                found[batch.last_offset] = batch.max_timestamp
        except CorruptRecord as error:
            self._fault(f"{self.path}: its segment: byte {error.position}: {error.why}")
        return found

    # Snapshots

    def _snapshot(self, data: Buffer) -> Iterator[str]:
        try:
            entries = decode_snapshot(bytes(data))
        except CorruptRecord as error:
            self._damaged(error.position, error.why)
            return
        for one in entries:
            begun = "None" if one.transaction_start < 0 else f"Some({one.transaction_start})"
            line = (
                f"producerId: {one.producer_id} producerEpoch: {one.epoch} coordinatorEpoch: "
                f"{one.coordinator_epoch} currentTxnFirstOffset: {begun} "
            )
            if one.batches:
                last = one.batches[-1]
                line += (
                    f"firstSequence: {last.first_sequence} lastSequence: {last.last_sequence} "
                    f"lastOffset: {last.last_offset} offsetDelta: {last.offset_delta} "
                    f"timestamp: {last.timestamp}"
                )
            yield line


def _truth(value: object) -> str:
    return "true" if value else "false"


def _batch_line(batch: Batch, data: Buffer, at: int, valid: bool) -> str:
    if batch.magic < 2:
        begin, checksum = f"offset: {batch.last_offset}", bytes(data[at + 12 : at + 16])
    else:
        checksum = bytes(data[at + 17 : at + 21])
        begin = (
            f"baseOffset: {batch.base_offset} lastOffset: {batch.last_offset} "
            f"count: {batch.records} baseSequence: {batch.base_sequence} "
            f"lastSequence: {batch.last_sequence} producerId: {batch.producer_id} "
            f"producerEpoch: {batch.producer_epoch} partitionLeaderEpoch: {batch.leader_epoch} "
            f"isTransactional: {_truth(batch.attributes & TRANSACTIONAL)} "
            f"isControl: {_truth(batch.attributes & CONTROL)}"
        )
    return (
        f"{begin} position: {at} {_kind_of_time(batch)}: {batch.max_timestamp} "
        f"size: {batch.size} magic: {batch.magic} compresscodec: {batch.codec.upper()} "
        f"crc: {int.from_bytes(checksum, 'big')} isvalid: {_truth(valid)}"
    )


def _kind_of_time(batch: Batch) -> str:
    return "NoTimestampType" if batch.magic == 0 else batch.timestamp_type


def _record_line(record: StoredRecord, batch: Batch, at: int, crc: str, contents: bool) -> str:
    sizes = [-1 if part is None else len(part) for part in (record.key, record.value)]
    line = (
        f"| offset: {record.offset} isValid: true crc: {crc} keySize: {sizes[0]} "
        f"valueSize: {sizes[1]} {_kind_of_time(batch)}: {record.timestamp} "
        f"baseOffset: {batch.base_offset} lastOffset: {batch.last_offset} "
        f"baseSequence: {batch.base_sequence} lastSequence: {batch.last_sequence} "
        f"producerEpoch: {batch.producer_epoch} partitionLeaderEpoch: {batch.leader_epoch} "
        f"batchSize: {batch.size} magic: {batch.magic} compressType: {batch.codec.upper()} "
        f"position: {at}"
    )
    if batch.magic < 2:
        line += f" crc: {crc} isvalid: true"
    else:
        sequence = batch.base_sequence
        if sequence >= 0:
            sequence = (sequence + record.offset - batch.base_offset) & 0x7FFFFFFF
        names = ",".join(name for name, _ in record.headers)
        line += f" sequence: {sequence} headerKeys: [{names}]"
    if batch.attributes & CONTROL:
        return line + _marker(record)
    if contents:
        for name, part in (("key", record.key), ("payload", record.value)):
            if part is not None:
                line += f" {name}: {part.decode(errors='replace')}"
    return line


def _marker(record: StoredRecord) -> str:
    """The end of a transaction: version and type (2 bytes each), version, coordinator's epoch."""
    kind = int.from_bytes((record.key or b"")[2:4], "big")
    if kind not in (ABORT, COMMIT):
        return f" controlType: UNKNOWN({kind})"
    epoch = int.from_bytes((record.value or b"")[2:6], "big", signed=True)
    return f" endTxnMarker: {'COMMIT' if kind == COMMIT else 'ABORT'} coordinatorEpoch: {epoch}"
