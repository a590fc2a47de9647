"""Candidates for invariants, and the steps that may break them, within a small scope.

States are quantifier-free formulas over a few brokers and small numbers, so that the solver
decides each question. The proof for any number of brokers comes later.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import z3

from model.language import RecordedSystem
from model.language import terms as t
from model.language.sorts import BOOL
from model.language.terms import Term
from specs.finding.observed import StateRows, chosen_values
from specs.finding.vocabulary import Literal, SliceVariables, of_values, over_its_variables
from specs.grounded_steps import GroundedSteps, State
from specs.lowering.instances import Instance, cells_of
from specs.lowering.symmetry import permutations


@dataclass(frozen=True)
class InvariantCandidate:
    """A clause for all values of a slice's variables; `number` orders candidates, simple first."""

    number: int
    slice: SliceVariables
    literals: tuple[Literal, ...]
    whole: Term | None = None
    """A closed formula instead, where it is no clause: a part of the claim."""
    name: str = ""
    """Of an invariant that is given."""

    @property
    def cost(self) -> int:
        """The cost, low for simple candidates: few literals, few variables, no lookups."""
        if self.whole is not None:
            return 0
        return sum(one.cost + 1 for one in self.literals) + 2 * len(self.slice.variables)

    @property
    def matrix(self) -> Term:
        """The clause over its variables."""
        return t.or_(*(one.formula for one in self.literals)) if self.whole is None else self.whole

    @property
    def plain(self) -> Term:
        """The matrix with definitions written out, so that it can be evaluated in a state."""
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

    @property
    def of_values(self) -> InvariantCandidate:
        """The same over fewer variables, where one has the value of a term."""
        over, literals = over_its_variables(self.slice, of_values(self.literals))
        return replace(self, slice=over, literals=literals)

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

    def apart(self) -> BoundedSteps:
        """The same steps in a Z3 context of their own."""
        made = copy.copy(self)
        made._formulas()
        made._after = {}
        return made

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
                    self._with_renamed_brokers(value, sort, renaming)
                    for value, sort in zip(instance.arguments, instance.step.parameters.values(),
                                           strict=True))))  # fmt: skip
            if not orbit & seen:
                kept.append(instance)
            seen |= orbit
        return kept

    def _with_renamed_brokers(self, value: Any, sort: Any, names: Mapping[int, int]) -> Any:
        element = getattr(sort, "element", sort)
        if getattr(element, "bound", None) != "brokers":
            return value
        if isinstance(value, frozenset):
            return frozenset(names.get(one, one) for one in value)
        return names.get(value, value)

    def ground(self, one: InvariantCandidate) -> Term:
        """A candidate as a term over cells."""
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
        """A candidate as a formula about the state after an instance."""
        if instance.number not in self._after:
            self._after[instance.number] = (self.written(instance), {})
        written, memo = self._after[instance.number]
        return self.lower_after(self.ground(one), written, memo)

    def failing(self, instance: Instance | None, one: InvariantCandidate) -> list[Any]:
        """Formulas: an instance is possible and a candidate fails after it; without an instance,
        the candidate fails in the state itself.
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
        """A solver that has the domains and the terms of `known` as assertions."""
        made = z3.SolverFor("QF_FD", self.context)
        made.set("random_seed", 0)
        made.add(*self.domains, *(self.lower(term) for term in self.known))
        return made

    def rows(self, states: Sequence[State]) -> StateRows:
        """Some states as columns, to evaluate terms in them."""
        columns = []
        for cell in self.grounded.cells:
            column = np.array([state[cell.number] for state in states], np.int16)
            columns.append(column.astype(bool) if cell.field.sort is BOOL else column)
        return StateRows(self.grounded, columns)

    def step(self, state: State, instance: Instance) -> State:
        """The state after an instance that is possible in the given state."""
        rows, after = self.rows([state]), list(state)
        for number, term in instance.writes.items():
            after[number] = int(rows.wide(rows.of(term))[0])
        return tuple(after)


class ClausePool:
    """Candidates indexed by their literals, so that one pass over a state evaluates all of them."""

    def __init__(self, scope: BoundedSteps) -> None:
        self._scope = scope
        self.candidates: list[InvariantCandidate] = []
        self._parts: dict[SliceVariables, _SliceClauses] = {}

    def add(self, candidates: Iterable[InvariantCandidate]) -> None:
        """Adds candidates; the position of a candidate in `candidates` never changes."""
        for one in candidates:
            part = self._parts.setdefault(one.slice, _SliceClauses(one.slice))
            part.add(len(self.candidates), one)
            self.candidates.append(one)

    def broken_in(
        self, states: Sequence[State], asked: npt.NDArray[np.bool_] | None = None
    ) -> npt.NDArray[np.bool_]:
        """By state and candidate: does the state break it? (False for those not in `asked`.)"""
        found = np.zeros((len(states), len(self.candidates)), bool)
        rows = self._scope.rows(states)
        for part in self._parts.values():
            positions, clauses, terms = part.of(asked)
            if not len(positions):
                continue
            values = np.zeros((2 * len(terms) + 1, len(states)), bool)
            for grounded in part.grounded(self._scope):
                for place, number in enumerate(terms):
                    values[place] = rows.wide(rows.of(grounded[number]))
                np.logical_not(values[: len(terms)], out=values[len(terms) : -1])
                found[:, positions] |= ~values[clauses].any(axis=1).T
        return found


@dataclass
class _SliceClauses:
    """The candidates of one slice: each as some numbers of literals."""

    slice: SliceVariables
    positions: list[int] = field(default_factory=list)
    _terms: dict[Term, int] = field(default_factory=dict)
    _clauses: list[list[tuple[int, bool]]] = field(default_factory=list)
    _grounded: list[list[Term]] = field(default_factory=list)

    def add(self, position: int, one: InvariantCandidate) -> None:
        """Adds a candidate; `position` is its index in the pool."""
        self.positions.append(position)
        self._clauses.append([
            (self._terms.setdefault(part.atom, len(self._terms)), part.holds)
            for part in one.literals
        ])  # fmt: skip

    def of(
        self, asked: npt.NDArray[np.bool_] | None
    ) -> tuple[list[int], npt.NDArray[np.int64], list[int]]:
        """Returns the pool positions of the clauses in `asked`; for each clause the places of its
        literals among the terms, their negations, and `false`; and the numbers of these terms."""
        chosen = [n for n, at in enumerate(self.positions) if asked is None or asked[at]]
        terms = sorted({number for n in chosen for number, _ in self._clauses[n]})
        place = {number: at for at, number in enumerate(terms)}
        rows = [
            [place[number] + (0 if holds else len(terms)) for number, holds in self._clauses[n]]
            for n in chosen
        ]
        width = max(map(len, rows), default=0)
        clauses = np.array([row + [2 * len(terms)] * (width - len(row)) for row in rows], np.int64)
        return [self.positions[n] for n in chosen], clauses, terms

    def grounded(self, scope: BoundedSteps) -> list[list[Term]]:
        """The terms for each choice of values; terms that are grounded already are reused."""
        choices = list(chosen_values(self.slice, scope.grounded.bounds))
        self._grounded = self._grounded or [[] for _ in choices]
        for chosen, known in zip(choices, self._grounded, strict=True):
            for term in list(self._terms)[len(known) :]:
                known.append(scope.grounded.ground(term, chosen))
        return self._grounded
