"""Searches invariants that prove a claim: candidates, the inductive ones, the fewest of these.

The goals are given: most of a proof, or the parts of the claim alone. A state that obeys all goals,
and a step that breaks one, are a counterexample to induction. Clauses that it breaks are candidates
if no state reached within small bounds, or by random walks of three brokers, breaks them
(`guided`). Of the candidates that all steps keep, the fewest that suffice are chosen (`fewest`) and
proved for any number of brokers. What cannot be proved is dropped, and the search repeats. The
order is fixed and random choices use a seed, so that one question has one answer.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import z3

from model.language import RecordedSystem
from model.language import terms as t
from model.language.recording import fields_read, record_condition
from model.language.scalars import Scalar
from model.language.terms import Term
from specs.finding.answers import Answers
from specs.finding.candidates import BoundedSteps, InvariantCandidate
from specs.finding.fewest import Fewest
from specs.finding.guided import BEGIN, ClauseMaker, GoalCounterexample, GuidedSearch
from specs.finding.notation import Notation, denied_and_said, triggers_of
from specs.finding.observed import StateRows, reached, walked
from specs.finding.result import InvariantSearchResult
from specs.finding.vocabulary import Definitions, SliceVariables, Vocabulary
from specs.induction_counterexamples import counterexample_of
from specs.invariants import Invariant, Proof, is_folded
from specs.lowering.grounding import Grounded
from specs.lowering.instances import Instance
from specs.obligations import Obligation
from specs.prover import IMPLIED, ProofResult, prove
from specs.splitting import substituted

Report = Callable[[str], None]

NOTHING = SliceVariables(())
FARTHEST = 2
"""How far beyond what is explored by default steps are looked at, where the proof stays open."""

LONG_RUNS = 3
"""The same of random walks."""

SHARE = 5
"""The first look is at one in so many states: few candidates are chosen, and each of those is held
against all that were reached."""


@dataclass(frozen=True)
class Effort:
    """The limits of a search: states reached, random walks beyond the bounds, and the time."""

    states: int = 250_000
    seconds: float = 3600.0
    walks: int = 2_000
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

    `resume` names a file that keeps the solvers' answers after each round, so that a search of the
    same question can resume. Raises ProtocolError if the file belongs to another question.
    Z3 does the search; the other `solvers` check the final proof, too.
    """
    found = _InvariantSearch(proof, recorded, effort, report, resume).run()
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


def small(recorded: RecordedSystem) -> dict[str, int]:
    """Bounds with two brokers and every other size at least two."""
    bounds = {name: max(size, 2) for name, size in recorded.system.limits({}).items()}
    return {**bounds, "brokers": 2}


def larger(recorded: RecordedSystem, beyond: int) -> dict[str, int]:
    """Bounds with three brokers and every other size `beyond` its default."""
    bounds = {name: size + beyond for name, size in recorded.system.limits({}).items()}
    return {**bounds, "brokers": 3}


