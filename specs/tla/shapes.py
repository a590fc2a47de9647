"""The state in TLA+: records, functions, sets, sequences, with their types and blank values.

A record stays a record, `per(...)` a function, a set a set, a relation a set of tuples, a log a
sequence: the record at offset o is `At(log, o)`, and the log's end is `Len(log)`. A state therefore
has only one form, and TLC distinguishes exactly the states that the engines distinguish.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model.language import LogOf, Record, Relation, SetOf
from model.language.scalars import blank_term
from model.language.schema import Ghost, Leaf, MapOf, Schema, fields
from model.language.terms import Term
from specs.tla.brackets import Comprehension, Enclosed, Labelled, call
from specs.tla.layout import SETS, LayoutNode, Parenthesised, Prefix, Word, inside
from specs.tla.names import ModuleNames, camel, snake


def without_ghost(schema: Schema) -> Schema:
    """The schema under any marks of history."""
    while isinstance(schema, Ghost):
        schema = schema.of
    return schema


def kept_part(schema: Schema, name: str, kept: set[str]) -> Schema | None:
    """The schema without the fields that are not kept; None if nothing remains."""
    schema = without_ghost(schema)
    if isinstance(schema, Record):
        parts = {
            part: kept_part(of, f"{name}.{part}" if name else part, kept)
            for part, of in schema.parts.items()
        }
        found = {part: of for part, of in parts.items() if of is not None}
        return Record(**found) if found else None
    if isinstance(schema, MapOf):
        of = kept_part(schema.of, name, kept)
        return None if of is None else MapOf(schema.index, of)
    return schema if any(leaf.name in kept for leaf in fields(schema, name)) else None


def below(name: str, part: str) -> str:
    """The dotted name of a part."""
    return f"{name}.{part}" if name else part


class Shapes:
    """The kept state of a system, as TLA+ variables."""

    def __init__(self, state: Record, kept: set[str], names: ModuleNames) -> None:
        remaining = kept_part(state, "", kept)
        assert isinstance(remaining, Record), "a system without a state"
        self.state = remaining
        self.variables = remaining.parts
        self._names = names
        self.blanks: dict[str, tuple[str, LayoutNode]] = {}
        self._blank_names = {
            name: names.fresh(f"Blank{camel(name)}") for name in _blank_records(remaining, "", 0)
        }

    def type(self, schema: Schema) -> LayoutNode:
        """The set of values that a node may have."""
        if isinstance(schema, Leaf):
            return self._names.domain(schema.sort)
        if isinstance(schema, SetOf):
            return Prefix("SUBSET ", self._names.domain(schema.element), SETS)
        if isinstance(schema, Relation):
            return Prefix("SUBSET ", self.tuples(schema), SETS)
        if isinstance(schema, LogOf):
            self._names.helper("Logs")
            return call("Logs", self.type(schema.record), self._names.domain(schema.end))
        if isinstance(schema, MapOf):
            domain = self._names.domain(schema.index)
            return Enclosed("[", (Labelled(domain.flat(), "->", self.type(schema.of)),), "]")
        assert isinstance(schema, Record)
        parts = (Labelled(part, ":", self.type(of)) for part, of in schema.parts.items())
        return Enclosed("[", tuple(parts), "]")

    def tuples(self, relation: Relation) -> LayoutNode:
        r"""`Brokers \X Epochs`."""
        domains = [inside(self._names.domain(sort), SETS) for sort in relation.elements]
        return Parenthesised(Word(r" \X ".join(domain.flat() for domain in domains)))

    def blank(self, schema: Schema, name: str, used: tuple[str, ...] = ()) -> LayoutNode:
        """The initial value of a node of the schema, unless the initial state sets another."""
        if isinstance(schema, Leaf):
            return self._names.value(schema.sort, blank_term(schema.sort).args[0])
        if isinstance(schema, (SetOf, Relation)):
            return Word("{}")
        if isinstance(schema, LogOf):
            return Word("<<>>")
        if isinstance(schema, MapOf):
            variable = self._names.local(snake(schema.index.name), used)
            domain = self._names.domain(schema.index)
            body = self.blank(schema.of, name, (*used, variable))
            return Comprehension("[", variable, domain, "|->", body, "]")
        assert isinstance(schema, Record)
        if name not in self._blank_names:
            return self.record(
                [(part, self.blank(of, below(name, part))) for part, of in schema.parts.items()]
            )
        if name not in self.blanks:
            value = self.record(
                [(part, self.blank(of, below(name, part))) for part, of in schema.parts.items()]
            )
            self.blanks[name] = (self._blank_names[name], value)
        return Word(self.blanks[name][0])

    @staticmethod
    def record(parts: Sequence[tuple[str, LayoutNode]]) -> LayoutNode:
        """`[a |-> x, b |-> y]`."""
        return Enclosed("[", tuple(Labelled(name, "|->", value) for name, value in parts), "]")


def _blank_records(schema: Schema, name: str, maps: int) -> Iterator[str]:
    """Records that stand once per index: their blank value gets a name."""
    if isinstance(schema, MapOf):
        yield from _blank_records(schema.of, name, maps + 1)
    elif isinstance(schema, Record):
        if maps:
            yield name
        for part, of in schema.parts.items():
            yield from _blank_records(of, below(name, part), maps)


def is_blank(schema: Schema, term: Term) -> bool:
    """Is the term a leaf's blank value?"""
    return (
        isinstance(schema, Leaf)
        and term.op == "const"
        and (term.args[0] == blank_term(schema.sort).args[0])
    )
