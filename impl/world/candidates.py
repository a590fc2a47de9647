"""Candidates and conditions that the steps of one partition's world share.

The candidates are sorted. A step's first condition refuses any arguments that are not among them.
"""

from __future__ import annotations

from impl.sim.simulation import Arguments
from impl.world.cluster import PartitionCluster


def each_controller(world: PartitionCluster) -> Arguments:
    """(broker,) for each broker that believes that it is the controller."""
    return [(one,) for one, its in world.controllers.items() if its.belief is not None]


def each_candidate(world: PartitionCluster) -> Arguments:
    """(broker,) for each broker whose registration as controller is under way."""
    return [(one,) for one, its in world.controllers.items() if its.candidacy is not None]


def each_controller_and_broker(world: PartitionCluster) -> Arguments:
    """(controller, broker); the broker may be the controller itself."""
    return [(one, two) for (one,) in each_controller(world) for two in world.brokers]


def each_leader(world: PartitionCluster) -> Arguments:
    """(broker,) for each broker that believes that it leads."""
    return [(one,) for one, host in world.hosts.items() if host.partition.leads]


def each_leader_and_other(world: PartitionCluster) -> Arguments:
    """(leader, another broker)."""
    return [(one, two) for (one,) in each_leader(world) for two in world.brokers if one != two]


def each_isr_writer(world: PartitionCluster) -> Arguments:
    """(broker,) for every leader whose ISR write is under way."""
    hosts = world.hosts.items()
    return [(one,) for one, host in hosts if host.partition.isr_write is not None]


def each_connection(world: PartitionCluster) -> Arguments:
    """(follower, leader) of every connection that is in use."""
    return [
        (one, to)
        for one, host in world.hosts.items()
        for to in sorted(host.connections)
        if host.under_way(to) is not None
    ]


def each_pending_request(world: PartitionCluster) -> Arguments:
    """(leader, follower) of every connection on which a request waits for its response."""
    return sorted(
        (to, one)
        for one, to in each_connection(world)
        if (asked := world.hosts[one].under_way(to)) is not None and asked.replies is None
    )


def each_leader_and_isr(world: PartitionCluster) -> list[tuple[int, int, int]]:
    """(target, leader epoch, controller epoch) of every LeaderAndIsr request in flight."""
    return sorted(
        (target, sent.epoch, controller)
        for (controller, target), waiting in world.connections.items()
        for sent in waiting
    )


LEADS = "the broker believes that it leads"
ISR_IS_UNLOCKED = "no ISR write of the broker waits for its answer"
VERSION_IS_CURRENT = "the leader's cached zkVersion is the registered one"
VERSION_IS_OLD = "the leader's cached zkVersion is not the registered one"


def leads_unmet(world: PartitionCluster, broker: int) -> str | None:
    """Why a broker cannot act as leader now."""
    host = world.hosts[broker]
    if not host.partition.leads:
        return LEADS
    return ISR_IS_UNLOCKED if host.locked else None
