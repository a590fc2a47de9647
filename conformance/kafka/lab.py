"""Runs a cluster of real Kafka in a directory: ZooKeeper, brokers, and proxies between all of them.

Some of its brokers may be our own (`impl.server`), of the same release, on the same ZooKeeper and
behind the same proxies: a mixed cluster.

DIR/lab.json               release, where its jars are, ports
DIR/run/NAME.pid           held (flock) by the process NAME as long as it lives
DIR/brokerN/               its properties and log4j's, its data, what it printed
DIR/logs/brokerN/          server.log, controller.log, state-change.log: for `insync check`;
                           data-plane.log and kafka-request.log beside them
DIR/zookeeper/             ZooKeeper's data
DIR/trace/                 messages.jsonl and znodes.jsonl: what the proxies and the watcher saw
DIR/copies/                copies of disks, by name
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import signal
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from conformance.kafka import zookeeper_client
from conformance.kafka.download import cache_folder, libs_of
from conformance.kafka.java import java_for
from conformance.kafka.log4j import log4j_of
from conformance.kafka.releases import KafkaRelease, release_of
from impl.releases import Release
from impl.server.processes import ClusterError, Processes
from impl.znodes.paths import BROKER_IDS as IDS
from impl.zookeeper.server import MAIN, free_ports, listens, serves, write_settings

STATE = "lab.json"
FORMAT = "insync.kafka_lab/1"
LOOPBACK = "127.0.0.1"
ZOOKEEPER = "zookeeper"
PROXIES = "proxies"
TRACE = "trace"
MOST_BROKERS = 5
LAST_LINES = 3
_WRONG = re.compile(r"\b(?:ERROR|FATAL)\b|^Exception in thread|^Traceback|^Error: ")
_SERVER = "(kafka.server.KafkaServer)"
JVM = ("-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
KEEPER_JVM = ("-Xms32m", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
              "-Dzookeeper.forceSync=no", "-Dzookeeper.admin.enableServer=false")  # fmt: skip
SETTINGS = {
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "background.threads": "2",
    "controlled.shutdown.max.retries": "1",
    "controlled.shutdown.retry.backoff.ms": "200",
    "delete.topic.enable": "true",
    "log.cleaner.enable": "false",
    "log.retention.ms": "-1",
    "num.io.threads": "4",
    "num.network.threads": "2",
    "offsets.topic.replication.factor": "1",
    "unclean.leader.election.enable": "false",
    "zookeeper.connection.timeout.ms": "20000",
    "zookeeper.session.timeout.ms": "6000",
}
"""What a small cluster on one machine wants otherwise than Kafka's defaults."""
SHORT_TIMES = {
    "zookeeper.session.timeout.ms": "2500",
    "replica.lag.time.max.ms": "3000",
    "replica.fetch.backoff.ms": "200",
    "replica.high.watermark.checkpoint.interval.ms": "1000",
    "controller.socket.timeout.ms": "10000",
}
"""Shorter than Kafka's defaults, so that a fault of seconds has consequences."""


@dataclass
class LabState:
    """The contents of `lab.json`. ``ports``: broker -> its own, its proxy's, the one to ZooKeeper.

    ``ours``: the brokers that run our implementation instead of Kafka.
    """

    version: str
    home: str | None
    zookeeper: int
    control: int
    ports: dict[int, list[int]]
    settings: dict[str, str] = field(default_factory=dict)
    ours: list[int] = field(default_factory=list)


