"""A traced cluster of real processes: killed, paused and restarted while records are written.

What happens to whom, and for how long, follows from a seed; what comes of it does not.
"""

from __future__ import annotations

import contextlib
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from conformance.running.workers import working
from impl.releases import DEFAULT
from impl.server.clients import ClientError, Consumer, Producer
from impl.server.cluster import TRACE, Cluster, new_state
from impl.server.processes import ClusterError
from impl.znodes.client import ZnodeClient
from impl.zookeeper.errors import ZooKeeperError
from impl.zookeeper.port import wait

TOPIC = "t"
SETTINGS = {
    "zookeeper.session.timeout.ms": "1500",
    "controlled.shutdown.retry.backoff.ms": "200",
    "controlled.shutdown.max.retries": "1",
    "replica.fetch.backoff.ms": "100",
    "replica.lag.time.max.ms": "2000",
    "replica.high.watermark.checkpoint.interval.ms": "500",
    "leader.imbalance.check.interval.seconds": "5",
}
KINDS = ("kill", "pause", "stop")


class Mishap(NamedTuple):
    """What befalls a broker, for how long (s), and how long all is quiet then (s)."""

    kind: str
    broker: int
    lasts: float
    quiet: float


def mishaps(count: int, seed: int, brokers: int = 3) -> Iterator[Mishap]:
    """So many, by a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        kind = chance.choice(KINDS)
        lasts = chance.uniform(0.2, 3.0) if kind != "stop" else chance.uniform(0.0, 0.5)
        yield Mishap(kind, chance.randint(1, brokers), lasts, chance.uniform(0.3, 1.5))


@contextmanager
def traced_cluster(
    folder: Path, partitions: int = 1, version: str = DEFAULT, **settings: str
) -> Iterator[Cluster]:
    """Three brokers that trace, with a topic of three replicas; all are ended at the end."""
    named = SETTINGS | {name.replace("_", "."): value for name, value in settings.items()}
    state = new_state([1, 2, 3], version, "embedded", settings=named)
    state.trace = True
    cluster = Cluster.create(folder, state)
    try:
        cluster.start()
        port = cluster.session()
        places = {
            number: [1 + (number + at) % 3 for at in range(3)] for number in range(partitions)
        }
        wait(ZnodeClient(port, cluster.release).create_topic(TOPIC, places))
        port.close()
        with Producer(cluster.addresses()) as producer:
            producer.partitions(TOPIC, time.monotonic() + 10)
        yield cluster
    except BaseException:
        cluster.end(cluster.running(), signal.SIGKILL, 5.0)
        raise
    cluster.stop(10)


def befall(cluster: Cluster, mishap: Mishap) -> None:
    """Let it happen, and be over."""
    name = f"broker{mishap.broker}"
    match mishap.kind:
        case "kill":
            cluster.kill(mishap.broker)
            time.sleep(mishap.lasts)
            cluster.start(only=name)
        case "stop":
            cluster.stop_one(mishap.broker)
            time.sleep(mishap.lasts)
            cluster.start(only=name)
        case _:
            cluster.pause(mishap.broker)
            time.sleep(mishap.lasts)
            cluster.resume(mishap.broker)


@contextmanager
def written_to(cluster: Cluster, seed: int = 0, every_s: float = 0.03) -> Iterator[list[int]]:
    """Records are written and read all the while; the list counts those that were acknowledged."""
    ended, acknowledged = threading.Event(), [0]

    def write() -> None:
        chance = random.Random(seed)
        with Producer(cluster.addresses(), timeout_s=2) as producer:
            while not ended.wait(every_s):
                producer.acks = chance.choice((-1, -1, 1))
                with contextlib.suppress(ClientError, OSError):
                    sent = producer.send(TOPIC, [b"v"] * chance.choice((1, 3)))
                    acknowledged[0] += len(sent)

    def read() -> None:
        with Consumer(cluster.addresses(), timeout_s=2) as consumer:
            while not ended.wait(every_s * 5):
                with contextlib.suppress(ClientError, OSError):
                    for partition in consumer.partitions(TOPIC, time.monotonic() + 1):
                        end = consumer.offset(TOPIC, partition, -1)
                        consumer.read(TOPIC, partition, max(0, end - 2), wait_ms=50)

    with working((("write", write), ("read", read)), ended):
        yield acknowledged


def traced_run(
    folder: Path, count: int, seed: int, partitions: int = 1, version: str = DEFAULT,
    on_progress: Callable[[str], None] = lambda text: None,
) -> Path:  # fmt: skip
    """A whole run with so many mishaps; where its traces are."""
    with (
        traced_cluster(folder, partitions, version) as cluster,
        written_to(cluster, seed) as acknowledged,
    ):
        time.sleep(0.5)
        for number, mishap in enumerate(mishaps(count, seed), 1):
            on_progress(f"{number} of {count}: {mishap.kind} broker {mishap.broker}, "
                 f"{acknowledged[0]:,} records acknowledged")  # fmt: skip
            with contextlib.suppress(ClusterError, ZooKeeperError):
                befall(cluster, mishap)
            time.sleep(mishap.quiet)
        with contextlib.suppress(ClusterError):
            cluster.start()  # whoever could not be started again in time
    return folder / TRACE
