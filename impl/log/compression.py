"""Compression codecs of batches. Logs store compressed batches as they are."""

from __future__ import annotations

import gzip
import struct
import zlib
from typing import Any

from impl.log.errors import CorruptRecord

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
"""By the number in the low three bits of a batch's attributes."""

XERIAL = b"\x82SNAPPY\x00"
"""How Java's snappy streams begin: then two versions, and blocks, each with its length."""

LARGEST_RATIO = 64
"""What snappy makes of a byte at the very most: three bytes stand for up to 64."""


def compress(codec: str, data: bytes) -> bytes:
    """Compress data as a producer does; ValueError for an unknown codec."""
    if codec == "none":
        return data
    if codec == "gzip":
        return gzip.compress(data, mtime=0)
    if codec not in CODECS:
        raise ValueError(f"a codec is one of {', '.join(CODECS)}, not {codec!r}")
    arrow = _arrow()
    packed: bytes = arrow.Codec(codec).compress(data, asbytes=True)
    if codec == "snappy":
        return XERIAL + struct.pack(">iii", 1, 1, len(packed)) + packed
    return packed


def decompress(codec: str, data: bytes) -> bytes:
    """The records of a batch. CorruptRecord for invalid data."""
    try:
        if codec == "none":
            return data
        if codec == "gzip":
            return gzip.decompress(data)
        if codec == "snappy":
            return b"".join(_snappy(block) for block in _blocks(data))
        arrow = _arrow()
        found: bytes = arrow.CompressedInputStream(arrow.BufferReader(data), codec).read()
        return found
    except (OSError, EOFError, ValueError, IndexError, struct.error, zlib.error) as error:
        raise CorruptRecord(0, f"the {codec} data of a batch cannot be read: {error}") from error


def _blocks(data: bytes) -> list[bytes]:
    if not data.startswith(XERIAL):
        return [data]
    blocks, at = [], len(XERIAL) + 8
    while at < len(data):
        (length,) = struct.unpack_from(">i", data, at)
        blocks.append(data[at + 4 : at + 4 + length])
        at += 4 + length
    return blocks


def _snappy(block: bytes) -> bytes:
    size = shift = place = 0
    while True:  # the size comes first, seven bits a byte
        size |= (block[place] & 0x7F) << shift
        if block[place] < 0x80:
            break
        place, shift = place + 1, shift + 7
    if size > LARGEST_RATIO * len(block):
        raise ValueError(f"{len(block)} bytes cannot hold {size}")
    found: bytes = _arrow().Codec("snappy").decompress(block, size, asbytes=True)
    return found


def _arrow() -> Any:
    import pyarrow  # slow to import, and only for codecs that Python does not bring

    return pyarrow
