"""How fast exploration is, on this machine, now: one command, a table, and JSON for machines.

    python -m tests.bench                      # some minutes; on a quiet machine
    python -m tests.bench --json bench.json    # and the same as JSON
    python -m tests.bench --quick              # seconds: small sizes, once each

Run it in the repository's folder. Every size is explored several times, in turn with the others,
and the median counts, in wall seconds and in processor seconds of this process: on a busy machine
only the latter, and the ratios, mean much; the load is printed before and after. The plain Python
twin explores the same graph in the same run, with the same claims judged. Set-up is measured in
fresh processes: with empty caches, with an empty cache of machine code only, and from the caches.
Leaves with 1 if two engines, or two ways of running one, disagree on what they count.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import llvmlite
import numba

from tests.bench.measure import FULL, QUICK, Measured, MeasurePlan, explored
from tests.bench.setup import SetUp, set_ups

HEAD = (
    "size", "states", "depth", "words", "bytes/state", "wall s", "cpu s", "states/s", "per cpu s",
    "twin s", "ratio", "cpu ratio",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints, and says whether all counts agree."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench",
        description="How fast exploration is, on this machine, now.",
    )
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the figures here")
    parser.add_argument("--quick", action="store_true", help="small sizes, once each")
    parser.add_argument(
        "--only", metavar="TEXT", default="", help="only the sizes whose name contains TEXT"
    )
    chosen = parser.parse_args(arguments)
    plan = QUICK if chosen.quick else FULL
    sizes = [size for size in plan.sizes if chosen.only in size.name]
    if not sizes:
        names = ", ".join(size.name for size in plan.sizes)
        parser.error(f"no size is called like {chosen.only!r}; there are {names}")
    before = os.getloadavg()
    began = set_ups(plan.set_ups, cold_loops=not chosen.quick)
    measured = explored(MeasurePlan(sizes, plan.rounds, plan.twin_rounds, plan.set_ups))
    after = os.getloadavg()
    _show(began, measured, before, after)
    wrong = disagreements(measured)
    for line in wrong:
        print(f"wrong: {line}", file=sys.stderr)
    if chosen.json is not None:
        reported = _report(began, measured, before, after, wrong)
        chosen.json.write_text(json.dumps(reported, indent=1) + "\n", encoding="utf-8")
    return 1 if wrong else 0


def disagreements(measured: Sequence[Measured]) -> list[str]:
    """Counts that should be one and are not, in words."""
    wrong: list[str] = []
    first: dict[tuple[object, ...], Measured] = {}
    for one in measured:
        if len(set(one.counts)) > 1:
            wrong.append(f"{one.size.name}: its rounds and its twin counted {sorted(one.counts)}")
        same = first.setdefault((*one.size.graph, one.size.symmetry), one)
        if same.counts[:1] != one.counts[:1]:
            wrong.append(f"{one.size.name} and {same.size.name} differ")
        if one.size.expected is not None and one.states != one.size.expected:
            wrong.append(f"{one.size.name}: {one.states:,} states, not {one.size.expected:,}")
    return wrong


def _show(
    began: Sequence[SetUp],
    measured: Sequence[Measured],
    before: tuple[float, ...],
    after: tuple[float, ...],
) -> None:
    rows = [HEAD]
    for one in measured:
        rows.append(
            (
                one.size.name, f"{one.states:,}", str(one.depth), str(one.words),
                f"{one.bytes_per_state:.1f}", f"{one.wall:.3f}", f"{one.cpu:.3f}",
                f"{one.states / one.wall:,.0f}", f"{one.states / one.cpu:,.0f}",
                *(("-", "-", "-") if one.twin_wall is None or one.twin_cpu is None else (
                    f"{one.twin_wall:.2f}", f"{one.twin_wall / one.wall:.0f}",
                    f"{one.twin_cpu / one.cpu:.0f}")),
            )
        )  # fmt: skip
    _print(rows)
    print()
    _print([("set-up", "caches", "imports s", "set-up s", "cpu s", "whole process s"), *(
        (one.name, one.caches, f"{one.imports:.2f}", f"{one.wall:.2f}", f"{one.cpu:.2f}",
         f"{one.process:.2f}") for one in began)])  # fmt: skip
    print()
    print(f"load before {_load(before)}, after {_load(after)}, {os.cpu_count()} processors")


def _print(rows: Sequence[tuple[str, ...]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [
            text.ljust(width) if column == 0 else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())


def _load(load: tuple[float, ...]) -> str:
    return " ".join(f"{one:.2f}" for one in load)


def _report(
    began: Sequence[SetUp],
    measured: Sequence[Measured],
    before: tuple[float, ...],
    after: tuple[float, ...],
    wrong: list[str],
) -> dict[str, Any]:
    return {
        "format": "insync.bench/1",
        "machine": {
            "processors": os.cpu_count(),
            "architecture": platform.machine(),
            "python": platform.python_version(),
            "numba": numba.__version__,
            "llvmlite": llvmlite.__version__,
        },
        "load_before": list(before),
        "load_after": list(after),
        "explored": [one.as_json() for one in measured],
        "set_up": [one.as_json() for one in began],
        "wrong": wrong,
    }


if __name__ == "__main__":
    sys.exit(main())
