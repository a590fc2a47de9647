"""Scalars: Booleans, numbers, brokers and named values as a protocol author compares them.

Values are thin wrappers over terms. They are read lazily, so mentioning a record costs nothing.
Python cannot test any of them: `if`, `and`, `or`, `in` raise, and the error says what to write
instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from model.language import terms as t
from model.language.errors import ProtocolError, a, author_line, no_truth_value
from model.language.sorts import BOOL, Enumeration, Names, Numbers, Sort
from model.language.terms import Term


class Value:
    """The common part: no truth value, no membership by `in`, no hash."""

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise no_truth_value()

    def __contains__(self, item: object) -> bool:
        raise no_truth_value()

    def __iter__(self) -> Iterator[Any]:
        raise ProtocolError(
            f"{author_line()}: nothing can be looped over while the protocol is being read; "
            "write every(sort, rule), some(sort, rule) or lam(sort, rule)"
        )


class Scalar(Value):
    """One Bool, number, broker or named value."""

    __slots__ = ("term",)

    def __init__(self, term: Term) -> None:
        self.term = term

    def __eq__(self, other: object) -> Scalar:  # type: ignore[override]
        return Scalar(t.eq(*_same_family(self, other)))

    def __ne__(self, other: object) -> Scalar:  # type: ignore[override]
        return Scalar(t.not_(t.eq(*_same_family(self, other))))

    def __lt__(self, other: object) -> Scalar:
        return Scalar(t.lt(*_numbers(self, other)))

    def __le__(self, other: object) -> Scalar:
        return Scalar(t.le(*_numbers(self, other)))

    def __gt__(self, other: object) -> Scalar:
        left, right = _numbers(self, other)
        return Scalar(t.lt(right, left))

    def __ge__(self, other: object) -> Scalar:
        left, right = _numbers(self, other)
        return Scalar(t.le(right, left))

    def __add__(self, other: object) -> Scalar:
        return Scalar(t.add(*_numbers(self, other)))

    def __sub__(self, other: object) -> Scalar:
        return Scalar(t.sub(*_numbers(self, other)))

    def __and__(self, other: object) -> Scalar:
        raise ProtocolError(f"{author_line()}: write all_of(a, b) instead of `a & b`")

    def __or__(self, other: object) -> Scalar:
        raise ProtocolError(f"{author_line()}: write any_of(a, b) instead of `a | b`")

    def __invert__(self) -> Scalar:
        raise ProtocolError(f"{author_line()}: write not_(a) instead of `~a`")

    def __repr__(self) -> str:
        return t.show(self.term)


def _same_family(left: Scalar, right: object) -> tuple[Term, Term]:
    other = scalar(right, left.term.sort).term
    if left.term.sort.family != other.sort.family:
        raise ProtocolError(
            f"{author_line()}: {a(left.term.sort.name)} is compared with {a(other.sort.name)}; "
            "compare values of one kind"
        )
    one_none(left.term.sort, other.sort)
    return left.term, other


def one_none(one: Sort, other: Sort) -> None:
    """None is the number below a sort's least: it must not be a number of the other sort."""
    if not (isinstance(one, Numbers) and isinstance(other, Numbers)):
        return
    for mine, theirs in ((one, other), (other, one)):
        if mine.none_allowed and mine.none_code >= theirs.bottom and mine.low != theirs.low:
            raise ProtocolError(
                f"{author_line()}: {a(mine.name)} starts at {mine.low} and {a(theirs.name)} at "
                f"{theirs.low}, so that none of the one is a value of the other; let both start "
                "alike where one may be none"
            )


def _numbers(left: Scalar, right: object) -> tuple[Term, Term]:
    pair = _same_family(left, right)
    if pair[0].sort.family != "number":
        raise ProtocolError(
            f"{author_line()}: values of {pair[0].sort.name} have no order; compare with == or !="
        )
    return pair


def scalar(raw: object, sort: Sort) -> Scalar:
    """A Python literal, or a scalar, as a value of the sort."""
    if isinstance(raw, Scalar):
        return raw
    if isinstance(raw, bool):
        if sort is not BOOL:
            raise ProtocolError(f"{author_line()}: {raw} is not {a(sort.name)}")
        return Scalar(t.const(raw))
    if raw is None:
        if isinstance(sort, Numbers) and sort.none_allowed:
            return Scalar(t.const(sort.none_code, sort))
        if isinstance(sort, Enumeration):
            return Scalar(t.const(0, sort.or_none))
        raise ProtocolError(f"{author_line()}: {a(sort.name)} is never none; declare it .or_none")
    if isinstance(raw, int):
        if sort is BOOL or isinstance(sort, Names):
            raise ProtocolError(f"{author_line()}: {raw} is not {a(sort.name)}")
        return Scalar(t.const(raw, sort))
    if isinstance(raw, str) and isinstance(sort, Names):
        return Scalar(t.const(sort.code(raw), sort))
    raise ProtocolError(f"{author_line()}: {raw!r} is not {a(sort.name)}")


def index_term(sort: Sort, index: object) -> Term:
    """An index as a term of its sort's family."""
    value = scalar(index, sort)
    if value.term.sort.family != sort.family:
        raise ProtocolError(
            f"{author_line()}: indexed by {a(value.term.sort.name)}; this place is per {sort.name}"
        )
    return value.term


def blank_term(sort: Sort) -> Term:
    """The initial value of a sort."""
    if sort is BOOL:
        return t.FALSE
    if isinstance(sort, Numbers):
        return t.const(sort.bottom, sort)
    if isinstance(sort, Enumeration):
        return t.const(0 if sort.none_allowed else 1, sort)
    return t.const(0, sort)


class Blank:
    """Writing `BLANK` gives a place its initial value again."""

    def __repr__(self) -> str:
        return "BLANK"


BLANK = Blank()


_depth = 0


def bind(
    op: str,
    sort: Sort,
    body: Callable[[Term], Term],
    low: Term | None = None,
    high: Term | None = None,
    default: Term | None = None,
) -> Term:
    """A quantified term; bound variables are named by depth, so that equal texts are one term."""
    global _depth
    _depth += 1
    try:
        variable = t.var(f"{sort.name}#{_depth}", sort)
        inner = body(variable)
    finally:
        _depth -= 1
    return t.quantifier(op, variable, inner, low, high, default)
