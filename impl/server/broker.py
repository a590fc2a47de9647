"""A running broker, built from its properties file: logs, replicas, controller, sockets.

Start (``KafkaServer.startup``): ZooKeeper, cluster id, broker id, logs, replicas, listener,
registration, election. Stop: controlled shutdown, then the reverse order. Threads are daemons, so
that SIGTERM ends the process.
"""

from __future__ import annotations

import base64
import contextlib
import os
import random
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from impl.core.partition import NotAssignedReplica
from impl.core.requests import request_version
from impl.disk import Disk, RealDisk
from impl.log import LogManager, LogRemoval, LogSettings
from impl.log.by_release import config_of, epoch_cache_of, has_epochs, producer_rules_of
from impl.log.cleaner import keys_in
from impl.log.log_tasks import LogTaskIntervals, LogTasks
from impl.server.apis.api_request import BrokerParts
from impl.server.apis.kafka_apis import KafkaApis
from impl.server.connection import Connection, Disconnected
from impl.server.controller_event_thread import ControllerEventThread
from impl.server.dynamic_configs import DynamicConfigs
from impl.server.fetch_sessions import FetchSessions
from impl.server.fetching import FetcherManager
from impl.server.groups.coordinator import GroupCoordinator
from impl.server.isr_requests import IsrRequests
from impl.server.limits import Limits
from impl.server.listener import Listener
from impl.server.log4j_files import Log4jFiles
from impl.server.log_dirs import LogDirs
from impl.server.properties import (
    GENERATED,
    BrokerProperties,
    WrongProperties,
    connections_by_address,
)
from impl.server.quotas import Quotas
from impl.server.replicas import HostedReplicas, now_ms
from impl.server.serving import Serving
from impl.server.sessions import open_session
from impl.server.topic_configs import TopicConfigs
from impl.server.topic_requests import TopicRequests
from impl.server.trace import BrokerTrace, TraceFile
from impl.wire import Fields
from impl.znodes import (
    BrokerInfo,
    MalformedZnode,
    TopicPartition,
    decode_cluster_id,
    encode_cluster_id,
    paths,
)
from impl.znodes.client import ZnodeClient
from impl.znodes.producer_ids import ProducerIds, ProducerIdsExhausted
from impl.zookeeper.errors import NodeExists, ZooKeeperError
from impl.zookeeper.port import Port, wait

PROPAGATION_S = 2.5
SHUTDOWN_PATIENCE_S = 12.0


