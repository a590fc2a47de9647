"""Finds log files: which files are logs, whose they are, and in which order they were written.

A cluster is a folder: the one given, or each of its sub-folders when these are clusters of their
own. Sub-folders are brokers of one cluster when each holds the lines of one broker only, no broker
has two of them, and no two name different cluster ids; but if brokers name both ids, their
ZooKeeper was replaced, and they are one cluster.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from conformance.ingest import message_prefixes
from conformance.ingest.layouts import plain_text
from conformance.ingest.reader import (
    PACKED,
    DamagedError,
    UnreadableError,
    bytes_of,
    head_of,
    why_closed,
)
from conformance.ingest.transaction_log import is_transaction_log

_LOG_NAME = re.compile(r"(?P<base>.+?\.(?:log|out))(?:[.\-_](?P<suffix>.+))?")
# A file of a day or an hour, as log4j 2 names it in some installations: `server-2024-03-01-10.log`.
_DATED_FIRST = re.compile(
    r"(?P<stem>.+?)[.\-_](?P<date>\d{4}-?\d\d-?\d\d(?:[.\-_]\d+)*)\.(?P<sort>log|out)"
)
_STAMPED = re.compile(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[,.]\d{3}\] [A-Z]+ +(.*)$", re.MULTILINE)
_CLUSTER_ID = re.compile(r"Cluster ID ?[=:] ?([\w-]{20,24})")
_CLUSTER_ID_BYTES = re.compile(rb"Cluster ID ?[=:] ?([\w-]{22})(?![\w-])")
_LONGEST_ID = 64  # bytes of a line that names one, up to its end
_STATED_ID = re.compile(r"^\s+broker\.id = (\d+)$", re.MULTILINE)
_OTHER_LOGS = (
    (re.compile(r".*gc\.log.*"), "is the log of the garbage collector"),
    (re.compile(r"zookeeper.*|zkServer.*"), "is ZooKeeper's own log"),
    (re.compile(r"hs_err_.*"), "is a crash report of the JVM"),
    (re.compile(r"protocol-\d+\.log"), "is what `insync kafka trace` reads"),
    (re.compile(r"printed\.out"), "is what a process of ours printed beside its logs"),
    (re.compile(r"insync\.log"), "is what a broker of ours says that Kafka has no line for"),
    (
        re.compile(r"\d{20}\.log(?:\.deleted|\.cleaned|\.swap)?"),
        "is a segment of a partition; see `insync inspect`",
    ),
)
_ARCHIVE = re.compile(r".*\.(?:tar(?:\.\w+)?|tgz|tbz2?|txz|zip|7z|rar)")
# Logs that say nothing of the protocol, and are empty in most installations.
_MAY_BE_EMPTY = re.compile(r"(?:kafka-request|kafka-authorizer|log-cleaner)\.log.*")
HOLDS_NO_LOG = "holds no log; name the folder of controller.log, state-change.log and server.log"
TRACE_MARK = '"insync.trace/'
_PEEKED = 12  # files of a folder that are opened to tell whose it is


@dataclass(frozen=True)
class LogFile:
    """One log file, its path, and its position among its neighbours."""

    cluster: str
    name: str  # as shown, and as it was given
    path: str
    folder: str
    stream: str  # the files that one log was rolled into share it
    roll: int = 0  # place in the stream; the oldest is 0
    gap_before: bool = False  # a numbered file is missing between this and the one before


@dataclass(frozen=True)
class Skipped:
    """A file or folder that was skipped, and why."""

    name: str
    reason: str


class NotAFileError(Exception):
    """A path that is neither a file nor a folder."""


@dataclass(frozen=True)
class LogSources:
    """The content of the given paths. `closed` should have been read, but could not be."""

    logs: tuple[LogFile, ...] = ()
    traces: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    closed: tuple[Skipped, ...] = ()


def discover(paths: Sequence[str]) -> LogSources:
    """Sorts the files under `paths` into logs, traces and the rest.

    A file that is named is always read; in a folder, files that are no logs are skipped. Raises
    FileNotFoundError, naming the path, when one does not exist, NotAFileError for a pipe or a
    device, which cannot be read twice.
    """
    logs: list[LogFile] = []
    traces: list[str] = []
    left = _Left()
    for path in paths:
        try:
            mode = os.lstat(path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            raise FileNotFoundError(path) from None
        except OSError:
            continue  # reading it will say why
        if stat.S_ISLNK(mode) and os.path.exists(path):
            mode = os.stat(path).st_mode
        if not (stat.S_ISLNK(mode) or stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
            raise NotAFileError(path)
    paths = list({os.path.realpath(path): path for path in reversed(paths)}.values())[::-1]
    named = [path for path in paths if not os.path.isdir(path)]
    for path in named:
        if is_trace(path):
            traces.append(path)
    files = [path for path in named if path not in traces]
    if files:
        folder = os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in files])
        logs += _ordered(os.path.basename(folder) or "logs", files)
    units: list[tuple[str, list[str]]] = []
    for path in paths:
        if os.path.isdir(path):
            inside: list[str] = []
            known = len(traces) + len(left.closed)
            for each in _inside(path, (os.path.realpath(path),), left):
                (traces if is_trace(each) else inside).append(each)
            if not inside and len(traces) + len(left.closed) == known:
                left.closed.append(Skipped(path, HOLDS_NO_LOG))
            units += _units(path, inside)
    for cluster, inside in _clusters(units):
        logs += _ordered(cluster, inside)
    unique = {os.path.realpath(log.path): log for log in logs}
    skipped, closed = tuple(left.skipped), tuple(left.closed)
    return LogSources(tuple(unique.values()), tuple(dict.fromkeys(traces)), skipped, closed)


def is_trace(path: str) -> bool:
    """Whether a file's first line says that it is a recorded trace of ours."""
    try:
        return TRACE_MARK in head_of(path, 512).split("\n", 1)[0]
    except UnreadableError:
        return False


