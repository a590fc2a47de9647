"""A whole cluster under one scheduler: it repeats, it loses nothing, and its claims have teeth."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from impl.core import event_controller
from impl.core.replica_manager import ReplicaManager
from impl.releases import DEFAULT, PRESETS, Release
from impl.sim.simulation import Step, StepNotPossible
from impl.sim.simulator import SWARM
from impl.world.whole_cluster import messages
from impl.world.whole_cluster.at_rest import (
    bounce_was_missed,
    is_at_rest,
    is_never_finished,
    leader_of,
)
from impl.world.whole_cluster.claims import ClusterClaimBroken, ClusterClaims
from impl.world.whole_cluster.observations import records_in
from impl.world.whole_cluster.runs import (
    WHOLE_CLUSTER_PROFILES,
    ClusterSimulator,
    run_whole_cluster,
)
from impl.world.whole_cluster.steps import WHOLE_CLUSTER_STEPS, whole_cluster
from impl.world.whole_cluster.whole_cluster import WholeCluster
from impl.znodes import TopicPartition, paths
from impl.zookeeper.port import wait

REPOSITORY = Path(__file__).parents[2]


RESTING = [*((one, DEFAULT, 3) for one in (*WHOLE_CLUSTER_PROFILES, SWARM)), ("requests", "2.7", 0)]


@pytest.mark.parametrize(("faults", "release", "seed"), RESTING)
def test_a_cluster_comes_to_rest_with_every_acknowledged_record(
    faults: str, release: str, seed: int
) -> None:
    run = run_whole_cluster(seed, 700, faults, release=release)

    assert (run.broken, run.at_rest) == ("", True)
    assert run.acknowledged > 10


@pytest.mark.parametrize("release", [*PRESETS, "2.8"])  # whose followers truncate on fetch
def test_every_release_keeps_its_records(release: str) -> None:
    faults = "operators" if Release.of(release).since("2.2") else "lossy"

    run = run_whole_cluster(3, 500, faults, release=release)

    assert (run.broken, run.at_rest) == ("", True)
    assert run.acknowledged > 20


def test_two_fast_elections_lose_records_up_to_1_1(monkeypatch: pytest.MonkeyPatch) -> None:
    """A leader that never had a follower's last epoch tells it where a later one begins, and what
    lies before stays (KAFKA-6361; KIP-279 mends it in 2.0). Those offsets alone are excused."""
    excused = run_whole_cluster(50, 1000, "failures", release="1.1")
    monkeypatch.setattr(messages, "kept_of_others", lambda *_: [])

    lost = run_whole_cluster(50, 1000, "failures", release="1.1")

    assert (excused.broken, excused.at_rest) == ("", True)
    assert "record 50 was read at offset 8 of t0-2, where record 58 is" in lost.broken


@pytest.mark.parametrize(
    ("faults", "release", "seed"), [("deposed", "2.7", 100), ("denials", "2.8", 104)]
)
def test_an_unclean_election_and_a_refused_answer_are_what_they_are(
    faults: str, release: str, seed: int
) -> None:
    """Whoever is elected by an administrator may lack what was committed; and where ZooKeeper
    refuses a controller after it wrote an ISR, that was asked for though it answers an error."""
    run = run_whole_cluster(seed, 1000, faults, release=release)

    assert (run.broken, run.at_rest) == ("", True)


@pytest.mark.parametrize(("release", "seed"), [("2.4", 2), ("2.7", 0), ("2.7", 2)])
def test_a_move_of_a_topic_that_was_created_again_is_asked_for_in_vain(
    release: str, seed: int
) -> None:
    """Its entry stays until the next controller, as another target than its own was reached."""
    run = run_whole_cluster(seed, 900, "operators", release=release)

    assert (run.broken, run.at_rest) == ("", True)


WAITS = (
    ("2.7", 4, "everything", 0, 900),
    ("0.10.2", 4, "everything", 3, 500),
    ("2.7", 3, "requests", 1, 700),
    ("2.3", 4, "everything", 17, 700),
    ("2.7", 3, "requests", 9, 700),
)
"""Release, brokers, faults, seed and steps of runs that end where Kafka does no more."""


@pytest.mark.parametrize(("release", "brokers", "faults", "seed", "steps"), WAITS)
def test_what_kafka_leaves_as_it_is_is_named(
    release: str, brokers: int, faults: str, seed: int, steps: int
) -> None:
    """A leaderless move of a topic that is deleted; a bounce up to 2.1; a StopReplica that was
    lost; a move of a topic that was deleted and created again."""
    run = run_whole_cluster(seed, steps, faults, brokers, release=release)
    world = settled(release, brokers, faults, seed, steps)

    assert (run.broken, run.at_rest) == ("", True)
    assert (
        world.leftover_replicas.left
        or paths.REASSIGN_PARTITIONS in world.zookeeper.nodes
        or any(is_never_finished(world, one) for one in every_partition(world))
    )


def test_a_broker_that_takes_up_no_follower_is_no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is excused is what shows Kafka's reason for it, and nothing else."""

    async def nobody(self: ReplicaManager, *_: object) -> None:
        """No fetcher is started."""

    monkeypatch.setattr(ReplicaManager, "_make_followers", nobody)

    assert not run_whole_cluster(3, 300, "none", settle=True).at_rest


