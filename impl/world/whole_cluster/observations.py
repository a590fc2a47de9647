"""Observations of a step for the claims, besides the events of replicas; no broker reads them."""

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

    ``broker_epoch`` is that of its registration; ``process`` distinguishes its processes.
    ``wrong``: how the response is wrong, empty if it is right.
    """

    request: Request
    broker_epoch: int
    process: int
    error: str
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class RequestSent:
    """A controller sent a request; ``wrong``: how it differs from the controller's memory."""

    to: int
    request: Request
    wrong: str


@dataclass(frozen=True, slots=True)
class LateResponseHandled:
    """The response to a request of another controller epoch changed a controller's memory."""

    request: Request


@dataclass(frozen=True, slots=True)
class EventHandled:
    """A controller handled an event; ``wrong``: what it wrote wrongly.

    ``unsettled``: a state change whose result it did not report.
    """

    name: str
    wrong: str
    unsettled: str


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """A process has a new session; ``left`` events of the last one are still queued."""

    left: int


@dataclass(frozen=True, slots=True)
class FetchAnswered:
    """A leader answered a follower; ``wrong``: how the response is wrong, empty if it is right."""

    follower: int
    wrong: str


@dataclass(frozen=True, slots=True)
class FetchRoundAdvanced:
    """A follower sent a request or applied a response; ``wrong``: how that is wrong."""

    leader: int
    wrong: str


@dataclass(frozen=True, slots=True)
class AlterIsrSent:
    """A leader sent an AlterIsr: partition -> the leader epoch in the request, and the leader's own
    (None: it does not lead)."""

    epochs: Mapping[TopicPartition, tuple[int, int | None]]


@dataclass(frozen=True, slots=True)
class AlterIsrResponseHandled:
    """A leader handled an AlterIsr response; ``wrong``: how that is wrong."""

    wrong: str


@dataclass(frozen=True, slots=True)
class IsrChangesPropagated:
    """A leader announced changed ISRs: those still to be announced because ZooKeeper refused, and
    those that will be."""

    wanted: Set[TopicPartition]
    left: Set[TopicPartition]


@dataclass(frozen=True, slots=True)
class IsrsShrunk:
    """A leader checked its ISRs: the lagging members by partition, and those that it dropped."""

    late: Mapping[TopicPartition, list[int]]
    dropped: Mapping[TopicPartition, list[int]]


@dataclass(frozen=True, slots=True)
class ShutdownAnswered:
    """A controller answered a ControlledShutdown: the partitions that the broker still leads, with
    the replicas that the controller knew."""

    remaining: Mapping[TopicPartition, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class ConsumerRead:
    """A consumer got records, by offset, of this ``incarnation`` of the topic."""

    partition: TopicPartition
    incarnation: int
    records: dict[int, int]


@dataclass(frozen=True, slots=True)
class ClientAnswered:
    """A client sent a broker a ``question``: the response, and the expected one."""

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
