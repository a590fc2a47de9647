"""Candidate invariants made from counterexamples to induction, to complete a proof that is given.

A state that obeys all that is known, and a step after which a goal does not hold, is one that no
run reaches. What it has and no state has that was reached (`observed.ClauseGeneraliser`), over the
variables of the goal and the step, are clauses that keep it out. Those that steps do not keep are
left out together (`houdini` says why); where that leaves a goal open, the states that spoke against
the clauses which would have kept it are made into clauses in turn.

Sources of the idea: W. Schultz, I. Dardik, S. Tripakis, Plain and Simple Inductive Invariant
Inference for Distributed Protocols in TLA+ (Endive), FMCAD 2022; A. Goel, K. Sakallah, On Symmetry
and Quantification (IC3PO), NFM 2021.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import z3

from model.language import terms as t
from model.language.schema import SetOf
from model.language.sorts import BOOL, INTEGER, Sort
from model.language.terms import Term
from specs.finding.houdini import BoundedSteps, InvariantCandidate
from specs.finding.observed import (
    LOOK,
    ClauseGeneraliser,
    SliceColumns,
    SliceSample,
    StateRows,
    chosen_values,
)
from specs.finding.reasons import reasons
from specs.finding.vocabulary import Definitions, Literal, SliceVariables, made_again, slice_over
from specs.grounded_steps import State
from specs.lowering.instances import Instance
from specs.splitting import substituted

Report = Callable[[str], None]


class ClausePool:
    """Candidates by what literals they have, so that one look at a state judges all of them."""

    def __init__(self, scope: BoundedSteps) -> None:
        self._scope = scope
        self.candidates: list[InvariantCandidate] = []
        self._parts: dict[SliceVariables, _SliceSearch] = {}

    def add(self, candidates: Iterable[InvariantCandidate]) -> None:
        """More candidates; the position of one in `candidates` stays."""
        for one in candidates:
            part = self._parts.setdefault(one.slice, _SliceSearch(one.slice))
            part.add(len(self.candidates), one)
            self.candidates.append(one)

    def broken_in(
        self, states: Sequence[State], asked: npt.NDArray[np.bool_] | None = None
    ) -> npt.NDArray[np.bool_]:
        """By state and candidate: does the state break it? (No, of one that is not asked about.)"""
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
class _SliceSearch:
    """The candidates of one slice: each as some numbers of literals."""

    slice: SliceVariables
    positions: list[int] = field(default_factory=list)
    _terms: dict[Term, int] = field(default_factory=dict)
    _clauses: list[list[tuple[int, bool]]] = field(default_factory=list)
    _grounded: list[list[Term]] = field(default_factory=list)

    def add(self, position: int, one: InvariantCandidate) -> None:
        """One more, and where it stands in the pool."""
        self.positions.append(position)
        self._clauses.append([
            (self._terms.setdefault(part.atom, len(self._terms)), part.holds)
            for part in one.literals
        ])  # fmt: skip

    def of(
        self, asked: npt.NDArray[np.bool_] | None
    ) -> tuple[list[int], npt.NDArray[np.int64], list[int]]:
        """Where the clauses that are asked about stand; by clause, where its literals stand among
        the terms, their negations, and `false`; and the numbers of these terms."""
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
        """The terms for each choice of values; those of before are kept."""
        choices = list(chosen_values(self.slice, scope.grounded.bounds))
        self._grounded = self._grounded or [[] for _ in choices]
        for chosen, known in zip(choices, self._grounded, strict=True):
            for term in list(self._terms)[len(known) :]:
                known.append(scope.grounded.ground(term, chosen))
        return self._grounded


SAMPLED = 100_000
"""Rows of a slice, of each kind of states, in which reasons are made into clauses."""

CORRECTED = 4
"""Times that clauses are made of a reason, after states spoke against some."""

REFUTED = 12
"""Clauses that states speak against, after which they are made anew with these states."""

BESIDE = 600
"""Facts beside a reason at most, the plainest."""

TRIES = 6
"""Clauses against one state, of each choice of values."""

ROWS = 60_000
"""Rows of a slice, of each kind of states that were reached."""

BEST = 4
"""Choices of values for a slice's variables of which more than one clause is made."""

