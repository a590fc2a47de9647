"""How fast both sides walk together: steps a second, seeded and under Hypothesis; edges a second.

    python -m tests.bench.lockstep              # a minute; on a quiet machine
    python -m tests.bench.lockstep --json F     # and the same as JSON
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

import sys
from collections.abc import Callable, Sequence

from conformance.edges import walk_edges
from conformance.effects import EffectsOfOnePartition
from conformance.lockstep import BOUNDS, Lockstep
from conformance.mapping import MAP, MAPPED, map_of
from conformance.mapping.rows import Family
from conformance.walks import walk, walk_cluster, walk_part
from tests.bench.figures import Figure, bench, rate
from tests.conformance.machine import run

WALKED = [one for one in MAPPED if one != MAP.system]
"""The systems that walk in lock-step beside `replication`."""

GOALS = {
    "seeded": 2_000, "hypothesis": 300, **{f"steps of {one}": 200 for one in WALKED},
    **{f"edges of {one}": 1_000 for one in MAPPED},
}  # fmt: skip
"""Steps and edges a second that are asked for."""

ROUNDS = 5


def measured(name: str, rounds: int, work: Callable[[int], int]) -> Figure:
    """Steps or edges a second, beside the goal."""
    return rate(name, "a second", rounds, work, GOALS.get(name))


def figures(quick: bool) -> list[Figure]:
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

    return [
        measured("seeded", rounds, seeded),
        measured("watched", rounds, watched),
        measured("hypothesis", rounds, lambda number: run(examples, 40)),
        *(_steps(name, rounds, seeds, steps // 8) for name in WALKED),
        *(_edges(name, rounds, states) for name in MAPPED),
    ]


def _steps(system: str, rounds: int, seeds: int, steps: int) -> Figure:
    about = map_of(system)

    def once(seed: int) -> int:
        if system == "cluster":
            return walk_cluster(seed, steps).steps
        return walk_part(about, Family("", {}), seed, steps).steps

    def walked(number: int) -> int:
        return sum(once(number * seeds + seed) for seed in range(seeds))

    return measured(f"steps of {system}", rounds, walked)


def _edges(system: str, rounds: int, states: int) -> Figure:
    about = map_of(system)

    def walked(number: int) -> int:
        return walk_edges(about.small, states, about=about).covered

    return measured(f"edges of {system}", rounds, walked)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints, and says whether the goals are reached."""
    return bench(arguments, "lockstep", __doc__, lambda quick: (figures(quick), []))


if __name__ == "__main__":
    sys.exit(main())
