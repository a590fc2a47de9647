"""Functions of the notation for conditions and values, besides reading and writing fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from model.language import terms as t
from model.language.errors import ProtocolError, author_line, instead
from model.language.scalars import Scalar, Value, bind, scalar
from model.language.sets import SetValue, as_set
from model.language.sorts import BOOL, Enumeration, Numbers, Sort
from model.language.values import LogValue, RecordValue, choose, coerce


def limit(bound: str) -> Scalar:
    """A bound's value, for a system whose capacities are guards (`classic`: its counts need it)."""
    return Scalar(t.bound(bound))


class Below:
    """The numbers of a sort from `low` and below `high`: a bounded range for a quantifier."""

    def __init__(self, sort: Sort, high: object, low: object = 0) -> None:
        self.sort = sort
        self.low = scalar(low, sort).term
        self.high = scalar(high, sort).term


def below(sort: Sort, high: object, low: object = 0) -> Below:
    """`every(below(OFFSETS, log.end), ...)`: the offsets that the log has."""
    return Below(sort, high, low)


def condition_term(condition: object) -> t.Term:
    """A condition's term; a plain Python bool is refused: it would be a check that cannot fail."""
    if isinstance(condition, bool):
        line = author_line()
        raise ProtocolError(
            f"{line}: the condition is the plain Python value {condition}; "
            f"compare fields or parameters of the protocol; {instead(line)}"
        )
    if not isinstance(condition, Scalar) or condition.term.sort is not BOOL:
        raise ProtocolError(f"{author_line()}: {condition!r} is not a condition")
    return condition.term


def all_of(*conditions: Scalar) -> Scalar:
    """Every condition holds."""
    return Scalar(t.and_(*(condition_term(c) for c in conditions)))


def any_of(*conditions: Scalar) -> Scalar:
    """At least one condition holds."""
    return Scalar(t.or_(*(condition_term(c) for c in conditions)))


def not_(condition: Scalar) -> Scalar:
    """The condition does not hold."""
    return Scalar(t.not_(condition_term(condition)))


def is_none(value: Scalar) -> Scalar:
    """The place holds none: no leader, no epoch yet. A place that never does is refused."""
    if not isinstance(value, Scalar):
        raise ProtocolError(f"{author_line()}: {value!r} is not one value; none is for single ones")
    return value == None  # noqa: E711


def implies(condition: Scalar, conclusion: Scalar) -> Scalar:
    """If the condition holds, so does the conclusion."""
    return Scalar(t.implies(condition_term(condition), condition_term(conclusion)))


def when(condition: Scalar, then: Any, otherwise: Any) -> Any:
    """If-then-else over two values of one shape: `when(leads, now.view[l].hw, 0)`."""
    test = condition_term(condition)
    shaped = then if isinstance(then, Value) else otherwise
    if isinstance(shaped, (RecordValue, LogValue)):
        schema = shaped._schema
        return choose(schema, test, coerce(schema, then), coerce(schema, otherwise))
    if isinstance(shaped, Scalar):
        sort = shaped.term.sort
        if isinstance(sort, (Numbers, Enumeration)):
            sort = sort.or_none  # the place that keeps the value says whether it may be none
        return Scalar(t.ite(test, scalar(then, sort).term, scalar(otherwise, sort).term))
    if isinstance(shaped, SetValue):
        elements = shaped._elements
        one, other = as_set(elements, then), as_set(elements, otherwise)
        return SetValue(elements, lambda *x: t.ite(test, one._member(*x), other._member(*x)))
    if isinstance(then, bool) and isinstance(otherwise, bool):
        return Scalar(t.ite(test, t.const(then), t.const(otherwise)))
    if isinstance(then, int) and isinstance(otherwise, int):
        return Scalar(t.ite(test, t.const(then), t.const(otherwise)))
    raise ProtocolError(f"{author_line()}: when() needs two values of one shape")


def smaller(left: Any, right: Any) -> Scalar:
    """The smaller of two numbers."""
    return _pick(left, right, lambda a, b: t.le(a, b))


def larger(left: Any, right: Any) -> Scalar:
    """The larger of two numbers."""
    return _pick(left, right, lambda a, b: t.le(b, a))


def _pick(left: Any, right: Any, first: Callable[[t.Term, t.Term], t.Term]) -> Scalar:
    sort = (left if isinstance(left, Scalar) else right).term.sort
    a, b = scalar(left, sort).term, scalar(right, sort).term
    return Scalar(t.ite(first(a, b), a, b))


def _quantified(op: str, over: Sort | Below, rule: Callable[[Any], Scalar]) -> t.Term:
    def body(variable: t.Term) -> t.Term:
        return condition_term(rule(Scalar(variable)))

    if isinstance(over, Below):
        return bind(op, over.sort, body, over.low, over.high)
    return bind(op, over, body)


def every(over: Sort | Below, rule: Callable[[Any], Scalar]) -> Scalar:
    """The rule holds for every value of the sort, or of the range given by `below`."""
    return Scalar(_quantified("every", over, rule))


def some(over: Sort | Below, rule: Callable[[Any], Scalar]) -> Scalar:
    """The rule holds for at least one value of the sort, or of the range given by `below`."""
    return Scalar(_quantified("some", over, rule))


def literal(sort: Sort, value: object) -> Scalar:
    """A value of a sort, where no other operand determines the sort: `literal(ROLES, "leader")`."""
    return scalar(value, sort)


def those(over: Sort, rule: Callable[[Any], Scalar]) -> SetValue:
    """The set of the values of a sort that meet the rule."""
    return SetValue((over,), lambda x: condition_term(rule(Scalar(x))))


def how_many(over: Sort, rule: Callable[[Any], Scalar]) -> Scalar:
    """How many values of an enumerated sort meet the rule."""
    _refuse_unbounded("how_many", over)
    return Scalar(_quantified("count", over, rule))


def least(over: Sort | Below, rule: Callable[[Any], Scalar], otherwise: object) -> Scalar:
    """The least value of an enumerated sort that meets the rule, or `otherwise` if none does."""
    sort = over.sort if isinstance(over, Below) else over
    _refuse_unbounded("least", sort)
    default = scalar(otherwise, sort).term

    def body(variable: t.Term) -> t.Term:
        return condition_term(rule(Scalar(variable)))

    low, high = (over.low, over.high) if isinstance(over, Below) else (None, None)
    return Scalar(bind("least", sort, body, low, high, default))


def _refuse_unbounded(word: str, over: Sort | Below) -> None:
    sort = over.sort if isinstance(over, Below) else over
    if sort.unbounded:
        raise ProtocolError(
            f"{author_line()}: {word} needs an enumerated sort and {sort.name} has no bound; "
            "say what you need with every(...) and some(...), or give the number as a parameter"
        )
