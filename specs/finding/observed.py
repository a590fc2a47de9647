"""Reached states within small bounds as columns, and the clauses that hold in all of them.

The native engine visits the states. A row is a state with values for the variables of a slice. A
literal is a column of bits, and a clause holds if every row satisfies one of its literals.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from model.language import RecordedSystem
from model.language import terms as t
from model.language.sorts import BOOL, Sort
from model.language.terms import Term
from specs.finding.vocabulary import Literal, SliceVariables
from specs.lowering.grounding import Grounded
from specs.lowering.instances import Instance

Column = npt.NDArray[np.uint64]
Report = Callable[[str], None]


class StateRows:
    """States stored as one column for each cell; terms are evaluated in all states at once."""

    def __init__(
        self, grounded: Grounded, columns: Sequence[npt.NDArray[Any]], complete: bool = False,
        count: int | None = None,
    ) -> None:  # fmt: skip
        self.grounded, self.columns, self.complete = grounded, columns, complete
        self.count = len(columns[0]) if count is None else count
        self._memo: dict[Term, Any] = {}

    def thinned(self, most: int) -> StateRows:
        """At most `most` of the states, evenly spread."""
        if self.count <= most:
            return self
        some = np.linspace(0, self.count - 1, most).astype(np.int64)
        return StateRows(self.grounded, [column[some] for column in self.columns])

    def forget(self, most: int = 0) -> None:
        """Clears the cache of evaluated terms, if it has more than `most`."""
        if len(self._memo) > most:
            self._memo.clear()

    def of(self, term: Term) -> Any:
        """The value of a grounded term in every state."""
        found = self._memo.get(term)
        if found is None:
            found = self._memo[term] = self._evaluate(term)
        return found

    def _evaluate(self, term: Term) -> Any:
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

    def breaking(self, term: Term) -> StateRows | None:
        """Some of the states in which a closed term does not hold, if there are any."""
        holds = self.wide(self.of(self.grounded.ground(term, {}))).astype(bool)
        self.forget()
        some = np.flatnonzero(~holds)[:LEARNED]
        if not len(some):
            return None
        columns = [self.columns[number][some] for number in range(len(self.columns))]
        return StateRows(self.grounded, columns)

    def wide(self, value: Any) -> npt.NDArray[Any]:
        """A value as an array with one entry for every state."""
        return value if isinstance(value, np.ndarray) else np.full(self.count, value)


FURTHER = 12
"""Ratio of the states that are reached to those that are checked for all candidates at once."""


def reached(
    recorded: RecordedSystem, bounds: Mapping[str, int], also: Sequence[Term], most: int,
    share: int, report: Report,
) -> tuple[StateRows, StateRows]:  # fmt: skip
    """States that the native engine reaches, level by level: all, or up to `FURTHER` times `most`.

    The first result is a random sample of at most `most` / `share` states from all levels, because
    the first levels alone would show little of later states. The second has all states; its columns
    are unpacked on demand.
    """
    from specs.native.kernel import kernel_of
    from specs.native.search import NativeSearch, SearchOptions

    grounded = Grounded(recorded, bounds, [], also=also)
    kernel = kernel_of(grounded)
    search = NativeSearch(kernel, SearchOptions(max_states=FURTHER * most, workers=1), report)
    search.run()
    count = search.store.count
    words = search.store.states[: count * kernel.words].reshape(count, kernel.words)
    complete = search.stopped is None
    some = np.arange(count)
    if count > most // share:
        some = np.sort(np.random.default_rng(0).choice(count, most // share, replace=False))
    chosen = _CellColumns(grounded, kernel, words[some])
    return (
        StateRows(grounded, [chosen[n] for n in range(len(chosen))], complete),
        StateRows(grounded, _CellColumns(grounded, kernel, words), complete, count),
    )


class _CellColumns(Sequence[npt.NDArray[Any]]):
    """One column for each cell, unpacked from the states' words on demand."""

    def __init__(self, grounded: Grounded, kernel: Any, words: npt.NDArray[np.uint64]) -> None:
        self._grounded, self._kernel, self._packed_words = grounded, kernel, words

    def __len__(self) -> int:
        return len(self._grounded.cells)

    def __getitem__(self, number: Any) -> Any:
        cell, packing = self._grounded.cells[number], self._kernel.packing
        place = packing.places.get(cell.number)
        if place is None:
            code = packing.frozen.get(cell.number, cell.domain[0])
            column = np.full(len(self._packed_words), code, np.int16)
        else:
            bits = (self._packed_words[:, place.word] >> np.uint64(place.shift)) & np.uint64(
                place.mask
            )
            column = bits.astype(np.int16) + np.int16(place.low)
        return column.astype(bool) if cell.field.sort is BOOL else column


