"""The `ELECTIONS` grain: brokers become controller, write under their epoch, and are deposed.

A controller is suspended before ZooKeeper executes a registration or a state write, and again after
a registration, before its response. Every write is a preferred election of one partition. Its
leader is a broker that never runs for controller and never fails, because the content does not
matter here. Requests may arrive late, out of order, and more than once. Source: fact sheet b.2 to
b.6.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from impl.core.event_controller import EventController
from impl.core.request_batch import NO_BROKER_EPOCH
from impl.sim.effects import ZkOperation
from impl.sim.event_run import SuspensionPoint
from impl.sim.simulation import Arguments, refusable
from impl.sim.suspension_points import is_claim, is_registered, registered_epoch
from impl.world.processes import each_broker
from impl.world.stepped.controller_run import FIRST, ControllerRun, Grain, is_to_write
from impl.world.stepped.replica import SteppedReplica
from impl.world.stepped.stepped_cluster import SteppedCluster, Unmet
from impl.znodes import BrokerInfo, LeaderIsrAndControllerEpoch, paths
from impl.znodes.states import encode_state
from impl.zookeeper import Op
from impl.zookeeper.port import wait
from impl.zookeeper.session import EmbeddedSession


def suspends(run: ControllerRun, place: SuspensionPoint) -> bool:
    """Whether a registration is sent or answered, or a state write is sent. Up to 2.0 a
    registration begins with `/controller` and ends with the epoch's write.

    The rest of the event runs at once: the new controller reads the cluster state and prepares its
    first requests; a broker whose response was lost retries, and reads which broker is registered.
    """
    if any(registered_epoch(one.effect) is not None for one in run.passed):
        return False
    if registered_epoch(place.effect) is None:
        return is_to_write(place) or (is_claim(place) and not place.is_done)
    if isinstance(place.effect, ZkOperation) and place.effect.operation != "multi":
        return is_registered(place)
    return not place.is_done or isinstance(place.answer, list)


def _begins(world: SteppedCluster) -> None:
    """Nobody has a session, and another broker leads the partition."""
    for one in world.controllers.values():
        world.zookeeper.expire(one.port.session)
    leader = len(world.brokers) + 1
    wait(world.admin.create_topic(FIRST.topic, {FIRST.partition: (leader, *world.brokers)}))
    state = LeaderIsrAndControllerEpoch(leader, 0, (leader,), 0)
    wait(world.admin.make_path(paths.state(*FIRST), encode_state(state)))
    wait(world.admin.register_broker(leader, BrokerInfo((f"PLAINTEXT://b{leader}:9092",), 0)))


ELECTIONS = Grain(
    "elections are", "1.1", suspends, False, SteppedReplica, repeats=True, begins=_begins
)
"""Who is the controller."""


def each_arrival(world: SteppedCluster) -> Arguments:
    """(broker, controller, its epoch) of the sent requests, for each possible target."""
    return sorted(
        (broker, sender, epoch) for broker in world.brokers for epoch, sender in world.sent
    )


async def _fails(controller: EventController) -> None:
    await controller.trigger_move()


async def _elects_preferred(controller: EventController) -> None:
    await controller.guarded(lambda: controller.elect_preferred([FIRST]))


# What can be seen


def under_way(world: SteppedCluster, broker: int) -> tuple[Op, ...]:
    """The state write that ZooKeeper has not executed yet, or nothing."""
    place = world.place(broker)
    if place is not None and is_to_write(place) and isinstance(place.effect, ZkOperation):
        return place.effect.ops
    return world.abandoned.get(broker, ())


def election_of(world: SteppedCluster, broker: int) -> SuspensionPoint | None:
    """The progress of its registration as controller: sent, or answered."""
    place = world.place(broker)
    asks = place is not None and registered_epoch(place.effect) is not None
    return place if asks or is_claim(place) else None


# Sessions and processes


def _broker_connects_unmet(world: SteppedCluster, broker: int) -> Unmet:
    if world.has_session(broker):
        return "the broker has no session"
    return "no election of it is under way" if election_of(world, broker) else None


def broker_connects(world: SteppedCluster, broker: int) -> None:
    """A session is opened, and the broker registers under it; its controller does not know yet."""
    world.controllers[broker].reconnect(world.open_session(broker))


def _broker_restarts_unmet(world: SteppedCluster, broker: int) -> Unmet:
    active = world.is_active(broker) or election_of(world, broker)
    return None if active or world.hosts[broker].seen else "the broker has something to forget"


def broker_restarts(world: SteppedCluster, broker: int) -> None:
    """Memory is lost. Sent requests stay in flight; the session lasts until it expires.

    Since 2.2 requests to an earlier registration are refused (KIP-380), as if the broker still knew
    its earlier controllers.
    """
    ops = under_way(world, broker)
    if ops:
        world.abandoned[broker] = ops
    one = world.controllers[broker]
    one.renew(one.port.session)
    if not world.fences_brokers:
        world.hosts[broker].lose_memory()


@contextmanager
def _connection(world: SteppedCluster, broker: int) -> Iterator[EmbeddedSession]:
    """The client's: where its session is over, it reconnects before the broker knows."""
    port = world.controllers[broker].port
    last = port.embedded
    if not last.alive:
        port.embedded = EmbeddedSession(world.zookeeper)
    try:
        yield port.embedded
    finally:
        if port.embedded is not last:
            port.embedded.close()
            port.embedded = last


