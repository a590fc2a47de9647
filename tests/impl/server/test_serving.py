from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from impl.core.fetcher_thread import FetchQuestion, FetchReply
from impl.core.requests import LeaderAndIsr, LeaderAndIsrPartitionState, UpdateMetadata
from impl.disk import MemoryDisk
from impl.log import Log, LogManager, LogSettings
from impl.releases import Release
from impl.server.control_messages import LiveBrokers
from impl.server.log4j_files import Log4jFiles
from impl.server.properties import parse_properties
from impl.server.quotas import Quotas
from impl.server.replicas import HostedReplicas
from impl.server.serving import Serving
from impl.server.topic_configs import TopicConfigs
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition
from impl.znodes.client import ZnodeClient
from impl.zookeeper import ZooKeeper
from impl.zookeeper.session import EmbeddedSession
from tests.impl.log.batches import ManualClock, batch
from tests.waiting import PATIENCE_S, eventually

T0 = TopicPartition("t", 0)
R23 = Release.of("2.3")


def leading(folder: Path, *values: bytes) -> tuple[Serving, Log, Quotas]:
    """Broker 1 leads ``t-0``, follower 2 is in sync and 3 is not; all is committed."""
    text = "zookeeper.connect=h:1\nlog.dirs=a\n"
    quotas = Quotas(parse_properties("p", text, R23), lambda trouble: None)
    clock = ManualClock()
    logs = LogManager(MemoryDisk(clock), ["/d"], LogSettings(clock))
    logs.start(1)
    client = ZnodeClient(EmbeddedSession(ZooKeeper()), R23)
    replicas = HostedReplicas(
        1, R23, logs, 10_000, Log4jFiles(folder, 1, R23), lambda: client,
        TopicConfigs(lambda trouble: None, Release.of("2.3")), quotas,
    )  # fmt: skip
    order = LeaderAndIsrPartitionState(
        LeaderIsrAndControllerEpoch(1, 0, (1, 2), 1), (1, 2, 3), True
    )
    request = LeaderAndIsr(2, 1, 1, -1, {T0: order}, (1,))
    assert replicas.handle(request, lambda: 7, 0, LiveBrokers()) == ("NONE", {T0: "NONE"})
    log = logs.log(T0)
    assert log is not None
    for value in values:
        log.append_as_leader(batch(value), 0)
    log.high_watermark = log.log_end
    return Serving(replicas, lambda topic: 1), log, quotas


def read(serving: Serving, replica: int, offset: int = 0) -> FetchReply:
    """What who asks at an offset gets of ``t-0``."""
    questions = {T0: FetchQuestion(None, offset, None)}
    with serving.replicas.lock:
        return serving.read(replica, questions, wait_ms=0, minimum=1, most=1 << 20)[T0]


def test_records_are_handed_out_as_a_region_of_the_file_and_never_looked_at(tmp_path: Path):
    serving, log, _ = leading(tmp_path, b"one", b"two")

    reply = read(serving, -1)

    region = reply.batch
    assert (reply.error.value, reply.high_watermark, reply.log_start) == ("NONE", 2, 0)
    assert (region.file.path, region.position, region.length) == (
        "/d/t-0/00000000000000000000.log", 0, log.size
    )  # fmt: skip


def test_where_nothing_is_found_no_file_is_held(tmp_path: Path):
    serving, _, _ = leading(tmp_path, b"one")

    assert read(serving, -1, 1).batch is None


def test_a_leader_above_its_rate_gives_nothing_to_a_throttled_follower_that_lags(tmp_path: Path):
    serving, log, quotas = leading(tmp_path, b"one")
    quotas.leader.bound = 1
    first = read(serving, 3)
    not_throttled = read(serving, 3)
    quotas.mark("t", {"leader.replication.throttled.replicas": "0:1"}, 1)

    below = read(serving, 3)
    above = read(serving, 3)
    in_sync = read(serving, 2)
    consumer = read(serving, -1)

    assert all(one.batch is not None for one in (first, not_throttled, below))
    assert (above.error.value, above.batch, above.high_watermark) == ("NONE", None, 1)
    assert all(one.batch is not None for one in (in_sync, consumer))
    assert quotas.leader.rate == 2 * log.size  # to 3 once, and to 2: consumers do not count


def test_whose_time_is_up_is_answered_by_what_holds_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    serving, _, _ = leading(tmp_path, b"one")
    replicas = serving.replicas

    def another_leads_meanwhile(_timeout: float) -> bool:
        there = LiveBrokers({2: ("h", 1)})
        replicas.handle(UpdateMetadata(5, 1, 1, -1, {}, (2,)), lambda: 7, 1, there)
        order = LeaderAndIsrPartitionState(
            LeaderIsrAndControllerEpoch(2, 1, (2,), 1), (1, 2, 3), False
        )
        replicas.handle(LeaderAndIsr(2, 1, 1, -1, {T0: order}, (2,)), lambda: 7, 2, there)
        return False

    monkeypatch.setattr(replicas.readable, "wait", another_leads_meanwhile)
    with replicas.lock:
        [reply] = serving.read(2, {T0: FetchQuestion(None, 1, None)}, 10, 1, 1 << 20).values()

    assert reply.error.value == "NOT_LEADER_FOR_PARTITION"


def test_who_waits_reads_again_only_where_something_came_for_him(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    serving, log, _ = leading(tmp_path, b"one")
    replicas = serving.replicas
    reads: list[int] = []
    reading = serving.core.read

    async def counted(replica: int, *args: Any) -> Any:
        reads.append(replica)
        return await reading(replica, *args)

    found: list[FetchReply] = []

    def wait_for_more() -> None:
        with replicas.lock:
            questions = {T0: FetchQuestion(None, 1, None)}
            found.append(serving.read(-1, questions, 10_000, 1, 1 << 20)[T0])

    monkeypatch.setattr(serving.core, "read", counted)
    waiting = threading.Thread(target=wait_for_more)
    waiting.start()
    assert eventually(lambda: reads)
    for _ in range(20):  # something came elsewhere
        time.sleep(0.005)
        with replicas.lock:
            replicas.notify_waiters()
    with replicas.lock:
        before = len(reads)
        log.append_as_leader(batch(b"two"), 0)
        replicas.readable.notify_all()  # it is not committed yet
    time.sleep(0.02)
    with replicas.lock:
        uncommitted = len(reads)
        log.high_watermark = 2
        replicas.notify_waiters()
    waiting.join(PATIENCE_S)

    assert (before, uncommitted, len(reads)) == (1, 1, 2)
    assert [(one.high_watermark, one.batch is not None) for one in found] == [(2, True)]
