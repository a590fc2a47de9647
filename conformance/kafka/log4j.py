"""Log configuration of the lab's brokers: Kafka's own files, and more for the data plane."""

from __future__ import annotations

from pathlib import Path

PATTERN = "[%d] %p %m (%c)%n"

FILES = {
    "server": ("server.log", {}),
    "controller": ("controller.log", {"kafka.controller": "TRACE"}),
    "stateChange": ("state-change.log", {"state.change.logger": "TRACE"}),
    "dataPlane": (
        "data-plane.log",
        {
            "kafka.cluster.Partition": "TRACE",
            "kafka.cluster.Replica": "TRACE",
            "kafka.server.ReplicaFetcherThread": "TRACE",
            "kafka.server.epoch": "DEBUG",
        },
    ),
    "request": (
        "kafka-request.log",
        {"kafka.request.logger": "TRACE", "kafka.network.RequestChannel$": "TRACE"},
    ),
}
"""Appender -> its file, and the loggers that write to it alone, with their levels.

`server.log` has the rest at INFO. Up to 2.5 `state.change.logger` is at TRACE by default, from 2.6
at INFO; `kafka.controller` is at TRACE in all (see the releases' config/log4j.properties).
"""

PROTOCOL = "protocol-{}.log"
"""The file of one start of a broker in which all of its threads tell what they do, in one order."""

TRACED_LOGGERS = (
    "kafka.log.Log", "kafka.log.LogManager", "kafka.server.KafkaApis", "kafka.server.KafkaServer",
    "kafka.server.ReplicaManager", "kafka.zk.KafkaZkClient",
    "org.apache.kafka.clients.NetworkClient",
)  # fmt: skip
"""What is written there at TRACE, beside all of FILES (`protocol_log` reads it)."""

PROTOCOL_PATTERN = "[%d] [%t] %m (%c)%n"

BESIDE = {"dataPlane": "server"}
"""What is written to a second file too, so that server.log has what Kafka's own would have."""


def log4j_of(folder: Path) -> str:
    """The text of log4j.properties for a broker that logs into a folder."""
    start = 1 + len(starts_in(folder))
    lines = ["log4j.rootLogger=INFO, server"]
    lines += _appender("protocol", folder / PROTOCOL.format(start), PROTOCOL_PATTERN)
    lines += [f"log4j.logger.{logger}=TRACE, protocol" for logger in TRACED_LOGGERS]
    for name, (file, loggers) in FILES.items():
        lines += _appender(name, folder / file, PATTERN)
        for logger, level in loggers.items():
            lines.append(f"log4j.logger.{logger}={level}, {name}, protocol")
            lines.append(f"log4j.additivity.{logger}={str(name in BESIDE).lower()}")
        if name == "server":
            lines.append("log4j.appender.server.Threshold=INFO")
    return "\n".join(lines) + "\n"


def _appender(name: str, file: Path, pattern: str) -> list[str]:
    appender = f"log4j.appender.{name}"
    return [
        f"{appender}=org.apache.log4j.FileAppender",
        f"{appender}.File={file}",
        f"{appender}.layout=org.apache.log4j.PatternLayout",
        f"{appender}.layout.ConversionPattern={pattern}",
    ]


def starts_in(folder: Path) -> list[Path]:
    """The files of a broker's starts, the first one first."""
    return sorted(folder.glob(PROTOCOL.format("*")), key=lambda one: int(one.stem.split("-")[1]))
