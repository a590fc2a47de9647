"""Finds the indices at which a pointwise definition over unbounded numbers may differ from blank.

`new.request = lam(EPOCHS, lambda e: when(e == now.epoch, sent, now.request[e]))` defines a value
for every epoch; a sparse state needs the few that are not blank. A definition uses its variable in
three ways only: as an index of a field (relevant where the field has an entry), in a comparison
(relevant where the two sides are equal), or as a value by itself. So between two neighbouring
relevant numbers the definition is constant, and one sample is enough.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from model.language.errors import ProtocolError
from model.language.recording import Write
from model.language.sparse import Environment, Index, SparseState, Values
from model.language.terms import Term


class Pointwise:
    """The definition that one write makes, in one state."""

    def __init__(self, twin: Values, write: Write, blank: int, state: SparseState) -> None:
        self._twin, self._write, self._blank, self._state = twin, write, blank, state

    def indices(self, environment: Environment, position: int = 0) -> Iterator[Index]:
        """The choices of the write's variables that matter; all of a limited sort."""
        ends = [self._twin.ends(variable.sort) for variable in self._write.variables[position:]]
        limited = [range(bottom, top + 1) for bottom, top in ends if top is not None]
        if len(limited) == len(ends):
            yield from itertools.product(*limited)
            return
        variable, (bottom, top) = self._write.variables[position], ends[0]
        values: Iterable[int] = (
            self._that_matter(environment, position, bottom) if top is None else limited[0]
        )
        for value in values:
            for rest in self.indices({**environment, variable.args[0]: value}, position + 1):
                yield (value, *rest)

    def _that_matter(self, environment: Environment, position: int, bottom: int) -> Iterator[int]:
        name = self._write.variables[position].args[0]
        points = {self._entry(index, position) for index in self._state.get(self._write.field, {})}
        uses = _uses(self._write.value, name)
        for field, place, shift in uses.as_index:
            points |= {entry[place] - shift for entry in self._state.get(field, {})}
        for other, shift in uses.compared:
            points.add(self._evaluated(other, environment) - shift)
        ordered = sorted(point for point in points if point >= bottom)
        follows = bottom
        for point in ordered:
            if follows < point and (uses.by_itself or self._speaks(environment, position, follows)):
                yield from range(follows, point)
            yield point
            follows = point + 1
        if uses.by_itself or self._speaks(environment, position, follows):
            raise ProtocolError(
                f"{self._write.field} would differ from blank at infinitely many indices; "
                "give the bound of its index"
            )

    def _entry(self, index: Index, position: int) -> int:
        return index[len(self._write.keys) + position]

    def _speaks(self, environment: Environment, position: int, sample: int) -> bool:
        """Is anything but blank defined at this value of the variable?"""
        name, *names = (variable.args[0] for variable in self._write.variables[position:])
        inner = {**environment, name: sample}
        here = dict(inner)
        for rest in self.indices(inner, position + 1):
            here.update(zip(names, rest, strict=True))
            if self._twin.value(self._write.value, self._state, here) != self._blank:
                return True
        return False

    def _evaluated(self, term: Term, environment: Mapping[str, int | frozenset[int]]) -> int:
        if not term.free <= set(environment):
            raise ProtocolError(
                f"{self._write.field} compares its index with {term}, which varies; "
                "give the bound of its index"
            )
        return self._twin.value(term, self._state, dict(environment))


@dataclass(frozen=True)
class _Uses:
    """What a definition does with its variable; it is read from the term once, for all states."""

    as_index: frozenset[tuple[str, int, int]] = frozenset()
    """Fields, at which place of their index it stands, plus what constant."""
    compared: frozenset[tuple[Term, int]] = frozenset()
    """Terms without it that it is compared with, plus what constant."""
    by_itself: bool = False
    """It is a value too."""


@lru_cache(maxsize=4096)
def _uses(term: Term, name: str) -> _Uses:
    if name not in term.free:
        return _Uses()
    op, args = term.op, term.args
    if op == "var":
        return _Uses(by_itself=True)
    as_index: set[tuple[str, int, int]] = set()
    parts = [arg for arg in args if isinstance(arg, Term)]
    if op == "get":
        field, *indices = args
        shifts = [_shift(index, name) for index in indices]
        as_index = {
            (field, place, shift) for place, shift in enumerate(shifts) if shift is not None
        }
        # An index may look at the variable in an if-then-else; plain ones are settled above.
        parts = [index for index, shift in zip(indices, shifts, strict=True) if shift is None]
    if op in ("eq", "lt", "le"):
        for mine, other in ((args[0], args[1]), (args[1], args[0])):
            shift = _shift(mine, name)
            if shift is not None and name not in other.free:
                return _Uses(compared=frozenset({(other, shift)}))
    inner = [_uses(part, name) for part in parts]
    return _Uses(
        frozenset(as_index).union(*(one.as_index for one in inner)),
        frozenset().union(*(one.compared for one in inner)),
        any(one.by_itself for one in inner),
    )


def _shift(term: Term, name: str) -> int | None:
    """c, if the term is the variable plus c."""
    if term.op == "var" and term.args[0] == name:
        return 0
    if term.op == "add" and term.args[0].op == "var" and term.args[0].args[0] == name:
        return int(term.args[1].args[0])
    return None
