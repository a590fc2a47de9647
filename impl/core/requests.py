"""Requests of a controller to brokers, and their versions by release (fact sheet e)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from impl.releases import Release
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition

LEADER_EPOCH_DURING_DELETE = -2
NO_LEADER_EPOCH = -1

_SINCE = {
    "LeaderAndIsr": (
        (1, "1.0"),
        (2, "2.2"),
        (3, "2.4"),
        (4, "2.4", 1),
        (5, "2.8", 1),
        (6, "3.2"),
    ),
    "UpdateMetadata": (
        (1, "0.9.0"),
        (2, "0.10.0"),
        (3, "0.10.2"),
        (4, "1.0"),
        (5, "2.2"),
        (6, "2.4", 1),
        (7, "2.8", 1),
    ),
    "StopReplica": ((1, "2.2"), (2, "2.4", 1), (3, "2.6")),
    "ControlledShutdown": ((1, "0.9"), (2, "2.2"), (3, "2.4", 1)),
}
"""By request, its versions above 0 and the inter-broker protocol that brought each.

A third entry is the internal version: of 2.4, say, 2.4-IV0 and 2.4-IV1, its last.
"""
LAST_INTERNAL = 99


@cache  # asked for each request, of few releases
def request_version(kind: str, protocol: Release, internal: int = LAST_INTERNAL) -> int:
    """The version of a request under an inter.broker.protocol.version; KeyError for an unknown
    kind.

    ``internal`` is N of a protocol such as 2.4-IVN; that of a release is its line's last.
    """
    asked = protocol.parts, internal
    return max(
        (version for version, since, *first in _SINCE[kind]
         if asked >= (Release.of(since).parts, *(first or [0]))),
        default=0,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class LeaderAndIsrPartitionState:
    """One partition of a LeaderAndIsr: the state, all replicas, and whether it is a new one.

    ``topic_id`` is None where the controller has none (before 2.8, KIP-516).
    """

    state: LeaderIsrAndControllerEpoch
    replicas: tuple[int, ...]
    is_new: bool
    topic_id: str | None = None


@dataclass(frozen=True, slots=True)
class LeaderAndIsr:
    """The request to lead or follow; ``live_leaders`` are the live ones among the leaders in it."""

    version: int
    controller: int
    controller_epoch: int
    broker_epoch: int
    partitions: Mapping[TopicPartition, LeaderAndIsrPartitionState]
    live_leaders: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PartitionMetadata:
    """One partition of an UpdateMetadata."""

    state: LeaderIsrAndControllerEpoch
    replicas: tuple[int, ...]
    offline_replicas: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class UpdateMetadata:
    """The states of partitions, and the live brokers."""

    version: int
    controller: int
    controller_epoch: int
    broker_epoch: int
    partitions: Mapping[TopicPartition, PartitionMetadata]
    live_brokers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PartitionStop:
    """One partition of a StopReplica; it has a leader epoch since 2.6, else -1."""

    delete: bool
    leader_epoch: int = NO_LEADER_EPOCH


@dataclass(frozen=True, slots=True)
class StopReplica:
    """Stop fetching partitions, and delete the logs of those with ``delete``.

    ``raises_event``: the answer is an event for the deletion of topics.
    """

    version: int
    controller: int
    controller_epoch: int
    broker_epoch: int
    partitions: Mapping[TopicPartition, PartitionStop]
    raises_event: frozenset[TopicPartition] = frozenset()


Request = LeaderAndIsr | UpdateMetadata | StopReplica


def kind_of(request: Request) -> str:
    """The request's name, as Kafka writes it."""
    return type(request).__name__