# Events


def _acts_unmet(world: SteppedCluster, broker: int) -> Unmet:
    if not world.is_active(broker):
        return "the broker is the controller"
    return None if world.place(broker) is None else "it does not wait for a write"


def controller_starts_write(world: SteppedCluster, broker: int) -> None:
    """The state is read, and a write conditional on its version is sent.

    A state that a newer controller has written is not written.
    """
    with _connection(world, broker):
        world.controllers[broker].begin(_elects_preferred)


def controller_event_fails(world: SteppedCluster, broker: int) -> None:
    """It resigns, and deletes `/controller`, fenced by its own epoch."""
    with _connection(world, broker):
        world.controllers[broker].begin(_fails)


def _write_arrives_late_unmet(world: SteppedCluster, broker: int) -> Unmet:
    if not under_way(world, broker):
        return "a write of the broker is under way"
    late = broker in world.abandoned or not world.has_session(broker)
    return None if late else "its process has ended since, or its session"


def write_arrives_late(world: SteppedCluster, broker: int) -> None:
    """The write is applied or refused, by the fence and by the version; its sender gets the
    response if it still exists."""
    ops = world.abandoned.pop(broker, None)
    with _connection(world, broker) as session:
        if ops is None:
            world.controllers[broker].resume()
        else:
            wait(session.multi(ops))


# Requests


def _controller_sends_request_unmet(world: SteppedCluster, broker: int) -> Unmet:
    if not world.is_active(broker):
        return "the broker is the controller"
    has_sent = (world.context(broker).epoch, broker) in world.sent
    return "it has not sent this before" if has_sent else None


def controller_sends_request(world: SteppedCluster, broker: int) -> None:
    """Its channels send its first requests."""
    world.sent |= {(world.context(broker).epoch, broker)}


def _request_arrives_unmet(world: SteppedCluster, broker: int, sender: int, epoch: int) -> Unmet:
    return None if (epoch, sender) in world.sent else "the request was sent"


def request_arrives(world: SteppedCluster, broker: int, sender: int, epoch: int) -> None:
    """The broker obeys, or refuses because of the controller epoch."""
    for one in world.connections[epoch, sender]:
        request = replace(one.request, broker_epoch=NO_BROKER_EPOCH)
        wait(world.hosts[broker].replicas.handle(request, NO_BROKER_EPOCH, 0))


KINDS = (
    refusable(broker_connects, each_broker, _broker_connects_unmet),
    refusable(broker_restarts, each_broker, _broker_restarts_unmet),
    refusable(controller_starts_write, each_broker, _acts_unmet),
    refusable(controller_event_fails, each_broker, _acts_unmet),
    refusable(write_arrives_late, each_broker, _write_arrives_late_unmet),
    refusable(controller_sends_request, each_broker, _controller_sends_request_unmet),
    refusable(request_arrives, each_arrival, _request_arrives_unmet, "broker sender epoch"),
)
