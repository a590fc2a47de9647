"""Small instances of every system and version, their kernels, and kernels called by hand."""

from __future__ import annotations

import ctypes
import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pytest

from model.language.sorts import Enumeration
from model.systems import SYSTEMS
from specs.lowering.grounding import Grounded
from specs.lowering.llvm_terms import LANES
from specs.lowering.packing import Packing
from specs.native.kernel import Kernel, kernel_of
from tests.language.sampling import Small

Codes = tuple[int, ...]
Words = tuple[int, ...]


@dataclass(frozen=True)
class SmallInstance:
    """A system, a version of it, and bounds that keep it small."""

    system: str
    version: str
    bounds: tuple[tuple[str, int], ...] = ()
    without: tuple[str, ...] = ()

    @property
    def changed(self) -> dict[str, object]:
        """The switches that are reverted."""
        return dict.fromkeys(self.without, False)

    def small(self) -> Small:
        """The instance with its generated Python and its twin."""
        return Small(SYSTEMS[self.system], self.version, dict(self.bounds), self.changed)

    def __str__(self) -> str:
        shown = ",".join(f"{name}={size}" for name, size in self.bounds)
        return " ".join(part for part in (self.system, self.version, shown, *self.without) if part)


def different_versions(system: str) -> list[str]:
    """The versions of a system without those whose switches are an earlier one's."""
    seen: list[Mapping[str, object]] = []
    chosen = []
    for name, version in SYSTEMS[system].versions.items():
        if version.switches not in seen:
            seen.append(version.switches)
            chosen.append(name)
    return chosen


def sizes(system: str, **bounds: int) -> list[SmallInstance]:
    """Every version of a system (every design) at one size."""
    return [
        SmallInstance(system, version, tuple(bounds.items()))
        for version in different_versions(system)
    ]


UNFENCED = SmallInstance("election", "2.3", (("brokers", 2), ("epoch", 1)), ("requests_fenced",))
SMALLEST = [
    *sizes("classic", brokers=2, log=1, records=1, epoch=1),
    *sizes("election", brokers=2, epoch=1),
    UNFENCED,
    *sizes("replication", epoch=1, versions=1),
]
"""Every version of every system; together some ten thousand states."""

THREE_BROKERS = [
    *sizes("classic", brokers=3, log=1, records=1, epoch=1),
    *sizes("election", brokers=3, epoch=1)[:1],
]
BUSY = {"controllers": 3, "epoch": 4, "versions": 6, "crashes": 2, "expiries": 3, "losses": 2}


BETWEEN = ("0.11", "2.0", "2.1", "2.3")
"""Releases of `replication` that differ from the first or the last of `SMALLEST` in few steps; by
machine code alone they are explored in other tests."""


def each(sizes: Sequence[SmallInstance]) -> Any:
    """Runs a test for each of the sizes, under their names; `BETWEEN` with --deep."""
    deep = [
        pytest.param(one, marks=pytest.mark.deep)
        if one.system == "replication" and one.version in BETWEEN
        else one
        for one in sizes
    ]
    return pytest.mark.parametrize("size", deep, ids=str)


# -- kernels called by hand -------------------------------------------------------------------


@dataclass
class ExpandedStates:
    """What `expand` said about some states; `broken` is the check that a successor did not pass."""

    successors: list[Words] = field(default_factory=list)
    origins: list[int] = field(default_factory=list)
    fired: list[int] = field(default_factory=list)
    refused: set[int] = field(default_factory=set)
    pruned: dict[str, int] = field(default_factory=dict)
    dead_ends: int = 0
    broken: str | None = None


SENTINEL = 0xA5A5_5A5A_DEAD_BEEF
ADDRESS, NUMBER = ctypes.c_void_p, ctypes.c_int64
_EXPAND = [ADDRESS, NUMBER, NUMBER, ADDRESS, NUMBER, ADDRESS, ADDRESS, ADDRESS]


