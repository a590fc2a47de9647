"""Chooses the fewest candidates that, with the given invariants, are inductive and imply the goals.

A choice of candidates is refuted by a state that obeys it and a step that breaks a chosen
candidate or a goal. Then either that candidate is not chosen, or another one that excludes the
state is. The cheapest choice that no such condition forbids is tried next; the first choice that
no state refutes is the smallest.

Source of the idea: implicit hitting sets, E. Moreno-Centeno, R. M. Karp, The Implicit Hitting Set
Approach, Operations Research 61, 2013.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import z3

from specs.finding.candidates import BoundedSteps, ClausePool, InvariantCandidate
from specs.lowering.instances import Instance

InstancesOf = Callable[[InvariantCandidate], Sequence[Instance | None]]
"""The steps after which a candidate or goal is to be shown; None: of every state."""

SMALLER = 12
"""Candidates that are tried to be kept in a state that refutes a choice, beside all that are."""

AT_ONCE = 25
"""Conditions that are learned of one choice."""

ONE_MORE = 1_000
"""The cost of a candidate beside its own: of as few as there are, the plainest."""


class Fewest:
    """The search for the fewest candidates, among candidates that are inductive together."""

    def __init__(
        self, scope: BoundedSteps, goals: Sequence[InvariantCandidate],
        offered: Sequence[InvariantCandidate], instances_of: InstancesOf,
    ) -> None:  # fmt: skip
        # In a Z3 context of its own the answer depends on the candidates alone, not on earlier
        # questions of the search for them: it is the same if that search was resumed from a file.
        self._scope = scope.apart()
        self._goals, self._offered, self._instances_of = goals, offered, instances_of
        self._pool = ClausePool(self._scope)
        self._pool.add(offered)
        self._solver = self._scope.solver()
        for place, one in enumerate(offered):
            self._solver.add(z3.Implies(
                self._name(place), self._scope.lower(self._scope.ground(one))))  # fmt: skip
        self._choice = z3.Optimize(ctx=z3.Context())
        self._chosen = [z3.Bool(str(place), self._choice.ctx) for place in range(len(offered))]
        for one, name in zip(offered, self._chosen, strict=True):
            self._choice.add_soft(z3.Not(name), ONE_MORE + one.cost)
        self._because: dict[tuple[int, int | None], frozenset[int]] = {}
        """By number of a goal or candidate, and of an instance: the candidates that sufficed."""

    def run(self, report: Callable[[str], None]) -> list[InvariantCandidate]:
        """Returns the fewest candidates. Raises AssertionError if not even all of them suffice."""
        while True:
            self._choice.check()
            model = self._choice.model()
            places = [place for place, name in enumerate(self._chosen)
                      if z3.is_true(model.eval(name, model_completion=True))]  # fmt: skip
            report(f"the fewest that suffice: {len(places)} at least")
            if not self._is_refuted(places):
                self.places = places
                return [self._offered[place] for place in places]

    def needed_by(self) -> dict[int, set[int]]:
        """By number of a chosen candidate: the candidates and goals whose proof uses it."""
        found: dict[int, set[int]] = {}
        for (number, _), core in self._because.items():
            for place in core:
                found.setdefault(self._offered[place].number, set()).add(number)
        return found

    def _name(self, place: int) -> Any:
        return z3.Bool(f"chosen {place}", self._scope.context)

    def _asked(self, places: Collection[int]) -> bool:
        """Is what the solver has asserted possible, with these candidates?"""
        answer = self._solver.check(*map(self._name, places))
        assert answer != z3.unknown, "a question without quantifiers is decided"
        return bool(answer == z3.sat)

    def _is_refuted(self, places: Sequence[int]) -> bool:
        """Does a step break what is chosen, or a goal? Some conditions are learned of it then."""
        here = set(places)
        todo = [*((None, goal) for goal in self._goals),
                *((place, self._offered[place]) for place in places)]  # fmt: skip
        learned = 0
        for place, one in todo:
            for instance in self._instances_of(one):
                question = one.number, None if instance is None else instance.number
                if self._because.get(question, {-1}) <= here:
                    continue
                self._solver.push()
                self._solver.add(*self._scope.failing(instance, one))
                if self._asked(places):
                    self._learn(place)
                    learned += 1
                else:
                    self._because[question] = self._sufficient()
                self._solver.pop()
                if learned == AT_ONCE:
                    return True
        if not learned:
            kept = {None, *(one.number for _, one in todo)}
            self._because = {question: core for question, core in self._because.items()
                             if question[0] in kept and core <= here}  # fmt: skip
        return learned > 0

    def _sufficient(self) -> frozenset[int]:
        """Of what was just asked the candidates without one of which it would be possible."""
        core = [int(part.decl().name().split()[1]) for part in self._solver.unsat_core()]
        for place in sorted(core, key=lambda one: (-self._offered[one].cost, -one)):
            rest = [one for one in core if one != place]
            if not self._asked(rest):
                core = rest
        return frozenset(core)

    def _learn(self, place: int | None) -> None:
        """One of those is chosen that the state breaks, if the candidate at `place` is."""
        broken, tried = self._broken(), set[int]()
        for _ in range(SMALLER):
            more = next((one for one in broken if one not in tried), None)
            if more is None:
                break
            tried.add(more)
            if self._asked([n for n in range(len(self._offered)) if n not in broken or n == more]):
                broken = self._broken()
        assert broken, "not even all of the candidates suffice"
        no = [] if place is None else [z3.Not(self._chosen[place])]
        self._choice.add(z3.Or(*no, *(self._chosen[one] for one in broken)))

    def _broken(self) -> list[int]:
        """What the state of the last answer breaks."""
        state = self._scope.codes(self._solver.model())
        return [int(place) for place in np.flatnonzero(self._pool.broken_in([state])[0])]
