"""Layout of a state with unbounded epochs and offsets: one array of 64-bit numbers.

    shape[field] = kind, least index * 4, number of indices * 4 (0: endless), stride * 4
    meta[field]  = base, capacity, count
    cells        = every field's region, one after the other

A field with at most one endless index is *dense*: the endless index is the outermost, and
`capacity` is how far it reaches now. A field with several is a *list* of entries, of those only
that are not blank: four indices and the code, `count` of them, with room for `capacity`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from model.language.evaluate import Evaluator
from model.language.schema import Field
from model.language.sorts import BOOL
from model.language.sparse import Index, SparseState

Words = npt.NDArray[np.int64]

MOST_INDICES = 4
DENSE, LIST = 0, 1
BASE, CAPACITY, COUNT = 0, 1, 2
META = 3
ENTRY = MOST_INDICES + 1
KIND, LOW, SIZE, STRIDE = 0, 1, 5, 9
SHAPE = 13
FIELD, INDEX, CODE = 0, 1, 5
LOG_FIELDS = 8
"""The most fields that a record of a log has."""

CHANGE = 6
"""Words of a change: field, four indices, code."""
ROOM = 64
"""What an endless field has room for at first."""


class NotNative(Exception):
    """A system that only the compiled Python follows; the message says why."""


class Layout:
    """The regions of some fields; `blanks` has the code of each that means nothing was written."""

    def __init__(self, fields: Sequence[Field], blanks: Sequence[int], twin: Evaluator) -> None:
        self.fields, self.blanks = list(fields), np.array([int(one) for one in blanks], np.int64)
        self.numbers = {leaf.name: number for number, leaf in enumerate(fields)}
        self.shape: Words = np.zeros((len(fields), SHAPE), np.int64)
        for number, leaf in enumerate(fields):
            self._lay_out(number, leaf, twin)
        self.logs: Words = np.full((len(fields), LOG_FIELDS), -1, np.int64)
        for number, leaf in enumerate(fields):
            if leaf.log is None:
                continue
            end = self.logs[self.numbers[f"{leaf.log}.end"]]
            free = np.flatnonzero(end < 0)
            if not free.size:
                raise NotNative(f"{leaf.log} has more than {end.size} fields a record")
            end[free[0]] = number

    def _lay_out(self, number: int, leaf: Field, twin: Evaluator) -> None:
        if len(leaf.dims) > MOST_INDICES:
            raise NotNative(f"{leaf.name} has more than {MOST_INDICES} indices")
        shape = self.shape[number]
        shape[SIZE : SIZE + MOST_INDICES] = 1
        endless = []
        for place, sort in enumerate(leaf.dims):
            low, high = twin.ends(sort)
            shape[LOW + place] = low
            shape[SIZE + place] = 0 if high is None else high - low + 1
            endless += [place] if high is None else []
        shape[KIND] = LIST if len(endless) > 1 else DENSE
        stride = 1
        for place in reversed(range(len(leaf.dims))):
            if place not in endless:
                shape[STRIDE + place] = stride
                stride *= int(shape[SIZE + place])
        for place in endless:
            shape[STRIDE + place] = stride

    def is_list(self, number: int) -> bool:
        """Is the field a list of entries?"""
        return bool(self.shape[number, KIND] == LIST)

    def endless(self, number: int) -> int | None:
        """The position of a dense field's endless index, None if it has none."""
        sizes = self.shape[number, SIZE : SIZE + MOST_INDICES]
        found = np.flatnonzero(sizes == 0)
        return int(found[0]) if found.size and not self.is_list(number) else None

    def inner(self, number: int) -> int:
        """Cells of a dense field for each value of its endless index; all, where it has none."""
        sizes = self.shape[number, SIZE : SIZE + MOST_INDICES]
        return math.prod(int(size) for size in sizes if size)

    def size(self, number: int, capacity: int) -> int:
        """Words of a field's region."""
        if self.is_list(number):
            return ENTRY * capacity
        inner = self.inner(number)
        return inner if self.endless(number) is None else inner * capacity


