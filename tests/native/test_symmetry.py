"""Symmetry over brokers: one state for each orbit, exactly; the same verdicts, the same runs."""

from __future__ import annotations

import ctypes
import itertools
import random
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.classic import SYSTEM as CLASSIC
from model.language import (
    Numbers,
    Record,
    SetOf,
    per,
)
from model.systems import SYSTEMS
from specs.explorer import explore
from specs.lowering.grounding import Grounded
from specs.lowering.llvm_terms import LANES
from specs.lowering.packing import Packing
from specs.lowering.symmetry import canonical_text, permutations, renamed_codes
from specs.native.jit import build
from specs.rendering import as_data
from tests.language.small import BROKERS, system
from tests.native.instances import (
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

BOUNDS = {"brokers": 3, "epoch": 1, "log": 1, "hottest": 1}
FOUR = SmallInstance(
    "classic", "kip_320", (("brokers", 4), ("log", 1), ("records", 1), ("epoch", 0))
)
COUNTED = [*SMALLEST[4:6], THREE_BROKERS[4], SMALLEST[-1]]
ALL_SIZES = [*SMALLEST, *THREE_BROKERS, FOUR]


def symmetric(size: SmallInstance) -> Pair:
    return pair_of(size, symmetry=True)


def canonical(pair: Pair, codes: Codes) -> tuple[int, ...]:
    """The words of the state that stands for these codes."""
    return pair.called.canonical(pair.packing.pack(codes))


# -- the canonical state ----------------------------------------------------------------------


def stands_for_its_orbit(pair: Pair, codes: Codes) -> None:
    orbit = {pair.packing.pack(one) for one in pair.renamings(codes)}
    chosen = {pair.called.canonical(words) for words in orbit}
    assert len(chosen) == 1, "all renamings of a state have the same one"
    assert chosen <= orbit, "and it is one of them"


@each(ALL_SIZES)
@given(seed=st.integers(0, 2**32), alike=st.booleans())
def test_any_state_has_one_of_its_own_renamings_to_stand_for_it(size, seed, alike):
    pair, chance = symmetric(size), random.Random(seed)
    codes = pair.random_codes(chance)
    if alike:
        codes = with_equal_blocks(pair, codes)

    stands_for_its_orbit(pair, codes)


def with_equal_blocks(pair: Pair, codes: Codes) -> Codes:
    """Two brokers with the same block: only what they say of one another tells them apart."""
    changed = list(codes)
    for one, other in zip(*pair.packing.blocks[-2:], strict=True):
        changed[one] = codes[other]
    return tuple(changed)


@each([*SMALLEST[:7], *THREE_BROKERS[:1]])
def test_every_reachable_state_is_stood_for_by_one_of_its_renamings(size):
    pair = symmetric(size)

    for state in reachable(size)[:1500]:
        stands_for_its_orbit(pair, pair.small.code.decode(state))


@lru_cache(maxsize=8)
def orbits(size: SmallInstance) -> dict[Codes, set[tuple[int, ...]]]:
    """Least renaming by plain definition -> what stands for the states of that orbit."""
    pair, found = symmetric(size), dict[Codes, set[tuple[int, ...]]]()
    for state in reachable(size):
        codes = pair.small.code.decode(state)
        found.setdefault(min(pair.renamings(codes)), set()).add(canonical(pair, codes))
    return found


@each(COUNTED)
def test_there_are_as_many_orbits_as_by_the_plain_definition_and_each_has_its_own_state(size):
    found = orbits(size)

    chosen = [one for ones in found.values() for one in ones]
    assert len(chosen) == len(set(chosen)) == len(found)
    assert by_native(size, symmetry=True).distinct == len(found)


@each(COUNTED)
def test_the_sizes_of_all_orbits_sum_to_the_plain_count(size):
    pair = symmetric(size)

    total = sum(len(set(pair.renamings(codes))) for codes in orbits(size))

    assert total >= 100
    assert total == by_native(size).distinct == len(reachable(size))


def by_native(size: SmallInstance, **more):
    chosen = SYSTEMS[size.system]
    recorded = chosen.recorded(size.version, size.changed)
    return explore(recorded, chosen.limits(dict(size.bounds)), **more)


@each([SMALLEST[0], SMALLEST[-1], FOUR])
def test_the_renaming_that_initial_states_are_held_to_is_the_plain_one(size):
    pair = symmetric(size)
    codes = pair.random_codes(random.Random(7))

    by_model = [renamed_codes(pair.grounded, codes, names) for names in permutations(pair.grounded)]

    assert by_model == pair.renamings(codes)
    assert by_model[0] == codes


# -- blocks of more than one word -------------------------------------------------------------


SPILLS = {
    "one word": [1] * 60,
    "a word and a bit": [2, *[1] * 63],
    "two words": [5] * 24,
    "the last part fits beside the first, for some": [*[5] * 24, 4, 2],
    "and for all": [*[7] * 17, 3],
}
"""Widths in bits of the fields in one broker's block."""


@pytest.mark.parametrize("widths", SPILLS.values(), ids=SPILLS)
@pytest.mark.parametrize("brokers", [2, 3])
def test_blocks_that_spill_into_other_words_still_give_exact_orbits(widths, brokers):
    parts = {f"n{at}": Numbers(f"n{at}", 0, 2**width - 1) for at, width in enumerate(widths)}
    shape = Record(block=per(BROKERS, Record(**parts)), friend=per(BROKERS, SetOf(BROKERS)))
    grounded = Grounded(system(state=shape), {**BOUNDS, "brokers": brokers}, [])
    packing, chance = Packing(grounded, {}), random.Random(len(widths))
    machine = build(canonical_text(packing), ("canonical",))
    make_least = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(
        machine.addresses["canonical"]
    )

    for _ in range(300):
        # Few bits are set, so that blocks often agree in their first word.
        codes = [int(chance.random() < 0.1) for _ in grounded.cells]
        orbit = {
            packing.pack(renamed_codes(grounded, codes, names)) for names in permutations(grounded)
        }
        planes = zip(*chance.choices(sorted(orbit), k=LANES - len(orbit)), *orbit, strict=True)
        states = (ctypes.c_uint64 * (packing.words * LANES))(*itertools.chain(*planes))
        make_least(states, LANES)
        chosen = {tuple(states[lane::LANES]) for lane in range(LANES)}
        assert len(chosen) == 1, "all renamings of a state have the same one"
        assert chosen <= orbit, "and it is one of them"


# -- the same answers -------------------------------------------------------------------------

SAME = ("complete", "depth", "never_fired", "refusals_never_first", "bounds")


def answers(reported: dict[str, Any]) -> dict[str, Any]:
    """What symmetry must not change: claims about loops are not checked on orbits."""
    claims = {n: one for n, one in reported["claims"].items() if one["kind"] != "eventually"}
    return {"claims": claims, **{key: reported[key] for key in SAME}}


@each(
    [
        *SMALLEST[:-4],
        SMALLEST[-1],
        *THREE_BROKERS[:5:4],
        *sizes("classic")[:2],
        *sizes("election", epoch=2)[:1],
    ]
)
def test_verdicts_depths_and_runs_are_the_same_with_symmetry_and_without(size):
    with_it, plain = (as_data(by_native(size, symmetry=chosen)) for chosen in (True, False))

    assert answers(with_it) == answers(plain)
    assert plain["distinct"] / 24 <= with_it["distinct"] < plain["distinct"]


@pytest.mark.parametrize(("epoch", "orbits"), [(1, 6_713), (2, 123_311)])
def test_three_replicas_have_the_orbits_that_other_programs_counted(epoch, orbits):
    size = SmallInstance("classic", "kip_320", (("epoch", epoch),))

    found = by_native(size, symmetry=True)

    assert (found.distinct, found.complete) == (orbits, True)


@pytest.mark.deep
@each([FOUR, THREE_BROKERS[-1], SmallInstance("classic", "kip_320")])
def test_larger_sizes_agree_with_the_plain_count_divided_into_orbits(size):
    pair = symmetric(size)
    states = reachable(size)

    found = {min(pair.renamings(pair.small.code.decode(state))) for state in states}

    assert len(found) == by_native(size, symmetry=True).distinct
    assert sum(len(set(pair.renamings(codes))) for codes in found) == len(states)


@pytest.mark.deep
@each([*SMALLEST[-4:-1], *THREE_BROKERS, *sizes("classic"), *sizes("replication", crashes=1)])
def test_larger_sizes_have_the_same_answers(size):
    with_it, plain = (as_data(by_native(size, symmetry=chosen)) for chosen in (True, False))

    assert answers(with_it) == answers(plain)


@pytest.mark.deep
@pytest.mark.parametrize("design", list(CLASSIC.versions))
def test_every_design_has_the_same_answers_with_two_epochs(design):
    size = SmallInstance("classic", design, (("epoch", 2),))

    with_it, plain = (as_data(by_native(size, symmetry=chosen)) for chosen in (True, False))

    assert answers(with_it) == answers(plain)
