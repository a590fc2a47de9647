"""The replicas of a running broker: the core's replica manager under a lock, over its directories.

One lock guards the state of all replicas. A thread releases it while it waits for ZooKeeper, for a
leader or for time to pass. So an ISR write that ZooKeeper does not answer blocks only its own
partition. Controller requests are handled one after the other, as under Kafka's
``replicaStateChangeLock``.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Mapping

from impl.core.metadata_cache import MetadataCache
from impl.core.replica_events import IsrUpdated, IsrUpdateFailed, IsrUpdateRefused, ReplicaEvent
from impl.core.replica_manager import Answered, Replica, ReplicaManager
from impl.core.requests import Request, UpdateMetadata
from impl.error_codes import NONE
from impl.log import LogManager
from impl.log.stored_log import StoredLog, StoredLogs
from impl.releases import Release
from impl.server.broker_lock import AskedCondition, BrokerLock, PatientPort
from impl.server.control_messages import LiveBrokers
from impl.server.log4j_files import Log4jFiles
from impl.server.quotas import Quotas
from impl.server.replica_lines import ReplicaLines
from impl.server.topic_configs import TopicConfigs
from impl.server.trace import CORRELATIONS_OF_A_START, BrokerTrace
from impl.znodes import TopicPartition
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait


class HostedReplicas:
    """``core`` has the replicas; every caller of it holds ``lock``.

    ``changed`` is a condition on ``lock`` that is notified whenever a high watermark or a role
    changed (``notify_waiters``), ``readable`` one that is notified of appends as well. ``client``
    returns the ZooKeeper client of the broker's current session.
    """

    def __init__(
        self,
        broker: int,
        release: Release,
        logs: LogManager,
        lag_ms: int,
        files: Log4jFiles,
        client: Callable[[], ZnodeClient],
        configs: TopicConfigs,
        quotas: Quotas,
        trace: BrokerTrace | None = None,
    ) -> None:
        self.broker = broker
        self.release = release
        self.logs = logs
        self.files = files
        self.configs = configs
        self.quotas = quotas
        self.racks: Mapping[int, str | None] = {}  # of the live brokers, from UpdateMetadata
        self.trace = trace
        start = 0 if trace is None else trace.file.start
        self._correlations = itertools.count(start * CORRELATIONS_OF_A_START)
        self.lock = BrokerLock()
        self.changed = AskedCondition(self.lock)
        self.readable = AskedCondition(self.lock)
        self.lines = ReplicaLines(files)
        self.deletes_waiting = 0
        """How many DeleteRecords wait for the log starts of followers."""
        self._state_changes = threading.Lock()
        self._client = client
        hosted = ConfiguredLogs(self, logs, release)
        self.core = ReplicaManager(
            broker, release, hosted, lag_ms, self.client, self._observe, self._wait_for_isr_write
        )

    def client(self) -> ZnodeClient:
        """A client that releases the lock while it waits."""
        return ZnodeClient(PatientPort(self._client().port, self.lock), self.release)

    @property
    def partitions(self) -> dict[TopicPartition, Replica]:
        """The replicas by partition."""
        return self.core.partitions

    @property
    def metadata(self) -> MetadataCache:
        """The broker's metadata cache."""
        return self.core.metadata

    def _observe(self, event: ReplicaEvent) -> None:
        self.traced(event)
        self.lines(event)
        if isinstance(event, IsrUpdated | IsrUpdateRefused | IsrUpdateFailed):
            self.notify_waiters()  # whoever waited until the write is over goes on

    def notify_waiters(self) -> None:
        """Wake all waiting threads; the caller holds the lock."""
        self.changed.notify_all()
        self.readable.notify_all()

    def traced(self, event: ReplicaEvent) -> None:
        """Trace an event that has no line in Kafka's logs, or is logged elsewhere."""
        if self.trace is not None:
            self.trace(event)

    def trace_fetcher_request(self, event: ReplicaEvent, correlation: int) -> None:
        """Trace a fetcher's request before it is sent."""
        if self.trace is not None:
            self.trace.fetcher_request(event, correlation)

    def next_correlation(self) -> int:
        """The correlation id of a fetcher's request, unique in this broker."""
        return next(self._correlations)

    async def _wait_for_isr_write(self, replica: Replica) -> None:
        while replica.writes_isr:
            self.changed.wait()

    def handle(
        self,
        request: Request,
        broker_epoch: Callable[[], int],
        correlation: int,
        live: LiveBrokers,
    ) -> Answered:
        """Handle a controller's request; EpochFromTheFuture, see ``ReplicaManager.handle``.

        ``broker_epoch`` is called when the request's turn comes: a broker that registered again
        while the request waited refuses requests to its earlier registration.
        """
        with self._state_changes, self.lock:
            try:
                answered = wait(
                    self.core.handle(request, broker_epoch(), now_ms(), correlation, live.endpoints)
                )
                if isinstance(request, UpdateMetadata) and answered[0] == NONE:
                    self.racks = live.racks
                return answered
            finally:
                self.notify_waiters()

    # What happens by itself

    def maybe_shrink_isrs(self) -> None:
        """Shrink ISRs; called every half of replica.lag.time.max.ms."""
        with self.lock:
            wait(self.core.maybe_shrink_isrs(now_ms()))
            self.notify_waiters()

    def maybe_propagate_isr_changes(self) -> None:
        """Notify the controller of changed ISRs, once they have settled; called every 2.5 s."""
        with self.lock:
            wait(self.core.maybe_propagate_isr_changes(now_ms()))

    def directory_failed(self) -> None:
        """Forget replicas whose log went offline."""
        with self.lock:
            self.core.log_dir_failed()
            self.notify_waiters()


class ConfiguredLogs(StoredLogs):
    """Logs with their topics' configs, which are read before a topic's first log is created."""

    def __init__(self, replicas: HostedReplicas, logs: LogManager, release: Release) -> None:
        super().__init__(logs, release)
        self.replicas = replicas

    async def create(self, partition: tuple[str, int]) -> StoredLog:
        """A partition's log, created if there is none. StorageError, ZooKeeperError."""
        known = {one.topic for one in self.replicas.partitions}
        if not self.has(partition) and partition[0] not in known:
            self.replicas.configs.read(self.replicas.client(), partition[0])
        made = await super().create(partition)
        made.raised = self.replicas.lines.log_start_raised
        return made


def now_ms() -> int:
    """The current time in milliseconds since 1970."""
    return int(time.time() * 1000)
