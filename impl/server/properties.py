"""Reads and checks a broker's properties file, under Kafka's names; errors name the line."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from impl.log.config import FIELDS as LOG_FIELDS
from impl.log.config import ONLY_KEPT, LogConfig, magic_of
from impl.releases import Release, api_version, newest_version
from impl.server.fetch_sessions import SLOTS
from impl.server.unsupported import REASON_OF

GENERATED = -1
"""``broker.id`` of a broker that gets one through ``/brokers/seqid``."""


class WrongProperties(ValueError):
    """An unusable properties file; the message names the file and the line."""


def _whole_number_in(least: int, most: int = 2**63 - 1) -> Callable[[str], int]:
    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise ValueError("is a whole number") from None
        if not least <= number <= most:
            top = "or more" if most == 2**63 - 1 else f"to {most}"
            raise ValueError(f"is {least} {top}")
        return number

    return read


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("is true or false")
    return text.lower() == "true"


def _text(text: str) -> str:
    if not text:
        raise ValueError("is not empty")
    return text


def _listeners(text: str) -> str:
    protocol, mark, address = text.partition("://")
    host, colon, port = address.rpartition(":")
    if protocol != "PLAINTEXT" or not mark or not colon or not port.isdecimal():
        raise ValueError("is one listener such as PLAINTEXT://127.0.0.1:9092")
    if not host or int(port) > 65535:
        raise ValueError("names a host, and a port up to 65535")
    return text


def address_of(listener: str) -> tuple[str, int]:
    """InMemoryBroker and port of a listener such as PLAINTEXT://127.0.0.1:9092; ValueError."""
    return _address(_listeners(listener))


def _address(listener: str) -> tuple[str, int]:
    host, _, port = listener.partition("://")[2].rpartition(":")
    return host, int(port)


def connections_by_address(text: str) -> dict[str, int]:
    """Read ``max.connections.per.ip.overrides``, HOST:COUNT,...; ValueError."""
    found = {}
    for part in text.split(","):
        host, colon, count = part.strip().rpartition(":")
        if part.strip():
            if not colon or not host or not count.isdecimal():
                raise ValueError("is written as HOST:COUNT,HOST:COUNT")
            found[host] = int(count)
    return found


def _overrides(text: str) -> str:
    connections_by_address(text)
    return text


PROTOCOL, MESSAGE_FORMAT = "inter.broker.protocol.version", "log.message.format.version"

