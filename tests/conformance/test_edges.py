"""Both sides offer the same choices in every state of a complete small graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from conformance.cli.edges import SMALL
from conformance.edges import MOST_MISMATCHES, walk_edges
from conformance.mapping.replication import FAMILIES
from impl.world.partition_steps import KINDS
from model.systems import system
from specs.explorer import explore
from specs.verdict import Verdict
from tests.planting import commits_alone


def test_every_edge_of_a_small_graph_is_covered() -> None:
    report = walk_edges(SMALL)

    assert (report.verdict, report.complete) == (Verdict.HOLDS, True)
    assert report.covered == report.edges == 4_064
    assert report.states == 619


@pytest.mark.parametrize("version", ["0.10", "0.11", "1.1", "2.0", "2.7"])
def test_two_epochs_are_covered_in_older_and_newer_releases_too(version: str) -> None:
    family = FAMILIES["epochs"]

    report = walk_edges({**SMALL, **family.bounds}, 100, version=version, family=family)

    assert (report.mismatches, report.states) == ([], 100)
    assert report.covered == report.edges > 150


def test_edges_under_faults_are_covered_as_far_as_one_goes() -> None:
    report = walk_edges({**SMALL, "epoch": 2, "versions": 2, "expiries": 1}, max_states=800)

    assert report.verdict is Verdict.UNKNOWN
    assert report.covered == report.edges > 4_000
    assert {"session_expires", "controller_removes_replica"} <= set(report.fired)


def test_the_walk_visits_as_many_states_as_the_explorer() -> None:
    from conformance.mapping import AS_RELEASED

    recorded = system("replication").recorded(None, AS_RELEASED)

    explored = explore(recorded, SMALL, claims=[], engine="python")

    assert explored.distinct == walk_edges(SMALL).states


def test_a_fault_of_the_implementation_is_found_with_the_way_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    commits_alone(monkeypatch)

    report = walk_edges(SMALL)

    assert report.verdict is Verdict.BROKEN
    assert len(report.mismatches) == MOST_MISMATCHES
    assert "leader_advances_hw" in report.mismatches[0]
    assert (
        "the model's steps to this state:\n    broker_becomes_controller(" in (report.mismatches[0])
    )


def test_a_step_that_the_implementation_lost_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = KINDS["consumer_reads"]
    monkeypatch.setitem(KINDS, kind.name, replace(kind, unmet=lambda *_: "never"))

    report = walk_edges(SMALL)

    assert report.verdict is Verdict.BROKEN
    assert "the model allows consumer_reads" in report.mismatches[0]


@pytest.mark.parametrize(
    ("more", "edges"),
    [
        (FAMILIES["crashes"].bounds, 6_808),
        (FAMILIES["lost_answers"].bounds, 9_312),
        pytest.param(FAMILIES["sessions"].bounds, 47_984, marks=pytest.mark.deep),
        pytest.param({"versions": 2}, 65_260, marks=pytest.mark.deep),
    ],
)
def test_every_edge_of_larger_graphs_is_covered(more: Mapping[str, int], edges: int) -> None:
    report = walk_edges({**SMALL, **more})

    assert report.verdict is Verdict.HOLDS
    assert report.covered == report.edges == edges
