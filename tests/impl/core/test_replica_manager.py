"""A broker's replicas over logs on a disk that may fail, and a ZooKeeper that may be silent."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from impl.core.fetcher_thread import EARLIEST, EpochQuestion, FetchQuestion
from impl.core.replica_events import IsrUpdateRefused, LogFailed, ReplicaEvent
from impl.core.replica_manager import ReplicaManager
from impl.core.requests import (
    LEADER_EPOCH_DURING_DELETE,
    LeaderAndIsr,
    LeaderAndIsrPartitionState,
    PartitionStop,
    StopReplica,
    UpdateMetadata,
)
from impl.disk import MemoryDisk
from impl.log import LogConfig, LogManager, LogSettings
from impl.log.stored_log import StoredLogs
from impl.releases import Release
from impl.server.broker_lock import BrokerLock, PatientPort
from impl.server.control_messages import LiveBrokers
from impl.server.log4j_files import Log4jFiles
from impl.server.properties import parse_properties
from impl.server.quotas import Quotas
from impl.server.replicas import HostedReplicas, now_ms
from impl.server.topic_configs import TopicConfigs
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, paths
from impl.znodes.client import ZnodeClient
from impl.znodes.states import encode_state
from impl.zookeeper import EmbeddedSession, ZooKeeper, wait
from impl.zookeeper.port import OpOutcome
from impl.zookeeper.znode import ANY_VERSION, Op, Znode
from tests.impl.log.batches import ManualClock, batch

R23 = Release.of("2.3")
T0, U0 = TopicPartition("t", 0), TopicPartition("u", 0)


def leads(partition: TopicPartition, isr: tuple[int, ...], epoch: int = 0) -> LeaderAndIsr:
    """Broker 1 is to lead a partition of as many replicas as are in sync."""
    order = LeaderAndIsrPartitionState(LeaderIsrAndControllerEpoch(1, epoch, isr, 1), isr, True)
    return LeaderAndIsr(2, 2, 1, -1, {partition: order}, (1,))


def deletes(partition: TopicPartition) -> StopReplica:
    stop = PartitionStop(True, LEADER_EPOCH_DURING_DELETE)
    return StopReplica(1, 2, 1, -1, {partition: stop})


class Hosted:
    """Broker 1's replica manager; ``/d`` is its only log directory."""

    def __init__(self, release: Release = R23) -> None:
        self.disk = MemoryDisk(ManualClock())
        settings = LogSettings(ManualClock(), removals_fail_disks=release.since("1.0"))
        self.logs = LogManager(self.disk, ["/d"], settings, failed=self.failed)
        self.logs.start(1)
        self.zookeeper = ZooKeeper()
        client = ZnodeClient(EmbeddedSession(self.zookeeper), release)
        self.events: list[ReplicaEvent] = []
        self.manager = ReplicaManager(
            1, release, StoredLogs(self.logs, release), 1_000, lambda: client, self.events.append
        )

    def failed(self, directory: str, why: str) -> None:
        self.manager.log_dir_failed()


def test_a_log_that_cannot_be_renamed_is_not_deleted_and_its_directory_is_offline() -> None:
    hosted = Hosted()
    for one in (T0, U0):
        assert wait(hosted.manager.handle(leads(one, (1,)), 7, 0)) == ("NONE", {one: "NONE"})

    hosted.disk.failing.add("/d")
    answer = wait(hosted.manager.handle(deletes(T0), 7, 0))

    assert answer == ("NONE", {T0: "KAFKA_STORAGE_ERROR"})
    assert hosted.logs.directories[0].failure
    assert hosted.manager.partitions == {}
    assert sorted(hosted.logs.offline) == [T0, U0]
    assert [event.partition for event in hosted.events if isinstance(event, LogFailed)] == [T0]
    again = wait(hosted.manager.handle(leads(U0, (1,), epoch=1), 7, 0))
    assert again == ("NONE", {U0: "KAFKA_STORAGE_ERROR"})


def test_up_to_0_11_a_log_that_cannot_be_renamed_is_refused_once_and_its_directory_goes_on() -> (
    None
):
    hosted = Hosted(Release.of("0.11"))
    for one in (T0, U0):
        wait(hosted.manager.handle(leads(one, (1,)), 7, 0))

    hosted.disk.failing.add("/d")
    answer = wait(hosted.manager.handle(deletes(T0), 7, 0))

    assert answer == ("NONE", {T0: "UNKNOWN_SERVER_ERROR"})
    assert not hosted.logs.directories[0].failure
    assert [*hosted.manager.partitions] == hosted.logs.partitions == [U0]
    assert wait(hosted.manager.handle(deletes(T0), 7, 0)) == ("NONE", {T0: "NONE"})


