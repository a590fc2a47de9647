"""AlterIsr: a leader that goes on during its ISR write loses nothing if it counts on both ISRs;
`replication`, as brokers of 2.7 speak it, is that form."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.replication.alter_isr import SYSTEM as REPLICATION
from model.replication.history import SYSTEM as HISTORY
from specs.explorer import explore
from specs.induction_counterexamples import SmallScope
from specs.invariants import Proof
from specs.proofs.no_message_loss import PROOF as NO_MESSAGE_LOSS
from specs.proofs.since_2_7 import PROOF, SYSTEM
from specs.prover import prove
from specs.refinement import WITHOUT_LINE, ComposedSystem, explore_refinement
from specs.refinement.since_2_7 import LINES, compose_since_2_7, refinement_since_2_7
from specs.solvers import has_cvc5
from specs.verdict import Verdict

STEP = "leader_advances_hw"
FREE = "none of its ISR writes is under way"


def test_one_step_is_another_and_the_invariants_are_the_same():
    own = {step.transition.name: step for step in HISTORY.recorded().steps}
    here = {step.transition.name: step for step in SYSTEM.recorded().steps}

    changed = {name for name in own if own[name].requires != here[name].requires}

    assert changed == {STEP}
    assert own[STEP].writes == here[STEP].writes
    assert FREE not in {one.reason for one in here[STEP].requires}
    assert PROOF.invariants == NO_MESSAGE_LOSS.invariants


def test_a_commit_during_an_isr_write_keeps_every_invariant():
    assert prove(PROOF, SYSTEM.recorded(), steps=[STEP]).open == []


def test_who_counts_on_its_old_isr_alone_is_not_proved_to_lose_nothing():
    recorded = HISTORY.recorded()
    (step,) = (one for one in recorded.steps if one.transition.name == STEP)
    counting = replace(step, requires=[one for one in step.requires if one.reason != FREE])
    recorded.steps[recorded.steps.index(step)] = counting

    result = prove(replace(PROOF, form=None, claim="no_message_loss"), recorded, steps=[STEP])

    assert {one.invariant for one in result.open} >= {
        "replicas_that_join_have_caught_up", "isrs_before_asked_for_commits"}  # fmt: skip


@pytest.mark.deep
@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_nothing_is_lost_from_2_7_on(solver):
    if solver == "cvc5" and not has_cvc5():
        pytest.skip("cvc5 is not installed")
    assert prove(PROOF, SYSTEM.recorded(), solvers=(solver,)).verdict is Verdict.HOLDS


# -- the executable replication, as brokers of 2.7 speak it ---------------------------------------

OF_AN_ISR_REQUEST = (
    "leader_asks_to_shrink_isr", "leader_asks_to_expand_isr", "controller_writes_isr",
    "controller_refuses_isr", "controller_finds_isr_written", "leader_learns_isr_is_written",
    "isr_answer_is_lost",
)  # fmt: skip

ONE_LOST_ANSWER = {"epoch": 1, "versions": 3, "losses": 1, "expiries": 0}
A_DEAD_ASKER = {"epoch": 1, "versions": 2, "crashes": 1, "expiries": 1}


@pytest.fixture(scope="module")
def both() -> ComposedSystem:
    return compose_since_2_7()


@pytest.fixture(scope="module")
def refines(both) -> Proof:
    return refinement_since_2_7(both)


def test_every_transition_has_a_line_or_is_named_as_outside_of_the_chain():
    declared = {one.name for one in REPLICATION.transitions}
    lines = {one.transition for one in LINES}

    assert len(lines) == len(LINES)
    assert declared == lines | set(WITHOUT_LINE)
    assert set(OF_AN_ISR_REQUEST) < lines


def test_a_write_by_the_controller_and_a_commit_meanwhile_refine_the_form(both, refines):
    asked = ["controller_writes_isr", STEP]

    result = prove(refines, both.recorded, steps=asked)

    assert len(refines.invariants) == 38
    assert result.open == []
    assert {one.step for one in result.obligations} == set(asked)


def test_the_form_of_2_5_is_not_refined_where_a_leader_commits_meanwhile():
    before = compose_since_2_7(form=HISTORY)

    result = prove(refinement_since_2_7(before), before.recorded, steps=[STEP])

    assert [one.invariant for one in result.open] == [f"{STEP}: {FREE}"]


@pytest.mark.deep
def test_no_step_is_proved_for_want_of_a_state_in_which_it_is_possible(both, refines):
    size = {"brokers": 2, "log": 2, "records": 2, "epoch": 2, "controllers": 2, "versions": 3}
    scope = SmallScope(refines, both.recorded, size)
    names = [step.transition.name for step in both.recorded.steps]

    assert [name for name in names if not scope.enabled(name)] == []


@pytest.mark.deep
@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_the_executable_replication_of_2_7_refines_the_form(both, refines, solver):
    if solver == "cvc5" and not has_cvc5():
        pytest.skip("cvc5 is not installed")

    result = prove(refines, both.recorded, solvers=(solver,))

    assert result.verdict is Verdict.HOLDS
    assert (len(result.obligations), result.solver_calls) == (2_023, 478)


@pytest.mark.parametrize(
    ("bounds", "counts"),
    [
        (ONE_LOST_ANSWER, (70_909, 632_727)),
        pytest.param(A_DEAD_ASKER, (198_308, 1_622_457), marks=pytest.mark.deep),
        pytest.param({"expiries": 0}, (214_682, 1_588_843), marks=pytest.mark.deep),
        pytest.param({**ONE_LOST_ANSWER, "crashes": 1, "expiries": 1}, (1_445_473, 13_513_623),
                     marks=pytest.mark.deep),
    ],
)  # fmt: skip
def test_the_same_is_so_in_every_state_of_small_instances(bounds, counts):
    alike = compose_since_2_7(alike=True)

    result = explore_refinement(
        alike, REPLICATION.limits(bounds), symmetry=True, proof=refinement_since_2_7(alike)
    )

    assert (result.verdict, result.rule) == (Verdict.HOLDS, None)
    assert (result.states, result.edges) == counts
    assert result.taken["controller_writes_isr"] > 0


@pytest.mark.deep
def test_every_claim_holds_in_every_state_while_two_epochs_are_led():
    claims = [one.name for one in REPLICATION.claims if one.kind == "always"]

    found = explore(REPLICATION.recorded(), REPLICATION.limits({"expiries": 0}), claims)

    assert {found.claims[name].verdict for name in claims} == {Verdict.HOLDS}
    assert found.fired["controller_refuses_isr"] > 0