def every_partition(world: WholeCluster) -> list[TopicPartition]:
    return [
        TopicPartition(f"t{topic}", number)
        for topic in range(world.topics)
        for number in range(world.partitions)
    ]


def settled(release: str, brokers: int, faults: str, seed: int, steps: int) -> WholeCluster:
    """The world of a run, left alone until it is at rest."""
    simulator = ClusterSimulator(
        world := whole_cluster(brokers, release=release, seed=seed), seed, faults
    )
    for _ in range(steps):
        simulator.advance()
    simulator.stop_faults()
    for _ in range(6_000):
        if is_at_rest(world):
            break
        simulator.advance()
    return world


def test_a_bounce_is_overlooked_up_to_2_1_and_not_since() -> None:
    """KIP-380: a broker that goes and comes before the controller looks is sent nothing."""
    for release, overlooked in (("2.1", True), ("2.3", False)):
        found = False
        for seed in range(1, 9):
            world = settled(release, 3, "operators", seed, 800)
            assert is_at_rest(world)
            found = any(bounce_was_missed(world, one) for one in every_partition(world))
            if found:
                break
        assert found == overlooked


def test_a_deletion_that_waits_for_a_move_refused_at_a_failover_waits_for_a_broker() -> None:
    """The topic is ineligible because it is moved; the move is refused because it is deleted.

    Nothing but a broker that starts makes it eligible again (2.3).
    """
    simulator = ClusterSimulator(world := whole_cluster(seed=18), 18, "operators")
    for _ in range(700):
        simulator.advance()
    simulator.stop_faults()
    for _ in range(1800):
        simulator.advance()
    waits = wait(world.admin.deletions())
    assert not wait(world.admin.reassignments())

    world.do(Step("broker_shuts_down", (3,)))
    for _ in range(1800):
        simulator.advance()

    assert (waits, wait(world.admin.deletions())) == (["t1"], [])


def test_an_offset_by_time_is_asked_of_a_disk_that_fails_before_anybody_has_noticed() -> None:
    """An index answers where every record is older: what the log would say cannot be read."""
    simulator = ClusterSimulator(world := whole_cluster(seed=1, directories=2), 1, "clients")
    for _ in range(250):
        simulator.advance()
    world.clock += 1_000
    world.do(failure := next(one for one in world.enabled() if one.name == "log_directory_fails"))

    asked = [one for one in world.enabled() if one.name == "client_asks"]
    for one in asked:
        world.take(one)

    assert any(one.args[0] == failure.args[0] for one in asked)


LONG = (
    (DEFAULT, 300, "clients"),
    ("2.7", 900, "everything"), (DEFAULT, 900, "everything"),
    ("2.7", 900, "directories"), (DEFAULT, 900, "denials"), (DEFAULT, 900, "moves"),
    ("2.7", 900, "retention"), (DEFAULT, 900, "power"), ("2.8", 900, "disks"),
    ("2.7", 900, "crashes"), ("2.7", 900, "no-deletion"), ("2.7", 900, "unclean"),
    ("2.7", 900, "deposed"), ("2.7", 900, "races"), ("2.7", 2_000, "requests"),
)  # fmt: skip
"""Release, steps and faults of runs in which everything happens that may."""


def test_long_runs_break_no_claim_and_take_every_step() -> None:
    taken, broken = set[str](), dict[str, str]()
    for seed in range(2):
        for release, steps, faults in LONG:
            run = run_whole_cluster(seed, steps, faults, release=release, settle=False)
            taken |= {name for name, times in run.taken.items() if times}
            if run.broken:
                broken[f"{release}, {faults}, seed {seed}"] = run.broken

    assert broken == {}
    assert taken == set(WHOLE_CLUSTER_STEPS)


def test_the_same_seed_is_the_same_run_in_another_process() -> None:
    program = (
        "from impl.world.whole_cluster.runs import run_whole_cluster as run\n"
        "print(run(5, 300, 'everything').digest)"
    )

    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=REPOSITORY,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout.strip()
        for seed in ("0", "1")
    }

    assert digests == {run_whole_cluster(5, 300, "everything").digest}
    assert digests != {run_whole_cluster(6, 300, "everything").digest}