class _InvariantSearch:
    def __init__(
        self, proof: Proof, recorded: RecordedSystem, effort: Effort, report: Report,
        resume: Path | None,
    ) -> None:  # fmt: skip
        self.recorded, self.effort, self.report = recorded, effort, report
        self.began = time.perf_counter()
        self.claims = [recorded.claim(name)[1] for name in (proof.claim, *proof.also)]
        said = dict.fromkeys(part for claim in self.claims for part in _conjuncts(claim))
        parts = [InvariantCandidate(at, NOTHING, (), part) for at, part in enumerate(said)]
        self.parts: list[InvariantCandidate] = []
        """Of the claim, where they are all that is given: invariants of the proof themselves."""
        if not proof.invariants:
            self.parts = parts
            proof = replace(proof, invariants=tuple(
                as_invariant(one, name, recorded)
                for one, name in zip(parts, _names(parts).values(), strict=True)))  # fmt: skip
        self.proof = proof
        self.known = {one.name: self._term(one) for one in (*proof.invariants, *proof.premises)}
        self.goals = [InvariantCandidate(number, NOTHING, (), self.known[one.name], one.name)
                      for number, one in enumerate(proof.invariants)]  # fmt: skip
        """What is to be kept or implied."""
        if not self.parts:
            self.goals += [replace(one, number=len(self.goals) + one.number) for one in parts]
        self.definitions = Definitions(proof.definitions, recorded)
        self.counts: dict[str, int] = {}
        self.found: InvariantSearchResult | None = None
        """The proof of the last round that made one."""
        self.answers = Answers(resume, self._question())

    def _term(self, one: Invariant) -> Term:
        return record_condition(one.function, self.recorded.system.state, self.recorded.switches)

    def _question(self) -> str:
        said = [self.recorded.system.name, self.recorded.version, repr(self.recorded.without),
                # A search may go on for longer than it had.
                repr(replace(self.effort, seconds=0.0)), *sorted(self.known),
                *(str(one) for one in self.goals),
                *(t.show(one.condition) for step in self.recorded.steps
                  for one in step.requires)]  # fmt: skip
        return hashlib.sha256("\0".join(said).encode()).hexdigest()

    def run(self) -> InvariantSearchResult:
        self.report("asking what the invariants that are given leave open")
        result = self._prove(self.proof)
        self.open = {(one.step, one.invariant) for one in result.open}
        """The steps that do not keep an invariant without more."""
        self.counts["open"] = len(self.open)
        if not self.open:
            return self._timed(replace(self._as_found([], {}), result=result))
        rows, self.all_rows = reached(
            self.recorded, small(self.recorded), all_fields(self.recorded), self.effort.states,
            SHARE, lambda line: self.report(f"reaching states: {line}"))  # fmt: skip
        looked_at = self.all_rows if self.parts else rows
        false = [self._display_name(goal) for goal in self.goals
                 if looked_at.breaking(goal.closed) is not None]  # fmt: skip
        if false:
            return self._timed(replace(self._empty_result(), false=false))
        return self._timed(self._joined(rows))

    def _display_name(self, goal: InvariantCandidate) -> str:
        """An invariant that was given by its name, a part of the claim by what it says."""
        return str(goal) if self.parts else goal.name or str(goal)

    def _timed(self, found: InvariantSearchResult) -> InvariantSearchResult:
        found.seconds = time.perf_counter() - self.began
        return found

    # -- the proof ----------------------------------------------------------------------------

    def _joined(self, rows: StateRows) -> InvariantSearchResult:
        """What joins the proof: clauses against states, the fewest, then proved unbounded."""
        rooms = Grounded(self.recorded, larger(self.recorded, LONG_RUNS), [],
                         also=[*self.known.values(), *all_fields(self.recorded)])  # fmt: skip
        walks = walked(rooms, self.effort.walks, self.effort.length, self.effort.seed, self.report)
        self.counts["states"] = self.all_rows.count + walks.count
        vocabulary = Vocabulary(self.recorded, [*self.claims, *self.known.values()])
        generalising = ClauseMaker([rows, walks], vocabulary.literals, self.report,
                                    self.definitions)  # fmt: skip
        open_ones = self._look_within(1)
        choosing = GuidedSearch(self.scope, open_ones, generalising, self.answers,
                                self.report)  # fmt: skip
        while True:
            alive_at, lost = choosing.run(self._is_late)
            alive = [choosing.pool.candidates[number] for number in alive_at]
            self.counts.update(kept=len(alive), candidates=len(choosing.pool.candidates),
                               literals=generalising.count)  # fmt: skip
            if lost:
                return self._result_without_proof(lost)
            wrong, fails_beyond = self.answers.of(self._unproved, alive)
            if fails_beyond and not self._is_late():
                open_ones = self._look_within(self.beyond + 1)
                choosing.look_within(self.scope, open_ones)
                continue
            if not wrong or (self.found is not None and self._is_late()):
                assert self.found is not None
                return self.found
            for number in wrong:
                breaking = self.all_rows.breaking(choosing.pool.candidates[number].closed)
                if breaking is not None:
                    generalising.learn(breaking)
            choosing.banned |= set(wrong)

    def _look_within(self, beyond: int) -> list[tuple[InvariantCandidate, Instance | None]]:
        """Takes a scope to look within; what is open, after which of its instances."""
        self.beyond, self.scope = beyond, self._scope_of(beyond)
        self.open_at = {goal.number: self._open_after(goal) for goal in self.goals}
        """By goal: the instances of the steps that are open."""
        return [(goal, instance) for goal in self.goals for instance in self.open_at[goal.number]]

    def _scope_of(self, beyond: int) -> BoundedSteps:
        self.report(f"putting the steps into formulas, {beyond} beyond what is explored by default")
        return BoundedSteps(self.recorded, larger(self.recorded, beyond),
                            list(self.known.values()), all_fields(self.recorded))  # fmt: skip

    def _unproved(self, alive: Sequence[InvariantCandidate]) -> tuple[list[int], bool]:
        """By place in the pool, of the fewest that suffice: those that a reached state breaks; else
        those that are not proved without bounds. And whether a larger scope shows why."""
        fewest = Fewest(self.scope, self.goals, alive, self._instances)
        chosen = fewest.run(self.report)
        found = self.found = self._as_found(chosen, fewest.needed_by())
        wrong = [one for one in chosen if self.all_rows.breaking(one.closed) is not None]
        if not wrong:
            self.report(f"proving {len(chosen)} invariants for any number of brokers")
            found.result = self._prove(found.proof)
            if self.beyond < FARTHEST and self._fails_beyond(found, found.result):
                return [], True
            found = self.found = self._with_more_terms(found, found.result, chosen)
            assert found.result is not None
            open_ones = {one.invariant for one in found.result.open}
            wrong = [one for one, made in zip(found.candidates, found.found, strict=True)
                     if made.name in open_ones and one not in self.parts]  # fmt: skip
        return [one.number - BEGIN for one in wrong], False

    def _fails_beyond(self, found: InvariantSearchResult, result: ProofResult) -> bool:
        """Is something of what the proof leaves open false in a larger scope?"""
        if not result.open:
            return False
        scope = self._scope_of(self.beyond + 1)
        solver = scope.solver()
        solver.add(*(scope.lower(scope.ground(one)) for one in found.candidates))
        named = {goal.name: goal for goal in self.goals}
        named.update({made.name: one for made, one in zip(found.found, found.candidates,
                                                          strict=True)})  # fmt: skip
        asked: list[tuple[Instance | None, InvariantCandidate]] = []
        for each in result.open:
            if each.step == IMPLIED:
                asked += [(None, goal) for goal in self.goals if not goal.name]
            else:
                asked += [(one, named[each.invariant]) for one in scope.instances
                          if one.step.transition.name == each.step]  # fmt: skip
        for instance, one in asked:
            solver.push()
            solver.add(*scope.failing(instance, one))
            if solver.check() == z3.sat:
                return True
            solver.pop()
        return False

    def _with_more_terms(
        self, best: InvariantSearchResult, result: ProofResult,
        chosen: Sequence[InvariantCandidate],
    ) -> InvariantSearchResult:  # fmt: skip
        """The proof where the solver thinks of too little: with more triggers, and with what
        definitions say of fields, of the steps first of which something is open."""
        for nested, hinted in ((True, False), (False, True), (True, True)):
            if not result.open or not self.proof.by_triggers:
                break
            steps = {one.step for one in result.open} & {
                IMPLIED, *(step.transition.name for step in self.recorded.steps)}  # fmt: skip
            again = replace(self._as_found(chosen, {}, nested), needed_by=best.needed_by)
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

    def _open_after(self, goal: InvariantCandidate) -> list[Instance | None]:
        """The instances after which a goal may fail, of the steps of which the proof is open."""
        if not goal.name:
            return [None] if any(step == IMPLIED for step, _ in self.open) else []
        steps = {step for step, name in self.open if name == goal.name}
        some = [one for one in self.scope.instances if one.step.transition.name in steps]
        return [one for one in some if self.scope.concerns(one, goal)]

    def _is_late(self) -> bool:
        return time.perf_counter() - self.began > self.effort.seconds

    def _instances(self, goal: InvariantCandidate) -> Sequence[Instance | None]:
        """The steps after which a goal is to be shown; None: of every state."""
        if goal.number in self.open_at:
            return self.open_at[goal.number]
        return [one for one in self.scope.instances if self.scope.concerns(one, goal)]

    def _result_without_proof(self, lost: Sequence[GoalCounterexample]) -> InvariantSearchResult:
        """What is known when a goal is not kept: a small state that shows why."""
        made = self._empty_result()
        made.lost = list(dict.fromkeys(self._display_name(one.goal) for one in lost))
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
        made.reached = (
            f"whether it is reachable is open: the {self.all_rows.count:,} states that "
            "were reached are not all within these bounds"
        )
        return made

    def _empty_result(self) -> InvariantSearchResult:
        return replace(self._as_found([], {}), found=[], candidates=[])

    # -- as a proof ---------------------------------------------------------------------------

    def _as_found(
        self, chosen: Sequence[InvariantCandidate], needed_by: Mapping[int, set[int]],
        nested: bool = False,
    ) -> InvariantSearchResult:  # fmt: skip
        chosen = [one.of_values for one in chosen]
        names = _names([*self.goals, *chosen])
        made = [as_invariant(one, names[one.number], self.recorded,
                             self.proof.by_triggers, nested) for one in chosen]  # fmt: skip
        proof = replace(self.proof, invariants=(*self.proof.invariants, *made))
        found = [*(self.proof.invariants if self.parts else ()), *made]
        by = {names[number]: {names[other] for other in others if other in names}
              for number, others in needed_by.items() if number in names}  # fmt: skip
        return InvariantSearchResult(
            proof, self.recorded, found, [*self.parts, *chosen], by, dict(self.counts)
        )


