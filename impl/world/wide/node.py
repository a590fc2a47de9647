"""One broker of a wide world: process, disk, session, controller, replicas, fetchers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
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
from impl.core.replica_manager import AcksAwaited
from impl.core.request_batch import Round
from impl.core.requests import Request
from impl.disk import MemoryDisk
from impl.log import LogConfig
from impl.releases import Release
from impl.world.stored_broker import FOLDER, StoredBroker
from impl.znodes import BrokerInfo, TopicPartition, paths
from impl.zookeeper.errors import SessionExpired, ZooKeeperError
from impl.zookeeper.port import wait
from impl.zookeeper.store import ZooKeeper

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


class SimulatedBroker(StoredBroker):
    """A broker; ``up`` is its process, ``paused`` a process that is stopped where it is."""

    lag_ms = 3_000
    config = CONFIG
    folders: tuple[str, ...] = (FOLDER,)

    def __init__(
        self, broker: int, zookeeper: ZooKeeper, release: Release, now_ms: Callable[[], int],
        seed: int, happened: list[tuple[int, object]], settings: ControllerConfig | None = None,
    ) -> None:  # fmt: skip
        super().__init__(broker, zookeeper, release, now_ms)
        self.happened = happened
        self.seed = seed
        self.settings = settings
        self.disks = 0
        self.started = 0  # so many processes it had
        self.failed_events = 0
        self.paused = False
        self.untold = False  # a log directory failed, of which the controller was not told
        self.was_denied = False  # ZooKeeper refused it an operation
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

    # Life

    def _start_process(self) -> None:
        """What is in memory at a start: nothing but what the disk holds."""
        self.started += 1
        self.untold = self.was_denied = False
        self.load(self.folders)
        self.waiting: dict[TopicPartition, list[Waiting]] = {}
        self.incarnations: dict[TopicPartition, int] = {}
        self.alter_isr = AlterIsrManager()
        self.isr_request: IsrRequest | None = None
        if self.release.since("2.7"):
            self.replicas.isr_requests = self.alter_isr
        self._new_session()

    def directory_failed(self, directory: str, why: str) -> None:
        """Its replicas are offline at once (``LogDirFailureHandler``)."""
        if self.up:
            self.replicas.log_dir_failed()
            self.untold = True

    def _new_session(self) -> None:
        self.open_session()
        self.channels: Channels[Request] = Channels()
        controller = self._controller_of_session()
        self.events = ControllerEventManager(controller, self.channels, self._event_failed)

    def _controller_of_session(self) -> EventController:
        return EventController(self.broker, self.session, self.release, self._send, self.settings)

    @property
    def controller(self) -> EventController:
        """The controller of the session that the broker has now."""
        return self.events.controller

    async def _send(self, requests: Round) -> None:
        self.channels.epochs = self.controller.core.context.broker_epochs
        for broker, request in requests:
            self.channels.send(broker, request)

    def number_of(self, request: Request) -> int:
        """The number of a request of its controller, on the channel on which it was sent."""
        return 0

    @property
    def running(self) -> bool:
        """Its process does something."""
        return self.up and not self.paused

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
        """A new process: disks that failed are mended, logs are loaded, then it registers."""
        self.disk.failing.clear()
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

    def observe(self, event: ReplicaEvent) -> None:
        """What happens to the replicas; of which of the topics of one name each is, is noted."""
        if isinstance(event, BecameLeader | BecameFollower):
            self.incarnations[event.partition] = self.born(event.partition.topic)
        self.happened.append((self.broker, event))
