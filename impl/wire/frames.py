"""Frames: a length (4 bytes, big endian, signed) and as many bytes, in both directions."""

from __future__ import annotations

import struct
from collections.abc import Iterator

_SIZE = struct.Struct(">i")
SIZE_BYTES = _SIZE.size


class FrameTooLarge(ValueError):
    """An invalid length of a frame: negative, or beyond ``socket.request.max.bytes``."""


def size_of(prefix: bytes | bytearray, largest: int) -> int:
    """The length at the beginning of a frame; FrameTooLarge. ``prefix`` has 4 bytes or more."""
    (size,) = _SIZE.unpack_from(prefix)
    if not 0 <= size <= largest:
        raise FrameTooLarge(f"a frame of {size} bytes; 0 to {largest} are allowed")
    return int(size)


def frames_in(data: bytearray, largest: int) -> Iterator[bytes]:
    """Remove the complete frames from the front of a buffer; returns them without their lengths.

    For callers that receive bytes in pieces. FrameTooLarge at an invalid length.
    """
    while len(data) >= SIZE_BYTES:
        end = SIZE_BYTES + size_of(data, largest)
        if len(data) < end:
            return
        frame = bytes(data[SIZE_BYTES:end])
        del data[:end]
        yield frame
