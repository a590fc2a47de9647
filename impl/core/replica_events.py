"""Typed events about a broker's replicas, which the core reports to an observer.

The core writes no logs. It calls its observer where Kafka would log, or where somebody who looks on
(a trace, a test, a claim) must know; ``impl.server.replica_lines`` makes Kafka's lines of them.
Nothing here feeds back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from impl.core.fetcher_thread import EpochQuestion, EpochReply, FetchQuestion, FetchReply
from impl.core.requests import LeaderAndIsrPartitionState, PartitionMetadata
from impl.znodes import TopicPartition


@dataclass(frozen=True, slots=True)
class Sender:
    """The controller that sent a request: its id, its epoch, and the correlation id."""

    controller: int
    epoch: int
    correlation: int


# A leader and its ISR


@dataclass(frozen=True, slots=True)
class BecameLeader:
    """The replica leads in ``leader_epoch``, which begins at offset ``start``."""

    partition: TopicPartition
    leader_epoch: int
    previous_epoch: int
    start: int
    high_watermark: int


@dataclass(frozen=True, slots=True)
class BecameFollower:
    """The replica follows ``leader`` in ``leader_epoch``."""

    partition: TopicPartition
    leader: int
    leader_epoch: int


@dataclass(frozen=True, slots=True)
class IsrExpanding:
    """A replica that caught up is about to join the ISR, by a write to ZooKeeper or by a
    request."""

    partition: TopicPartition
    isr: tuple[int, ...]
    wanted: tuple[int, ...]
    by_request: bool


@dataclass(frozen=True, slots=True)
class IsrShrinking:
    """Lagging replicas are about to leave the ISR; ``late`` are their ids and log ends."""

    partition: TopicPartition
    isr: tuple[int, ...]
    wanted: tuple[int, ...]
    late: tuple[tuple[int, int], ...]
    high_watermark: int
    log_end: int


@dataclass(frozen=True, slots=True)
class IsrUpdated:
    """The ISR is registered under ``zk_version``; ``by_request``: the controller wrote it."""

    partition: TopicPartition
    isr: tuple[int, ...]
    zk_version: int
    by_request: bool
    now_ms: int


@dataclass(frozen=True, slots=True)
class IsrUpdateRefused:
    """The ISR write was refused: the registered version is not ``zk_version``, which the leader
    knew."""

    partition: TopicPartition
    zk_version: int


@dataclass(frozen=True, slots=True)
class IsrUpdateFailed:
    """ZooKeeper did not execute the ISR write."""

    partition: TopicPartition
    isr: tuple[int, ...]
    error: str


@dataclass(frozen=True, slots=True)
class IsrRequestRefused:
    """The controller's response to AlterIsr was an error; ``gives_up``: no further request."""

    partition: TopicPartition
    isr: tuple[int, ...]
    error: str
    gives_up: bool


# Requests of controllers


@dataclass(frozen=True, slots=True)
class LeaderAndIsrReceived:
    """One partition of a LeaderAndIsr request, before it is checked."""

    partition: TopicPartition
    order: LeaderAndIsrPartitionState
    sender: Sender


@dataclass(frozen=True, slots=True)
class RequestReceived:
    """A controller's request for this registration of the broker, or without a broker epoch.

    ``registration`` is the broker epoch that it names, -1 before KIP-380 (2.2).
    """

    kind: str
    sender: Sender
    registration: int


@dataclass(frozen=True, slots=True)
class RequestRefused:
    """A controller's request was refused as a whole: its epoch is older than ``known``."""

    kind: str
    sender: Sender
    known: int


@dataclass(frozen=True, slots=True)
class LeaderAndIsrIgnored:
    """One partition of a LeaderAndIsr request was refused with ``error``.

    ``current`` is the leader epoch that the replica has, -1 where it has none.
    """

    partition: TopicPartition
    order: LeaderAndIsrPartitionState
    sender: Sender
    current: int
    error: str


@dataclass(frozen=True, slots=True)
class BecomeLeaderOrFollowerBegun:
    """A replica is about to become leader, or follower of ``leader``."""

    partition: TopicPartition
    sender: Sender
    leader: int | None


@dataclass(frozen=True, slots=True)
class BecomeLeaderOrFollowerCompleted:
    """A replica became leader, or follower of ``leader``."""

    partition: TopicPartition
    sender: Sender
    leader: int | None


@dataclass(frozen=True, slots=True)
class BecomeLeaderOrFollowerSkipped:
    """A replica keeps its role and leader, or its log cannot be used.

    ``before``: the leader that it knew; ``directory``: where its log is, if it has one.
    """

    partition: TopicPartition
    order: LeaderAndIsrPartitionState
    sender: Sender
    leads: bool
    before: int | None
    error: str = ""
    directory: str = ""


@dataclass(frozen=True, slots=True)
class LeaderUnavailable:
    """A replica cannot follow: its leader is not in the metadata cache."""

    partition: TopicPartition
    order: LeaderAndIsrPartitionState
    sender: Sender


