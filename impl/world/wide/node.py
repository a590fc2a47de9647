"""One broker of a wide world: process, disk, session, controller, replicas, fetchers."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from impl.core.controller_parts import ControllerConfig
from impl.core.event_controller import EventController
from impl.core.request_batch import Round
from impl.core.requests import LeaderAndIsr, Request, StopReplica
from impl.disk import MemoryDisk
from impl.log import LogConfig, LogManager, LogSettings
from impl.log.by_release import config_of, epoch_cache_of, has_epochs
from impl.releases import Release
from impl.world.wide.channels import Answer, Channels
from impl.world.wide.fetches import Connection
from impl.world.wide.replicas import Replica, Replicas
from impl.znodes import BrokerInfo, TopicPartition, paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper.errors import SessionExpired, ZooKeeperError
from impl.zookeeper.port import wait
from impl.zookeeper.session import EmbeddedSession
from impl.zookeeper.store import ZooKeeper
from impl.zookeeper.znode import Event

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


class Node:
    """A broker; ``up`` is its process, ``paused`` a process that is stopped where it is."""

    def __init__(
        self, broker: int, zookeeper: ZooKeeper, release: Release, now_ms: Callable[[], int],
        seed: int, config: ControllerConfig | None = None,
    ) -> None:  # fmt: skip
        self.broker = broker
        self.zookeeper = zookeeper
        self.release = release
        self.now_ms = now_ms
        self.seed = seed
        self.config = config
        self.disks = 0
        self.names = 0
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
        numbers = self.release.parts
        settings = LogSettings(
            self.now_ms,
            config_of(numbers, CONFIG),
            new_cache=lambda: epoch_cache_of(numbers),
            has_epochs=has_epochs(numbers),
        )
        self.logs = LogManager(self.disk, [FOLDER], settings, self._unique)
        self.logs.start(self.broker)
        self.connections: dict[int, Connection] = {}
        self.replicas = Replicas(
            self.broker, self.release, self.logs, LAG_MS, self.now_ms, lambda: self.client,
            self._follow, self._leave, self.born,
        )  # fmt: skip
        self._new_session()

    def _new_session(self) -> None:
        self.session = EmbeddedSession(self.zookeeper)
        self.client = ZnodeClient(self.session, self.release)
        self.channels = Channels()
        self.controller = EventController(
            self.broker, self.session, self.release, self._send, self.config,
            protocol=self._protocol,
        )  # fmt: skip

    @property
    def _protocol(self) -> Release:
        """Leaders write ISRs to ZooKeeper themselves, as up to 2.6."""
        return Release.of("2.6") if self.release.since("2.6") else self.release

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
        self.work(lambda: wait(self.controller.elect(self.now_ms())))

    def start(self) -> None:
        """A new process: logs are loaded, then it registers."""
        self._start_process()
        self.register()

    def reconnect(self) -> None:
        """A live process whose session is over: out of office, a new session, registered anew."""
        if self.controller.active:
            wait(self.controller.resign())
        self.leave_office()
        self._new_session()
        self.register()

    def crash(self, power: bool) -> None:
        """The process ends; with the power goes what was not forced to disk."""
        self.up = self.paused = False
        self.leave_office()
        self.connections.clear()
        self.disk.crash(power)

    def leave_office(self) -> None:
        """No request of its controller leaves any more."""
        self.channels.close()

    # The controller's events

    def work(self, event: Callable[[], Any]) -> None:
        """Handle one event of the controller; an expired session is noticed later.

        Another error ends the event and no more, as in Kafka's event thread: a topic, say, that is
        gone from ZooKeeper while one of its partitions was about to move.
        """
        try:
            event()
        except SessionExpired:
            return
        except ZooKeeperError:
            self.failed_events += 1
        if self.controller.active:
            self.channels.epochs = self.controller.core.context.broker_epochs
            self.channels.forget_the_gone()
        else:
            self.leave_office()

    def told(self, event: Event) -> None:
        """ZooKeeper's notification."""
        self.work(lambda: wait(self.controller.told(event, self.now_ms())))

    def answered(self, broker: int, request: Request, answer: Answer) -> None:
        """A broker's answer is an event for the deletion of topics, and for failed directories."""
        controller, (whole, errors) = self.controller, answer
        match request:
            case StopReplica():
                self.work(
                    lambda: wait(controller.stop_replica_answered(broker, request, whole, errors))
                )
            case LeaderAndIsr():
                self.work(
                    lambda: wait(controller.leader_and_isr_answered(broker, request, whole, errors))
                )

    # Following

    def _follow(self, replica: Replica) -> None:
        assert replica.leader is not None, "a follower has a leader"
        connection = self.connections.get(replica.leader)
        if connection is None:
            connection = Connection(replica.leader, self.release)
            self.connections[replica.leader] = connection
        connection.add(replica)

    def _leave(self, partition: TopicPartition) -> None:
        for leader, connection in [*self.connections.items()]:
            connection.remove(partition)
            if not connection.logs and connection.exchange is None:
                del self.connections[leader]
