"""One broker of a wide world: process, disk, session, controller, replicas, fetchers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from impl.core.alter_isr import AlterIsrManager, IsrChange
from impl.core.api import AlteredIsrs
from impl.core.channels import Channels
from impl.core.controller_parts import ControllerConfig
from impl.core.event_controller import EventController
from impl.core.event_manager import ControllerEventManager
from impl.core.events import BecameFollower, BecameLeader, ReplicaEvent
from impl.core.replica_manager import AcksAwaited, Replica, ReplicaManager
from impl.core.request_batch import Round
from impl.core.requests import Request
from impl.disk import MemoryDisk
from impl.log import LogConfig, LogManager, LogSettings
from impl.log.by_release import config_of, epoch_cache_of, has_epochs
from impl.log.stored_log import StoredLogs
from impl.releases import Release
from impl.world.wide.fetches import FollowerConnection
from impl.znodes import BrokerInfo, TopicPartition, paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper.errors import SessionExpired, ZooKeeperError
from impl.zookeeper.port import wait
from impl.zookeeper.session import EmbeddedSession
from impl.zookeeper.store import ZooKeeper

FOLDER = "/kafka-logs"
LAG_MS = 3_000
CONFIG = LogConfig(
    segment_bytes=2_048,
    segment_index_bytes=256,
    index_interval_bytes=512,
    retention_ms=-1,
    retention_bytes=6_144,
    file_delete_delay_ms=1_000,
)
"""Small logs that roll and shed their old segments soon, so that memory stays as it is."""


class Waiting(NamedTuple):
    """A producer that waits for its acknowledgement, and the record that it sent."""

    awaited: AcksAwaited
    record: int


@dataclass
class IsrRequest:
    """An AlterIsr on its way to ``controller``; ``error`` is None until it is answered."""

    changes: list[IsrChange]
    broker_epoch: int
    controller: int
    is_handled: bool = False
    error: str | None = None
    answers: AlteredIsrs | None = None


class SimulatedBroker:
    """A broker; ``up`` is its process, ``paused`` a process that is stopped where it is."""

    def __init__(
        self, broker: int, zookeeper: ZooKeeper, release: Release, now_ms: Callable[[], int],
        seed: int, happened: list[tuple[int, object]], config: ControllerConfig | None = None,
    ) -> None:  # fmt: skip
        self.broker = broker
        self.happened = happened
        self.zookeeper = zookeeper
        self.release = release
        self.now_ms = now_ms
        self.seed = seed
        self.config = config
        self.disks = 0
        self.names = 0
        self.started = 0  # so many processes it had
        self.failed_events = 0
        self.up = self.paused = False
        self.epoch = -1
        self.fresh_disk()
        self._start_process()

    def fresh_disk(self) -> None:
        """An empty disk in place of whatever there was."""
        self.disks += 1
        chance = Random(f"{self.seed} {self.broker} {self.disks}")
        self.disk = MemoryDisk(self.now_ms, chance)

    def born(self, topic: str) -> int:
        """The czxid of a topic's znode, 0 if there is none: tells topics of one name apart."""
        node = self.zookeeper.nodes.get(paths.topic(topic))
        return 0 if node is None else node.czxid

    def _unique(self) -> str:
        self.names += 1
        return f"{self.broker:016x}{self.names:016x}"

    # Life

    def _start_process(self) -> None:
        """What is in memory at a start: nothing but what the disk holds."""
        self.started += 1
        numbers = self.release.parts
        settings = LogSettings(
            self.now_ms,
            config_of(numbers, CONFIG),
            new_cache=lambda: epoch_cache_of(numbers),
            has_epochs=has_epochs(numbers),
        )
        self.logs = LogManager(self.disk, [FOLDER], settings, self._unique)
        self.logs.start(self.broker)
        self.connections: dict[int, FollowerConnection] = {}
        self.waiting: dict[TopicPartition, list[Waiting]] = {}
        self.incarnations: dict[TopicPartition, int] = {}
        self.replicas = ReplicaManager(
            self.broker, self.release, StoredLogs(self.logs, self.release), LAG_MS,
            lambda: self.client, self._observe,
        )  # fmt: skip
        self.replicas.fetchers = self
        self.alter_isr = AlterIsrManager()
        self.isr_request: IsrRequest | None = None
        if self.release.since("2.7"):
            self.replicas.isr_requests = self.alter_isr
        self._new_session()

    def _new_session(self) -> None:
        self.session = EmbeddedSession(self.zookeeper)
        self.client = ZnodeClient(self.session, self.release)
        self.channels: Channels[Request] = Channels()
        controller = self._controller_of_session()
        self.events = ControllerEventManager(controller, self.channels, self._event_failed)

    def _controller_of_session(self) -> EventController:
        return EventController(self.broker, self.session, self.release, self._send, self.config)

    @property
    def controller(self) -> EventController:
        """The controller of the session that the broker has now."""
        return self.events.controller

    async def _send(self, requests: Round) -> None:
        self.channels.epochs = self.controller.core.context.broker_epochs
        for broker, request in requests:
            self.channels.send(broker, request)

    @property
    def running(self) -> bool:
        """Its process does something."""
        return self.up and not self.paused

    @property
    def alive(self) -> bool:
        """ZooKeeper still holds its session."""
        return self.session.alive

    def register(self) -> None:
        """Up: registered, and a candidate for controller (``KafkaServer.startup``)."""
        self.up = True
        info = BrokerInfo((f"PLAINTEXT://b{self.broker}:9092",), self.now_ms())
        self.epoch = wait(self.client.register_broker(self.broker, info))
        self._registered()
        self.events.put("Startup", lambda controller: controller.elect(self.now_ms()))
        self.handle_next()

    def _registered(self) -> None:
        """Those who look on may note it."""

    def start(self) -> None:
        """A new process: logs are loaded, then it registers."""
        self._start_process()
        self.register()

    def reconnect(self) -> None:
        """A live process whose session is over: it resigns, and registers anew in a new session."""
        wait(self.events.expire())
        self._new_session()
        self.register()

    def crash(self, power: bool) -> None:
        """The process ends; with the power goes what was not forced to disk."""
        self.up = self.paused = False
        self.channels.close()
        self.events.waiting.clear()
        for connection in self.connections.values():
            connection.close()
        self.connections.clear()
        self.waiting.clear()
        self.isr_request = None
        self.disk.crash(power)

    # The controller's events

    def handle_next(self) -> None:
        """Handle the event that waits longest; an expired session is noticed later."""
        with contextlib.suppress(SessionExpired):
            wait(self.events.handle_next())

    def _event_failed(self, name: str, error: Exception) -> None:
        """An event ends and no more, as in Kafka's event thread: a topic, say, that is gone from
        ZooKeeper while one of its partitions was about to move. Other errors are ours.
        """
        if not isinstance(error, ZooKeeperError):
            raise error
        self.failed_events += 1

    def _observe(self, event: ReplicaEvent) -> None:
        """What happens to the replicas; of which of the topics of one name each is, is noted."""
        if isinstance(event, BecameLeader | BecameFollower):
            self.incarnations[event.partition] = self.born(event.partition.topic)
        self.happened.append((self.broker, event))

    # Its fetchers: one for each leader

    def add(self, partitions: Mapping[TopicPartition, Replica]) -> None:
        """Follow each one's leader."""
        for replica in partitions.values():
            assert replica.leader is not None, "a follower has a leader"
            connection = self.connections.get(replica.leader)
            if connection is None:
                connection = FollowerConnection(replica.leader, self.release, self._observe)
                self.connections[replica.leader] = connection
            connection.add(replica)

    def remove(self, partitions: list[TopicPartition]) -> None:
        """Follow these no more."""
        for leader, connection in [*self.connections.items()]:
            for partition in partitions:
                connection.remove(partition)
            if not connection.rounds.states and connection.round is None:
                del self.connections[leader]
