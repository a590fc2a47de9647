"""Progress claims in machine code: fair components of the states where a condition is false."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from specs.exploration import Report
from specs.lasso import LassoResult, holds, loop_from, unknown_beyond_bounds, vacuous
from specs.lowering.decisions import decision_tree, order_of
from specs.lowering.python_code import PythonCode, State
from specs.native import graph
from specs.native.kernel import Kernel, Tallies
from specs.native.shortest import ShortestRuns
from specs.native.store import Spans, StateStore, Words
from specs.verdict import Verdict

BYTES_A_STATE = 48
"""The condition, where the steps begin, the component, and what Tarjan's algorithm keeps."""

BYTES_A_STEP = 6
MOST_STATES = 2**31 - 1


def words_for(kernel: Kernel) -> int:
    """Words that hold a bit for each instance that some claim treats fairly; at least one."""
    return max((len(kernel.code.fair) + 63) // 64, 1)


@dataclass
class LoopSearch:
    """Answers `eventually` claims, over all states of a complete search."""

    kernel: Kernel
    store: StateStore
    levels: Sequence[Spans]
    generated: int
    report: Report
    _spare: tuple[Tallies, Words] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._spare = (self.kernel.tallies(), self.kernel.planes())

    def ending(self, claim: str) -> LassoResult:
        """The answer about one claim."""
        self.report(f"looking for loops without {claim}")
        a_state = BYTES_A_STATE + 8 * words_for(self.kernel)
        needed = self.store.count * a_state + self.generated * BYTES_A_STEP
        if self.store.bytes_used + needed > self.store.memory_bytes:
            return LassoResult(
                Verdict.UNKNOWN, f"memory: loops would take {needed / 1e6:,.0f} MB more"
            )
        if self.store.count > MOST_STATES:
            return LassoResult(
                Verdict.UNKNOWN, f"{self.store.count:,} states are too many for loops"
            )
        return _LoopSearch(self, claim).answer()


@dataclass
class _LoopSearch:
    loops: LoopSearch
    claim: str

    def __post_init__(self) -> None:
        self.kernel, self.store = self.loops.kernel, self.loops.store
        held = self.store.ends - np.arange(self.store.shards) * self.store.region
        self.offsets = np.concatenate([[0], np.cumsum(held)[:-1]]).astype(np.int64)
        self.component = np.empty(self.store.count, np.int32)

    def _shards(self) -> list[tuple[int, int, int]]:
        """By shard: the indices (begin, end) of its states, and the number of the first."""
        store = self.store
        return [
            (shard * store.region, int(store.ends[shard]), int(self.offsets[shard]))
            for shard in range(store.shards)
        ]

    def answer(self) -> LassoResult:
        """Fair components, then the shortest way into one, then a loop through it."""
        true = self._true_states()
        if true.all():
            return vacuous()
        by_word = words_for(self.kernel)
        taken = np.zeros((self.store.count, by_word), np.uint64)
        starts, targets, labels = self._steps(true, taken)
        count = graph.components(true, starts, targets, self.component)
        found, beyond = np.zeros((2, count, by_word), np.uint64)
        kernel, bits = self.kernel, np.zeros(by_word, np.uint64)
        for begin, end, first in self._shards():
            graph.evidence(
                kernel.words, kernel.possible, self.store.states, begin, end, first, true,
                self.component, starts, targets, labels, taken, found, beyond, bits,
            )  # fmt: skip
        needed = self._fair_bits(by_word)
        fair = ((found & needed) == needed).all(axis=1)
        if fair.any():
            return self._broken(fair)
        stopped = ((beyond & needed) == needed).all(axis=1)
        missing = np.bitwise_or.reduce(needed & ~found[stopped], axis=0, initial=np.uint64(0))
        numbers = [n for i, n in enumerate(kernel.code.fair) if int(missing[i // 64]) >> i % 64 & 1]
        return unknown_beyond_bounds(kernel.grounded, numbers) if numbers else holds()

    def _true_states(self) -> npt.NDArray[np.bool_]:
        kernel, true = self.kernel, np.empty(self.store.count, np.bool_)
        for begin, end, first in self._shards():
            graph.true_states(
                kernel.words, kernel.addresses, self.store.states, begin, end,
                kernel.bits({self.claim}), true, first,
            )  # fmt: skip
        return true

    def _steps(
        self, true: npt.NDArray[np.bool_], taken: Words
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.uint16]]:
        kernel, store = self.kernel, self.store
        order = np.array(
            order_of(decision_tree(kernel.code.frozen.kept, mark_first=True)), np.int64
        )
        label_of = np.full(len(kernel.grounded.instances), graph.NOT_FAIR, np.uint16)
        label_of[kernel.code.fair] = np.arange(len(kernel.code.fair))
        # Room for every step there is; memory is taken only for those that are written.
        starts = np.empty(store.count + 1, np.int64)
        targets = np.empty(self.loops.generated, np.int32)
        labels = np.empty(self.loops.generated, np.uint16)
        step = 0
        self.loops._spare[0][0][:] = 0
        for begin, end, first in self._shards():
            step = graph.steps_between(
                kernel.words, kernel.addresses, store.states, begin, end, first, store.table,
                store.shards, store.part, store.region, self.offsets, true, order, label_of,
                starts, targets, labels, taken, step, *self.loops._spare,
            )  # fmt: skip
            if step < 0:
                raise AssertionError("a step leads to a state that was never visited")
        starts[store.count] = step
        return starts, targets, labels

    def _fair_bits(self, by_word: int) -> npt.NDArray[np.uint64]:
        """The bits of the instances that this claim treats fairly; others' claims have theirs."""
        mine = set(self.kernel.grounded.fair_instances(self.claim))
        needed = [0] * by_word
        for position, number in enumerate(self.kernel.code.fair):
            if number in mine:
                needed[position // 64] |= 1 << position % 64
        return np.array(needed, np.uint64)

    # -- the run ----------------------------------------------------------------------------

    @cached_property
    def _code(self) -> PythonCode:
        return PythonCode(self.kernel.grounded)

    def _broken(self, fair: npt.NDArray[np.bool_]) -> LassoResult:
        depth, members = self._first_fair_level(fair)
        runs = ShortestRuns(
            self.kernel, self.store, self.loops.levels, {self.claim: depth}, {self.claim: members}
        )
        path, state = runs.to(self.claim), self._code.initial
        for number in path:
            state = self._code.attempt(self.kernel.grounded.instances[number], state)
        mine = self._component(runs.index_of(state))

        def is_in_component(other: State) -> bool:
            return self._component(runs.index_of(other)) == mine

        fair_ones = self.kernel.grounded.fair_instances(self.claim)
        loop = loop_from(self._code, state, fair_ones, is_in_component)
        return LassoResult(Verdict.BROKEN, None, path + loop, len(path))

    def _component(self, index: int) -> int:
        shard = index // self.store.region
        return int(self.component[index - shard * self.store.region + self.offsets[shard]])

    def _first_fair_level(self, fair: npt.NDArray[np.bool_]) -> tuple[int, npt.NDArray[np.int64]]:
        """The first level with states of fair components, and the indices of these states."""
        for depth, level in enumerate(self.loops.levels, 1):
            found = []
            for shard, (begin, end) in enumerate(level):
                first = begin - shard * self.store.region + self.offsets[shard]
                mine = self.component[first : first + end - begin]
                found.append(begin + np.flatnonzero((mine != graph.NOWHERE) & fair[mine]))
            members = np.concatenate(found)
            if members.size:
                return depth, members
        raise AssertionError("a fair component without states")