KNOWN: dict[str, tuple[Callable[[str], object], object]] = {
    "broker.id": (_whole_number_in(GENERATED), GENERATED),
    "broker.id.generation.enable": (_boolean, True),
    "reserved.broker.max.id": (_whole_number_in(0), 1000),
    "broker.rack": (_text, None),
    "listeners": (_listeners, "PLAINTEXT://127.0.0.1:9092"),
    "advertised.listeners": (lambda text: text and _listeners(text), ""),
    "zookeeper.connect": (_text, None),
    "zookeeper.session.timeout.ms": (
        _whole_number_in(1),
        lambda release: 18000 if release.since("2.5") else 6000,
    ),
    PROTOCOL: (_text, str),
    "log.dirs": (_text, None),
    "log.dir": (_text, None),
    "min.insync.replicas": (_whole_number_in(1), 1),
    "num.replica.fetchers": (_whole_number_in(1), 1),
    "replica.lag.time.max.ms": (
        _whole_number_in(1),
        lambda release: 30000 if release.since("2.5") else 10000,
    ),
    "replica.fetch.max.bytes": (_whole_number_in(0), 1 << 20),
    "replica.fetch.min.bytes": (_whole_number_in(0), 1),
    "replica.fetch.response.max.bytes": (_whole_number_in(0), 10 << 20),
    "replica.fetch.wait.max.ms": (_whole_number_in(0), 500),
    "replica.fetch.backoff.ms": (_whole_number_in(0), 1000),
    "replica.socket.timeout.ms": (_whole_number_in(1), 30000),
    "replica.high.watermark.checkpoint.interval.ms": (_whole_number_in(1), 5000),
    "log.flush.offset.checkpoint.interval.ms": (_whole_number_in(1), 60000),
    "max.connections": (_whole_number_in(0, 2**31 - 1), 2**31 - 1),
    "max.connections.per.ip": (_whole_number_in(0, 2**31 - 1), 2**31 - 1),
    "max.connections.per.ip.overrides": (_overrides, ""),
    "connections.max.idle.ms": (_whole_number_in(1), 600000),
    "socket.request.max.bytes": (_whole_number_in(1, 2**31 - 1), 100 << 20),
    "queued.max.requests": (_whole_number_in(1), 500),
    "queued.max.request.bytes": (_whole_number_in(-1), -1),
    "num.io.threads": (_whole_number_in(1), 8),
    "max.incremental.fetch.session.cache.slots": (_whole_number_in(0), SLOTS),
    "log.cleaner.enable": (_boolean, True),
    "log.cleaner.backoff.ms": (_whole_number_in(1), 15000),
    "log.cleaner.dedupe.buffer.size": (_whole_number_in(1 << 20), 128 << 20),
    "producer.id.expiration.check.interval.ms": (_whole_number_in(1), 600000),
    "transactional.id.expiration.ms": (_whole_number_in(1), 604800000),
    "log.retention.check.interval.ms": (_whole_number_in(1), 300000),
    "replication.quota.window.num": (_whole_number_in(1), 11),
    "replication.quota.window.size.seconds": (_whole_number_in(1), 1),
    "alter.log.dirs.replication.quota.window.num": (_whole_number_in(1), 11),
    "alter.log.dirs.replication.quota.window.size.seconds": (_whole_number_in(1), 1),
    "controller.socket.timeout.ms": (_whole_number_in(1), 30000),
    "controlled.shutdown.enable": (_boolean, True),
    "controlled.shutdown.max.retries": (_whole_number_in(0), 3),
    "controlled.shutdown.retry.backoff.ms": (_whole_number_in(0), 5000),
    "auto.leader.rebalance.enable": (_boolean, True),
    "leader.imbalance.per.broker.percentage": (_whole_number_in(0), 10),
    "leader.imbalance.check.interval.seconds": (_whole_number_in(1), 300),
    "auto.create.topics.enable": (_boolean, True),
    "num.partitions": (_whole_number_in(1), 1),
    "default.replication.factor": (_whole_number_in(1), 1),
    "offsets.topic.num.partitions": (_whole_number_in(1), 50),
    "offsets.topic.replication.factor": (_whole_number_in(1), 3),
    "offsets.topic.segment.bytes": (_whole_number_in(1), 100 << 20),
    "offsets.commit.timeout.ms": (_whole_number_in(1), 5000),
    "offset.metadata.max.bytes": (_whole_number_in(0), 4096),
    "group.initial.rebalance.delay.ms": (
        _whole_number_in(0),
        lambda release: 3000 if release.since("0.11") else 0,
    ),
    "group.min.session.timeout.ms": (_whole_number_in(1), 6000),
    "group.max.session.timeout.ms": (
        _whole_number_in(1),
        lambda release: 1800000 if release.since("2.3") else 300000,
    ),
    "group.max.size": (_whole_number_in(1), 2**31 - 1),
    "delete.topic.enable": (_boolean, lambda release: release.since("1.0")),
    "unclean.leader.election.enable": (_boolean, lambda release: not release.since("0.11")),
}
"""By name: how a value is read, and what holds without one (or by the release)."""

LOG_KEYS = frozenset(
    name for name in LOG_FIELDS if name.startswith(("log.", "message.max", "log.message"))
)
"""The properties of logs, under a broker's names."""

SHORTER = {
    "log.retention.hours": ("log.retention.ms", 3_600_000),
    "log.retention.minutes": ("log.retention.ms", 60_000),
    "log.roll.hours": ("log.roll.ms", 3_600_000),
}
"""Other names for times, with the milliseconds in one of their units."""

OF_THE_CLUSTER = {
    "broker.id": "--broker-ids says it",
    "broker.rack": "--racks says it",
    "listeners": "--listeners says it",
    "advertised.listeners": "--listeners says it",
    "zookeeper.connect": "--zookeeper says it",
    "log.dirs": "each broker has a directory of its own",
    "log.dir": "each broker has a directory of its own",
}
"""What brokers that share a file do not have in common, and what says it instead."""

