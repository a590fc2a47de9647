"""Follows log files that grow, roll and are compressed meanwhile: how far each was read.

A file is identified by its log and first line, even after renaming or compression. Batches end at a
record boundary. When several files lag, their batches end at about the same time, so that one
broker's lines are judged together with the other brokers' lines of that time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import count
from typing import Any

from conformance.ingest.files import LogFile, LogSources, NotAFileError, Skipped, discover
from conformance.ingest.reader import (
    CHUNK,
    DamagedError,
    UnreadableError,
    bytes_of,
    is_binary,
    is_packed,
    why_closed,
)
from conformance.ingest.transaction_log import is_transaction_log

MOST = 64 << 20  # bytes that are handed on at once, of all files together
_LEAST = 1 << 20  # of one file, so that each goes forward
_FIRST_LINE = 1 << 16
_STAMPED = re.compile(rb"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[,.]\d{3})\] [A-Z]+ +", re.MULTILINE)
_HAS_LOGGER = re.compile(rb"\s\([A-Za-z_][\w.$/-]*\)\s*$", re.MULTILINE)
QUIET = 2  # triggers without anything new, after which nothing waits for more
BINARY = "is binary or UTF-16; only UTF-8 is followed, insync check reads UTF-16"
SHORTER = "is shorter than what was read of it; it was cut or replaced"


@dataclass(frozen=True)
class FileProgress:
    """How far one file was read, in bytes of uncompressed text."""

    cluster: str
    stream: str
    folder: str
    roll: int
    gap_before: bool = False
    bytes: int = 0
    lines: int = 0
    loose: bool = True  # no stamped line before, to which an unstamped one could belong
    reason: str | None = None  # why nothing after this can be read


@dataclass(frozen=True)
class ReadOffsets:
    """How far all files were read, by the names of `logs_by_name`."""

    files: Mapping[str, FileProgress] = field(default_factory=dict)
    quiet: int = 0  # triggers since anything was written or read; stays at QUIET
    size: int = 0  # bytes on disk, of all files

    @classmethod
    def of_json(cls, said: Mapping[str, Any]) -> ReadOffsets:
        """Restores the result of `as_data`."""
        return cls(
            {name: FileProgress(**reach) for name, reach in said.get("files", {}).items()},
            int(said.get("quiet", 0)),
            int(said.get("size", 0)),
        )


@dataclass(frozen=True)
class FileChunk:
    """A part of one file to parse: from byte `since` up to byte `until`."""

    name: str
    path: str
    since: FileProgress
    until: FileProgress


@dataclass
class _Look:
    """New text of one file, and whether more follows."""

    name: str
    reach: FileProgress
    text: bytes
    more: bool
    reason: str | None = None


def logs_by_name(found: LogSources) -> dict[str, LogFile]:
    """The logs with a complete first line, by a name that stays the same when they are rolled.

    ZooKeeper's transaction logs have no lines, and are not followed.
    """
    names: dict[str, LogFile] = {}
    for log in found.logs:
        if is_transaction_log(log.path):
            continue
        try:
            first = _first_line(log.path)
        except (UnreadableError, DamagedError):
            continue
        if first is None:
            continue
        name = f"{log.stream}@{blake2b(first, digest_size=4).hexdigest()}"
        free = (name if n == 0 else f"{name}+{n}" for n in count())
        names[next(each for each in free if each not in names)] = log
    return names


def discover_now(folder: str) -> LogSources:
    """The present content of the folder; nothing while the folder does not exist."""
    try:
        return discover([folder])
    except (FileNotFoundError, NotAFileError):
        return LogSources()


def next_offset(
    folder: str, start: ReadOffsets, final: bool = False, most: int = MOST
) -> ReadOffsets:
    """How far the files can be read now. `final` treats the present content as complete."""
    logs = logs_by_name(discover_now(folder))
    files = _with_new(start.files, logs)
    newest = {log.stream: name for name, log in logs.items()}  # in order: the last one stays
    limit = max(_LEAST, most // max(1, len(logs)))
    size = sum(os.path.getsize(log.path) for log in logs.values() if os.path.exists(log.path))
    patient = size != start.size or start.quiet < QUIET - 1
    looks = []
    for name, log in logs.items():
        whole = final or newest[log.stream] != name
        if files[name].reason is None:
            looks.append(_look(name, log, files[name], limit, whole or not patient, whole))
    _align(looks)
    for look in looks:
        if look.text or look.reason:
            files[look.name] = _reached(look)
    if files != start.files or size != start.size:
        return ReadOffsets(files, 0, size)
    return ReadOffsets(files, min(QUIET, start.quiet + 1), size)


def chunks(folder: str, start: ReadOffsets, end: ReadOffsets) -> list[FileChunk]:
    """The chunks to parse between two offsets; a chunk of a missing file has that as its reason."""
    logs = logs_by_name(discover_now(folder))
    found = []
    for name, until in end.files.items():
        since = start.files.get(name, replace(until, bytes=0, lines=0, loose=True, reason=None))
        if since == until and name in start.files:
            continue
        log = logs.get(name)
        if log is None:
            until = replace(until, reason="is gone; it was removed before it was read")
        found.append(FileChunk(name, "" if log is None else log.path, since, until))
    return found


def closed(folder: str) -> list[Skipped]:
    """Files that cannot be read now. A log that is still empty is not among them."""
    found = list(discover_now(folder).closed)
    for log in discover_now(folder).logs:
        try:
            next(bytes_of(log.path), None)
        except UnreadableError as error:
            if os.path.exists(log.path) and os.path.getsize(log.path):
                found.append(Skipped(log.name, str(error)))
    return found


def text_of(chunk: FileChunk) -> Iterator[bytes]:
    """The bytes of a chunk, in pieces. Raises UnreadableError and DamagedError."""
    if chunk.path:
        yield from _from(chunk.path, chunk.since.bytes, chunk.until.bytes - chunk.since.bytes)


def _with_new(
    known: Mapping[str, FileProgress], logs: Mapping[str, LogFile]
) -> dict[str, FileProgress]:
    files = dict(known)
    for name, log in logs.items():
        if name not in files:
            rolls = [each.roll for each in files.values() if each.stream == log.stream]
            roll = max(rolls, default=-1) + 1
            files[name] = FileProgress(log.cluster, log.stream, log.folder, roll, log.gap_before)
    return files


def _first_line(path: str) -> bytes | None:
    """The first line; None while it is still being written."""
    head = b""
    try:
        for piece in bytes_of(path, checked=False):
            head += piece
            if b"\n" in head or len(head) >= _FIRST_LINE:
                break
    except DamagedError:
        pass
    line, ended, _ = head.partition(b"\n")
    return line[:_FIRST_LINE] if ended or len(head) >= _FIRST_LINE else None


def _look(
    name: str, log: LogFile, reach: FileProgress, limit: int, patience_ends: bool, whole: bool
) -> _Look:
    """New text of a file. `whole`: nothing will be added, so its last line needs no line feed."""
    look = _Look(name, reach, b"", False)
    packed = is_packed(log.path)
    if not packed:
        try:
            size = os.path.getsize(log.path)
        except OSError:
            return look
        if size <= reach.bytes:
            look.reason = SHORTER if size < reach.bytes else None
            return look
    text = bytearray()
    try:
        for piece in _from(log.path, reach.bytes, None):
            text += piece
            if len(text) > limit and b"\n" in text:
                look.more = True
                break
    except DamagedError as error:
        # A file that is just being copied ends too early as well.
        packed = False
        if patience_ends:
            look.reason = f"{error} after line {{line}}; copy it again, whole"
    except UnreadableError as error:
        look.reason = str(error)
    if reach.bytes == 0 and is_binary(bytes(text)):
        look.reason = BINARY
        return look
    ends = len(text) if (whole or packed) and not look.more else text.rfind(b"\n") + 1
    look.text = bytes(text[:ends])
    if not (patience_ends or packed):
        look.text = look.text[: _closed_end(look.text)]
    return look


def _closed_end(text: bytes) -> int:
    """The start of the last record if its logger is still missing; else the end of the text."""
    last = None
    end = len(text)
    while end > 0:
        start = text.rfind(b"\n[", 0, end) + 1
        if _STAMPED.match(text, start):
            last = start
            break
        end = start - 1 if start else 0
    if last is None or _HAS_LOGGER.search(text, last):
        return len(text)
    return last


def _align(looks: list[_Look]) -> None:
    """Cuts the texts at the moment up to which the files that have more were read."""
    moments = []
    for look in looks:
        if look.more:
            stamps = _STAMPED.findall(look.text)
            if stamps:
                moments.append((stamps[-1], look.name))
    if not moments:
        return
    moment, slowest = min(moments)
    for look in looks:
        if look.name == slowest:
            continue  # even if its clock goes back: something has to go forward
        later = (found for found in _STAMPED.finditer(look.text) if found[1] > moment)
        first = next(later, None)
        if first is not None:
            look.text, look.reason = look.text[: first.start()], None


def _reached(look: _Look) -> FileProgress:
    lines = look.text.count(b"\n") + (bool(look.text) and not look.text.endswith(b"\n"))
    lines += look.reach.lines
    return replace(
        look.reach,
        bytes=look.reach.bytes + len(look.text),
        lines=lines,
        loose=look.reach.loose and _STAMPED.search(look.text) is None,
        reason=look.reason and look.reason.format(line=lines),
    )


def _from(path: str, skip: int, size: int | None) -> Iterator[bytes]:
    """The text of a file from a byte on, at most `size` of it."""
    try:
        if not is_packed(path):
            with open(path, "rb") as file:
                file.seek(skip)
                while size is None or size > 0:
                    piece = file.read(CHUNK if size is None else min(CHUNK, size))
                    if not piece:
                        return
                    size = None if size is None else size - len(piece)
                    yield piece
            return
        for piece in bytes_of(path):
            part, skip = piece[skip:], max(0, skip - len(piece))
            if size is not None:
                part, size = part[:size], size - min(size, len(part))
            if part:
                yield part
            if size == 0:
                return
    except OSError as error:
        raise UnreadableError(why_closed(error)) from error
