"""How fast conformance is, in one table, beside what is asked of it.

    python -m tests.bench.conformance              # a minute or two; on a quiet machine
    python -m tests.bench.conformance --json -     # and the same as JSON
    python -m tests.bench.conformance --quick      # seconds: once each, few lines

Both sides in step: seeded walks, and the stateful machine of Hypothesis. Recorded runs against the
model: whole ones from NDJSON, Arrow and Parquet, one of 3,000 lines of which only leader, ISR and
epochs are seen. Rates are medians of several rounds, a second of this process's time on the
processor; wall time is beside it, and the machine's load before and after. Leaves with 1 where a
goal is missed, but not with --quick. `tests.bench.lockstep` and `tests.bench.replay` tell more.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from impl import simulate
from tests.bench import lockstep, replay

GOALS = {
    "lock-step, seeded": 2_000, "lock-step, Hypothesis": 300, "whole, from NDJSON": 20_000,
    "whole, from Arrow": 100_000, "partial, 3,000 lines": 1_500,
}  # fmt: skip
"""Steps or lines a second that are asked for; of partial traces, 3,000 lines in two seconds."""


@dataclass(frozen=True)
class Rate:
    """Steps or lines: how many in a round, a second of processor time, a second of the wall's."""

    what: str
    counted: int
    per_cpu_s: float
    per_wall_s: float

    @property
    def missed(self) -> bool:
        """A goal is set, and not reached."""
        return self.per_cpu_s < GOALS.get(self.what, 0)


def rates(quick: bool) -> list[Rate]:
    """All of them, one after the other."""
    names = {"seeded": "lock-step, seeded", "hypothesis": "lock-step, Hypothesis"}
    found = [
        Rate(names[one.what], one.counted, one.per_cpu_s, one.per_wall_s)
        for one in lockstep.figures(quick, edges=False)
        if one.what in names
    ]
    with tempfile.TemporaryDirectory() as folder:
        rows = replay.whole(Path(folder), *((2, 60) if quick else ()))
        rows += replay.columns(Path(folder), *((2, 200) if quick else ()))
    rows += replay.partial(simulate(5, 60 if quick else 3_000, "everything", 3), replay.ROUNDS)
    return found + [
        Rate(row["what"], row["lines"], row["lines_per_cpu_s"], row["lines_per_s"]) for row in rows
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints, and says whether the goals are reached."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.conformance", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--json", metavar="FILE", help="also as JSON; - for standard output")
    parser.add_argument("--quick", action="store_true", help="once each, few lines")
    chosen = parser.parse_args(arguments)
    before, found = os.getloadavg()[0], rates(chosen.quick)
    after = os.getloadavg()[0]
    missed = [one.what for one in found if one.missed and not chosen.quick]
    if chosen.json != "-":
        print(f"{'':24}{'in a round':>12}{'per cpu s':>12}{'per wall s':>12}{'goal':>10}")
        for one in found:
            goal = f"{GOALS[one.what]:>10,}" if one.what in GOALS else ""
            print(f"{one.what:24}{one.counted:>12,}{one.per_cpu_s:>12,.0f}"
                  f"{one.per_wall_s:>12,.0f}{goal}")  # fmt: skip
        print(f"load {before:.1f} before, {after:.1f} after")
    if chosen.json is not None:
        reported = json.dumps({
            "rates": [asdict(one) for one in found], "goals": GOALS, "missed": missed,
            "load_before": before, "load_after": after,
        }, indent=2)  # fmt: skip
        if chosen.json == "-":
            print(reported)
        else:
            Path(chosen.json).write_text(reported + "\n", encoding="utf-8")
    if missed:
        print(f"goals missed: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
