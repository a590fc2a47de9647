"""What a log does with batches: offsets, epochs, rolls, reads, retention."""

from __future__ import annotations

import os
import socket

import pytest

from impl.disk import RealDisk
from impl.log.config import LOG_APPEND_TIME, LogConfig
from impl.log.errors import InvalidBatch, OffsetOutOfRange
from impl.log.legacy_messages import encode_message
from impl.log.loading import load_log
from impl.log.record import StoredRecord
from impl.log.record_batch import batches_in, check, encode_batch
from impl.log.segment import MAX_RELATIVE
from tests.impl.log.batches import ManualClock, batch, fresh, names, opened, values

HOUR_MS = 3_600_000


def test_a_leader_gives_offsets_and_its_epoch_and_a_new_epoch_enters_the_cache():
    log, _, _ = fresh()

    first = log.append_as_leader(batch(b"a", b"b"), 4)
    second = log.append_as_leader(batch(b"c"), 6)

    stored = log.read(0, 10_000).region.read()
    assert (first.first_offset, first.last_offset, second.first_offset) == (0, 1, 2)
    assert [(b.base_offset, b.leader_epoch) for _, b in batches_in(stored)] == [(0, 4), (2, 6)]
    assert log.epochs.entries == [(4, 0), (6, 2)]


def test_a_follower_stores_a_leaders_bytes_as_they_are():
    leader, _, _ = fresh()
    follower, _, _ = fresh()
    leader.append_as_leader(batch(b"a", b"b"), 4)
    leader.append_as_leader(encode_batch([StoredRecord(0, 5, None, b"c")], codec="gzip"), 5)

    follower.append_as_follower(leader.read(0, 10_000).region.read())

    assert follower.read(0, 10_000).region.read() == leader.read(0, 10_000).region.read()
    assert follower.epochs.entries == leader.epochs.entries


def test_a_compressed_batch_stays_as_the_producer_compressed_it():
    log, _, _ = fresh()
    data = encode_batch([StoredRecord(0, 5, None, b"v" * 500)], codec="zstd")

    log.append_as_leader(data, 0)

    assert log.read(0, 10_000).region.read()[16:] == data[16:]
    assert values(log) == [b"v" * 500]


def test_with_log_append_time_the_brokers_clock_counts():
    log, _, clock = fresh(LogConfig(message_timestamp_type=LOG_APPEND_TIME))
    clock.now_ms = 5_000

    log.append_as_leader(batch(b"a", at=99), 0)

    assert [record.timestamp for record in log.read(0, 10_000).region.records()] == [5_000]
    assert log.offset_for_time(99) == (5_000, 0, 0)


def test_messages_of_an_older_client_become_one_batch_of_todays_format():
    log, _, _ = fresh()

    log.append_as_leader(encode_message(StoredRecord(0, 77, b"k", b"old"), 1), 3)

    header = check(log.read(0, 10_000).region.read())
    assert (header.magic, header.leader_epoch, header.max_timestamp) == (2, 3, 77)
    assert values(log) == [b"old"]


@pytest.mark.parametrize(
    "data, code, why",
    [
        (batch(b"v")[:-1], "CORRUPT_MESSAGE", "of which 71 are"),
        (batch(b"v")[:-1] + b"x", "CORRUPT_MESSAGE", "byte 17: checksum"),
        (b"", "INVALID_RECORD", "no batch at all"),
        (batch(b"v" * 900), "RECORD_TOO_LARGE", "byte 0: 97. bytes, at most 500"),
        (batch(b"v") * 15, "RECORD_LIST_TOO_LARGE", "1080 bytes, a segment has 1000"),
        (batch(b"v", at=90_000), "INVALID_TIMESTAMP", "more than 600 ms from"),
        (
            encode_batch([StoredRecord(0, 1, None, b"a"), StoredRecord(5, 1, None, b"b")]),
            "INVALID_RECORD",
            "2 records over 6 offsets",
        ),
    ],
)
def test_a_batch_that_is_not_acceptable_is_refused_and_nothing_is_appended(data, code, why):
    config = LogConfig(
        segment_bytes=1_000, max_message_bytes=500, message_timestamp_difference_max_ms=600
    )
    log, _, _ = fresh(config)

    with pytest.raises(InvalidBatch, match=f"{code}: .*{why}"):
        log.append_as_leader(data, 0)

    assert (log.log_end, log.size, log.epochs.entries) == (0, 0, [])


