"""Dead ends: states from which nothing is possible, within the bounds or beyond them."""

from __future__ import annotations

import pytest

from model.classic import SYSTEM as CLASSIC
from model.election import SYSTEM as ELECTION
from model.language import require
from model.language.evaluate import Evaluator
from specs.explorer import DEADLOCK, explore, find
from specs.rendering import as_data
from specs.verdict import Verdict
from tests.language.small import BROKERS, system
from tests.specs.following import codes, follow
from tests.specs.in_the_end import epoch_grows

BOUNDS = {"brokers": 2, "epoch": 3, "log": 1, "hottest": 1}
TWO_REPLICAS = {"brokers": 2, "log": 1, "records": 1}
ENGINES = pytest.mark.parametrize("engine", ["native", "python"])


def epoch_grows_for_ever(now, new):
    """The epoch grows by one."""
    new.epoch = now.epoch + 1


@ENGINES
def test_the_shortest_run_to_a_dead_end_ends_where_nothing_is_possible(engine):
    found, run = find(CLASSIC.recorded(), CLASSIC.limits(TWO_REPLICAS), DEADLOCK, engine=engine)

    assert run is not None
    assert (found.deadlock.verdict, found.deadlock.depth) == (Verdict.BROKEN, run.depth)
    stuck = follow(found, run)[-1]
    twin = Evaluator(found.grounded.recorded, run.bounds)
    assert all(
        twin.possible(one.step, stuck, codes(one)) is not None for one in found.grounded.instances
    )


def test_both_engines_find_the_same_dead_end_at_the_same_depth():
    recorded, limits = CLASSIC.recorded(), CLASSIC.limits(TWO_REPLICAS)

    reported = [
        find(recorded, limits, DEADLOCK, engine=engine, symmetry=symmetry)
        for engine, symmetry in (("native", False), ("python", False), ("native", True))
    ]

    runs = [as_data(run) for _, run in reported if run is not None]
    assert len(runs) == 3
    assert runs[0] == runs[1] == runs[2]
    assert reported[0][0].levels == reported[1][0].levels


@pytest.mark.parametrize("workers", [2, 3])
def test_several_workers_find_the_dead_end_of_one(monkeypatch, workers):
    recorded, limits = CLASSIC.recorded(), CLASSIC.limits({})
    _, alone = find(recorded, limits, DEADLOCK)
    monkeypatch.setattr("specs.native.search.WORTH_SHARING", 2)

    found, run = find(recorded, limits, DEADLOCK, workers=workers)

    assert run is not None
    assert alone is not None
    assert as_data(run) == as_data(alone)
    assert found.engine.workers == workers


@ENGINES
def test_a_state_at_a_bound_is_no_dead_end_and_where_something_goes_on_there_is_none(engine):
    at_a_bound, none = find(system(epoch_grows_for_ever), BOUNDS, DEADLOCK, engine=engine)
    going_on, _ = find(ELECTION.recorded(), ELECTION.limits({"epoch": 1}), DEADLOCK, engine=engine)

    assert (at_a_bound.deadlock.verdict, none) == (Verdict.HOLDS, None)
    assert going_on.deadlock.verdict is Verdict.HOLDS


@ENGINES
def test_a_dead_end_at_once_takes_no_step(engine):
    def owner_is_found(now, new, broker):
        """A broker becomes the owner at an epoch that never comes."""
        require(now.epoch == 2, "the epoch is two")

        new.owner = broker

    found, run = find(system(owner_is_found, broker=BROKERS), BOUNDS, DEADLOCK, engine=engine)

    assert run is not None
    assert (run.steps, run.depth, found.distinct) == ([], 1, 1)


@ENGINES
def test_a_search_that_gave_up_before_a_dead_end_says_unknown(engine):
    found, run = find(system(epoch_grows), BOUNDS, DEADLOCK, max_states=2, engine=engine)

    assert (found.deadlock.verdict, run) == (Verdict.UNKNOWN, None)
    assert found.deadlock.why == "the bound of 2 states is reached"


@ENGINES
def test_a_visit_counts_dead_ends_and_knows_the_way_to_the_first(engine):
    found = explore(system(epoch_grows), BOUNDS, engine=engine)
    run = found.run(DEADLOCK)

    assert run is not None
    assert (found.dead_ends, len(run.steps), list(found.claims)) == (1, 2, [])
