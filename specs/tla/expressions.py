"""Writes recorded terms as TLA+ expressions, with the author's names where there are any."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from model.language import Relation, SetOf
from model.language import terms as t
from model.language.errors import ProtocolError
from model.language.schema import Field
from model.language.sorts import BOOL, Enumeration, Sort
from model.language.terms import Term
from specs.tla.author_names import AuthorNames, ProtocolWord
from specs.tla.brackets import Comprehension, Enclosed, call
from specs.tla.layout import (
    COMPARE,
    EQUIVALENT,
    IMPLIES,
    PLUS,
    If,
    Infix,
    LayoutNode,
    Prefix,
    Word,
    bound,
    junction,
)
from specs.tla.names import ModuleNames, literal, snake
from specs.tla.places import AFTER, NameScope, Places
from specs.tla.rewriting import subterms
from specs.tla.sets import SetElements
from specs.tla.shapes import Shapes

_SIGN = {"and": "/\\", "or": "\\/"}


class Expressions:
    """Writes terms. `words` are the protocol's words that were used, in order of first use."""

    def __init__(
        self, names: ModuleNames, shapes: Shapes, heard: AuthorNames, fields: Mapping[str, Field]
    ) -> None:
        self._fields = fields
        self.places = Places(names, shapes, fields, self.of)
        self.names, self.shapes, self._heard = names, shapes, heard
        self.words: dict[str, ProtocolWord] = {}
        self.called = {word: names.fresh(word, f"the_{word}") for word in heard.words}
        self.ordered_members = False
        """The text depends on an order of an enumeration's values."""
        self._runs: dict[tuple[str, Term], list[Term]] = {}
        for term in heard.uses:
            if term.op in _SIGN:
                self._runs.setdefault((term.op, term.args[0]), []).append(term)
        for runs in self._runs.values():
            runs.sort(key=lambda term: -len(term.args))

    # -- the three ways to a term --------------------------------------------------------------

    def of(self, term: Term, scope: NameScope) -> LayoutNode:
        """The expression for a term: its name or word if it has one."""
        if term in scope.named:
            return Word(scope.named[term])
        return self.said(term, scope)

    def has_name(self, term: Term, scope: NameScope) -> bool:
        """Does the term have a name or a word from the author?"""
        return term in scope.named or term in self._heard.uses

    def said(self, term: Term, scope: NameScope) -> LayoutNode:
        """The expression for a term: its word if it has one, else written out."""
        use = self._heard.uses.get(term)
        if use is None:
            return self.spelled(term, scope)
        self.words.setdefault(use.word.name, use.word)
        arguments = (self.of(argument, scope) for argument in use.arguments)
        return call(self.called[use.word.name], *arguments)

    def spelled(self, term: Term, scope: NameScope) -> LayoutNode:
        """The expression for a term, written out."""
        op, args = term.op, term.args
        if op == "const":
            return self.names.value(term.sort, args[0])
        if op == "var":
            return Word(scope.names[args[0]])
        if op == "bound":
            return self.names.size(args[0])
        if op == "get":
            return self._get(term, scope)
        if op == "not":
            return self._not(self.of(args[0], scope))
        if op in _SIGN:
            return self._junction(term, scope)
        if op == "eq":
            return self._equal(term, scope)
        if op in ("lt", "le"):
            return self._compare(term, scope)
        if op == "add":
            return self._sum(term, scope)
        if op == "ite":
            return self._choice(term, scope)
        return self._quantified(term, scope)

    # -- the state -----------------------------------------------------------------------------

    def _get(self, term: Term, scope: NameScope) -> LayoutNode:
        name, *indices = term.args
        if name.startswith("$"):
            return Infix(r"\in", self.of(indices[0], scope), Word(scope.names[name]), COMPARE)
        text, schema, used = self.places.read(name, tuple(indices), scope)
        if isinstance(schema, (SetOf, Relation)):
            parts = tuple(self.of(index, scope) for index in indices[used:])
            element = parts[0] if len(parts) == 1 else Enclosed("<<", parts, ">>")
            return Infix(r"\in", element, Word(text), COMPARE)
        return Word(text)

    def _stored_set(
        self, term: Term, variables: tuple[Term, ...], scope: NameScope
    ) -> LayoutNode | None:
        """The set that a membership reads, if the element is the whole of what varies."""
        name, *indices = term.args
        outer, element = indices[: -len(variables)], indices[-len(variables) :]
        varying = {variable.args[0] for variable in variables}
        if tuple(element) != variables or any(index.free & varying for index in outer):
            return None
        if name.startswith("$"):
            return Word(scope.names[name])
        stand_ins = {variable.args[0]: "" for variable in variables}
        inner = replace(scope, names={**scope.names, **stand_ins})
        text, schema, used = self.places.read(name, tuple(indices), inner)
        whole = isinstance(schema, (SetOf, Relation)) and used == len(outer)
        return Word(text) if whole else None

    # -- sets ----------------------------------------------------------------------------------

    def elements(
        self, variables: tuple[Term, ...], everything: LayoutNode, scope: NameScope
    ) -> SetElements:
        """The writer of conditions on these variables as sets."""
        return SetElements(
            variables,
            everything,
            lambda term: self._stored_set(term, variables, scope),
            lambda term: self.of(term, scope),
        )

    def set(
        self, variables: tuple[Term, ...], everything: LayoutNode, term: Term, scope: NameScope
    ) -> LayoutNode:
        r"""The elements for which the term is true, by operators or as `{x \in S : P}`."""
        found = self.elements(variables, everything, scope).set(term)
        if found is not None:
            return found
        inner, names = scope, []
        for variable in variables:
            inner, name = self.bind(variable, self._heard.variable(variable, term), inner)
            names.append(name)
        element = names[0] if len(names) == 1 else f"<<{', '.join(names)}>>"
        return Comprehension("{", element, everything, ":", self.of(term, inner), "}")

    def bind(self, variable: Term, wanted: str | None, scope: NameScope) -> tuple[NameScope, str]:
        """The scope with a bound variable, under its author's name if that is free."""
        plain = snake(variable.sort.name)
        name = self.names.local(wanted or plain, scope.used)
        return scope.binding(variable, name), name

    # -- connectives and comparisons -----------------------------------------------------------

    def _not(self, node: LayoutNode) -> LayoutNode:
        if isinstance(node, Infix) and node.operator in ("=", r"\in"):
            return replace(node, operator={"=": "#", r"\in": r"\notin"}[node.operator])
        return Prefix("~", node)

    def _junction(self, term: Term, scope: NameScope) -> LayoutNode:
        parts = self._folded(term)
        if term.op == "or" and parts[0].op == "not":
            return self._implied(parts[0].args[0], parts[1:], scope)
        if term.op == "or" and scope.guards:
            unsafe = next((i for i, part in enumerate(parts) if self._reads_nowhere(part)), 0)
            if unsafe:
                # In an action TLC looks at every side of a disjunction; at a conclusion it looks
                # only under the condition.
                premise = t.and_(*(t.not_(part) for part in parts[:unsafe]))
                return self._implied(premise, parts[unsafe:], scope)
        shown: list[LayoutNode] = []
        while parts:
            pair, size = self._same_records(parts, scope) if term.op == "and" else (None, 1)
            shown.append(self.of(parts[0], scope) if pair is None else pair)
            del parts[:size]
        return junction(_SIGN[term.op], shown)

    def _implied(self, premise: Term, parts: list[Term], scope: NameScope) -> LayoutNode:
        conclusion = junction(r"\/", [self.of(part, scope) for part in parts])
        return Infix("=>", self.of(premise, scope), conclusion, IMPLIES)

    def _reads_nowhere(self, term: Term) -> bool:
        """May the term read what is not there: a log below its first record, or at none?"""
        return any(
            node.op == "get"
            and not node.args[0].startswith("$")
            and self._misses(self._fields[node.args[0].removesuffix(AFTER)], node.args[1:])
            for node in subterms(term)
        )

    def _misses(self, leaf: Field, indices: tuple[Term, ...]) -> bool:
        """May an index be outside the field's domain? Of a set anything may be asked."""
        keys = leaf.dims if leaf.set_from is None else leaf.dims[: leaf.set_from]
        below = leaf.log is not None and any(
            index.op == "add" and index.args[1].args[0] < 0 for index in indices
        )
        return below or any(
            may_be_none(index.sort) and not may_be_none(sort)
            for sort, index in zip(keys, indices, strict=False)
        )

    def _same_records(self, parts: list[Term], scope: NameScope) -> tuple[LayoutNode | None, int]:
        """Two records with all parts equal, one by one, are equal; and how many parts that is."""
        records: set[str] = set()
        names: list[str] = []
        for part in parts:
            left = self.places.part_of(part.args[0], scope) if part.op == "eq" else None
            right = self.places.part_of(part.args[1], scope) if part.op == "eq" else None
            if left is None or right is None:
                break
            (one, mine, all_mine), (other, theirs, all_theirs) = left, right
            if mine != theirs or all_mine != all_theirs or records - {one, other}:
                break
            records |= {one, other}
            names.append(mine)
            if names == all_mine and len(records) == 2:
                first, second = sorted(records)
                return Infix("=", Word(first), Word(second), COMPARE), len(names)
        return None, 1

    def _folded(self, term: Term) -> list[Term]:
        """The parts, with those that together are one word of the protocol made one again."""
        parts, result = list(term.args), []
        while parts:
            for run in self._runs.get((term.op, parts[0]), ()):
                size = len(run.args)
                if run is not term and tuple(parts[:size]) == run.args:
                    result.append(run)
                    del parts[:size]
                    break
            else:
                result.append(parts.pop(0))
        return result

    def _equal(self, term: Term, scope: NameScope) -> LayoutNode:
        # A term is one whichever side its author wrote first: the place stands left.
        sides = [(self._rank(part, scope), self.of(part, scope).flat(), part) for part in term.args]
        left, right = (part for _, _, part in sorted(sides, key=lambda side: side[:2]))
        if left.sort is BOOL:
            return Infix("<=>", self.of(left, scope), self.of(right, scope), EQUIVALENT)
        return Infix("=", self.of(left, scope), self.of(right, scope), COMPARE)

    def _rank(self, term: Term, scope: NameScope) -> tuple[int, int]:
        if term.op == "const":
            return 4, 0
        if term.op == "var":
            return 3, list(scope.names).index(term.args[0])
        return (0, -len(term.args)) if term.op == "get" else (1, 0)

    def _compare(self, term: Term, scope: NameScope) -> LayoutNode:
        left, right = term.args
        if term.op == "lt" and left.op == "const":
            low = int(left.args[0])
            sign, bound = (">", low) if low >= 0 else (">=", low + 1)
            return Infix(sign, self.of(right, scope), literal(bound), COMPARE)
        sign = "<" if term.op == "lt" else "<="
        return Infix(sign, self.of(left, scope), self.of(right, scope), COMPARE)

    def _sum(self, term: Term, scope: NameScope) -> LayoutNode:
        base, plus = self.of(term.args[0], scope), int(term.args[1].args[0])
        return Infix("+" if plus > 0 else "-", base, literal(abs(plus)), PLUS)

    def _choice(self, term: Term, scope: NameScope) -> LayoutNode:
        condition, then, other = term.args
        if term.sort is not BOOL:
            for name, test in (("Smaller", t.le(then, other)), ("Larger", t.le(other, then))):
                if condition is test:
                    name = self.names.helper(name)
                    return call(name, self.of(then, scope), self.of(other, scope))
        return If(self.of(condition, scope), self.of(then, scope), self.of(other, scope))

    # -- quantifiers ---------------------------------------------------------------------------

    def _quantified(self, term: Term, scope: NameScope) -> LayoutNode:
        variable, low, high, body = term.args[:4]
        domain = self._range(variable.sort, low, high, scope)
        wanted = self._heard.variable(variable, body)
        if term.op == "count":
            return call("Cardinality", self.set((variable,), domain, body, scope))
        if term.op == "least":
            self.ordered_members |= isinstance(variable.sort, Enumeration)
            found = self.set((variable,), domain, body, scope)
            default = self.of(term.args[4], scope)
            return call(self.names.helper("Least"), found, default)
        if term.op == "every" and wanted is None and low is None and high is None:
            compared = self._compared_sets(variable, domain, body, scope)
            if compared is not None:
                return compared
        if term.op not in ("every", "some"):
            raise ProtocolError(f"the operation {term.op} has no form in TLA+")
        inner, name = self.bind(variable, wanted, scope)
        return bound(r"\A" if term.op == "every" else r"\E", name, domain, self.of(body, inner))

    def _range(
        self, sort: Sort, low: Term | None, high: Term | None, scope: NameScope
    ) -> LayoutNode:
        domain = self.names.domain(sort)
        if low is None and high is None:
            return domain
        assert low is not None, "a range has both ends"
        assert high is not None, "a range has both ends"
        top = self.of(high, scope)
        if low.op == "const" and int(low.args[0]) <= getattr(sort, "bottom", 0):
            return call(self.names.helper("Below"), domain, top)
        return call(self.names.helper("Between"), domain, self.of(low, scope), top)

    def _compared_sets(
        self, variable: Term, domain: LayoutNode, body: Term, scope: NameScope
    ) -> LayoutNode | None:
        """A word of the notation about whole sets: equal, empty, a part of another."""
        elements = self.elements((variable,), domain, scope)
        if body.op == "not":
            members = elements.set(body.args[0])
            return None if members is None else Infix("=", members, Word("{}"), COMPARE)
        if body.op == "eq" and body.args[0].sort is BOOL:
            sign, sides = "=", list(body.args)
        elif body.op == "or" and len(body.args) == 2 and body.args[0].op == "not":
            sign, sides = r"\subseteq", [body.args[0].args[0], body.args[1]]
        else:
            return None
        found = [elements.set(side) for side in sides]
        if found[0] is None or found[1] is None:
            return None
        if sign == "=":
            found.sort(key=lambda node: node is not None and (node.flat()[0] == "{", node.flat()))
        return Infix(sign, found[0], found[1], COMPARE)


def may_be_none(sort: Sort) -> bool:
    """Is none one of the sort's values?"""
    return bool(getattr(sort, "none_allowed", False))
