"""Any number of workers and any size of table: the same counts, verdicts and shortest runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from model.language import always_step, every, require, some, sometimes
from model.systems import SYSTEMS
from specs.explorer import explore
from specs.lowering.llvm_terms import LANES
from specs.lowering.native_code import BLOCK
from specs.native import driver, table
from specs.native.kernel import kernel_of
from specs.native.search import NativeSearch, SearchOptions
from specs.native.store import StateStore
from specs.rendering import as_data
from tests.language.small import BROKERS, system
from tests.native.instances import SmallInstance, each, sizes
from tests.native.test_agreement import common

BROKEN = [
    SmallInstance("classic", "hw_truncation", (("log", 1),)),
    SmallInstance("classic", "kip_101"),
    SmallInstance("election", "0.10", (("epoch", 1),)),
    SmallInstance("replication", "0.10", (("epoch", 1), ("versions", 1))),
]
"""Sizes of every system; in the first two claims break."""


def explored(size: SmallInstance, **more: Any) -> dict[str, Any]:
    chosen = SYSTEMS[size.system]
    recorded = chosen.recorded(size.version, size.changed)
    return common(as_data(explore(recorded, chosen.limits(dict(size.bounds)), **more)))


def searched(size: SmallInstance, report: Any = lambda line: None, **more: Any) -> NativeSearch:
    """A search that is done, with its tables still there."""
    search = NativeSearch(kernel_of(size.small().grounded), SearchOptions(**more), report)
    search.run()
    return search


@pytest.fixture
def shared_early(monkeypatch):
    """Several workers share even a few states."""
    monkeypatch.setattr("specs.native.search.WORTH_SHARING", 50)


# -- workers ----------------------------------------------------------------------------------


@each([*BROKEN, *sizes("classic")[2:]])
@pytest.mark.parametrize("symmetry", [False, True], ids=["plain", "orbits"])
def test_one_two_and_three_workers_tell_the_same(shared_early, size, symmetry):
    alone, *together = (explored(size, workers=n, symmetry=symmetry) for n in (1, 2, 3))

    assert all(one == alone for one in together)


@each(BROKEN)
def test_runs_of_several_workers_are_those_of_plain_python(shared_early, size):
    found = explored(size, workers=3)

    assert found == explored(size, engine="python")
    assert any(one["trace"] for one in found["claims"].values())


def grows(now, new, broker):
    """A broker's epoch grows."""
    new.seen[broker] = now.seen[broker] + 1


def starts_anew(now, new, broker):
    """A broker that has seen everything forgets it."""
    require(now.seen[broker] == 3, "it has seen the last epoch")
    new.seen[broker] = 0


@always_step("no broker forgets an epoch", companion="somebody_has_seen_the_last")
def seen_never_falls(now, after):
    return every(BROKERS, lambda broker: now.seen[broker] <= after.seen[broker])


@always_step("no epoch grows by two", companion="somebody_has_seen_the_last")
def seen_never_jumps(now, after):
    return every(BROKERS, lambda broker: after.seen[broker] <= now.seen[broker] + 1)


@sometimes("a broker has seen the last epoch")
def somebody_has_seen_the_last(now):
    return some(BROKERS, lambda broker: now.seen[broker] == 3)


@pytest.mark.parametrize("symmetry", [False, True], ids=["plain", "orbits"])
def test_steps_that_break_a_claim_are_found_by_any_number_of_workers(monkeypatch, symmetry):
    monkeypatch.setattr("specs.native.search.WORTH_SHARING", 5)
    claims = (seen_never_falls, seen_never_jumps, somebody_has_seen_the_last)
    recorded = system(grows, starts_anew, broker=BROKERS, claims=claims)
    bounds = {"brokers": 3, "epoch": 3, "log": 1, "hottest": 1}

    plain = as_data(explore(recorded, bounds, engine="python"))["claims"]
    found = [
        as_data(explore(recorded, bounds, workers=n, symmetry=symmetry))["claims"]
        for n in (1, 2, 3)
    ]

    assert found == [plain] * 3
    assert {name: one["verdict"] for name, one in plain.items()} == {
        "seen_never_falls": "broken",
        "seen_never_jumps": "holds",
        "somebody_has_seen_the_last": "holds",
    }
    assert len(plain["seen_never_falls"]["trace"]) == 5


