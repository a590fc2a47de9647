"""A step that writes a map as a whole, and at one index, is exported as one function."""

from __future__ import annotations

import pytest

from model.language import (
    BLANK,
    BOOL,
    Bound,
    Enumeration,
    ProtocolError,
    Record,
    SetOf,
    System,
    Version,
    lam,
    per,
    transition,
)
from specs.tla import exported

BROKERS = Enumeration("broker", "brokers")


def forget(now, new, one):
    new.cache[one] = BLANK


def drop(now, new, one):
    new.cache = lam(BROKERS, lambda other: now.cache[other].but(
        known=now.cache[other].known.without(one)))  # fmt: skip


@transition(one=BROKERS)
def forgets_and_is_dropped(now, new, one):
    """A broker forgets all, and nobody knows it."""
    forget(now, new, one)
    drop(now, new, one)


@transition(one=BROKERS)
def is_dropped_and_forgets(now, new, one):
    """The same in the other order."""
    drop(now, new, one)
    forget(now, new, one)


def exported_of(step) -> str:
    state = Record(cache=per(BROKERS, Record(isr=SetOf(BROKERS), known=SetOf(BROKERS), busy=BOOL)))
    system = System(
        name="small", about="small", state=state, initial=lambda new: None,
        transitions=(step,), claims=(), versions={"1": Version("1", {}, "one")},
        default_version="1", bounds={"brokers": Bound(2, 1, "brokers")})  # fmt: skip
    text = exported(system.recorded(), {"brokers": 2}).module.split("Next ==")[0]
    return " ".join(text.split())


def test_what_is_written_at_the_index_stands_beside_what_all_others_keep():
    # The index of the map has a name of its own: no set is asked of its own member's cache.
    assert (
        "cache' = [broker \\in Brokers |-> "
        "[isr |-> IF one # broker THEN cache[broker].isr ELSE {}, "
        "known |-> cache[broker].known \\ {one}, "
        "busy |-> one # broker /\\ cache[broker].busy]]"
    ) in exported_of(forgets_and_is_dropped)


def test_a_map_that_is_written_at_an_index_after_it_was_written_whole_is_refused():
    with pytest.raises(ProtocolError, match=r"say both in one lam"):
        exported_of(is_dropped_and_forgets)
