"""The steps of the world: what each does, and what it says when it cannot be taken."""

from __future__ import annotations

import pytest

from impl import KINDS, Simulator, Step, StepNotPossible, World
from impl.broker import Partition


def take(world: World, *steps: str) -> None:
    """Take steps written as ``name 1 2``."""
    for text in steps:
        name, *args = text.split()
        world.do(Step(name, tuple(int(value) for value in args)))


ELECT_CONTROLLER = (
    "controller_reads_epoch {0}",
    "controller_registers {0}",
    "controller_learns_outcome {0}",
    "controller_reads_partition {0}",
)


def with_controller(broker: int = 1, brokers: int = 3) -> World:
    world = World(brokers)
    take(world, *(text.format(broker) for text in ELECT_CONTROLLER))
    return world


def with_leader(leader: int = 1) -> World:
    """Broker 1 is the controller; everybody knows that ``leader`` leads epoch 1."""
    world = with_controller()
    take(world, f"controller_elects_leader 1 {leader}")
    take(world, *(f"leader_and_isr_arrives {broker} 1 1" for broker in world.brokers))
    return world


def fetch(world: World, follower: int, leader: int) -> None:
    take(
        world,
        f"follower_asks_records {follower}",
        f"leader_answers_fetch {leader} {follower}",
        f"follower_appends {follower} {leader}",
    )


def shrink(world: World, leader: int, replica: int) -> None:
    """The leader drops a replica, and hears that it is done."""
    take(world, f"leader_shrinks_isr {leader} {replica}", f"leader_learns_isr_is_written {leader}")


def replace_session(world: World, broker: int) -> None:
    take(world, f"session_expires {broker}", f"broker_reconnects {broker}")


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


def test_a_lost_reply_does_not_lose_the_office() -> None:
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


def test_the_assignment_order_strategy_allows_one_candidate() -> None:
    world = World(strategy="assignment order")
    take(world, *(text.format(1) for text in ELECT_CONTROLLER))

    candidates = [step for step in world.enabled() if step.name == "controller_elects_leader"]

    assert candidates == [Step("controller_elects_leader", (1, 1))]
    with pytest.raises(StepNotPossible, match="the election strategy allows the candidate"):
        take(world, "controller_elects_leader 1 2")


def test_a_producer_with_acks_all_hears_when_the_high_watermark_has_passed_its_record() -> None:
    world = with_leader(1)
    take(world, "leader_appends_for_isr 1")
    with pytest.raises(StepNotPossible, match="the high watermark has passed the record — false"):
        take(world, "leader_acknowledges_for_isr 1 0")
    shrink(world, 1, 2)
    shrink(world, 1, 3)

    take(world, "leader_advances_hw 1", "leader_acknowledges_for_isr 1 0")

    assert world.told.acknowledged == {0}


def test_a_producer_with_acks_1_hears_at_once_and_one_with_acks_all_does_not() -> None:
    world = with_leader(1)
    take(world, "leader_appends 1", "leader_appends_for_isr 1")

    take(world, "leader_acknowledges 1 0", "leader_acknowledges 1 1")

    assert world.told.acknowledged == {0}


def test_a_leader_answers_for_records_of_its_own_epoch_only() -> None:
    world = with_leader(1)
    take(world, "leader_appends 1")
    take(world, "controller_elects_leader 1 1", "leader_and_isr_arrives 1 2 1")

    with pytest.raises(StepNotPossible, match="the record is of the leader's own epoch — false"):
        take(world, "leader_acknowledges 1 0")
    with pytest.raises(StepNotPossible, match="the record is in the leader's log — false"):
        take(world, "leader_acknowledges 1 1")


def test_consumers_read_below_the_high_watermark_and_remember_what_they_read() -> None:
    world = with_leader(1)
    take(world, "leader_appends 1")
    with pytest.raises(StepNotPossible, match="the offset is below the high watermark — false"):
        take(world, "consumer_reads 1 0")
    shrink(world, 1, 2)
    shrink(world, 1, 3)
    take(world, "leader_advances_hw 1", "consumer_reads 1 0", "consumer_reads 1 0")

    before = world.snapshot()
    world.told.reads(0, (9, 9))

    assert (world.told.read, world.told.differed) == ({0: (0, 1)}, {0})
    world.restore(before)
    assert world.told.differed == set()


def test_acks_all_is_refused_while_the_isr_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Partition, "min_insync_replicas", 3)
    world = with_leader(1)
    take(world, "leader_appends_for_isr 1")

    shrink(world, 1, 2)

    with pytest.raises(StepNotPossible, match=r"min\.insync\.replicas members — false"):
        take(world, "leader_appends_for_isr 1")
    take(world, "leader_appends 1")


REASONS = {
    "broker_checkpoints_hw": 2,
    "broker_crashes": 1,
    "broker_reconnects": 2,
    "broker_starts": 2,
    "consumer_reads": 2,
    "controller_checks_outcome": 1,
    "controller_elects_leader": 5,
    "controller_informs": 5,
    "controller_learns_outcome": 1,
    "controller_node_is_deleted": 1,
    "controller_reads_epoch": 5,
    "controller_reads_partition": 2,
    "controller_registers": 3,
    "controller_removes_replica": 6,
    "controller_reply_is_lost": 1,
    "controller_resigns": 2,
    "fetch_is_lost": 1,
    "follower_appends": 1,
    "follower_asks_epoch": 3,
    "follower_asks_records": 3,
    "follower_truncates": 1,
    "isr_answer_is_lost": 1,
    "leader_acknowledges": 1,
    "leader_acknowledges_for_isr": 2,
    "leader_advances_hw": 3,
    "leader_and_isr_arrives": 2,
    "leader_and_isr_is_lost": 0,
    "leader_answers_epoch": 3,
    "leader_answers_fetch": 3,
    "leader_appends": 2,
    "leader_appends_for_isr": 2,
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
        simulator = Simulator(seed)
        for _ in range(300):
            simulator.advance()
            world = simulator.world
            for name, kind in KINDS.items():
                for args in kind.candidates(world):
                    reason = world.why_not(Step(name, args))
                    if reason is not None:
                        found[name].add(reason)

    assert {name: len(reasons) for name, reasons in found.items()} == REASONS


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (Step("leader_apends", (1,)), "did you mean leader_appends"),
        (Step("leader_appends", ()), r"the arguments are \(broker\)"),
        (Step("leader_appends", (4,)), "among 1 to 3"),
        (Step("follower_appends", (2, 2)), "two different ones"),
        (Step("leader_and_isr_arrives", (1, 9, 9)), "such a LeaderAndIsr request is in flight"),
        (Step("leader_and_isr_is_lost", (9, 9, 9)), "such a LeaderAndIsr request is in flight"),
    ],
)
def test_a_step_that_makes_no_sense_is_refused_with_what_would(step: Step, reason: str) -> None:
    with pytest.raises(StepNotPossible, match=reason):
        World().do(step)


@pytest.mark.parametrize("brokers", [0, -1, 10])
def test_a_world_of_a_senseless_size_is_refused(brokers: int) -> None:
    with pytest.raises(ValueError, match="1 to 9 brokers"):
        World(brokers)


def test_an_unknown_strategy_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="any, assignment order"):
        World(strategy="best")