class Lab(Processes):
    """The lab in one directory. ClusterError if the directory has no lab."""

    start_command = "insync kafka start"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder.resolve())
        self.state = self._read()

    @staticmethod
    def create(
        folder: Path, release: KafkaRelease, brokers: Sequence[int], home: Path | None = None,
        settings: dict[str, str] | None = None, ours: Sequence[int] = (),
    ) -> Lab:  # fmt: skip
        """Creates a lab on ports that are free now; NotDownloaded and NoJava before any file.

        ClusterError for a release that our own brokers (``ours``, of ``brokers``) do not know.
        """
        _ours_know(release, ours)
        libs_of(release, home)
        java_for(release, cache_folder())
        ports = free_ports(2 + 3 * len(brokers))
        of_brokers = {one: ports[2 + 3 * at : 5 + 3 * at] for at, one in enumerate(brokers)}
        state = LabState(
            release.text, str(home.resolve()) if home else None, ports[0], ports[1], of_brokers,
            settings or {}, sorted(ours),
        )  # fmt: skip
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / f"{STATE}.unfinished"
        text = json.dumps({"format": FORMAT, **asdict(state)}, indent=2)
        unfinished.write_text(text + "\n", encoding="utf-8")
        unfinished.replace(folder / STATE)
        return Lab(folder)

    def _read(self) -> LabState:
        path = self.folder / STATE
        try:
            fields = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ClusterError(
                f"{self.folder} holds no Kafka; write: insync kafka start {self.folder}"
            ) from None
        except (OSError, ValueError) as error:
            raise ClusterError(f"{path}: {error}") from error
        if not isinstance(fields, dict) or fields.pop("format", None) != FORMAT:
            raise ClusterError(f"{path} is not of the format {FORMAT}")
        try:
            fields["ports"] = {
                int(broker): [int(port) for port in ports]
                for broker, ports in fields["ports"].items()
            }
            return LabState(**fields)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ClusterError(f"{path}: {error} is wrong or missing") from error

    # What there is

    @property
    def release(self) -> KafkaRelease:
        """The release that runs."""
        return release_of(self.state.version)

    @property
    def brokers(self) -> list[int]:
        """The ids of its brokers."""
        return sorted(self.state.ports)

    def is_ours(self, broker: int) -> bool:
        """Is the broker one of our own?"""
        return broker in self.state.ours

    def setting(self, name: str) -> str:
        """A broker's property as the lab sets it; empty where it is Kafka's default."""
        return (SETTINGS | self.state.settings).get(name, "")

    def names(self) -> list[str]:
        """The names of its processes, in the order in which they start."""
        return [ZOOKEEPER, PROXIES, *(f"broker{one}" for one in self.brokers)]

    def proxied(self) -> dict[int, tuple[int, int, int]]:
        """Broker -> port of its proxy, its own, and that of its proxy to ZooKeeper."""
        return {one: (ports[1], ports[0], ports[2]) for one, ports in self.state.ports.items()}

    def own_port(self, broker: int) -> int:
        """The port on which the broker itself listens, behind the proxy."""
        return self.state.ports[broker][0]

    def data(self, broker: int) -> Path:
        """Its log directory."""
        return self.folder / f"broker{broker}" / "data"

    def logs(self, broker: int) -> Path:
        """The folder of the broker's log files."""
        return self.folder / "logs" / f"broker{broker}"

    def name_of(self, process: int | str) -> str:
        """The name of a process from what users call it: a broker's id, or `zookeeper`."""
        name = super().name_of(process)
        if name not in self.names():
            listed = ", ".join(str(one) for one in self.brokers)
            raise ClusterError(
                f"there is no broker {process} in {self.folder}; there are {listed} and {ZOOKEEPER}"
            )
        return name

    # Starting

    def start(self, patience_s: float = 120.0, only: str | None = None) -> None:
        """Starts what does not run, or one process alone; on a failure, ends what was started."""
        started: list[str] = []
        wanted = self.names() if only is None else [only]
        for name in wanted:
            if self.pid(name) is None:
                self._has_its_ports(name)
        try:
            for name in wanted:
                if self.pid(name) is None:
                    started.append(name)
                    if name.startswith("broker"):
                        self._await_unregistered(name.removeprefix("broker"))
                    self.start_process(name)
                    if name == ZOOKEEPER:
                        self.await_zookeeper(patience_s)
                    elif name == PROXIES:
                        self._await_port(name, self.state.control, 30.0)
            for name in started:
                if name.startswith("broker"):
                    self.await_broker(int(name.removeprefix("broker")), patience_s)
        except BaseException:
            self.end(list(reversed(started)), signal.SIGKILL, 5.0)
            raise

    def _await_unregistered(self, broker: str) -> None:
        """A broker does not start as long as the session lives in which it was killed."""
        longest_s = 2 * float(self.setting("zookeeper.session.timeout.ms")) / 1000
        zookeeper_client.await_gone(self.state.zookeeper, f"{IDS}/{broker}", longest_s)

    def start_brokers(self) -> None:
        """Launches all brokers, and waits until they are up."""
        for one in self.brokers:
            self.start_process(f"broker{one}")
        for one in self.brokers:
            self.await_broker(one)

    def start_process(self, name: str) -> None:
        """Starts a process, and does not wait for it."""
        self._has_its_ports(name)
        if name == ZOOKEEPER:
            self.spawn(name, self._zookeeper_command())
        elif name == PROXIES:
            self.spawn(name, [sys.executable, "-m", "conformance.kafka.daemon", str(self.folder)])
        else:
            self.spawn(name, self._broker_command(int(name.removeprefix("broker"))))

    def _has_its_ports(self, name: str) -> None:
        """ClusterError if another process listens where this one will."""
        if name == ZOOKEEPER:
            ports = [self.state.zookeeper]
        elif name == PROXIES:
            before = (port for _, *ports in self.state.ports.values() for port in ports)
            ports = [self.state.control, *before]
        else:
            ports = [self.own_port(int(name.removeprefix("broker")))]
        for port in ports:
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind((LOOPBACK, port))
                except OSError:
                    raise ClusterError(
                        f"port {port}, which {name} has here, is taken by another process; end "
                        "that, or start in a new directory"
                    ) from None

    def _java(self, libs: Path) -> list[str]:
        java = java_for(self.release, cache_folder())
        return [str(java), "-cp", f"{libs}/*"]

    def _libs(self) -> Path:
        return libs_of(self.release, Path(self.state.home) if self.state.home else None)

    def _zookeeper_command(self) -> list[str]:
        folder = self.folder / ZOOKEEPER
        settings = write_settings(folder, self.state.zookeeper)
        logging = folder / "log4j.properties"
        logging.write_text(
            "log4j.rootLogger=WARN, out\nlog4j.appender.out=org.apache.log4j.ConsoleAppender\n"
            "log4j.appender.out.layout=org.apache.log4j.PatternLayout\n"
            "log4j.appender.out.layout.ConversionPattern=[%d] %p %m (%c)%n\n",
            encoding="utf-8",
        )
        java, *class_path = self._java(self._libs())
        return [java, *KEEPER_JVM, f"-Dlog4j.configuration=file:{logging}", *class_path,
                MAIN, str(settings)]  # fmt: skip

    def _broker_command(self, number: int) -> list[str]:
        folder = self.folder / f"broker{number}"
        self.data(number).mkdir(parents=True, exist_ok=True)
        self.logs(number).mkdir(parents=True, exist_ok=True)
        properties, logging = folder / "server.properties", folder / "log4j.properties"
        properties.write_text(self._properties(number), encoding="utf-8")
        if self.is_ours(number):
            return [sys.executable, "-m", "impl.server", str(properties),
                    "--version", self.release.text, "--logs", str(self.logs(number)),
                    "--trace", str(self.folder / TRACE)]  # fmt: skip
        logging.write_text(log4j_of(self.logs(number)), encoding="utf-8")
        java, *class_path = self._java(self._libs())
        return [java, *JVM, f"-Dlog4j.configuration=file:{logging}", *class_path, "kafka.Kafka",
                str(properties)]  # fmt: skip

    def _properties(self, number: int) -> str:
        own, proxy, keeper = self.state.ports[number]
        lines = {
            "broker.id": str(number),
            "listeners": f"PLAINTEXT://{LOOPBACK}:{own}",
            "advertised.listeners": f"PLAINTEXT://{LOOPBACK}:{proxy}",
            "zookeeper.connect": f"{LOOPBACK}:{keeper}",
            "log.dirs": str(self.data(number)),
            "inter.broker.protocol.version": self.release.protocol,
            **SETTINGS,
            **self.state.settings,
        }
        if not self.release.since("3.0"):
            lines["log.message.format.version"] = self.release.protocol
        return "".join(f"{name}={value}\n" for name, value in lines.items())

    # Waiting

    def await_zookeeper(self, patience_s: float = 60.0) -> None:
        """Waits until ZooKeeper serves; ClusterError, with its last lines, if it does not."""
        deadline = time.monotonic() + patience_s
        while not serves(self.folder / ZOOKEEPER, self.state.zookeeper):
            self._wait_or_fail(ZOOKEEPER, deadline, patience_s)

    def await_broker(self, number: int, patience_s: float = 120.0) -> None:
        """Waits until the broker listens and logs that it started."""
        name = f"broker{number}"
        deadline = time.monotonic() + patience_s
        while not self._has_started(number):
            self._wait_or_fail(name, deadline, patience_s)

    def _has_started(self, number: int) -> bool:
        """The last that the server's log says of starting and ending is that it started."""
        path = self.logs(number) / "server.log"
        if not path.exists() or not listens(self.own_port(number)):
            return False
        text = path.read_text(errors="replace")
        return text.rfind(f"started {_SERVER}") > text.rfind(f"starting {_SERVER}")

    def _await_port(self, name: str, port: int, patience_s: float) -> None:
        deadline = time.monotonic() + patience_s
        while not listens(port):
            self._wait_or_fail(name, deadline, patience_s)

    def _wait_or_fail(self, name: str, deadline: float, patience_s: float) -> None:
        if self.pid(name) is None:
            raise ClusterError(f"{name} ended at once; its last lines: {self.last_lines(name)}")
        if time.monotonic() > deadline:
            raise ClusterError(
                f"{name} did not come up within {patience_s:.0f} s; its last lines: "
                f"{self.last_lines(name)}"
            )
        time.sleep(0.05)

    def last_lines(self, name: str) -> str:
        """The last output of a process, in one line: from the first error of its last start on."""
        found: list[str] = []
        for path in (self.folder / "logs" / name / "server.log",
                     self.folder / name / "printed.out"):  # fmt: skip
            if path.exists() and not found:
                text = path.read_text(errors="replace")
                text = text[max(text.rfind(f"starting {_SERVER}"), 0) :]
                lines = [line.strip() for line in text.splitlines()]
                lines = [line for line in lines if line and not line.startswith("at ")]
                wrong = (at for at, line in enumerate(lines) if _WRONG.search(line))
                at = next(wrong, len(lines) - LAST_LINES)
                found = lines[max(at, 0) :][:LAST_LINES]
        return " | ".join(found) or "nothing"

    # Ending, and faults

    def stop(self, patience_s: float = 20.0) -> list[str]:
        """Ends all processes, brokers first (cleanly if they can), ZooKeeper last; their names."""
        running = self.running()
        for name in running:
            if self.paused(name):
                self.signal(name, signal.SIGCONT)
        brokers = [name for name in running if name.startswith("broker")]
        self.end(brokers, signal.SIGTERM, patience_s)
        for name in (PROXIES, ZOOKEEPER):
            if name in running:
                self.end([name], signal.SIGTERM, patience_s)
        return running

    def kill_all(self) -> None:
        """Kills all processes at once."""
        self.end(self.running(), signal.SIGKILL, 10.0)

    def remove(self) -> None:
        """Removes its files from its directory; none of its processes may run."""
        (self.folder / STATE).unlink()
        for name in (*self.names(), "run", "logs", TRACE, "copies"):
            shutil.rmtree(self.folder / name, ignore_errors=True)

    # Disks

    def copy_disk(self, broker: int, name: str) -> None:
        """Copy a broker's disk as it is now."""
        target = self.folder / "copies" / f"{name}-{broker}"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.data(broker), target)

    def restore_disk(self, broker: int, name: str) -> None:
        """Replaces a broker's disk by a copy of it, as if what came later was never flushed.

        ClusterError while the broker runs, and if there is no such copy.
        """
        source = self.folder / "copies" / f"{name}-{broker}"
        if self.pid(f"broker{broker}") is not None:
            raise ClusterError(f"broker {broker} runs: kill it before its disk is rolled back")
        if not source.is_dir():
            raise ClusterError(f"there is no copy {name} of the disk of broker {broker}")
        shutil.rmtree(self.data(broker))
        shutil.copytree(source, self.data(broker))


def _ours_know(release: KafkaRelease, ours: Sequence[int]) -> None:
    """Our own brokers behave like the release. ClusterError."""
    if not ours:
        return
    try:
        Release.published(release.text)
    except ValueError as error:
        raise ClusterError(f"our own brokers are of another release: {error}") from None


@contextlib.contextmanager
def processes_ended_at_last(lab: Lab) -> Iterator[Lab]:
    """Ends all processes of the lab at the end of the block, whatever happens."""
    try:
        yield lab
    finally:
        lab.kill_all()
