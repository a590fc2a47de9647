"""The refinement notices a fault planted in `replication`, or proves that it is harmless."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from model.language.recording import Recorded
from model.replication import SYSTEM
from model.replication.alter_isr import SYSTEM as SINCE_2_7
from specs.induction_counterexamples import SmallScope
from specs.invariants import Proof
from specs.prover import ProofResult, prove
from specs.refinement import ComposedSystem, compose, refinement_proof
from specs.refinement.since_2_7 import compose_since_2_7, refinement_since_2_7
from tests.proofs import planted_since_2_7
from tests.proofs.planted import FAULTS, HARMLESS, NOTICED, SEEN_BEFORE, FaultInProof

ALL = (*FAULTS, *planted_since_2_7.FAULTS)
ALL_NOTICED = {**NOTICED, **planted_since_2_7.NOTICED}
ALL_HARMLESS = {**HARMLESS, **planted_since_2_7.HARMLESS}

SAMPLE = (
    "hw_follows_one", "hw_beyond_log", "refusal_is_success", "requests_outlive_restart",
    "late_answer_cuts", "joins_below_hw", "adds_the_living", "starts_at_checkpoint",
    "keeps_the_dead", "older_controller_obeyed", "counts_on_the_isr_it_wants",
    "new_process_has_the_request",
)  # fmt: skip
"""Ten seconds together; all the others are `deep`."""

ENOUGH = 5_000_000
"""Twice what the costliest obligation needs that holds."""

SCOPES = tuple(
    {"brokers": brokers, "log": log, "records": log + 1, "epoch": epoch, "controllers": 1,
     "versions": 5}
    for brokers, epoch, log in ((2, 2, 2), (2, 3, 2), (3, 2, 2), (2, 4, 3))
)  # fmt: skip
"""Where small values that refute an obligation are looked for, in this order."""

PAGE = Path(__file__).parents[2] / "docs" / "planted-in-the-refinement.md"


def asked(fault: FaultInProof) -> tuple[ComposedSystem, Proof, ProofResult]:
    """The obligations of the steps that the fault changes; of all where it changes the cut, which
    one of the invariants mentions."""
    if fault.since_2_7:
        both = compose_since_2_7(system=fault.system)
        proof, own = refinement_since_2_7(both), SINCE_2_7
    else:
        both = compose(fault.system)
        proof, own = refinement_proof(both), SYSTEM
    right = {step.transition.name: _text(step) for step in own.recorded().steps}
    steps = [
        step.transition.name
        for step in fault.system.recorded().steps
        if _text(step) != right[step.transition.name]
    ]
    assert steps, "the fault changes nothing"
    chosen = None if "follower_truncates" in steps else steps
    return both, proof, prove(proof, both.recorded, steps=chosen, rlimit=ENOUGH)


def _text(step: Recorded) -> object:
    return step.requires, step.writes


def every(fault: FaultInProof) -> object:
    marks = () if fault.name in SAMPLE else pytest.mark.deep
    return pytest.param(fault, id=fault.name, marks=marks)


@pytest.mark.parametrize("fault", [every(one) for one in ALL if one.name in ALL_NOTICED])
def test_a_fault_is_noticed_at_a_step_that_it_changes_or_feeds(fault):
    both, proof, result = asked(fault)

    open_ = {(one.step, one.invariant): one for one in result.open}
    assert ALL_NOTICED[fault.name] in open_
    # Not for want of work: small values refute it.
    one = open_[ALL_NOTICED[fault.name]]
    assert any(SmallScope(proof, both.recorded, scope).refutes(one) for scope in SCOPES)


@pytest.mark.parametrize("fault", [every(one) for one in ALL if one.name in ALL_HARMLESS])
def test_a_fault_is_harmless_for_every_obligation_is_proved_with_it(fault):
    _, _, result = asked(fault)

    assert result.open == []
    assert result.obligations


def test_every_fault_has_one_outcome_and_those_of_before_are_among_them():
    names = [one.name for one in ALL]

    assert len(names) == len(set(names))
    assert set(names) == set(ALL_NOTICED) | set(ALL_HARMLESS)
    assert not set(ALL_NOTICED) & set(ALL_HARMLESS)
    assert set(SEEN_BEFORE) < set(NOTICED)
    assert not {one.name for one in FAULTS if one.by_issue} & SEEN_BEFORE - {"refusal_is_success"}
    assert set(SAMPLE) < set(names)


def test_every_fault_stands_in_the_text_as_it_is_now_and_changes_a_step():
    texts = [
        {step.transition.name: _text(step) for step in own.recorded().steps}
        for own in (SYSTEM, SINCE_2_7)
    ]

    for fault in ALL:
        right = texts[fault.since_2_7]
        steps = fault.system.recorded().steps
        assert any(_text(step) != right[step.transition.name] for step in steps), fault.name


def test_the_page_has_a_row_for_every_fault_with_its_outcome():
    section = PAGE.read_text().split("## In the texts of the refinement")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| (noticed|harmless)", section, re.M))

    assert rows == {one.name: "noticed" if one.name in ALL_NOTICED else "harmless" for one in ALL}
