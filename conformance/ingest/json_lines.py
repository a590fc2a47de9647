"""Reads lines that are JSON objects: a JSON layout, or a log line inside one of the values.

Fields are recognized by their values: the logger has a name like those of Kafka's loggers, the time
parses as a time, and the message is the rest. Sources of the tested shapes: JsonLayout,
JsonTemplateLayout and GelfLayout of log4j 2, logstash-logback, ECS, Docker's json-file driver,
journald, Loki, CloudWatch, Google's and Azure's exports, Filebeat, Fluent Bit, Vector, Splunk.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from conformance.ingest.record_parts import (
    KAFKA,
    LEVEL,
    LEVELS,
    STAMP,
    full_name,
    short_names,
    stamp,
)

Path = tuple[str | int, ...]
"""Keys, from the outermost in; a number is a place in a list."""

_DATES = ("@timestamp", "timestamp", "time", "timemillis", "datetime", "date", "instant", "ts")
_MESSAGES = ("message", "msg", "short_message", "text", "body", "log", "line")
_SAMPLED = 100  # objects by which is learned what is where
_TRIED = 4
_SHORT = 200  # characters of a name
_SYSLOG = ("FATAL", "FATAL", "FATAL", "ERROR", "WARN", "INFO", "INFO", "DEBUG")  # RFC 5424, 0 to 7
_UNITS = ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (1e20, 1e9))  # a number below is in such parts
_RECORD = re.compile(rf"\b(?:{LEVEL})\b")


def value_at(line: str, path: Path) -> Any:
    """The value at a path of a line; None if the line is no object or has nothing there."""
    return _at(_object(line), path)


def texts_of(line: str) -> Iterator[tuple[Path, str]]:
    """The short texts of an object, which may identify the line's process, and their paths."""
    for path, value in _leaves(_object(line)):
        if isinstance(value, str) and len(value) <= _SHORT:
            yield path, value


def packed_paths(lines: Iterable[str]) -> list[tuple[Path, bool]]:
    """Paths at which the objects may have whole lines, the most likely first.

    Each comes with whether a text there ends as a line does.
    """
    counts: dict[Path, int] = {}
    ended: set[Path] = set()
    for said in _objects(lines):
        for path, value in _leaves(said):
            if isinstance(value, str):
                begins = value.startswith("{") or STAMP.search(value[:400]) is not None
                counts[path] = counts.get(path, 0) + (
                    begins and (value.startswith("{") or _RECORD.search(value) is not None)
                )
                if value.endswith("\n"):
                    ended.add(path)
    likely = sorted((path for path in counts if counts[path]), key=lambda path: -counts[path])
    return [(path, path in ended) for path in likely[:_TRIED]]


def json_layout(lines: Iterable[str]) -> Callable[[Iterable[str]], Iterator[str]] | None:
    """The function that converts lines of a JSON layout to Kafka's; None if they are of none."""
    fields = _fields(_objects(lines))
    return None if fields is None else fields.plain


@dataclass(frozen=True)
class _Fields:
    """The JSON paths of the parts of a record."""

    date: Path
    level: Path | None
    logger: Path
    message: Path

    def plain(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            said = _object(line)
            found = None if said is None else self._record(said)
            yield line if found is None else found

    def _record(self, said: dict[str, Any]) -> str | None:
        when = _when(_at(said, self.date))
        logger, message = _at(said, self.logger), _at(said, self.message)
        if when is None or not isinstance(message, str) or not isinstance(logger, str):
            return None
        level = None if self.level is None else _at(said, self.level)
        return f"[{when}] {_level(level)} {message} ({full_name(logger)})"


def _fields(objects: list[dict[str, Any]]) -> _Fields | None:
    values: dict[Path, list[Any]] = {}
    for said in objects:
        for path, value in _leaves(said):
            values.setdefault(path, []).append(value)
    texts = {path: each for path, each in values.items() if all(isinstance(v, str) for v in each)}
    loggers = {path: sum(map(_is_logger, each)) for path, each in texts.items()}
    logger = min(
        (path for path, count in loggers.items() if count),
        key=lambda path: (not re.search("logger|category", _name(path)), -loggers[path], path),
        default=None,
    )
    if logger is None:
        return None
    message = min(
        (path for path in texts if path != logger and _name(path) in _MESSAGES),
        key=lambda path: (path[:-1] != logger[:-1], len(path), _MESSAGES.index(_name(path))),
        default=None,
    )
    if message is None:
        return None
    dates = [path for path, each in values.items() if _when(each[0]) is not None]
    date = min(
        (path for path in dates if path not in (logger, message) and _is_time(path, values[path])),
        key=lambda path: (path[:-1] != message[:-1], _rank(_name(path), _DATES), path),
        default=None,
    )
    level = min(
        (path for path in values if re.search("level|severity|lvl|priority", _name(path))),
        key=lambda path: (not isinstance(values[path][0], str), path[:-1] != message[:-1], path),
        default=None,
    )
    return None if date is None else _Fields(date, level, logger, message)


def _is_logger(value: str) -> bool:
    return KAFKA.fullmatch(value) is not None or value in short_names()


def _is_time(path: Path, each: list[Any]) -> bool:
    """Whether values are times: numbers only if their name says so."""
    return (
        not isinstance(each[0], int | float) or re.search("time|date|ts", _name(path)) is not None
    )


def _rank(name: str, names: tuple[str, ...]) -> int:
    return names.index(name) if name in names else len(names)


def _name(path: Path) -> str:
    return str(path[-1]).lower()


def _level(value: Any) -> str:
    if isinstance(value, int) or (isinstance(value, str) and value.isdigit()):
        return _SYSLOG[int(value)] if int(value) < len(_SYSLOG) else "INFO"
    level = str(value or "INFO").upper()
    return LEVELS.get(level, level)


def _when(value: Any) -> str | None:
    """A time in Kafka's layout, from text, a number or log4j's `instant`."""
    if isinstance(value, dict):
        second, nano = value.get("epochSecond"), value.get("nanoOfSecond", 0)
        if not isinstance(second, int) or not isinstance(nano, int):
            return None
        return stamp(f"{second}{nano // 1_000_000:03d}")
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str):
        return stamp(value)
    unit = next((unit for limit, unit in _UNITS if 1e8 < value < limit), None)
    if unit is None:
        return None
    millis = round(value * 1000 / unit)
    moment = datetime.fromtimestamp(millis // 1000, UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S},{millis % 1000:03d}"


def _objects(lines: Iterable[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for line in lines:
        said = _object(line)
        if said is not None:
            found.append(said)
            if len(found) >= _SAMPLED:
                break
    return found


def _object(line: str) -> dict[str, Any] | None:
    if not line.startswith("{"):
        return None
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _leaves(said: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The paths and values of all leaves; log4j's `instant`, an object, counts as a leaf."""
    if isinstance(said, dict) and "epochSecond" not in said:
        for key, value in said.items():
            yield from _leaves(value, (*path, key))
    elif isinstance(said, list) and len(said) == 1:
        yield from _leaves(said[0], (*path, 0))
    elif path:
        yield path, said


def _at(said: Any, path: Path) -> Any:
    for key in path:
        if isinstance(key, int):
            said = said[key] if isinstance(said, list) and len(said) == 1 else None
        else:
            said = said.get(key) if isinstance(said, dict) else None
    return said
