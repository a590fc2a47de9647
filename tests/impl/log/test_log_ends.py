"""What a log loses: retention at its start, truncation at its end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from impl.disk import MemoryDisk
from impl.log.config import LogConfig
from impl.log.errors import OffsetOutOfRange
from impl.log.log import Log
from impl.log.retention import delete_old_segments
from tests.impl.log.batches import ManualClock, batch, fresh, names, values
from tests.impl.log.test_log import HOUR_MS

# Retention and cuts


def four_segments() -> tuple[Log, MemoryDisk, ManualClock]:
    log, disk, clock = fresh(LogConfig(segment_bytes=100, retention_ms=-1))
    for hour, value in enumerate((b"a", b"b", b"c", b"d")):
        log.append_as_leader(batch(value, at=hour * HOUR_MS), hour)
    return log, disk, clock


def test_retention_by_time_goes_by_the_latest_record_of_a_segment():
    log, _, clock = four_segments()
    log.high_watermark = 4
    clock.now_ms = 5 * HOUR_MS
    log.config = replace(log.config, retention_ms=int(3.5 * HOUR_MS))

    dropped = delete_old_segments(log)

    assert (dropped, log.log_start, values(log)) == (2, 2, [b"c", b"d"])
    assert log.epochs.entries == [(2, 2), (3, 3)]


def test_retention_by_size_keeps_at_least_so_much():
    log, _, _ = four_segments()
    log.high_watermark = 4
    log.config = replace(log.config, retention_bytes=2 * log.segments[0].size + 1)

    assert delete_old_segments(log) == 1
    assert values(log) == [b"b", b"c", b"d"]


def test_nothing_at_the_high_watermark_or_above_goes():
    log, _, clock = four_segments()
    log.high_watermark = 2
    clock.now_ms = 100 * HOUR_MS
    log.config = replace(log.config, retention_ms=0)

    assert delete_old_segments(log) == 2
    assert values(log) == [b"c", b"d"]


def test_if_everything_is_old_the_log_is_rolled_and_empty():
    log, _, clock = four_segments()
    log.high_watermark = 4
    clock.now_ms = 100 * HOUR_MS
    log.config = replace(log.config, retention_ms=0)

    assert delete_old_segments(log) == 4
    assert (log.log_start, log.log_end, names(log)) == (4, 4, [f"{4:020d}.log"])
    assert log.epochs.entries == [(3, 4)]


def test_records_below_a_raised_log_start_are_gone_and_their_segments_follow():
    log, _, _ = four_segments()
    log.high_watermark = 3

    raised = [log.advance_log_start(offset) for offset in (2, 1)]

    with pytest.raises(OffsetOutOfRange):
        log.read(1, 100)
    with pytest.raises(OffsetOutOfRange, match="offset 4 is not within the log, 2 to 3"):
        log.advance_log_start(4)
    assert raised == [True, False]
    assert delete_old_segments(log) == 2
    assert values(log) == [b"c", b"d"]


def test_dropped_segments_are_renamed_and_removed_after_a_delay():
    log, disk, clock = four_segments()
    log.truncate_to(1)

    waiting = [name for name in disk.names("/d/t-0") if name.endswith(".deleted")]
    too_soon = log.remove_marked(clock.now_ms)
    clock.now_ms += log.config.file_delete_delay_ms
    removed = log.remove_marked(clock.now_ms)

    assert len(waiting) == 6
    assert (too_soon, removed) == (0, 2)
    assert [name for name in disk.names("/d/t-0") if name.endswith(".deleted")] == []


def test_a_cut_within_a_batch_takes_the_batch_whole():
    log, _, _ = fresh()
    log.append_as_leader(batch(b"a", b"b"), 0)
    log.append_as_leader(batch(b"c", b"d"), 1)
    log.high_watermark = 4

    log.truncate_to(3)

    assert (log.log_end, log.high_watermark, values(log)) == (2, 2, [b"a", b"b"])
    assert log.epochs.entries == [(0, 0)]


def test_a_cut_at_the_very_end_takes_the_epoch_of_a_leader_that_appended_nothing():
    log, _, _ = fresh()
    log.append_as_leader(batch(b"a"), 0)
    log.epochs.assign(9, 1)

    cut = log.truncate_to(1)

    assert (cut, values(log), log.epochs.entries) == (False, [b"a"], [(0, 0)])


def test_a_cut_below_the_first_segment_starts_the_log_anew_there():
    log, _, _ = four_segments()
    log.high_watermark = 4
    log.advance_log_start(2)
    delete_old_segments(log)

    log.truncate_to(1)

    assert (log.log_start, log.log_end, log.high_watermark) == (1, 1, 1)
    assert log.epochs.entries == []
    with pytest.raises(ValueError, match="0 or higher, not -1"):
        log.truncate_to(-1)
