"""Idempotent producers: what a log admits, repeats, refuses, remembers and forgets (KIP-98)."""

from __future__ import annotations

import struct

import pytest

from impl.log.by_release import producer_rules_of
from impl.log.checkpoint_file import TopicPartition
from impl.log.config import LogConfig
from impl.log.errors import CorruptRecord, InvalidBatch
from impl.log.loading import load_log
from impl.log.log import Log
from impl.log.producer_state import (
    DUPLICATE,
    FENCED,
    LARGEST_SEQUENCE,
    OUT_OF_ORDER,
    UNKNOWN,
    BatchMetadata,
    ProducerEntry,
    decode_snapshot,
    encode_snapshot,
)
from impl.log.record import StoredRecord
from impl.log.record_batch import encode_batch
from tests.impl.log.batches import ManualClock, fresh, names, opened, overwrite
from tests.impl.log.broker_of_logs import T0, BrokerOfLogs


def sent(
    log: Log, first: int, count: int = 1, epoch: int = 0, producer: int = 9
) -> tuple[int, int]:
    """A producer's batch, as a leader takes it: offsets of its first and last record."""
    records = [StoredRecord(at, 1_000, None, b"%d" % (first + at)) for at in range(count)]
    done = log.append_as_leader(encode_batch(records, producer=(producer, epoch, first)), 0)
    return done.first_offset, done.last_offset


def refused(log: Log, first: int, count: int = 1, epoch: int = 0) -> str:
    end = log.log_end
    with pytest.raises(InvalidBatch) as caught:
        sent(log, first, count, epoch)
    assert log.log_end == end, "nothing was appended"
    return caught.value.code


def log_of(release: str) -> Log:
    log, _, _ = fresh()
    log.producers.states.rules = producer_rules_of(tuple(map(int, release.split("."))))
    return log


def test_the_last_five_batches_are_answered_with_their_first_offsets():
    log = log_of("2.3")
    first = [sent(log, 2 * number, 2) for number in range(6)]

    assert [sent(log, 2 * number, 2) for number in range(1, 6)] == first[1:]
    assert log.log_end == 12
    assert refused(log, 0, 2) == OUT_OF_ORDER


def test_0_11_knows_the_last_batch_alone():
    log = log_of("0.11")
    sent(log, 0)
    last = sent(log, 1)

    assert sent(log, 1) == last
    assert refused(log, 0) == OUT_OF_ORDER


def test_1_0_says_of_a_batch_before_those_that_it_knows_that_it_is_a_duplicate():
    log = log_of("1.0")
    for number in range(8):
        sent(log, number)

    assert refused(log, 2) == DUPLICATE
    assert refused(log, 9) == OUT_OF_ORDER


def test_a_gap_an_overlap_and_another_length_are_out_of_order():
    log = log_of("2.3")
    sent(log, 0, 3)

    assert [refused(log, 4), refused(log, 2, 2), refused(log, 0, 2)] == [OUT_OF_ORDER] * 3
    assert sent(log, 3) == (3, 3)


def test_a_newer_epoch_begins_with_0_and_fences_the_older_one():
    log = log_of("2.3")
    sent(log, 0, epoch=3)

    assert refused(log, 1, epoch=4) == OUT_OF_ORDER
    assert sent(log, 0, epoch=4) == (1, 1)
    assert refused(log, 1, epoch=3) == FENCED


@pytest.mark.parametrize(
    "release, error", [("0.11", OUT_OF_ORDER), ("1.0", UNKNOWN), ("2.4", UNKNOWN), ("2.5", None)]
)
def test_a_sequence_of_an_unknown_producer_is_judged_by_the_release(release, error):
    log = log_of(release)

    if error is None:
        assert sent(log, 5) == (0, 0)
    else:
        assert refused(log, 5) == error


def test_sequences_go_on_at_0_after_the_largest():
    log = log_of("2.5")
    sent(log, LARGEST_SEQUENCE - 1, 3)  # ends with sequence 0

    assert sent(log, LARGEST_SEQUENCE - 1, 3) == (0, 2)
    assert sent(log, 1) == (3, 3)
    assert BatchMetadata(0, 2, 2, -1).first_sequence == LARGEST_SEQUENCE - 1


def test_a_follower_takes_what_its_leader_has_and_knows_the_producer_by_it():
    leader, follower = log_of("2.3"), log_of("2.3")
    for number in range(3):
        sent(leader, number)
    follower.append_as_follower(leader.read(0, 1 << 20).region.read())

    assert follower.producers.states == leader.producers.states
    assert sent(follower, 2) == (2, 2)
    assert refused(follower, 4) == OUT_OF_ORDER


def test_a_truncation_forgets_what_was_cut():
    log, _, _ = fresh(LogConfig(segment_bytes=200))
    for number in range(8):
        sent(log, number)
    assert len(log.segments) > 2

    log.truncate_to(3)

    assert all(offset <= 3 for offset in log.producers.offsets)
    assert sent(log, 3) == (3, 3)
    assert refused(log, 7) == OUT_OF_ORDER


