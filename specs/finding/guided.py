"""Candidate invariants chosen by counterexamples to induction, to complete a proof that is given.

Houdini asks of all candidates together what steps keep: of a small protocol thousands, of a large
one sixty thousand, each in every question. Where most of a proof is given, few are needed. So a
state that obeys what is given, and a step that breaks what is open, choose candidates that keep the
state out, those first that keep out most such states; and what was chosen is kept by every step in
turn, or else others are chosen for it. One that is lost from a state which no other keeps out is
none.

Source of the idea: W. Schultz, I. Dardik, S. Tripakis, Plain and Simple Inductive Invariant
Inference for Distributed Protocols in TLA+ (Endive), FMCAD 2022.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import z3

from model.language.terms import Term
from specs.finding.houdini import InvariantCandidate, Scope
from specs.finding.observed import chosen_values
from specs.finding.vocabulary import Slice
from specs.lowering.instances import Instance

Report = Callable[[str], None]
State = tuple[int, ...]

EACH = 3
"""Counterexamples of one step and target at a time: the more, the better the choice."""


class Pool:
    """Candidates by what literals they have, so that one look at a state judges all of them."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.candidates: list[InvariantCandidate] = []
        self._parts: dict[Slice, _SliceSearch] = {}

    def add(self, candidates: Iterable[InvariantCandidate]) -> None:
        """More candidates; the position of one in `candidates` stays."""
        for one in candidates:
            if one.whole is not None:
                continue
            part = self._parts.setdefault(one.slice, _SliceSearch(one.slice))
            part.add(len(self.candidates), one)
            self.candidates.append(one)

    def broken_in(self, states: Sequence[State]) -> npt.NDArray[np.bool_]:
        """By state and candidate: does the state break it?"""
        found = np.zeros((len(states), len(self.candidates)), bool)
        rows = self._scope.rows(states)
        for part in self._parts.values():
            clauses = part.clauses()
            for grounded in part.grounded(self._scope):
                truths = np.stack([rows.wide(rows.of(term)).astype(bool) for term in grounded])
                values = np.concatenate([truths, ~truths, np.zeros((1, len(states)), bool)])
                true = np.logical_or.reduce([values[column] for column in clauses.T])
                found[:, part.positions] |= ~true.T
        return found


@dataclass
class _SliceSearch:
    """The candidates of one slice: each as up to three numbers of literals."""

    slice: Slice
    positions: list[int] = field(default_factory=list)
    _terms: dict[Term, int] = field(default_factory=dict)
    _clauses: list[list[tuple[int, bool]]] = field(default_factory=list)
    _grounded: list[list[Term]] = field(default_factory=list)

    def add(self, position: int, one: InvariantCandidate) -> None:
        """One more, and where it stands in the pool."""
        self.positions.append(position)
        self._clauses.append([
            (self._terms.setdefault(part.term, len(self._terms)), part.holds)
            for part in one.literals
        ])  # fmt: skip

    def clauses(self) -> npt.NDArray[np.int64]:
        """By clause: where its literals stand among the terms, their negations, and `false`."""
        count = len(self._terms)
        rows = [
            [number if holds else number + count for number, holds in clause]
            for clause in self._clauses
        ]  # fmt: skip
        width = max(map(len, rows))
        return np.array([row + [2 * count] * (width - len(row)) for row in rows])

    def grounded(self, scope: Scope) -> list[list[Term]]:
        """The terms for each choice of values; those of before are kept."""
        choices = list(chosen_values(self.slice, scope.grounded.bounds))
        self._grounded = self._grounded or [[] for _ in choices]
        for chosen, known in zip(choices, self._grounded, strict=True):
            for term in list(self._terms)[len(known) :]:
                known.append(scope.grounded.ground(term, chosen))
        return self._grounded


@dataclass
class Guided:
    """A search as it stands: what is chosen, what is none, and the states that said so."""

    chosen: list[int] = field(default_factory=list)
    banned: set[int] = field(default_factory=set)
    against: list[State] = field(default_factory=list)
    """The states for which candidates of three literals were made, in order."""

    @staticmethod
    def of(said: Mapping[str, Any]) -> Guided:
        """Raises KeyError or TypeError where it is something else."""
        return Guided([int(n) for n in said["chosen"]], {int(n) for n in said["banned"]},
                      [tuple(int(code) for code in one) for one in said["against"]])  # fmt: skip


@dataclass(frozen=True)
class Lost:
    """A target that a step does not keep, and the state before."""

    target: InvariantCandidate
    state: State


