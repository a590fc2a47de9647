"""How a watch keeps up with logs that grow: lines a second, and how late a finding is reported.

    python -m tests.bench.pipeline.watching --seconds 60 --rate 1000 --partitions 100

Logs of a cluster are written by seed, then handed to growing files at the rate that is asked for,
in the order of their stamps, while a watch follows them. A finding's delay is from when its line
was written to when it was notified. Leaves with 1 where something planted was not reported, or more
than that, or where a finding took more than two triggers after the one that read its line.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from tests.bench.pipeline import generated
from tests.bench.pipeline.generated import LogSize, PlantedLine

_TENTH = 0.1  # seconds between two writes


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes, watches, and prints the figures as JSON."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.pipeline.watching")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--rate", type=int, default=1000, help="lines a second")
    parser.add_argument("--partitions", type=int, default=100)
    parser.add_argument("--every", type=float, default=2.0, help="seconds between two triggers")
    chosen = parser.parse_args(arguments)
    size = LogSize(chosen.seconds * chosen.rate, chosen.partitions)
    before = os.getloadavg()
    with tempfile.TemporaryDirectory(prefix="insync-bench-") as folder:
        reported = watched(size, chosen.rate, chosen.every, Path(folder))
    reported |= {"load_before": before[0], "load_after": os.getloadavg()[0]}
    print(json.dumps(reported, indent=1))
    return 0 if reported["found"] == reported["planted"] and reported["most_triggers"] <= 2 else 1


def watched(size: LogSize, rate: int, every: float, folder: Path) -> dict[str, Any]:
    """The figures of one watch."""
    from conformance.pipeline import stream
    from conformance.pipeline.streaming_state import FINDING, ReportedFinding
    from conformance.pipeline.watch_store import WatchStore

    written = generated.write(size, folder / "whole")
    growing = _Growing(folder / "whole", folder / "logs")
    growing.write(100)  # so that there is a folder, and Python's workers have started
    reported = WatchStore(str(folder / "kept"), str(folder / "logs"))
    heard: dict[tuple[str, int], float] = {}

    def tell(said: ReportedFinding) -> None:
        if said.what == FINDING:
            # A file that has not been rolled yet goes by the name of its log.
            file = os.path.relpath(said.finding.file.split("@")[0], folder / "logs")
            heard.setdefault((file, said.finding.line), time.time())

    query = stream.watch(str(folder / "logs"), reported, tell, seconds=every)
    try:
        while not query.lastProgress:
            time.sleep(0.2)
        writer = threading.Thread(target=growing.at, args=(rate,), daemon=True)
        writer.start()
        writer.join()
        ended = time.time()
        query.processAllAvailable()
        behind = time.time() - ended
        progress = [json.loads(each.json) for each in query.recentProgress]
    finally:
        query.stop()
        reported.close()
    spans = [_span(each) for each in progress if each["numInputRows"]]
    late, triggers = [], []
    for each in written.planted:
        place = _now(each)
        if place in heard:
            late.append(heard[place] - growing.when[place])
            triggers.append(_triggers(spans, growing.when[place], heard[place]))
    return {
        "lines": written.lines,
        "partitions": size.partitions,
        "lines_per_second_written": round(growing.lines / growing.seconds),
        "seconds_behind_at_the_end": round(behind, 1),
        "triggers": len(spans),
        "trigger_s_median": median(end - begin for begin, end in spans),
        "trigger_s_most": max(end - begin for begin, end in spans),
        "planted": len(written.planted),
        "found": len(heard) if set(heard) == {_now(each) for each in written.planted} else -1,
        "told_after_s_median": round(median(late), 1) if late else None,
        "told_after_s_most": round(max(late), 1) if late else None,
        "most_triggers": max(triggers, default=0),
        "state": [
            {"rows": each["numRowsTotal"], "bytes": each["memoryUsedBytes"]}
            for each in progress[-1]["stateOperators"]
        ],
    }


class _Growing:
    """Copies whole logs line by line, in the order of their stamps; files keep their bare names."""

    def __init__(self, whole: Path, to: Path) -> None:
        self.to, self.when, self.lines, self.seconds = to, dict[tuple[str, int], float](), 0, 0.0
        rows = [
            (line[:25], str(path.relative_to(whole)), number, line)
            for path in sorted(whole.rglob("*.log*"))
            for number, line in enumerate(path.read_text().splitlines(keepends=True), 1)
        ]
        rows.sort(key=lambda row: row[0])
        self._rows = rows
        self._files: dict[str, Any] = {}

    def at(self, rate: int) -> None:
        """All that is left, so many lines a second."""
        began, done = time.time(), self.lines
        while self.lines < len(self._rows):
            self.write(max(1, round(rate * (time.time() - began)) - (self.lines - done)))
            time.sleep(_TENTH)
        self.seconds = time.time() - began
        self.lines -= done

    def write(self, count: int) -> None:
        """The next lines, at once."""
        now = time.time()
        for _, name, number, line in self._rows[self.lines : self.lines + count]:
            if name not in self._files:
                path = self.to / name
                path.parent.mkdir(parents=True, exist_ok=True)
                self._files[name] = path.open("w", encoding="utf-8")
            self._files[name].write(line)
            self.when[name, number] = now
        for file in self._files.values():
            file.flush()
        self.lines = min(len(self._rows), self.lines + count)


def _now(planted: PlantedLine) -> tuple[str, int]:
    return planted.file, planted.line


def _span(progress: dict[str, Any]) -> tuple[float, float]:
    from datetime import datetime

    begin = datetime.fromisoformat(progress["timestamp"]).timestamp()
    return begin, begin + progress["batchDuration"] / 1000


def _triggers(spans: Sequence[tuple[float, float]], written: float, heard: float) -> int:
    """Triggers that began after the line was written, up to the one that reported it."""
    return sum(written <= begin <= heard for begin, _ in spans)


if __name__ == "__main__":
    sys.exit(main())
