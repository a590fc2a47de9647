"""Random terms over a state that has every kind of field, each with what it means in naive Python.

A term is drawn as a pair: the term, built by the notation's own constructors, and a plain Python
function that says what it means. Numbers and bounds are such that no meaning hangs on how far a
sort of numbers goes, so that lowerings without bounds are asked the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from model.language import (
    BOOL,
    Bounded,
    Enumeration,
    Names,
    Numbers,
    Record,
    Relation,
    SetOf,
    all_of,
    lam,
    per,
    require,
    when,
)
from model.language import terms as t
from model.language.evaluate import SparseState, blank_code
from model.language.scalars import Scalar, bind
from model.language.sorts import Sort
from model.language.terms import Term
from specs.lowering.grounding import Grounded
from tests.language.small import system

BROKERS = Enumeration("broker", "brokers")
NUMBERS = Numbers("number", 0, Bounded("top"))
LEVELS = Numbers("level", -2, 1)
MOODS = Names("mood", ("calm", "busy", "lost"))
STATE = Record(
    yes=BOOL, no=BOOL, few=NUMBERS, many=NUMBERS.or_none, who=BROKERS.or_none,
    level=LEVELS.or_none, mood=MOODS, flag=per(NUMBERS, BOOL), size=per(BROKERS, NUMBERS),
    heir=per(BROKERS, BROKERS.or_none), chosen=SetOf(BROKERS), seen=Relation(BROKERS, NUMBERS),
    sent=Relation(NUMBERS, NUMBERS), warm=per(LEVELS, BOOL),
)  # fmt: skip
WITHOUT_END = {"brokers": 2}
BOUNDS = {**WITHOUT_END, "top": 3}
RECORDED = system(state=STATE, bounds=BOUNDS)
GROUNDED = Grounded(RECORDED, BOUNDS)

Scope = dict[str, Any]
Values = dict[tuple[str, tuple[int, ...]], int]
Meaning = Callable[[Values, Scope], int]


@dataclass(frozen=True)
class Drawn:
    """A term, and what it means."""

    term: Term
    means: Meaning


def field(name: str, *index: Drawn) -> Drawn:
    leaf = RECORDED.fields[name]
    blank = {"many": -1, "level": -3}.get(name, 0)

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
        first, end = (limit.means(values, scope) for limit in limits) if limits else (-99, 99)
        chosen = [x for x in sort.domain(BOUNDS) if first <= x < end]
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


Bound = tuple[tuple[Drawn, ...], tuple[Drawn, ...], tuple[Drawn, ...]]
"""What stands for a value in scope: numbers, brokers, and sets of brokers."""

NOTHING: Bound = ((), (), ())


def parameter(name: str, sort: Sort) -> Drawn:
    return Drawn(t.var(f"${name}", sort), lambda values, scope: scope[f"${name}"])


PARAMETERS: dict[str, Any] = {"n": NUMBERS, "b": BROKERS, "some": SetOf(BROKERS)}
"""Of the step that has drawn terms for requirements."""

GIVEN: Bound = (
    (parameter("n", NUMBERS),),
    (parameter("b", BROKERS),),
    (Drawn(t.const(0), lambda values, scope: 0),),
)
"""What a step's parameters stand for; of a set its members are asked."""

ARGUMENTS = st.fixed_dictionaries({
    "$n": st.integers(0, BOUNDS["top"]), "$b": st.integers(1, 2),
    "$some": st.sets(st.integers(1, 2)).map(frozenset),
})  # fmt: skip


def has(member: Drawn) -> Drawn:
    """Is it in the set that the step was given?"""
    return Drawn(t.get("$some", (member.term,), BOOL),
                 lambda values, scope: member.means(values, scope) in scope["$some"])  # fmt: skip


