"""The chain: what `replication` does, its proof's form does too, and its invariants hold there."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model.language import all_of, implies, not_
from model.replication import SYSTEM as REPLICATION
from model.replication.history import SYSTEM as HISTORY
from model.replication.history.state import BROKERS
from specs.chain import MAP, Simulation, follow_everywhere
from specs.chain.along import NotFollowed, follow_run, random_run
from specs.chain.mapping import WITHOUT_LINE
from specs.explorer import find
from specs.invariants import invariant
from specs.proofs.no_message_loss import PROOF
from specs.verdict import Verdict

COMES_BACK = {"epoch": 1, "versions": 1, "crashes": 1, "expiries": 1}
"""A leader crashes, its session ends, and it leads its own epoch again."""

TWO_EPOCHS = {"expiries": 0}

FAR = {
    "brokers": 3, "log": 3, "records": 3, "epoch": 4, "controllers": 3, "versions": 8,
    "crashes": 3, "expiries": 5, "losses": 5}  # fmt: skip

NOT_SEEN = ("consumer_reads", "leader_acknowledges", "leader_acknowledges_for_isr")
"""Steps that change nothing of what the chain keeps."""


def test_every_transition_has_a_line_or_is_named_as_outside_of_the_chain():
    declared = {one.name for one in REPLICATION.transitions}

    assert declared == set(MAP) | set(WITHOUT_LINE)
    assert not set(MAP) & set(WITHOUT_LINE)
    assert {one.name for one in HISTORY.transitions} - {"follower_truncates_to_hw"} == {
        step for line in MAP.values() for step in line.steps
    }


def test_every_step_of_a_small_instance_is_one_of_the_proofs_form():
    result = follow_everywhere(REPLICATION.recorded(), REPLICATION.limits(COMES_BACK))

    assert (result.verdict, result.failure) == (Verdict.HOLDS, None)
    assert (result.states, result.pairs, result.edges) == (18_279, 22_755, 141_534)
    assert (result.forms, result.invariants) == (357, 67)
    assert result.taken["broker_becomes_leader", ("broker_leads_again",)] == 480
    assert sum(result.taken.values()) == result.edges


@pytest.mark.deep
@pytest.mark.parametrize(
    ("bounds", "counts"),
    [
        (TWO_EPOCHS, (53_579, 220_763, 1_587_348)),
        ({"crashes": 1, "expiries": 0}, (68_411, 318_287, 2_372_876)),
        ({"expiries": 0, "losses": 1, "epoch": 1, "versions": 3}, (76_845, 84_733, 710_632)),
    ],
)
def test_every_step_of_larger_instances_is_one_of_the_proofs_form(bounds, counts):
    result = follow_everywhere(REPLICATION.recorded(), REPLICATION.limits(bounds))

    assert (result.verdict, result.failure) == (Verdict.HOLDS, None)
    assert (result.states, result.pairs, result.edges) == counts


def test_an_end_before_all_is_followed_proves_nothing():
    result = follow_everywhere(
        REPLICATION.recorded(), REPLICATION.limits(TWO_EPOCHS), max_pairs=500
    )

    assert (result.verdict, result.pairs) == (Verdict.UNKNOWN, 500)
    assert result.stopped == "the bound of 500 pairs is reached"


@invariant("nobody leads where somebody follows", over=(BROKERS, BROKERS), why="it is false")
def nobody_leads_before_others_follow(now, one, other):
    return implies(
        now.replica[one].role == "following",
        not_(all_of(now.replica[other].role == "leading", now.log[other].end > 0)),
    )


def test_a_wrong_invariant_dies_on_a_reachable_state():
    planted = replace(PROOF, invariants=(*PROOF.invariants, nobody_leads_before_others_follow))

    result = follow_everywhere(
        REPLICATION.recorded(), REPLICATION.limits(COMES_BACK), proof=planted
    )

    assert result.verdict is Verdict.BROKEN
    assert result.failure is not None
    assert result.failure.kind == "invariant"
    assert result.failure.rule == "nobody_leads_before_others_follow"


def test_a_wrong_line_is_told_with_both_states_and_the_first_failing_reason():
    asks = replace(MAP["follower_asks_records"], steps=(), read=lambda e: [])

    result = follow_everywhere(
        REPLICATION.recorded(), REPLICATION.limits(COMES_BACK),
        lines={**MAP, "follower_asks_records": asks},
    )  # fmt: skip

    assert result.verdict is Verdict.BROKEN
    assert result.lines[0] == "replication is in"
    assert "the proof's form is in" in result.lines
    assert result.lines[-1].startswith("fetches under way were sent there: true here, false there")


def test_a_step_that_is_not_possible_there_is_told_with_its_reason():
    hasty = replace(MAP["leader_appends"], read=lambda e: MAP["leader_appends"].read(e) * 2)

    result = follow_everywhere(
        REPLICATION.recorded(), REPLICATION.limits(COMES_BACK),
        lines={**MAP, "leader_appends": hasty},
    )  # fmt: skip

    assert result.failure is not None
    assert result.failure.rule == "leader_appends then leader_appends"
    assert result.failure.why == "the line of leader_appends allows leader_appends"


# A switch thrown back, what a run needs, and where the chain ends on the shortest run that loses.
LOSING = [
    ("unclean_leader_election", True, {"versions": 3}, "no_message_loss",
     "controller_elects_leader"),
    ("isr_write_conditional", False, {"versions": 3}, "no_message_loss", "isr_write_is_executed"),
    ("lost_isr_answer_blocks", False, {"versions": 4, "losses": 1, "expiries": 0},
     "no_message_loss", "leaders know the same"),
    pytest.param("isr_join_needs_epoch_start", False, {"versions": 3, "crashes": 1},
                 "isr_holds_committed", "leader_expands_isr", marks=pytest.mark.deep),
]  # fmt: skip


@pytest.mark.parametrize(("switch", "value", "bounds", "claim", "rule"), LOSING)
def test_a_run_that_loses_a_record_is_none_of_the_proofs_form(switch, value, bounds, claim, rule):
    recorded = REPLICATION.recorded(None, {switch: value})
    limits = REPLICATION.limits(bounds)
    found, _ = find(recorded, limits, claim)

    with pytest.raises(NotFollowed, match=rule):
        follow_run(Simulation(recorded, limits), found.path(claim))


SMALL = [
    ("fetch_fencing", False, {"expiries": 0}, "the request is of the leader's epoch"),
    ("broker_epoch", False, {"expiries": 1, "crashes": 1}, "requests in flight were sent there"),
    ("leader_epoch_checked", False, {"expiries": 0}, "the leader epoch is newer"),
    ("isr_write_locks", False, {"expiries": 0}, "leaders know the same"),
    ("log_survives_crash", False, {"expiries": 0, "crashes": 1}, "a log survives the crash"),
    ("disk_lost", "by_any", {"crashes": 1}, "a disk loses nothing that was written"),
]


@pytest.mark.parametrize(("switch", "value", "bounds", "why"), SMALL)
def test_without_a_fix_some_step_is_none_of_the_proofs_form(switch, value, bounds, why):
    recorded = REPLICATION.recorded(None, {switch: value})

    result = follow_everywhere(recorded, REPLICATION.limits(bounds), max_pairs=3000)

    assert result.verdict is Verdict.BROKEN
    assert why in result.lines[-1]


@pytest.mark.parametrize("version", ["2.4", "2.7"])
def test_later_releases_have_the_same_switches_here(version):
    assert REPLICATION.recorded(version).switches == REPLICATION.recorded("2.3").switches


@pytest.fixture(scope="module")
def far() -> Simulation:
    return Simulation(REPLICATION.recorded(), REPLICATION.limits(FAR))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_run_that_is_drawn_far_beyond_the_bounds_is_followed(far, data):
    state, run = far.code.initial, []
    names = [one.step.transition.name for one in far.instances]
    for _ in range(data.draw(st.integers(0, 60), "steps")):
        possible = [one for one in far.successors(state) if one[1] != state]
        if not possible:
            break
        name = data.draw(st.sampled_from(sorted({names[number] for number, _ in possible})))
        number, state = data.draw(st.sampled_from([s for s in possible if names[s[0]] == name]))
        run.append(number)

    follow_run(far, run)


@pytest.mark.parametrize("steps", [8_000, pytest.param(300_000, marks=pytest.mark.deep)])
def test_random_runs_far_beyond_the_bounds_are_followed(far, steps):
    chance = random.Random(20261121)
    fired: Counter[str] = Counter()
    taken: Counter[str] = Counter()

    while sum(fired.values()) < steps:
        share = chance.choice((0.0, 0.1, 0.3))
        off = {name for name in MAP if chance.random() < share} | set(NOT_SEEN)
        run = random_run(far, chance, chance.choice((50, 200, 500)), fired, off)
        taken.update(follow_run(far, run))

    assert taken["leader_advances_hw"] > 0
    assert taken["isr_write_is_refused"] > 0
    assert taken["follower_truncates"] > 0