SEVERAL = 40
"""Clauses that join the candidates for one counterexample to induction."""


NO_DEFINITIONS = Definitions(())


class ClauseMaker:
    """Makes clauses against states, over slices of the sorts concerned."""

    def __init__(
        self, scope: BoundedSteps, blocks: Sequence[StateRows],
        literals_of: Callable[[SliceVariables], list[Literal]],
        report: Report, definitions: Definitions = NO_DEFINITIONS,
    ) -> None:  # fmt: skip
        self._scope, self._blocks, self._literals_of = scope, blocks, literals_of
        self._report, self._definitions = report, definitions
        self._looked_at = [block.thinned(LOOK) for block in blocks]
        self._samples: dict[SliceVariables, SliceSample] = {}
        self._wider: dict[SliceVariables, list[Literal]] = {}
        self._facts: set[Term] = set()
        self._known: dict[SliceVariables, tuple[list[Literal], ClauseGeneraliser]] = {}

    def learn(self, rows: StateRows) -> None:
        """Further states that were reached, which clauses of before had not been held against."""
        self._looked_at.append(rows)
        for sample in self._samples.values():
            sample.learn(rows)

    @property
    def count(self) -> int:
        """The literals of all slices and reasons so far."""
        seen = {part.term for literals, _ in self._known.values() for part in literals}
        return len(seen | self._facts)

    def literal(self, term: Term, holds: bool, cost: int) -> Literal:
        """A literal of a term, with its definitions written out."""
        return Literal(term, holds, cost, self._definitions.written_out(term))

    def _of(self, one: SliceVariables) -> tuple[list[Literal], ClauseGeneraliser]:
        if one not in self._known:
            literals = self._literals_of(one)
            seen = SliceColumns(self._blocks, one, literals, ROWS)
            self._known[one] = literals, ClauseGeneraliser(seen.columns, seen.real)
        return self._known[one]

    def by_reason(
        self, goal: InvariantCandidate, instance: Instance | None, state: State, level: int
    ) -> Iterator[tuple[SliceVariables, tuple[Literal, ...]]]:
        """Clauses that the reason of a counterexample breaks, and nothing that was reached: of each
        reason the plainest first.

        `level`: how far facts may be from the reason: see `_beside`.
        """
        for reason in reasons(
            self._scope, goal, instance, state, lambda one: self._beside(one, level)
        ):
            one, facts = reason.slice, reason.facts
            self._facts |= {part.term for part in facts}
            self._report(f"the reason of a counterexample: {len(facts)} facts about {one}")
            if one not in self._samples:
                self._samples[one] = SliceSample(self._looked_at, one, SAMPLED)
            sample = self._samples[one]
            truth = np.array([part.holds for part in facts], bool)
            seen: set[tuple[int, ...]] = set()
            for _ in range(CORRECTED):
                refuted = 0
                for parts in ClauseGeneraliser(*sample.columns(facts)).against(truth, facts):
                    if parts in seen:
                        continue
                    seen.add(parts)
                    clause = [facts[i].negated for i in parts]
                    if sample.refutes(clause):
                        refuted += 1
                        if refuted == REFUTED:
                            break
                    else:
                        yield _renamed(one, clause)
                if refuted < REFUTED:
                    break

    def _beside(self, one: SliceVariables, level: int) -> list[Literal]:
        """What definitions say of a slice's variables, and, beyond level 0, what fields say of so
        many of them at a time (and of each other)."""
        found = {part.term: part for part in self._definitions.literals(one)}
        for count in range(level + 1 if level else 0):
            for some in itertools.combinations(one.variables, count):
                if (few := SliceVariables(some)) not in self._wider:
                    self._wider[few] = self._literals_of(few)
                for part in self._wider[few]:
                    found.setdefault(part.term, part)
        return sorted(found.values(), key=lambda part: part.cost)[:BESIDE]

    def against(
        self, state: State, slices: Iterable[SliceVariables]
    ) -> list[tuple[SliceVariables, tuple[Literal, ...]]]:
        """Clauses about these variables that a state breaks, and none that was reached."""
        found: dict[tuple[SliceVariables, tuple[int, ...], tuple[bool, ...]], float] = {}
        for one in slices:
            literals, generaliser = self._of(one)
            self._report(f"clauses about {one}: {len(literals)} literals, {len(found)} so far")
            names = {v.args[0] for v in one.variables}
            costs = np.array([part.cost for part in literals], float)
            ways = self._ways(one, literals, state)
            first = [(next(generaliser.against(truth, literals), None), at)
                     for at, truth in enumerate(ways)]  # fmt: skip
            made = [(parts, at) for parts, at in first if parts is not None]
            made.sort(key=lambda pair: (sum(costs[list(pair[0])]), pair[1]))
            for _, at in made[:BEST]:
                made += [(parts, at) for parts in itertools.islice(
                    generaliser.against(ways[at], literals), TRIES)]  # fmt: skip
            for parts, at in made:
                signs = tuple(bool(ways[at][i]) for i in parts)
                said = [literals[i] for i in parts]
                if frozenset(names) == frozenset().union(*(p.term.free for p in said)):
                    found[one, parts, signs] = float(sum(costs[list(parts)]) + len(parts))
        ordered = sorted(found, key=lambda key: (found[key] + len(key[0].variables), str(key[0]),
                                                 key[1:]))  # fmt: skip
        return [
            (one, tuple(literal_as(self._of(one)[0][i], not sign)
                        for i, sign in zip(parts, signs, strict=True)))
            for one, parts, signs in ordered[:SEVERAL]
        ]  # fmt: skip

    def _ways(
        self, one: SliceVariables, literals: Sequence[Literal], state: State
    ) -> list[npt.NDArray[np.bool_]]:
        """Which literals are true there, by choice of values."""
        here = self._scope.rows([state])
        found: dict[bytes, npt.NDArray[np.bool_]] = {}
        for chosen in chosen_values(one, self._scope.grounded.bounds):
            terms = [self._scope.grounded.ground(part.atom, chosen) for part in literals]
            truth = np.array([bool(here.wide(here.of(term))[0]) for term in terms], bool)
            found.setdefault(truth.tobytes(), truth)
        return list(found.values())


