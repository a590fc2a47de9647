from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

from impl.disk import MemoryDisk
from impl.log import Log
from impl.log.config import LogConfig
from impl.log.loading import load_log
from impl.releases import Release
from impl.server.properties import parse_properties
from impl.server.quotas import Quotas
from impl.server.replicas import ReplicaManager
from impl.server.serving import Serving
from impl.znodes import TopicPartition
from tests.impl.log.batches import Clock, batch

T0 = TopicPartition("t", 0)


def leading(*values: bytes) -> tuple[Serving, Log, Quotas]:
    """Broker 1 leads ``t-0``, follower 2 is in sync and 3 is not; all is committed."""
    clock = Clock()
    disk = MemoryDisk(clock)
    disk.make_directory("/d/t-0")
    log, _ = load_log(disk, "/d/t-0", LogConfig(), clock, clean=False)
    for value in values:
        log.append_as_leader(batch(value), 0)
    text = "zookeeper.connect=h:1\nlog.dirs=a\n"
    quotas = Quotas(parse_properties("p", text, Release.of("2.3")), lambda trouble: None)
    hosted = SimpleNamespace(
        partition=T0, leads=True, leader_epoch=0, hw=log.log_end, log_start=0, isr=(1, 2),
        replicas=(1, 2, 3), remotes={},
    )  # fmt: skip

    @contextmanager
    def using(partition: TopicPartition) -> Iterator[Log]:
        yield log

    lock = threading.RLock()
    manager = SimpleNamespace(
        release=Release.of("2.3"), lock=lock, changed=threading.Condition(lock), quotas=quotas,
        partitions={T0: hosted}, logs=SimpleNamespace(using=using, offline={}),
    )  # fmt: skip
    return Serving(cast(ReplicaManager, manager), lambda topic: 1), log, quotas


def asked(replica: int, offset: int = 0) -> dict[str, Any]:
    return {"replica": replica, "min_bytes": 1, "max_wait_ms": 0, "max_bytes": 1 << 20,
            "partitions": [[*T0, None, offset, None]]}  # fmt: skip


def test_records_are_handed_out_as_a_region_of_the_file_and_never_looked_at():
    serving, log, _ = leading(b"one", b"two")

    answer = serving.fetch(asked(-1), b"")

    (region,) = answer.regions
    assert answer.body == b""
    assert answer.head["partitions"] == [["t", 0, "NONE", 2, 0, log.size, None]]
    assert (region.file.path, region.position, region.length) == (
        "/d/t-0/00000000000000000000.log", 0, log.size
    )  # fmt: skip


def test_where_nothing_is_found_no_file_is_held():
    serving, _, _ = leading(b"one")

    assert serving.fetch(asked(-1, 1), b"").regions == ()


def test_a_leader_above_its_rate_gives_nothing_to_a_throttled_follower_that_lags():
    serving, log, quotas = leading(b"one")
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