TOPIC_KEYS = frozenset(
    (
        *(name for name in LOG_FIELDS if not name.startswith("log.")),
        "min.insync.replicas",
        "unclean.leader.election.enable",
        "leader.replication.throttled.replicas",
        "follower.replication.throttled.replicas",
        *ONLY_KEPT,
    )
) - {"message.max.bytes"}
"""What may be set for a topic of its own (``LogConfig.configNames``), some of it without effect."""


@dataclass(frozen=True)
class BrokerProperties:
    """The properties of a broker, with the defaults of its release."""

    release: Release
    values: Mapping[str, object]
    log: LogConfig
    given: Mapping[str, str] = field(default_factory=dict)

    @property
    def without_effect(self) -> dict[str, str]:
        """The given properties that Kafka has and this broker does not support, with the reason."""
        return {name: REASON_OF[name] for name in sorted(self.given) if name in REASON_OF}

    def whole_number(self, name: str) -> int:
        """The value of a property that is an integer."""
        value = self.values[name]
        assert isinstance(value, int), f"{name} is no number"
        return value

    @property
    def protocol(self) -> Release:
        """``inter.broker.protocol.version``."""
        return Release.of(self.text("inter.broker.protocol.version").partition("-IV")[0])

    def truth(self, name: str) -> bool:
        """The value of a boolean property."""
        return bool(self.values[name])

    def text(self, name: str) -> str:
        """The value of a text property; empty if it is not set."""
        value = self.values[name]
        return "" if value is None else str(value)

    @property
    def log_dirs(self) -> list[str]:
        """The log directories: ``log.dirs``, else ``log.dir``, separated by commas."""
        chosen = self.text("log.dirs") or self.text("log.dir")
        return [part.strip() for part in chosen.split(",") if part.strip()]

    @property
    def address(self) -> tuple[str, int]:
        """The host and port on which the broker listens."""
        return _address(self.text("listeners"))

    @property
    def advertised(self) -> tuple[str, int] | None:
        """The address of ``advertised.listeners``, as of a proxy; None if it is not set."""
        text = self.text("advertised.listeners")
        return _address(text) if text else None


def read_properties(path: Path, release: Release) -> BrokerProperties:
    """Read a file of ``name=value`` lines; WrongProperties names file, line and the correction."""
    return parse_properties(str(path), _text_of(path), release)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise WrongProperties(f"{path}: {error.strerror}; name a properties file") from error
    except UnicodeDecodeError as error:
        raise WrongProperties(f"{path}: byte {error.start}: is no UTF-8 text") from error


def settings_in(path: Path, release: Release) -> tuple[dict[str, str], list[str]]:
    """The cluster-wide properties in a Kafka properties file, and, by name, a sentence for each
    property that is ignored or has no effect.

    Properties of a single broker (`OF_THE_CLUSTER`) are not taken from a shared file; unknown names
    are ignored, as in Kafka (``AbstractConfig.logUnused``). WrongProperties for a wrong value.
    """
    text, name = _text_of(path), str(path)
    known, said = dict[str, tuple[int, str]](), list[str]()
    for key, (number, value) in _lines(name, text).items():
        if key in OF_THE_CLUSTER:
            said.append(f"{name}:{number}: {key} is left out: {OF_THE_CLUSTER[key]}")
        elif key in REASON_OF:
            known[key] = number, value
            said.append(f"{name}:{number}: {key} has no effect here: {REASON_OF[key]}")
        elif key in KNOWN or key in LOG_KEYS or key in SHORTER:
            known[key] = number, value
        else:
            said.append(
                f"{name}:{number}: {key} is no property of a broker, and is left out"
                f"{_suggestion(key)}"
            )
    needed = {"zookeeper.connect": (0, "h:1"), "log.dirs": (0, "d")}
    _checked(name, known | needed, release)
    return {key: value for key, (_, value) in known.items()}, said


def parse_properties(name: str, text: str, release: Release) -> BrokerProperties:
    """Like ``read_properties``, from a text; ``name`` is the file name in messages."""
    return _checked(name, _lines(name, text), release)


