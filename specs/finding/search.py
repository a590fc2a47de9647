"""From a claim to invariants that prove it: candidates, the inductive ones, the fewest of these.

From a claim alone: literals from provenance (`vocabulary`); clauses of one or two that hold in
every state that was reached within small bounds (`observed`); the largest set that steps keep
(`houdini`). Where that does not carry the claim, a state that obeys all of it, and a step that
breaks the claim, are a counterexample to induction: clauses that it breaks, and no state that was
reached, join the candidates. Where most of a proof is given, all candidates are made so (`guided`),
and random walks of three brokers go where exploring does not come.
Of what remains: what the goals need, what that needs in turn, as few as possible; and then the
proof for any number of brokers. What that does not prove is left out, and the rest is asked again.
Everything is in a fixed order, random choices are of a seed: one question has one answer.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import z3

from model.language import ProtocolError, RecordedSystem
from model.language import terms as t
from model.language.recording import fields_read, record_condition
from model.language.scalars import Scalar
from model.language.terms import Term
from specs.finding.guided import BEGIN, ClauseMaker, GuidedSearch, GuidedSearchState, LostGoal
from specs.finding.houdini import BoundedSteps, CandidateNeeds, InvariantCandidate, kept_by_all
from specs.finding.notation import Notation, denied_and_said, triggers_of
from specs.finding.observed import (
    SliceColumns,
    StateRows,
    clauses_that_hold,
    reached,
    walked,
)
from specs.finding.result import InvariantSearchResult
from specs.finding.vocabulary import (
    REACH,
    Definitions,
    Literal,
    SliceVariables,
    Vocabulary,
)
from specs.grounded_steps import State
from specs.induction_counterexamples import counterexample_of
from specs.invariants import Invariant, Proof, is_folded
from specs.lowering.grounding import Grounded
from specs.lowering.instances import Instance
from specs.obligations import Obligation
from specs.prover import IMPLIED, ProofResult, prove
from specs.rendering import as_data
from specs.splitting import substituted

Report = Callable[[str], None]

NOTHING = SliceVariables(())
SHARE = 5
"""Where most of a proof is given, the first look is at one in so many states: few candidates are
chosen, and each of those is held against all that were reached."""


@dataclass(frozen=True)
class Effort:
    """How far to look: states reached, variables of a clause, counterexamples, and for how long."""

    states: int = 250_000
    variables: int = 2
    rounds: int = 20
    seconds: float = 3600.0
    many: int = 800
    """Literals of one slice, if fields that say less of each other can be left apart."""
    walks: int = 2_000
    """Random walks beyond the bounds, where most of a proof is given."""
    length: int = 300
    """Steps of each."""
    seed: int = 0


def find_invariants(
    proof: Proof,
    recorded: RecordedSystem,
    effort: Effort = Effort(),
    report: Report = lambda line: None,
    resume: Path | None = None,
    solvers: Sequence[str] = ("z3",),
) -> InvariantSearchResult:
    """Searches the invariants that a proof lacks; with none given, from the claim alone.

    `resume` names a file where the candidates that are left are kept after each round, and from
    which a search of the same question goes on. Raises ProtocolError where it is of another.
    Z3 looks; what it proves in the end is asked of the other `solvers`, too.
    """
    found = _Search(proof, recorded, effort, report, resume).go()
    others = [one for one in solvers if one != "z3"]
    if others and found.result is not None and not found.result.open:
        began = time.perf_counter()
        _ask_also(found, found.result, others, report)
        found.seconds += time.perf_counter() - began
    return found


def _ask_also(
    found: InvariantSearchResult, result: ProofResult, others: Sequence[str], report: Report
) -> None:
    """Asks other solvers each obligation of a proof: it is proved if all say so."""
    again = prove(found.proof, found.recorded, solvers=others, each=lambda one: report(
        f"proving it with {' and '.join(others)}, too: {one.step}: {one.invariant}"))  # fmt: skip
    result.obligations = [
        one if one.by == "frame" else replace(one, answers={**one.answers, **other.answers},
                                              seconds=one.seconds + other.seconds)
        for one, other in zip(result.obligations, again.obligations, strict=True)
    ]  # fmt: skip


def small(recorded: RecordedSystem, number: int = 3, brokers: int = 2) -> dict[str, int]:
    """Few brokers, and every other size up to a number at least."""
    bounds = {name: max(size, number) for name, size in recorded.system.limits({}).items()}
    return {**bounds, "brokers": brokers}


def larger(recorded: RecordedSystem) -> dict[str, int]:
    """Three brokers, and every other size one beyond what is explored by default."""
    bounds = {name: size + 1 for name, size in recorded.system.limits({}).items()}
    return {**bounds, "brokers": 3}


def roomy(recorded: RecordedSystem) -> dict[str, int]:
    """Three brokers, and sizes in which a run can go on for long."""
    bounds = {name: size + 3 for name, size in recorded.system.limits({}).items()}
    return {**bounds, "brokers": 3}


class _Search:
    def __init__(
        self, proof: Proof, recorded: RecordedSystem, effort: Effort, report: Report,
        resume: Path | None,
    ) -> None:  # fmt: skip
        self.proof, self.recorded, self.effort, self.report = proof, recorded, effort, report
        self.began = time.perf_counter()
        self.known = {one.name: self._term(one) for one in (*proof.invariants, *proof.premises)}
        self.definitions = Definitions(proof.definitions, recorded)
        self.counts: dict[str, int] = {}
        self.given = bool(proof.invariants)
        self.open: set[tuple[str, str]] = set()
        """Of a proof that is given: the steps that do not keep an invariant without more."""
        self.open_at: dict[int, list[Instance | None]] = {}
        """By goal: the instances of those steps."""
        self.goals = self._goals()
        self.kept_at = _KeptClauses(resume, self._question())

    def _term(self, one: Invariant) -> Term:
        return record_condition(one.function, self.recorded.system.state, self.recorded.switches)

    def _question(self) -> str:
        said = [self.recorded.system.name, self.recorded.version, repr(self.recorded.without),
                repr(self.effort), *sorted(self.known), *(str(one) for one in self.goals),
                *(t.show(one.condition) for step in self.recorded.steps
                  for one in step.requires)]  # fmt: skip
        return hashlib.sha256("\0".join(said).encode()).hexdigest()

    def _goals(self) -> list[InvariantCandidate]:
        """What is to be kept or implied: what is given, and the parts of the claim."""
        parts = list(dict.fromkeys(
            part for claim in self._claims() for part in _conjuncts(claim)))  # fmt: skip
        given = [(one.name, self.known[one.name]) for one in self.proof.invariants]
        return [InvariantCandidate(number, NOTHING, (), term, name)
                for number, (name, term) in enumerate([*given, *(("", part) for part in parts)])
                ]  # fmt: skip

    def go(self) -> InvariantSearchResult:
        if self.given:
            self.report("asking what the invariants that are given leave open")
            result = self._prove(self.proof)
            self.open = {(one.step, one.invariant) for one in result.open}
            self.counts["open"] = len(self.open)
            if not self.open:
                return self._timed(replace(self._as_found([], {}), result=result))
        self.rows, self.all_rows = self._reached()
        looked_at = self.rows if self.given else self.all_rows
        false = [goal.name or str(goal) for goal in self.goals
                 if looked_at.breaking(goal.closed) is not None]  # fmt: skip
        if false:
            return self._timed(replace(self._as_found([], {}), false=false))
        if self.given:
            return self._timed(self._joined())
        self.candidates = [*self.goals, *self._two_literals()]
        self.report("putting the steps into formulas")
        self.scope = self._scope(self._bounds())
        self.generalising = ClauseMaker(
            self.scope, [self.rows], self.literals.__getitem__, self.report
        )
        return self._timed(self._proved())

    def _scope(self, bounds: Mapping[str, int]) -> BoundedSteps:
        return BoundedSteps(self.recorded, bounds, list(self.known.values()),
                     _all_fields(self.recorded))  # fmt: skip

    def _timed(self, found: InvariantSearchResult) -> InvariantSearchResult:
        found.seconds = time.perf_counter() - self.began
        return found

    def _bounds(self) -> dict[str, int]:
        return small(self.recorded, 2 if self.given else 3)

    # -- candidates ---------------------------------------------------------------------------

    def _reached(self) -> tuple[StateRows, StateRows]:
        return reached(
            self.recorded, self._bounds(), _all_fields(self.recorded), self.effort.states,
            SHARE if self.given else 1,
            lambda line: self.report(f"reaching states: {line}"))  # fmt: skip

    def _two_literals(self) -> list[InvariantCandidate]:
        said = [*(one.closed for one in self.goals), *self.known.values()]
        vocabularies = [Vocabulary(self.recorded, said, set(self.recorded.fields), reach)
                        for reach in range(REACH, 0, -1)]  # fmt: skip
        self.literals: dict[SliceVariables, list[Literal]] = {}
        self.terms: dict[Term, InvariantCandidate] = {}
        for one in vocabularies[0].slices(self.effort.variables):
            # As far apart as fields may be for the slice not to become too large.
            for vocabulary in vocabularies:
                literals = self.literals[one] = vocabulary.literals(one)
                if len(literals) <= self.effort.many:
                    break
            self.report(f"clauses about {one}: {len(literals)} literals, "
                        f"{len(self.terms):,} candidates so far")  # fmt: skip
            seen = SliceColumns([self.rows], one, literals)
            for clause in clauses_that_hold(seen, literals):
                self._candidate(one, clause)
        self.counts.update(states=self.all_rows.count, candidates=len(self.terms),
                           literals=sum(map(len, self.literals.values())))  # fmt: skip
        return list(self.terms.values())

    def _candidate(
        self, one: SliceVariables, clause: tuple[Literal, ...]
    ) -> InvariantCandidate | None:
        """A new candidate; None if it is known, or mentions fewer variables than the slice."""
        term = t.or_(*(part.formula for part in clause))
        if term.free != {v.args[0] for v in one.variables} or term in self.terms:
            return None
        if term.op == "const":
            return None
        made = InvariantCandidate(len(self.goals) + len(self.terms), one, clause)
        self.terms[term] = made
        return made

    def _against(self, state: State) -> list[InvariantCandidate]:
        """New candidates that hold where we were, and not in a state."""
        made = (
            self._candidate(one, clause)
            for one, clause in self.generalising.against(state, self.literals)
        )
        return [one for one in made if one is not None]

    # -- the proof ----------------------------------------------------------------------------

    def _proved(self) -> InvariantSearchResult:
        """Rounds: what steps keep, whether that carries the goals, and the proof without bounds."""
        banned: set[int] = set()
        found = self._as_found([], {})
        for number in range(self.effort.rounds):
            alive = self._kept(number, banned)
            self.counts["kept"] = len(alive)
            lost = self._lost(alive)
            if lost:
                found = self._stuck(lost, alive)
                if self._is_late():
                    return found
                more = [one for gone in lost for one in self._against(gone.state)]
                if not more:
                    return found
                self.candidates += more
                self.counts["candidates"] = len(self.terms)
                continue
            chosen, needs = self._needed(alive)
            found = self._as_found(chosen, needs, alive)
            self.report(f"proving {len(found.found)} invariants for any number of brokers")
            result = found.result = prove(found.proof, self.recorded)
            bad = self._to_leave_out(result.open, found)
            if not result.open or not bad:
                return found
            banned |= bad
        return found

    def _joined(self) -> InvariantSearchResult:
        """What joins a proof that is given: clauses against states, then proved unbounded."""
        self.report("putting the steps into formulas")
        self.scope = self._scope(larger(self.recorded))
        rooms = Grounded(self.recorded, roomy(self.recorded), [],
                         also=[*self.known.values(), *_all_fields(self.recorded)])  # fmt: skip
        walks = walked(rooms, self.effort.walks, self.effort.length, self.effort.seed, self.report)
        self.counts["states"] = self.all_rows.count + walks.count
        self.open_at = {goal.number: self._open_after(goal) for goal in self.goals}
        generalising = ClauseMaker(self.scope, [self.rows, walks], self._vocabulary().literals,
                                    self.report, self.definitions)  # fmt: skip
        guided = self.kept_at.guided or GuidedSearchState()
        open_ones = [(goal, instance) for goal in self.goals
                     for instance in self.open_at[goal.number]]  # fmt: skip
        choosing = GuidedSearch(self.scope, open_ones, generalising, self.kept_at.keep_guided,
                            self.report)  # fmt: skip
        while True:
            alive_at, lost = choosing.go(guided, self._is_late)
            alive = [choosing.pool.candidates[number] for number in alive_at]
            self.counts.update(kept=len(alive), candidates=len(choosing.pool.candidates),
                               literals=generalising.count)  # fmt: skip
            if lost:
                return self._stuck(lost, alive)
            chosen, needs = self._needed(alive)
            wrong = []
            for one in chosen:
                breaking = self.all_rows.breaking(one.closed)
                if breaking is not None:
                    generalising.learn(breaking)
                    wrong.append(one)
            found = self._as_found(chosen, needs, alive)
            if not wrong:
                found = self._proved_unbounded(chosen, needs, alive)
                assert found.result is not None
                bad = self._to_leave_out(found.result.open, found)
                if not found.result.open or not bad or self._is_late():
                    return found
                wrong = [one for one in chosen if one.number in bad]
            guided.banned |= {one.number - BEGIN for one in wrong}
            self.kept_at.keep_guided(guided)

    def _proved_unbounded(
        self, chosen: list[InvariantCandidate], needs: Mapping[int, set[int]],
        alive: Sequence[InvariantCandidate],
    ) -> InvariantSearchResult:  # fmt: skip
        """The proof for any number of brokers; where the solver thinks of too little, with more
        triggers, and with what definitions say of fields: of the steps first of which something is
        open."""
        best = self._as_found(chosen, needs, alive)
        self.report(f"proving {len(best.found)} invariants for any number of brokers")
        best.result = result = self._prove(best.proof)
        for nested, hinted in ((True, False), (False, True), (True, True)):
            if not result.open or not self.proof.by_triggers:
                break
            steps = {one.step for one in result.open} & {
                step.transition.name for step in self.recorded.steps}  # fmt: skip
            again = self._as_found(chosen, needs, alive, nested)
            if hinted:
                hints = dict(self.proof.hints)
                for step in steps:
                    hints[step] = (*hints.get(step, ()), *self.definitions.of_fields())
                again.proof, again.hinted = replace(again.proof, hints=hints), sorted(steps)
            if steps and len(self._prove(again.proof, steps).open) >= len(result.open):
                continue
            again.result = self._prove(again.proof)
            if len(again.result.open) < len(result.open):
                best, result = again, again.result
        return best

    def _prove(self, proof: Proof, steps: Collection[str] | None = None) -> ProofResult:
        return prove(proof, self.recorded, steps=steps, each=lambda one: self.report(
            f"proving {one.step}: {one.invariant}"))  # fmt: skip

    def _claims(self) -> list[Term]:
        return [self.recorded.claim(name)[1] for name in (self.proof.claim, *self.proof.also)]

    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self.recorded, [*self._claims(), *self.known.values()],
                          set(self.recorded.fields))  # fmt: skip

    def _open_after(self, goal: InvariantCandidate) -> list[Instance | None]:
        """The instances after which a goal may fail, of the steps of which the proof is open."""
        if not goal.name:
            return [None] if any(step == IMPLIED for step, _ in self.open) else []
        steps = {step for step, name in self.open if name == goal.name}
        some = [one for one in self.scope.instances if one.step.transition.name in steps]
        return [one for one in some if self.scope.concerns(one, goal)]

    def _is_late(self) -> bool:
        return time.perf_counter() - self.began > self.effort.seconds

    def _kept(self, number: int, banned: set[int]) -> list[InvariantCandidate]:
        known = self.kept_at.of(number)
        offered = [one for one in self.candidates if one.number not in banned]
        if known is not None:
            return [one for one in offered if one.number in known]
        alive = kept_by_all(
            self.scope, [*self.goals, *(one for one in offered if one not in self.goals)],
            self.report)  # fmt: skip
        self.kept_at.keep(number, [one.number for one in alive])
        return alive

    def _instances(self, goal: InvariantCandidate) -> Sequence[Instance | None]:
        """The steps after which a goal is to be shown; None: of every state."""
        if goal.number in self.open_at:
            return self.open_at[goal.number]
        return [one for one in self.scope.instances if self.scope.concerns(one, goal)]

    def _lost(self, alive: Sequence[InvariantCandidate]) -> list[LostGoal]:
        """The goals that some step does not keep, each with a state from which it does not."""
        lost = []
        solver = self.scope.solver()
        solver.add(*(self.scope.lower(self.scope.ground(one)) for one in [*self.goals, *alive]))
        for goal in self.goals:
            for instance in self._instances(goal):
                solver.push()
                solver.add(*self.scope.failing(instance, goal))
                if solver.check() == z3.sat:
                    lost.append(LostGoal(goal, instance, self.scope.blanker(solver)))
                solver.pop()
                if lost and lost[-1].goal is goal:
                    break
        return lost

    def _to_leave_out(
        self, open_ones: Sequence[Obligation], found: InvariantSearchResult
    ) -> set[int]:
        """What the unbounded proof does not keep: never a part of the claim."""
        names = {one.invariant for one in open_ones}
        goals = {goal.number for goal in self.goals}
        return {
            candidate.number
            for one, candidate in zip(found.found, found.candidates, strict=True)
            if one.name in names and candidate.number not in goals
        }

    def _stuck(
        self, lost: Sequence[LostGoal], alive: Sequence[InvariantCandidate]
    ) -> InvariantSearchResult:
        """What is known when a goal is not kept: a small state that shows why."""
        made = self._as_found([], {}, alive)
        made.lost = list(dict.fromkeys(one.goal.name or str(one.goal) for one in lost))
        # The one of which least is not blank is the plainest to read.
        scope, initial = self.scope, self.scope.grounded.initial
        one = min(lost, key=lambda each: sum(map(int.__ne__, each.state, initial)))
        step = IMPLIED if one.instance is None else one.instance.step.transition.name
        after = one.state if one.instance is None else scope.step(one.state, one.instance)
        sentence = next((known.sentence for known in self.proof.invariants
                         if known.name == one.goal.name), sentence_of(one.goal, self.recorded)
                        )  # fmt: skip
        holds = "in it it does not hold" if one.instance is None else "and then it no longer holds"
        made.counterexample = counterexample_of(
            scope.grounded, Obligation(step, made.lost[0], {"z3": "refuted"}, 0.0), sentence,
            one.instance, one.state, after, f"{holds} that {sentence}")  # fmt: skip
        made.reached = self._was_reached()
        return made

    def _was_reached(self) -> str:
        count = f"{self.all_rows.count:,} states that were reached"
        # The goal holds in all of them; where they are all, also in what steps lead to from them.
        if self.rows.complete and not self.given:
            return f"it is none of the {count}, which are all within these bounds"
        return f"whether it is reachable is open: the {count} are not all within these bounds"

    # -- the fewest ---------------------------------------------------------------------------

    def _needed(
        self, alive: list[InvariantCandidate]
    ) -> tuple[list[InvariantCandidate], dict[int, set[int]]]:
        """The claim, what it needs, what that needs in turn; then none that can go."""
        needs = CandidateNeeds(self.scope)
        goals = {goal.number for goal in self.goals}
        given = self.given
        chosen: dict[int, InvariantCandidate] = {} if given else {g.number: g for g in self.goals}
        plain_first = sorted((one for one in alive if not given or one.number not in goals),
                             key=lambda one: (one.cost, one.number))  # fmt: skip
        used: dict[tuple[int, int], list[InvariantCandidate]] = {}
        todo = list(self.goals)
        while todo:
            goal = todo.pop(0)
            self.report(f"what is needed: {len(chosen)} so far, {len(todo)} to ask about")
            for instance in self._instances(goal):
                core = needs.of(instance, goal, list(chosen.values()))
                if core is None:
                    core = needs.of(instance, goal, plain_first)
                assert core is not None, f"{goal} is kept by all and needs more"
                used[goal.number, -1 if instance is None else instance.number] = core
                for one in core:
                    if one.number not in chosen:
                        chosen[one.number] = one
                        todo.append(one)
        self._thin_out(chosen, used, needs)
        graph: dict[int, set[int]] = {}
        for (goal_number, _), core in used.items():
            for one in core:
                graph.setdefault(one.number, set()).add(goal_number)
        return list(chosen.values()), graph

    def _thin_out(
        self, chosen: dict[int, InvariantCandidate],
        used: dict[tuple[int, int], list[InvariantCandidate]], needs: CandidateNeeds,
    ) -> None:  # fmt: skip
        """Leaves out, the least plain first, whatever the others can do without."""
        instances: dict[int, Instance | None] = {one.number: one for one in self.scope.instances}
        instances[-1] = None
        goals = {goal.number: goal for goal in self.goals}
        for one in sorted(chosen.values(), key=lambda c: (-c.cost, -c.number)):
            if one.number in goals:
                continue
            self.report(f"can it go? {one}")
            rest = {number: c for number, c in chosen.items() if number != one.number}
            again: dict[tuple[int, int], list[InvariantCandidate]] = {}
            for (goal, instance), core in used.items():
                if goal == one.number or one not in core:
                    continue
                about = goals.get(goal) or chosen[goal]
                other = needs.of(instances[instance], about, list(rest.values()))
                if other is None:
                    break
                again[goal, instance] = other
            else:
                del chosen[one.number]
                for key in [key for key in used if key[0] == one.number]:
                    del used[key]
                used.update(again)

    # -- as a proof ---------------------------------------------------------------------------

    def _as_found(
        self, chosen: list[InvariantCandidate], needed_by: Mapping[int, set[int]],
        alive: Sequence[InvariantCandidate] = (), nested: bool = False,
    ) -> InvariantSearchResult:  # fmt: skip
        names = _names([*self.goals, *chosen])
        found = [as_invariant(one, names[one.number], self.recorded,
                              self.proof.by_triggers, nested) for one in chosen]  # fmt: skip
        proof = replace(self.proof, invariants=(*self.proof.invariants, *found))
        by = {names[number]: {names[other] for other in others if other in names}
              for number, others in needed_by.items() if number in names}  # fmt: skip
        return InvariantSearchResult(
            proof, self.recorded, found, chosen, by, list(alive), dict(self.counts)
        )


def _conjuncts(term: Term) -> list[Term]:
    return list(term.args) if term.op == "and" else [term]


def _all_fields(recorded: RecordedSystem) -> list[Term]:
    """Terms that read every field, so that no ghost is left out."""
    found = []
    for leaf in recorded.fields.values():
        if leaf.budget is None:
            variables = tuple(t.var(f"any {i}", sort) for i, sort in enumerate(leaf.dims))
            value = t.get(leaf.name, variables, leaf.sort)
            term = value if leaf.sort.name == "bool" else t.eq(value, t.const(0, leaf.sort))
            for variable in reversed(variables):
                term = t.quantifier("every", variable, term)
            found.append(term)
    return found


def as_invariant(
    one: InvariantCandidate, name: str, recorded: RecordedSystem, by_triggers: bool = False,
    nested: bool = False,
) -> Invariant:  # fmt: skip
    """A candidate as an invariant; with triggers, where the proof that it joins has them."""
    sentence = sentence_of(one, recorded)
    if one.whole is not None:
        whole = one.whole
        return Invariant(name, sentence, "a part of the claim", lambda now: Scalar(whole))
    variables, matrix, plain = one.slice.variables, one.matrix, one.plain

    def with_values(term: Term, values: Sequence[Scalar]) -> Scalar:
        for variable, value in zip(variables, values, strict=True):
            term = substituted(term, variable, value.term)
        return Scalar(term)

    def triggers(now: Any, *values: Scalar) -> list[tuple[Scalar, ...]]:
        return [tuple(with_values(part, values) for part in parts) for parts in wakes]

    wakes = triggers_of(one, nested) if by_triggers else []
    return Invariant(
        name, sentence, "found",
        lambda now, *values: with_values(matrix if is_folded() else plain, values),
        tuple(variable.sort for variable in variables), triggers if wakes else None,
    )  # fmt: skip


def sentence_of(one: InvariantCandidate, recorded: RecordedSystem) -> str:
    """What a candidate says, in the notation of fields."""
    if one.whole is not None:
        return f"a part of the claim: {Notation(recorded.system).text(one.whole, {})}"
    notation = Notation(recorded.system)
    names = {v.args[0]: v.args[0] for v in one.slice.variables}
    denied, said = denied_and_said([part.formula for part in one.literals])
    given = " and ".join(notation.text(part, names) for part in denied)
    then = " or ".join(notation.text(part, names) for part in said)
    text = f"if {given}, then {then}" if given else then
    return text.replace("now.", "").replace("not_(", "not (")


def _words(term: Term) -> str:
    if term.op == "not":
        return f"not_{_words(term.args[0])}"
    if term.op == "get":
        return "_".join([term.args[0].replace(".", "_"), *(
            _words(part) for part in term.args[1:] if part.op == "get")])  # fmt: skip
    if term.op in ("eq", "lt", "le"):
        between = {"eq": "is", "lt": "is_below", "le": "is_at_most"}[term.op]
        return f"{_words(term.args[0])}_{between}_{_words(term.args[1])}"
    if term.op == "const":
        return term.sort.show(term.args[0]).replace("-", "minus_").replace(" ", "_")
    return str(term.args[0]) if term.op == "var" else term.op


LONGEST = 72


def _names(chosen: Sequence[InvariantCandidate]) -> dict[int, str]:
    """A name each, of what it says: `pending_epoch_is_pending_epoch_version`."""
    names: dict[int, str] = {}
    taken: set[str] = set()
    for one in chosen:
        if one.number in names:
            continue
        if one.name:
            names[one.number] = one.name
            taken.add(one.name)
            continue
        if one.whole is not None:
            base = "claim_" + "_".join(sorted(fields_read(one.whole))).replace(".", "_")
        else:
            denied, said = denied_and_said([part.formula for part in one.literals])
            base = "_or_".join(map(_words, said))
            base += "_if_" + "_and_".join(map(_words, denied)) if denied else ""
        base = "".join(c for c in base if c.isalnum() or c == "_")[:LONGEST].rstrip("_")
        name, number = base, 1
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        taken.add(name)
        names[one.number] = name
    return names


class _KeptClauses:
    """The candidates that are left after each round, in a file: so that a search can go on."""

    def __init__(self, path: Path | None, question: str) -> None:
        self._path, self._question = path, question
        self._rounds: dict[str, list[int]] = {}
        self.guided: GuidedSearchState | None = None
        """The state of a search that goes by counterexamples, where there was one."""
        if path is not None and path.exists():
            try:
                said = json.loads(path.read_text(encoding="utf-8"))
                question_there, rounds = said["question"], said["rounds"]
                if said.get("guided") is not None:
                    self.guided = GuidedSearchState.of(said["guided"])
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise ProtocolError(
                    f"{path} is no file that a search for invariants left; remove it, or name "
                    "another with --resume"
                ) from error
            if question_there != question:
                raise ProtocolError(
                    f"{path} is of another claim, version or effort: name another with --resume"
                )
            self._rounds = rounds

    def of(self, number: int) -> set[int] | None:
        """What was left after a round, if that is known."""
        found = self._rounds.get(str(number))
        return None if found is None else set(found)

    def keep(self, number: int, left: list[int]) -> None:
        """Rewrites the file, whole or not at all."""
        self._rounds[str(number)] = left
        self._write()

    def keep_guided(self, guided: GuidedSearchState) -> None:
        """The same, of a search that goes by counterexamples."""
        self.guided = guided
        self._write()

    def _write(self) -> None:
        if self._path is not None:
            part = self._path.with_name(self._path.name + ".part")
            guided = None if self.guided is None else as_data(self.guided)
            part.write_text(json.dumps({"question": self._question, "rounds": self._rounds,
                                        "guided": guided}), encoding="utf-8")  # fmt: skip
            part.replace(self._path)


__all__ = ["Effort", "InvariantSearchResult", "as_invariant", "find_invariants", "small"]
