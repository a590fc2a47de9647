"""Which candidates every step preserves: the largest inductive subset, within a small scope.

A state that obeys every candidate, and a step after which some do not hold, refutes those: they
are left out, and the rest is asked again. What remains is kept by every step there. States are
formulas without quantifiers over a few brokers and small numbers, so that each question is
decided; the proof for any number of brokers comes after.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import z3

from model.language import RecordedSystem
from model.language import terms as t
from model.language.sorts import BOOL
from model.language.terms import Term
from specs.finding.observed import StateRows, chosen_values
from specs.finding.vocabulary import Literal, SliceVariables
from specs.grounded_steps import GroundedSteps, State
from specs.lowering.instances import Instance, cells_of
from specs.lowering.symmetry import permutations

Report = Callable[[str], None]


@dataclass(frozen=True)
class InvariantCandidate:
    """A clause for all values of a slice's variables; `number` orders candidates, plain first."""

    number: int
    slice: SliceVariables
    literals: tuple[Literal, ...]
    whole: Term | None = None
    """A closed formula instead, where it is no clause: a part of the claim."""
    name: str = ""
    """Of an invariant that is given."""

    @property
    def cost(self) -> int:
        """Plain ones are cheap: few literals, few variables, nothing looked up."""
        if self.whole is not None:
            return 0
        return sum(one.cost + 1 for one in self.literals) + 2 * len(self.slice.variables)

    @property
    def matrix(self) -> Term:
        """The clause over its variables."""
        return t.or_(*(one.formula for one in self.literals)) if self.whole is None else self.whole

    @property
    def plain(self) -> Term:
        """The same with definitions written out: what can be evaluated in a state."""
        return t.or_(*(one.plain for one in self.literals)) if self.whole is None else self.whole

    @property
    def closed(self) -> Term:
        """The candidate as a closed term: for all values of its variables, definitions written
        out.
        """
        term = self.plain
        if self.whole is None:
            for variable in reversed(self.slice.variables):
                term = t.quantifier("every", variable, term)
        return term

    def __str__(self) -> str:
        return t.show(self.matrix)


class BoundedSteps(GroundedSteps):
    """The steps of a system with small bounds, as formulas; `known` holds of every state."""

    def __init__(
        self, recorded: RecordedSystem, bounds: Mapping[str, int], known: Sequence[Term],
        also: Sequence[Term],
    ) -> None:  # fmt: skip
        super().__init__(recorded, bounds, [*known, *also])
        self.known = [self.grounded.ground(term, {}) for term in known]
        self.instances = self._different()
        self._grounded: dict[int, Term] = {}
        self._after: dict[int, tuple[dict[int, Any], dict[Term, Any]]] = {}

    def _different(self) -> list[Instance]:
        """One instance of each orbit: what candidates say is the same of all brokers."""
        kept: list[Instance] = []
        seen: set[tuple[str, tuple[Any, ...]]] = set()
        renamings = list(permutations(self.grounded))
        for instance in self.grounded.instances:
            if any(condition is t.FALSE for condition, _ in instance.requires):
                continue
            name = instance.step.transition.name
            orbit = set()
            for renaming in renamings:
                orbit.add((name, tuple(
                    self._renamed(value, sort, renaming)
                    for value, sort in zip(instance.arguments, instance.step.parameters.values(),
                                           strict=True))))  # fmt: skip
            if not orbit & seen:
                kept.append(instance)
            seen |= orbit
        return kept

    def _renamed(self, value: Any, sort: Any, names: Mapping[int, int]) -> Any:
        element = getattr(sort, "element", sort)
        if getattr(element, "bound", None) != "brokers":
            return value
        if isinstance(value, frozenset):
            return frozenset(names.get(one, one) for one in value)
        return names.get(value, value)

    def ground(self, one: InvariantCandidate) -> Term:
        """A candidate over cells."""
        found = self._grounded.get(one.number)
        if found is None:
            if one.whole is not None:
                found = self.grounded.ground(one.whole, {})
            else:
                found = t.and_(*(
                    self.grounded.ground(one.plain, chosen)
                    for chosen in chosen_values(one.slice, self.grounded.bounds)))  # fmt: skip
            self._grounded[one.number] = found
        return found

    def after(self, instance: Instance, one: InvariantCandidate) -> Any:
        """A candidate of the state after an instance."""
        if instance.number not in self._after:
            self._after[instance.number] = (self.written(instance), {})
        written, memo = self._after[instance.number]
        return self.lower_after(self.ground(one), written, memo)

    def failing(self, instance: Instance | None, one: InvariantCandidate) -> list[Any]:
        """A formula: an instance is possible and a candidate fails after it; without an instance:
        now.
        """
        if instance is None:
            return [z3.Not(self.lower(self.ground(one)))]
        return [*self.guard(instance), z3.Not(self.after(instance, one))]

    def concerns(self, instance: Instance, one: InvariantCandidate) -> bool:
        """Does the instance write what the candidate reads?"""
        return not instance.writes.keys().isdisjoint(self.read_by(one))

    def read_by(self, one: InvariantCandidate) -> frozenset[int]:
        """The cells that a candidate reads."""
        return cells_of(self.ground(one))

    def solver(self) -> Any:
        """Knows the domains and what holds of every state."""
        made = z3.SolverFor("QF_FD", self.context)
        made.set("random_seed", 0)
        made.add(*self.domains, *(self.lower(term) for term in self.known))
        return made

    def rows(self, states: Sequence[State]) -> StateRows:
        """Some states, to evaluate terms in."""
        columns = []
        for cell in self.grounded.cells:
            column = np.array([state[cell.number] for state in states], np.int16)
            columns.append(column.astype(bool) if cell.field.sort is BOOL else column)
        return StateRows(self.grounded, columns)

    def step(self, state: State, instance: Instance) -> State:
        """The state after an instance that is possible there."""
        rows, after = self.rows([state]), list(state)
        for number, term in instance.writes.items():
            after[number] = int(rows.wide(rows.of(term))[0])
        return tuple(after)


