"""Damaged files: named with the place; what can be built again is, what cannot goes offline."""

from __future__ import annotations

import re

import pytest

from impl.disk import MemoryDisk
from impl.log.config import LogConfig
from impl.log.errors import CorruptIndex, CorruptSegment, MalformedCheckpoint, StorageError
from impl.log.log_directory import LogSettings
from impl.log.log_manager import LogManager
from tests.impl.log.batches import ManualClock, batch, fresh, names, opened, overwrite, values

CONFIG = LogConfig(segment_bytes=400, index_interval_bytes=100, segment_index_bytes=120)
FIRST = "/d/t-0/00000000000000000000"
SECOND = "/d/t-0/00000000000000000005"


def stopped(clean: bool = True) -> tuple[MemoryDisk, ManualClock]:
    """Twelve batches of one record, five to a segment, after a stop."""
    log, disk, clock = fresh(CONFIG)
    for number in range(12):
        log.append_as_leader(batch(b"%02d" % number, at=1_000 + number), number // 4)
    assert names(log) == [f"{base:020d}.log" for base in (0, 5, 10)]
    log.flush()
    if clean:
        log.close()
    disk.crash(power=False)
    return disk, clock


def test_after_an_unclean_stop_the_first_bad_batch_and_all_after_it_go():
    disk, clock = stopped(clean=False)
    size = len(batch(b"00"))
    overwrite(disk, f"{SECOND}.log", 2 * size + 70, b"\xff")

    log, reported = opened(disk, clock, CONFIG)

    assert values(log) == [b"%02d" % number for number in range(7)]
    assert reported.cut_bytes == 5 * size
    assert reported.notes[0].startswith(f"{SECOND}.log: byte {2 * size}: checksum 0x")
    assert reported.notes[1:] == [
        "/d/t-0/00000000000000000010.log: dropped, because what comes before was cut"
    ]
    assert log.epochs.entries == [(0, 0), (1, 4)]
    assert log.append_as_leader(batch(b"new"), 5).first_offset == 7


def test_only_what_lies_above_the_recovery_point_is_scanned():
    disk, clock = stopped(clean=False)

    _, whole = opened(disk, clock, CONFIG, recovery_point=0)
    disk.crash(power=False)
    _, last = opened(disk, clock, CONFIG, recovery_point=11)

    assert (whole.scanned_bytes, last.scanned_bytes) == (12 * 73, 2 * 73)


def test_a_sound_batch_with_offsets_that_were_there_already_is_cut():
    disk, clock = stopped(clean=False)
    overwrite(disk, f"{FIRST}.log", 2 * 73, batch(b"xx", base=1, epoch=0))

    log, reported = opened(disk, clock, CONFIG)

    assert values(log) == [b"00", b"01"]
    assert reported.notes[0].startswith(
        f"{FIRST}.log: byte 146: a batch from offset 1 on, after offset 1"
    )


def test_epochs_below_the_log_start_are_forgotten_on_loading():
    disk, clock = stopped()

    log, _ = opened(disk, clock, CONFIG, clean=True, log_start=6)

    assert (log.log_start, log.epochs.entries) == (6, [(1, 6), (2, 8)])
    assert values(log)[0] == b"06"


def test_epochs_above_0_are_taken_from_the_records_if_the_file_is_gone():
    disk, clock = stopped(clean=False)
    disk.remove("/d/t-0/leader-epoch-checkpoint")

    log, _ = opened(disk, clock, CONFIG)

    assert log.epochs.entries == [(1, 4), (2, 8)]
    assert log.end_offset_for(0) == (0, 4)


def test_a_torn_epoch_file_is_built_again_after_an_unclean_stop_and_refused_after_a_clean_one():
    for clean in (False, True):
        disk, clock = stopped(clean)
        path = "/d/t-0/leader-epoch-checkpoint"
        disk.open(path).truncate(5)
        if clean:
            with pytest.raises(MalformedCheckpoint, match=f"{path}: line 3: 3 entries are"):
                opened(disk, clock, CONFIG, clean=True)
        else:
            log, reported = opened(disk, clock, CONFIG, recovery_point=12)
            assert log.epochs.entries == [(1, 4), (2, 8)]
            assert reported.notes[0].endswith("epochs are taken from the records")


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize(
    "suffix, damage, why",
    [
        ("index", b"\0" * 8 + b"\0" * 8, "byte 8: 0 -> 0 after 0 -> 0"),
        ("index", b"\0\0\0\2\0\0\0\xff\0\0\0\1\0\0\0\xff", "byte 8: 1 -> 255 after 2 -> 255"),
        ("index", b"\0\0\0\1\0\0\0\1\0\0\0\2\x7f\0\0\0", "byte 8: .* in a log of 365 bytes"),
        ("index", b"\xff" * 8, "byte 0: -1 -> -1 below the base offset 0"),
        ("timeindex", b"\xff" * 12, "byte 0: -1 -> -1 below the base offset 0"),
    ],
)
def test_a_corrupt_index_is_named_and_built_again(clean, suffix, damage, why):
    disk, clock = stopped(clean)
    expected = disk.open(f"{FIRST}.{suffix}").read(0, 100)
    overwrite(disk, f"{FIRST}.{suffix}", 0, damage)

    log, reported = opened(disk, clock, CONFIG, clean, recovery_point=12)

    assert len(reported.notes) == 1
    assert reported.notes[0].endswith("; built again from the segment")
    assert reported.notes[0].startswith(f"{FIRST}.{suffix}: byte ")
    assert disk.open(f"{FIRST}.{suffix}").read(0, 100) == expected
    assert values(log) == [b"%02d" % number for number in range(12)]
    assert re.search(why, reported.notes[0])


def test_an_index_that_leads_too_far_is_named_when_it_is_used():
    disk, clock = stopped()
    overwrite(disk, f"{SECOND}.index", 0, b"\0\0\0\0")
    overwrite(disk, f"{FIRST}.timeindex", 0, b"\0" * 8)
    log, reported = opened(disk, clock, CONFIG, clean=True)

    with pytest.raises(CorruptIndex, match=rf"{SECOND}\.index: byte 0: .*; there 7 begins"):
        log.read(5, 100)
    with pytest.raises(CorruptIndex, match=rf"{FIRST}\.timeindex: byte 0: .*; no such time"):
        log.offset_for_time(1_001)

    assert reported.notes == []


def test_an_index_with_half_an_entry_or_none_at_all_is_built_again():
    disk, clock = stopped()
    disk.open(f"{FIRST}.index").truncate(13)
    disk.remove(f"{SECOND}.timeindex")

    log, reported = opened(disk, clock, CONFIG, clean=True)

    assert reported.notes == [
        f"{FIRST}.index: byte 8: 5 bytes, an entry has 8; built again from the segment",
        f"{SECOND}.timeindex: missing; built again from the segment",
    ]
    assert values(log) == [b"%02d" % number for number in range(12)]


def test_after_a_clean_stop_a_corrupt_segment_is_an_error_with_its_place():
    disk, clock = stopped()
    overwrite(disk, "/d/t-0/00000000000000000010.log", 73 + 8, b"\0\0\xff\xff")

    with pytest.raises(CorruptSegment, match=r"10\.log: byte 73: a batch of 65547 bytes"):
        opened(disk, clock, CONFIG, clean=True)


def test_what_an_interrupted_change_left_behind_is_removed():
    disk, clock = stopped()
    for name in ("9.log.deleted", "9.index.cleaned", "x.tmp", f"{'9' * 20}.index"):
        disk.open(f"/d/t-0/{name}", create=True)

    log, reported = opened(disk, clock, CONFIG, clean=True)

    assert reported.notes == [f"/d/t-0/{'9' * 20}.index: an index without a segment; removed"]
    assert len(disk.names("/d/t-0")) == 13  # three of them are producers' snapshots
    assert log.log_end == 12


@pytest.mark.parametrize(
    "name, why",
    [("12.log", "a segment is named by twenty digits"), (f"{5:020d}.log.swap", "unfinished comp")],
)
def test_files_that_a_log_cannot_make_sense_of_are_named(name, why):
    disk, clock = stopped()
    disk.open(f"/d/t-0/{name}", create=True)

    with pytest.raises(StorageError, match=f"/d/t-0/{name}: .*{why}"):
        opened(disk, clock, CONFIG, clean=True)


def test_a_log_that_ends_below_its_start_begins_anew_at_its_start():
    disk, clock = stopped()

    log, reported = opened(disk, clock, CONFIG, clean=True, log_start=40)

    assert (log.log_start, log.log_end, names(log)) == (40, 40, [f"{40:020d}.log"])
    assert reported.notes[0].endswith("dropped, because the log ends at 12, and starts at 40")


# One bad partition among others


def broker(
    disk: MemoryDisk, clock: ManualClock, directories: tuple[str, ...] = ("/a",)
) -> LogManager:
    return LogManager(disk, directories, LogSettings(clock, CONFIG))


def with_two_partitions() -> tuple[MemoryDisk, ManualClock]:
    clock = ManualClock()
    disk = MemoryDisk(clock)
    manager = broker(disk, clock)
    manager.start(1)
    for number in (0, 1):
        log = manager.create(("t", number))
        for _ in range(12):
            log.append_as_leader(batch(b"v"), 3)
        log.high_watermark = 9
    manager.stop()
    return disk, clock


@pytest.mark.parametrize(
    "path, content, why",
    [
        ("/a/t-0/leader-epoch-checkpoint", b"0\n1\nx 0\n", "line 3: 'x' is not a number"),
        ("/a/t-0/00000000000000000010.log", b"\0" * 72, "byte 8: length 0; a batch"),
    ],
)
def test_a_corrupt_partition_is_offline_and_the_others_go_on(path, content, why):
    disk, clock = with_two_partitions()
    overwrite(disk, path, 0, content)

    manager = broker(disk, clock)
    manager.start(1)

    assert manager.partitions == [("t", 1)]
    assert str(manager.offline["t", 0]).startswith(f"{path}: {why}")
    with pytest.raises(StorageError, match=why):
        manager.log(("t", 0))
    with pytest.raises(StorageError, match=why):
        manager.create(("t", 0))
    log = manager.log(("t", 1))
    assert log is not None
    assert log.append_as_leader(batch(b"v"), 4).first_offset == 12


def test_what_is_known_of_an_offline_partition_is_kept_until_it_is_mended():
    disk, clock = with_two_partitions()
    path = "/a/t-0/leader-epoch-checkpoint"
    overwrite(disk, path, 0, b"9")
    first = broker(disk, clock)
    first.start(1)
    first.stop()

    disk.remove(path)
    manager = broker(disk, clock)
    manager.start(1)

    log = manager.log(("t", 0))
    assert log is not None
    assert (log.log_end, log.high_watermark) == (12, 9)


def test_a_segment_found_corrupt_while_it_is_read_takes_its_partition_offline():
    disk, clock = with_two_partitions()
    manager = broker(disk, clock)
    manager.start(1)
    overwrite(disk, "/a/t-0/00000000000000000000.log", 72 + 16, b"\x09")

    with pytest.raises(CorruptSegment, match=r"/a/t-0/0+\.log: byte 88: message format 9"):
        with manager.using(("t", 0)) as log:
            log.read(1, 100)

    assert manager.partitions == [("t", 1)]
    assert set(manager.offline) == {("t", 0)}


@pytest.mark.parametrize(
    "name, content, why",
    [
        ("replication-offset-checkpoint", b"0\n1\nt 0\n", "line 3: 't 0'; an entry is"),
        ("recovery-point-offset-checkpoint", b"7\n0\n", "line 1: version 7; this is read: 0"),
        ("meta.properties", b"version=1\nbroker.id=1\n", "line 1: version 1; 0 is read"),
        ("meta.properties", b"version=0\nbroker.id=one\n", "line 2: broker.id is 'one'"),
        ("stray/x", b"", "/b/stray: a log directory holds topic-partition"),
    ],
)
def test_a_corrupt_file_of_a_directory_takes_the_directory_offline_alone(name, content, why):
    clock = ManualClock()
    disk = MemoryDisk(clock)
    first = broker(disk, clock, ("/a", "/b"))
    first.start(1)
    first.create(("t", 0), "/a")
    first.create(("t", 1), "/b")
    first.stop()
    if "/" in name:
        disk.make_directory("/b/stray")
    else:
        file = disk.open(f"/b/{name}", create=True)
        file.truncate(0)
        file.write(0, content)

    failures = []
    manager = LogManager(
        disk, ("/a", "/b"), LogSettings(clock, CONFIG),
        failed=lambda path, reason: failures.append((path, reason)),
    )  # fmt: skip
    manager.start(1)

    assert manager.partitions == [("t", 0)]
    [(path, reason)] = failures
    assert path == "/b"
    assert why in reason
