"""Makes systematic mutants: each is one small change of the implementation's text.

A mutant replaces the code of one function in a running process, so nothing is written to disk or
imported again, and a forked child can judge it at once. Existing tools run a whole test suite for
each mutant; here conformance alone is the judge.
"""

from __future__ import annotations

import ast
import copy
import importlib
import inspect
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from types import CodeType, FunctionType
from typing import Any

from conformance.coverage import modules

CORE = tuple(modules())
"""The core that running brokers have."""

LOG = (
    "impl.log.leader_epoch_cache",
    "impl.log.record_log",
    "impl.log.numbered_log",
)
"""What the model has of a log: its end, epochs, truncation, high watermark, checkpoint."""

MODULES = (*CORE, *LOG)
"""What is mutated."""

SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip

NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt,
}  # fmt: skip
"""Orders have a second swap: the first moves the limit by one, this one turns them round."""

ONLY_OBSERVING = ("journal", "observer", "watching")
"""What is only reported changes no state; logs and traces are judged by `insync check`."""


@dataclass(frozen=True)
class Mutant:
    """One change: where, of which kind, and the text before and after it."""

    module: str
    function: str
    line: int
    operator: str
    before: str
    after: str
    nth: int
    """From 1 on: which of those in the function whose two texts are the same."""
    make: Callable[[], CodeType] = field(compare=False, repr=False)

    @property
    def label(self) -> str:
        """`impl.core.leader_election:30 offline: in_sync → False`."""
        return f"{self.module}:{self.line} {self.function}: {self.before} → {self.after}"

    @property
    def key(self) -> str:
        """The part of the label that stays when lines move: no line number; numbered if needed."""
        nth = f" ({self.nth})" if self.nth > 1 else ""
        return f"{self.module} {self.function}: {self.before} → {self.after}{nth}"

    def apply(self) -> None:
        """Replaces the function's code in this process, permanently."""
        function_named(self.module, self.function).__code__ = self.make()


def function_named(module: str, name: str) -> FunctionType:
    """A function or method of a module; for a property its getter, for a cache the cached function.

    The cache is cleared, because it holds results of the original code.
    """
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = inspect.getattr_static(found, part)
    if isinstance(found, property):
        found = found.fget
    if isinstance(found, staticmethod | classmethod):
        found = found.__func__
    if hasattr(found, "cache_clear"):
        found.cache_clear()
        found = inspect.unwrap(found)
    assert isinstance(found, FunctionType), f"{module}.{name} is no function"
    return found


Change = tuple[str, ast.AST, Callable[[ast.AST], ast.AST]]
"""(kind, node, what makes the changed node of a copy of it)."""


@cache
def mutants_of(module: str) -> tuple[Mutant, ...]:
    """All mutants of a module, in the order of its text."""
    source = inspect.getsource(importlib.import_module(module))
    tree = ast.parse(source)
    found: list[Mutant] = []
    seen: Counter[tuple[str, str, str]] = Counter()
    for name, operator, node, changed in changes_of(tree):
        new = changed(copy.deepcopy(node))
        make = partial(_mutated, module, tree, name, node, new)
        before, after = ast.unparse(node), ast.unparse(new)
        line: int = getattr(node, "lineno", 0)
        seen[name, before, after] += 1
        nth = seen[name, before, after]
        found.append(Mutant(module, name, line, operator, before, after, nth, make))
    return tuple(found)


def changes_of(
    tree: ast.Module,
) -> Iterator[tuple[str, str, ast.AST, Callable[[ast.AST], ast.AST]]]:
    """Function, kind, node and replacement of every mutant, in the order of the text."""
    for name, function in _functions(tree, ""):
        for change in _changes(function):
            yield name, *change


Function = ast.FunctionDef | ast.AsyncFunctionDef


def _functions(tree: ast.AST, prefix: str) -> Iterator[tuple[str, Function]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, Function):
            yield f"{prefix}{node.name}", node


def _changes(function: Function) -> Iterator[Change]:
    for statement in function.body:
        for node in _code_in(statement):
            yield from _changes_of_node(node)
    if len(function.body) > 2 and not any(isinstance(one, ast.Return) and one.value
                                          for one in ast.walk(function)):  # fmt: skip
        yield "early", function.body[1], lambda mine: ast.Return(None)


def _code_in(node: ast.AST) -> Iterator[ast.AST]:
    """The node and what is in it, without docstrings, annotations, assertions and logging."""
    if isinstance(node, ast.Assert) or (isinstance(node, ast.stmt) and _is_observation(node)):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name != "annotation":
            for inner in value if isinstance(value, list) else [value]:
                if isinstance(inner, ast.AST):
                    yield from _code_in(inner)


