"""Record batches: the unit that producers send, logs store and fetches return.

Format v2 (0.11+, magic 2) is written and read. A message of format v0 or v1 is read as a batch: of
one record, or of those in a compressed wrapper (``legacy_messages``). Base offset and leader epoch
lie outside the checksum, so a leader sets them without computing it anew.
Source: DefaultRecordBatch; the fact sheet, section l.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from impl.log import legacy_messages
from impl.log.compression import CODECS, compress, decompress
from impl.log.crc32c import Buffer, crc32c
from impl.log.errors import CorruptRecord
from impl.log.record import NO_TIMESTAMP, StoredRecord, decode_records, encode_records

HEADER = struct.Struct(">qiibIhiqqqhii")
"""Base offset, length after this field, leader epoch, magic, CRC, attributes, last offset delta,
first and maximal timestamp, producer id, producer epoch, base sequence, number of records."""

OVERHEAD = 12
"""Bytes of base offset and length, which the length does not count."""

PREFIX = 17
"""Bytes up to the magic, which lies in the same place in all formats."""

CHECKSUMMED = 21
"""The checksum is over everything from this byte on."""

LOG_APPEND_TIME = 0x08
TRANSACTIONAL = 0x10
CONTROL = 0x20
NO_EPOCH = -1


class Batch(NamedTuple):
    """The header of a batch, in any format. ``size`` is in bytes, the header included.

    Of a compressed v0 or v1 message ``base_offset`` is the last one: the first is inside.
    """

    base_offset: int
    last_offset: int
    size: int
    leader_epoch: int
    magic: int
    attributes: int
    max_timestamp: int
    records: int
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1

    @property
    def last_sequence(self) -> int:
        """The sequence of the last record, -1 without one; 0 follows the largest there is."""
        if self.base_sequence < 0:
            return self.base_sequence
        return (self.base_sequence + self.last_offset - self.base_offset) & 0x7FFFFFFF

    @property
    def next_offset(self) -> int:
        """The offset after the last record."""
        return self.last_offset + 1

    @property
    def codec(self) -> str:
        """The compression codec, or ``none``."""
        return CODECS[self.attributes & 7]

    @property
    def timestamp_type(self) -> str:
        """``LogAppendTime`` if the broker's clock overrode the producer's, else ``CreateTime``."""
        return "LogAppendTime" if self.attributes & LOG_APPEND_TIME else "CreateTime"


def size_at(data: Buffer, at: int = 0) -> int:
    """The size in bytes of the batch at that place, from its length field. CorruptRecord if
    invalid."""
    if len(data) - at < PREFIX:
        raise CorruptRecord(at, f"{len(data) - at} bytes, a batch has {PREFIX} before its records")
    length = int.from_bytes(data[at + 8 : at + 12], "big", signed=True)
    magic = data[at + 16]
    if magic > 2:
        raise CorruptRecord(at + 16, f"message format {magic}; 0, 1 and 2 are known")
    least = HEADER.size - OVERHEAD if magic == 2 else legacy_messages.LEAST[magic]
    if length < least:
        raise CorruptRecord(at + 8, f"length {length}; a batch of format {magic} has {least}")
    return length + OVERHEAD


def header_at(data: Buffer, at: int = 0) -> Batch:
    """The header of the batch at that place; the rest of the batch may be missing."""
    size = size_at(data, at)
    if data[at + 16] < 2:
        return Batch(*legacy_messages.header_at(data, at))
    if len(data) - at < HEADER.size:
        raise CorruptRecord(at, f"{len(data) - at} bytes, a header has {HEADER.size}")
    (
        base, _, epoch, magic, _, attributes, last_delta, _, max_timestamp, *producer, count
    ) = HEADER.unpack_from(data, at)  # fmt: skip
    if attributes & 7 >= len(CODECS):
        raise CorruptRecord(at + 21, f"codec {attributes & 7}; 0 to {len(CODECS) - 1} are known")
    if last_delta < 0 or count < 0:
        raise CorruptRecord(at + 23, f"{count} records, the last at base offset + {last_delta}")
    return Batch(
        base, base + last_delta, size, epoch, magic, attributes, max_timestamp, count, *producer
    )


def check(data: Buffer, at: int = 0) -> Batch:
    """The header of a complete batch with a correct checksum; else CorruptRecord."""
    batch = header_at(data, at)
    if len(data) - at < batch.size:
        raise CorruptRecord(at, f"a batch of {batch.size} bytes, of which {len(data) - at} are")
    whole = memoryview(data)[at : at + batch.size]
    if batch.magic < 2:
        legacy_messages.check(whole, at)
        return batch
    stored = int.from_bytes(whole[17:21], "big")
    computed = crc32c(whole[CHECKSUMMED:])
    if stored != computed:
        raise CorruptRecord(at + 17, f"checksum {stored:#010x}, of the bytes {computed:#010x}")
    return batch


def batches_in(data: Buffer) -> Iterator[tuple[int, Batch]]:
    """Every complete batch with its position; CorruptRecord for an invalid header.

    What is cut off at the end is left out, as in the answer to a fetch.
    """
    at = 0
    while len(data) - at >= PREFIX:
        if size_at(data, at) > len(data) - at:
            return
        batch = header_at(data, at)
        yield at, batch
        at += batch.size


def whole_batches(data: bytes) -> bytes:
    """The complete batches at the beginning of fetched or read bytes; empty without one."""
    end = 0
    for at, batch in batches_in(data):
        end = at + batch.size
    return data[:end]


def encode_batch(
    records: Sequence[StoredRecord],
    leader_epoch: int = NO_EPOCH,
    codec: str = "none",
    log_append_time: bool = False,
    producer: tuple[int, int, int] = (-1, -1, -1),
) -> bytes:
    """A v2 batch of at least one record, the first of which has its base offset.

    ``producer``: id, epoch and base sequence, -1 if the producer is not idempotent.
    """
    if not records:
        raise ValueError("a batch has at least one record")
    base, first = records[0].offset, records[0].timestamp
    attributes = CODECS.index(codec) | (LOG_APPEND_TIME if log_append_time else 0)
    body = compress(codec, encode_records(records, base, first))
    latest = max(record.timestamp for record in records)
    rest = struct.pack(
        ">hiqqqhii",
        attributes, records[-1].offset - base, first, latest, *producer, len(records),
    ) + body  # fmt: skip
    length = len(rest) + CHECKSUMMED - OVERHEAD
    return struct.pack(">qiibI", base, length, leader_epoch, 2, crc32c(rest)) + rest


def records_of(data: Buffer, at: int = 0) -> list[StoredRecord]:
    """The records of a batch, in any format; CorruptRecord if some are missing."""
    batch = check(data, at)
    whole = bytes(memoryview(data)[at : at + batch.size])
    if batch.magic < 2:
        return legacy_messages.records_of(whole)
    first = HEADER.unpack_from(whole)[7]
    body = decompress(batch.codec, whole[HEADER.size :])
    found = decode_records(body, batch.records, batch.base_offset, first)
    if not batch.attributes & LOG_APPEND_TIME:
        return found
    return [
        StoredRecord(each.offset, batch.max_timestamp, each.key, each.value, each.headers)
        for each in found
    ]


def retained(data: Buffer, at: int, batch: Batch, records: Sequence[StoredRecord]) -> bytes:
    """The batch that compaction leaves, with some of its records; without any, only its header.

    A v2 batch keeps its offsets, its epoch, and what it says of its producer. Source:
    MemoryRecords.filterTo, DefaultRecordBatch.writeEmptyHeader.
    """
    if batch.magic < 2:
        append_time = bool(batch.attributes & LOG_APPEND_TIME)
        if batch.codec == "none":
            return bytes(memoryview(data)[at : at + batch.size])
        return legacy_messages.encode_wrapper(records, batch.magic, batch.codec, append_time)
    header = list(HEADER.unpack_from(data, at))
    if records:
        if not batch.attributes & LOG_APPEND_TIME:
            header[7] = records[0].timestamp
            header[8] = max(record.timestamp for record in records)
        body = compress(batch.codec, encode_records(records, batch.base_offset, header[7]))
    else:
        body = b""
        header[5] &= ~7
        header[7] = header[8]
    header[1], header[12] = HEADER.size - OVERHEAD + len(body), len(records)
    packed = HEADER.pack(*header)
    header[4] = crc32c(body, crc32c(packed[CHECKSUMMED:]))
    return HEADER.pack(*header) + body


def assigned(
    data: Buffer, at: int, batch: Batch, base_offset: int, leader_epoch: int, now_ms: int | None
) -> tuple[bytes, memoryview]:
    """A v2 batch as the leader stores it, in two parts, the long one not copied.

    Its first record gets ``base_offset``. ``now_ms``, if given, becomes the time of all records
    (LogAppendTime), which changes the checksum. Source: LogValidator.assignOffsetsNonCompressed.
    """
    whole = memoryview(data)[at : at + batch.size]
    if now_ms is None and not batch.attributes & LOG_APPEND_TIME:
        prefix = struct.pack(">qiib", base_offset, batch.size - OVERHEAD, leader_epoch, 2)
        return prefix, whole[PREFIX:]
    header = list(HEADER.unpack_from(whole))
    header[0], header[2] = base_offset, leader_epoch
    if now_ms is None:  # a producer has no say in what kind of timestamp a topic has
        header[5] &= ~LOG_APPEND_TIME
    else:
        header[5] |= LOG_APPEND_TIME
        header[8] = now_ms if batch.records else NO_TIMESTAMP
    packed = HEADER.pack(*header)
    header[4] = crc32c(whole[HEADER.size :], crc32c(packed[CHECKSUMMED:]))
    return HEADER.pack(*header), whole[HEADER.size :]
