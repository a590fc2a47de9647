"""Random terms: the simplifying constructors, grounding and every lowering against naive Python.

A term is drawn as a pair: the term, built by the notation's own constructors, and a plain Python
function that says what it means.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import z3
from hypothesis import given
from hypothesis import strategies as st

from model.language import BOOL, Enumeration, Numbers, Record, per
from model.language import terms as t
from model.language.evaluate import Evaluator, SparseState, blank_code
from model.language.scalars import bind
from model.language.sorts import Sort
from model.language.terms import Term
from specs.finding.observed import Rows
from specs.lowering.closures import QuickEvaluator
from specs.lowering.grounding import Grounded
from specs.lowering.intervals import Intervals
from specs.lowering.python_code import PythonCode
from specs.lowering.z3_code import Z3Code, lower_grounded
from tests.language.small import system

BROKERS = Enumeration("broker", "brokers")
NUMBERS = Numbers("number", 0, 3)
STATE = Record(
    yes=BOOL, no=BOOL, few=NUMBERS, many=NUMBERS.or_none, who=BROKERS.or_none,
    flag=per(NUMBERS, BOOL), size=per(BROKERS, NUMBERS),
)  # fmt: skip
RECORDED = system(state=STATE)
GROUNDED = Grounded(RECORDED, {"brokers": 2})
CODE = PythonCode(GROUNDED)
TWIN = Evaluator(RECORDED, {"brokers": 2})
QUICK = QuickEvaluator(RECORDED, {"brokers": 2})
SYMBOLIC = Z3Code(RECORDED, brokers=2)

Scope = dict[str, int]
Values = dict[tuple[str, tuple[int, ...]], int]
Meaning = Callable[[Values, Scope], int]


@dataclass(frozen=True)
class Drawn:
    """A term, and what it means."""

    term: Term
    means: Meaning


def field(name: str, *index: Drawn) -> Drawn:
    leaf = RECORDED.fields[name]
    blank = -1 if name == "many" else 0

    def means(values: Values, scope: Scope) -> int:
        return values.get((name, tuple(i.means(values, scope) for i in index)), blank)

    return Drawn(t.get(name, tuple(i.term for i in index), leaf.sort), means)


def literal(value: int, sort: Sort | None = None) -> Drawn:
    return Drawn(t.const(value, sort), lambda values, scope: value)


def quantified(op: str, sort: Any, body: Callable[[Drawn], Drawn], *ends: Drawn) -> Drawn:
    """every, some, count or least; `ends` are low and high, and last the default of a least."""
    inner: list[Drawn] = []
    name: list[str] = []

    def of(variable: Term) -> Term:
        name.append(variable.args[0])
        bound = Drawn(variable, lambda values, scope: scope[variable.args[0]])
        inner.append(body(bound))
        return inner[0].term

    default = ends[-1] if op == "least" else None
    limits = ends[:2] if len(ends) >= 2 else ()
    low, high = (limits[0].term, limits[1].term) if limits else (None, None)
    term = bind(op, sort, of, low, high, default.term if default else None)

    def means(values: Values, scope: Scope) -> int:
        first, end = (limit.means(values, scope) for limit in limits) if limits else (0, 99)
        chosen = [x for x in sort.domain({"brokers": 2}) if first <= x < end]
        holds = [x for x in chosen if inner[0].means(values, {**scope, name[0]: x})]
        if op == "every":
            return len(holds) == len(chosen)
        if op == "some":
            return bool(holds)
        if op == "count":
            return len(holds)
        assert default
        return holds[0] if holds else default.means(values, scope)

    return Drawn(term, means)


Bound = tuple[tuple[Drawn, ...], tuple[Drawn, ...]]
"""The bound variables in scope: numbers, brokers."""


@st.composite
def numbers(draw: Any, depth: int, scope: Bound) -> Drawn:
    kinds = ["leaf", "leaf", "add", "choice", "size", "count", "least"]
    kind = draw(st.sampled_from(kinds)) if depth else "leaf"
    if kind == "leaf":
        leaves = [field("few"), field("many"), *scope[0]]
        return draw(st.sampled_from(leaves) | st.integers(-1, 4).map(literal))  # type: ignore[no-any-return]
    if kind == "add":
        one, plus = draw(numbers(depth - 1, scope)), draw(st.integers(-2, 2))
        return Drawn(t.add(one.term, t.const(plus)), lambda v, s: one.means(v, s) + plus)
    if kind == "choice":
        return choice(draw, depth, scope, numbers)
    if kind == "size":
        return field("size", draw(brokers(depth - 1, scope)))
    sort = draw(st.sampled_from([NUMBERS, BROKERS])) if kind == "count" else NUMBERS
    ends = [draw(numbers(0, scope)) for _ in range(3)] if sort is NUMBERS else []
    if kind == "count":
        ends = ends[:2]
    return quantified(kind, sort, rule(draw, depth, scope, sort), *ends)


@st.composite
def brokers(draw: Any, depth: int, scope: Bound) -> Drawn:
    if depth and draw(st.booleans()):
        return choice(draw, depth, scope, brokers)
    named = [literal(code, BROKERS.or_none) for code in range(3)]
    return draw(st.sampled_from([field("who"), *named, *scope[1]]))  # type: ignore[no-any-return]


def choice(draw: Any, depth: int, scope: Bound, kind: Any) -> Drawn:
    test = draw(conditions(depth - 1, scope))
    one, other = draw(kind(depth - 1, scope)), draw(kind(depth - 1, scope))
    return Drawn(
        t.ite(test.term, one.term, other.term),
        lambda v, s: one.means(v, s) if test.means(v, s) else other.means(v, s),
    )


def rule(draw: Any, depth: int, scope: Bound, sort: Any) -> Callable[[Drawn], Drawn]:
    def body(bound: Drawn) -> Drawn:
        wider = (
            (scope[0] + (bound,), scope[1]) if sort is NUMBERS else (scope[0], scope[1] + (bound,))
        )
        return draw(conditions(depth - 1, wider))  # type: ignore[no-any-return]

    return body


@st.composite
def conditions(draw: Any, depth: int, scope: Bound = ((), ())) -> Drawn:
    kinds = ["leaf", "not", "and", "or", "choice", "same", "eq", "lt", "le", "flag"]
    kinds += ["every", "some", "range"]
    kind = draw(st.sampled_from(kinds)) if depth else "leaf"
    if kind == "leaf":
        truths = [literal(True), literal(False)]
        return draw(st.sampled_from([field("yes"), field("no"), *truths]))  # type: ignore[no-any-return]
    if kind == "choice":
        return choice(draw, depth, scope, conditions)
    if kind == "flag":
        return field("flag", draw(numbers(depth - 1, scope)))
    if kind in ("every", "some", "range"):
        sort = BROKERS if kind != "range" else NUMBERS
        op = kind if kind != "range" else draw(st.sampled_from(["every", "some"]))
        ends = [draw(numbers(0, scope)) for _ in range(2)] if kind == "range" else []
        return quantified(op, sort, rule(draw, depth, scope, sort), *ends)
    if kind == "not":
        one = draw(conditions(depth - 1, scope))
        return Drawn(t.not_(one.term), lambda v, s: not one.means(v, s))
    if kind in ("and", "or"):
        many = draw(st.lists(conditions(depth - 1, scope), max_size=3))
        join, means = (t.and_, all) if kind == "and" else (t.or_, any)
        return Drawn(
            join(*(one.term for one in many)), lambda v, s: means(one.means(v, s) for one in many)
        )
    if kind == "same":
        of = draw(st.sampled_from([conditions, brokers]))
        one, other = draw(of(depth - 1, scope)), draw(of(depth - 1, scope))
        return Drawn(t.eq(one.term, other.term), lambda v, s: one.means(v, s) == other.means(v, s))
    one, other = draw(numbers(depth - 1, scope)), draw(numbers(depth - 1, scope))
    if kind == "eq":
        return Drawn(t.eq(one.term, other.term), lambda v, s: one.means(v, s) == other.means(v, s))
    if kind == "lt":
        return Drawn(t.lt(one.term, other.term), lambda v, s: one.means(v, s) < other.means(v, s))
    return Drawn(t.le(one.term, other.term), lambda v, s: one.means(v, s) <= other.means(v, s))


STATES = st.tuples(*(st.sampled_from(list(cell.domain)) for cell in GROUNDED.cells))


def values_of(codes: tuple[int, ...]) -> Values:
    return {(c.field.name, c.index): codes[c.number] for c in GROUNDED.cells}


def sparse_of(codes: tuple[int, ...]) -> SparseState:
    state: SparseState = {}
    for cell in GROUNDED.cells:
        code = codes[cell.number]
        if code != GROUNDED.initial[cell.number]:
            state.setdefault(cell.field.name, {})[cell.index] = code
    return state


@given(conditions(4), STATES)
def test_what_is_simplified_enumerated_and_compiled_keeps_its_meaning(drawn, codes):
    truth = bool(drawn.means(values_of(codes), {}))
    grounded = GROUNDED.ground(drawn.term, {})

    assert bool(TWIN.value(drawn.term, sparse_of(codes), {})) == truth
    assert CODE.condition(grounded)(CODE.encode(codes)) == truth


@given(conditions(3), STATES)
def test_quantifier_free_formulas_keep_the_meaning(drawn, codes):
    truth = bool(drawn.means(values_of(codes), {}))
    grounded = GROUNDED.ground(drawn.term, {})

    def cell(number: int) -> Any:
        is_bool = GROUNDED.cells[number].field.sort is BOOL
        return z3.BoolVal(bool(codes[number])) if is_bool else z3.IntVal(codes[number])

    assert z3.is_true(z3.simplify(lower_grounded(grounded, cell, {}))) == truth


@given(conditions(3), st.lists(STATES, min_size=1, max_size=4))
def test_what_is_made_into_functions_and_into_columns_keeps_its_meaning(drawn, states):
    truths = [bool(drawn.means(values_of(codes), {})) for codes in states]
    grounded = GROUNDED.ground(drawn.term, {})
    rows = Rows(GROUNDED, [
        np.array([codes[cell.number] for codes in states],
                 bool if cell.field.sort is BOOL else np.int16)
        for cell in GROUNDED.cells
    ])  # fmt: skip

    assert [bool(QUICK.value(drawn.term, sparse_of(codes), {})) for codes in states] == truths
    assert rows.wide(rows.of(grounded)).astype(bool).tolist() == truths


def is_of_any_number(term: Term) -> bool:
    """Has it the same meaning where numbers have no greatest? A range may go beyond that."""
    if term.op in ("count", "least", "every", "some") and (
        term.op in ("count", "least") or isinstance(term.args[0].sort, Numbers)
    ):
        return False
    return all(is_of_any_number(arg) for arg in term.args if isinstance(arg, Term))


@st.composite
def about_brokers(draw: Any) -> Drawn:
    """A quantifier over brokers whose variable counts: in a draw of any kind few do."""

    def body(bound: Drawn) -> Drawn:
        size, most = field("size", bound), draw(st.integers(0, 3))
        more = draw(conditions(1, ((), (bound,))))
        join, means = draw(st.sampled_from([(t.and_, all), (t.or_, any)]))
        return Drawn(
            join(t.le(size.term, t.const(most)), more.term),
            lambda v, s: means([size.means(v, s) <= most, more.means(v, s)]),
        )

    return quantified(draw(st.sampled_from(["every", "some"])), BROKERS, body)


@given(
    st.one_of(about_brokers(), conditions(3)).filter(lambda drawn: is_of_any_number(drawn.term)),
    STATES,
)
def test_the_lowering_that_proofs_use_keeps_the_meaning(drawn, codes):
    truth, values = bool(drawn.means(values_of(codes), {})), values_of(codes)

    def function(name: str) -> Callable[..., Any]:
        leaf = RECORDED.fields[name]

        def of(*index: Any) -> Any:
            found = SYMBOLIC.literal(leaf.sort, blank_code(leaf.sort))
            for (other, place), code in values.items():
                if other == name:
                    here = [
                        i == SYMBOLIC.literal(sort, part)
                        for i, sort, part in zip(index, leaf.dims, place, strict=True)
                    ]
                    found = z3.If(z3.And(*here), SYMBOLIC.literal(leaf.sort, code), found)
            return found

        return of

    formula = SYMBOLIC.term(drawn.term, {name: function(name) for name in RECORDED.fields}, {})
    solver = z3.Solver()
    solver.add(*SYMBOLIC.axioms, z3.Not(formula) if truth else formula)

    assert solver.check() == z3.unsat


@given(numbers(4, ((), ())), STATES)
def test_a_number_stays_within_the_interval_that_is_known_of_it(drawn, codes):
    value = drawn.means(values_of(codes), {})
    low, high = Intervals([cell.domain for cell in GROUNDED.cells]).of(
        GROUNDED.ground(drawn.term, {})
    )

    assert low <= value <= high


@given(conditions(4))
def test_a_term_is_made_once(drawn):
    again = t.not_(t.not_(drawn.term))

    assert again is drawn.term
