"""What replication assumes of elections is what controllers do: composed, for any number of
brokers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.replication import SYSTEM as REPLICATION
from specs.proofs.elections import PROOF, WRITES, composed
from specs.proofs.single_controller import PROOF as SINGLE_CONTROLLER
from specs.prover import prove
from specs.verdict import Verdict


def test_every_write_of_a_controller_is_an_election_as_replication_assumes_it():
    result = prove(PROOF, composed())

    assert (result.verdict, result.open) == (Verdict.HOLDS, [])
    assert (len(result.obligations), result.solver_calls) == (575, 74)
    shown = [one.step for one in result.obligations if one.invariant == "elections_are_as_assumed"]
    assert tuple(shown) == WRITES


def test_the_invariants_of_the_leader_part_are_those_of_single_controller():
    known = {one.name: one.sentence for one in SINGLE_CONTROLLER.invariants}

    lent = [one for one in PROOF.invariants if one.name in known]

    assert len(lent) == 7
    assert all(known[one.name] == one.sentence for one in lent)


def test_only_the_steps_that_are_asked_about_make_leader_epochs():
    makers = {
        step.transition.name
        for step in REPLICATION.recorded().steps
        if "elected" in {write.field for write in step.writes}
    }

    assert makers == set(WRITES)


@pytest.mark.parametrize(
    ("switch", "value", "steps"),
    [
        ("zk_writes_fenced", False, set(WRITES)),
        ("unclean_leader_election", True, {"controller_elects_leader"}),
    ],
)
def test_without_a_fence_the_assumption_is_open_where_it_was_needed(switch, value, steps):
    result = prove(PROOF, composed({switch: value}))

    assert result.verdict is Verdict.UNKNOWN
    assert {one.step for one in result.open} == steps
    assert {one.invariant for one in result.open} == {"elections_are_as_assumed"}


@pytest.mark.parametrize("reason", ["the version that it read is current",
                                    "the epoch that it won is the newest"])  # fmt: skip
@pytest.mark.parametrize("step", WRITES)
def test_without_a_guard_the_assumption_is_open(step, reason):
    recorded = composed()
    (whole,) = [one for one in recorded.steps if one.transition.name == step]
    without = replace(whole, requires=[one for one in whole.requires if one.reason != reason])
    recorded.steps[recorded.steps.index(whole)] = without

    result = prove(PROOF, recorded, steps=[step])

    assert [one.invariant for one in result.open] == ["elections_are_as_assumed"]
