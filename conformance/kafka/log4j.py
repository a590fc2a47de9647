"""How a broker of the lab logs: Kafka's own files, and the data plane in files of its own."""

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

BESIDE = {"dataPlane": "server"}
"""What is written to a second file too, so that server.log has what Kafka's own would have."""


def log4j_of(folder: Path) -> str:
    """The text of log4j.properties for a broker that logs into a folder."""
    lines = ["log4j.rootLogger=INFO, server"]
    for name, (file, loggers) in FILES.items():
        appender = f"log4j.appender.{name}"
        lines += [
            f"{appender}=org.apache.log4j.FileAppender",
            f"{appender}.File={folder / file}",
            f"{appender}.layout=org.apache.log4j.PatternLayout",
            f"{appender}.layout.ConversionPattern={PATTERN}",
        ]
        for logger, level in loggers.items():
            lines.append(f"log4j.logger.{logger}={level}, {name}")
            lines.append(f"log4j.additivity.{logger}={str(name in BESIDE).lower()}")
        if name == "server":
            lines.append(f"{appender}.Threshold=INFO")
    return "\n".join(lines) + "\n"
