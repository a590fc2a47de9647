"""Kafka's checkpoint files, and the epoch cache with its file, by release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.disk import Killed, MemoryDisk, RealDisk
from impl.disk.atomic import read_file
from impl.log.checkpoint_file import (
    LazyOffsetCheckpoint,
    OffsetCheckpoint,
    TornCheckpoint,
    parse_epochs,
    parse_offsets,
)
from impl.log.errors import MalformedCheckpoint
from impl.log.leader_epoch_cache import LeaderEpochFileCache
from impl.log.leader_epoch_cache_0_11 import LeaderEpochFileCache011
from impl.log.leader_epoch_file import LeaderEpochFile

VECTORS = Path(__file__).parents[4] / "shared" / "kafka" / "vectors"

Case = dict[str, Any]


def cases(file: str) -> list[Any]:
    path = VECTORS / file
    if not path.exists():
        reason = f"shared/kafka/vectors/{file} is not beside the repository"
        return [pytest.param({}, marks=pytest.mark.skip(reason=reason), id="absent")]
    loaded = json.loads(path.read_text(encoding="utf-8"))
    return [pytest.param(case, id=f"{case['case']}-{number}") for number, case in enumerate(loaded)]


def disk_with(path: str, content: bytes | None = None) -> MemoryDisk:
    disk = MemoryDisk()
    disk.make_directory(path.rpartition("/")[0])
    if content is not None:
        disk.open(path, create=True).write(0, content)
    return disk


OFFSETS = st.dictionaries(
    st.tuples(st.from_regex(r"[a-zA-Z0-9._-]{1,12}", fullmatch=True), st.integers(0, 99)),
    st.integers(0, 2**62),
    max_size=6,
)


@given(OFFSETS, OFFSETS)
def test_offsets_come_back_as_they_were_last_written(first, second):
    checkpoint = OffsetCheckpoint(disk_with("/d/x"), "/d/x")

    checkpoint.write(first)
    checkpoint.write(second)

    assert checkpoint.read() == second


def test_the_file_is_text_that_kafka_reads(tmp_path):
    checkpoint = OffsetCheckpoint(RealDisk(), f"{tmp_path}/replication-offset-checkpoint")

    checkpoint.write({("b", 1): 7, ("a-b.c", 3): 9})

    assert Path(checkpoint.path).read_text() == "0\n2\na-b.c 3 9\nb 1 7\n"
    assert list(tmp_path.iterdir()) == [Path(checkpoint.path)]


def test_a_missing_file_and_an_empty_one_have_no_entries():
    assert OffsetCheckpoint(disk_with("/d/x"), "/d/x").read() == {}
    assert OffsetCheckpoint(disk_with("/d/x", b""), "/d/x").read() == {}


@pytest.mark.parametrize(
    "content, where, kind",
    [
        (b"x\n0\n", "line 1: 'x' is not a number", MalformedCheckpoint),
        (b"1\n0\n", "line 1: version 1; this is read: 0", MalformedCheckpoint),
        (b"0\nmany\n", "line 2: 'many' is not a number", MalformedCheckpoint),
        (b"0\n1\nfoo 1\n", "line 3: 'foo 1'; an entry is 'topic ", MalformedCheckpoint),
        (b"0\n1\nfoo 1 two\n", "line 3: 'two' is not a number", MalformedCheckpoint),
        (b"0\n1\na 0 1\nb 0 1\n", "line 4: 1 entries are announced, 2", MalformedCheckpoint),
        (b"0\n2\na 0 1\n", "line 3: 2 entries are announced, 1 are there", TornCheckpoint),
        (b"0\n1\na 0 1", "line 3: 1 entries are announced, 1 are there", TornCheckpoint),
        (b"0\n", "line 2: the number of entries is missing", TornCheckpoint),
        (b"0\n1\na 0 1\n\0\0\0", "byte 10: zeros, where text was written", TornCheckpoint),
    ],
)
def test_a_malformed_file_is_named_with_the_line(content, where, kind):
    checkpoint = OffsetCheckpoint(disk_with("/d/x", content), "/d/x")

    with pytest.raises(MalformedCheckpoint, match=f"/d/x: {where}") as raised:
        checkpoint.read()

    assert type(raised.value) is kind


def test_a_crash_while_a_file_is_replaced_leaves_the_old_one_or_the_new_one():
    met = set()
    for seed in range(60):
        disk = disk_with("/d/x")
        disk.chance.seed(seed)
        checkpoint = OffsetCheckpoint(disk, "/d/x")
        checkpoint.write({("t", 0): 1})

        disk.kill_after = seed % 5
        with pytest.raises(Killed):
            checkpoint.write({("t", 0): 2})
        disk.crash(power=True)

        met.add(checkpoint.read()["t", 0])
    assert met == {1, 2}


@pytest.mark.parametrize("case", cases("checkpoint_files.json"))
def test_checkpoint_files_are_as_kafkas(case):
    given_, expected = case["input"], case["expected"]
    disk = disk_with("/d/x")

    if "error" in expected:
        disk.open("/d/x", create=True).write(0, given_["fileContent"].encode())
        with pytest.raises(MalformedCheckpoint):
            OffsetCheckpoint(disk, "/d/x").read()
    elif "fetch" in given_:
        checkpoint = OffsetCheckpoint(disk, "/d/x")
        checkpoint.write(keyed(given_["file"]))
        lazy = LazyOffsetCheckpoint(checkpoint)
        found = [lazy.fetch(partition(name)) for name in given_["fetch"]]
        assert (found, checkpoint.reads) == (expected["results"], expected["fileReads"])
    elif "thenWrite" in given_:
        disk.open("/d/x", create=True).write(0, given_["fileContent"].encode())
        checkpoint = OffsetCheckpoint(disk, "/d/x")
        assert checkpoint.read() == expected["read"]
        checkpoint.write(given_["thenWrite"])
        assert checkpoint.read() == expected["readAfter"]
    elif "lineCount" in expected:
        checkpoint = OffsetCheckpoint(disk, "/d/x")
        checkpoint.write(keyed(given_["writes"][0]))
        assert checkpoint.read() == keyed(given_["writes"][0])
        assert len(read_file(disk, "/d/x").splitlines()) == expected["lineCount"] + 2
    elif "writes" in given_:
        disk.make_directory("/d/t-0")
        file = LeaderEpochFile(disk, "/d/t-0", LeaderEpochFileCache())
        for entries, read in zip(given_["writes"], expected["reads"], strict=True):
            file.cache.entries = [(epoch, start) for epoch, start in entries]
            file.write()
            again = LeaderEpochFile(disk, "/d/t-0", LeaderEpochFileCache())
            again.load()
            assert [list(entry) for entry in again.entries] == read
    elif isinstance(expected["entries"], list):
        epochs = parse_epochs("x", given_["fileContent"].encode())
        assert [list(entry) for entry in epochs] == expected["entries"]
    else:
        found_offsets = parse_offsets("x", given_["fileContent"].encode())
        assert found_offsets == keyed(expected["entries"])


@pytest.mark.parametrize("case", cases("leader_epoch_cache.json"))
def test_the_epoch_cache_answers_as_kafkas_by_release(case):
    old = case["versions"] == "0.11-1.1"
    disk = disk_with("/d/t-0/x")
    file = LeaderEpochFile(
        disk, "/d/t-0", LeaderEpochFileCache011() if old else LeaderEpochFileCache()
    )

    try:
        results = [answer for op in case["input"]["ops"] for answer in applied(file, op, old)]
    except ValueError:
        assert case["expected"]["error"] == "IllegalArgumentException"
        return

    again = LeaderEpochFile(disk, "/d/t-0", LeaderEpochFileCache())
    again.load()
    assert results == case["expected"]["results"]
    assert [list(entry) for entry in file.entries] == case["expected"]["entries"]
    assert again.entries == file.entries


def applied(file: LeaderEpochFile, op: Case, old: bool) -> list[Any]:
    """What one operation of a case answers, if it asks at all; the log end is kept on the side."""
    ends: dict[int, int] = LOG_ENDS
    match op["do"]:
        case "assign":
            file.assign(op["epoch"], op["offset"])
        case "leo":
            ends[id(file)] = op["value"]
        case "truncateFromEnd":
            file.truncate_from_end(op["offset"])
        case "truncateFromStart":
            file.truncate_from_start(op["offset"])
        case "clear":
            file.clear()
        case "latestEpoch":
            return [file.latest_epoch]
        case "previousEpoch":
            return [None if file.cache.previous_epoch == -1 else file.cache.previous_epoch]
        case "endOffsetFor":
            epoch, end = file.end_offset_for(op["epoch"], ends.get(id(file), 0))
            return [end if old else [epoch, end]]
        case unknown:
            raise AssertionError(f"no such operation: {unknown}")
    return []


LOG_ENDS: dict[int, int] = {}


def test_0_11_0_answers_an_undefined_epoch_on_an_empty_cache_with_the_log_end():
    assert LeaderEpochFileCache011(asks_undefined=True).end_offset_for(-1, 7) == (-1, 7)
    assert LeaderEpochFileCache011().end_offset_for(-1, 7) == (-1, -1)


def test_the_old_cache_keeps_two_epochs_that_begin_at_one_offset():
    cache = LeaderEpochFileCache011(((2, 9), (3, 9)))

    cache.truncate_from_start(9)
    kept = list(cache.entries)
    cache.truncate_from_start(12)

    assert kept == [(2, 9), (3, 9)]
    assert cache.entries == [(3, 12)]


def partition(name: str) -> tuple[str, int]:
    topic, _, number = name.rpartition("-")
    return topic, int(number)


def keyed(offsets: dict[str, int]) -> dict[tuple[str, int], int]:
    return {partition(name): offset for name, offset in offsets.items()}
