"""Compaction: what stays, what goes and when, and that a death in its midst loses nothing."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from random import Random

import pytest

from impl.disk import Killed, MemoryDisk
from impl.log import cleaner, loading
from impl.log.cleaner import clean, cleanable
from impl.log.config import LogConfig
from impl.log.errors import InvalidBatch
from impl.log.legacy_messages import encode_message
from impl.log.loading import load_log
from impl.log.log import Log
from impl.log.log_directory import LogSettings
from impl.log.log_manager import LogManager
from impl.log.record import StoredRecord
from impl.log.record_batch import batches_in, encode_batch
from impl.log.retention import delete_old_segments
from impl.log.segment import Segment
from tests.impl.log.batches import ManualClock, fresh, names, opened
from tests.impl.log.broker_of_logs import T0

COMPACT = LogConfig(
    cleanup_policy="compact", segment_bytes=300, index_interval_bytes=80, segment_index_bytes=600,
    file_delete_delay_ms=50, min_cleanable_dirty_ratio=0.01, delete_retention_ms=1_000,
)  # fmt: skip

Keyed = tuple[int, bytes | None, bytes | None]


def add(log: Log, key: str, value: str | None, codec: str = "none", producer: int = -1) -> int:
    """A record of its own batch; its offset."""
    data = None if value is None else value.encode()
    number = (-1, -1, -1) if producer < 0 else (producer, 0, log.log_end)
    record = StoredRecord(0, log.now_ms(), key.encode(), data)
    done = log.append_as_leader(encode_batch([record], codec=codec, producer=number), 0)
    return done.first_offset


def records(log: Log) -> list[Keyed]:
    """Offset, key and value of all records."""
    found: list[Keyed] = []
    at = log.log_start
    while at < log.log_end:
        region = log.read(at, 400).region
        found += [(one.offset, one.key, one.value) for one in region.records(at)]
        data = region.read()
        at = max([at, *(batch.next_offset for _, batch in batches_in(data))])
        if not data:
            break
    return found


def state(log: Log) -> dict[bytes | None, bytes | None]:
    """What somebody knows who read everything: the latest value of each key, none deleted."""
    latest = {key: value for _, key, value in records(log)}
    return {key: value for key, value in latest.items() if value is not None}


def compact(log: Log, since: int | None = None) -> int:
    log.high_watermark = log.log_end
    return clean(log, cleanable(log, since))


def filled(count: int = 40, keys: int = 5) -> tuple[Log, MemoryDisk, ManualClock]:
    log, disk, clock = fresh(COMPACT)
    for number in range(count):
        clock.now_ms += 1
        add(log, f"k{number % keys}", f"v{number}")
    return log, disk, clock


def test_of_each_key_the_latest_record_stays_at_its_offset():
    log, _, _ = filled()
    before, known = records(log), state(log)
    first_untouched = log.active.base_offset

    end = compact(log)

    assert end == first_untouched
    left = records(log)
    assert state(log) == known
    assert [one for one in left if one[0] >= end] == [one for one in before if one[0] >= end]
    assert [one for one in left if one[0] < end] == [
        one for one in before if end - 5 <= one[0] < end
    ]
    assert log.log_end == 40


def test_the_active_segment_and_what_is_not_committed_stay_as_they_are():
    log, _, _ = filled()
    log.high_watermark = log.segments[3].base_offset + 1  # within the fourth segment
    found = cleanable(log, None)

    assert found.end == log.segments[3].base_offset
    before = [one for one in records(log) if one[0] >= found.end]
    clean(log, found)
    assert [one for one in records(log) if one[0] >= found.end] == before


def test_a_log_is_due_by_its_dirty_ratio_or_its_oldest_record():
    log, _, clock = filled()
    log.high_watermark = log.log_end
    end = compact(log)

    assert not cleanable(log, end).is_due
    add(log, "k0", "x" * 200)
    add(log, "k1", "y" * 200)
    found = cleanable(log, end)
    assert found.first_dirty == end
    assert found.ratio == found.dirty_bytes / (found.clean_bytes + found.dirty_bytes)

    log.config = LogConfig(cleanup_policy="compact", min_cleanable_dirty_ratio=1.0)
    log.high_watermark = log.log_end
    assert not cleanable(log, end).is_due
    log.config = LogConfig(
        cleanup_policy="compact", min_cleanable_dirty_ratio=1.0, max_compaction_lag_ms=100
    )
    clock.now_ms += 1_000
    assert cleanable(log, end).is_due


def test_a_record_younger_than_the_lag_is_not_compacted():
    log, _, clock = filled()
    log.high_watermark = log.log_end
    young = log.segments[2]
    log.config = LogConfig(
        cleanup_policy="compact",
        min_compaction_lag_ms=clock.now_ms - young.largest_timestamp() + 1,
    )

    assert cleanable(log, None).end == young.base_offset


def test_a_tombstone_goes_once_it_was_compacted_and_its_time_is_over():
    log, _, clock = filled(10, 5)
    add(log, "k1", None)
    for number in range(10):
        add(log, f"other{number}", "v")
    end = compact(log)
    assert [value for _, key, value in records(log) if key == b"k1"] == [None]
    for number in range(10):
        add(log, f"more{number}", "v")

    end = compact(log, end)
    assert b"k1" in {key for _, key, _ in records(log)}, "delete.retention.ms has not passed"
    clock.now_ms += 5_000
    for number in range(10):
        add(log, f"yet{number}", "v")
    end = compact(log, end)
    for number in range(10):  # the newest clean segment tells how late it is
        add(log, f"last{number}", "v")
    compact(log, end)
    assert b"k1" not in {key for _, key, _ in records(log)}


def test_a_batch_keeps_its_offsets_epoch_and_producer_when_it_loses_records():
    log, _, _ = fresh(COMPACT)
    pairs = [(b"a", b"1"), (b"b", b"2"), (b"c", b"3")]
    batch = [StoredRecord(at, 1_000 + at, *pair) for at, pair in enumerate(pairs)]
    log.append_as_follower(encode_batch(batch, 3, "gzip", producer=(7, 1, 10)))
    while len(log.segments) < 3:
        add(log, "a", "x" * 60)

    compact(log)

    data = log.read(0, 1 << 20).region.read()
    header = next(iter(batches_in(data)))[1]
    assert (header.base_offset, header.last_offset, header.records) == (0, 2, 2)
    assert (header.leader_epoch, header.codec) == (3, "gzip")
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 1, 10)
    assert records(log)[:2] == [(1, b"b", b"2"), (2, b"c", b"3")]


def test_of_a_producers_last_batch_the_header_stays_though_no_record_does():
    log, disk, clock = fresh(COMPACT)
    add(log, "a", "1", producer=7)
    while len(log.segments) < 3:
        add(log, "a", "x" * 60)
    compact(log)
    for path in names(log, [".snapshot"]):
        disk.remove(f"{log.directory}/{path}")

    again, _ = opened(disk, clock, COMPACT, recovery_point=log.log_end)

    assert 0 not in {offset for offset, _, _ in records(again)}
    assert again.producers.states.entries[7].last_offset == 0


@pytest.mark.parametrize("magic, codec", [(0, "none"), (1, "none"), (1, "gzip"), (0, "gzip")])
def test_messages_of_older_formats_are_compacted_in_their_format(magic, codec):
    log, _, _ = fresh(COMPACT)
    for number in range(30):
        record = StoredRecord(number, 1_000, b"k%d" % (number % 3), b"v%d" % number)
        log.append_as_follower(encode_message(record, magic, codec))
    known = state(log)

    compact(log)

    assert state(log) == known
    assert {batch.magic for _, batch in batches_in(log.read(0, 1 << 20).region.read())} == {magic}
    assert len(records(log)) < 30


def test_small_segments_become_one_and_their_times_are_still_found():
    log, _, _ = filled(60, 8)
    before = len(log.segments)
    compact(log)
    compact(log)  # they are small once the first has left little in them

    assert len(log.segments) < before
    for timestamp in (1_001, 1_030, 1_052):
        found = log.offset_for_time(timestamp)
        assert found is not None
        assert found.timestamp >= timestamp
        assert found.offset in {offset for offset, _, _ in records(log)}


def test_a_full_buffer_ends_a_cleaning_early_and_the_next_goes_on():
    log, _, _ = filled(60, 20)
    known = state(log)
    log.high_watermark = log.log_end
    first = clean(log, cleanable(log, None), most_keys=6)
    assert 6 <= first < cleanable(log, None).end
    second = clean(log, cleanable(log, first), most_keys=1_000)

    assert second == log.active.base_offset
    assert state(log) == known


def test_retention_leaves_a_log_alone_that_is_only_compacted():
    log, _, clock = filled()
    log.high_watermark = log.log_end
    clock.now_ms += LogConfig().retention_ms * 2

    assert delete_old_segments(log) == 0
    log.config = LogConfig(cleanup_policy="compact,delete")
    assert delete_old_segments(log) > 0


def test_a_record_without_a_key_is_refused():
    log, _, _ = fresh(COMPACT)
    with pytest.raises(InvalidBatch, match="without key"):
        log.append_as_leader(encode_batch([StoredRecord(0, 1, None, b"v")]), 0)
    assert log.log_end == 0


# A manager


def manager_on(disk: MemoryDisk, clock: ManualClock) -> LogManager:
    manager = LogManager(disk, ["/a"], LogSettings(clock, COMPACT), unique=lambda: "0" * 32)
    manager.start(1)
    return manager


def test_a_manager_compacts_the_filthiest_log_and_writes_down_how_far():
    clock = ManualClock()
    disk = MemoryDisk(clock)
    manager = manager_on(disk, clock)
    for partition in (T0, ("u", 1)):
        log = manager.create(partition)
        for number in range(40 if partition == T0 else 12):
            add(log, f"k{number % 3}", f"v{number}")
        log.high_watermark = log.log_end

    rounds = 0
    while manager.clean_filthiest():
        rounds += 1
    ends = {name: manager.directories[0].logs[name].active.base_offset for name in (T0, ("u", 1))}
    lines = disk.open("/a/cleaner-offset-checkpoint").read(0, 1_000).decode().splitlines()

    assert rounds == 2
    assert lines == ["0", "2", f"t 0 {ends[T0]}", f"u 1 {ends['u', 1]}"]
    manager.stop()
    assert not manager_on(disk, clock).clean_filthiest()


def test_a_truncation_lowers_what_counts_as_compacted_and_a_deletion_forgets_it():
    clock = ManualClock()
    disk = MemoryDisk(clock)
    manager = manager_on(disk, clock)
    log = manager.create(T0)
    for number in range(40):
        add(log, f"k{number % 3}", f"v{number}")
    log.high_watermark = log.log_end
    assert manager.clean_filthiest()

    log.truncate_to(5)
    assert manager.directories[0].cleaner_offsets.read() == {T0: log.log_end}
    manager.delete(T0)
    assert manager.directories[0].cleaner_offsets.read() == {}


# Death in its midst


@cache
def prepared(seed: int) -> tuple[Log, int]:
    """A log of which a part is clean already, and the offset up to which it is; to be copied."""
    clock = ManualClock()
    disk = MemoryDisk(clock, Random(seed))
    log, _ = opened(disk, clock, COMPACT)
    chance = Random(seed)
    for number in range(32):
        clock.now_ms += 1
        value = None if chance.random() < 0.15 else f"v{number}"
        add(log, f"k{chance.randrange(9)}", value, chance.choice(("none", "gzip")))
    log.high_watermark = log.log_end
    log.flush()
    first = clean(log, cleanable(log, None), most_keys=5)
    log.remove_marked()
    disk.sync_directory(log.directory)
    clock.now_ms += 5_000
    return log, first


def dies(kill_after: int, power: bool, seed: int) -> Log | None:
    """A log whose cleaning dies in the course of that change, loaded again; None: it did not."""
    log, first = copy.deepcopy(prepared(seed))
    disk = log.disk
    assert isinstance(disk, MemoryDisk)
    point = log.recovery_point
    disk.kill_after = kill_after
    try:
        clean(log, cleanable(log, first))
        return None
    except Killed:
        disk.crash(power)
    clock = log.now_ms
    assert isinstance(clock, ManualClock)
    return opened(disk, clock, COMPACT, recovery_point=point)[0]


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.deep)])
@pytest.mark.parametrize("power", [False, True], ids=["killed", "without power"])
def test_at_every_moment_of_a_cleaning_a_death_leaves_what_was_known(power, seed):
    moments = survived_everywhere(power, seed)

    assert moments > 30


def survived_everywhere(power: bool, seed: int) -> int:
    known = state(prepared(seed)[0])
    for kill_after in range(1_000):
        log = dies(kill_after, power, seed)
        if log is None:
            return kill_after
        assert state(log) == known, f"change {kill_after}"
        offsets = [offset for offset, _, _ in records(log)]
        assert offsets == sorted(set(offsets))
        assert names(log, [".swap", ".cleaned", ".deleted"]) == []
        add(log, "after", "all")
        compact(log)
        assert state(log) == known | {b"after": b"all"}
    raise AssertionError("a cleaning has fewer than 1,000 changes")


def swapped_without_sync(log: Log, cleaned: Segment, olds: list[Segment]) -> None:
    """As it should not be: the old segments go before what replaces them can be found."""
    place = log.segments.index(olds[0])
    log.drop(olds)
    log.segments.insert(place, cleaned)
    cleaned.rename("")


PLANTED: dict[str, tuple[object, str, Callable[..., object]]] = {
    "old segments that go first": (Log, "replace_segments", swapped_without_sync),
    "a start that forgets what was about to replace others": (
        loading, "_finish_swaps", lambda log: [
            log.disk.remove(f"{log.directory}/{name}")
            for name in log.disk.names(log.directory) if name.endswith(".swap")
        ],
    ),
    "records that are taken for superseded": (
        cleaner, "_latest_offsets", lambda log, found, most: (
            {b"k%d" % number: 10**6 for number in range(9)}, found.end,
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_noticed(fault, monkeypatch):
    where, name, wrong = PLANTED[fault]
    monkeypatch.setattr(where, name, wrong)

    with pytest.raises(AssertionError):
        survived_everywhere(power=True, seed=0)


def test_gaps_of_a_compacted_log_are_no_loss_after_an_unclean_stop():
    log, disk, clock = filled()
    compact(log)
    known = records(log)

    again, reported = load_log(disk, log.directory, COMPACT, clock, clean=False, recovery_point=0)

    assert records(again) == known
    assert reported.notes == []
    assert reported.cut_bytes == 0
