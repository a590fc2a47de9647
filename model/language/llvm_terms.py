"""Terms over cells as LLVM instructions; where a cell's value comes from is left to the layout."""

from __future__ import annotations

from model.language.sorts import BOOL
from model.language.terms import Term


class TermWriter:
    """Instructions of one function, in order, and the names of the values computed so far.

    `number` is the LLVM type of every value that is no Bool (those are i1). A layout gives `cell`.
    """

    number = "i32"

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[Term, str] = {}
        self._next = 0

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
            return str(int(term.args[0]))
        found = self.names.get(term)
        if found is None:
            found = self.names[term] = self._compute(term)
        return found

    def _compute(self, term: Term) -> str:
        op, args = term.op, term.args
        match op:
            case "cell":
                return self.cell(args[0], term.sort is BOOL)
            case "not":
                return self.emit(f"xor i1 {self.value(args[0])}, 1")
            case "and" | "or":
                return self.fold(op, [self.value(arg) for arg in args], "i1")
            case "ite":
                kind = "i1" if term.args[1].sort is BOOL else self.number
                condition, then, other = (self.value(arg) for arg in args)
                return self.emit(f"select i1 {condition}, {kind} {then}, {kind} {other}")
            case "add":
                return self.emit(f"add {self.number} {self.value(args[0])}, {self.value(args[1])}")
            case "total":
                widened = [self.emit(f"zext i1 {self.value(arg)} to {self.number}") for arg in args]
                return self.fold("add", widened, self.number)
        word = {"eq": "eq", "lt": "slt", "le": "sle"}[op]
        kind = "i1" if args[0].sort is BOOL else self.number
        left, right = self.value(args[0]), self.value(args[1])
        return self.emit(f"icmp {word} {kind} {left}, {right}")

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
