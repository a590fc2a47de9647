"""What a new controller makes of what it reads, and how it counts, as pure functions.

Source: PartitionStateMachine.initializePartitionState, ReplicaStateMachine.startup,
ControllerContext.updatePartitionStateMetrics.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

NEW, ONLINE, OFFLINE = "NewPartition", "OnlinePartition", "OfflinePartition"


def state_of_partition(registered: bool, leader: int | None, live: Collection[int]) -> str:
    """A partition when a controller starts; `registered`: it has a state in ZooKeeper."""
    if not registered:
        return NEW
    return ONLINE if leader in live else OFFLINE


def state_of_replica(lives: bool, others_go_offline: bool) -> str:
    """A replica when a controller has started.

    One on a dead broker is ineligible for deletion, until it goes offline (2.3).
    """
    if lives:
        return "OnlineReplica"
    return "OfflineReplica" if others_go_offline else "ReplicaDeletionIneligible"


def how_many_offline(states: Iterable[str], deletion_started: bool) -> int:
    """Partitions of a topic that the controller's metric counts: none once deletion has started."""
    return 0 if deletion_started else sum(state == OFFLINE for state in states)
