"""One record with its offset and leader epoch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from impl.log import varint
from impl.log.errors import CorruptRecord

NO_TIMESTAMP = -1

Header = tuple[str, bytes | None]
"""Name and value of a header."""


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """Offset, timestamp in milliseconds (-1: none), key, value (None: null), headers."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()


def encode_records(records: Iterable[StoredRecord], base_offset: int, base_timestamp: int) -> bytes:
    """The records part of a v2 batch: length, attributes, deltas, key, value, headers."""
    encode = varint.encode
    parts: list[bytes] = []
    for record in records:
        body = (
            b"\x00"
            + encode(record.timestamp - base_timestamp)
            + encode(record.offset - base_offset)
            + _sized(record.key)
            + _sized(record.value)
            + encode(len(record.headers))
        )
        for name, value in record.headers:
            body += _sized(name.encode()) + _sized(value)
        parts.append(encode(len(body)))
        parts.append(body)
    return b"".join(parts)


def decode_records(
    data: bytes, count: int, base_offset: int, base_timestamp: int
) -> list[StoredRecord]:
    """The inverse; CorruptRecord if the records do not fill the data exactly."""
    decode = varint.decode
    found: list[StoredRecord] = []
    at = 0
    for _ in range(count):
        begin = at
        length, at = decode(data, at)
        end = at + length
        if length < 0 or end > len(data):
            raise CorruptRecord(begin, f"a record of {length} bytes, where {len(data) - at} are")
        timestamp_delta, at = decode(data, at + 1)
        offset_delta, at = decode(data, at)
        key, at = _read_sized(data, at)
        value, at = _read_sized(data, at)
        header_count, at = decode(data, at)
        headers: tuple[Header, ...] = ()
        if header_count:
            headers, at = _read_headers(data, at, header_count)
        if at != end:
            raise CorruptRecord(begin, f"a record of {length} bytes that holds {length + at - end}")
        found.append(
            StoredRecord(
                base_offset + offset_delta, base_timestamp + timestamp_delta, key, value, headers
            )
        )  # fmt: skip
    if at != len(data):
        raise CorruptRecord(at, f"{len(data) - at} bytes after the last of {count} records")
    return found


def _read_headers(data: bytes, at: int, count: int) -> tuple[tuple[Header, ...], int]:
    headers: list[Header] = []
    for _ in range(count):
        begin = at
        name, at = _read_sized(data, at)
        if name is None:
            raise CorruptRecord(begin, "a header without a name")
        content, at = _read_sized(data, at)
        headers.append((name.decode(errors="replace"), content))
    return tuple(headers), at


def _sized(data: bytes | None) -> bytes:
    return b"\x01" if data is None else varint.encode(len(data)) + data


def _read_sized(data: bytes, at: int) -> tuple[bytes | None, int]:
    length, begin = varint.decode(data, at)
    if length < 0:
        return None, begin
    if begin + length > len(data):
        raise CorruptRecord(at, f"{length} bytes, where {len(data) - begin} are")
    return data[begin : begin + length], begin + length
