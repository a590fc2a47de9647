"""Kafka's own lines rewritten as strangers have them: behind prefixes, in JSON, in other patterns.

A layout takes the records of a log and gives lines, each with the line of the log that it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

_RECORD = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3})\] ([A-Z]+) +(.*)$")
_LOGGER = re.compile(r" \(([A-Za-z_][\w.$/-]*)\)$")

Lines = list[tuple[str, int]]
"""Lines, each with the number that it had in Kafka's layout."""


@dataclass(frozen=True)
class LoggedRecord:
    """A record of a log: its lines as they are, and its parts."""

    line: int
    lines: tuple[str, ...]
    second: str
    thousandths: str
    level: str
    message: str
    logger: str
    stack: tuple[str, ...]  # lines behind the one that ends with the logger

    @property
    def own(self) -> str:
        return f"{self.second},{self.thousandths}"

    @property
    def utc(self) -> str:
        return f"{self.second.replace(' ', 'T')}.{self.thousandths}Z"

    @property
    def moment(self) -> datetime:
        return datetime.fromisoformat(self.second).replace(tzinfo=UTC)

    @property
    def millis(self) -> int:
        return int(self.moment.timestamp()) * 1000 + int(self.thousandths)


def records(lines: Iterable[str]) -> list[LoggedRecord]:
    """The records of a log in Kafka's layout; lines before the first are left out."""
    groups: list[tuple[int, list[str]]] = []
    for number, line in enumerate(lines, 1):
        if _RECORD.match(line):
            groups.append((number, [line]))
        elif groups:
            groups[-1][1].append(line)
    return [_record(number, group) for number, group in groups]


def _record(number: int, lines: list[str]) -> LoggedRecord:
    last = next(n for n, line in enumerate(lines) if _LOGGER.search(line))
    logger = _LOGGER.search(lines[last])
    begun = _RECORD.match("\n".join(lines[:1]))
    assert logger is not None
    assert begun is not None
    parts = [begun[4], *lines[1 : last + 1]]
    parts[-1] = parts[-1].removesuffix(logger[0])
    return LoggedRecord(
        number, tuple(lines), begun[1], begun[2], begun[3], "\n".join(parts), logger[1],
        tuple(lines[last + 1 :]),
    )  # fmt: skip


Layout = Callable[[list[LoggedRecord]], Lines]


def before(prefix: Callable[[LoggedRecord], str]) -> Layout:
    """A prefix before each line."""
    return lambda found: [
        (prefix(each) + line, each.line + n) for each in found for n, line in enumerate(each.lines)
    ]


def around(layout: Layout, prefix: str) -> Layout:
    """A prefix before each line of another layout."""
    return lambda found: [(prefix + line, number) for line, number in layout(found)]


def below(layout: Layout, *head: str) -> Layout:
    """Lines that a container's start has written before Kafka's."""
    return lambda found: [*((line, 0) for line in head), *layout(found)]


def pattern(form: Callable[[LoggedRecord], str]) -> Layout:
    """A log4j pattern: stack traces stand below."""

    def lines(each: LoggedRecord) -> list[str]:
        return [*form(each).split("\n"), *each.stack]

    return lambda found: [
        (line, each.line + n) for each in found for n, line in enumerate(lines(each))
    ]


def objects(form: Callable[[LoggedRecord], Mapping[str, Any]]) -> Layout:
    """A JSON object for each record."""
    return lambda found: [(json.dumps(form(each)), each.line) for each in found]


def packed(form: Callable[[LoggedRecord, str], Mapping[str, Any]]) -> Layout:
    """A JSON object for each line."""
    return lambda found: [
        (json.dumps(form(each, line)), each.line + n)
        for each in found
        for n, line in enumerate(each.lines)
    ]


def _day(each: LoggedRecord) -> str:
    return f"{each.moment:%b %d %H:%M:%S}"


OWN = before(lambda each: "")
STRIMZI = pattern(
    lambda each: f"{each.own} {each.level} {each.message} ({each.logger}) [kafka-request-handler-1]"
)
LOGSTASH = objects(lambda each: {
    "@timestamp": each.utc, "@version": "1", "message": each.message, "logger_name": each.logger,
    "thread_name": "main", "level": each.level, "level_value": 20000,
    **({"stack_trace": "\n".join(each.stack)} if each.stack else {}),
})  # fmt: skip
_CYAN, _PLAIN = "\x1b[36m", "\x1b[0m"
_BITNAMI = (
    "\x1b[38;5;6mkafka \x1b[38;5;5m13:55:10.24 \x1b[0m\x1b[0m",
    "\x1b[38;5;6mkafka \x1b[38;5;5m13:55:10.25 \x1b[0m\x1b[38;5;2mINFO \x1b[0m ==> ** Starting **",
    "kafka 13:55:10.25 INFO  ==> Initializing Kafka...",
)
_CONFLUENT = (
    "===> User", "uid=1000(appuser) gid=1000(appuser) groups=1000(appuser)", "===> Configuring ...",
    "===> Running preflight checks ... ", "===> Check if Zookeeper is healthy ...",
    "===> Launching ... ", "===> Launching kafka ... ",
)  # fmt: skip
_ZOOKEEPER = tuple(
    f"2024-03-01 09:59:{n // 10:02},{n % 10}00 [myid:1] - INFO  [main:QuorumPeer@{n}] - Reading"
    for n in range(500)
)