def _renamed(
    one: SliceVariables, clause: Sequence[Literal]
) -> tuple[SliceVariables, tuple[Literal, ...]]:
    """A clause over no more variables than it has, named as they are in a slice of them alone."""
    used = frozenset[str]().union(*(part.term.free for part in clause))
    before = [v for v in one.variables if v.args[0] in used]
    made = slice_over([v.sort for v in before])

    def renamed(term: Term) -> Term:
        for old, new in zip(before, made.variables, strict=True):
            term = substituted(term, old, t.var(f"~{new.args[0]}", new.sort))
        for new in made.variables:
            term = substituted(term, t.var(f"~{new.args[0]}", new.sort), new)
        return made_again(term)

    literals = []
    for part in clause:
        term, holds = renamed(part.term), part.holds
        meaning = None if part.meaning is None else renamed(part.meaning)
        if term.op == "not":
            term, holds = term.args[0], not holds
        literals.append(Literal(term, holds, part.cost, meaning))
    return made, tuple(literals)


def literal_as(one: Literal, holds: bool) -> Literal:
    """The literal, or its opposite."""
    return one if one.holds == holds else one.negated


@dataclass
class GuidedSearchState:
    """A search as it stands, so that it can go on from a file."""

    clauses: list[tuple[list[int], list[tuple[Any, bool, int]]]] = field(default_factory=list)
    """Of each candidate its slice, as numbers of sorts, and its literals: term, sign and cost."""
    banned: set[int] = field(default_factory=set)
    """Candidates that no proof without bounds keeps, or that a reached state breaks."""
    pairs: list[tuple[State, int]] = field(default_factory=list)
    """Steps that do not keep some candidate: the state before, and the instance."""
    made: list[tuple[State, int]] = field(default_factory=list)
    """States against which clauses were made, and for which goal."""

    @staticmethod
    def of(said: Mapping[str, Any]) -> GuidedSearchState:
        """Raises KeyError, TypeError or ValueError where it is something else."""
        return GuidedSearchState(
            [([int(n) for n in one], [(part, bool(h), int(cost)) for part, h, cost in parts])
             for one, parts in said["clauses"]],
            {int(n) for n in said["banned"]},
            [(_state(one), int(n)) for one, n in said["pairs"]],
            [(_state(one), int(n)) for one, n in said["made"]])  # fmt: skip


