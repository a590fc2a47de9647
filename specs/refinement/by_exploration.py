"""Checks the refinement by exploration: on every step of a complete small state space.

The proof by induction is about any state that obeys its invariants; this check is about every
reached state: the coupling between the two sides holds, the proof's form obeys its own invariants,
and its steps are possible whenever those of `replication` are. The check shares the composed system
with the proof, but neither the solver nor the assumptions about a state.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from model.language import Claim, RecordedSystem, all_of
from model.language import terms as t
from model.language.recording import Recorded, record_condition
from model.language.scalars import Scalar
from model.language.terms import Term
from specs.explorer import Exploration, explore
from specs.invariants import Invariant, Proof
from specs.proofs.no_message_loss import PROOF
from specs.refinement.composed import ComposedSystem
from specs.refinement.proof import of_the_other_side, refinement_proof
from specs.rendering import at, parts, rounded
from specs.runs import Run
from specs.verdict import Verdict

Report = Callable[[str], None]

COUPLED, PROVED, POSSIBLE = "both_sides_agree", "the_invariants_hold", "the_steps_are_possible"
COMPANION = "a_leader_is_elected"

SENTENCES = {
    COUPLED: "what the two sides have in common is the same",
    PROVED: "every invariant and lemma of no_message_loss holds in the proof's form",
    POSSIBLE: "whatever replication can do, the proof's form can do as its line says",
}


@dataclass(frozen=True)
class StateRule:
    """One condition that is checked in every state: the claim that it belongs to, and its
    sentence.
    """

    name: str
    sentence: str
    term: Term


def rules(composed: ComposedSystem, proof: Proof | None = None) -> dict[str, list[StateRule]]:
    """All conditions that are checked, by claim; `proof` is the refinement's, if not that of
    2.5.
    """
    proof = proof or refinement_proof(composed)
    lemmas = [one.statement for one in PROOF.lemmas]
    there = [of_the_other_side(one) for one in (*PROOF.invariants, *lemmas)]
    return {
        COUPLED: [_stated(composed, one) for one in proof.invariants],
        PROVED: [_stated(composed, one) for one in there],
        POSSIBLE: [
            StateRule(
                f"{step.transition.name}, {one.reason}", one.reason, closed(step, one.condition)
            )
            for step in composed.recorded.steps
            for one in composed.entails[step.transition.name]
        ],
    }


def _stated(composed: ComposedSystem, one: Invariant) -> StateRule:
    recorded = composed.recorded
    term = record_condition(one.function, recorded.system.state, recorded.switches)
    return StateRule(one.name, one.sentence, term)


def closed(step: Recorded, condition: Term) -> Term:
    """The condition holds for all parameters for which the step is possible."""
    term = t.implies(t.and_(*(one.condition for one in step.requires)), condition)
    for name, sort in step.parameters.items():
        term = t.quantifier("every", t.var(f"${name}", sort), term)  # type: ignore[arg-type]
    return term


def judged(composed: ComposedSystem, asked: Mapping[str, Sequence[StateRule]]) -> RecordedSystem:
    """The two sides as one system, with the checked rules as its claims."""
    system = composed.recorded.system
    claims = [
        Claim(name, "always", SENTENCES[name], _all(terms), companion=COMPANION)
        for name, terms in asked.items()
    ]
    recorded = RecordedSystem(
        replace(system, claims=(*system.claims, *claims)),
        composed.recorded.version, composed.recorded.switches,
    )  # fmt: skip
    recorded.steps = composed.recorded.steps
    return recorded


def _all(terms: Sequence[StateRule]) -> Callable[[Any], Scalar]:
    return lambda now: all_of(*(Scalar(one.term) for one in terms))


@dataclass
class RefinementExploration:
    """The result: states of the two sides together, steps, and how often each was taken."""

    SHOWN: ClassVar = parts(
        "verdict", "bounds", "states", "edges", "rules", "failure", claim=at("name"),
        system=at("recorded.system.name"), version=at("recorded.version"),
        without=at("recorded.without"), symmetry=at("exploration.engine.symmetry"),
        transitions=at("taken"), stopped=at("exploration.stopped"), seconds=rounded(3),
    )  # fmt: skip
    name: ClassVar = "refinement"

    recorded: RecordedSystem
    bounds: Mapping[str, int]
    exploration: Exploration
    asked: Mapping[str, Sequence[StateRule]]
    seconds: float
    claim: str | None = None
    rule: StateRule | None = None
    run: Run | None = None

    @property
    def verdict(self) -> Verdict:
        """`broken` if a state breaks a rule, `unknown` if some states are left, else `holds`."""
        if self.claim is not None:
            return Verdict.BROKEN
        if not self.exploration.complete:
            return Verdict.UNKNOWN
        found = [self.exploration.claims[name].verdict for name in self.asked]
        return Verdict.HOLDS if set(found) == {Verdict.HOLDS} else Verdict.UNKNOWN

    @property
    def states(self) -> int:
        """How many states of both systems together; modulo the names of brokers, if so explored."""
        return self.exploration.distinct

    @property
    def edges(self) -> int:
        """Steps taken from them."""
        return self.exploration.generated - 1

    @property
    def taken(self) -> Counter[str]:
        """How often each transition was taken."""
        return Counter(self.exploration.fired)

    @property
    def rules(self) -> dict[str, int]:
        """How many rules each claim was asked as."""
        return {name: len(found) for name, found in self.asked.items()}

    @property
    def failure(self) -> dict[str, Any] | None:
        """The rule that fails, and the shortest run to the failure."""
        if self.rule is None:
            return None
        return {"claim": self.claim, "rule": self.rule.name, "sentence": self.rule.sentence,
                "run": self.run}  # fmt: skip

    def lines(self) -> Iterator[str]:
        """The shortest run to the failure, and the rule that fails, as lines."""
        assert self.run is not None
        assert self.rule is not None
        yield from self.run.as_text().splitlines()
        yield f"and then it is not so that {SENTENCES[self.claim or '']}: {self.rule.name}"
        if self.rule.sentence not in self.rule.name:
            yield f"    {self.rule.sentence}"


def explore_refinement(
    composed: ComposedSystem,
    bounds: Mapping[str, int],
    symmetry: bool = False,
    max_states: int | None = None,
    report: Report = lambda line: None,
    proof: Proof | None = None,
) -> RefinementExploration:
    """Checks every reachable state within the bounds; ends at the first level that breaks a rule.

    `max_states` ends it early: the verdict is then unknown. `proof`: the refinement's, if not 2.5.
    """
    began = time.perf_counter()
    asked = rules(composed, proof)
    recorded = judged(composed, asked)
    names = list(asked)
    exploration = explore(recorded, bounds, names, max_states, report, symmetry=symmetry)
    broken = [n for n in names if exploration.claims[n].verdict is Verdict.BROKEN]
    result = RefinementExploration(recorded, dict(bounds), exploration, asked, 0.0)
    if broken:
        result.claim = min(broken, key=lambda name: exploration.claims[name].depth or 0)
        result.run = exploration.run(result.claim)
        result.rule = _first_broken(exploration, asked[result.claim], result.claim)
    result.seconds = time.perf_counter() - began
    return result


def _first_broken(exploration: Exploration, asked: Sequence[StateRule], claim: str) -> StateRule:
    code, grounded = exploration.code, exploration.grounded
    state = code.initial
    for number in exploration.path(claim):
        after = code.attempt(grounded.instances[number], state)
        assert after is not None
        state = after
    return next(one for one in asked if not code.condition(grounded.ground(one.term, {}))(state))
