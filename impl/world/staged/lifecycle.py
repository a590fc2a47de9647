"""Steps of processes and sessions in a staged cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from impl.sim.steps import StepKind, offered
from impl.world.staged.server import StagedServer
from impl.world.staged.world import StagedCluster
from impl.znodes import paths

One = Iterable[tuple[int, ...]]


def brokers_that(
    rule: Callable[[StagedCluster, StagedServer], bool],
) -> Callable[[StagedCluster], One]:
    """Steps of one broker, where a rule holds of it."""
    return lambda world: [(one,) for one, server in world.servers.items() if rule(world, server)]


# Processes and sessions


def broker_crashes(world: StagedCluster, broker: int) -> None:
    """The process is killed; what it wrote and its session stay."""
    for partition in world.assignment:
        world.servers[broker].look(partition)
    world.servers[broker].crash()
    world.drop_requests(broker)


def broker_starts(world: StagedCluster, broker: int) -> None:
    """A new process on the same disk, once the last registration is gone."""
    world.servers[broker].start()
    world.refuse_old_requests(broker)


def session_expires(world: StagedCluster, broker: int) -> None:
    """ZooKeeper ends the session, of a live process or a dead one: its nodes go."""
    server = world.servers[broker]
    server.lingers = False
    server.session.close()


def broker_reconnects(world: StagedCluster, broker: int) -> None:
    """A live process notices that its session is over, resigns and registers anew."""
    world.drop_requests(broker)
    world.servers[broker].reconnect()
    world.refuse_old_requests(broker)


def session_ends_before_its_nodes(world: StagedCluster, broker: int) -> None:
    """The server has given the session up, and has not removed its nodes yet."""
    world.servers[broker].lingers = True


def controller_node_is_deleted(world: StagedCluster) -> None:
    """An operator deletes /controller."""
    world.zookeeper.delete(paths.CONTROLLER)


def _is_active(world: StagedCluster) -> One:
    return [()] if paths.CONTROLLER in world.zookeeper.nodes else []


KINDS: tuple[StepKind, ...] = (
    offered("broker_crashes", "broker", brokers_that(lambda _, one: one.up), broker_crashes),
    offered("broker_starts", "broker",
          brokers_that(lambda _, one: not one.up and not one.registered), broker_starts),
    offered("session_expires", "broker",
          brokers_that(lambda _, one: one.alive and not one.lingers), session_expires),
    offered("broker_reconnects", "broker",
          brokers_that(lambda _, one: one.up and not one.alive), broker_reconnects),
    offered("session_ends_before_its_nodes", "broker",
          brokers_that(lambda _, one: one.up and one.alive and not one.lingers),
          session_ends_before_its_nodes),
    offered("node_of_an_ended_session_goes", "broker",
          brokers_that(lambda _, one: one.lingers), session_expires),
    offered("broker_replaces_its_old_node", "broker",
          brokers_that(lambda _, one: one.lingers and one.up), broker_reconnects),
    offered("controller_node_is_deleted", "", _is_active, controller_node_is_deleted),
)  # fmt: skip