class Called:
    """A kernel's functions on single states, without the search around them."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        expand, judge, judge_step, canonical, *_ = kernel.addresses
        self._expand = ctypes.CFUNCTYPE(NUMBER, *_EXPAND)(expand)
        self._judge = ctypes.CFUNCTYPE(NUMBER, ADDRESS, ADDRESS)(judge)
        self._judge_step = ctypes.CFUNCTYPE(ctypes.c_uint64, ADDRESS, ADDRESS)(judge_step)
        if canonical:
            self._least = ctypes.CFUNCTYPE(NUMBER, ADDRESS, NUMBER)(canonical)

    def expand(self, state: Words) -> ExpandedStates:
        """The successors of one state, and what was counted."""
        return self.expand_together([state])

    def expand_together(
        self, states: Sequence[Words], first: int = 0, begin: int = 0
    ) -> ExpandedStates:
        """The same of several states at once, the first of which has the number `first`."""
        kernel = self.kernel
        out = np.full((kernel.words + 1, kernel.code.row), SENTINEL, np.uint64)
        fired, refused, pruned = tallies = kernel.tallies()
        given = self._side_by_side(states)
        before = bytes(given)
        addresses = [array.ctypes.data for array in tallies]
        end = self._expand(given, len(states), first, out.ctypes.data, begin, *addresses)
        assert bytes(given) == before, "expand changes nothing of the states that it is given"
        if end < 0:
            one = kernel.code.checks[-end - 1]
            return ExpandedStates(broken=f"{one.label}: {one.check.what}")
        assert end - begin <= kernel.most * len(states)
        untouched = (out[:, :begin] == SENTINEL).all() and (out[:, end + LANES :] == SENTINEL).all()
        assert untouched, "nothing is written before the successors, or far behind them"
        found = out[:, begin:end].T.tolist()
        return ExpandedStates(
            [tuple(one[:-1]) for one in found],
            [one[-1] for one in found],
            fired.tolist(),
            {*np.flatnonzero(refused).tolist(), *kernel.code.always_refused},
            {name: int(n) for name, n in zip(kernel.code.bounds, pruned, strict=False) if n},
            int(pruned[-1]),
        )

    def judge(self, state: Words) -> dict[str, bool]:
        """The truth of every claim about states in one state."""
        return self.judge_together([state])[0]

    def judge_together(self, states: Sequence[Words]) -> list[dict[str, bool]]:
        """The same of several states at once."""
        truths = (ctypes.c_uint64 * LANES)()
        self._judge(self._side_by_side(states), truths)
        about_steps = self.kernel.grounded.is_about_steps
        return [
            {name: truth for name, truth in self._truths(bits) if not about_steps(name)}
            for bits in truths[: len(states)]
        ]

    def judge_step(self, state: Words, after: Words) -> dict[str, bool]:
        """The truth of every claim about steps for one step."""
        bits = self._judge_step(self._array(state), self._array(after))
        about_steps = self.kernel.grounded.is_about_steps
        return {name: truth for name, truth in self._truths(bits) if about_steps(name)}

    def _truths(self, bits: int) -> list[tuple[str, bool]]:
        return [(name, bool(bits >> bit & 1)) for bit, name in enumerate(self.kernel.code.claims)]

    def canonical(self, state: Words) -> Words:
        """The state that stands for the orbit of one state."""
        return self.canonical_together([state])[0]

    def canonical_together(self, states: Sequence[Words]) -> list[Words]:
        """The same of several states at once: they lie word by word, not one after the other."""
        planes = [[*column, *[0] * (LANES - len(states))] for column in zip(*states, strict=True)]
        array = (ctypes.c_uint64 * (LANES * self.kernel.words))(*itertools.chain(*planes))
        self._least(array, LANES)
        return [tuple(array[lane::LANES]) for lane in range(len(states))]

    def _side_by_side(self, states: Sequence[Words]) -> Any:
        """With something in the lanes that do not count, which must not matter."""
        words = [word for state in states for word in state]
        rest = [SENTINEL] * ((LANES - len(states)) * self.kernel.words)
        return (ctypes.c_uint64 * (LANES * self.kernel.words))(*words, *rest)

    def _array(self, state: Words) -> Any:
        return (ctypes.c_uint64 * self.kernel.words)(*state)


@dataclass
class Pair:
    """One small instance in both lowerings."""

    small: Small
    kernel: Kernel
    called: Called

    @property
    def grounded(self) -> Grounded:
        """Cells and instances, the same for both."""
        return self.kernel.grounded

    @property
    def packing(self) -> Packing:
        """Where the kernel keeps the cells."""
        return self.kernel.packing

    def words(self, state: Any) -> Words:
        """A state of generated Python as the kernel's words."""
        return self.packing.pack(self.small.code.decode(state))

    def fits(self, state: Any) -> bool:
        """Do the cells that no step changes hold what they hold in every run?"""
        codes = self.small.code.decode(state)
        return all(codes[number] == code for number, code in self.packing.frozen.items())

    def renamings(self, codes: Codes) -> list[Codes]:
        """The state under every order of the brokers, repetitions and all: by plain definition."""
        return [
            tuple(
                names[codes[source]] if is_broker else codes[source] for source, is_broker in moves
            )
            for names, moves in self._moves
        ]

    @cached_property
    def _moves(self) -> list[tuple[dict[int, int], list[tuple[int, bool]]]]:
        """By renaming: where each cell's value comes from, and whether it is a broker itself."""
        cells = self.grounded.cells
        number_at = {(cell.field.name, cell.index): cell.number for cell in cells}
        brokers = list(range(1, self.grounded.bounds["brokers"] + 1))
        moves = []
        for chosen in itertools.permutations(brokers):
            names = {0: 0, **dict(zip(brokers, chosen, strict=True))}
            sources = [(0, False)] * len(cells)
            for cell in cells:
                index = tuple(
                    names[at] if isinstance(sort, Enumeration) else at
                    for sort, at in zip(cell.field.dims, cell.index, strict=True)
                )
                is_broker = isinstance(cell.field.sort, Enumeration)
                sources[number_at[cell.field.name, index]] = (cell.number, is_broker)
            moves.append((names, sources))
        return moves

    def random_codes(self, chance: random.Random, near: Codes | None = None) -> Codes:
        """Any state that fits: frozen cells keep their value. `near`: with a few cells changed."""
        free = [cell for cell in self.grounded.cells if cell.number not in self.packing.frozen]
        codes = list(near or self.grounded.initial)
        for cell in free if near is None else chance.sample(free, min(len(free), 4)):
            codes[cell.number] = chance.choice(cell.domain)
        return tuple(codes)


@lru_cache(maxsize=64)
def pair_of(size: SmallInstance, symmetry: bool = False) -> Pair:
    """Both lowerings of a size; made once, for every test that asks."""
    small = size.small()
    kernel = kernel_of(small.grounded, symmetry)
    return Pair(small, kernel, Called(kernel))


@lru_cache(maxsize=8)
def reachable(size: SmallInstance, at_most: int = 10**6) -> tuple[Any, ...]:
    """The states of a size, as generated Python keeps them, breadth first."""
    return tuple(pair_of(size).small.reachable(at_most))
