"""Steps of brokers that go in order, of operators and of timers, and of a request sent twice."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from impl.core.requests import StopReplica
from impl.sim.steps import StepKind, offered
from impl.world.staged.lifecycle import broker_crashes, brokers_that, session_expires
from impl.world.staged.server import StagedServer
from impl.world.staged.world import StagedCluster, add_event
from impl.znodes import paths
from impl.znodes.brokers import broker_version, encode_broker
from impl.zookeeper.port import wait

One = Iterable[tuple[int, ...]]


def _may_ask(world: StagedCluster, server: StagedServer) -> bool:
    pending = server.broker in world.asked or server.broker in world.leaving
    return server.up and server.alive and server.departure == "stays" and not pending


def broker_asks_to_go(world: StagedCluster, broker: int) -> None:
    """It is to be stopped, and sends ControlledShutdown with its registration's epoch."""
    world.servers[broker].departure = "asks"
    world.asked[broker] = world.servers[broker].epoch


def _controllers(world: StagedCluster) -> list[int]:
    return [one for one, server in world.servers.items() if server.thread.controller.active]


def shutdown_request_arrives(world: StagedCluster, broker: int, subject: int) -> None:
    """It takes its place in a controller's queue."""
    world.leaving[subject] = world.asked.pop(subject)
    add_event(world.servers[broker], "controlled_shutdown", subject)


def broker_stops(world: StagedCluster, broker: int) -> None:
    """It goes in order, and its session with it."""
    broker_crashes(world, broker)
    session_expires(world, broker)


def _may_change(world: StagedCluster, server: StagedServer) -> bool:
    return server.up and server.alive and not server.lingers


def broker_changes_endpoints(world: StagedCluster, broker: int) -> None:
    """Other listeners are written into its registration (KIP-226)."""
    server = world.servers[broker]
    server.port += 1
    version = broker_version(world.release)
    world.zookeeper.set_data(paths.broker(broker), encode_broker(server.info(), version))


def admin_asks_for_preferred_leaders(world: StagedCluster) -> None:
    """Of every partition."""
    wait(world.admin.request_preferred_election(world.assignment))


def rebalance_timer_fires(world: StagedCluster, broker: int) -> None:
    """``auto.leader.rebalance.enable``."""
    add_event(world.servers[broker], "rebalance", 0)


def _repeatable(world: StagedCluster) -> One:
    return [
        (to, sender)
        for sender, to, queue in world.queues()
        if isinstance(queue[0].request, StopReplica)
        and world.servers[to].up and to not in world.late
    ]  # fmt: skip


def stop_replica_is_sent_again(world: StagedCluster, broker: int, sender: int) -> None:
    """The connection breaks under it: the first copy is late."""
    world.late[broker] = world.queue(sender, broker)[0]


def _late(world: StagedCluster) -> One:
    return [(broker,) for broker in sorted(world.late) if world.servers[broker].up]


def late_stop_replica_arrives(world: StagedCluster, broker: int) -> None:
    """After all, and after what was sent since."""
    sent, server = world.late.pop(broker), world.servers[broker]
    server.hear(sent, sent.request)


KINDS: tuple[StepKind, ...] = (
    offered("broker_asks_to_go", "broker", brokers_that(_may_ask), broker_asks_to_go),
    offered("shutdown_request_arrives", "broker subject",
                lambda world: product(_controllers(world), sorted(world.asked)),
                shutdown_request_arrives),
    offered("broker_stops", "broker",
                brokers_that(lambda _, one: one.departure == "may_go"), broker_stops),
    offered("broker_changes_endpoints", "broker",
                brokers_that(_may_change), broker_changes_endpoints),
    offered("admin_asks_for_preferred_leaders", "",
                lambda world: [] if wait(world.admin.preferred_election()) is not None else [()],
                admin_asks_for_preferred_leaders),
    offered("rebalance_timer_fires", "broker",
                brokers_that(lambda _, one: one.has_begun), rebalance_timer_fires),
    offered("stop_replica_is_sent_again", "broker sender", _repeatable,
                stop_replica_is_sent_again),
    offered("late_stop_replica_arrives", "broker", _late, late_stop_replica_arrives),
)  # fmt: skip
