"""Reassignments of replicas to a target, as pure functions over lists of brokers.

Source: ReplicaAssignment (2.4, KIP-455), KafkaController.alterPartitionReassignments,
ReassignPartitionsCommand (throttles of KIP-73).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

Brokers = tuple[int, ...]


class Assignment(NamedTuple):
    """All replicas, those that are being added, and those that are being removed."""

    replicas: Brokers
    adding: Brokers = ()
    removing: Brokers = ()

    @property
    def moves(self) -> bool:
        """Whether the partition is being moved."""
        return bool(self.adding or self.removing)

    @property
    def target(self) -> Brokers:
        """The replicas at the end of the move."""
        return tuple(one for one in self.replicas if one not in self.removing)

    @property
    def origin(self) -> Brokers:
        """The replicas before the move began."""
        return tuple(one for one in self.replicas if one not in self.adding)

    def towards(self, target: Sequence[int]) -> Assignment:
        """The assignment towards another target: its replicas first, then the origin's that leave.

        The way back to the origin is a cancellation, and another order alone is no move.
        """
        wanted = tuple(dict.fromkeys(target))
        leaving = tuple(one for one in self.origin if one not in wanted)
        coming = tuple(one for one in wanted if one not in self.origin)
        return Assignment((*wanted, *leaving), coming, leaving)


def refusal(target: Sequence[int], origin: Sequence[int], live: Collection[int]) -> str:
    """The error of AlterPartitionReassignments for a target, before it looks for the partition.

    A replica that is added must be alive; a replica from before the move need not.
    """
    fine = target and len(set(target)) == len(target) and min(target) >= 0
    if not fine or any(one not in live for one in target if one not in origin):
        return "INVALID_REPLICA_ASSIGNMENT"
    return "NONE"


def throttled(existing: Sequence[int], proposed: Sequence[int]) -> tuple[Brokers, Brokers]:
    """The throttled replicas: the old ones as leaders, the new as followers."""
    coming = tuple(one for one in proposed if one not in existing)
    return (tuple(existing) if coming else ()), coming
