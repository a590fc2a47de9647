"""CRC-32C, whatever computes it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.log.crc32c import BLOCK, crc32c, crc32c_plain, crc32c_tables

KNOWN = [
    (b"", 0x00000000),
    (b"a", 0xC1D04330),
    (b"123456789", 0xE3069283),
    (bytes(32), 0x8A9136AA),
    (b"\xff" * 32, 0x62A8AB43),
    (bytes(range(32)), 0x46DD794E),
    (bytes(range(31, -1, -1)), 0x113FDB5C),
]
"""RFC 3720, appendix B.4, and the checksum's usual check value."""


@pytest.mark.parametrize("data, expected", KNOWN)
def test_every_form_gives_the_published_values(data, expected):
    assert crc32c(data) == crc32c_plain(data) == crc32c_tables(data) == expected


@pytest.mark.parametrize("size", [0, 1, 3, 4, BLOCK - 1, BLOCK, BLOCK + 3, 70 * BLOCK + 5])
def test_the_tables_agree_with_the_plain_loop_at_every_boundary(size):
    data = bytes(each * 131 % 251 for each in range(size))

    assert crc32c_tables(data) == crc32c_plain(data) == crc32c(memoryview(data))


@given(st.binary(max_size=3 * BLOCK), st.integers(0, 3 * BLOCK))
def test_a_checksum_continues_where_another_ended(data, cut):
    begun = crc32c_tables(data[:cut])

    assert crc32c_tables(data[cut:], begun) == crc32c(data[cut:], begun) == crc32c_plain(data)
