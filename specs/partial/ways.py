"""Explanations of one line: its own step, hidden steps before it, and the values that it shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from model.language.sparse import Index
from specs.partial.compiled_steps import CompiledSteps, TransitionMove
from specs.partial.ledger import Ledger
from specs.partial.plans import Planner, SearchBudget
from specs.partial.writers import Choice, Step
from specs.verdict import Verdict

MOST_HIDDEN = 8
"""Steps that may be missing before a line by default."""

MOST_FOR_A_LINE = 700
"""Steps that may be tried for one line in one state."""

MOST_WITH_A_PURPOSE = 12
"""The most hidden steps that are planned for one line."""

BLIND_DEPTH = 1
"""The number of hidden steps that are also tried without a purpose, one choice after the other."""

Cell = tuple[int, Index, int]
"""(number of the field, index, code)."""


@dataclass(frozen=True)
class PartialLine:
    """One line: the steps that it may be, and the values that it shows after the step.

    `steps` is empty if the step is not known; `silent` means that the line may also be no step of
    the model. `whole` has fields with exactly these non-blank cells. In `leading`, the second part
    is shown only if the first holds.
    """

    number: int
    steps: tuple[tuple[TransitionMove, Choice], ...] = ()
    silent: bool = False
    cells: tuple[Cell, ...] = ()
    whole: tuple[tuple[int, tuple[tuple[Index, int], ...]], ...] = ()
    leading: tuple[tuple[Cell, tuple[Cell, ...]], ...] = ()


@dataclass
class FittingRun:
    """The answer, with the run that fits, or with the number of lines that some run fits."""

    verdict: Verdict
    reached: int
    """Lines that some run fits, counted from the first."""
    steps: list[tuple[int, Step, bool]] = field(default_factory=list)
    """(number of the line before which or at which it was, step, was it hidden)."""
    tried: int = 0
    why: str = ""


def mismatches(ledger: Ledger, line: PartialLine) -> list[Cell]:
    """The cells that a line shows and that differ in the current state."""
    read = ledger.read
    found = [cell for cell in line.cells if read(cell[0], cell[1]) != cell[2]]
    for (number, index, code), cells in line.leading:
        if read(number, index) == code:
            found += [cell for cell in cells if read(cell[0], cell[1]) != cell[2]]
    for number, cells_there in line.whole:
        expected, here = dict(cells_there), ledger.cells[number]
        if expected != here:
            blank = ledger.blanks[number]
            found += [
                (number, index, expected.get(index, blank))
                for index in sorted(set(expected) | set(here))
                if expected.get(index, blank) != here.get(index, blank)
            ]
    return found


def fits(ledger: Ledger, line: PartialLine) -> bool:
    """Does the current state have all values that a line shows?"""
    read = ledger.read
    for number, index, code in line.cells:
        if read(number, index) != code:
            return False
    return not (line.leading or line.whole) or not mismatches(ledger, line)


class LineExplanations:
    """The possible explanations of a line in the ledger's current state.

    Each way is one item of a generator: the ledger and the planner's path show it until the next is
    requested. `cut`: were choices left out that might have been right?
    """

    def __init__(self, moves: CompiledSteps, hidden: int, planner: Planner) -> None:
        self.moves, self.ledger, self.hidden = moves, moves.ledger, hidden
        self.planner = planner
        self.cut = False

    def mismatches(self, line: PartialLine) -> list[Cell]:
        """The cells that the line shows and that differ in the current state."""
        return mismatches(self.ledger, line)

    def fits(self, line: PartialLine) -> bool:
        """Does the current state have all values that the line shows?"""
        return fits(self.ledger, line)

    def ways(self, line: PartialLine) -> Iterator[int]:
        """Ways over a line, those without hidden steps first; each yields how many were hidden."""
        any_way = False
        for hidden in self.without_hidden_steps(line):
            any_way = True
            yield hidden
        if any_way and not line.steps:
            # What else may have happened here is put off until a later line needs it.
            self.cut = self.cut or self.hidden > 0
            return
        if self.hidden:
            yield from self._hidden_ways(line)
        elif not line.steps:
            # Nothing is hidden, and the line itself may be any step: every one is tried.
            yield from (0 for _ in self._by_hidden_steps(line, 1, set()))

    def without_hidden_steps(self, line: PartialLine) -> Iterator[int]:
        """Ways over a line by its own step alone."""
        ledger, path = self.ledger, self.planner.path
        if line.silent and not line.steps and self.fits(line):
            yield 0
        for move, known in line.steps:
            for arguments in self.planner.writers.arguments_of_line(move, known):
                if move.refusal(*arguments) < 0:
                    mark = ledger.mark()
                    self.moves.take(move, arguments)
                    if self.fits(line):
                        path.append((move, arguments))
                        yield 0
                        path.pop()
                    ledger.undo(mark)
        if line.silent and line.steps and self.fits(line):
            yield 0
        if not line.steps:
            yield from self._by_one_step(line)

    def _by_one_step(self, line: PartialLine) -> Iterator[int]:
        """A line whose step is not named: the one that makes all of what is seen so."""
        wrong = self.mismatches(line)
        if not wrong:
            return
        number, index, code = wrong[0]
        for move, arguments in self.planner.writers.of((number, index), code):
            if move.refusal(*arguments) >= 0:
                continue
            mark = self.ledger.mark()
            self.moves.take(move, arguments)
            if self.fits(line):
                self.planner.path.append((move, arguments))
                yield 0
                self.planner.path.pop()
            self.ledger.undo(mark)

    def _hidden_ways(self, line: PartialLine) -> Iterator[int]:
        path, seen = self.planner.path, set[int]()
        before = len(path)
        for _ in self._purposeful(line, self.hidden):
            hidden = len(path) - before - (0 if line.silent else 1)
            if hidden <= self.hidden and self.fits(line) and self.ledger.key not in seen:
                seen.add(self.ledger.key)
                yield hidden
        depth = min(self.hidden, BLIND_DEPTH)
        if self.hidden > depth:
            self.cut = True  # deeper choices without a purpose are not all tried
        for deep in range(1, depth + 1):
            yield from self._by_hidden_steps(line, deep, seen)

    def _purposeful(self, line: PartialLine, most: int) -> Iterator[None]:
        """Hidden steps that bring the line's step about, or what it shows."""
        most = min(most, MOST_WITH_A_PURPOSE)
        goal = {(number, index): code for number, index, code in line.cells}
        planner, fuel = self.planner, SearchBudget(MOST_FOR_A_LINE)
        if line.steps:
            steps = frozenset(
                (move, arguments)
                for move, known in line.steps
                for arguments in planner.writers.arguments_of_line(move, known)
            )
            yield from planner.ways(goal, most + 1, fuel, steps)
        if line.silent:
            yield from planner.ways(goal, most, fuel)
        self.cut = self.cut or fuel.units < 0

    def _by_hidden_steps(self, line: PartialLine, deep: int, seen: set[int]) -> Iterator[int]:
        """Exactly so many hidden steps, whatever they are, and then the line."""
        if not deep:
            for _ in self.without_hidden_steps(line):
                if self.ledger.key not in seen:
                    seen.add(self.ledger.key)
                    yield 0
            return
        for move in self.moves.by_name.values():
            if not move.writes:
                continue
            for arguments in self.planner.writers.arguments_of_line(
                move, (None,) * len(move.parameters)
            ):
                if move.refusal(*arguments) >= 0:
                    continue
                self.planner.spend()
                mark = self.ledger.mark()
                self.moves.take(move, arguments)
                if self.ledger.mark() != mark:
                    self.planner.path.append((move, arguments))
                    for more in self._by_hidden_steps(line, deep - 1, seen):
                        yield more + 1
                    self.planner.path.pop()
                self.ledger.undo(mark)