PREFIXES: dict[str, Layout] = {
    "compose with times": before(lambda each: f"broker-1  | {each.utc} "),
    "compose": before(lambda each: "broker-1  | "),
    "compose 1": below(before(lambda each: "broker_1    | "), "Attaching to broker_1, zk_1"),
    "compose 1 with times": before(lambda each: f"broker_1    | {each.utc} "),
    "compose in colours": before(lambda each: f"{_CYAN}broker-1  | {_PLAIN}"),
    "compose in colours with times": before(lambda each: f"{_CYAN}broker-1  | {_PLAIN}{each.utc} "),
    "compose 1 in colours": before(lambda each: f"{_CYAN}broker_1    |{_PLAIN} "),
    "compose in bold, to a terminal": before(lambda each: "\x1b[1;36mbroker-1  |\x1b[0m\x1b[K "),
    "compose below ZooKeeper": around(below(OWN, *_ZOOKEEPER), "broker-1  | "),
    "docker with details": before(lambda each: f"{each.utc} com.docker.service=kafka "),
    "swarm": before(lambda each: f"{each.utc} kafka_kafka.1.x7ab2@node1    | "),
    "kubectl with times": before(lambda each: f"[pod/kafka-0/kafka] {each.utc} "),
    "stern": before(lambda each: "my-kafka-0 kafka "),
    "stern with times": before(lambda each: f"prod my-kafka-0 kafka {each.utc} "),
    "stern in colours": before(lambda each: "\x1b[95mkafka-0\x1b[0m \x1b[95mkafka\x1b[0m "),
    "kail": before(lambda each: "default/kafka-0[kafka]: "),
    "journal": below(before(lambda each: f"{_day(each)} host kafka[123]: "), "-- Logs begin at --"),
    "journal, iso": before(lambda each: f"{each.second.replace(' ', 'T')}+0000 host kafka[123]: "),
    "journal, precise": before(lambda each: f"{_day(each)}.{each.thousandths}456 host kafka[12]: "),
    "journal, full": before(lambda each: f"Sun {each.second} UTC host kafka[123]: "),
    "journal, unix": before(lambda each: f"{each.millis / 1000:.6f} host kafka[123]: "),
    "journal, monotonic": before(lambda each: f"[{each.millis % 100000 / 1000:12.6f}] host k[1]: "),
    "syslog": before(lambda each: f"<30>{_day(each)} host kafka[123]: "),
    "syslog with structured data": before(
        lambda each: f'<14>1 {each.utc} host kafka 123 - [a@1 b="c d"][x@2 y="z"] '
    ),
    "Loki": before(lambda each: f'{each.utc} {{app="kafka", pod="kafka-0"}} '),
    "Grafana": before(lambda each: f"{each.millis}\t{each.utc}\t"),
    "CloudWatch": before(lambda each: f"{each.utc[:-1]}000+00:00 kafka/kafka/0123abc "),
    "line numbers": lambda found: [
        (f"{n:6d}\t{line}", number) for n, (line, number) in enumerate(OWN(found), 1)
    ],
    "parallel ssh": before(lambda each: "[node1] out: "),
    "a tag": before(lambda each: "node1\t"),
    "quoted twice": before(lambda each: "> > "),
    "CSV": lambda found: [
        ((f'"{each.utc}","kafka-0","' if n == 0 else "") + line.replace('"', '""')
         + ('"' if n == len(each.lines) - 1 else ""), each.line + n)
        for each in found for n, line in enumerate(each.lines)
    ],
    "Strimzi in kubectl": around(STRIMZI, "[pod/kafka-0/kafka] "),
    "Strimzi in stern": around(STRIMZI, "my-kafka-0 kafka "),
    "Strimzi in a runtime": around(STRIMZI, "2024-03-01T10:00:00.110000000Z stdout F "),
    "Bitnami": below(OWN, *_BITNAMI),
    "Bitnami in compose": around(below(OWN, *_BITNAMI), f"{_CYAN}kafka_1  |{_PLAIN} "),
    "Confluent": below(OWN, *_CONFLUENT),
    "Confluent in compose": around(below(OWN, *_CONFLUENT), "broker          | "),
    "logstash in compose": around(LOGSTASH, "broker-1  | "),
    "all in one colour": before(lambda each: "\x1b[32m"),
    "carriage returns": lambda found: [(line + "\r", number) for line, number in OWN(found)],
}  # fmt: skip

