"""Parts of the state: the expressions that read them, and their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from model.language import LogOf, Record, Sort
from model.language.schema import Field, MapOf, Schema
from model.language.terms import Term
from specs.tla.layout import LayoutNode
from specs.tla.names import ModuleNames
from specs.tla.shapes import Shapes

NO_PLACE = "(no place)"
"""Where `@` would not mean what was there before the step."""


AFTER = "'"
"""Behind a field's name in a claim about a step: the field after it."""


@dataclass(frozen=True)
class NameScope:
    """The names of variables, terms and places in a scope, and the place that `@` denotes."""

    names: dict[str, str] = field(default_factory=dict)
    named: dict[Term, str] = field(default_factory=dict)
    here: str | None = None
    places: Mapping[str, str] = field(default_factory=dict)
    guards: bool = True
    """Does a condition stand here that TLC may take apart, to look at its sides one by one?"""

    @property
    def used(self) -> set[str]:
        """The names that a new variable may not have."""
        return {*self.names.values(), *self.named.values(), *self.places.values()}

    def binding(self, variable: Term, name: str) -> NameScope:
        """The scope with one more variable."""
        return replace(self, names={**self.names, variable.args[0]: name})

    def at(self, here: str | None) -> NameScope:
        """The scope in which `@` denotes a place."""
        return replace(self, here=here)


class Places:
    """Reads the state; `write` gives the text of an index."""

    def __init__(
        self,
        names: ModuleNames,
        shapes: Shapes,
        fields: Mapping[str, Field],
        write: Callable[[Term, NameScope], LayoutNode],
    ) -> None:
        self._names, self._shapes, self._fields, self._write = names, shapes, fields, write

    def read(
        self, name: str, indices: tuple[Term, ...], scope: NameScope
    ) -> tuple[str, Schema, int]:
        """The text that reads a field, the node where it ends, and how many indices it used.

        It ends at a set, with the element's indices left, or at a single value.
        """
        schema: Schema = self._shapes.state
        prime = AFTER if name.endswith(AFTER) else ""
        text, used, parts = "", 0, name.removesuffix(AFTER).split(".")
        while True:
            text = "@" if text == scope.here else scope.places.get(text, text)
            if isinstance(schema, MapOf):
                text += f"[{self._write(indices[used], scope).flat()}]"
                schema, used = schema.of, used + 1
            elif isinstance(schema, Record):
                part = parts.pop(0)
                text, schema = f"{text}.{part}" if text else part + prime, schema.parts[part]
            elif isinstance(schema, LogOf) and parts.pop(0) == "end":
                return f"Len({text})", schema, used
            elif isinstance(schema, LogOf):
                offset = self._write(indices[used], scope).flat()
                text = f"{self._names.helper('At')}({text}, {offset})"
                schema, used = schema.record, used + 1
            else:
                return text, schema, used

    def record(self, name: str, indices: tuple[Term, ...], scope: NameScope) -> str | None:
        """The text that reads a record at an index; None if no text can denote it alone."""
        for part in self.parts_of(name):
            leaf = self._fields.get(f"{name}.{part}")
            if indices and leaf is not None and _keys_of(leaf) == len(indices):
                return self.read(leaf.name, indices, scope)[0].removesuffix(f".{part}")
        return None

    def sort(self, name: str) -> Sort:
        """The sort of a field."""
        return self._fields[name].sort

    def parts_of(self, name: str) -> list[str]:
        """The parts of the record at a dotted name."""
        schema: Schema = self._shapes.state
        for part in name.split("."):
            while isinstance(schema, MapOf):
                schema = schema.of
            schema = schema.record if isinstance(schema, LogOf) else schema
            if isinstance(schema, Record) and part in schema.parts:
                schema = schema.parts[part]
        while isinstance(schema, MapOf):
            schema = schema.of
        schema = schema.record if isinstance(schema, LogOf) else schema
        return list(schema.parts) if isinstance(schema, Record) else []

    def part_of(self, term: Term, scope: NameScope) -> tuple[str, str, list[str]] | None:
        """The text of the record of which a term reads a part, the part, and all of its parts."""
        if term.op != "get" or "." not in term.args[0]:
            return None
        name, *indices = term.args
        parent, _, part = name.rpartition(".")
        text, _, _ = self.read(name, tuple(indices), scope)
        base, dot, last = text.rpartition(".")
        return (base, part, self.parts_of(parent)) if dot and last == part else None


def _keys_of(leaf: Field) -> int:
    """How many indices lead to a field: those of a set's elements are within it."""
    return len(leaf.dims) if leaf.set_from is None else leaf.set_from