@dataclass
class _Left:
    """What a walk through folders skips: files that are no logs, and unreadable ones."""

    skipped: list[Skipped] = field(default_factory=list)
    closed: list[Skipped] = field(default_factory=list)


def _inside(folder: str, roots: tuple[str, ...], left: _Left) -> Iterator[str]:
    """The logs and traces in a folder, in order. `roots` are the enclosing folders being read."""
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        left.closed.append(Skipped(folder, why_closed(error)))
        return
    folders = []
    for name in names:
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            folders.append(name)
            continue
        reason = _not_a_log(path, name)
        if reason is None or (os.path.isfile(path) and is_trace(path)):
            yield path
        else:
            left.skipped.append(Skipped(path, reason))
    for name in folders:
        path = os.path.join(folder, name)
        real = os.path.realpath(path)
        if name.startswith("."):
            left.skipped.append(Skipped(path, "is hidden"))
        elif not os.path.islink(path):
            yield from _inside(path, roots, left)
        elif any(_overlap(real, root) for root in roots):
            # Else a link to a folder around it would be followed for ever.
            left.skipped.append(Skipped(path, "is a link to a folder that is being read anyway"))
        else:
            yield from _inside(path, (*roots, real), left)


def _overlap(one: str, other: str) -> bool:
    return os.path.commonpath([one, other]) in (one, other)


def _not_a_log(path: str, name: str) -> str | None:
    if name.startswith("."):
        return "is hidden"
    if os.path.exists(path) and not os.path.isfile(path):
        return "is no regular file"
    if is_transaction_log(path):
        return None
    for pattern, reason in _OTHER_LOGS:
        if pattern.fullmatch(name):
            return reason
    named = _LOG_NAME.fullmatch(usual_name(name)) is not None
    try:
        head = plain_text(head_of(path, 4096))
    except UnreadableError as error:
        if _MAY_BE_EMPTY.fullmatch(name):
            return f"{str(error).split(';')[0]}, and says nothing of the protocol"
        head = ""
    if named or _STAMPED.search(head):
        return None
    return "is an archive; unpack it first" if _ARCHIVE.fullmatch(name) else "is no log"


def usual_name(name: str) -> str:
    """A file's default name in log4j, `server.log.2024-03-01-10`, without a compression suffix."""
    name = PACKED.sub("", name).removesuffix(".txt").replace(".log.txt.", ".log.")
    dated = _DATED_FIRST.fullmatch(name)
    return f"{dated['stem']}.{dated['sort']}.{dated['date']}" if dated else name


def _ordered(cluster: str, paths: Iterable[str]) -> list[LogFile]:
    """Log files of one cluster with their places: dates ascend, numbers descend, plain is last."""
    placed = []
    for path in paths:
        folder, name = os.path.split(path)
        found = _LOG_NAME.fullmatch(usual_name(name))
        base = found["base"] if found else usual_name(name)
        suffix = (found["suffix"] or "") if found else ""
        number = int(suffix) if suffix.isdigit() and len(suffix) < 6 else None
        age = (2, "", 0) if not suffix else (0, suffix, 0) if number is None else (1, "", -number)
        whole = os.path.abspath(path)  # where Spark's workers find it, wherever they stand
        file = LogFile(cluster, path, whole, folder, os.path.join(folder, base))
        placed.append((file.stream, age, number, file))
    placed.sort(key=lambda each: (each[0], each[1], each[3].name))
    ordered: list[LogFile] = []
    for _, stream in groupby(placed, key=lambda each: each[0]):
        before: int | None = None
        for roll, (_, _, number, file) in enumerate(stream):
            gap = before is not None and (number or 0) not in (before - 1, before)
            ordered.append(replace(file, roll=roll, gap_before=gap))
            before = number
    return ordered


