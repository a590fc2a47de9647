"""The log on disk beside a plain list that does the same things: after each step they agree."""

from __future__ import annotations

from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from impl.disk import MemoryDisk
from impl.log.config import LOG_APPEND_TIME, LogConfig
from impl.log.errors import InvalidBatch, OffsetOutOfRange
from impl.log.legacy_messages import encode_message
from impl.log.log import EARLIEST, LATEST
from impl.log.record import StoredRecord
from impl.log.record_batch import batches_in, encode_batch
from impl.log.retention import delete_old_segments
from tests.impl.log.batches import ManualClock, opened, values

SMALL = LogConfig(
    segment_bytes=600,
    index_interval_bytes=120,
    segment_index_bytes=96,
    retention_ms=-1,
    file_delete_delay_ms=100,
)


class Twin:
    """Records from ``start`` on: (timestamp, value, epoch); where batches end; epochs' starts."""

    def __init__(self) -> None:
        self.start = 0
        self.records: list[tuple[int, bytes, int]] = []
        self.first = 0
        self.ends = [0]

    @property
    def end(self) -> int:
        return self.first + len(self.records)

    def cut(self, end: int) -> None:
        del self.records[end - self.first :]
        self.ends = [each for each in self.ends if each <= end] or [end]
        self.start = min(self.start, end)