def test_a_clean_stop_leaves_a_snapshot_and_a_start_reads_it():
    broker = BrokerOfLogs()
    log = broker.manager.create(T0)
    for number in range(9):
        sent(log, number)
    known = log.producers.states.entries

    found = broker.restarted().log(T0)

    assert found is not None
    assert found.producers.offsets[-1] == 9
    assert {one: (e.epoch, e.batches) for one, e in found.producers.states.entries.items()} == {
        one: (e.epoch, e.batches[-1:]) for one, e in known.items()
    }
    assert sent(found, 8) == (8, 8)


def test_after_a_crash_the_records_beyond_the_last_snapshot_are_read():
    broker = BrokerOfLogs()
    log = broker.manager.create(T0)
    for number in range(9):
        sent(log, number)

    found = broker.killed().log(T0)

    assert found is not None
    assert found.producers.offsets[-1] == 9, "the next start need not read them again"
    assert sent(found, 8) == (8, 8)
    assert refused(found, 7) == OUT_OF_ORDER, "of each producer a snapshot has one batch"
    assert refused(found, 10) == OUT_OF_ORDER


@pytest.mark.parametrize("release, written", [("1.1", []), ("2.0", [3])])
def test_a_snapshot_is_written_where_a_log_was_truncated_to_since_2_0(release, written):
    log = log_of(release)
    for number in range(6):
        sent(log, number)
    log.truncate_to(3)

    assert log.producers.offsets == written


def test_an_empty_log_has_no_snapshot():
    log = log_of("2.3")
    log.close()

    assert names(log, [".snapshot"]) == []


def test_a_damaged_snapshot_is_named_removed_and_not_needed():
    log, disk, clock = fresh(LogConfig(segment_bytes=200))
    for number in range(8):
        sent(log, number)
    newest = log.producers.path(log.producers.offsets[-1])
    overwrite(disk, newest, 9, b"\7")

    again, reported = opened(disk, clock, LogConfig(segment_bytes=200))

    assert [note.partition(": ")[0] for note in reported.notes] == [newest]
    assert "checksum" in reported.notes[0]
    assert not disk.exists(newest)
    assert sent(again, 7) == (7, 7)


def test_snapshots_behind_the_recovery_point_go_but_for_two_segments():
    broker = BrokerOfLogs()
    log = broker.manager.create(T0)
    for number in range(20):
        sent(log, number)
    before = len(log.producers.offsets)
    log.flush()
    broker.manager.checkpoint()

    bases = [segment.base_offset for segment in log.segments]
    assert before > 2
    assert log.producers.offsets == bases[-2:]
    assert names(log, [".snapshot"]) == [f"{one:020d}.snapshot" for one in bases[-2:]]


def test_a_silent_producer_expires():
    broker = BrokerOfLogs()
    log = broker.manager.create(T0)
    sent(log, 0)
    log.producers.states.rules = producer_rules_of((2, 3), expiration_ms=500)

    broker.clock.now_ms = 1_499
    assert broker.manager.expire_producers() == 0
    broker.clock.now_ms = 1_500
    assert broker.manager.expire_producers() == 1
    assert refused(log, 1) == UNKNOWN


@pytest.mark.parametrize("release, stays", [("2.3", False), ("2.4", True)])
def test_up_to_2_3_a_producer_goes_with_its_last_record(release, stays):
    log = log_of(release)
    sent(log, 0)
    sent(log, 0, producer=10)
    log.high_watermark = 2
    log.advance_log_start(1)

    assert (9 in log.producers.states.entries) is stays
    assert 10 in log.producers.states.entries


def test_0_10_knows_no_producers_and_writes_no_snapshots():
    disk = fresh()[1]
    disk.make_directory("/d/u-0")
    log, _ = load_log(
        disk, "/d/u-0", LogConfig(segment_bytes=200), ManualClock(), False, has_epochs=False
    )
    for _ in range(5):
        sent(log, 0)
    log.close()

    assert names(log, [".snapshot"]) == []
    assert log.log_end == 5


def test_a_snapshot_has_kafkas_bytes():
    entry = ProducerEntry(0x0102, 3, (BatchMetadata(7, 20, 2, 1_000),), 1_000)

    content = encode_snapshot([entry])

    assert content[:2] == b"\0\1"
    assert content[6:10] == b"\0\0\0\1"
    assert len(content) == 10 + 46
    expected = struct.pack(">qhiqiqiq", 0x0102, 3, 7, 20, 2, 1_000, -1, -1)
    assert content[10:] == expected
    assert decode_snapshot(content) == [entry]


@pytest.mark.parametrize(
    "content, why",
    [
        (b"\0\1", "before its entries"),
        (b"\0\2" + b"\0" * 8, "version 2"),
        (encode_snapshot([])[:-1] + b"\1", "checksum"),
        (encode_snapshot([]) + b"\0", "checksum"),
    ],
)
def test_what_is_no_snapshot_is_refused_with_a_reason(content, why):
    with pytest.raises(CorruptRecord, match=why):
        decode_snapshot(content)


def test_a_topic_that_is_made_again_knows_nobody_of_before():
    broker = BrokerOfLogs()
    partition: TopicPartition = T0
    sent(broker.manager.create(partition), 0)
    broker.manager.delete(partition)

    assert broker.manager.create(partition).producers.states.entries == {}
