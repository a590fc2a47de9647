"""Makes candidate invariants from counterexamples to induction, to complete a part of a proof.

If a goal is an invariant, no run reaches a state from which a step breaks it. Clauses over the
variables of the goal and the step exclude such a state: each denies facts that the state has and
that no reached state has together (`observed.ClauseGeneraliser`). All clauses that steps do not
keep are dropped together. If that leaves a goal open, new clauses are made against the states that
refuted the clauses which would have kept the goal.

Sources of the idea: W. Schultz, I. Dardik, S. Tripakis, Plain and Simple Inductive Invariant
Inference for Distributed Protocols in TLA+ (Endive), FMCAD 2022; A. Goel, K. Sakallah, On Symmetry
and Quantification (IC3PO), NFM 2021.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import z3

from model.language.recording import nodes
from model.language.sorts import Sort
from model.language.terms import Term
from specs.finding.answers import Answer, Answers
from specs.finding.candidates import BoundedSteps, ClausePool, InvariantCandidate
from specs.finding.observed import (
    LOOK,
    ClauseGeneraliser,
    SliceSample,
    StateRows,
    chosen_values,
)
from specs.finding.reasons import ViolationReason, reasons
from specs.finding.vocabulary import (
    Definitions,
    Literal,
    SliceVariables,
    over_its_variables,
    slice_over,
)
from specs.grounded_steps import State
from specs.lowering.instances import Instance

Report = Callable[[str], None]


SAMPLED = 100_000
"""Rows of a slice, of each kind of states, in which reasons are made into clauses."""

CORRECTED = 4
"""Times that clauses are made of a reason, after states spoke against some."""

REFUTED = 12
"""Clauses that states speak against, after which they are made anew with these states."""

NO_DEFINITIONS = Definitions(())


class ClauseMaker:
    """Makes clauses that exclude states, over slices of the sorts concerned."""

    def __init__(
        self, blocks: Sequence[StateRows], literals_of: Callable[[SliceVariables], list[Literal]],
        report: Report, definitions: Definitions = NO_DEFINITIONS,
    ) -> None:  # fmt: skip
        self._literals_of, self._report, self._definitions = literals_of, report, definitions
        self._looked_at = [block.thinned(LOOK) for block in blocks]
        self._samples: dict[SliceVariables, SliceSample] = {}
        self._wider: dict[SliceVariables, list[Literal]] = {}
        self._facts: set[Term] = set()

    def learn(self, rows: StateRows) -> None:
        """Adds reached states, against which earlier clauses were not checked."""
        self._looked_at.append(rows)
        for sample in self._samples.values():
            sample.learn(rows)

    @property
    def count(self) -> int:
        """The number of literals of all slices and reasons so far."""
        return len(self._facts)

    def literal(self, term: Term, holds: bool, cost: int) -> Literal:
        """A literal of a term, with its definitions written out."""
        return Literal(term, holds, cost, self._definitions.written_out(term))

    def plain(self, sorts: Sequence[Sort]) -> Iterator[tuple[SliceVariables, tuple[Literal, ...]]]:
        """Clauses of one literal, over one variable or none, that hold in all reached states. Omits
        nested field lookups, where bounds cause facts that do not hold beyond them."""
        for one in (slice_over(()), *(slice_over((sort,)) for sort in sorts)):
            sample = SliceSample(self._looked_at, one, SAMPLED)
            for part in self._literals_of(one):
                if len(part.term.free) == len(one.variables) and not _is_nested(part.term):
                    self._facts.add(part.term)
                    yield from ((one, (said,)) for said in (part, part.negated)
                                if not sample.refutes([said]))  # fmt: skip

    def by_reason(
        self,
        scope: BoundedSteps,
        goal: InvariantCandidate,
        instance: Instance | None,
        state: State,
        level: int,
    ) -> Iterator[ClauseOfReason]:
        """Clauses that the reason of a counterexample breaks and no reached state breaks, for each
        reason the simplest first.

        `level`: how far facts may be from the reason; see `_literals_of_slice`.
        """
        for reason in reasons(
            scope, goal, instance, state, lambda one: self._literals_of_slice(one, level)
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
                for parts in ClauseGeneraliser.of_columns(*sample.columns(facts)).against(
                    truth, facts
                ):
                    if parts in seen:
                        continue
                    seen.add(parts)
                    clause = [facts[i].negated for i in parts]
                    if sample.refutes(clause):
                        refuted += 1
                        if refuted == REFUTED:
                            break
                    else:
                        yield ClauseOfReason(reason, parts)
                if refuted < REFUTED:
                    break

    def _literals_of_slice(self, one: SliceVariables, level: int) -> list[Literal]:
        """What definitions say of a slice's variables, and, beyond level 0, what fields say of so
        many of them at a time (and of each other)."""
        found = {part.term: part for part in self._definitions.literals(one)}
        for count in range(level + 1 if level else 0):
            for some in itertools.combinations(one.variables, count):
                if (few := SliceVariables(some)) not in self._wider:
                    self._wider[few] = self._literals_of(few)
                for part in self._wider[few]:
                    found.setdefault(part.term, part)
        return list(found.values())


@dataclass(frozen=True)
class ClauseOfReason:
    """Some facts of a reason, by their positions, that no reached state has together."""

    reason: ViolationReason
    parts: tuple[int, ...]

    @property
    def clause(self) -> tuple[SliceVariables, tuple[Literal, ...]]:
        """The clause over its variables."""
        return over_its_variables(
            self.reason.slice, [self.reason.facts[at].negated for at in self.parts]
        )


@dataclass(frozen=True)
class _ToKeepOut:
    """A state from which the instance breaks the goal."""

    state: State
    goal: InvariantCandidate
    instance: Instance | None


@dataclass(frozen=True)
class GoalCounterexample:
    """A goal that a step breaks or that the known facts do not imply, with the state before."""

    goal: InvariantCandidate
    instance: Instance | None
    state: State


class GuidedSearch:
    """One search: makes candidates until every step keeps all goals and candidates."""

    def __init__(
        self, scope: BoundedSteps, open_ones: Sequence[tuple[InvariantCandidate, Instance | None]],
        generalising: ClauseMaker, answers: Answers, report: Report,
    ) -> None:  # fmt: skip
        """`open_ones`: what is not so after which step, or (None) of every state."""
        self._make, self._answers, self._report = generalising, answers, report
        self.banned: set[int] = set()
        """Candidates that no proof without bounds keeps, or that a reached state breaks."""
        self._numbers: dict[frozenset[tuple[Term, bool]], int] = {}
        self.pool = ClausePool(scope)
        self.rounds = 0
        self.look_within(scope, open_ones)

    def look_within(
        self, scope: BoundedSteps, open_ones: Sequence[tuple[InvariantCandidate, Instance | None]]
    ) -> None:
        """Continues the search within another scope, with the current candidates."""
        self._scope, self._open = scope, list(open_ones)
        known, self.pool = self.pool.candidates, ClausePool(scope)
        self.pool.add(known)
        self._pairs: list[tuple[State, int]] = []
        """Steps that break some candidate: the state before, and the instance."""
        self._against_what: list[tuple[State, int]] = []
        """States against which clauses were made, and for which goal."""
        self._because: dict[tuple[int, int], frozenset[int]] = {}
        """By candidate (or `OPEN`) and instance (or position among open goals): what it needs."""
        self._before = self._after = scope.rows([])
        """Steps that break some candidate, from states that break none of the remaining ones."""

    def run(self, until: Callable[[], bool]) -> tuple[list[int], list[GoalCounterexample]]:
        """Returns the pool positions of the candidates that steps keep, and the goals lost."""
        if not self.pool.candidates:
            for slice_, clause in self._make.plain(_sorts(self._scope)):
                self._add_candidate(slice_, clause)
        while True:
            self.rounds += 1
            self._answers.begin()
            self._solver_of_round = _RoundSolver(self._scope, self.pool.candidates)
            alive, killers = self._alive()
            lost = self._lost(alive)
            self._report(f"round {self.rounds}: {len(self.pool.candidates)} candidates, steps "
                         f"keep {len(alive)}, {len(lost)} states to keep out")  # fmt: skip
            if not lost or until() or not self._answered(lost, killers):
                return alive, lost

    # -- candidates ---------------------------------------------------------------------------

    def _add_candidate(self, one: SliceVariables, clause: tuple[Literal, ...]) -> bool:
        key = frozenset((part.term, part.holds) for part in clause)
        if key in self._numbers:
            return False
        number = self._numbers[key] = len(self.pool.candidates)
        self.pool.add([InvariantCandidate(BEGIN + number, one, clause)])
        return True

    def _add_candidates_against(self, one: _ToKeepOut) -> int:
        """How many new candidates break that state: some that steps are not known not to keep,
        and the plainest of the others, in case that these are to be rescued."""
        before = sum(number == one.goal.number for _, number in self._against_what)
        level = before // FEW_TIMES % (FARTHEST + 1)
        self._against_what.append((one.state, one.goal.number))
        kept = left = looked_at = weakened = 0
        for made in self._make.by_reason(self._scope, one.goal, one.instance, one.state, level):
            slice_, clause = made.clause
            is_known = frozenset((part.term, part.holds) for part in clause) in self._numbers
            looked_at += not is_known
            spoken_against = self._spoken_against(InvariantCandidate(BEGIN, slice_, clause))
            if spoken_against.any() and weakened < WEAKENED:
                weakened += sum(self._add_candidate(*weaker.clause)
                                for weaker in self._weaker(made, spoken_against))  # fmt: skip
            if is_known:
                continue
            if not spoken_against.any():
                kept += self._add_candidate(slice_, clause)
            elif left < SPOKEN_AGAINST:
                left += self._add_candidate(slice_, clause)
            if kept == PLAINEST or looked_at == LOOKED_AT:
                break
        return kept + left + weakened

    def _spoken_against(self, one: InvariantCandidate) -> npt.NDArray[np.bool_]:
        """Which of the known steps, from states that break nothing that steps keep, lead from where
        this holds to where it does not."""
        if not self._before.count:
            return np.zeros(0, bool)
        term = one.closed
        holds, after = (rows.wide(rows.of(self._scope.grounded.ground(term, {}))).astype(bool)
                        for rows in (self._before, self._after))  # fmt: skip
        spoken: npt.NDArray[np.bool_] = holds & ~after
        return spoken

    def _weaker(
        self, made: ClauseOfReason, by: npt.NDArray[np.bool_]
    ) -> Iterator[ClauseOfReason]:  # fmt: skip
        """The clause with more of its reason's facts, such that the steps which spoke against it
        keep it: where what was reached is too small, the plainest clause says too much."""
        one, parts = made.reason.slice, made.parts
        facts = [made.reason.facts[at] for at in parts]
        used = frozenset[str]().union(*(part.term.free for part in facts))
        more = [at for at, part in enumerate(made.reason.facts)
                if at not in parts and part.term.free <= used]  # fmt: skip
        if not more:
            return
        few = SliceVariables(tuple(v for v in one.variables if v.args[0] in used))
        rows, ground, found = self._after, self._scope.grounded.ground, []
        for chosen in chosen_values(few, self._scope.grounded.bounds):
            left = by
            for part in facts:
                left = left & (rows.wide(rows.of(ground(part.atom, chosen))) == part.holds)
                if not left.any():
                    break
            else:
                found.append(np.stack([
                    rows.wide(rows.of(ground(made.reason.facts[at].atom, chosen)))[left]
                    for at in more
                ], axis=1).astype(bool))  # fmt: skip
        literals = [made.reason.facts[at] for at in more]
        against = ClauseGeneraliser(np.unique(np.concatenate(found), axis=0)).against(
            np.array([part.holds for part in literals], bool), literals)  # fmt: skip
        for added in itertools.islice(against, WEAKER):
            yield ClauseOfReason(made.reason, tuple(sorted((*parts, *(more[at] for at in added)))))

    def _answered(
        self, lost: Sequence[GoalCounterexample], killers: Mapping[int, tuple[State, Instance]]
    ) -> bool:  # fmt: skip
        """Did new candidates come of it? Twice of what is nearest to the reason, then twice of what
        is farther, and so on."""
        return any(self._add_candidates(lost, killers) for _ in range((FARTHEST + 1) * FEW_TIMES))

    def _add_candidates(
        self, lost: Sequence[GoalCounterexample], killers: Mapping[int, tuple[State, Instance]]
    ) -> int:  # fmt: skip
        """New candidates against what is lost; and against the states which spoke against the
        plainest of those candidates that would have kept it out, and so on."""
        todo: list[tuple[int, int, int, _ToKeepOut]] = []
        times = Counter(self._against_what)

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
            made += self._add_candidates_against(one)
            if depth == DEEPEST:
                continue
            broken = self.pool.broken_in([one.state])[0]
            helpful = [
                _ToKeepOut(killers[int(n)][0], self.pool.candidates[n], killers[int(n)][1])
                for n in np.flatnonzero(broken) if int(n) in killers and n not in self.banned
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

    def _alive(self) -> tuple[list[int], dict[int, tuple[State, Instance]]]:
        """The largest set of candidates that every step keeps; by each other what spoke against."""
        scope, candidates = self._scope, self.pool.candidates
        alive = np.ones(len(candidates), bool)
        alive[sorted(self.banned)] = False
        killers: dict[int, tuple[State, Instance]] = {}
        self._before = self._after = scope.rows([])
        if not candidates:
            return [], killers
        known = [(self._scope.grounded.instances[number], state) for state, number in self._pairs]
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
        asked = True
        while asked:
            asked = False
            for instance in scope.instances:
                asked |= self._drop(instance, alive, killers)
        broken = self.pool.broken_in([state for state, _ in self._pairs], alive)
        honest = [pair for pair, row in zip(self._pairs, broken, strict=True) if not row.any()]
        self._before = scope.rows([state for state, _ in honest])
        self._after = scope.rows([scope.step(state, scope.grounded.instances[number])
                                  for state, number in honest])  # fmt: skip
        return [int(n) for n in np.flatnonzero(alive)], killers

    def _drop(
        self, instance: Instance, alive: npt.NDArray[np.bool_],
        killers: dict[int, tuple[State, Instance]],
    ) -> bool:  # fmt: skip
        """Leaves out what an instance does not keep. Was anything asked that was not known?"""
        scope, candidates = self._scope, self.pool.candidates
        asked = [int(n) for n in np.flatnonzero(alive)
                 if scope.concerns(instance, candidates[n])
                 and not self._is_known((int(n), instance.number), alive)]  # fmt: skip
        if not asked:
            return False
        while asked:
            said = self._answers.of(self._solver_of_round.after, instance, asked, alive)
            if said is None or "core" in said:
                for n in asked:
                    if said is None:  # undecided: none of them is known to be kept
                        alive[n] = False
                    else:
                        self._because[n, instance.number] = frozenset(said["core"])
                break
            state = tuple(said["state"])
            broken = self.pool.broken_in([scope.step(state, instance)], alive)[0]
            self._pairs.append((state, instance.number))
            for number in np.flatnonzero(broken):
                killers[int(number)] = state, instance
            alive &= ~broken
            asked = [n for n in asked if alive[n]]
        return True

    def _is_known(self, question: tuple[int, int], alive: npt.NDArray[np.bool_]) -> bool:
        """Was it proved before, by candidates that are all left?"""
        core = self._because.get(question)
        return core is not None and all(alive[n] for n in core)

    # -- what is lost -------------------------------------------------------------------------

    def _lost(self, alive: Sequence[int]) -> list[GoalCounterexample]:
        """Some goals that what is known and alive does not keep, each with a state."""
        found = list[GoalCounterexample]()
        left = np.zeros(len(self.pool.candidates), bool)
        left[list(alive)] = True
        for place, (goal, instance) in enumerate(self._open):
            if len(found) == AT_ONCE:
                break
            if any(one.goal is goal for one in found):
                continue  # one state of each: steps of other epochs say the same
            if self._is_known((OPEN, place), left):
                continue
            said = self._answers.of(self._solver_of_round.failing, goal, instance, alive)
            if said is not None and "core" in said:
                self._because[OPEN, place] = frozenset(said["core"])
            elif said is not None:
                found.append(GoalCounterexample(goal, instance, tuple(said["state"])))
        return found


class _RoundSolver:
    """A solver and the candidates that it knows: of one round, in a context of its own, so
    that its answers hang on nothing that was asked before."""

    def __init__(self, scope: BoundedSteps, candidates: Sequence[InvariantCandidate]) -> None:
        self._whole, self._candidates = scope, candidates
        self._told: set[int] = set()

    @cached_property
    def _scope(self) -> BoundedSteps:
        # Only where something is asked: a search that goes on from a file has the answers.
        return self._whole.apart()

    @cached_property
    def _solver(self) -> Any:
        return self._scope.solver()

    def after(
        self, instance: Instance, asked: Sequence[int], alive: npt.NDArray[np.bool_]
    ) -> Answer:  # fmt: skip
        """A state that obeys all candidates alive and from which the instance breaks one of those
        asked about."""
        named = self._named(np.flatnonzero(alive))
        after = [self._scope.after(instance, self._candidates[n]) for n in asked]
        self._solver.push()
        self._solver.add(*self._scope.guard(instance), z3.Or(*map(z3.Not, after)))
        answer = self._solver.check(*named)
        said = self._as_answer(answer, lambda: self._scope.codes(self._solver.model()))
        self._solver.pop()
        return said

    def failing(
        self, goal: InvariantCandidate, instance: Instance | None, alive: Sequence[int]
    ) -> Answer:  # fmt: skip
        """The same for an instance that breaks a goal; as many cells as possible are blank."""
        named = self._named(alive)
        self._solver.push()
        self._solver.add(*self._scope.failing(instance, goal))
        answer = self._solver.check(*named)

        def blanker() -> State:
            self._solver.add(*named)
            return self._scope.blanker(self._solver)

        said = self._as_answer(answer, blanker)
        self._solver.pop()
        return said

    def _as_answer(self, answer: Any, state: Callable[[], State]) -> Answer:
        if answer == z3.sat:
            return {"state": list(state())}
        if answer == z3.unsat:
            core = self._solver.unsat_core()
            return {"core": sorted(int(p.decl().name().removeprefix(NAMED)) for p in core)}
        return None

    def _named(self, numbers: Iterable[int]) -> list[Any]:
        """The names by which the solver takes candidates for true; new ones are added to it."""
        named = []
        for number in map(int, numbers):
            named.append(z3.Bool(f"{NAMED}{number}", self._scope.context))
            if number not in self._told:
                self._told.add(number)
                one = self._scope.lower(self._scope.ground(self._candidates[number]))
                self._solver.add(z3.Implies(named[-1], one))
        return named


NAMED = "candidate "
OPEN = -1

PLAINEST = 5
"""Clauses that join the candidates, of all that are made against a state at one time."""

SPOKEN_AGAINST = 5
"""Of these besides, though a known step does not keep them."""

WEAKENED = 6
"""Clauses besides, made of those that known steps do not keep."""

WEAKER = 2
"""Of each of these."""

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


def _is_nested(term: Term) -> bool:
    """Does a field index another in the term?"""
    paths = (part for part in nodes(term) if part.op == "get")
    return any(index.op != "var" for path in paths for index in path.args[1:])


def _sorts(scope: BoundedSteps) -> list[Sort]:
    """The sorts that index fields."""
    fields = scope.grounded.recorded.fields.values()
    return list(dict.fromkeys(sort for leaf in fields for sort in leaf.dims))


__all__ = ["GuidedSearch", "ClauseMaker", "GoalCounterexample"]
