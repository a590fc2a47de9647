"""Separates several brokers in one file, as in `docker compose logs`: which one wrote a line.

It is not known beforehand which part of a prefix, or which value of an object, identifies the
process. It is the one whose values each go with one broker, in all lines that name their writer.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from conformance.ingest import message_prefixes
from conformance.ingest.json_lines import texts_of
from conformance.ingest.layouts import PEEKED, in_kafkas_layout, without_colours
from conformance.ingest.prefixes import prefixes
from conformance.ingest.reader import DamagedError, UnreadableError, head_of, lines_of
from conformance.ingest.record_parts import OWN

_MOST = 200  # processes of one file; what has more values is a time or a number
_AGREE = 20  # of so many lines of a process one may name another broker

Values = Callable[[str], Iterator[tuple[object, str]]]
"""What a line holds before its record: where that is, and the text there."""


@dataclass(frozen=True)
class Sources:
    """The processes whose lines a file holds, by line, and the broker of each process."""

    processes: array[int]
    brokers: list[int | None]

    def broker(self, line: int) -> int | None:
        """The broker that wrote a line; None if its process is no broker or unknown."""
        return self.brokers[self.processes[line - 1]]


def sources_of(path: str, layout: str | None = None) -> Sources | None:
    """The processes that wrote one file, distinguished by the text around the lines.

    None if one process wrote it, if nothing distinguishes them, and for a file in Kafka's own
    layout. Damage ends the lines, as it does when they are read.
    """
    try:
        head = list(without_colours(head_of(path).split("\n")[:PEEKED]))
    except UnreadableError:
        return None
    if any(map(OWN.match, head)):
        return None
    forms = prefixes(head)

    def values(line: str) -> Iterator[tuple[object, str]]:
        for number, form in enumerate(forms):
            found = form.match(line)
            if found is not None:
                yield from (((number, place), text) for place, text in enumerate(found.groups()))
        yield from texts_of(line)

    return _told_apart(path, layout, values)


def _told_apart(path: str, layout: str | None, values: Values) -> Sources | None:
    named: dict[object, dict[str, Counter[int]]] = defaultdict(lambda: defaultdict(Counter))
    for raw, line in _both(path, layout):
        broker = _writer(line)
        if broker is None:
            continue
        for key, text in values(raw):
            if len(named[key]) <= _MOST:
                named[key][text][broker] += 1
    keys = [key for key, counted in named.items() if _tells(counted)]
    if not keys:
        return None
    chosen = min(keys, key=lambda each: (len(named[each]), str(each)))
    numbers: dict[str, int] = {}
    processes = array("i")
    last = 0
    for raw, _ in _both(path, layout):
        for key, text in values(raw):
            if key == chosen:
                last = numbers.setdefault(text, len(numbers))
        processes.append(last)
    counts = named[chosen]
    return Sources(processes, [_most(counts.get(text)) for text in numbers] or [None])


def _tells(counted: dict[str, Counter[int]]) -> bool:
    """Whether each text goes with one broker, and not all with the same."""
    if not 2 <= len(counted) <= _MOST:
        return False
    agree = all(max(each.values()) * _AGREE >= sum(each.values()) * (_AGREE - 1)
                for each in counted.values())  # fmt: skip
    return agree and len({_most(each) for each in counted.values()}) >= 2


def _most(counted: Counter[int] | None) -> int | None:
    return counted.most_common(1)[0][0] if counted else None


def _writer(line: str) -> int | None:
    found = OWN.match(line)
    if found is None:
        return None
    broker = message_prefixes.split_prefix(line[found.end() :])[0].get("broker")
    return broker if isinstance(broker, int) else None


def _both(path: str, layout: str | None) -> Iterator[tuple[str, str]]:
    """The lines of a file without colours, each with its form in Kafka's own layout."""
    try:
        raw = without_colours(lines_of(path))
        yield from zip(raw, in_kafkas_layout(lines_of(path), layout), strict=False)
    except (UnreadableError, DamagedError):
        return
