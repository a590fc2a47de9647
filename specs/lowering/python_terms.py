"""Lowers terms to Python for several ways of storing states.

`PythonTerms` has the common part. Subclasses differ in how a state is stored:

    python_code.PackedTerms   one byte a cell, for exploration within bounds: a search hashes and
                              keeps every state
    SparseTerms               dicts of non-blank cells, without bounds: a replay changes one state
                              in place (`specs/partial`), and a page asks about one state
                              (`CompiledEvaluator`)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from model.language import RecordedSystem
from model.language.errors import ProtocolError
from model.language.evaluate import Environment, Evaluator, SparseState, blank_code
from model.language.sorts import BOOL, Sort
from model.language.terms import AFTER, Term

Names = Mapping[str, str]
"""By variable: its source."""

Kept = Mapping[Term, str]
"""By term: the local that has its value already."""

_SYMBOL = {"eq": "==", "lt": "<", "le": "<="}


class PythonTerms(ABC):
    """Makes the source of terms. Subclasses define how a cell or a field is read."""

    @abstractmethod
    def read(self, term: Term, names: Names, kept: Kept) -> str:
        """The source of a `cell` or `get`, a `bound` or a quantifier: what depends on storage."""

    def expression(self, term: Term, names: Names, kept: Kept) -> str:
        """The source of a term; `names` has its variables, `kept` the terms computed already."""
        if term in kept:
            return kept[term]

        def go(part: Term) -> str:
            return self.expression(part, names, kept)

        op, args = term.op, term.args
        if op == "const":
            return repr(bool(args[0]) if term.sort is BOOL else int(args[0]))
        if op == "var":
            return names[args[0]]
        if op == "not":
            return f"(not {go(args[0])})"
        if op in ("and", "or"):
            return "(" + f" {op} ".join(go(arg) for arg in args) + ")"
        if op == "ite":
            return f"({self._choice(term, names, kept)})"
        if op == "add":
            return f"({go(args[0])} + {go(args[1])})"
        if op == "total":
            return "(" + " + ".join(f"bool({go(arg)})" for arg in args) + ")"
        if op in _SYMBOL:
            return self.comparison(_SYMBOL[op], args[0], args[1], names, kept)
        return self.read(term, names, kept)

    def comparison(self, symbol: str, left: Term, right: Term, names: Names, kept: Kept) -> str:
        """The source of a comparison, which binds less tightly than a sum."""
        one, other = self.expression(left, names, kept), self.expression(right, names, kept)
        if left.sort is BOOL:
            return f"(bool({one}) == bool({other}))"
        return f"{one} {symbol} {other}"

    def _choice(self, term: Term, names: Names, kept: Kept) -> str:
        """A chain of if-then-else in one pair of brackets: an index may have hundreds of values."""
        parts: list[str] = []
        while term.op == "ite" and (not parts or term not in kept):
            condition, then = (self.expression(one, names, kept) for one in term.args[:2])
            parts.append(f"{then} if {condition} else ")
            term = term.args[2]
        return "".join(parts) + self.expression(term, names, kept)


class SparseTerms(PythonTerms):
    """Terms over sparse states: a field is a dict from index to code, without what is blank."""

    def __init__(self, twin: Evaluator, cells: Callable[[str], str]) -> None:
        """`cells(field)` is the source of a field's dict; a field of the state after a step has
        `AFTER` in its name."""
        self.twin, self.cells = twin, cells

    def read(self, term: Term, names: Names, kept: Kept) -> str:
        """A field at an index, a member of a parameter that is a set, a bound, or a quantifier."""
        op, args = term.op, term.args
        if op == "bound":
            return str(self.twin.bounds[args[0]])
        if op != "get":
            return self._quantified(term, names, kept)
        field, *index = args
        parts = [self.expression(part, names, kept) for part in index]
        if field.startswith("$"):
            return f"({parts[0]} in {names[field]})"
        blank = blank_code(self.twin.recorded.fields[field.removesuffix(AFTER)].sort)
        return f"{self.cells(field)}.get(({''.join(f'{part}, ' for part in parts)}), {blank!r})"

    def _quantified(self, term: Term, names: Names, kept: Kept) -> str:
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
            raise ProtocolError(f"{term} has no end: give a limit of {variable.sort.name}")
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

    def _candidates(self, variable: Term, body: Term, names: Names, kept: Kept) -> str | None:
        """The few values that `least x: some member: ... and x = its end` need look at."""
        found = _candidates_of(variable, body, self.twin)
        if found is None:
            return None
        member, values, point, others = found
        inner = f"q{body.order}"
        inside = {**names, member.args[0]: inner}
        value = self.expression(point, inside, kept)
        only = "".join(f" if {self.expression(part, inside, kept)}" for part in others)
        return f"for {inner} in {values!r}{only} for {{}} in ({value},)"


def limited(sort: Sort, twin: Evaluator) -> range | None:
    """All values of a sort that has a greatest value; None for any other sort."""
    bottom, top = twin.ends(sort)
    return None if top is None else range(bottom, top + 1)


def _candidates_of(
    variable: Term, body: Term, twin: Evaluator
) -> tuple[Term, range, Term, list[Term]] | None:
    """The parts of `least x: some member: others and x = point`: member, values, point, others.

    None where `x` need not be one of so few values.
    """
    if body.op != "some" or variable.args[0] in str((body.args[1], body.args[2])):
        return None
    member, _, _, holds = body.args
    values = limited(member.sort, twin)
    point = equal_to(holds, variable)
    parts = holds.args if holds.op == "and" else (holds,)
    about = [] if point is None else [part for part in parts if variable.args[0] in part.free]
    if values is None or point is None or len(about) != 1 or body.args[1:3] != (None, None):
        return None
    return member, values, point, [part for part in parts if part not in about]


def equal_to(condition: Term, variable: Term) -> Term | None:
    """e, if the condition is or has a part `variable = e`, and e does not read the variable."""
    parts = condition.args if condition.op == "and" else (condition,)
    for part in parts:
        if part.op == "eq":
            for mine, other in (part.args, part.args[::-1]):
                if mine is variable and variable.args[0] not in other.free:
                    found: Term = other
                    return found
    return None


class CompiledEvaluator(Evaluator):
    """An Evaluator that compiles each term at its first use; the page uses it.

    The plain Evaluator is too slow for a page: the choices of `topics` with five brokers, along 60
    steps, take 150 ms at the median and 1.0 s at most; compiled, 28 ms and 0.5 s.
    """

    def __init__(self, recorded: RecordedSystem, bounds: Mapping[str, int]) -> None:
        super().__init__(recorded, bounds)
        self._terms = SparseTerms(self, lambda field: f"s.get({field!r}, BLANK)")
        self._codes: dict[Term, Callable[[SparseState, Environment], Any]] = {}

    def value(self, term: Term, state: SparseState, environment: Environment) -> int:
        """A term's value: a bool, a number, or a code. Sums may exceed 64 bits; cells may not."""
        code = self._codes.get(term)
        if code is None:
            names = {name: f"e[{name!r}]" for name in term.free}
            source = f"lambda s, e: {self._terms.expression(term, names, {})}"
            code = self._codes[term] = eval(source, {"BLANK": {}})
        found: int = code(state, environment)
        return found