def _units(folder: str, inside: list[str]) -> list[tuple[str, list[str]]]:
    """The folder as one unit, or its sub-folders as one unit each."""
    parts: dict[str, list[str]] = {}
    for path in inside:
        first = Path(os.path.relpath(path, folder)).parts
        parts.setdefault(first[0] if len(first) > 1 else "", []).append(path)
    if not inside:
        return []
    name = os.path.basename(os.path.abspath(folder))
    whole = [(name, inside)]
    if "" in parts or len(parts) == 1 or _one_cluster(parts.values()):
        return whole
    return sorted(parts.items())


def _clusters(units: list[tuple[str, list[str]]]) -> Iterator[tuple[str, list[str]]]:
    """Several given folders are one cluster when they are its brokers' folders.

    ZooKeeper's transactions belong to the one cluster whose logs are there; with several clusters,
    to the one in whose folder they are.
    """
    kept = [[path for path in inside if is_transaction_log(path)] for _, inside in units]
    logs = [
        (name, [path for path in inside if path not in transactions])
        for (name, inside), transactions in zip(units, kept, strict=True)
    ]
    clusters = dict(_clusters_of_logs([(name, inside) for name, inside in logs if inside]))
    of_brokers = [name for name, inside in clusters.items() if _peek(inside)[0]] or [*clusters]
    for (name, _), transactions in zip(units, kept, strict=True):
        if transactions:
            whose = of_brokers[0] if len(of_brokers) == 1 else name
            clusters[whose] = [*clusters.get(whose, ()), *transactions]
    yield from clusters.items()


def _clusters_of_logs(units: list[tuple[str, list[str]]]) -> Iterator[tuple[str, list[str]]]:
    if len(units) > 1 and _one_cluster(inside for _, inside in units):
        every = [path for _, inside in units for path in inside]
        common = os.path.commonpath([os.path.abspath(path) for path in every])
        yield os.path.basename(common) or "logs", every
        return
    names: dict[str, int] = {}
    for name, inside in units:
        names[name] = names.get(name, 0) + 1
        yield (name if names[name] == 1 else f"{name} ({names[name]})"), inside


def _one_cluster(of_parts: Iterable[list[str]]) -> bool:
    parts = [*of_parts]
    brokers: set[int] = set()
    clusters: set[str] = set()
    for inside in parts:
        named, ids = _peek(inside)
        if len(named) > 1 or named & brokers:
            return False
        brokers |= named
        clusters |= ids
    return len(clusters) <= 1 or _are_linked([_ids_in(inside) for inside in parts])


def _are_linked(groups: list[set[str]]) -> bool:
    """Whether each group of cluster ids shares one with another, so that all are one cluster.

    A new ZooKeeper gives its cluster another id (KIP-78); brokers that saw both log both.
    """
    linked, apart = set[str](), [group for group in groups if group]
    while apart:
        joins = [group for group in apart if not linked or group & linked]
        if not joins:
            return False
        linked |= joins[0]
        apart.remove(joins[0])
    return True


def _ids_in(paths: list[str]) -> set[str]:
    """All cluster ids anywhere in these files."""
    found: set[bytes] = set()
    for path in paths:
        tail = b""
        try:
            for piece in bytes_of(path, checked=False):
                found.update(_CLUSTER_ID_BYTES.findall(tail + piece))
                tail = piece[-_LONGEST_ID:]
        except (UnreadableError, DamagedError):
            continue
    return {one.decode() for one in found}


def _peek(paths: list[str]) -> tuple[set[int], set[str]]:
    """Brokers and cluster ids in the first lines of some of the files."""
    brokers: set[int] = set()
    clusters: set[str] = set()
    step = max(1, len(paths) // _PEEKED)
    for path in paths[::step]:
        try:
            head = plain_text(head_of(path))
        except UnreadableError:
            continue
        brokers |= {int(number) for number in _STATED_ID.findall(head)}
        clusters |= set(_CLUSTER_ID.findall(head))
        for message in _STAMPED.findall(head):
            said, _ = message_prefixes.split_prefix(message)
            if "broker" in said:
                brokers.add(said["broker"])
    return brokers, clusters
