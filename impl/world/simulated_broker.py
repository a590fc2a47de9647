"""A broker: process, session, controller, replicas; and one with an in-memory disk.

How finely the events of its controller are seen (handled at once, or suspended in the middle of
one), and when a follower asks, is up to its world.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from impl.core.channels import Channels
from impl.core.event_controller import EventController
from impl.core.event_manager import ControllerEventManager, Work
from impl.core.replica_manager import Answered, ReplicaManager
from impl.core.request_batch import Round
from impl.core.requests import Request, StopReplica, UpdateMetadata
from impl.disk import MemoryDisk
from impl.log import LogConfig, LogManager, LogSettings
from impl.log.by_release import config_of, epoch_cache_of, has_epochs
from impl.log.stored_log import StoredLogs
from impl.releases import Release
from impl.world.fetches import SimulatedFetchers
from impl.znodes import BrokerInfo, TopicPartition
from impl.znodes.client import ZnodeClient
from impl.zookeeper import ZooKeeper
from impl.zookeeper.errors import ZooKeeperError
from impl.zookeeper.port import wait
from impl.zookeeper.session import EmbeddedSession

FOLDER = "/kafka-logs"
FIRST_PORT = 9092


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request as its controller sent it: with brokers' ports, and the states that it knew.

    ``number``: how many its sender had sent to that broker before.
    """

    request: Request
    ports: Mapping[int, int] = field(default_factory=dict)
    versions: Mapping[TopicPartition, int] = field(default_factory=dict)
    number: int = 0


