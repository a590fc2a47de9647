"""Reads partial traces: `insync.trace/1` whose header says `"partial": true`.

The header needs `run`, `brokers` and `version`; `system`, if given, is `replication`. It may have
`"hidden": n`, the number of steps that may be missing before a line (default 8), and `initial` may
have any leaves. A line needs `run`, `node` and `seq`; `clock`, if given, grows. `step` and `args`
may be missing, in whole or in part, and `observed` has the leaves that were seen after the line: a
missing leaf is unknown, not unchanged.

Each node numbers its lines, so a gap in `seq` is a lost line, never a hidden step. The end line is
required too. Errors name file and line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeGuard

from conformance.mapping import ROWS
from conformance.partial.leaves import observed_leaves
from conformance.trace_report import UnknownLeaf
from impl.world.trace import TraceError, follows, framed, opened
from model.language import ProtocolError
from model.systems import SYSTEMS
from specs.partial.ways import MOST_HIDDEN

SYSTEM = "replication"
MOST_BROKERS = 9


@dataclass(frozen=True)
class PartialEvent:
    """One line: the recorded part of a step, and the leaves observed after it."""

    line: int
    node: int | str
    step: str | None
    args: dict[str, int]
    observed: dict[str, Any]


@dataclass(frozen=True)
class PartialTrace:
    """The content of the header, and the lines."""

    run: str
    brokers: int
    version: str
    hidden: int
    initial: dict[str, Any]
    events: tuple[PartialEvent, ...] = field(default=())


def is_partial(path: str | Path) -> bool:
    """Whether the file's header says that parts are missing; False if it cannot be read."""
    try:
        with opened(Path(path)) as lines:
            header = json.loads(next(iter(lines), "null"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(header, dict) and header.get("partial") is True


def read_partial(path: str | Path) -> PartialTrace:
    """Reads a file. Raises TraceError with file, line, fault, and what is right."""
    where = Path(path)
    with opened(where) as lines:
        return parse_partial(lines, where)


def parse_partial(lines: Iterable[str], path: Path) -> PartialTrace:
    """Reads the lines of a file; `path` is for the errors."""
    found = framed(lines, path)
    reader = _PartialReader(path, *next(found))
    events = tuple(reader.event(number, fields) for number, fields in found)
    return replace(reader.header, events=events)


class _PartialReader:
    def __init__(self, path: Path, line: int, fields: dict[str, Any]) -> None:
        self.path, self.line = path, line
        self.seq: dict[int | str, int] = {}
        self.clock: int | None = None
        self.header = self._header(fields)

    def fail(self, message: str) -> TraceError:
        return TraceError(self.path, self.line, message)

    def _header(self, fields: dict[str, Any]) -> PartialTrace:
        if fields.get("system", SYSTEM) != SYSTEM:
            raise self.fail(f"system {fields['system']!r}; partial traces are of {SYSTEM}")
        brokers = fields.get("brokers")
        if not _is_number(brokers) or not 1 <= brokers <= MOST_BROKERS:
            raise self.fail(f"brokers is {brokers!r}; write a number from 1 to {MOST_BROKERS}")
        if not isinstance(fields.get("run"), str):
            raise self.fail(f"run is {fields.get('run')!r}; write the id of the run as text")
        try:
            SYSTEMS[SYSTEM].recorded(fields.get("version"))
        except (ProtocolError, TypeError) as error:
            raise self.fail(f"unknown version {fields.get('version')!r}: {error}") from error
        hidden = fields.get("hidden", MOST_HIDDEN)
        if not _is_number(hidden) or hidden < 0:
            raise self.fail(f"hidden is {hidden!r}; write how many steps may be missing, 0 or more")
        initial = fields.get("initial", {})
        self._leaves(initial, brokers, "initial")
        return PartialTrace(fields["run"], brokers, fields["version"], hidden, initial)

    def event(self, line: int, fields: dict[str, Any]) -> PartialEvent:
        """Reads one line."""
        self.line = line
        node, seq, clock = fields.get("node"), fields.get("seq"), fields.get("clock")
        if not isinstance(node, int | str):
            raise self.fail(f"node is {node!r}; write who saw this: a broker's id, or a name")
        if not _is_number(seq):
            raise self.fail(f"seq of node {node} is {seq!r}; write its number among the node's")
        follows(node, seq, self.seq, self.path, line)
        if clock is not None:
            if not _is_number(clock) or (self.clock is not None and clock <= self.clock):
                raise self.fail(f"out of order: clock {clock} after {self.clock}; clocks grow")
            self.clock = clock
        step, args = fields.get("step"), fields.get("args") or {}
        observed = fields.get("observed") or {}
        self._step(step, args)
        self._leaves(observed, self.header.brokers, "observed")
        return PartialEvent(self.line, node, step, args, observed)

    def _step(self, step: Any, args: Any) -> None:
        if not isinstance(args, dict) or not all(_is_number(value) for value in args.values()):
            raise self.fail(f"args is {args!r}; write numbers by the names of the step's arguments")
        if step is None:
            if args:
                raise self.fail("args without a step; name the step, or leave both out")
            return
        if step not in ROWS:
            raise self.fail(f"unknown step {step!r}; one of {', '.join(sorted(ROWS))}")
        strange = sorted(set(args) - set(ROWS[step].parameters))
        if strange:
            raise self.fail(
                f"{step} has no argument {strange[0]}; it takes {', '.join(ROWS[step].parameters)}"
            )

    def _leaves(self, leaves: Any, brokers: int, what: str) -> None:
        if not isinstance(leaves, dict):
            raise self.fail(f"{what} is {leaves!r}; write values by the paths of leaves")
        try:
            observed_leaves(leaves, brokers)
        except UnknownLeaf as error:
            raise self.fail(f"{what}: {error}") from error


def _is_number(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
