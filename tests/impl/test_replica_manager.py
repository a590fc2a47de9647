"""What a broker refuses, and with which of Kafka's codes."""

from __future__ import annotations

import pytest

from impl.broker import ReplicaManager, Role
from impl.journal import Journal
from impl.log import ReplicaLog
from impl.requests import AnsweredRecords, AskedEpoch, AskedRecords, Errors, LeaderAndIsrRequest
from impl.zookeeper import KafkaZkClient, PartitionState, ZooKeeper

BROKER_EPOCH = 10


def a_broker() -> ReplicaManager:
    client = KafkaZkClient(ZooKeeper())
    client.create_top_level((1, 2, 3))
    return ReplicaManager(1, (1, 2, 3), ReplicaLog(), 0, client, Journal())


def told(
    replicas: ReplicaManager,
    leader: int = 1,
    leader_epoch: int = 1,
    controller_epoch: int = 1,
    broker_epoch: int = BROKER_EPOCH,
) -> Errors:
    state = PartitionState(leader, leader_epoch, (1, 2, 3), controller_epoch)
    request = LeaderAndIsrRequest(1, 2, controller_epoch, broker_epoch, state, 4)
    return replicas.become_leader_or_follower(request, BROKER_EPOCH)


def test_a_broker_leads_from_its_log_end_and_knows_nothing_of_the_others() -> None:
    replicas = a_broker()
    replicas.partition.log.append((0, 0))

    assert told(replicas) is Errors.NONE

    partition = replicas.partition
    assert (partition.role, partition.leader_epoch, partition.zk_version) == (Role.LEADER, 1, 4)
    assert partition.isr == (1, 2, 3)
    assert partition.epoch_start == 1
    assert partition.known_end == {2: -1, 3: -1}
    assert partition.log.epochs.entries == [(0, 0), (1, 1)]
    assert partition.hw == 0


def test_a_follower_with_records_must_compare_them_first() -> None:
    empty, holding = a_broker(), a_broker()
    holding.partition.log.append((0, 0))

    told(empty, leader=2)
    told(holding, leader=2)

    assert (empty.partition.truncating, holding.partition.truncating) == (False, True)
    assert holding.partition.isr == ()


def test_a_request_for_an_earlier_registration_is_refused_whole() -> None:
    replicas = a_broker()

    assert told(replicas, broker_epoch=BROKER_EPOCH - 1) is Errors.STALE_BROKER_EPOCH
    assert replicas.controller_epoch == 0
    assert replicas.partition.role is Role.NONE


def test_an_older_controller_is_refused_and_nothing_changes() -> None:
    replicas = a_broker()
    told(replicas, controller_epoch=5)
    before = replicas.save()

    answer = told(replicas, leader_epoch=9, controller_epoch=4)

    assert answer is Errors.STALE_CONTROLLER_EPOCH
    assert replicas.save() == before


@pytest.mark.parametrize("leader_epoch", [2, 3])
def test_a_leader_epoch_that_is_not_higher_is_refused_but_the_controller_is_noted(
    leader_epoch: int,
) -> None:
    replicas = a_broker()
    told(replicas, leader_epoch=3)
    before = replicas.partition.save()

    answer = told(replicas, leader=2, leader_epoch=leader_epoch, controller_epoch=2)

    assert answer is Errors.STALE_CONTROLLER_EPOCH
    assert replicas.partition.save() == before
    assert replicas.controller_epoch == 2


def test_a_request_without_a_leader_does_not_advance_the_leader_epoch() -> None:
    replicas = a_broker()
    told(replicas, leader_epoch=1)

    assert told(replicas, leader=-1, leader_epoch=2) is Errors.NONE

    assert replicas.partition.leader_epoch == 1
    assert replicas.partition.leads


def test_followers_of_another_epoch_are_fenced_by_kafkas_codes() -> None:
    replicas = a_broker()
    told(replicas, leader_epoch=3)
    codes = [replicas.last_offset_for_leader_epoch(AskedEpoch(epoch, 0)) for epoch in (2, 4)]
    told(replicas, leader=2, leader_epoch=5)

    not_leading = replicas.fetch_for_follower(3, AskedRecords(5, 0))

    assert codes == [Errors.FENCED_LEADER_EPOCH, Errors.UNKNOWN_LEADER_EPOCH]
    assert not_leading is Errors.NOT_LEADER_FOR_PARTITION


def test_a_fetch_beyond_the_log_end_is_refused_and_not_remembered() -> None:
    replicas = a_broker()
    told(replicas)

    assert replicas.fetch_for_follower(2, AskedRecords(1, 1)) is Errors.OFFSET_OUT_OF_RANGE
    assert replicas.partition.known_end[2] == -1


def test_a_fetch_returns_one_record_and_the_high_watermark_of_before() -> None:
    replicas = a_broker()
    told(replicas)
    replicas.partition.log.append((7, 1))

    answer = replicas.fetch_for_follower(2, AskedRecords(1, 0))

    assert answer == AnsweredRecords(1, 0, (7, 1), 0)
    assert replicas.partition.known_end == {2: 0, 3: -1}
