"""How fast both sides walk together: steps a second, seeded and under Hypothesis; edges a second.

    python -m tests.bench.lockstep              # a minute; on a quiet machine
    python -m tests.bench.lockstep --json -     # and the same as JSON
    python -m tests.bench.lockstep --quick      # seconds: once each, few steps

Every figure is the median of several rounds, in processor seconds of this process (wall seconds
beside it); the load is printed before and after. `seeded` compares the states after each step,
`watched` also what each step wrote and sent and, every tenth step, all that is possible on both
sides; `hypothesis` is the stateful machine of the tests. The other systems walk in lock-step with
all choices compared at each step; an edge is one transition, driven and compared. Goals are of an
idle core: an edge in 1 ms, a step in 5 ms. Leaves with 1 where a goal is missed, but not with
--quick.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import median

from conformance.edges import walk_edges
from conformance.effects import EffectsOfOnePartition
from conformance.lockstep import BOUNDS, Lockstep
from conformance.mapping import MAP, MAPPED, map_of
from conformance.mapping.rows import Family
from conformance.walks import walk, walk_cluster, walk_part
from tests.conformance.machine import run

WALKED = [one for one in MAPPED if one != MAP.system]
"""The systems that walk in lock-step beside `replication`."""

GOALS = {
    "seeded": 2_000, "hypothesis": 300, **{f"steps of {one}": 200 for one in WALKED},
    **{f"edges of {one}": 1_000 for one in MAPPED},
}  # fmt: skip
"""Steps and edges a second that are asked for."""

ROUNDS = 5


@dataclass(frozen=True)
class LockstepRate:
    """A rate: steps or edges of a round, a second of processor time and of the wall's."""

    what: str
    counted: int
    per_cpu_s: float
    per_wall_s: float


def measured(what: str, rounds: int, work: Callable[[int], int]) -> LockstepRate:
    """The median of some rounds; the work is called with its round, and says how much it did."""
    work(0)  # compiled before the clock starts
    found = []
    for number in range(rounds):
        cpu, wall = time.process_time(), time.perf_counter()
        count = work(number)
        found.append(
            (count, count / (time.process_time() - cpu), count / (time.perf_counter() - wall))
        )
    counts, cpus, walls = zip(*found, strict=True)
    return LockstepRate(what, int(median(counts)), round(median(cpus)), round(median(walls)))


def figures(quick: bool, edges: bool = True) -> list[LockstepRate]:
    """All of them, one after the other; those of edges take longest."""
    Lockstep(BOUNDS)
    rounds, seeds, steps = (1, 1, 100) if quick else (ROUNDS, 8, 400)
    examples, states = (3, 30) if quick else (20, 300)

    def seeded(number: int) -> int:
        return sum(
            walk(number * seeds + seed, steps, enabledness_every=0).steps for seed in range(seeds)
        )

    def watched(number: int) -> int:
        effects = EffectsOfOnePartition()
        return sum(
            walk(number * seeds + seed, steps, effects=effects).steps for seed in range(seeds)
        )

    found = [
        measured("seeded", rounds, seeded),
        measured("watched", rounds, watched),
        measured("hypothesis", rounds, lambda number: run(examples, 40)),
    ]
    if not edges:
        return found
    found += [_steps(name, rounds, seeds, steps // 8) for name in WALKED]
    return [*found, *(_edges(name, rounds, states) for name in MAPPED)]


def _steps(system: str, rounds: int, seeds: int, steps: int) -> LockstepRate:
    about = map_of(system)

    def once(seed: int) -> int:
        if system == "cluster":
            return walk_cluster(seed, steps).steps
        return walk_part(about, Family("", {}), seed, steps).steps

    def walked(number: int) -> int:
        return sum(once(number * seeds + seed) for seed in range(seeds))

    return measured(f"steps of {system}", rounds, walked)


def _edges(system: str, rounds: int, states: int) -> LockstepRate:
    about = map_of(system)

    def walked(number: int) -> int:
        return walk_edges(about.small, states, about=about).covered

    return measured(f"edges of {system}", rounds, walked)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints, and says whether the goals are reached."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.lockstep", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--json", metavar="FILE", help="also as JSON; - for standard output")
    parser.add_argument("--quick", action="store_true", help="once each, few steps")
    chosen = parser.parse_args(arguments)
    before, found = os.getloadavg()[0], figures(chosen.quick)
    after = os.getloadavg()[0]
    missed = [
        one.what for one in found if not chosen.quick and one.per_cpu_s < GOALS.get(one.what, 0)
    ]
    if chosen.json != "-":
        for one in found:
            goal = f"  goal {GOALS[one.what]:,}" if one.what in GOALS else ""
            print(f"{one.what:22}{one.counted:>8,} {one.per_cpu_s:>8,.0f} per cpu s"
                  f"{one.per_wall_s:>8,.0f} per wall s{goal}")  # fmt: skip
        print(f"load {before:.1f} before, {after:.1f} after")
    if chosen.json is not None:
        reported = json.dumps({
            "figures": [asdict(one) for one in found], "missed": missed,
            "load_before": before, "load_after": after,
        }, indent=2)  # fmt: skip
        if chosen.json == "-":
            print(reported)
        else:
            with open(chosen.json, "w", encoding="utf-8") as file:
                file.write(reported + "\n")
    if missed:
        print(f"goals missed: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