PATTERNS: dict[str, Layout] = {
    "Strimzi": STRIMZI,
    "Strimzi's start": below(STRIMZI, "STRIMZI_BROKER_ID=0", "broker.id=0", "+ exec /usr/bin/tini"),
    "a level in colour": pattern(
        lambda each: f"[{each.own}] \x1b[32m{each.level}\x1b[m {each.message} ({each.logger})"
    ),
    "a thread in Kafka's own": pattern(
        lambda each: f"[{each.own}] {each.level} [pid=12] {each.message} ({each.logger})"
    ),
}

OBJECTS: dict[str, Layout] = {
    "logstash": LOGSTASH,
    "ECS": objects(lambda each: {
        "@timestamp": each.utc, "ecs.version": "1.2.0", "log.level": each.level,
        "message": each.message, "process.thread.name": "main", "log.logger": each.logger,
    }),
    "ECS, nested": objects(lambda each: {
        "@timestamp": each.utc, "log": {"level": each.level, "logger": each.logger},
        "message": each.message,
    }),
    "JsonLayout": objects(lambda each: {
        "instant": {"epochSecond": each.millis // 1000,
                    "nanoOfSecond": each.millis % 1000 * 1_000_000},
        "thread": "main", "level": each.level, "loggerName": each.logger, "message": each.message,
        "thrown": {"message": "m", "extendedStackTrace": "\n".join(each.stack)},
    }),
    "JsonEventLayoutV1": objects(lambda each: {
        "@timestamp": each.utc, "source_host": "h", "file": "X.scala", "level": each.level,
        "logger_name": each.logger, "message": each.message, "class": "kafka.utils.Logging$class",
        "mdc": {},
    }),
    "GelfLayout": objects(lambda each: {
        "version": "1.1", "host": "h", "timestamp": each.millis / 1000,
        "level": {"ERROR": 3, "WARN": 4, "INFO": 6}.get(each.level, 7), "_thread": "main",
        "_logger": each.logger, "short_message": each.message,
    }),
    "keys of one's own": objects(lambda each: {
        "ts": each.millis / 1000, "lvl": each.level.lower(), "logger": each.logger,
        "text": each.message,
    }),
    "Google's template": objects(lambda each: {
        "timestamp": each.utc, "severity": each.level, "message": each.message,
        "_logger": each.logger, "_thread": "main",
    }),
    "Google, an object in its export": objects(lambda each: {
        "jsonPayload": {"message": each.message, "logger": each.logger, "level": each.level,
                        "timestamp": each.utc},
        "timestamp": "2031-01-01T00:00:00Z", "severity": "INFO",
    }),
    "Docker, of logstash": objects(lambda each: {
        "log": LOGSTASH([each])[0][0] + "\n", "stream": "stdout", "time": each.utc,
    }),
    "Filebeat, lines put together": objects(lambda each: {
        "@timestamp": each.utc, "message": "\n".join(each.lines), "log": {"offset": 1},
    }),
}  # fmt: skip

PACKED: dict[str, Layout] = {
    "stern": packed(lambda each, line: {"message": line, "podName": "kafka-0"}),
    "journal": packed(lambda each, line: {"MESSAGE": line, "PRIORITY": "6", "_HOSTNAME": "h"}),
    "Loki": packed(lambda each, line: {
        "labels": {"app": "kafka", "pod": "kafka-0"}, "line": line, "timestamp": each.utc,
    }),
    "CloudWatch": packed(lambda each, line: {"timestamp": each.millis, "message": line}),
    "CloudWatch's query": packed(lambda each, line: {"@timestamp": each.utc, "@message": line}),
    "a subscription of CloudWatch": packed(lambda each, line: {
        "owner": "1", "logEvents": [{"id": "1", "timestamp": each.millis, "message": line}],
    }),
    "Google": packed(lambda each, line: {"textPayload": line, "timestamp": each.utc}),
    "Google, in an object": packed(lambda each, line: {"jsonPayload": {"message": line}}),
    "Azure": packed(lambda each, line: {"TimeGenerated": each.utc, "LogEntry": line}),
    "Filebeat": packed(lambda each, line: {
        "@timestamp": each.utc, "message": line, "log": {"file": {"path": "/var/log/k.log"}},
    }),
    "Elastic": packed(lambda each, line: {"_source": {"@timestamp": each.utc, "message": line}}),
    "Splunk": packed(lambda each, line: {"result": {"_raw": line, "_time": each.utc}}),
    "Fluent Bit": packed(lambda each, line: {"date": each.millis / 1000, "log": line}),
    "Datadog": packed(lambda each, line: {"content": {"timestamp": each.utc, "message": line}}),
}  # fmt: skip
