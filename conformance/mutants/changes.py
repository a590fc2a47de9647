"""Finds the mutants whose changed expression ever has another value in a run of the original code.

If the mutated expression always has the same value as the original, the mutant behaves like the
original and no check can detect it. So the functions of the mutated modules are instrumented to
evaluate the original and the mutated expression, for all mutants in one run. An expression with
side effects cannot be evaluated twice; it counts as different whenever it runs.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from types import CodeType
from typing import Any

from conformance.line_recorder import NOTED, Function, LineRecorder, codes_in, module_text
from conformance.mutants.mutate import NEGATED, SWAPPED, changes_of

ORDERS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip

PLAIN = (int, str, type(None), frozenset)
"""Immutable types, whose values can be compared by equality."""

WITHOUT_EFFECT = ("all", "any", "bool", "get", "len", "set", "since", "sorted")
"""Calls that change nothing."""


class DifferenceRecorder(LineRecorder):
    """The mutants of some modules that differ from the original inside of ``with``.

    `walked` and `take` give their numbers, in the order of `mutants_of`.
    """

    @staticmethod
    def instrumented(module: str) -> tuple[dict[Function, CodeType], list[set[int]]]:
        """A module's functions that note which mutants differ."""
        return _instrumented(module)

    @staticmethod
    def noted(notes: bytearray) -> object:
        """The object that instrumented code calls."""
        return _Noted(notes)


class _Noted:
    """Evaluates the mutated expressions as well; every method returns the original value."""

    def __init__(self, notes: bytearray) -> None:
        self.notes = notes

    def differ(self, numbers: tuple[int, ...], value: Any) -> Any:
        for one in numbers:
            self.notes[one] = 1
        return value

    def holds(self, numbers: tuple[int, ...], would: tuple[bool, ...], value: Any) -> Any:
        """A condition; `would` is the constant that replaces it in each mutant."""
        holds = bool(value)
        for one, always in zip(numbers, would, strict=True):
            self.notes[one] |= holds != always
        return value

    def compared(self, asked: str, others: tuple[tuple[int, str], ...], a: Any, b: Any) -> Any:
        """A comparison of two values, and the comparisons that replace it."""
        value = getattr(operator, asked)(a, b)
        for one, other in others:
            if getattr(operator, other)(a, b) != value:
                self.notes[one] = 1
        return value

    def connected(self, number: int, is_and: bool, *parts: Callable[[], Any]) -> Any:
        """Parts without an effect, all of which are evaluated."""
        value: Any = None
        for part in parts:
            value = part()
            if bool(value) != is_and:
                break
        if not self.notes[number]:
            try:
                other = any(part() for part in parts) if is_and else all(part() for part in parts)
                self.notes[number] = bool(value) != bool(other) or not isinstance(value, bool)
            except Exception:  # as a part could not be evaluated without the one before
                self.notes[number] = 1
        return value

    def add_or_subtract(self, number: int, is_sum: bool, a: Any, b: Any) -> Any:
        if not isinstance(b, int) or b != 0:
            self.notes[number] = 1
        return a + b if is_sum else a - b

    def extreme(self, number: int, is_least: bool, *values: Any) -> Any:
        if min(values) != max(values):
            self.notes[number] = 1
        return min(values) if is_least else max(values)

    def returned(self, number: int, value: Any) -> Any:
        if value is not None:
            self.notes[number] = 1
        return value

    def assigned(self, number: int, before: Callable[[], Any], value: Any) -> Any:
        """A value, and what is there before it is assigned."""
        if not self.notes[number]:
            try:
                old = before()
            except Exception:  # nothing is there yet
                self.notes[number] = 1
            else:
                same = type(old) is type(value) and isinstance(old, PLAIN) and old == value
                self.notes[number] = not (old is value or same)
        return value


def forget(names: Iterable[str]) -> None:
    """Clear the function caches of some modules: a cached result runs no line."""
    for name in names:
        module = import_module(name)
        classes = [one for one in vars(module).values() if isinstance(one, type)]
        for holder in (module, *(one for one in classes if one.__module__ == name)):
            for one in vars(holder).values():
                clear = getattr(getattr(one, "__func__", one), "cache_clear", None)
                if clear is not None:
                    clear()


@cache
def _instrumented(module: str) -> tuple[dict[Function, CodeType], list[set[int]]]:
    tree = module_text(module)[1]
    found: dict[int, list[tuple[int, str]]] = {}
    number = -1
    for number, (_, kind, node, _) in enumerate(changes_of(tree)):
        found.setdefault(id(node), []).append((number, kind))
    tree = ast.fix_missing_locations(_Prober(found).visit(tree))
    compiled = compile(tree, str(import_module(module).__file__), "exec")
    codes = {(one.co_qualname, one.co_firstlineno): one for one in codes_in(compiled)}
    return codes, [{one} for one in range(number + 1)]


