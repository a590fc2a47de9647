"""Inductive proofs with Z3: every invariant holds initially, every step keeps all of them.

Trusted here: the frame rule (a step that writes no field that an invariant reads keeps it), the
goal splitter (`specs.splitting`) and the way obligations are put together (`specs.obligations`);
the solver does the rest. Resource limits are the solver's deterministic ones, never wall-clock
time. `unknown` is never a pass.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import z3

from model.language import ProtocolError, RecordedSystem
from model.language.recording import Recorded
from model.language.sorts import Sort
from model.language.terms import AFTER
from specs.induction_counterexamples import contradicts_itself, never_awaited
from specs.invariants import Proof
from specs.lowering.z3_code import Z3Code
from specs.obligations import FRAME, Goal, Matrix, Obligation, ProofFormulas
from specs.progress.obligations import RankingObligations
from specs.solvers import PROVED, RLIMIT, SeparateContext, SolverQuery
from specs.verdict import ClaimReport, Verdict

INITIALLY = "initially"
IMPLIED = "implies the claim"
LEMMA = "lemma"
DOMAINS = "values_stay_in_their_domains"


@dataclass
class ProofResult:
    """All obligations of one proof."""

    proof: Proof
    recorded: RecordedSystem
    brokers: int | None
    obligations: list[Obligation] = field(default_factory=list)
    partial: bool = False
    """Were only some steps asked about? Then the claim is not proved, whatever the answers."""
    contradictory: bool = False
    """Do the invariants and premises contradict each other? Then the claim is not proved."""
    idle: list[str] = field(default_factory=list)
    """The fair steps of a ranking that no small state awaits: they prove nothing."""

    @property
    def open(self) -> list[Obligation]:
        """The obligations that are not proved."""
        return [one for one in self.obligations if not one.proved]

    @property
    def solver_calls(self) -> int:
        """Obligations that the frame rule did not settle."""
        return sum(one.by == "solver" for one in self.obligations)

    @property
    def seconds(self) -> float:
        """The sum over all obligations."""
        return sum(one.seconds for one in self.obligations)

    @property
    def verdict(self) -> Verdict:
        """`holds` if every obligation is proved, else `unknown`: `broken` needs a reachable run.

        A proof whose assumptions contradict each other is unknown, whatever is proved from them;
        so is a proof whose ranking names a fair step that no small state awaits.
        """
        if self.open or self.contradictory or self.idle:
            return Verdict.UNKNOWN
        complete = self.obligations and not self.partial
        return Verdict.HOLDS if complete else Verdict.NOT_CHECKED


def claim_report(result: ProofResult, sentence: str, **more: Any) -> ClaimReport:
    """The report on a proof; `more` has fields to add to those of the result, or to replace."""
    said = ClaimReport(
        claim=result.proof.claim, sentence=sentence, system=result.proof.system,
        version=result.recorded.version, without=result.recorded.without,
        verdict=result.verdict, brokers=result.brokers or "any",
        obligations=len(result.obligations), solver_calls=result.solver_calls,
        seconds=result.seconds, open=result.open, contradictory=result.contradictory,
        assumes=result.proof.assumes,
    )  # fmt: skip
    return replace(said, **more)


def prove(
    proof: Proof,
    recorded: RecordedSystem,
    brokers: int | None = None,
    each: Callable[[Obligation], None] = lambda one: None,
    rlimit: int = RLIMIT,
    steps: Collection[str] | None = None,
    solvers: Sequence[str] = ("z3",),
    export: Callable[[str, str, SolverQuery], None] | None = None,
    needs: Callable[[str, str, set[str]], None] | None = None,
) -> ProofResult:
    """Proves every obligation; `brokers` None is any number of brokers.

    Refuses a number of brokers that is too small: with no brokers everything is true. With `steps`
    only their obligations are asked (LEMMA: those of the lemmas), which proves nothing by itself.
    An obligation is proved if all `solvers` prove it. If all obligations are proved, the premises
    are checked for a contradiction. `export` receives each question before it is asked, with the
    obligation; `needs` receives the invariants that Z3's proof of an obligation uses.
    """
    if brokers is not None:
        recorded.system.limits({"brokers": brokers})
    result = _Prover(proof, recorded, brokers, each, rlimit, steps, solvers, export, needs).run()
    if steps is None and not result.open:
        result.contradictory = contradicts_itself(proof, recorded)
        if proof.ranking is not None and not result.contradictory:
            result.idle = never_awaited(proof, proof.ranking, recorded)
    return result


class _Prover:
    def __init__(
        self,
        proof: Proof,
        recorded: RecordedSystem,
        brokers: int | None,
        each: Callable[[Obligation], None],
        rlimit: int,
        steps: Collection[str] | None,
        solvers: Sequence[str],
        export: Callable[[str, str, SolverQuery], None] | None,
        needs: Callable[[str, str, set[str]], None] | None,
    ) -> None:
        self.code = Z3Code(recorded, brokers)
        self.formulas = ProofFormulas(proof, recorded, self.code)
        self.matrices = {one.name: self.formulas.invariant(one) for one in proof.invariants}
        self.proof, self.recorded, self.each, self.rlimit = proof, recorded, each, rlimit
        self.steps, self.solvers, self.export = steps, tuple(solvers), export
        self.needs = needs
        self.separate, self.asked_of = SeparateContext(), INITIALLY
        """Where the questions of one step are asked, and of which step that is."""
        self.result = ProofResult(proof, recorded, brokers, partial=steps is not None)
        self.state = self.formulas.state()
        self.assumed = {
            name: self.formulas.hypothesis(one, self.state) for name, one in self.matrices.items()
        }
        self.hypothesis = [
            *self.assumed.values(),
            *(
                self.formulas.hypothesis(self.formulas.invariant(one), self.state)
                for one in proof.premises
            ),
            *self._domains(self.state, set(recorded.fields)),
        ]

    def _domains(self, state: Any, names: set[str]) -> list[Any]:
        facts = (
            self.code.domains(state, leaf)
            for name, leaf in self.recorded.fields.items()
            if name in names
        )
        return [fact for fact in facts if fact is not None]

    def run(self) -> ProofResult:
        if self.steps is None:
            self._initially()
        for step in self.recorded.steps:
            if self.steps is None or step.transition.name in self.steps:
                self._keep_all(step)
        if self.steps is None or LEMMA in self.steps:
            self._lemmas()
        if self.proof.ranking is not None:
            RankingObligations(
                self.proof.ranking, self.proof.claim, self.recorded, self.code, self.formulas,
                self.state, [*self.hypothesis, *self._definition_axioms(self.state)],
            ).ask_all(self, self.steps)  # fmt: skip
        elif self.steps is None or IMPLIED in self.steps:
            self._imply()
        return self.result

    def ask(self, step: str, what: str, given: list[Any], goals: list[Goal],
            about: list[tuple[Sort, Any]]) -> None:  # fmt: skip
        """An obligation of a ranking."""
        self._ask(step, what, given, goals, about)

    def framed(self, step: str, what: str) -> None:
        """An obligation of a ranking about fields that the step does not write."""
        self._note(Obligation(step, what, {FRAME: PROVED}, 0.0))

    def _lemmas(self) -> None:
        known = {one.name for one in self.proof.invariants}
        domains = self._domains(self.state, set(self.recorded.fields))
        for one in self.proof.lemmas:
            unknown = [premise.name for premise in one.using if premise.name not in known]
            if unknown:
                raise ProtocolError(
                    f"{one.statement.name} uses {unknown[0]}, which is no invariant of the proof "
                    "and no lemma before it"
                )
            premises = [
                self.formulas.hypothesis(self.formulas.invariant(premise), self.state)
                for premise in one.using
            ]
            goals = self.formulas.goals(self.formulas.invariant(one.statement), self.state)
            self._ask(LEMMA, one.statement.name, [*premises, *domains], goals, [])
            known.add(one.statement.name)

    def _initially(self) -> None:
        blank: dict[str, Any] = {**self.state, **self.code.blank_state()}
        meaning = self._definition_axioms(blank)
        for name, matrix in self.matrices.items():
            self._ask(INITIALLY, name, meaning, self.formulas.goals(matrix, blank), [])
        fact = z3.And(*self._domains(blank, set(self.recorded.fields)))
        self._ask(INITIALLY, DOMAINS, [], [Goal({}, {}, [], fact)], [])

    def _definition_axioms(self, state: Any, after: Any = None) -> list[Any]:
        """What definitions mean; they are asked for where the state after a step asks, too."""
        axioms = []
        for one in self.proof.definitions:
            also = () if after is None or after is state else (after[one.symbol],)
            axioms += self.formulas.meaning_of(one, state, self.state, also)
        return axioms

    def _imply(self) -> None:
        given = [*self.hypothesis, *self._definition_axioms(self.state)]
        for name in (self.proof.claim, *self.proof.also):
            self.recorded.claim(name)  # refuses an unknown one
            claim = self.recorded.claim(name)[0]
            matrix = self.formulas.matrix(name, claim.function, ())
            goals = self.formulas.goals(matrix, self.state)
            self._ask(IMPLIED, name, given, goals, [], environment={})

    def _keep_all(self, step: Recorded) -> None:
        parameters = self.code.parameters(step)
        environment = parameters.environment
        guard = self.code.guard(step, self.state, environment)
        after, axioms = self.formulas.after(step, self.state, environment)
        written = {write.field for write in step.writes}
        given = [
            *self.hypothesis, *self._definition_axioms(self.state, after), *axioms,
            *parameters.facts, *guard,
        ]  # fmt: skip
        about = [
            (sort, environment[f"${name}"])
            for name, sort in step.parameters.items()
            if isinstance(sort, Sort)
        ]
        name = step.transition.name
        for one, matrix in self.matrices.items():
            if self.formulas.reads(matrix.term) & written:
                goals = self.formulas.goals(matrix, after)
                self._ask(name, one, given, goals, about, step, environment)
            else:
                self._note(Obligation(name, one, {FRAME: PROVED}, 0.0))
        for entailed in self.proof.entails.get(name, ()):
            goals = self.formulas.goals(Matrix((), entailed.condition), self.state, environment)
            self._ask(name, entailed.reason, given, goals, about, step, environment)
        for claim, steps in self.proof.step_claims.items():
            if name in steps:
                self._show_of(claim, step, given, after, about, environment)
        domains = self._domains(after, written)
        if domains:
            self._ask(name, DOMAINS, given, [Goal({}, {}, [], z3.And(*domains))], about)
        else:
            self._note(Obligation(name, DOMAINS, {FRAME: PROVED}, 0.0))

    def _show_of(
        self,
        claim: str,
        step: Recorded,
        given: list[Any],
        after: Mapping[str, Any],
        about: list[tuple[Sort, Any]],
        environment: dict[str, Any],
    ) -> None:
        """A claim about steps, of one of them: the state after it stands beside the one before."""
        both = {**self.state, **{name + AFTER: value for name, value in after.items()}}
        matrix = Matrix((), self.recorded.claim(claim)[1])
        goals = self.formulas.goals(matrix, both)
        name = step.transition.name
        self._ask(name, claim, given, goals, about, step, environment)

    def _ask(
        self,
        step: str,
        invariant: str,
        given: list[Any],
        goals: list[Goal],
        about: list[tuple[Sort, Any]],
        recorded: Recorded | None = None,
        environment: dict[str, Any] | None = None,
    ) -> None:
        started = time.perf_counter()
        if step != self.asked_of:
            self.separate, self.asked_of = SeparateContext(), step
        hints = self.proof.hints.get(step, ())
        answers = dict.fromkeys(self.solvers, PROVED)
        for goal in goals:
            named = [(sort, goal.constants[name]) for name, sort in goal.sorts.items()]
            more = [*goal.facts, *self.formulas.marks(self.state, [*about, *named])]
            if environment is not None:
                parameters = {} if recorded is None else recorded.parameters
                more += self.formulas.hints(parameters, hints, self.state, environment, goal)
            premises = [*self.code.axioms, *given, *more]
            question = SolverQuery(
                premises, goal.formula, self.proof.by_triggers, self.rlimit, self.separate
            )
            if self.export is not None:
                self.export(step, invariant, question)
            for solver in [one for one in self.solvers if answers[one] == PROVED]:
                answers[solver] = question.answer(solver)
            if self.needs is not None and answers[self.solvers[0]] == PROVED:
                self.needs(step, invariant, self._invariants_needed(question))
        seconds = time.perf_counter() - started
        self._note(Obligation(step, invariant, answers, seconds))

    def _invariants_needed(self, question: SolverQuery) -> set[str]:
        """What Z3 needs of the invariants; all of them where it does not say."""
        names = list(self.assumed)
        found = question.needed(list(self.assumed.values()))
        return set(names) if found is None else {names[position] for position in found}

    def _note(self, obligation: Obligation) -> None:
        self.result.obligations.append(obligation)
        self.each(obligation)
