"""Replays recorded traces of the implementation on the model, line by line.

Every line must be one possible transition of `replication` that leads to the observed state, or a
step that the model does not see. Epochs and offsets are not bounded here: the model's recorded text
is evaluated on 64-bit numbers. Judging stops at the first line that does not fit, because later
lines start from a state that the model cannot have.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from conformance.mapping import AS_RELEASED, ROWS, UNOBSERVED, Facts, StepRow, model_arguments
from conformance.observed import ObservedFacts, Place
from conformance.trace_report import TraceReport, UnknownLeaf, finding, unreadable
from impl.world.trace import Trace, TraceError, TraceEvent, TraceHeader, events_in, opened
from model.language.explain import place_and_value
from model.language.sparse import Index, SparseState
from model.systems import system
from specs.partial.compiled_steps import CompiledSteps, TransitionMove
from specs.verdict import FindingKind, Verdict

__all__ = [
    "Replay", "TraceReport", "check_trace", "judge", "moves_of", "unreadable",
]  # fmt: skip

REPLAYED = "replication"
"""The system that recorded runs are replayed on."""

MOST_BROKERS = 32

LEADER = "replica.leader"
"""The field that says whom a broker takes for the leader."""

Heard = Callable[[int, TransitionMove, tuple[int, ...]], None]


def check_trace(path: str | Path) -> TraceReport:
    """Replays one `insync.trace/1` file. An unreadable or empty trace is not checked."""
    where = Path(path)
    try:
        with _uncollected(), opened(where) as lines:
            return _judge(*events_in(lines, where), str(where))
    except (TraceError, OSError) as error:
        return unreadable(where, error)


@contextmanager
def _uncollected() -> Iterator[None]:
    """No search for cycles: a trace is millions of lists without one, and long ones took twice as
    long while they were looked through again and again."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def judge(trace: Trace, name: str = "", heard: Heard | None = None) -> TraceReport:
    """Replays a trace in memory; `heard` is notified of each step as the model took it."""
    return _judge(trace.header, trace.events, name, heard)


def _judge(
    header: TraceHeader, events: Iterable[TraceEvent], name: str, heard: Heard | None = None
) -> TraceReport:
    """One event is in memory at a time. All of them are read, whatever is found in the first."""
    unknown = _unknown(header)
    if unknown is not None:
        rule = "a trace is of a system and a version that there are"
        return _not_checked(name, sum(1 for _ in events), rule, *unknown)
    replay, count = Replay(header, name, heard), 0
    fits = replay.begins()
    for event in events:
        count += 1
        fits = fits and replay.goes_on(event)
    replay.report.events = count
    if count:
        return replay.report
    return _not_checked(
        name, 0, "a trace has lines to compare", "the run has no events",
        "a line for each step; to record some: insync simulate --steps 300 --out DIR",
    )  # fmt: skip


def _not_checked(name: str, events: int, rule: str, why: str, allowed: str) -> TraceReport:
    wrong = finding(FindingKind.UNREADABLE, name, 1, rule, why, allowed)
    return TraceReport(name, Verdict.NOT_CHECKED, events, findings=[wrong])


def _unknown(header: TraceHeader) -> tuple[str, str] | None:
    """What of a header is none of the model's, and what would be."""
    if header.system != REPLAYED:
        return (
            f"unknown system {header.system!r}",
            f"{REPLAYED}, which recorded runs are replayed on",
        )
    versions = system(REPLAYED).versions
    if header.version not in versions:
        return f"unknown version {header.version!r}", f"one of {', '.join(versions)}"
    if isinstance(header.brokers, bool) or not 1 <= header.brokers <= MOST_BROKERS:
        return f"{header.brokers} brokers", f"1 to {MOST_BROKERS}"
    return None


def moves_of(header: TraceHeader) -> CompiledSteps:
    """The compiled steps of a run's system and version."""
    return _moves(header.system, header.version, header.brokers)


@cache
def _moves(name: str, version: str, brokers: int) -> CompiledSteps:
    """The compiled steps: once a process, for all traces of one kind."""
    recorded = system(name).recorded(version, AS_RELEASED)
    moves = CompiledSteps(recorded, {"brokers": brokers}, frozenset(UNOBSERVED))
    moves.ledger.is_keyed = False
    return moves


