"""Logs that grow, are rolled, packed and cut while they are read: every line once, in its place."""

from __future__ import annotations

import gzip
import os
import random
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.ingest.growing import QUIET, ReadOffsets, chunks, closed, next_offset
from conformance.ingest.parse import rows_of_file
from conformance.ingest.pieces import ParsedChunk, piece_of
from specs.rendering import as_data
from tests.pipeline.written import line, obeys

TRACE = ["java.lang.IllegalStateException: no", "\tat kafka.Some.where(Some.scala:7)"]
LONG = [
    line(9, "KafkaConfig values: ", "x")[: -len(" (x)")],
    "\tbroker.id = 5",
    " (kafka.server.C)",
]


def text(*lines: str) -> str:
    return "".join(f"{each}\n" for each in lines)


class FolderReader:
    """Reads a folder trigger by trigger, and keeps what came."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.offset = str(folder), ReadOffsets()
        self.pieces: list[ParsedChunk] = []

    def trigger(self, final: bool = False, most: int = 1 << 26) -> list[ParsedChunk]:
        end = ReadOffsets.of_json(as_data(next_offset(self.folder, self.offset, final, most)))
        new = [piece_of(chunk, None) for chunk in chunks(self.folder, self.offset, end)]
        self.offset = end
        self.pieces += new
        return new

    @property
    def lines(self) -> list[int]:
        return [row for piece in self.pieces for row in piece.events["line"].to_pylist()]

    def total(self, name: str) -> int:
        return sum(piece.file[name] for piece in self.pieces)


@settings(max_examples=40)
@given(st.data())
def test_a_file_that_grows_in_any_steps_gives_the_events_that_it_gives_at_once(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
):
    folder = tmp_path_factory.mktemp("logs")
    parts = [[obeys(n, 5, 4, 7)] for n in range(5)] + [TRACE, LONG, ["\tloose"]]
    written = data.draw(st.permutations(parts))
    whole = text(*(each for part in written for each in part)).encode()
    cuts = sorted(data.draw(st.sets(st.integers(1, len(whole) - 1), max_size=6)))
    path, reader = folder / "state-change.log", FolderReader(folder)

    for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        with path.open("ab") as file:
            file.write(whole[start:end])
        reader.trigger()
    reader.trigger(final=True)

    rows = list(rows_of_file("logs", "state-change.log", str(path)))
    assert reader.lines == [
        row["line"] for row in rows if row["what"] == "event" and row["kind"] != "note"
    ]
    for name in ("read", "events", "continuation", "rejected"):
        assert reader.total(name) == rows[-1][name]


def test_transactions_of_a_zookeeper_are_no_lines_and_are_not_followed(tmp_path: Path):
    recorded = Path(__file__).parents[1] / "data" / "zookeeper" / "unseen-2.3"
    shutil.copytree(recorded, tmp_path / "zookeeper")
    (tmp_path / "server.log").write_text(text(obeys(1, 1, 1, 1)))
    reader = FolderReader(tmp_path)

    reader.trigger(final=True)

    assert [piece.log["path"] for piece in reader.pieces] == [str(tmp_path / "server.log")]


def test_a_line_is_read_when_it_has_its_end_and_a_record_when_it_has_its_logger(tmp_path: Path):
    path, reader = tmp_path / "server.log", FolderReader(tmp_path)
    started = line(3, "[KafkaServer id=5] started", "kafka.server.KafkaServer")
    path.write_text(text(started) + LONG[0])

    first = reader.trigger()
    path.write_text(text(started, LONG[0], LONG[1]))
    second = reader.trigger()
    path.write_text(text(started, *LONG))
    reader.trigger()

    assert [piece.file["read"] for piece in first] == [1]
    assert second == []
    assert reader.total("read") == 4


def test_what_never_gets_its_logger_is_read_when_all_has_been_quiet(tmp_path: Path):
    (tmp_path / "server.log").write_text(text(line(1, "starting", "kafka.server.S"), LONG[0]))
    reader = FolderReader(tmp_path)

    for _ in range(QUIET + 4):
        reader.trigger()

    assert reader.total("read") == 2
    assert reader.total("rejected") == 1
    assert reader.offset.quiet == QUIET
    assert reader.trigger() == []


def test_a_file_that_is_rolled_and_packed_is_read_on_where_it_was(tmp_path: Path):
    path, reader = tmp_path / "state-change.log", FolderReader(tmp_path)
    path.write_text(text(obeys(1, 5, 4, 7), obeys(2, 5, 4, 7)))
    reader.trigger()

    path.write_text(text(*(obeys(n, 5, 4, 7) for n in (1, 2, 3))))
    packed = tmp_path / "state-change.log.1.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    path.write_text(text(obeys(4, 5, 4, 7)))
    rolled = reader.trigger()

    assert reader.lines == [1, 2, 3, 1]
    assert [piece.log["roll"] for piece in rolled] == [0, 1]
    assert len({piece.log["name"] for piece in reader.pieces}) == 2


def test_files_that_have_much_to_catch_up_are_read_to_about_the_same_moment(tmp_path: Path):
    for name, every in (("controller", 1), ("server", 10)):
        lines = [obeys(n * every, 5, 4, 7) for n in range(12000)]
        (tmp_path / f"{name}.log").write_text(text(*lines[: 12000 // every]))
    reader = FolderReader(tmp_path)

    first = reader.trigger(most=1)
    while reader.trigger(most=1):
        pass

    ends = {os.path.basename(piece.log["path"]): piece.file["until"] for piece in first}
    assert 0 <= ends["controller.log"] - ends["server.log"] < 10_000
    assert reader.total("read") == 12000 + 1200


def test_a_file_that_was_cut_is_named_and_the_others_are_read_on(tmp_path: Path):
    path, other, reader = (
        tmp_path / "server.log",
        tmp_path / "controller.log",
        FolderReader(tmp_path),
    )
    path.write_text(text(obeys(1, 5, 4, 7), obeys(2, 5, 4, 7)))
    other.write_text(text(obeys(1, 6, 4, 7)))
    reader.trigger()

    path.write_text(text(obeys(1, 5, 4, 7)))
    other.write_text(text(obeys(1, 6, 4, 7), obeys(2, 6, 4, 7)))
    pieces = {os.path.basename(piece.log["path"]): piece for piece in reader.trigger()}

    assert "was cut or replaced" in str(pieces["server.log"].file["reason"])
    assert pieces["controller.log"].file["reason"] is None
    assert pieces["controller.log"].events["line"].to_pylist() == [2]


def test_a_damaged_file_is_read_up_to_the_damage_and_then_named(tmp_path: Path):
    whole = text(*(f"{obeys(n, 5, 4, 7)} {random.Random(n).random()}" for n in range(9000)))
    packed = gzip.compress(whole.encode())
    (tmp_path / "server.log.1.gz").write_bytes(packed[: len(packed) // 2])
    reader = FolderReader(tmp_path)

    for _ in range(QUIET + 4):
        reader.trigger()

    reasons = {piece.file["reason"] for piece in reader.pieces} - {None}
    assert 1000 < reader.total("read") < 9000
    assert len(reasons) == 1
    assert "gzip ends too early" in reasons.pop()


def test_a_file_that_is_no_text_is_named_and_not_read(tmp_path: Path):
    (tmp_path / "server.log").write_bytes(b"\0\1\2\n" * 50)
    reader = FolderReader(tmp_path)

    (piece,) = reader.trigger()

    assert "is binary" in str(piece.file["reason"])
    assert reader.total("read") == 0
    assert closed(str(tmp_path)) == []


@pytest.mark.parametrize("given", [False, True])
def test_lines_of_another_layout_are_followed_as_well(tmp_path: Path, given: bool):
    pattern = "%d %p [%t] %c - %m%n" if not given else "%d{ISO8601}|%p|%c|%m%n"
    own = [obeys(n, 5, 4, 7) for n in range(1, 9)]
    lines = []
    for each in own:
        stamp, level, rest = each[1:24], *each[26:].split(" ", 1)
        message, logger = rest.rsplit(" (", 1)
        if given:
            lines.append(f"{stamp}|{level}|{logger[:-1]}|{message}")
        else:
            lines.append(f"{stamp} {level} [main] {logger[:-1]} - {message}")
    path, events = tmp_path / "state-change.log", []
    offset = ReadOffsets()
    for count in (3, 8):
        path.write_text(text(*lines[:count]))
        end = next_offset(str(tmp_path), offset, count == 8)
        for chunk in chunks(str(tmp_path), offset, end):
            events += piece_of(chunk, None, pattern if given else None).events["line"].to_pylist()
        offset = end

    assert events == list(range(1, 9))
