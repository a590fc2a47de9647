"""What is true up to 2.6: which commits are kept, and that the others are not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.replication.history import SYSTEM as HISTORY
from specs.explorer import explore, find
from specs.proofs.before_2_7 import ASSUMED, OF_HIGH_WATERMARKS, PROOF, SYSTEM
from specs.proofs.no_message_loss import PROOF as NO_MESSAGE_LOSS
from specs.prover import prove
from specs.solvers import has_cvc5
from specs.verdict import Verdict

SURE = "leader_commits_surely"
OWN_RECORD = "a record of its own epoch is among it"
COUNTED = "all replicas are in its ISR, or it has given up no ISR write"
SMALL = {"brokers": 2, "epoch": 2, "log": 1, "records": 1, "versions": 2}


def test_neither_assumption_is_made():
    assert {SYSTEM.recorded().switches[name] for name in ASSUMED} == {False}
    assert not any("lost_isr_answer_blocks" in words for words in PROOF.assumes)


def test_it_is_the_proof_of_no_message_loss_but_for_what_high_watermarks_show():
    given = {one.name for one in NO_MESSAGE_LOSS.invariants}
    here = {one.name for one in PROOF.invariants}

    assert given - here == set(OF_HIGH_WATERMARKS)


@pytest.mark.deep
def test_sure_commits_are_kept_for_any_number_of_brokers():
    result = prove(PROOF, SYSTEM.recorded())

    assert result.verdict is Verdict.HOLDS
    assert (len(result.obligations), result.solver_calls) == (2048, 569)


@pytest.mark.deep
@pytest.mark.skipif(not has_cvc5(), reason="cvc5 is not installed")
def test_cvc5_says_so_too():
    assert prove(PROOF, SYSTEM.recorded(), solvers=("cvc5",)).verdict is Verdict.HOLDS


def test_a_sure_commit_keeps_every_invariant():
    assert prove(PROOF, SYSTEM.recorded(), steps=[SURE]).open == []


@pytest.mark.parametrize("reason", [OWN_RECORD, COUNTED])
def test_a_commit_that_is_less_sure_is_not_proved_to_be_kept(reason):
    recorded = SYSTEM.recorded()
    (step,) = (one for one in recorded.steps if one.transition.name == SURE)
    less_sure = replace(step, requires=[one for one in step.requires if one.reason != reason])
    recorded.steps[recorded.steps.index(step)] = less_sure

    result = prove(PROOF, recorded, steps=[SURE])

    assert "commits_were_asked_for" in {one.invariant for one in result.open}


@pytest.mark.deep
def test_an_explorer_keeps_sure_commits_and_loses_others():
    kept = explore(SYSTEM.recorded(), SMALL, ["sure_commits_are_kept", "isr_holds_sure_commits"])
    changed = dict.fromkeys(ASSUMED, False)
    _, lost = find(HISTORY.recorded(None, changed), SMALL, "no_message_loss")

    assert {one.verdict for one in kept.claims.values()} == {Verdict.HOLDS}
    assert lost is not None