@pytest.mark.parametrize(("release", "stops"), [("2.5", True), ("2.6", False)])
def test_a_fenced_stop_leaves_the_fetcher_alone_since_2_6(release: str, stops: bool) -> None:
    hosted = Hosted(Release.of(release))
    wait(hosted.manager.handle(leads(T0, (1,), epoch=3), 7, 0))
    removed: list[TopicPartition] = []

    class NobodyIsFollowed:
        def remove(self, partitions: list[TopicPartition]) -> None:
            removed.extend(partitions)

        def add(self, partitions: object) -> None:
            raise AssertionError("nobody is to be followed")

    hosted.manager.fetchers = NobodyIsFollowed()
    stale = StopReplica(3, 2, 1, -1, {T0: PartitionStop(False, 2)})
    wait(hosted.manager.handle(stale, 7, 0))

    assert bool(removed) is stops


def test_an_isr_is_refused_whose_znode_is_gone_as_one_of_another_version_is() -> None:
    hosted = Hosted()
    wait(hosted.manager.handle(leads(T0, (1, 2)), 7, 0))

    wait(hosted.manager.maybe_shrink_isrs(60_000))

    assert hosted.manager.partitions[T0].isr == (1, 2)
    assert IsrUpdateRefused(T0, 0) in hosted.events


class Silent(EmbeddedSession):
    """A session on which ZooKeeper does not answer writes until the test says so."""

    def __init__(self, zookeeper: ZooKeeper) -> None:
        super().__init__(zookeeper)
        self.answers = threading.Event()
        self.asked = threading.Event()

    async def multi(self, ops: Sequence[Op]) -> list[OpOutcome]:
        self.asked.set()
        assert self.answers.wait(20), "somebody lets it answer"
        return await super().multi(ops)

    async def set_data(self, path: str, data: str, version: int = ANY_VERSION) -> Znode:
        self.asked.set()
        assert self.answers.wait(20), "somebody lets it answer"
        return await super().set_data(path, data, version)


def test_a_silent_zookeeper_holds_up_the_one_partition_whose_isr_is_written(
    tmp_path: Path,
) -> None:
    zookeeper = ZooKeeper()
    admin = ZnodeClient(EmbeddedSession(zookeeper), R23)
    for path in paths.persistent(R23):
        wait(admin.make_path(path))
    for one, isr in ((T0, (1, 2)), (U0, (1,))):
        wait(admin.create_topic(one.topic, {0: isr}))
        wait(admin.make_path(paths.partition(*one)))
        text = encode_state(LeaderIsrAndControllerEpoch(1, 0, isr, 1))
        wait(admin.port.create(paths.state(*one), text))
    session = Silent(zookeeper)
    client = ZnodeClient(session, R23)
    logs = LogManager(MemoryDisk(ManualClock()), ["/d"], LogSettings(ManualClock()))
    logs.start(1)
    quotas = Quotas(parse_properties("p", "zookeeper.connect=h:1\nlog.dirs=a\n", R23), print)
    replicas = HostedReplicas(
        1, R23, logs, 0, Log4jFiles(tmp_path, 1, R23), lambda: client, TopicConfigs(print, R23),
        quotas,
    )  # fmt: skip
    for one, isr in ((T0, (1, 2)), (U0, (1,))):
        assert replicas.handle(leads(one, isr), lambda: 7, 0, LiveBrokers())[1] == {one: "NONE"}
    with replicas.lock:
        wait(replicas.core.append(T0, batch(b"a"), 1, 1, now_ms()))
    time.sleep(0.01)
    shrinks = threading.Thread(target=replicas.maybe_shrink_isrs)
    shrinks.start()
    assert session.asked.wait(5)

    with replicas.lock:  # the others go on
        other = wait(replicas.core.append(U0, batch(b"a"), 1, 1, now_ms()))
        isr_of_t = replicas.partitions[T0].isr
    metadata = UpdateMetadata(5, 2, 1, -1, {}, (1,))
    reported = replicas.handle(metadata, lambda: 7, 0, LiveBrokers({1: ("b1", 9092)}))
    held_up = threading.Thread(
        target=replicas.handle, args=(leads(T0, (1,), epoch=1), lambda: 7, 0, LiveBrokers())
    )
    held_up.start()
    held_up.join(0.2)
    waits = held_up.is_alive()
    session.answers.set()
    shrinks.join(5)
    held_up.join(5)

    assert (other.error, isr_of_t, reported[0]) == ("NONE", (1, 2), "NONE")
    assert waits
    assert not held_up.is_alive()
    assert replicas.partitions[T0].leader_epoch == 1


