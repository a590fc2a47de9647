"""Parses one log file into typed rows: the expensive part of ingestion, as a plain function.

Every line is exactly one of: the stamped line of an event, a continuation of a stamped line, or
rejected with a reason. So for every file, lines read = events + continuation + rejected.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa

from conformance.ingest.dialects import NOTE, Dialect, dialect_for, skeleton
from conformance.ingest.layouts import in_kafkas_layout
from conformance.ingest.log4j import NO_STAMP, LogRecord, records
from conformance.ingest.notation import Template
from conformance.ingest.reader import (
    EMPTY,
    DamagedError,
    UnreadableError,
    lines_of,
    without_nuls,
)
from conformance.ingest.schema import EVENT, FILE, LINES, REJECTED
from conformance.ingest.sources import Sources, sources_of
from conformance.ingest.statements import is_protocol
from conformance.ingest.transaction_log import is_transaction_log
from conformance.ingest.znode_rows import parsed_transactions

Parsed = tuple[
    str, str, int, int | None, int, str, str, str, Template, dict[str, Any], tuple[str, ...]
]
"""Cluster, file, line, time, lines, level, logger, text, template, what the head says, and what
the template's holes hold, as text."""
Said = Parsed | dict[str, Any]
"""An event, or a row of the schema `LINES` for what is none."""

BATCH = 20_000
UNKNOWN_TEMPLATE = "unknown template"
NOT_KAFKA = "is not a log of a Kafka broker; its lines end in (kafka....) or (state.change.logger)"
NO_RECORD = "has no line in Kafka's layout, `[2024-03-01 10:00:00,000] INFO message (logger)`"

_BROKER_ID = re.compile(r"^\s*broker\.id = (\d+)\s*$", re.MULTILINE)
_LOG_DIRS = re.compile(r"^\s*log\.dirs? = (?!null\s*$)(\S.*?)\s*$", re.MULTILINE)
_KAFKA = re.compile(r"(?:kafka\.|state\.change\.logger|org\.apache\.kafka\.)")
_APPENDERS = {
    "state-change": re.compile(r"state\.change\.logger"),
    "controller": re.compile(r"kafka\.controller(?:\.|$)"),
}
_HARMLESS = (EMPTY, NOT_KAFKA)
_MOST_UNKNOWN = 500  # lines of a file that fit no template, whose places are kept
_OF_FILES = frozenset(("configuration", "release"))  # kinds that tell of the whole file
_SHOWN = 500
_RECENT = 500  # stamped lines of which one that comes again, out of order, is known again
STRAYED = 2  # lines at most that name another writer, of a log that is not shared
MANY = 10  # times as many lines name the one whose log it is
STRAYED_NOTE = "strayed_note"
"""A note that names another writer than the lines before it: whose it is, a rule asks."""
_STRETCH = 2  # lines that follow such a line as they did before
_JUMP = 60_000  # milliseconds; stamps that go back further show files that were put together
_STRAY = Template(STRAYED_NOTE, STRAYED_NOTE, "", "")


@dataclass
class FileCounts:
    """The numbers of lines in one file, by what became of them."""

    events: int = 0
    continuation: int = 0
    rejected: int = 0
    protocol: int = 0
    kafka: int = 0
    stamped: int = 0
    brokers: Counter[int] = field(default_factory=Counter)  # lines that name each as their writer
    release: str | None = None
    stated_id: int | None = None
    since: int | None = None
    until: int | None = None
    nuls: int = 0  # lines with NUL bytes in them
    jumps: list[int] = field(default_factory=list)
    recent: deque[str] = field(default_factory=lambda: deque(maxlen=_RECENT))
    distance: int = 0  # back to the line that the last one repeated, out of order
    begins: int = 0  # where that one stands
    again: int = 0  # lines after it that repeated what stood at the same distance
    holes: list[int] = field(default_factory=list)  # lines in whose place others may have stood
    unknown: int = 0  # of these, lines that fit no template
    hole_times: list[int] = field(default_factory=list)  # the stamp before each, or 0
    appender: str = ""  # of the last line
    turns: int = 0  # how often a line is of another appender than the one before it
    one_writer: bool = False
    turned: tuple[str, int | None, str] | None = None

    @property
    def read(self) -> int:
        """Lines read: always computed as the sum of its parts, so that it can be tested."""
        return self.events + self.continuation + self.rejected

    def hole(self, line: int) -> None:
        """Notes that the text at a line cannot be read."""
        self.holes.append(line)
        self.hole_times.append(self.until or 0)

    def is_rare_broker(self, broker: int) -> bool:
        """Whether few lines so far name a broker, and many name another one."""
        few = self.brokers[broker]
        return few <= STRAYED and max(self.brokers.values()) >= MANY * few

    def turn(self, appender: str, record: LogRecord) -> None:
        """Notes that a record is of another appender than the one before it.

        A process that writes to one file alternates between both within a millisecond. If files
        were merged by stamp, one file's lines of a millisecond come after the other's; if they were
        merged by text too, the lines are in the order of the text.
        """
        within = self.until == record.at and bool(self.appender)
        if within and self.turned is not None:
            name, at, text = self.turned
            self.one_writer |= name == appender and at == record.at and record.text < text
        self.turned = (self.appender, record.at, self.recent[-1]) if within else None
        self.turns += bool(self.appender)
        self.appender = appender

    def stamp(self, record: LogRecord) -> None:
        """Notes the time of a record, and whether the lines jump back to an earlier one."""
        before, text = self.until, record.text
        if jumps_back(before, record.at):
            self.jumps.append(record.line)
        elif self.distance and self.recent[-self.distance] == text:
            # In a stretch of lines that stands there twice, as a shipper may send it.
            self.again += 1
            if self.again == _STRETCH:
                self.jumps.append(self.begins)
        else:
            self.distance, self.again = 0, 0
            if before is not None and (record.at or 0) < before and text in self.recent:
                self.distance = len(self.recent) - self.recent.index(text)
                self.begins = record.line
        self.recent.append(text)
        self.since = record.at if self.since is None else self.since
        self.until = record.at