def _lines(name: str, text: str) -> dict[str, tuple[int, str]]:
    """By name, the line's number and the value; what is said last counts."""
    lines: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        bare = line.strip()
        if not bare or bare[0] in "#!":
            continue
        key, equals, value = bare.partition("=")
        if not equals:
            raise _error_at_line(name, number, f"{bare!r} is no property; write name=value")
        lines[key.strip()] = number, value.strip()
    return lines


def _checked(name: str, lines: dict[str, tuple[int, str]], release: Release) -> BrokerProperties:
    values: dict[str, object] = {
        key: default(release) if callable(default) else default
        for key, (_, default) in KNOWN.items()
    }
    log = LogConfig()
    _check_versions(name, lines, release)
    for key, (number, value) in sorted(lines.items(), key=_coarse_first):
        if key in REASON_OF:
            continue
        if key in KNOWN:
            try:
                values[key] = KNOWN[key][0](value)
            except ValueError as error:
                raise _error_at_line(name, number, f"{key} {error}, not {value!r}") from error
        elif key in LOG_KEYS or key in SHORTER:
            known, scale = SHORTER.get(key, (key, 1))
            try:
                scaled = value if scale == 1 else str(max(-1, _whole_number_in(-1)(value) * scale))
                log = log.but({known: scaled})
            except ValueError as error:
                why = str(error) if key == known else f"{key}: {error}"
                raise _error_at_line(name, number, why) from error
        else:
            raise _error_at_line(
                name, number, f"{key} is no property of a broker{_suggestion(key)}"
            )
    if values["zookeeper.connect"] is None:
        raise WrongProperties(f"{name}: zookeeper.connect is missing; write zookeeper.connect=H:P")
    if values["log.dirs"] is None and values["log.dir"] is None:
        raise WrongProperties(f"{name}: log.dirs is missing; write log.dirs=FOLDER[,FOLDER]")
    given = {key: value for key, (_, value) in lines.items()}
    return BrokerProperties(release, values, log, given)


def _check_versions(name: str, lines: Mapping[str, tuple[int, str]], release: Release) -> None:
    """A protocol and a message format that the release knows, and that go together; else
    WrongProperties, with Kafka's reason (``KafkaConfig.validateValues``).
    """
    known = {}
    for key in (PROTOCOL, MESSAGE_FORMAT):
        if key in lines:
            try:
                known[key] = api_version(lines[key][1], release)
            except ValueError as error:
                raise _error_at_line(name, lines[key][0], f"{key}: {error}") from error
    if PROTOCOL not in known:
        return
    number, spoken = lines[PROTOCOL]
    line, internal = known[PROTOCOL]
    if internal != api_version(".".join(map(str, line)), release)[1]:
        raise _error_at_line(
            name, number, f"{PROTOCOL}: {spoken} lies between releases, and is not spoken"
        )
    newest = newest_version(release)
    text = lines[MESSAGE_FORMAT][1] if MESSAGE_FORMAT in known else newest
    if not release.since("1.0"):
        if known[PROTOCOL] < api_version(text, release):
            raise _error_at_line(
                name,
                number,
                f"{MESSAGE_FORMAT} {text} cannot be used when {PROTOCOL} is set to {spoken}",
            )
    elif magic_of(spoken) < (magic := magic_of(text)):
        least = ("0.10.0", "0.11.0")[magic - 1] + ("" if release.since("2.0") else "-IV0")
        raise _error_at_line(
            name,
            number,
            f"{MESSAGE_FORMAT} {text} can only be used when {PROTOCOL} is set to version "
            f"{least} or higher",
        )


def _coarse_first(line: tuple[str, tuple[int, str]]) -> tuple[int, int]:
    """Hours before minutes before milliseconds: the finest that is given counts, wherever."""
    key, (number, _) = line
    return -SHORTER.get(key, (key, 1))[1], number


def _suggestion(key: str) -> str:
    names = sorted({*KNOWN, *LOG_KEYS, *SHORTER})
    close = difflib.get_close_matches(key, names, n=1, cutoff=0.4)
    return f"; did you mean {close[0]}?" if close else ""


def _error_at_line(name: str, number: int, why: str) -> WrongProperties:
    return WrongProperties(f"{name}:{number}: {why}")
