"""Reached states within small bounds as columns, and the clauses that hold in all of them.

The native engine visits the states. A row is a state with values for the variables of a slice; a
literal is a column of bits, and a clause holds if no row lacks all of its literals.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from model.language import RecordedSystem
from model.language import terms as t
from model.language.sorts import BOOL
from model.language.terms import Term
from specs.finding.vocabulary import Literal, Slice
from specs.lowering.grounding import Grounded

Column = npt.NDArray[np.uint64]
Report = Callable[[str], None]


class Rows:
    """States as a column a cell; terms over cells are evaluated for all of them at once."""

    def __init__(
        self, grounded: Grounded, columns: Sequence[npt.NDArray[Any]], complete: bool = False,
        count: int | None = None,
    ) -> None:  # fmt: skip
        self.grounded, self.columns, self.complete = grounded, columns, complete
        self.count = len(columns[0]) if count is None else count
        self._memo: dict[Term, Any] = {}

    def forget(self) -> None:
        """Frees what was kept of terms."""
        self._memo.clear()

    def of(self, term: Term) -> Any:
        """A grounded term in every state."""
        found = self._memo.get(term)
        if found is None:
            found = self._memo[term] = self._of(term)
        return found

    def _of(self, term: Term) -> Any:
        op, args = term.op, term.args
        if op == "const":
            return args[0]
        if op == "cell":
            return self.columns[args[0]]
        parts = [self.of(arg) for arg in args]
        if op == "not":
            return np.logical_not(parts[0])
        if op == "and":
            return np.logical_and.reduce([self.wide(part) for part in parts])
        if op == "or":
            return np.logical_or.reduce([self.wide(part) for part in parts])
        if op == "eq":
            return np.equal(*parts)
        if op == "lt":
            return np.less(*parts)
        if op == "le":
            return np.less_equal(*parts)
        if op == "add":
            return np.add(*parts)
        if op == "ite":
            return np.where(*parts)
        if op == "total":
            return np.sum([self.wide(part).astype(np.int16) for part in parts], axis=0)
        raise AssertionError(f"{op} is no operation over cells")

    def wide(self, value: Any) -> npt.NDArray[Any]:
        """A value for every state, also where it is the same for all."""
        return value if isinstance(value, np.ndarray) else np.full(self.count, value)


FURTHER = 12
"""How many more states are reached than are looked at for all candidates at once."""


def reached(
    recorded: RecordedSystem, bounds: Mapping[str, int], also: Sequence[Term], most: int,
    share: int, report: Report,
) -> tuple[Rows, Rows]:  # fmt: skip
    """States that the native engine reaches, level by level: all, or up to `FURTHER` times `most`.

    The first of the two has `most` of them or a `share` of that, of every level alike: the first
    levels alone would say little of what comes late. The second has all; its columns are read when
    asked for.
    """
    from specs.native.kernel import kernel_of
    from specs.native.search import Options, Search

    grounded = Grounded(recorded, bounds, [], also=also)
    kernel = kernel_of(grounded)
    search = Search(kernel, Options(max_states=FURTHER * most, workers=1), report)
    search.go()
    count = search.store.count
    words = search.store.states[: count * kernel.words].reshape(count, kernel.words)
    complete = search.stopped is None
    some = np.arange(count)
    if count > most // share:
        some = np.sort(np.random.default_rng(0).choice(count, most // share, replace=False))
    chosen = _Columns(grounded, kernel, words[some])
    return (Rows(grounded, [chosen[n] for n in range(len(chosen))], complete),
            Rows(grounded, _Columns(grounded, kernel, words), complete, count))  # fmt: skip


class _Columns(Sequence[npt.NDArray[Any]]):
    """A column a cell, unpacked from the states' words when it is asked for."""

    def __init__(self, grounded: Grounded, kernel: Any, words: npt.NDArray[np.uint64]) -> None:
        self._grounded, self._kernel, self._words = grounded, kernel, words

    def __len__(self) -> int:
        return len(self._grounded.cells)

    def __getitem__(self, number: Any) -> Any:
        cell, packing = self._grounded.cells[number], self._kernel.packing
        place = packing.places.get(cell.number)
        if place is None:
            code = packing.frozen.get(cell.number, cell.domain[0])
            column = np.full(len(self._words), code, np.int16)
        else:
            bits = (self._words[:, place.word] >> np.uint64(place.shift)) & np.uint64(place.mask)
            column = bits.astype(np.int16) + np.int16(place.low)
        return column.astype(bool) if cell.field.sort is BOOL else column


def chosen_values(one: Slice, bounds: Mapping[str, int]) -> Iterator[dict[str, Term]]:
    """All values of a slice's variables; of two brokers only different ones, in both orders."""
    domains = [v.sort.domain(bounds) for v in one.variables]
    for values in itertools.product(*domains):
        yield {v.args[0]: t.const(code) for v, code in zip(one.variables, values, strict=True)}


