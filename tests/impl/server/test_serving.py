from __future__ import annotations

from pathlib import Path
from typing import Any

from impl.core.requests import LeaderAndIsr, PartitionOrder
from impl.disk import MemoryDisk
from impl.log import Log, LogManager, LogSettings
from impl.releases import Release
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
from tests.impl.log.batches import Clock, batch

T0 = TopicPartition("t", 0)
R23 = Release.of("2.3")


def leading(folder: Path, *values: bytes) -> tuple[Serving, Log, Quotas]:
    """Broker 1 leads ``t-0``, follower 2 is in sync and 3 is not; all is committed."""
    text = "zookeeper.connect=h:1\nlog.dirs=a\n"
    quotas = Quotas(parse_properties("p", text, R23), lambda trouble: None)
    clock = Clock()
    logs = LogManager(MemoryDisk(clock), ["/d"], LogSettings(clock))
    logs.start(1)
    client = ZnodeClient(EmbeddedSession(ZooKeeper()), R23)
    replicas = HostedReplicas(
        1, R23, logs, 10_000, Log4jFiles(folder, 1, R23), lambda: client,
        TopicConfigs(lambda trouble: None), quotas,
    )  # fmt: skip
    order = PartitionOrder(LeaderIsrAndControllerEpoch(1, 0, (1, 2), 1), (1, 2, 3), True)
    request = LeaderAndIsr(2, 1, 1, -1, {T0: order}, (1,))
    assert replicas.handle(request, 7, 0, {}) == ("NONE", {T0: "NONE"})
    log = logs.log(T0)
    assert log is not None
    for value in values:
        log.append_as_leader(batch(value), 0)
    log.high_watermark = log.log_end
    return Serving(replicas, lambda topic: 1), log, quotas


def asked(replica: int, offset: int = 0) -> dict[str, Any]:
    return {"replica": replica, "min_bytes": 1, "max_wait_ms": 0, "max_bytes": 1 << 20,
            "partitions": [[*T0, None, offset, None]]}  # fmt: skip


def test_records_are_handed_out_as_a_region_of_the_file_and_never_looked_at(tmp_path: Path):
    serving, log, _ = leading(tmp_path, b"one", b"two")

    answer = serving.fetch(asked(-1), b"")

    (region,) = answer.regions
    assert answer.body == b""
    assert answer.head["partitions"] == [["t", 0, "NONE", 2, 0, log.size, None]]
    assert (region.file.path, region.position, region.length) == (
        "/d/t-0/00000000000000000000.log", 0, log.size
    )  # fmt: skip


def test_where_nothing_is_found_no_file_is_held(tmp_path: Path):
    serving, _, _ = leading(tmp_path, b"one")

    assert serving.fetch(asked(-1, 1), b"").regions == ()


def test_a_leader_above_its_rate_gives_nothing_to_a_throttled_follower_that_lags(tmp_path: Path):
    serving, log, quotas = leading(tmp_path, b"one")
    quotas.leader.bound = 1
    first = serving.fetch(asked(3), b"")
    not_throttled = serving.fetch(asked(3), b"")
    quotas.mark("t", {"leader.replication.throttled.replicas": "0:1"}, 1)

    below = serving.fetch(asked(3), b"")
    above = serving.fetch(asked(3), b"")
    in_sync = serving.fetch(asked(2), b"")
    consumer = serving.fetch(asked(-1), b"")

    assert [len(one.regions) for one in (first, not_throttled, below)] == [1, 1, 1]
    assert above.regions == ()
    assert above.head["partitions"] == [["t", 0, "NONE", 1, 0, 0, None]]
    assert [len(one.regions) for one in (in_sync, consumer)] == [1, 1]
    assert quotas.leader.rate == 2 * log.size  # to 3 once, and to 2: consumers do not count
