"""What a broker of an older release makes of requests and answers: the core's replica manager."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.vectors.implementation.batch_log import no_client
from impl.core.fetcher_thread import (
    FetchErrorCode,
    FetchReply,
)
from impl.core.replica_manager import ReplicaManager
from impl.core.requests import LeaderAndIsr, LeaderAndIsrPartitionState
from impl.disk import MemoryDisk
from impl.log import LogConfig, LogManager, LogSettings
from impl.log.stored_log import StoredLogs
from impl.releases import Release
from impl.world.broker import PartitionBroker
from impl.world.partition_steps import partition_cluster
from impl.world.stepped.controller_run import FIRST
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition
from impl.zookeeper.port import wait

BROKER_EPOCH = 10


def receives(replicas: PartitionBroker, leader: int = 1, leader_epoch: int = 1) -> str:
    state = LeaderIsrAndControllerEpoch(leader, leader_epoch, (1, 2, 3), 1, 4)
    order = LeaderAndIsrPartitionState(state, (1, 2, 3), is_new=False)
    sent = LeaderAndIsr(2, 2, 1, BROKER_EPOCH, {FIRST: order}, (leader,))
    error, by_partition = replicas.handle_request(sent, BROKER_EPOCH)
    return by_partition.get(FIRST, error)


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


def test_up_to_0_10_a_follower_truncates_its_log_at_once_and_keeps_no_epochs():
    replicas = partition_cluster(3, version="0.10").hosts[1]
    assert receives(replicas, leader=1) == "NONE"
    for record in (1, 2):
        replicas.append(record, 1)
    replicas.log.high_watermark = 1

    assert receives(replicas, leader=2, leader_epoch=2) == "NONE"

    assert (replicas.log.log_end, replicas.log.latest_epoch()) == (1, None)


def test_up_to_2_0_a_fetcher_takes_what_its_leader_answers_in_whatever_epoch_it_was_asked():
    for release, appended in (("2.0", 1), ("2.1", 0)):
        replicas = partition_cluster(3, version=release).hosts[1]
        receives(replicas, leader=2, leader_epoch=1)
        replicas.ask(2)
        asked = replicas.under_way(2)
        assert asked is not None
        receives(replicas, leader=3, leader_epoch=2)
        receives(replicas, leader=2, leader_epoch=3)
        replicas.ask(2)

        reply = FetchReply(FetchErrorCode.NONE, ((7, 1),), 0)
        replicas.connections[2].exchange = replace(asked, replies={FIRST: reply})
        replicas.connections[2].apply()

        assert replicas.log.log_end == appended, release
