"""Steps of controllers (registration, reads, elections, writes) and of LeaderAndIsr requests."""

from __future__ import annotations

from impl.core.request_batch import NO_BROKER_EPOCH
from impl.sim.simulation import refusable
from impl.world.candidates import (
    ISR_IS_UNLOCKED,
    each_candidate,
    each_controller,
    each_controller_and_broker,
    each_leader_and_isr,
)
from impl.world.cluster import PartitionCluster
from impl.world.partition_controller import Cached, Reply, Requests
from impl.world.processes import PROCESS_IS_UP, SESSION_IS_ALIVE, each_broker
from impl.znodes.states import NO_LEADER

BELIEVES = "the broker believes that it is the controller"
HAS_READ_PARTITION = "the controller has read the partition"
IN_FLIGHT = "such a LeaderAndIsr request is in flight"


def _reads_epoch_unmet(world: PartitionCluster, broker: int) -> str | None:
    server = world.hosts[broker]
    if not server.up:
        return PROCESS_IS_UP
    if not server.alive:
        return SESSION_IS_ALIVE
    if world.controllers[broker].belief is not None:
        return "the broker does not believe that it is the controller"
    if world.controllers[broker].reply is not None:
        return "no registration of the broker is under way"
    if world.controller_session is not None:
        return "nobody is registered as controller"
    return None


def controller_reads_epoch(world: PartitionCluster, broker: int) -> None:
    """The first half of a registration: read the controller epoch and its version."""
    world.controllers[broker].read_epoch()


def _registers_unmet(world: PartitionCluster, broker: int) -> str | None:
    controller = world.controllers[broker]
    if controller.candidacy is None:
        return "the broker has read the controller epoch"
    if controller.reply is not None:
        return "no registration of the broker is under way"
    if not world.hosts[broker].alive:
        return SESSION_IS_ALIVE
    return None


def controller_registers(world: PartitionCluster, broker: int) -> None:
    """ZooKeeper executes the multi; the broker does not know the outcome yet."""
    world.controllers[broker].register()


def _reply_unmet(world: PartitionCluster, broker: int) -> str | None:
    if world.controllers[broker].reply not in (Reply.ELECTED, Reply.FAILED):
        return "the reply to a registration is on its way to the broker"
    return None


def controller_learns_outcome(world: PartitionCluster, broker: int) -> None:
    """The reply arrives: elected, or not."""
    world.controllers[broker].learn_outcome()


def controller_reply_to_registration_is_lost(world: PartitionCluster, broker: int) -> None:
    """The connection breaks after ZooKeeper executed the multi."""
    world.controllers[broker].lose_reply()


def _checks_outcome_unmet(world: PartitionCluster, broker: int) -> str | None:
    if world.controllers[broker].reply is not Reply.LOST:
        return "the reply to the broker's registration was lost"
    return None


def controller_checks_outcome(world: PartitionCluster, broker: int) -> None:
    """KAFKA-6082: after a lost reply, read which broker is registered, in which epoch."""
    world.controllers[broker].check_registration()


def _resigns_unmet(world: PartitionCluster, broker: int) -> str | None:
    if world.controllers[broker].belief is None:
        return BELIEVES
    if world.controllers[broker].is_registered():
        return "/controller is not the broker's own any more"
    return None


def controller_resigns(world: PartitionCluster, broker: int) -> None:
    """The broker notices that /controller is no longer its own."""
    world.controllers[broker].abort_event()


def _reads_partition_unmet(world: PartitionCluster, broker: int) -> str | None:
    if world.controllers[broker].belief is None:
        return BELIEVES
    return None if world.hosts[broker].alive else SESSION_IS_ALIVE


def controller_reads_partition(world: PartitionCluster, broker: int) -> None:
    """The read half of a read-decide-write."""
    world.controllers[broker].read_partition()


def _known(world: PartitionCluster, broker: int) -> Cached | str:
    """What a controller decides on, or why it cannot."""
    cached = world.controllers[broker].cached
    return _reads_partition_unmet(world, broker) or cached or HAS_READ_PARTITION


def _elects_unmet(world: PartitionCluster, broker: int, leader: int) -> str | None:
    controller, cached = world.controllers[broker], _known(world, broker)
    if isinstance(cached, str):
        return cached
    isr = cached.state.isr
    if controller.unclean and not set(isr).intersection(cached.live_ids):
        isr = world.assignment  # any replica that lives may be elected
    if leader not in isr:
        return "the candidate is in the ISR that the controller read"
    if leader not in cached.live_ids:
        return "the candidate was registered when the controller read"
    return None


def controller_elects_leader(world: PartitionCluster, broker: int, leader: int) -> None:
    """A fenced, conditional write of a new leader; it may be refused."""
    put_in_flight(world, world.controllers[broker].elect_leader(leader))