class Replay:
    """One run on the model, line by line."""

    def __init__(self, header: TraceHeader, name: str, heard: Heard | None) -> None:
        self.header, self.name, self.heard = header, name, heard
        self.moves = moves_of(header)
        self.twin, self.ledger = self.moves.twin, self.moves.ledger
        self.ledger.load(self.twin.initial())
        self.report = TraceReport(name, Verdict.HOLDS)

    def begins(self) -> bool:
        """Whether the run starts in the model's initial state; if not, the report says why."""
        try:
            self.observed = ObservedFacts(self.header.initial)
        except UnknownLeaf as error:
            self._misfit(1, "a run starts with all that is seen of it", str(error),
                         "the leaves of an observation, all of them")  # fmt: skip
            return False
        first = self._differences(self.observed.facts)
        if first:
            self._misfit(1, "a run starts in the initial state", first[0], first[0])
            return False
        return True

    def goes_on(self, event: TraceEvent) -> bool:
        """Whether the next line fits; if not, the report has the reason."""
        if not self._line(event.line, event.step, event.args, event.observed):
            return False
        self.report.accepted += 1
        self.ledger.journal.clear()  # what a line has shown is never taken back
        return True

    def _misfit(self, line: int, rule: str, why: str, allowed: str) -> None:
        self.report.verdict = Verdict.BROKEN
        self.report.add(FindingKind.IMPOSSIBLE, self.name, line, rule, why, allowed)

    def _line(self, line: int, step: str, args: Mapping[str, Any], seen: Mapping[str, Any]) -> bool:
        row = ROWS.get(step)
        if row is None:
            self._misfit(line, "every step is one of the protocol's",
                         f"unknown step {step}", ", ".join(sorted(ROWS)))  # fmt: skip
            return False
        try:
            candidates = self._candidates(row, args)
            changed = self.observed.show(seen)
        except (KeyError, UnknownLeaf) as error:
            lacks = f"the step has no argument {error}" if isinstance(error, KeyError) else error
            self._misfit(line, "a line shows leaves of an observation", str(lacks),
                         f"{step} with {', '.join(row.parameters)}")  # fmt: skip
            return False
        if row.silent is not None and self._is_as_seen(changed, self.ledger.mark()):
            self.report.silent += 1
            return True
        for move, given in candidates:
            if move.refusal(*given) >= 0:
                continue
            mark = self.ledger.mark()
            self.moves.take(move, given)
            if self._is_as_seen(changed, mark):
                self.report.fired[move.name] = self.report.fired.get(move.name, 0) + 1
                if self.heard is not None:
                    self.heard(line, move, given)
                return True
            self.ledger.undo(mark)
        self._nothing_fits(line, step, candidates, self._facts(changed))
        return False

    def _leader_of(self, broker: int) -> int:
        """Whom a broker takes for the leader: what was seen of it is what the model has."""
        return int(self.ledger.read(self.moves.numbers[LEADER], (broker,)))

    def _facts(self, changed: Mapping[Place, int | None]) -> Facts:
        """All that has been seen, with what a line changed: the model had the rest."""
        facts = {**self._model_facts(), **changed}
        return {place: code for place, code in facts.items() if code is not None}

    def _is_as_seen(self, changed: Mapping[Place, int | None], mark: int) -> bool:
        """What the line changed and what the step changed is the same, and so everything is."""
        numbers, ledger = self.moves.numbers, self.ledger
        for (name, index), code in changed.items():
            mine = ledger.cells[numbers[name]].get(index)
            if mine is not code and (mine is None or code is None or int(mine) != code):
                return False
        earlier: dict[tuple[int, Index], Any] = {}
        for number, index, before in ledger.journal[mark:]:
            earlier.setdefault((number, index), before)
        return all(
            ledger.read(number, index) == before
            or ledger.names[number] in UNOBSERVED
            or (ledger.names[number], index) in changed
            for (number, index), before in earlier.items()
        )

    def _nothing_fits(
        self,
        line: int,
        step: str,
        candidates: list[tuple[TransitionMove, tuple[int, ...]]],
        facts: Facts,
    ) -> None:
        refusals = list[str]()
        nearest: tuple[str, list[str]] | None = None
        for move, given in candidates:
            lacking = move.refusal(*given)
            if lacking >= 0:
                values = dict(zip(move.parameters, given, strict=True))
                requirement = move.recorded.requires[lacking]
                why = self.twin.explain(requirement, self.ledger.state(), values)
                refusals.append(f"{move.name}: {why}")
                continue
            mark = self.ledger.mark()
            self.moves.take(move, given)
            differences = self._differences(facts)
            self.ledger.undo(mark)
            if nearest is None or len(differences) < len(nearest[1]):
                nearest = move.name, differences
        self._explain(line, step, refusals, nearest, facts)

    def _explain(
        self, line: int, step: str, refusals: list[str],
        nearest: tuple[str, list[str]] | None, facts: Facts,
    ) -> None:  # fmt: skip
        last = f"the last accepted line is {line - 1}"
        if nearest is not None:
            name, differences = nearest
            self._misfit(
                line, f"{step} ends as the model's {name} does",
                f"{'; '.join(differences)} ({last})",
                f"{name}, ending in what the model says of these places",
            )  # fmt: skip
            return
        why = "; ".join(refusals) or "; ".join(self._differences(facts))
        self._misfit(line, f"{step} is possible here", f"{why} ({last})",
                     "the step only when what is said to be false holds")  # fmt: skip

    def _candidates(
        self, row: StepRow, arguments: Mapping[str, int]
    ) -> list[tuple[TransitionMove, tuple[int, ...]]]:
        named = {name: arguments[name] for name in row.parameters}
        for name, value in named.items():
            if isinstance(value, bool) or not isinstance(value, int):
                raise UnknownLeaf(f"{name} is {value!r}, and arguments are whole numbers")
        values = model_arguments(row, named, self._leader_of)
        moves = [self.moves.by_name[name] for name in row.transitions]
        return [(move, tuple(values[name] for name in move.parameters)) for move in moves]

    def _model_facts(self) -> Facts:
        """The model's observable places that are not blank."""
        return {
            (name, index): int(value)
            for name, cells in zip(self.ledger.names, self.ledger.cells, strict=True)
            if name not in UNOBSERVED
            for index, value in cells.items()
        }

    def _differences(self, facts: Facts) -> list[str]:
        """Observable places where the model's state and what was observed differ, in words."""
        mine = self._model_facts()
        if mine == facts:
            return []
        state, found = self.ledger.state(), []
        for place in sorted(set(mine) | set(facts)):
            if mine.get(place) != facts.get(place):
                observed = _with_observed(state, place, facts.get(place))
                path, expected = place_and_value(self.twin, state, *place)
                _, seen = place_and_value(self.twin, observed, *place)
                found.append(f"{path} is {seen}, where the model has {expected}")
        return found


def _with_observed(
    state: SparseState, place: tuple[str, tuple[int, ...]], value: int | None
) -> SparseState:
    """The state with one place as it was observed; None is the blank value."""
    name, index = place
    cells = {at: code for at, code in state.get(name, {}).items() if at != index}
    if value is not None:
        cells[index] = value
    return {**state, name: cells}
