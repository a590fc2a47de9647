"""What grew: which values each field holds how often, the same from both engines."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest

from model.classic import SYSTEM as CLASSIC
from model.election import SYSTEM as ELECTION
from model.language import require
from model.replication import SYSTEM as REPLICATION
from specs.explorer import explore
from specs.rendering import as_data
from specs.state_text import StateText
from tests.language.sampling import Small
from tests.language.small import BROKERS, EPOCHS, epoch_grows, system

BOUNDS = {"brokers": 2, "epoch": 3, "log": 1, "hottest": 1}
ENGINES = pytest.mark.parametrize("engine", ["native", "python"])
TINY: list[Any] = [
    (ELECTION, None, {"epoch": 1}),
    (CLASSIC, "kip_101", {"brokers": 2, "log": 1, "records": 1}),
    pytest.param(REPLICATION, None, {"epoch": 1, "versions": 1}, marks=pytest.mark.deep),
]


def broker_sees(now, new, broker, epoch):
    """The second broker comes to see an epoch."""
    require(broker == 2, "it is the second broker")

    new.seen[broker] = epoch


@ENGINES
def test_values_are_counted_over_all_states_and_indices(engine):
    found = explore(
        system(broker_sees, broker=BROKERS, epoch=EPOCHS), {**BOUNDS, "epoch": 2}, engine=engine
    )

    seen = next(one for one in found.growth if one.field == "seen")
    # Four states: the first broker sees none in any, the second none, 0, 1 and 2.
    assert seen.values == {"none": 5, "0": 1, "1": 1, "2": 1}
    assert (seen.bound, seen.share) == ("epoch", 1 / 8)
    assert seen.as_text() == "seen: 12% at the bound epoch; none: 62%, 0: 12%, 1: 12%, 2: 12%"


@ENGINES
def test_the_field_that_is_most_often_at_its_bound_comes_first_and_unbounded_ones_last(engine):
    found = explore(system(epoch_grows), BOUNDS, engine=engine)

    first, *others = found.growth
    shares = [one.share for one in others]
    assert (first.field, first.bound, first.share) == ("epoch", "epoch", 1 / 4)
    assert shares == sorted((s for s in shares if s is not None), reverse=True) + [None] * (
        shares.count(None)
    )
    assert None in shares


@ENGINES
def test_a_level_that_is_forgotten_is_not_counted(engine):
    found = explore(system(epoch_grows), BOUNDS, engine=engine, max_states=2)

    assert found.growth[0].values == {"0": 1, "1": 1}


@pytest.mark.parametrize(
    ("model", "version", "bounds"), TINY, ids=lambda one: getattr(one, "name", "")
)
def test_both_engines_count_the_same_and_so_does_a_third_way(model, version, bounds):
    small = Small(model, version, bounds)
    recorded, limits = model.recorded(version), model.limits(bounds)

    native, plain = (explore(recorded, limits, engine=engine) for engine in ("native", "python"))

    assert native.growth == plain.growth
    leaves = StateText(native.grounded)
    reported = Counter(
        value
        for state in small.reachable(10**6)
        for path, value in leaves.leaves(small.code.decode(state)).items()
        if path == PLAIN[model.name]
    )
    field = next(one for one in native.growth if one.field == PLAIN[model.name])
    assert dict(field.values) == {_shown(value): count for value, count in reported.items()}


PLAIN = {"election": "zk.epoch", "classic": "next_epoch", "replication": "zk.version"}
"""A field of each system that has no index."""


def _shown(value: object) -> str:
    return "none" if value is None else str(value)


def test_every_worker_s_states_are_counted(monkeypatch):
    recorded, limits = ELECTION.recorded(), ELECTION.limits({})
    alone = explore(recorded, limits)
    monkeypatch.setattr("specs.native.search.WORTH_SHARING", 50)

    together = explore(recorded, limits, workers=3)

    assert together.engine.workers == 3
    assert together.growth == alone.growth


def test_under_symmetry_orbits_are_counted():
    found = explore(ELECTION.recorded(), ELECTION.limits({}), symmetry=True)

    assert found.growth
    for one in found.growth:
        cells = sum(cell.field.name == one.field for cell in found.grounded.cells)
        assert sum(one.values.values()) == found.distinct * cells


def test_json_has_every_field_with_its_values():
    found = explore(system(epoch_grows), BOUNDS)

    reported = [as_data(one) for one in found.growth]

    assert reported[0] == {
        "field": "epoch", "bound": "epoch", "share_at_bound": 0.25,
        "values": {"0": 1, "1": 1, "2": 1, "3": 1},
    }  # fmt: skip
    assert [one["field"] for one in reported] == list(
        dict.fromkeys(one["field"] for one in reported)
    )
    assert {one["field"] for one in reported} == set(
        itertools.chain(cell.field.name for cell in found.grounded.cells)
    )
