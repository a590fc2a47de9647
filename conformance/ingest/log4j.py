"""Groups numbered lines into log4j records, in Kafka's layout `[%d] %p %m (%c)%n`.

A record is a stamped line with the unstamped lines after it: a stack trace, a dump of the
configuration, a message with line feeds in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from conformance.ingest.reader import LONGEST

_STAMP = re.compile(
    r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[,.](\d{3})\] +"
    r"(?:(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\s+)?"
)
_LOGGER = re.compile(r"(?:^|\s)\(([A-Za-z_][\w.$/-]*)\)\s*$")
_LAST_OF_LINE = re.compile(r"\s\(([A-Za-z_][\w.$/-]*)\)[ \t\r]*\n")
_KEPT = 1000  # continuation lines kept of a message that goes on; the rest are counted only

TOO_LONG = f"longer than {LONGEST >> 20} MiB"
NO_STAMP = "no stamped line before it"
NO_TIME = "its stamp is no time"
NO_LEVEL = "a stamp, but no level after it"
NO_LOGGER = "no logger at the end of the message"


@dataclass(slots=True)
class LogRecord:
    """A stamped line and its continuation. `problem` says why it is no log4j record."""

    line: int
    text: str
    at: int | None = None
    level: str = ""
    message: str = ""
    logger: str = ""
    problem: str | None = None
    continuation: int = 0
    more: list[str] | None = None

    @property
    def is_open(self) -> bool:
        """Whether the message continues in the next lines, which will end with its logger."""
        return not self.logger and self.problem is None


def records(lines: Iterable[str], processes: Sequence[int] | None = None) -> Iterator[LogRecord]:
    """Groups numbered lines; every line is in exactly one record.

    `processes`: the process that wrote each line, where several processes' lines alternate. A line
    outside every record is a record of its own with a `problem`. Errors of the reader pass through,
    after the record that was being read.
    """
    current: LogRecord | None = None
    others: dict[int, LogRecord | None] = {}
    process = 0
    try:
        for number, line in enumerate(lines, 1):
            if processes is not None:
                others[process] = current
                process = processes[number - 1] if number <= len(processes) else process
                current = others.pop(process, None)
            # Most lines that continue a record are distinguished from its first by one character.
            started = _start(number, line) if line[:1] == "[" or len(line) > LONGEST else None
            if started is not None:
                if current is not None:
                    yield _closed(current)
                current = started
            elif current is None or current.problem in (TOO_LONG, NO_STAMP):
                # What follows a line that could not be read cannot be said to belong to it.
                if current is not None:
                    yield current
                current = LogRecord(number, line, problem=NO_STAMP)
            else:
                current.continuation += 1
                if not current.logger:
                    if current.more is None:
                        current.more = []
                    if len(current.more) < _KEPT:
                        current.more.append(line)
    except Exception:
        yield from _last(current, others)
        raise
    yield from _last(current, others)


def _last(current: LogRecord | None, others: dict[int, LogRecord | None]) -> Iterator[LogRecord]:
    """The records that end with the last line, in order."""
    opened = [each for each in (current, *others.values()) if each is not None]
    yield from map(_closed, sorted(opened, key=lambda each: each.line))


def starts_record(line: str) -> bool:
    """Whether a line is the first of a record, good or bad, and not a continuation."""
    return _start(1, line) is not None


def _start(number: int, line: str) -> LogRecord | None:
    if len(line) > LONGEST:
        return LogRecord(number, line, problem=TOO_LONG)
    stamp = _STAMP.match(line)
    if stamp is None:
        return None
    moment, fraction, level = stamp.groups()
    second = _second(moment)
    if second is None:
        return LogRecord(number, line, problem=NO_TIME)
    at = second + int(fraction)
    if level is None:
        return LogRecord(number, line, at=at, problem=NO_LEVEL)
    begins = stamp.end()
    if line[-1] == ")":
        opened = line.rfind(" (")
        if opened >= begins - 1:
            logger = _logger(line[opened:])
            if logger is not None:
                return LogRecord(number, line, at, level, line[begins:opened], logger)
    if "\n" in line:  # a whole record, out of a JSON object: a stack trace stands behind its logger
        found = _LAST_OF_LINE.search(line, begins)
        if found is not None:
            return LogRecord(number, line, at, level, line[begins : found.start()], found[1])
    return LogRecord(number, line, at, level, line[begins:])


@lru_cache(maxsize=4096)
def _logger(text: str) -> str | None:
    """The logger at the end of a line: ` (kafka.log.Log)`."""
    found = _LOGGER.match(text)
    return found[1] if found else None


def _closed(record: LogRecord) -> LogRecord:
    """Finds the logger of a message of several lines, and joins its first lines."""
    if not record.is_open:
        return record
    for count, line in enumerate(record.more or ()):
        found = _LOGGER.search(line)
        if found is not None:
            record.logger = found[1]
            parts = [record.message, *(record.more or ())[:count], line[: found.start()]]
            record.message = "\n".join(parts)
            return record
    record.problem = NO_LOGGER
    return record


@lru_cache(maxsize=4096)
def _second(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return None
    return int(moment.timestamp()) * 1000
