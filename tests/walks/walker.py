"""A walk: possible steps taken one after another, every claim looked at after each of them.

Rare steps are preferred. Which transitions take part is chosen for each walk anew (swarm testing):
a walk without crashes gets far in what crashes would cut short, one without elections elsewhere.
Every other walk sets out from where a rare step once led.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.walks.ground import Ground

RARE = 3
"""As often a transition is still rare: where it leads, later walks set out."""

LENGTHS = (50, 200, 800)
CALM = (1.0, 0.1, 0.02)


class WalkBroken(AssertionError):
    """A walk broke a claim; the message has the shortened run, step by step."""

    def __init__(self, ground: Ground, claim: str, path: Sequence[int]) -> None:
        self.claim = claim
        self.path = shortened(ground, path, claim)
        sentence = ground.recorded.claim(claim)[0].sentence
        steps = [ground.grounded.instances[number].label for number in self.path]
        reported = [f"{position:>3}  {label}" for position, label in enumerate(steps, 1)]
        bounds = ", ".join(f"{name}={value}" for name, value in ground.bounds.items())
        super().__init__("\n".join([f"{claim} is broken: {sentence} ({bounds})", *reported]))


@dataclass
class Walk:
    """One walk, from the initial state or from where another came by.

    `off` are transitions that take no part in it; `path` numbers the steps from the initial state.
    What is rare is counted by `fired`: by itself, unless it is given what other walks fired.
    `calm` is the weight of a fault; of any other transition it is 1.
    """

    ground: Ground
    chance: random.Random
    off: Collection[str] = ()
    fired: Counter[str] = field(default_factory=Counter)
    calm: float = 1.0
    path: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.state: Any = self.ground.code.initial
        self._judge(self.ground.broken_in(self.state))

    def resume(self) -> None:
        """Sets out from where a rare step led, if any did yet."""
        if self.ground.rare:
            self.state, path = self.chance.choice(self.ground.rare)
            self.path = list(path)

    def go(self, steps: int) -> int:
        """Takes up to so many steps and says how many; fewer where nothing more is possible.

        Raises ClaimBroken after the first step that breaks a claim.
        """
        for taken in range(steps):
            if not self._step():
                return taken
        return steps

    def _step(self) -> bool:
        names = self.ground.names
        by_name: dict[str, list[tuple[int, Any]]] = {}
        for number, after in self.ground.successors(self.state):
            if names[number] not in self.off:
                by_name.setdefault(names[number], []).append((number, after))
        if not by_name:
            return False
        possible = sorted(by_name)
        weights = [self.calm if name in self.ground.faults else 1.0 for name in possible]
        if self.chance.random() < 0.5:
            weights = [one / (1 + self.fired[name])
                       for one, name in zip(weights, possible, strict=True)]  # fmt: skip
        (name,) = self.chance.choices(possible, weights)
        number, after = self.chance.choice(by_name[name])
        self.fired[name] += 1
        if self.fired is not self.ground.fired:
            self.ground.fired[name] += 1
        self.path.append(number)
        broken = self.ground.broken_by(self.state, after)
        self.state = after
        self._judge(broken)
        if self.fired[name] <= RARE or self.ground.comes_near(after):
            self.ground.rare.append((after, tuple(self.path)))
        return True

    def _judge(self, broken: str | None) -> None:
        if broken is not None:
            raise WalkBroken(self.ground, broken, self.path)


def swarm(ground: Ground, chance: random.Random) -> list[str]:
    """Transitions to leave out of a walk: none, or each with a chance that is drawn first."""
    share = chance.choice((0.0, 0.1, 0.3))
    return [name for name in ground.transitions if chance.random() < share]


def walks(ground: Ground, seed: int, steps: int) -> int:
    """Walks, each with its own swarm and length, until so many steps are taken; how many were."""
    chance = random.Random(seed)
    taken = barren = 0
    while taken < steps and barren < 100:
        walk = Walk(ground, chance, swarm(ground, chance), ground.fired, chance.choice(CALM))
        if chance.random() < 0.5:
            walk.resume()
        went = walk.go(min(chance.choice(LENGTHS), steps - taken))
        taken += went
        barren = 0 if went else barren + 1
    return taken


def breaks(ground: Ground, path: Sequence[int], claim: str) -> int | None:
    """After how many steps of a path the claim is broken; None if it is not, or cannot be taken."""
    state = ground.code.initial
    for position, number in enumerate(path, 1):
        after = ground.code.attempt(ground.grounded.instances[number], state)
        if after is None:
            return None
        if ground.broken_by(state, after) == claim:
            return position
        state = after
    return None


def shortened(ground: Ground, path: Sequence[int], claim: str) -> list[int]:
    """The path without the steps that the damage does not need; it need not be the shortest."""
    kept = list(path)
    size = max(1, len(kept) // 2)
    while True:
        at, shorter = 0, False
        while at < len(kept):
            tried = kept[:at] + kept[at + size :]
            ends = breaks(ground, tried, claim)
            if ends is None:
                at += size
            else:
                kept, shorter = tried[:ends], True
        if size == 1 and not shorter:
            return kept
        size = max(1, size // 2)
