"""Values that a protocol author writes with: `now.view[leader]`, logs, `.but(isr=smaller)`.

Values are thin wrappers over terms. They are read lazily, so mentioning a record costs nothing.
None of them has a truth value: `if`, `and`, `or`, `in` raise with the line to write instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from model.language import terms as t
from model.language.errors import ProtocolError, a, author_line, unknown_name
from model.language.scalars import (
    Blank,
    Scalar,
    Value,
    bind,
    blank_term,
    index_term,
    one_none,
    scalar,
)
from model.language.schema import (
    Field,
    Ghost,
    Leaf,
    LogOf,
    MapOf,
    Record,
    Relation,
    Schema,
    SetOf,
)
from model.language.sets import SetValue, as_set
from model.language.sorts import BOOL, Sort
from model.language.terms import Term


class RecordValue(Value):
    """Named parts; `.but(part=value)` is the same record with some parts changed."""

    def __init__(self, schema: Record, part: Callable[[str], Value]) -> None:
        self._schema = schema
        self._part = part

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in self._schema.parts:
            raise ProtocolError(
                f"{author_line()}: {unknown_name('field', name, self._schema.parts)}"
            )
        return self._part(name)

    def but(self, **changes: object) -> RecordValue:
        """The same record with these parts changed; an unknown part is refused by name."""
        for name in changes:
            if name not in self._schema.parts:
                raise ProtocolError(
                    f"{author_line()}: {unknown_name('field', name, self._schema.parts)}"
                )
        changed = {name: coerce(self._schema.parts[name], value) for name, value in changes.items()}
        return RecordValue(
            self._schema, lambda name: changed[name] if name in changed else self._part(name)
        )

    def __eq__(self, other: object) -> Scalar:  # type: ignore[override]
        theirs = coerce(self._schema, other)
        return Scalar(
            t.and_(
                *(equal(of, self._part(name), getattr(theirs, name)) for name, of in _parts(self))
            )
        )

    def __ne__(self, other: object) -> Scalar:  # type: ignore[override]
        return Scalar(t.not_((self == other).term))


def _parts(value: RecordValue) -> list[tuple[str, Schema]]:
    return list(value._schema.parts.items())


class MapValue(Value):
    """A value for every index of a sort: `now.view[leader]`."""

    def __init__(self, schema: MapOf, at: Callable[[Term], Value]) -> None:
        self._schema = schema
        self._at = at

    def __getitem__(self, index: object) -> Any:
        return self._at(index_term(self._schema.index, index))


class LogValue(Value):
    """A log: `.end`, the record at an offset below it, `.append(record)`, `.cut(to)`."""

    def __init__(self, schema: LogOf, end: Scalar, at: Callable[[Term], Value]) -> None:
        self._schema = schema
        self.end = end
        self._at = at

    def __getitem__(self, offset: object) -> Any:
        return self._at(index_term(self._schema.offset, offset))

    def append(self, **record: object) -> LogValue:
        """The log with one more record at its end."""
        added = coerce(self._schema.record, record)
        end = self.end.term
        return LogValue(
            self._schema,
            self.end + 1,
            lambda offset: choose(self._schema.record, t.eq(offset, end), added, self._at(offset)),
        )

    def cut(self, to: object) -> LogValue:
        """The log cut to a length; the caller requires that it is not longer than the log."""
        return LogValue(self._schema, scalar(to, self._schema.end), self._at)

    def rest(self) -> LogValue:
        """The log without its first record, as a queue that is served; it must have one."""
        return LogValue(
            self._schema, self.end - 1, lambda offset: self._at(t.add(offset, t.const(1)))
        )

    def but_first(self, **changes: object) -> LogValue:
        """The log with some parts of its first record changed; it must have one."""
        record = self._schema.record
        first: RecordValue = self[0]
        changed = first.but(**changes)
        return LogValue(
            self._schema,
            self.end,
            lambda offset: choose(record, t.eq(offset, t.const(0)), changed, self._at(offset)),
        )


class Lam(Value):
    """A pointwise definition: see `lam`."""

    def __init__(self, index: Sort, body: Callable[[Scalar], object]) -> None:
        self.index = index
        self.body = body


def lam(index: Sort, body: Callable[[Any], object]) -> Lam:
    """A map given by a rule: `new.known_end[l] = lam(BROKERS, lambda f: None)` (a bulk update)."""
    return Lam(index, body)


def read(schema: Schema, name: str, indices: tuple[Term, ...] = (), mark: str = "") -> Value:
    """The value that a state holds at a place: the current state, or `mark`=AFTER the next one."""
    if isinstance(schema, Leaf):
        return Scalar(t.get(name + mark, indices, schema.sort))
    if isinstance(schema, Ghost):
        return read(schema.of, name, indices, mark)
    if isinstance(schema, MapOf):
        return MapValue(schema, lambda index: read(schema.of, name, (*indices, index), mark))
    if isinstance(schema, SetOf):
        return SetValue((schema.element,), lambda x: t.get(name + mark, (*indices, x), BOOL))
    if isinstance(schema, Relation):
        return SetValue(schema.elements, lambda *x: t.get(name + mark, (*indices, *x), BOOL))
    if isinstance(schema, LogOf):
        record = schema.record
        return LogValue(
            schema,
            Scalar(t.get(f"{name}.end{mark}", indices, schema.end)),
            lambda offset: read(record, f"{name}.at", (*indices, offset), mark),
        )
    assert isinstance(schema, Record)
    return RecordValue(
        schema,
        lambda part: read(schema.parts[part], f"{name}.{part}" if name else part, indices, mark),
    )


def blank(schema: Schema) -> Value:
    """The initial value: false, the first name, the least number or none, the empty set or log."""
    if isinstance(schema, Leaf):
        return Scalar(blank_term(schema.sort))
    if isinstance(schema, Ghost):
        return blank(schema.of)
    if isinstance(schema, MapOf):
        return MapValue(schema, lambda index: blank(schema.of))
    if isinstance(schema, SetOf):
        return SetValue((schema.element,), lambda x: t.FALSE)
    if isinstance(schema, Relation):
        return SetValue(schema.elements, lambda *x: t.FALSE)
    if isinstance(schema, LogOf):
        record = schema.record
        return LogValue(schema, Scalar(blank_term(schema.end)), lambda offset: blank(record))
    assert isinstance(schema, Record)
    return RecordValue(schema, lambda part: blank(schema.parts[part]))


def coerce(schema: Schema, raw: object) -> Value:
    """A Python literal or a value of the right shape, as a value of the schema."""
    if isinstance(raw, Blank):
        return blank(schema)
    if isinstance(schema, Ghost):
        return coerce(schema.of, raw)
    if isinstance(schema, Leaf):
        value = scalar(raw, schema.sort)
        if value.term.sort.family != schema.sort.family:
            raise ProtocolError(
                f"{author_line()}: {a(value.term.sort.name)} is written where "
                f"{a(schema.sort.name)} is kept"
            )
        one_none(value.term.sort, schema.sort)
        return value
    if isinstance(schema, SetOf):
        return as_set((schema.element,), raw)
    if isinstance(schema, Relation):
        return as_set(schema.elements, raw)
    if isinstance(schema, MapOf):
        if isinstance(raw, Lam):
            body = raw.body
            return MapValue(schema, lambda index: coerce(schema.of, body(Scalar(index))))
        if isinstance(raw, MapValue):
            return raw
        raise ProtocolError(
            f"{author_line()}: write lam({schema.index.name}, rule) for a whole map"
        )
    if isinstance(schema, LogOf) and isinstance(raw, LogValue):
        return raw
    if isinstance(schema, Record):
        if isinstance(raw, RecordValue):
            if set(raw._schema.parts) != set(schema.parts):
                raise ProtocolError(
                    f"{author_line()}: a record with parts {', '.join(raw._schema.parts)} is "
                    f"written where one with {', '.join(schema.parts)} is kept"
                )
            return raw
        if isinstance(raw, dict):
            return RecordValue(schema, lambda part: blank(schema.parts[part])).but(**raw)
    raise ProtocolError(f"{author_line()}: {raw!r} has not the shape of this place")


def choose(schema: Schema, condition: Term, then: Value, other: Value) -> Value:
    """If-then-else over values of any shape."""
    if isinstance(schema, Ghost):
        return choose(schema.of, condition, then, other)
    if isinstance(schema, LogOf):
        assert isinstance(then, LogValue)
        assert isinstance(other, LogValue)
        record = schema.record
        return LogValue(
            schema,
            Scalar(t.ite(condition, then.end.term, other.end.term)),
            lambda offset: choose(record, condition, then._at(offset), other._at(offset)),
        )
    if isinstance(schema, Record):
        return RecordValue(
            schema,
            lambda part: choose(
                schema.parts[part], condition, getattr(then, part), getattr(other, part)
            ),
        )
    if isinstance(then, Scalar) and isinstance(other, Scalar):
        return Scalar(t.ite(condition, then.term, other.term))
    if isinstance(then, SetValue) and isinstance(other, SetValue):
        return SetValue(
            then._elements,
            lambda *x: t.ite(condition, then._member(*x), other._member(*x)),
        )
    if isinstance(schema, MapOf) and isinstance(then, MapValue) and isinstance(other, MapValue):
        return MapValue(
            schema, lambda index: choose(schema.of, condition, then._at(index), other._at(index))
        )
    raise ProtocolError(f"{author_line()}: when() needs two values of one shape")


def equal(schema: Schema, left: Value, right: Value) -> Term:
    """Equality of two values of one shape; logs are equal below their common end."""
    if isinstance(schema, Ghost):
        return equal(schema.of, left, right)
    if isinstance(schema, LogOf):
        assert isinstance(left, LogValue)
        assert isinstance(right, LogValue)
        same = bind(
            "every",
            schema.offset,
            lambda o: equal(schema.record, left._at(o), right._at(o)),
            low=t.const(0),
            high=left.end.term,
        )
        return t.and_(t.eq(left.end.term, right.end.term), same)
    if isinstance(schema, MapOf):
        assert isinstance(left, MapValue)
        assert isinstance(right, MapValue)
        return bind("every", schema.index, lambda i: equal(schema.of, left._at(i), right._at(i)))
    result: Scalar = left == right  # type: ignore[assignment]
    return result.term


def leaf_terms(
    schema: Schema, value: Value, name: str, variables: tuple[Term, ...] = ()
) -> Iterator[tuple[Field, tuple[Term, ...], Term]]:
    """Every leaf below a value: (field, the bound variables of its extra indices, its term)."""
    depth = len(variables)
    if isinstance(schema, Ghost):
        yield from leaf_terms(schema.of, value, name, variables)
    elif isinstance(schema, Leaf):
        assert isinstance(value, Scalar)
        yield Field(name, (), schema.sort), variables, value.term
    elif isinstance(schema, (SetOf, Relation)):
        assert isinstance(value, SetValue)
        elements = (schema.element,) if isinstance(schema, SetOf) else schema.elements
        extra = tuple(t.var(f"@{depth + i}", sort) for i, sort in enumerate(elements))
        yield Field(name, (), BOOL), (*variables, *extra), value._member(*extra)
    elif isinstance(schema, MapOf):
        assert isinstance(value, MapValue)
        variable = t.var(f"@{depth}", schema.index)
        yield from leaf_terms(schema.of, value._at(variable), name, (*variables, variable))
    elif isinstance(schema, LogOf):
        assert isinstance(value, LogValue)
        yield Field(f"{name}.end", (), schema.end), variables, value.end.term
        variable = t.var(f"@{depth}", schema.offset)
        yield from leaf_terms(
            schema.record, value._at(variable), f"{name}.at", (*variables, variable)
        )
    else:
        assert isinstance(schema, Record)
        for part, of in schema.parts.items():
            full = f"{name}.{part}" if name else part
            yield from leaf_terms(of, getattr(value, part), full, variables)
