"""Derives from the form of a write which cells it changes, and to which values."""

from __future__ import annotations

from typing import Any

from model.language.recording import Write
from model.language.sorts import BOOL
from model.language.terms import Term
from specs.lowering.python_terms import equal_to

_QUANTIFIED = ("every", "some", "count", "least")


def repeated(terms: list[Term]) -> list[Term]:
    """Quantified terms without variables of their own that occur more than once, inner first."""
    times: dict[Term, int] = {}

    def walk(term: Term) -> None:
        if term.op in _QUANTIFIED and all(name.startswith("$") for name in term.free):
            times[term] = times.get(term, 0) + 1
            if times[term] > 1:
                return
        for part in term.args:
            if isinstance(part, Term):
                walk(part)

    for term in terms:
        walk(term)
    return sorted((term for term, n in times.items() if n > 1), key=lambda term: term.order)


def same_cell(write: Write, term: Term) -> bool:
    """Whether the term is the cell that is written, before the write."""
    return term.op == "get" and term.args == (write.field, *write.keys, *write.variables)


def only_point(write: Write, variable: Term) -> Term | None:
    """e, if the write changes nothing where the variable is not e."""
    found = _points(write, write.value, variable)
    return next(iter(found)) if found is not None and len(found) == 1 else None


def _points(write: Write, value: Term, variable: Term) -> set[Term] | None:
    """Where the value may differ from the written cell; None: anywhere."""
    if same_cell(write, value):
        return set()
    if value.op == "or" and len(value.args) == 2:
        for one, other in (value.args, value.args[::-1]):
            if same_cell(write, one) and (point := equal_to(other, variable)) is not None:
                return {point}
    if value.op != "ite":
        return None
    condition, then, other = value.args
    if condition.op == "not":
        condition, then, other = condition.args[0], other, then
    beside = _points(write, other, variable)
    if beside is None:
        return None
    point = equal_to(condition, variable)
    if point is not None:
        return beside | {point}
    inside = _points(write, then, variable)
    return None if inside is None else beside | inside


def blank_where_blank(write: Write, blank: Any) -> bool:
    """Is the value blank wherever the written cell was?"""

    def value(term: Term) -> Any:
        """The value where the cell is blank, None where that is not certain."""
        if same_cell(write, term):
            return blank
        if term.op == "const":
            return bool(term.args[0]) if term.sort is BOOL else term.args[0]
        if term.op == "ite":
            one, other = value(term.args[1]), value(term.args[2])
            return one if one is not None and one == other else None
        if term.op == "and" and any(value(part) is False for part in term.args):
            return False
        return None

    found = value(write.value)
    return found is not None and found == blank


def could_write(write: Write, wanted: int) -> bool:
    """May the write change its cell to the wanted value? False only if it certainly does not."""

    def may_be(term: Term) -> bool:
        if term.op == "const":
            return int(term.args[0]) == wanted
        if same_cell(write, term):
            return False
        if term.op == "ite":
            return may_be(term.args[1]) or may_be(term.args[2])
        if term.op == "and" and wanted:
            return not any(same_cell(write, part) for part in term.args)
        if term.op == "or" and not wanted:
            return not any(same_cell(write, part) for part in term.args)
        return True

    return may_be(write.value)
