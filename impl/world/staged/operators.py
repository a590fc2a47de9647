"""Steps of controlled shutdowns, operators, timers, and repeated requests."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from itertools import product

from impl.core.broker_events import BrokerNotAvailable, StaleBrokerEpoch
from impl.core.event_controller import EventController
from impl.core.requests import StopReplica
from impl.sim.steps import StepKind, offered
from impl.world.simulated_cluster import broker_stops, brokers_that, leaders_are_rebalanced
from impl.world.staged.lifecycle import staged_that
from impl.world.staged.server import SHUTDOWN, StagedBroker
from impl.world.staged.world import StagedCluster
from impl.znodes import paths
from impl.znodes.brokers import broker_version, encode_broker

One = Iterable[tuple[int, ...]]


def _may_ask(world: StagedCluster, server: StagedBroker) -> bool:
    queued = {
        event.broker
        for node in world.nodes.values()
        for event in node.events.waiting
        if event.name == SHUTDOWN
    }
    pending = server.broker in world.asked or server.broker in queued
    return server.up and server.alive and server.departure == "stays" and not pending


def broker_asks_to_go(world: StagedCluster, broker: int) -> None:
    """It is to be stopped, and sends ControlledShutdown with its registration's epoch."""
    world.nodes[broker].departure = "asks"
    world.asked[broker] = world.nodes[broker].epoch


def _controllers(world: StagedCluster) -> list[int]:
    return [one for one, server in world.nodes.items() if server.thread.controller.active]


def shutdown_request_arrives(world: StagedCluster, broker: int, subject: int) -> None:
    """It takes its place in a controller's queue."""
    epoch = world.asked.pop(subject)

    async def shut_down(controller: EventController) -> None:
        with contextlib.suppress(BrokerNotAvailable, StaleBrokerEpoch):
            await controller.guarded(lambda: controller.brokers.shut_down(subject, epoch))

    world.nodes[broker].put(SHUTDOWN, shut_down, subject)


def broker_changes_endpoints(world: StagedCluster, broker: int) -> None:
    """Other listeners are written into its registration (KIP-226)."""
    server = world.nodes[broker]
    server.port += 1
    version = broker_version(world.release)
    world.zookeeper.set_data(paths.broker(broker), encode_broker(server.info(), version))


def _repeatable(world: StagedCluster) -> One:
    return [
        (to, sender)
        for sender, to, queue in world.queues()
        if isinstance(queue[0].request, StopReplica)
        and world.nodes[to].up and to not in world.late
    ]  # fmt: skip


def stop_replica_is_sent_again(world: StagedCluster, broker: int, sender: int) -> None:
    """The connection breaks under it: the first copy is late."""
    world.late[broker] = world.queue(sender, broker)[0]


def _late(world: StagedCluster) -> One:
    return [(broker,) for broker in sorted(world.late) if world.nodes[broker].up]


def late_stop_replica_arrives(world: StagedCluster, broker: int) -> None:
    """After all, and after what was sent since."""
    sent, server = world.late.pop(broker), world.nodes[broker]
    server.hear(sent)


KINDS: tuple[StepKind, ...] = (
    offered("broker_asks_to_go", "broker", staged_that(_may_ask), broker_asks_to_go),
    offered("shutdown_request_arrives", "broker subject",
                lambda world: product(_controllers(world), sorted(world.asked)),
                shutdown_request_arrives),
    offered("broker_stops", "broker",
                staged_that(lambda _, one: one.departure == "may_go"), broker_stops),
    offered("broker_changes_endpoints", "broker",
                brokers_that(lambda one: one.up and one.alive and not one.lingers),
                broker_changes_endpoints),
    offered("leaders_are_rebalanced", "broker", brokers_that(lambda one: one.has_begun),
                leaders_are_rebalanced),
    offered("stop_replica_is_sent_again", "broker sender", _repeatable,
                stop_replica_is_sent_again),
    offered("late_stop_replica_arrives", "broker", _late, late_stop_replica_arrives),
)  # fmt: skip
