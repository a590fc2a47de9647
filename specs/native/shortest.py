"""Shortest runs, found by looking back: no parents are stored while exploring.

For each claim that was settled, every state of its level that settles it is marked; then, level by
level towards the first, every state with a marked successor in the next level. From the initial
state, the first instance that leads to a marked state is taken, again and again. So the run is the
first in the order of instances among all shortest ones: the same for any engine, any number of
workers, with symmetry or without (the run is made of real states; only the marks are of orbits).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from model.language.decisions import decision_tree, order_of
from model.language.python_code import PythonCode
from specs.native import driver
from specs.native.kernel import Kernel
from specs.native.store import Spans, Store


class ShortestRuns:
    """Runs to the claims in `settled` (claim -> depth), computed when first asked for."""

    def __init__(
        self, kernel: Kernel, store: Store, levels: Sequence[Spans], settled: Mapping[str, int]
    ) -> None:
        self._kernel, self._store, self._levels = kernel, store, list(levels)
        self._settled = settled
        self._marks: npt.NDArray[np.uint64] | None = None
        self._code: PythonCode | None = None

    def to(self, claim: str) -> list[int]:
        """Instance numbers from the initial state to the first level that settles the claim."""
        kernel, store = self._kernel, self._store
        if self._marks is None:
            self._marks = self._marked()
        if self._code is None:
            self._code = PythonCode(kernel.grounded)
        bit = kernel.bits({claim})
        order = order_of(decision_tree(kernel.grounded.instances))
        state, path = self._code.initial, []
        for level in self._levels[1 : self._settled[claim]]:
            for number in order:
                after = self._code.attempt(kernel.grounded.instances[number], state)
                if after is None:
                    continue
                words = kernel.packed(self._code.decode(after))
                index = driver.index_of(
                    kernel.words, kernel.canonical, words, store.states, store.table,
                    store.shards, store.part,
                )  # fmt: skip
                inside = any(begin <= index < end for begin, end in level)
                if inside and self._marks[index] & bit:
                    path.append(number)
                    state = after
                    break
            else:
                raise AssertionError(f"no step leads on towards {claim}: the engines disagree")
        return path

    def _marked(self) -> npt.NDArray[np.uint64]:
        kernel, store = self._kernel, self._store
        deepest = max(self._settled.values())
        # As lazily taken as the states: only what is marked is ever touched.
        marks = np.zeros(int(max(spans[:, 1].max() for spans in self._levels[:deepest])), np.uint64)
        spare = (
            np.zeros(len(kernel.grounded.instances), np.int64),
            np.zeros(len(kernel.grounded.reasons), np.uint8),
            np.zeros(len(kernel.code.bounds) + 1, np.int64),
            np.zeros((kernel.most + 1) * kernel.words, np.uint64),
        )
        for depth in range(deepest, 0, -1):
            here = self._levels[depth - 1]
            if depth < deepest:
                for begin, end in here:
                    driver.look_back(
                        kernel.words, kernel.expand, kernel.canonical, store.states,
                        int(begin), int(end), store.table, store.shards, store.part, marks,
                        self._levels[depth], *spare,
                    )  # fmt: skip
            names = {name for name, at in self._settled.items() if at == depth}
            if names:
                for begin, end in here:
                    driver.judge_all(
                        kernel.words, kernel.judge, store.states, int(begin), int(end), marks,
                        kernel.bits(names), kernel.wanted,
                    )  # fmt: skip
        return marks
