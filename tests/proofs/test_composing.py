"""Taking one step after another in terms: random terms and writes against naive Python."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from model.language import ProtocolError
from model.language import terms as t
from model.language.evaluate import Evaluator
from model.language.recording import Write
from specs.refinement.composed import LeastParameters, Substitution, marked
from tests.language.random_terms import (
    BOUNDS,
    NOTHING,
    NUMBERS,
    RECORDED,
    STATES,
    Drawn,
    brokers,
    conditions,
    numbers,
    sparse_of,
    values_of,
)
from tests.language.test_terms import SOME

EXPLORED = Evaluator(RECORDED, BOUNDS)
AT = t.var("@0", NUMBERS)


class After:
    """The values that writes leave: whatever they do not write stays as it was."""

    def __init__(self, values: Any, size: Any, flag: Drawn, few: Drawn) -> None:
        self.values, self.size, self.flag, self.few = values, size, flag, few

    def get(self, place: Any, blank: int) -> int:
        name, index = place
        if name == "few":
            return self.few.means(self.values, {})
        if name == "flag":
            return self.flag.means(self.values, {"@0": index[0]})
        key, value = self.size
        if name == "size" and index[0] == key.means(self.values, {}):
            return int(value.means(self.values, {}))
        return int(self.values.get(place, blank))


@st.composite
def written(draw: Any) -> tuple[list[Write], Any]:
    """One place of a map, a whole map, and a value of its own."""
    scope: Any = ((Drawn(AT, lambda values, scope: scope["@0"]),), (), ())
    key, value = draw(brokers(1, NOTHING)), draw(numbers(2, NOTHING))
    flag, few = draw(conditions(2, scope)), draw(numbers(2, NOTHING))
    writes = [
        Write("size", (key.term,), (), value.term),
        Write("flag", (), (AT,), flag.term),
        Write("few", (), (), few.term),
    ]
    return writes, ((key, value), flag, few)


@SOME
@given(conditions(3), written(), STATES)
def test_a_term_about_the_state_after_writes_is_a_term_about_the_state_before(drawn, made, codes):
    writes, parts = made
    values = values_of(codes)
    truth = bool(drawn.means(After(values, *parts), {}))

    assert bool(EXPLORED.value(Substitution(writes, "")(drawn.term), sparse_of(codes), {})) == truth
    after = Substitution(writes, t.AFTER)(marked(drawn.term))
    assert bool(EXPLORED.value(after, sparse_of(codes), {})) == truth
    # What is not marked is meant of the state before.
    before = Substitution(writes, t.AFTER)(drawn.term)
    assert bool(EXPLORED.value(before, sparse_of(codes), {})) == bool(drawn.means(values, {}))


@SOME
@given(conditions(3), STATES)
def test_a_least_value_is_one_parameter_of_which_one_choice_is_possible(drawn, codes):
    truth = bool(drawn.means(values_of(codes), {}))
    found = LeastParameters(itertools.count(1))
    try:
        term = found(drawn.term)
    except ProtocolError:
        assume(False)
    assume(len(found.parameters) <= 2)
    state = sparse_of(codes)
    facts = [fact for facts in found.facts.values() for fact in facts]

    possible = [
        chosen
        for chosen in itertools.product(range(-3, 8), repeat=len(found.parameters))
        if all(EXPLORED.value(fact, state, _named(found, chosen)) for fact in facts)
    ]

    assert len(possible) == 1
    assert bool(EXPLORED.value(term, state, _named(found, possible[0]))) == truth


def _named(found: LeastParameters, chosen: tuple[int, ...]) -> dict[str, Any]:
    return {f"${name}": value for name, value in zip(found.parameters, chosen, strict=True)}
