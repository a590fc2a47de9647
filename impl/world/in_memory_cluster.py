"""Brokers with logs in memory, their controllers, and the requests that are under way.

All state is plain data, saved and restored as one value. Each world defines its steps and how its
controllers run.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Generic, Protocol, TypeVar

from impl.releases import Release
from impl.sim.effects import EffectPort
from impl.sim.suspension_points import make_controller_epoch, newest_controller_epoch
from impl.world.processes import SimulatedProcesses, administrator
from impl.world.stepped.in_memory_broker import InMemoryBroker, RequestInFlight
from impl.znodes import BrokerInfo
from impl.znodes.client import ZnodeClient
from impl.zookeeper import EmbeddedSession, ZooKeeper
from impl.zookeeper.port import wait

Connection = tuple[int, int]
"""Controller epoch and target."""


class SimulatedController(Protocol):
    """A broker's controller, as a world needs it."""

    port: EffectPort

    def renew(self, session: int) -> None:
        """Forget everything: another process or session."""

    def reconnect(self, session: int) -> None:
        """Continue the same process on another session."""

    def abort_event(self) -> None:
        """Resign, and drop the event under way."""

    def save(self) -> Any:
        """Everything, as a value."""

    def load(self, saved: Any) -> None:
        """Restore what `save` returned."""


Run = TypeVar("Run", bound=SimulatedController)
Server = TypeVar("Server", bound=InMemoryBroker)


class InMemoryCluster(SimulatedProcesses, Generic[Run, Server]):
    """Brokers 1..N, registered in this order; ``epochs`` are those of their last registrations.

    ``connections`` holds requests that are sent and not received. ``seed`` only shifts the first
    session id and zxid, so that nothing may depend on them.
    """

    def __init__(self, brokers: int, release: Release, seed: int = 0) -> None:
        self.release = release
        self.brokers = range(1, brokers + 1)
        self.zookeeper = ZooKeeper(first_zxid=seed % 1000, first_session=seed % 1000 + 1)
        self.admin = administrator(self.zookeeper, release)
        make_controller_epoch(self.admin)
        self.connections: dict[Connection, tuple[RequestInFlight, ...]] = {}
        self.next_record = 0
        self.epochs: dict[int, int] = {}
        self.controllers: dict[int, Run] = {}
        self.hosts: dict[int, Server] = {}
        for broker in self.brokers:
            self.controllers[broker], self.hosts[broker] = self._new_broker(broker)

    @abstractmethod
    def _new_broker(self, broker: int) -> tuple[Run, Server]:
        """A broker that runs and is registered: its controller, and the rest of it."""

    def open_session(self, broker: int) -> int:
        """Open a session, under which the broker registers."""
        session = EmbeddedSession(self.zookeeper)
        info = BrokerInfo((f"PLAINTEXT://b{broker}:9092",), 0)
        registered = ZnodeClient(session, self.release).register_broker(broker, info)
        self.epochs[broker] = wait(registered)
        return session.session

    # What can be seen

    @property
    def fences_brokers(self) -> bool:
        """Whether requests name the registration that they are for (KIP-380)."""
        return self.release.since("2.2")

    def process(self, broker: int) -> Server:
        """A broker by its id."""
        return self.hosts[broker]

    def epoch(self) -> int:
        """The newest controller epoch."""
        return newest_controller_epoch(self.zookeeper).epoch

    # Processes and sessions

    def drop_requests(self, broker: int) -> None:
        """Drop the requests to earlier registrations, which the broker would refuse (KIP-380); up
        to 2.1 requests name no registration."""
        if self.fences_brokers:
            for to in [to for to in self.connections if to[1] == broker]:
                del self.connections[to]

    def crash(self, broker: int) -> None:
        """The process dies: its memory is lost, and its connections break."""
        self.controllers[broker].renew(self.controllers[broker].port.session)
        self.hosts[broker].crash()
        for host in self.hosts.values():
            host.disconnect(broker)
        self.drop_requests(broker)

    def expire(self, broker: int) -> None:
        """ZooKeeper ends its session."""
        self.zookeeper.expire(self.controllers[broker].port.session)

    def start(self, broker: int) -> None:
        """Start a new process, which registers."""
        self.controllers[broker].renew(self.open_session(broker))
        self.hosts[broker].start()
        self.drop_requests(broker)

    def reconnect(self, broker: int) -> None:
        """Open another session: the broker is no longer the controller, and registers again."""
        one = self.controllers[broker]
        one.abort_event()
        one.reconnect(self.open_session(broker))
        self.drop_requests(broker)

    # Plain data

    def snapshot(self) -> Any:
        """The whole state as a value."""
        return (
            self.zookeeper.save(), self.next_record, dict(self.connections), dict(self.epochs),
            tuple(one.save() for one in self.controllers.values()),
            tuple(one.save() for one in self.hosts.values()),
        )  # fmt: skip

    def restore(self, snapshot: Any) -> None:
        """Restore a snapshot of a world with the same number of brokers. ValueError otherwise."""
        zookeeper, self.next_record, connections, epochs, controllers, hosts = snapshot
        if len(hosts) != len(self.hosts):
            raise ValueError(
                f"the snapshot is of {len(hosts)} brokers, this world has {len(self.hosts)}"
            )
        self.zookeeper.load(zookeeper)
        self.connections, self.epochs = dict(connections), dict(epochs)
        for one, saved in zip(self.controllers.values(), controllers, strict=True):
            one.load(saved)
        for host, saved in zip(self.hosts.values(), hosts, strict=True):
            host.load(saved)