def jumps_back(before: int | None, at: int | None) -> bool:
    """Whether a stamp is so much older than the previous one that files were concatenated."""
    return before is not None and at is not None and at < before - _JUMP


def rows_of_file(
    cluster: str, file: str, path: str, release: str | None = None, layout: str | None = None
) -> Iterator[dict[str, Any]]:
    """Rows of the schema `LINES`, one by one, from the result of `parsed_file`."""
    return map(row_of, parsed_file(cluster, file, path, release, layout))


def parsed_file(
    cluster: str, file: str, path: str, release: str | None = None, layout: str | None = None
) -> Iterator[Said]:
    """Events and rejected lines as they come, the file's own row last; for `batches`.

    `file` is the name to show, `path` the file's path, `layout` the log4j pattern of its lines, if
    it is not recognised. Never raises because of the file: what is wrong with it is the `reason`
    in its last row.
    """
    if is_transaction_log(path):
        yield from parsed_transactions(cluster, file, path)
        return
    tally = FileCounts()
    counted = _Counted(lines_of(path))
    reason: str | None = None
    try:
        sources = sources_of(path, layout)
        lines = in_kafkas_layout(counted, layout)
        yield from parsed_lines(cluster, file, lines, dialect_for(release), tally, sources)
    except UnreadableError as error:
        reason = str(error)
    except DamagedError as error:
        reason = f"{error} after line {counted.number}; copy it again, whole"
    if reason is None:
        reason = what_is_wrong(tally)
    yield {
        "what": FILE,
        "cluster": cluster,
        "file": file,
        "reason": reason,
        "read": counted.number,
        "events": tally.events,
        "continuation": tally.continuation,
        "rejected": tally.rejected,
        "protocol": tally.protocol,
        "since": tally.since,
        "until": tally.until,
        "jumps": tally.jumps,
        "holes": tally.holes,
        "hole_times": tally.hole_times,
        "nuls": tally.nuls,
        "turns": tally.turns,
        "one_writer": tally.one_writer,
        "brokers": sorted(tally.brokers),
        "named": [count for _, count in sorted(tally.brokers.items())],
        "release": tally.release,
        "stated_id": tally.stated_id,
    }


def rows_of_lines(
    cluster: str, file: str, lines: Iterable[str], dialect: Dialect, tally: FileCounts
) -> Iterator[dict[str, Any]]:
    """Rows of the schema `LINES`, one by one, from the result of `parsed_lines`."""
    return map(row_of, parsed_lines(cluster, file, lines, dialect, tally))