class LogMachine(RuleBasedStateMachine):
    """Appends of both kinds, cuts at both ends, rolls, restarts clean and unclean."""

    @initialize(append_time=st.booleans(), last_offset=st.booleans())
    def begin(self, append_time, last_offset):
        self.clock = ManualClock()
        self.disk = MemoryDisk(self.clock)
        kind = LOG_APPEND_TIME if append_time else "CreateTime"
        self.config = replace(SMALL, message_timestamp_type=kind, index_last_offset=last_offset)
        self.log, _ = opened(self.disk, self.clock, self.config)
        self.twin = Twin()
        self.epoch = 0
        self.serial = 0

    def _values(self, count: int) -> list[bytes]:
        self.serial += count
        return [b"%d." % number * 5 for number in range(self.serial - count, self.serial)]

    @rule(count=st.integers(1, 4), back=st.integers(0, 30), codec=st.sampled_from(["none", "gzip"]))
    def leader_appends(self, count, back, codec):
        """A batch with timestamps that may lie before those of the last one."""
        self.clock.now_ms += 7
        fresh = self._values(count)
        times = [self.clock.now_ms - back + place for place in range(count)]
        records = [
            StoredRecord(place, time, None, value)
            for place, (time, value) in enumerate(zip(times, fresh, strict=True))
        ]

        appended = self.log.append_as_leader(encode_batch(records, codec=codec), self.epoch)

        assert (appended.first_offset, appended.last_offset) == (
            self.twin.end, self.twin.end + count - 1,
        )  # fmt: skip
        stamped = self.config.message_timestamp_type == LOG_APPEND_TIME
        self.twin.records += [
            (self.clock.now_ms if stamped else time, value, self.epoch)
            for time, value in zip(times, fresh, strict=True)
        ]
        self.twin.ends.append(self.twin.end)

    @rule(magic=st.integers(0, 1))
    def leader_appends_an_old_message(self, magic):
        [value] = self._values(1)
        time = -1 if magic == 0 else self.clock.now_ms
        message = encode_message(StoredRecord(0, time, None, value), magic)

        self.log.append_as_leader(message, self.epoch)

        stamped = self.config.message_timestamp_type == LOG_APPEND_TIME
        stored = self.clock.now_ms if stamped else time
        self.twin.records.append((stored, value, self.epoch))
        self.twin.ends.append(self.twin.end)

    @rule(counts=st.lists(st.integers(1, 3), min_size=1, max_size=3))
    def follower_appends(self, counts):
        """Batches as a leader stored them, several at once."""
        data, offset = b"", self.twin.end
        self.clock.now_ms += 3
        for count in counts:
            fresh = self._values(count)
            data += encode_batch(
                [
                    StoredRecord(offset + place, self.clock.now_ms, None, value)
                    for place, value in enumerate(fresh)
                ],
                self.epoch,
            )
            self.twin.records += [(self.clock.now_ms, value, self.epoch) for value in fresh]
            offset += count
            self.twin.ends.append(offset)

        self.log.append_as_follower(data)

    @precondition(lambda self: self.twin.end > 0)
    @rule(back=st.integers(1, 3))
    def follower_is_sent_what_it_has(self, back):
        first = max(0, self.twin.end - back)
        data = encode_batch([StoredRecord(first, 5, None, b"again")], self.epoch)

        with pytest.raises(InvalidBatch, match="UNEXPECTED_APPEND_OFFSET"):
            self.log.append_as_follower(data)

    @rule(by=st.integers(1, 3))
    def epoch_moves_on(self, by):
        self.epoch += by

    @rule(which=st.integers(0, 100))
    def truncated_where_a_batch_ends(self, which):
        ends = [end for end in self.twin.ends if end >= self.twin.first]
        end = ends[which % len(ends)] if ends else self.twin.end

        self.log.truncate_to(end)

        self.twin.cut(end)

    @rule(offset=st.integers(0, 60))
    def emptied(self, offset):
        self.log.truncate_fully_and_start_at(offset)

        self.twin.records.clear()
        self.twin.first = self.twin.start = offset
        self.twin.ends = [offset]

    @rule()
    def rolled(self):
        self.log.roll()

    @rule()
    def flushed(self):
        self.log.flush()

        assert self.log.recovery_point == self.twin.end

    @rule(by=st.integers(0, 4))
    def start_raised(self, by):
        self.log.high_watermark = self.twin.end
        self.twin.start = min(self.twin.start + by, self.twin.end)

        self.log.advance_log_start(self.twin.start)

    @rule(keep=st.integers(0, 1500))
    def old_segments_go(self, keep):
        self.log.high_watermark = self.twin.end
        self.log.config = replace(self.config, retention_bytes=keep)
        before = self.log.size

        delete_old_segments(self.log)

        self.log.config = self.config
        first = self.log.segments[0].base_offset
        assert self.log.size >= min(before, keep) or first <= self.twin.start
        del self.twin.records[: max(0, first - self.twin.first)]
        self.twin.first = max(self.twin.first, first)
        self.twin.start = max(self.twin.start, self.twin.first)

    @rule(unclean=st.booleans())
    def restarted(self, unclean):
        start = self.log.log_start
        if not unclean:
            self.log.flush()
            self.log.close()
        self.disk.crash(power=False)

        self.log, reported = opened(
            self.disk, self.clock, self.config, clean=not unclean, log_start=start
        )

        assert reported.notes == []
        if unclean:
            assert reported.scanned_bytes == self.log.size

    @invariant()
    def they_hold_the_same(self):
        log, twin = self.log, self.twin
        assert (log.log_start, log.log_end) == (twin.start, twin.end)
        expected = [value for _, value, _ in twin.records[twin.start - twin.first :]]
        assert values(log) == expected
        assert [segment.base_offset for segment in log.segments] == sorted(
            {segment.base_offset for segment in log.segments}
        )

    @invariant()
    def a_read_begins_at_any_offset_and_ends_at_any_other(self):
        log, twin = self.log, self.twin
        middle = (twin.start + twin.end) // 2
        ends = [end for end in twin.ends if middle <= end <= twin.end] or [twin.end]
        up_to = ends[len(ends) // 2]
        expected = [value for _, value, _ in twin.records[middle - twin.first : up_to - twin.first]]
        assert values(log, middle, up_to) == expected
        for outside in (twin.start - 1, twin.end + 1):
            with pytest.raises(OffsetOutOfRange):
                log.read(outside, 100)

    @invariant()
    def times_lead_to_the_first_record_at_them_or_later(self):
        log, twin = self.log, self.twin
        readable = list(enumerate(twin.records))[twin.start - twin.first :]
        for asked in (0, self.clock.now_ms - 20, self.clock.now_ms, self.clock.now_ms + 50):
            found = log.offset_for_time(asked)
            expected = next((each for each in readable if each[1][0] >= asked), None)
            if expected is None:
                assert found is None
            else:
                place, (time, _, epoch) = expected
                assert found == (time, twin.first + place, epoch)
        latest, earliest = log.offset_for_time(LATEST), log.offset_for_time(EARLIEST)
        assert latest
        assert latest.offset == twin.end
        assert earliest
        assert earliest.offset == twin.start

    @invariant()
    def epochs_end_where_their_records_do(self):
        log, twin = self.log, self.twin
        readable = twin.records[twin.start - twin.first :]
        known = dict(log.epochs.entries)
        for epoch in sorted({each[2] for each in readable} & set(known)):
            end = twin.start + max(i for i, each in enumerate(readable) if each[2] == epoch) + 1
            assert log.end_offset_for(epoch) == (epoch, end)
        missing = {each[2] for each in readable} - set(known)
        assert missing <= {0}  # a recovery does not enter epoch 0 again

    @invariant()
    def every_index_entry_points_at_a_batch(self):
        for segment in self.log.segments:
            batches = dict(segment.batches())
            for offset, position in segment.index.entries():
                assert batches[position].base_offset <= offset
                before = [b for place, b in batches.items() if place < position]
                assert all(batch.last_offset < offset for batch in before)
            for time, offset in segment.time_index.entries():
                upto = [b for b in batches.values() if b.base_offset <= offset]
                assert time == max(batch.max_timestamp for batch in upto)

    def teardown(self):
        if hasattr(self, "log"):
            data = b"".join(segment.log_file.read(0, segment.size) for segment in self.log.segments)
            assert sum(batch.size for _, batch in batches_in(data)) == len(data)


TestLogMachine = LogMachine.TestCase
TestLogMachine.settings = settings(
    max_examples=settings().max_examples // 2, stateful_step_count=30
)
