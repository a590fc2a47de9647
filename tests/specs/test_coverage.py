"""What an exploration says about itself: what never fired or refused, was pruned, or got stuck."""

from __future__ import annotations

from typing import Any

import pytest

from model.classic import SYSTEM as CLASSIC
from model.election import SYSTEM as ELECTION
from model.language import require
from specs.explorer import explore
from specs.rendering import as_data
from tests.language.sampling import Small
from tests.language.small import BROKERS, EPOCHS, epoch_grows, system

BOUNDS = {"brokers": 2, "epoch": 2, "log": 1, "hottest": 1}


def test_successors_beyond_a_bound_are_counted_and_reported():
    found = explore(system(epoch_grows), {**BOUNDS, "epoch": 1})

    assert (found.distinct, found.complete) == (2, True)
    assert found.pruned == as_data(found)["pruned"] == {"epoch": 1}
    assert found.fired == {"epoch_grows": 1}


def test_a_state_at_a_bound_is_no_dead_end():
    def epoch_grows_to_one(now, new):
        """The epoch grows while it is zero."""
        require(now.epoch == 0, "the epoch is zero")

        new.epoch = now.epoch + 1

    at_a_bound = explore(system(epoch_grows), {**BOUNDS, "epoch": 1})
    stuck = explore(system(epoch_grows_to_one), BOUNDS)

    assert (at_a_bound.distinct, at_a_bound.dead_ends) == (2, 0)
    assert (stuck.distinct, stuck.dead_ends, stuck.pruned) == (2, 1, {})


def test_what_never_fires_and_what_never_refuses_is_named():
    def owner_is_found(now, new, broker):
        """A broker becomes the owner at an epoch that never comes."""
        require(now.epoch <= 2, "the epoch is small")
        require(now.epoch > 2, "the epoch is large")

        new.owner = broker

    found = explore(system(owner_is_found, broker=BROKERS), BOUNDS)

    assert found.never_fired == ["owner_is_found"]
    assert found.unseen_refusals == [("owner_is_found", "the epoch is small")]
    assert as_data(found)["refusals_never_first"] == [
        {"transition": "owner_is_found", "reason": "the epoch is small"}
    ]


def test_a_reason_that_the_parameters_decide_is_not_held_against_the_states():
    def epoch_is_chosen(now, new, epoch):
        """An epoch that is not zero is chosen."""
        require(epoch > 0, "the epoch is not zero")

        new.epoch = epoch

    found = explore(system(epoch_is_chosen, epoch=EPOCHS), BOUNDS)

    assert (found.distinct, found.unseen_refusals) == (3, [])


TINY_ONES = [
    (ELECTION, None, {"brokers": 2, "epoch": 1}),
    (CLASSIC, "kip_320", {"brokers": 2, "log": 1, "records": 1}),
    (CLASSIC, "kip_101", {"brokers": 2, "log": 1, "records": 1}),
]


@pytest.mark.parametrize(
    ("model", "version", "bounds"), TINY_ONES, ids=lambda value: getattr(value, "name", str(value))
)
def test_coverage_and_dead_ends_are_what_the_twin_counts(model, version, bounds):
    small = Small(model, version, bounds)
    first, enabled, stuck = set(), dict.fromkeys((s.transition.name for s in _steps(small)), 0), 0

    for state in small.reachable(10**6):
        read, possible = small.sparse(state), 0
        for instance in small.grounded.instances:
            name = instance.step.transition.name
            refused = small.twin.possible(instance.step, read, small.arguments(instance))
            possible += refused is None
            if refused is not None:
                first.add((name, refused.reason))
            elif small.code.attempt(instance, state) is not None:
                enabled[name] += 1
        stuck += not possible
    found = explore(small.recorded, small.bounds)

    reported = {(s.transition.name, r.reason) for s in _steps(small) for r in s.requires}
    decided = {small.grounded.reasons[n] for n in small.grounded.refused_by_parameters}
    assert set(found.unseen_refusals) == reported - first - decided
    assert (found.fired, found.dead_ends) == (enabled, stuck)
    assert found.generated == 1 + sum(enabled.values())


def _steps(small: Small) -> Any:
    return small.recorded.steps
