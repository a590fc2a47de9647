"""How fast recorded runs are judged, on this machine, now.

    python -m tests.bench.replay                 # a minute; on a quiet machine
    python -m tests.bench.replay --lines 100000  # a long partial trace too
    python -m tests.bench.replay --json replay.json

Run it in the repository's folder. Whole traces are read from NDJSON and replayed, and replayed from
memory; partial ones show leader, ISR and epochs, with and without the names of steps. The median of
the rounds counts, in wall seconds and in processor seconds; steps are compiled before.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from conformance.partial import judge_partial, thinned
from conformance.partial.thinning import LEADER_ISR_EPOCHS
from conformance.replay import check_trace, judge
from impl import Trace, simulate, write_trace
from specs.verdict import Verdict

ROUNDS = 3
RUNS, STEPS = 20, 500
PARTIAL = 3_000

Row = dict[str, Any]


def timed(name: str, lines: int, work: Callable[[], bool], rounds: int = ROUNDS) -> Row:
    """Rounds of some work that says whether it came out as it should."""
    walls, cpus = [], []
    for _ in range(rounds):
        wall, cpu = time.perf_counter(), time.process_time()
        assert work(), f"{name}: a run does not fit"
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return {
        "what": name, "lines": lines, "wall": round(median(walls), 3),
        "cpu": round(median(cpus), 3), "lines_per_s": round(lines / median(walls)),
        "lines_per_cpu_s": round(lines / median(cpus)),
    }  # fmt: skip


def _whole(folder: Path) -> list[Row]:
    runs = [simulate(seed, STEPS, "everything", 3) for seed in range(RUNS)]
    paths = [folder / f"{seed}.ndjson" for seed in range(RUNS)]
    for path, trace in zip(paths, runs, strict=True):
        write_trace(path, trace)
    judge(runs[0])  # the steps are compiled
    lines = RUNS * STEPS

    def fits(verdicts: list[Verdict]) -> bool:
        return set(verdicts) == {Verdict.HOLDS}

    return [
        timed("whole, from NDJSON", lines, lambda: fits([check_trace(p).verdict for p in paths])),
        timed("whole, from memory", lines, lambda: fits([judge(run).verdict for run in runs])),
    ]


def _partial(trace: Trace, rounds: int) -> list[Row]:
    named = thinned(trace, LEADER_ISR_EPOCHS)
    lines = len(trace.events)

    def fits() -> bool:
        return judge_partial(named).verdict is Verdict.HOLDS

    return [timed(f"partial, {lines:,} lines", lines, fits, rounds)]


def _nameless(trace: Trace) -> list[Row]:
    nameless = thinned(trace, keeps_step=lambda event: False)
    lines = len(trace.events)

    def fits() -> bool:
        return judge_partial(nameless).verdict is Verdict.HOLDS

    return [timed(f"no names, {lines:,} lines", lines, fits)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.replay",
        description="How fast recorded runs are judged, on this machine, now.",
    )
    parser.add_argument("--lines", type=int, metavar="N", help="also a partial trace of N lines")
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the figures here")
    chosen = parser.parse_args(arguments)
    before = os.getloadavg()
    trace = simulate(5, PARTIAL, "everything", 3)
    with tempfile.TemporaryDirectory() as folder:
        rows = [*_whole(Path(folder)), *_partial(trace, ROUNDS), *_nameless(trace)]
    if chosen.lines:
        rows += _partial(simulate(5, chosen.lines, "everything", 3), 1)
    print(f"{'':28}{'lines':>9}{'wall s':>9}{'cpu s':>9}{'lines/s':>10}{'per cpu s':>11}")
    for row in rows:
        print(
            f"{row['what']:28}{row['lines']:>9,}{row['wall']:>9.2f}{row['cpu']:>9.2f}"
            f"{row['lines_per_s']:>10,}{row['lines_per_cpu_s']:>11,}"
        )
    loads = [round(load, 1) for load in (before[0], os.getloadavg()[0])]
    print(f"load average: {loads[0]} before, {loads[1]} after")
    if chosen.json is not None:
        chosen.json.write_text(json.dumps({"rows": rows, "load": loads}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
