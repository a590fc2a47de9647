"""The steps of the world: what each does, and what it says when it cannot be taken."""

from __future__ import annotations

import pytest

from impl import StepNotPossible
from impl.world.replicas import Replicas
from tests.impl.taking import fetch, shrink, take, with_leader


def test_a_record_is_committed_once_every_isr_member_asks_beyond_it() -> None:
    world = with_leader(1)
    take(world, "leader_appends 1")
    for follower in (2, 3):
        fetch(world, follower, 1)
        with pytest.raises(StepNotPossible):
            take(world, "leader_advances_hw 1")

    take(world, "follower_asks_records 2", "leader_answers_fetch 1 2")
    take(world, "follower_asks_records 3", "leader_answers_fetch 1 3")
    take(world, "leader_advances_hw 1")

    seen = world.observe()["brokers"]
    assert [seen[broker]["hw"] for broker in (1, 2, 3)] == [1, 0, 0]
    assert seen[3]["log"] == [[0, 1]]


def test_a_deposed_leader_cannot_shrink_the_isr_and_does_not_notice() -> None:
    world = with_leader(1)
    take(world, "leader_appends 1", "controller_elects_leader 1 2")
    before = world.snapshot()

    with pytest.raises(StepNotPossible, match="cached zkVersion is the registered one — false"):
        take(world, "leader_shrinks_isr 1 3")
    take(world, "leader_shrink_is_refused 1 3", "leader_reads_isr_back 1")

    assert world.snapshot() == before


def test_a_leader_counts_on_a_smaller_isr_only_when_it_hears_of_it() -> None:
    world = with_leader(1)
    take(world, "leader_appends 1", "leader_shrinks_isr 1 2")

    registered = world.observe()["zookeeper"]["state"]
    unheard = world.observe()["brokers"][1]
    take(world, "leader_learns_isr_is_written 1")
    heard = world.observe()["brokers"][1]

    assert (registered["isr"], registered["version"]) == ([1, 3], 2)
    assert (unheard["isr"], unheard["zk_version"]) == ([1, 2, 3], 1)
    assert (heard["isr"], heard["zk_version"], heard["isr_write"]) == ([1, 3], 2, None)


@pytest.mark.parametrize(
    "step",
    [
        "leader_appends 1",
        "leader_advances_hw 1",
        "leader_answers_fetch 1 3",
        "leader_answers_epoch 1 2",
        "leader_shrinks_isr 1 3",
        "leader_and_isr_arrives 1 2 1",
    ],
)
def test_all_else_about_a_partition_waits_until_its_isr_write_is_answered(step: str) -> None:
    world = with_leader(1)
    take(world, "leader_appends 1", "follower_asks_records 3")
    fetch(world, 2, 1)
    take(world, "controller_reads_partition 1", "controller_elects_leader 1 1")
    take(world, "leader_and_isr_arrives 2 2 1", "follower_asks_epoch 2")
    take(world, "leader_shrink_is_refused 1 3")

    with pytest.raises(StepNotPossible, match="no ISR write of the broker waits for its answer"):
        take(world, step)


def test_a_request_that_is_refused_for_its_epoch_does_not_wait_for_the_lock() -> None:
    world = with_leader(1)
    take(world, "controller_informs 1 1", "leader_appends 1", "leader_shrinks_isr 1 2")

    take(world, "leader_and_isr_arrives 1 1 1")

    assert world.observe()["network"]["leader_and_isr"] == []


def test_a_leader_whose_answer_is_lost_finds_its_own_write() -> None:
    """KAFKA-1382: the write that is sent again is refused, and what is registered is the first."""
    world = with_leader(1)
    take(world, "leader_appends 1", "leader_shrinks_isr 1 2")

    take(world, "isr_answer_is_lost 1", "leader_reads_isr_back 1")

    seen = world.observe()["brokers"][1]
    assert (seen["isr"], seen["zk_version"]) == ([1, 3], 2)


def test_a_write_is_given_up_with_its_session_and_found_at_the_next_attempt() -> None:
    world = with_leader(1)
    take(world, "leader_appends 1", "leader_shrinks_isr 1 2", "isr_answer_is_lost 1")
    take(world, "session_expires 1", "leader_gives_up_isr_write 1", "broker_reconnects 1")
    stuck = world.observe()["brokers"][1]

    take(world, "leader_shrink_is_refused 1 2", "leader_reads_isr_back 1")

    seen = world.observe()["brokers"][1]
    assert (stuck["isr"], stuck["zk_version"], stuck["isr_write"]) == ([1, 2, 3], 1, None)
    assert (seen["isr"], seen["zk_version"]) == ([1, 3], 2)


def test_nothing_is_read_back_without_a_session() -> None:
    world = with_leader(1)
    take(world, "leader_appends 1", "leader_shrinks_isr 1 2", "isr_answer_is_lost 1")
    take(world, "session_expires 1")

    with pytest.raises(StepNotPossible, match="ZooKeeper session is alive — false"):
        take(world, "leader_reads_isr_back 1")


