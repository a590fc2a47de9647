"""Recorded terms as Python source over a ledger's cells, and how writes are enumerated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.language.errors import ProtocolError
from model.language.evaluate import Evaluator, blank_code
from model.language.recording import Write
from model.language.sorts import BOOL, Sort
from model.language.terms import Term

_SYMBOL = {"eq": "==", "lt": "<", "le": "<="}
_QUANTIFIED = ("every", "some", "count", "least")


class LedgerTermWriter:
    """Turns the terms of one system into expressions; fields are `F0`, `F1`, ... in the source."""

    def __init__(self, twin: Evaluator, numbers: Mapping[str, int]) -> None:
        self.twin, self.numbers = twin, numbers

    def expression(self, term: Term, names: Mapping[str, str], kept: Mapping[Term, str]) -> str:
        """The source of a term; `names` has its variables, `kept` what is computed already."""
        if term in kept:
            return kept[term]

        def go(part: Term) -> str:
            return self.expression(part, names, kept)

        op, args = term.op, term.args
        if op == "const":
            return repr(bool(args[0]) if term.sort is BOOL else int(args[0]))
        if op == "var":
            return names[args[0]]
        if op == "bound":
            return str(self.twin.bounds[args[0]])
        if op == "get":
            return self._get(term, names, kept)
        if op == "not":
            return f"(not {go(args[0])})"
        if op in ("and", "or"):
            return "(" + f" {op} ".join(go(arg) for arg in args) + ")"
        if op == "ite":
            return f"({go(args[1])} if {go(args[0])} else {go(args[2])})"
        if op == "add":
            return f"({go(args[0])} + {go(args[1])})"
        if op in _SYMBOL:
            left, right = args
            if left.sort is BOOL:
                return f"(bool({go(left)}) == bool({go(right)}))"
            return f"({go(left)} {_SYMBOL[op]} {go(right)})"
        if op in _QUANTIFIED:
            return self._quantified(term, names, kept)
        raise ProtocolError(f"partial traces know no `{op}`: {term}")

    def _get(self, term: Term, names: Mapping[str, str], kept: Mapping[Term, str]) -> str:
        field, *index = term.args
        if field.startswith("$"):
            raise ProtocolError(f"partial traces know no parameter that is a set: {field}")
        blank = blank_code(self.twin.recorded.fields[field].sort)
        parts = "".join(f"{self.expression(part, names, kept)}, " for part in index)
        return f"F{self.numbers[field]}.get(({parts}), {blank!r})"

    def _quantified(self, term: Term, names: Mapping[str, str], kept: Mapping[Term, str]) -> str:
        variable, low, high, body, *default = term.args
        bottom, top = self.twin.ends(variable.sort)
        inner = f"q{term.order}"
        first, last = str(bottom), "" if top is None else str(top + 1)
        if low is not None:
            first = f"max({first}, {self.expression(low, names, kept)})"
        if high is not None:
            limit = self.expression(high, names, kept)
            last = f"min({last}, {limit})" if last else limit
        if not last:
            raise ProtocolError(f"partial traces need a limit of {variable.sort.name} in {term}")
        holds = self.expression(body, {**names, variable.args[0]: inner}, kept)
        over = f"for {inner} in range({first}, {last})"
        if term.op == "every":
            return f"all({holds} {over})"
        if term.op == "some":
            return f"any({holds} {over})"
        if term.op == "count":
            return f"sum(1 {over} if {holds})"
        otherwise = self.expression(default[0], names, kept)
        candidates = self._candidates(variable, body, names, kept)
        if candidates is not None:
            limits = [f"{first} <= {inner}", *([f"{inner} < {last}"] if last else [])]
            values = f"({inner} {candidates.format(inner)} if {' and '.join(limits)})"
            return f"min({values}, default={otherwise})"
        return f"next(({inner} {over} if {holds}), {otherwise})"

    def _candidates(
        self, variable: Term, body: Term, names: Mapping[str, str], kept: Mapping[Term, str]
    ) -> str | None:
        """The few values that `least x: some member: ... and x = its end` need look at."""
        found = candidates_of(variable, body, self.twin)
        if found is None:
            return None
        member, values, point, others = found
        inner = f"q{body.order}"
        inside = {**names, member.args[0]: inner}
        value = self.expression(point, inside, kept)
        only = "".join(f" if {self.expression(part, inside, kept)}" for part in others)
        return f"for {inner} in {values!r}{only} for {{}} in ({value},)"

    def limited(self, sort: Sort) -> range | None:
        """All values of a sort that has a last one."""
        return limited(sort, self.twin)


def limited(sort: Sort, twin: Evaluator) -> range | None:
    """All values of a sort that has a last one."""
    bottom, top = twin.ends(sort)
    return None if top is None else range(bottom, top + 1)


def candidates_of(
    variable: Term, body: Term, twin: Evaluator
) -> tuple[Term, range, Term, list[Term]] | None:
    """The parts of `least x: some member: others and x = point`: member, values, point, others.

    None where `x` need not be one of so few values.
    """
    if body.op != "some" or variable.args[0] in str((body.args[1], body.args[2])):
        return None
    member, _, _, holds = body.args
    values = limited(member.sort, twin)
    point = _equal_to(holds, variable)
    parts = holds.args if holds.op == "and" else (holds,)
    about = [] if point is None else [part for part in parts if variable.args[0] in part.free]
    if values is None or point is None or len(about) != 1 or body.args[1:3] != (None, None):
        return None
    return member, values, point, [part for part in parts if part not in about]


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
            if same_cell(write, one) and (point := _equal_to(other, variable)) is not None:
                return {point}
    if value.op != "ite":
        return None
    condition, then, other = value.args
    if condition.op == "not":
        condition, then, other = condition.args[0], other, then
    beside = _points(write, other, variable)
    if beside is None:
        return None
    point = _equal_to(condition, variable)
    if point is not None:
        return beside | {point}
    inside = _points(write, then, variable)
    return None if inside is None else beside | inside


def _equal_to(condition: Term, variable: Term) -> Term | None:
    parts = condition.args if condition.op == "and" else (condition,)
    for part in parts:
        if part.op == "eq":
            for mine, other in (part.args, part.args[::-1]):
                if mine is variable and variable.args[0] not in other.free:
                    found: Term = other
                    return found
    return None


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
    """May the write change its cell to what is wanted? False only where it certainly does not."""

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
