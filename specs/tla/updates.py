"""Writes a transition's writes as primed variables.

The recording has one write per leaf. This module combines them: if all parts of a record are
written, it becomes a record; if only some are, an EXCEPT. A bulk update becomes a function, and a
log that grew an Append. A condition that all parts of a value share is written once, around the
value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from model.language import LogOf, Record, Relation, SetOf
from model.language import terms as t
from model.language.errors import ProtocolError
from model.language.recording import Write
from model.language.schema import Leaf, MapOf
from model.language.terms import Term
from specs.tla.author_names import AuthorNames
from specs.tla.brackets import Comprehension, ExceptUpdate, Labelled
from specs.tla.expressions import Expressions
from specs.tla.layout import If, LayoutNode, Word
from specs.tla.logs import LogDefinitions
from specs.tla.places import NO_PLACE, NameScope
from specs.tla.rewriting import assume
from specs.tla.rewriting import replace as rewritten
from specs.tla.shapes import below, is_blank
from specs.tla.written_places import Leaves, WrittenLeaf, WrittenPlace


class Updates:
    """Writes the new values of one transition's variables."""

    def __init__(self, expressions: Expressions, heard: AuthorNames, step: str) -> None:
        self._of, self._heard, self._step = expressions, heard, step
        self._logs = LogDefinitions(expressions, self._value)

    def variable(self, name: str, writes: Sequence[Write], scope: NameScope) -> LayoutNode:
        """The value of a variable after the writes to it."""
        place = WrittenPlace(self._of.shapes.variables[name], name, (), name)
        if isinstance(place.schema, MapOf):
            writes = self._as_functions(name, writes)
        if not any(write.keys for write in writes) and self._covers(place, _leaves(writes)):
            return self._value(place, _leaves(writes), scope)
        fields = [write.field for write in writes]
        if len(set(fields)) < len(fields):
            # One place may be written twice, the later write counts: `@` would be the earlier's.
            scope = scope.at(NO_PLACE)
        return ExceptUpdate(Word(name), tuple(self._entries(place, "!", list(writes), scope)))

    def _as_functions(self, name: str, writes: Sequence[Write]) -> Sequence[Write]:
        """Writes to a map at one index as bulk updates, where others of the step are bulk updates.

        The later write to a field counts. All get one new index: variables are named by depth, so
        that the index of a bulk update and the element of a set at one index have the same name.
        """
        bulk = [write for write in writes if not write.keys and write.variables]
        if not bulk or all(not write.keys for write in writes):
            return writes
        index = t.var(f"{name}[]", bulk[0].variables[0].sort)
        found: dict[str, Write] = {}
        for write in writes:
            if not write.keys and write.variables:
                first, *rest = write.variables
                value = rewritten(write.value, {first: index})
                found[write.field] = Write(write.field, (), (index, *rest), value)
                continue
            if len(write.keys) != 1 or write.field in found:
                raise ProtocolError(
                    f"{name} is written as a whole and then at one index in one step; "
                    "say both in one lam(...) to export it"
                )
            before = t.get(
                write.field, (index, *write.variables), self._of.places.sort(write.field)
            )
            value = t.ite(t.eq(index, write.keys[0]), write.value, before)
            found[write.field] = Write(write.field, (), (index, *write.variables), value)
        return list(found.values())

    def initial(self, name: str, writes: Sequence[Write]) -> LayoutNode:
        """The value of a variable in the initial state."""
        place = WrittenPlace(self._of.shapes.variables[name], name, (), None)
        if not any(write.keys for write in writes):
            return self._value(place, _leaves(writes), NameScope())
        entries = self._entries(place, "!", list(writes), NameScope(here=NO_PLACE))
        return ExceptUpdate(self._of.shapes.blank(place.schema, name), tuple(entries))

    # -- which places change -------------------------------------------------------------------

    def _covers(self, place: WrittenPlace, leaves: Leaves) -> bool:
        """Do the writes give every leaf of the place a value, or define it by a rule?"""
        if isinstance(place.schema, Record):
            return all(
                self._covers(place.part(part), _leaves_below(leaves, place.part(part)))
                for part in place.schema.parts
            )
        return bool(leaves)

    def _entries(
        self, place: WrittenPlace, path: str, writes: list[Write], scope: NameScope
    ) -> list[LayoutNode]:
        """`!.a = x`, `![i].b = y`: what an EXCEPT lists; the keys of the writes end below."""
        used = len(place.indices)
        if isinstance(place.schema, MapOf) and any(len(write.keys) > used for write in writes):
            found: list[LayoutNode] = []
            for key in dict.fromkeys(_key(write, used, place) for write in writes):
                shown = self._of.of(key, scope.at(NO_PLACE)).flat()
                mine = [write for write in writes if write.keys[used] is key]
                found += self._entries(place.at(key, shown), f"{path}[{shown}]", mine, scope)
            return found
        leaves = _leaves(writes)
        if isinstance(place.schema, Record) and not self._covers(place, leaves):
            found = []
            for part in place.schema.parts:
                below_it = place.part(part)
                mine = [write for write in writes if _belongs(write.field, below_it.name)]
                if mine:
                    found += self._entries(below_it, f"{path}.{part}", mine, scope)
            return found
        here = NO_PLACE if scope.here == NO_PLACE else place.text
        return [Labelled(path, "=", self._value(place, leaves, scope.at(here)))]

    # -- values --------------------------------------------------------------------------------

    def _value(self, place: WrittenPlace, leaves: Leaves, scope: NameScope) -> LayoutNode:
        """The new value of a place; a leaf that is not written keeps its value."""
        leaves = {n: w for n, w in leaves.items() if w.term is not self._before(place, n, w)}
        if not leaves:
            return self._value_before(place, scope)
        chosen = self._choice(place, leaves, scope)
        if chosen is not None:
            return chosen
        schema = place.schema
        if isinstance(schema, MapOf):
            return self._function(place, leaves, scope)
        if isinstance(schema, Record):
            return self._record(place, leaves, scope)
        if isinstance(schema, LogOf):
            return self._logs.value(place, self._value_before(place, scope), leaves, scope)
        written = leaves[place.name]
        if isinstance(schema, (SetOf, Relation)):
            everything = (
                self._of.names.domain(schema.element)
                if isinstance(schema, SetOf)
                else self._of.shapes.tuples(schema)
            )
            return self._of.set(written.variables, everything, written.term, scope)
        return self._of.of(written.term, scope)

    def _before(self, place: WrittenPlace, name: str, written: WrittenLeaf) -> Term | None:
        """What the leaf holds before the step; nothing, if the initial state is being made."""
        if place.text is None:
            return None
        return t.get(name, (*place.indices, *written.variables), self._of.places.sort(name))

    def _value_before(self, place: WrittenPlace, scope: NameScope) -> LayoutNode:
        if place.text is None:
            return self._of.shapes.blank(place.schema, place.name)
        return Word("@" if place.text == scope.here else place.text)

    def _choice(self, place: WrittenPlace, leaves: Leaves, scope: NameScope) -> LayoutNode | None:
        """IF around the value, where every written leaf depends on one condition."""
        if isinstance(place.schema, MapOf) or (len(leaves) < 2 and not _is_log(place)):
            return None
        if any(self._of.has_name(written.term, scope) for written in leaves.values()):
            return None  # the author's name for a part says more
        for written in leaves.values():
            if written.term.op != "ite":
                continue
            condition = written.term.args[0]
            if all(_decided_by(one, condition) for one in leaves.values()):
                then, other = (
                    {
                        name: replace(one, term=assume(one.term, condition, holds))
                        for name, one in leaves.items()
                    }
                    for holds in (True, False)
                )
                return If(
                    self._of.of(condition, scope),
                    self._value(place, then, scope),
                    self._value(place, other, scope),
                )
        return None

    def _function(self, place: WrittenPlace, leaves: Leaves, scope: NameScope) -> LayoutNode:
        assert isinstance(place.schema, MapOf)
        index = next(iter(leaves.values())).variables[0]
        wanted = self._heard.rule(self._step, place.name, index)
        inner, name = self._of.bind(index, wanted, scope)
        inner_leaves = {
            field: WrittenLeaf(written.term, written.variables[1:])
            for field, written in leaves.items()
        }
        domain = self._of.names.domain(place.schema.index)
        body = self._value(place.at(index, name), inner_leaves, inner)
        return Comprehension("[", name, domain, "|->", body, "]")

    def _record(self, place: WrittenPlace, leaves: Leaves, scope: NameScope) -> LayoutNode:
        assert isinstance(place.schema, Record)
        whole = self._covers(place, leaves)
        if whole and self._is_blank(place, leaves):
            return self._of.shapes.blank(place.schema, place.name)
        copied = self._copied(place, leaves, scope) if whole else None
        if copied is not None:
            return Word(copied)
        if whole or place.text is None:
            parts = [
                (
                    part,
                    self._value(place.part(part), _leaves_below(leaves, place.part(part)), scope),
                )
                for part in place.schema.parts
            ]
            return self._of.shapes.record(parts)
        return ExceptUpdate(
            self._value_before(place, scope), tuple(self._changes(place, "!", leaves, scope))
        )

    def _changes(
        self, place: WrittenPlace, path: str, leaves: Leaves, scope: NameScope
    ) -> list[LayoutNode]:
        assert isinstance(place.schema, Record)
        found: list[LayoutNode] = []
        for part in place.schema.parts:
            inner = place.part(part)
            mine = _leaves_below(leaves, inner)
            if mine and isinstance(inner.schema, Record) and not self._covers(inner, mine):
                found += self._changes(inner, f"{path}.{part}", mine, scope)
            elif mine:
                here = scope.at(NO_PLACE if scope.here == NO_PLACE else inner.text)
                found.append(Labelled(f"{path}.{part}", "=", self._value(inner, mine, here)))
        return found

    def _is_blank(self, place: WrittenPlace, leaves: Leaves) -> bool:
        schema = place.schema
        if isinstance(schema, Record):
            return all(
                self._is_blank(place.part(part), _leaves_below(leaves, place.part(part)))
                for part in schema.parts
            )
        if isinstance(schema, Leaf):
            return is_blank(schema, leaves[place.name].term)
        if isinstance(schema, (SetOf, Relation)):
            return leaves[place.name].term is t.FALSE
        return False

    def _copied(self, place: WrittenPlace, leaves: Leaves, scope: NameScope) -> str | None:
        """The text of another record, if every part is read from there."""
        assert isinstance(place.schema, Record)
        found: set[str] = set()
        for part, schema in place.schema.parts.items():
            written = leaves.get(below(place.name, part))
            if written is None or not isinstance(schema, Leaf) or written.term.op != "get":
                return None
            name, *indices = written.term.args
            text, there, _ = self._of.places.read(name, tuple(indices), scope)
            base, dot, last = text.rpartition(".")
            if not dot or last != part or not isinstance(there, Leaf):
                return None
            found.add(base)
            parent = name.rpartition(".")[0]
            if self._of.places.parts_of(parent) != list(place.schema.parts):
                return None
        return found.pop() if len(found) == 1 else None


def _is_log(place: WrittenPlace) -> bool:
    return isinstance(place.schema, LogOf)


def _decided_by(written: WrittenLeaf, condition: Term) -> bool:
    """The value is a choice by the condition; of truth values that is an `and` or an `or`."""
    if any(variable.args[0] in condition.free for variable in written.variables):
        return False
    term = written.term
    if term.op == "ite":
        return term.args[0] is condition
    return term.op in ("and", "or") and (condition in term.args or t.not_(condition) in term.args)


def _leaves(writes: Sequence[Write]) -> dict[str, WrittenLeaf]:
    return {write.field: WrittenLeaf(write.value, write.variables) for write in writes}


def _belongs(field: str, name: str) -> bool:
    return field == name or field.startswith(f"{name}.")


def _leaves_below(leaves: Leaves, place: WrittenPlace) -> dict[str, WrittenLeaf]:
    return {name: one for name, one in leaves.items() if _belongs(name, place.name)}


def _key(write: Write, position: int, place: WrittenPlace) -> Term:
    if position >= len(write.keys):
        raise ProtocolError(
            f"{place.name} is written as a whole and at one index in one step; "
            "say both in one lam(...) to export it"
        )
    return write.keys[position]