@each(BROKEN[:1])
def test_more_workers_than_processors_or_states_tell_the_same(monkeypatch, size):
    monkeypatch.setattr("specs.native.search.WORTH_SHARING", 0)

    assert explored(size, workers=8) == explored(size, workers=1)


@pytest.mark.parametrize("limit", [60, 1000, 5000])
def test_a_bound_on_states_ends_the_search_at_the_same_level_for_any_workers(shared_early, limit):
    size = SmallInstance("classic", "kip_320")

    alone, *together = (explored(size, workers=n, max_states=limit) for n in (1, 2, 3))

    assert alone["stopped"] == f"the bound of {limit} states is reached"
    assert all(one == alone for one in together)


def test_small_searches_have_one_worker_however_many_are_allowed():
    assert searched(SmallInstance("classic", "kip_320"), workers=2).store.shards == 1


@pytest.mark.parametrize("workers", [2, 3, 5])
def test_every_worker_has_its_share_of_the_states(shared_early, workers):
    search = searched(SmallInstance("classic", "kip_320"), workers=workers)

    store = search.store
    held = store.ends - np.arange(store.shards) * store.region
    assert store.shards == workers
    assert held.sum() == 39_619
    assert held.min() > 0.9 * held.max(), "a shard that owned nearly everything would be no help"


def test_shards_hold_no_state_twice(shared_early):
    search = searched(SmallInstance("classic", "kip_320"), workers=3)

    store, kept = search.store, []
    for shard in range(store.shards):
        begin, end = shard * store.region * store.words, int(store.ends[shard]) * store.words
        kept.append(store.states[begin:end].reshape(-1, store.words))
    rows = np.concatenate(kept)
    assert len(np.unique(rows, axis=0)) == len(rows) == 39_619


# -- growth, batches, outboxes -----------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("symmetry", [False, True], ids=["plain", "orbits"])
def test_tiny_tables_batches_and_outboxes_change_nothing(monkeypatch, workers, symmetry):
    size, other = BROKEN[1], BROKEN[3]
    expected = [explored(one, symmetry=symmetry) for one in (size, other)]

    for name, value in (("search.WORTH_SHARING", 20), ("search.BATCH", 7), ("search.OUTBOX", 1),
                        ("store.FIRST_TABLE", 16)):  # fmt: skip
        monkeypatch.setattr(f"specs.native.{name}", value)
    found = [explored(one, symmetry=symmetry, workers=workers) for one in (size, other)]

    assert found == expected


def test_the_table_is_never_fuller_than_its_load_and_grows_by_doubling(monkeypatch):
    monkeypatch.setattr("specs.native.store.FIRST_TABLE", 16)
    monkeypatch.setattr("specs.native.search.BATCH", 1)
    seen: list[tuple[int, float]] = []

    searched(
        SmallInstance("classic", "kip_320", (("log", 1), ("records", 1))),
        report=lambda line: seen.append(_figures_of(line)),
    )

    assert max(load for _, load in seen) <= 0.75
    assert len({load for _, load in seen}) > 10


def _figures_of(line: str) -> tuple[int, float]:
    states, *_, table = line.split(", ")
    return int(states.split(" ")[0].replace(",", "")), int(table.split(" ")[1].rstrip("%")) / 100


# -- the table is exact whatever the hash does ------------------------------------------------

MASK = 2**64 - 1
NO_CODE = (0, 0, 0, 0, LANES, BLOCK)
"""Of a system without any functions."""


def _first_half(word: int) -> int:
    """What the hash makes of the first of two words, before the second is added."""
    h = word * int(table.MIX_1) & MASK
    return h ^ h >> 29


def colliding(count: int) -> Any:
    """Different states of two words that all have the same 64 bits of hash."""
    rows = [(word, (0x1234_5678_9ABC_DEF0 - _first_half(word)) & MASK) for word in range(count)]
    return np.array(rows, np.uint64).reshape(-1)


def colliding_behind_the_first(count: int) -> Any:
    """The same of three words, the first of which is the same too."""
    rows = []
    for word in range(count):
        h = (_first_half(7) + word) * int(table.MIX_2) & MASK
        rows.append((7, word, (0x0FED_CBA9_8765_4321 - (h ^ h >> 29)) & MASK))
    return np.array(rows, np.uint64).reshape(-1)


