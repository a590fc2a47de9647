"""What each guard of `reassignment` and of `topics` is for, in every release: a story tells how it
refuses, a claim breaks without it, or the code says why another guard implies it."""

from __future__ import annotations

import functools
import re

import pytest

from model.reassignment import SYSTEM as REASSIGNMENT
from model.systems import SYSTEMS
from model.topics import SYSTEM as TOPICS
from specs.redundant_guards import marks_of
from specs.surgery import Guard, guards_of
from tests.story.test_stories import STORIES
from tests.topics.test_fences import FENCE, STEPS

CLAIMED = {"topics": {Guard(step, FENCE) for step in STEPS}, "reassignment": set[Guard]()}
"""Guards that a claim is for: tests/topics/test_fences.py has the runs that break it."""

RELEASES = [(one.name, version) for one in (REASSIGNMENT, TOPICS) for version in one.versions]


@functools.lru_cache(maxsize=2)
def refusals_of(system: str) -> set[tuple[str, str]]:
    """(step, reason) of every refusal that a story of the system tells."""
    found: set[tuple[str, str]] = set()
    for path in STORIES:
        text = path.read_text(encoding="utf-8")
        if f"\nsystem {system} " in text:
            found |= set(re.findall(r"(?m)^refused (\w+)\(.*\)\n    (.*?) — false", text))
    return found


@pytest.mark.parametrize(("system", "version"), RELEASES)
def test_each_guard_is_covered_by_a_story_or_marked_or_a_claim_breaks_without_it(system, version):
    recorded = SYSTEMS[system].recorded(version)
    shown, marks = refusals_of(system), marks_of(recorded)

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

    by_story = [one for one in guards if (one.step, one.reason) in refusals_of("reassignment")]

    assert len(guards) == 351
    assert len(by_story) > 300


def taken(system: str) -> set[str]:
    """Every transition that a story of the system takes, shown or quietly."""
    found: set[str] = set()
    for path in STORIES:
        text = path.read_text(encoding="utf-8")
        if f"\nsystem {system} " in text:
            found |= set(re.findall(r"(?m)^(?:quietly )?(\w+)(?: \w+=| *#|$)", text))
    return found


@pytest.mark.parametrize("system", ["reassignment", "topics"])
def test_each_transition_of_any_release_is_taken_in_a_story(system):
    transitions = {one.name for one in SYSTEMS[system].transitions}

    assert transitions - taken(system) == set()
