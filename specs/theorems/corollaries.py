"""Proves corollaries of a proof's invariants: about every state, or about every step.

A claim about steps needs no induction of its own: every step from a state that obeys the invariants
must satisfy it. The invariants come from `single_controller` and `no_message_loss`, proved there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from model.language import RecordedSystem
from model.language.recording import record_step_condition
from model.language.scalars import Scalar
from model.language.terms import AFTER
from model.systems import system
from specs.invariants import Proof, folded
from specs.lowering.z3_code import Z3Code
from specs.obligations import Matrix, ProofFormulas
from specs.proofs.corollaries import (
    a_lost_disk_is_survived,
    sent_high_watermark_never_falls,
    visible_records_are_committed,
)
from specs.proofs.no_message_loss import PROOF as NO_MESSAGE_LOSS
from specs.proofs.single_controller import PROOF as SINGLE_CONTROLLER
from specs.solvers import RLIMIT, SolverQuery
from specs.theorems.theorem import Part, Switches, Theorem

Condition = Callable[..., Scalar]
EVERYWHERE = "every state"


def in_every_state(
    proof: Proof, condition: Condition, name: str, recorded: RecordedSystem
) -> Iterator[Part]:
    """The condition follows from the invariants."""
    code = Z3Code(recorded)
    formulas = ProofFormulas(proof, recorded, code)
    state = formulas.state()
    given = [*code.axioms, *_hypotheses(formulas, code, state)]
    for goal in formulas.goals(formulas.matrix(name, condition, ()), state):
        yield EVERYWHERE, name, _question(proof, [*given, *goal.facts], goal.formula)


def of_every_step(
    proof: Proof, condition: Condition, name: str, recorded: RecordedSystem
) -> Iterator[Part]:
    """Every step from a state that obeys the invariants keeps to the condition."""
    code = Z3Code(recorded)
    formulas = ProofFormulas(proof, recorded, code)
    state = formulas.state()
    given = [*code.axioms, *_hypotheses(formulas, code, state)]
    with folded():
        term = record_step_condition(condition, recorded.system.state, recorded.switches)
    for step in recorded.steps:
        parameters = code.parameters(step)
        environment = parameters.environment
        after = code.after(step, state, environment)
        both: dict[str, Any] = {**state, **{f + AFTER: after[f] for f in recorded.fields}}
        premises = [*given, *parameters.facts, *code.guard(step, state, environment)]
        for goal in formulas.goals(Matrix((), term), both):
            question = _question(proof, [*premises, *goal.facts], goal.formula)
            yield step.transition.name, name, question


def _hypotheses(formulas: ProofFormulas, code: Z3Code, state: Any) -> list[Any]:
    found = [
        formulas.hypothesis(formulas.invariant(one), state) for one in formulas.proof.invariants
    ]
    for one in formulas.proof.definitions:
        found += formulas.meaning_of(one, state, state)
    domains = (code.domains(state, leaf) for leaf in formulas.recorded.fields.values())
    return [*found, *(fact for fact in domains if fact is not None)]


def _question(proof: Proof, premises: list[Any], goal: Any) -> SolverQuery:
    return SolverQuery(premises, goal, proof.by_triggers, RLIMIT)


# -- the claims -----------------------------------------------------------------------------------


def _stated(proof: Proof, condition: Condition, how: Any, sentence: str, label: str,
            *assumes: str) -> Theorem:  # fmt: skip
    name = condition.__name__

    def given(version: str | None, switches: Switches) -> tuple[Proof, RecordedSystem]:
        return proof, system(proof.system).recorded(version, switches)

    return Theorem(
        name,
        sentence,
        f"{label}; given the invariants of {proof.claim}",
        lambda version, switches: how(proof, condition, name, given(version, switches)[1]),
        assumes,
        proof.system,
        given,
    )


def _claim_about_steps(name: str) -> Theorem:
    claim = next(one for one in system(SINGLE_CONTROLLER.system).claims if one.name == name)
    found = _stated(
        SINGLE_CONTROLLER, claim.function, of_every_step, claim.sentence, f"every step, {ANY}"
    )
    return replace(found, claim=name)


ANY = "any number of brokers, epochs and records"

COROLLARIES = (
    *(_claim_about_steps(name) for name in (
        "controller_epoch_never_falls", "nobody_takes_over_the_controllership",
        "one_write_at_a_time")),
    _stated(
        NO_MESSAGE_LOSS, a_lost_disk_is_survived, in_every_state,
        "if one broker loses its disk while the registered ISR has another member, that member "
        "holds every record that was ever committed; acks=all with min.insync.replicas=2 "
        "acknowledges only what is committed, while the leader's ISR has two members",
        f"every state, {ANY}",
        "it is about the moment of the loss: the ISR may since have shrunk to the broker that "
        "loses its disk, and then acks=all has saved nothing (the last replica standing)",
    ),
    _stated(
        NO_MESSAGE_LOSS, visible_records_are_committed, in_every_state,
        "what lies below a high watermark that the leader of any epoch ever sent, and so could be "
        "read, is the committed record at its offset: readers of any two leaders agree",
        f"every state, {ANY}",
    ),
    _stated(
        NO_MESSAGE_LOSS, sent_high_watermark_never_falls, of_every_step,
        "the high watermark that the leader of an epoch sends never falls, nor its own while it "
        "leads that epoch",
        f"every step, {ANY}",
        "it is per leader epoch: a new leader begins with what it had heard as a follower, and "
        "tells that until it has caught up (KIP-207 hides it from consumers)",
    ),
)  # fmt: skip
