"""Counterexamples to induction are real: the dumb twin agrees with every word of them."""

from __future__ import annotations

import pytest

from model.election import SYSTEM as ELECTION
from model.language import RecordedSystem
from model.language.evaluate import Evaluator
from specs.induction_counterexamples import (
    InductionCounterexample,
    SmallScope,
    counterexample_to_induction,
)
from specs.obligations import conjuncts
from specs.proofs.single_controller import PROOF
from specs.prover import INITIALLY, prove
from tests.specs.following import arguments, sparse, step_named


@pytest.mark.parametrize("switch", ["zk_writes_fenced", "requests_fenced", "broker_epoch"])
def test_a_counterexample_to_induction_is_one_for_the_twin(switch):
    recorded = ELECTION.recorded(None, {switch: False})

    left = prove(PROOF, recorded).open

    assert left
    for obligation in left:
        shown = counterexample_to_induction(PROOF, recorded, [obligation])

        assert shown is not None
        assert shown.step == obligation.step
        check_by_twin(shown, recorded)


def check_by_twin(shown: InductionCounterexample, recorded: RecordedSystem) -> None:
    """Before the step every invariant holds; after it the obligation's does not."""
    twin = Evaluator(recorded, {"brokers": 3, "epoch": 3, "writes": 3})
    facts = {one.name: one.term for one in conjuncts(PROOF, recorded)}
    before, after = sparse(recorded, shown.state), dict(shown.state)
    for path, (old, new) in shown.changes.items():
        assert after[path] == old
        after[path] = new

    step = step_named(recorded, shown.step)
    reached = twin.successor(step, before, arguments(step, shown.args))

    assert [name for name, term in facts.items() if not twin.value(term, before, {})] == []
    assert not twin.value(facts[shown.obligation.invariant], reached, {})
    assert sparse(recorded, after) == reached


def test_there_is_no_counterexample_to_what_is_proved():
    proved = prove(PROOF, ELECTION.recorded())
    asked = [one for one in proved.obligations if one.by == "solver" and one.step != INITIALLY]

    assert len(asked) > 30
    assert counterexample_to_induction(PROOF, ELECTION.recorded(), asked) is None


def test_every_step_is_possible_in_some_state_that_obeys_the_invariants():
    scope = SmallScope(PROOF, ELECTION.recorded(), {"brokers": 2, "epoch": 2, "writes": 2})

    steps = [step.transition.name for step in ELECTION.recorded().steps]

    assert [step for step in steps if not scope.enabled(step)] == []