def test_a_failed_write_leaves_no_torn_batch_behind(monkeypatch):
    log, _, _ = fresh()
    log.append_as_leader(batch(b"kept"), 0)
    file = log.active.log_file
    write = type(file).write

    def half(self, position, *parts):
        write(self, position, b"".join(bytes(part) for part in parts)[:30])
        raise OSError(28, "No space left on device", self.path)

    monkeypatch.setattr(type(file), "write", half)
    with pytest.raises(OSError, match="No space left"):
        log.append_as_leader(batch(b"lost"), 0)
    monkeypatch.undo()

    assert file.size() == log.size
    log.append_as_leader(batch(b"next"), 0)
    assert values(log) == [b"kept", b"next"]


# Rolls


def test_a_segment_rolls_when_the_next_batch_would_not_fit():
    size = len(batch(b"v"))
    log, _, _ = fresh(LogConfig(segment_bytes=2 * size))

    for _ in range(5):
        log.append_as_leader(batch(b"v"), 0)

    assert names(log) == [f"{base:020d}.log" for base in (0, 2, 4)]
    assert log.unflushed_roll


def test_a_segment_rolls_by_the_time_of_its_records_not_by_the_clock():
    log, _, clock = fresh(LogConfig(segment_ms=HOUR_MS))
    log.append_as_leader(batch(b"first", at=10), 0)

    clock.now_ms += 10 * HOUR_MS
    log.append_as_leader(batch(b"old", at=10 + HOUR_MS), 0)
    log.append_as_leader(batch(b"new", at=11 + HOUR_MS), 0)

    assert names(log) == [f"{base:020d}.log" for base in (0, 2)]


def test_records_without_time_roll_by_the_clock_and_jitter_brings_it_forward():
    config = LogConfig(segment_ms=HOUR_MS, segment_jitter_ms=1_000)
    log, _, clock = fresh(config)
    data = encode_batch([StoredRecord(0, -1, None, b"v")])
    log.append_as_leader(data, 0)

    clock.now_ms += HOUR_MS - 1_000
    log.append_as_leader(data, 0)
    clock.now_ms += 1
    log.append_as_leader(data, 0)

    assert names(log) == [f"{base:020d}.log" for base in (0, 2)]


def test_a_segment_rolls_when_an_index_is_full():
    log, _, _ = fresh(LogConfig(index_interval_bytes=0, segment_index_bytes=24))

    for time in range(8):
        log.append_as_leader(batch(b"v", at=1_000 + time), 0)

    assert max(len(segment.index) for segment in log.segments) == 1
    assert max(len(segment.time_index) for segment in log.segments) == 1
    assert len(log.segments) == 4


def test_a_segment_of_records_without_time_rolls_when_its_offset_index_is_full():
    log, _, _ = fresh(LogConfig(index_interval_bytes=0, segment_index_bytes=24))

    for _ in range(8):
        log.append_as_leader(encode_batch([StoredRecord(0, -1, None, b"v")]), 0)

    assert [len(segment.index) for segment in log.segments] == [3, 3]
    assert [len(segment.time_index) for segment in log.segments] == [0, 0]


def test_a_segment_rolls_when_an_offset_is_too_far_from_its_base():
    log, _, _ = fresh()
    log.append_as_follower(batch(b"near", base=7))

    log.append_as_follower(batch(b"far", base=MAX_RELATIVE + 1))
    log.append_as_follower(batch(b"farther", base=MAX_RELATIVE + 5))

    assert [segment.base_offset for segment in log.segments] == [0, 8]
    assert values(log, MAX_RELATIVE + 1) == [b"far", b"farther"]


def test_indexes_are_large_while_active_and_trimmed_once_rolled():
    log, disk, _ = fresh(LogConfig(segment_index_bytes=800, index_interval_bytes=0))
    for time in range(3):
        log.append_as_leader(batch(b"v", at=1_000 + time), 0)

    active = [disk.open(f"/d/t-0/{name}").size() for name in names(log, ("index",))]
    log.roll()

    rolled = [disk.open(f"/d/t-0/{name}").size() for name in names(log, ("index",))[:2]]
    assert active == [800, 792]
    assert rolled == [2 * 8, 2 * 12]


