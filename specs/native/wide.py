"""Following steps on wide states: traces of real values, millions of steps a second."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,misc"
# mypy: disable-error-code="call-arg,var-annotated"

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from model.language.grounding import Grounded
from model.language.wide_code import WideCode
from specs.native.compiled_loops import keep_loops
from specs.native.machine import Machine, build

keep_loops()

Codes = npt.NDArray[np.int64]
"""A state: the code of every cell."""


@intrinsic
def _attempt(typingctx, address, instance, state, out):
    signature = types.int64(types.int64, types.int64, types.int64, types.int64)

    def generate(context, builder, signature, given):
        i64 = ir.IntType(64)
        words = ir.PointerType(i64)
        pointer = ir.PointerType(ir.FunctionType(i64, [i64, words, words]))
        function = builder.inttoptr(given[0], pointer)
        state, out = (builder.inttoptr(one, words) for one in given[2:])
        return builder.call(function, [given[1], state, out])

    return signature, generate


@njit(nogil=True, cache=True)
def _follow(attempt, instances, one, other):
    """Takes instances one after the other; returns how many, and the answer that ended it."""
    here, there = one.ctypes.data, other.ctypes.data
    for position in range(instances.size):
        answer = _attempt(attempt, instances[position], here, there)
        if answer != 0:
            return position, answer
        here, there = there, here
    return instances.size, 0


@dataclass(frozen=True)
class Followed:
    """How far a trace could be followed, the state there, and why no further."""

    steps: int
    state: tuple[int, ...]
    why_not: str | None


class WideKernel:
    """The machine code of a system's steps over wide states."""

    def __init__(self, grounded: Grounded, cache: Path | None = None) -> None:
        self.grounded = grounded
        self.code = WideCode(grounded)
        self.machine: Machine = build(self.code.text, ("attempt",), cache)

    def follow(self, instances: Sequence[int], start: Sequence[int] | None = None) -> Followed:
        """Takes steps by their instance numbers, from the initial state unless told otherwise.

        Stops at the first that is refused or would leave a field, and says why. ValueError for a
        number that is no instance.
        """
        steps = np.asarray(instances, np.int64)
        if steps.size and not 0 <= steps.min() <= steps.max() < len(self.grounded.instances):
            raise ValueError(f"instances are 0 to {len(self.grounded.instances) - 1}")
        one = np.array(self.grounded.initial if start is None else start, np.int64)
        other = one.copy()
        taken, answer = _follow(self.machine.addresses["attempt"], steps, one, other)
        state = other if taken % 2 else one
        why = None if not answer else self._why(int(steps[taken]), int(answer))
        return Followed(int(taken), tuple(int(code) for code in state), why)

    def _why(self, instance: int, answer: int) -> str:
        refused = self.grounded.instances[instance]
        if answer < 0:
            return f"{refused.label}: {self.code.checks[-answer - 1].check.what}"
        _, reason = refused.requires[answer - 1]
        return f"{refused.label} is not possible: {self.grounded.reasons[reason][1]}"
