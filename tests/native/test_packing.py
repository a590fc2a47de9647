"""Packing: every cell has its own bits, frozen cells stay put, and nothing spills over."""

from __future__ import annotations

import itertools
import random
from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.language import (
    BOOL,
    Bounded,
    ImpossibleValue,
    Numbers,
    ProtocolError,
    Record,
    when,
)
from model.systems import SYSTEMS
from specs.explorer import explore
from specs.lowering.constant_cells import ConstantCells
from specs.lowering.grounding import Grounded
from specs.lowering.packing import WORD_BITS, Packing, TooWide, width_of
from specs.native.kernel import kernel_of
from tests.language.small import BROKERS, system
from tests.native.instances import (
    BUSY,
    SMALLEST,
    THREE_BROKERS,
    Called,
    SmallInstance,
    each,
    pair_of,
    reachable,
    sizes,
)

BOUNDS = {"brokers": 2, "epoch": 2, "log": 2, "hottest": 2}
VARIED = [
    *sizes("classic"),
    SmallInstance("classic", "kip_320", (("brokers", 4), ("log", 3), ("records", 3), ("epoch", 3))),
    *sizes("election", brokers=3),
    *sizes("replication"),
    *sizes("replication", **BUSY)[-1:],
]


@lru_cache(maxsize=32)
def packing_of(size: SmallInstance) -> Packing:
    """The layout alone: larger sizes need no machine code for that."""
    system = SYSTEMS[size.system]
    recorded = system.recorded(size.version, size.changed)
    grounded = Grounded(recorded, system.limits(dict(size.bounds)))
    return Packing(grounded, ConstantCells(grounded).values)


# -- the layout -------------------------------------------------------------------------------


@each(VARIED)
def test_every_cell_that_can_change_has_bits_of_its_own_within_one_word(size):
    packing = packing_of(size)

    taken: set[tuple[int, int]] = set()
    for number, place in packing.places.items():
        bits = {(place.word, bit) for bit in range(place.shift, place.shift + place.width)}
        assert place.width == width_of(packing.grounded.cells[number])
        assert place.shift + place.width <= WORD_BITS
        assert not bits & taken
        taken |= bits
    assert len(taken) == packing.bits
    stored = set(packing.places) | set(packing.frozen)
    assert all(len(c.domain) == 1 for c in packing.grounded.cells if c.number not in stored)


@each(VARIED)
def test_the_blocks_of_all_brokers_hold_the_same_fields_in_the_same_order(size):
    packing = packing_of(size)
    cells = packing.grounded.cells

    assert len(packing.blocks) == packing.grounded.bounds["brokers"]
    for one, other in itertools.pairwise(packing.blocks):
        assert [cells[n].field.name for n in one] == [cells[n].field.name for n in other]
        first = [packing.places[n] for n in one]
        second = [packing.places[n] for n in other]
        moved = {(b.word - a.word, b.shift - a.shift) for a, b in zip(first, second, strict=True)}
        # Cells that share a word move together, so that a renaming is a few shifts.
        assert len(moved) <= len({place.word for place in first})


@each(VARIED)
@given(seed=st.integers(0, 2**32))
def test_a_state_comes_back_from_its_words_as_it_was(size, seed):
    packing, chance = packing_of(size), random.Random(seed)
    codes = tuple(
        packing.frozen.get(cell.number, chance.choice(cell.domain))
        for cell in packing.grounded.cells
    )

    words = packing.pack(codes)

    assert len(words) == packing.words
    assert all(0 <= word < 1 << WORD_BITS for word in words)
    assert packing.unpack(words) == codes


@each([SMALLEST[0], SMALLEST[5], SMALLEST[-1]])
def test_different_states_have_different_words(size):
    pair, states = pair_of(size), reachable(size)

    assert len({pair.words(state) for state in states}) == len(states)


def test_a_state_that_does_not_fit_is_refused_with_the_widths_of_its_fields():
    def appends(now, new, broker):
        """A broker appends a record, and the epoch grows."""
        new.log[broker] = now.log[broker].append(epoch=now.epoch)
        new.epoch = now.epoch + 1

    with pytest.raises(TooWide) as refused:
        explore(system(appends, broker=BROKERS), {**BOUNDS, "epoch": 3, "log": 1500})

    assert "a state takes 6024 bits and 64 words of 64 are the most" in str(refused.value)
    assert "bits by field: log.at.epoch 6000, log.end 22, epoch 2; choose smaller" in str(
        refused.value
    )


def test_a_state_is_as_wide_as_it_must_be_and_counts_are_those_of_the_plain_engine():
    def appends(now, new, broker):
        """A broker appends a record, of the next epoch if there is one."""
        new.log[broker] = now.log[broker].append(epoch=now.epoch)
        new.epoch = when(now.epoch < 2, now.epoch + 1, now.epoch)

    wide, bounds = system(appends, broker=BROKERS), {**BOUNDS, "epoch": 3, "log": 150}

    native = explore(wide, bounds, max_states=4000)
    plain = explore(wide, bounds, max_states=4000, engine="python")

    assert native.engine.words == 10
    assert native.distinct > 3000
    assert (native.distinct, native.generated, native.depth) == (
        plain.distinct, plain.generated, plain.depth,
    )  # fmt: skip


# -- frozen cells -----------------------------------------------------------------------------


@each([*SMALLEST, *THREE_BROKERS[4:5]])
def test_frozen_cells_hold_their_value_in_every_reachable_state(size):
    pair = pair_of(size)
    grounded = pair.grounded
    changed = {n for i in grounded.instances for n, v in i.writes.items() if v is not None}

    frozen = pair.packing.frozen
    for state in reachable(size):
        codes = pair.small.code.decode(state)
        assert all(codes[number] == code for number, code in frozen.items())

    assert all(grounded.initial[number] == code for number, code in frozen.items())
    assert set(range(len(grounded.cells))) - changed <= set(frozen), "what is never written"