def test_a_lock_is_let_go_of_whole_and_taken_again() -> None:
    lock = BrokerLock()
    taken: list[bool] = []

    def other() -> None:
        taken.append(lock.acquire(timeout=0.05))
        if taken[-1]:
            lock.release()

    def tried() -> bool:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        return taken[-1]

    with lock, lock:
        held = tried()
        with lock.released():
            free = tried()
        held_again = tried()
    with lock.released():  # nobody holds it: nothing to let go of
        pass

    assert (held, free, held_again, tried()) == (False, True, False, True)


def test_a_patient_port_answers_as_the_port_does() -> None:
    session = EmbeddedSession(ZooKeeper())
    port = PatientPort(session, BrokerLock())
    wait(port.create("/a", "x"))
    wait(port.set_data("/a", "y"))

    ops: list[Op] = []
    assert (wait(port.get("/a")).data, wait(port.children("/")), wait(port.multi(ops))) == (
        "y", ["a"], []
    )  # fmt: skip
    assert (port.session, port.alive, port.events()) == (session.session, True, [])
    wait(port.delete("/a"))
    assert wait(port.exists("/a")) is None
    port.close()
    assert not port.alive


@pytest.mark.parametrize(
    ("release", "asked", "error"),
    [
        ("2.3", 4, "FENCED_LEADER_EPOCH"),
        ("2.3", 6, "UNKNOWN_LEADER_EPOCH"),
        ("2.3", 5, "NONE"),
        ("2.3", None, "NONE"),
        ("2.0", 4, "NONE"),
    ],
)
def test_an_offset_is_asked_for_in_a_leader_epoch_since_2_1(
    release: str, asked: int | None, error: str
) -> None:
    hosted = Hosted(Release.of(release))
    wait(hosted.manager.handle(leads(T0, (1,), 5), 7, 0))

    found = wait(hosted.manager.list_offset(T0, EARLIEST, False, leader_epoch=asked))

    assert found.error == error


def test_in_an_older_message_format_no_leader_epoch_is_entered_and_none_is_kept() -> None:
    hosted = Hosted()
    wait(hosted.manager.handle(leads(T0, (1,), 3), 7, 0))
    file = "/d/t-0/leader-epoch-checkpoint"
    log = hosted.logs.log(T0)
    assert log is not None
    before = log.epochs.entries, hosted.disk.exists(file)

    hosted.logs.reconfigure(LogConfig(message_format=1))
    after = [*log.epochs.entries], hosted.disk.exists(file)
    wait(hosted.manager.handle(leads(T0, (1,), 4), 7, 0))
    ends = wait(hosted.manager.epoch_ends({T0: EpochQuestion(None, 4)}))

    assert before[1]
    assert after == ([], False)
    assert log.epochs.entries == []
    assert ends[T0].end == (-1, -1)


@pytest.mark.parametrize("release", ["0.10", "2.3", "2.7"])
def test_a_high_watermark_does_not_wait_for_an_isr_member_that_is_no_replica(release: str) -> None:
    """As Kafka's: `Partition.maybeIncrementLeaderHW` (0.10.2 to 3.9) asks replicas alone."""
    hosted = Hosted(Release.of(release))
    wait(hosted.manager.handle(leads(T0, (1,)), 7, 0))
    state = LeaderIsrAndControllerEpoch(1, 1, (1, 2), 1)
    order = LeaderAndIsrPartitionState(state, (1,), False)
    wait(hosted.manager.handle(LeaderAndIsr(2, 2, 1, -1, {T0: order}, (1, 2)), 8, 0))

    wait(hosted.manager.append(T0, batch(b"a"), -1, 1, 0))

    question = {T0: FetchQuestion(None, 0, None)}
    consumer = wait(hosted.manager.fetch(-1, question, 1 << 20, 0))[T0]
    assert consumer.high_watermark == 1
