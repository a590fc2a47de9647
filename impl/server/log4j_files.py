"""server.log, controller.log and state-change.log of one running broker, in Kafka's layout.

Messages that Kafka does not have are written to insync.log.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from impl.releases import Release
from impl.znodes import TopicPartition, paths

CONTROLLER, STATE_CHANGE, SERVER = "controller.log", "state-change.log", "server.log"
REQUESTS = "kafka-request.log"
OURS = "insync.log"
_SERVER = "kafka.server.KafkaServer"
_ZK_CLIENT = "kafka.zk.KafkaZkClient"
_LOG_MANAGER = "kafka.log.LogManager"
_WORD = re.compile(r"(?<!^)(?=[A-Z])")


def wall_clock() -> int:
    """The current time in milliseconds since 1970."""
    return int(time.time() * 1000)


class Log4jFiles:
    """One broker's log files, opened for append; each line is complete before the next begins."""

    def __init__(
        self, folder: Path, broker: int, release: Release, now_ms: Callable[[], int] = wall_clock
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.now_ms = now_ms
        self.broker = broker
        self.release = release
        self.old = not release.since("1.0")
        self._lock = threading.Lock()
        self._files: dict[str, TextIO] = {}
        self._closed = False

    def line(self, file: str, level: str, message: str, logger: str, thrown: str = "") -> None:
        """Write a line, stamped now, and one for an exception; ignored after ``close``."""
        text = message.replace("\n", " ")
        trace = thrown.replace("\n", " ") + "\n" if thrown else ""
        with self._lock:
            now_ms = self.now_ms()
            if self._closed:
                return
            if file not in self._files:  # a file without lines is not made
                path = self.folder / file
                self._files[file] = path.open("a", encoding="utf-8", buffering=1)
            self._files[file].write(f"[{stamp(now_ms)}] {level} {text} ({logger})\n{trace}")

    def insync_line(self, text: str) -> None:
        """Log a message that Kafka does not have."""
        self.line(OURS, "WARN", text, "insync")

    def close(self) -> None:
        """Close the files; later lines are dropped."""
        with self._lock:
            self._closed = True
            for file in self._files.values():
                file.close()

    def request(self, head: Mapping[str, Any]) -> None:
        """Log a received request in kafka-request.log, by its header (``RequestChannel``)."""
        kind = _WORD.sub("_", str(head.get("api"))).upper()
        fields = {"apiKey": kind, "apiVersion": head.get("version"),
                  "clientId": head.get("client_id", ""),
                  "correlationId": head.get("correlation")}  # fmt: skip
        known = {name: value for name, value in fields.items() if value is not None}
        if self.old:
            shown = ",".join(f"{_WORD.sub('_', name).lower()}={value}"
                             for name, value in known.items())  # fmt: skip
            text = f"Processor 0 received request : {{{shown}}}"
        else:
            shown = ", ".join(f"{name}={value}" for name, value in known.items())
            text = f"Processor 0 received request: RequestHeader({shown})"
        self.line(REQUESTS, "TRACE", text, "kafka.request.logger")

    # The process

    def startup_lines(self) -> None:
        """Log the start of the process."""
        self.line(SERVER, "INFO", "starting", _SERVER)
        colon = ":" if self.release.since("2.1") else " :"
        version = f"Kafka version{colon} {self.release}"
        self.line(SERVER, "INFO", version, "org.apache.kafka.common.utils.AppInfoParser")

    def broker_registering(self) -> None:
        """Log that the broker is about to create its znode."""
        path = paths.broker(self.broker)
        logger = _ZK_CLIENT if self.release.since("1.1") else "kafka.utils.ZKCheckedEphemeral"
        self.line(SERVER, "INFO", f"Creating {path} (is it secure? false)", logger)

    def broker_registered(self, host: str | None, port: int, epoch: int) -> None:
        """Log that the broker has registered: with its address and (2.2) its broker epoch."""
        where = f"EndPoint({host},{port},ListenerName(PLAINTEXT),PLAINTEXT)"
        if self.release.since("1.1"):
            where = f"ArrayBuffer({where})"
        elif not self.release.since("0.10.2"):  # KIP-103 gave listeners names
            where = f"PLAINTEXT -> EndPoint({host},{port},PLAINTEXT)"
        path = paths.broker(self.broker)
        text = f"Registered broker {self.broker} at path {path} with addresses: {where}"
        if self.release.since("2.2"):
            text += f", czxid (broker epoch): {epoch}"
        logger = _ZK_CLIENT if self.release.since("1.1") else "kafka.utils.ZkUtils"
        self.line(SERVER, "INFO", text, logger)

    def session_expired(self) -> None:
        """Log that the session expired; up to 1.0 this is a line of ZkClient, a library."""
        if not self.release.since("1.1"):
            text, logger = "zookeeper state changed (Expired)", "org.I0Itec.zkclient.ZkClient"
        else:
            name = " Kafka server" if self.release.since("2.3") else ""
            text = f"[ZooKeeperClient{name}] Session expired."
            logger = "kafka.zookeeper.ZooKeeperClient"
        self.line(SERVER, "INFO", text, logger)

    def loaded(
        self, partition: TopicPartition, folder: str, segments: int, start: int, end: int
    ) -> None:
        """Log that a log was loaded at startup."""
        named = "" if self.release.since("1.1") else f"{partition} "
        kind = "segments" if self.release.since("1.1") else "log segments"
        text = f"Completed load of log {named}with "
        if self.release.since("0.10.1"):
            text += f"{segments} {kind}"
        if self.release.since("0.11"):
            text += f", log start offset {start} and "
        elif self.release.since("0.10.1"):
            text += " and "
        text += f"log end offset {end}"
        if self.release.since("0.10.1"):
            text += " in 1 ms"
        self.log(partition, folder, text)

    # Heads

    def name(self, partition: TopicPartition) -> str:
        """A partition's name in the release's format: ``[t,0]`` up to 0.11, then ``t-0``."""
        return f"[{partition.topic},{partition.partition}]" if self.old else str(partition)

    def server(self, message: str, level: str = "INFO") -> None:
        """Log a line of the broker process."""
        head = f"[Kafka Server {self.broker}], " if self.old else f"[KafkaServer id={self.broker}] "
        self.line(SERVER, level, head + message, _SERVER)

    def partition(self, partition: TopicPartition, message: str, level: str = "INFO") -> None:
        """Log a line of a partition."""
        if self.old:
            head = f"Partition {self.name(partition)} on broker {self.broker}: "
        else:
            head = f"[Partition {partition} broker={self.broker}] "
        self.line(SERVER, level, head + message, "kafka.cluster.Partition")

    def log(self, partition: TopicPartition, folder: str, message: str) -> None:
        """Log a line of a log; up to 1.0 without a prefix."""
        head = f"[Log partition={partition}, dir={folder}] " if self.release.since("1.1") else ""
        self.line(SERVER, "INFO", head + message, "kafka.log.Log")

    def fetcher(
        self, leader: int, fetcher: int, message: str, level: str = "INFO",
        logger: str = "kafka.server.ReplicaFetcherThread", thrown: str = "",
    ) -> None:  # fmt: skip
        """Log a line of a fetcher thread."""
        if self.old:
            comma = ":" if self.release.since("0.11") else ","
            head = f"[ReplicaFetcherThread-{fetcher}-{leader}]{comma} "
        else:
            head = f"[ReplicaFetcher replicaId={self.broker}, leaderId={leader}, "
            head += f"fetcherId={fetcher}] "
        self.line(SERVER, level, head + message, logger, thrown)

    def manager(self, message: str) -> None:
        """Log a line of the fetcher manager."""
        head = f"[ReplicaFetcherManager on broker {self.broker}] "
        self.line(SERVER, "INFO", head + message, "kafka.server.ReplicaFetcherManager")

    def log_dir_failed(self, directory: str, all_of_them: list[str]) -> None:
        """Log that a log directory failed (1.0+); after the last one the broker halts."""
        level = "WARN" if self.release.since("2.5") else "INFO"
        head = f"[ReplicaManager broker={self.broker}] "
        text = f"{head}Stopping serving replicas in dir {directory}"
        self.line(SERVER, level, text, "kafka.server.ReplicaManager")
        self.line(SERVER, level, f"Stopping serving logs in dir {directory}", _LOG_MANAGER)
        if all_of_them:
            text = f"Shutdown broker because all log dirs in {', '.join(all_of_them)} have failed"
            self.line(SERVER, "FATAL", text, _LOG_MANAGER)

    def task_failed(self, task: str, error: Exception) -> None:
        """A scheduled task threw an exception; it runs again at its next period."""
        thrown = f"{type(error).__name__}: {error}"
        text = f"Uncaught exception in scheduled task '{task}'"
        self.line(SERVER, "ERROR", text, "kafka.utils.KafkaScheduler", thrown)

    def change(self, message: str, level: str = "TRACE") -> None:
        """Log a line of state-change.log, as the broker; ``message`` begins with a capital."""
        if self.old:
            text = f"Broker {self.broker} {message[:1].lower()}{message[1:]}"
        else:
            text = f"[Broker id={self.broker}] {message}"
        self.line(STATE_CHANGE, level, text, "state.change.logger")

    def controller(
        self,
        message: str,
        level: str = "INFO",
        logger: str = "kafka.controller.KafkaController",
        thrown: str = "",
    ) -> None:
        """Log a line of controller.log."""
        head = f"[Controller {self.broker}]: " if self.old else f"[Controller id={self.broker}] "
        self.line(CONTROLLER, level, head + message, logger, thrown)

    def controller_state_change(
        self, epoch: int, message: str, level: str = "TRACE", thrown: str = ""
    ) -> None:
        """Log a line of state-change.log, as the controller."""
        if self.old:
            text = f"Controller {self.broker} epoch {epoch} {message[:1].lower()}{message[1:]}"
        else:
            text = f"[Controller id={self.broker} epoch={epoch}] {message}"
        self.line(STATE_CHANGE, level, text, "state.change.logger", thrown)


def stamp(now_ms: int) -> str:
    """An instant in log4j's default date format, UTC: ``2020-01-01 00:00:00,100``."""
    seconds, millis = divmod(now_ms, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S},{millis:03d}"
