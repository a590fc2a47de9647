"""The system `topics` explored: the counts, both engines, with symmetry and without, coverage."""

from __future__ import annotations

import pytest

from model.topics import SYSTEM
from specs.exploration import Exploration
from specs.explorer import explore, find
from specs.rendering import as_data
from specs.verdict import Verdict

SMALL = {"crashes": 0, "expiries": 0, "controllers": 1, "partitions": 2}
"""One controller for ever, and partitions that are added."""

SAFETY = [claim.name for claim in SYSTEM.claims if claim.kind != "eventually"]
PROMISES = [claim.name for claim in SYSTEM.claims if claim.kind in ("always", "always_step")]


@pytest.fixture(scope="module")
def default() -> Exploration:
    """The default bounds, explored whole, every claim about states and steps judged."""
    return explore(SYSTEM.recorded(), SYSTEM.limits({}), SAFETY, symmetry=True)


def test_the_default_bounds_are_explored_whole_and_every_claim_about_them_holds(default):
    assert (default.distinct, default.depth, default.complete) == (1_343_041, 83, True)
    assert {name: default.claims[name].verdict for name in SAFETY} == dict.fromkeys(
        SAFETY, Verdict.HOLDS
    )


@pytest.mark.parametrize(
    ("bounds", "distinct"), [(SMALL, 10_045), pytest.param({}, 2_524_878, marks=pytest.mark.deep)]
)
def test_whoever_is_asked_for_something_does_it_in_the_end(bounds, distinct):
    found = explore(
        SYSTEM.recorded(), SYSTEM.limits(bounds), ["requested_deletions_end", "topics_get_leaders"]
    )

    assert (found.distinct, found.complete) == (distinct, True)
    assert found.claims["requested_deletions_end"].verdict is Verdict.HOLDS
    assert found.claims["topics_get_leaders"].verdict is Verdict.HOLDS


def test_both_engines_find_the_same_states():
    native, python = (
        as_data(explore(SYSTEM.recorded(), SYSTEM.limits(SMALL), PROMISES, engine=engine))
        for engine in ("native", "python")
    )

    for key in ("distinct", "generated", "depth", "pruned", "claims"):
        assert native[key] == python[key]
    assert native["distinct"] == 12_965


def test_with_symmetry_brokers_are_distinguished_by_what_they_do_only():
    orbits = explore(
        SYSTEM.recorded(), SYSTEM.limits(SMALL), ["deleted_data_is_never_served"], symmetry=True
    )

    assert (orbits.distinct, orbits.complete) == (6_483, True)


def test_every_transition_is_taken_within_these_bounds_or_a_few_small_ones(default):
    taken = {name for name, times in default.fired.items() if times}
    small = {"controllers": 1, "crashes": 0, "expiries": 0}
    for bounds in (SMALL, {**small, "failures": 1}, {**small, "shutdowns": 1, "elections": 1},
                   {**small, "expiries": 1, "conflicts": 1},
                   {**small, "controllers": 2, "expiries": 1, "losses": 1}):  # fmt: skip
        found = explore(
            SYSTEM.recorded(),
            SYSTEM.limits(bounds),
            ["deleted_data_is_never_served"],
            20_000,
            symmetry=True,
        )
        taken |= {name for name, times in found.fired.items() if times}

    assert sorted({step.transition.name for step in SYSTEM.recorded().steps} - taken) == []


# -- limits and history ----------------------------------------------------------------------


def broken(version: str, claim: str, without: dict[str, object], **bounds: int) -> int | None:
    """Steps of the shortest run that breaks a claim, or None where it holds."""
    recorded = SYSTEM.recorded(version, without)
    symmetry = recorded.claim(claim)[0].kind != "eventually"
    found, run = find(recorded, SYSTEM.limits(bounds), claim, symmetry=symmetry)
    assert run is not None or found.claims[claim].verdict is Verdict.HOLDS
    return None if run is None else len(run.steps)


MOVING: dict[str, object] = {"dead_brokers_keep_their_replicas": False}
"""Replicas may be reassigned away from brokers that are dead."""


def test_a_deleted_topic_comes_back_where_replicas_are_moved_off_dead_brokers():
    assert broken("2.3", "deleted_data_is_never_served", MOVING, moves=1) == 32
    assert broken("2.3", "deleted_data_returns_only_after_reassignment", MOVING, moves=1) is None


def test_with_topic_ids_it_does_not():
    assert broken("2.8", "deleted_data_is_never_served", MOVING, moves=1) is None


def test_without_the_fence_a_deposed_controller_deletes_the_successor():
    unfenced: dict[str, object] = {"zk_writes_fenced": False}

    assert broken("2.3", "topics_are_deleted_only_on_request", unfenced, crashes=0) == 21


def test_up_to_1_1_a_topic_that_is_deleted_before_it_has_a_leader_is_never_gone():
    mended: dict[str, object] = {"leaderless_replicas_stop": True}

    assert broken("1.1", "requested_deletions_end", {}, **SMALL) == 11
    assert broken("1.1", "requested_deletions_end", mended, **SMALL) is None


def test_where_deletion_is_disabled_the_request_goes_and_the_topic_stays():
    found = explore(
        SYSTEM.recorded("0.11"), SYSTEM.limits(SMALL), ["requested_deletions_end"], engine="python"
    )

    assert found.claims["requested_deletions_end"].verdict is Verdict.HOLDS
    assert found.fired["controller_drops_request"] > 0
    assert "topic_znode_is_deleted" not in {name for name, times in found.fired.items() if times}


@pytest.mark.parametrize("release", ["0.10.0", "0.10.1"])
def test_up_to_0_10_1_nobody_takes_a_request_back_where_deletion_is_disabled(release: str):
    found = explore(
        SYSTEM.recorded(release), SYSTEM.limits(SMALL),
        ["requested_deletions_end", "idle_controller_knows_zookeeper"], engine="python",
    )  # fmt: skip

    assert found.claims["requested_deletions_end"].verdict is Verdict.BROKEN
    assert found.claims["idle_controller_knows_zookeeper"].verdict is Verdict.HOLDS
    assert not {name for name, times in found.fired.items() if "request" in name and times}
