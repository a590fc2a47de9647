"""Instruments functions in place to record which of their lines run, for `coverage` and `mutants`.

Each function of some modules gets code with a note before each statement, and before each part of
an expression that has a line of its own and may be skipped. That costs almost nothing, on any
Python; a trace function slows down everything that runs, and what it traces thirtyfold.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from types import CodeType, FunctionType, ModuleType, TracebackType
from typing import Any, Self, TypeVar

Node = TypeVar("Node", bound=ast.AST)

Lines = dict[str, set[int]]
"""By module, numbers of lines."""

Function = tuple[str, int]
"""A function of a module: its qualified name, and its first line with its decorators."""

NOTES, NOTED = "__line_notes__", "__line_noted__"
"""What instrumented code finds in its module: a byte for each note, and what sets one."""

_BEFORE_A_PART = re.compile(r"(?:\b(?:and|or|if|else|not|await|lambda)\b|[(\[{:\s])*")

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class LineRecorder:
    """Records the lines of some modules that run inside of ``with``, in any thread."""

    def __init__(self, modules: Iterable[str]) -> None:
        self.walked: Lines = {name: set() for name in modules}
        self._before: list[tuple[FunctionType, CodeType]] = []

    def __enter__(self) -> Self:
        assert not self._before, "lines are noted already"
        for name in self.walked:
            module = import_module(name)
            codes, groups = self.instrumented(name)
            notes = bytearray(len(groups))
            setattr(module, NOTES, notes)
            setattr(module, NOTED, self.noted(notes))
            for function in functions_in(module):
                new = codes.get((function.__qualname__, function.__code__.co_firstlineno))
                if new is not None:
                    self._before.append((function, function.__code__))
                    function.__code__ = new
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.take()
        for function, code in self._before:
            function.__code__ = code
        self._before.clear()

    @staticmethod
    def instrumented(module: str) -> tuple[dict[Function, CodeType], list[set[int]]]:
        """A module's functions that take notes, and the lines that each note stands for."""
        return _instrumented(module)

    @staticmethod
    def noted(notes: bytearray) -> object:
        """The function that instrumented expressions call to record that they ran."""
        return _setter(notes)

    def take(self) -> Lines:
        """Returns the lines that ran since the last call, and adds them to ``walked``."""
        found: Lines = {}
        for name, walked in self.walked.items():
            notes = vars(import_module(name))[NOTES]
            groups = self.instrumented(name)[1]
            found[name] = {line for at, noted in enumerate(notes) if noted for line in groups[at]}
            notes[:] = bytes(len(notes))
            walked |= found[name]
        return found


def functions_in(module: ModuleType) -> Iterator[FunctionType]:
    """The functions and methods that a module defines, in no order."""
    waiting, seen = list(vars(module).values()), set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, ModuleType):
            continue
        seen.add(id(one))
        if isinstance(one, property):
            waiting += [one.fget, one.fset, one.fdel]
        elif isinstance(one, staticmethod | classmethod):
            waiting.append(one.__func__)
        elif isinstance(one, type) and one.__module__ == module.__name__:
            waiting += vars(one).values()
        elif isinstance(one, FunctionType) and one.__module__ == module.__name__:
            yield one
        else:
            waiting += [getattr(one, "__wrapped__", None), getattr(one, "func", None)]


@cache
def lines_of(module: str) -> tuple[tuple[str, frozenset[int]], ...]:
    """Each function of a module by qualified name, with the lines of its body.

    A function that has nothing but a docstring, as in a protocol, has no line.
    """
    source, tree = module_text(module)
    empty = {_key(one) for one in ast.walk(tree) if isinstance(one, _FUNCTIONS) and _is_empty(one)}
    found = []
    for code in codes_in(compile(source, module, "exec")):
        if code.co_name != "<genexpr>" and (code.co_name, code.co_firstlineno) not in empty:
            lines = {line for _, _, line in code.co_lines() if line is not None}
            found.append((code.co_qualname, frozenset(lines - {code.co_firstlineno})))
    return tuple(sorted(found))


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """The functions, lambdas and comprehensions inside of compiled code."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_flags & inspect.CO_OPTIMIZED:
                yield constant
            yield from codes_in(constant)


def module_text(module: str) -> tuple[str, ast.Module]:
    """A module's text, and its tree."""
    source = inspect.getsource(import_module(module))
    return source, ast.parse(source)


def _key(function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, int]:
    first = function.decorator_list[0] if function.decorator_list else function
    return function.name, first.lineno


def _is_empty(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return all(
        isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) for one in function.body
    )


def _setter(notes: bytearray) -> Callable[[int], None]:
    def noted(at: int) -> None:
        notes[at] = 1

    return noted


@cache
def _instrumented(module: str) -> tuple[dict[Function, CodeType], list[set[int]]]:
    """A module's functions that note their lines, and the lines that each note stands for."""
    source, tree = module_text(module)
    marker = _Marker(source.splitlines())
    tree = ast.fix_missing_locations(marker.visit(tree))
    compiled = compile(tree, str(import_module(module).__file__), "exec")
    codes = {(one.co_qualname, one.co_firstlineno): one for one in codes_in(compiled)}
    return codes, marker.groups


