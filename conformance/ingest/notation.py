"""Compiles log templates, which are lines with named holes, to regular expressions.

    Changed partition {tp} state from {from_state} to {to_state}

A hole's name gives its allowed text and the column it fills; `{tp}` fills topic and
partition, `{...}` skips, `{name=a|b}` takes one of the words. Everything else is literal text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

_HOLE = re.compile(r"\{(\.\.\.|[a-z_]+)(?:=([^}]*))?\}")
_INT = r"-?(?:[01]?\d{1,9}|2(?:0\d|1[0-3])\d{7})"  # what 32 bits hold, about
_LONG = r"-?\d{1,18}"
_MOST = 2**31 - 1
_TOPIC = r"[A-Za-z0-9._-]{1,249}"

_SHAPES: dict[str, str] = {
    "broker": _INT,
    "controller": _INT,
    "controller_epoch": _INT,
    "topic": _TOPIC,
    "partition": r"\d{1,9}",
    "leader": _INT,
    "leader_epoch": _INT,
    "state_epoch": _INT,
    "isr": r"\[?[\d, ]*\]?",
    "replicas": r"\[?[\d, ]*\]?",
    "offline": r"\[?[\d, ]*\]?",
    "version": _INT,
    "previous_epoch": _INT,
    "known_epoch": _INT,
    "correlation": _LONG,
    "replica": _INT,
    "from_state": r"\w+",
    "to_state": r"\w+",
    "is_new": r"true|false",
    "offset": _LONG,
    "high_watermark": _LONG,
    "detail": r".*?",
    "again": r".*?",
}
_SKIPPED = {"...": r".*?", "count": r"\d+", "collection": r"\w+"}


_MEMBER = re.compile(r"(?:brokerId=|replicaId=|ReplicaId: )(\d+)")


@lru_cache(maxsize=65536)
def _numbers(text: str) -> list[int]:
    # Since 3.4 a member of an ISR may stand with its broker epoch behind it; up to 2.3 a leader
    # names one by all that it knows of the replica.
    found = _MEMBER.findall(text)
    return [min(int(number), _MOST) for number in found or re.findall(r"\d+", text)]


def _truth(text: str) -> bool:
    return text == "true"


_NAMED = re.compile(r"topicName='([^']*)', partitionIndex=(\d+)")


@lru_cache(maxsize=65536)
def _partition(text: str) -> str | None:
    """The partition that the fields of a request name; before 2.4, fields had no names."""
    found = _NAMED.search(text)
    return None if found is None else f"{found[1]}-{found[2]}"


def _reader(column: str) -> Callable[[str], Any]:
    if column in ("isr", "replicas", "offline"):
        return _numbers
    if column == "is_new":
        return _truth
    if column == "again":
        return _partition
    return str if column in ("topic", "from_state", "to_state", "detail") else int


@dataclass(frozen=True)
class Template:
    """One kind of line. `example` is a whole message of our own making, for the tests.

    `logger` is the class at the end of the line; `text` is what follows the bracketed prefix
    (`[Controller id=1] `), which is read separately.
    """

    name: str
    kind: str
    logger: str
    text: str
    example: str = ""

    @cached_property
    def prefix(self) -> str:
        """The literal text before the first hole: a cheap test that rejects most lines."""
        hole = _HOLE.search(self.text)
        return self.text[: hole.start()] if hole else self.text

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The whole text as a regular expression with one named group per column."""
        parts, end = [], 0
        for hole in _HOLE.finditer(self.text):
            parts.append(re.escape(self.text[end : hole.start()]))
            parts.append(_hole(hole[1], hole[2], self.name))
            end = hole.end()
        parts.append(re.escape(self.text[end:]))
        return re.compile("".join(parts), re.DOTALL)

    @cached_property
    def readers(self) -> tuple[tuple[str, Callable[[str], Any]], ...]:
        """Column and conversion, in the order of the groups."""
        groups = sorted(self.pattern.groupindex.items(), key=lambda item: item[1])
        return tuple((name, _reader(name)) for name, _ in groups)

    def read(self, text: str) -> dict[str, Any] | None:
        """The columns that `text` fills, or None when this is another kind of line."""
        values = self.match(text)
        return None if values is None else self.columns(values)

    def match(self, text: str) -> tuple[str, ...] | None:
        """The values of the holes, or None when this is another kind of line."""
        if not text.startswith(self.prefix):
            return None
        found = self.pattern.fullmatch(text)
        return None if found is None else found.groups()

    def columns(self, values: Sequence[str]) -> dict[str, Any]:
        """The columns that these values of the holes fill."""
        return {
            column: convert(value)
            for (column, convert), value in zip(self.readers, values, strict=bool(values))
        }

    @cached_property
    def column_names(self) -> frozenset[str]:
        """The columns that it fills."""
        return frozenset(name for name, _ in self.readers)

    @cached_property
    def broker_place(self) -> int | None:
        """The hole that holds the writer of the line."""
        names = [name for name, _ in self.readers]
        return names.index("broker") if "broker" in names else None


def _hole(name: str, words: str | None, template: str) -> str:
    if name == "tp":
        return rf"(?P<topic>{_TOPIC})-(?P<partition>\d{{1,9}})"
    if name in _SKIPPED:
        return f"(?:{words or _SKIPPED[name]})"
    if name not in _SHAPES:
        raise ValueError(f"template {template}: no hole is called {name}: {sorted(_SHAPES)}")
    return f"(?P<{name}>{words or _SHAPES[name]})"
