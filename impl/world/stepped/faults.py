"""Faults: processes crash, sessions expire, replies and requests are lost or late."""

from __future__ import annotations

from impl.core.requests import LeaderAndIsr
from impl.sim.simulation import Arguments, refusable
from impl.sim.suspension_points import is_lost, registered_epoch
from impl.world.processes import PROCESS_IS_UP, each_broker
from impl.world.stepped.stepped_cluster import SteppedCluster, Unmet


def each_sender(world: SteppedCluster) -> Arguments:
    """(controller epoch, target) of the requests and responses under way."""
    return sorted({*world.connections, *world.answers})


def each_term_and_broker(world: SteppedCluster) -> Arguments:
    """(target, controller epoch) of every controller so far."""
    epochs = range(1, world.epoch() + 1)
    return [(broker, epoch) for broker in world.brokers for epoch in epochs]


# What is lost, or late


def _reply_to_registration_is_lost_unmet(world: SteppedCluster, broker: int) -> Unmet:
    place = world.place(broker)
    if place is None or not place.is_done or registered_epoch(place.effect) is None:
        return "its registration was executed, and it has not heard of it"
    return "the reply is on its way" if is_lost(place) else None


def reply_to_registration_is_lost(world: SteppedCluster, broker: int) -> None:
    """The connection breaks after ZooKeeper executed the registration."""
    world.controllers[broker].lose_answer()


def _request_is_lost_unmet(world: SteppedCluster, controller: int, broker: int) -> Unmet:
    to = (controller, broker)
    if to not in world.connections and to not in world.answers:
        return "something is under way to the broker"
    acting = [world.context(one).epoch for one in world.brokers if world.is_active(one)]
    return "the sender is not the controller any more" if controller in acting else None


def request_is_lost(world: SteppedCluster, controller: int, broker: int) -> None:
    """A controller that resigned never sends its queued request."""
    world.connections.pop((controller, broker), None)
    world.answers.pop((controller, broker), None)


def _metadata_is_delayed_unmet(world: SteppedCluster, broker: int, controller: int) -> Unmet:
    if not 1 <= controller <= world.epoch():
        return "there was such a controller"
    return "the connection is not slow yet" if (controller, broker) in world.slow else None


def metadata_is_delayed(world: SteppedCluster, broker: int, controller: int) -> None:
    """The connection of a controller to a broker is slow: UpdateMetadata waits in its queue."""
    world.slow[controller, broker] = ()


def _metadata_arrives_unmet(world: SteppedCluster, broker: int, controller: int) -> Unmet:
    late = world.slow.get((controller, broker))
    if not late:
        return "UpdateMetadata is in flight"
    if not world.is_up(broker):
        return PROCESS_IS_UP
    waiting = world.connections.get((controller, broker), ())
    before = [one for one in waiting if one.epoch <= late[-1].epoch]
    is_next = not any(isinstance(one.request, LeaderAndIsr) for one in before)
    return None if is_next else "all earlier requests have arrived"


def metadata_arrives(world: SteppedCluster, broker: int, controller: int) -> None:
    """The delayed UpdateMetadata requests arrive; the last one has the content of all of them."""
    for sent in world.slow.pop((controller, broker)):
        world.hosts[broker].obey(sent)


KINDS = (
    refusable(reply_to_registration_is_lost, each_broker, _reply_to_registration_is_lost_unmet),
    refusable(request_is_lost, each_sender, _request_is_lost_unmet, "controller broker"),
    refusable(
        metadata_is_delayed, each_term_and_broker, _metadata_is_delayed_unmet, "broker controller"
    ),
    refusable(metadata_arrives, each_term_and_broker, _metadata_arrives_unmet, "broker controller"),
)