# Reads


def test_a_read_hands_out_a_region_of_the_file_that_begins_with_a_whole_batch():
    log, _, _ = fresh()
    size = len(batch(b"v", b"w"))
    for _ in range(3):
        log.append_as_leader(batch(b"v", b"w"), 0)

    fetched = log.read(3, 2 * size)

    assert (fetched.at.offset, fetched.at.segment_base, fetched.at.position) == (3, 0, size)
    assert (fetched.region.position, fetched.region.length) == (size, 2 * size)
    assert [record.offset for record in fetched.region.records(3)] == [3, 4, 5]


def test_a_batch_larger_than_asked_for_comes_whole_if_one_is_wanted_at_least():
    log, _, _ = fresh()
    size = len(batch(b"v" * 300))
    log.append_as_leader(batch(b"v" * 300), 0)

    assert log.read(0, 10).region.length == size
    assert log.read(0, 10, at_least_one=False).region.length == 10


def test_nothing_beyond_the_given_end_is_handed_out():
    log, _, _ = fresh(LogConfig(segment_bytes=200))
    for value in (b"a", b"b", b"c", b"d", b"e"):
        log.append_as_leader(batch(value), 0)

    assert [values(log, 0, up_to) for up_to in (0, 1, 3, 5)] == [
        [], [b"a"], [b"a", b"b", b"c"], [b"a", b"b", b"c", b"d", b"e"],
    ]  # fmt: skip
    assert log.read(4, 100, up_to=2).region.length == 0


def test_an_offset_outside_the_log_is_out_of_range():
    log, _, _ = fresh()
    log.append_as_leader(batch(b"v"), 0)

    with pytest.raises(OffsetOutOfRange, match="offset 2 is not within the log, 0 to 1"):
        log.read(2, 100)
    with pytest.raises(OffsetOutOfRange):
        log.position_of(-1)


def test_a_region_goes_to_a_socket_without_passing_through(tmp_path, monkeypatch):
    log, _ = load_log(RealDisk(), str(tmp_path), LogConfig(), ManualClock(), clean=False)
    log.append_as_leader(batch(b"v" * 1_000), 0)
    here, there = socket.socketpair()
    copies: list[object] = []
    region = log.read(0, 10_000).region

    monkeypatch.setattr(os, "pread", lambda *asked: copies.append(asked))
    sent = region.send_to(here.fileno())
    monkeypatch.undo()

    assert sent == region.length
    assert copies == []
    assert there.recv(100_000) == region.read()


def test_index_entries_carry_the_first_offset_before_2_0_and_the_last_since():
    found = []
    for last in (False, True):
        log, _, _ = fresh(LogConfig(index_interval_bytes=0, index_last_offset=last))
        for _ in range(2):
            log.append_as_leader(batch(b"a", b"b", b"c"), 0)
        found.append([entry.offset for entry in log.active.index.entries()])

    assert found == [[3], [5]]


def test_a_log_that_another_wrote_is_taken_up_where_it_ended():
    log, disk, clock = fresh()
    log.append_as_leader(batch(b"a"), 0)
    log.close()

    again, reported = opened(disk, clock, LogConfig(), clean=True)
    again.append_as_leader(batch(b"b"), 0)

    assert (reported.scanned_bytes, reported.notes) == (0, [])
    assert values(again) == [b"a", b"b"]


def test_properties_have_kafkas_names_and_an_unknown_one_is_named():
    config = LogConfig().but({"segment.bytes": "1000", "log.retention.ms": "-1"})

    assert (config.segment_bytes, config.retention_ms) == (1000, -1)
    for name, value, why in [
        ("segment.byte", "1", "segment.byte is not a property of a log; perhaps segment.bytes"),
        ("segment.bytes", "13", "segment.bytes is 14 or more, not 13"),
        ("segment.ms", "soon", "segment.ms is a number, not 'soon'"),
        ("message.timestamp.type", "Now", "is CreateTime or LogAppendTime, not 'Now'"),
    ]:
        with pytest.raises(ValueError, match=why):
            LogConfig().but({name: value})
