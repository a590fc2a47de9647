"""What a controller remembers between its steps (``ControllerContext``), as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from impl.zookeeper import PartitionState


class Reply(Enum):
    """The outcome of a registration that ZooKeeper has executed, on its way to the broker."""

    ELECTED = "elected"
    FAILED = "failed"
    LOST = "lost"


@dataclass(frozen=True, order=True, slots=True)
class EpochRead:
    """The controller epoch and the version of its znode, read before a registration."""

    epoch: int
    version: int


@dataclass(frozen=True, order=True, slots=True)
class Belief:
    """The broker believes that it is the controller of ``epoch``, fenced by ``epoch_version``."""

    epoch: int
    epoch_version: int


@dataclass(frozen=True, order=True, slots=True)
class CachedPartition:
    """The partition's state and zkVersion as read or written last, and the live brokers then.

    ``live`` pairs each registered broker with its broker epoch, sorted by id; ``live_ids`` are the
    ids alone.
    """

    state: PartitionState
    version: int
    live: tuple[tuple[int, int], ...]
    live_ids: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "live_ids", tuple(broker for broker, _ in self.live))
