"""Kafka's checkpoint files, and the epoch cache with its file, by release."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.vectors.implementation import answer
from conformance.vectors.shapes import NotUnderstood
from impl.disk import Killed, MemoryDisk, RealDisk
from impl.log.checkpoint_file import (
    OffsetCheckpoint,
    TornCheckpoint,
)
from impl.log.errors import MalformedCheckpoint
from impl.log.leader_epoch_cache_0_11 import LeaderEpochFileCache011


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
    ("content", "entries"),
    [
        (b"0\n1\na 0 12", {("a", 0): 12}),
        (b"0\r\n2\r\na 0 1\r\nb 1 2", {("a", 0): 1, ("b", 1): 2}),
        (b"0\n", {}),
        (b"0", {}),
    ],
)
def test_the_last_line_needs_no_end_and_a_file_may_stop_before_the_number_of_entries(
    content, entries
):
    assert OffsetCheckpoint(disk_with("/d/x", content), "/d/x").read() == entries


@pytest.mark.parametrize(
    "content, where, kind",
    [
        (b"x\n0\n", "line 1: 'x' is not a number", MalformedCheckpoint),
        (b"1\n0\n", "line 1: version 1; this is read: 0", MalformedCheckpoint),
        (b"0\nmany\n", "line 2: 'many' is not a number", MalformedCheckpoint),
        (b"0\n1\nfoo 1\n", "line 3: 'foo 1'; an entry is 'topic ", MalformedCheckpoint),
        (b"0\n1\nfoo 1 two\n", "line 3: 'two' is not a number", MalformedCheckpoint),
        (b"0\n1\n foo 1 5\n", "line 3: ' foo 1 5'; an entry is 'topic ", MalformedCheckpoint),
        (b"0\n1\na 0 1\nb 0 1\n", "line 4: 1 entries are announced, 2", MalformedCheckpoint),
        (b"0\n2\na 0 1\n", "line 3: 2 entries are announced, 1 are there", TornCheckpoint),
        (b"0\n2\na 0 1", "line 3: 2 entries are announced, 1 are there", TornCheckpoint),
        (b"0\n1\na 0 ", "line 3: 'a 0'; an entry is 'topic partition offset'", TornCheckpoint),
        (b"0\n1\na 0 1\n\n", "line 4: 1 entries are announced, 2", MalformedCheckpoint),
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


def test_what_an_answer_depends_on_is_the_release_it_is_asked_under():
    ops = [
        {"do": "latestEpoch"},
        {"do": "leo", "value": 12},
        {"do": "assign", "epoch": 5, "offset": 9},
        {"do": "assign", "epoch": 6, "offset": 9},
        {"do": "endOffsetFor", "epoch": 4},
        {"do": "endOffsetFor", "epoch": 6},
    ]

    answers = {
        release: answer(
            "leader_epoch_cache", "epochCache", {"release": release, "input": {"ops": ops}}
        )
        for release in ("0.11", "1.1", "2.0", "2.3", "2.7")
    }

    assert answers["0.11"] == {"results": [-1, -1, 12], "entries": [[5, 9], [6, 9]]}
    assert answers["1.1"] == answers["0.11"]
    assert answers["2.0"] == {"results": [-1, [4, 9], [6, 12]], "entries": [[6, 9]]}
    assert answers["2.3"] == {"results": [None, [4, 9], [6, 12]], "entries": [[6, 9]]}
    assert answers["2.7"] == answers["2.3"]


@pytest.mark.parametrize(
    "content, error",
    [
        ("1\n0\n", "IOException (unrecognized version)"),
        ("0\n2\nt 0 1\n", "IOException (wrong number of entries)"),
        ("0\n1\nt 0 x\n", "IOException (malformed line)"),
    ],
)
def test_a_refused_file_is_answered_with_the_kind_of_its_error(content, error):
    case = {"release": "2.7", "input": {"fileContent": content}}

    answered = answer("checkpoint_files", "checkpoint", case)

    assert answered == {"error": error, "wrapped": "KafkaStorageException"}


def test_files_and_operations_that_are_not_about_storage_are_refused():
    with pytest.raises(KeyError, match="election"):
        answer("election.json", "elect", {"input": {}})
    with pytest.raises(NotUnderstood, match="'ops': the epoch cache has no operation 'shuffle'"):
        answer(
            "leader_epoch_cache",
            "epochCache",
            {"release": "2.7", "input": {"ops": [{"do": "shuffle"}]}},
        )


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
