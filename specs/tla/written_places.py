"""A part of the state, and what a step writes within it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.language import Record
from model.language.schema import MapOf, Schema
from model.language.terms import Term
from specs.tla.shapes import below


@dataclass(frozen=True)
class WrittenPlace:
    """A place of the state: its shape, its field's name, its indices, and the text that reads it.

    Without a text there is no state before: the place belongs to the initial state.
    """

    schema: Schema
    name: str
    indices: tuple[Term, ...]
    text: str | None

    def part(self, part: str) -> WrittenPlace:
        """A part of a record."""
        assert isinstance(self.schema, Record)
        text = None if self.text is None else f"{self.text}.{part}"
        return WrittenPlace(self.schema.parts[part], below(self.name, part), self.indices, text)

    def at(self, index: Term, shown: str) -> WrittenPlace:
        """A function's value."""
        assert isinstance(self.schema, MapOf)
        text = None if self.text is None else f"{self.text}[{shown}]"
        return WrittenPlace(self.schema.of, self.name, (*self.indices, index), text)


@dataclass(frozen=True)
class WrittenLeaf:
    """The new value of a leaf; `variables` are its indices that are not chosen yet."""

    term: Term
    variables: tuple[Term, ...]


Leaves = Mapping[str, WrittenLeaf]
