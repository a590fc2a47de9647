"""A watch that is killed at any moment goes on: nothing is reported twice, and nothing is lost.

The steps of a trigger are taken as Spark takes them: the offset is written down first, then the
state is advanced and what it says is kept and reported, then the trigger is done. Killed in
between, the trigger is done again, from the state and to the offset that it had.
"""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from conformance.ingest.growing import ReadOffsets, chunks, next_offset
from conformance.ingest.pieces import ParsedChunk, piece_of
from conformance.pipeline.partitions import KeptPartition, rows_of
from conformance.pipeline.streaming_state import ReportedFinding, StreamingState
from conformance.pipeline.watch_store import WatchStore
from tests.pipeline.written import checked, five_wrong


class KilledWatch:
    """What survives a kill: the logs, the checkpoint, what was reported."""

    def __init__(self, logs: Path, kept: Path) -> None:
        self.logs, self.kept = logs, kept
        self.offsets = [ReadOffsets()]  # written before each trigger
        self.done = 0
        self.state: tuple[bytes, bytes] = StreamingState("logs").packed()
        self.partitions: dict[tuple[str, int], str] = {}
        self.heard: list[ReportedFinding] = []

    def trigger(self, final: bool, killed: str = "") -> None:
        """One trigger; `killed` before it keeps what it says, or before it is done."""
        if len(self.offsets) == self.done + 1:
            last = self.offsets[-1]
            self.offsets.append(next_offset(str(self.logs), last, final, 1 << 18))
        start, end = self.offsets[self.done], self.offsets[self.done + 1]
        pieces = [piece_of(chunk, None) for chunk in chunks(str(self.logs), start, end)]
        rows = [row for piece in pieces for row in rows_of(piece)]
        own = [ParsedChunk.unpacked(c, e, b) for c, topic, _, e, b in rows if not topic]
        parts = dict(self.partitions)
        handed = []
        for key in sorted({(topic, number) for _, topic, number, _, _ in rows if topic}):
            mine = [(e, b) for _, topic, number, e, b in rows if (topic, number) == key]
            partition = KeptPartition.unpacked(parts[key]) if key in parts else KeptPartition()
            handed.append(partition.advance("logs", mine, None))
            parts[key] = partition.packed()
        streaming = StreamingState.unpacked(*self.state)
        said = streaming.advance([*own, *handed])
        if killed == "before":
            return
        state = streaming.packed()
        reported = WatchStore(str(self.kept), str(self.logs))
        reported.keep(self.done, said, {"logs": state[1].decode()}, self.heard.append)
        reported.close()
        if killed == "after":
            return
        self.state, self.partitions = state, parts
        self.done += 1


@pytest.mark.parametrize(
    "size, seed",
    [(1500, 0), *(pytest.param(10_000, seed, marks=pytest.mark.deep) for seed in range(4))],
)
def test_killed_at_any_moment_it_tells_all_once_while_files_are_rolled(
    tmp_path: Path, size: int, seed: int
):
    chosen = random.Random(seed)
    logs = tmp_path / "logs"
    logs.mkdir()
    live = logs / "state-change.log"
    watch = KilledWatch(logs, tmp_path / "kept")
    lines, written, rolls = five_wrong(size), 0, 0
    while written < len(lines):
        some = chosen.randrange(size // 50, size // 4)
        with live.open("a") as file:
            file.write("".join(f"{each}\n" for each in lines[written : written + some]))
        written += some
        watch.trigger(False, chosen.choice(("", "", "before", "after")))
        if chosen.random() < 0.4:  # rolled, and packed, underneath
            rolls += 1
            rolled = logs / f"state-change.log.2024-03-01-{10 + rolls}"
            if chosen.random() < 0.5:
                live.rename(rolled)
            else:
                rolled.with_name(f"{rolled.name}.gz").write_bytes(
                    gzip.compress(live.read_bytes(), mtime=0)
                )
                live.unlink()
    for _ in range(12):
        watch.trigger(True, chosen.choice(("", "before", "after")))
    for _ in range(4):
        watch.trigger(True)

    assert [each.what for each in watch.heard] == ["finding"] * 5
    assert len({(each.finding.file, each.finding.line) for each in watch.heard}) == 5
    assert len(checked(logs)["findings"]) == 5
    kept = StreamingState.unpacked(*watch.state)
    assert sum(row["read"] for row in kept.files.values()) == len(lines)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.deep) for seed in range(1, 8))]
)
def test_logs_that_are_cut_and_removed_underneath_are_neither_reported_twice_nor_lost(
    tmp_path: Path, seed: int
):
    """What `copytruncate` of logrotate does, and who makes room on a disk."""
    chosen = random.Random(seed)
    logs, kept_by = tmp_path / "logs", tmp_path / "all"
    logs.mkdir()
    kept_by.mkdir()
    live = logs / "state-change.log"
    watch = KilledWatch(logs, tmp_path / "kept")
    lines, written, rolls = five_wrong(1500), 0, 0
    whole = (kept_by / "state-change.log").open("a")
    while written < len(lines):
        some = chosen.randrange(30, 300)
        text = "".join(f"{each}\n" for each in lines[written : written + some])
        written += some
        with live.open("a") as file:
            file.write(text)
        whole.write(text)
        watch.trigger(False, chosen.choice(("", "", "before", "after")))
        if chosen.random() < 0.4:
            for _ in range(12):  # all that is written is read before the next is cut
                watch.trigger(False, chosen.choice(("", "", "after")))
            rolls += 1
            if chosen.random() < 0.6:
                (logs / f"state-change.log.2024-03-01-{10 + rolls}").write_bytes(live.read_bytes())
            live.write_bytes(b"")
        older = sorted(logs.glob("state-change.log.*"))
        if older and chosen.random() < 0.3:
            older[0].unlink()
    whole.close()
    for _ in range(16):
        watch.trigger(True, chosen.choice(("", "", "before", "after")))

    wrong = {(finding["rule"], finding["why"].split(";")[0][:60]) for finding in
             checked(kept_by)["findings"]}  # fmt: skip
    heard = [each.finding for each in watch.heard]
    assert len(heard) == len({(each.file, each.line) for each in heard})
    assert {(each.rule, each.why.split(";")[0][:60]) for each in heard} <= wrong
    assert len(heard) == 5
    kept = StreamingState.unpacked(*watch.state)
    assert sum(row["read"] for row in kept.files.values()) >= len(lines)
