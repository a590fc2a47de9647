"""Compiled terms give the plain evaluator's answers: steps, states after them, claims."""

from __future__ import annotations

import random

import pytest

from conformance.web.board import Board
from model.language import ImpossibleValue
from model.language.evaluate import Evaluator
from model.systems import SYSTEMS
from specs.lowering.python_terms import CompiledEvaluator

STEPS, CARDS = 5, 3


@pytest.mark.parametrize("name", sorted(set(SYSTEMS) - {"replication_history"}))
def test_both_evaluators_agree_along_a_walk(name: str):
    here = Board(f"system {name} brokers 3")
    plain = Evaluator(here.heading.recorded, here.twin.bounds)
    chance = random.Random(name)
    state, before = here.start, None
    compared = 0

    assert plain.initial() == state
    for _ in range(STEPS):
        cards, refused = here.cards(state)
        asked = chance.sample(cards, min(CARDS, len(cards)))
        for line in [*(one.line for one in asked), *(one.line for one in refused[:CARDS])]:
            step, given = here.read(line, 1)
            assert here.twin.possible(step, state, given) is plain.possible(step, state, given)
            compared += 1
        for one in asked:
            step, given = here.read(one.line, 1)
            assert here.twin.after(step, state, given) == plain.successor(step, state, given)
        compiled = CompiledEvaluator(here.heading.recorded, here.heading.claim_bounds(9))
        twin = Evaluator(here.heading.recorded, here.heading.claim_bounds(9))
        for claim, (about, _) in here.heading.recorded.claims.items():
            if not about.is_about_steps:
                assert compiled.holds(claim, state) == twin.holds(claim, state)
            elif before is not None:
                assert compiled.holds_of_step(claim, before, state) == twin.holds_of_step(
                    claim, before, state
                )
        before, state = state, here.take(state, chance.choice(asked).line)
    assert compared > STEPS


def test_a_value_that_cannot_be_is_refused_by_both():
    here = Board("system classic version kip_320 brokers 2 log 1 records 1 epoch 1")
    lines = ("controller_elects_leader replica=1", "becomes_leader replica=1 epoch=0",
             "leader_writes leader=1")  # fmt: skip
    state = here.at(lines)
    step, given = here.read("leader_writes leader=1", 1)
    plain = Evaluator(here.heading.recorded, here.twin.bounds)

    for twin in (here.twin, plain):
        with pytest.raises(ImpossibleValue, match=r"would be 1, outside 0\.\.0"):
            twin._written(state, step.writes, {"$leader": given["leader"]})
