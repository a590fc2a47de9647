"""The four election strategies, against Kafka's own cases and against what must be so of any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.plain_rules.elections import (
    ElectedLeader,
    for_controlled_shutdown,
    for_offline,
    for_preferred,
    for_reassignment,
)
from model.language.evaluate import Evaluator, SparseState
from model.reassignment import SYSTEM
from model.reassignment.state import TASKS

VECTORS = Path(__file__).parents[3] / "shared" / "kafka" / "vectors" / "election.json"

brokers = st.integers(0, 5)
lists = st.lists(brokers, unique=True, max_size=5)
some_brokers = st.frozensets(brokers)


MOVE = next(
    step for step in SYSTEM.recorded().steps if step.transition.name == "controller_moves_leader"
)


def about_to_move(target: list[int], isr: frozenset[int], live: frozenset[int]) -> SparseState:
    """Broker 1 is the controller and at step 7; the leader is none of the target."""
    return {
        "belief": {(1,): 1},
        "zk.epoch": {(): 1},
        "zk.registered": {(1,): True},
        "cache.task": {(1,): TASKS.code("leading")},
        "cache.target": {(1, broker): place for place, broker in enumerate(target)},
        "cache.isr": {(1, broker): True for broker in isr},
        "cache.live": {(1, broker): True for broker in live},
    }


def elected(case: dict[str, Any]) -> ElectedLeader | None:
    """What a strategy answers to a case of the vectors."""
    given_, isr, live = case["assignment"], case["isr"], case["live"]
    match case["strategy"]:
        case "Offline":
            return for_offline(given_, isr, live, unclean=case.get("uncleanEnabled", False))
        case "Reassign":
            return for_reassignment(case.get("target", given_), isr, live)
        case "Preferred":
            return for_preferred(given_, isr, live)
        case "ControlledShutdown":
            return for_controlled_shutdown(given_, isr, live, case["shuttingDown"])
        case other:
            raise AssertionError(f"unknown strategy {other}")


def test_kafkas_own_cases_and_the_derived_ones_are_answered_alike():
    if not VECTORS.exists():
        pytest.skip("the vectors of Kafka's cases are not beside the checkout")
    cases = json.loads(VECTORS.read_text())

    for one in cases:
        answer, expected = elected(one["input"]), one["expected"]
        if expected.get("electionFailed") or expected.get("leader") is None:
            assert answer is None, one["case"]
            continue
        assert answer is not None, one["case"]
        assert answer.leader == expected["leader"], one["case"]
        if "isr" in expected:
            assert list(answer.isr) == expected["isr"], one["case"]
            assert list(answer.recipients) == expected["recipients"], one["case"]

    assert len(cases) > 20


def test_the_order_of_the_assignment_decides_and_not_that_of_the_isr():
    assert for_offline((1, 2, 3), (3, 2, 1), {2, 3}) == ElectedLeader(2, (3, 2), (2, 3))


def test_nobody_outside_the_assignment_is_elected_and_its_life_forbids_an_unclean_election():
    assert for_offline((0, 1), (5,), {5, 1}) is None
    assert for_offline((0, 1), (5,), {5, 1}, unclean=True) is None
    assert for_offline((0, 1), (5,), {1}, unclean=True) == ElectedLeader(1, (1,), (1,))


@given(lists, lists, some_brokers, some_brokers)
def test_without_unclean_election_a_leader_lives_is_assigned_and_comes_from_the_isr(
    assignment, isr, live, leaving
):
    answers = [
        for_offline(assignment, isr, live),
        for_reassignment(assignment, isr, live),
        for_preferred(assignment, isr, live),
        for_controlled_shutdown(assignment, isr, live, leaving),
    ]

    for one in filter(None, answers):
        assert one.leader in live & set(assignment) & set(isr)
        assert one.leader in one.isr
        assert set(one.isr) <= set(isr)
        assert set(one.recipients) <= set(assignment)


@given(lists, lists, some_brokers)
def test_a_strategy_gives_up_only_when_there_is_nobody_whom_it_may_elect(assignment, isr, live):
    candidates = live & set(assignment) & set(isr)

    assert (for_offline(assignment, isr, live) is None) == (not candidates)
    assert (for_reassignment(assignment, isr, live) is None) == (not candidates)
    assert (for_preferred(assignment, isr, live) is None) == (
        not assignment or assignment[0] not in candidates
    )
    assert (for_controlled_shutdown(assignment, isr, live, isr)) is None


@given(lists, lists, some_brokers)
def test_an_unclean_election_finds_somebody_whenever_a_replica_lives_and_no_isr_member_does(
    assignment, isr, live
):
    answer = for_offline(assignment, isr, live, unclean=True)

    clean = for_offline(assignment, isr, live)
    assert answer == clean or (
        clean is None
        and not live & set(isr)
        and answer is not None
        and answer.isr == (answer.leader,)
    )
    assert answer is not None or not live & set(assignment) or bool(live & set(isr))


@given(
    st.lists(st.integers(1, 5), unique=True, max_size=5),
    st.frozensets(st.integers(1, 5)),
    st.frozensets(st.integers(1, 5)),
)
def test_the_system_moves_the_leader_as_the_strategy_for_reassignment_does(target, isr, live):
    twin, state = Evaluator(SYSTEM.recorded(), {"brokers": 5}), about_to_move(target, isr, live)

    possible = [
        broker
        for broker in range(1, 6)
        if twin.possible(MOVE, state, {"broker": 1, "leader": broker}) is None
    ]

    answer = for_reassignment(target, sorted(isr), live)
    assert possible == ([] if answer is None else [answer.leader])
