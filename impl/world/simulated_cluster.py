"""Whole brokers, one ZooKeeper, and their faults, for `staged` and `whole_cluster`.

Each world chooses the brokers' disks, its other steps, and where a controller's event is suspended.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Generic, TypeVar

from impl.core.event_controller import EventController
from impl.releases import Release
from impl.sim.simulation import Arguments, Step, StepKind, offered
from impl.world.processes import (
    PROCESSES,
    Process,
    SimulatedProcesses,
    administrator,
    session_expires,
)
from impl.world.simulated_broker import SimulatedBroker
from impl.znodes import TopicPartition, paths
from impl.zookeeper import ZooKeeper
from impl.zookeeper.port import wait

STEP_MS = 20
"""Each step takes so long: the clock moves only by steps."""

REBALANCE = "AutoPreferredReplicaLeaderElection"
"""The event that leaders are balanced."""

Broker = TypeVar("Broker", bound=SimulatedBroker, covariant=True)


class SimulatedCluster(SimulatedProcesses, Generic[Broker]):
    """Brokers by id, one ZooKeeper, and a clock that advances by steps from ``first_ms`` on."""

    first_ms = 0
    nodes: Mapping[int, Broker]

    def __init__(
        self, kinds: Mapping[str, StepKind], release: Release, zookeeper: ZooKeeper
    ) -> None:
        self.kinds, self.release = kinds, release
        self.clock = 0
        self.next_record = 0
        self.zookeeper = zookeeper
        self.admin = administrator(zookeeper, release)

    def now_ms(self) -> int:
        """The time of the one clock of all brokers."""
        return self.first_ms + STEP_MS * self.clock

    def take(self, step: Step) -> None:
        """Take a step that ``enabled`` has just listed."""
        self.clock += 1
        super().take(step)

    @property
    def brokers(self) -> Collection[int]:  # type: ignore[override]
        """The ids of the brokers."""
        return self.nodes

    def process(self, broker: int) -> Process:
        """A broker by its id."""
        return self.nodes[broker]

    def crash(self, broker: int, power: bool = False) -> None:
        """End a process, and the connections to it."""
        self.nodes[broker].crash(power)
        for node in self.nodes.values():
            for channels in (node.channels.open, node.channels.orphans):
                if broker in channels:
                    channels[broker].lose()
            connection = node.connections.get(broker)
            if connection is not None and connection.exchange and connection.exchange.is_under_way:
                connection.lose()

    def start(self, broker: int) -> None:
        """Start a new process on the same disk."""
        self.nodes[broker].start()
        self.has_registered(broker)

    def expire(self, broker: int) -> None:
        """Expire a session, and remove its znodes."""
        node = self.nodes[broker]
        node.lingers = False
        node.session.close()

    def reconnect(self, broker: int) -> None:
        """Register a live process again, in a new session."""
        self.nodes[broker].reconnect()
        self.has_registered(broker)

    def has_registered(self, broker: int) -> None:
        """Called when a broker has a new process, or a new session."""

    @abstractmethod
    def existing_partitions(self) -> Iterable[TopicPartition]:
        """Every partition of the topics that are not to be deleted."""


Cluster = SimulatedCluster[SimulatedBroker]


def brokers_that(rule: Callable[[SimulatedBroker], object]) -> Callable[[Cluster], Arguments]:
    """Steps of one broker that are possible where a rule holds for it."""
    return lambda world: [(number,) for number, node in world.nodes.items() if rule(node)]


def broker_stops(world: Cluster, broker: int) -> None:
    """A broker shuts down cleanly, and closes its session."""
    world.crash(broker)
    world.expire(broker)


# Log directories


def log_dir_failure_is_reported(world: Cluster, broker: int) -> None:
    """A notification under ``/log_dir_event_notification``, which contains only the broker's id."""
    node = world.nodes[broker]
    wait(node.client.propagate_log_dir_failure(broker))
    node.failure_unreported = False


# Controllers, and what operators ask of them


def leaders_are_rebalanced(world: Cluster, broker: int) -> None:
    """``auto.leader.rebalance.enable``: the periodic check of preferred leaders."""
    world.nodes[broker].put(REBALANCE, _rebalances)


async def _rebalances(controller: EventController) -> None:
    await controller.guarded(controller.rebalance)


def _unasked(world: Cluster) -> Arguments:
    return [] if paths.PREFERRED_ELECTION in world.zookeeper.nodes else [()]


def preferred_election_is_requested(world: Cluster) -> None:
    """A request to elect the preferred leader of every partition."""
    wait(world.admin.request_preferred_election(world.existing_partitions()))


KINDS = (
    *(one for one in PROCESSES if one.act is not session_expires),
    offered("session_expires", "broker",
            brokers_that(lambda one: one.up and one.alive and not one.lingers),
            session_expires, 0, "sessions"),
    offered("dead_session_expires", "broker",
            brokers_that(lambda one: not one.up and one.alive and not one.lingers),
            session_expires, 60),
    offered("log_dir_failure_is_reported", "broker",
            brokers_that(lambda one: one.failure_unreported and one.running and one.alive),
            log_dir_failure_is_reported, 60),
    offered("preferred_election_is_requested", "", _unasked, preferred_election_is_requested, 0,
            "elections"),
)  # fmt: skip
"""The steps that there are however finely a cluster is seen."""
