"""Any run that an engine finds becomes a story, which plays to the same end."""

from __future__ import annotations

from typing import Any

import pytest

from model.election import SYSTEM as ELECTION
from model.systems import SYSTEMS
from specs.explorer import DEADLOCK, find
from specs.runs import Run
from specs.story import parse, play, story_from_run
from specs.verdict import Verdict
from tests.specs.planted import BUGS, Bug

SLOW = 20


def each_run() -> list[Any]:
    cases = []
    for (system, claim), bugs in BUGS.items():
        for number, bug in enumerate(bugs):
            if bug.depth is not None:
                slow = system == "replication" and bug.depth >= SLOW
                slow = slow or (system == "cluster" and not bug.plain)
                marks = [pytest.mark.deep] if slow else []
                name = f"{system}-{claim}-{number}"
                cases.append(pytest.param(system, claim, bug, id=name, marks=marks))
    return cases


@pytest.mark.parametrize(("system", "claim", "bug"), each_run())
def test_the_run_to_a_planted_bug_becomes_a_story_that_plays(system: str, claim: str, bug: Bug):
    planted = bug.planted(system)
    engine = "python" if bug.plain else "native"
    _, run = find(planted, SYSTEMS[system].limits(bug.bounds), claim, engine=engine)
    assert run is not None

    text = story_from_run(run, planted)
    outcome = play(parse(text), planted)

    assert outcome.failed is None
    assert outcome.verdict is Verdict.HOLDS
    assert outcome.steps == len(run.steps)
    assert settles(outcome.lines[0], run)


def settles(told: list[str], run: Run) -> bool:
    """Does the story end by telling what the run was looked for?"""
    if run.loop is None:
        return any(line.startswith(f"{run.claim}: broken") for line in told)
    closed = run.loop == len(run.steps) or "the state is the one marked here" in told
    return closed and any(line.startswith(f"{run.claim}: not so here") for line in told)


def test_the_lines_of_a_run_are_the_lines_of_its_story():
    recorded = ELECTION.recorded("2.0")
    _, run = find(recorded, ELECTION.limits({}), "single_writer")
    assert run is not None

    told = parse(story_from_run(run)).scenes[0].told

    assert told[0] == "broker_connects(broker=1)"
    wanted = [line for step in run.steps for line in step.lines]
    assert [line.strip() for line in told if line.startswith("    ")][: len(wanted)] == wanted


def test_a_run_that_reaches_a_sometimes_is_a_story_too():
    _, run = find(ELECTION.recorded(), ELECTION.limits({}), "zombies_overlap")
    assert run is not None

    told = parse(story_from_run(run)).scenes[0].told

    assert any(line.startswith("zombies_overlap: so it is") for line in told)


def test_a_run_into_a_dead_end_is_a_story_too():
    model = SYSTEMS["classic"]
    bounds = model.limits({"brokers": 1, "log": 1, "records": 1, "epoch": 0})
    _, run = find(model.recorded(), bounds, DEADLOCK)
    assert run is not None

    told = parse(story_from_run(run)).scenes[0].told

    assert told[-1] == "nothing is possible"