def chosen_values(one: SliceVariables, bounds: Mapping[str, int]) -> Iterator[dict[str, Term]]:
    """All combinations of values of a slice's variables within the bounds."""
    domains = [v.sort.domain(bounds) for v in one.variables]
    for values in itertools.product(*domains):
        yield {v.args[0]: t.const(code) for v, code in zip(one.variables, values, strict=True)}


LOOK = 20_000
"""States of each kind in which a clause is checked once more, beside those of the sample."""

KEPT = 4_000
"""Terms whose values in all of these states are cached at a time."""

CHOICES = 120
"""Choices of values for a slice's variables in the sample."""

LEARNED = 64
"""Rows that refute a clause and join the sample, for each choice of values."""


def _different_choices(one: SliceVariables, grounded: Grounded) -> list[dict[str, Term]]:
    """One choice of values for each orbit of brokers. A broker that some field has as its initial
    value, as a blank field has the first broker, forms an orbit alone: the reached states are not
    symmetric in it."""
    named = {code for cell, code in zip(grounded.cells, grounded.initial, strict=True)
             if _is_broker(cell.field.sort)}  # fmt: skip
    return [chosen for chosen in chosen_values(one, grounded.bounds)
            if _is_first_of_its_orbit(one, chosen, named)]  # fmt: skip


def _is_first_of_its_orbit(
    one: SliceVariables, chosen: Mapping[str, Term], named: Collection[int]
) -> bool:
    """Do the brokers, except those in `named`, first occur in ascending order without gaps?"""
    codes = [chosen[v.args[0]].args[0] for v in one.variables if _is_broker(v.sort)]
    first = list(dict.fromkeys(code for code in codes if code and code not in named))
    others = (code for code in itertools.count(1) if code not in named)
    return first == list(itertools.islice(others, len(first)))


def _is_broker(sort: Sort) -> bool:
    return getattr(sort, "bound", None) == "brokers"


