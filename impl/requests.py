"""What travels between controllers and brokers, and between a follower and a leader."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from impl.log import Record
from impl.zookeeper import PartitionState


class Errors(Enum):
    """Kafka's error codes, those of this slice (``Errors``)."""

    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    NOT_LEADER_FOR_PARTITION = 6
    STALE_CONTROLLER_EPOCH = 11
    FENCED_LEADER_EPOCH = 74
    UNKNOWN_LEADER_EPOCH = 75
    STALE_BROKER_EPOCH = 77


@dataclass(frozen=True, order=True, slots=True)
class LeaderAndIsrRequest:
    """A controller tells one broker who leads the partition (version 2: with the broker epoch).

    ``controller_epoch`` is the sender's; ``state.controller_epoch`` that of the controller which
    wrote the state. ``broker_epoch`` is the target's registration as the sender knows it.
    """

    target: int
    controller: int
    controller_epoch: int
    broker_epoch: int
    state: PartitionState
    zk_version: int

    @property
    def key(self) -> tuple[int, int, int]:
        """(target, leader epoch, controller epoch): at most one such request is in flight."""
        return self.target, self.state.leader_epoch, self.controller_epoch


@dataclass(frozen=True, order=True, slots=True)
class AskedEpoch:
    """OffsetForLeaderEpoch: where does ``epoch`` end? Asked in ``leader_epoch`` (KIP-320)."""

    leader_epoch: int
    epoch: int


@dataclass(frozen=True, order=True, slots=True)
class AnsweredEpoch:
    """The leader's ``endOffsetFor``; ``leader_epoch`` is the one that the question carried."""

    leader_epoch: int
    epoch: int
    end: int


@dataclass(frozen=True, order=True, slots=True)
class AskedRecords:
    """Fetch from ``offset``, which is the follower's log end; asked in ``leader_epoch``."""

    leader_epoch: int
    offset: int


@dataclass(frozen=True, order=True, slots=True)
class AnsweredRecords:
    """At most one record at ``offset``, and the leader's high watermark before this fetch."""

    leader_epoch: int
    offset: int
    record: Record | None
    high_watermark: int


Fetch = AskedEpoch | AnsweredEpoch | AskedRecords | AnsweredRecords
"""What a follower's connection to a leader may hold; None when it is idle."""
