"""Any run that an engine finds becomes a story, which plays to the same end."""

from __future__ import annotations

from typing import Any

import pytest

from model.election import SYSTEM as ELECTION
from model.systems import SYSTEMS
from specs.explorer import DEADLOCK, find
from specs.story import parse, story_from_run
from tests.specs.following import becomes_a_story_that_plays
from tests.specs.planted import BUGS, Bug


def left_out_there() -> list[Any]:
    """Bugs that tests/specs/test_planted_bugs.py, which asks this of all others, leaves to --deep.

    What takes long there is to look at the whole graph without the bug. Two are enough here.
    """
    found = [
        pytest.param(system, claim, bug, id=f"{system}-{claim}-{number}")
        for (system, claim), bugs in BUGS.items()
        for number, bug in enumerate(bugs)
        if system == "reassignment" and not bug.plain and bug.depth is not None
    ]
    rest = [
        pytest.param(*one.values, id=one.id, marks=pytest.mark.deep)
        for one in found[2:]
    ]  # fmt: skip
    return found[:2] + rest


@pytest.mark.parametrize(("system", "claim", "bug"), left_out_there())
def test_the_run_to_a_planted_bug_becomes_a_story_that_plays(system: str, claim: str, bug: Bug):
    planted = bug.planted(system)
    _, run = find(planted, SYSTEMS[system].limits(bug.bounds), claim)

    assert run is not None
    assert becomes_a_story_that_plays(planted, run)


def test_the_lines_of_a_run_are_the_lines_of_its_story():
    recorded = ELECTION.recorded("2.0")
    _, run = find(recorded, ELECTION.limits({}), "single_writer")
    assert run is not None

    reported = parse(story_from_run(run)).scenes[0].output

    assert reported[0] == "broker_connects(broker=1)"
    wanted = [line for step in run.steps for line in step.lines]
    assert [line.strip() for line in reported if line.startswith("    ")][: len(wanted)] == wanted


def test_a_run_that_reaches_a_sometimes_is_a_story_too():
    _, run = find(
        ELECTION.recorded(), ELECTION.limits({}), "two_brokers_believe_they_are_controller"
    )
    assert run is not None

    reported = parse(story_from_run(run)).scenes[0].output

    assert any(
        line.startswith("two_brokers_believe_they_are_controller: so it is") for line in reported
    )


def test_a_run_into_a_dead_end_is_a_story_too():
    model = SYSTEMS["classic"]
    bounds = model.limits({"brokers": 1, "log": 1, "records": 1, "epoch": 0})
    _, run = find(model.recorded(), bounds, DEADLOCK)
    assert run is not None

    reported = parse(story_from_run(run)).scenes[0].output

    assert reported[-1] == "nothing is possible"