class Broker:
    """One broker. ``log_folder`` receives server.log and the other Kafka logs, and, with
    ``request_log``, kafka-request.log. ``trace_folder`` receives the trace.
    """

    def __init__(
        self, config: BrokerProperties, log_folder: Path, request_log: bool = False,
        trace_folder: Path | None = None, disk: Disk | None = None,
    ) -> None:  # fmt: skip
        self.disk = disk or RealDisk()
        self.request_log = request_log
        self.trace_folder = trace_folder
        self.trace: BrokerTrace | None = None
        self.config = config
        self.release = config.release
        self._stopped = threading.Event()
        self._early: list[str] | None = []  # trouble before there is a log to write it to
        port = self._session()
        try:
            client = ZnodeClient(port, self.release)
            for path in paths.persistent(self.release):
                wait(client.make_path(path))
            self.cluster_id = _cluster_id(client) if self.release.since("0.10.1") else None
            self.configs = TopicConfigs(self._log_trouble, self.release)
            self.configs.read_all(client)
            self.quotas = Quotas(config, self._log_trouble)
            self.logs = self._log_manager()
            self.dynamic = DynamicConfigs(config, self.logs.settings.config, self._log_trouble)
            configured = config.whole_number("broker.id")
            known = self.logs.start(
                None if configured == GENERATED else configured,
                self.cluster_id if self.release.since("2.4") else None,
            )
            self._refuse_failed_directories()
            self.broker = known if known is not None else self._generated(client)
            self.files = Log4jFiles(log_folder, self.broker, self.release)
            self._begin_trace()
            self.dynamic.read(client, self.broker)
            self._apply_dynamic()
            for topic, settings in self.configs.overrides.items():
                self.quotas.mark(topic, settings, self.broker)
            self._start_services(port)
        except BaseException:
            port.close()
            raise

    def _begin_trace(self) -> None:
        if self.trace_folder is not None:
            head = {"cluster": self.cluster_id, "version": str(self.release), "settings": {
                "protocol": str(self.config.protocol),
                "unclean": self.config.truth("unclean.leader.election.enable"),
            }}  # fmt: skip
            self.trace = BrokerTrace(TraceFile(self.trace_folder, "broker", self.broker, head))

    def _session(self) -> Port:
        return open_session(
            self.config.text("zookeeper.connect"),
            self.config.whole_number("zookeeper.session.timeout.ms"),
        )

    def _generated(self, client: ZnodeClient) -> int:
        """A broker id of its own: the version of ``/brokers/seqid``, above the reserved ones."""
        if not self.config.truth("broker.id.generation.enable"):
            raise WrongProperties("broker.id is missing, and broker.id.generation.enable is false")
        sequence_id = wait(client.generate_broker_sequence_id())
        number = self.config.whole_number("reserved.broker.max.id") + sequence_id
        self.logs.adopt(number, self.cluster_id if self.release.since("2.4") else None)
        return number

    def _refuse_failed_directories(self) -> None:
        """Up to 0.11 every directory has to be usable. OSError."""
        failed = [f"{one.path}: {one.failure}" for one in self.logs.directories if one.failure]
        if failed and not self.release.since("1.0"):
            for one in self.logs.directories:
                one.close_handlers()
            raise OSError(f"a log directory cannot be used: {'; '.join(failed)}")

    def _log_manager(self) -> LogManager:
        numbers = self.release.parts
        config = config_of(numbers, self.config.log)
        settings = LogSettings(
            now_ms,
            config,
            self.configs.log_config,
            lambda: epoch_cache_of(numbers),
            has_epochs=has_epochs(numbers),
            cleans=self.config.truth("log.cleaner.enable"),
            most_keys=keys_in(self.config.whole_number("log.cleaner.dedupe.buffer.size")),
            removals_fail_disks=self.release.since("1.0"),
            first_sweep_ms=None if self.release.since("1.1") else LogTaskIntervals.initial,
            producers=producer_rules_of(
                numbers, self.config.whole_number("transactional.id.expiration.ms")
            ),
        )
        directories = [str(Path(path).resolve()) for path in self.config.log_dirs]
        return LogManager(
            self.disk, directories, settings,
            failed=self._directory_failed, removal=self._log_removed,
        )  # fmt: skip

    def _start_services(self, port: Port) -> None:
        self.files.startup_lines()
        if self.cluster_id is not None:
            self.files.line("server.log", "INFO", f"Cluster ID = {self.cluster_id}", _SERVER)
        self.replicas = HostedReplicas(
            self.broker, self.release, self.logs,
            self.config.whole_number("replica.lag.time.max.ms"), self.files,
            lambda: self.control.client, self.configs, self.quotas, self.trace,
        )  # fmt: skip
        self.log_dirs = LogDirs(self.replicas)
        self.isr_requests: IsrRequests | None = None
        if self.config.protocol.since("2.7"):
            self.isr_requests = IsrRequests(
                self.broker, self.replicas.lock, self.replicas.metadata,
                lambda: self.control.epoch, self._log_trouble,
            )  # fmt: skip
            self.replicas.core.isr_requests = self.isr_requests
        for name, why in self.config.without_effect.items():
            self._log_trouble(
                f"The configuration '{name}' was supplied but has no effect here: {why}"
            )
        early, self._early = self._early or [], None
        for text in early:
            self._log_trouble(text)
        self._tell_of_logs()
        self.fetchers = FetcherManager(self.replicas, self.config)
        self.replicas.core.fetchers = self.fetchers
        self.serving = Serving(self.replicas, self._min_isr)
        self.coordinator = GroupCoordinator(self.serving, self.config)
        self.producer_ids = ProducerIds(self.broker)
        slots = self.config.whole_number("max.incremental.fetch.session.cache.slots")
        self.apis = KafkaApis(
            BrokerParts(
                self.serving, self.config, self.cluster_id, self.coordinator, self.log_dirs,
                self.dynamic, lambda: self.control, TopicRequests(lambda: self.control),
                self.producer_ids,
                FetchSessions(self.release, lambda: random.randrange(1, 2**31 - 1), slots),
                self._stopped,
                self.files.request if self.request_log else lambda head: None,
            )
        )  # fmt: skip
        self.listener = Listener(
            self.config.address, self.apis.answer, self._handler_failed, self._limits(),
            lambda text: self.files.line("server.log", "INFO", text, "kafka.network.Acceptor"),
        )  # fmt: skip
        self.replicas.lock.about_to_wait = self.listener.slots.let_go
        self.replicas.lock.still_asked = self.listener.raise_if_client_gone
        here = self.config.address[0], self.listener.address[1]  # the name, and not what it means
        host, number = self.config.advertised or here
        self.info = BrokerInfo(
            (f"PLAINTEXT://{host}:{number}",),
            now_ms(),
            rack=self.config.text("broker.rack") or None,
        )
        self.control = ControllerEventThread(
            self.broker, port, self.config, self.files, self.info, self.configs, self._session,
            self._config_changed, self.trace,
        )  # fmt: skip
        try:
            self.control.register()
            if self.release.since("0.11"):  # ProducerIdManager takes its first block at once
                self._take_producer_ids()
            self.listener.start()
            self.control.begin()
        except BaseException:
            self.listener.close()
            self.logs.stop()
            raise
        self.files.server("started")
        self.coordinator.start()
        self.control.start()
        if self.isr_requests is not None:
            self.isr_requests.start()
        self._tasks = LogTasks(
            self.logs,
            LogTaskIntervals(
                self.config.whole_number("replica.high.watermark.checkpoint.interval.ms"),
                self.config.whole_number("log.flush.offset.checkpoint.interval.ms"),
                self.config.whole_number("log.retention.check.interval.ms"),
                self.config.whole_number("log.cleaner.backoff.ms")
                if self.config.truth("log.cleaner.enable")
                else 0,
                self.config.whole_number("producer.id.expiration.check.interval.ms"),
            ),
        )
        self._scheduler = threading.Thread(target=self._schedule, name="scheduler", daemon=True)
        self._scheduler.start()
        threading.Thread(target=self._schedule_isr, name="isr-expiration", daemon=True).start()

    def _limits(self) -> Limits:
        """The limits of connections and requests that the properties set."""
        largest = self.config.whole_number("socket.request.max.bytes")
        memory = self.config.whole_number("queued.max.request.bytes")
        return Limits(
            lambda: self.dynamic.whole_number("max.connections"),
            lambda: self.dynamic.whole_number("max.connections.per.ip"),
            self.config.whole_number("connections.max.idle.ms") / 1000,
            largest,
            2 * largest if memory < 0 else memory,
            self.config.whole_number("num.io.threads")
            + self.config.whole_number("queued.max.requests"),
            connections_by_address(self.config.text("max.connections.per.ip.overrides")),
        )

    def _take_producer_ids(self) -> None:
        try:
            wait(self.producer_ids.take_block(self.control.client))
        except (MalformedZnode, ProducerIdsExhausted) as error:
            self._log_trouble(f"no producer ids: {error}")

    def _tell_of_logs(self) -> None:
        for partition in self.logs.partitions:
            log = self.logs.log(partition)
            assert log is not None, "a partition that is listed has a log"
            folder = log.directory.rpartition("/")[0]
            named, segments = TopicPartition(*partition), len(log.segments)
            self.files.loaded(named, folder, segments, log.log_start, log.log_end)
        for partition, why in sorted(self.logs.offline.items()):
            self.files.insync_line(f"Partition {TopicPartition(*partition)} is offline: {why}")

    # What happens by itself

    def _schedule_isr(self) -> None:
        """isr-expiration and isr-change-propagation: they block on ZooKeeper alone."""
        shrink_s = self.config.whole_number("replica.lag.time.max.ms") / 2000
        began = time.monotonic()
        due: dict[Callable[[], None], tuple[float, float]] = {
            self.replicas.maybe_shrink_isrs: (began + shrink_s, shrink_s),
            self.replicas.maybe_propagate_isr_changes: (began + PROPAGATION_S, PROPAGATION_S),
        }
        while not self._stopped.wait(0.05):
            for work, (at, every) in [*due.items()]:
                if time.monotonic() >= at:
                    due[work] = (time.monotonic() + every, every)
                    self._run_task(work)

    def _schedule(self) -> None:
        """The tasks of the logs."""
        while not self._stopped.wait(0.05):
            self._run_task(self._run_log_tasks)

    def _run_log_tasks(self) -> None:
        with self.replicas.lock:
            self._tasks.run_due()
            self.log_dirs.copy()

    def _run_task(self, work: Callable[[], None]) -> None:
        try:
            work()
        except (ZooKeeperError, OSError, NotAssignedReplica) as error:
            task = _TASKS.get(getattr(work, "__name__", ""), "kafka-log-retention")
            self.files.task_failed(task, error)

    def _min_isr(self, topic: str) -> int:
        return self.configs.min_isr(topic, self.dynamic.whole_number("min.insync.replicas"))

    # What goes wrong

    def _log_trouble(self, text: str) -> None:
        if self._early is None:
            self.files.insync_line(text)
        else:
            self._early.append(text)

    def _handler_failed(self, error: BaseException) -> None:
        self.files.insync_line(f"Error when handling a request: {type(error).__name__}: {error}")

    def _log_removed(self, removal: LogRemoval) -> None:
        self.replicas.lines.removed(removal)

    def _directory_failed(self, directory: str, why: str) -> None:
        self._log_trouble(f"The log directory {directory} cannot be used: {why}")
        if self._early is not None:
            return
        self.replicas.directory_failed()
        if not self.release.since("1.0"):  # one failed disk ended a broker, before KIP-112
            self._log_trouble("Halting due to unrecoverable I/O error")
            os._exit(1)
        named = [one.path for one in self.logs.directories]
        is_last = all(one.failure for one in self.logs.directories)
        self.files.log_dir_failed(directory, named if is_last else [])
        if is_last:
            os._exit(1)
        self.control.put("LogDirFailure", self._tell_of_failure)

    def _tell_of_failure(self) -> None:
        wait(self.control.client.propagate_log_dir_failure(self.broker))

    def _config_changed(self, kind: str, name: str) -> None:
        if kind == "brokers":
            self.dynamic.read(self.control.client, self.broker)
            with self.replicas.lock:
                self._apply_dynamic()
        if kind == "topics":
            with self.replicas.lock:
                self.quotas.mark(name, self.configs.overrides.get(name, {}), self.broker)
                self.logs.reconfigure(self.logs.settings.config, name)

    def _apply_dynamic(self) -> None:
        """What is set for the broker while it runs takes effect, or is said to have none."""
        for name, why in self.dynamic.without_effect.items():
            self._log_trouble(
                f"The configuration '{name}' was supplied but has no effect here: {why}"
            )
        self.quotas.set_rates(self.dynamic.overrides)
        self.logs.reconfigure(self.dynamic.log)

    # The end

    def stop(self) -> None:
        """Controlled shutdown, then a clean stop of the logs; the session ends last but one."""
        if self._stopped.is_set():
            return
        self.files.server("shutting down")
        if self.config.truth("controlled.shutdown.enable"):
            leaving = threading.Thread(target=self._controlled_shutdown, daemon=True)
            leaving.start()
            leaving.join(SHUTDOWN_PATIENCE_S)  # without ZooKeeper nobody answers, ever
        self._stopped.set()
        self.coordinator.stop()
        self.control.stop()
        self.control.join(5)
        self.listener.close()
        if self.replicas.lock.acquire(timeout=5):
            self.fetchers.close()
            if self.isr_requests is not None:
                self.isr_requests.stop()
            self.logs.stop()
            self.replicas.lock.release()
        else:
            self._log_trouble("the logs are not closed: a request still holds the replicas")
        if self.control.port.alive:
            ended = threading.Thread(target=self.control.port.close, daemon=True)
            ended.start()
            ended.join(5)
        self.files.server("shut down completed")
        self.files.close()
        if self.trace is not None:
            self.trace.close()

    def _controlled_shutdown(self) -> None:
        """Ask the controller to move leaders away, as often as is configured."""
        pause_s = self.config.whole_number("controlled.shutdown.retry.backoff.ms") / 1000
        for attempt in range(max(1, self.config.whole_number("controlled.shutdown.max.retries"))):
            if attempt:
                time.sleep(pause_s)
            try:
                controller = wait(self.control.client.controller())
            except ZooKeeperError:
                return
            address = self.replicas.metadata.brokers.get(-1 if controller is None else controller)
            if address is None:
                continue
            ask = Connection(address, 12.0, str(self.broker))
            version = request_version("ControlledShutdown", self.config.protocol)
            body = Fields(broker_id=self.broker, broker_epoch=self.control.epoch)
            try:
                answer = ask.ask("ControlledShutdown", version, body)
            except Disconnected as error:
                limit = "controller.socket.timeout.ms and/or request.timeout.ms"
                limit = limit if self.release.since("0.11") else "socket.timeout.ms"
                self.files.server(
                    "Error during controlled shutdown, possibly because leader movement took "
                    f"longer than the configured {limit}: {error}", "WARN",
                )  # fmt: skip
                continue
            finally:
                ask.close()
            if not answer.error_code and not answer.remaining_partitions:
                self.files.server("Controlled shutdown succeeded")
                return
        text = "Proceeding to do an unclean shutdown as all the controlled shutdown attempts failed"
        self.files.server(text, "WARN")


def _cluster_id(client: ZnodeClient) -> str:
    """``/cluster/id``, made by the first broker."""
    node = wait(client.read(paths.CLUSTER_ID))
    if node is None:
        made = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        wait(client.make_path(paths.CLUSTER_ID.rpartition("/")[0]))
        with contextlib.suppress(NodeExists):
            wait(
                client.retry(lambda: client.port.create(paths.CLUSTER_ID, encode_cluster_id(made)))
            )
        node = wait(client.read(paths.CLUSTER_ID))
        assert node is not None, "somebody made the cluster id"
    return decode_cluster_id(node.data)


_TASKS = {"maybe_shrink_isrs": "isr-expiration",
          "maybe_propagate_isr_changes": "isr-change-propagation"}  # fmt: skip
_SERVER = "kafka.server.KafkaServer"
