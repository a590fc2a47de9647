"""What a broker logs of LeaderAndIsr requests, in the words and the order of each release."""

from __future__ import annotations

from pathlib import Path

import pytest

from impl.core.replica_events import ReplicaStopped
from impl.core.requests import LeaderAndIsr, LeaderAndIsrPartitionState, UpdateMetadata
from impl.disk import MemoryDisk
from impl.releases import Release
from impl.server.log4j_files import Log4jFiles
from impl.server.replica_lines import ReplicaLines
from impl.server.trace import step_of
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition
from impl.zookeeper import wait
from tests.impl.core.test_replica_manager import Hosted

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
ENDPOINTS = {1: ("here", 9092), 3: ("there", 9092)}
BY = "from controller 2 epoch 1"


def state_lines(
    folder: Path,
    release: str,
    epochs: dict[TopicPartition, int],
    failing: bool = False,
    leader: int = 3,
) -> tuple[list[str], list[str]]:
    """The lines of state-change.log and server.log after broker 1 has heard of partitions."""
    hosted = Hosted(Release.of(release))
    files = Log4jFiles(folder, 1, Release.of(release), lambda: 0)
    wait(hosted.manager.handle(UpdateMetadata(2, 2, 1, -1, {}, (1, 3)), 7, 0, 0, ENDPOINTS))
    hosted.manager.observer = ReplicaLines(files)
    for epoch in range(max(epochs.values()) + 1):
        orders = {
            one: LeaderAndIsrPartitionState(
                LeaderIsrAndControllerEpoch(leader, epoch, (1, 3), 1), (1, 3), True
            )
            for one, last in epochs.items()
            if epoch <= last
        }
        if failing:
            assert isinstance(hosted.disk, MemoryDisk)
            hosted.disk.failing.add("/d")
        wait(hosted.manager.handle(LeaderAndIsr(2, 2, 1, -1, orders, (3,)), 7, 0, epoch))
    files.close()
    found = []
    for name in ("state-change.log", "server.log"):
        path = folder / name
        lines = path.read_text().splitlines() if path.exists() else []
        found.append([line.split("] ", 1)[1].rsplit(" (", 1)[0] for line in lines if "] " in line])
    return found[0], found[1]


@pytest.mark.parametrize(
    ("release", "head", "named", "leader", "skipped"),
    [
        ("0.10.1", "TRACE Broker 1 h", ("[t,0]", "[t,1]"), "",
         "INFO Broker 1 skipped the become-follower state change after marking its partition as "
         f"follower with correlation id 1 {BY} for partition [t,0] since the new leader 3 is the "
         "same as the old leader"),
        ("0.11", "TRACE Broker 1 h", ("t-0", "t-1"), "",
         "INFO Broker 1 skipped the become-follower state change after marking its partition as "
         f"follower with correlation id 1 {BY} for partition t-0 since the new leader 3 is the "
         "same as the old leader"),
        ("2.0", "TRACE [Broker id=1] H", ("t-0", "t-1"), " with leader 3",
         "INFO [Broker id=1] Skipped the become-follower state change after marking its partition "
         f"as follower with correlation id 1 {BY} for partition t-0 (last update controller epoch "
         "1) since the new leader 3 is the same as the old leader"),
    ],
)  # fmt: skip
def test_every_partition_is_handled_then_completed_though_its_leader_is_the_same(
    tmp_path: Path, release: str, head: str, named: tuple[str, str], leader: str, skipped: str
) -> None:
    lines, _ = state_lines(tmp_path, release, {T0: 1, T1: 1})

    said = [line for line in lines if "become-follower" in line][4:]
    for number, one in enumerate(named):
        transition = f" the become-follower transition for partition {one}{leader}"
        request = f"LeaderAndIsr request correlationId 1 {BY}"
        assert said[number] == f"{head}andling {request} starting{transition}"
        assert said[number + 4].lower().endswith(f"completed {request} for{transition}".lower())
    assert skipped in said[2:4]


@pytest.mark.parametrize(
    ("release", "leader", "role", "with_leader", "shown"),
    [
        ("1.1", 3, "follower", "", "AssignedReplicas: 1,3; InSyncReplicas: 1,3"),
        ("2.7", 3, "follower", " with leader 3", "Replicas: 1,3; ISR: 1,3"),
        ("2.7", 1, "leader", "", "Replicas: 1,3; ISR: 1,3"),
    ],
)
def test_a_log_that_cannot_be_used_is_told_as_kafka_tells_it(
    tmp_path: Path, release: str, leader: int, role: str, with_leader: str, shown: str
) -> None:
    lines, server = state_lines(tmp_path, release, {T0: 1}, failing=True, leader=leader)

    (skipped, *_) = [line for line in lines if "Skipped" in line]
    assert skipped.startswith(
        f"ERROR [Broker id=1] Skipped the become-{role} state change with correlation id 0 {BY} "
        f"for partition t-0 (last update controller epoch 1){with_leader} since the replica for "
        "the partition is offline due to disk error "
        "org.apache.kafka.common.errors.KafkaStorageException: "
    )
    (error, *_) = [line for line in server if "while making" in line]
    assert error == (
        f"ERROR [ReplicaManager broker=1] Error while making broker the {role} for partition "
        f"Topic: t; Partition: 0; Leader: None; {shown}{with_leader} in dir None"
    )
    assert [line for line in lines if "ompleted" in line]


@pytest.mark.parametrize(("release", "named"), [("0.10.1", "[t,0]"), ("0.11", "t-0")])
def test_a_leader_that_leads_already_says_so(tmp_path: Path, release: str, named: str) -> None:
    lines, _ = state_lines(tmp_path, release, {T0: 1}, leader=1)

    (skipped,) = [line for line in lines if "skipped" in line]
    assert skipped == (
        "INFO Broker 1 skipped the become-leader state change after marking its partition as "
        f"leader with correlation id 1 {BY} for partition {named} since it is already the leader "
        "for the partition."
    )


def test_a_replica_that_was_stopped_keeps_its_word_in_traces() -> None:
    assert step_of(ReplicaStopped(T0, True, "NONE")) == "stop_replica_completed"
