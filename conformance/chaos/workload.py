"""Who writes and reads while brokers fail: each in a thread of its own, all in one history."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from conformance.chaos.history import Commit, History, Read, Restored, Send
from conformance.running.workers import working
from impl.server.clients import ClientError, Consumer, Producer
from impl.server.connection import Address
from impl.server.group_client import GroupConsumer

TOPIC = "chaos"
GROUP = "chaos-readers"
READERS = 2


class Workload:
    """Writers and readers of one topic; ``history`` grows as they go on."""

    def __init__(self, addresses: Sequence[Address], partitions: int, seed: int) -> None:
        self.addresses = list(addresses)
        self.partitions = partitions
        self.seed = seed
        self.history = History()
        self.ended = threading.Event()
        self.began = time.monotonic()

    def now(self) -> float:
        """Seconds since the run began."""
        return round(time.monotonic() - self.began, 3)

    def write(self, writer: str, acks: int, idempotent: bool) -> None:
        """Send numbered records, a batch after the other, until the end."""
        chance = random.Random(f"{self.seed} {writer}")
        number = 0
        with Producer(
            self.addresses, acks, request_ms=1500, timeout_s=12.0, idempotent=idempotent
        ) as producer:
            while not self.ended.is_set():
                send = Send(
                    writer, chance.randrange(self.partitions), number, chance.choice((1, 1, 2, 5)),
                    acks, idempotent, self.now(),
                )  # fmt: skip
                number += send.count
                with self.history.lock:
                    self.history.sends.append(send)
                values = [value.encode() for value in send.values]
                try:
                    told = producer.send(TOPIC, values, partition=send.partition)
                    send.offset = told[0].offset
                except ClientError as error:
                    send.error = error.code
                except OSError as error:
                    send.error = type(error).__name__
                send.ended = self.now()
                self.ended.wait(chance.uniform(0.005, 0.04))
        if not send.ended:
            send.error = send.error or "cut short"

    def read(self, reader: str) -> None:
        """Read as member of a group, and commit, until the end."""
        with GroupConsumer(self.addresses, GROUP, TOPIC) as consumer:
            while not self.ended.is_set():
                try:
                    if not consumer.joined:
                        began = self.now()
                        consumer.join()
                        self._restored(reader, consumer, began)
                    self._polled(reader, consumer)
                except (ClientError, OSError):
                    self.ended.wait(0.1)

    def _restored(self, reader: str, consumer: GroupConsumer, began: float) -> None:
        found = [Restored(reader, one, offset, began) for one, offset in consumer.restored.items()]
        with self.history.lock:
            self.history.restored += found

    def _polled(self, reader: str, consumer: GroupConsumer) -> None:
        for one in consumer.poll_group():
            records = tuple(
                (record.offset, (record.value or b"").decode(errors="replace"))
                for record in one.records
            )
            if records or one.error:
                read = Read(
                    reader, one.joined, one.partition, one.position, records, self.now(),
                    one.error,
                )  # fmt: skip
                with self.history.lock:
                    self.history.reads.append(read)
        began = self.now()
        positions = consumer.commit()
        ended = self.now()
        with self.history.lock:
            self.history.commits += [
                Commit(reader, partition, offset, began, ended)
                for partition, offset in positions.items()
            ]

    def await_records(self, count: int = 10, patience_s: float = 20.0) -> None:
        """Until so many were acknowledged, or the time is up."""
        deadline = time.monotonic() + patience_s
        while self.acknowledged < count and time.monotonic() < deadline:
            time.sleep(0.05)

    def read_all(self, timeout_s: float) -> None:
        """What every partition holds, into the history. ClientError."""
        with Consumer(self.addresses, timeout_s) as consumer:
            for partition in range(self.partitions):
                self.history.final[partition] = {
                    record.offset: (record.value or b"").decode(errors="replace")
                    for record in consumer.read_all(TOPIC, partition)
                }

    @property
    def acknowledged(self) -> int:
        """Records that were acknowledged so far."""
        with self.history.lock:
            return sum(one.count for one in self.history.sends if one.acknowledged)


@contextmanager
def at_work(workload: Workload, idempotent: bool) -> Iterator[None]:
    """Writers of each kind and readers are at work; at the end they have ended.

    ``idempotent``: the release has idempotent producers.
    """
    writers = [("plain", -1, False), ("leader", 1, False)]
    writers += [("idempotent", -1, True), ("second", -1, True)] if idempotent else []
    readers = [f"reader {one}" for one in range(1, READERS + 1)]
    works: list[tuple[str, Callable[[], object]]] = [
        *((one[0], partial(workload.write, *one)) for one in writers),
        *((one, partial(workload.read, one)) for one in readers),
    ]
    with working(works, workload.ended, 20):
        yield
