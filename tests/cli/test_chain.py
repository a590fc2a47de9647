"""`insync prove --chain`: from what is explored to what is proved."""

from __future__ import annotations

import pytest

import specs.chain

SMALL = ({"epoch": 1, "versions": 1, "crashes": 0, "expiries": 0},)


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(specs.chain, "QUICK", SMALL)


def test_the_chain_holds_and_counts_what_it_followed(small, answer):
    code, found = answer("prove --chain")

    (claim,), (followed,) = found["claims"], found["chain"]
    assert (code, found["verdict"]) == (0, "holds")
    assert (claim["claim"], claim["verdict"]) == ("elections_are_as_assumed", "holds")
    assert claim["obligations"] == len(found["obligations"])
    assert (followed["verdict"], followed["invariants"], followed["failure"]) == ("holds", 67, None)
    assert followed["edges"] == sum(one["edges"] for one in followed["transitions"]) > 0


def test_each_tells_what_every_transition_is(small, insync):
    told = insync("prove --chain --each")

    assert told.exit_code == 0
    assert "leader_learns_end then" in told.stdout
    assert "the furthest offset says all" in told.stdout


def test_a_step_that_is_none_is_broken_with_both_states_and_the_reason(monkeypatch, insync):
    monkeypatch.setattr(specs.chain, "QUICK", ({"expiries": 0, "losses": 1},))

    told = insync("prove --chain --without fetch_fencing")

    assert told.exit_code == 1
    assert "the proof's form is in" in told.stdout
    assert "the request is of the leader's epoch — false" in told.stdout


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("prove --deep", "--deep goes with --chain"),
        ("prove single_controller --chain", "a claim's name does not go with --chain"),
        ("prove --chain --all", "--all does not go with --chain"),
        ("prove --chain --brokers 3", "--brokers does not go with --chain"),
    ],
)
def test_what_does_not_go_together_is_wrong_use(line, why, insync):
    told = insync(line)

    assert told.exit_code == 64
    assert why in told.output
