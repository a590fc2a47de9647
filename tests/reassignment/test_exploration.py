"""Every state within the default bounds: what holds, what happens, and what is a known limit."""

from __future__ import annotations

import pytest

from model.reassignment import SYSTEM
from specs.exploration import Exploration
from specs.explorer import explore
from specs.verdict import Verdict

NOTHING_UNASKED = {"faults": 0, "crashes": 0}


@pytest.fixture(scope="module")
def by_default() -> Exploration:
    """What `insync explore reassignment --symmetry` visits."""
    return explore(SYSTEM.recorded(), SYSTEM.limits({}), symmetry=True)


def test_every_claim_holds_within_the_default_bounds_and_their_number_of_states_is_known(
    by_default,
):
    judged = {
        name: one.verdict
        for name, one in by_default.claims.items()
        if SYSTEM.recorded().claim(name)[0].kind != "eventually"
    }

    assert by_default.complete
    assert set(judged.values()) == {Verdict.HOLDS}
    assert (by_default.distinct, by_default.depth) == (657_447, 51)


def test_every_step_is_taken_within_the_default_bounds(by_default):
    assert by_default.never_fired == []


def test_no_bound_but_those_of_what_happens_unasked_cuts_anything_off(by_default):
    assert set(by_default.pruned) <= {"moves", "records", "faults", "crashes"}


def test_both_engines_visit_the_same_states():
    recorded, bounds = SYSTEM.recorded(), SYSTEM.limits(NOTHING_UNASKED)

    native = explore(recorded, bounds)
    plain = explore(recorded, bounds, engine="python")

    assert (native.distinct, native.generated, native.depth) == (
        plain.distinct,
        plain.generated,
        plain.depth,
    )
    assert native.fired == plain.fired


def test_one_state_in_two_stands_for_all_that_rename_brokers_only():
    recorded, bounds = SYSTEM.recorded(), SYSTEM.limits(NOTHING_UNASKED)

    whole = explore(recorded, bounds, engine="python")
    orbits = explore(recorded, bounds, symmetry=True)

    assert (whole.distinct, orbits.distinct) == (1_051, 526)
    assert whole.depth == orbits.depth == 26
