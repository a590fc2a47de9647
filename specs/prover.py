"""Inductive proofs with Z3: every invariant holds initially, every step keeps all of them.

Trusted here: the frame rule (a step that writes no field that an invariant reads keeps it) and
the way obligations are put together; the rest is the solver's. Resource limits are the solver's
deterministic ones, never wall-clock time. `unknown` is never a pass.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import z3

from model.language import RecordedSystem
from model.language.recording import Recorded, fields_read, record_condition
from model.language.terms import Term
from model.language.z3_code import Z3Code
from specs.invariants import Proof
from specs.verdict import Verdict

RLIMIT = 20_000_000
"""Z3's own unit of work an obligation; each of ours needs less than a hundredth of it."""

INITIALLY = "initially"
IMPLIED = "implies the claim"
DOMAINS = "values_stay_in_their_domains"


@dataclass(frozen=True)
class Obligation:
    """One thing to show: a step keeps an invariant. `by` is `frame` or `solver`."""

    step: str
    invariant: str
    answer: str
    seconds: float
    by: str

    @property
    def proved(self) -> bool:
        """Only `proved` is a pass; `unknown` and `refuted` are not."""
        return self.answer == "proved"

    def as_json(self) -> dict[str, Any]:
        """The contract's form."""
        return {
            "step": self.step,
            "invariant": self.invariant,
            "result": {"z3" if self.by == "solver" else "frame rule": self.answer},
            "seconds": round(self.seconds, 4),
        }


@dataclass
class ProofResult:
    """All obligations of one proof."""

    proof: Proof
    recorded: RecordedSystem
    brokers: int | None
    obligations: list[Obligation] = field(default_factory=list)

    @property
    def open(self) -> list[Obligation]:
        """What is not proved."""
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
        """Holds if every obligation is proved; else unknown: `broken` needs a reachable run."""
        if not self.obligations:
            return Verdict.NOT_CHECKED
        return Verdict.UNKNOWN if self.open else Verdict.HOLDS


@dataclass(frozen=True)
class Conjunct:
    """An invariant as a term, and the fields that it reads."""

    name: str
    term: Term
    reads: frozenset[str]


def conjuncts(proof: Proof, recorded: RecordedSystem) -> list[Conjunct]:
    """The proof's invariants as terms over the system's state."""
    found = []
    for one in proof.invariants:
        term = record_condition(one.function, recorded.system.state, recorded.switches)
        found.append(Conjunct(one.name, term, fields_read(term)))
    return found


def prove(
    proof: Proof,
    recorded: RecordedSystem,
    brokers: int | None = None,
    each: Callable[[Obligation], None] = lambda one: None,
    rlimit: int = RLIMIT,
) -> ProofResult:
    """Discharges every obligation; `brokers` None is any number of them.

    A number too small to mean anything is refused: of no brokers everything is true.
    """
    if brokers is not None:
        recorded.system.limits({"brokers": brokers})
    return _Prover(proof, recorded, brokers, each, rlimit).go()


class _Prover:
    def __init__(
        self,
        proof: Proof,
        recorded: RecordedSystem,
        brokers: int | None,
        each: Callable[[Obligation], None],
        rlimit: int,
    ) -> None:
        self.code = Z3Code(recorded, brokers)
        self.conjuncts = conjuncts(proof, recorded)
        self.recorded, self.each, self.rlimit = recorded, each, rlimit
        self.result = ProofResult(proof, recorded, brokers)
        self.state = self.code.state()
        self.hypothesis = [
            *(self.code.term(one.term, self.state, {}) for one in self.conjuncts),
            *self._domains(self.state, set(recorded.fields)),
        ]

    def _domains(self, state: Any, names: set[str]) -> list[Any]:
        facts = (
            self.code.domains(state, leaf)
            for name, leaf in self.recorded.fields.items()
            if name in names
        )
        return [fact for fact in facts if fact is not None]

    def go(self) -> ProofResult:
        blank = self.code.blank_state()
        for one in self.conjuncts:
            self._ask(INITIALLY, one.name, [], self.code.term(one.term, blank, {}))
        for fact in [z3.And(*self._domains(blank, set(self.recorded.fields)))]:
            self._ask(INITIALLY, DOMAINS, [], fact)
        for step in self.recorded.steps:
            self._keep_all(step)
        claim = self.recorded.claim(self.result.proof.claim)[1]
        goal = self.code.term(claim, self.state, {})
        self._ask(IMPLIED, self.result.proof.claim, self.hypothesis, goal)
        return self.result

    def _keep_all(self, step: Recorded) -> None:
        parameters = self.code.parameters(step)
        environment = parameters.environment
        guard = self.code.guard(step, self.state, environment)
        after = self.code.after(step, self.state, environment)
        written = {write.field for write in step.writes}
        given = [*self.hypothesis, *parameters.facts, *guard]
        name = step.transition.name
        for one in self.conjuncts:
            if one.reads & written:
                self._ask(name, one.name, given, self.code.term(one.term, after, {}))
            else:
                self._note(Obligation(name, one.name, "proved", 0.0, "frame"))
        domains = self._domains(after, written)
        if domains:
            self._ask(name, DOMAINS, given, z3.And(*domains))
        else:
            self._note(Obligation(name, DOMAINS, "proved", 0.0, "frame"))

    def _ask(self, step: str, invariant: str, given: list[Any], goal: Any) -> None:
        started = time.perf_counter()
        solver = z3.Solver()
        solver.set("rlimit", self.rlimit)
        solver.set("random_seed", 0)
        solver.add(*self.code.axioms)
        solver.add(*given)
        solver.add(z3.Not(goal))
        said = solver.check()
        answer = {"unsat": "proved", "sat": "refuted"}.get(str(said), "unknown")
        seconds = time.perf_counter() - started
        self._note(Obligation(step, invariant, answer, seconds, "solver"))

    def _note(self, obligation: Obligation) -> None:
        self.result.obligations.append(obligation)
        self.each(obligation)
