"""Z3 and the explorer agree: the same depth, and a run that the generated Python takes, too."""

from __future__ import annotations

import pytest

from model.language.properties import DEADLOCK
from model.systems import SYSTEMS
from specs.bounded import find_by_z3
from specs.explorer import explore, find
from specs.verdict import Verdict
from tests.specs.planted import BUGS

NEAR, FAR = 7, 14
"""Depths up to which planted bugs are looked for, and with --deep."""

LARGE = ("reassignment", "cluster")
"""Their formulas take seconds to write down: one of their bugs without --deep is enough."""


def _is_settled_by_a_run(name: str, claim: str) -> bool:
    return all(one.kind != "eventually" for one in SYSTEMS[name].claims if one.name == claim)


PLANTED = [
    pytest.param(
        name, claim, bug,
        id=f"{name}-{claim}-{bug.depth}",
        marks=[pytest.mark.deep]
        if bug.depth > NEAR or (name in LARGE and claim != "isr_is_assigned")
        else [],
    )
    for (name, claim), bugs in BUGS.items()
    for bug in bugs
    if bug.depth is not None and bug.depth <= FAR and _is_settled_by_a_run(name, claim)
]  # fmt: skip


@pytest.mark.parametrize(("name", "claim", "bug"), PLANTED)
def test_a_planted_bug_is_found_at_the_depth_that_exploring_found(name, claim, bug):
    bounds = SYSTEMS[name].limits(bug.bounds)

    found = find_by_z3(bug.planted(name), bounds, claim, max_steps=FAR)

    assert (found.result.verdict, found.result.depth) == (Verdict.BROKEN, bug.depth)
    assert found.run is not None
    assert (found.run.depth, found.length, found.run.bounds) == (bug.depth, bug.depth - 1, bounds)


@pytest.mark.parametrize(
    ("claim", "name", "version", "without", "bounds", "depth"),
    [
        ("strong_isr", "classic", "hw_truncation", {}, {}, 9),
        ("single_writer", "election", "2.3", {"zk_writes_fenced": False}, {"brokers": 3}, 11),
        ("no_older_controller_is_obeyed", "election", "2.3", {"broker_epoch": False}, {}, 14),
    ],
)
def test_a_bug_of_history_is_found_at_its_depth(claim, name, version, without, bounds, depth):
    broken, limits = SYSTEMS[name].recorded(version, without), SYSTEMS[name].limits(bounds)

    found = find_by_z3(broken, limits, claim)
    exploration, _ = find(broken, limits, claim)

    assert found.result.depth == exploration.claims[claim].depth == depth
    assert found.result.verdict is exploration.claims[claim].verdict


@pytest.mark.parametrize("name", ["classic", "election"])
def test_what_can_happen_is_reached_after_as_many_steps_as_the_explorer_needs(name):
    healthy, limits = SYSTEMS[name].recorded(), SYSTEMS[name].limits({})
    depths = {
        claim: result.depth
        for claim, result in explore(healthy, limits).claims.items()
        if result.kind == "sometimes"
    }

    found = {claim: find_by_z3(healthy, limits, claim, max_steps=8).result for claim in depths}

    near = {claim: depth for claim, depth in depths.items() if depth is not None and depth <= 9}
    assert near
    assert {claim: found[claim].depth for claim in near} == near
    assert {found[claim].verdict for claim in near} == {Verdict.HOLDS}
    assert {found[claim].verdict for claim in found.keys() - near.keys()} <= {Verdict.UNKNOWN}


def test_a_dead_end_is_found_where_the_explorer_finds_it():
    classic, limits = SYSTEMS["classic"].recorded(), SYSTEMS["classic"].limits({})

    found = find_by_z3(classic, limits, DEADLOCK)
    exploration, _ = find(classic, limits, DEADLOCK)

    assert found.result.depth == exploration.deadlock.depth == 3
    assert found.result.sentence == exploration.deadlock.sentence