def insert(source: Any, at: int, store: StateStore, words: int) -> int:
    """Puts one state into the store as the loops do; its index."""
    h = np.uint64(table.hash_of(words, source, at))
    slot, entry = table.lookup(
        words, source, at, 1, h, store.states, store.table, 0, np.uint64(store.table.size - 1)
    )
    if entry:
        return (int(entry) & 0xFFFF_FFFF) - 1
    index = int(store.ends[0])
    store.states[index * words : (index + 1) * words] = source[at : at + words]
    store.ends[0] = index + 1
    store.table[slot] = np.uint64((int(h) >> 32) << 32 | (index + 1))
    return index


@pytest.mark.parametrize(
    ("words", "made"), [(2, colliding), (3, colliding_behind_the_first)], ids=["two", "three"]
)
def test_states_with_the_same_hash_are_kept_apart(monkeypatch, words, made):
    monkeypatch.setattr("specs.native.store.FIRST_TABLE", 512)
    states = made(300)
    store = StateStore(words, 1 << 20)

    hashes = {int(table.hash_of(words, states, words * n)) for n in range(300)}
    first = [insert(states, words * n, store, words) for n in range(300)]
    again = [insert(states, words * n, store, words) for n in range(300)]

    assert len(hashes) == 1
    assert first == again == list(range(300))
    assert store.count == 300


def test_states_with_the_same_hash_stay_apart_when_the_table_is_filled_anew(monkeypatch):
    monkeypatch.setattr("specs.native.store.FIRST_TABLE", 512)
    states, strangers = colliding(300), colliding(310)[600:]
    store = StateStore(2, 1 << 20)
    for n in range(300):
        insert(states, 2 * n, store, 2)

    store.grow()

    def index_of(source: Any, n: int) -> int:
        state = source[2 * n : 2 * n + 2].copy()
        found = driver.index_of(2, NO_CODE, state, store.states, store.table, 1, store.part)
        return int(found)

    assert store.table.size == 2048
    assert [index_of(states, n) for n in range(300)] == list(range(300))
    assert {index_of(strangers, n) for n in range(10)} == {-1}


@pytest.mark.parametrize("words", [1, 2, 3])
def test_a_table_as_full_as_it_may_be_finds_what_is_there_and_misses_what_is_not(
    monkeypatch, words
):
    monkeypatch.setattr("specs.native.store.FIRST_TABLE", 64)
    states = np.arange(words * 2000, dtype=np.uint64) % np.uint64(1999)
    store = StateStore(words, 1 << 20)

    indices = [insert(states, words * n, store, words) for n in range(store.room)]

    assert store.load == 0.75
    assert indices == list(range(store.room))
    for n in range(store.room, store.room + 500):
        state = states[words * n : words * n + words].copy()
        assert driver.index_of(words, NO_CODE, state, store.states, store.table, 1, 64) == -1


def test_different_last_words_make_different_hashes():
    rows = np.zeros((4000, 3), np.uint64)
    rows[:1000, 0] = rows[1000:2000, 1] = rows[2000:3000, 2] = np.arange(1000)
    rows[3000:, 2] = np.arange(1000, dtype=np.uint64) << np.uint64(54)
    states = np.unique(rows, axis=0)

    hashes = {int(table.hash_of(3, states.reshape(-1), 3 * n)) for n in range(len(states))}

    assert len(hashes) == len(states)


# -- sizes ------------------------------------------------------------------------------------


@pytest.mark.deep
def test_two_workers_agree_with_one_on_millions_of_states():
    size = SmallInstance("classic", "kip_320", (("log", 3), ("records", 3), ("epoch", 2)))

    alone, together = (explored(size, workers=n) for n in (1, 2))

    assert alone == together
    assert alone["distinct"] == 4_093_531


@pytest.mark.deep
def test_the_published_design_has_the_counts_that_other_programs_found():
    found = [
        explored(SmallInstance("classic", "kip_320", (("log", n), ("records", n), ("epoch", 2))))
        for n in (2, 3)
    ]

    assert [(one["distinct"], one["depth"], one["complete"]) for one in found] == [
        (737_794, 26, True),
        (4_093_531, found[1]["depth"], True),
    ]
    assert all(one["claims"]["strong_isr"]["verdict"] == "holds" for one in found)
