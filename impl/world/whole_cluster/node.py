"""One broker of a simulated whole cluster: its controller handles an event without suspension."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

from impl.core.alter_isr import AlterIsrManager, IsrChange
from impl.core.api import AlteredIsrs
from impl.core.channels import Channels
from impl.core.controller_parts import ControllerConfig
from impl.core.event_controller import EventController
from impl.core.journal import ControllerJournal
from impl.core.replica_events import BecameFollower, BecameLeader, LogCreated, ReplicaEvent
from impl.core.replica_manager import DelayedProduce
from impl.core.request_batch import Round
from impl.disk import MemoryDisk
from impl.log import LogConfig
from impl.releases import Release
from impl.world.simulated_broker import BrokerWithDisk
from impl.world.whole_cluster.controller_requests import first_wrong, sent_request_mismatch
from impl.world.whole_cluster.observations import RequestSent, SessionOpened
from impl.world.whole_cluster.state_changes import StateChanges
from impl.znodes import TopicPartition, paths
from impl.zookeeper.errors import SessionExpired
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


class WaitingProducer(NamedTuple):
    """A producer that waits for the acknowledgement of a record."""

    awaited: DelayedProduce
    record: int


@dataclass
class IsrRequest:
    """An AlterIsr on its way to ``controller``; ``error`` is None until it is handled."""

    changes: list[IsrChange]
    broker_epoch: int
    controller: int
    is_handled: bool = False
    error: str | None = None
    answers: AlteredIsrs | None = None


class BrokerObserver:
    """Observes a broker, to write its log lines or trace; this base class writes nothing."""

    def __init__(self, node: ClusterNode) -> None:
        self.node = node

    def starting(self) -> None:
        """A process begins; nothing is loaded yet."""

    def loaded(self) -> None:
        """Its logs are loaded."""

    def journal(self) -> ControllerJournal | None:
        """The journal for a controller's reports, None if they are not observed."""

    def new_controller(self, controller: EventController) -> None:
        """The broker has the controller of another session, which knows nothing yet."""

    def registering(self) -> None:
        """It is about to register."""

    def registered(self) -> None:
        """It has registered, and has not run for controller yet."""

    def started(self) -> None:
        """A process has completed its startup."""

    def session_expired(self) -> None:
        """It has noticed that its session has expired."""

    def replica_event(self, event: ReplicaEvent) -> None:
        """Something happened to one of its replicas."""

    def event_failed(self, name: str, error: Exception) -> None:
        """An event of its controller ended with a ZooKeeper error."""

    def crashed(self) -> None:
        """Its process has ended."""