def test_what_is_listed_can_be_taken_and_nothing_else() -> None:
    simulator = ClusterSimulator(world := whole_cluster(), 2, "everything")

    for _ in range(300):
        enabled = world.enabled()
        assert enabled == sorted(enabled, key=lambda step: step.name)
        assert all(world.why_not(step) is None for step in enabled)
        simulator.advance()

    with pytest.raises(StepNotPossible, match="the broker is one of 1 to 3"):
        world.do(Step("broker_starts", (7,)))
    with pytest.raises(StepNotPossible, match="is the name of a step"):
        world.do(Step("broker_sings", (1,)))


def test_a_run_that_is_driven_by_hand_elects_leaders_and_acknowledges() -> None:
    world = whole_cluster(brokers=2, topics=1, partitions=1, factor=2)
    wanted = ("zookeeper_notifies", "event_is_handled", "request_arrives", "answer_arrives")
    while steps := [step for step in world.enabled() if step.name in wanted]:
        world.do(steps[0])

    world.do(Step("producer_appends", (1, 0, 0)))
    fetch = ("follower_asks", "leader_answers", "follower_applies")
    for name in (*fetch, *fetch[:2]):
        world.do(Step(name, (2, 1)))
    world.do(Step("producer_hears", (1, 0, 0)))

    leader = leader_of(world, TopicPartition("t0", 0))
    assert leader is not None
    assert (leader.broker, leader.isr, leader.hw) == (1, (1, 2), 1)
    assert records_in(leader) == {0: 0}
    assert world.client_view.at == {TopicPartition("t0", 0): {0: 0}}


MOST_HELD = 2_500
"""Retention keeps about 80 records of each of 18 replicas; a run of so many steps appends more."""


def test_memory_does_not_grow_with_the_run() -> None:
    simulator = ClusterSimulator(world := whole_cluster(), 2, "everything")

    def held() -> int:
        logs = [node.logs.log(one) for node in world.nodes.values() for one in node.logs.partitions]
        records = sum(log.log_end - log.log_start for log in logs if log is not None)
        files = sum(len(node.disk.names("/kafka-logs")) for node in world.nodes.values())
        reported = sum(map(len, world.client_view.at.values()))
        return records + files + reported + len(world.zookeeper.nodes)

    sizes = []
    for _ in range(6):
        for _ in range(1200):
            simulator.advance()
        sizes.append(held())

    assert world.client_view.acknowledged > 200
    assert max(sizes) < MOST_HELD


def test_a_controller_that_never_resigns_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    world = whole_cluster()
    claims = ClusterClaims(world)
    claims.look()
    current = next(node for node in world.nodes.values() if node.controller.active)
    other = next(node for node in world.nodes.values() if node is not current)

    other.controller.active = True
    other.controller.core.context.epoch = current.controller.core.context.epoch

    with pytest.raises(ClusterClaimBroken, match="two brokers hold controller epoch 1"):
        claims.look()
    assert event_controller.EventController is type(other.controller)


def test_a_world_in_which_a_broker_is_down_is_not_at_rest() -> None:
    simulator = ClusterSimulator(world := whole_cluster(), 1, "none")
    for _ in range(400):
        simulator.advance()
    simulator.stop_faults()
    while not is_at_rest(world):
        simulator.advance()

    world.do(Step("broker_crashes", (2,)))

    assert not is_at_rest(world)


def test_a_disk_that_loses_power_loses_what_was_not_forced() -> None:
    """The adversary is real: without it the same claims hold, with it a log may end earlier."""
    world = whole_cluster(brokers=1, topics=1, partitions=1, factor=1)
    simulator = ClusterSimulator(world, 1, "none")
    lost = []
    for _ in range(5):  # chance leaves everything at times
        for _ in range(60):
            simulator.advance()
        leader = leader_of(world, TopicPartition("t0", 0))
        assert leader is not None
        end = leader.log_end

        world.do(Step("power_fails", (1,)))
        world.do(Step("dead_session_expires", (1,)))
        world.do(Step("broker_starts", (1,)))

        log = world.nodes[1].logs.log(("t0", 0))
        lost.append(end - (0 if log is None else log.log_end))

    assert any(lost)
    assert min(lost) >= 0


def test_nonsense_is_refused_with_what_would_be_right() -> None:
    with pytest.raises(ValueError, match="1 to 9 brokers, not 0; try 3"):
        whole_cluster(0)
    with pytest.raises(ValueError, match="1 to 2 replicas of each"):
        whole_cluster(2, factor=3)
    with pytest.raises(
        ValueError, match="no fault profile 'chaos' of a wide cluster; there are none"
    ):
        run_whole_cluster(1, 10, "chaos")
    with pytest.raises(ValueError, match="1 step or more, not 0"):
        run_whole_cluster(1, 0)
