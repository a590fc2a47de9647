"""log4j files as Kafka writes them: a folder a broker, a file a group of loggers.

Layout ``[date] LEVEL message (logger)``, times in UTC; prefixes as in Kafka 1.0 and later.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from impl.world.journal import Journal
from impl.world.network import PARTITION

TOPIC_PARTITION = str(PARTITION)
CONTROLLER, STATE_CHANGE, SERVER = "controller.log", "state-change.log", "server.log"
FILES = (CONTROLLER, SERVER, STATE_CHANGE)


class SampleLogFiles(Journal):
    """Lines by (broker, file), in memory; ``write`` puts them into ``brokerN/*.log``."""

    def __init__(self, brokers: int, now_ms: int) -> None:
        self.now_ms = now_ms
        self.brokers = tuple(range(1, brokers + 1))
        self.lines: dict[tuple[int, str], list[str]] = {
            (broker, file): [] for broker in self.brokers for file in FILES
        }

    def write(self, folder: Path) -> None:
        """Write every broker's files, replacing what is there; each whole or not at all."""
        for (broker, file), lines in self.lines.items():
            path = folder / f"broker{broker}" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_name(f"{file}.unfinished")
            unfinished.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            unfinished.replace(path)

    def line(self, broker: int, file: str, level: str, message: str, logger: str) -> None:
        """Add one line, stamped now."""
        line = f"[{stamp(self.now_ms)}] {level} {message} ({logger})"
        self.lines[broker, file].append(line)

    def controller(self, broker: int, message: str, level: str = "INFO") -> None:
        """A line of controller.log."""
        text = f"[Controller id={broker}] {message}"
        self.line(broker, CONTROLLER, level, text, "kafka.controller.KafkaController")

    def broker_change(self, broker: int, message: str, level: str = "TRACE") -> None:
        """A line of state-change.log, as the broker."""
        text = f"[Broker id={broker}] {message}"
        self.line(broker, STATE_CHANGE, level, text, "state.change.logger")

    def partition(self, broker: int, message: str, level: str = "INFO") -> None:
        """A line of the partition in server.log."""
        text = f"[Partition {TOPIC_PARTITION} broker={broker}] {message}"
        self.line(broker, SERVER, level, text, "kafka.cluster.Partition")

    def log(self, broker: int, message: str) -> None:
        """A line of the log in server.log."""
        text = f"[Log partition={TOPIC_PARTITION}, dir=/kafka-logs] {message}"
        self.line(broker, SERVER, "INFO", text, "kafka.log.Log")

    def fetcher(self, broker: int, leader: int, message: str, level: str) -> None:
        """A line of the fetcher thread in server.log."""
        text = f"[ReplicaFetcher replicaId={broker}, leaderId={leader}, fetcherId=0] {message}"
        self.line(broker, SERVER, level, text, "kafka.server.ReplicaFetcherThread")


def stamp(now_ms: int) -> str:
    """An instant in log4j's default date format, UTC: ``2020-01-01 00:00:00,100``."""
    seconds, millis = divmod(now_ms, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S},{millis:03d}"


def join(values: Iterable[int], by: str = ",") -> str:
    """Ids as Kafka lists them."""
    return by.join(str(value) for value in values)
