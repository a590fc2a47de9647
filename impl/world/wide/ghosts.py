"""Observations of a step for the claims, beside the events of replicas; no broker reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

from impl.core.replica_manager import Replica
from impl.core.requests import Request
from impl.log import Log
from impl.log.record_batch import Batch, batches_in, records_of
from impl.log.stored_log import StoredLog
from impl.znodes import TopicPartition


@dataclass(frozen=True, slots=True)
class RequestAnswered:
    """A broker carried out a controller's request, or refused it with ``error``.

    ``broker_epoch`` is that of its registration; ``process`` tells its processes apart. ``wrong``:
    what is not right about the answer, empty if all is.
    """

    request: Request
    broker_epoch: int
    process: int
    error: str
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class RequestSent:
    """A controller sent a request; ``wrong``: what it says that the controller knows otherwise."""

    to: int
    request: Request
    wrong: str


@dataclass(frozen=True, slots=True)
class LateAnswerTaken:
    """The answer to a request of another controller epoch changed what a controller knows."""

    request: Request


@dataclass(frozen=True, slots=True)
class EventHandled:
    """A controller handled an event; ``wrong``: what it wrote that it should not have.

    ``unsettled``: a state change of which it did not say how it ended.
    """

    name: str
    wrong: str
    unsettled: str


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """A process continues in a new session: so many events of the last one are still queued."""

    left: int


@dataclass(frozen=True, slots=True)
class FetchAnswered:
    """A leader answered a follower; ``wrong``: what is not right about it, empty if all is."""

    follower: int
    wrong: str


@dataclass(frozen=True, slots=True)
class RoundWentOn:
    """A follower asked its leader, or took an answer; ``wrong``: what is not right about it."""

    leader: int
    wrong: str


@dataclass(frozen=True, slots=True)
class IsrsAsked:
    """A leader's AlterIsr goes out: partition -> the leader epoch that it asks in, and its own then
    (None: it does not lead)."""

    epochs: Mapping[TopicPartition, tuple[int, int | None]]


@dataclass(frozen=True, slots=True)
class IsrAnswersTaken:
    """A leader took the answers to its AlterIsr; ``wrong``: what is not right about it."""

    wrong: str


@dataclass(frozen=True, slots=True)
class IsrChangesAnnounced:
    """A leader announced changed ISRs: what it is to announce still, as ZooKeeper refused it, and
    what it will."""

    wanted: Set[TopicPartition]
    left: Set[TopicPartition]


@dataclass(frozen=True, slots=True)
class IsrsShrunk:
    """A leader looked at who lags: by partition who does, and whom it dropped from the ISR."""

    late: Mapping[TopicPartition, list[int]]
    dropped: Mapping[TopicPartition, list[int]]


@dataclass(frozen=True, slots=True)
class ShutdownAnswered:
    """A controller answered a ControlledShutdown: what the broker still leads, with the replicas
    that the controller knew."""

    remaining: Mapping[TopicPartition, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class ConsumerRead:
    """A consumer was given records, by offset; ``born`` is the topic's incarnation."""

    partition: TopicPartition
    born: int
    records: dict[int, int]


@dataclass(frozen=True, slots=True)
class ClientAnswered:
    """A client asked a broker a ``question``: what it was answered, and what it should be."""

    question: str
    answer: object
    wanted: object


def values_in(data: bytes) -> Iterator[tuple[int, int]]:
    """Offset and number of each record in whole batches."""
    for at, batch in batches_in(data):
        for record in records_of(data[at : at + batch.size]):
            yield record.offset, int.from_bytes(record.value or b"", "big")


def batches_of(log: Log) -> Iterator[Batch]:
    """The batches of a log in order."""
    offset = log.log_start
    while offset < log.log_end:
        data = log.read(offset, 1 << 16).region.read()
        if not data:
            return
        for _, batch in batches_in(data):
            yield batch
            offset = batch.last_offset + 1


def records_in(replica: Replica) -> dict[int, int]:
    """The records of a log by offset."""
    log, found = log_of(replica), dict[int, int]()
    offset = log.log_start
    while offset < log.log_end:
        data = log.read(offset, 1 << 16).region.read()
        if not data:
            break
        found.update(values_in(data))
        offset = max(found) + 1
    return found


def log_of(replica: Replica) -> Log:
    """The log on the disk."""
    return stored(replica.log).log


def stored(log: Any) -> StoredLog:
    """A replica's log on its disk."""
    assert isinstance(log, StoredLog), "brokers have their logs on disks"
    return log
