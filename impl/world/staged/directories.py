"""Steps of log directories in a staged cluster: each replica has one of its own (KIP-112)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from impl.sim.steps import StepKind, offered
from impl.world.staged.leaders import at
from impl.world.staged.server import StagedBroker
from impl.world.staged.world import StagedCluster
from impl.znodes import TopicPartition

One = Iterable[tuple[int, ...]]


def _replicas_that(
    rule: Callable[[StagedBroker, TopicPartition], bool],
) -> Callable[[StagedCluster], One]:
    """Steps of one replica, where a rule holds of its broker and its partition."""
    return lambda world: [
        (broker, partition.partition)
        for partition, replicas in world.assignment.items()
        for broker in replicas
        if rule(world.nodes[broker], partition)
    ]


def log_directory_fails(world: StagedCluster, broker: int, partition: int) -> None:
    """The replica is offline at once; the broker goes on with the others (1.0)."""
    world.nodes[broker].lose(at(partition))


def log_directory_is_repaired(world: StagedCluster, broker: int, partition: int) -> None:
    """While the broker is stopped."""
    world.nodes[broker].repair(at(partition))


KINDS: tuple[StepKind, ...] = (
    offered("log_directory_fails", "broker partition",
                _replicas_that(lambda server, one: server.up and not server.has_failed(one)),
                log_directory_fails),
    offered("log_directory_is_repaired", "broker partition",
                _replicas_that(lambda server, one: not server.up and server.has_failed(one)),
                log_directory_is_repaired),
)  # fmt: skip