def _conjuncts(term: Term) -> list[Term]:
    return list(term.args) if term.op == "and" else [term]


def all_fields(recorded: RecordedSystem) -> list[Term]:
    """Terms that read every field, so that grounding leaves no ghost out."""
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
    """A candidate as an invariant; with triggers if `by_triggers`, as its proof has them."""
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
    """A candidate as text, in the notation of fields."""
    if one.whole is not None:
        return f"a part of the claim: {Notation(recorded.system).text(one.whole, {})}"
    notation = Notation(recorded.system)
    names = {v.args[0]: v.args[0] for v in one.slice.variables}
    denied, said = denied_and_said([part.formula for part in one.literals])
    given = " and ".join(notation.text(part, names) for part in denied)
    then = " or ".join(notation.text(part, names) for part in said)
    text = f"if {given}, then {then}" if given else then
    return text.replace("now.", "").replace("not_(", "not (")


def _name_from(term: Term) -> str:
    if term.op == "not":
        return f"not_{_name_from(term.args[0])}"
    if term.op == "get":
        return "_".join([term.args[0].replace(".", "_"), *(
            _name_from(part) for part in term.args[1:] if part.op == "get")])  # fmt: skip
    if term.op in ("eq", "lt", "le"):
        between = {"eq": "is", "lt": "is_below", "le": "is_at_most"}[term.op]
        return f"{_name_from(term.args[0])}_{between}_{_name_from(term.args[1])}"
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
            base = "_or_".join(map(_name_from, said))
            base += "_if_" + "_and_".join(map(_name_from, denied)) if denied else ""
        base = "".join(c for c in base if c.isalnum() or c == "_")[:LONGEST].rstrip("_")
        name, number = base, 1
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        taken.add(name)
        names[one.number] = name
    return names


__all__ = [
    "Effort", "InvariantSearchResult", "all_fields", "as_invariant", "find_invariants", "small",
]  # fmt: skip
