"""A trace of any system of the model, played step by step in the explorer.

    {"format": "insync.trace/1", "run": "r1", "system": "topics", "version": "2.3", "brokers": 2}
    {"run": "r1", "node": 1, "seq": 1, "step": "broker_crashes", "args": {"broker": 1},
     "observed": {"up": [2]}}
    {"end": true, "run": "r1", "events": 1}

A step is a transition of the system, or a step of the implementation that the system's map knows;
what was observed are leaves by the model's own paths, each compared after the step. A line without
a step is compared where the run stands. (Runs with steps missing are searched for in `replication`
only; here the run ends before such a gap, with the diagnosis.)
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.web.board import Board, board
from conformance.web.replayed_run import NoRunError, ReplayedRun
from impl.world.trace import opened
from model.former_names import step_now
from model.language import ProtocolError
from model.language.evaluate import SparseState
from model.language.recording import Recorded
from specs.state_text import text

FORMAT = "insync.trace/1"


def system_of(path: Path) -> str:
    """The system that a trace's header names; `replication` where it names none. Raises OSError."""
    try:
        with opened(path) as lines:
            header = json.loads(next(iter(lines), "null"))
    except (ValueError, RecursionError):
        header = None
    named = header.get("system") if isinstance(header, dict) else None
    return named if isinstance(named, str) else "replication"


def stepped(path: Path) -> ReplayedRun:
    """The run of a trace, up to the line that does not fit. Raises NoRunError, OSError."""
    return _Run(path).run()


@dataclass
class _Run:
    path: Path
    lines: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    seq: dict[str, int] = field(default_factory=dict)

    def run(self) -> ReplayedRun:
        (_, header), *rows = self._rows()
        here = self._board(header)
        *events, (last, end) = rows or [(1, {})]
        if end.get("end") is not True:
            raise self._error_at(last, "the trace has no end line: it was cut off")
        if end.get("events") != len(events):
            raise self._error_at(last, f"the end counts {end.get('events')} events, there are "
                                    f"{len(events)}")  # fmt: skip
        if not events:
            raise self._error_at(last, "the run has no events, so there is nothing to show")
        state, diagnosis = here.start, None
        for number, event in events:
            try:
                self._in_order(event)
                state = self._take_event(here, state, number, event)
                self._as_observed(here, state, event)
            except ProtocolError as error:
                diagnosis = f"{self.path}:{number}: {error}"
                break
        fit = len(events) if diagnosis is None else number - 2
        title = f"{self.path.name}: {fit} of {len(events)} lines are a run of {here.name}"
        return ReplayedRun(title, here.heading_text, tuple(self.lines), None, diagnosis,
                      tuple(self.places))  # fmt: skip

    def _rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        with opened(self.path) as lines:
            for number, line in enumerate(lines, 1):
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise self._error_at(number, f"is no JSON: {error}") from error
                if not isinstance(row, dict):
                    raise self._error_at(number, "is no JSON object; each line is one")
                yield number, row

    def _board(self, header: dict[str, Any]) -> Board:
        if header.get("format") != FORMAT:
            raise self._error_at(1, f"format {header.get('format')!r} is not known; write {FORMAT}")
        words = ["system", str(header.get("system"))]
        words += ["version", str(header["version"])] if "version" in header else []
        for name, value in (header.get("without") or {}).items():
            words += ["with", f"{name}={str(value).lower()}"]
        sizes = {"brokers": header.get("brokers", 3), **(header.get("bounds") or {})}
        words += [word for name, size in sizes.items() for word in (name, str(size))]
        try:
            return board(" ".join(words))
        except ProtocolError as error:
            raise self._error_at(1, str(error)) from error

    def _in_order(self, event: dict[str, Any]) -> None:
        node, seq = str(event.get("node")), event.get("seq")
        if isinstance(seq, int):
            before = self.seq.get(node)
            if before is not None and seq != before + 1:
                raise ProtocolError(f"a line of node {node} is missing: seq {seq} after {before}")
            self.seq[node] = seq

    def _take_event(
        self, here: Board, state: SparseState, number: int, event: dict[str, Any]
    ) -> SparseState:
        name = event.get("step")
        if name is None:
            if event.get("hidden"):
                raise ProtocolError("steps are missing before this line; they are searched for "
                                    "in traces of replication only")  # fmt: skip
            return state
        first: ProtocolError | None = None
        could = self._could_be(here, str(name), event.get("args") or {})
        if could is None:
            return state
        for line in could:
            try:
                after = here.take(state, line, len(self.lines) + 1)
            except ProtocolError as error:
                first = first or error
                continue
            self.lines.append(line)
            self.places.append(f"{self.path.name}:{number} {name}")
            return after
        raise first or ProtocolError(f"{name!r} is no step of {here.name}")

    @staticmethod
    def _could_be(here: Board, name: str, given: dict[str, Any]) -> list[str] | None:
        """The lines of a story that a step may be: of a transition, or by the system's map.

        None for a step of which the map says that the model does not see it.
        """
        steps: dict[str, Recorded] = {
            one.transition.name: one for one in here.heading.recorded.steps
        }
        system = here.heading.recorded.system.name
        for one in (name, step_now(name, system)):
            if one in steps:
                return [_line(one, given)]
        from conformance.mapping import MAPPED, map_of  # the implementation takes a while to load

        row = map_of(system).rows.get(name) if system in MAPPED else None
        if row is None or row.leader_of is not None:
            return []
        if not row.transitions:
            return None
        renamed = {row.arguments.get(one, one): value for one, value in given.items()}
        return [_line(one, renamed) for one in row.transitions if one in steps]

    @staticmethod
    def _as_observed(here: Board, state: SparseState, event: dict[str, Any]) -> None:
        for path, seen in (event.get("observed") or {}).items():
            lines = here.leaves.named(path, state)
            if len(lines) != 1 or not lines[0].startswith(f"{path}: "):
                raise ProtocolError(f"{path} is no leaf of {here.name}")
            shown = lines[0].removeprefix(f"{path}: ")
            if text(seen, is_set=isinstance(seen, list)) != shown:
                raise ProtocolError(
                    f"{path} was seen as {text(seen, is_set=isinstance(seen, list))}, and after "
                    f"this step it is {shown}"
                )

    def _error_at(self, line: int, what: str) -> NoRunError:
        return NoRunError(f"{self.path}:{line}: {what}")


def _line(name: str, given: dict[str, Any]) -> str:
    words = [f"{one}={text(value, is_set=isinstance(value, list))}" for one, value in given.items()]
    return " ".join([name, *words])