class _Marker(ast.NodeTransformer):
    """Puts notes into a module's functions. ``groups``: by note, the lines that it stands for."""

    def __init__(self, text: list[str]) -> None:
        self.text = text
        self.groups: list[set[int]] = []
        self.owner: int | None = None
        """The note of what is being visited; None outside of functions."""

    # Statements

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def _function(self, node: Any) -> ast.AST:
        outer, self.owner = self.owner, None
        if not _is_empty(node):
            node.body = self._block(node.body)
        self.owner = outer
        return _as_ast(node)

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for one in statements:
            self.owner = None
            self.owner = self._group(one.lineno, _end_of_head(one))
            found += [self._note(one, self.owner), self._statement(one)]
        return found

    def _statement(self, node: Any) -> ast.stmt:
        mine = self.owner
        assert mine is not None, "a statement has a note"
        if isinstance(node, ast.Match):
            self._cases(node)
            return node
        for name, value in ast.iter_fields(node):
            if name in ("body", "orelse", "finalbody") and not isinstance(node, _FUNCTIONS):
                setattr(node, name, self._block(value))
            elif name == "handlers":
                for handler in value:
                    self._handler(handler)
            elif isinstance(node, _FUNCTIONS):
                self._function(node)
                break
            else:
                self.owner = mine
                setattr(node, name, self._visited(value))
        assert isinstance(node, ast.stmt)
        return node

    def _visited(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.visit(one) if isinstance(one, ast.AST) else one for one in value]
        return self.visit(value) if isinstance(value, ast.AST) else value

    def _handler(self, handler: ast.ExceptHandler) -> None:
        self.owner = None
        at = self.owner = self._group(handler.lineno, _end_of_head(handler))
        if handler.type is not None:
            handler.type = self._noted(handler.type, at)
        first = self._note(handler.body[0], at)
        handler.body = [first, *self._block(handler.body)]

    def _cases(self, node: ast.Match) -> None:
        """A case is looked at when none before it fits."""
        node.subject = self.visit(node.subject)
        heads: list[int] = []
        for case in node.cases:
            head = case.pattern.lineno, case.body[0].lineno - 1
            self.owner = None
            self.owner = self._group(head[0], max(head))
            heads.append(self.owner)
            if case.guard is not None:
                case.guard = self._noted(self.visit(case.guard), self.owner)
            notes = [self._note(case.body[0], at) for at in heads]
            case.body = [*notes, *self._block(case.body)]
        otherwise = [self._note(node, at) for at in heads]
        last = node.cases[-1]
        if last.guard is not None or not _takes_all(last.pattern):
            pattern = ast.copy_location(ast.MatchAs(), node)
            node.cases.append(ast.match_case(pattern=pattern, guard=None, body=otherwise))

    # Expressions

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Notes the parts of an expression that may be passed over."""
        if self.owner is None or not isinstance(node, ast.expr):
            return super().generic_visit(node)
        mine = self.owner
        parts = {id(one) for one in _parts(node) if one.lineno > node.lineno}
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                setattr(node, name, [self._inner(one, id(one) in parts, mine) for one in value])
            else:
                setattr(node, name, self._inner(value, id(value) in parts, mine))
        return node

    def _inner(self, value: Any, passed_over: bool, mine: int) -> Any:
        self.owner = mine
        if isinstance(value, ast.comprehension):
            value.iter = self._inner(value.iter, False, mine)
            value.ifs = [self._inner(one, True, mine) for one in value.ifs]
            return value
        if not isinstance(value, ast.AST):
            return value
        if not (passed_over and isinstance(value, ast.expr) and self._begins_a_line(value)):
            return self.visit(value)
        at = self.owner = self._group(value.lineno, value.end_lineno or value.lineno)
        noted = self._noted(self.visit(value), at)
        self.owner = mine
        return noted

    def _begins_a_line(self, node: ast.expr) -> bool:
        """No other part of the statement stands before it in its line."""
        before = self.text[node.lineno - 1].encode()[: node.col_offset].decode()
        return _BEFORE_A_PART.fullmatch(before) is not None

    # Notes

    def _group(self, first: int, last: int) -> int:
        """A new note, which takes its lines from what is around it."""
        lines = set(range(first, last + 1))
        if self.owner is not None:
            self.groups[self.owner] -= lines
        self.groups.append(lines)
        return len(self.groups) - 1

    def _note(self, at: ast.AST, number: int) -> ast.stmt:
        notes = ast.Name(NOTES, ast.Load())
        place = ast.Subscript(notes, ast.Constant(number), ast.Store())
        return _placed(ast.Assign([place], ast.Constant(1)), at)

    def _noted(self, node: ast.expr, number: int) -> ast.expr:
        call = ast.Call(ast.Name(NOTED, ast.Load()), [ast.Constant(number)], [])
        return _placed(ast.BoolOp(ast.Or(), [call, node]), node)


def _placed(node: Node, at: ast.AST) -> Node:
    return ast.fix_missing_locations(ast.copy_location(node, at))


def _as_ast(node: Any) -> ast.AST:
    assert isinstance(node, ast.AST)
    return node


def _end_of_head(node: Any) -> int:
    """The last line of a statement, or of what stands before its block."""
    blocks = [getattr(node, name, None) for name in ("body", "cases")]
    first = next((one[0] for one in blocks if isinstance(one, list) and one), None)
    if first is None:
        return int(node.end_lineno)
    line = first.pattern.lineno if isinstance(first, ast.match_case) else first.lineno
    return max(int(node.lineno), line - 1)


def _takes_all(pattern: ast.pattern) -> bool:
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """The parts of an expression that are evaluated in some cases only, or later."""
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.BoolOp):
        yield from node.values[1:]
    elif isinstance(node, ast.Compare):
        yield from node.comparators[1:]
    elif isinstance(node, ast.Lambda):
        yield node.body
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        yield node.elt
    elif isinstance(node, ast.DictComp):
        yield from (node.key, node.value)
