"""A broker of a stepped cluster: replica manager, log directories, metadata cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from impl.core import answers
from impl.core.metadata_cache import MetadataCache
from impl.core.replica_manager import Errors, ReplicaManager
from impl.core.requests import LeaderAndIsr, PartitionStop, Request, UpdateMetadata
from impl.log import HighWatermarkCheckpoint, ReplicaLog
from impl.log.errors import StorageError
from impl.log.record_log import RecordLog
from impl.releases import Release
from impl.sim.effects import EffectPort
from impl.world.fetches import SimulatedFetchers, SuspendedConnection
from impl.world.stepped.replica import LONG_MS
from impl.znodes import TopicPartition
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait


@dataclass(frozen=True, slots=True)
class RequestInFlight:
    """A request in flight; ``creation`` is the number of topics of that name when it was sent.

    ``epoch`` is the newest leader epoch that its controller knew then. ``echo``: a LeaderAndIsr of
    a leader epoch that the connection has already delivered. The broker will refuse it; where every
    partition's requests are separate steps, it arrives right after the request before it.
    """

    request: Request
    creation: int
    epoch: int = 0
    echo: bool = False


class LogsInMemory:
    """The logs of a broker, which outlast its process; no directory is taken offline here.

    ``creation`` is stored with each new directory, and identifies its topic among those of one
    name. ``checkpoint``: the high watermark of a new process.
    """

    some_offline = False

    def __init__(self, release: Release) -> None:
        self.release = release
        self.checkpoint = HighWatermarkCheckpoint()
        self.held: dict[TopicPartition, tuple[int, ReplicaLog]] = {}
        self.creation = 0
        self.disk_fails = False

    def has(self, partition: TopicPartition) -> bool:
        """Whether the partition has a log directory."""
        return partition in self.held

    def is_offline(self, partition: TopicPartition) -> bool:
        """Whether the partition's log is offline: never here."""
        return False

    async def create(self, partition: TopicPartition) -> RecordLog:
        """The log in the directory, which is created if there is none."""
        if partition not in self.held:
            self.held[partition] = self.creation, ReplicaLog(self.release.parts)
        log = self.held[partition][1]
        return RecordLog(log, self.checkpoint.read_bounded(log.end))

    async def delete(self, partition: TopicPartition) -> str | None:
        """Rename the directory. StorageError: the directory stays."""
        if self.disk_fails:
            raise StorageError(str(partition), "", "its directory cannot be renamed")
        gone = self.held.pop(partition, None)
        return None if gone is None else str(partition)

    def save(self) -> Any:
        """Everything, as a value."""
        held = tuple((one, made, log.save()) for one, (made, log) in self.held.items())
        return held, self.checkpoint.offset

    def load(self, saved: Any) -> None:
        """Restore what `save` returned."""
        held, self.checkpoint.offset = saved
        self.held, self.disk_fails = {}, False
        for partition, made, records in held:
            log = ReplicaLog(self.release.parts)
            log.load(records)
            self.held[partition] = made, log


