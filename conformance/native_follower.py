"""Lines of whole traces as arrays, replayed by the native kernel.

Where a line does not fit, the kernel says only which one it is: `conformance.replay` judges that
line on the compiled Python, from the state before it, and says why. Nothing is found broken by
machine code alone, and nothing is accepted here that would be refused there.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

from conformance.mapping import ROWS, UNOBSERVED
from conformance.observed import Observed, Place
from conformance.trace_report import UnknownLeaf
from impl.world.trace import TraceEvent
from specs.native.unbounded_layout import CHANGE, NotNative
from specs.native.unbounded_lines import LineArrays, StepWays, Way
from specs.partial.compiled_steps import CompiledSteps

if TYPE_CHECKING:
    from specs.native.unbounded import Unbounded

LEADER = "replica.leader"
"""The field that says whom a broker takes for the leader."""

STEPS = {name: number for number, name in enumerate(sorted(ROWS))}
"""Step of the implementation -> its number in arrays."""

ARGUMENTS = tuple(sorted({name for row in ROWS.values() for name in row.parameters}))
"""The arguments that any step has: the columns of arrays of arguments."""

_SHAPES = {
    name: (number, tuple((one, ARGUMENTS.index(one)) for one in ROWS[name].parameters))
    for name, number in STEPS.items()
}
"""Step -> its number, and its arguments with their columns."""


MOST_PLACES = 100_000
"""So many places of arrays are kept; those of a long log, each met a few times, would be more."""


@dataclass(frozen=True)
class TraceFollower:
    """A kernel, and what the steps may be in it."""

    kernel: Unbounded
    ways: StepWays


@cache
def follower_of(moves: CompiledSteps) -> TraceFollower | None:
    """The native kernel of compiled steps, once a process; None for a system without one."""
    from specs.native.unbounded import Unbounded  # the compiled loops take a second to load

    observable = {leaf.name for leaf in moves.fields} - set(UNOBSERVED)
    try:
        kernel = Unbounded(moves, observable)
        steps = [[_way(moves, name, move) for move in ROWS[name].transitions] for name in STEPS]
        silent = [ROWS[name].silent is not None for name in STEPS]
        return TraceFollower(kernel, kernel.ways(steps, silent, LEADER))
    except NotNative:
        return None


def _way(moves: CompiledSteps, step: str, move: str) -> Way:
    row = ROWS[step]
    source = {row.arguments[name]: ARGUMENTS.index(name) for name in row.parameters}
    if row.leader_of is not None:
        source["leader"] = -ARGUMENTS.index(row.leader_of) - 1
    return Way(move, tuple(source[name] for name in moves.by_name[move].parameters))


class LineBatch(Protocol):
    """Lines of a run that are judged one after the other."""

    def __len__(self) -> int:
        """How many."""

    def line(self, number: int) -> int:
        """Where one stands in its file."""

    def step(self, number: int) -> str:
        """The step that it says was taken."""

    def args(self, number: int) -> Mapping[str, int]:
        """The step's arguments, as the line has them."""

    def changed(self, number: int) -> Mapping[Place, int | None]:
        """The places that changed: their codes, None where they are blank now. UnknownLeaf."""

    def lines(self) -> LineArrays:
        """As arrays. What no array can say is a step of -1, where the kernel stops."""


class EventBatch:
    """Events of a trace: each is read when it is asked for, or all for `lines`."""

    def __init__(
        self, events: Sequence[TraceEvent], observed: Observed, moves: CompiledSteps
    ) -> None:
        self.events, self.observed, self.moves = events, observed, moves
        self._read: list[dict[Place, int | None]] = []
        self._error: UnknownLeaf | None = None

    def __len__(self) -> int:
        return len(self.events)

    def line(self, number: int) -> int:
        """As the file had it."""
        return self.events[number].line

    def step(self, number: int) -> str:
        """Its name."""
        return self.events[number].step

    def args(self, number: int) -> Mapping[str, int]:
        """As they were recorded."""
        return self.events[number].args

    def changed(self, number: int) -> Mapping[Place, int | None]:
        """In order: an observation grows line by line."""
        if number < len(self._read):
            return self._read[number]
        if self._error is not None:
            raise self._error
        return self.observed.show(self.events[number].observed)

    def lines(self) -> LineArrays:
        """All that can be read, and the first that cannot."""
        arrays = Arrays(self.moves)
        try:
            for event in self.events:
                changed = self.observed.show(event.observed)
                self._read.append(changed)
                arrays.add(event.step, event.args, changed)
        except UnknownLeaf as error:
            self._error = error
            arrays.stop()
        return arrays.lines()


@cache
def _places(_: CompiledSteps) -> dict[Place, tuple[tuple[int, ...], int]]:
    """By place: its words but the code, and the code of its blank; kept for all runs of a kind."""
    return {}


class Arrays:
    """Lines added one by one."""

    def __init__(self, moves: CompiledSteps) -> None:
        self.moves = moves
        self.steps, self.args, self._words = array("q"), array("q"), array("q")
        self._counts = array("q", [0])
        self._known = _places(moves)

    def add(self, step: str, args: Mapping[str, int], changed: Mapping[Place, int | None]) -> None:
        """One more line."""
        known, words, given = self._known, list[int](), [0] * len(ARGUMENTS)
        for place, code in changed.items():
            found = known.get(place)
            if found is None:
                if len(known) >= MOST_PLACES:
                    known.clear()
                found = known[place] = self._place(place)
            words += found[0]
            words.append(found[1] if code is None else int(code))
        number, wanted = _SHAPES.get(step, (-1, ()))
        for name, column in wanted:
            value = args.get(name)
            if type(value) is not int:
                number = -1
            else:
                given[column] = value
        try:
            self.args.extend(given)
            self._words.extend(words)
        except OverflowError:
            number = -1
        if number < 0:
            self.stop()
            return
        self.steps.append(number)
        self._counts.append(len(self._words) // CHANGE)

    def stop(self) -> None:
        """A line that no array can say."""
        self.steps.append(-1)
        del self.args[(len(self.steps) - 1) * len(ARGUMENTS) :]
        self.args.extend([0] * len(ARGUMENTS))
        del self._words[self._counts[-1] * CHANGE :]
        self._counts.append(self._counts[-1])

    def _place(self, place: Place) -> tuple[tuple[int, ...], int]:
        name, index = place
        number = self.moves.numbers[name]
        padded = (number, *index, *[0] * (CHANGE - 2 - len(index)))
        return padded, int(self.moves.ledger.blanks[number])

    def lines(self) -> LineArrays:
        """All of them."""
        return LineArrays(
            np.array(self.steps, np.int64),
            np.array(self.args, np.int64).reshape(-1, len(ARGUMENTS)),
            np.array(self._counts, np.int64),
            np.array(self._words, np.int64).reshape(-1, CHANGE),
        )


def places_of(moves: CompiledSteps, lines: LineArrays, line: int) -> dict[Place, int | None]:
    """The places that a line of arrays changed, as `Observed.show` has them."""
    found: dict[Place, int | None] = {}
    first, stop = (int(lines.changed_from[line + more]) for more in (0, 1))
    for number, *index, code in lines.changed[first:stop].tolist():
        leaf = moves.fields[number]
        blank = int(moves.ledger.blanks[number])
        found[leaf.name, tuple(index[: len(leaf.dims)])] = None if code == blank else code
    return found
