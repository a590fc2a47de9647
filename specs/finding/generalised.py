"""Makes one clause that every step keeps, of the facts of a reason.

The clause denies some of the facts. First come those clauses that deny few facts which no reached
state has together, the plainest first. Where a step speaks against a clause, it denies one fact
more: one that the state after the step lacks. If no plain clause is kept, the clause that denies
all facts is tried. Where a step does not keep it, the state before the step lacks some facts:
without these the clause says more, and excludes that state, too. If it would then exclude a reached
state, the state before the step has to be kept out by a clause of its own first. Facts that are not
needed are left out in the end.

Sources of the idea: A. Bradley, SAT-Based Model Checking without Unrolling (IC3), VMCAI 2011;
Z. Hassan, A. Bradley, F. Somenzi, Better Generalization in IC3, FMCAD 2013.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from model.language import terms as t
from model.language.terms import Term
from specs.finding.candidates import BoundedSteps
from specs.finding.observed import ClauseGeneraliser, SliceSample
from specs.finding.reasons import ViolationReason
from specs.grounded_steps import State
from specs.lowering.instances import Instance, cells_of_all

Parts = tuple[int, ...]
"""Facts of a reason, by position."""

Truths = npt.NDArray[np.bool_]
"""Of a fact in a state, by choice of values."""

Ask = Callable[["Cube", Sequence[Instance]], Any]


@dataclass
class Cube:
    """The facts of a reason, and those of them that a clause denies."""

    scope: BoundedSteps
    reason: ViolationReason
    sample: SliceSample
    parts: Parts = ()
    cores: dict[str, tuple[frozenset[int], frozenset[int]]] = field(default_factory=dict)
    """By step that keeps the clause: the facts after it, and the candidates, that sufficed."""
    places: list[tuple[int, ...]] = field(default_factory=list)
    """Choices of values for which states did not obey the clause before a step."""
    asked: int = 0
    begin: int = 0
    """The step that was asked about last: the next question is about it again."""

    def __post_init__(self) -> None:
        self.restart()
        self._rows = ClauseGeneraliser.of_columns(*self.sample.columns(self.reason.facts)).rows
        self._steps: list[tuple[Sequence[Truths], Sequence[Truths]]] = []
        self._truth = np.array([part.holds for part in self.reason.facts], bool)
        self.domains = [v.sort.domain(self.scope.grounded.bounds)
                        for v in self.reason.slice.variables]  # fmt: skip
        self._grounded = [list(self._choices(part.term)) for part in self.reason.facts]

    def restart(self) -> None:
        """Takes all facts again."""
        self.parts, self.cores = tuple(range(len(self.reason.facts))), {}

    def _choices(self, term: Term) -> Iterator[tuple[tuple[int, ...], dict[str, Term]]]:
        """Values of the variables that a fact has, and their place among all values."""
        variables = self.reason.slice.variables
        own = [v.args[0] in term.free for v in variables]
        sizes = [len(domain) if mine else 1
                 for mine, domain in zip(own, self.domains, strict=True)]  # fmt: skip
        for place in np.ndindex(*sizes):
            yield place, {v.args[0]: t.const(domain[at]) for v, mine, domain, at in zip(
                variables, own, self.domains, place, strict=True) if mine}  # fmt: skip

    def atoms(self, part: int) -> Iterator[tuple[dict[str, int], Term]]:
        """A fact over cells, for each choice of values of its own variables."""
        ground, atom = self.scope.grounded.ground, self.reason.facts[part].atom
        for _, chosen in self._grounded[part]:
            yield {name: value.args[0] for name, value in chosen.items()}, ground(atom, chosen)

    def read(self) -> frozenset[int]:
        """The cells that the clause reads."""
        return cells_of_all(atom for part in self.parts for _, atom in self.atoms(part))

    def is_reached(self, parts: Collection[int]) -> bool:
        """Has a reached state these facts together?"""
        at = list(parts)
        if (self._rows[:, at] == self._truth[at]).all(axis=1).any():
            return True
        return self.sample.refutes([self.reason.facts[part].negated for part in at])

    def truths(self, state: State) -> list[Truths]:
        """By fact: has it in the state the truth that the reason says, for each choice of values?
        (An axis for each variable, of length one where the fact has not that variable.)"""
        rows, ground, found = self.scope.rows([state]), self.scope.grounded.ground, []
        for fact, choices in zip(self.reason.facts, self._grounded, strict=True):
            shape = tuple(place + 1 for place in choices[-1][0])
            said = np.zeros(shape, bool)
            for place, chosen in choices:
                said[place] = bool(rows.wide(rows.of(ground(fact.atom, chosen)))[0]) == fact.holds
            found.append(said)
        return found

    def broken_at(self, truths: Sequence[Truths], parts: Parts) -> npt.NDArray[np.int64]:
        """The choices of values for which a clause does not hold."""
        whole: Any = np.ones(tuple(map(len, self.domains)), bool)
        for part in parts:
            whole = whole & truths[part]
        return np.argwhere(whole)

    def true_at(
        self, truths: Sequence[Truths], values: Sequence[int], parts: Iterable[int]
    ) -> Parts:  # fmt: skip
        """Those of some facts that a state has for some values."""
        at = [domain.index(value) for domain, value in zip(self.domains, values, strict=True)]
        wide = tuple(map(len, self.domains))
        return tuple(part for part in parts if np.broadcast_to(truths[part], wide)[tuple(at)])

    def clause_at(self, place: Sequence[int]) -> Term:
        """The clause over cells, for one choice of values."""
        chosen = {v.args[0]: t.const(domain[at]) for v, domain, at in zip(
            self.reason.slice.variables, self.domains, place, strict=True)}  # fmt: skip
        said = []
        for part in self.parts:
            fact = self.reason.facts[part]
            atom = self.scope.grounded.ground(fact.atom, chosen)
            said.append(t.not_(atom) if fact.holds else atom)
        return t.or_(*said)

    def without(self, parts: Parts) -> None:
        """Takes fewer facts: what was shown of a step stays so if it needs none of the others."""
        self.parts = parts
        kept = frozenset(parts)
        self.cores = {at: core for at, core in self.cores.items() if core[0] <= kept}

    def plainest(self) -> Iterator[Parts]:
        """Few facts that no reached state has together, the plainest first; one more where a known
        step speaks against them."""
        against = ClauseGeneraliser(self._rows).against(
            self._truth, self.reason.facts, self._lacking)  # fmt: skip
        yield from (parts for parts in against if not self.is_reached(parts))

    def note(self, before: Sequence[Truths], after: State) -> None:
        """Notes a step from a state that obeys all that is known."""
        self._steps.append((before, self.truths(after)))

    def _lacking(self, parts: Parts) -> list[int]:
        """Facts that are not so after a step which speaks against a clause."""
        for before, after in reversed(self._steps):
            places = self.broken_at(after, parts)
            if len(places) and not len(self.broken_at(before, parts)):
                values = [domain[at] for domain, at in zip(self.domains, places[0], strict=True)]
                everything = range(len(self.reason.facts))
                there = self.true_at(after, values, everything)
                return sorted(set(everything) - set(there))
        return []

    def costliest(self) -> list[int]:
        """The facts, those first that are rather left out."""
        facts = self.reason.facts
        return sorted(self.parts, key=lambda part: (-facts[part].cost, -part))


def counterexample(cube: Cube, ask: Ask) -> tuple[State, Parts, Instance] | None:
    """A state that obeys the clause and a step that breaks it, with those of the facts which that
    state has for the values of which they hold after the step."""
    read, names = cube.read(), list(cube.scope.by_step)
    for count in range(len(names)):
        name = names[at := (cube.begin + count) % len(names)]
        instances = [one for one in cube.scope.by_step[name]
                     if not one.writes.keys().isdisjoint(read)]  # fmt: skip
        if name in cube.cores or not instances:
            continue
        while True:
            said = ask(cube, instances)
            assert said is not None, "a question without quantifiers is decided"
            if "core" in said:
                cube.cores[name] = frozenset(said["facts"]), frozenset(said["core"])
                break
            truths = cube.truths(tuple(said["state"]))
            broken = cube.broken_at(truths, cube.parts)
            if not len(broken):
                cube.begin = at
                state, instance = (
                    tuple(said["state"]),
                    cube.scope.grounded.instances[said["instance"]],
                )
                cube.note(truths, cube.scope.step(state, instance))
                return state, cube.true_at(truths, said["values"], cube.parts), instance
            cube.places += [tuple(map(int, place)) for place in broken]
    return None


def is_kept(cube: Cube, parts: Parts, ask: Ask) -> bool:
    """Takes these facts, or fewer of them, such that all steps keep the clause: if none of the
    states from which a step breaks it has to be kept out first."""
    before = cube.parts, cube.cores
    cube.without(parts)
    while (found := counterexample(cube, ask)) is not None:
        if not found[1] or cube.is_reached(found[1]):
            cube.parts, cube.cores = before
            return False
        cube.without(found[1])
    return True


def leave_out_unneeded(cube: Cube, ask: Ask) -> None:
    """Leaves out facts that no step needs, as long as no reached state has the others."""
    _leave_out_unused(cube)
    for part in cube.costliest():
        fewer = tuple(one for one in cube.parts if one != part)
        if (
            part in cube.parts and fewer and not cube.is_reached(fewer)
            and is_kept(cube, fewer, ask)
        ):  # fmt: skip
            _leave_out_unused(cube)


def _leave_out_unused(cube: Cube) -> None:
    used = frozenset().union(*(facts for facts, _ in cube.cores.values()))
    for part in cube.costliest():
        fewer = tuple(one for one in cube.parts if one != part)
        if part not in used and fewer and not cube.is_reached(fewer):
            cube.without(fewer)
