"""The sparse indexes of a segment, beside a plain list that is searched from its beginning."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.disk import MemoryDisk
from impl.log.errors import CorruptIndex
from impl.log.indexes import OffsetIndex, TimeIndex

BASE = 1_000
STEPS = st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), max_size=20)
ASKED = st.integers(0, 1_200)


def disk() -> MemoryDisk:
    made = MemoryDisk()
    made.make_directory("/d")
    return made


def sums(steps: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found, first, second = [], 0, 0
    for one, other in steps:
        first, second = first + one, second + other
        found.append((first, second))
    return found


@given(STEPS, ASKED)
def test_an_offset_leads_to_the_greatest_entry_up_to_it(steps, asked):
    index = OffsetIndex(disk(), "/d/x.index", BASE, 400)
    index.create()
    entries = [(BASE + offset, position) for offset, position in sums(steps)]

    for entry in entries:
        index.append(*entry)

    upto = [entry for entry in entries if entry[0] <= asked]
    assert index.lookup(asked) == (upto[-1] if upto else (BASE, 0))
    assert index.entries() == entries


@given(STEPS, ASKED)
def test_a_time_leads_to_the_greatest_entry_up_to_it(steps, asked):
    index = TimeIndex(disk(), "/d/x.timeindex", BASE, 400)
    index.create()
    entries = [(time, BASE + offset) for time, offset in sums(steps)]

    for entry in entries:
        index.maybe_append(*entry)
        index.maybe_append(entry[0], entry[1] + 1)  # not later: no entry

    upto = [entry for entry in entries if entry[0] <= asked]
    assert index.lookup(asked) == (upto[-1] if upto else (-1, BASE))
    assert index.entries() == entries


@given(STEPS, ASKED)
def test_what_is_cut_is_gone_from_the_file_too(steps, asked):
    files = disk()
    index = OffsetIndex(files, "/d/x.index", BASE, 400)
    index.create()
    entries = [(BASE + offset, position) for offset, position in sums(steps)]
    for entry in entries:
        index.append(*entry)

    index.truncate_to(asked)
    index.trim()
    again = OffsetIndex(files, "/d/x.index", BASE, 400)

    assert again.entries() == [entry for entry in entries if entry[1] < asked]


def test_entries_are_laid_out_as_kafkas():
    files = disk()
    offsets = OffsetIndex(files, "/d/x.index", BASE, 100)
    times = TimeIndex(files, "/d/x.timeindex", BASE, 100)
    for index in (offsets, times):
        index.create()
    sizes = files.open("/d/x.index").size(), files.open("/d/x.timeindex").size()

    offsets.append(BASE + 258, 515)
    times.maybe_append(66_051, BASE + 7)
    for index in (offsets, times):
        index.trim()

    assert sizes == (96, 96)
    assert files.open("/d/x.index").read(0, 99) == bytes([0, 0, 1, 2, 0, 0, 2, 3])
    assert files.open("/d/x.timeindex").read(0, 99) == bytes([0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 7])


def test_an_entry_that_goes_back_is_refused():
    index = OffsetIndex(disk(), "/d/x.index", BASE, 100)
    index.create()
    index.append(BASE + 5, 50)

    for entry in ((BASE + 5, 60), (BASE + 6, 50), (BASE - 1, 60)):
        with pytest.raises(CorruptIndex, match=r"/d/x\.index: byte 8: "):
            index.append(*entry)

    assert index.entries() == [(BASE + 5, 50)]


def test_a_time_index_keeps_a_place_for_the_entry_that_is_made_on_rolling():
    offsets = OffsetIndex(disk(), "/d/x.index", BASE, 24)
    times = TimeIndex(disk(), "/d/x.timeindex", BASE, 24)
    for index in (offsets, times):
        index.create()

    times.maybe_append(1, BASE)
    for number in range(3):
        offsets.append(BASE + 1 + number, 1 + number)

    assert (times.full, len(times), times.max_entries) == (True, 1, 2)
    assert (offsets.full, len(offsets), offsets.max_entries) == (True, 3, 3)
