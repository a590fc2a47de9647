"""Whether brokers grow while clients write and read: resident memory of each, minute by minute.

    python -m tests.bench.memory                      # ten minutes
    python -m tests.bench.memory --minutes 3 --version 2.7 --json memory.json

librdkafka's idempotent producer writes records of 1 KB with acks=all to a topic of 6 partitions on
3 brokers, as fast as they are acknowledged, and a group of one reads them. Segments of 16 MB are
deleted by size, as in a cluster that has run for months. Leaves with 1 if a broker has more than a
tenth more in the last third of the time than in the second.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from confluent_kafka import Consumer, Producer

from impl.server.cluster import Cluster, new_state
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait
from tests.clients.conftest import SETTINGS

TOPIC = "memory"
PARTITIONS = 6
RECORD = bytes(1024)
EVERY_S = 5.0
MOST_GROWTH = 1.1
KEPT = {
    "log.segment.bytes": str(16 << 20), "log.retention.bytes": str(64 << 20),
    "log.retention.check.interval.ms": "5000",
}  # fmt: skip


class Clients(threading.Thread):
    """A producer and a consumer in one thread, until `ended`; both count records."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__(daemon=True)
        self.ended = threading.Event()
        self.written = self.read = 0
        servers = {"bootstrap.servers": bootstrap}
        self._producer = Producer(servers | {"enable.idempotence": True, "linger.ms": 5})
        self._consumer = Consumer(
            servers | {"group.id": TOPIC, "auto.offset.reset": "earliest"}
        )  # fmt: skip

    def run(self) -> None:
        """On and on."""
        self._consumer.subscribe([TOPIC])
        while not self.ended.is_set():
            for _ in range(200):
                self._producer.produce(TOPIC, RECORD, on_delivery=self._is_written)
            self._producer.flush(30)
            for one in self._consumer.consume(1000, 0.05):
                self.read += one.error() is None
        self._consumer.close()
        del self._producer  # or it would look for brokers that have ended

    def _is_written(self, error: object, _record: object) -> None:
        self.written += error is None


def resident(pid: int) -> int:
    """Bytes of a process that are in memory."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    line = next(one for one in status.splitlines() if one.startswith("VmRSS:"))
    return int(line.split()[1]) << 10


def measured(version: str, minutes: float) -> tuple[dict[int, list[int]], Clients]:
    """Bytes of each broker, every `EVERY_S` seconds; and the clients, with what they counted."""
    with tempfile.TemporaryDirectory(prefix="insync-memory-") as folder:
        state = new_state((1, 2, 3), version, settings=SETTINGS | KEPT)
        cluster = Cluster.create(Path(folder) / "c", state)
        cluster.start()
        port = cluster.session()
        try:
            client = ZnodeClient(port, cluster.release)
            replicas = {number: [1 + (number + n) % 3 for n in range(3)]
                        for number in range(PARTITIONS)}  # fmt: skip
            wait(client.create_topic(TOPIC, replicas))
            clients = Clients(",".join(f"{host}:{at}" for host, at in cluster.addresses()))
            clients.start()
            found: dict[int, list[int]] = {broker: [] for broker in cluster.brokers}
            deadline = time.monotonic() + minutes * 60
            while time.monotonic() < deadline:
                time.sleep(EVERY_S)
                for broker, sizes in found.items():
                    pid = cluster.pid(f"broker{broker}")
                    assert pid is not None, f"broker {broker} has ended"
                    sizes.append(resident(pid))
            clients.ended.set()
            clients.join()
        finally:
            port.close()
            cluster.stop(20)
    return found, clients


def growth(sizes: Sequence[int]) -> float:
    """The last third of the time by the second."""
    third = max(1, len(sizes) // 3)
    return statistics.median(sizes[-third:]) / statistics.median(sizes[third : 2 * third] or sizes)


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and say whether they grow."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.memory", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--version", default="2.3", help="of the brokers")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    found, clients = measured(given.version, given.minutes)
    print(f"{clients.written:,} records written and {clients.read:,} read in "
          f"{given.minutes:g} minutes")  # fmt: skip
    a_minute = max(1, round(60 / EVERY_S))
    for broker, sizes in found.items():
        by_minute = ", ".join(f"{one / 1e6:.0f}" for one in sizes[a_minute - 1 :: a_minute])
        print(f"broker {broker}: MB after each minute {by_minute}; {growth(sizes):.2f} times")
    if given.json is not None:
        given.json.write_text(json.dumps({"written": clients.written, "read": clients.read,
                                          "bytes": found}, indent=2) + "\n")  # fmt: skip
    if not clients.written or not clients.read:
        return 1
    return 0 if all(growth(sizes) <= MOST_GROWTH for sizes in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
