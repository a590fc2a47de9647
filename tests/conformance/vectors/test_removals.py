"""Deletions that end on disks are played by a whole cluster, and not only with everybody alive."""

from __future__ import annotations

import pytest

from conformance.vectors.implementation import answer
from impl.core.deletion import DeletionManager
from impl.core.replica_manager import ReplicaManager
from impl.znodes import TopicPartition

GONE = {"eventually": "topic znode, delete znode and all logs gone"}


def deleted(release: str, live: list[int]) -> object:
    given = {"op": "delete", "live": live, "assignment": [0, 1, 2]}
    return answer("topic_deletion", "delete", {"input": given, "release": release})


@pytest.mark.parametrize("release", ["0.10", "2.3", "2.7"])
def test_a_topic_whose_brokers_are_all_alive_goes(release: str) -> None:
    assert deleted(release, [0, 1, 2]) == GONE


def test_with_a_dead_broker_everything_waits() -> None:
    assert deleted("2.3", [0, 2]) == {"eventually": "topic znode, delete znode, logs stay"}


def test_partitions_that_are_added_meanwhile_never_come_to_be() -> None:
    question = {"input": {"op": "addPartitionsDuringDelete"}, "release": "2.3"}

    assert answer("topic_deletion", "addPartitionsDuringDelete", question) == {
        "afterRestart": "topic fully deleted, no logs of the added partition"
    }


def test_a_broker_that_keeps_its_logs_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    async def keeps(self: ReplicaManager, partition: TopicPartition, delete: bool) -> str:
        return "NONE"

    monkeypatch.setattr(ReplicaManager, "_stop", keeps)

    assert deleted("2.3", [0, 1, 2]) == {"eventually": "logs stay"}


def test_a_controller_that_forgets_to_resume_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    async def forgets(self: DeletionManager) -> None:
        pass

    monkeypatch.setattr(DeletionManager, "resume", forgets)

    assert deleted("2.3", [0, 1, 2]) == {"eventually": "topic znode, delete znode, logs stay"}
