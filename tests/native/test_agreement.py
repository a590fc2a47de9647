"""Machine code and generated Python agree: on every state one by one, and on whole explorations."""

from __future__ import annotations

import random
from collections import Counter
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.language import ImpossibleValue
from model.systems import SYSTEMS
from specs.explorer import explore
from specs.rendering import as_data
from tests.native.instances import (
    BUSY,
    SMALLEST,
    THREE_BROKERS,
    Codes,
    Pair,
    SmallInstance,
    each,
    pair_of,
    reachable,
    sizes,
)

ITS_OWN = ("engine", "workers", "seconds", "setup_seconds", "peak_memory_mb", "bytes_per_state")


def common(reported: dict[str, Any]) -> dict[str, Any]:
    """What both engines must say alike."""
    return {key: value for key, value in reported.items() if key not in ITS_OWN}


def by_both(size: SmallInstance, **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    system = SYSTEMS[size.system]
    recorded = system.recorded(size.version, size.changed)
    limits = system.limits(dict(size.bounds))
    native, python = (
        as_data(explore(recorded, limits, engine=engine, **more)) for engine in ("native", "python")
    )
    return common(native), common(python)


# -- state by state ---------------------------------------------------------------------------


def agree_on(pair: Pair, state: Any) -> None:
    """Successors, coverage, refusals, bounds and claims of one state, by both lowerings."""
    small, codes = pair.small, pair.small.code.decode(state)
    words = pair.packing.pack(codes)
    answer = pair.called.expand(words)
    assert pair.called.judge(words) == {n: c(state) for n, c in small.code.claims.items()}
    fired = [0] * len(pair.grounded.instances)
    refused, pruned = bytearray(len(pair.grounded.reasons)), dict[str, int]()
    try:
        nexts = small.code.successors(state, fired, refused, pruned)
    except ImpossibleValue:
        assert answer.broken in impossible_in(pair, state)
        return
    assert answer.broken is None
    assert Counter(answer.successors) == Counter(pair.words(after) for _, after in nexts)
    assert (answer.fired, answer.pruned) == (fired, pruned)
    assert answer.dead_ends == (not nexts and not pruned)
    for _, after in nexts if small.code.step_claims else []:
        judged = {n: c(state, after) for n, c in small.code.step_claims.items()}
        assert pair.called.judge_step(words, pair.words(after)) == judged
    # What the parameters alone refuse is no coverage: the lowerings may mark it or not.
    decided = {number for number, mark in enumerate(refused) if mark}
    assert decided <= answer.refused
    assert answer.refused - decided <= pair.grounded.refused_by_parameters


def impossible_in(pair: Pair, state: Any) -> set[str]:
    """What every instance by itself says is impossible in a state."""
    said = set()
    for instance in pair.grounded.instances:
        try:
            pair.small.code.attempt(instance, state)
        except ImpossibleValue as error:
            said.add(str(error))
    return said


@each([one for one in SMALLEST if one.system != "replication"])
def test_every_reachable_state_has_the_same_successors_refusals_and_claims(size):
    pair, states = pair_of(size), reachable(size)

    for state in states:
        agree_on(pair, state)

    assert len(states) > 100


@each([one for one in SMALLEST if one.system == "replication"])
def test_every_tenth_reachable_state_of_each_release_of_replication_agrees_as_well(size):
    """All of them with --deep."""
    pair, states = pair_of(size), reachable(size)

    for state in states[::10]:
        agree_on(pair, state)


@each([*sizes("classic"), *sizes("election", brokers=3), *sizes("replication", **BUSY)[-1:]])
def test_walks_of_larger_sizes_agree_wherever_a_step_is_possible_or_a_reason_refuses(size):
    pair = pair_of(size)

    states = [s for s in pair.small.covering(seed=5, walks=60, each=3) if pair.fits(s)]

    assert len(states) > 20
    for state in states:
        agree_on(pair, state)


@lru_cache(maxsize=4)
def some_reachable(size: SmallInstance) -> list[Codes]:
    pair = pair_of(size)
    return [pair.small.code.decode(state) for state in pair.small.reachable(2000)]


@given(data=st.data())
@each([SMALLEST[4], SMALLEST[5], SMALLEST[-1]])
def test_states_that_no_run_reaches_agree_too(size, data):
    pair = pair_of(size)
    chance = random.Random(data.draw(st.integers(0, 2**32), label="seed"))
    near = chance.choice(some_reachable(size)) if data.draw(st.booleans(), label="near") else None

    codes = pair.random_codes(chance, near)

    agree_on(pair, pair.small.code.encode(codes))


# -- whole explorations -----------------------------------------------------------------------


@each([*SMALLEST, *THREE_BROKERS[1:5:3]])
def test_both_engines_tell_the_same_json(size):
    native, python = by_both(size)

    assert native == python
    assert native["distinct"] > 100


def test_both_engines_tell_the_same_json_of_elections_without_the_claims_about_loops():
    size = SmallInstance("election", "0.10", (("epoch", 2),))

    native, python = by_both(
        size, claims=["single_controller", "single_writer", "no_older_controller_is_obeyed"]
    )

    assert native == python
    assert native["claims"]["single_writer"]["verdict"] == "broken"


def test_the_runs_that_break_a_claim_are_the_same_to_the_step():
    for version in ("hw_truncation", "kip_101"):
        native, python = by_both(SmallInstance("classic", version))

        broken = [name for name, one in native["claims"].items() if one["verdict"] == "broken"]
        assert "strong_isr" in broken
        assert all(native["claims"][name]["trace"] for name in broken)
        assert native == python


@pytest.mark.parametrize("limit", [1, 2, 3, 100, 655, 656, 1000])
def test_both_engines_stop_at_the_same_level_when_there_are_too_many_states(limit):
    native, python = by_both(SmallInstance("classic", "kip_320"), max_states=limit)

    assert native == python
    assert not native["complete"]
    assert native["distinct"] <= limit


def test_both_engines_end_with_the_level_that_settles_the_claim_looked_for():
    native, python = by_both(SmallInstance("classic", "kip_101"), stop_at="strong_isr")

    assert native == python
    assert native["depth"] == native["claims"]["strong_isr"]["depth"] == 12


@pytest.mark.deep
@each(
    [
        *THREE_BROKERS,
        *sizes("classic"),
        *sizes("election"),
        *sizes("replication", epoch=1, crashes=1),
    ]
)
def test_both_engines_tell_the_same_json_of_the_default_sizes(size):
    native, python = by_both(size)

    assert native == python


@pytest.mark.deep
@each(
    [
        *(one for one in SMALLEST if one.system == "replication"),
        *THREE_BROKERS,
        *sizes("replication", versions=1),
    ]
)
def test_every_reachable_state_of_more_sizes_agrees(size):
    pair = pair_of(size)

    for state in reachable(size):
        agree_on(pair, state)


@pytest.mark.deep
@each(sizes("replication", **BUSY, log=2, records=2))
def test_long_walks_of_replication_agree(size):
    pair = pair_of(size)

    for state in pair.small.covering(seed=6, walks=300, each=40, twists=6000):
        if pair.fits(state):
            agree_on(pair, state)
