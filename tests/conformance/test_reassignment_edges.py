"""`reassignment` on a broker's own controller, suspended before each write, and real replicas."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from conformance.edges import walk_edges
from conformance.lockstep import Lockstep, Mismatch
from conformance.mapping.reassignment import MAP, task_of_controller
from conformance.mapping.rows import Family
from conformance.walks import walk_part
from impl.core.reassigner import Reassigner
from impl.core.replica_machine import ReplicaMachine
from impl.core.states import ReplicaState
from impl.sim.simulation import Step, StepNotPossible
from impl.world.stepped.stepped_cluster import SteppedCluster
from impl.world.stepped.stepped_steps import stepped_cluster
from impl.world.stepped.writes import WRITES
from impl.znodes import TopicPartition
from specs.verdict import Verdict
from tests.conformance.test_edges_topics import steps_of


def in_the_middle_of_a_move() -> SteppedCluster:
    """The controller on broker 1 has taken up a move from 1 to 2, and written nothing."""
    world = stepped_cluster(2, WRITES)
    world.do(Step("topic_is_created", (1, 0, 0)))
    steps_of(
        world,
        "broker_runs_for_controller",
        "controller_continues_event",
        "controller_continues_event",
    )
    world.do(Step("admin_requests_reassignment", (2, 0, 0)))
    steps_of(world, "controller_handles_reassignment")
    return world


@pytest.mark.parametrize(
    ("version", "edges", "states"),
    [("2.3", 1_836, 721), pytest.param("2.4", 3_216, 1_241, marks=pytest.mark.deep)],
)
def test_every_edge_of_a_move_without_faults_is_covered(
    version: str, edges: int, states: int
) -> None:
    report = walk_edges(MAP.small, about=MAP, version=version)

    assert (report.verdict, report.complete) == (Verdict.HOLDS, True)
    assert (report.covered, report.edges, report.states) == (edges, edges, states)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("version", "more", "edges", "fired"),
    [
        ("2.3", {"replicas": 2}, 14_422, "request_to_non_replica_is_refused"),
        ("2.3", {"moves": 2}, 7_168, "controller_drops_request_already_assigned"),
        ("2.4", {"moves": 2}, 22_052, "controller_deletes_cancelled_adding_replicas"),
        ("2.7", {}, 3_216, "controller_is_asked_to_reassign"),
    ],
)
def test_every_edge_of_larger_graphs_is_covered(
    version: str, more: dict[str, int], edges: int, fired: str
) -> None:
    report = walk_edges({**MAP.small, **more}, about=MAP, version=version)

    assert (report.verdict, report.complete) == (Verdict.HOLDS, True)
    assert report.covered == report.edges == edges
    assert report.fired[fired] > 0


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "edges", "fired"),
    [
        ("leader_writes", 6_844, "leader_finds_other_isr_write"),
        ("controller_writes", 5_788, "controller_write_conflicts"),
        ("unknown_partition", 4_298, "controller_drops_unknown_partition"),
        ("deletion", 4_454, "controller_drops_move_of_deleted_topic"),
        ("cancelled", 9_960, "controller_deletes_cancelled_adding_replicas"),
        ("two_targets", 24_370, "controller_sees_targets_in_sync"),
        ("two_leave", 77_498, "controller_takes_old_replica_offline"),
        ("withdrawn", 4_966, "admin_withdraws_request"),
        ("crashes", 4_990, "broker_crashes"),
        ("lost_reply", 3_656, "reply_to_registration_is_lost"),
        ("sessions", 29_732, "session_expires"),
    ],
)
def test_every_edge_of_a_move_with_one_fault_is_covered(name: str, edges: int, fired: str) -> None:
    family = MAP.families[name]
    bounds = {**MAP.small, **family.bounds}

    report = walk_edges(bounds, about=MAP, version=family.version, family=family)

    assert (report.verdict, report.complete) == (Verdict.HOLDS, True)
    assert report.covered == report.edges == edges
    assert report.fired[fired] > 0


@pytest.mark.parametrize(
    ("name", "states", "fired"),
    [
        ("deposed", 400, {"controller_node_is_deleted", "controller_resigns"}),
        # A broker whose session has expired obeys until it registers anew.
        ("sessions", 500, {"session_expires", "broker_reconnects", "controller_sees_broker_failure",
                           "controller_sees_broker_startup"}),
    ],
)  # fmt: skip
def test_a_large_family_is_walked_as_far_as_one_goes(
    name: str, states: int, fired: set[str]
) -> None:
    family = MAP.families[name]
    bounds = {**MAP.small, **family.bounds}

    report = walk_edges(bounds, states, about=MAP, version=family.version, family=family)

    assert report.verdict is Verdict.UNKNOWN
    assert report.covered == report.edges > 1_000
    assert fired <= set(report.fired)


def test_a_follower_cuts_what_its_leader_lacks_before_it_joins_the_isr() -> None:
    both = Lockstep({**MAP.small, "faults": 1}, about=MAP, version="2.3")
    for step in (
        Step("topic_is_created", (1, 0, 0)),
        Step("admin_requests_reassignment", (2, 0, 0)),
        Step("broker_runs_for_controller", (2,)),
        *[Step("controller_continues_event", (2,))] * 5,
        Step("leader_and_isr_arrives", (2, 1)),
        *[Step("leader_and_isr_arrives", (1, 1))] * 2,
        Step("leader_expands_isr", (1, 2)),
        Step("leader_appends", (1,)),
        Step("session_expires", (1,)),
        Step("broker_failure_is_handled", (2, 1)),
        Step("broker_reconnects", (1,)),
        Step("controller_continues_event", (2,)),
        Step("leader_and_isr_arrives", (2, 1)),
        Step("broker_startup_is_handled", (2, 1)),
        Step("leader_and_isr_arrives", (1, 1)),
    ):
        both.take(step)
    joins = Step("leader_expands_isr", (2, 1))

    assert both.world.why_not(joins) == "its log is the leader's"
    both.take(Step("follower_catches_up", (2, 1)))
    both.take(joins)
    assert both.world.replica(1).records == []


def test_a_move_that_does_not_wait_for_its_targets_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def at_once(steps: Reassigner, partition: TopicPartition, target: object) -> bool:
        return True

    monkeypatch.setattr(Reassigner, "caught_up", at_once)

    report = walk_edges(MAP.small, about=MAP)

    assert report.verdict is Verdict.BROKEN
    assert "as controller_begins_move, the two differ" in report.mismatches[0]


def test_two_partitions_move_in_one_request_and_another_follows_as_far_as_one_goes() -> None:
    family = MAP.families["two_moves"]

    report = walk_edges({**MAP.small, **family.bounds}, 200, about=MAP, family=family)

    assert report.verdict is Verdict.UNKNOWN
    assert report.covered == report.edges > 300
    assert {"admin_requests_two_reassignments", "controller_completes_other_reassignment"} <= set(
        report.fired
    )


def to_two_targets() -> Family:
    """Moves to two targets, once broker 1 is the controller and 2 and 3 are asked for."""
    family = MAP.families["two_targets"]
    elected = [("broker_runs_for_controller", (1,)), *[("controller_continues_event", (1,))] * 2]
    start = [Step(*one) for one in (*elected, ("admin_requests_reassignment", (2, 3, 0)))]
    return replace(family, start=(*family.start, *start))


@pytest.mark.parametrize(
    ("version", "edges"), [pytest.param("2.3", 3_129, marks=pytest.mark.deep), ("2.4", 2_979)]
)
def test_every_edge_of_a_move_to_two_targets_is_covered(version: str, edges: int) -> None:
    family = to_two_targets()

    report = walk_edges({**MAP.small, **family.bounds}, about=MAP, version=version, family=family)

    assert (report.verdict, report.complete) == (Verdict.HOLDS, True)
    assert (report.covered, report.edges, report.states) == (edges, edges, 785)


def of_two_that_leave() -> Family:
    """Brokers 1 and 2 are to leave: 3 is the controller, and the target, and in the ISR."""
    family, goes_on = MAP.families["two_leave"], ("controller_continues_event", (3,))
    start = (
        ("broker_runs_for_controller", (3,)), goes_on, goes_on,
        ("admin_requests_reassignment", (3, 0, 0)),
        ("controller_handles_reassignment", (3,)), goes_on, goes_on,
        ("leader_and_isr_arrives", (3, 1)),
        *[("leader_and_isr_arrives", (1, 1))] * 2, ("leader_expands_isr", (1, 3)),
        ("controller_handles_isr_change", (3,)),
    )  # fmt: skip
    return replace(family, start=(*family.start, *(Step(*one) for one in start)))


def test_of_two_replicas_that_leave_at_once_brokers_hear_in_one_round() -> None:
    family = of_two_that_leave()

    report = walk_edges({**MAP.small, **family.bounds}, 60, about=MAP, family=family)

    assert report.verdict is Verdict.UNKNOWN  # as far as it goes; --deep walks the whole family
    assert report.covered == report.edges > 100
    assert report.fired["controller_takes_old_replica_offline"] > 1
    assert report.fired["broker_stops_replica"] > 0


def test_a_walk_leaves_out_who_leaves_out_of_turn() -> None:
    family = MAP.families["two_leave"]

    fired: Counter[str] = Counter()
    for seed in range(6):
        fired.update(walk_part(MAP, family, seed, 60).fired)

    assert fired["controller_takes_old_replica_offline"] > 1


def test_a_controller_that_tells_of_each_that_leaves_at_once_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one_round = ReplicaMachine.handle

    async def rounds(machine: ReplicaMachine, replicas: Any, target: ReplicaState) -> None:
        for replica in sorted(replicas, key=lambda one: one.broker):
            await one_round(machine, [replica], target)

    monkeypatch.setattr(ReplicaMachine, "handle", rounds)
    family = of_two_that_leave()

    report = walk_edges({**MAP.small, **family.bounds}, about=MAP, family=family)

    assert report.verdict is Verdict.BROKEN
    assert "as controller_takes_old_replica_offline, the two differ" in report.mismatches[0]


def test_lists_of_two_among_three_brokers_are_walked_in_a_family_alone() -> None:
    with pytest.raises(ValueError, match="the family two_targets begins with one replica"):
        walk_edges({**MAP.small, "brokers": 3, "replicas": 2}, about=MAP)


def test_faults_are_walked_in_a_family_alone() -> None:
    with pytest.raises(ValueError, match="one at a time: write --family NAME, one of leader"):
        walk_edges({**MAP.small, "faults": 1}, about=MAP)

    assert walk_edges(
        {**MAP.small, "faults": 1}, 1, about=MAP, family=MAP.families["withdrawn"]
    ).covered


def test_what_may_not_be_done_says_what_is_missing() -> None:
    world = stepped_cluster(2, WRITES)

    with pytest.raises(StepNotPossible, match="it is in the middle of an event"):
        world.do(Step("controller_continues_event", (1,)))
    assert world.why_not(Step("it_rains", ())) == "it_rains is the name of a step"
    with pytest.raises(ValueError, match=r"as since 2\.3"):
        walk_edges(MAP.small, about=MAP, version="1.1")


def test_a_controller_writes_nothing_twice_when_it_is_taken_up_again() -> None:
    world = in_the_middle_of_a_move()

    steps_of(world, "controller_continues_event", "controller_continues_event")

    state = world.state()
    assert state is not None
    assert (state.leader_epoch, state.zk_version) == (1, 1)
    assert world.must_wait(1) is None


def test_a_world_is_put_back_into_the_middle_of_a_move() -> None:
    world = in_the_middle_of_a_move()
    middle = world.snapshot()
    steps_of(world, "controller_continues_event", "controller_continues_event")
    end = MAP.facts(world)

    world.restore(middle)
    before = task_of_controller(world.controllers[1])
    steps_of(world, "controller_continues_event", "controller_continues_event")

    assert (before, world.must_wait(1)) == ("assigning", None)
    assert MAP.facts(world) == end


def test_a_walk_through_a_part_comes_to_the_end_of_a_move_and_notices_what_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    family = MAP.families["controller_writes"]

    def fired() -> Counter[str]:
        found: Counter[str] = Counter()
        for seed in range(24):
            found.update(walk_part(MAP, family, seed, 80).fired)
        return found

    assert fired()["controller_writes_target_replicas"]

    async def stays(*_: object) -> None:
        return None

    monkeypatch.setattr(Reassigner, "_stop", stays)

    with pytest.raises(Mismatch, match="the two differ"):
        fired()


def test_a_request_that_is_withdrawn_once_it_was_read_is_gone_on_with_by_both() -> None:
    """Up to 2.3 it is read with the cluster, and acted on from memory."""
    both = Lockstep({**MAP.small, "faults": 1}, about=MAP, version="2.3")
    for step in (
        Step("topic_is_created", (1, 0, 0)),
        Step("admin_requests_reassignment", (2, 0, 0)),
        Step("broker_runs_for_controller", (1,)),
        *[Step("controller_continues_event", (1,))] * 2,
        Step("admin_withdraws_request", ()),
        *[Step("controller_continues_event", (1,))] * 2,
    ):
        both.take(step)

    assert both.last is not None
    assert both.last[0] == "controller_writes_union_of_replicas"
    assert both.world.registered_lists() == {0: (2, 1)}
