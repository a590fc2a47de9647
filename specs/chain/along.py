"""The chain along single runs: those that a search found, and random ones far beyond its bounds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Sequence

from specs.chain.simulation import Broken, Simulation


class NotFollowed(AssertionError):
    """A run that the proof's form cannot follow; the message has both states and the reason."""

    def __init__(self, chain: Simulation, run: Sequence[int], lines: Sequence[str]) -> None:
        steps = [chain.instances[number].label for number in run]
        told = [f"{position:>3}  {label}" for position, label in enumerate(steps, 1)]
        super().__init__("\n".join(["a run that the map does not allow:", *told, *lines]))
        self.run = tuple(run)


def follow_run(chain: Simulation, run: Sequence[int]) -> Counter[str]:
    """Follows a run of instance numbers; how often each abstract step was taken.

    Raises NotFollowed at the first step that fails, ValueError where the run itself is none.
    """
    pair = chain.initial
    taken: Counter[str] = Counter()
    for position, number in enumerate(run, 1):
        after = dict(chain.successors(pair[0])).get(number)
        if after is None:
            raise ValueError(f"step {position}, {chain.instances[number].label}, is not possible")
        try:
            form, names = chain.follow(pair, number, after)
            failure = chain.judge(after, form)
            if failure is not None:
                raise Broken(failure, number, form)
        except Broken as broken:
            lines = chain.told(pair, broken, after)
            raise NotFollowed(chain, run[:position], lines) from broken
        taken.update(names)
        pair = after, form
    return taken


def random_run(
    chain: Simulation,
    chance: random.Random,
    steps: int,
    fired: Counter[str],
    off: Collection[str] = (),
) -> list[int]:
    """A run of up to so many steps in which rare transitions are preferred; `off` take no part.

    What is rare is told by `fired`, which counts what this run takes as well.
    """
    state = chain.code.initial
    run: list[int] = []
    names = [one.step.transition.name for one in chain.instances]
    for _ in range(steps):
        possible = [
            (n, s) for n, s in chain.successors(state) if names[n] not in off and s != state
        ]
        if not possible:
            return run
        by_name: dict[str, list[tuple[int, object]]] = {}
        for number, after in possible:
            by_name.setdefault(names[number], []).append((number, after))
        rare = sorted(by_name)
        weights = [1 / (1 + fired[name]) if chance.random() < 0.3 else 1.0 for name in rare]
        (name,) = chance.choices(rare, weights)
        number, state = chance.choice(by_name[name])
        fired[name] += 1
        run.append(number)
    return run
