"""Every transition of `cluster` fires somewhere, and every guard is somewhere the first to fail."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from specs.explorer import Exploration, explore
from specs.redundant_guards import Marks, marks_of
from specs.surgery import guards_of
from tests.cluster.coverage import ROWS, CoverageRow, variants
from tests.story.shown import refused_in, taken_in

PLAIN = 50_000
"""States up to which generated Python is sooner done than machine code is made."""


@functools.cache
def explored(row: CoverageRow) -> Exploration:
    engine = "python" if row.states <= PLAIN else "native"
    return explore(row.recorded, row.limits, [], engine=engine)


def each_row() -> list[Any]:
    return [pytest.param(row, marks=[pytest.mark.deep] if row.deep else []) for row in ROWS]


@pytest.mark.parametrize("row", each_row(), ids=str)
def test_a_row_has_these_states_and_fires_what_it_is_there_for(row: CoverageRow):
    found = explored(row)

    assert (found.complete, found.distinct) == (True, row.states)
    assert found.fired[row.fires]


def test_small_rows_and_stories_fire_every_transition_of_every_release_and_switch():
    there = {step.transition.name for one in variants() for step in one.steps}
    fired = taken_in("cluster")

    for row in (one for one in ROWS if not one.deep):
        fired |= {name for name, times in explored(row).fired.items() if times}

    assert there - fired == set()


def test_each_guard_is_shown_by_a_story_to_refuse_or_the_code_says_what_implies_it():
    refused = refused_in("cluster")

    left = set()
    for recorded in variants():
        silent = [one for one in guards_of(recorded) if (one.step, one.reason) not in refused]
        marks = marks_of(recorded) if silent else Marks()
        left |= {str(one) for one in silent if marks.get(one.step, one.reason)[0] is None}

    assert len(refused) > 330
    assert left == set()
