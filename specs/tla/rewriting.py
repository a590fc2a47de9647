"""Rewrites terms: replaces subterms, and compares terms up to bound names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from model.language import terms as t
from model.language.terms import Term

BINDERS = ("every", "some", "count", "least")


def replace(term: Term, mapping: Mapping[Term, Term]) -> Term:
    """The simplified term in which every occurrence of the mapping's terms is replaced."""
    memo: dict[Term, Term] = {}

    def go(node: Term) -> Term:
        found = mapping.get(node) or memo.get(node)
        if found is None:
            found = memo[node] = _rebuilt(node, go)
        return found

    return go(term)


def _rebuilt(node: Term, go: Callable[[Term], Term]) -> Term:
    args = [go(arg) if isinstance(arg, Term) else arg for arg in node.args]
    if node.op in BINDERS:
        _, low, high, body, *default = args
        return t.quantifier(node.op, node.args[0], body, low, high, *default)
    return t.rebuilt(node, args)


def substitute(term: Term, values: Mapping[str, Term]) -> Term:
    """The term with variables replaced by terms, by name."""
    found = {v: values[v.args[0]] for v in variables(term) if v.args[0] in values}
    return replace(term, found)


def variables(term: Term) -> set[Term]:
    """Every variable that occurs in the term, bound or free."""
    return {node for node in subterms(term) if node.op == "var"}


def subterms(term: Term) -> list[Term]:
    """The term and all of its subterms, each once, parts before wholes."""
    seen: dict[Term, None] = {}

    def go(node: Term) -> None:
        if node in seen:
            return
        for arg in node.args:
            if isinstance(arg, Term):
                go(arg)
        seen[node] = None

    go(term)
    return list(seen)


def assume(term: Term, condition: Term, holds: bool) -> Term:
    """The term simplified under a condition that is known to hold."""
    known = {condition: t.const(holds), t.not_(condition): t.const(not holds)}
    return replace(term, known)


def same(one: Term, other: Term) -> bool:
    """Are terms equal up to the names of bound variables and the order of an equality's sides?"""
    return _same(one, other, {})


def _same(one: Term, other: Term, names: dict[str, str]) -> bool:
    if one is other and not names:
        return True
    if one.op != other.op or len(one.args) != len(other.args):
        return False
    if one.op == "var":
        return bool(names.get(one.args[0], one.args[0]) == other.args[0])
    if one.op in BINDERS:
        mine, theirs = one.args[0], other.args[0]
        if mine.sort != theirs.sort:
            return False
        inner = {**names, mine.args[0]: theirs.args[0]}
        return (
            _all_same(one.args[1:3], other.args[1:3], names)
            and _all_same(one.args[3:4], other.args[3:4], inner)
            and _all_same(one.args[4:], other.args[4:], names)
        )
    if one.op == "eq" and _all_same(one.args, other.args[::-1], names):
        return True
    return _all_same(one.args, other.args, names)


def _all_same(ones: tuple[object, ...], others: tuple[object, ...], names: dict[str, str]) -> bool:
    for one, other in zip(ones, others, strict=True):
        if isinstance(one, Term) and isinstance(other, Term):
            if not _same(one, other, names):
                return False
        elif one != other:
            return False
    return True
