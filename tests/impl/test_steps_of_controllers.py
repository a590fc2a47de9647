"""Steps of the simulated cluster: registrations, the controllership of controller, elections."""

from __future__ import annotations

import pytest

from impl import Step, StepNotPossible, World
from tests.impl.taking import (
    ELECT_CONTROLLER,
    replace_session,
    shrink,
    take,
    with_controller,
    with_leader,
)


def test_a_new_world_is_as_the_contract_says() -> None:
    seen = World().observe()

    assert seen["zookeeper"]["controller"] is None
    assert seen["zookeeper"]["controller_epoch"] == seen["zookeeper"]["epoch_version"] == 0
    assert seen["zookeeper"]["state"] == {
        "leader": -1,
        "leader_epoch": 0,
        "isr": [1, 2, 3],
        "controller_epoch": 0,
        "version": 0,
    }
    assert seen["zookeeper"]["registered"] == [1, 2, 3]
    assert all(broker["up"] and broker["session_alive"] for broker in seen["brokers"].values())
    assert {broker["leader_epoch"] for broker in seen["brokers"].values()} == {-1}
    assert seen["network"]["leader_and_isr"] == []


def test_of_two_candidates_the_slower_one_learns_that_it_lost() -> None:
    world = World()

    take(world, "controller_reads_epoch 1", "controller_reads_epoch 2")
    take(world, "controller_registers 2", "controller_registers 1")
    take(world, "controller_learns_outcome 1", "controller_learns_outcome 2")

    seen = world.observe()
    assert [seen["brokers"][broker]["believes"] for broker in (1, 2, 3)] == [None, 1, None]
    assert seen["brokers"][1]["controller"]["read"] is None


def test_a_lost_reply_does_not_lose_the_controllership() -> None:
    world = World()

    take(world, "controller_reads_epoch 1", "controller_registers 1")
    take(world, "controller_reply_is_lost 1", "controller_checks_outcome 1")

    assert world.observe()["brokers"][1]["believes"] == 1


def test_a_lost_reply_after_the_session_is_gone_does() -> None:
    world = World()

    take(world, "controller_reads_epoch 1", "controller_registers 1", "controller_reply_is_lost 1")
    take(world, "session_expires 1", "controller_checks_outcome 1")

    assert world.observe()["brokers"][1]["believes"] is None


def test_a_deposed_controller_resigns_when_its_write_is_fenced() -> None:
    world = with_controller(1)
    take(world, "controller_node_is_deleted")
    take(world, *(text.format(2) for text in ELECT_CONTROLLER))
    before = world.observe()["zookeeper"]

    take(world, "controller_elects_leader 1 2")

    assert world.observe()["zookeeper"] == before
    assert world.observe()["brokers"][1]["believes"] is None
    assert world.observe()["brokers"][2]["believes"] == 2


def test_a_controller_without_a_session_cannot_write_at_all() -> None:
    world = with_controller(1)

    take(world, "session_expires 1")

    refusal = world.why_not(Step("controller_elects_leader", (1, 2)))
    assert refusal == "the broker's ZooKeeper session is alive"


def test_a_controller_whose_state_is_old_drops_what_it_cached() -> None:
    world = with_leader(2)
    take(world, "leader_appends 2", "leader_shrinks_isr 2 3")

    take(world, "controller_elects_leader 1 1")

    seen = world.observe()
    assert seen["brokers"][1]["controller"]["cached"] is None
    assert seen["brokers"][1]["believes"] == 1
    assert seen["zookeeper"]["state"]["leader"] == 2


def test_an_election_drops_the_dead_from_the_isr_and_tells_the_live() -> None:
    world = with_leader(3)
    take(world, "broker_crashes 3", "session_expires 3", "controller_reads_partition 1")

    take(world, "controller_elects_leader 1 2")

    seen = world.observe()
    state = seen["zookeeper"]["state"]
    assert (state["leader"], state["leader_epoch"], state["isr"]) == (2, 2, [1, 2])
    assert [request["target"] for request in seen["network"]["leader_and_isr"]] == [1, 2]


def test_no_request_goes_to_a_broker_that_registered_anew_since_the_read() -> None:
    world = with_controller()
    replace_session(world, 3)

    take(world, "controller_elects_leader 1 1")

    assert sorted(world.network.leader_and_isr) == [(1, 1, 1), (2, 1, 1)]


def test_requests_die_with_the_registration_they_were_for() -> None:
    world = with_controller()
    take(world, "controller_elects_leader 1 1")

    take(world, "session_expires 2")
    still_there = (2, 1, 1) in world.network.leader_and_isr
    take(world, "broker_reconnects 2", "broker_crashes 3")

    assert still_there
    assert sorted(world.network.leader_and_isr) == [(1, 1, 1)]


def test_the_last_isr_member_is_kept_and_leads_no_more() -> None:
    world = with_leader(2)
    take(world, "leader_appends 2")
    shrink(world, 2, 1)
    shrink(world, 2, 3)
    take(world, "broker_crashes 2", "session_expires 2", "controller_reads_partition 1")

    take(world, "controller_removes_replica 1 2")

    state = world.observe()["zookeeper"]["state"]
    assert (state["leader"], state["leader_epoch"], state["isr"]) == (-1, 2, [2])
    with pytest.raises(StepNotPossible, match="the last member stays"):
        take(world, "controller_removes_replica 1 2")


def test_the_assignment_order_strategy_allows_one_candidate() -> None:
    world = World(strategy="assignment order")
    take(world, *(text.format(1) for text in ELECT_CONTROLLER))

    candidates = [step for step in world.enabled() if step.name == "controller_elects_leader"]

    assert candidates == [Step("controller_elects_leader", (1, 1))]
    with pytest.raises(StepNotPossible, match="the election strategy allows the candidate"):
        take(world, "controller_elects_leader 1 2")
