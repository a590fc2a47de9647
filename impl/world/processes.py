"""Steps of processes and sessions, and of /controller: the same in every world.

Each world implements ``crash``, ``start``, ``expire`` and ``reconnect`` of a broker, and handles
what is under way to it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

from impl.releases import Release
from impl.sim.simulation import Arguments, Simulation, refusable
from impl.znodes import paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper import EmbeddedSession, ZooKeeper
from impl.zookeeper.port import wait

PROCESS_IS_UP = "the broker's process is up"
SESSION_IS_ALIVE = "the broker's ZooKeeper session is alive"


class Process(Protocol):
    """A broker of a world. ``up``: its process runs; ``alive``: ZooKeeper holds its session.

    ``paused``: its process is suspended.
    """

    up: bool
    paused: bool

    @property
    def alive(self) -> bool:
        """Whether ZooKeeper holds its session, even if the process is dead."""


class SimulatedProcesses(Simulation, ABC):
    """Brokers whose processes and sessions begin and end, and one ZooKeeper."""

    zookeeper: ZooKeeper

    @abstractmethod
    def process(self, broker: int) -> Process:
        """A broker by its id."""

    def is_up(self, broker: int) -> bool:
        """Whether its process is up."""
        return self.process(broker).up

    def runs(self, broker: int) -> bool:
        """Whether its process is up, and not paused."""
        one = self.process(broker)
        return one.up and not one.paused

    def has_session(self, broker: int) -> bool:
        """Whether ZooKeeper holds its process's session, even if the process is dead."""
        return self.process(broker).alive

    def is_registered(self, broker: int) -> bool:
        """Whether /brokers/ids has an entry for it, of any session."""
        return paths.broker(broker) in self.zookeeper.nodes

    def registrations(self) -> dict[int, int]:
        """Registered broker -> its epoch, sorted."""
        nodes = self.zookeeper.nodes
        return {one: nodes[path].czxid for one in self.brokers
                if (path := paths.broker(one)) in nodes}  # fmt: skip

    @abstractmethod
    def crash(self, broker: int) -> None:
        """Kill its process; its disk and its session stay."""

    @abstractmethod
    def start(self, broker: int) -> None:
        """Start a new process on the existing disk."""

    @abstractmethod
    def expire(self, broker: int) -> None:
        """Let ZooKeeper expire its session."""

    @abstractmethod
    def reconnect(self, broker: int) -> None:
        """Open a new session for a live process."""


def administrator(zookeeper: ZooKeeper, release: Release) -> ZnodeClient:
    """A client whose session never ends; creates the znodes that every cluster has."""
    client = ZnodeClient(EmbeddedSession(zookeeper), release)
    for path in paths.persistent(release):
        wait(client.make_path(path))
    return client


def each_broker(world: Any) -> Arguments:
    """(broker,) for every broker."""
    return [(broker,) for broker in world.brokers]


def once(world: Any) -> Arguments:
    """The one choice of no arguments."""
    return [()]


def _crash_unmet(world: SimulatedProcesses, broker: int) -> str | None:
    return None if world.is_up(broker) else PROCESS_IS_UP


def broker_crashes(world: SimulatedProcesses, broker: int) -> None:
    """The process is killed: memory is lost, connections break; the session has yet to expire."""
    world.crash(broker)


def start_unmet(world: SimulatedProcesses, broker: int) -> str | None:
    """Why a broker cannot start."""
    if world.is_up(broker):
        return "the broker's process is down"
    if world.is_registered(broker):
        return "no earlier registration of the broker is left in /brokers/ids"
    return None


def broker_starts(world: SimulatedProcesses, broker: int) -> None:
    """A new incarnation: the disk is read, a session opened, a registration made."""
    world.start(broker)


def _expire_unmet(world: SimulatedProcesses, broker: int) -> str | None:
    return None if world.has_session(broker) else SESSION_IS_ALIVE


def session_expires(world: SimulatedProcesses, broker: int) -> None:
    """The session's ephemeral znodes are removed; a live process does not notice."""
    world.expire(broker)


def _reconnect_unmet(world: SimulatedProcesses, broker: int) -> str | None:
    if not world.runs(broker):
        return PROCESS_IS_UP
    return "the broker's ZooKeeper session has expired" if world.has_session(broker) else None


def broker_reconnects(world: SimulatedProcesses, broker: int) -> None:
    """A live process notices that its session has expired: it resigns, and registers again."""
    world.reconnect(broker)


def _deleted_unmet(world: SimulatedProcesses) -> str | None:
    return None if paths.CONTROLLER in world.zookeeper.nodes else "a controller is registered"


def controller_node_is_deleted(world: SimulatedProcesses) -> None:
    """An operator deletes /controller to force an election; the controller has not noticed yet.

    This is how a controller with a live session writes after it was deposed (semantics b.6).
    """
    world.zookeeper.delete(paths.CONTROLLER)


PROCESSES = (
    refusable(broker_crashes, each_broker, _crash_unmet, fault="crashes"),
    refusable(broker_reconnects, each_broker, _reconnect_unmet, weight=60),
    refusable(broker_starts, each_broker, start_unmet, weight=60),
    refusable(controller_node_is_deleted, once, _deleted_unmet, "", fault="controllers"),
    refusable(session_expires, each_broker, _expire_unmet, fault="sessions"),
)
