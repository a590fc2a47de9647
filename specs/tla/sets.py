r"""Writes membership conditions as sets: what `isr.without(b)` recorded becomes `isr \ {b}` again.

A set is recorded as the condition that an element is in it. If that condition combines other sets
and single elements, it is written with set operators, otherwise as `{x \\in S : P}`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from model.language import terms as t
from model.language.terms import Term
from specs.tla.brackets import Enclosed
from specs.tla.layout import SETS, If, Infix, LayoutNode, Word, inside

EMPTY = Word("{}")


@dataclass(frozen=True)
class SetElements:
    """The variables of an element, the set of all, and how terms without them are written."""

    variables: tuple[Term, ...]
    everything: LayoutNode
    stored: Callable[[Term], LayoutNode | None]
    write: Callable[[Term], LayoutNode]

    def depends(self, term: Term) -> bool:
        """Does the term read the element?"""
        return any(variable.args[0] in term.free for variable in self.variables)

    def singleton(self, member: LayoutNode | tuple[LayoutNode, ...]) -> LayoutNode:
        """The set of one element."""
        parts = member if isinstance(member, tuple) else (member,)
        one = parts[0] if len(parts) == 1 else Enclosed("<<", parts, ">>")
        return Enclosed("{", (one,), "}")

    def set(self, term: Term) -> LayoutNode | None:
        """The set of the elements for which the term is true; None if operators do not suffice."""
        if not self.depends(term):
            return self._all_or_none(term)
        one = self._single(term)
        if one is not None:
            return one
        if term.op == "get":
            return self.stored(term)
        if term.op == "not":
            rest = self.set(term.args[0])
            return None if rest is None else _difference(self.everything, rest)
        if term.op == "and":
            return self._intersection(term)
        if term.op == "or":
            return self._union(term)
        if term.op == "ite" and not self.depends(term.args[0]):
            then, other = self.set(term.args[1]), self.set(term.args[2])
            if then is None or other is None:
                return None
            return If(self.write(term.args[0]), then, other)
        return None

    def _all_or_none(self, term: Term) -> LayoutNode:
        if term is t.TRUE:
            return self.everything
        if term is t.FALSE:
            return EMPTY
        return If(self.write(term), self.everything, EMPTY)

    def _single(self, term: Term) -> LayoutNode | None:
        """`{b}` for x = b, `{<<b, e>>}` for x = b and y = e."""
        found: dict[Term, Term] = {}
        for part in term.args if term.op == "and" else (term,):
            solved = self._solved(part)
            if solved is None or solved[0] in found:
                return None
            found[solved[0]] = solved[1]
        if set(found) != set(self.variables):
            return None
        return self.singleton(tuple(self.write(found[variable]) for variable in self.variables))

    def _solved(self, term: Term) -> tuple[Term, Term] | None:
        if term.op != "eq":
            return None
        for mine, other in (term.args, term.args[::-1]):
            base, plus = (mine.args[0], mine.args[1].args[0]) if mine.op == "add" else (mine, 0)
            if base in self.variables and not self.depends(other):
                return base, t.add(other, t.const(-plus)) if plus else other
        return None

    def _intersection(self, term: Term) -> LayoutNode | None:
        conditions = [part for part in term.args if not self.depends(part)]
        members: LayoutNode | None = None
        gone: list[LayoutNode] = []
        for part in term.args:
            if part in conditions:
                continue
            found = self.set(part.args[0] if part.op == "not" else part)
            if found is None:
                return None
            if part.op == "not":
                gone.append(found)
            else:
                members = found if members is None else _operator(r"\cap", members, found)
        result = self.everything if members is None else members
        for one in gone:
            result = _difference(result, one)
        return If(self.write(t.and_(*conditions)), result, EMPTY) if conditions else result

    def _union(self, term: Term) -> LayoutNode | None:
        conditions = [part for part in term.args if not self.depends(part)]
        result: LayoutNode | None = None
        for part in term.args:
            if part in conditions:
                continue
            found = self.set(part)
            if found is None:
                return None
            result = found if result is None else _operator(r"\cup", result, found)
        assert result is not None, "the term depends on the element"
        return If(self.write(t.or_(*conditions)), self.everything, result) if conditions else result


def _operator(operator: str, left: LayoutNode, right: LayoutNode) -> LayoutNode:
    if isinstance(left, Infix) and left.operator == operator:
        # Associative: no parentheses on the left.
        return Infix(operator, Word(left.flat()), inside(right, SETS), SETS)
    return Infix(operator, left, right, SETS)


def _difference(members: LayoutNode, gone: LayoutNode) -> LayoutNode:
    return Infix("\\", members, gone, SETS)
