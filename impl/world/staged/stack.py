"""What a controller's event thread has on its stack where it was put down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from impl.core.cluster_context import Replica
from impl.core.states import PartitionState, ReplicaState
from impl.znodes import TopicPartition


@dataclass
class Machine:
    """A state machine at work: what it has read, what it has written and not sent."""

    name: str
    target: PartitionState | ReplicaState
    strategy: str = ""
    todo: dict[TopicPartition, None] = field(default_factory=dict)
    read: dict[TopicPartition, int] = field(default_factory=dict)
    written: dict[TopicPartition, int] = field(default_factory=dict)
    found: set[TopicPartition] = field(default_factory=set)
    replica: int = 0
    empty: bool = False  # it was called for nothing

    @property
    def elects(self) -> bool:
        """It chooses leaders."""
        return self.target is PartitionState.ONLINE


@dataclass
class Stack:
    """Where the thread is: `label` is what it does next, `partition` and `member` about what."""

    label: str = ""
    partition: TopicPartition | None = None
    member: int = 0
    within: list[str] = field(default_factory=list)
    machine: Machine | None = None
    part: str = ""  # of a BrokerChange: "new", "bounced" or "dead"
    failing: tuple[int, ...] = ()
    started: tuple[int, ...] = ()
    going: list[Replica] = field(default_factory=list)
    leaderless: bool = False
    welcomed: bool = False
    epochs: dict[int, int] = field(default_factory=dict)  # of brokers, as the event read them
    subject: int = 0  # who shuts down

    def is_within(self, name: str) -> bool:
        """It is at work inside of a procedure."""
        return name in self.within


class PutDown(BaseException):
    """The event is put down here; no handler may stop it."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An event in the middle: what it is, how it began, what it was told, how far it came."""

    event: Callable[[], object]
    began: Any
    answers: tuple[Any, ...]
    sent: int
    passed: int