class UnboundedState:
    """A state that steps change in place; `grow` gives a field more room and moves the others."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        count = len(layout.fields)
        self.meta: Words = np.zeros((count, META), np.int64)
        self.meta[:, CAPACITY] = ROOM
        self.cells: Words = np.empty(0, np.int64)
        self._place()
        for number in range(count):
            self._region(number)[:] = layout.blanks[number]

    def _place(self) -> None:
        at = 0
        for number in range(len(self.layout.fields)):
            self.meta[number, BASE] = at
            at += self.layout.size(number, int(self.meta[number, CAPACITY]))
        self.cells = np.empty(at, np.int64)

    def _region(self, number: int) -> Words:
        base, capacity, _ = (int(word) for word in self.meta[number])
        return self.cells[base : base + self.layout.size(number, capacity)]

    def grow(self, number: int, needed: int) -> None:
        """Room for an endless index up to `needed`, or for so many entries."""
        layout = self.layout
        before = [self._region(one).copy() for one in range(len(layout.fields))]
        self.meta[number, CAPACITY] = max(2 * int(self.meta[number, CAPACITY]), needed + 1)
        self._place()
        for one, words in enumerate(before):
            region = self._region(one)
            region[: words.size] = words
            region[words.size :] = layout.blanks[one]

    def load(self, state: SparseState) -> None:
        """Become a sparse state."""
        layout = self.layout
        self.meta[:, COUNT] = 0
        for number in range(len(layout.fields)):
            self._region(number)[:] = layout.blanks[number]
        for name, cells in state.items():
            if name in layout.numbers:
                self._fill(layout.numbers[name], cells.items())

    def _fill(self, number: int, cells: Iterable[tuple[Index, int]]) -> None:
        layout = self.layout
        found = list(cells)
        endless, shape = layout.endless(number), layout.shape[number]
        if layout.is_list(number):
            if len(found) > self.meta[number, CAPACITY]:
                self.grow(number, len(found))
            entries = self._region(number).reshape(-1, ENTRY)
            for at, (index, code) in enumerate(found):
                entries[at] = (*index, *[0] * (MOST_INDICES - len(index)), int(code))
            self.meta[number, COUNT] = len(found)
            return
        if endless is not None and found:
            furthest = max(index[endless] for index, _ in found) - int(shape[LOW + endless])
            if furthest >= self.meta[number, CAPACITY]:
                self.grow(number, furthest)
        region = self._region(number)
        for index, code in found:
            at = sum(
                (value - int(shape[LOW + place])) * int(shape[STRIDE + place])
                for place, value in enumerate(index)
            )
            region[at] = int(code)

    def sparse(self) -> SparseState:
        """The state as the twin and its explanations know states."""
        layout = self.layout
        found: SparseState = {}
        for number, leaf in enumerate(layout.fields):
            code = bool if leaf.sort is BOOL else int
            region, count = self._region(number), int(self.meta[number, COUNT])
            if layout.is_list(number):
                depth = len(leaf.dims)
                entries = region.reshape(-1, ENTRY)[:count]
                cells = {tuple(int(i) for i in one[:depth]): code(one[-1]) for one in entries}
            else:
                written = np.flatnonzero(region != layout.blanks[number])
                cells = {self._index(number, int(at)): code(region[at]) for at in written}
            if cells:
                found[leaf.name] = dict(sorted(cells.items()))
        return dict(sorted(found.items()))

    def _index(self, number: int, at: int) -> Index:
        """Which index a dense field's cell has."""
        shape, depth = self.layout.shape[number], len(self.layout.fields[number].dims)
        found = [0] * depth
        strides = [int(shape[STRIDE + place]) for place in range(depth)]
        for place in sorted(range(depth), key=lambda one: -strides[one]):
            endless = place == self.layout.endless(number)
            rest = at // strides[place]
            size = int(shape[SIZE + place])
            found[place] = int(shape[LOW + place]) + (rest if endless else rest % size)
            at -= (rest if endless else rest % size) * strides[place]
        return tuple(found)
