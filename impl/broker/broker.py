"""A broker's life: process, session, disk (``KafkaServer``)."""

from __future__ import annotations

from collections.abc import Callable

from impl.broker.replica_manager import ReplicaManager, SavedReplicaManager
from impl.controller.controller import KafkaController, SavedController
from impl.journal import Journal
from impl.log import HighWatermarkCheckpoint, ReplicaLog
from impl.log.replica_log import SavedLog
from impl.zookeeper import KafkaZkClient

SavedBroker = tuple[bool, int, int, SavedLog, int, SavedReplicaManager, SavedController]


class Broker:
    """One broker; ``session`` and ``broker_epoch`` are what the process believes they are.

    ``replica_manager`` makes what a start makes anew; a faulty broker is given another one.
    """

    def __init__(
        self, broker: int, assignment: tuple[int, ...], client: KafkaZkClient, journal: Journal
    ) -> None:
        self.id = broker
        self.assignment = assignment
        self.client = client
        self.journal = journal
        self.log = ReplicaLog()
        self.checkpoint = HighWatermarkCheckpoint()
        self.up = False
        self.session = 0
        self.broker_epoch = 0
        self.controller = KafkaController(broker, client, journal)
        self.replica_manager: Callable[..., ReplicaManager] = ReplicaManager
        self.replicas = self.fresh_replica_manager(0)

    @property
    def session_alive(self) -> bool:
        """ZooKeeper still holds the session of this broker, whether or not the process lives."""
        return self.session in self.client.zookeeper.sessions

    @property
    def registered(self) -> bool:
        """/brokers/ids has an entry for this broker, of whichever session."""
        return self.client.broker_epoch(self.id) is not None

    def start(self) -> None:
        """Come up: load the log, take the checkpointed high watermark, open a session, register."""
        self.replicas = self.fresh_replica_manager(self.checkpoint.read_bounded(self.log.end))
        self.up = True
        self._register()
        self.journal.broker_started(self.id, self.broker_epoch, self.log.end)

    def crash(self) -> None:
        """Go down: memory is lost; the disk and, for a while, the session remain."""
        self.up = False
        self.controller.forget()
        self.replicas = self.fresh_replica_manager(0)

    def reconnect(self) -> None:
        """Notice the expired session: leave office, open another session, register again."""
        self.controller.resign()
        self._register()
        self.journal.broker_registered_again(self.id, self.broker_epoch)

    def _register(self) -> None:
        self.session = self.client.zookeeper.open_session()
        self.broker_epoch = self.client.register_broker(self.id, self.session)

    def fresh_replica_manager(self, hw: int) -> ReplicaManager:
        """What a start makes: no role, no epochs, this high watermark."""
        return self.replica_manager(
            self.id, self.assignment, self.log, hw, self.client, self.journal
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
            self.session,
            self.broker_epoch,
            log,
            self.checkpoint.offset,
            replicas,
            controller,
        ) = saved
        self.log.load(log)
        self.replicas.load(replicas)
        self.controller.load(controller)
