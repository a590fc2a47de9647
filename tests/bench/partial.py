"""How fast partial traces are judged, on this machine, now.

    python -m tests.bench.partial                      # minutes; on a quiet machine
    python -m tests.bench.partial --quick              # seconds: 300 lines, one seed
    python -m tests.bench.partial --seeds 1..15 --only nameless
    python -m tests.bench.partial --json partial.json

Run it in the repository's folder. Every line shows leader, ISR and both epochs, with and without
the name of its step; 8 steps may be hidden before a line. Runs of several seeds are recorded with
just that, written as NDJSON and judged by what `insync check` calls, reading included; the median
of the seeds counts, and the slowest is reported. `changes` keeps only the lines at which something
changed, as a log would: with at most 8 hidden steps between two of them not every such run can be
followed, and then the answer is unknown: that is counted, and never called broken. Memory is the
most that this process has used so far, in megabytes, the trace included. Leaves with 1 if a trace
whose lines are all there is not followed, or any is called broken.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from conformance.partial import check_partial
from conformance.partial.reading import PartialEvent, PartialTrace
from conformance.partial.thinning import LEADER_ISR_EPOCHS, lines_of_partial, thinned
from impl import simulate
from specs.verdict import Verdict

SHORT, LONG = 3_000, 100_000
SEEDS, LONG_SEEDS = (1, 2, 3, 4, 5, 6, 7), (1, 7, 10)


@dataclass(frozen=True)
class TraceSize:
    """Traces of one kind and length."""

    kind: str
    lines: int
    seeds: tuple[int, ...]


def trace_of(kind: str, seed: int, lines: int) -> PartialTrace:
    """A run of a seed: `named`, `nameless`, or `changes` (nameless, and only where it changed)."""
    whole = simulate(seed, lines)
    trace = thinned(whole, LEADER_ISR_EPOCHS, keeps_step=lambda _: kind == "named")
    if kind != "changes":
        return trace
    kept, shown = list[PartialEvent](), trace.initial
    for event in trace.events:
        if event.observed != shown:
            kept.append(dataclasses.replace(event, line=len(kept) + 2))
        shown = event.observed
    return dataclasses.replace(trace, events=tuple(kept))


def measured(size: TraceSize, folder: Path) -> dict[str, Any]:
    """Every seed judged once, from its file."""
    walls, cpus, lines = list[float](), list[float](), 0
    verdicts: dict[str, int] = {}
    for seed in size.seeds:
        path = folder / f"{size.kind}-{seed}-{size.lines}.ndjson"
        trace = trace_of(size.kind, seed, size.lines)
        path.write_text("".join(f"{line}\n" for line in lines_of_partial(trace)), encoding="utf-8")
        lines = max(lines, len(trace.events))
        del trace
        wall, cpu = time.perf_counter(), time.process_time()
        verdict = check_partial(path).verdict
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
        verdicts[verdict.value] = verdicts.get(verdict.value, 0) + 1
        path.unlink()
    return {
        "what": size.kind, "lines": lines, "seeds": len(size.seeds),
        "wall": round(median(walls), 2), "cpu": round(median(cpus), 2),
        "slowest": round(max(walls), 2), "verdicts": verdicts,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }  # fmt: skip


def sizes(quick: bool, only: str, seeds: tuple[int, ...] | None) -> list[TraceSize]:
    """What is measured."""
    kinds = [kind for kind in ("named", "nameless", "changes") if only in kind]
    if quick:
        return [TraceSize(kind, 300, seeds or (3,)) for kind in kinds]
    short = [TraceSize(kind, SHORT, seeds or SEEDS) for kind in kinds]
    return short + [
        TraceSize(kind, LONG, seeds or LONG_SEEDS) for kind in kinds if kind != "changes"
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints, and says whether every whole run was followed."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.partial",
        description="How fast partial traces are judged, on this machine, now.",
    )
    parser.add_argument("--quick", action="store_true", help="300 lines of one seed")
    parser.add_argument("--only", default="", metavar="TEXT", help="kinds that contain TEXT")
    parser.add_argument("--seeds", type=_range, metavar="A..B", help="these seeds instead")
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the figures here")
    chosen = parser.parse_args(arguments)
    todo = sizes(chosen.quick, chosen.only, chosen.seeds)
    if not todo:
        parser.error(f"no kind is called like {chosen.only!r}; named, nameless, changes")
    before = os.getloadavg()[0]
    rows = []
    print(f"{'':10}{'lines':>9}{'seeds':>7}{'wall s':>9}{'cpu s':>8}{'slowest s':>11}{'MB':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for size in todo:
            row = measured(size, Path(folder))
            rows.append(row)
            reported = ", ".join(
                f"{count} {name}" for name, count in sorted(row["verdicts"].items())
            )
            print(
                f"{row['what']:10}{row['lines']:>9,}{row['seeds']:>7}{row['wall']:>9.2f}"
                f"{row['cpu']:>8.2f}{row['slowest']:>11.2f}{row['megabytes']:>6}  {reported}",
                flush=True,
            )
    loads = [round(before, 1), round(os.getloadavg()[0], 1)]
    print(f"load average: {loads[0]} before, {loads[1]} after")
    if chosen.json is not None:
        report = {"format": "insync.bench/1", "rows": rows, "load": loads}
        chosen.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    wrong = [
        row for row in rows
        if Verdict.BROKEN.value in row["verdicts"]
        or (row["what"] != "changes" and set(row["verdicts"]) != {Verdict.HOLDS.value})
    ]  # fmt: skip
    for row in wrong:
        print(f"not followed: {row['what']}, {row['lines']:,} lines", file=sys.stderr)
    return 1 if wrong else 0


def _range(text: str) -> tuple[int, ...]:
    first, _, last = text.partition("..")
    return tuple(range(int(first), int(last or first) + 1))


if __name__ == "__main__":
    raise SystemExit(main())
