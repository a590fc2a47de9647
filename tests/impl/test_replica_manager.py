"""What a broker refuses, and with which of Kafka's codes: the core's replicas in a world of one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from impl import World
from impl.core.fetcher_thread import (
    Answer,
    EpochQuestion,
    FetchQuestion,
    FetchReply,
    FetchState,
    Phase,
)
from impl.core.replica_manager import ReplicaManager
from impl.core.requests import LeaderAndIsr, LeaderAndIsrPartitionState
from impl.disk import MemoryDisk
from impl.log import LogConfig, LogManager, LogSettings
from impl.log.stored_log import StoredLogs
from impl.releases import Release
from impl.world.network import PARTITION, Fetch, OrderInFlight
from impl.world.replicas import Replicas
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait

BROKER_EPOCH = 10


def a_broker() -> Replicas:
    return World(3).brokers[1].replicas


def receives(
    replicas: Replicas,
    leader: int = 1,
    leader_epoch: int = 1,
    controller_epoch: int = 1,
    broker_epoch: int = BROKER_EPOCH,
) -> str:
    state = LeaderIsrAndControllerEpoch(leader, leader_epoch, (1, 2, 3), controller_epoch, 4)
    order = LeaderAndIsrPartitionState(state, (1, 2, 3), is_new=False)
    sent = OrderInFlight(1, 2, 2, controller_epoch, broker_epoch, order, (leader,))
    error, by_partition = replicas.hear(sent, BROKER_EPOCH)
    return by_partition.get(PARTITION, error)


def asks_epoch(replicas: Replicas, follower: int, leader_epoch: int) -> str:
    state = FetchState(0, leader_epoch, Phase.TRUNCATING)
    reply = replicas.answer(follower, Fetch(state, EpochQuestion(leader_epoch, 0))).reply
    assert reply is not None
    return reply.error.name


def fetches(replicas: Replicas, follower: int, leader_epoch: int, offset: int) -> FetchReply:
    state = FetchState(offset, leader_epoch, Phase.FETCHING)
    question = FetchQuestion(leader_epoch, offset, None)
    reply = replicas.answer(follower, Fetch(state, question)).reply
    assert isinstance(reply, FetchReply)
    return reply


def known_ends(replicas: Replicas) -> dict[int, int]:
    return {one: known.end for one, known in replicas.partition.remotes.items()}


def test_a_broker_leads_from_its_log_end_and_knows_nothing_of_the_others() -> None:
    replicas = a_broker()
    replicas.log.log.append((0, 0))

    assert receives(replicas) == "NONE"

    partition = replicas.partition
    assert (replicas.role, partition.leader_epoch, partition.zk_version) == ("leader", 1, 4)
    assert partition.isr == (1, 2, 3)
    assert partition.epoch_start == 1
    assert known_ends(replicas) == {2: -1, 3: -1}
    assert replicas.log.epochs.entries == [(0, 0), (1, 1)]
    assert partition.hw == 0


def test_a_leader_that_is_elected_anew_keeps_what_it_knows_of_the_others() -> None:
    """``makeLeader``: their log ends are forgotten only if another led before."""
    replicas = a_broker()
    receives(replicas)
    fetches(replicas, 2, 1, 0)

    receives(replicas, leader_epoch=2)

    assert known_ends(replicas) == {2: 0, 3: -1}


def test_a_follower_with_an_epoch_in_its_cache_must_compare_it_first() -> None:
    empty, holding, led = a_broker(), a_broker(), a_broker()
    holding.log.log.append((0, 0))
    receives(led)

    receives(empty, leader=2)
    receives(holding, leader=2)
    receives(led, leader=2, leader_epoch=2)

    assert (empty.truncating, holding.truncating, led.truncating) == (False, True, True)
    assert holding.partition.isr == ()


def test_a_request_for_an_earlier_registration_is_refused_whole() -> None:
    replicas = a_broker()

    assert receives(replicas, broker_epoch=BROKER_EPOCH - 1) == "STALE_BROKER_EPOCH"
    assert replicas.controller_epoch == 0
    assert replicas.role == "none"


def test_an_older_controller_is_refused_and_nothing_changes() -> None:
    replicas = a_broker()
    receives(replicas, controller_epoch=5)
    before = replicas.save()

    answer = receives(replicas, leader_epoch=9, controller_epoch=4)

    assert answer == "STALE_CONTROLLER_EPOCH"
    assert replicas.save() == before


@pytest.mark.parametrize("leader_epoch", [2, 3])
def test_a_leader_epoch_that_is_not_higher_is_refused_but_the_controller_is_noted(
    leader_epoch: int,
) -> None:
    replicas = a_broker()
    receives(replicas, leader_epoch=3)
    before = replicas.partition.memory()

    answer = receives(replicas, leader=2, leader_epoch=leader_epoch, controller_epoch=2)

    assert answer == "STALE_CONTROLLER_EPOCH"
    assert replicas.partition.memory() == before
    assert replicas.controller_epoch == 2


def test_a_request_without_a_leader_does_not_advance_the_leader_epoch() -> None:
    replicas = a_broker()
    receives(replicas, leader_epoch=1)

    assert receives(replicas, leader=-1, leader_epoch=2) == "NONE"

    assert replicas.partition.leader_epoch == 1
    assert replicas.partition.leads


def test_followers_of_another_epoch_are_fenced_by_kafkas_codes() -> None:
    replicas = a_broker()
    receives(replicas, leader_epoch=3)
    codes = [asks_epoch(replicas, 2, epoch) for epoch in (2, 4)]
    receives(replicas, leader=2, leader_epoch=5)

    not_leading = fetches(replicas, 3, 5, 0)

    assert codes == ["FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH"]
    assert not_leading.error.name == "NOT_LEADER_FOR_PARTITION"


def test_a_fetch_beyond_the_log_end_is_refused_and_not_remembered() -> None:
    replicas = a_broker()
    receives(replicas)

    assert fetches(replicas, 2, 1, 1).error.name == "OFFSET_OUT_OF_RANGE"
    assert known_ends(replicas)[2] == -1


def test_a_fetch_returns_one_record_and_the_high_watermark_of_before() -> None:
    replicas = a_broker()
    receives(replicas)
    replicas.append(7, 1)
    replicas.append(8, 1)

    reply = fetches(replicas, 2, 1, 0)

    assert (reply.batch, reply.high_watermark) == (((7, 1),), 0)
    assert known_ends(replicas) == {2: 0, 3: -1}


@pytest.mark.parametrize(("version", "error"), [("0.11", "NONE"), ("2.3", "KAFKA_STORAGE_ERROR")])
def test_a_replica_that_is_not_new_is_not_made_anew_beside_a_directory_that_failed(
    version: str, error: str
) -> None:
    disk, release = MemoryDisk(), Release.of(version)
    disk.failing.add("/logs-1")
    logs = LogManager(disk, ["/logs-0", "/logs-1"], LogSettings(lambda: 0, LogConfig()))
    logs.start(1)
    manager = ReplicaManager(1, release, StoredLogs(logs, release), 10_000, no_client)
    manager.metadata.brokers = {2: ("b2", 9092)}

    def answer(partition: TopicPartition, leader: int, is_new: bool) -> str:
        state = LeaderIsrAndControllerEpoch(leader, 1, (1, 2), 1, 0)
        orders = {partition: LeaderAndIsrPartitionState(state, (1, 2), is_new)}
        request = LeaderAndIsr(0, 2, 1, -1, orders, (leader,))
        _, errors = wait(manager.handle(request, -1, 0))
        return errors[partition]

    assert answer(TopicPartition("led", 0), 1, is_new=False) == error
    assert answer(TopicPartition("followed", 0), 2, is_new=False) == error
    assert answer(TopicPartition("led", 1), 1, is_new=True) == "NONE"


def no_client() -> ZnodeClient:
    raise AssertionError("no ISR is written")


def test_up_to_0_10_a_follower_truncates_its_log_at_once_and_keeps_no_epochs():
    replicas = World(3, version="0.10").brokers[1].replicas
    assert receives(replicas, leader=1) == "NONE"
    for record in (1, 2):
        replicas.append(record, 1)
    replicas.log.high_watermark = 1

    assert receives(replicas, leader=2, leader_epoch=2) == "NONE"

    assert (replicas.log.log_end, replicas.log.latest_epoch()) == (1, None)


def test_up_to_2_0_a_fetcher_takes_what_its_leader_answers_in_whatever_epoch_it_was_asked():
    for release, appended in (("2.0", 1), ("2.1", 0)):
        replicas = World(3, version=release).brokers[1].replicas
        receives(replicas, leader=2, leader_epoch=1)
        asked = replicas.ask(2)
        receives(replicas, leader=3, leader_epoch=2)
        receives(replicas, leader=2, leader_epoch=3)
        replicas.ask(2)

        replicas.apply(2, replace(asked, reply=FetchReply(Answer.NONE, ((7, 1),), 0)))

        assert replicas.log.log_end == appended, release
