"""Frames: a length (4 bytes, big endian, signed) and as many bytes, in both directions."""

from __future__ import annotations

import struct
from collections.abc import Iterator

_SIZE = struct.Struct(">i")
SIZE_BYTES = _SIZE.size


class FrameTooLarge(ValueError):
    """A length that no frame may have: negative, or beyond ``socket.request.max.bytes``."""


def size_of(prefix: bytes | bytearray, largest: int) -> int:
    """The length that a frame begins with; FrameTooLarge. ``prefix`` has 4 bytes or more."""
    (size,) = _SIZE.unpack_from(prefix)
    if not 0 <= size <= largest:
        raise FrameTooLarge(f"a frame of {size} bytes; 0 to {largest} are allowed")
    return int(size)


def frames_in(data: bytearray, largest: int) -> Iterator[bytes]:
    """Take the whole frames off the front of what came so far, without their lengths.

    For who is given bytes as they come. FrameTooLarge once a length is no length of a frame.
    """
    while len(data) >= SIZE_BYTES:
        end = SIZE_BYTES + size_of(data, largest)
        if len(data) < end:
            return
        frame = bytes(data[SIZE_BYTES:end])
        del data[:end]
        yield frame
