"""Generates Python: the lowering against which the others are tested.

A state is `bytes` (one byte a cell, the code less the domain's least) where every domain has at
most 256 values, else a tuple of ints. The guards of all instances are merged into one decision
tree, shared sub-terms become locals of the innermost block that needs them, and each branch not
taken marks the reason that refused. One call returns successors, coverage and refusal coverage.
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
from specs.lowering.python_terms import Kept, Names, PythonTerms

State = Any
"""bytes, or a tuple of ints for wide domains."""

CELLS_A_WRITE, CELLS_A_COPY = 2, 16
"""What changing a cell of a copy costs, and the copy itself, in cells packed."""


class PackedTerms(PythonTerms):
    """Terms over a packed state, whose cells are locals: `c7`, the code less the domain's least."""

    def __init__(self, grounded: Grounded) -> None:
        self.low = [cell.domain[0] for cell in grounded.cells] * 2
        self.kept: dict[Term, str] = {}

    def of(self, term: Term) -> str:
        """The source of a term, with the locals that are available at this place."""
        return self.expression(term, {}, self.kept)

    def read(self, term: Term, names: Names, kept: Kept) -> str:
        """The source of a cell; a grounded term has no quantifiers and bounds."""
        assert term.op == "cell", term.op
        number = term.args[0]
        low = self.low[number]
        return f"c{number}" if low == 0 else f"(c{number}{low:+d})"

    def comparison(self, symbol: str, left: Term, right: Term, names: Names, kept: Kept) -> str:
        """The source of a comparison; a cell is compared with a literal in its stored form."""
        if left.op == "cell" and right.op == "const" and left.sort is not BOOL:
            return f"c{left.args[0]} {symbol} {right.args[0] - self.low[left.args[0]]}"
        if right.op == "cell" and left.op == "const" and right.sort is not BOOL:
            return f"{left.args[0] - self.low[right.args[0]]} {symbol} c{right.args[0]}"
        return super().comparison(symbol, left, right, names, kept)

    def code(self, number: int, value: Term) -> str:
        """The value that a cell stores for a term."""
        if value.op == "cell" and value.args[0] == number:
            return f"c{number}"
        if value.op == "cell" and self.low[value.args[0]] == self.low[number]:
            return f"c{value.args[0]}"
        if value.op == "const":
            return str(int(value.args[0]) - self.low[number])
        if value.sort is BOOL:
            return f"(1 if {self.of(value)} else 0)"
        low = self.low[number]
        return self.of(value) if low == 0 else f"({self.of(value)}{-low:+d})"


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
        """The successor function, compiled at the first use: replaying a run needs steps only."""
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
        self._emit(root, 1, PackedTerms(self.grounded), lines)
        lines.append("    return out")
        return "\n".join(lines) + "\n"

    def _emit(
        self, block: DecisionBlock[Instance], depth: int, terms: PackedTerms, lines: list[str]
    ) -> None:
        pad = "    " * depth
        mine = dict(terms.kept)
        for term in sorted(block.kept, key=lambda made: made.order):
            text = terms.of(term)
            terms.kept[term] = f"t{len(lines)}"
            lines.append(f"{pad}{terms.kept[term]} = {text}")
        for reason in sorted(block.refused_here):
            lines.append(f"{pad}refused[{reason}] = 1")
        for instance in block.done:
            self._emit_instance(instance, pad, terms, lines)
        for condition, child in block.children.items():
            lines.append(f"{pad}if {terms.of(condition)}:")
            self._emit(child, depth + 1, terms, lines)
            lines.append(f"{pad}else:")
            marks = " = ".join(f"refused[{reason}]" for reason in sorted(child.reasons))
            lines.append(f"{pad}    {marks} = 1")
        if not (block.kept or block.refused_here or block.done or block.children):
            lines.append(f"{pad}pass")
        terms.kept = mine

    def _emit_instance(
        self, instance: Instance, pad: str, terms: PackedTerms, lines: list[str]
    ) -> None:
        opening = pad
        for position, check in enumerate(instance.checks):
            word = "if" if position == 0 else "elif"
            lines.append(f"{opening}{word} not ({terms.of(check.fine)}):")
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
        after = self._after(instance, terms, pad, lines)
        lines.append(f"{pad}out.append(({instance.number}, {after}))")

    def _after(self, instance: Instance, terms: PackedTerms, pad: str, lines: list[str]) -> str:
        """The state after a step: a copy with a few cells changed, or packed again if many are.

        A step of a large system writes a few cells of hundreds, and packing was most of the time.
        """
        codes = {n: terms.code(n, value) for n, value in sorted(instance.writes.items())}
        if CELLS_A_WRITE * len(codes) + CELLS_A_COPY < len(self.low):
            lines.append(f"{pad}after = copy(s)")
            lines += [f"{pad}after[{n}] = {code}" for n, code in codes.items() if code != f"c{n}"]
            return "pack(after)"
        cells = ", ".join(codes.get(n, f"c{n}") for n in range(len(self.low)))
        return f"pack(({cells},))" if self.narrow else f"({cells},)"

    def _condition(self, term: Term, given: str = "s") -> Callable[..., bool]:
        root: DecisionBlock[Instance] = DecisionBlock()
        place_locals(root, {(): [term]})
        terms = PackedTerms(self.grounded)
        lines = [f"def condition({given}):", self._unpack()]
        if given != "s":
            cells = len(self.low)
            lines.append(f"    {', '.join(f'c{cells + n}' for n in range(cells))}, = after")
        for kept in sorted(root.kept, key=lambda made: made.order):
            text = terms.of(kept)
            terms.kept[kept] = f"t{len(lines)}"
            lines.append(f"    {terms.kept[kept]} = {text}")
        lines.append(f"    return bool({terms.of(term)})")
        compiled: Callable[..., bool] = self._compile("\n".join(lines) + "\n", "condition")
        return compiled

    def condition(self, term: Term) -> Callable[[State], bool]:
        """Any grounded Bool term as a function of the state."""
        return self._condition(term)

    # -- one instance at a time ---------------------------------------------------------------

    def attempt(self, instance: Instance, state: State) -> State | None:
        """The successor by one instance, or None if it is refused or beyond a bound."""
        return self._compiled_step(instance)(state)[1]

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
        terms = PackedTerms(self.grounded)
        body = [
            f"    if not ({terms.of(condition)}): return {position}"
            for position, (condition, _) in enumerate(instance.requires)
        ]
        read = sorted({int(number) for number in re.findall(r"\bc(\d+)\b", "".join(body))})
        unpack = [f"    c{number} = s[{number}]" for number in read]
        return "\n".join(["def guard(s):", *unpack, *body, "    return None"]) + "\n"

    def _compiled_step(self, instance: Instance) -> Callable[[State], Any]:
        found = self._single.get(instance.number)
        if found is None:
            found = self._single[instance.number] = self._compile(self._one_source(instance), "one")
        return found

    def _one_source(self, instance: Instance) -> str:
        terms = PackedTerms(self.grounded)
        lines = ["def one(s):", self._unpack()]
        for position, (condition, _) in enumerate(instance.requires):
            lines.append(f"    if not ({terms.of(condition)}): return {position}, None")
        if any(condition is FALSE for condition, _ in instance.requires):
            return "\n".join(lines) + "\n"
        for check in instance.checks:
            action = "return None, None"
            if check.bound is None:
                action = f"raise ImpossibleValue({instance.label + ': ' + check.what!r})"
            lines.append(f"    if not ({terms.of(check.fine)}): {action}")
        after = self._after(instance, terms, "    ", lines)
        lines.append(f"    return None, {after}")
        return "\n".join(lines) + "\n"


__all__ = ["FALSE", "TRUE", "PythonCode", "State"]
