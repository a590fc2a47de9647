"""Makes candidate invariants from counterexamples to induction, to complete a part of a proof.

If a goal is an invariant, no run reaches a state from which a step breaks it. A clause over the
variables of the goal and the step excludes such a state: it denies facts that the state has and
that no reached state has together. A clause becomes a candidate if every step keeps it, given the
candidates so far (`generalised`). So candidates are lost only in a larger scope.

Sources of the idea: W. Schultz, I. Dardik, S. Tripakis, Plain and Simple Inductive Invariant
Inference for Distributed Protocols in TLA+ (Endive), FMCAD 2022; A. Goel, K. Sakallah, On Symmetry
and Quantification (IC3PO), NFM 2021.
"""

from __future__ import annotations

import itertools
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
from specs.finding.generalised import Cube, counterexample, is_kept, leave_out_unneeded
from specs.finding.observed import (
    LOOK,
    SliceSample,
    StateRows,
)
from specs.finding.reasons import ViolationReason, reasons
from specs.finding.vocabulary import (
    Definitions,
    Literal,
    SliceVariables,
    slice_over,
)
from specs.grounded_steps import State
from specs.lowering.instances import Instance, cells_of_all

Report = Callable[[str], None]


SAMPLED = 100_000
"""Rows of a slice, of each kind of states, in which reasons are made into clauses."""

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

    def reasons(
        self, scope: BoundedSteps, goal: InvariantCandidate, instance: Instance | None,
        state: State, level: int,
    ) -> Iterator[tuple[ViolationReason, SliceSample]]:  # fmt: skip
        """The reasons of a counterexample, each with rows of its slice.

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
            yield reason, self._samples[one]

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
        self._because: dict[tuple[int, int], frozenset[int]] = {}
        """By candidate (or `OPEN`) and instance (or position among open goals): what it needs."""

    def run(self, until: Callable[[], bool]) -> tuple[list[int], list[GoalCounterexample]]:
        """Returns the pool positions of the candidates that steps keep, and the goals lost."""
        if not self.pool.candidates:
            for slice_, clause in self._make.plain(_sorts(self._scope)):
                self._numbered(slice_, clause)
        while True:
            self.rounds += 1
            self._answers.begin()
            self._solver_of_round = _RoundSolver(self._scope, self.pool.candidates)
            alive = self._alive()
            lost = self._lost(alive)
            self._report(f"round {self.rounds}: {len(self.pool.candidates)} candidates, steps "
                         f"keep {len(alive)}, {len(lost)} states to keep out")  # fmt: skip
            if not lost or until() or not self._answered(lost, alive):
                return alive, lost

    # -- candidates ---------------------------------------------------------------------------

    def _numbered(self, one: SliceVariables, clause: tuple[Literal, ...]) -> int:
        """The place of a candidate in the pool, which it joins if it is new."""
        key = frozenset((part.term, part.holds) for part in clause)
        number = self._numbers.setdefault(key, len(self.pool.candidates))
        if number == len(self.pool.candidates):
            self.pool.add([InvariantCandidate(BEGIN + number, one, clause)])
        return number

    def _answered(self, lost: Sequence[GoalCounterexample], alive: list[int]) -> bool:
        """Did new candidates come of it? Plain clauses against all that is lost first, and of all
        facts of a reason only where there are none; facts near the reason first."""
        for level in range(FARTHEST + 1):
            plain = [self._kept_out(one, alive, level, None) for one in lost]
            if any(plain) or any(self._kept_out(one, alive, level, DEEPEST) for one in lost):
                return True
        return False

    def _kept_out(
        self, one: GoalCounterexample, alive: list[int], level: int, depth: int | None
    ) -> bool:  # fmt: skip
        """Is there a candidate alive that breaks a state? If not, one joins that every step keeps,
        with those alive: one of the plainest clauses of a reason, or, given a depth, one of all its
        facts. To find it so many states may have to be kept out first, one for the other."""
        if self.pool.broken_in([one.state])[0][alive].any():
            return True

        def ask(cube: Cube, instances: Sequence[Instance]) -> Answer:
            cube.asked += 1
            return self._answers.of(self._solver_of_round.breaking, cube, instances, alive)

        for reason, sample in self._make.reasons(
            self._scope, one.goal, one.instance, one.state, level
        ):
            cube = Cube(self._scope, reason, sample)
            if cube.is_reached(cube.parts):
                continue
            for parts in cube.plainest():
                if cube.asked > ASKED:
                    break
                if is_kept(cube, parts, ask):
                    if self._joins(cube, one.state, alive):
                        return True
                    cube.restart()
            if depth is None or len(reason.slice.variables) > FEW_VARIABLES:
                continue
            while (found := counterexample(cube, ask)) is not None:
                state, fewer, instance = found
                if fewer and not cube.is_reached(fewer):
                    cube.without(fewer)
                    continue
                breaking = InvariantCandidate(-1, *reason.clause(cube.parts))
                before = GoalCounterexample(breaking, instance, state)
                if not depth or not self._kept_out(before, alive, level, depth - 1):
                    break
            else:
                leave_out_unneeded(cube, ask)
                if self._joins(cube, one.state, alive):
                    return True
        return False

    def _joins(self, cube: Cube, state: State, alive: list[int]) -> bool:
        """Adds a clause that all steps keep, with the candidates alive, unless it is banned or
        holds in the state that is to be kept out."""
        number = self._numbered(*cube.reason.clause(cube.parts))
        if number in self.banned or not self.pool.broken_in([state])[0][number]:
            return False
        for name, (_, core) in cube.cores.items():
            for instance in self._scope.by_step[name]:
                self._because[number, instance.number] = core | {number}
        alive.append(number)
        return True

    # -- what steps keep ----------------------------------------------------------------------

    def _alive(self) -> list[int]:
        """The largest set of candidates that every step keeps."""
        scope, candidates = self._scope, self.pool.candidates
        alive = np.ones(len(candidates), bool)
        alive[sorted(self.banned)] = False
        if not candidates:
            return []
        known = [(scope.grounded.instances[number], state) for state, number in self._pairs]
        if known:
            before = self.pool.broken_in([state for _, state in known])
            after = self.pool.broken_in([scope.step(state, one) for one, state in known])
            changed = True
            while changed:
                changed = False
                for was, then in zip(before, after, strict=True):
                    if not (was & alive).any() and (then & alive).any():
                        alive &= ~then
                        changed = True
        asked = True
        while asked:
            asked = False
            for instance in scope.instances:
                asked |= self._drop(instance, alive)
        return [int(n) for n in np.flatnonzero(alive)]

    def _drop(self, instance: Instance, alive: npt.NDArray[np.bool_]) -> bool:
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
            self._pairs.append((state, instance.number))
            alive &= ~self.pool.broken_in([scope.step(state, instance)], alive)[0]
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
        self._facts: dict[Any, Any] = {}

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

    def breaking(
        self, cube: Cube, instances: Sequence[Instance], alive: Sequence[int]
    ) -> Answer:  # fmt: skip
        """A state that obeys the candidates alive and, at some places, a clause, and from which an
        instance breaks the clause for some values; else the facts and candidates that suffice."""
        named, context = self._named(alive), self._scope.context
        variables = cube.reason.slice.variables
        values = [z3.Int(f"value {v.args[0]}: {v.sort.name}", context) for v in variables]
        of = {v.args[0]: value for v, value in zip(variables, values, strict=True)}
        facts = {f"fact {part}": part for part in cube.parts}
        taken = [z3.Bool(f"instance {one.number}", context) for one in instances]
        self._solver.push()
        self._solver.add(
            z3.Or(*taken), *(z3.Implies(one, z3.And(*self._scope.guard(instance), context))
                             for one, instance in zip(taken, instances, strict=True)),
            *(z3.And(value >= domain[0], value <= domain[-1])
              for value, domain in zip(values, cube.domains, strict=True)),
            *(self._scope.lower(cube.clause_at(place)) for place in cube.places),
        )  # fmt: skip
        for name, part in facts.items():
            symbol = z3.Bool(name, context)
            read = cells_of_all(atom for _, atom in cube.atoms(part))
            same = []
            for one, instance in zip(taken, instances, strict=True):
                if instance.writes.keys().isdisjoint(read):
                    same.append(one)
                else:
                    self._solver.add(z3.Implies(z3.And(symbol, one),
                                                self._fact(cube, part, instance, of)))  # fmt: skip
            if same:
                self._solver.add(z3.Implies(z3.And(symbol, z3.Or(*same)),
                                            self._fact(cube, part, None, of)))  # fmt: skip
        answer, said = self._solver.check(*(z3.Bool(name, context) for name in facts), *named), None
        if answer == z3.sat:
            model = self._solver.model()
            said = {
                "state": list(self._scope.codes(model)),
                "values": [model.eval(one, model_completion=True).as_long() for one in values],
                "instance": next(instance.number for one, instance in zip(
                    taken, instances, strict=True) if z3.is_true(model.eval(one)))}  # fmt: skip
        elif answer == z3.unsat:
            core = [part.decl().name() for part in self._solver.unsat_core()]
            said = {"core": sorted(int(n.removeprefix(NAMED)) for n in core if n not in facts),
                    "facts": sorted(facts[n] for n in core if n in facts)}  # fmt: skip
        self._solver.pop()
        return said

    def _fact(
        self, cube: Cube, part: int, instance: Instance | None, values: Mapping[str, Any]
    ) -> Any:  # fmt: skip
        """A fact of the chosen values, after an instance or before."""
        fact = cube.reason.facts[part]
        key = instance and instance.number, cube.reason.slice, fact.atom, fact.holds
        if key not in self._facts:
            said = []
            for chosen, atom in cube.atoms(part):
                lowered = (self._scope.lower(atom) if instance is None
                           else self._scope.term_after(instance, atom))  # fmt: skip
                said.append(z3.Or(*(values[name] != code for name, code in chosen.items()),
                                  lowered if fact.holds else z3.Not(lowered)))  # fmt: skip
            self._facts[key] = z3.And(*said)
        return self._facts[key]

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

ASKED = 150
"""Questions about plain clauses of a reason, after which no other is tried."""

FEW_VARIABLES = 4
"""Of a reason of more, only plain clauses are asked about: each question takes long."""

DEEPEST = 3
"""States that are to be kept out one for the other."""

AT_ONCE = 8
"""Goals that clauses are made for in one round."""

FARTHEST = 2
"""The last level."""

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