@st.composite
def numbers(draw: Any, depth: int, scope: Bound) -> Drawn:
    kinds = ["leaf", "leaf", "leaf", "add", "choice", "one of two", "size", "count", "least"]
    kind = draw(st.sampled_from([*kinds, "least of few"])) if depth else "leaf"
    if kind == "leaf":
        sized = Drawn(t.bound("brokers"), lambda values, scope: BOUNDS["brokers"])
        leaves = [field("few"), field("many"), field("level"), sized, *scope[0]]
        return draw(st.sampled_from(leaves) | st.integers(-3, 4).map(literal))  # type: ignore[no-any-return]
    if kind == "add":
        one, plus = draw(numbers(depth - 1, scope)), draw(st.integers(-2, 2))
        return Drawn(t.add(one.term, t.const(plus)), lambda v, s: one.means(v, s) + plus)
    if kind == "choice":
        return choice(draw, depth, scope, numbers)
    if kind == "one of two":
        return one_of_two(draw, depth, scope)
    if kind == "size":
        return field("size", draw(brokers(depth - 1, scope)))
    if kind == "least of few":
        return least_of_few(draw, scope)
    sort = draw(st.sampled_from([NUMBERS, LEVELS, *([BROKERS] if kind == "count" else [])]))
    ends = [draw(numbers(0, scope)) for _ in range(3)] if sort is not BROKERS else []
    if kind == "count":
        ends = ends[:2]
    return quantified(kind, sort, rule(draw, depth, scope, sort), *ends)


def one_of_two(draw: Any, depth: int, scope: Bound) -> Drawn:
    """The smaller of two numbers, or the larger, as a choice by which is less."""
    one, other = (draw(numbers(depth - 1, scope)) for _ in range(2))
    pick, (less, more) = draw(st.sampled_from([(min, (one, other)), (max, (other, one))]))
    return Drawn(
        t.ite(t.le(less.term, more.term), one.term, other.term),
        lambda v, s: pick(one.means(v, s), other.means(v, s)),
    )


def least_of_few(draw: Any, scope: Bound) -> Drawn:
    """The least number that some broker's is, which lowerings do not look for number by number."""
    inside, plus = draw(st.booleans()), draw(st.integers(-1, 1))

    def of_some(number: Drawn) -> Drawn:
        def is_its(broker: Drawn) -> Drawn:
            size, chosen = field("size", broker), field("chosen", broker)
            same = t.eq(number.term, t.add(size.term, t.const(plus)))
            return Drawn(
                t.and_(chosen.term, same) if inside else same,
                lambda v, s: (
                    (chosen.means(v, s) or not inside)
                    and number.means(v, s) == size.means(v, s) + plus
                ),
            )

        return quantified("some", BROKERS, is_its)

    return quantified("least", NUMBERS, of_some, *(draw(numbers(0, scope)) for _ in range(3)))


@st.composite
def brokers(draw: Any, depth: int, scope: Bound) -> Drawn:
    kind = draw(st.sampled_from(["leaf", "leaf", "choice", "heir"])) if depth else "leaf"
    if kind == "choice":
        return choice(draw, depth, scope, brokers)
    if kind == "heir":
        return field("heir", draw(brokers(depth - 1, scope)))
    named = [literal(code, BROKERS.or_none) for code in range(3)]
    return draw(st.sampled_from([field("who"), *named, *scope[1]]))  # type: ignore[no-any-return]


@st.composite
def moods(draw: Any, depth: int, scope: Bound) -> Drawn:
    if depth and draw(st.booleans()):
        return choice(draw, depth, scope, moods)
    named = [literal(code, MOODS) for code in range(3)]
    return draw(st.sampled_from([field("mood"), *named]))  # type: ignore[no-any-return]


def choice(draw: Any, depth: int, scope: Bound, kind: Any) -> Drawn:
    test = draw(conditions(depth - 1, scope))
    one, other = draw(kind(depth - 1, scope)), draw(kind(depth - 1, scope))
    return Drawn(
        t.ite(test.term, one.term, other.term),
        lambda v, s: one.means(v, s) if test.means(v, s) else other.means(v, s),
    )


def rule(draw: Any, depth: int, scope: Bound, sort: Any) -> Callable[[Drawn], Drawn]:
    def body(bound: Drawn) -> Drawn:
        numbered, named, sets = scope
        wider = (
            (numbered, (*named, bound), sets)
            if sort is BROKERS
            else ((*numbered, bound), named, sets)
        )
        return draw(conditions(depth - 1, wider))  # type: ignore[no-any-return]

    return body


