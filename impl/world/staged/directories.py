"""Steps of log directories in a staged cluster: each replica lies in one of its own (KIP-112)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from impl.sim.steps import StepKind, offered
from impl.world.staged.leaders import at
from impl.world.staged.lifecycle import brokers_that
from impl.world.staged.server import StagedServer
from impl.world.staged.world import StagedCluster
from impl.znodes import TopicPartition
from impl.zookeeper.port import wait

One = Iterable[tuple[int, ...]]


def _replicas_that(
    rule: Callable[[StagedServer, TopicPartition], bool],
) -> Callable[[StagedCluster], One]:
    """Steps of one replica, where a rule holds of its broker and its partition."""
    return lambda world: [
        (broker, partition.partition)
        for partition, replicas in world.assignment.items()
        for broker in replicas
        if rule(world.servers[broker], partition)
    ]


def log_directory_fails(world: StagedCluster, broker: int, partition: int) -> None:
    """The replica is offline at once; the broker goes on with the others (1.0)."""
    world.servers[broker].lose(at(partition))


def log_directory_is_repaired(world: StagedCluster, broker: int, partition: int) -> None:
    """While the broker is stopped."""
    world.servers[broker].repair(at(partition))


def broker_reports_log_dir_failure(world: StagedCluster, broker: int) -> None:
    """A notification under ``/log_dir_event_notification``, which names nobody but itself."""
    server = world.servers[broker]
    wait(server.client.propagate_log_dir_failure(broker))
    server.untold = False


KINDS: tuple[StepKind, ...] = (
    offered("log_directory_fails", "broker partition",
                _replicas_that(lambda server, one: server.up and not server.has_failed(one)),
                log_directory_fails),
    offered("log_directory_is_repaired", "broker partition",
                _replicas_that(lambda server, one: not server.up and server.has_failed(one)),
                log_directory_is_repaired),
    offered("broker_reports_log_dir_failure", "broker",
                brokers_that(lambda _, one: one.untold and one.alive),
                broker_reports_log_dir_failure),
)  # fmt: skip
