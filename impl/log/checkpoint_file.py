"""Kafka's checkpoint files: version, count, one entry per line; replaced atomically.

``leader-epoch-checkpoint`` has ``epoch startOffset``; the files of a log directory
(``replication-offset-checkpoint``, ``recovery-point-offset-checkpoint``,
``log-start-offset-checkpoint``, ``cleaner-offset-checkpoint``) have ``topic partition offset``.
Each is there, empty, before it has an entry. Source: CheckpointFile, up to 0.10 OffsetCheckpoint.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from impl.disk import Disk, replace_file
from impl.disk.atomic import ensure_file, read_file
from impl.log.errors import MalformedCheckpoint

VERSION = 0

_LINE_END = re.compile(r"\r\n|\r|\n")
"""What ends a line of a Java reader; a form feed or a line separator is part of it."""

TopicPartition = tuple[str, int]


class TornCheckpoint(MalformedCheckpoint):
    """A checkpoint file that is only partly written, although its write was reported as durable."""


def encode_lines(lines: Sequence[str]) -> bytes:
    """The content of a checkpoint file."""
    return "".join(f"{line}\n" for line in (str(VERSION), str(len(lines)), *lines)).encode()


def parse_lines(path: str, content: bytes) -> list[tuple[int, list[str]]]:
    """Number and words of each entry's line; MalformedCheckpoint names the file and the line.

    As Kafka's reader has it, the last line needs no end, and a file that stops before the number of
    entries has none.
    """
    if not content:
        return []
    if b"\0" in content:
        raise TornCheckpoint(path, f"byte {content.index(0)}", "zeros, where text was written")
    lines = _LINE_END.split(content.decode(errors="replace"))
    if not lines[-1]:
        lines.pop()
    version = _number(path, 1, lines[0])
    if version != VERSION:
        raise MalformedCheckpoint(path, "line 1", f"version {version}; this is read: {VERSION}")
    if len(lines) < 2:
        return []
    expected = _number(path, 2, lines[1])
    entries = [(number, _words(line)) for number, line in enumerate(lines[2:], start=3)]
    if len(entries) < expected:
        why = f"{expected} entries are announced, {len(entries)} are there"
        raise TornCheckpoint(path, f"line {len(lines)}", why)
    if len(entries) > expected:
        why = f"{expected} entries are announced, {len(entries)} are there"
        raise MalformedCheckpoint(path, f"line {expected + 3}", why)
    return entries


def _words(line: str) -> list[str]:
    """What stands between blanks; a blank at the beginning has an empty word before it (Java)."""
    return re.split(r"\s+", line.rstrip(), flags=re.ASCII)


def parse_offsets(path: str, content: bytes) -> dict[TopicPartition, int]:
    """The entries of a log directory's checkpoint."""
    found: dict[TopicPartition, int] = {}
    for number, words in parse_lines(path, content):
        if len(words) != 3:
            raise _malformed(path, content, number, words, "topic partition offset")
        partition, offset = (_number(path, number, word) for word in words[1:])
        found[words[0], partition] = offset
    return found


def parse_epochs(path: str, content: bytes) -> list[tuple[int, int]]:
    """The entries of a ``leader-epoch-checkpoint``, in the order of the file."""
    found: list[tuple[int, int]] = []
    for number, words in parse_lines(path, content):
        if len(words) != 2:
            raise _malformed(path, content, number, words, "epoch startOffset")
        epoch, start = (_number(path, number, word) for word in words)
        found.append((epoch, start))
    return found


class OffsetCheckpoint:
    """An offset for each partition of a log directory, in one file."""

    def __init__(self, disk: Disk, path: str) -> None:
        self.disk = disk
        self.path = path
        self.reads = 0

    def create(self) -> None:
        """An empty file if there is none. OSError."""
        ensure_file(self.disk, self.path)

    def read(self) -> dict[TopicPartition, int]:
        """All entries; none if there is no file. MalformedCheckpoint, OSError."""
        self.reads += 1
        if not self.disk.exists(self.path):
            return {}
        return parse_offsets(self.path, read_file(self.disk, self.path))

    def write(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Replace the file; entries are sorted, so that equal maps are equal files."""
        lines = [
            f"{topic} {partition} {offset}"
            for (topic, partition), offset in sorted(offsets.items())
        ]
        replace_file(self.disk, self.path, encode_lines(lines))


class LazyOffsetCheckpoint:
    """The high watermarks of a directory, read once, at the first request (2.4+)."""

    def __init__(self, checkpoint: OffsetCheckpoint) -> None:
        self.checkpoint = checkpoint
        self._read: dict[TopicPartition, int] | None = None

    def fetch(self, partition: TopicPartition) -> int | None:
        """The offset of a partition; None if the file has no entry."""
        if self._read is None:
            self._read = self.checkpoint.read()
        return self._read.get(partition)


def _number(path: str, line: int, word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise MalformedCheckpoint(path, f"line {line}", f"{word!r} is not a number") from None


def _malformed(
    path: str, content: bytes, line: int, words: list[str], right: str
) -> MalformedCheckpoint:
    """Words that are no entry; where the file breaks off in them, it was never written whole."""
    is_cut = content.count(b"\n") == line - 1
    kind = TornCheckpoint if is_cut else MalformedCheckpoint
    return kind(path, f"line {line}", f"{' '.join(words)!r}; an entry is {right!r}")
