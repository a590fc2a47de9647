"""Generated Python and the dumb twin agree in both directions, on every system."""

from __future__ import annotations

from typing import Any

import pytest

from model.classic import SYSTEM as CLASSIC
from model.election import SYSTEM as ELECTION
from model.language.evaluate import BeyondBound
from model.replication import SYSTEM as REPLICATION
from tests.language.sampling import Small

TINY = {"log": 1, "records": 1, "epoch": 1}
BUSY = {"controllers": 3, "epoch": 4, "versions": 6, "crashes": 2, "expiries": 3, "losses": 2}


ALWAYS_SO = {"becomes_follower: the cut is within the follower's log"}
"""In kip_279 the cut ends what is shared: the published rule is kept, though it never refuses."""


def agree(small: Small, states: list[Any]) -> None:
    """On these states: same enabled steps, successors, first failing reasons and claims."""
    for state in states:
        read, nexts = small.sparse(state), small.successors(state)
        for claim, holds in small.code.claims.items():
            assert holds(state) == small.twin.holds(claim, read), claim
        for instance in small.grounded.instances:
            arguments = small.arguments(instance)
            refused = small.twin.possible(instance.step, read, arguments)
            position = small.code.first_refusal(instance, state)
            first = None if position is None else instance.requires[position][1]
            reason = None if first is None else small.grounded.reasons[first][1]
            assert reason == (None if refused is None else refused.reason), instance.label
            after = nexts.get(instance.number)
            assert small.code.attempt(instance, state) == after, instance.label
            if refused is not None:
                assert after is None, instance.label
                continue
            try:
                expected = small.kept(small.twin.successor(instance.step, read, arguments))
            except BeyondBound:
                assert after is None, f"{instance.label} is beyond a bound"
            else:
                assert after is not None, f"{instance.label} is within the bounds"
                assert small.sparse(after) == expected, instance.label


def agree_on_a_sample(small: Small, seed: int, each: int, twists: int = 6000) -> None:
    """The same on seeded states in which every step is possible and every reason refuses."""
    states = small.covering(seed, walks=300, each=each, twists=twists)
    assert small.uncovered(states) <= ALWAYS_SO
    agree(small, states)


@pytest.mark.parametrize("design", list(CLASSIC.versions))
def test_the_twin_agrees_on_every_state_of_two_replicas(design):
    small = Small(CLASSIC, design, {**TINY, "brokers": 2})

    agree(small, small.reachable(10**6))


@pytest.mark.parametrize("design", list(CLASSIC.versions))
def test_the_twin_agrees_on_walks_of_three_replicas_with_two_records(design):
    agree_on_a_sample(Small(CLASSIC, design, {}), seed=1, each=20)


def test_the_twin_agrees_on_every_state_of_an_election_with_one_epoch():
    small = Small(ELECTION, None, {"brokers": 2, "epoch": 1})

    agree(small, small.reachable(10**6))


@pytest.mark.parametrize(
    "changed",
    [{}, {"zk_writes_fenced": False}, {"requests_fenced": False}, {"broker_epoch": False}],
    ids=["all fenced", "writes unfenced", "requests unfenced", "brokers forget"],
)
def test_the_twin_agrees_on_walks_of_an_election_with_two_epochs(changed):
    agree_on_a_sample(Small(ELECTION, None, {"brokers": 2, "epoch": 2}, changed), seed=2, each=20)


@pytest.mark.parametrize("version", ["0.10", "2.3"])
def test_the_twin_agrees_on_walks_of_replication(version):
    agree_on_a_sample(Small(REPLICATION, version, BUSY), seed=3, each=4)


@pytest.mark.deep
@pytest.mark.parametrize("design", list(CLASSIC.versions))
def test_the_twin_agrees_on_every_state_of_three_replicas(design):
    small = Small(CLASSIC, design, TINY)

    agree(small, small.reachable(10**6))


@pytest.mark.deep
def test_the_twin_agrees_on_the_first_states_of_an_election_with_two_epochs():
    small = Small(ELECTION, None, {"brokers": 2, "epoch": 2})

    agree(small, small.reachable(10_000))


@pytest.mark.deep
@pytest.mark.parametrize("version", list(REPLICATION.versions))
def test_the_twin_agrees_on_long_walks_of_replication(version):
    small = Small(REPLICATION, version, {**BUSY, "log": 2, "records": 2})

    agree_on_a_sample(small, seed=4, each=60, twists=60_000)
