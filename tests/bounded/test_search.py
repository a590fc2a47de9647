"""Bounded search: what it says where there is no run, and what it refuses to believe."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.election import SYSTEM as ELECTION
from model.language import (
    ImpossibleValue,
    ProtocolError,
    always,
    always_step,
    every,
    implies,
    some,
    sometimes,
)
from model.language.system import RecordedSystem
from specs.bounded import find_by_z3
from specs.bounded.unrolling import Unrolling
from specs.explorer import explore
from specs.verdict import Verdict
from tests.language.small import BROKERS, EPOCHS, epoch_grows, heat_rises, system

BOUNDS = {"brokers": 3, "epoch": 4, "log": 1, "hottest": 3}


def broker_takes_over(now, new, broker):
    """A broker becomes the owner under the next epoch."""
    new.owner, new.epoch = broker, now.epoch + 1


def broker_sees_the_epoch(now, new, broker):
    """A broker sees the epoch."""
    new.seen[broker] = now.epoch


@sometimes("every broker saw another epoch")
def all_saw_different_epochs(now):
    return every(BROKERS, lambda one: every(BROKERS, lambda other: implies(
        one != other, now.seen[one] != now.seen[other])))  # fmt: skip


@sometimes("somebody owns it")
def it_is_owned(now):
    return some(BROKERS, lambda broker: now.owner == broker)


@always("the epoch stays below three", companion="it_is_owned")
def epoch_is_small(now):
    return now.epoch < 3


@always("it is not hot", companion="it_is_owned")
def it_is_not_hot(now):
    return now.heat < 3


@always_step("the owner does not change from one broker to another", companion="it_is_owned")
def owner_stays(now, after):
    return every(BROKERS, lambda broker: implies(now.owner == broker, after.owner == broker))


CLAIMS = (
    all_saw_different_epochs, it_is_owned, epoch_is_small, owner_stays, it_is_not_hot,
)  # fmt: skip


@pytest.fixture
def small() -> RecordedSystem:
    return system(broker_takes_over, broker_sees_the_epoch, broker=BROKERS, claims=CLAIMS)


def test_the_depth_is_the_explorers_whatever_the_claim_is_about(small):
    depths = {name: result.depth for name, result in explore(small, BOUNDS).claims.items()}

    found = {name: find_by_z3(small, BOUNDS, name, max_steps=8) for name in depths}

    assert depths["all_saw_different_epochs"] == 4  # none, 0 and 1
    assert depths["it_is_not_hot"] is None
    assert {name: one.result.depth for name, one in found.items()} == depths


def test_the_run_is_the_first_in_the_order_of_the_instances(small):
    run = find_by_z3(small, BOUNDS, "owner_stays").run

    assert run is not None
    assert [step.args for step in run.steps] == [{"broker": 1}, {"broker": 2}]


def test_the_same_question_has_the_same_answer_and_costs_the_same(small):
    one, other = (find_by_z3(small, BOUNDS, "all_saw_different_epochs") for _ in range(2))

    assert one.run == other.run
    assert (one.work, one.asked) == (other.work, other.asked)


def test_the_limit_of_steps_is_unknown_and_says_so(small):
    found = find_by_z3(small, BOUNDS, "epoch_is_small", max_steps=2)

    assert found.result.verdict is Verdict.UNKNOWN
    assert found.result.why == "--max-steps 2 is reached: no such run has fewer steps or as many"
    assert (found.run, found.length) == (None, 2)


def test_the_limit_of_work_is_unknown_and_says_so(small):
    found = find_by_z3(small, BOUNDS, "epoch_is_small", work=1)

    assert found.result.verdict is Verdict.UNKNOWN
    assert found.result.why == "--rlimit 1 was used up; not even the initial state was judged"


def test_where_no_run_is_longer_every_run_was_looked_at():
    finite = system(broker_takes_over, broker=BROKERS, claims=CLAIMS)

    holds = find_by_z3(finite, BOUNDS, "it_is_not_hot", max_steps=20)
    never = find_by_z3(finite, {**BOUNDS, "brokers": 3}, "all_saw_different_epochs", max_steps=20)

    assert (holds.result.verdict, holds.length, holds.ended) == (Verdict.HOLDS, 4, True)
    assert (never.result.verdict, never.ended) == (Verdict.BROKEN, True)


def test_a_vacuous_claim_is_unknown_even_where_every_run_was_looked_at():
    without_owners = system(epoch_grows, claims=CLAIMS)

    found = find_by_z3(without_owners, {**BOUNDS, "epoch": 1}, "epoch_is_small")

    assert found.result.verdict is Verdict.UNKNOWN
    assert found.result.why == "vacuous: it_is_owned is never reached"


def test_an_impossible_value_is_refused_as_the_explorer_refuses_it():
    hot = system(heat_rises, claims=(it_is_owned,))
    bounds = {**BOUNDS, "hottest": 2}

    with pytest.raises(ImpossibleValue) as by_explorer:
        explore(hot, bounds)

    with pytest.raises(ImpossibleValue) as by_z3:
        find_by_z3(hot, bounds, "it_is_owned")

    assert str(by_z3.value) == str(by_explorer.value)


def test_a_run_that_does_not_settle_the_claim_when_replayed_is_not_believed(small, monkeypatch):
    monkeypatch.setattr(Unrolling, "first_run", lambda self, mark: [])

    with pytest.raises(AssertionError, match="does not settle epoch_is_small when it is replayed"):
        find_by_z3(small, BOUNDS, "epoch_is_small")


def test_brokers_that_a_claim_names_are_distinguished(small):
    @sometimes("broker 3 owns it")
    def three_owns_it(now):
        return now.owner == 3

    more = replace(small.system, claims=(*CLAIMS, three_owns_it)).recorded()

    run = find_by_z3(more, BOUNDS, "three_owns_it").run

    assert run is not None
    assert [step.args for step in run.steps] == [{"broker": 3}]


def test_a_claim_about_loops_is_refused_with_what_to_write():
    recorded = ELECTION.recorded()

    with pytest.raises(ProtocolError, match="not at loops; leave --engine z3 out"):
        find_by_z3(recorded, ELECTION.limits({}), "newest_controller_becomes_known")


def test_numbers_need_no_bound(small):
    shallow = {**BOUNDS, "epoch": 2}

    explored = explore(small, shallow, ["epoch_is_small"]).claims["epoch_is_small"]
    found = find_by_z3(small, shallow, "epoch_is_small", lifted=["epoch"])

    assert explored.verdict is Verdict.HOLDS
    assert (found.result.verdict, found.result.depth) == (Verdict.BROKEN, 4)
    assert found.run is not None
    assert found.run.bounds["epoch"] >= 3


def test_a_number_that_a_step_chooses_freely_has_no_form_without_its_bound():
    def epoch_is_chosen(now, new, epoch):
        """Any epoch."""
        new.epoch = epoch

    free = system(epoch_is_chosen, epoch=EPOCHS, claims=(it_is_owned,))

    with pytest.raises(ProtocolError, match="a step chooses such a number freely"):
        find_by_z3(free, BOUNDS, "it_is_owned", lifted=["epoch"])


def test_a_bound_on_no_number_cannot_be_lifted(small):
    with pytest.raises(ProtocolError, match="the bound brokers of small limits no number"):
        find_by_z3(small, BOUNDS, "it_is_owned", lifted=["brokers"])
