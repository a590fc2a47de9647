"""How fast recorded runs are judged, on this machine, now.

    python -m tests.bench.replay                 # a minute; on a quiet machine
    python -m tests.bench.replay --lines 100000  # a long partial trace too
    python -m tests.bench.replay --json replay.json

Run it in the repository's folder. Whole traces are read from NDJSON and replayed, replayed from
memory, and read as columns (Arrow, Parquet); partial ones show leader, ISR and epochs, with and
without the names of steps. The median of the rounds counts, in wall seconds and in processor
seconds; steps are compiled before, and the native loops loaded, as they are in any process that
has judged some 50,000 lines.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from conformance.columns.judge import check_columns
from conformance.columns.magic import FORMS
from conformance.columns.writing import write_columns
from conformance.partial import judge_partial, thinned
from conformance.partial.thinning import LEADER_ISR_EPOCHS
from conformance.replay import NATIVE_FROM, check_trace, expect, judge
from impl import Trace, simulate, write_trace
from specs.verdict import Verdict

ROUNDS = 3
RUNS, STEPS = 20, 500
LONG_RUNS, LONG_STEPS = 8, 5_000
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


def whole(folder: Path, runs: int = RUNS, steps: int = STEPS) -> list[Row]:
    """Runs as a simulation records them, from NDJSON and from memory."""
    traces = [simulate(seed, steps, "everything", 3) for seed in range(runs)]
    paths = [folder / f"{seed}.ndjson" for seed in range(runs)]
    for path, trace in zip(paths, traces, strict=True):
        write_trace(path, trace)
    judge(traces[0])  # the steps are compiled
    lines = runs * steps
    return [
        timed("whole, from NDJSON", lines, lambda: _fit(check_trace(p).verdict for p in paths)),
        timed("whole, from memory", lines, lambda: _fit(judge(one).verdict for one in traces)),
    ]


def columns(folder: Path, runs: int = LONG_RUNS, steps: int = LONG_STEPS) -> list[Row]:
    """Longer runs as columns, in either form."""
    for seed in range(runs):
        trace = simulate(seed, steps, "everything", 3)
        for form in FORMS:
            write_columns(folder / f"{seed}.{form}", trace)
    rows, lines = [], runs * steps
    expect(NATIVE_FROM)
    for form in FORMS:
        paths = [folder / f"{seed}.{form}" for seed in range(runs)]
        check_columns(paths[0])
        name = f"whole, from {form.capitalize()}"
        rows.append(timed(name, lines, functools.partial(_all_fit, paths)))
    return rows


def _all_fit(paths: Sequence[Path]) -> bool:
    return _fit(check_columns(path).verdict for path in paths)


def _fit(verdicts: Iterable[Verdict]) -> bool:
    return set(verdicts) == {Verdict.HOLDS}


def partial(trace: Trace, rounds: int) -> list[Row]:
    """One run of which little is seen."""
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
        rows = [
            *whole(Path(folder)),
            *columns(Path(folder)),
            *partial(trace, ROUNDS),
            *_nameless(trace),
        ]
    if chosen.lines:
        rows += partial(simulate(5, chosen.lines, "everything", 3), 1)
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
