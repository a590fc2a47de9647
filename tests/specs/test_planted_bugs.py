"""Every claim can fail: each has a planted bug that breaks it, in a run that the twin follows."""

from __future__ import annotations

import functools
import sys
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from model.election import SYSTEM as ELECTION
from model.language import always
from model.systems import SYSTEMS
from specs.explorer import Exploration, explore, find, with_companions
from specs.verdict import Verdict
from tests.specs.following import becomes_a_story_that_plays, settles_in_its_last_state_only
from tests.specs.planted import BUGS, Bug

CLAIMS = [(name, one.name) for name, model in SYSTEMS.items() for one in model.claims]
SLOW = {"replication": 20, "cluster": 25}
"""Runs as long as this take more than a few seconds to find there."""


def each_bug() -> list[Any]:
    """The deepest of each system first: what is explored beside them then does for the others."""
    cases = []
    deepest = sorted(BUGS.items(), key=lambda one: (one[0][0], -max(b.depth or 0 for b in one[1])))
    for (system, claim), bugs in deepest:
        for number, bug in enumerate(bugs):
            long = (bug.depth or 0) >= SLOW.get(system, sys.maxsize)
            # A claim that can fail has been shown to; its other bugs run with --deep.
            slow = long or number or (system in ("cluster", "reassignment") and not bug.plain)
            cases.append(
                pytest.param(
                    system, claim, bug,
                    id=f"{system}-{claim}-{number}", marks=[pytest.mark.deep] if slow else [],
                )
            )  # fmt: skip
    return cases


@pytest.mark.parametrize(("system", "claim"), CLAIMS)
def test_every_claim_has_a_planted_bug(system, claim):
    assert BUGS.get((system, claim)), (
        f"{claim} of {system} is a check that cannot fail until tests/specs/planted.py has a bug "
        "that breaks it: a switch reverted, or one requirement dropped"
    )


def test_a_claim_that_is_added_without_a_bug_is_noticed():
    @always("nothing much", companion="two_brokers_believe_they_are_controller")
    def nothing_much(now):
        return now.zk.epoch >= 0

    more = replace(ELECTION, claims=(*ELECTION.claims, nothing_much))

    assert [one.name for one in more.claims if not BUGS.get(("election", one.name))] == [
        "nothing_much"
    ]


def test_no_bug_is_planted_for_a_claim_that_is_gone():
    assert set(BUGS) == set(CLAIMS)


@pytest.mark.parametrize(("system", "claim", "bug"), each_bug())
def test_the_planted_bug_breaks_the_claim_by_a_run_that_twin_and_story_follow(system, claim, bug):
    bounds, planted = SYSTEMS[system].limits(bug.bounds), bug.planted(system)

    found, run = find(planted, bounds, claim, engine=engine(bug))

    assert found.claims[claim].verdict is Verdict.BROKEN
    assert (None if run is None else run.depth) == bug.depth
    assert run is None or settles_in_its_last_state_only(found, run)
    assert run is None or becomes_a_story_that_plays(planted, run)
    assert healthy(system, claim, bug, found.distinct)


def engine(bug: Bug) -> str:
    return "python" if bug.plain else "native"


def healthy(system: str, claim: str, bug: Bug, states: int) -> bool:
    """Without the bug an `always` is not broken in as many states, a `sometimes` is reached."""
    model = SYSTEMS[system]
    if bug.depth is None:
        own = model.recorded(bug.version if bug.missing else None)
        found, _ = find(own, model.limits({}), claim, engine=engine(bug))
        return found.claims[claim].verdict is Verdict.HOLDS
    return sound(bug_world(system, claim, bug), states).claims[claim].verdict is not Verdict.BROKEN


class BugWorld(NamedTuple):
    """What bugs have in common that one exploration without any of them can answer for."""

    system: str
    engine: str
    bounds: tuple[tuple[str, int], ...]
    ghosts_dropped: frozenset[str]


def bug_world(system: str, claim: str, bug: Bug) -> BugWorld:
    model = SYSTEMS[system]
    recorded, bounds = model.recorded(), model.limits(bug.bounds)
    judged = [recorded.claim(name)[1] for name in with_companions(recorded, [claim])]
    dropped = frozenset(set(recorded.fields) - recorded.fields_needed(judged, bounds))
    return BugWorld(system, engine(bug), tuple(sorted(bounds.items())), dropped)


@functools.cache
def claims_by_world() -> dict[BugWorld, list[str]]:
    """The claims with bugs that are found in a world, each once."""
    found: dict[BugWorld, dict[str, None]] = {}
    for (system, claim), bugs in BUGS.items():
        for bug in bugs:
            if bug.depth is not None:
                found.setdefault(bug_world(system, claim, bug), {})[claim] = None
    return {world: list(claims) for world, claims in found.items()}


EXPLORED: dict[BugWorld, tuple[int, Exploration]] = {}
"""The largest exploration of each world so far, and how many states it was to have."""


def sound(world: BugWorld, states: int) -> Exploration:
    """The system without a bug, explored for at least so many states or whole."""
    asked, found = EXPLORED.get(world, (0, None))
    if found is None or (not found.complete and asked < states):
        asked = max(states, 2 * asked)
        model = SYSTEMS[world.system]
        found = explore(
            model.recorded(), dict(world.bounds), claims_by_world()[world], asked,
            engine=world.engine,
        )  # fmt: skip
        EXPLORED[world] = asked, found
    return found
