"""A cluster in a directory: starts, stops, kills and pauses its processes.

DIR/cluster.json          release, brokers and their ports, ZooKeeper
DIR/.lock                 held by the process that changes the cluster
DIR/run/NAME.pid          held (flock) by the process NAME as long as it lives
DIR/brokerN/              its properties, its data, its output
DIR/logs/brokerN/         server.log, controller.log, state-change.log: for ``insync check``;
                          kafka-request.log, if it is requested
DIR/trace/                the trace of each process, if requested: for ``insync check``
DIR/zookeeper/            ZooKeeper's data
"""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from impl.releases import DEFAULT, Release
from impl.server.clients import Client
from impl.server.connection import Disconnected, UnsupportedVersion
from impl.server.processes import ClusterError, Processes, lock_folder
from impl.server.sessions import EMBEDDED, open_session
from impl.zookeeper.port import Port
from impl.zookeeper.server import (
    JVM,
    LOOPBACK,
    MAIN,
    find_jars,
    find_java,
    free_ports,
    listens,
    serves,
    write_settings,
)

ZOOKEEPER = "zookeeper"
KINDS = ("embedded", "real")
STATE = "cluster.json"
TRACE = "trace"
FORMAT = "insync.cluster/1"


@dataclass
class ClusterState:
    """The content of ``cluster.json``. ``zookeeper`` is embedded, real, or an address elsewhere.

    ``advertised``: by broker, the port that it advertises instead of its own, such as a proxy's.
    ``hosts``: where a broker listens, if not on loopback. ``fillable``: a broker's directory has no
    space left while DIR/brokerN/full names it.
    """

    version: str
    zookeeper: str
    connect: str
    ports: dict[int, int]
    racks: dict[int, str]
    settings: dict[str, str]
    request_log: bool = False
    trace: bool = False
    advertised: dict[int, int] = field(default_factory=dict)
    hosts: dict[int, str] = field(default_factory=dict)
    fillable: bool = False


