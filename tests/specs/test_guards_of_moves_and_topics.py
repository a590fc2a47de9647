"""What each guard of `reassignment` and of `topics` is for, in every release: a story tells how it
refuses, a claim breaks without it, or the code says why another guard implies it."""

from __future__ import annotations

import pytest

from model.reassignment import SYSTEM as REASSIGNMENT
from model.systems import SYSTEMS
from model.topics import SYSTEM as TOPICS
from specs.redundant_guards import marks_of
from specs.surgery import Guard, guards_of
from tests.story.shown import refused_in, taken_in
from tests.topics.test_fences import FENCE, STEPS

CLAIMED = {"topics": {Guard(step, FENCE) for step in STEPS}, "reassignment": set[Guard]()}
"""Guards that a claim is for: tests/topics/test_fences.py has the runs that break it."""

RELEASES = [(one.name, version) for one in (REASSIGNMENT, TOPICS) for version in one.versions]


@pytest.mark.parametrize(("system", "version"), RELEASES)
def test_each_guard_is_covered_by_a_story_or_marked_or_a_claim_breaks_without_it(system, version):
    recorded = SYSTEMS[system].recorded(version)
    shown, marks = refused_in(system), marks_of(recorded)

    left = [
        guard for guard in guards_of(recorded)
        if (guard.step, guard.reason) not in shown
        and guard not in CLAIMED[system]
        and marks.get(guard.step, guard.reason)[0] is None
    ]  # fmt: skip

    assert len(shown) > 150
    assert left == []


def test_stories_tell_what_most_guards_refuse_and_marks_are_few():
    recorded = REASSIGNMENT.recorded()
    guards = guards_of(recorded)

    by_story = [one for one in guards if (one.step, one.reason) in refused_in("reassignment")]

    assert len(guards) == 351
    assert len(by_story) > 300


@pytest.mark.parametrize("system", ["reassignment", "topics"])
def test_each_transition_of_any_release_is_taken_in_a_story(system):
    transitions = {one.name for one in SYSTEMS[system].transitions}

    assert transitions - taken_in(system) == set()
