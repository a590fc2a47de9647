"""Variable-length numbers as in Protocol Buffers: zigzag, seven bits per byte, low bits first."""

from __future__ import annotations

from impl.log.errors import CorruptRecord

Buffer = bytes | bytearray | memoryview

LONGEST = 10
"""Bytes of the longest varlong."""


def _encoded(number: int) -> bytes:
    zigzag = number << 1 if number >= 0 else ~(number << 1)
    parts = bytearray()
    while zigzag > 0x7F:
        parts.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    parts.append(zigzag)
    return bytes(parts)


_SMALL = [_encoded(number) for number in range(2048)]


def encode(number: int) -> bytes:
    """A varint; a varlong has the same form."""
    return _SMALL[number] if 0 <= number < 2048 else _encoded(number)


def decode(data: Buffer, at: int) -> tuple[int, int]:
    """The number at that position, and the next position. CorruptRecord if it does not end."""
    if at < len(data) and (byte := data[at]) < 0x80:  # nearly all of them are one byte long
        return byte >> 1 ^ -(byte & 1), at + 1
    zigzag = shift = 0
    for place in range(at, min(at + LONGEST, len(data))):
        byte = data[place]
        zigzag |= (byte & 0x7F) << shift
        if byte < 0x80:
            return zigzag >> 1 ^ -(zigzag & 1), place + 1
        shift += 7
    raise CorruptRecord(at, "a number of varying length does not end")
