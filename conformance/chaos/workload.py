"""Runs producers and consumers of a chaos run: one thread each, one history for all."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

from conformance.chaos.history import (
    ClientHistory,
    OffsetCommit,
    ProduceAttempt,
    ProducerKind,
    ReadRecords,
    RestoredPosition,
)
from impl.server.clients import Consumer
from impl.server.connection import Address

TOPIC = "chaos"
REQUEST_MS = 1500
"""How long a broker may take to answer; clients ask again then."""
PATIENCE_S = 12.0
"""How long a record may be on its way before it is given up."""
STUBBORN_S = 120.0
"""The same of an idempotent producer. Who gives a record up gets a new producer id, and may write
again what was on its way then; Kafka's own default (delivery.timeout.ms) is as long."""
SESSION_MS = 6000
AT_ONCE = 12
"""Of a client that sends on without waiting: so many records in a row, at most."""
MOST_UNANSWERED = 100

Made = TypeVar("Made")


class Workload:
    """The state that writers and readers of one topic share; ``history`` grows during the run."""

    def __init__(self, addresses: Sequence[Address], partitions: int, seed: int) -> None:
        self.addresses = list(addresses)
        self.partitions = partitions
        self.seed = seed
        self.history = ClientHistory()
        self.ended = threading.Event()
        self.began = time.monotonic()
        self._unanswered: Counter[str] = Counter()

    def now(self) -> float:
        """Seconds since the run began."""
        return round(time.monotonic() - self.began, 3)

    # Writing

    def sends(
        self, writer: ProducerKind, counts: Sequence[int] = (1,), at_once: int = 1,
        turn: Callable[[], object] = lambda: time.sleep(0.01),
    ) -> Iterator[ProduceAttempt]:  # fmt: skip
        """The batches that a writer is to send, numbered and noted, until the end.

        A batch has as many records as one of ``counts``. Up to ``at_once`` follow each other, then
        there is a pause; while too many have no response, the writer takes ``turn`` after turn.
        """
        chance = random.Random(f"{self.seed} {writer.name}")
        number, left = 0, at_once
        while not self.ended.is_set():
            if self._unanswered[writer.name] >= MOST_UNANSWERED:
                turn()
                continue
            send = ProduceAttempt(
                writer.name, chance.randrange(self.partitions), number, chance.choice(counts),
                writer.acks, writer.idempotent, self.now(),
            )  # fmt: skip
            number += send.count
            with self.history.lock:
                self.history.sends.append(send)
                self._unanswered[writer.name] += 1
            yield send
            left -= 1
            if left <= 0:
                left = chance.randint(1, at_once) if at_once > 1 else 1
                self.ended.wait(chance.uniform(0.005, 0.04) * (1 if at_once == 1 else 5))

    def answered(self, send: ProduceAttempt, offset: int) -> None:
        """Notes that the records are there, from an offset on; -1 if it is unknown."""
        self._finish_attempt(send, offset, "")

    def failed(self, send: ProduceAttempt, error: str) -> None:
        """Notes that no response says that the records are there."""
        self._finish_attempt(send, -1, error)

    def _finish_attempt(self, send: ProduceAttempt, offset: int, error: str) -> None:
        with self.history.lock:
            if not send.ended:
                send.offset, send.error, send.ended = offset, error, self.now()
                self._unanswered[send.writer] -= 1

    def give_up(self) -> None:
        """Stops waiting for records that are still in flight."""
        with self.history.lock:
            left = [send for send in self.history.sends if not send.ended]
        for send in left:
            self.failed(send, "cut short")

    def until_made(self, make: Callable[[], Made], wrong: type[Exception]) -> Made | None:
        """A client that needs a broker to start; None if the run ends before there is one."""
        while not self.ended.is_set():
            try:
                return make()
            except wrong:
                self.ended.wait(0.2)
        return None

    # What is seen in between and at the end

    def await_records(self) -> None:
        """Waits until ten records were acknowledged, and some of each client; or the time is up."""
        self._await(
            lambda found: (
                self.acknowledged >= 10 and all(one["acknowledged_by_all"] for one in found)
            ),
            20.0,
        )

    def await_reads(self) -> None:
        """Waits until each client has read some, or the time is up; busy machines delay groups."""
        self._await(lambda found: all(one["read"] for one in found), 30.0)

    def _await(
        self, enough: Callable[[Collection[Mapping[str, int]]], bool], patience_s: float
    ) -> None:
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            with self.history.lock:
                found = self.history.by_client().values()
            if enough(found):
                return
            time.sleep(0.05)

    def read_all(self, timeout_s: float) -> None:
        """Reads every partition into the history. Raises ClientError."""
        with Consumer(self.addresses, timeout_s) as consumer:
            for partition in range(self.partitions):
                self.history.final[partition] = {
                    record.offset: _text(record.value)
                    for record in consumer.read_all(TOPIC, partition)
                }

    @property
    def acknowledged(self) -> int:
        """The number of records acknowledged so far."""
        with self.history.lock:
            return sum(one.count for one in self.history.sends if one.acknowledged)