class Cluster(Processes):
    """A cluster in one directory. ClusterError if the directory is not a cluster's."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder.resolve())
        self.state = self._read()

    def _read(self) -> ClusterState:
        path = self.folder / STATE
        try:
            fields = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ClusterError(
                f"{self.folder} is no cluster; write: insync cluster start {self.folder}"
            ) from None
        except (OSError, ValueError) as error:
            raise ClusterError(f"{path}: {error}") from error
        if not isinstance(fields, dict) or fields.pop("format", None) != FORMAT:
            raise ClusterError(f"{path} is not of the format {FORMAT}")
        try:
            for name in ("ports", "racks", "advertised", "hosts"):
                fields[name] = {int(key): value for key, value in fields.get(name, {}).items()}
            return ClusterState(**fields)
        except (KeyError, TypeError, ValueError) as error:
            raise ClusterError(f"{path}: {error} is wrong or missing") from error

    @staticmethod
    def create(folder: Path, state: ClusterState) -> Cluster:
        """Write a new cluster's state."""
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder, state)
        return Cluster(folder)

    def add(self, broker: int, rack: str | None = None) -> str:
        """Add a broker, on a port that is free now; returns the name of its process.

        ClusterError if the id is taken, or if only some of the brokers would have a rack.
        """
        if broker in self.state.ports:
            raise ClusterError(f"{self.folder} has a broker {broker} already; name another id")
        if self.state.ports and bool(self.state.racks) != (rack is not None):
            has = "have racks: name one" if self.state.racks else "have no racks: name none"
            raise ClusterError(f"the brokers of {self.folder} {has}")
        self.state.ports[broker] = free_ports(1)[0]
        if rack is not None:
            self.state.racks[broker] = rack
        _write(self.folder, self.state)
        return f"broker{broker}"

    def advertise(self, ports: dict[int, int]) -> None:
        """Let brokers advertise these ports from their next start on."""
        self.state.advertised = ports
        _write(self.folder, self.state)

    # Processes and addresses

    @property
    def release(self) -> Release:
        """The release that the brokers behave like."""
        return Release.of(self.state.version)

    @property
    def brokers(self) -> list[int]:
        """The ids of its brokers."""
        return sorted(self.state.ports)

    @property
    def has_own_zookeeper(self) -> bool:
        """Whether the cluster runs its own ZooKeeper process."""
        return self.state.zookeeper in KINDS

    def names(self) -> list[str]:
        """The names of its processes, in the order in which they start."""
        brokers = [f"broker{one}" for one in self.brokers]
        return [ZOOKEEPER, *brokers] if self.has_own_zookeeper else brokers

    def addresses(self) -> list[tuple[str, int]]:
        """The advertised addresses of its brokers."""
        found = {one: self._address(one) for one in self.state.ports}
        found |= {one: (LOOPBACK, port) for one, port in self.state.advertised.items()}
        return [found[one] for one in sorted(found)]

    def _address(self, broker: int) -> tuple[str, int]:
        """The address on which the broker itself listens."""
        return self.state.hosts.get(broker, LOOPBACK), self.state.ports[broker]

    @property
    def bootstrap_servers(self) -> str:
        """The brokers' addresses as `bootstrap.servers` of Kafka's clients."""
        return ",".join(f"{host}:{port}" for host, port in self.addresses())

    def session(self, timeout_ms: int = 6000) -> Port:
        """Open a session with its ZooKeeper."""
        return open_session(self.state.connect, timeout_ms)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the cluster's lock during a change; ClusterError while another process holds it."""
        with lock_folder(self.folder):
            yield

    # Starting

    def start(self, patience_s: float = 60.0, only: str | None = None) -> None:
        """Start all processes that do not run, or one; after a failure, end those just started."""
        started: list[str] = []
        wanted = self.names() if only is None else [only]
        try:
            for name in wanted:
                if self.pid(name) is None:
                    started.append(name)
                    self._launch(name, patience_s)
            self._wait_until_known(patience_s, [name for name in started if name != ZOOKEEPER])
        except BaseException:
            self.end(reversed(started), signal.SIGKILL, 5.0)
            raise

    def _launch(self, name: str, patience_s: float) -> None:
        if name == ZOOKEEPER:
            self.spawn(name, self._zookeeper_command())
            self._wait_for_zookeeper(patience_s)
            return
        number = int(name.removeprefix("broker"))
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        properties = folder / "server.properties"
        properties.write_text(self._properties(number), encoding="utf-8")
        logs = self.folder / "logs" / name
        self.spawn(
            name,
            [sys.executable, "-m", "impl.server", str(properties), "--version",
             self.state.version, "--logs", str(logs),
             *(["--request-log"] if self.state.request_log else []),
             *(["--full-marker", str(self.full_marker(number))] if self.state.fillable else []),
             *self._tracing()],
        )  # fmt: skip

    def full_marker(self, broker: int) -> Path:
        """The file that names a directory of the broker which has no space left."""
        return self.folder / f"broker{broker}" / "full"

    def _tracing(self) -> list[str]:
        return ["--trace", str(self.folder / TRACE)] if self.state.trace else []

    def _properties(self, number: int) -> str:
        lines = {
            "broker.id": str(number),
            "listeners": "PLAINTEXT://{}:{}".format(*self._address(number)),
            "zookeeper.connect": self.state.connect,
            "log.dirs": str(self.folder / f"broker{number}" / "data"),
        }
        if number in self.state.advertised:
            port = self.state.advertised[number]
            lines["advertised.listeners"] = f"PLAINTEXT://{LOOPBACK}:{port}"
        if number in self.state.racks:
            lines["broker.rack"] = self.state.racks[number]
        lines |= self.state.settings
        return "".join(f"{key}={value}\n" for key, value in lines.items())

    def _zookeeper_command(self) -> list[str]:
        folder = self.folder / ZOOKEEPER
        port = self.state.connect.rpartition(":")[2]
        if self.state.zookeeper == "embedded":
            return [sys.executable, "-m", "impl.server.embedded_zookeeper", port, str(folder),
                    *self._tracing()]  # fmt: skip
        settings = write_settings(folder, int(port))
        class_path = ":".join(str(jar) for jar in find_jars())
        return [find_java(), *JVM, "-cp", class_path, MAIN, str(settings)]

    def _wait_for_zookeeper(self, patience_s: float) -> None:
        deadline = time.monotonic() + patience_s
        port = int(self.state.connect.rpartition(":")[2])
        while time.monotonic() < deadline:
            if self.pid(ZOOKEEPER) is None:
                raise ClusterError(
                    f"ZooKeeper ended at once; it said: {self.last_printed(ZOOKEEPER)}"
                )
            if self.state.zookeeper == "embedded":
                if listens(port):
                    return
            elif serves(self.folder / ZOOKEEPER, port):
                return
            time.sleep(0.05)
        raise ClusterError(f"ZooKeeper did not come up within {patience_s:.0f} s")

    def _wait_until_known(self, patience_s: float, wanted: Sequence[str]) -> None:
        """Every broker that was started knows of every broker that runs."""
        deadline = time.monotonic() + patience_s
        waiting = list(wanted)
        while waiting:
            name = waiting[0]
            if self.pid(name) is None:
                raise ClusterError(f"{name} ended at once; it said: {self.last_printed(name)}")
            alive = {
                int(one.removeprefix("broker"))
                for one in self.running()
                if one != ZOOKEEPER and not self.paused(one)
            }
            if alive <= set(self._known_to(int(name.removeprefix("broker")))):
                waiting.pop(0)
                continue
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"{name} does not know the cluster within {patience_s:.0f} s; "
                    f"see {self.folder / 'logs' / name / 'server.log'}"
                )
            time.sleep(0.05)

    def _known_to(self, number: int) -> list[int]:
        address = self._address(number)
        with Client([address], timeout_s=2.0, client_id="insync-cluster") as client:
            try:
                return [one.node_id for one in client.metadata(address, 2.0).brokers]
            except (Disconnected, UnsupportedVersion):
                return []

    # Ending

    def stop(self, patience_s: float = 30.0) -> list[str]:
        """Stop all: brokers first, cleanly if possible, ZooKeeper last; returns those stopped."""
        running = self.running()
        for name in running:
            if self.paused(name):
                self.signal(name, signal.SIGCONT)
        brokers = [name for name in reversed(running) if name != ZOOKEEPER]
        served = ZOOKEEPER in running or not self.has_own_zookeeper
        self.end(brokers, signal.SIGTERM, patience_s, in_turn=served)
        if ZOOKEEPER in running:
            self.end([ZOOKEEPER], signal.SIGTERM, patience_s)
        return running

    def stop_one(self, process: int | str) -> None:
        """Stop one process cleanly."""
        self.end([self.living(process)], signal.SIGTERM, 30.0)

    def name_of(self, process: int | str) -> str:
        """The process name for a user's name: a broker's id, or ``zookeeper``.

        ClusterError if there is none.
        """
        name = super().name_of(process)
        if name not in self.names():
            listed = ", ".join([str(one) for one in self.brokers])
            own = f" and {ZOOKEEPER}" if self.has_own_zookeeper else ""
            raise ClusterError(
                f"there is no broker {process} in {self.folder}; there are {listed}{own}"
            )
        return name


def _write(folder: Path, state: ClusterState) -> None:
    unfinished = folder / f"{STATE}.unfinished"
    text = json.dumps({"format": FORMAT, **asdict(state)}, indent=2)
    unfinished.write_text(text + "\n", encoding="utf-8")
    unfinished.replace(folder / STATE)


def new_state(
    brokers: Sequence[int],
    version: str = DEFAULT,
    zookeeper: str = "embedded",
    racks: dict[int, str] | None = None,
    settings: dict[str, str] | None = None,
) -> ClusterState:
    """The state of a new cluster, on ports that are free now."""
    ports = free_ports(len(brokers) + 1)
    if zookeeper == "embedded":
        connect = f"{EMBEDDED}{LOOPBACK}:{ports[0]}"
    else:
        connect = f"{LOOPBACK}:{ports[0]}" if zookeeper == "real" else zookeeper
    return ClusterState(
        version,
        zookeeper,
        connect,
        dict(zip(brokers, ports[1:], strict=True)),
        racks or {},
        settings or {},
    )


def remove(folder: Path) -> None:
    """Remove a cluster's directory, once none of its processes runs."""
    shutil.rmtree(folder)