def test_an_answer_that_is_under_way_outlives_the_session() -> None:
    world = with_leader(1)
    take(world, "leader_appends 1", "leader_shrinks_isr 1 2", "session_expires 1")

    take(world, "leader_learns_isr_is_written 1")

    assert world.observe()["brokers"][1]["isr"] == [1, 3]


def test_a_follower_cuts_what_the_new_leader_never_had() -> None:
    world = with_leader(1)
    take(world, "leader_appends 1", "controller_elects_leader 1 2")
    take(world, *(f"leader_and_isr_arrives {broker} 2 1" for broker in (1, 2)))

    take(world, "follower_asks_epoch 1", "leader_answers_epoch 2 1", "follower_truncates 1 2")

    seen = world.observe()["brokers"][1]
    assert (seen["log"], seen["truncating"]) == ([], False)


def test_an_answer_for_an_older_epoch_is_ignored() -> None:
    world = with_leader(1)
    take(world, "leader_appends 1", "follower_asks_records 3", "leader_answers_fetch 1 3")
    take(world, "controller_elects_leader 1 2", "leader_and_isr_arrives 3 2 1")

    take(world, "follower_appends 3 1")

    assert world.observe()["brokers"][3]["log"] == []


def test_a_replica_below_the_epochs_start_may_not_join() -> None:
    """KAFKA-7128: reaching the high watermark alone is not enough."""
    world = with_leader(1)
    take(world, "leader_appends 1")
    shrink(world, 1, 3)
    fetch(world, 2, 1)
    take(world, "controller_reads_partition 1", "controller_elects_leader 1 2")
    take(world, *(f"leader_and_isr_arrives {broker} 2 1" for broker in (1, 2, 3)))
    take(world, "follower_asks_records 3", "leader_answers_fetch 2 3")

    with pytest.raises(StepNotPossible, match="the start of the leader's epoch"):
        take(world, "leader_expands_isr 2 3")


def test_a_crash_cuts_connections_but_not_the_answers_on_their_way() -> None:
    world = with_leader(1)
    take(world, "follower_asks_records 2", "leader_answers_fetch 1 2", "follower_asks_records 3")

    take(world, "broker_crashes 1")

    slots = world.observe()["network"]["fetch"]
    assert (slots[2][1]["slot"], slots[3][1]["slot"]) == ("answered_records", "idle")


def test_a_restart_finds_its_log_and_its_checkpoint_and_nothing_else() -> None:
    world = with_leader(1)
    take(world, "leader_appends 1")
    shrink(world, 1, 2)
    shrink(world, 1, 3)
    take(world, "leader_advances_hw 1", "broker_checkpoints_hw 1")

    take(world, "broker_crashes 1", "session_expires 1", "broker_starts 1")

    seen = world.observe()["brokers"][1]
    assert (seen["log"], seen["epoch_cache"], seen["hw"]) == ([[0, 1]], [[1, 0]], 1)
    assert (seen["role"], seen["leader_epoch"], seen["seen_controller_epoch"]) == ("none", -1, 0)
    assert seen["believes"] is None


def test_a_producer_with_acks_all_hears_when_the_high_watermark_has_passed_its_record() -> None:
    world = with_leader(1)
    take(world, "leader_appends_for_isr 1")
    with pytest.raises(StepNotPossible, match="the high watermark has passed the record — false"):
        take(world, "leader_acknowledges_for_isr 1 0")
    shrink(world, 1, 2)
    shrink(world, 1, 3)

    take(world, "leader_advances_hw 1", "leader_acknowledges_for_isr 1 0")


def test_a_leader_answers_for_records_of_its_own_epoch_only() -> None:
    world = with_leader(1)
    take(world, "leader_appends 1")
    take(world, "controller_elects_leader 1 1", "leader_and_isr_arrives 1 2 1")

    with pytest.raises(StepNotPossible, match="the record is of the leader's own epoch — false"):
        take(world, "leader_acknowledges 1 0")
    with pytest.raises(StepNotPossible, match="the record is in the leader's log — false"):
        take(world, "leader_acknowledges 1 1")


def test_consumers_read_below_the_high_watermark() -> None:
    world = with_leader(1)
    take(world, "leader_appends 1")
    with pytest.raises(StepNotPossible, match="the offset is below the high watermark — false"):
        take(world, "consumer_reads 1 0")
    shrink(world, 1, 2)
    shrink(world, 1, 3)

    take(world, "leader_advances_hw 1", "consumer_reads 1 0")


def test_acks_all_is_refused_while_the_isr_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Replicas, "min_isr", 3)
    world = with_leader(1)
    take(world, "leader_appends_for_isr 1")

    shrink(world, 1, 2)

    with pytest.raises(StepNotPossible, match=r"min\.insync\.replicas members — false"):
        take(world, "leader_appends_for_isr 1")
    take(world, "leader_appends 1")