def _removes_unmet(world: PartitionCluster, broker: int, replica: int) -> str | None:
    controller, cached = world.controllers[broker], _known(world, broker)
    if isinstance(cached, str):
        return cached
    if replica not in cached.state.isr:
        return "the replica is in the ISR that the controller read"
    if replica in cached.live_ids:
        return "the replica was not registered when the controller read"
    stays = len(cached.state.isr) == 1 and not controller.unclean
    if stays and cached.state.leader != replica:
        return "removing the replica changes the leader or the ISR (the last member stays)"
    return None


def controller_removes_replica(world: PartitionCluster, broker: int, replica: int) -> None:
    """A fenced, conditional write of an ISR without a dead replica."""
    put_in_flight(world, world.controllers[broker].remove_replica(replica))


def _informs_unmet(world: PartitionCluster, broker: int, replica: int) -> str | None:
    belief = world.controllers[broker].belief
    if belief is None:
        return BELIEVES
    if not world.controllers[broker].is_registered():
        return "/controller is the broker's own"
    if not world.is_registered(replica):
        return "the replica's broker is registered"
    state = world.registered_state
    if state.leader == NO_LEADER:
        return "the partition has a registered leader"
    if world.in_flight(replica, state.leader_epoch, belief.epoch) is not None:
        return "no LeaderAndIsr request of these epochs is in flight to the replica"
    return None


def controller_issues_leader_and_isr(world: PartitionCluster, broker: int, replica: int) -> None:
    """Send a replica the registered state (after a failover, or when the broker came back)."""
    put_in_flight(world, world.controllers[broker].inform(replica))


def put_in_flight(world: PartitionCluster, requests: Requests) -> None:
    """Put requests in flight, except those for an earlier registration of the target (KIP-380).

    A broker whose session has ended obeys requests to its last registration until it registers
    again. Up to 2.1 requests name no registration, and reach any broker with that id.
    """
    for target, request in requests:
        if request.broker_epoch in (NO_BROKER_EPOCH, world.epochs[target]):
            world.on_request_sent(request.controller, target, request)
            world.send(target, request)


# Their requests in flight: each arrives, in any order, or is lost


def _arrives_unmet(
    world: PartitionCluster, broker: int, leader_epoch: int, controller_epoch: int
) -> str | None:
    request = world.in_flight(broker, leader_epoch, controller_epoch)
    if request is None:
        return IN_FLIGHT
    server = world.hosts[broker]
    if not server.up:
        return PROCESS_IS_UP
    waits = server.waits_for_isr_lock(request, world.epochs[broker])
    return ISR_IS_UNLOCKED if waits else None


def leader_and_isr_arrives(
    world: PartitionCluster, broker: int, leader_epoch: int, controller_epoch: int
) -> None:
    """The target applies the request or refuses it; in both cases it is no longer in flight.

    A request that would be applied waits while an ISR write of the partition is unanswered.
    """
    request = world.take_off(broker, leader_epoch, controller_epoch)
    world.hosts[broker].handle_request(request, world.epochs[broker])


def _is_lost_unmet(
    world: PartitionCluster, broker: int, leader_epoch: int, controller_epoch: int
) -> str | None:
    there = world.in_flight(broker, leader_epoch, controller_epoch)
    return IN_FLIGHT if there is None else None


def leader_and_isr_is_lost(
    world: PartitionCluster, broker: int, leader_epoch: int, controller_epoch: int
) -> None:
    """The request never arrives."""
    world.take_off(broker, leader_epoch, controller_epoch)


KINDS = (
    refusable(controller_reads_epoch, each_broker, _reads_epoch_unmet),
    refusable(controller_registers, each_candidate, _registers_unmet),
    refusable(controller_learns_outcome, each_candidate, _reply_unmet),
    refusable(controller_reply_to_registration_is_lost, each_candidate, _reply_unmet),
    refusable(controller_checks_outcome, each_candidate, _checks_outcome_unmet),
    refusable(controller_resigns, each_controller, _resigns_unmet),
    refusable(controller_reads_partition, each_controller, _reads_partition_unmet),
    refusable(controller_elects_leader, each_controller_and_broker, _elects_unmet,
              "broker leader"),
    refusable(controller_removes_replica, each_controller_and_broker, _removes_unmet,
              "broker replica"),
    refusable(controller_issues_leader_and_isr, each_controller_and_broker, _informs_unmet,
              "broker replica"),
    refusable(leader_and_isr_arrives, each_leader_and_isr, _arrives_unmet,
              "broker leader_epoch controller_epoch"),
    refusable(leader_and_isr_is_lost, each_leader_and_isr, _is_lost_unmet,
              "broker leader_epoch controller_epoch"),
)  # fmt: skip
