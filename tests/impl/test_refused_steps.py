"""What a step is refused for, and what is no step or no world at all."""

from __future__ import annotations

import pytest

from impl.sim.simulation import Step, StepNotPossible, by_name
from impl.world.candidates import LEADS
from impl.world.partition_simulator import PartitionSimulator
from impl.world.partition_steps import KINDS, partition_cluster
from tests.impl.grid import grid

REASONS = {
    "broker_checkpoints_hw": 2,
    "broker_crashes": 1,
    "broker_reconnects": 2,
    "broker_starts": 2,
    "consumer_reads": 2,
    "controller_checks_outcome": 1,
    "controller_elects_leader": 5,
    "controller_issues_leader_and_isr": 5,
    "controller_learns_outcome": 1,
    "controller_node_is_deleted": 1,
    "controller_reads_epoch": 5,
    "controller_reads_partition": 2,
    "controller_registers": 3,
    "controller_removes_replica": 6,
    "controller_reply_to_registration_is_lost": 1,
    "controller_resigns": 2,
    "fetch_is_lost": 1,
    "follower_appends": 1,
    "follower_sends_epoch_request": 4,
    "follower_sends_fetch": 4,
    "follower_truncates": 1,
    "isr_answer_is_lost": 1,
    "leader_acknowledges": 1,
    "leader_acknowledges_acks_all": 2,
    "leader_advances_hw": 3,
    "leader_and_isr_arrives": 2,
    "leader_and_isr_is_lost": 0,
    "leader_answers_epoch": 3,
    "leader_answers_fetch": 3,
    "leader_answers_fetch_in_session": 5,
    "leader_appends": 2,
    "leader_appends_acks_all": 2,
    "leader_expand_is_refused": 6,
    "leader_expands_isr": 6,
    "leader_gives_up_isr_write": 2,
    "leader_learns_isr_is_written": 1,
    "leader_reads_isr_back": 2,
    "leader_shrink_is_refused": 6,
    "leader_shrinks_isr": 6,
    "session_expires": 1,
}
"""How many conditions of each step can be the first that fails, where a candidate exists."""


def test_every_condition_of_every_step_is_once_the_first_to_fail() -> None:
    found: dict[str, set[str]] = {name: set() for name in KINDS}

    for seed in range(12):
        simulator = PartitionSimulator(seed)
        for _ in range(300):
            simulator.advance()
            world = simulator.world
            for name, kind in KINDS.items():
                for args in grid(world, kind):
                    reason = world.why_not(Step(name, args))
                    if reason is not None:
                        found[name].add(reason)

    assert {name: len(reasons) for name, reasons in found.items()} == REASONS


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (Step("leader_apends", (1,)), "did you mean leader_appends"),
        (Step("leader_appends", ()), r"the arguments are \(broker\)"),
        (Step("leader_appends", (4,)), "the broker is one of 1 to 3"),
        (Step("consumer_reads", (9, 0)), "the broker is one of 1 to 3"),
        (Step("follower_appends", (2, 4)), "the leader is one of 1 to 3"),
        (Step("follower_appends", (2, 2)), "is on its way to the follower"),
        (Step("leader_shrinks_isr", (2, 2)), LEADS),
        (Step("leader_and_isr_arrives", (1, 9, 9)), "such a LeaderAndIsr request is in flight"),
        (Step("leader_and_isr_is_lost", (9, 9, 9)), "the broker is one of 1 to 3"),
        (Step("leader_and_isr_is_lost", (3, 9, 9)), "such a LeaderAndIsr request is in flight"),
    ],
)
def test_a_step_that_makes_no_sense_is_refused_with_what_would(step: Step, reason: str) -> None:
    with pytest.raises(StepNotPossible, match=reason):
        partition_cluster().do(step)


@pytest.mark.parametrize("brokers", [0, -1, 10])
def test_a_world_of_a_senseless_size_is_refused(brokers: int) -> None:
    with pytest.raises(ValueError, match="1 to 9 brokers"):
        partition_cluster(brokers)


def test_two_steps_of_one_name_are_refused() -> None:
    [one, *_] = KINDS.values()

    with pytest.raises(ValueError, match=f"two steps are named {one.name}"):
        by_name(KINDS.values(), [one])
