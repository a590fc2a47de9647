"""A system made ready to be walked: far larger bounds than are explored, as generated Python."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping
from math import prod
from typing import Any

from model.language import RecordedSystem, System
from model.language.schema import SetOf
from model.language.terms import FALSE
from model.systems import SYSTEMS
from specs.lowering.grounding import Grounded
from specs.lowering.instances import Instance
from specs.lowering.python_code import PythonCode

LARGEST = 300_000
"""Cells times steps with their parameters chosen: what generated code makes of it in seconds."""

JUDGED = ("always", "always_step")

ROUNDS = 8
"""No bound is raised more often."""


def size(recorded: RecordedSystem, bounds: Mapping[str, int]) -> int:
    """How many cells a state has, times how many steps with their parameters chosen there are."""

    def many(sort: Any) -> int:
        members = len((sort.element if isinstance(sort, SetOf) else sort).domain(bounds))
        return int(2**members) if isinstance(sort, SetOf) else members

    cells = sum(prod(map(many, leaf.dims)) for leaf in recorded.fields.values())
    steps = sum(prod(map(many, step.parameters.values())) for step in recorded.steps)
    return cells * steps


def well_beyond(recorded: RecordedSystem) -> dict[str, int]:
    """Bounds as far beyond the default as can be generated: one broker more, the others in turns.

    A bound that would make the instance too large stays as it is, so a system that is large by
    default is walked within its default bounds.
    """
    system = recorded.system
    bounds = system.limits({})
    names = [name for name in system.bounds if name != "brokers"]
    turns = ["brokers"] * ("brokers" in bounds) + names * ROUNDS
    for name in turns:
        # A budget without a default has no limit, and is best left without.
        if name in bounds and size(recorded, {**bounds, name: bounds[name] + 1}) <= LARGEST:
            bounds[name] += 1
    return bounds


LEFT_OUT: dict[str, str] = {}
"""Claims that hold within the bounds that are explored, and say too much beyond them: why."""


class Ground:
    """The generated code of one system within wide bounds, and what every walk over it fired.

    `rare` are states that a rare step led to, or where a transition that never fired was nearer
    to its turn than ever, and the way there.
    """

    def __init__(self, recorded: RecordedSystem, bounds: Mapping[str, int] | None = None) -> None:
        self.recorded = recorded
        self.bounds = well_beyond(recorded) if bounds is None else dict(bounds)
        self.grounded = Grounded(recorded, self.bounds, [
            name for name, (one, _) in recorded.claims.items()
            if one.kind in JUDGED and name not in LEFT_OUT
        ])  # fmt: skip
        self.code = PythonCode(self.grounded)
        self.names = [one.step.transition.name for one in self.grounded.instances]
        self.transitions = sorted({step.transition.name for step in recorded.steps})
        # A fault is what a budget limits; where it is free, most steps would be faults.
        self.faults = {
            step.transition.name for step in recorded.steps
            if any(recorded.fields[write.field].budget for write in step.writes)
        }  # fmt: skip
        self.fired: Counter[str] = Counter()
        self._counts = [0] * len(self.grounded.instances)
        self._refused = bytearray(len(self.grounded.reasons))
        self.rare: list[tuple[Any, tuple[int, ...]]] = []
        self._nearest: Counter[str] = Counter()
        self._instances: dict[str, list[Instance]] = {}
        for one in self.grounded.instances:
            if not any(condition is FALSE for condition, _ in one.requires):
                self._instances.setdefault(one.step.transition.name, []).append(one)
        self._sound: set[Any] = set()

    def successors(self, state: Any) -> list[tuple[int, Any]]:
        """The possible steps within the bounds: (instance number, next state)."""
        return self.code.successors(state, self._counts, self._refused, {})

    def broken_by(self, state: Any, after: Any) -> str | None:
        """A claim that a step breaks, by what it does or by where it leads."""
        for name, holds in self.code.step_claims.items():
            if not holds(state, after):
                return name
        return self.broken_in(after)

    def broken_in(self, state: Any) -> str | None:
        """A claim that does not hold in a state."""
        if state in self._sound:
            return None
        for name, holds in self.code.claims.items():
            if not holds(state):
                return name
        self._sound.add(state)
        return None

    def comes_near(self, state: Any) -> bool:
        """Does more of what a transition requires hold here than anywhere before it ever fired?"""
        nearer = False
        for name in self.never_fired:
            for instance in self._instances.get(name, ()):
                held = self.code.first_refusal(instance, state)
                if held is not None and held > self._nearest[name]:
                    self._nearest[name], nearer = held, True
        return nearer

    @property
    def never_fired(self) -> list[str]:
        """Transitions that no walk over this ground took."""
        return [name for name in self.transitions if not self.fired[name]]


@functools.lru_cache(maxsize=2)
def ground_of(system: str) -> Ground:
    """The ground of a registered system in its default version; made once for tests in a row."""
    return Ground(SYSTEMS[system].recorded())


def systems() -> list[str]:
    """Every registered system with a claim that a walk could break."""
    return [name for name, one in SYSTEMS.items() if _has_claims(one)]


def _has_claims(system: System) -> bool:
    return any(claim.kind in JUDGED for claim in system.claims)


__all__ = ["LARGEST", "Ground", "ground_of", "size", "systems", "well_beyond"]