def parsed_lines(
    cluster: str,
    file: str,
    lines: Iterable[str],
    dialect: Dialect,
    tally: FileCounts,
    sources: Sources | None = None,
) -> Iterator[Said]:
    """The events and the rejected lines among `lines`; `tally` is filled meanwhile.

    `sources` gives the broker of lines that name none, where several brokers wrote the file.
    """
    match = dialect.match
    processes = None if sources is None else sources.processes
    for record in records(_mended(lines, tally), processes):
        tally.continuation += record.continuation
        if record.problem is not None:
            tally.rejected += 1
            if record.problem != NO_STAMP:
                tally.hole(record.line)
            yield _rejected(cluster, file, record, record.problem, record.problem)
            continue
        tally.stamped += 1
        kafka, protocol, appender = _facts(record.logger)
        if appender != tally.appender:
            tally.turn(appender, record)
        tally.stamp(record)
        tally.kafka += kafka
        tally.protocol += protocol
        known = match(record.logger, record.message)
        if known is None:
            tally.rejected += 1
            if tally.unknown < _MOST_UNKNOWN:
                tally.unknown += 1
                tally.hole(record.line)  # it may be the line that another one looks for
            shape = skeleton(record.logger, record.message)
            yield _rejected(cluster, file, record, UNKNOWN_TEMPLATE, shape)
            continue
        tally.events += 1
        template, said, values = known
        if template.kind in _OF_FILES:
            said, values = said | template.columns(values), ()
            if template.kind == "configuration":
                said = _configured(record, said, tally)
            else:
                tally.release = said["detail"]
            template = dialect.without_columns(template)
        place = template.broker_place
        broker = said.get("broker") if place is None else int(values[place])
        if broker is None and sources is not None:
            writer = sources.broker(record.line)
            said = said if writer is None else said | {"broker": writer}
        if broker is not None:
            tally.brokers[broker] += 1
            if template.kind == NOTE and len(tally.brokers) > 1 and tally.is_rare_broker(broker):
                template = _STRAY
        yield (
            cluster, file, record.line, record.at, 1 + record.continuation, record.level,
            record.logger, record.text, template, said, values,
        )  # fmt: skip


def row_of(parsed: Said) -> dict[str, Any]:
    """Converts a result of `parsed_lines` to a row of the schema `LINES`, without nulls."""
    if isinstance(parsed, dict):
        return parsed
    cluster, file, line, at, lines, level, logger, text, template, said, values = parsed
    held = template.columns(values)
    again = _again(held.get("again"), held) or _again(_named(said), held)
    return {
        "what": EVENT, "cluster": cluster, "file": file, "line": line, "at": at, "lines": lines,
        "level": level, "logger": logger, "kind": template.kind, "template": template.name,
        "digest": digest(text),
    } | said | held | ({"again": again} if again or "again" in held else {})  # fmt: skip


def _named(head: Mapping[str, Any]) -> str | None:
    """The partition in the prefix of a line."""
    return f"{head['topic']}-{head['partition']}" if "topic" in head else None


def _again(name: str | None, held: Mapping[str, Any]) -> str | None:
    """A partition's second name in a line, if it differs from the partition of the line."""
    if name is None or "topic" not in held:
        return None
    return name if name != f"{held['topic']}-{held['partition']}" else None


def batches(parsed: Iterable[Said], size: int = BATCH) -> Iterator[pa.RecordBatch]:
    """The results of `parsed_lines` or `parsed_file` as Arrow batches of the schema `LINES`.

    Events come in batches of their own, in order, and so do notes (which no rule reads) and the
    other rows.
    """
    events: list[Parsed] = []
    notes: list[Parsed] = []
    rest = _EventColumns()
    for each in parsed:
        if isinstance(each, tuple):
            kept = notes if each[8].kind == NOTE else events
            kept.append(each)
            if len(kept) >= size:
                yield _events(kept)
                kept.clear()
                if rest.size:  # files that were read to their end, which progress is measured by
                    yield rest.batch()
                    rest = _EventColumns()
        else:
            rest.add(each)
            if rest.size >= size:
                yield rest.batch()
                rest = _EventColumns()
    for kept in events, notes:
        if kept:
            yield _events(kept)
    if rest.size:
        yield rest.batch()


def _events(parsed: list[Parsed]) -> pa.RecordBatch:
    """Events, column by column: the values of a template's holes are converted all at once."""
    columns = _EventColumns(len(parsed))
    cluster, file, line, at, lines, level, logger, texts, templates, heads, values = zip(
        *parsed, strict=True
    )
    columns.whole("what", [EVENT] * len(parsed))
    for name, each in (
        ("cluster", cluster), ("file", file), ("line", line), ("at", at), ("lines", lines),
        ("level", level), ("logger", logger),
    ):  # fmt: skip
        columns.whole(name, each)
    columns.whole("kind", [template.kind for template in templates])
    columns.whole("template", [template.name for template in templates])
    columns.whole("digest", list(map(digest, texts)))
    alike: dict[int, list[int]] = {}
    headed: dict[tuple[int, int], list[int]] = {}
    for number, (template, head) in enumerate(zip(templates, heads, strict=True)):
        alike.setdefault(id(template), []).append(number)
        if head:
            headed.setdefault((id(head), id(template)), []).append(number)
    for rows in alike.values():
        template = templates[rows[0]]
        texts_held = zip(*(values[number] for number in rows), strict=True)
        held = {
            name: list(map(convert, each))
            for (name, convert), each in zip(template.readers, texts_held, strict=True)
        }
        if "again" in held:
            held["again"] = [
                None if name == f"{topic}-{partition}" else name
                for name, topic, partition in zip(
                    held["again"], held["topic"], held["partition"], strict=True
                )
            ]
        for name, each_held in held.items():
            columns.some(name, rows, each_held)
    for rows in headed.values():
        template, head = templates[rows[0]], heads[rows[0]]
        named = template.column_names
        for name, value in head.items():
            if name not in named:
                columns.some(name, rows, [value] * len(rows))
        if "topic" in head and "topic" in named:
            other = _named(head)
            differ = [n for n in rows if _again(other, template.columns(values[n])) is not None]
            columns.some("again", differ, [other] * len(differ))
    return columns.batch()


