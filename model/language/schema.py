"""Schemas: the shape of a system's state, and the leaf fields it flattens to.

    STATE = Record(
        zk=Record(leader=BROKERS.or_none, isr=SetOf(BROKERS), version=VERSIONS),
        view=per(BROKERS, Record(leads=BOOL, isr=SetOf(BROKERS))),
        log=per(BROKERS, LogOf(OFFSETS, ENDS, Record(id=RECORDS, epoch=EPOCHS))),
        won=ghost(Relation(BROKERS, EPOCHS)),
    )

Every leaf is a function from indices to a sort: `view.isr` is (broker, broker) -> Bool. Sets are
Bool-valued leaves, a log is its `end` and an offset-indexed record `at`. Cells of a log at and
above its end are junk: they are zeroed when a state is packed, and no lowering may depend on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from model.language.sorts import BOOL, Bounded, Numbers, Sort


class Schema:
    """A node of the state's shape."""


@dataclass(frozen=True)
class Leaf(Schema):
    """A single value of a sort."""

    sort: Sort


@dataclass(frozen=True)
class MapOf(Schema):
    """A value for every index of a sort."""

    index: Sort
    of: Schema


@dataclass(frozen=True)
class SetOf(Schema):
    """A set of elements of a sort."""

    element: Sort


class Record(Schema):
    """A record of named fields, each with a schema or sort of its own."""

    def __init__(self, **parts: Schema | Sort) -> None:
        self.parts: dict[str, Schema] = {name: as_schema(part) for name, part in parts.items()}

    @cached_property
    def leaves(self) -> tuple[Field, ...]:
        """Every leaf field of a state of this shape, in declaration order."""
        return tuple(fields(self))


@dataclass(frozen=True)
class LogOf(Schema):
    """A log: `end` is the exclusive end offset, `at[o]` the record at offset o below it."""

    offset: Sort
    end: Sort
    record: Record


@dataclass(frozen=True)
class Ghost(Schema):
    """History that claims and proofs may read and no `require` may (it is not in the system)."""

    of: Schema
    budget: str | None = None


def as_schema(part: Schema | Sort) -> Schema:
    """A sort stands for a leaf of that sort."""
    return Leaf(part) if isinstance(part, Sort) else part


def per(index: Sort, of: Schema | Sort) -> MapOf:
    """A value for every index: `per(BROKERS, Record(...))`."""
    return MapOf(index, as_schema(of))


def ghost(of: Schema | Sort) -> Ghost:
    """Declares a part that only records history: see `Ghost`."""
    return Ghost(as_schema(of))


class Relation(Schema):
    """A set of tuples, e.g. requests ever sent: `Relation(BROKERS, EPOCHS)`."""

    def __init__(self, *elements: Sort) -> None:
        self.elements = elements


def budget(bound: str) -> Ghost:
    """A count of faults beside the system's state: kept only where its bound is given.

    A transition adds one (`new.spent.crashes = now.spent.crashes + 1`); beyond the bound the
    successor is pruned. Without the bound the count is not part of the state at all.
    """
    return Ghost(Leaf(Numbers(bound, 0, Bounded(bound))), budget=bound)


@dataclass(frozen=True)
class Field:
    """A leaf field: dotted name, index sorts, value sort.

    `log` names the log it belongs to (its cells above `log`.end are junk); `set_from` is the
    position of the first index that is an element of a set or relation rather than a map's key.
    """

    name: str
    dims: tuple[Sort, ...]
    sort: Sort
    ghost: bool = False
    log: str | None = None
    set_from: int | None = field(default=None)
    budget: str | None = None


def fields(schema: Schema, name: str = "", dims: tuple[Sort, ...] = ()) -> Iterator[Field]:
    """Every leaf field below a schema node, in declaration order."""
    yield from _fields(schema, name, dims, False, None)


def _budgeted(leaf: Field, bound: str | None) -> Field:
    return leaf if bound is None else replace(leaf, budget=bound)


def _fields(
    schema: Schema, name: str, dims: tuple[Sort, ...], is_ghost: bool, log: str | None
) -> Iterator[Field]:
    if isinstance(schema, Leaf):
        yield Field(name, dims, schema.sort, is_ghost, log)
    elif isinstance(schema, SetOf):
        yield Field(name, (*dims, schema.element), BOOL, is_ghost, log, len(dims))
    elif isinstance(schema, Relation):
        yield Field(name, (*dims, *schema.elements), BOOL, is_ghost, log, len(dims))
    elif isinstance(schema, MapOf):
        yield from _fields(schema.of, name, (*dims, schema.index), is_ghost, log)
    elif isinstance(schema, Ghost):
        for leaf in _fields(schema.of, name, dims, True, log):
            yield _budgeted(leaf, schema.budget)
    elif isinstance(schema, LogOf):
        yield Field(f"{name}.end", dims, schema.end, is_ghost)
        yield from _fields(schema.record, f"{name}.at", (*dims, schema.offset), is_ghost, name)
    elif isinstance(schema, Record):
        for part, of in schema.parts.items():
            yield from _fields(of, f"{name}.{part}" if name else part, dims, is_ghost, log)
