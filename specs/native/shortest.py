"""Finds shortest runs by searching backwards, because exploration stores no parents.

For each settled claim, every state of its level that settles it is marked (for a claim about steps,
every state from which a step breaks it, one level before). Then, level by level back to the first,
every state with a marked successor in the next level is marked. From the initial state, the first
instance that leads to a marked state is taken at each step. The run is therefore the first in the
order of instances among all shortest runs: the same for any engine, any number of workers, with
symmetry or without (the run has real states; only the marks are of orbits).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from model.language.properties import DEADLOCK
from specs.lowering.decisions import decision_tree, order_of
from specs.lowering.python_code import PythonCode, State
from specs.native import backwards, driver
from specs.native.kernel import DEAD_END, Kernel
from specs.native.store import Spans, StateStore, Words


class ShortestRuns:
    """Runs to the claims in `settled` (claim -> depth), computed on demand.

    `members` has the indices of the settling states for claims that the kernel cannot judge.
    """

    def __init__(
        self,
        kernel: Kernel,
        store: StateStore,
        levels: Sequence[Spans],
        settled: Mapping[str, int],
        members: Mapping[str, npt.NDArray[np.int64]] | None = None,
    ) -> None:
        self._kernel, self._store, self._levels = kernel, store, list(levels)
        self._members = dict(members or {})
        # A step is looked for in the states before it.
        self._marked_at = {
            name: depth - 1 if self._is_about_steps(name) else depth
            for name, depth in settled.items()
        }
        self._marks: npt.NDArray[np.uint64] | None = None

    def _is_about_steps(self, name: str) -> bool:
        grounded = self._kernel.grounded
        return name in grounded.claims and grounded.is_about_steps(name)

    @cached_property
    def _code(self) -> PythonCode:
        return PythonCode(self._kernel.grounded)

    @cached_property
    def _order(self) -> list[int]:
        return order_of(decision_tree(self._kernel.grounded.instances))

    def to(self, claim: str) -> list[int]:
        """Instance numbers from the initial state to the first level that settles the claim."""
        if self._marks is None:
            self._marks = self._mark_states_on_the_way()
        bit = self._bits({claim})
        state, path = self._code.initial, []
        for level in self._levels[1 : self._marked_at[claim]]:
            for number in self._order:
                after = self._code.attempt(self._kernel.grounded.instances[number], state)
                if after is None:
                    continue
                index = self.index_of(after)
                inside = any(begin <= index < end for begin, end in level)
                if inside and self._marks[index] & bit:
                    path.append(number)
                    state = after
                    break
            else:
                raise AssertionError(f"no step leads on towards {claim}: the engines disagree")
        return [*path, self._breaking_step(claim, state)] if self._is_about_steps(claim) else path

    def index_of(self, state: State) -> int:
        """The index of a state, or of its orbit; -1 if it was never reached."""
        kernel, store = self._kernel, self._store
        index: int = driver.index_of(
            kernel.words, kernel.addresses, kernel.packed(self._code.decode(state)),
            store.states, store.table, store.shards, store.part,
        )  # fmt: skip
        return index

    def _breaking_step(self, claim: str, state: State) -> int:
        holds = self._code.step_claims[claim]
        for number in self._order:
            after = self._code.attempt(self._kernel.grounded.instances[number], state)
            if after is not None and not holds(state, after):
                return number
        raise AssertionError(f"no step breaks {claim} here: the engines disagree")

    def _bits(self, names: set[str]) -> np.uint64:
        """The bits of claims; dead ends have the last."""
        bits = self._kernel.bits(names)
        return bits | DEAD_END if DEADLOCK in names else bits

    def _mark_states_on_the_way(self) -> npt.NDArray[np.uint64]:
        kernel, store = self._kernel, self._store
        deepest = max(self._marked_at.values())
        # As lazily taken as the states: only what is marked is ever touched.
        marks = np.zeros(int(max(spans[:, 1].max() for spans in self._levels[:deepest])), np.uint64)
        spare, hashes = (kernel.tallies(), kernel.planes()), np.zeros(kernel.code.row, np.uint64)
        for depth in range(deepest, 0, -1):
            here = self._levels[depth - 1]
            if depth < deepest:
                for begin, end in here:
                    backwards.look_back(
                        kernel.words, kernel.addresses, store.states, int(begin), int(end),
                        store.table, store.shards, store.part, marks, self._levels[depth], *spare,
                        hashes,
                    )  # fmt: skip
            self._mark({name for name, at in self._marked_at.items() if at == depth},
                       here, marks, spare)  # fmt: skip
        return marks

    def _mark(self, names: set[str], level: Spans, marks: Words, spare: tuple[Any, ...]) -> None:
        """Marks what settles these claims in one level."""
        kernel, states = self._kernel, self._store.states
        for name in names & set(self._members):
            marks[self._members[name]] |= self._bits({name})
        judged = names - set(self._members) - {DEADLOCK}
        steps = {name for name in judged if self._is_about_steps(name)}
        for begin, end in level:
            span = (kernel.words, kernel.addresses, states, int(begin), int(end), marks)
            if judged - steps:
                backwards.judge_all(*span, kernel.bits(judged - steps), kernel.wanted)
            if steps:
                backwards.judge_steps(*span, kernel.bits(steps), *spare)
            if DEADLOCK in names:
                backwards.mark_dead_ends(*span, DEAD_END, *spare)
