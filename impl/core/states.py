"""The states of partitions and replicas, and the valid transitions (fact sheet c)."""

from __future__ import annotations

from enum import Enum

from impl.releases import Release


class PartitionState(Enum):
    """``PartitionState``: the state of a partition in the controller's memory."""

    NON_EXISTENT = "NonExistentPartition"
    NEW = "NewPartition"
    ONLINE = "OnlinePartition"
    OFFLINE = "OfflinePartition"


class ReplicaState(Enum):
    """``ReplicaState``: the state of a replica in the controller's memory."""

    NEW = "NewReplica"
    ONLINE = "OnlineReplica"
    OFFLINE = "OfflineReplica"
    DELETION_STARTED = "ReplicaDeletionStarted"
    DELETION_SUCCESSFUL = "ReplicaDeletionSuccessful"
    DELETION_INELIGIBLE = "ReplicaDeletionIneligible"
    NON_EXISTENT = "NonExistentReplica"


_P, _R = PartitionState, ReplicaState

PARTITION_BEFORE: dict[PartitionState, frozenset[PartitionState]] = {
    _P.NEW: frozenset({_P.NON_EXISTENT}),
    _P.ONLINE: frozenset({_P.NEW, _P.ONLINE, _P.OFFLINE}),
    _P.OFFLINE: frozenset({_P.NEW, _P.ONLINE, _P.OFFLINE}),
    _P.NON_EXISTENT: frozenset({_P.OFFLINE}),
}
"""By target, the states that a partition may come from."""

REPLICA_BEFORE: dict[ReplicaState, frozenset[ReplicaState]] = {
    _R.NEW: frozenset({_R.NON_EXISTENT}),
    _R.ONLINE: frozenset({_R.NEW, _R.ONLINE, _R.OFFLINE, _R.DELETION_INELIGIBLE}),
    _R.OFFLINE: frozenset({_R.NEW, _R.ONLINE, _R.OFFLINE, _R.DELETION_INELIGIBLE}),
    _R.DELETION_STARTED: frozenset({_R.OFFLINE}),
    _R.DELETION_SUCCESSFUL: frozenset({_R.DELETION_STARTED}),
    _R.DELETION_INELIGIBLE: frozenset({_R.OFFLINE, _R.DELETION_STARTED}),
    _R.NON_EXISTENT: frozenset({_R.DELETION_SUCCESSFUL}),
}
"""By target, the states that a replica may come from, as of 2.3."""


def partition_may_go(before: PartitionState, target: PartitionState) -> bool:
    """Whether the transition is valid."""
    return before in PARTITION_BEFORE[target]


def replica_may_go(before: ReplicaState, target: ReplicaState, release: Release) -> bool:
    """Whether the transition is valid; up to 2.2 offline replicas do not become ineligible."""
    if target is _R.DELETION_INELIGIBLE and before is _R.OFFLINE and not release.since("2.3"):
        return False
    return before in REPLICA_BEFORE[target]
