"""Writes terms over cells as LLVM instructions; a layout defines how each cell's value is read."""

from __future__ import annotations

from model.language.sorts import BOOL
from model.language.terms import Term

LANES = 16
"""States that one call of a function over lanes takes side by side."""


class TermWriter:
    """Instructions of one function, in order, and the names of the values computed so far.

    `number` is the LLVM type of all values except Bools, which are i1. A layout implements `cell`.
    With several `lanes` every value is a vector with the value for one state in each lane.
    """

    number = "i32"

    def __init__(self, lanes: int = 1) -> None:
        self.lanes = lanes
        self.lines: list[str] = []
        self.names: dict[Term, str] = {}
        self._next = 0

    def kind(self, scalar: str) -> str:
        """The LLVM type of a value of type `scalar` in every lane."""
        return scalar if self.lanes == 1 else f"<{self.lanes} x {scalar}>"

    def literal(self, scalar: str, value: int) -> str:
        """The same number, 64 bits at most, in every lane."""
        if self.lanes == 1:
            return str(signed(value))
        text = ("false", "true")[value] if scalar == "i1" else str(signed(value))
        return f"splat ({scalar} {text})"

    def fresh(self) -> str:
        """A new name; LLVM names every value once."""
        self._next += 1
        return f"%t{self._next}"

    def emit(self, text: str) -> str:
        """One instruction with a result; returns its name."""
        name = self.fresh()
        self.lines.append(f"  {name} = {text}")
        return name

    def label(self, name: str) -> None:
        """A new basic block."""
        self.lines.append(f"{name}:")

    def cell(self, number: int, is_bool: bool) -> str:
        """The value of a cell of the state (or, above their count, of the state after a step)."""
        raise AssertionError("a layout says where its cells are")

    def value(self, term: Term) -> str:
        """An operand: a literal, or the name of a value computed before or now."""
        if term.op == "const":
            return self.literal("i1" if term.sort is BOOL else self.number, int(term.args[0]))
        found = self.names.get(term)
        if found is None:
            found = self.names[term] = self._compute(term)
        return found

    def _kind_of(self, term: Term) -> str:
        return self.kind("i1" if term.sort is BOOL else self.number)

    def _compute(self, term: Term) -> str:
        op, args = term.op, term.args
        truth, number = self.kind("i1"), self.kind(self.number)
        match op:
            case "cell":
                return self.cell(args[0], term.sort is BOOL)
            case "not":
                return self.negated(self.value(args[0]))
            case "and" | "or":
                return self.fold(op, [self.value(arg) for arg in args], truth)
            case "ite":
                kind = self._kind_of(args[1])
                condition, then, other = (self.value(arg) for arg in args)
                return self.emit(f"select {truth} {condition}, {kind} {then}, {kind} {other}")
            case "add":
                return self.emit(f"add {number} {self.value(args[0])}, {self.value(args[1])}")
            case "total":
                widened = [self.emit(f"zext {truth} {self.value(arg)} to {number}") for arg in args]
                return self.fold("add", widened, number)
        word = {"eq": "eq", "lt": "slt", "le": "sle"}[op]
        left, right = self.value(args[0]), self.value(args[1])
        return self.emit(f"icmp {word} {self._kind_of(args[0])} {left}, {right}")

    def negated(self, truth: str) -> str:
        """The name of the negated value."""
        return self.emit(f"xor {self.kind('i1')} {truth}, {self.literal('i1', 1)}")

    def fold(self, op: str, operands: list[str], kind: str) -> str:
        """A balanced tree: short chains of dependence."""
        while len(operands) > 1:
            paired = [
                self.emit(f"{op} {kind} {one}, {other}")
                for one, other in zip(operands[::2], operands[1::2], strict=False)
            ]
            operands = paired + ([operands[-1]] if len(operands) % 2 else [])
        return operands[0]


def signed(value: int) -> int:
    """64 bits as LLVM writes a literal."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