AT_ONCE = 400
"""Candidates whose failing is asked for in one question."""


def kept_by_all(
    scope: BoundedSteps, candidates: Iterable[InvariantCandidate], report: Report
) -> list[InvariantCandidate]:
    """The candidates that, together, every step keeps."""
    alive = {one.number: one for one in candidates}
    passes = 0
    while True:
        passes += 1
        before = len(alive)
        solver = scope.solver()
        solver.add(*(scope.lower(scope.ground(one)) for one in alive.values()))
        for position, instance in enumerate(scope.instances):
            report(f"pass {passes}, step {position + 1} of {len(scope.instances)}: "
                   f"{len(alive):,} candidates are left")  # fmt: skip
            _drop_what_breaks(scope, solver, instance, alive)
        if len(alive) == before:
            return list(alive.values())


def _drop_what_breaks(
    scope: BoundedSteps, solver: Any, instance: Instance, alive: dict[int, InvariantCandidate]
) -> None:
    concerned = [one for one in alive.values() if scope.concerns(instance, one)]
    if not concerned:
        return
    solver.push()
    solver.add(*scope.guard(instance))
    for begin in range(0, len(concerned), AT_ONCE):
        some = [one for one in concerned[begin : begin + AT_ONCE] if one.number in alive]
        while some:
            solver.push()
            solver.add(z3.Or(*(z3.Not(scope.after(instance, one)) for one in some)))
            answer = solver.check()
            if answer != z3.sat:
                if answer != z3.unsat:  # undecided: none of them is known to be kept
                    for one in some:
                        del alive[one.number]
                solver.pop()
                break
            after = scope.step(scope.codes(solver.model()), instance)
            solver.pop()
            rows = scope.rows([after])
            for one in concerned:
                if one.number in alive and not bool(rows.wide(rows.of(scope.ground(one)))[0]):
                    del alive[one.number]
            some = [one for one in some if one.number in alive]
    solver.pop()


class CandidateNeeds:
    """Which candidates each candidate needs, so that a step keeps it; the fewest of a set."""

    def __init__(self, scope: BoundedSteps) -> None:
        self.scope = scope
        self._solver = scope.solver()

    def of(
        self, instance: Instance | None, goal: InvariantCandidate,
        offered: Collection[InvariantCandidate],
    ) -> list[InvariantCandidate] | None:  # fmt: skip
        """Those of `offered` that suffice for the goal after an instance, of the first of them if
        they do; None if none do.

        Without an instance: that it holds of every state.
        """
        self._solver.push()
        try:
            return self._of(instance, goal, offered)
        finally:
            self._solver.pop()

    def _of(
        self, instance: Instance | None, goal: InvariantCandidate,
        offered: Collection[InvariantCandidate],
    ) -> list[InvariantCandidate] | None:  # fmt: skip
        scope, solver = self.scope, self._solver
        solver.add(*scope.failing(instance, goal))
        if solver.check() == z3.unsat:
            return []
        tracked = {}
        for one in offered:
            name = self._name(one)
            tracked[name.decl().name()] = one
            solver.add(z3.Implies(name, scope.lower(scope.ground(one))))
        chosen = [self._name(one) for one in tracked.values()]
        few = (len(chosen) >> halved for halved in (4, 3, 2, 1, 0))
        if all(solver.check(*chosen[:size]) != z3.unsat for size in few):
            return None
        core = [tracked[part.decl().name()] for part in solver.unsat_core()]
        return self._fewest(solver, core)

    def _name(self, one: InvariantCandidate) -> Any:
        return z3.Bool(f"needs {one.number}", self.scope.context)

    def _fewest(self, solver: Any, core: list[InvariantCandidate]) -> list[InvariantCandidate]:
        """None of them can go; the least plain are tried first."""
        kept = sorted(core, key=lambda one: (-one.cost, -one.number))
        for one in list(kept):
            rest = [other for other in kept if other is not one]
            if solver.check(*map(self._name, rest)) == z3.unsat:
                kept = rest
        return kept
