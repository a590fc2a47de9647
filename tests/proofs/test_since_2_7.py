"""AlterIsr: a leader that goes on during its ISR write loses nothing if it counts on both ISRs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.replication.history import SYSTEM as HISTORY
from specs.proofs.no_message_loss import PROOF as NO_MESSAGE_LOSS
from specs.proofs.since_2_7 import PROOF, SYSTEM
from specs.prover import prove
from specs.solvers import has_cvc5
from specs.verdict import Verdict

STEP = "leader_advances_hw"
FREE = "no ISR write of it is under way"


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
        "who_is_taken_in_has_caught_up", "isrs_before_asked_for_commits"}  # fmt: skip


@pytest.mark.deep
@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_nothing_is_lost_from_2_7_on(solver):
    if solver == "cvc5" and not has_cvc5():
        pytest.skip("cvc5 is not installed")
    assert prove(PROOF, SYSTEM.recorded(), solvers=(solver,)).verdict is Verdict.HOLDS
