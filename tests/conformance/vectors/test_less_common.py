"""Where Kafka is easily misunderstood, and what no case of ours or of Kafka's own tests shows."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.vectors.implementation.batch_log import LogEnds
from conformance.vectors.implementation.hosted_broker import ME, OTHER, PARTITION, HostedBroker
from conformance.vectors.implementation.stage import NOW_MS, ControllerStage
from impl.core.cluster_context import ClusterContext
from impl.core.fetcher_thread import FetchQuestion
from impl.core.imbalance import candidates
from impl.core.partition import Partition
from impl.core.requests import LeaderAndIsrPartitionState
from impl.disk import replace_file
from impl.log import LogConfig
from impl.log.loading import load_log
from impl.log.record import StoredRecord
from impl.log.record_batch import encode_batch
from impl.releases import Release
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, encode_state, paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper import EmbeddedSession, ZooKeeper
from impl.zookeeper.port import wait
from tests.conformance.vectors.test_shapes import ask

T0 = TopicPartition("t", 0)


def test_the_high_watermark_in_an_answer_is_that_of_before_the_fetch():
    broker = HostedBroker(Release.of("2.3"))
    broker.ordered(0, ME, 0)
    broker.appends(3)
    asked = {PARTITION: FetchQuestion(None, 3, None)}

    reported = [
        wait(broker.manager.fetch(OTHER, asked, 1 << 20, 0))[PARTITION].high_watermark
        for _ in range(2)
    ]

    assert reported == [0, 3]


@pytest.mark.parametrize(("release", "version"), [("2.0", 0), ("2.1", 1)])
def test_the_first_controllers_epoch_is_1_in_a_znode_of_version_0_or_since_2_1_of_1(
    release: str, version: int
):
    stage = ControllerStage(Release.of(release))
    stage.start_broker(1)
    stage.controller(1)

    node = wait(stage.admin.read(paths.CONTROLLER_EPOCH))

    assert node is not None
    assert (node.data, node.version) == ("1", version)


def test_leaders_are_given_back_above_the_share_and_not_while_anything_moves():
    context = ClusterContext()
    context.broker_epochs = {1: 1, 2: 1}
    for number in range(10):
        one = TopicPartition("t", number)
        context.assign(one, (1, 2))
        leader = 2 if number == 0 else 1
        context.leadership[one] = LeaderIsrAndControllerEpoch(leader, 0, (1, 2), 1)

    assert candidates(context, 10, (), Release.of("2.4")) == {}  # one of ten is just the share
    assert candidates(context, 9, (), Release.of("2.4")) == {1: [T0]}
    assert candidates(context, 9, [TopicPartition("u", 0)], Release.of("2.4")) == {1: []}


@pytest.mark.parametrize(("there", "isr"), [([1], (1,)), ([1, 3], (1, 2))])
def test_a_conflict_leaves_the_isr_unless_the_znode_says_what_was_wanted(
    there: list[int], isr: tuple[int, ...]
):
    store = ZooKeeper()
    client = ZnodeClient(EmbeddedSession(store), Release.of("2.3"))
    registered = LeaderIsrAndControllerEpoch(1, 0, (1, 2), 1)
    wait(client.make_path(paths.state("t", 0), encode_state(registered)))
    partition = _led(client)
    changed = LeaderIsrAndControllerEpoch(1, 0, tuple(there), 1)
    wait(client.port.set_data(paths.state("t", 0), encode_state(changed)))

    wait(partition.shrink([2], NOW_MS))
    again = partition.isr
    wait(partition.shrink([2], NOW_MS))

    assert again == partition.isr == isr


def _led(client: ZnodeClient) -> Partition[Any]:
    partition: Partition[Any] = Partition(
        1, T0, LogEnds(), 30_000, Release.of("2.3"), client=lambda: client, replicas=(1, 2)
    )
    state = LeaderIsrAndControllerEpoch(1, 0, (1, 2), 1)
    partition.become_leader(LeaderAndIsrPartitionState(state, (1, 2), False), NOW_MS)
    return partition


def test_a_recovery_does_not_enter_epoch_0_again():
    broker = HostedBroker(Release.of("2.3"))
    broker.disk.make_directory("/e/t-0")
    batches = [
        encode_batch([StoredRecord(at, 0, None, b"x"), StoredRecord(at + 1, 0, None, b"y")], at)
        for at in (0, 2)  # in leader epochs 0 and 2
    ]
    replace_file(broker.disk, f"/e/t-0/{0:020}.log", b"".join(batches))

    log, _ = load_log(broker.disk, "/e/t-0", LogConfig(), lambda: 0, clean=False)

    assert log.log_end == 4
    assert log.epochs.entries == [(2, 2)]


FAILS = [
    {"do": "enqueue", "topics": ["foo", "bar"]},
    {"do": "completeReplicaDeletion", "topics": ["foo", "bar"], "brokers": [1, 2]},
    {"do": "failReplicaDeletion", "topics": ["foo", "bar"], "brokers": [3]},
]


@pytest.mark.parametrize(("release", "rounds"), [("2.4", 2), ("2.5", 1)])
def test_topics_that_may_be_tried_again_are_tried_in_one_round_since_2_5(release: str, rounds: int):
    resumed = [*FAILS, {"do": "resume", "topics": ["foo", "bar"]}]

    before = ask("topic_deletion", "scenario", release, steps=FAILS)["stateMachineCalls"]
    reported = ask("topic_deletion", "scenario", release, steps=resumed)

    assert reported["afterStep"][-1]["ineligible"] == []
    assert reported["afterStep"][-1]["replicas"]["ReplicaDeletionStarted"] == [[0, 3]]
    after = reported["stateMachineCalls"]
    assert after["replica.DeletionStarted"] - before["replica.DeletionStarted"] == rounds