class _KeptTerms:
    """Terms in a file: lists of an operation and its arguments."""

    def __init__(self, scope: BoundedSteps) -> None:
        self._fields = scope.grounded.recorded.fields
        sorts = [BOOL, INTEGER, *(sort for leaf in self._fields.values()
                                  for sort in (leaf.sort, *leaf.dims))]  # fmt: skip
        self._sorts = {sort.name: sort for sort in sorts}

    @staticmethod
    def written(term: Term) -> list[Any]:
        """As it is kept: a literal with its sort's name, a variable by its name alone."""
        if term.op == "const":
            return ["const", int(term.args[0]), term.sort.name]
        return [term.op, *(_KeptTerms.written(arg) if isinstance(arg, Term) else arg
                           for arg in term.args)]  # fmt: skip

    def read(self, said: Sequence[Any], variables: Mapping[str, Term]) -> Term:
        """The term again. Raises KeyError, TypeError or ValueError where it is something else."""
        op, *args = said
        if op == "const":
            sort = self._sorts[args[1]]
            return t.const(bool(args[0]) if sort is BOOL else int(args[0]), sort)
        if op == "var":
            return variables[args[0]]
        parts = tuple(self.read(arg, variables) if isinstance(arg, list) else arg for arg in args)
        leaf = self._fields.get(str(args[0])) if op == "get" else None
        return t.make(op, parts, leaf.sort if leaf else INTEGER if op == "add" else BOOL)


def _state(codes: Iterable[Any]) -> State:
    return tuple(int(code) for code in codes)


@dataclass(frozen=True)
class _ToKeepOut:
    """A state from which the instance breaks the goal."""

    state: State
    goal: InvariantCandidate
    instance: Instance | None


@dataclass(frozen=True)
class LostGoal:
    """A goal that a step does not keep, or that what is known does not imply; the state before."""

    goal: InvariantCandidate
    instance: Instance | None
    state: State


