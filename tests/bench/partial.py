"""How fast partial traces are judged, on this machine, now.

    python -m tests.bench.partial                      # minutes; on a quiet machine
    python -m tests.bench.partial --quick              # seconds: 300 lines, one seed
    python -m tests.bench.partial --json partial.json

Every line shows leader, ISR and both epochs, with and without the name of its step; 8 steps may be
hidden before a line. Runs of several seeds are recorded with just that, written as NDJSON and
judged by what `insync check` calls, reading included: seconds of a trace, the median of the seeds,
and of the slowest. `changes` keeps only the lines at which something changed, as a log would: with
at most 8 hidden steps between two of them not every such run can be followed, and then the answer
is unknown: that is counted, and never called broken. Memory is the most that this process has used
at the end, the traces included. Leaves with 1 if a trace whose lines are all there is not followed,
or any is called broken, or, but with --quick, where a goal is missed.
"""

from __future__ import annotations

import dataclasses
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from conformance.partial import check_partial
from conformance.partial.reading import PartialEvent, PartialTrace
from conformance.partial.thinning import LEADER_ISR_EPOCHS, lines_of_partial, thinned
from impl import simulate
from specs.verdict import Verdict
from tests.bench.figures import Figure, bench

KINDS = ("named", "nameless", "changes")
SIZES: dict[int, tuple[int, ...]] = {3_000: (1, 2, 3, 4, 5, 6, 7), 100_000: (1, 7, 10)}
"""Lines -> the seeds of runs as long."""

GOALS = {3_000: 2.0}
"""Seconds that a trace of so many lines, all there, may take."""


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


def judged(
    kind: str, lines: int, seeds: Sequence[int], path: Path
) -> tuple[list[Figure], list[str]]:
    """Every seed judged once, from its file."""
    walls, cpus, verdicts = list[float](), list[float](), Counter[Verdict]()
    for seed in seeds:
        text = "".join(f"{line}\n" for line in lines_of_partial(trace_of(kind, seed, lines)))
        path.write_text(text, encoding="utf-8")
        wall, cpu = time.perf_counter(), time.process_time()
        verdicts[check_partial(path).verdict] += 1
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    whole = kind != "changes"
    name = f"{kind}, {lines:,} lines"
    followed = verdicts[Verdict.HOLDS] == len(seeds) or not (whole or verdicts[Verdict.BROKEN])
    return [
        Figure(name, median(cpus), "s", GOALS.get(lines) if whole else None, False, median(walls)),
        Figure(f"{name}, the slowest of {len(seeds)}", max(cpus), "s", wall=max(walls)),
        Figure(f"{name}, followed", verdicts[Verdict.HOLDS], "runs"),
    ], [] if followed else [f"{name}: {dict(verdicts)}"]


def measured(quick: bool) -> tuple[list[Figure], list[str]]:
    """All kinds in all sizes; of 100,000 lines `changes` is left out."""
    figures, wrong = list[Figure](), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        for lines, seeds in ({300: (3,)} if quick else SIZES).items():
            for kind in KINDS if lines < 100_000 else KINDS[:-1]:
                found, bad = judged(kind, lines, seeds, Path(folder) / "partial.ndjson")
                figures += found
                wrong += bad
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return [*figures, Figure("the most ever held", held, "MB")], wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints, and says whether every whole run was followed."""
    return bench(arguments, "partial", __doc__, measured)


if __name__ == "__main__":
    sys.exit(main())
