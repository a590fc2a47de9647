"""Sets and relations: `.has(x)`, `.without(x)`, `.including(x)`, each a condition on an element."""

from __future__ import annotations

from collections.abc import Callable

from model.language import terms as t
from model.language.errors import ProtocolError, author_line
from model.language.scalars import Blank, Scalar, Value, bind, index_term
from model.language.sorts import Sort
from model.language.terms import Term


class SetValue(Value):
    """A set, or a relation (a set of tuples)."""

    def __init__(self, elements: tuple[Sort, ...], member: Callable[..., Term]) -> None:
        self._elements = elements
        self._member = member

    def _at(self, element: tuple[object, ...]) -> tuple[Term, ...]:
        if len(element) != len(self._elements):
            raise ProtocolError(
                f"{author_line()}: an element has {len(self._elements)} parts, not {len(element)}"
            )
        return tuple(
            index_term(sort, part) for sort, part in zip(self._elements, element, strict=True)
        )

    def has(self, *element: object) -> Scalar:
        """Is this element (or tuple) in the set?"""
        return Scalar(self._member(*self._at(element)))

    def _same(self, mine: tuple[Term, ...], given: tuple[Term, ...]) -> Term:
        return t.and_(*(t.eq(a, b) for a, b in zip(mine, given, strict=True)))

    def without(self, *element: object) -> SetValue:
        """The set less this element."""
        gone = self._at(element)
        return SetValue(
            self._elements, lambda *x: t.and_(self._member(*x), t.not_(self._same(x, gone)))
        )

    def including(self, *element: object) -> SetValue:
        """The set and this element."""
        added = self._at(element)
        return SetValue(self._elements, lambda *x: t.or_(self._member(*x), self._same(x, added)))

    def within(self, other: object) -> SetValue:
        """The elements that the other set has too."""
        theirs = as_set(self._elements, other)
        return SetValue(self._elements, lambda *x: t.and_(self._member(*x), theirs._member(*x)))

    def joined(self, other: object) -> SetValue:
        """The elements of either set."""
        theirs = as_set(self._elements, other)
        return SetValue(self._elements, lambda *x: t.or_(self._member(*x), theirs._member(*x)))

    def such_that(self, condition: Callable[..., Scalar]) -> SetValue:
        """The elements that meet the condition."""
        return SetValue(
            self._elements,
            lambda *x: t.and_(self._member(*x), condition(*(Scalar(part) for part in x)).term),
        )

    def _all(self, body: Callable[..., Term]) -> Term:
        def nest(sorts: tuple[Sort, ...], chosen: tuple[Term, ...]) -> Term:
            if not sorts:
                return body(*chosen)
            return bind("every", sorts[0], lambda x: nest(sorts[1:], (*chosen, x)))

        return nest(self._elements, ())

    def is_subset_of(self, other: object) -> Scalar:
        """Every element of this set is in the other."""
        theirs = as_set(self._elements, other)
        return Scalar(self._all(lambda *x: t.implies(self._member(*x), theirs._member(*x))))

    def is_only(self, *element: object) -> Scalar:
        """This element and no other."""
        only = self._at(element)
        return Scalar(self._all(lambda *x: t.eq(self._member(*x), self._same(x, only))))

    def is_empty(self) -> Scalar:
        """No element at all."""
        return Scalar(self._all(lambda *x: t.not_(self._member(*x))))

    def __eq__(self, other: object) -> Scalar:  # type: ignore[override]
        theirs = as_set(self._elements, other)
        return Scalar(self._all(lambda *x: t.eq(self._member(*x), theirs._member(*x))))

    def __ne__(self, other: object) -> Scalar:  # type: ignore[override]
        return Scalar(t.not_((self == other).term))


def as_set(elements: tuple[Sort, ...], raw: object) -> SetValue:
    """A set value, ALL, or a Python collection of elements (tuples for a relation), as a set."""
    if isinstance(raw, Blank):
        return SetValue(elements, lambda *x: t.FALSE)
    if isinstance(raw, SetValue):
        return raw
    if raw is ALL:
        return SetValue(elements, lambda *x: t.TRUE)
    if isinstance(raw, (set, frozenset, list, tuple)):
        found = SetValue(elements, lambda *x: t.FALSE)
        for element in raw:
            found = found.including(*(element if isinstance(element, tuple) else (element,)))
        return found
    raise ProtocolError(f"{author_line()}: {raw!r} is not a set")


class _All:
    """Every element of the sort; write `ALL` where a set is expected."""

    def __repr__(self) -> str:
        return "ALL"


ALL = _All()
