"""A broker of one partition: process, session, disk (``KafkaServer``)."""

from __future__ import annotations

from collections.abc import Callable

from impl.log import HighWatermarkCheckpoint, ReplicaLog
from impl.log.numbered_log import SavedLog
from impl.releases import Release
from impl.world.partition_controller import PartitionController, SavedController
from impl.world.replicas import Replicas, SavedReplicas
from impl.znodes import BrokerInfo
from impl.znodes.client import ZnodeClient
from impl.zookeeper import ZooKeeper
from impl.zookeeper.port import wait
from impl.zookeeper.session import EmbeddedSession

PORT = 9092

SavedBroker = tuple[bool, int, int, SavedLog, int, SavedReplicas, SavedController]


class PartitionBroker:
    """One broker; ``session`` and ``broker_epoch`` are what the process believes they are.

    ``new_replicas`` makes what a start creates; a faulty broker is given another one.
    """

    paused = False

    def __init__(
        self,
        broker: int,
        assignment: tuple[int, ...],
        zookeeper: ZooKeeper,
        release: Release,
    ) -> None:
        self.id = broker
        self.assignment = assignment
        self.zookeeper = zookeeper
        self.release = release
        self.log = ReplicaLog(release.parts)
        self.checkpoint = HighWatermarkCheckpoint()
        self.up = False
        self.port = EmbeddedSession.known(zookeeper, 0)
        self.broker_epoch = 0
        self.controller = PartitionController(broker, assignment, self.port, release)
        self.new_replicas: Callable[..., Replicas] = Replicas
        self.replicas = self.fresh_replicas(0)

    @property
    def session(self) -> int:
        """The session that the process has, or had."""
        return self.port.session

    @property
    def alive(self) -> bool:
        """ZooKeeper still holds the session of this broker, whether or not the process lives."""
        return self.port.session in self.zookeeper.sessions

    def start(self) -> None:
        """Come up: load the log, take the checkpointed high watermark, open a session, register."""
        self.replicas = self.fresh_replicas(self.checkpoint.read_bounded(self.log.end))
        self.up = True
        self._register()

    def crash(self) -> None:
        """Go down: memory is lost; the disk and, for a while, the session remain."""
        self.up = False
        self.controller.resign()
        self.replicas = self.fresh_replicas(0)

    def reconnect(self) -> None:
        """Notice the expired session: resign, open another session, register again."""
        self.controller.resign()
        self._register()

    def _register(self) -> None:
        self._has(self.zookeeper.open_session())
        info = BrokerInfo((f"PLAINTEXT://broker-{self.id}:{PORT}",), 0)
        client = ZnodeClient(self.port, self.release)
        self.broker_epoch = wait(client.register_broker(self.id, info))

    def _has(self, session: int) -> None:
        self.port = EmbeddedSession.known(self.zookeeper, session)
        self.controller.port.embedded = self.replicas.port.embedded = self.port

    def fresh_replicas(self, high_watermark: int) -> Replicas:
        """What a start makes: no role, no epochs, this high watermark."""
        return self.new_replicas(
            self.id, self.assignment, self.log, high_watermark, self.port, self.release
        )

    # Plain data

    def save(self) -> SavedBroker:
        """Everything, as an immutable value."""
        return (
            self.up,
            self.session,
            self.broker_epoch,
            self.log.save(),
            self.checkpoint.offset,
            self.replicas.save(),
            self.controller.save(),
        )

    def load(self, saved: SavedBroker) -> None:
        """Become what was saved."""
        (
            self.up,
            session,
            self.broker_epoch,
            log,
            self.checkpoint.offset,
            replicas,
            controller,
        ) = saved
        self._has(session)
        self.log.load(log)
        self.replicas.load(replicas)
        self.controller.load(controller)
