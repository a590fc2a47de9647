"""Searches a run of the model that fits a partial trace: depth-first, remembering failed states.

Between two lines there may be hidden steps, up to a limit. The trace fits as soon as one run goes
on to its last line. The verdict is `holds` with that run, `broken` if everything was tried, and
`unknown` if a limit ended the search.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import NamedTuple

from model.language.sparse import SparseState
from specs.partial.compiled_steps import CompiledSteps
from specs.partial.plans import OutOfBudget, Planner, SearchBudget
from specs.partial.ways import MOST_HIDDEN, FittingRun, LineExplanations, PartialLine
from specs.partial.writers import Changes, Step
from specs.verdict import Verdict

MOST_TRIED = 50_000
"""Steps that one trace may cost beyond those of its lines before the answer is unknown."""

MOST_FOR_A_REPAIR = 40
"""Steps that may be tried at one earlier line to bring about what a later one lacks."""

FIRST_TRIES, TRIES_A_LINE = 400, 8
"""What a first attempt may cost that takes every line for one step, with nothing hidden."""

FAR_BACK = 120
"""Lines that are looked back over for that."""


class OpenLine(NamedTuple):
    """A line for which ways are being tried."""

    ways: Iterator[int]
    start: int
    """The length of the path before it."""
    key: int
    """The key of the state before it."""
    mark: int


class PartialSearch:
    """Searches a run for one trace.

    `changes` has the values that some steps can write; it only saves attempts, and the verdict is
    never broken unless everything was tried.
    """

    def __init__(
        self, moves: CompiledSteps, hidden: int = MOST_HIDDEN, tried: int = MOST_TRIED,
        changes: Changes = MappingProxyType({}), more_a_line: int = 0,
    ) -> None:  # fmt: skip
        self.moves, self.ledger, self.hidden = moves, moves.ledger, hidden
        self.planner = Planner(moves, changes, tried)
        self.explanations = LineExplanations(moves, hidden, self.planner)
        self._lines: list[PartialLine] = []
        self._more_a_line = more_a_line
        self._dead: dict[int, set[int]] = {}
        self._open: list[OpenLine] = []
        self.furthest: tuple[int, SparseState] | None = None

    def find(self, lines: list[PartialLine]) -> FittingRun:
        """Searches a run over all lines. Leaves the ledger in the last state of the search."""
        self._lines = lines
        path = self.planner.path
        spans: list[tuple[int, int]] = []
        self._open.clear()
        verdict, why = Verdict.HOLDS, ""
        try:
            verdict = self._search_lines(lines, spans)
            if verdict is Verdict.UNKNOWN:
                why = "not every choice of hidden steps was tried"
        except OutOfBudget:
            self.ledger.undo(self._open[-1].mark)
            self._keep_furthest(len(spans))
            verdict, why = Verdict.UNKNOWN, f"{self.planner.most_tried:,} steps were tried"
        steps: list[tuple[int, Step, bool]] = []
        if verdict is Verdict.HOLDS:
            ends = [start for start, _ in spans[1:]] + [len(path)]
            for line, (start, hidden), end in zip(lines, spans, ends, strict=True):
                steps += [
                    (line.number, path[place], place < start + hidden)
                    for place in range(start, end)
                ]
        reached = self.furthest[0] if self.furthest else 0
        return FittingRun(verdict, reached, steps, self.planner.tried, why)

    def _keep_furthest(self, at: int) -> None:
        if self.furthest is None or at > self.furthest[0]:
            self.furthest = at, self.ledger.state()

    def _search_lines(self, lines: list[PartialLine], spans: list[tuple[int, int]]) -> Verdict:
        """Line after line; where a line has no way left, the one before it takes another."""
        path = self.planner.path
        open_ways, tried = self._open, -1
        while len(spans) < len(lines):
            at = len(spans)
            if len(open_ways) == at:
                key = self.ledger.key
                known = key in self._dead.get(at, ())
                ways = iter(()) if known else self.explanations.ways(self._lines[at])
                open_ways.append(OpenLine(ways, len(path), key, self.ledger.mark()))
            ways, start, key, _ = open_ways[-1]
            hidden = next(ways, None)
            if hidden is not None:
                spans.append((start, hidden))
                if at > tried:
                    tried = at
                    self.planner.most_tried += self._more_a_line
                continue
            self._keep_furthest(at)
            if at > tried and self.hidden:
                tried = at
                if self._repair(at, spans):
                    continue
            open_ways.pop()
            self._dead.setdefault(at, set()).add(key)
            if not spans:
                return Verdict.UNKNOWN if self.explanations.cut else Verdict.BROKEN
            spans.pop()
            self.planner.spend()
        self.furthest = len(lines), {}
        return Verdict.HOLDS

    # -- hidden steps far back --------------------------------------------------------------------

    def _repair(self, at: int, spans: list[tuple[int, int]]) -> bool:
        """A line lacks what only an earlier moment allows: put hidden steps in there, and take
        again what came since. What was still open since then is given up."""
        path, ledger = self.planner.path, self.ledger
        wishes = self._wanted_steps(self._lines[at])
        starts = [*(start for start, _ in spans), len(path)]
        taken = [path[starts[i] : starts[i + 1]] for i in range(at)]
        whole, end = list(path), ledger.mark()
        for first in range(at - 1, max(-1, at - FAR_BACK), -1):
            mark = self._open[first].mark
            room = self.hidden - spans[first][1]
            if room < 1:
                continue
            ledger.undo(mark)
            del path[starts[first] :]
            fuel = SearchBudget(MOST_FOR_A_REPAIR)
            for step in wishes:
                for _ in self.planner.ways_to_step(step, min(room, 3), fuel):
                    more = len(path) - starts[first]
                    marks = self._retake_lines(first, at, taken)
                    if marks is not None:
                        before = self._open[first]
                        marks[0] = before.key, before.mark
                        self._commit(first, at, more, marks, taken, spans)
                        return True
            for step in whole[starts[first] :]:
                self.moves.take(*step)
                path.append(step)
            assert ledger.mark() == end
        return False

    def _wanted_steps(self, line: PartialLine) -> list[Step]:
        """Steps that write what the line lacks."""
        planner, found = self.planner, dict[Step, None]()
        for move, known in line.steps:
            for arguments in planner.writers.arguments_of_line(move, known):
                found.update(dict.fromkeys(planner.helpers_of((move, arguments))[:8]))
        if not line.steps:
            for number, index, code in self.explanations.mismatches(line):
                found.update(dict.fromkeys(planner.helpers((number, index), code)[:8]))
        return list(found)[:16]

    def _retake_lines(
        self, first: int, at: int, taken: list[list[Step]]
    ) -> list[tuple[int, int]] | None:
        """Take again the steps of the lines since `first`, and the line that lacked something.

        Returns the key and where the journal stood before each line. None if it cannot be done;
        then the ledger and the path are as they were.
        """
        mark, length = self.ledger.mark(), len(self.planner.path)
        marks: list[tuple[int, int]] = []
        for number in range(first, at + 1):
            marks.append((self.ledger.key, self.ledger.mark()))
            if number == at:
                if next(self.explanations.without_hidden_steps(self._lines[at]), None) is not None:
                    return marks
                break
            if not all(self._retake(step) for step in taken[number]):
                break
            if not self.explanations.fits(self._lines[number]):
                break
        self.ledger.undo(mark)
        del self.planner.path[length:]
        return None

    def _retake(self, step: Step) -> bool:
        move, arguments = step
        if move.refusal(*arguments) >= 0:
            return False
        self.moves.take(move, arguments)
        self.planner.path.append(step)
        return True

    def _commit(
        self, first: int, at: int, more: int, marks: list[tuple[int, int]], taken: list[list[Step]],
        spans: list[tuple[int, int]],
    ) -> None:  # fmt: skip
        """The run is another one since `first`."""
        self.explanations.cut = True
        place = spans[first][0]
        hidden = [*(hidden for _, hidden in spans[first:]), 0]
        hidden[0] += more
        lengths = [len(steps) for steps in taken[first:]]
        lengths[0] += more
        del spans[first:]
        del self._open[first:]
        for mark, count, length in zip(marks, hidden, [*lengths, 0], strict=True):
            spans.append((place, count))
            key, before = mark
            self._open.append(
                OpenLine(self._other_ways(len(self._open), before, place), place, key, before)
            )
            place += length

    def _other_ways(self, at: int, mark: int, place: int) -> Iterator[int]:
        """The ways over a line that was taken again, should they be asked for."""
        self.ledger.undo(mark)
        del self.planner.path[place:]
        yield from self.explanations.ways(self._lines[at])


def find_run(
    moves: CompiledSteps, lines: list[PartialLine], hidden: int, tried: int, changes: Changes
) -> tuple[PartialSearch, FittingRun]:
    """Searches a run that fits; returns the answer, and the search with its furthest state.

    If lines do not name steps, mostly each line is still one step: the search first tries this,
    as long as it advances, because that leaves much less to guess than hidden steps.
    """
    before = 0
    if hidden and any(not line.steps for line in lines):
        first = PartialSearch(moves, 0, min(FIRST_TRIES, tried), changes, TRIES_A_LINE)
        found = first.find(lines)
        if found.verdict is Verdict.HOLDS:
            return first, found
        before = found.tried
        moves.ledger.load(moves.twin.initial())
    search = PartialSearch(moves, hidden, tried, changes)
    found = search.find(lines)
    found.tried += before
    return search, found
