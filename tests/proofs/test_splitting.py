"""The goal splitter is trusted, so it is held to what goals mean: by trying every small state."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.language import Numbers
from model.language import terms as t
from model.language.sorts import BOOL
from specs.splitting import GoalSplitter, substituted

SMALL = Numbers("small", 0, 2)
FACTS = [t.get("fact", (t.const(i),), BOOL) for i in range(3)]
X, Y = t.var("x", SMALL), t.var("y", SMALL)


def holds(term: t.Term, facts: tuple[bool, ...], bound: dict[str, int]) -> bool:
    """What a term says, by the book."""

    def go(part: t.Term) -> bool:
        return holds(part, facts, bound)

    def number(part: t.Term) -> int:
        if part.op == "add":
            return number(part.args[0]) + number(part.args[1])
        return bound[part.args[0]] if part.op == "var" else int(part.args[0])

    match term.op:
        case "const":
            return bool(term.args[0])
        case "get":
            return facts[number(term.args[1])]
        case "not":
            return not go(term.args[0])
        case "and":
            return all(map(go, term.args))
        case "or":
            return any(map(go, term.args))
        case "lt":
            return number(term.args[0]) < number(term.args[1])
        case "le":
            return number(term.args[0]) <= number(term.args[1])
        case "every":
            variable, low, high, body = term.args
            values = range(0 if low is None else number(low), 3 if high is None else number(high))
            return all(holds(body, facts, {**bound, variable.args[0]: v}) for v in values)
    raise AssertionError(term.op)


def goals() -> st.SearchStrategy[t.Term]:
    """Goals over three facts, up to two bound variables and their ranges."""
    leaf = st.sampled_from([*FACTS, t.get("fact", (X,), BOOL), t.get("fact", (Y,), BOOL),
                            t.lt(X, Y), t.le(Y, X)])  # fmt: skip

    def grown(inner: st.SearchStrategy[t.Term]) -> st.SearchStrategy[t.Term]:
        several = st.lists(inner, min_size=2, max_size=3)
        return st.one_of(
            several.map(lambda parts: t.and_(*parts)),
            several.map(lambda parts: t.or_(*parts)),
            inner.map(t.not_),
            st.builds(
                lambda v, body, high: t.quantifier("every", v, body, t.const(0), high),
                st.sampled_from([X, Y]), inner, st.sampled_from([t.const(2), t.const(3), X]),
            ),
        )  # fmt: skip

    return st.recursive(leaf, grown, max_leaves=8)


@settings(max_examples=300, deadline=None)
@given(goals())
def test_the_parts_say_together_what_the_goal_says(goal):
    parts = GoalSplitter().subgoals(goal, (X, Y))

    for facts in itertools.product([False, True], repeat=3):
        whole = all(
            holds(goal, facts, {"x": x, "y": y})
            for x, y in itertools.product(range(3), repeat=2)
        )  # fmt: skip
        split = all(
            holds(part.term, facts, dict(zip([v.args[0] for v in part.variables], values,
                                             strict=True)))
            for part in parts
            for values in itertools.product(range(3), repeat=len(part.variables))
        )  # fmt: skip
        assert whole == split


def test_a_conjunction_behind_an_implication_becomes_a_part_for_each():
    goal = t.implies(FACTS[0], t.and_(FACTS[1], FACTS[2]))

    parts = GoalSplitter().subgoals(goal)

    assert [part.term for part in parts] == [
        t.implies(FACTS[0], FACTS[1]), t.implies(FACTS[0], FACTS[2]),
    ]  # fmt: skip


@pytest.mark.parametrize("value", [t.const(1), t.var("z", SMALL)])
def test_a_variable_that_is_bound_again_stays_bound(value):
    inner = t.quantifier("every", X, t.get("fact", (X,), BOOL), t.const(0), X)

    replaced = substituted(inner, X, value)

    assert replaced.args[0] is X
    assert replaced.args[2] is value
    assert replaced.args[3] is inner.args[3]