def digest(text: str) -> int:
    """A signed 64-bit fingerprint of a stamped line."""
    raw = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(raw, "big", signed=True)


def _mended(lines: Iterable[str], tally: FileCounts) -> Iterator[str]:
    """Removes the NUL bytes that a file system leaves in lines where it lost data."""
    for number, line in enumerate(lines, 1):
        if "\0" in line:
            tally.nuls += 1
            tally.hole(number)
            line = without_nuls(line)
        yield line


class _Counted:
    """Lines, counted as they are passed on: an independent count for the identity."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.number += 1
            yield line


@lru_cache(maxsize=65536)
def _facts(logger: str) -> tuple[bool, bool, str]:
    """Whether a logger is one of Kafka's, whether each of its lines must be understood, and the
    file to which Kafka's configuration sends it (`config/log4j.properties`)."""
    appender = next((name for name, loggers in _APPENDERS.items() if loggers.match(logger)), "")
    return _KAFKA.match(logger) is not None, is_protocol(logger), appender or "server"


def _rejected(
    cluster: str, file: str, record: LogRecord, reason: str, shape: str
) -> dict[str, Any]:
    return {
        "what": REJECTED,
        "cluster": cluster,
        "file": file,
        "line": record.line,
        "at": record.at,
        "logger": record.logger or None,
        "reason": reason,
        "template": shape,
        "text": record.text[:_SHOWN],
    }


def _configured(record: LogRecord, columns: dict[str, Any], tally: FileCounts) -> dict[str, Any]:
    """The broker id and log directories in the configuration dump of a process that just started.

    `log.dirs` comes after `log.dir`, which it overrules where it is not null.
    """
    directories = _LOG_DIRS.findall(record.message)
    if directories:
        columns = columns | {"detail": directories[-1]}
    found = _BROKER_ID.search(record.message)
    if found is None:
        return columns
    tally.stated_id = int(found[1])
    return columns | {"broker": tally.stated_id}


def is_harmless_skip(reason: str) -> bool:
    """Whether a file was read completely and only has no events: it is reported, and does not
    affect the verdict.
    """
    return reason in _HARMLESS


def what_is_wrong(tally: FileCounts) -> str | None:
    """Why a file with these counts is not a complete broker log; None when it is."""
    if not tally.stamped:
        return NO_RECORD if tally.read else EMPTY
    return None if tally.kafka else NOT_KAFKA


class _EventColumns:
    """Rows by column. Most columns are empty in most rows, so each stores which rows it fills."""

    def __init__(self, size: int = 0) -> None:
        self.size = size
        self._filled: dict[str, tuple[list[int], list[Any]]] = {}
        self._whole: dict[str, Sequence[Any]] = {}

    def add(self, row: dict[str, Any]) -> None:
        """Appends a row."""
        number = self.size
        self.size = number + 1
        for name, value in row.items():
            self.some(name, (number,), (value,))

    def whole(self, name: str, values: Sequence[Any]) -> None:
        """A column of all rows."""
        self._whole[name] = values

    def some(self, name: str, rows: Sequence[int], values: Sequence[Any]) -> None:
        """The values of some rows in a column."""
        try:
            numbers, held = self._filled[name]
        except KeyError:
            numbers, held = self._filled[name] = [], []
        numbers.extend(rows)
        held.extend(values)

    def batch(self) -> pa.RecordBatch:
        """All rows as one batch of the schema `LINES`."""
        return pa.RecordBatch.from_arrays([self._array(each) for each in LINES], schema=LINES)

    def _array(self, column: pa.Field) -> pa.Array:
        if column.name in self._whole:
            return pa.array(self._whole[column.name], type=column.type)
        rows, values = self._filled.get(column.name, ((), ()))
        if not rows:
            return pa.nulls(self.size, column.type)
        found = pa.array(values, type=column.type)
        index = np.zeros(self.size, np.int32)
        empty = np.ones(self.size, np.bool_)
        index[rows] = np.arange(len(rows), dtype=np.int32)
        empty[rows] = False
        return found.take(pa.array(index, mask=empty))