class ReaderNotes:
    """A reader's notes: the group's positions at its join, records read, positions committed."""

    def __init__(self, work: Workload, reader: str, group: str) -> None:
        self.work = work
        self.reader = reader
        self.group = group
        self.joins = 0
        self._positions: dict[int, int | None] = {}

    def known(self) -> dict[int, int]:
        """By partition that it reads, the next offset."""
        return {one: at for one, at in self._positions.items() if at is not None}

    def joined(self, kept: Mapping[int, int | None], began: float) -> None:
        """Notes assigned partitions with the group's committed offsets: -1 none, None if they could
        not be fetched; they were fetched after ``began``."""
        self.joins += 1
        self._positions = {
            one: None if offset is None else max(0, offset) for one, offset in kept.items()
        }
        with self.work.history.lock:
            self.work.history.restored += [
                RestoredPosition(self.reader, one, offset, began, self.group)
                for one, offset in kept.items() if offset is not None
            ]  # fmt: skip

    def got(self, partition: int, records: Sequence[tuple[int, bytes | None]]) -> None:
        """Notes one or more records."""
        position = self._positions.get(partition)
        texts = tuple((offset, _text(value)) for offset, value in records)
        self._read(partition, texts[0][0] if position is None else position, texts)
        self._positions[partition] = texts[-1][0] + 1

    def set_back(self, partition: int, error: str, following: int | None) -> None:
        """Notes that its position is not in the log; it goes on at ``following``, None: the end."""
        self._read(partition, self._positions.get(partition) or 0, (), error)
        self._positions[partition] = following

    def _read(
        self, partition: int, position: int, records: tuple[tuple[int, str], ...], error: str = ""
    ) -> None:
        work = self.work
        read = ReadRecords(self.reader, self.joins, partition, position, records, work.now(), error)
        with work.history.lock:
            work.history.reads.append(read)

    @contextmanager
    def committing(self, positions: Mapping[int, int]) -> Iterator[None]:
        """Notes that the group has committed the positions, if nothing is raised."""
        began = self.work.now()
        yield
        ended = self.work.now()
        with self.work.history.lock:
            self.work.history.commits += [
                OffsetCommit(self.reader, one, offset, began, ended, self.group)
                for one, offset in positions.items()
            ]


def patience_of(writer: ProducerKind) -> int:
    """How long a record of a writer may be in flight, in ms."""
    return int(1000 * (STUBBORN_S if writer.idempotent else PATIENCE_S))


def servers_of(addresses: Sequence[Address]) -> str:
    """The cluster's addresses as `bootstrap.servers`."""
    return ",".join(f"{host}:{port}" for host, port in addresses)


def silence_loggers(*names: str) -> None:
    """Silences these libraries' loggers: failing brokers are expected in a chaos run."""
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _text(value: bytes | None) -> str:
    return (value or b"").decode(errors="replace")


__all__ = ["TOPIC", "ReaderNotes", "Workload", "servers_of"]