class ClusterNode(BrokerWithDisk):
    """A broker whose controller handles each event at once; it may lose its disk, or power.

    ``happened`` gets the events of its replicas, for the claims; ``observer`` is another observer.
    """

    lag_ms = 3_000
    config = CONFIG

    def __init__(
        self, broker: int, zookeeper: ZooKeeper, release: Release, now_ms: Callable[[], int],
        seed: int, happened: list[tuple[int, object]], folders: Sequence[str],
        observer: Callable[[ClusterNode], BrokerObserver], settings: ControllerConfig | None,
    ) -> None:  # fmt: skip
        super().__init__(broker, zookeeper, release, now_ms)
        self.happened = happened
        self.folders = folders
        self.observer = observer(self)
        self.seed = seed
        self.settings = settings
        self.disks = 0
        self.started = 0  # so many processes it had
        self.was_denied = False  # ZooKeeper refused it an operation
        self.numbers: Counter[int] = Counter()
        self.fresh_disk()
        self._start_process()

    def fresh_disk(self) -> None:
        """Replace its disk by an empty one."""
        self.disks += 1
        self.made: dict[tuple[TopicPartition, str], int] = {}
        """Of which topic of that name each log was made, by its folder; a disk keeps it."""
        chance = Random(f"{self.seed} {self.broker} {self.disks}")
        self.disk = MemoryDisk(self.now_ms, chance)

    def incarnation_of(self, topic: str) -> int:
        """The czxid of a topic's znode, 0 if there is none: it identifies a topic among those of
        one name.
        """
        node = self.zookeeper.nodes.get(paths.topic(topic))
        return 0 if node is None else node.czxid

    # Life

    def _start_process(self) -> None:
        """What is in memory at a start: nothing but what the disk holds."""
        self.observer.starting()
        self.started += 1
        self.was_denied = False
        self.numbers.clear()
        self.load(self.folders)
        self.waiting: dict[TopicPartition, list[WaitingProducer]] = {}
        self.incarnations: dict[TopicPartition, int] = {}
        self.alter_isr = AlterIsrManager()
        self.isr_request: IsrRequest | None = None
        if self.release.since("2.7"):
            self.replicas.isr_requests = self.alter_isr
        self.open_session()
        self.observer.loaded()

    def _has_controller(self, controller: EventController) -> None:
        """A process that keeps running keeps its queue of events."""
        if self.up:
            self.channels = self.events.channels = Channels()
            self.events.controller = controller
            self.happened.append((self.broker, SessionOpened(len(self.events.waiting))))
        else:
            super()._has_controller(controller)

    def _controller_of_session(self) -> EventController:
        """Brokers speak the protocol of their release."""
        self.state_changes = StateChanges()
        controller = EventController(
            self.broker, self.session, self.release, self._send, self.settings,
            self.observer.journal() or self.state_changes, self.release,
        )  # fmt: skip
        self.observer.new_controller(controller)
        return controller

    def _event_failed(self, name: str, error: Exception) -> None:
        super()._event_failed(name, error)
        self.observer.event_failed(name, error)

    async def _send(self, requests: Round) -> None:
        epochs = self.controller.core.context.channel_epochs
        for broker, sent in self.sent(requests):
            wrong = first_wrong(sent_request_mismatch(self, broker, sent.request))
            self.happened.append((self.broker, RequestSent(broker, sent.request, wrong)))
            self.channels.send(broker, replace(sent, number=self.numbers[broker]), epochs)
            self.numbers[broker] += 1

    def register(self, earlier: int = 0) -> None:
        """Register, and run for controller (``KafkaServer.startup``)."""
        is_start = not self.up
        self.observer.registering()
        super().register(earlier)
        self.observer.registered()
        self.put("Startup", lambda controller: controller.elect(self.now_ms()))
        self.handle_next()
        if is_start:
            self.observer.started()

    def reconnect(self) -> None:
        """Continue in a new session."""
        self.observer.session_expired()
        super().reconnect()

    def start(self) -> None:
        """Start a new process: replace failed disks, load the logs, and register."""
        self.disk.failing.clear()
        self._start_process()
        self.register()

    def crash(self, power: bool = False) -> None:
        """End the process; waiting clients get no response."""
        super().crash(power)
        self.waiting.clear()
        self.isr_request = None
        self.observer.crashed()

    def holds_another_topics(self, partition: TopicPartition) -> bool:
        """Whether a log belongs to a deleted topic of the same name: its replica had been moved
        from a dead broker, for example, and is hosted here again."""
        hosted = self.replicas.partitions.get(partition)
        made = None if hosted is None else self.made.get((partition, hosted.log.directory))
        return made is not None and made != self.incarnations.get(partition)

    # The controller's events

    def handle_next(self) -> None:
        """Handle the oldest queued event; an expired session is noticed later."""
        with contextlib.suppress(SessionExpired):
            wait(self.events.handle_next())

    def observe(self, event: ReplicaEvent) -> None:
        """Record an event of the replicas, with the incarnation of its topic."""
        if isinstance(event, BecameFollower | BecameLeader):
            self.incarnations[event.partition] = self.incarnation_of(event.partition.topic)
        if isinstance(event, LogCreated):
            self.made[event.partition, event.directory] = self.incarnation_of(event.partition.topic)
        self.happened.append((self.broker, event))
        self.observer.replica_event(event)