class _Prober(ast.NodeTransformer):
    """Replaces each mutated node by a call that also evaluates its mutants."""

    def __init__(self, changes: dict[int, list[tuple[int, str]]]) -> None:
        self.changes = changes

    def visit(self, node: ast.AST) -> Any:
        mine = self.changes.get(id(node), [])
        if isinstance(node, ast.Match):
            inside = [
                one for case in node.cases for each in ast.walk(case.pattern)
                for one, _ in self.changes.get(id(each), [])
            ]  # fmt: skip
            for case in node.cases:
                case.guard = None if case.guard is None else self.visit(case.guard)
                case.body = self._statements(case.body)
            node.subject = self.visit(node.subject)
            return [_note([*inside, *(one for one, _ in mine)], node), node]
        if isinstance(node, ast.stmt):
            return self._statement(node, mine)
        self.generic_visit(node)
        if mine and isinstance(node, ast.expr):
            return self._expression(node, mine)
        return node

    def _statements(self, block: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for one in block:
            new = self.visit(one)
            found += new if isinstance(new, list) else [new]
        return found

    def _statement(self, node: Any, mine: list[tuple[int, str]]) -> Any:
        self.generic_visit(node)
        dropped = [one for one, kind in mine if kind in ("statement", "early")]
        for one, kind in mine:
            if kind == "return":
                node.value = _call("returned", node.value, _constant(one), node.value)
            elif kind == "statement" and isinstance(node, ast.Assign) and _is_simple(node):
                before = _lambda(_loaded(node.targets[0]))
                node.value = _call("assigned", node.value, _constant(one), before, node.value)
                dropped.remove(one)
        return [_note(dropped, node), node] if dropped else node

    def _expression(self, node: Any, mine: list[tuple[int, str]]) -> ast.expr:
        always: list[int] = []
        conditions: list[int] = []
        orders: list[tuple[int, str]] = []
        found: ast.expr = node
        for one, kind in mine:
            if kind == "condition":
                conditions.append(one)
            elif kind in ("comparison", "order") and type(node.ops[0]) in ORDERS:
                orders.append((one, kind))
            elif kind == "connective" and _has_no_effect(node):
                is_and = isinstance(node.op, ast.And)
                parts = [_lambda(each) for each in node.values]
                found = _call("connected", node, _constant(one), _constant(is_and), *parts)
            elif kind == "arithmetic":
                is_sum = _constant(isinstance(node.op, ast.Add))
                found = _call(
                    "add_or_subtract", node, _constant(one), is_sum, node.left, node.right
                )
            elif kind == "extreme" and len(node.args) > 1 and not node.keywords:
                is_least = _constant(node.func.id == "min")
                found = _call("extreme", node, _constant(one), is_least, *node.args)
            else:
                always.append(one)
        if orders:
            found = _compared(node, orders)
        if always:
            found = _call("differ", node, _constant(tuple(always)), found)
        if conditions:  # the first is always true, the second always false
            would = (True, False)[: len(conditions)]
            numbers = _constant(tuple(conditions))
            found = _call("holds", node, numbers, _constant(would), found)
        return found


def _compared(node: ast.Compare, orders: list[tuple[int, str]]) -> ast.expr:
    asked = type(node.ops[0])
    others = tuple(
        (one, ORDERS[(SWAPPED if kind == "comparison" else NEGATED)[asked]].__name__)
        for one, kind in orders
    )
    mine = _constant(ORDERS[asked].__name__)
    return _call("compared", node, mine, _constant(others), node.left, node.comparators[0])


def _is_simple(node: ast.Assign) -> bool:
    return len(node.targets) == 1 and _has_no_effect(node.targets[0])


def _has_no_effect(node: ast.AST) -> bool:
    for one in ast.walk(node):
        if isinstance(one, ast.Await | ast.NamedExpr | ast.Yield | ast.YieldFrom):
            return False
        if isinstance(one, ast.Call) and not _is_harmless(one.func):
            return False
    return True


def _is_harmless(function: ast.expr) -> bool:
    if isinstance(function, ast.Attribute) and ast.unparse(function.value) == NOTED:
        return True
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in WITHOUT_EFFECT


def _constant(value: Any) -> ast.expr:
    return ast.Constant(value)


def _lambda(body: ast.expr) -> ast.expr:
    none = ast.arguments([], [], None, [], [], None, [])
    return ast.Lambda(none, body)


def _loaded(target: ast.expr) -> ast.expr:
    """A target of an assignment, to be read."""
    return ast.parse(ast.unparse(target), mode="eval").body


def _call(name: str, at: ast.expr, *arguments: ast.expr) -> ast.expr:
    function = ast.Attribute(ast.Name(NOTED, ast.Load()), name, ast.Load())
    return ast.copy_location(ast.Call(function, [*arguments], []), at)


def _note(numbers: list[int], at: ast.stmt) -> ast.stmt:
    call = _call("differ", ast.Constant(None), _constant(tuple(numbers)), _constant(None))
    return ast.fix_missing_locations(ast.copy_location(ast.Expr(call), at))
