"""Native replay of observed lines of a run with any epochs and offsets, many thousands a second.

    kernel = Unbounded(moves, observable)      # NotNative for a system that has no such code
    kernel.load(state)
    stop = kernel.follow(lines, ways)          # Stop(line, ...), or None: every line fits

What fits here fits on `moves`, and what does not is only said not to: who called asks `moves` why.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from model.language.sparse import SparseState
from specs.native.jit import Machine, build
from specs.native.unbounded_layout import CAPACITY, CHANGE, Layout, NotNative, UnboundedState, Words
from specs.native.unbounded_lines import LineArrays, StepWays, Way
from specs.native.unbounded_loops import FITS, NEEDS_ROOM, NEEDS_WORDS, follow_lines
from specs.native.unbounded_text import StepsText
from specs.partial.compiled_steps import CompiledSteps

MOST_ARGUMENTS = 8
FURTHEST = 1 << 22
"""An epoch or an offset beyond is left to `moves`, which needs no room for those below it."""


class Unbounded:
    """The machine code of a system's steps, and the state that they change in place."""

    def __init__(
        self, moves: CompiledSteps, observable: Collection[str], cache: Path | None = None
    ) -> None:
        self.moves = moves
        self.layout = Layout(moves.fields, moves.ledger.blanks, moves.twin)
        self.text = StepsText(moves, self.layout)
        self.machine: Machine = build(self.text.text, ("attempt",), cache)
        self.state = UnboundedState(self.layout)
        self._observable = np.array([leaf.name in observable for leaf in moves.fields], np.bool_)
        self._out = np.zeros((self.text.most + self.text.sweeps * 16) * CHANGE, np.int64)
        self._journal = np.zeros(self._out.size, np.int64)
        self.fired: Words = np.zeros(len(self.text.names) + 1, np.int64)

    def load(self, state: SparseState) -> None:
        """Become a state."""
        self.state.load(state)

    def ways(self, steps: Sequence[Sequence[Way]], silent: Sequence[bool], leader: str) -> StepWays:
        """What the steps may be, by their numbers; `leader` is the field that says who leads."""
        flat = [way for one in steps for way in one]
        if any(len(way.sources) > MOST_ARGUMENTS for way in flat):
            raise NotNative(f"a move has more than {MOST_ARGUMENTS} parameters")
        sources = np.zeros((len(flat), MOST_ARGUMENTS), np.int64)
        for at, way in enumerate(flat):
            sources[at, : len(way.sources)] = way.sources
        names = {name: number for number, name in enumerate(self.text.names)}
        return StepWays(
            np.cumsum([0, *(len(one) for one in steps)], dtype=np.int64),
            np.array([names[way.move] for way in flat], np.int64),
            sources,
            np.array(silent, np.int64),
            self.layout.numbers[leader],
        )

    def follow(self, lines: LineArrays, ways: StepWays, first: int = 0) -> int:
        """Takes lines from `first` on: the number of the first that does not fit, or of lines."""
        layout = self.layout
        about = (layout.shape.ravel(), layout.blanks, layout.logs.ravel(), self._observable)
        how = (
            ways.starts, ways.moves, ways.sources.ravel(), ways.silent, ways.leader, MOST_ARGUMENTS,
        )  # fmt: skip
        batch = (
            lines.steps, lines.args.ravel(), lines.args.shape[1], lines.changed_from,
            lines.changed.ravel(),
        )  # fmt: skip
        given = np.zeros(MOST_ARGUMENTS, np.int64)
        self.fired[:] = 0
        address = self.machine.addresses["attempt"]
        while True:
            state = (self.state.cells, self.state.meta.ravel())
            scratch = (self._out, self._journal, given, self.text.most, self.text.sweeps)
            first, why, of = follow_lines(
                address, state, about, how, batch, first, scratch, self.fired
            )
            if why == NEEDS_ROOM and self._grows(of):
                continue
            if why == NEEDS_WORDS and of < FURTHEST:
                words = 2 * CHANGE * max(of, self._out.size // CHANGE)
                self._out, self._journal = np.zeros(words, np.int64), np.zeros(words, np.int64)
                continue
            return int(first)

    def _grows(self, field: int) -> bool:
        """One more doubling, unless that is beyond reason."""
        capacity = int(self.state.meta[field, CAPACITY])
        if capacity >= FURTHEST:
            return False
        self.state.grow(field, capacity)
        return True

    def counted(self) -> Mapping[str, int]:
        """CompiledSteps that the last `follow` took, with how often."""
        names = zip(self.text.names, self.fired[:-1], strict=True)
        return {name: int(times) for name, times in names if times}

    @property
    def silent(self) -> int:
        """Lines of the last `follow` that changed nothing."""
        return int(self.fired[-1])


__all__ = ["FITS", "LineArrays", "NotNative", "Unbounded", "Way", "StepWays"]
