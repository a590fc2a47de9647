"""Every requirement of `election` is taken out in turn: prover and explorer must not disagree."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.election import SYSTEM as ELECTION
from model.language import RecordedSystem
from model.language.errors import ImpossibleValue
from specs.explorer import find
from specs.proofs.single_controller import PROOF
from specs.prover import prove
from specs.verdict import Verdict

REQUIREMENTS = [
    (step.transition.name, one.reason)
    for step in ELECTION.recorded().steps
    for one in step.requires
]

FENCES = {
    ("broker_wins_election", "/controller_epoch is as it was read"): 8,
    ("write_is_applied", "/controller_epoch is as it was won"): 11,
    ("broker_handles_request", "the broker knows no newer controller"): 13,
}
"""Requirements that safety hangs on: without one of them a run this long breaks the claim."""

NEEDED_TO_PROVE = {
    ("broker_wins_election", "the broker has read the controller epoch"),
    ("broker_learns_it_won", "/controller is the broker's own"),
    ("controller_starts_write", "the broker believes it is the controller"),
    ("write_is_applied", "a write of the broker is under way"),
    ("controller_sends_request", "the broker believes it is the controller"),
    ("broker_handles_request", "the request was sent"),
}
"""The proof needs these too: without them a step is taken by somebody who has no part in it."""

WITHOUT_A_VALUE = ("controller_sends_request", "the broker believes it is the controller")
"""Without this requirement the step writes at the epoch of a controller that is none."""


def cut(name: str, reason: str) -> RecordedSystem:
    """The system with one requirement taken out."""
    recorded = ELECTION.recorded()
    steps = recorded.steps
    number = next(n for n, step in enumerate(steps) if step.transition.name == name)
    kept = [one for one in steps[number].requires if one.reason != reason]
    assert len(kept) == len(steps[number].requires) - 1
    steps[number] = replace(steps[number], requires=kept)
    return recorded


@pytest.mark.parametrize(("step", "reason"), REQUIREMENTS)
def test_the_proof_misses_just_the_requirements_that_it_needs(step, reason):
    result = prove(PROOF, cut(step, reason))

    needed = (step, reason) in {*FENCES, *NEEDED_TO_PROVE}
    assert (result.verdict is Verdict.UNKNOWN) == needed


@pytest.mark.parametrize(("step", "reason"), list(FENCES))
def test_without_a_fence_a_run_breaks_the_claim(step, reason):
    _, run = find(cut(step, reason), ELECTION.limits({}), "single_controller")

    assert run is not None
    assert run.depth == FENCES[step, reason]


@pytest.mark.deep
@pytest.mark.parametrize(
    ("step", "reason"), [one for one in REQUIREMENTS if one not in {*FENCES, WITHOUT_A_VALUE}]
)
def test_what_is_proved_without_a_requirement_is_never_broken_by_a_run(step, reason):
    found, run = find(cut(step, reason), ELECTION.limits({}), "single_controller")

    assert run is None
    assert found.claims["single_controller"].verdict is Verdict.HOLDS


def test_a_step_that_writes_at_an_epoch_that_does_not_exist_is_refused():
    with pytest.raises(ImpossibleValue, match="a controller epoch that does not exist"):
        find(cut(*WITHOUT_A_VALUE), ELECTION.limits({}), "single_controller")
