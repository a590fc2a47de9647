"""Every state within the default bounds: what holds, what happens, and what is a known limit."""

from __future__ import annotations

import pytest

from model.language import RecordedSystem
from model.reassignment import SYSTEM
from specs.exploration import Exploration
from specs.explorer import explore
from specs.verdict import Verdict

NOTHING_UNASKED = {"faults": 0, "crashes": 0}
COUNTS = {"2.3": (657_351, 51), "2.4": (831_102, 46)}
"""Release -> states that differ by more than the names of brokers, and their depth."""


@pytest.fixture(scope="module", params=COUNTS)
def by_default(request) -> tuple[str, Exploration]:
    """What `insync explore reassignment --symmetry` visits."""
    recorded = SYSTEM.recorded(request.param)
    return request.param, explore(recorded, SYSTEM.limits({}), symmetry=True)


def test_every_claim_holds_within_the_default_bounds_and_their_number_of_states_is_known(
    by_default,
):
    version, found = by_default

    recorded = SYSTEM.recorded(version)
    judged = {
        one.verdict
        for name, one in found.claims.items()
        if recorded.claim(name)[0].kind != "eventually"
    }
    assert found.complete
    assert judged == {Verdict.HOLDS}
    assert (found.distinct, found.depth) == COUNTS[version]


def test_every_step_is_taken_within_the_default_bounds(by_default):
    _, found = by_default

    assert found.never_fired == []


def test_only_what_happens_unasked_and_what_is_asked_is_bounded(by_default):
    _, found = by_default

    assert set(found.pruned) <= {"moves", "records", "faults", "crashes"}


def test_both_engines_visit_the_same_states_and_half_of_them_stand_for_all():
    recorded, bounds = SYSTEM.recorded(), SYSTEM.limits(NOTHING_UNASKED)

    plain = explore(recorded, bounds, engine="python")
    native = explore(recorded, bounds)
    orbits = explore(recorded, bounds, symmetry=True)

    assert (native.distinct, native.generated, native.depth) == (1_051, 3_149, 26)
    assert (plain.distinct, plain.generated, plain.depth) == (1_051, 3_149, 26)
    assert plain.fired == native.fired
    assert (orbits.distinct, orbits.depth) == (526, 26)


def less(version: str, *steps: str) -> RecordedSystem:
    """The system in which nobody ever takes these steps."""
    recorded = SYSTEM.recorded(version)
    recorded.steps = [one for one in recorded.steps if one.transition.name not in steps]
    return recorded


@pytest.mark.parametrize(
    "step",
    [
        "controller_sees_targets_in_sync",  # the watch on the state never fires
        "controller_begins_move",
        "controller_closes_request",
        "leader_expands_isr",
    ],
)
def test_a_move_never_ends_when_one_step_of_it_is_never_taken(step):
    found = explore(
        less("2.3", step), SYSTEM.limits(NOTHING_UNASKED), ["moves_finish"], engine="python"
    )

    assert found.claims["moves_finish"].verdict is Verdict.BROKEN


def test_a_move_ends_in_every_fair_run():
    found = explore(
        SYSTEM.recorded(), SYSTEM.limits(NOTHING_UNASKED), ["moves_finish"], engine="python"
    )

    assert found.claims["moves_finish"].verdict is Verdict.HOLDS


@pytest.mark.deep
@pytest.mark.parametrize("version", COUNTS)
def test_a_move_ends_after_a_failover_and_a_crash_too(version):
    found = explore(SYSTEM.recorded(version), SYSTEM.limits({}), ["moves_finish"])

    assert found.complete
    assert found.claims["moves_finish"].verdict is Verdict.HOLDS
