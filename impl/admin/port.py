"""Requests that admin tools send to brokers where they do not use ZooKeeper (``Admin``)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from impl.znodes import ReplicaAssignment, TopicPartition

Errors = dict[TopicPartition, str]
"""Kafka's error code by partition; NONE where all is well."""

Settings = Mapping[tuple[str, str], Mapping[str, str | None]]
"""By kind ("topics", "brokers") and name, what is set, and what is unset (None)."""


class RequestFailed(Exception):
    """A request that failed; ``code`` is Kafka's error."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, slots=True)
class LogDir:
    """One directory of a broker; ``current`` and ``future`` are the replicas in it."""

    path: str
    error: str
    current: frozenset[TopicPartition] = field(default_factory=frozenset)
    future: frozenset[TopicPartition] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class DescribedPartition:
    """One partition of a described topic; ``leader`` is None if there is none, or no state."""

    number: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()


class NewTopic(NamedTuple):
    """A topic to create: numbers (None: the broker's default), or a manual assignment."""

    name: str
    partitions: int | None
    factor: int | None
    by_hand: Mapping[int, Sequence[int]] | None
    configs: Mapping[str, str]


class NewPartitions(NamedTuple):
    """The new total of partitions; a manual assignment covers the new partitions only."""

    name: str
    total: int
    by_hand: Sequence[Sequence[int]] | None


class Admin(Protocol):
    """A client of the brokers (for topics since 2.2). Every call may raise RequestFailed."""

    def brokers(self) -> dict[int, str | None]:
        """The live brokers, with their racks."""

    def assignments(self, topics: Collection[str]) -> dict[TopicPartition, tuple[int, ...]]:
        """The replicas of the partitions of the given topics, as far as these exist."""

    def alter_reassignments(self, targets: Mapping[TopicPartition, Sequence[int] | None]) -> Errors:
        """Start, change or (None) cancel reassignments (2.4)."""

    def list_reassignments(self) -> dict[TopicPartition, ReplicaAssignment]:
        """The reassignments in progress (2.4)."""

    def elect_leaders(self, kind: str, partitions: Collection[TopicPartition] | None) -> Errors:
        """Elect PREFERRED (2.2) or UNCLEAN (2.4) leaders, of all partitions if none is named."""

    def describe_log_dirs(self, broker: int) -> list[LogDir]:
        """The log directories of a broker (1.0)."""

    def alter_log_dirs(self, broker: int, wanted: Mapping[TopicPartition, str]) -> Errors:
        """Move replicas to other log directories of their broker (1.1)."""

    def alter_configs(self, settings: Settings) -> None:
        """Set and unset configs of topics and brokers (2.3)."""

    def describe_topics(self) -> dict[str, list[DescribedPartition]]:
        """All topics that brokers know, by name, with their partitions in order."""

    def topic_configs(self, topics: Collection[str]) -> dict[str, tuple[dict[str, str], int]]:
        """The configs that are set on the topics themselves, and their ``min.insync.replicas``."""

    def create_topic(self, topic: NewTopic) -> None:
        """CreateTopics."""

    def create_partitions(self, topics: Sequence[NewPartitions]) -> None:
        """CreatePartitions; the first refusal is raised."""

    def delete_topics(self, topics: Sequence[str]) -> None:
        """DeleteTopics; the first refusal is raised."""
