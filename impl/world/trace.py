"""``insync.trace/1``: a run as newline-delimited JSON, one line per event.

First line, the header:

    {"format": "insync.trace/1", "run": id, "seed": n, "brokers": n, "version": "2.3",
     "system": "replication", "faults": profile, "strategy": name, "initial": {path: value, ...}}

then one line a step:

    {"run": id, "clock": 1, 2, ..., "node": broker id or "zookeeper", "seq": 1, 2, ... per node,
     "step": name, "args": {parameter: value, ...}, "observed": {path: value, ...}}

and a last line ``{"end": true, "run": id, "events": n}``, so that a truncated file is detected.

``initial`` and ``observed`` hold leaves of ``observe`` by path (see ``impl.world.observation``):
all of them at first, then those that the step changed. For a log and its leader epochs a step has
only the new end: ``{"from": n, "then": [...]}`` keeps the first n entries and appends these; a
whole list is also valid. Applying the lines in order gives the full observation after each one.
JSON turns ids that are keys into strings; the reader converts them back. A reader rejects any
invalid trace, and names file and line.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

from impl.world.observation import Observation

FORMAT = "insync.trace/1"
ZOOKEEPER = "zookeeper"
HEADER_FIELDS: dict[str, type | tuple[type, ...]] = {
    "run": str,
    "seed": int,
    "brokers": int,
    "version": str,
    "system": str,
    "faults": str,
    "strategy": str,
    "initial": dict,
}
EVENT_FIELDS: dict[str, type | tuple[type, ...]] = {
    "run": str,
    "clock": int,
    "node": (int, str),
    "seq": int,
    "step": str,
    "args": dict,
    "observed": dict,
}

FORMER_STEPS = {
    "broker_crashes_and_loses_its_tail": "broker_crashes_losing_unflushed_records",
    "controller_informs": "controller_issues_leader_and_isr",
    "follower_asks_epoch": "follower_sends_epoch_request",
    "follower_asks_records": "follower_sends_fetch",
    "leader_acknowledges_for_isr": "leader_acknowledges_acks_all",
    "leader_appends_for_isr": "leader_appends_acks_all",
}
"""Names of steps in files that were written earlier. Whoever renames a step writes it here."""


class TraceError(ValueError):
    """An invalid trace; the message names file, line, error and correction."""

    def __init__(self, path: Path, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")
        self.path = path
        self.line = line


@dataclass(frozen=True)
class TraceHeader:
    """The header of a run."""

    run: str
    seed: int
    brokers: int
    version: str
    system: str
    faults: str
    strategy: str
    initial: dict[str, Any]


@dataclass(frozen=True)
class TraceEvent:
    """One step; ``line`` is its line in the file that it was read from (0 without a file)."""

    run: str
    clock: int
    node: int | str
    seq: int
    step: str
    args: dict[str, int]
    observed: dict[str, Any]
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Trace:
    """A header and its events."""

    header: TraceHeader
    events: tuple[TraceEvent, ...]

    def observations(self) -> Iterator[Observation]:
        """The full observation before the first event, then after each of them."""
        facts = dict(self.header.initial)
        yield nested_observation(facts)
        for event in self.events:
            apply_observation(facts, event.observed)
            yield nested_observation(facts)


def apply_observation(facts: dict[str, Any], observed: dict[str, Any]) -> None:
    """Apply a line to the leaves. ValueError if a list is too short for its new end."""
    for path, value in observed.items():
        if is_end(value):
            before: Any = facts.get(path)
            facts[path] = [*before[: prefix_length(before, value)], *value["then"]]
        else:
            facts[path] = value


def is_end(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a leaf is the new end of a list, not the whole list."""
    return type(value) is dict and value.keys() == {"from", "then"}


def prefix_length(before: Any, end: dict[str, Any]) -> int:
    """The number of entries that a new end keeps. ValueError if the list has fewer entries."""
    first, then = end["from"], end["then"]
    if not isinstance(before, list) or not isinstance(then, list):
        raise ValueError(f"{then!r} is shown to come after {before!r}, and lists have such ends")
    if type(first) is not int or not 0 <= first <= len(before):
        raise ValueError(f"what comes from {first!r} on is shown, of {len(before)} entries")
    return first


def nested_observation(facts: dict[str, Any]) -> Observation:
    """The nested observation whose leaves by path are ``facts``."""
    whole: dict[int | str, Any] = {}
    for path, value in facts.items():
        *parents, last = path.split(".")
        inner = whole
        for part in parents:
            inner = inner.setdefault(_key(part), {})
        inner[_key(last)] = value
    return whole


def lines_of(trace: Trace) -> list[str]:
    """The lines of the file, without line ends; the same trace always gives the same lines."""
    return list(_lines(trace.header, trace.events))


def _lines(header: TraceHeader, events: Iterable[TraceEvent]) -> Iterator[str]:
    """Header, events as they come, end."""
    yield _encode({"format": FORMAT, **vars(header)})
    count = 0
    for event in events:
        count += 1
        yield _encode({name: getattr(event, name) for name in EVENT_FIELDS})
    yield _encode({"end": True, "run": header.run, "events": count})


_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def write_trace(path: Path, trace: Trace) -> None:
    """Write a complete file, or none."""
    write_events(path, trace.header, trace.events)


