"""Runs are the shortest there are, and the dumb twin can follow each of them step by step."""

from __future__ import annotations

from typing import Any

import pytest

from model.classic import SYSTEM as CLASSIC
from model.cluster import SYSTEM as CLUSTER
from model.election import SYSTEM as ELECTION
from model.language import sometimes
from model.replication import SYSTEM as REPLICATION
from specs.explorer import explore, find
from specs.verdict import Verdict
from tests.language.small import epoch_grows, system
from tests.specs.following import settles_in_its_last_state_only

SETTLED: list[Any] = [
    (CLASSIC, "hw_truncation", {}, {}, "strong_isr", 9),
    (CLASSIC, "hw_truncation", {}, {}, "weak_isr", 9),
    (CLASSIC, "kip_101", {}, {}, "strong_isr", 12),
    (CLASSIC, "kip_279", {}, {}, "strong_isr", 12),
    pytest.param(
        CLASSIC, "kip_320_first_try", {}, {"epoch": 2}, "strong_isr", 13, marks=pytest.mark.deep
    ),
    (CLASSIC, "kip_320", {}, {}, "two_brokers_believe_they_lead", 9),
    (ELECTION, "2.3", {"zk_writes_fenced": False}, {}, "single_writer", 11),
    (ELECTION, "2.3", {"requests_fenced": False}, {}, "single_controller", 13),
    (ELECTION, "2.3", {"broker_epoch": False}, {}, "no_older_controller_is_obeyed", 14),
    (ELECTION, "2.3", {}, {}, "winner_has_not_learned_it_won", 4),
]
"""System, version, switches changed, bounds, claim, and the depth of what settles it."""


@pytest.mark.parametrize(
    ("model", "version", "changed", "bounds", "claim", "depth"),
    SETTLED,
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_find_is_as_short_as_the_whole_visit_and_the_twin_can_follow(
    model, version, changed, bounds, claim, depth
):
    recorded, limits = model.recorded(version, changed), model.limits(bounds)

    found, run = find(recorded, limits, claim)
    whole = explore(recorded, limits)

    assert run is not None
    assert run.depth == found.claims[claim].depth == whole.claims[claim].depth == depth
    assert settles_in_its_last_state_only(found, run)
    same = whole.run(claim)
    assert same is not None
    assert settles_in_its_last_state_only(whole, same)


FEW = {"crashes": 2, "controllers": 1, "lingering": 0, "epoch": 1, "events": 2}


@pytest.mark.parametrize(
    ("claim", "bounds", "depth"),
    [
        ("idle_partitions_have_leaders", {**FEW, "expiries": 3}, 30),
        pytest.param("idle_metadata_agrees_with_zookeeper",
                     {**FEW, "expiries": 2, "brokers": 3, "replicas": 1}, 23,
                     marks=pytest.mark.deep),
    ],
)  # fmt: skip
def test_claims_that_hold_within_the_default_bounds_of_a_cluster_are_broken_beyond_them(
    claim, bounds, depth
):
    found, run = find(CLUSTER.recorded(), CLUSTER.limits(bounds), claim)

    assert run is not None
    assert run.depth == depth
    assert settles_in_its_last_state_only(found, run)


@pytest.mark.parametrize(
    ("claim", "depth"),
    [("an_old_fetch_is_in_flight", 9), ("a_commit_survives_an_election", 11)],
)
def test_the_twin_can_follow_runs_of_replication(claim, depth):
    found, run = find(REPLICATION.recorded(), REPLICATION.limits({}), claim)

    assert run is not None
    assert (run.verdict, run.depth) == (Verdict.HOLDS, depth)
    assert settles_in_its_last_state_only(found, run)


def test_there_is_no_run_where_the_claim_holds():
    found, run = find(CLASSIC.recorded("kip_320"), CLASSIC.limits({}), "strong_isr")

    assert (run, found.claims["strong_isr"].verdict) == (None, Verdict.HOLDS)
    assert found.complete


def test_what_holds_at_once_takes_no_step():
    @sometimes("the epoch is zero")
    def it_starts(now):
        return now.epoch == 0

    found, run = find(
        system(epoch_grows, claims=(it_starts,)),
        {"brokers": 2, "epoch": 2, "log": 1, "hottest": 1},
        "it_starts",
    )

    assert run is not None
    assert (run.depth, run.steps, found.distinct) == (1, [], 1)


def test_find_looks_no_further_than_the_state_that_settles_its_claim():
    @sometimes("the epoch is two")
    def it_is_two(now):
        return now.epoch == 2

    bounds = {"brokers": 2, "epoch": 9, "log": 1, "hottest": 1}
    found, run = find(system(epoch_grows, claims=(it_is_two,)), bounds, "it_is_two")

    assert run is not None
    assert (run.depth, found.distinct, found.generated, found.levels) == (3, 3, 3, [1, 1, 1])
    assert (found.complete, found.stopped) == (False, "it_is_two is settled")


def test_a_twin_that_disagrees_is_noticed():
    found, run = find(CLASSIC.recorded("kip_101"), CLASSIC.limits({}), "strong_isr")
    assert run is not None

    path, (before, _) = next(iter(run.steps[-1].changes.items()))
    run.steps[-1].changes[path] = [before, before]
    shorter = found.run("strong_isr")
    assert shorter is not None
    del shorter.steps[-1]

    assert not settles_in_its_last_state_only(found, shorter)
    with pytest.raises(AssertionError):
        settles_in_its_last_state_only(found, run)