@st.composite
def conditions(draw: Any, depth: int, scope: Bound = NOTHING) -> Drawn:
    kinds = ["not", "and", "or", "choice", "same", "eq", "lt", "le", "flag", "member", "member"]
    kinds += ["every", "some", "range"]
    kind = draw(st.sampled_from(kinds)) if depth else "leaf"
    if kind == "leaf":
        truths = [literal(True), literal(False)]
        return draw(st.sampled_from([field("yes"), field("no"), *truths]))  # type: ignore[no-any-return]
    if kind == "choice":
        return choice(draw, depth, scope, conditions)
    if kind == "flag":
        return field(draw(st.sampled_from(["flag", "warm"])), draw(numbers(depth - 1, scope)))
    if kind == "member":
        return member(draw, depth, scope)
    if kind in ("every", "some", "range"):
        sort = draw(st.sampled_from([NUMBERS, LEVELS])) if kind == "range" else BROKERS
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
        of = draw(st.sampled_from([conditions, brokers, moods]))
        one, other = draw(of(depth - 1, scope)), draw(of(depth - 1, scope))
        return Drawn(t.eq(one.term, other.term), lambda v, s: one.means(v, s) == other.means(v, s))
    one, other = draw(numbers(depth - 1, scope)), draw(numbers(depth - 1, scope))
    if kind == "eq":
        return Drawn(t.eq(one.term, other.term), lambda v, s: one.means(v, s) == other.means(v, s))
    if kind == "lt":
        return Drawn(t.lt(one.term, other.term), lambda v, s: one.means(v, s) < other.means(v, s))
    return Drawn(t.le(one.term, other.term), lambda v, s: one.means(v, s) <= other.means(v, s))


def member(draw: Any, depth: int, scope: Bound) -> Drawn:
    """Is a broker, or a pair, in a set?"""
    kinds = ["chosen", "seen", "sent", *(["some", "some"] if scope[2] else [])]
    kind = draw(st.sampled_from(kinds))
    if kind == "sent":
        return field("sent", *(draw(numbers(depth - 1, scope)) for _ in range(2)))
    broker = draw(brokers(depth - 1, scope))
    if kind == "some":
        return has(broker)
    more = [draw(numbers(depth - 1, scope))] if kind == "seen" else []
    return field(kind, broker, *more)


STATES = st.tuples(*(st.sampled_from(list(cell.domain)) for cell in GROUNDED.cells))

MANY = 16


def _many(seed: int) -> list[tuple[int, ...]]:
    chance = random.Random(seed)
    return [tuple(chance.choice(cell.domain) for cell in GROUNDED.cells) for _ in range(MANY)]


MANY_STATES = st.integers(0, 2**32).map(_many)
"""To draw a value for each cell by itself takes longer than to judge a term."""


def values_of(codes: tuple[int, ...]) -> Values:
    return {(c.field.name, c.index): codes[c.number] for c in GROUNDED.cells}


def sparse_of(codes: tuple[int, ...]) -> SparseState:
    state: SparseState = {}
    for cell in GROUNDED.cells:
        code = codes[cell.number]
        if code != blank_code(cell.field.sort):
            code = bool(code) if cell.field.sort is BOOL else code
            state.setdefault(cell.field.name, {})[cell.index] = code
    return state


def steps_with(condition: Term, number: Term) -> Any:
    """The state's system, with a step that requires what is drawn, and one that writes it."""

    def requires(now: Any, new: Any, n: Any, b: Any, some: Any) -> None:
        """A step that has a drawn requirement."""
        require(Scalar(condition), "what is drawn")
        new.yes = True

    def writes(now: Any, new: Any, n: Any, b: Any, some: Any) -> None:
        """A step that writes what is drawn: to fields, to a map and to sets."""
        drawn = Scalar(condition)
        new.no = drawn
        new.few = when(all_of(Scalar(number) >= 0, Scalar(number) <= n), Scalar(number), now.few)
        new.flag[n] = drawn
        new.flag[0] = now.yes
        new.chosen = when(drawn, now.chosen.including(b), now.chosen.within(some))
        new.heir = lam(BROKERS, lambda one: when(all_of(drawn, one != b), one, now.heir[one]))
        new.seen = now.seen.without(b, n)

    return system(requires, writes, state=STATE, bounds=BOUNDS, **PARAMETERS)