def _is_observation(node: ast.stmt) -> bool:
    """It only reports, or says whether that is to be done; nothing is awaited to know it."""
    match node:
        case ast.Expr():
            return isinstance(node.value, ast.Constant) or _names_an_observer(node)
        case ast.Assign():
            return _names_an_observer(node.targets[0])
        case ast.If():
            awaits = any(isinstance(one, ast.Await) for one in ast.walk(node.test))
            return not awaits and all(map(_is_observation, [*node.body, *node.orelse]))
        case _:
            return False


def _names_an_observer(node: ast.AST) -> bool:
    text = ast.unparse(node)
    return any(one in text for one in ONLY_OBSERVING)


def _changes_of_node(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPPED:
        yield "comparison", node, _swap_comparison
        if type(node.ops[0]) in NEGATED:
            yield "order", node, _negate_order
    elif isinstance(node, ast.BoolOp):
        yield "connective", node, _swap_connective
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "negation", node, lambda mine: mine.operand  # type: ignore[attr-defined]
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield "constant", node, _other_constant
        if not isinstance(node.value, bool):
            yield "constant", node, _constant_below
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        yield "arithmetic", node, _swap_sign
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in ("min", "max"):
            yield "extreme", node, _swap_extreme
    elif isinstance(node, ast.If | ast.IfExp):
        yield "condition", node.test, lambda mine: ast.Constant(True)
        yield "condition", node.test, lambda mine: ast.Constant(False)
    elif isinstance(node, ast.Return) and not _is_none(node.value):
        yield "return", node, lambda mine: ast.Return(ast.Constant(None))
    elif isinstance(node, ast.comprehension):
        for one in node.ifs:
            yield "condition", one, lambda mine: ast.Constant(True)
    elif isinstance(node, _DROPPED) or (
        isinstance(node, ast.Assign)
        and all(isinstance(one, ast.Attribute | ast.Subscript) for one in node.targets)
    ):
        yield "statement", node, lambda mine: ast.Pass()


_DROPPED = (ast.Expr, ast.Delete, ast.AugAssign, ast.Continue, ast.Break, ast.Return)
"""What may be left out as a whole."""


def _is_none(node: ast.expr | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def _negate_order(node: Any) -> ast.AST:
    node.ops = [NEGATED[type(node.ops[0])]()]
    return _as_ast(node)


def _swap_comparison(node: Any) -> ast.AST:
    node.ops = [SWAPPED[type(node.ops[0])]()]
    return _as_ast(node)


def _swap_connective(node: Any) -> ast.AST:
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    return _as_ast(node)


def _other_constant(node: Any) -> ast.AST:
    return ast.Constant(not node.value if isinstance(node.value, bool) else node.value + 1)


def _constant_below(node: Any) -> ast.AST:
    return ast.Constant(node.value - 1)


def _swap_sign(node: Any) -> ast.AST:
    node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
    return _as_ast(node)


def _swap_extreme(node: Any) -> ast.AST:
    node.func = ast.Name("max" if node.func.id == "min" else "min", ast.Load())
    return _as_ast(node)


def _as_ast(node: Any) -> ast.AST:
    assert isinstance(node, ast.AST)
    return node


def _mutated(module: str, tree: ast.Module, name: str, node: ast.AST, new: ast.AST) -> CodeType:
    """A function's code with one node of the module's text replaced."""
    # The copy of everything finds the changed node where it would have copied the old one.
    other = copy.deepcopy(tree, {id(node): ast.copy_location(new, node)})
    for one, function in _functions(other, ""):
        if one == name:  # what it has of the functions around it, it has still
            free = function_named(module, name).__code__.co_freevars
            kept: list[ast.stmt] = [ast.Expr(ast.Name(each, ast.Load())) for each in free]
            function.body += [ast.If(ast.Constant(False), kept, [])] if kept else []
    ast.fix_missing_locations(other)
    return _code(compile(other, f"<mutant of {module}>", "exec"), name)


def _code(module: CodeType, name: str) -> CodeType:
    """The code of a function inside compiled code, by its qualified name."""
    waiting = [module]
    while waiting:
        here = waiting.pop()
        for constant in here.co_consts:
            if isinstance(constant, CodeType):
                if constant.co_qualname == name:
                    return constant
                waiting.append(constant)
    raise KeyError(name)


def sample(mutants: list[Mutant], size: int, seed: int) -> list[Mutant]:
    """Draws that many mutants, from modules and kinds in proportion; all if there are fewer.

    They are in the order of drawing: the first of them are a smaller sample.
    """
    strata: dict[tuple[str, str], list[Mutant]] = {}
    for mutant in mutants:
        strata.setdefault((mutant.module, mutant.operator), []).append(mutant)
    chooser = random.Random(seed)
    placed: list[tuple[float, Mutant]] = []
    for key in sorted(strata):
        members = list(strata[key])
        chooser.shuffle(members)
        # The k-th of n stands at (k + a random part) / n: a systematic draw over all strata.
        placed += [
            ((rank + chooser.random()) / len(members), mutant)
            for rank, mutant in enumerate(members)
        ]
    placed.sort(key=lambda one: one[0])
    return [one for _, one in placed[:size]]
