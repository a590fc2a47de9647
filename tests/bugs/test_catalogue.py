"""The catalogue: every entry is shown or excused, and every switch has a use."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from conformance.mapping import MAPPED, map_of
from model.bugs import HISTORIC_BUGS, HistoricBug, entry
from model.bugs.known import known_for
from model.language import ProtocolError
from model.systems import SYSTEMS
from model.versions import LINES, RELEASES, SWITCHES
from specs.explorer import explore
from tests.specs.planted import BUGS

OF_THE_SHEET = 48
WENT_BACK = {
    "leaving_leader_is_notified",  # 1.1, fixed in 2.1
    "preferred_leaders_stay",  # 1.1 elects them again, 2.2 does not
    "fetch_session_caches_epoch",  # nothing to cache before 2.1, fixed in 2.5
    "requests_read_again",  # 1.1 wrote from memory, 2.4 reads again
}
SHOWN = [one for one in HISTORIC_BUGS if one.shown]


def ids(one: HistoricBug) -> str:
    return one.id


def test_the_entries_are_those_of_the_sheet_each_once_and_then_what_was_added():
    assert len(HISTORIC_BUGS) >= OF_THE_SHEET
    assert [one.number for one in HISTORIC_BUGS] == list(range(1, len(HISTORIC_BUGS) + 1))
    assert len({name for one in HISTORIC_BUGS for name in one.names}) == sum(
        len(one.names) for one in HISTORIC_BUGS
    )


@pytest.mark.parametrize("one", HISTORIC_BUGS, ids=ids)
def test_every_entry_is_either_shown_or_excused(one):
    assert (one.shown is None) == bool(one.excuse)
    assert all((one.title, one.story, one.fixed_in, one.breaks))
    assert one.flag or one.number > OF_THE_SHEET


@pytest.mark.parametrize("one", SHOWN, ids=ids)
def test_what_shows_an_entry_differs_from_its_fix_in_what_is_thrown_back_and_nothing_else(one):
    broken, fixed = one.shown.broken(), one.shown.as_fixed()

    changed = {name for name in broken.switches if broken.switches[name] != fixed.switches[name]}
    assert changed == (set(one.shown.reverted) or {"design"})
    assert one.shown.claim == one.breaks
    assert one.shown.claim in set(broken.claims) & set(fixed.claims)


@pytest.mark.parametrize("one", SHOWN, ids=ids)
def test_a_switch_is_thrown_back_and_never_forward(one):
    fixed = one.shown.as_fixed().switches

    for name, value in one.shown.reverted.items():
        order = SWITCHES[name].values
        assert order.index(value) < order.index(fixed[name])


STORIES = [
    path.read_text(encoding="utf-8")
    for path in sorted((Path(__file__).parents[2] / "specs" / "stories").glob("*.story"))
]


def test_every_switch_is_an_entrys_or_breaks_a_claim_or_differs_in_a_release():
    reverted = {name for one in SHOWN if one.shown for name in one.shown.reverted}
    differing = {
        name for name in SWITCHES if len({values[name] for _, values in RELEASES.values()}) > 1
    }
    differing |= {name for _, _, apart in LINES.values() for name in apart}
    planted = {
        name for bugs in BUGS.values() for bug in bugs for name in (*bug.without, *bug.changed)
    }
    used_by_a_system = {name for system in SYSTEMS.values() for name in system.switches}

    released = {name for system in MAPPED for name in map_of(system).switches}

    # A design that no release has: a story shows what it prevents.
    designs = {name for name in SWITCHES for text in STORIES if f"{name}=" in text}

    assert set(SWITCHES) <= reverted | differing | planted | released | designs
    assert reverted <= used_by_a_system


def test_no_release_goes_back_behind_an_earlier_one():
    for (_, before), (_, after) in pairwise(RELEASES.values()):
        for name in set(SWITCHES) - WENT_BACK:
            order = SWITCHES[name].values
            assert order.index(after[name]) >= order.index(before[name]), name


def test_an_entry_answers_to_its_number_its_id_and_each_source_behind_it():
    assert entry("17") is entry("kafka-1188") is entry("KAFKA-1188")
    assert entry("KAFKA-6361") is entry("KIP-279")


def test_an_unknown_entry_is_refused_with_the_nearest():
    with pytest.raises(ProtocolError, match="did you mean 'KAFKA-1188'"):
        entry("KAFKA-1189")


@pytest.mark.parametrize(
    ("name", "claim", "states", "depth"),
    [
        ("election", "single_controller", 31_072, 23),
        ("replication", "no_message_loss", 589_749, 40),
    ],
)
def test_what_history_once_had_adds_no_state_to_the_default_version(name, claim, states, depth):
    system = SYSTEMS[name]

    found = explore(system.recorded(), system.limits({}), [claim])

    assert (found.distinct, found.depth, found.complete) == (states, depth, True)


def test_every_release_with_a_bug_of_the_zoo_is_known_for_it():
    shown = {(one.shown.system, one.shown.claim) for one in HISTORIC_BUGS if one.shown is not None}

    missed = [
        one.id
        for one in HISTORIC_BUGS
        if one.shown is not None and known_for(one.shown.broken(), one.shown.claim) is None
    ]
    known_as_fixed = [
        one.id
        for one in HISTORIC_BUGS
        if one.shown is not None
        and (known := known_for(one.shown.as_fixed(), one.shown.claim)) is not None
        and known.entry is one
    ]

    assert shown
    assert missed == []
    assert known_as_fixed == []
