"""A broker: process, session, controller, replicas; and one with an in-memory disk.

Each world decides whether a controller's event is handled at once or suspended in the middle, and
when a follower fetches.
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
    """A request, with the brokers' ports and the partition versions that its sender knew.

    ``number``: how many requests its sender had sent to that broker before.
    """

    request: Request
    ports: Mapping[int, int] = field(default_factory=dict)
    versions: Mapping[TopicPartition, int] = field(default_factory=dict)
    number: int = 0


class SimulatedBroker(SimulatedFetchers, ABC):
    """``up``: its process runs; ``epoch``: the broker epoch of its last registration, else -1.

    ``paused``: its process is suspended. ``lingers``: its session has expired, and ZooKeeper has
    not removed its znodes yet. ``failure_unreported``: a log directory failed, and the controller
    was not notified.
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
        """The controller of the broker's current session."""
        return self.events.controller

    @property
    def has_begun(self) -> bool:
        """Whether it acts as controller: it has read the live brokers and set its watches."""
        return self.controller.active and bool(self.controller.core.context.broker_epochs)

    @abstractmethod
    def _controller_of_session(self) -> EventController:
        """A controller that knows nothing, in the session that the broker has."""

    def put(self, name: str, work: Work, broker: int = 0) -> None:
        """Queue an event of its controller; ``broker`` is the sender of a request or response."""
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
        """Whether its process is up and not paused."""
        return self.up and not self.paused

    @property
    def alive(self) -> bool:
        """Whether ZooKeeper still holds its session."""
        return self.session.alive

    def info(self) -> BrokerInfo:
        """The content of its registration."""
        return BrokerInfo((f"PLAINTEXT://b{self.broker}:{self.port}",), self.now_ms())

    def open_session(self) -> None:
        """Open a session, without a registration; its controller knows nothing."""
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
        """Create ``/brokers/ids/N`` under its session; the czxid is the broker epoch.

        A znode of its ``earlier`` session is replaced (2.2).
        """
        self.up = True
        self.epoch = wait(self.client.register_broker(self.broker, self.info(), earlier))

    @abstractmethod
    def start(self) -> None:
        """Start a new process: load the logs, open a session, and register."""

    def reconnect(self) -> None:
        """Replace the expired session of a live process: resign, and register in a new session.

        The last session's registration is replaced; then ZooKeeper removes its other znodes.
        """
        last = self.session
        self.resign()
        self.open_session()
        self.register(last.session)
        self.lingers = False
        last.close()

    def resign(self) -> None:
        """Drop the waiting events of the expired session, and resign as controller."""
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
        """The requests with the state that the controller has now, because it changes later."""
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
        """Handle a controller's request, and update the metadata cache.

        ``request`` is a part of the sent request, by default all of it.
        """
        asked = sent.request if request is None else request
        endpoints = None
        if isinstance(asked, UpdateMetadata):
            endpoints = {one: (f"b{one}", sent.ports[one]) for one in asked.live_brokers}
        return wait(self.replicas.handle(
            asked, self.epoch, self.now_ms(), sent.number, endpoints=endpoints
        ))  # fmt: skip


class BrokerWithDisk(SimulatedBroker):
    """A broker whose logs are in files; the checks of requests and fetches use only this class."""

    config: LogConfig
    folders: Sequence[str]
    disk: MemoryDisk
    names = 0

    def load(self, folders: Sequence[str]) -> None:
        """Load the state of a new process from the disk."""
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
        """End the process; with a power failure, lose what was not synced."""
        super().crash(power)
        self.disk.crash(power)

    # Log directories

    def directory_failed(self, directory: str, why: str) -> None:
        """Take its replicas offline at once (``LogDirFailureHandler``)."""
        if self.up:
            self.replicas.log_dir_failed()
            self.failure_unreported = True