class Slices:
    """The columns of a slice's literals, packed to bits, one stretch of rows after the other."""

    def __init__(self, rows: Rows, one: Slice, literals: Sequence[Literal]) -> None:
        self.slice = one
        choices = list(chosen_values(one, rows.grounded.bounds))
        self.columns: list[Column] = []
        for literal in literals:
            parts = [
                np.packbits(rows.wide(rows.of(rows.grounded.ground(literal.term, chosen)))
                            .astype(bool))
                for chosen in choices
            ]  # fmt: skip
            self.columns.append(_words(np.concatenate(parts)))
        rows.forget()
        whole = np.packbits(np.ones(rows.count, bool))
        self.real = _words(np.concatenate([whole] * len(choices)))

    def columns_of_both(self) -> list[Column]:
        """The columns, and those of the negations behind them."""
        return [*self.columns, *((~column) & self.real for column in self.columns)]


def _words(packed: npt.NDArray[np.uint8]) -> Column:
    pad = -len(packed) % 8
    return np.concatenate([packed, np.zeros(pad, np.uint8)]).view(np.uint64)


def clauses_that_hold(seen: Slices, literals: Sequence[Literal]) -> Iterable[tuple[Literal, ...]]:
    """Every clause of one or two literals that no row refutes, and no part of which holds alone.

    Literals that agree in every row stand for each other: each is tied to the plainest of them.
    """
    both = [*literals, *(one.negated for one in literals)]
    columns = seen.columns_of_both()
    always = {i for i, column in enumerate(columns) if np.array_equal(column, seen.real)}
    size = len(literals)
    never = {(i + size) % (2 * size) for i in always}
    for i in sorted(always):
        yield (both[i],)
    left = [i for i in range(2 * size) if i not in always and i not in never]
    plainest: dict[bytes, int] = {}
    kept = []
    for i in left:
        key = columns[i].tobytes()
        if key in plainest:
            first = plainest[key]
            yield (both[(first + size) % (2 * size)], both[i])
            yield (both[first], both[(i + size) % (2 * size)])
        else:
            plainest[key] = i
            kept.append(i)
    matrix = np.stack([columns[i] for i in kept]) if kept else np.zeros((0, 1), np.uint64)
    for at, i in enumerate(kept):
        # `not i and not j` in no row: the clause `i or j` holds.
        lacking = (~columns[i]) & seen.real
        rest = matrix[at + 1 :]
        if not len(rest):
            break
        refuted = ((~rest) & lacking).any(axis=1)
        for offset in np.flatnonzero(~refuted):
            j = kept[at + 1 + int(offset)]
            yield (both[i], both[j])


SAMPLE = 24
"""Words of a column that refute most clauses: only what they leave is looked at in full."""


def clauses_against(
    seen: Slices, literals: Sequence[Literal], truths: Sequence[npt.NDArray[np.bool_]], most: int
) -> list[tuple[Literal, ...]]:
    """Clauses of up to three literals that hold in every row, and do not in a state.

    `truths` has, by choice of values for the slice's variables, whether each literal is true in
    that state. At most `most`, the fewest literals first, then the plainest.
    """
    both = [*literals, *(one.negated for one in literals)]
    columns = seen.columns_of_both()
    found: dict[frozenset[int], None] = {}
    for true in truths:
        distinct: dict[bytes, int] = {}
        for i in np.flatnonzero(np.concatenate([true, ~true])):
            distinct.setdefault(columns[int(i)].tobytes(), int(i))
        chosen = list(distinct.values())
        if not chosen:
            continue
        matrix = np.stack([columns[i] for i in chosen])
        for parts in _never_together(matrix, most):
            found[frozenset(chosen[part] for part in parts)] = None
    size = len(literals)
    ordered = sorted(
        found, key=lambda parts: (len(parts), sum(both[i].cost for i in parts), sorted(parts))
    )
    return [tuple(both[(i + size) % (2 * size)] for i in sorted(parts)) for parts in ordered][:most]


def _never_together(matrix: npt.NDArray[np.uint64], most: int) -> Iterator[tuple[int, ...]]:
    """Sets of one to three rows of bits, none needless, that have no bit in common."""
    count = len(matrix)
    alone = [i for i in range(count) if matrix[i].any()]
    for i in sorted(set(range(count)) - set(alone)):
        yield (i,)
    found = 0
    for at, i in enumerate(alone):
        for step, j in enumerate(alone[at + 1 :], at + 2):
            common = matrix[i] & matrix[j]
            where = np.flatnonzero(common)
            if not len(where):
                yield (i, j)
                continue
            rest = alone[step:]
            if found >= most or not rest:
                continue
            some = where[:: max(1, len(where) // SAMPLE)][:SAMPLE]
            left = matrix[rest][:, some] & common[some]
            for position in np.flatnonzero(~left.any(axis=1)):
                k = rest[int(position)]
                if not (matrix[k][where] & common[where]).any() and (
                    (matrix[i] & matrix[k]).any() and (matrix[j] & matrix[k]).any()
                ):
                    found += 1
                    yield (i, j, k)