class SimulatedBroker(SimulatedFetchers, ABC):
    """``up`` is its process, ``epoch`` that of its last registration, -1 before there was one.

    ``paused``: its process is stopped where it is. ``lingers``: ZooKeeper has given its session up,
    and has not removed its nodes yet. ``failure_unreported``: a log directory failed, and
    the controller was not notified.
    """

    lag_ms: int
    """``replica.lag.time.max.ms``."""
    session: EmbeddedSession
    client: ZnodeClient
    events: ControllerEventManager
    replicas: ReplicaManager

    def __init__(
        self, broker: int, zookeeper: ZooKeeper, release: Release, now_ms: Callable[[], int]
    ) -> None:
        self.broker = broker
        self.zookeeper = zookeeper
        self.release = release
        self.now_ms = now_ms
        self.up = self.paused = self.lingers = self.failure_unreported = False
        self.epoch = -1
        self.port = FIRST_PORT

    @property
    def controller(self) -> EventController:
        """The controller of the session that the broker has now."""
        return self.events.controller

    @property
    def has_begun(self) -> bool:
        """Whether it acts as controller: it has read the live brokers and set its watches."""
        return self.controller.active and bool(self.controller.core.context.broker_epochs)

    @abstractmethod
    def _controller_of_session(self) -> EventController:
        """A controller that knows nothing, in the session that the broker has."""

    def put(self, name: str, work: Work, broker: int = 0) -> None:
        """Queue an event of its controller; ``broker``: who asks, or answers."""
        self.events.put(name, work, broker=broker)

    def _event_failed(self, name: str, error: Exception) -> None:
        """An event ends and no more, as in Kafka's event thread: a topic, say, that is gone from
        ZooKeeper while one of its partitions was about to move. Other errors are ours.
        """
        if not isinstance(error, ZooKeeperError):
            raise error

    # Life

    @property
    def running(self) -> bool:
        """Its process does something."""
        return self.up and not self.paused

    @property
    def alive(self) -> bool:
        """ZooKeeper still holds its session."""
        return self.session.alive

    def info(self) -> BrokerInfo:
        """What its registration says."""
        return BrokerInfo((f"PLAINTEXT://b{self.broker}:{self.port}",), self.now_ms())

    def open_session(self) -> None:
        """A new one, under which nothing is registered yet; its controller knows nothing."""
        self._has_session(EmbeddedSession(self.zookeeper))
        self._has_controller(self._controller_of_session())

    def _has_session(self, session: EmbeddedSession) -> None:
        self.session = session
        self.client = ZnodeClient(session, self.release)

    def _has_controller(self, controller: EventController) -> None:
        """Another one handles its events; it has sent nothing yet."""
        self.channels: Channels[SentRequest] = Channels()
        self.events = ControllerEventManager(controller, self.channels, self._event_failed)

    def register(self, earlier: int = 0) -> None:
        """Up: ``/brokers/ids/N`` under its session; its czxid is the broker's epoch.

        A node of an ``earlier`` session of its own is replaced (2.2).
        """
        self.up = True
        self.epoch = wait(self.client.register_broker(self.broker, self.info(), earlier))

    @abstractmethod
    def start(self) -> None:
        """A new process: logs are loaded, a session is opened, and it registers."""

    def reconnect(self) -> None:
        """A live process whose session is over: it resigns, and registers again in a new session.

        A node that the last session left is replaced; then ZooKeeper removes the rest of it.
        """
        last = self.session
        self.resign()
        self.open_session()
        self.register(last.session)
        self.lingers = False
        last.close()

    def resign(self) -> None:
        """The session is over: what waits is dropped, and the controller resigns."""
        wait(self.events.expire())

    def crash(self, power: bool = False) -> None:
        """The process ends."""
        self.up = self.paused = self.failure_unreported = False
        self.channels.close()
        self.events.waiting.clear()
        for connection in self.connections.values():
            connection.close()
        self.connections.clear()

    # Requests of controllers

    def sent(self, requests: Round) -> list[tuple[int, SentRequest]]:
        """Requests as its controller sends them: it goes on, and knows other states later."""
        context = self.controller.core.context
        ports = {one: info.plaintext[1] for one, info in context.broker_infos.items()}
        found = []
        for broker, request in requests:
            stops = request.partitions if isinstance(request, StopReplica) else ()
            states = {one: context.leadership.get(one) for one in stops}
            known = {one: state.zk_version for one, state in states.items() if state is not None}
            found.append((broker, SentRequest(request, ports, known)))
        return found

    def handle_request(self, sent: SentRequest, request: Request | None = None) -> Answered:
        """Answer a controller, and keep what it says of brokers and partitions.

        ``request`` is a part of what was sent, by default all of it.
        """
        asked = sent.request if request is None else request
        endpoints = None
        if isinstance(asked, UpdateMetadata):
            endpoints = {one: (f"b{one}", sent.ports[one]) for one in asked.live_brokers}
        return wait(self.replicas.handle(
            asked, self.epoch, self.now_ms(), sent.number, endpoints=endpoints
        ))  # fmt: skip


class BrokerWithDisk(SimulatedBroker):
    """One whose logs are in files; the checks of requests and fetches look at no more of it."""

    config: LogConfig
    folders: Sequence[str]
    disk: MemoryDisk
    names = 0

    def load(self, folders: Sequence[str]) -> None:
        """What is in memory at a start: nothing but what the disk holds."""
        numbers = self.release.parts
        settings = LogSettings(
            self.now_ms,
            config_of(numbers, self.config),
            new_cache=lambda: epoch_cache_of(numbers),
            has_epochs=has_epochs(numbers),
        )
        self.logs = LogManager(self.disk, folders, settings, self._unique, self.directory_failed)
        self.logs.start(self.broker)
        self.connections = {}
        self.replicas = ReplicaManager(
            self.broker, self.release, StoredLogs(self.logs, self.release), self.lag_ms,
            lambda: self.client, self.observe,
        )  # fmt: skip
        self.replicas.fetchers = self

    def _unique(self) -> str:
        self.names += 1
        return f"{self.broker:016x}{self.names:016x}"

    def crash(self, power: bool = False) -> None:
        """The process ends; with the power goes what was not forced to disk."""
        super().crash(power)
        self.disk.crash(power)

    # Log directories

    def directory_failed(self, directory: str, why: str) -> None:
        """Its replicas are offline at once (``LogDirFailureHandler``)."""
        if self.up:
            self.replicas.log_dir_failed()
            self.failure_unreported = True
