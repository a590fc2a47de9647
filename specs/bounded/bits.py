"""Lowers grounded terms to formulas over bits: a cell is a Bool or a bit vector of a common width.

Numbers within bounds need no arithmetic: Z3 turns these formulas into one question about bits,
which it answers much faster than a question about integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import z3

from model.language.recording import nodes
from model.language.sorts import BOOL
from model.language.terms import Term
from specs.lowering.grounding import Grounded
from specs.lowering.instances import Cell
from specs.lowering.intervals import Intervals
from specs.lowering.z3_code import connect


class Bits:
    """The lowering of one grounded system; the width is the least that no term overflows.

    It has its own Z3 context, so that Z3's answers do not depend on earlier questions.
    """

    def __init__(self, grounded: Grounded) -> None:
        self.grounded = grounded
        self.context = z3.Context()
        intervals = Intervals([cell.domain for cell in grounded.cells] * 2)
        low, high = 0, 1
        for term in _subterms(grounded):
            if term.sort is not BOOL:
                a, b = intervals.of(term)
                low, high = min(low, a), max(high, b)
        self.width = max(high.bit_length(), (-low - 1).bit_length() if low < 0 else 0) + 1

    def literal(self, value: int | bool) -> Any:
        """A code as a value."""
        if isinstance(value, bool):
            return z3.BoolVal(value, self.context)
        return z3.BitVecVal(value, self.width, self.context)

    def state(self, tag: str) -> list[Any]:
        """An arbitrary state: one unconstrained constant for each cell."""
        return [
            z3.Bool(f"{cell.name} {tag}", self.context)
            if cell.field.sort is BOOL
            else z3.BitVec(f"{cell.name} {tag}", self.width, self.context)
            for cell in self.grounded.cells
        ]

    def code(self, cell: Cell, code: int) -> Any:
        """The value of a cell for one of its codes."""
        return self.literal(bool(code) if cell.field.sort is BOOL else code)


class Frame:
    """Formulas about one state, or about two: a step's states before and after it, in this order.

    Terms that several formulas share are lowered once.
    """

    def __init__(self, bits: Bits, cells: Sequence[Any]) -> None:
        self.bits, self.cells = bits, list(cells)
        self._memo: dict[Term, Any] = {}

    def formula(self, term: Term) -> Any:
        """The term as a formula or a bit vector."""
        found = self._memo.get(term)
        if found is None:
            found = self._memo[term] = self._lower(term)
        return found

    def _lower(self, term: Term) -> Any:
        op, args = term.op, term.args
        if op == "const":
            return self.bits.literal(args[0])
        if op == "cell":
            return self.cells[args[0]]
        parts = [self.formula(arg) for arg in args]
        if op == "total":
            one, zero = self.bits.literal(1), self.bits.literal(0)
            return sum((z3.If(part, one, zero) for part in parts), zero)
        return connect(op, parts)  # numbers are signed: none may be below zero


def _subterms(grounded: Grounded) -> Iterator[Term]:
    """Every term of the instances and the claims, and what they are made of."""
    found = [cell.term for cell in grounded.cells] + list(grounded.claims.values())
    for instance in grounded.instances:
        found += [condition for condition, _ in instance.requires]
        found += [*instance.writes.values(), *(check.fine for check in instance.checks)]
    return nodes(*found)
