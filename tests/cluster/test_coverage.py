"""Every transition of `cluster` fires somewhere, and every guard is somewhere the first to fail."""

from __future__ import annotations

from typing import Any

import pytest

from specs.explorer import explore
from specs.redundant_guards import Marks, marks_of
from specs.surgery import guards_of
from tests.cluster.coverage import ROWS, CoverageRow, story_coverage, variants

PLAIN = 50_000
"""States up to which generated Python is sooner done than machine code is made."""


def test_the_rows_fire_every_transition_of_every_release_and_of_every_switch_thrown_back():
    there = {step.transition.name for one in variants() for step in one.steps}

    fired = [name for row in ROWS for name in row.brings]

    assert sorted(fired) == sorted(there)


def test_what_is_left_to_large_instances_is_shown_by_a_story():
    fired, _ = story_coverage()

    left = {name for row in ROWS if row.deep for name in row.brings} - fired

    assert left == set()


def each_row() -> list[Any]:
    return [pytest.param(row, marks=[pytest.mark.deep] if row.deep else []) for row in ROWS]


@pytest.mark.parametrize("row", each_row(), ids=str)
def test_a_row_fires_what_it_is_there_for(row: CoverageRow):
    engine = "python" if row.states <= PLAIN else "native"

    found = explore(row.recorded, row.limits, [], engine=engine)

    fired = {name for name, times in found.fired.items() if times}
    before = {name for one in ROWS[: ROWS.index(row)] for name in one.brings}
    assert (found.complete, found.distinct) == (True, row.states)
    assert fired - before == set(row.brings)


def test_each_guard_is_shown_by_a_story_to_refuse_or_the_code_says_what_implies_it():
    _, refused = story_coverage()

    left = set()
    for recorded in variants():
        silent = [one for one in guards_of(recorded) if (one.step, one.reason) not in refused]
        marks = marks_of(recorded) if silent else Marks()
        left |= {str(one) for one in silent if marks.get(one.step, one.reason)[0] is None}

    assert len(refused) > 330
    assert left == set()
