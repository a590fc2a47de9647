"""Whom the steps of one partition's world may be about, and what they have in common to say."""

from __future__ import annotations

from collections.abc import Iterable

from impl.world.cluster import PartitionCluster


def each_pair(world: PartitionCluster) -> Iterable[tuple[int, ...]]:
    """(one, another) for every ordered pair of two brokers."""
    return [(one, two) for one in world.brokers for two in world.brokers if one != two]


def each_two(world: PartitionCluster) -> Iterable[tuple[int, ...]]:
    """(one, another) for every ordered pair, a broker with itself included."""
    return [(one, two) for one in world.brokers for two in world.brokers]


def each_leader_and_isr(world: PartitionCluster) -> Iterable[tuple[int, ...]]:
    """(target, leader epoch, controller epoch) of every LeaderAndIsr request in flight."""
    return sorted(world.network.leader_and_isr)


LEADS = "the broker believes that it leads"
ISR_IS_UNLOCKED = "no ISR write of the broker waits for its answer"
VERSION_IS_CURRENT = "the leader's cached zkVersion is the registered one"
VERSION_IS_OLD = "the leader's cached zkVersion is not the registered one"
