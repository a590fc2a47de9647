"""Messages of format v0 (before 0.10) and v1 (0.10): each a batch of one, or a compressed wrapper.

Offset 8, size 4, CRC-32 4 (over what follows), magic 1, attributes 1, v1: timestamp 8, key and
value, each with a length of 4 (-1: null). The value of a wrapper is a message set; in v1 the inner
offsets count from 0 and the wrapper's is the last one. Source: LegacyRecord,
AbstractLegacyRecordBatch.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence

from impl.log.compression import CODECS, compress, decompress
from impl.log.crc32c import Buffer
from impl.log.errors import CorruptRecord
from impl.log.record import NO_TIMESTAMP, StoredRecord

LEAST = (14, 22)
"""The least size field of a message, by its format: no key, no value."""

_OVERHEAD = 12
_LOG_APPEND_TIME = 0x08


def header_at(data: Buffer, at: int) -> tuple[int, int, int, int, int, int, int, int]:
    """Base offset, last offset, size in bytes, no epoch, magic, attributes, timestamp, 1 record."""
    if len(data) - at < 18:
        raise CorruptRecord(at, f"{len(data) - at} bytes, a message has 18 before its key")
    offset, size, _, magic, attributes = struct.unpack_from(">qiIbb", data, at)
    timestamp = NO_TIMESTAMP
    if magic == 1:
        if len(data) - at < 26:
            raise CorruptRecord(at, f"{len(data) - at} bytes, a v1 message has more")
        (timestamp,) = struct.unpack_from(">q", data, at + 18)
    if attributes & 7 >= len(CODECS) - 1:
        raise CorruptRecord(at + 17, f"codec {attributes & 7}; format {magic} knows 0 to 3")
    return offset, offset, size + _OVERHEAD, -1, magic, attributes, timestamp, 1


def check(message: memoryview, at: int) -> None:
    """CorruptRecord if the checksum is wrong."""
    stored = int.from_bytes(message[12:16], "big")
    computed = zlib.crc32(message[16:])
    if stored != computed:
        raise CorruptRecord(at + 12, f"checksum {stored:#010x}, of the bytes {computed:#010x}")


def records_of(message: bytes) -> list[StoredRecord]:
    """The record of a message, or those inside a wrapper."""
    record, codec, magic, override = _parse(message, 0)
    if codec == "none":
        return [record]
    found: list[StoredRecord] = []
    for at, inner in _messages_in(message):
        each, _, inner_magic, _ = _parse(inner, at)
        if inner_magic != magic:
            raise CorruptRecord(at + 16, f"a v{inner_magic} message in a v{magic} wrapper")
        found.append(each)
    if not found:
        raise CorruptRecord(0, "a wrapper without messages")
    shift = record.offset - found[-1].offset if magic == 1 else 0
    return [
        StoredRecord(
            each.offset + shift,
            record.timestamp if override else each.timestamp,
            each.key,
            each.value,
        )
        for each in found
    ]


def checksums_of(message: bytes) -> list[int]:
    """The checksum of each of those records in its own message."""
    return [int.from_bytes(data[at + 12 : at + 16], "big") for at, data in _messages_in(message)]


def _messages_in(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Where the message of each record begins, and the bytes that it lies in."""
    record, codec, _, _ = _parse(message, 0)
    data = message if codec == "none" else decompress(codec, record.value or b"")
    at = 0
    while at < len(data):
        yield at, data
        at += int.from_bytes(data[at + 8 : at + 12], "big") + _OVERHEAD


def encode_message(
    record: StoredRecord, magic: int, codec: str = "none", append_time: bool = False
) -> bytes:
    """A message, or with a codec its compressed wrapper, as a client before 0.11 sent it.

    ``append_time``: its timestamp is the broker's (v1).
    """
    if magic not in (0, 1):
        raise ValueError(f"messages are of format 0 or 1, not {magic}")
    if codec == "none":
        attributes = _LOG_APPEND_TIME if append_time else 0
        return _encode(record.offset, record.timestamp, record.key, record.value, magic, attributes)
    return encode_wrapper([record], magic, codec, append_time)


def encode_wrapper(
    records: Sequence[StoredRecord], magic: int, codec: str, append_time: bool = False
) -> bytes:
    """A compressed set of messages, as one message."""
    last = records[-1].offset
    base = records[0].offset if magic == 1 else 0
    inner = b"".join(
        _encode(each.offset - base, each.timestamp, each.key, each.value, magic, 0)
        for each in records
    )
    latest = max(each.timestamp for each in records)
    attributes = CODECS.index(codec) | (_LOG_APPEND_TIME if append_time else 0)
    return _encode(last, latest, None, compress(codec, inner), magic, attributes)


def _encode(
    offset: int, timestamp: int, key: bytes | None, value: bytes | None, magic: int, attributes: int
) -> bytes:
    body = struct.pack(">bb", magic, attributes)
    if magic == 1:
        body += struct.pack(">q", timestamp)
    for part in (key, value):
        body += struct.pack(">i", -1 if part is None else len(part)) + (part or b"")
    return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body


def _parse(data: bytes, at: int) -> tuple[StoredRecord, str, int, bool]:
    try:
        offset, size, _, magic, attributes = struct.unpack_from(">qiIbb", data, at)
        end, place, timestamp = at + _OVERHEAD + size, at + 18, NO_TIMESTAMP
        if magic == 1:
            (timestamp,) = struct.unpack_from(">q", data, place)
            place += 8
        parts: list[bytes | None] = []
        for _ in range(2):
            (length,) = struct.unpack_from(">i", data, place)
            place += 4
            parts.append(None if length < 0 else data[place : place + length])
            place += max(length, 0)
    except struct.error as error:
        raise CorruptRecord(at, f"a message that is cut off: {error}") from error
    if place != end or end > len(data):
        raise CorruptRecord(at, f"a message of {size} bytes that holds {place - at - _OVERHEAD}")
    record = StoredRecord(offset, timestamp, parts[0], parts[1])
    override = bool(attributes & _LOG_APPEND_TIME)
    return record, CODECS[attributes & 7], magic, override
