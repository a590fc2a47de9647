"""Several states at once: each lane says what its state says alone, and no lane more than that."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from model.language import BOOL, Bounded, ImpossibleValue, Numbers, Record, require
from specs.explorer import explore
from specs.lowering.grounding import Grounded
from specs.lowering.llvm_terms import LANES
from specs.lowering.native_code import BLOCK
from specs.native import driver
from specs.native.kernel import kernel_of
from specs.native.store import StateStore
from specs.native.table import hash_all, hash_of
from tests.language.small import system
from tests.native.instances import (
    SMALLEST,
    THREE_BROKERS,
    Called,
    Pair,
    SmallInstance,
    Words,
    each,
    pair_of,
    reachable,
)

BOUNDS = {"brokers": 2, "epoch": 1, "log": 1, "hottest": 6}


def some_states(pair: Pair, size: SmallInstance, number: int, chance: random.Random) -> list[Words]:
    return [pair.words(state) for state in chance.sample(reachable(size), number)]


@each([*SMALLEST[3:6], *SMALLEST[-2:]])
def test_states_side_by_side_have_the_successors_and_the_counts_that_each_has_alone(size):
    pair, chance = pair_of(size), random.Random(3)

    for number in (1, 2, LANES // 2 + 1, LANES - 1, LANES):
        states = some_states(pair, size, number, chance)
        first, begin = chance.randrange(10**9), chance.randrange(BLOCK)
        together = pair.called.expand_together(states, first, begin)
        alone = [pair.called.expand(state) for state in states]

        expected = Counter(
            (first + lane, after) for lane, one in enumerate(alone) for after in one.successors
        )
        assert Counter(zip(together.origins, together.successors, strict=True)) == expected
        assert together.fired == np.sum([one.fired for one in alone], axis=0).tolist()
        assert together.refused == set().union(*(one.refused for one in alone))
        assert together.pruned == sum((Counter(one.pruned) for one in alone), Counter())
        assert together.dead_ends == sum(one.dead_ends for one in alone)


@each([SMALLEST[4], SMALLEST[5], SMALLEST[-1]])
def test_states_side_by_side_are_judged_as_each_is_alone(size):
    pair = pair_of(size)
    states = some_states(pair, size, LANES, random.Random(4))

    together = pair.called.judge_together(states)

    assert together == [pair.called.judge(state) for state in states]
    assert len({tuple(truths.values()) for truths in together}) > 1


@each([SMALLEST[4], THREE_BROKERS[0], THREE_BROKERS[-1]])
def test_states_side_by_side_have_the_orbits_that_each_has_alone(size):
    pair, chance = pair_of(size, symmetry=True), random.Random(5)
    codes = [pair.random_codes(chance) for _ in range(LANES)]
    states = [pair.packing.pack(one) for one in codes]

    together = pair.called.canonical_together(states)

    assert together == [pair.called.canonical(state) for state in states]
    assert len(set(together)) > 1


# -- what a search makes of it ----------------------------------------------------------------

HOT = Record(heat=Numbers("temperature", 0, Bounded("hottest"), beyond="raise"), fine=BOOL)


def test_of_many_states_the_first_with_an_impossible_successor_is_reported():
    def heats(now, new):
        """It gets hotter, as far as it can."""
        new.heat = now.heat + 1

    def boils(now, new):
        """It gets much hotter at once."""
        require(now.heat == 4, "it is hot already")
        new.heat = now.heat + 5

    grounded = Grounded(system(boils, heats, state=HOT), BOUNDS, [])
    kernel = kernel_of(grounded)
    called, pack = Called(kernel), kernel.packing.pack
    states = np.array([pack((heat, 0)) for heat in (3, 6, 4)] + [(0,)] * LANES, np.uint64)

    reported = [called.expand(pack((heat, 0))).broken for heat in (3, 6, 4)]
    index, found = driver.expand_block(
        1, kernel.addresses, states.reshape(-1), 0, 3, kernel.tallies(), kernel.planes()
    )

    assert reported == [None, "heats(): heat would leave 0..6", "boils(): heat would leave 0..6"]
    assert (index, kernel.code.checks[-found - 1].label) == (1, "heats()")
    with pytest.raises(ImpossibleValue, match=r"boils\(\): heat would leave"):
        explore(system(boils, heats, state=HOT), BOUNDS)


def block_of(rows: Any) -> tuple[Any, Any]:
    """States as a block of successors, and their hashes."""
    count, words = rows.shape
    out, hashes = np.zeros((words + 1, count + LANES), np.uint64), np.zeros(count, np.uint64)
    out[:words, :count] = rows.T
    hash_all(words, out, count, hashes)
    return out, hashes


def put(store: StateStore, rows: Any, room: int, begin: int = 0) -> tuple[int, int]:
    """Inserts a block of states into a store; where it stopped, and how many there are."""
    out, hashes = block_of(rows)
    at, count = driver.insert_block(
        store.words, store.states, int(store.ends[0]), room, store.table,
        np.uint64(store.part - 1), out, hashes, begin, len(rows),
    )  # fmt: skip
    store.ends[0] = count
    return int(at), int(count)


@pytest.mark.parametrize("words", [1, 2, 5])
def test_a_block_is_hashed_as_its_states_are_one_by_one(words):
    rows = np.random.default_rng(words).integers(0, 2**64, (100, words), np.uint64)

    _, hashes = block_of(rows)

    assert hashes.tolist() == [int(hash_of(words, rows.reshape(-1), n * words)) for n in range(100)]


@pytest.mark.parametrize("words", [1, 2, 5])
def test_what_comes_twice_in_a_block_is_inserted_once_and_in_order(words):
    rows = np.random.default_rng(words).integers(0, 40, (600, words), np.uint64)
    rows[:, 1:] //= 30
    store = StateStore(words, 1 << 20)

    first = put(store, rows, store.room)
    again = put(store, rows, store.room)

    in_order = list(dict.fromkeys(map(tuple, rows.tolist())))
    assert 40 <= len(in_order) < 600
    assert first == again == (600, len(in_order))
    held = store.states[: len(in_order) * words].reshape(-1, words)
    assert [tuple(row) for row in held.tolist()] == in_order


def test_a_block_stops_at_the_first_new_state_without_room_and_goes_on_from_there():
    rows = np.array([[1], [2], [1], [2], [3], [1], [4]], np.uint64)
    store = StateStore(1, 1 << 20)

    stopped = put(store, rows, room=2)
    full = put(store, rows, room=2, begin=5)
    further = put(store, rows, room=4, begin=4)

    assert (stopped, full, further) == ((4, 2), (6, 2), (7, 4))
    assert store.states[:4].tolist() == [1, 2, 3, 4]
