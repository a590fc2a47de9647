"""How fast brokers are for a client of Kafka's, and what wrong frames do to them.

    python -m tests.bench.clients                      # a minute; on a quiet machine
    python -m tests.bench.clients --records 200000
    python -m tests.bench.clients --fuzz 1000000       # frames that are wrong, to one broker
    python -m tests.bench.clients --minutes 10         # is the brokers' memory flat under load?
    python -m tests.bench.clients --minutes 3 --version 2.7
    python -m tests.bench.clients --connections 1000   # what does an idle connection cost?
    python -m tests.bench.clients --json clients.json

librdkafka (confluent-kafka), an idempotent producer, sends records of 1 KB with acks=all to a topic
of 3 partitions on 3 replicas, and another client reads them; all processes share the machine.
Memory is what the brokers hold before and after. With --minutes records go on and on, old segments
are deleted, and the brokers' memory is looked at every few seconds: it is flat if in the second
half of the time no broker grows by more than a tenth. Leaves with 1 if a record is missing, a
broker has ended, or memory is not flat.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from impl.server.cluster import Cluster, new_state
from tests.clients.conftest import SETTINGS, Wire
from tests.clients.fuzzing import apis_of, fuzz
from tests.clients.test_bad_input import resident, threads

TOPIC = "bench"
RECORD_BYTES = 1024


def sent(servers: str, records: int) -> tuple[float, list[Any]]:
    """Seconds until everything was acknowledged, and what failed."""
    from confluent_kafka import Producer

    failed: list[Any] = []

    def reported(error: Any, record: Any) -> None:
        if error is not None:
            failed.append(error)

    producer = Producer({
        "bootstrap.servers": servers, "enable.idempotence": True, "linger.ms": 5, "log_level": 0,
        "queue.buffering.max.messages": 100_000,
    })  # fmt: skip
    value = os.urandom(RECORD_BYTES)
    began = time.monotonic()
    for _ in range(records):
        while True:
            try:
                producer.produce(TOPIC, value, on_delivery=reported)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    left = producer.flush(300)
    return time.monotonic() - began, failed + ["not acknowledged"] * left


def received(servers: str, records: int) -> tuple[float, int]:
    """Seconds from the first record to the last, and how many there were."""
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": servers, "group.id": "bench", "log_level": 0})
    consumer.assign([TopicPartition(TOPIC, number, 0) for number in range(3)])
    began, found, deadline = 0.0, 0, time.monotonic() + 300
    while found < records and time.monotonic() < deadline:
        came = [one for one in consumer.consume(5000, 1.0) if one.error() is None]
        began = began or time.monotonic()
        found += len(came)
    took = time.monotonic() - began
    consumer.close()
    return took, found


def measured(records: int, frames: int, version: str) -> dict[str, Any]:
    """All figures."""
    settings = SETTINGS | {"num.partitions": "3", "socket.request.max.bytes": str(100 << 20)}
    with tempfile.TemporaryDirectory(prefix="insync-bench-") as folder:
        cluster = Cluster.create(
            Path(folder) / "c", new_state((1, 2, 3), version, settings=settings)
        )
        cluster.start()
        try:
            load = os.getloadavg()[0]
            sent(cluster.bootstrap_servers, 1000)  # makes the topic, and warms up
            before = [resident(cluster, one) for one in cluster.brokers]
            write_s, failed = sent(cluster.bootstrap_servers, records)
            read_s, found = received(cluster.bootstrap_servers, records + 1000)
            began = time.monotonic()
            fuzz(cluster.addresses()[1], frames, 1, TOPIC, apis_of(version))
            fuzz_s = time.monotonic() - began
            waiting = threads(cluster, 2)
            after = [resident(cluster, one) for one in cluster.brokers]
            alive = len(cluster.running())
        finally:
            cluster.stop(20)
    megabytes = records * RECORD_BYTES / 1e6
    return {
        "records": records, "failed": len(failed), "read": found, "load": load,
        "write_mb_s": megabytes / write_s, "write_records_s": records / write_s,
        "read_mb_s": megabytes / read_s, "wrong_frames": frames, "wrong_frames_s": fuzz_s,
        "memory_mb_before": [one / 1e6 for one in before],
        "memory_mb_after": [one / 1e6 for one in after], "processes_alive": alive,
        "threads_after_wrong_frames": waiting,
    }  # fmt: skip


def lasting(minutes: float, rate: int, version: str) -> dict[str, Any]:
    """The brokers' memory while so many records a second are sent and read for some minutes."""
    settings = SETTINGS | {
        "num.partitions": "3", "socket.request.max.bytes": str(100 << 20),
        "log.segment.bytes": str(16 << 20), "log.retention.bytes": str(32 << 20),
        "log.retention.check.interval.ms": "5000", "log.segment.delete.delay.ms": "1000",
    }  # fmt: skip
    samples: dict[int, list[float]] = {}
    records = 0
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="insync-bench-") as folder:
        cluster = Cluster.create(
            Path(folder) / "c", new_state((1, 2, 3), version, settings=settings)
        )
        cluster.start()
        ended = threading.Event()
        reader = threading.Thread(target=_read_on, args=(cluster.bootstrap_servers, ended))
        try:
            sent(cluster.bootstrap_servers, 1000)
            reader.start()
            began = time.monotonic()
            failed: list[Any] = []
            while (now := time.monotonic()) < began + 60 * minutes:
                came = sent(cluster.bootstrap_servers, rate)[1]
                failed, records = failed + came, records + rate
                for one in cluster.brokers:
                    samples.setdefault(one, []).append(resident(cluster, one) / 1e6)
                time.sleep(max(0.0, now + 1 - time.monotonic()))
            alive = len(cluster.running())
        finally:
            ended.set()
            reader.join(30)
            cluster.stop(20)
    growth = [_growth(one) for one in samples.values()]
    return {
        "minutes": minutes, "records": records, "failed": len(failed), "load": load,
        "memory_mb_after_a_tenth": [one[len(one) // 10] for one in samples.values()],
        "memory_mb_half_way": [one[len(one) // 2] for one in samples.values()],
        "memory_mb_at_the_end": [one[-1] for one in samples.values()],
        "memory_mb_most": [max(one) for one in samples.values()],
        "growth_of_second_half": growth, "processes_alive": alive,
        "flat": max(growth) <= 0.1,
    }  # fmt: skip


def _growth(samples: list[float]) -> float:
    """Of the second half: how much the last tenth of all is above its first, as a fraction."""
    tenth, half = max(1, len(samples) // 10), samples[len(samples) // 2 :]
    return statistics.median(half[-tenth:]) / statistics.median(half[:tenth]) - 1


def _read_on(servers: str, ended: threading.Event) -> None:
    """Read what comes, as member of a group, until the end."""
    from confluent_kafka import Consumer

    consumer = Consumer({"bootstrap.servers": servers, "group.id": "bench", "log_level": 0})
    consumer.subscribe([TOPIC])
    while not ended.is_set():
        consumer.consume(5000, 0.5)
    consumer.close()


def connected(count: int) -> dict[str, Any]:
    """What idle connections cost a broker, and how fast it answers meanwhile."""
    with tempfile.TemporaryDirectory(prefix="insync-bench-") as folder:
        cluster = Cluster.create(Path(folder) / "c", new_state((1,), "2.3", settings={
            "offsets.topic.replication.factor": "1"}))  # fmt: skip
        cluster.start()
        wires: list[Wire] = []
        try:
            [address] = cluster.addresses()
            before = resident(cluster, 1)
            began = time.monotonic()
            for _ in range(count):
                wires.append(Wire(address))
                wires[-1].ask("ApiVersions", 0)
            took = time.monotonic() - began
            held = resident(cluster, 1)
            began = time.monotonic()
            for one in wires:
                one.ask("ApiVersions", 0)
            answered = time.monotonic() - began
            for one in wires:
                one.close()
            time.sleep(2)
            after = resident(cluster, 1)
        finally:
            cluster.stop(20)
    return {
        "connections": count, "connect_and_ask_s": took, "ask_each_again_s": answered,
        "memory_mb_before": before / 1e6, "memory_mb_with": held / 1e6,
        "memory_kb_each": (held - before) / 1e3 / count, "memory_mb_after": after / 1e6,
    }  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and say whether anything is missing."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.clients", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--fuzz", type=int, default=0, metavar="FRAMES")
    parser.add_argument("--minutes", type=float, metavar="N")
    parser.add_argument("--rate", type=int, default=1000, help="records a second, for --minutes")
    parser.add_argument("--connections", type=int, metavar="N")
    parser.add_argument("--version", default="2.3", help="of the brokers")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    if given.minutes:
        found = lasting(given.minutes, given.rate, given.version)
        good = found["flat"] and not found["failed"] and found["processes_alive"] == 4
    elif given.connections:
        found = connected(given.connections)
        good = True
    else:
        found = measured(given.records, given.fuzz, given.version)
        whole = found["read"] == given.records + 1000 and not found["failed"]
        good = whole and found["processes_alive"] == 4
    for name, value in found.items():
        shown = f"{value:,.1f}" if isinstance(value, float) else value
        if isinstance(value, list):
            shown = ", ".join(f"{one:,.2f}" for one in value)
        print(f"{name:24} {shown}")
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
