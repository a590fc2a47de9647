"""The log, its epochs and the checkpoint."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.log import HighWatermarkCheckpoint, LeaderEpochFileCache, ReplicaLog


def test_an_append_in_a_new_epoch_enters_the_epoch_cache() -> None:
    log = ReplicaLog()

    offsets = [log.append((0, 1)), log.append((1, 1)), log.append((2, 4))]

    assert offsets == [0, 1, 2]
    assert log.end == 3
    assert log.epochs.entries == [(1, 0), (4, 2)]


def test_truncation_cuts_epochs_too_even_if_no_record_goes() -> None:
    log = ReplicaLog()
    log.append((0, 1))
    log.epochs.assign(5, 1)

    log.truncate_to(1)

    assert log.records == [(0, 1)]
    assert log.epochs.entries == [(1, 0)]


def test_a_log_is_not_truncated_below_0() -> None:
    with pytest.raises(ValueError, match="0 or higher, not -1"):
        ReplicaLog().truncate_to(-1)


def test_a_checkpoint_is_bounded_by_the_log_that_was_found() -> None:
    checkpoint = HighWatermarkCheckpoint()
    checkpoint.write(7)

    assert [checkpoint.read_bounded(end) for end in (0, 3, 9)] == [0, 3, 7]


EPOCHS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 12)), max_size=12)


@given(EPOCHS)
def test_entries_increase_strictly_in_both_whatever_is_assigned(
    assigned: list[tuple[int, int]],
) -> None:
    cache = LeaderEpochFileCache()

    for epoch, start in assigned:
        cache.assign(epoch, start)

    for before, after in zip(cache.entries, cache.entries[1:], strict=False):
        assert before[0] < after[0]
        assert before[1] < after[1]


@given(st.lists(st.integers(0, 3), max_size=10), st.integers(-1, 9))
def test_the_end_of_an_epoch_is_where_a_plain_scan_of_the_records_puts_it(
    steps: list[int], asked: int
) -> None:
    log = ReplicaLog()
    epoch = 0
    for record, step in enumerate(steps):
        epoch += step
        log.append((record, epoch))

    known, end = log.end_offset_for(asked)

    epochs = [record[1] for record in log.records]
    if asked == -1 or not epochs or asked > epochs[-1]:
        assert (known, end) == (-1, -1)
    else:
        assert end == sum(1 for each in epochs if each <= asked)
        assert known == max([each for each in epochs if each <= asked], default=asked)