class SliceSample:
    """Rows of a slice for any literals: a random sample, and the states that refuted earlier
    clauses.
    """

    def __init__(self, blocks: Sequence[StateRows], one: SliceVariables, most: int) -> None:
        self._slice, self._looked_at = one, [*blocks]
        self._choices = [_different_choices(one, block.grounded) for block in blocks]
        self._stretches: list[tuple[StateRows, dict[str, Term]]] = []
        random = np.random.default_rng(0)
        for block, choices in zip(blocks, self._choices, strict=True):
            some = random.permutation(len(choices))[:CHOICES]
            rows = block.thinned(max(1, most // len(some)))
            self._stretches += [(rows, choices[at]) for at in sorted(some)]
        self._bits: dict[tuple[int, Term], npt.NDArray[np.uint8]] = {}
        """By rows and grounded term: most literals mention few of the variables."""
        self._packed: dict[Term, list[npt.NDArray[np.uint8]]] = {}

    def learn(self, rows: StateRows) -> None:
        """Adds states that may refute a clause."""
        self._looked_at.append(rows)
        self._choices.append(_different_choices(self._slice, rows.grounded))

    def columns(self, literals: Sequence[Literal]) -> tuple[list[Column], Column]:
        """A column of bits for each literal, and a column that marks which bits are rows."""
        real = [self._packed_bits(rows, t.TRUE) for rows, _ in self._stretches]
        columns = [_packed_words(np.concatenate(self._column(one.atom))) for one in literals]
        return columns, _packed_words(np.concatenate(real))

    def _column(self, atom: Term) -> list[npt.NDArray[np.uint8]]:
        found = self._packed.setdefault(atom, [])
        found += [
            self._packed_bits(rows, rows.grounded.ground(atom, chosen))
            for rows, chosen in self._stretches[len(found) :]
        ]  # fmt: skip
        return found

    def _packed_bits(self, rows: StateRows, term: Term) -> npt.NDArray[np.uint8]:
        found = self._bits.get((id(rows), term))
        if found is None:
            value = rows.wide(rows.of(term)).astype(bool)
            found = self._bits[id(rows), term] = np.packbits(value)
        return found

    def refutes(self, clause: Sequence[Literal]) -> bool:
        """Does a state outside the sample refute the clause? Such states then join the sample."""
        free = sorted(frozenset[str]().union(*(one.term.free for one in clause)))
        for rows, choices in zip(self._looked_at, self._choices, strict=True):
            different = {tuple(chosen[name] for name in free): chosen for chosen in choices}
            for chosen in different.values():
                left: Any = True
                for one in clause:
                    term = rows.grounded.ground(one.atom, chosen)
                    left = left & (rows.wide(rows.of(term)).astype(bool) != one.holds)
                    if not left.any():
                        break
                else:
                    some = np.flatnonzero(left)[:LEARNED]
                    self._stretches.append(
                        (
                            StateRows(rows.grounded, [column[some] for column in rows.columns]),
                            chosen,
                        )
                    )
                    return True
            rows.forget(KEPT)
        return False


def _packed_words(packed: npt.NDArray[np.uint8]) -> Column:
    pad = -len(packed) % 8
    return np.concatenate([packed, np.zeros(pad, np.uint8)]).view(np.uint64)


OFFERED = 3
"""Instances of each transition that may be taken at one time; the next time it is others."""

STALE = 8
"""Steps to states visited before, after which a walk continues from another state."""

TASTE = 6
"""Steps after which a walk changes the transitions that it omits and those that it prefers."""


def walked(grounded: Grounded, walks: int, length: int, seed: int, report: Report) -> StateRows:
    """States along random walks, within larger bounds than can be explored; the first is initial.

    Each walk omits half of the transitions and prefers some of the others, so that some walks get
    far with steps that are rare in others. A walk that finds no new state continues from a reached
    state: states are grouped by their fields without index, and each group is equally likely.
    """
    random = np.random.default_rng(seed)
    by_kind: dict[str, list[Instance]] = {}
    for one in grounded.instances:
        if not any(condition is t.FALSE for condition, _ in one.requires):
            by_kind.setdefault(one.step.transition.name, []).append(one)
    states = np.repeat(np.array(grounded.initial, np.int16)[None, :], walks, axis=0)
    seen = {states[0].tobytes(): states[0]}
    plain = [cell.number for cell in grounded.cells if not cell.field.dims]
    alike = {states[0][plain].tobytes(): [states[0]]}
    stale = np.zeros(walks, np.int64)
    for number in range(length):
        report(f"random walks: step {number + 1} of {length}, {len(seen):,} states")
        if number % TASTE == 0:
            liking = random.random((walks, len(by_kind)))
            left_out = random.random(liking.shape) < 1 / 2
        rows = _rows_of(grounded, states)
        offered, chance = [], []
        for kind, instances in enumerate(by_kind.values()):
            taste = liking[:, kind] + random.random(walks)
            for at in random.permutation(len(instances))[:OFFERED]:
                possible = ~left_out[:, kind]
                one = instances[int(at)]
                for term in (*(c for c, _ in one.requires), *(c.fine for c in one.checks)):
                    possible &= rows.wide(rows.of(term)).astype(bool)
                offered.append(one)
                # A transition first, then an instance: else those with many instances would win.
                chance.append(np.where(possible, taste * 8 + random.random(walks), -1))
        best, any_possible = np.argmax(chance, axis=0), np.max(chance, axis=0) >= 0
        states = states.copy()
        for at, one in enumerate(offered):
            who = np.flatnonzero((best == at) & any_possible)
            if len(who):
                here = _rows_of(grounded, states[who])
                for cell, term in one.writes.items():
                    states[who, cell] = here.wide(here.of(term))
        for place, state in enumerate(states.copy()):
            if seen.setdefault(state.tobytes(), state) is state:
                alike.setdefault(state[plain].tobytes(), []).append(state)
                stale[place] = 0
            else:
                stale[place] += 1
        again = np.flatnonzero(stale >= STALE)
        several = list(alike.values())
        for walk, kind, which in zip(again, random.integers(len(several), size=len(again)),
                                     random.random(len(again)), strict=True):  # fmt: skip
            states[walk] = several[kind][int(which * len(several[kind]))]
        stale[again] = 0
    return _rows_of(grounded, np.array(list(seen.values())))


def _rows_of(grounded: Grounded, states: npt.NDArray[np.int16]) -> StateRows:
    columns = [
        states[:, cell.number].astype(bool) if cell.field.sort is BOOL else states[:, cell.number]
        for cell in grounded.cells
    ]
    return StateRows(grounded, columns)


MOST_LITERALS = 7
"""A clause of more says what one state is not, and little else."""

OPENED = 6_000
"""Sets of literals that are looked at against one state, the plainest first."""

UNPACKED = 1 << 16
"""Rows whose literals are compared at a time."""


_OpenSet = tuple[int, int, tuple[int, ...], frozenset[str], npt.NDArray[np.uint8]]
"""Its cost, its number, its literals, their variables, and the rows that lack none of those before
the last."""


class ClauseGeneraliser:
    """Makes clauses that no row refutes and one state does: they deny facts only that state has.

    Literals of a state that never occur together cover the rows: each row lacks one of them. So
    the next literal is chosen among those that the row with the fewest missing literals lacks.
    """

    def __init__(self, rows: npt.NDArray[np.bool_]) -> None:
        """Rows of literals by position, each row once."""
        self._rows = rows

    @classmethod
    def of_columns(cls, columns: Sequence[Column], real: Column) -> ClauseGeneraliser:
        """Rows as a column of bits for each literal, and which of them are rows."""
        return cls(_different_rows(columns, real))

    def against(
        self, truth: npt.NDArray[np.bool_], literals: Sequence[Literal]
    ) -> Iterator[tuple[int, ...]]:
        """The minimal sets of literals that have the values in `truth` together in no row, by
        position: the simplest first, with few literals and few variables."""
        if not len(truth):
            return
        same = self._rows == truth
        same = same[np.argsort(-same.sum(axis=1), kind="stable")]
        columns = np.packbits(same, axis=0).T.copy()
        costs = [one.cost + 1 for one in literals]
        variables = [one.term.free for one in literals]
        everything = np.packbits(np.ones(len(same), bool))
        number = itertools.count()
        open_sets: list[_OpenSet] = [(0, 0, (), frozenset(), everything)]
        seen: set[tuple[int, ...]] = set()
        for _ in range(OPENED):
            if not open_sets:
                return
            cost, _, chosen, free, before = heapq.heappop(open_sets)
            left = before & columns[chosen[-1]] if chosen else before
            first = int((left != 0).argmax())
            if not left[first]:
                if all(np.bitwise_and.reduce(columns[[*chosen[:at], *chosen[at + 1 :]]], axis=0,
                                             initial=255).any()
                       for at in range(len(chosen))):  # fmt: skip
                    yield tuple(sorted(chosen))
                continue
            if len(chosen) == MOST_LITERALS:
                continue
            row = 8 * first + 8 - int(left[first]).bit_length()
            for one in np.flatnonzero(~same[row]):
                more = (*chosen, int(one))
                key = tuple(sorted(more))
                if key not in seen:
                    seen.add(key)
                    wider = free | variables[one]
                    heapq.heappush(open_sets, (
                        cost + costs[one] + 2 * (len(wider) - len(free)), next(number), more, wider,
                        left))  # fmt: skip


def _different_rows(columns: Sequence[Column], real: Column) -> npt.NDArray[np.bool_]:
    """The rows as literals by position, each once."""
    packed = np.zeros((0, (len(columns) + 7) // 8), np.uint8)
    if not columns:
        return np.zeros((0, 0), bool)
    as_bytes = [column.view(np.uint8) for column in (*columns, real)]
    for begin in range(0, len(as_bytes[-1]), UNPACKED // 8):
        part = np.unpackbits(np.stack([one[begin : begin + UNPACKED // 8] for one in as_bytes]),
                             axis=1)  # fmt: skip
        rows = np.packbits(part[:-1, part[-1] != 0], axis=0).T
        packed = np.unique(np.concatenate([packed, rows]), axis=0)
    return np.unpackbits(packed, axis=1, count=len(columns)).astype(bool)
