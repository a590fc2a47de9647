"""Damaged, empty and quiet files: what can be read is judged, the rest named, nothing invented."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
from pathlib import Path

import pyarrow as pa
import pytest

from tests.pipeline.written import (
    CONTROLLER,
    changed,
    checked,
    elected,
    incomplete,
    line,
    obeys,
    violations,
    write,
)

GOOD = [changed(n, (1, 4), 1, n, "1,2") for n in range(1, 40)]


def good(folder: Path) -> Path:
    return write(
        folder,
        {
            "b1/controller.log": [elected(0, 1, 4)],
            "b1/state-change.log": GOOD,
            "b2/state-change.log": [obeys(n, 2, 1, 4) for n in range(1, 9)],
        },
    )


@pytest.mark.parametrize("seed", range(30))
def test_a_gzip_with_flipped_bytes_gives_no_violation(tmp_path: Path, seed: int):
    good(tmp_path)
    (tmp_path / "b1/state-change.log").unlink()
    noise = [line(n, f"[Controller id=1] {n}", "kafka.utils.Other") for n in range(300)]
    text = "".join(f"{each}\n" for each in [*noise, *GOOD]).encode()
    data = bytearray(gzip.compress(text, mtime=0, compresslevel=1))
    chosen = random.Random(seed)
    for _ in range(chosen.randrange(1, 4)):
        data[chosen.randrange(12, len(data))] ^= 1 << chosen.randrange(8)
    (tmp_path / "b1/state-change.log.gz").write_bytes(bytes(data))

    result = checked(tmp_path)

    assert violations(result) == []
    assert result["verdict"] == "unknown"
    (row,) = result["unreadable"]
    assert "gzip" in row["reason"]
    assert "could not be read" in result["headline"]


def by_arrow(name: str, data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, name) as stream:
        stream.write(data)
    return bytes(sink.getvalue())


PACKERS = {
    "gz": lambda data: gzip.compress(data, mtime=0),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: by_arrow("zstd", data),
    "lz4": lambda data: by_arrow("lz4", data),
}


@pytest.mark.parametrize("end", sorted(PACKERS))
def test_a_packed_file_is_read_as_it_was_and_up_to_where_it_is_cut(tmp_path: Path, end: str):
    name, noise = "b1/state-change.log", random.Random(7)
    text = "".join(
        f"{each}\n{line(n, f'[Controller id=1] {noise.random()}', 'kafka.utils.Other')}\n"
        for n, each in enumerate(GOOD * 40)
    ).encode()
    packed = PACKERS[end](text)
    plain, whole, cut = (good(tmp_path / each) for each in ("plain", "whole", "cut"))
    (plain / name).write_bytes(text)
    for folder, data in ((whole, packed), (cut, packed[: len(packed) // 2])):
        (folder / name).unlink()
        (folder / f"{name}.{end}").write_bytes(data)

    result, other, part = checked(whole), checked(plain), checked(cut)

    assert result["coverage"]["rules"] == other["coverage"]["rules"]
    assert result["headline"] == other["headline"]
    assert "ends too early" in part["unreadable"][0]["reason"]
    assert violations(part) == []


def test_a_gzip_that_is_cut_is_believed_up_to_there(tmp_path: Path):
    good(tmp_path)
    (tmp_path / "b1/state-change.log").unlink()
    text = "".join(f"{each}\n" for each in GOOD * 20).encode()
    data = gzip.compress(text, mtime=0)
    (tmp_path / "b1/state-change.log.gz").write_bytes(data[: len(data) // 2])

    result = checked(tmp_path)

    assert result["coverage"]["rules"]["leader_is_in_its_isr"] > 10
    assert "gzip ends too early" in result["unreadable"][0]["reason"]


def test_of_several_gzip_members_those_with_a_right_checksum_are_believed(tmp_path: Path):
    good(tmp_path)
    (tmp_path / "b1/state-change.log").unlink()
    one, two = ("".join(f"{each}\n" for each in GOOD[a:b]).encode() for a, b in ((0, 20), (20, 39)))
    bad = bytearray(gzip.compress(two, mtime=0))
    bad[-6] ^= 1
    (tmp_path / "b1/state-change.log.gz").write_bytes(gzip.compress(one, mtime=0) + bytes(bad))

    result = checked(tmp_path)

    assert [row["read"] for row in result["files"] if row["file"].endswith(".gz")] == [20]


def test_nul_bytes_cost_the_line_they_stand_in_and_no_more(tmp_path: Path):
    path = good(tmp_path) / "b1/state-change.log"
    data = path.read_bytes()
    middle = data.index(b"\n", len(data) // 2) + 1
    path.write_bytes(data[:middle] + b"\0" * 512 + data[middle:])

    result = checked(tmp_path)

    assert result["lines"] == {"read": 48, "events": 48, "continuation": 0, "rejected": 0}
    assert result["verdict"] == "holds"
    assert "1 places where NUL bytes stand for what was lost" in result["headline"]


def test_a_log_that_begins_with_nul_bytes_is_no_binary(tmp_path: Path):
    path = good(tmp_path) / "b1/state-change.log"
    path.write_bytes(b"\0" * 512 + path.read_bytes())

    assert checked(tmp_path)["verdict"] == "holds"


def test_what_may_have_stood_where_nul_bytes_are_is_no_violation(tmp_path: Path):
    lines = [elected(1, 1, 4), line(2, "[Controller id=1] Resigned", CONTROLLER), elected(90, 1, 5)]
    hole = ["\0" * 300 + "ned (kafka.controller.KafkaController)"]
    write(tmp_path, {"whole/controller.log": lines, "holed/controller.log": []})
    text = "\n".join([lines[0], *hole, lines[2]]) + "\n"
    (tmp_path / "holed/controller.log").write_text(text)

    assert [row["kind"] for row in checked(tmp_path / "whole")["findings"]] == []
    assert {row["kind"] for row in checked(tmp_path / "holed")["findings"]} <= {"incomplete"}


def test_a_last_line_that_is_cut_changes_nothing(tmp_path: Path):
    path = good(tmp_path) / "b1/state-change.log"
    path.write_bytes(path.read_bytes()[:-60])

    result = checked(tmp_path)

    assert (result["verdict"], incomplete(result)) == ("holds", [])
    assert "1 lines that were not understood" in result["headline"]


def test_an_empty_rolled_file_is_named_and_the_rest_holds(tmp_path: Path):
    (good(tmp_path) / "b1/state-change.log.1").write_bytes(b"")

    result = checked(tmp_path)

    assert result["verdict"] == "holds"
    assert result["unreadable"] == []
    assert [Path(row["file"]).name for row in result["silent"]] == ["state-change.log.1"]
    assert "state-change.log.1, in which nothing stands" in result["headline"]


def test_a_quiet_hours_file_with_one_line_of_a_client_is_no_obstacle(tmp_path: Path):
    quiet = [line(1, "Cluster ID: q8Xn2YpPQbOe7Xk1mG4d-w", "org.apache.client.Metadata")]
    write(good(tmp_path), {"b1/server.log.2024-03-01-09": quiet})

    assert checked(tmp_path)["verdict"] == "holds"


def test_a_stamped_line_of_ten_megabytes_is_rejected_and_the_rest_is_judged(tmp_path: Path):
    path = good(tmp_path) / "b2/state-change.log"
    long = line(99, "x" * 10_000_000)
    path.write_text(f"{path.read_text()}{long}\n{obeys(100, 2, 1, 4)}\n")

    result = checked(tmp_path)

    assert result["verdict"] == "holds"
    assert result["rejected_by_reason"] == {"longer than 1 MiB": 1}


def test_a_file_that_cannot_be_read_leaves_the_whole_unknown_and_is_named(tmp_path: Path):
    (good(tmp_path) / "b1/server.log").write_bytes(b"\x7fELF\0\0\1")

    result = checked(tmp_path)

    assert result["verdict"] == "unknown"
    assert "b1/server.log, which could not be read" in result["headline"]


def test_the_verdict_says_what_it_is_about_and_which_rules_had_nothing_to_compare(tmp_path: Path):
    result = checked(good(tmp_path))

    assert result["headline"].startswith("holds (control plane only; except: ")
    assert "rules had nothing to compare)" in result["headline"]
    rows = {row["rule"]: row for row in result["coverage"]["compared"]}
    assert rows["leader_is_in_its_isr"]["compared"] == 39
    idle = rows["no_truncation_below_the_high_watermark"]
    assert (idle["compared"], "truncations" in idle["needs"]) == (0, True)


def test_nothing_compared_is_not_checked(tmp_path: Path):
    write(tmp_path, {"server.log": [line(1, "started", "kafka.utils.Other")]})

    assert checked(tmp_path)["verdict"] == "not checked"
