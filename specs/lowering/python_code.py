"""Generated Python: the lowering that the others are tested against.

A state is `bytes` (one byte a cell, the code less the domain's least) where every domain has at
most 256 values, else a tuple of ints. The guards of all instances are merged into one decision
tree, shared sub-terms become locals of the innermost block that needs them, and each branch not
taken marks the reason that refused. So one call gives successors, coverage and refusal coverage.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, lru_cache
from types import CodeType
from typing import Any

from model.language.errors import ImpossibleValue
from model.language.sorts import BOOL
from model.language.terms import FALSE, TRUE, Term
from specs.lowering.decisions import DecisionBlock, decision_tree, place_locals
from specs.lowering.grounding import Grounded
from specs.lowering.instances import Instance

State = Any
"""bytes, or a tuple of ints for wide domains."""

CELLS_A_WRITE, CELLS_A_COPY = 2, 16
"""What changing a cell of a copy costs, and the copy itself, in cells packed."""


class _Emitter:
    """Turns terms into Python expressions, with locals for shared sub-terms."""

    def __init__(self, grounded: Grounded) -> None:
        self.low = [cell.domain[0] for cell in grounded.cells] * 2
        self.names: dict[Term, str] = {}

    def cell(self, number: int) -> str:
        low = self.low[number]
        return f"c{number}" if low == 0 else f"(c{number}{low:+d})"

    def expression(self, term: Term) -> str:
        if term in self.names:
            return self.names[term]
        return self._fresh(term)

    def _fresh(self, term: Term) -> str:
        op, args = term.op, term.args
        if op == "const":
            return str(args[0])
        if op == "cell":
            return self.cell(args[0])
        if op == "not":
            return f"(not {self.expression(args[0])})"
        if op in ("and", "or"):
            return "(" + f" {op} ".join(self.expression(arg) for arg in args) + ")"
        if op == "ite":
            return f"({self._choice(term)})"
        if op == "add":
            return f"({self.expression(args[0])}{args[1].args[0]:+d})"
        if op == "total":
            return "(" + " + ".join(f"bool({self.expression(arg)})" for arg in args) + ")"
        symbol = {"eq": "==", "lt": "<", "le": "<="}[op]
        left, right = args
        if left.op == "cell" and right.op == "const" and left.sort is not BOOL:
            return f"c{left.args[0]} {symbol} {right.args[0] - self.low[left.args[0]]}"
        if right.op == "cell" and left.op == "const" and right.sort is not BOOL:
            return f"{left.args[0] - self.low[right.args[0]]} {symbol} c{right.args[0]}"
        if left.sort is BOOL:
            return f"(bool({self.expression(left)}) == bool({self.expression(right)}))"
        return f"{self.expression(left)} {symbol} {self.expression(right)}"

    def _choice(self, term: Term) -> str:
        """A chain of if-then-else in one pair of brackets: an index may have hundreds of values."""
        parts: list[str] = []
        while term.op == "ite" and (not parts or term not in self.names):
            condition, then, other = term.args
            parts.append(f"{self.expression(then)} if {self.expression(condition)} else ")
            term = other
        return "".join(parts) + self.expression(term)

    def code(self, number: int, value: Term) -> str:
        """The value that a cell stores for a term."""
        if value.op == "cell" and value.args[0] == number:
            return f"c{number}"
        if value.op == "cell" and self.low[value.args[0]] == self.low[number]:
            return f"c{value.args[0]}"
        if value.op == "const":
            return str(int(value.args[0]) - self.low[number])
        if value.sort is BOOL:
            return f"(1 if {self.expression(value)} else 0)"
        low = self.low[number]
        return self.expression(value) if low == 0 else f"({self.expression(value)}{-low:+d})"


@lru_cache(maxsize=8192)
def _compiled(source: str, name: str) -> CodeType:
    """Systems that differ in a switch or in a requirement share most of what is generated."""
    return compile(source, name, "exec")


class PythonCode:
    """The compiled instance.

    `successors(state, fired, refused, pruned)` -> [(instance number, next state)]: `fired` counts
    by instance, `refused` marks the reasons that were first to fail, `pruned` counts by bound.
    """

    def __init__(self, grounded: Grounded) -> None:
        self.grounded = grounded
        self.low = [cell.domain[0] for cell in grounded.cells]
        self.narrow = all(len(cell.domain) <= 256 for cell in grounded.cells)
        self._pack: Callable[[Any], State] = bytes if self.narrow else tuple
        self.initial: State = self.encode(grounded.initial)
        self.claims: dict[str, Callable[[State], bool]] = {
            name: self._condition(term)
            for name, term in grounded.claims.items()
            if not grounded.is_about_steps(name)
        }
        self.step_claims: dict[str, Callable[[State, State], bool]] = {
            name: self._condition(term, "s, after")
            for name, term in grounded.claims.items()
            if grounded.is_about_steps(name)
        }
        self._guards: dict[int, Callable[[State], int | None]] = {}
        self._single: dict[int, Callable[[State], Any]] = {}

    @cached_property
    def source(self) -> str:
        """The text of `successors`."""
        return self._successors_source()

    @cached_property
    def successors(self) -> Callable[..., list[tuple[int, State]]]:
        """Made when it is first asked for: who only replays a run needs single steps alone."""
        made: Callable[..., list[tuple[int, State]]] = self._compile(self.source, "successors")
        return made

    # -- states -----------------------------------------------------------------------------

    def encode(self, codes: Any) -> State:
        """Codes by cell -> a state."""
        return self._pack([code - low for code, low in zip(codes, self.low, strict=True)])

    def decode(self, state: State) -> tuple[int, ...]:
        """A state -> codes by cell."""
        return tuple(stored + low for stored, low in zip(state, self.low, strict=True))

    # -- emission ---------------------------------------------------------------------------

    def _unpack(self) -> str:
        names = ", ".join(f"c{n}" for n in range(len(self.low)))
        return f"    {names}, = s"

    def _compile(self, source: str, name: str) -> Any:
        copy: Callable[[State], Any] = bytearray if self.narrow else list
        space = {"pack": self._pack, "copy": copy, "ImpossibleValue": ImpossibleValue}
        exec(_compiled(source, f"<generated {name}>"), space)
        return space[name]

    def _successors_source(self) -> str:
        root = decision_tree(self.grounded.instances)
        place_locals(root)
        lines = ["def successors(s, fired, refused, pruned):", self._unpack(), "    out = []"]
        self._emit(root, 1, _Emitter(self.grounded), lines)
        lines.append("    return out")
        return "\n".join(lines) + "\n"

    def _emit(
        self, block: DecisionBlock[Instance], depth: int, emitter: _Emitter, lines: list[str]
    ) -> None:
        pad = "    " * depth
        mine = dict(emitter.names)
        for term in sorted(block.kept, key=lambda made: made.order):
            text = emitter.expression(term)
            emitter.names[term] = f"t{len(lines)}"
            lines.append(f"{pad}{emitter.names[term]} = {text}")
        for reason in sorted(block.refused_here):
            lines.append(f"{pad}refused[{reason}] = 1")
        for instance in block.done:
            self._emit_instance(instance, pad, emitter, lines)
        for condition, child in block.children.items():
            lines.append(f"{pad}if {emitter.expression(condition)}:")
            self._emit(child, depth + 1, emitter, lines)
            lines.append(f"{pad}else:")
            marks = " = ".join(f"refused[{reason}]" for reason in sorted(child.reasons))
            lines.append(f"{pad}    {marks} = 1")
        if not (block.kept or block.refused_here or block.done or block.children):
            lines.append(f"{pad}pass")
        emitter.names = mine

    def _emit_instance(
        self, instance: Instance, pad: str, emitter: _Emitter, lines: list[str]
    ) -> None:
        opening = pad
        for position, check in enumerate(instance.checks):
            word = "if" if position == 0 else "elif"
            lines.append(f"{opening}{word} not ({emitter.expression(check.fine)}):")
            if check.bound is None:
                text = f"{instance.label}: {check.what}"
                lines.append(f"{opening}    raise ImpossibleValue({text!r})")
            else:
                lines.append(
                    f"{opening}    pruned[{check.bound!r}] = pruned.get({check.bound!r}, 0) + 1"
                )
        if instance.checks:
            lines.append(f"{opening}else:")
            pad += "    "
        lines.append(f"{pad}fired[{instance.number}] += 1")
        after = self._after(instance, emitter, pad, lines)
        lines.append(f"{pad}out.append(({instance.number}, {after}))")

    def _after(self, instance: Instance, emitter: _Emitter, pad: str, lines: list[str]) -> str:
        """The state after a step: a copy with a few cells changed, or packed again if many are.

        A step of a large system writes a few cells of hundreds, and packing was most of the time.
        """
        codes = {n: emitter.code(n, value) for n, value in sorted(instance.writes.items())}
        if CELLS_A_WRITE * len(codes) + CELLS_A_COPY < len(self.low):
            lines.append(f"{pad}after = copy(s)")
            lines += [f"{pad}after[{n}] = {code}" for n, code in codes.items() if code != f"c{n}"]
            return "pack(after)"
        cells = ", ".join(codes.get(n, f"c{n}") for n in range(len(self.low)))
        return f"pack(({cells},))" if self.narrow else f"({cells},)"

    def _condition(self, term: Term, given: str = "s") -> Callable[..., bool]:
        root: DecisionBlock[Instance] = DecisionBlock()
        place_locals(root, {(): [term]})
        emitter = _Emitter(self.grounded)
        lines = [f"def condition({given}):", self._unpack()]
        if given != "s":
            cells = len(self.low)
            lines.append(f"    {', '.join(f'c{cells + n}' for n in range(cells))}, = after")
        for kept in sorted(root.kept, key=lambda made: made.order):
            text = emitter.expression(kept)
            emitter.names[kept] = f"t{len(lines)}"
            lines.append(f"    {emitter.names[kept]} = {text}")
        lines.append(f"    return bool({emitter.expression(term)})")
        compiled: Callable[..., bool] = self._compile("\n".join(lines) + "\n", "condition")
        return compiled

    def condition(self, term: Term) -> Callable[[State], bool]:
        """Any grounded Bool term as a function of the state."""
        return self._condition(term)

    # -- one instance at a time ---------------------------------------------------------------

    def attempt(self, instance: Instance, state: State) -> State | None:
        """The successor by one instance, or None if it is refused or beyond a bound."""
        return self._one(instance)(state)[1]

    def first_refusal(self, instance: Instance, state: State) -> int | None:
        """The position among the instance's requirements of the first that fails, or None."""
        guard = self._guards.get(instance.number)
        if guard is None:
            guard = self._guards[instance.number] = self._compile(
                self._guard_source(instance), "guard"
            )
        position: int | None = guard(state)
        return position

    def _guard_source(self, instance: Instance) -> str:
        """Only the guard: asked more often than the step is taken, so it unpacks nothing else."""
        emitter = _Emitter(self.grounded)
        body = [
            f"    if not ({emitter.expression(condition)}): return {position}"
            for position, (condition, _) in enumerate(instance.requires)
        ]
        read = sorted({int(number) for number in re.findall(r"\bc(\d+)\b", "".join(body))})
        unpack = [f"    c{number} = s[{number}]" for number in read]
        return "\n".join(["def guard(s):", *unpack, *body, "    return None"]) + "\n"

    def _one(self, instance: Instance) -> Callable[[State], Any]:
        found = self._single.get(instance.number)
        if found is None:
            found = self._single[instance.number] = self._compile(self._one_source(instance), "one")
        return found

    def _one_source(self, instance: Instance) -> str:
        emitter = _Emitter(self.grounded)
        lines = ["def one(s):", self._unpack()]
        for position, (condition, _) in enumerate(instance.requires):
            lines.append(f"    if not ({emitter.expression(condition)}): return {position}, None")
        if any(condition is FALSE for condition, _ in instance.requires):
            return "\n".join(lines) + "\n"
        for check in instance.checks:
            action = "return None, None"
            if check.bound is None:
                action = f"raise ImpossibleValue({instance.label + ': ' + check.what!r})"
            lines.append(f"    if not ({emitter.expression(check.fine)}): {action}")
        after = self._after(instance, emitter, "    ", lines)
        lines.append(f"    return None, {after}")
        return "\n".join(lines) + "\n"


__all__ = ["FALSE", "TRUE", "PythonCode", "State"]
