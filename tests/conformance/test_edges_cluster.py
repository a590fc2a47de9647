"""Every edge of the graph of `cluster`, walked on whole controllers from effect to effect."""

from __future__ import annotations

import pytest

from conformance.edges import EdgeReport, walk_edges
from conformance.mapping.cluster import MAP
from impl.core.replica_machine import ReplicaMachine
from specs.verdict import Verdict

SMALL = {"losses": 221, "crashes": 605, "expiries": 1_722}
"""What may go wrong once -> how many states there are."""

LARGE = {"requests": 594, "endpoints": 1_308, "lingering": 1_834, "shutdowns": 3_688}


def walked(fault: str, **bounds: int) -> EdgeReport:
    return walk_edges({**MAP.small, "expiries": 0, fault: 1, **bounds}, about=MAP)


@pytest.mark.parametrize(
    "fault", ["losses", "crashes", pytest.param("expiries", marks=pytest.mark.deep)]
)
def test_every_edge_is_covered_both_ways(fault: str) -> None:
    report = walked(fault)

    assert (report.verdict, report.states) == (Verdict.HOLDS, SMALL[fault])
    assert report.covered == report.edges > report.states


@pytest.mark.deep
@pytest.mark.parametrize("fault", LARGE)
def test_every_edge_of_a_larger_graph_is_covered(fault: str) -> None:
    report = walked(fault)

    assert (report.verdict, report.states) == (Verdict.HOLDS, LARGE[fault])


@pytest.mark.deep
def test_every_edge_of_two_controllers_is_covered() -> None:
    report = walked("expiries", controllers=2, versions=1)

    assert report.verdict is Verdict.HOLDS
    assert report.fired["controller_write_is_fenced"] > 0
    assert report.fired["older_controller_is_refused"] > 0


def test_a_replica_machine_that_leaves_the_dead_in_the_isr_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ReplicaMachine, "without", lambda self, broker, state: state)

    report = walk_edges(MAP.small, max_states=400, about=MAP)

    assert report.verdict is Verdict.BROKEN
