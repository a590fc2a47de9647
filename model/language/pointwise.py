"""Where a pointwise definition over unbounded numbers can differ from blank.

`new.request = lam(EPOCHS, lambda e: when(e == now.epoch, sent, now.request[e]))` says something of
every epoch; a sparse state needs the few for which it says something. A definition looks at its
variable in three ways only: as an index of a field (it matters where the field has an entry), in a
comparison (it matters where the two are equal), or as a value by itself. So between two
neighbouring numbers that matter it is constant, and one sample speaks for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
        if position == len(self._write.variables):
            yield ()
            return
        variable = self._write.variables[position]
        bottom, top = self._twin.ends(variable.sort)
        values = (
            self._that_matter(environment, position, bottom)
            if top is None
            else iter(range(bottom, top + 1))
        )
        for value in values:
            for rest in self.indices({**environment, variable.args[0]: value}, position + 1):
                yield (value, *rest)

    def _that_matter(self, environment: Environment, position: int, bottom: int) -> Iterator[int]:
        name = self._write.variables[position].args[0]
        points = {self._entry(index, position) for index in self._state.get(self._write.field, {})}
        stands_alone = self._collect(self._write.value, name, environment, points)
        ordered = sorted(point for point in points if point >= bottom)
        follows = bottom
        for point in ordered:
            if follows < point and (stands_alone or self._speaks(environment, position, follows)):
                yield from range(follows, point)
            yield point
            follows = point + 1
        if stands_alone or self._speaks(environment, position, follows):
            raise ProtocolError(
                f"{self._write.field} would differ from blank at infinitely many indices; "
                "give the bound of its index"
            )

    def _entry(self, index: Index, position: int) -> int:
        return index[len(self._write.keys) + position]

    def _speaks(self, environment: Environment, position: int, sample: int) -> bool:
        """Is anything but blank defined at this value of the variable?"""
        names = [variable.args[0] for variable in self._write.variables[position:]]
        inner = {**environment, names[0]: sample}
        return any(
            self._twin.value(
                self._write.value, self._state, {**inner, **dict(zip(names[1:], rest, strict=True))}
            )
            != self._blank
            for rest in self.indices(inner, position + 1)
        )

    def _collect(self, term: Term, name: str, environment: Environment, points: set[int]) -> bool:
        """Adds the numbers that matter; True if the variable is used as a value by itself."""
        if name not in term.free:
            return False
        op, args = term.op, term.args
        if op == "var":
            return True
        if op == "get":
            self._collect_index(term, name, points)
            # An index may look at the variable in an if-then-else; plain ones are settled above.
            parts = [i for i in args[1:] if _shift(i, name) is None]
            return self._collect_all(parts, name, environment, points)
        if op in ("eq", "lt", "le"):
            for mine, other in ((args[0], args[1]), (args[1], args[0])):
                shift = _shift(mine, name)
                if shift is not None and name not in other.free:
                    points.add(self._evaluated(other, environment) - shift)
                    return False
        parts = [arg for arg in args if isinstance(arg, Term)]
        return self._collect_all(parts, name, environment, points)

    def _collect_all(
        self, parts: list[Term], name: str, environment: Environment, points: set[int]
    ) -> bool:
        stand_alone = [self._collect(part, name, environment, points) for part in parts]
        return any(stand_alone)

    def _collect_index(self, term: Term, name: str, points: set[int]) -> None:
        field, *indices = term.args
        for place, index in enumerate(indices):
            shift = _shift(index, name)
            if shift is not None:
                points |= {entry[place] - shift for entry in self._state.get(field, {})}

    def _evaluated(self, term: Term, environment: Mapping[str, int | frozenset[int]]) -> int:
        if not term.free <= set(environment):
            raise ProtocolError(
                f"{self._write.field} compares its index with {term}, which varies; "
                "give the bound of its index"
            )
        return self._twin.value(term, self._state, dict(environment))


def _shift(term: Term, name: str) -> int | None:
    """c, if the term is the variable plus c."""
    if term.op == "var" and term.args[0] == name:
        return 0
    if term.op == "add" and term.args[0].op == "var" and term.args[0].args[0] == name:
        return int(term.args[1].args[0])
    return None
