"""Every state within the default bounds: what holds, what happens, and what is a known limit."""

from __future__ import annotations

import pytest

from model.language import RecordedSystem
from model.reassignment import SYSTEM
from specs.exploration import Exploration
from specs.explorer import explore
from specs.verdict import Verdict

NOTHING_UNASKED = {"faults": 0, "crashes": 0}
COUNTS = {"2.3": (306_837, 51), "2.4": (430_999, 48)}
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


LATE_STEPS = {
    "metadata_is_delayed",
    "broker_updates_metadata",
    "update_of_older_controller_is_refused",
}
"""What happens only where UpdateMetadata may be late."""

NOT_BY_DEFAULT = {"2.3": LATE_STEPS, "2.4": {
    *LATE_STEPS, "controller_drops_move_of_deleted_topic", "request_to_non_replica_is_refused",
}}  # fmt: skip
"""A deletion waits since 2.4 only for a move that an earlier controller began: two faults. And
where the leader stays, those that are to go are not asked any more."""


def test_every_step_is_taken_within_the_default_bounds_but_for_some_that_take_more(by_default):
    version, found = by_default

    assert set(found.never_fired) == NOT_BY_DEFAULT[version]


def test_where_metadata_may_be_late_clients_are_sent_astray_and_find_the_leader_in_the_end():
    claims = [
        "metadata_names_the_leader",
        "clients_know_the_leader_epoch",
        "metadata_catches_up_with_the_leader",
    ]
    late = SYSTEM.limits({**NOTHING_UNASKED, "delays": 1})

    found = explore(SYSTEM.recorded(), late, claims, engine="python")

    assert (found.distinct, found.complete) == (5_527, True)
    assert {found.claims[name].verdict for name in claims} == {Verdict.HOLDS}


def test_late_metadata_of_a_deposed_controller_is_refused():
    bounds = SYSTEM.limits({"crashes": 0, "faults": 1, "moves": 0, "delays": 1, "epoch": 1})

    found = explore(SYSTEM.recorded(), bounds, ["metadata_names_the_leader"], engine="python")

    assert found.complete
    assert found.claims["metadata_names_the_leader"].verdict is not Verdict.BROKEN
    assert not LATE_STEPS & set(found.never_fired)


def test_only_what_happens_unasked_and_what_is_asked_is_bounded(by_default):
    _, found = by_default

    assert set(found.pruned) <= {"moves", "records", "faults", "crashes", "delays"}


def test_both_engines_visit_the_same_states_and_half_of_them_stand_for_all():
    recorded, bounds = SYSTEM.recorded(), SYSTEM.limits(NOTHING_UNASKED)

    plain = explore(recorded, bounds, engine="python")
    native = explore(recorded, bounds)
    orbits = explore(recorded, bounds, symmetry=True)

    assert (native.distinct, native.generated, native.depth) == (763, 1_961, 25)
    assert (plain.distinct, plain.generated, plain.depth) == (763, 1_961, 25)
    assert plain.fired == native.fired
    assert (orbits.distinct, orbits.depth) == (382, 25)


WRITTEN_AGAIN = {"2.0": (18_566, 39), "2.1": (17_309, 39), "2.3": (18_863, 39)}
"""Release that writes a request again when it has begun what that asks for -> states, depth."""

LOST = {"request_is_removed_only_when_done"}
"""Within these bounds since 2.3 alone: it has the death of a replica to deal with in between, and
where there is nothing to deal with the model has look and write in one step."""


@pytest.mark.deep
@pytest.mark.parametrize("version", WRITTEN_AGAIN)
def test_a_request_that_comes_while_a_controller_begins_is_lost_from_2_0_to_2_3(version: str):
    recorded = SYSTEM.recorded(version, {"request_znode_not_rewritten": False})

    found = explore(recorded, SYSTEM.limits({"crashes": 0, "controllers": 1}), engine="python")

    broken = {name for name, one in found.claims.items()
              if one.verdict is Verdict.BROKEN and one.kind != "sometimes"}  # fmt: skip
    assert broken == (LOST if version == "2.3" else set())
    assert (found.distinct, found.depth) == WRITTEN_AGAIN[version]


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
        "controller_removes_request_entry",
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
@pytest.mark.parametrize("claim", ["moves_finish", "metadata_catches_up_with_the_leader"])
def test_a_move_ends_after_a_failover_and_a_crash_too(version, claim):
    found = explore(SYSTEM.recorded(version), SYSTEM.limits({}), [claim])

    assert found.complete
    assert found.claims[claim].verdict is Verdict.HOLDS


@pytest.mark.deep
def test_every_claim_holds_where_metadata_is_late_through_a_failover_and_a_crash():
    found = explore(SYSTEM.recorded(), SYSTEM.limits({"delays": 1}), symmetry=True)

    judged = {one.verdict for one in found.claims.values() if one.kind != "eventually"}
    assert (found.complete, found.never_fired, judged) == (True, [], {Verdict.HOLDS})
