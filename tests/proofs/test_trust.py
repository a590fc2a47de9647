"""Trust in the machine: what proves everything proves nothing, and is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from model.election import SYSTEM as ELECTION
from model.replication.history import SYSTEM as HISTORY
from specs.invariants import Proof, invariant
from specs.proofs.no_message_loss import PROOF as NO_MESSAGE_LOSS
from specs.proofs.single_controller import PROOF as SINGLE_CONTROLLER
from specs.prover import prove
from specs.refinement import compose, refinement_proof
from specs.solvers import SolverQuery
from specs.verdict import Verdict


@invariant("a controller epoch is below zero", why="no state is like that")
def epochs_are_negative(now):
    return now.zk.epoch < 0


def test_a_proof_whose_assumptions_contradict_each_other_is_refused():
    planted = replace(SINGLE_CONTROLLER, premises=(epochs_are_negative,))
    without = ELECTION.recorded(None, {"zk_writes_fenced": False})

    result = prove(planted, without)

    # Without the fence an obligation is open (test_prove): from the contradiction it is proved.
    assert result.open == []
    assert result.contradictory
    assert result.verdict is Verdict.UNKNOWN


def contradictions(proof: Proof, recorded: Any, steps: Any) -> tuple[int, list[str]]:
    """How many questions there are, and those whose premises prove everything."""
    found: list[str] = []
    asked = 0

    def look(step: str, what: str, question: SolverQuery) -> None:
        nonlocal asked
        asked += 1
        if question.proves_anything():
            found.append(f"{step}: {what}")

    prove(proof, recorded, steps=steps, export=look, rlimit=2_000_000)
    return asked, found


CHOSEN = ("leader_advances_hw", "follower_appends", "broker_becomes_leader")


def test_the_premises_of_no_obligation_prove_everything():
    both = compose()

    asked, found = contradictions(refinement_proof(both), both.recorded, CHOSEN[:2])

    assert found == []
    assert asked > 20


@pytest.mark.deep
@pytest.mark.parametrize("what", ["election", "form", "refinement"])
def test_the_premises_of_no_obligation_at_all_prove_everything(what):
    both = compose()
    proofs = {
        "election": (SINGLE_CONTROLLER, ELECTION.recorded()),
        "form": (NO_MESSAGE_LOSS, HISTORY.recorded()),
        "refinement": (refinement_proof(both), both.recorded),
    }
    proof, recorded = proofs[what]
    steps = [step.transition.name for step in recorded.steps]

    asked, found = contradictions(proof, recorded, steps)

    assert found == []
    assert asked > 30
