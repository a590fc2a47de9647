"""CRC-32C (Castagnoli), the checksum of record batches since message format v2 (0.11).

A library does it where it is installed (``google-crc32c``, compiled); otherwise tables do:
byte by byte for what is short, and with numpy, a whole block of bytes at once, for what is long.
A checksum is linear over GF(2), so every byte of a block adds a value that depends on itself and
its distance from the block's end only.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

Buffer = bytes | bytearray | memoryview

POLYNOMIAL = 0x82F63B78
"""The Castagnoli polynomial, bits reversed."""

BLOCK = 512
"""Bytes that the numpy form takes at once: its table is then 512 KiB, which caches hold."""

STEP = 64 * BLOCK
"""Bytes between two calls of numpy: what it holds in between stays in the caches."""

SHORT = 48
"""Below so many bytes the plain loop is faster than a call of numpy."""


def _table() -> tuple[int, ...]:
    entries = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (POLYNOMIAL if value & 1 else 0)
        entries.append(value)
    return tuple(entries)


_BYTES = _table()


def crc32c_plain(data: Buffer, value: int = 0) -> int:
    """The checksum, byte by byte; ``value`` is the checksum of the preceding bytes."""
    state = value ^ 0xFFFFFFFF
    for byte in bytes(data):
        state = _BYTES[(state ^ byte) & 0xFF] ^ state >> 8
    return state ^ 0xFFFFFFFF


@cache
def _places() -> Any:
    """Row p: what a byte adds to a block's state if ``BLOCK - 1 - p`` bytes follow it."""
    import numpy as np

    table = np.array(_BYTES, np.uint32)
    rows = np.empty((BLOCK, 256), np.uint32)
    rows[BLOCK - 1] = table
    for place in range(BLOCK - 2, -1, -1):
        later = rows[place + 1]
        rows[place] = table[later & 0xFF] ^ later >> 8
    return rows.reshape(-1)


@cache
def _offsets() -> Any:
    import numpy as np

    return (np.arange(BLOCK, dtype=np.int32) * 256)[None, :]


@cache
def _skips() -> tuple[tuple[int, ...], ...]:
    """What each byte of a state becomes when a block of zeros follows: four tables of 256."""
    rows = _places().reshape(BLOCK, 256)
    return tuple(tuple(int(each) for each in rows[place]) for place in range(4))


def crc32c_tables(data: Buffer, value: int = 0) -> int:
    """The checksum by numpy's tables, many blocks at a time."""
    import numpy as np

    cells = np.frombuffer(data, np.uint8)
    state = value ^ 0xFFFFFFFF
    head = len(cells) % BLOCK
    if head < 4:
        state = crc32c_plain(cells[:head].tobytes(), value) ^ 0xFFFFFFFF
    else:
        # What came before acts as if it were xored into the first four bytes.
        begun = cells[:head].astype(np.int32)
        begun[:4] ^= np.frombuffer(state.to_bytes(4, "little"), np.uint8)
        state = int(np.bitwise_xor.reduce(_places().take(begun + _offsets()[0, BLOCK - head :])))
    first, second, third, fourth = _skips()
    # Every index is within the table; to clip them is only faster than to check them.
    for begin in range(head, len(cells), STEP):
        part = cells[begin : begin + STEP].reshape(-1, BLOCK) + _offsets()
        for added in np.bitwise_xor.reduce(_places().take(part, mode="clip"), axis=1).tolist():
            state = (
                added
                ^ first[state & 0xFF]
                ^ second[state >> 8 & 0xFF]
                ^ third[state >> 16 & 0xFF]
                ^ fourth[state >> 24]
            )
    return state ^ 0xFFFFFFFF


def _own(data: Buffer, value: int = 0) -> int:
    return (crc32c_plain if len(data) < SHORT else crc32c_tables)(data, value)


def _library() -> tuple[str, Callable[[Buffer, int], int]]:
    """The name of what computes checksums here, and the function."""
    try:
        found = importlib.import_module("google_crc32c")
    except ImportError:
        return "tables", _own
    if found.implementation == "python":
        return "tables", _own
    # It takes bytes only; a copy costs little beside the checksum.
    return "google-crc32c", lambda data, value: int(found.extend(value, bytes(data)))


IMPLEMENTATION, _crc32c = _library()
"""``google-crc32c`` or ``tables``: what computes checksums in this process."""


def crc32c(data: Buffer, value: int = 0) -> int:
    """The CRC-32C of ``data``; ``value`` is the checksum of the preceding bytes (0 if there are
    none)."""
    return _crc32c(data, value)
