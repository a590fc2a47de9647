"""A day of a cluster's logs under a watch, compressed: files are rolled each hour, and deleted.

What a trigger of `insync watch` does is done without Spark, with the same functions, and the state
is packed and unpacked between triggers as its checkpoint does.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.ingest.pieces import ParsedChunk
from conformance.pipeline import streaming_state
from conformance.pipeline.partitions import KeptPartition, rows_of
from conformance.pipeline.streaming_state import FINDING, ReportedFinding, StreamingState
from tests.bench.pipeline import generated
from tests.bench.pipeline.generated import LogSize
from tests.pipeline.test_growing import FolderReader

_HOURS = 24
_LINES = 300  # an hour
_TRIGGERS = 2  # an hour
_KEPT = 2  # hours of rolled files that are there; older ones are deleted
_HOUR = len("[2024-03-01 10")

Row = tuple[str, str, int, str]  # stamp, file, line, text


class Rolling:
    """Hands on the lines of whole logs as log4j writes them: one bare file, rolled each hour."""

    def __init__(self, whole: Path, to: Path) -> None:
        self.to, self.hours = to, dict[Path, str]()
        self.deleted = 0
        rows: list[Row] = [
            (text[:25], str(path.relative_to(whole)), number, text)
            for path in sorted(whole.rglob("*.log*"))
            for number, text in enumerate(path.read_text().splitlines(keepends=True), 1)
        ]
        self.rows = sorted(rows, key=lambda row: row[0])

    def parts(self, number: int) -> Iterator[list[Row]]:
        size = len(self.rows) // number + 1
        for begin in range(0, len(self.rows), size):
            yield self.rows[begin : begin + size]

    def write(self, rows: list[Row]) -> None:
        for stamp, name, _, text in rows:
            bare = self.to / name.split(".log")[0]
            bare = bare.with_name(f"{bare.name}.log")
            hour = stamp[1:_HOUR].replace(" ", "-")
            if self.hours.setdefault(bare, hour) != hour:
                bare.rename(f"{bare}.{self.hours[bare]}")
                self.hours[bare] = hour
                rolled = sorted(bare.parent.glob(f"{bare.name}.*"))
                for old in rolled[:-_KEPT]:
                    old.unlink()
                    self.deleted += 1
            bare.parent.mkdir(parents=True, exist_ok=True)
            with bare.open("a") as file:
                file.write(text)


class DayWatch:
    """The states of a watch, and what it says."""

    def __init__(self, folder: Path) -> None:
        self.reader, self.state = FolderReader(folder), StreamingState("logs")
        self.partitions: dict[tuple[str, int], KeptPartition] = defaultdict(KeptPartition)
        self.said: list[ReportedFinding] = []

    def trigger(self, final: bool = False) -> int:
        """Read what is new, judge; how many bytes of state are kept until the next."""
        new: dict[tuple[str, int], list[tuple[bytes, str]]] = defaultdict(list)
        own: list[ParsedChunk] = []
        for piece in self.reader.trigger(final):
            for cluster, topic, number, events, book in rows_of(piece):
                if topic:
                    new[topic, number].append((events, book))
                else:
                    own.append(ParsedChunk.unpacked(cluster, events, book))
        self.reader.pieces.clear()
        handed = [
            self.partitions[tp].advance("logs", rows, None) for tp, rows in sorted(new.items())
        ]
        self.said += self.state.advance([*own, *handed])
        packed = self.state.packed()
        self.state = StreamingState.unpacked(*packed)
        kept = {tp: each.packed() for tp, each in self.partitions.items()}
        self.partitions = defaultdict(KeptPartition) | {
            tp: KeptPartition.unpacked(each) for tp, each in kept.items()
        }
        return sum(map(len, packed)) + sum(map(len, kept.values()))


@pytest.mark.deep
def test_a_day_of_logs_that_are_rolled_and_deleted_is_judged_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(generated, "MS_A_LINE", 3_600_000 // _LINES)
    # As many lines are kept of this day as a watch keeps of one with sixty times as many.
    monkeypatch.setattr(streaming_state, "MOST_KEPT", 600)
    monkeypatch.setattr(streaming_state, "_NEWEST", 300)
    written = generated.write(LogSize(_HOURS * _LINES, 6), tmp_path / "whole")
    rolling, watch = Rolling(tmp_path / "whole", tmp_path / "logs"), DayWatch(tmp_path / "logs")

    kept = []
    for rows in rolling.parts(_HOURS * _TRIGGERS):
        rolling.write(rows)
        kept.append(watch.trigger())
    for _ in range(3):
        watch.trigger(final=True)

    reported = [each.finding for each in watch.said if each.what == FINDING]
    places = sorted((_log(each.file, tmp_path / "logs"), each.line) for each in reported)
    assert rolling.deleted > _HOURS * 3
    assert places == sorted((_log(each.file), each.line) for each in written.planted)
    assert len(reported) == len(watch.said) == 6
    sixth, last = (max(kept[(hour - 2) * _TRIGGERS : hour * _TRIGGERS]) for hour in (6, _HOURS))
    print(f"state after 6 hours {sixth:,} bytes, after {_HOURS} hours {last:,} bytes")
    # What is kept for good is a row of each file, for the report.
    files = (_HOURS - 6) * len(rolling.hours)
    assert (last - sixth) / files < 2500


def _log(file: str, folder: Path | None = None) -> str:
    """The log that a file is of, whatever it is called by now."""
    name = file if folder is None else os.path.relpath(file, folder)
    return name.split(".log")[0]
