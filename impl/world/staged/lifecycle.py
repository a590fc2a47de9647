"""Steps of a staged cluster in which a session expires before ZooKeeper has removed its znodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from impl.sim.steps import StepKind, offered
from impl.world.processes import broker_reconnects, session_expires
from impl.world.simulated_cluster import brokers_that
from impl.world.staged.server import StagedBroker
from impl.world.staged.world import StagedCluster

One = Iterable[tuple[int, ...]]


def staged_that(
    rule: Callable[[StagedCluster, StagedBroker], bool],
) -> Callable[[StagedCluster], One]:
    """Steps of one broker, where a rule holds of it."""
    return lambda world: [(one,) for one, node in world.nodes.items() if rule(world, node)]


def _replaces(world: StagedCluster, server: StagedBroker) -> bool:
    """Up to 2.1 its registration fails while the old node is there (KAFKA-7165)."""
    return server.lingers and server.up and world.release.since("2.2")


def session_ends_before_its_nodes(world: StagedCluster, broker: int) -> None:
    """The server has given the session up, and has not removed its nodes yet."""
    world.nodes[broker].lingers = True


KINDS: tuple[StepKind, ...] = (
    offered("session_ends_before_its_nodes", "broker",
            brokers_that(lambda one: one.up and one.alive and not one.lingers),
            session_ends_before_its_nodes),
    offered("node_of_an_ended_session_goes", "broker", brokers_that(lambda one: one.lingers),
            session_expires),
    offered("broker_replaces_its_old_node", "broker",
            staged_that(_replaces), broker_reconnects),
)  # fmt: skip
