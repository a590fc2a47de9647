"""Brokers on disks of memory with one ZooKeeper, and what befalls them: one text for each step.

Which other steps there are, and how finely a controller's event is seen, is up to each world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeVar

from impl.core.event_controller import EventController
from impl.releases import Release
from impl.sim.steps import Step, WorldOfSteps, offered
from impl.world.simulated_broker import SimulatedBroker
from impl.znodes import TopicPartition, paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper import ZooKeeper
from impl.zookeeper.port import wait
from impl.zookeeper.session import EmbeddedSession

STEP_MS = 20
"""Each step takes so long: the clock moves only by steps."""

REBALANCE = "AutoPreferredReplicaLeaderElection"
"""The event that leaders are balanced."""

One = Iterable[tuple[int, ...]]
Broker = TypeVar("Broker", bound=SimulatedBroker, covariant=True)


def administrator(zookeeper: ZooKeeper, release: Release) -> ZnodeClient:
    """A session that never ends, once the znodes are there that every cluster has."""
    client = ZnodeClient(EmbeddedSession(zookeeper), release)
    for path in paths.persistent(release):
        wait(client.make_path(path))
    return client


class SimulatedCluster(WorldOfSteps, Generic[Broker]):
    """Brokers by id, one ZooKeeper, and a clock that moves by steps from ``first_ms`` on."""

    first_ms = 0
    nodes: Mapping[int, Broker]

    def __init__(self, release: Release, zookeeper: ZooKeeper) -> None:
        self.release = release
        self.clock = 0
        self.next_record = 0
        self.zookeeper = zookeeper
        self.admin = administrator(zookeeper, release)

    def now_ms(self) -> int:
        """The clock of everybody."""
        return self.first_ms + STEP_MS * self.clock

    def take(self, step: Step) -> None:
        """Take a step that ``enabled`` has just listed."""
        self.clock += 1
        super().take(step)

    def has_registered(self, broker: int) -> None:
        """A broker has begun another life, or another session."""

    def partitions_there(self) -> Iterable[TopicPartition]:
        """Every partition of a topic that is not to be deleted."""
        raise NotImplementedError


Cluster = SimulatedCluster[SimulatedBroker]


def brokers_that(rule: Callable[[SimulatedBroker], object]) -> Callable[[Cluster], One]:
    """Steps of one broker, where a rule holds of it."""
    return lambda world: [(number,) for number, node in world.nodes.items() if rule(node)]


# Processes


def goes_down(world: Cluster, broker: int, power: bool) -> None:
    """A process ends, and with it the connections to it."""
    world.nodes[broker].crash(power)
    for node in world.nodes.values():
        for channels in (node.channels.open, node.channels.orphans):
            if broker in channels:
                channels[broker].lose()
        connection = node.connections.get(broker)
        if connection is not None and connection.exchange and connection.exchange.is_under_way:
            connection.lose()


def broker_crashes(world: Cluster, broker: int) -> None:
    """The process is killed; what it wrote and its session stay."""
    goes_down(world, broker, power=False)


def broker_starts(world: Cluster, broker: int) -> None:
    """A new process on the same disk, once its last registration is gone."""
    world.nodes[broker].start()
    world.has_registered(broker)


# Sessions


def session_expires(world: Cluster, broker: int) -> None:
    """ZooKeeper has not heard of a process for too long: its nodes go, and no live one knows."""
    node = world.nodes[broker]
    node.lingers = False
    node.session.close()


def broker_reconnects(world: Cluster, broker: int) -> None:
    """A live process notices that its session is over, resigns and registers anew."""
    world.nodes[broker].reconnect()
    world.has_registered(broker)


def broker_stops(world: Cluster, broker: int) -> None:
    """It goes in order, and its session with it."""
    broker_crashes(world, broker)
    session_expires(world, broker)


# Log directories


def log_dir_failure_is_reported(world: Cluster, broker: int) -> None:
    """A notification under ``/log_dir_event_notification``, which names nobody but itself."""
    node = world.nodes[broker]
    wait(node.client.propagate_log_dir_failure(broker))
    node.untold = False


# Controllers, and what operators ask of them


def _registered(world: Cluster) -> One:
    return [()] if paths.CONTROLLER in world.zookeeper.nodes else []


def controller_node_is_deleted(world: Cluster) -> None:
    """What operators do to have another controller: the one that is there resigns."""
    wait(world.admin.port.delete(paths.CONTROLLER))


def leaders_are_rebalanced(world: Cluster, broker: int) -> None:
    """``auto.leader.rebalance.enable``: the periodic look at preferred leaders."""
    world.nodes[broker].put(REBALANCE, _rebalances)


async def _rebalances(controller: EventController) -> None:
    await controller.guarded(controller.rebalance)


def _unasked(world: Cluster) -> One:
    return [] if paths.PREFERRED_ELECTION in world.zookeeper.nodes else [()]


def preferred_election_is_requested(world: Cluster) -> None:
    """Every partition is to be led by its first replica."""
    wait(world.admin.request_preferred_election(world.partitions_there()))


KINDS = (
    offered("broker_crashes", "broker", brokers_that(lambda one: one.up), broker_crashes, 0,
            "crashes"),
    offered("broker_starts", "broker",
            brokers_that(lambda one: not one.up and not one.registered), broker_starts, 60),
    offered("session_expires", "broker",
            brokers_that(lambda one: one.up and one.alive and not one.lingers),
            session_expires, 0, "sessions"),
    offered("dead_session_expires", "broker",
            brokers_that(lambda one: not one.up and one.alive and not one.lingers),
            session_expires, 60),
    offered("broker_reconnects", "broker",
            brokers_that(lambda one: one.running and not one.alive and not one.registered),
            broker_reconnects, 60),
    offered("log_dir_failure_is_reported", "broker",
            brokers_that(lambda one: one.untold and one.running and one.alive),
            log_dir_failure_is_reported, 60),
    offered("controller_node_is_deleted", "", _registered, controller_node_is_deleted, 0,
            "controllers"),
    offered("preferred_election_is_requested", "", _unasked, preferred_election_is_requested, 0,
            "elections"),
)  # fmt: skip
"""The steps that there are however finely a cluster is seen."""