class Choosing:
    """One search: targets, and candidates chosen so that every step keeps all of them."""

    def __init__(
        self, scope: Scope, goals: Sequence[InvariantCandidate],
        instances_of: Callable[[InvariantCandidate], Sequence[Instance]],
        more: Callable[[State], list[InvariantCandidate]],
        holds: Callable[[InvariantCandidate], bool],
        keep: Callable[[Guided], None], report: Report,
    ) -> None:  # fmt: skip
        self._scope, self._goals, self._instances_of = scope, list(goals), instances_of
        self._holds = holds
        self._more, self._keep, self._report = more, keep, report
        self.pool = Pool(scope)
        self.rounds = 0

    def go(self, guided: Guided, until: Callable[[], bool]) -> list[Lost]:
        """Chooses until every step keeps goals and choices. Else what is lost, with no way out."""
        by_number = {one.number: one for one in self.pool.candidates}
        for state in guided.against:
            self._add_against(state, by_number)
        while True:
            self.rounds += 1
            chosen = [by_number[number] for number in guided.chosen if number in by_number]
            lost = self._lost(chosen)
            self._report(f"round {self.rounds}: {len(chosen)} chosen, {len(guided.banned)} are "
                         f"none, {len(lost)} states to keep out")  # fmt: skip
            if not lost:
                return []
            if until():
                return lost
            stuck = self._choose(guided, lost, by_number)
            self._keep(guided)
            if stuck:
                fresh = [one for one in stuck if self._is_new(one.state, guided)]
                for one in fresh:
                    guided.against.append(one.state)
                if not sum(self._add_against(one.state, by_number) for one in fresh):
                    return stuck

    def _is_new(self, state: State, guided: Guided) -> bool:
        return state not in guided.against

    def _add_against(self, state: State, by_number: dict[int, InvariantCandidate]) -> int:
        made = self._more(state)
        self.pool.add(made)
        by_number.update({one.number: one for one in made})
        return len(made)

    def _choose(self, guided: Guided, lost: list[Lost],
                by_number: Mapping[int, InvariantCandidate]) -> list[Lost]:  # fmt: skip
        """Candidates that keep the states out; choices that have none are banned. What is left
        are the states of goals for which there is none."""
        broken = self.pool.broken_in([one.state for one in lost])
        open_ones = np.array([one.number not in guided.banned for one in self.pool.candidates])
        cost = np.array([one.cost for one in self.pool.candidates])
        helpless = [
            one for one, row in zip(lost, broken, strict=True) if not (row & open_ones).any()
        ]
        goals = {one.number for one in self._goals}
        none = {one.target.number for one in helpless} - goals
        if none:
            # What was chosen to keep it is chosen no longer, unless others ask for it again.
            guided.banned |= none
            guided.chosen = [number for number in guided.chosen if number not in none]
            return []
        rows = [position for position, one in enumerate(lost)
                if (broken[position] & open_ones).any()]  # fmt: skip
        while rows:
            out = (broken[rows] & open_ones).sum(axis=0)
            best = int(np.lexsort((np.arange(len(out)), cost, -out))[0])
            if not out[best]:
                break  # what would have kept these out is none: the next round says so
            chosen = self.pool.candidates[best]
            if not self._holds(chosen):
                guided.banned.add(chosen.number)
                open_ones[best] = False
                continue
            guided.chosen.append(chosen.number)
            rows = [position for position in rows if not broken[position, best]]
        return [one for one in helpless if one.target.number in goals]

    def _lost(self, chosen: Sequence[InvariantCandidate]) -> list[Lost]:
        """For every step the targets that it does not keep, each with some states before."""
        scope, found = self._scope, list[Lost]()
        solver = scope.solver()
        solver.add(*(scope.lower(scope.ground(one)) for one in chosen))
        wanted: dict[int, tuple[Instance, list[InvariantCandidate]]] = {}
        for goal in self._goals:
            for instance in self._instances_of(goal):
                wanted.setdefault(instance.number, (instance, []))[1].append(goal)
        for one in chosen:
            for instance in scope.instances:
                if scope.concerns(instance, one):
                    wanted.setdefault(instance.number, (instance, []))[1].append(one)
        for number in sorted(wanted):
            instance, targets = wanted[number]
            solver.push()
            solver.add(*scope.guard(instance))
            found += self._lost_by(solver, instance, targets)
            solver.pop()
        return found

    def _lost_by(
        self, solver: Any, instance: Instance, targets: list[InvariantCandidate]
    ) -> list[Lost]:
        scope, found = self._scope, list[Lost]()
        times: dict[int, int] = {}
        left = list(targets)
        while left:
            solver.push()
            solver.add(z3.Or(*(z3.Not(scope.after(instance, one)) for one in left)))
            for other in found:
                solver.add(
                    z3.Or(
                        *(
                            cell != value
                            if not isinstance(value, bool)
                            else cell != z3.BoolVal(value)
                            for cell, value in zip(
                                scope.cells, _values(scope, other.state), strict=True
                            )
                        )
                    )
                )
            answer = solver.check()
            state = scope.codes(solver.model()) if answer == z3.sat else None
            solver.pop()
            if state is None:
                break
            after = scope.rows([scope.step(state, instance)])
            for one in list(left):
                if not bool(after.wide(after.of(scope.ground(one)))[0]):
                    found.append(Lost(one, state))
                    times[one.number] = times.get(one.number, 0) + 1
                    if times[one.number] >= EACH:
                        left.remove(one)
        return found


def _values(scope: Scope, state: State) -> list[int | bool]:
    return [
        bool(code) if z3.is_bool(cell) else code
        for cell, code in zip(scope.cells, state, strict=True)
    ]


__all__ = ["Choosing", "Guided", "Lost", "Pool"]
