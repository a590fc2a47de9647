"""A traced cluster of real processes: killed, paused and restarted while records are written.

A seed determines the faults, their brokers and their durations, but not the resulting run.
"""

from __future__ import annotations

import contextlib
import random
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from conformance.chaos.schedule import ChaosFault
from impl.releases import DEFAULT
from impl.server.clients import ClientError, Consumer, Producer
from impl.server.cluster import Cluster, new_state
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait

TOPIC = "t"
BROKERS = [1, 2, 3]
SETTINGS = {
    "zookeeper.session.timeout.ms": "1500",
    "controlled.shutdown.retry.backoff.ms": "200",
    "controlled.shutdown.max.retries": "1",
    "replica.fetch.backoff.ms": "100",
    "replica.lag.time.max.ms": "2000",
    "replica.high.watermark.checkpoint.interval.ms": "500",
    "leader.imbalance.check.interval.seconds": "5",
}


@contextmanager
def traced_cluster(folder: Path, **settings: str) -> Iterator[Cluster]:
    """Runs brokers that trace, with one partition of three replicas; stops them at the end."""
    named = SETTINGS | {name.replace("_", "."): value for name, value in settings.items()}
    state = new_state(BROKERS, DEFAULT, "embedded", settings=named)
    state.trace = True
    cluster = Cluster.create(folder, state)
    try:
        cluster.start()
        port = cluster.session()
        wait(ZnodeClient(port, cluster.release).create_topic(TOPIC, {0: [1, 2, 3]}))
        port.close()
        with Producer(cluster.addresses()) as producer:
            producer.partitions(TOPIC, time.monotonic() + 10)
        yield cluster
    except BaseException:
        cluster.end(cluster.running(), signal.SIGKILL, 5.0)
        raise
    cluster.stop(10)


def inject_fault(cluster: Cluster, fault: ChaosFault) -> None:
    """Injects the fault, waits as long as it lasts, and ends it."""
    name = f"broker{fault.broker}"
    match fault.kind:
        case "kill":
            cluster.kill(fault.broker)
            time.sleep(fault.lasts)
            cluster.start(only=name)
        case "stop":
            cluster.stop_one(fault.broker)
            time.sleep(fault.lasts)
            cluster.start(only=name)
        case _:
            cluster.pause(fault.broker)
            time.sleep(fault.lasts)
            cluster.resume(fault.broker)


@contextmanager
def run_in_threads(
    works: Iterable[tuple[str, Callable[[], object]]], ended: threading.Event,
    patience_s: float = 10.0,
) -> Iterator[None]:  # fmt: skip
    """Run each work in a thread of its name; at the end set ``ended`` and join them.

    Each is waited for up to ``patience_s``; an interrupt ends the waiting.
    """
    threads = [threading.Thread(target=work, name=name, daemon=True) for name, work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        with contextlib.suppress(KeyboardInterrupt):
            for thread in threads:
                thread.join(patience_s)


@contextmanager
def written_to(cluster: Cluster) -> Iterator[list[int]]:
    """Writes and reads records meanwhile; the list holds the number of acknowledged records."""
    ended, acknowledged = threading.Event(), [0]

    def write() -> None:
        chance = random.Random(0)
        with Producer(cluster.addresses(), timeout_s=2) as producer:
            while not ended.wait(0.03):
                producer.acks = chance.choice((-1, -1, 1))
                with contextlib.suppress(ClientError, OSError):
                    sent = producer.send(TOPIC, [b"v"] * chance.choice((1, 3)))
                    acknowledged[0] += len(sent)

    def read() -> None:
        with Consumer(cluster.addresses(), timeout_s=2) as consumer:
            while not ended.wait(0.15):
                with contextlib.suppress(ClientError, OSError):
                    for partition in consumer.partitions(TOPIC, time.monotonic() + 1):
                        end = consumer.offset(TOPIC, partition, -1)
                        consumer.read(TOPIC, partition, max(0, end - 2), wait_ms=50)

    with run_in_threads((("write", write), ("read", read)), ended):
        yield acknowledged
