"""Candidate arguments shared by the steps of a stepped cluster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from impl.world.stepped.stepped_cluster import SteppedCluster

Unmet = str | None
"""The first condition of a step that does not hold, as a positive sentence; None if all hold."""

Many = Iterable[tuple[int, ...]]


def each_two(world: SteppedCluster) -> Many:
    """(one, another), a broker with itself included."""
    return ((one, two) for one in world.brokers for two in world.brokers)


def each_list(world: SteppedCluster) -> Many:
    """(first, second, third) of each list of replicas, 0 for nobody."""
    return world.lists


def each_broker_and_list(world: SteppedCluster) -> Many:
    """(broker, first, second, third)."""
    return ((broker, *ids) for broker in world.brokers for ids in world.lists)


def each_broker_and_partition(world: SteppedCluster) -> Many:
    """(broker, partition)."""
    return ((broker, number) for broker in world.brokers for number in world.partitions)


def each_connection(world: SteppedCluster) -> Many:
    """(target, controller epoch) of what is under way."""
    return sorted((broker, controller) for controller, broker in world.connections)
