"""Seeded random runs of a world, with the weights of steps and faults by named profile.

A weight is a whole number, so that the same seed gives the same run on every machine.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from impl.sim.simulation import Simulation, Step

Faults = Mapping[str, int]
"""What goes wrong, and how likely: weights by the kind of a fault, or by the name of a step."""

Weight = int | Callable[[Step], int]
"""How likely a step is taken, relative to others; one that looks at the world is asked each time.
"""

SWARM = "swarm"
"""The profile that is another one for each seed.

Runs in which all faults strike at once are all alike: crashes end what losses began. Groce et al.,
"Swarm testing" (2012): leave out half of what may happen, another half each time.
"""

JOINED_BY = "+"


@dataclass(frozen=True)
class Profiles:
    """The fault profiles of one kind of world. ``draws`` creates one from a seed (``swarm``)."""

    kind: str
    known: Mapping[str, Faults]
    draws: Callable[[random.Random], Faults]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the profiles."""
        return (*self.known, SWARM)

    def named(self, name: str, seed: int = 0) -> Faults:
        """A profile by name, or several, as in ``crashes+lossy``: then the larger weight counts.

        ValueError lists the names.
        """
        if name == SWARM:
            return self.draws(random.Random(f"{self.kind} swarm {seed}".strip()))
        parts = name.split(JOINED_BY)
        if not {*parts} <= {*self.known}:
            about = f" of a {self.kind} cluster" if self.kind else ""
            raise ValueError(f"no fault profile {name!r}{about}; there are {', '.join(self.names)}")
        joined = dict[str, int]()
        for part in parts:
            for one, weight in self.known[part].items():
                joined[one] = max(weight, joined.get(one, weight))
        return joined


def choose(
    world: Simulation, weights: Iterable[tuple[str, Weight]], chance: random.Random
) -> Step | None:
    """A weighted random choice among the enabled steps; None if there is none.

    The names are sorted, so that the same seed gives the same run anywhere.
    """
    found: list[tuple[str, tuple[int, ...]]] = []
    shares: list[int] = []
    total = 0
    for name, weight in weights:
        for args in world.kinds[name].possible(world):
            total += weight if isinstance(weight, int) else weight(Step(name, args))
            found.append((name, args))
            shares.append(total)
    if not total:
        return None
    return Step(*found[bisect_right(shares, chance.randrange(total))])


World = TypeVar("World", bound=Simulation)


class SeededSimulator(Generic[World]):
    """Takes one weighted random step after the other in ``world``; ``taken`` counts them by name.

    ``weights`` by step name; a step without a weight is never taken.
    """

    def __init__(self, world: World, seed: int, weights: Mapping[str, Weight]) -> None:
        self.world = world
        self.random = random.Random(seed)
        self.taken: Counter[str] = Counter()
        self.clock = 0
        self.weigh(weights)

    def weigh(self, weights: Mapping[str, Weight]) -> None:
        """Change the weights of the steps."""
        self.weights = weights
        self._possible = [(name, weight) for name, weight in weights.items() if weight]

    def choose(self) -> Step | None:
        """The next step, None if nothing can happen under this fault profile."""
        return choose(self.world, self._possible, self.random)

    def advance(self) -> Step | None:
        """Choose a step and take it; returns it, None if nothing can happen."""
        step = self.choose()
        if step is not None:
            self.clock += 1
            self.world.take(step)
            self.taken[step.name] += 1
        return step
