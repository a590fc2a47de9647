"""What expressions of an exported TLA+ module come to in a state: read by a grammar of TLA+ alone.

It knows the operators that exports use and nothing of insync. A function at what is not in its
domain has no value: `NoValue` is raised, as TLC would stop there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.specs.exported_tla import parsed

Scope = Mapping[str, Any]

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "=": lambda one, other: one == other and isinstance(one, bool) == isinstance(other, bool),
    "#": lambda one, other: one != other,
    "<": lambda one, other: one < other,
    ">": lambda one, other: one > other,
    "<=": lambda one, other: one <= other,
    ">=": lambda one, other: one >= other,
    "+": lambda one, other: one + other,
    "-": lambda one, other: one - other,
    "..": lambda one, other: frozenset(range(one, other + 1)),
    "<=>": lambda one, other: one is other,
    r"\in": lambda one, other: one in other,
    r"\notin": lambda one, other: one not in other,
    r"\cup": lambda one, other: one | other,
    r"\cap": lambda one, other: one & other,
    "\\": lambda one, other: one - other,
    r"\subseteq": lambda one, other: one <= other,
    r"\X": lambda one, other: frozenset((a, b) for a in one for b in other),
}


class NoValue(Exception):
    """A function was applied to what is not in its domain."""


class Module:
    """The operators of a module by name; `constants` are the values of its constants."""

    def __init__(self, text: str, constants: Scope) -> None:
        self.constants = dict(constants)
        self.operators: dict[str, tuple[list[str], Any]] = {}
        root = parsed(text)
        assert not root.has_error, text
        for node in root.children[0].children:
            if node.type == "operator_definition":
                names = [_text(one) for one in _all(node, "parameter")]
                self.operators[_text(_of(node, "name"))] = names, _of(node, "definition")

    def guards(self, action: str, state: Scope, arguments: Scope) -> bool:
        """Are all conditions of an action so that speak of the state before it alone?"""
        _, body = self.operators[action]
        parts = [one.named_children[-1] for one in body.named_children if one.type == "conj_item"]
        scope = {**state, **arguments}
        return all(self.value(one, scope) for one in parts
                   if "'" not in _text(one) and "UNCHANGED" not in _text(one))  # fmt: skip

    def value(self, node: Any, scope: Scope) -> Any:
        """A bool, a number, a text, a tuple, a frozenset, or a function as a dict."""
        match node.type:
            case "nat_number":
                return int(_text(node))
            case "boolean":
                return _text(node) == "TRUE"
            case "string":
                return _text(node).strip('"')
            case "boolean_set":
                return frozenset((False, True))
            case "parentheses":
                return self.value(node.named_children[0], scope)
            case "conj_list":
                return all(self.value(one.named_children[-1], scope) for one in _parts(node))
            case "disj_list":
                return any(self.value(one.named_children[-1], scope) for one in _parts(node))
            case "identifier_ref":
                return self._named(_text(node), [], scope)
            case "bound_op":
                return self._applied(_text(_of(node, "name")), _all(node, "parameter"), scope)
            case "bound_prefix_op":
                return self._prefixed(node, scope)
            case "bound_infix_op":
                return self._infixed(node, scope)
            case "if_then_else":
                chosen = "then" if self.value(_of(node, "if"), scope) else "else"
                return self.value(_of(node, chosen), scope)
            case "tuple_literal":
                return tuple(self.value(one, scope) for one in _parts(node, "bracket"))
            case "finite_set_literal":
                return frozenset(self.value(one, scope) for one in node.named_children)
            case "set_filter":
                return frozenset(
                    value for value, inner in self._each([_of(node, "generator")], scope)
                    if self.value(_of(node, "filter"), inner)
                )  # fmt: skip
            case "bounded_quantification":
                holds = (self.value(_of(node, "expression"), inner)
                         for _, inner in self._each(_all(node, "bound"), scope))  # fmt: skip
                return all(holds) if _text(_of(node, "quantifier")) == r"\A" else any(holds)
            case "choose":
                return next(value for value, inner in self._each([node], scope)
                            if self.value(_of(node, "expression"), inner))  # fmt: skip
            case "function_evaluation":
                function, at = (self.value(one, scope) for one in node.named_children)
                if at not in function:
                    raise NoValue(_text(node))
                return function[at]
        raise AssertionError(f"no value of {node.type}: {_text(node)}")

    def _each(self, bounds: list[Any], scope: Scope) -> Iterator[tuple[Any, Scope]]:
        """The values that the names of bounds take together, and the scope in which they do."""
        intros = [(intro, _of(one, "set")) for one in bounds for intro in _all(one, "intro")]
        for values in itertools.product(*(self.value(domain, scope) for _, domain in intros)):
            here = dict(scope)
            for (intro, _), value in zip(intros, values, strict=True):
                if intro.type == "identifier":
                    here[_text(intro)] = value
                else:
                    names = [_text(one) for one in _parts(intro, "bracket")]
                    here.update(zip(names, value, strict=True))
            yield values[0], here

    def _applied(self, name: str, given: list[Any], scope: Scope) -> Any:
        values = [self.value(one, scope) for one in given]
        return len(values[0]) if name == "Cardinality" else self._named(name, values, scope)

    def _named(self, name: str, values: list[Any], scope: Scope) -> Any:
        if name in self.operators and name not in scope:
            names, body = self.operators[name]
            return self.value(body, {**scope, **dict(zip(names, values, strict=True))})
        return scope[name] if name in scope else self.constants[name]

    def _prefixed(self, node: Any, scope: Scope) -> Any:
        sign, value = _text(_of(node, "symbol")), self.value(_of(node, "rhs"), scope)
        return not value if sign == "~" else -value

    def _infixed(self, node: Any, scope: Scope) -> Any:
        sign, left = _text(_of(node, "symbol")), self.value(_of(node, "lhs"), scope)
        right = _of(node, "rhs")
        if sign == "=>":
            return not left or self.value(right, scope)
        if sign in ("/\\", "\\/"):
            return self.value(right, scope) if left is (sign == "/\\") else left
        return OPERATORS[sign](left, self.value(right, scope))


def _text(node: Any) -> str:
    return str(node.text.decode())


def _of(node: Any, name: str) -> Any:
    return node.child_by_field_name(name)


def _all(node: Any, name: str) -> list[Any]:
    return [one for one in node.children_by_field_name(name) if one.is_named]


def _parts(node: Any, but: str = "bullet") -> list[Any]:
    return [one for one in node.named_children if but not in one.type]