class GuidedSearch:
    """One search: goals, and candidates made until every step keeps all of both."""

    def __init__(
        self, scope: BoundedSteps, open_ones: Sequence[tuple[InvariantCandidate, Instance | None]],
        generalising: ClauseMaker, keep: Callable[[GuidedSearchState], None], report: Report,
    ) -> None:  # fmt: skip
        """`open_ones`: what is not so after which step, or (None) of every state."""
        self._scope, self._open = scope, list(open_ones)
        self._make = generalising
        self._keep, self._report = keep, report
        self._sorts = _sorts(scope)
        self._kept_terms = _KeptTerms(scope)
        self.pool = ClausePool(scope)
        self._solver = scope.solver()
        self._learned = 0
        self._because: dict[tuple[int, int], frozenset[int]] = {}
        """By candidate (or `OPEN`) and instance (or place among what is open): what it needs."""
        self._numbers: dict[frozenset[tuple[Term, bool]], int] = {}
        self._before = self._after = scope.rows([])
        """Steps that do not keep some candidate, from states that break none that is left."""
        self.rounds = 0

    def go(
        self, guided: GuidedSearchState, until: Callable[[], bool]
    ) -> tuple[list[int], list[LostGoal]]:
        """What steps keep, by place in the pool; and what is lost with no way out."""
        if not self.pool.candidates:
            self._take_up(guided)
        while True:
            self.rounds += 1
            alive, killers = self._alive(guided)
            lost = self._lost(alive)
            self._report(f"round {self.rounds}: {len(self.pool.candidates)} candidates, steps "
                         f"keep {len(alive)}, {len(lost)} states to keep out")  # fmt: skip
            if not lost or until():
                return alive, lost
            if not self._answered(guided, lost, killers):
                return alive, lost
            self._keep(guided)

    # -- candidates ---------------------------------------------------------------------------

    def _take_up(self, guided: GuidedSearchState) -> None:
        done, guided.clauses = guided.clauses, []
        for numbers, parts in done:
            one = slice_over([self._sorts[number] for number in numbers])
            terms = {v.args[0]: v for v in one.variables}
            self._join(guided, one, tuple(
                self._make.literal(self._kept_terms.read(part, terms), holds, cost)
                for part, holds, cost in parts))  # fmt: skip

    def _join(
        self, guided: GuidedSearchState, one: SliceVariables, clause: tuple[Literal, ...]
    ) -> bool:
        key = frozenset((part.term, part.holds) for part in clause)
        if key in self._numbers:
            return False
        number = self._numbers[key] = len(self.pool.candidates)
        self.pool.add([InvariantCandidate(BEGIN + number, one, clause)])
        guided.clauses.append(
            (
                [self._sorts.index(v.sort) for v in one.variables],
                [(_KeptTerms.written(one.term), one.holds, one.cost) for one in clause],
            )
        )
        return True

    def _against(self, guided: GuidedSearchState, one: _ToKeepOut) -> int:
        """How many new candidates break that state: some that steps are not known not to keep,
        and the plainest of the others, in case that these are to be rescued."""
        before = sum(number == one.goal.number for _, number in guided.made)
        level = before // FEW_TIMES % (FARTHEST + 1)
        guided.made.append((one.state, one.goal.number))
        kept = left = looked_at = 0
        for slice_, clause in self._make.by_reason(one.goal, one.instance, one.state, level):
            if frozenset((part.term, part.holds) for part in clause) in self._numbers:
                continue
            looked_at += 1
            if not self._spoken_against(InvariantCandidate(BEGIN, slice_, clause)):
                kept += self._join(guided, slice_, clause)
            elif left < SPOKEN_AGAINST:
                left += self._join(guided, slice_, clause)
            if kept == PLAINEST or looked_at == LOOKED_AT:
                break
        return kept + left

    def _spoken_against(self, one: InvariantCandidate) -> bool:
        """Is there a known step from a state that breaks nothing that steps keep, nor this, to one
        that breaks it?"""
        if not self._before.count:
            return False
        term = one.closed
        holds, after = (rows.wide(rows.of(self._scope.grounded.ground(term, {})))
                        for rows in (self._before, self._after))  # fmt: skip
        return bool((holds & ~after).any())

    def _answered(
        self, guided: GuidedSearchState, lost: Sequence[LostGoal], killers: Mapping[int,
                                                                                    tuple[State,
                                                                                          Instance]]
    ) -> bool:  # fmt: skip
        """Did new candidates come of it? Twice of what is nearest to the reason, then twice of what
        is farther, and so on."""
        return any(self._made(guided, lost, killers) for _ in range((FARTHEST + 1) * FEW_TIMES))

    def _made(
        self, guided: GuidedSearchState, lost: Sequence[LostGoal], killers: Mapping[int,
                                                                                    tuple[State,
                                                                                          Instance]]
    ) -> int:  # fmt: skip
        """New candidates against what is lost; and against the states which spoke against the
        plainest of those candidates that would have kept it out, and so on."""
        todo: list[tuple[int, int, int, _ToKeepOut]] = []
        times = Counter(guided.made)

        def push(one: _ToKeepOut, depth: int) -> None:
            asked = times[one.state, one.goal.number]
            heapq.heappush(todo, (asked + 2 * depth, len(seen), depth, one))

        seen: set[tuple[State, int]] = set()
        for gone in lost:
            seen.add((gone.state, gone.goal.number))
            push(_ToKeepOut(gone.state, gone.goal, gone.instance), 0)
        made = 0
        for _ in range(AT_ONCE + AT_ONCE // 2):
            if not todo:
                break
            _, _, depth, one = heapq.heappop(todo)
            made += self._against(guided, one)
            if depth == DEEPEST:
                continue
            broken = self.pool.broken_in([one.state])[0]
            helpful = [
                _ToKeepOut(killers[int(n)][0], self.pool.candidates[n], killers[int(n)][1])
                for n in np.flatnonzero(broken) if int(n) in killers and n not in guided.banned
            ]  # fmt: skip
            helpful.sort(key=lambda other: (
                other.goal.cost + 2 * times[other.state, other.goal.number],
                other.goal.number))  # fmt: skip
            for other in helpful[:RESCUED]:
                if (other.state, other.goal.number) not in seen:
                    seen.add((other.state, other.goal.number))
                    push(other, depth + 1)
        return made

    # -- what steps keep ----------------------------------------------------------------------

    def _alive(
        self, guided: GuidedSearchState
    ) -> tuple[list[int], dict[int, tuple[State, Instance]]]:
        """The largest set of candidates that every step keeps; by each other what spoke against."""
        scope, candidates = self._scope, self.pool.candidates
        alive = np.ones(len(candidates), bool)
        alive[sorted(guided.banned)] = False
        killers: dict[int, tuple[State, Instance]] = {}
        self._before = self._after = scope.rows([])
        if not candidates:
            return [], killers
        known = [(self._scope.grounded.instances[number], state) for state, number in guided.pairs]
        if known:
            before = self.pool.broken_in([state for _, state in known])
            after = self.pool.broken_in([scope.step(state, one) for one, state in known])
            changed = True
            while changed:
                changed = False
                for at, (instance, state) in enumerate(known):
                    if not (before[at] & alive).any() and (after[at] & alive).any():
                        for number in np.flatnonzero(after[at] & alive):
                            killers[int(number)] = state, instance
                        alive &= ~after[at]
                        changed = True
        self._learn()
        asked = True
        while asked:
            asked = False
            for instance in scope.instances:
                asked |= self._drop(guided, instance, alive, killers)
        broken = self.pool.broken_in([state for state, _ in guided.pairs], alive)
        honest = [pair for pair, row in zip(guided.pairs, broken, strict=True) if not row.any()]
        self._before = scope.rows([state for state, _ in honest])
        self._after = scope.rows([scope.step(state, scope.grounded.instances[number])
                                  for state, number in honest])  # fmt: skip
        return [int(n) for n in np.flatnonzero(alive)], killers

    def _drop(
        self, guided: GuidedSearchState, instance: Instance, alive: npt.NDArray[np.bool_],
        killers: dict[int, tuple[State, Instance]],
    ) -> bool:  # fmt: skip
        """Leaves out what an instance does not keep. Was anything asked that was not known?"""
        scope, candidates, solver = self._scope, self.pool.candidates, self._solver
        asked = [int(n) for n in np.flatnonzero(alive)
                 if scope.concerns(instance, candidates[n])
                 and not self._is_known((int(n), instance.number), alive)]  # fmt: skip
        if not asked:
            return False
        solver.push()
        solver.add(*scope.guard(instance))
        while asked:
            solver.push()
            solver.add(z3.Or(*(z3.Not(scope.after(instance, candidates[n])) for n in asked)))
            answer = solver.check(*self._named(np.flatnonzero(alive)))
            if answer != z3.sat:
                core = self._core() if answer == z3.unsat else None
                solver.pop()
                for n in asked:
                    if core is None:  # undecided: none of them is known to be kept
                        alive[n] = False
                    else:
                        self._because[n, instance.number] = core
                break
            state = scope.codes(solver.model())
            solver.pop()
            after = scope.step(state, instance)
            broken = self.pool.broken_in([after], alive)[0]
            guided.pairs.append((state, instance.number))
            for number in np.flatnonzero(broken):
                killers[int(number)] = state, instance
            alive &= ~broken
            asked = [n for n in asked if alive[n]]
        solver.pop()
        return True

    def _is_known(self, question: tuple[int, int], alive: npt.NDArray[np.bool_]) -> bool:
        """Was it proved before, by candidates that are all left?"""
        core = self._because.get(question)
        return core is not None and all(alive[n] for n in core)

    def _learn(self) -> None:
        """Gives the solver what is new among the candidates, each by its name."""
        for number in range(self._learned, len(self.pool.candidates)):
            one = self.pool.candidates[number]
            self._solver.add(z3.Implies(self._name(number),
                                        self._scope.lower(self._scope.ground(one))))  # fmt: skip
        self._learned = len(self.pool.candidates)

    def _name(self, number: int) -> Any:
        """The name by which the solver takes a candidate for true."""
        return z3.Bool(f"{NAMED}{number}", self._scope.context)

    def _named(self, numbers: Iterable[int]) -> list[Any]:
        return [self._name(int(number)) for number in numbers]

    def _core(self) -> frozenset[int]:
        return frozenset(int(part.decl().name().removeprefix(NAMED))
                         for part in self._solver.unsat_core())  # fmt: skip

    # -- what is lost -------------------------------------------------------------------------

    def _lost(self, alive: Sequence[int]) -> list[LostGoal]:
        """Some goals that what is known and alive does not keep, each with a state."""
        scope, found, solver = self._scope, list[LostGoal](), self._solver
        left = np.zeros(len(self.pool.candidates), bool)
        left[list(alive)] = True
        named = self._named(alive)
        for place, (goal, instance) in enumerate(self._open):
            if len(found) == AT_ONCE:
                break
            if any(one.goal is goal for one in found):
                continue  # one state of each: steps of other epochs say the same
            if self._is_known((OPEN, place), left):
                continue
            solver.push()
            solver.add(*scope.failing(instance, goal))
            answer = solver.check(*named)
            if answer == z3.unsat:
                self._because[OPEN, place] = self._core()
            elif answer == z3.sat:
                solver.add(*named)
                found.append(LostGoal(goal, instance, scope.blanker(solver)))
            solver.pop()
        return found


NAMED = "candidate "
OPEN = -1

PLAINEST = 5
"""Clauses that join the candidates, of all that are made against a state at one time."""

SPOKEN_AGAINST = 5
"""Of these besides, though a known step does not keep them."""

LOOKED_AT = 150
"""Clauses of which these are chosen."""

DEEPEST = 3
"""States that spoke against a candidate made against a state that spoke against a candidate ..."""

AT_ONCE = 8
"""Goals that clauses are made for in one round."""

FEW_TIMES = 2
"""Rounds in which facts of one level are all that is tried for a goal."""

FARTHEST = 2
"""The last level."""

RESCUED = 3
"""Candidates that are tried to be saved for each of them."""

BEGIN = 1_000
"""Numbers below are of goals."""


def _sorts(scope: BoundedSteps) -> list[Sort]:
    """The sorts that index fields, and those of steps' parameters: each name once."""
    found: dict[str, Sort] = {}
    for leaf in scope.grounded.recorded.fields.values():
        for sort in leaf.dims:
            found.setdefault(sort.name, sort)
    for step in scope.grounded.recorded.steps:
        for parameter in step.parameters.values():
            sort = parameter.element if isinstance(parameter, SetOf) else parameter
            found.setdefault(sort.name, sort)
    return list(found.values())


__all__ = ["ClauseMaker", "ClausePool", "GuidedSearch", "GuidedSearchState", "LostGoal"]
