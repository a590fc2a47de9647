"""Steps of LeaderAndIsr requests in flight: each arrives, in any order, or is lost."""

from __future__ import annotations

from impl.sim.steps import refusable
from impl.world.cluster import PartitionCluster
from impl.world.processes import PROCESS_IS_UP
from impl.world.steps import ISR_IS_UNLOCKED, each_leader_and_isr

IN_FLIGHT = "such a LeaderAndIsr request is in flight"


def _arrives_unmet(
    world: PartitionCluster, broker: int, leader_epoch: int, controller_epoch: int
) -> str | None:
    if (broker, leader_epoch, controller_epoch) not in world.network.leader_and_isr:
        return IN_FLIGHT
    server = world.brokers[broker]
    if not server.up:
        return PROCESS_IS_UP
    request = world.network.leader_and_isr[broker, leader_epoch, controller_epoch]
    waits = server.replicas.waits_for_isr_lock(request, server.broker_epoch)
    return ISR_IS_UNLOCKED if waits else None


def leader_and_isr_arrives(
    world: PartitionCluster, broker: int, leader_epoch: int, controller_epoch: int
) -> None:
    """The target applies the request or refuses it; it is gone either way.

    One that would be applied waits until an ISR write of the partition is answered.
    """
    request = world.network.take((broker, leader_epoch, controller_epoch))
    server = world.brokers[broker]
    world.journal.request_arrives(request)
    server.replicas.hear(request, server.broker_epoch)


def _is_lost_unmet(
    world: PartitionCluster, broker: int, leader_epoch: int, controller_epoch: int
) -> str | None:
    if (broker, leader_epoch, controller_epoch) not in world.network.leader_and_isr:
        return IN_FLIGHT
    return None


def leader_and_isr_is_lost(
    world: PartitionCluster, broker: int, leader_epoch: int, controller_epoch: int
) -> None:
    """The request never arrives."""
    world.network.take((broker, leader_epoch, controller_epoch))


KINDS = (
    refusable(leader_and_isr_arrives, each_leader_and_isr, _arrives_unmet,
              "broker leader_epoch controller_epoch"),
    refusable(leader_and_isr_is_lost, each_leader_and_isr, _is_lost_unmet,
              "broker leader_epoch controller_epoch"),
)  # fmt: skip
