"""How fast brokers are for a client of Kafka's, and what wrong frames do to them.

    python -m tests.bench.clients                      # a minute; on a quiet machine
    python -m tests.bench.clients --records 200000
    python -m tests.bench.clients --fuzz 1000000       # frames that are wrong, to one broker
    python -m tests.bench.clients --json clients.json

librdkafka (confluent-kafka) sends records of 1 KB with acks=all to a topic of 3 partitions on 3
replicas, and another client reads them; all processes share the machine. Memory is what the brokers
hold before and after. Leaves with 1 if a record is missing or a broker has ended.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from impl.server.cluster import Cluster, new_state
from tests.clients.conftest import SETTINGS
from tests.clients.test_bad_input import fuzz, resident

TOPIC = "bench"
RECORD_BYTES = 1024


def sent(servers: str, records: int) -> tuple[float, list[Any]]:
    """Seconds until everything was acknowledged, and what failed."""
    from confluent_kafka import Producer

    failed: list[Any] = []

    def told(error: Any, record: Any) -> None:
        if error is not None:
            failed.append(error)

    producer = Producer({
        "bootstrap.servers": servers, "acks": "all", "linger.ms": 5, "log_level": 0,
        "queue.buffering.max.messages": 100_000,
    })  # fmt: skip
    value = os.urandom(RECORD_BYTES)
    began = time.monotonic()
    for _ in range(records):
        while True:
            try:
                producer.produce(TOPIC, value, on_delivery=told)
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


def measured(records: int, frames: int) -> dict[str, Any]:
    """All figures."""
    settings = SETTINGS | {"num.partitions": "3", "socket.request.max.bytes": str(100 << 20)}
    with tempfile.TemporaryDirectory(prefix="insync-bench-") as folder:
        cluster = Cluster.create(Path(folder) / "c", new_state((1, 2, 3), "2.3", settings=settings))
        cluster.start()
        try:
            load = os.getloadavg()[0]
            sent(cluster.bootstrap_servers, 1000)  # makes the topic, and warms up
            before = [resident(cluster, one) for one in cluster.brokers]
            write_s, failed = sent(cluster.bootstrap_servers, records)
            read_s, found = received(cluster.bootstrap_servers, records + 1000)
            began = time.monotonic()
            fuzz(cluster, frames, 1, TOPIC)
            fuzz_s = time.monotonic() - began
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
    }  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and say whether anything is missing."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.clients", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--fuzz", type=int, default=0, metavar="FRAMES")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    found = measured(given.records, given.fuzz)
    for name, value in found.items():
        shown = f"{value:,.1f}" if isinstance(value, float) else value
        if isinstance(value, list):
            shown = ", ".join(f"{one:,.1f}" for one in value)
        print(f"{name:20} {shown}")
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    whole = found["read"] == given.records + 1000 and not found["failed"]
    return 0 if whole and found["processes_alive"] == 4 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
