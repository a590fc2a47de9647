"""A world of named steps: it lists the enabled steps, and nothing happens by itself.

Functions called ``..._unmet`` return the first condition of a step that does not hold, as a
positive sentence ("it has a ZooKeeper session": it has none), and None if the step may be taken.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any


@dataclass(frozen=True, order=True, slots=True)
class Step:
    """A step by name, with its arguments in the order of the step's parameters."""

    name: str
    args: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(str(value) for value in self.args)})"


class StepNotPossible(Exception):
    """The step is not enabled; ``reason`` is the condition that does not hold, as a sentence."""

    def __init__(self, step: Step, reason: str) -> None:
        super().__init__(f"{step} is not possible: {reason} — false")
        self.step = step
        self.reason = reason


Arguments = Iterable[tuple[int, ...]]
"""Those with which a step may be taken, or that are worth asking about."""

Candidates = Callable[[Any], Arguments]
"""The arguments worth asking about, sorted."""

UnmetCondition = Callable[..., str | None]
"""(world, *args) -> the first unmet condition, None if the step may be taken."""

Act = Callable[..., None]
"""(world, *args) -> takes the step, whose conditions all hold."""


@dataclass(frozen=True, slots=True)
class StepKind:
    """Everything that a world knows about the steps of one name.

    Without ``unmet`` all candidates are enabled. ``weight`` is a simulator's relative weight; the
    weight of a fault comes from the profile instead, under the name ``fault``.
    """

    name: str
    parameters: tuple[str, ...]
    candidates: Candidates
    unmet: UnmetCondition | None
    act: Act
    weight: int = 0
    fault: str | None = None

    def possible(self, world: Any) -> list[tuple[int, ...]]:
        """The arguments with which the step is enabled now."""
        unmet, found = self.unmet, self.candidates(world)
        if unmet is None or not found:
            return [*found]
        return [args for args in found if unmet(world, *args) is None]


def offered(
    name: str,
    parameters: str,
    candidates: Candidates,
    act: Act,
    weight: int = 0,
    fault: str | None = None,
) -> StepKind:
    """A step that is enabled with each of its candidates; its parameters are given as words."""
    return StepKind(name, tuple(parameters.split()), candidates, None, act, weight, fault)


def refusable(
    act: Act,
    candidates: Candidates,
    unmet: UnmetCondition,
    parameters: str = "broker",
    name: str = "",
    weight: int = 0,
    fault: str | None = None,
) -> StepKind:
    """A step with a refusal reason; its name is the function's if none is given."""
    return StepKind(
        name or act.__name__, tuple(parameters.split()), candidates, unmet, act, weight, fault
    )


def by_name(*kinds: Iterable[StepKind]) -> dict[str, StepKind]:
    """Steps by name, sorted. ValueError if two have one name."""
    found = sorted(chain(*kinds), key=lambda one: one.name)
    for one, other in pairwise(found):
        if one.name == other.name:
            raise ValueError(f"two steps are named {one.name}")
    return {one.name: one for one in found}


BROKERS = frozenset({"broker", "leader", "follower", "replica"})
"""Parameters that are ids of brokers in every world."""


class Simulation:
    """Lists, refuses (with a reason) and takes steps; ``kinds`` are its steps by name, sorted,
    ``brokers`` the ids from 1 on."""

    kinds: Mapping[str, StepKind]
    brokers: Collection[int]

    def enabled(self) -> list[Step]:
        """Every enabled step, sorted by name and arguments."""
        return [
            Step(name, args) for name, kind in self.kinds.items() for args in kind.possible(self)
        ]

    def why_not(self, step: Step) -> str | None:
        """The first condition of the step that does not hold, None if it may be taken."""
        kind = self.kinds.get(step.name)
        if kind is None:
            near = difflib.get_close_matches(step.name, self.kinds, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            return f"{step.name} is the name of a step{hint}"
        named = ", ".join(kind.parameters)
        if len(step.args) != len(kind.parameters):
            return f"the arguments are ({named})"
        for name, value in zip(kind.parameters, step.args, strict=True):
            if name in BROKERS and value not in self.brokers:
                return f"the {name} is one of 1 to {len(self.brokers)}"
        if kind.unmet is not None:
            return kind.unmet(self, *step.args)
        if step.args in set(kind.candidates(self)):
            return None
        return f"({named}) is among those with which {step.name} may be taken now"

    def do(self, step: Step) -> None:
        """Take a step; StepNotPossible with the reason if it is not enabled."""
        reason = self.why_not(step)
        if reason is not None:
            raise StepNotPossible(step, reason)
        self.take(step)

    def take(self, step: Step) -> None:
        """Take a step that ``enabled`` has just listed, without checking it again."""
        self.kinds[step.name].act(self, *step.args)