def test_a_cell_that_only_an_impossible_step_writes_is_frozen():
    def falls(now, new):
        """The epoch returns to nought, which is where it is."""
        new.epoch = 0

    def breaks(now, new):
        """Once the epoch is one it would not be fine."""
        new.fine = now.epoch == 1

    grounded = Grounded(system(falls, breaks), BOUNDS)
    frozen = ConstantCells(grounded).values

    assert set(frozen) == set(range(len(grounded.cells)))
    assert explore(grounded.recorded, BOUNDS).distinct == 1


def test_one_step_that_can_be_taken_thaws_whatever_hangs_on_it():
    def grows(now, new):
        """The epoch grows."""
        new.epoch = now.epoch + 1

    def breaks(now, new):
        """Once the epoch is one it is fine."""
        new.fine = now.epoch == 1

    grounded = Grounded(system(grows, breaks), BOUNDS)
    frozen = ConstantCells(grounded).values

    thawed = {c.name for c in grounded.cells if c.number not in frozen}
    assert thawed == {"epoch", "fine"}


def test_a_frozen_cell_with_another_value_is_refused_by_name():
    pair = pair_of(SMALLEST[-1])
    number, code = next(iter(pair.packing.frozen.items()))
    codes = list(pair.grounded.initial)
    codes[number] = code + 1

    with pytest.raises(ProtocolError, match="never changes from"):
        pair.packing.pack(codes)


# -- values that leave their field ------------------------------------------------------------


def hotter(now, new):
    """It gets hotter, without limit."""
    new.heat = now.heat + 1
    new.epoch = 1 - 1


def colder(now, new):
    """It gets colder, without limit."""
    new.heat = now.heat - 1


def forgets(now, new, broker):
    """A broker has seen one epoch less, and less than none at last."""
    new.seen[broker] = now.seen[broker] - 1


def answers(recorded, **bounds):
    """What each engine says about a step that cannot be."""
    said = []
    for engine in ("native", "python"):
        with pytest.raises(ImpossibleValue) as refused:
            explore(recorded, {**BOUNDS, **bounds}, engine=engine)
        said.append(str(refused.value))
    return said


@pytest.mark.parametrize("hottest", [1, 2, 3, 4, 7])
def test_a_value_above_its_domain_is_impossible_in_the_same_words(hottest):
    native, python = answers(system(hotter), hottest=hottest)

    assert native == python == f"hotter(): heat would leave 0..{hottest}"


def test_a_value_below_its_domain_is_impossible_in_the_same_words():
    native, python = answers(system(colder))
    alone, alike = answers(system(forgets, broker=BROKERS), brokers=1)

    assert native == python == "colder(): heat would leave 0..2"
    assert alone == alike == "forgets(broker=1): seen[1] would leave -1..2"


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_an_impossible_value_ends_the_search_whoever_meets_it(monkeypatch, workers):
    monkeypatch.setattr("specs.native.search.WORTH_SHARING", 0)

    with pytest.raises(ImpossibleValue, match=r"hotter\(\): heat would leave 0..7"):
        explore(system(hotter), {**BOUNDS, "hottest": 7}, workers=workers)


CROWDED = Record(
    left=Numbers("left", 0, Bounded("epoch")),
    heat=Numbers("temperature", 0, Bounded("hottest"), beyond="raise"),
    right=Numbers("right", 0, Bounded("epoch")),
    fine=BOOL,
    owner=BROKERS.or_none,
)


def test_no_step_touches_the_neighbours_of_what_it_writes():
    def heats(now, new):
        """It gets hotter, as far as it can."""
        new.heat = now.heat + 1

    def moves(now, new):
        """The neighbours change places."""
        new.left, new.right = now.right, now.left

    bounds = {**BOUNDS, "hottest": 5, "epoch": 4}
    grounded = Grounded(system(heats, moves, state=CROWDED), bounds, [])
    packing = Packing(grounded, {})
    kernel = kernel_of(grounded)
    names = {c.name: c.number for c in grounded.cells}

    assert kernel.packing.frozen == {
        names[name]: 0 for name in ("left", "right", "fine", "owner")
    }  # nobody moves anything but noughts: they take no bits at all
    assert packing.words == 1
    assert Called(kernel).expand(kernel.packing.pack([0, 5, 0, 0, 0])).broken == (
        "heats(): heat would leave 0..5"
    )
    for heat in range(5):
        after = Called(kernel).expand(kernel.packing.pack([0, heat, 0, 0, 0])).successors
        assert (0, heat + 1, 0, 0, 0) in [kernel.packing.unpack(words) for words in after]


def test_a_full_field_between_full_neighbours_overflows_into_neither():
    def fills(now, new):
        """The neighbours are full."""
        new.left, new.right, new.fine, new.owner = 4, 4, True, now.owner

    def heats(now, new):
        """It gets hotter, without limit."""
        new.heat = now.heat + 1

    grounded = Grounded(
        system(fills, heats, state=CROWDED), {**BOUNDS, "hottest": 7, "epoch": 4}, []
    )
    kernel = kernel_of(grounded)
    called, packing = Called(kernel), kernel.packing

    for left, right, fine in itertools.product(range(5), range(5), (0, 1)):
        for heat in range(7):
            codes = (left, heat, right, fine, 0)
            after = {packing.unpack(w) for w in called.expand(packing.pack(codes)).successors}
            assert after == {(4, heat, 4, 1, 0), (left, heat + 1, right, fine, 0)}
        full = called.expand(packing.pack((left, 7, right, fine, 0)))
        assert full.broken == "heats(): heat would leave 0..7"
