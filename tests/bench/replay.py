"""How fast recorded runs are judged, on this machine, now.

    python -m tests.bench.replay                 # a minute; on a quiet machine
    python -m tests.bench.replay --json FILE     # and the same as JSON
    python -m tests.bench.replay --quick         # seconds: once each, few lines

Whole traces are read from NDJSON and replayed, replayed from memory, and read as columns (Arrow,
Parquet); `tests.bench.partial` has those of which parts are seen. Medians of several rounds, lines
a second of this process's time on the processor, and of the wall's; steps are compiled before, and
the native loops loaded, as they are in any process that has judged some 50,000 lines. Leaves with 1
where a goal is missed, but not with --quick.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from conformance.columns.judge import check_columns
from conformance.columns.magic import FORMS
from conformance.columns.writing import write_columns
from conformance.replay import NATIVE_FROM, check_trace, expect, judge
from impl import simulate, write_trace
from specs.verdict import Verdict
from tests.bench.figures import Figure, bench, rate

GOALS = {"from NDJSON": 20_000, "from Arrow": 100_000}
"""Lines a second that are asked for."""


def lines_a_second(
    name: str, lines: int, rounds: int, verdicts: Callable[[], Iterable[Verdict]]
) -> Figure:
    """Rounds in which every run has to fit."""

    def fits(_: int) -> int:
        assert set(verdicts()) == {Verdict.HOLDS}, f"{name}: a run does not fit"
        return lines

    return rate(name, "lines/s", rounds, fits, GOALS.get(name))


def figures(folder: Path, quick: bool) -> list[Figure]:
    """All of them, one after the other."""
    rounds, runs, steps = (1, 2, 60) if quick else (3, 20, 500)
    traces = [simulate(seed, steps, "everything", 3) for seed in range(runs)]
    paths = [folder / f"{seed}.ndjson" for seed in range(runs)]
    for path, trace in zip(paths, traces, strict=True):
        write_trace(path, trace)
    return [
        lines_a_second("from NDJSON", runs * steps, rounds,
                       lambda: (check_trace(path).verdict for path in paths)),
        lines_a_second("from memory", runs * steps, rounds,
                       lambda: (judge(trace).verdict for trace in traces)),
        *columns(folder, rounds, *((2, 200) if quick else (8, 5_000))),
    ]  # fmt: skip


def columns(folder: Path, rounds: int, runs: int, steps: int) -> Iterable[Figure]:
    """Longer runs as columns, in either form."""
    for seed in range(runs):
        trace = simulate(seed, steps, "everything", 3)
        for form in FORMS:
            write_columns(folder / f"{seed}.{form}", trace)
    expect(NATIVE_FROM)
    for form in FORMS:
        paths = [folder / f"{seed}.{form}" for seed in range(runs)]
        name = f"from {form.capitalize()}"
        yield lines_a_second(
            name, runs * steps, rounds,
            lambda paths=paths: (check_columns(path).verdict for path in paths),  # type: ignore[misc]
        )  # fmt: skip


def measured(quick: bool) -> tuple[list[Figure], list[str]]:
    """In a folder that goes afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        return figures(Path(folder), quick), []


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints, and says whether the goals are reached."""
    return bench(arguments, "replay", __doc__, measured)


if __name__ == "__main__":
    sys.exit(main())
