"""What is printed of a log's files, and what is said of damaged ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli import main
from impl.disk import Disk
from impl.disk.atomic import read_file
from impl.log.config import LogConfig
from impl.log.dump import Dump, DumpOptions
from impl.log.legacy_messages import encode_message, encode_wrapper
from impl.log.log import Log
from impl.log.record import StoredRecord
from impl.log.record_batch import encode_batch
from tests.impl.log.batches import fresh, overwrite


def a_log() -> Log:
    log, _, _ = fresh(LogConfig(index_interval_bytes=60))
    headers = (("h1", b"x"), ("h2", None))
    first = [StoredRecord(0, 1_000, b"k", b"v1", headers), StoredRecord(1, 1_002, None, None)]
    log.append_as_leader(encode_batch(first, codec="gzip", producer=(5, 1, 10)), 3)
    for at in range(3):
        log.append_as_leader(encode_batch([StoredRecord(0, 2_000 + at, None, b"v")]), 3)
    log.active.sync()
    return log


def dumped(disk: Disk, path: str, **options: bool) -> Dump:
    dump = Dump(path, lambda each: read_file(disk, each), DumpOptions(**options))
    dump.text = "\n".join(dump.lines())  # type: ignore[attr-defined]
    return dump


def text(dump: Dump) -> list[str]:
    return str(dump.text).splitlines()  # type: ignore[attr-defined]


BASE = "/d/t-0/00000000000000000000"


def test_a_segment_is_printed_batch_by_batch():
    dump = dumped(a_log().disk, f"{BASE}.log")

    lines = text(dump)
    assert lines[:2] == [f"Dumping {BASE}.log", "Starting offset: 0"]
    begin = (
        "baseOffset: 0 lastOffset: 1 count: 2 baseSequence: 10 lastSequence: 11 producerId: 5 "
        "producerEpoch: 1 partitionLeaderEpoch: 3 isTransactional: false isControl: false "
        "position: 0 CreateTime: 1002 size: "
    )
    assert lines[2].startswith(begin)
    assert " magic: 2 compresscodec: GZIP crc: " in lines[2]
    assert lines[2].endswith(" isvalid: true")
    assert len(lines) == 6
    assert dump.sound


def test_records_are_printed_with_their_contents():
    log = a_log()
    lines = text(dumped(log.disk, f"{BASE}.log", contents=True))

    size = log.active.index.entry(0).position
    batch = (
        "baseOffset: 0 lastOffset: 1 baseSequence: 10 lastSequence: 11 producerEpoch: 1 "
        f"partitionLeaderEpoch: 3 batchSize: {size} magic: 2 compressType: GZIP position: 0"
    )
    assert lines[3:5] == [
        "| offset: 0 isValid: true crc: null keySize: 1 valueSize: 2 CreateTime: 1000 "
        f"{batch} sequence: 10 headerKeys: [h1,h2] key: k payload: v1",
        "| offset: 1 isValid: true crc: null keySize: -1 valueSize: -1 CreateTime: 1002 "
        f"{batch} sequence: 11 headerKeys: []",
    ]
    assert "payload" not in "\n".join(text(dumped(a_log().disk, f"{BASE}.log", deep=True)))


def test_messages_of_older_formats_have_one_offset():
    log, disk, _ = fresh()
    log.append_as_follower(encode_message(StoredRecord(0, 7, None, b"v"), 0))
    log.append_as_follower(encode_message(StoredRecord(4, 7, None, b"v"), 1))

    dump = dumped(disk, f"{BASE}.log", deep=True)

    lines = text(dump)
    assert lines[2].startswith("offset: 0 position: 0 NoTimestampType: -1 size: ")
    assert lines[4].startswith("offset: 4 position: ")
    assert dump.findings == [f"Non-consecutive offsets in {BASE}.log", "  0 is followed by 4"]
    assert dump.sound, "compaction leaves gaps"


def test_records_of_a_wrapper_are_printed_with_their_own_checksums():
    log, disk, _ = fresh(
        LogConfig(index_interval_bytes=0, index_last_offset=False, message_format=1)
    )
    records = [StoredRecord(at, 7 + at, None, b"v%d" % at) for at in range(2)]
    for _ in range(2):
        log.append_as_leader(encode_wrapper(records, 1, "gzip"), 0)

    lines = text(dumped(disk, f"{BASE}.log", deep=True))
    index = dumped(disk, f"{BASE}.index")

    for line, one in zip(lines[6:], records, strict=True):
        checksum = int.from_bytes(encode_message(one, 1)[12:16], "big")
        assert line.startswith(f"| offset: {2 + one.offset} isValid: true crc: {checksum} ")
        assert " baseOffset: 2 lastOffset: 3 baseSequence: -1 " in line
        assert line.endswith(f" crc: {checksum} isvalid: true")
    assert text(index)[1:] == [f"offset: 2 position: {log.active.index.entry(0).position}"]
    assert (index.sound, index.findings) == (True, [])


def test_indexes_are_printed_and_compared_with_their_segment():
    log = a_log()
    index = dumped(log.disk, f"{BASE}.index")
    times = dumped(log.disk, f"{BASE}.timeindex")
    only = dumped(log.disk, f"{BASE}.index", verify=True)

    entries = [
        f"offset: {one.offset} position: {one.position}" for one in log.active.index.entries()
    ]
    assert text(index)[1:] == entries
    assert text(times)[1:] == [
        f"timestamp: {one.timestamp} offset: {one.offset}"
        for one in log.active.time_index.entries()
    ]
    assert len(text(only)) == 1
    assert (index.findings, index.damage, times.findings, times.damage) == ([], [], [], [])


def test_an_empty_index_and_a_sound_one_are_called_so():
    log, disk, _ = fresh()
    log.active.sync()

    assert text(dumped(disk, f"{BASE}.index"))[1:] == [f"{BASE}.index is empty."]
    assert text(dumped(a_log().disk, f"{BASE}.index", sanity=True))[1:] == [
        f"{BASE}.index passed sanity check."
    ]


def test_an_entry_that_leads_too_far_is_damage():
    log = a_log()
    position = log.active.index.entries()[0].position
    overwrite(log.disk, f"{BASE}.index", 0, b"\0\0\0\0" + position.to_bytes(4, "big"))

    dump = dumped(log.disk, f"{BASE}.index")

    assert not dump.sound
    assert dump.damage[0].startswith(f"{BASE}.index: byte 0: offset 0 leads to offset 2")


def test_a_time_that_its_batch_has_not_is_remarked_in_kafkas_words():
    log = a_log()
    overwrite(log.disk, f"{BASE}.timeindex", 0, (77).to_bytes(8, "big"))

    dump = dumped(log.disk, f"{BASE}.timeindex")

    assert dump.findings[0] == f"Found timestamp mismatch in :{BASE}.timeindex"
    assert dump.findings[1].startswith("  Index timestamp: 77, log timestamp: ")
    assert not dump.sound


def test_a_snapshot_is_printed_producer_by_producer():
    log = a_log()
    log.roll()

    dump = dumped(log.disk, "/d/t-0/00000000000000000005.snapshot")

    assert text(dump)[1:] == [
        "producerId: 5 producerEpoch: 1 coordinatorEpoch: -1 currentTxnFirstOffset: None "
        "firstSequence: 10 lastSequence: 11 lastOffset: 1 offsetDelta: 1 timestamp: 1002"
    ]


@pytest.mark.parametrize(
    "suffix, position, content, where, printed",
    [
        (".log", 40, b"\xff", "byte 17: checksum", 5),
        (".log", 16, b"\x09", "byte 16: message format 9", 3),
        (".log", 8, b"\x00\x00\x7f\xff", "byte 0: a batch of", 3),
        (".index", 8, b"\x00\x00\x00\x01", "byte 8: offset 1", 2),
    ],
)
def test_damage_is_reported_with_its_byte(suffix, position, content, where, printed):
    log = a_log()
    overwrite(log.disk, f"{BASE}{suffix}", position, content)

    dump = dumped(log.disk, f"{BASE}{suffix}")

    assert dump.damage[0].startswith(f"{BASE}{suffix}: {where}")
    assert len(text(dump)) >= printed
    assert not dump.sound


def test_the_command_tells_sound_files_from_damaged_and_unknown_ones(tmp_path: Path):
    whole = tmp_path / "00000000000000000000.log"
    whole.write_bytes(encode_batch([StoredRecord(0, 1, None, b"v")]))
    cut = tmp_path / "00000000000000000009.log"
    cut.write_bytes(whole.read_bytes()[:-3])
    other = tmp_path / "leader-epoch-checkpoint"
    other.write_text("0\n0\n")
    runs = [CliRunner().invoke(main, ["dump-log", str(path)]) for path in (whole, cut, other)]
    missing = CliRunner().invoke(main, ["dump-log", str(tmp_path / "x.log")])
    nothing = CliRunner().invoke(main, ["dump-log"])

    assert [run.exit_code for run in runs] == [0, 1, 0]
    assert runs[1].stderr.startswith(f"insync: {cut}: byte 0: a batch of 69 bytes, of which 66")
    assert len(runs[1].stderr.splitlines()) == 1
    assert runs[2].stderr == f"Ignoring unknown file {other}\n"
    assert (missing.exit_code, nothing.exit_code) == (64, 64)
    assert "No such file" in missing.stderr