@dataclass(frozen=True, slots=True)
class ReplicaStopping:
    """A replica is about to be stopped, and deleted if ``delete``."""

    partition: TopicPartition
    delete: bool


@dataclass(frozen=True, slots=True)
class ReplicaStopped:
    """A replica was stopped; ``error`` if its log could not be deleted."""

    partition: TopicPartition
    delete: bool
    error: str


@dataclass(frozen=True, slots=True)
class LeaderCached:
    """The metadata cache has a partition's state."""

    partition: TopicPartition
    metadata: PartitionMetadata
    sender: Sender


@dataclass(frozen=True, slots=True)
class LeaderForgotten:
    """The metadata cache has dropped a partition whose topic is being deleted."""

    partition: TopicPartition
    sender: Sender


# Logs


@dataclass(frozen=True, slots=True)
class LogCreated:
    """A replica got a new, empty log in ``directory``."""

    partition: TopicPartition
    directory: str


@dataclass(frozen=True, slots=True)
class LogDeleted:
    """A log was renamed to ``directory``, and is removed later."""

    partition: TopicPartition
    directory: str


@dataclass(frozen=True, slots=True)
class LogFailed:
    """A log cannot be used (``KafkaStorageException``); ``not_renamed``: it could not be
    deleted."""

    partition: TopicPartition
    error: str
    not_renamed: str = ""
    """The log directory in which it could not be renamed (``LogManager.asyncDelete``)."""


@dataclass(frozen=True, slots=True)
class LogTruncating:
    """A follower is about to truncate its log to ``offset``; a log that ends there is not
    changed."""

    partition: TopicPartition
    offset: int
    log_end: int
    high_watermark: int


@dataclass(frozen=True, slots=True)
class AppendFailed:
    """Fetched records could not be appended: the partition's fetcher stops."""

    partition: TopicPartition
    error: str


@dataclass(frozen=True, slots=True)
class LogLoaded:
    """A replica's log was loaded from disk: its end, and its high watermark."""

    partition: TopicPartition
    log_end: int
    high_watermark: int


@dataclass(frozen=True, slots=True)
class RecordsAppended:
    """A leader appended a producer's records, ``first`` to ``end`` (exclusive)."""

    partition: TopicPartition
    leader_epoch: int
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class ProducerAnswered:
    """The producer of the records up to ``end`` (exclusive) got its response, with ``error``."""

    partition: TopicPartition
    leader_epoch: int
    acks: int
    first: int
    end: int
    error: str


@dataclass(frozen=True, slots=True)
class RecordsReplicated:
    """A follower handled the response to its fetch at ``offset``; its log ends at ``log_end``."""

    partition: TopicPartition
    offset: int
    log_end: int
    high_watermark: int


@dataclass(frozen=True, slots=True)
class HighWatermarkRaised:
    """A leader's high watermark rose."""

    partition: TopicPartition
    before: int
    now: int


# Questions of followers and consumers


@dataclass(frozen=True, slots=True)
class FetchServed:
    """The response to a fetch of ``reader`` (-1: a consumer).

    ``waited``: there was nothing to read at first, so that the fetch was answered later.
    """

    partition: TopicPartition
    reader: int
    asked: FetchQuestion
    reply: FetchReply
    waited: bool = False


@dataclass(frozen=True, slots=True)
class EpochServed:
    """The response to a follower's request for the end of an epoch."""

    partition: TopicPartition
    asked: EpochQuestion
    reply: EpochReply


@dataclass(frozen=True, slots=True)
class RecordsAsked:
    """A follower sends a fetch to ``leader``."""

    partition: TopicPartition
    leader: int
    asked: FetchQuestion


@dataclass(frozen=True, slots=True)
class EpochAsked:
    """A follower requests the end of an epoch from ``leader``."""

    partition: TopicPartition
    leader: int
    asked: EpochQuestion


ReplicaEvent = (
    BecameLeader
    | BecameFollower
    | IsrExpanding
    | IsrShrinking
    | IsrUpdated
    | IsrUpdateRefused
    | IsrUpdateFailed
    | IsrRequestRefused
    | LeaderAndIsrReceived
    | RequestReceived
    | RequestRefused
    | LeaderAndIsrIgnored
    | BecomeLeaderOrFollowerBegun
    | BecomeLeaderOrFollowerCompleted
    | BecomeLeaderOrFollowerSkipped
    | LeaderUnavailable
    | ReplicaStopping
    | ReplicaStopped
    | LeaderCached
    | LeaderForgotten
    | LogCreated
    | LogDeleted
    | LogFailed
    | LogTruncating
    | AppendFailed
    | LogLoaded
    | RecordsAppended
    | ProducerAnswered
    | RecordsReplicated
    | HighWatermarkRaised
    | FetchServed
    | EpochServed
    | RecordsAsked
    | EpochAsked
)

Observer = Callable[[ReplicaEvent], None]


def silent(event: ReplicaEvent) -> None:
    """An observer that ignores all events."""
