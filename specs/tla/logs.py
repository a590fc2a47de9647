"""Writes how a step changes a log: an append, a truncation, a copy, or any other change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from model.language import LogOf
from model.language import terms as t
from model.language.schema import fields
from model.language.terms import Term
from specs.tla.brackets import Comprehension, call
from specs.tla.expressions import Expressions
from specs.tla.layout import LayoutNode, Word
from specs.tla.places import NameScope
from specs.tla.rewriting import assume
from specs.tla.rewriting import replace as rewritten
from specs.tla.written_places import Leaves, WrittenLeaf, WrittenPlace


class LogDefinitions:
    """Writes logs; `value` writes the value of any other place."""

    def __init__(
        self,
        expressions: Expressions,
        value: Callable[[WrittenPlace, Leaves, NameScope], LayoutNode],
    ) -> None:
        self._of, self._value = expressions, value

    def value(
        self, place: WrittenPlace, own: LayoutNode, leaves: Leaves, scope: NameScope
    ) -> LayoutNode:
        """The new log, given the text of the log before the step."""
        schema = place.schema
        assert isinstance(schema, LogOf)
        old_end = t.get(f"{place.name}.end", place.indices, schema.end)
        end = leaves[f"{place.name}.end"].term if f"{place.name}.end" in leaves else old_end
        records = {n: w for n, w in leaves.items() if n != f"{place.name}.end"}
        if end.op == "const" and end.args[0] == 0:
            return Word("<<>>")
        if not records:
            return call(self._of.names.helper("Cut"), own, self._of.of(end, scope))
        parts = {leaf.name for leaf in fields(schema.record, f"{place.name}.at")}
        copied = self._copied(place, end, records, scope)
        if copied is not None and parts == set(records):
            return Word(copied)
        offset = next(iter(records.values())).variables[0]
        cell = WrittenPlace(schema.record, f"{place.name}.at", (*place.indices, offset), None)
        if place.text is not None and end is t.add(old_end, t.const(1)):
            added = appended(records, offset, old_end, place)
            if added is not None:
                return call("Append", own, self._value(cell, added, scope))
        inner, name = self._of.bind(offset, "position", scope)
        shifted = inner.binding(offset, f"{name} - 1")
        remaining = {n: WrittenLeaf(w.term, w.variables[1:]) for n, w in records.items()}
        top = self._of.of(end, scope).flat()
        # A part that is not written keeps its value, at every position.
        before = (
            None
            if place.text is None
            else f"{self._of.names.helper('At')}({place.text}, {name} - 1)"
        )
        cell = replace(cell, text=before)
        return Comprehension(
            "[", name, Word(f"1..({top})"), "|->", self._value(cell, remaining, shifted), "]"
        )

    def _copied(
        self, place: WrittenPlace, end: Term, records: Leaves, scope: NameScope
    ) -> str | None:
        """The text of another log, if all of this one is read from there."""
        if end.op != "get" or not end.args[0].endswith(".end"):
            return None
        source, indices = end.args[0].removesuffix(".end"), end.args[1:]
        for name, written in records.items():
            part = name.removeprefix(f"{place.name}.")
            there = (f"{source}.{part}", *indices, *written.variables)
            if written.term.op != "get" or written.term.args != there:
                return None
        return self._of.places.read(end.args[0], indices, scope)[0].removeprefix("Len(")[:-1]


def appended(
    records: Leaves, offset: Term, end: Term, place: WrittenPlace
) -> dict[str, WrittenLeaf] | None:
    """The record that an append adds; None if more than that changes below the end."""
    added: dict[str, WrittenLeaf] = {}
    for name, written in records.items():
        below_end = assume(written.term, t.eq(offset, end), False)
        if below_end is not t.get(name, (*place.indices, offset), below_end.sort):
            return None
        at_end = rewritten(written.term, {offset: end})
        added[name] = WrittenLeaf(at_end, written.variables[1:])
    return added