class InMemoryBroker(SimulatedFetchers):
    """A broker; ``zk`` is the session that it shares with its controller.

    ``metadata_epoch`` is the controller epoch of the last UpdateMetadata that it applied. In Kafka
    an UpdateMetadata may arrive later than a LeaderAndIsr that was sent after it, so LeaderAndIsr
    and StopReplica are not checked against it here.
    """

    paused = False
    lag_ms = LONG_MS // 2
    new_logs = LogsInMemory
    new_connection = SuspendedConnection
    connections: dict[int, SuspendedConnection]

    def __init__(
        self,
        broker: int,
        release: Release,
        port: EffectPort,
        new_replica: Callable[..., Any],
    ) -> None:
        self.broker, self.release, self.zk = broker, release, port
        self.up = True
        self.client = ZnodeClient(port, release)
        self.logs = self.new_logs(release)
        self.replicas = ReplicaManager(
            broker, release, self.logs, self.lag_ms, lambda: self.client, new_partition=new_replica
        )
        self._replicas: Any = self.replicas.partitions
        self.replicas.fetchers = self
        self.connections = {}
        self.metadata_epoch = 0

    # What can be seen

    @property
    def alive(self) -> bool:
        """Whether ZooKeeper holds its session."""
        return self.zk.alive

    @property
    def seen(self) -> int:
        """The newest controller epoch in a LeaderAndIsr or StopReplica."""
        return self.replicas.controller_epoch

    def hosted(self, partition: TopicPartition) -> Any:
        """A replica, None if it was never created, or was deleted."""
        return self._replicas.get(partition)

    def role(self, partition: TopicPartition) -> str:
        """Its role for a partition: leader, follower, stopped or none."""
        replica = self.hosted(partition)
        if replica is None or replica.leader is None:
            return "none"
        if replica.leads:
            return "leader"
        return "follower" if self.is_following(partition) else "stopped"

    def refuses(self, controller_epoch: int) -> bool:
        """Whether it answers STALE_CONTROLLER_EPOCH: it has seen a newer controller."""
        return answers.controller_epoch_error(controller_epoch, self.seen) != answers.NONE

    def refuses_stop(self, known: int | None, stop: PartitionStop) -> bool:
        """Whether it answers FENCED_LEADER_EPOCH: it knows a StopReplica's leader epoch (2.6)."""
        error = answers.stop_replica_error(known, stop.leader_epoch, False, self.release)
        return error != answers.NONE

    # Requests

    def obey(self, sent: RequestInFlight, disk_fails: bool = False) -> Errors:
        """Carry out a controller's request unless it is stale; returns each partition's error."""
        self.logs.creation, self.logs.disk_fails = sent.creation, disk_fails
        request, manager, seen = sent.request, self.replicas, self.seen
        if isinstance(request, UpdateMetadata):
            manager.controller_epoch = max(seen, self.metadata_epoch)
        if isinstance(request, LeaderAndIsr):
            # As UpdateMetadata of the same controller said, which is sent first (KAFKA-4443).
            manager.metadata.brokers = dict.fromkeys(request.live_leaders, ("", 0))
        error, errors = wait(manager.handle(request, request.broker_epoch, 0))
        if isinstance(request, UpdateMetadata):
            manager.controller_epoch = seen
            if error == answers.NONE:
                self.metadata_epoch = request.controller_epoch
        return errors

    def start(self) -> None:
        """Start a new process."""
        self.up = True

    def crash(self) -> None:
        """End the process; only its logs remain."""
        self.up = False
        self.lose_memory()

    def lose_memory(self) -> None:
        """Lose everything in memory."""
        self.replicas.partitions.clear()
        self.connections.clear()
        self.replicas.controller_epoch = self.metadata_epoch = 0
        self.replicas.metadata = MetadataCache()

    def disconnect(self, leader: int) -> None:
        """Drop the request to a leader whose process is gone; a response that was sent still
        arrives."""
        connection = self.connections.get(leader)
        if connection is not None and connection.exchange and connection.exchange.is_under_way:
            connection.exchange = None

    # Plain data

    def save(self) -> Any:
        """Everything, as a value."""
        hosted: Any = self.replicas.partitions.items()
        cache = self.replicas.metadata
        return (
            self.up,
            self.logs.save(),
            tuple((one, replica.save()) for one, replica in hosted),
            tuple((one, to.save()) for one, to in self.connections.items()),
            self.seen, self.metadata_epoch,
            (cache.controller, cache.brokers, dict(cache.partitions)),
        )  # fmt: skip

    def load(self, saved: Any) -> None:
        """Restore what `save` returned."""
        (
            self.up,
            logs,
            replicas,
            connections,
            self.replicas.controller_epoch,
            self.metadata_epoch,
            known,
        ) = saved
        cache = self.replicas.metadata
        cache.controller, cache.brokers, cache.partitions = known[0], known[1], dict(known[2])
        self.logs.load(logs)
        self.replicas.partitions.clear()
        for partition, memory in replicas:
            replica: Any = wait(self.replicas.host(partition))
            replica.load(memory)
        self.connections.clear()
        for leader, its in connections:
            connection: Any = self.connection_to(leader)
            connection.load(its)
            connection.logs |= {one: self._replicas[one].log for one in connection.rounds.states}