def write_events(path: Path, header: TraceHeader, events: Iterable[TraceEvent]) -> int:
    """Write events as they come, into a complete file or none; returns their number."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    lines = 0
    with unfinished.open("w", encoding="utf-8") as file:
        for line in _lines(header, events):
            file.write(f"{line}\n")
            lines += 1
    unfinished.replace(path)
    return lines - 2  # header and end are no events


def read_trace(path: Path) -> Trace:
    """Read a file; TraceError if it is empty, truncated, mixed, of another format, or has gaps."""
    with opened(path) as lines:
        return parse_trace(lines, path)


@contextmanager
def opened(path: Path) -> Iterator[Iterable[str]]:
    """The lines of a file, gzipped (``.gz``) or not. TraceError if a gzipped file is damaged."""
    try:
        with (
            gzip.open(path, "rt", encoding="utf-8")
            if path.suffix == ".gz"
            else path.open(encoding="utf-8") as lines
        ):
            yield lines
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TraceError(path, 1, f"damaged, or truncated: {error}") from error


def parse_trace(lines: Iterable[str], path: Path) -> Trace:
    """Read the lines of a file; ``path`` is for the errors."""
    header, events = events_in(lines, path)
    return Trace(header, tuple(events))


def events_in(lines: Iterable[str], path: Path) -> tuple[TraceHeader, Iterator[TraceEvent]]:
    """The header, and an iterator of the events; an error in an event is raised when it is read.

    The trace is only known to be complete once all events have been read.
    """
    found = framed(lines, path)
    number, fields = next(found)
    header = TraceHeader(**_required(fields, HEADER_FIELDS, "header", path, number))
    last_seq: dict[int | str, int] = {}
    return header, (
        _event(fields, clock, last_seq, path, number)
        for clock, (number, fields) in enumerate(found, 1)
    )


def framed(lines: Iterable[str], path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The fields of the header, then of each event as it is read, with the numbers of their lines.

    TraceError if the lines are not one complete trace of one run.
    """
    header: dict[str, Any] | None = None
    ended = False
    number = events = 0
    try:
        for number, text in enumerate(lines, 1):
            fields = _json_object(text, path, number)
            if ended:
                raise TraceError(path, number, "a line after the end; a trace holds one run")
            if header is None:
                header = fields
                if header.get("format") != FORMAT:
                    raise TraceError(
                        path, number, f"unknown format {header.get('format')!r}; this reader "
                        f"knows {FORMAT} alone",
                    )  # fmt: skip
                yield number, header
                continue
            if "format" in fields or fields.get("run") != header["run"]:
                raise TraceError(
                    path, number, f"two runs mixed: {fields.get('run')!r} in the trace of "
                    f"{header['run']!r}; one file a run",
                )  # fmt: skip
            ended = fields.get("end") is True
            if not ended:
                events += 1
                yield number, fields
            elif fields.get("events") != events:
                raise TraceError(
                    path, number, f"the end counts {fields.get('events')} events, there are "
                    f"{events}",
                )  # fmt: skip
    except UnicodeDecodeError as error:
        raise TraceError(path, number + 1, "not text in UTF-8; a trace is NDJSON") from error
    if header is None:
        raise TraceError(path, 1, f"empty; a trace begins with a header of format {FORMAT}")
    if not ended:
        raise TraceError(
            path,
            number,
            f"truncated after {events} events; a trace ends with an end line",
        )


def _json_object(text: str, path: Path, number: int) -> dict[str, Any]:
    if not text.endswith("\n"):
        raise TraceError(path, number, "truncated in the middle of a line")
    try:
        fields = _decode(text)
    except ValueError as error:
        raise TraceError(path, number, f"not JSON ({error}); each line is one object") from error
    if not isinstance(fields, dict):
        raise TraceError(path, number, "not a JSON object; each line is one object")
    return fields


def _event(
    fields: dict[str, Any], clock: int, last_seq: dict[int | str, int], path: Path, number: int
) -> TraceEvent:
    known = _required(fields, EVENT_FIELDS, "event", path, number)
    known["step"] = FORMER_STEPS.get(known["step"], known["step"])
    event = TraceEvent(**known, line=number)
    if event.clock != clock:
        order = "out of order" if event.clock < clock else "gap"
        raise TraceError(
            path,
            number,
            f"{order}: clock {event.clock} where {clock} is next; a line is missing or moved",
        )
    follows(event.node, event.seq, last_seq, path, number)
    return event


def follows(
    node: int | str, seq: int, last_seq: dict[int | str, int], path: Path, number: int
) -> None:
    """Check each node's sequence numbers. TraceError where a line is missing, or out of order."""
    expected = last_seq.get(node, 0) + 1
    if seq != expected:
        order = "out of order" if seq < expected else "gap"
        raise TraceError(
            path, number, f"{order}: seq {seq} of node {node} where {expected} is next"
        )
    last_seq[node] = seq


def _required(
    fields: dict[str, Any],
    types: dict[str, type | tuple[type, ...]],
    what: str,
    path: Path,
    number: int,
) -> dict[str, Any]:
    if not types.keys() <= fields.keys():
        missing = [name for name in types if name not in fields]
        raise TraceError(path, number, f"the {what} lacks {', '.join(missing)}")
    for name, kind in types.items():
        if not isinstance(fields[name], kind):
            raise TraceError(path, number, f"the {what}'s {name} is {fields[name]!r}")
    return {name: fields[name] for name in types}


def _with_int_keys(fields: dict[str, Any]) -> dict[Any, Any]:
    """JSON turns ids that are keys into texts: an object has ids alone for keys, or none."""
    if not next(iter(fields), "")[:1].isdigit():
        return fields
    return {_key(name): value for name, value in fields.items()}


_decode = json.JSONDecoder(object_hook=_with_int_keys).decode


def _key(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdigit() else text
