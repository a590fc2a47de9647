"""`insync find`: shortest runs, and what is said where there is none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.election import SYSTEM as ELECTION
from model.election.state import BROKERS
from model.language import always_eventually, some, sometimes
from model.systems import SYSTEMS

CONTRACT = [
    "claim", "system", "version", "without", "bounds", "verdict", "steps", "loop", "replay",
]  # fmt: skip


@pytest.mark.parametrize(("version", "depth"), [("hw_truncation", 9), ("kip_101", 12)])
def test_a_broken_design_is_shown_by_its_shortest_run(answer, version, depth):
    code, run = answer(f"find strong_isr classic --version {version}")

    assert (code, run["verdict"], run["depth"]) == (1, "broken", depth)
    assert len(run["steps"]) == depth - 1
    assert [key for key in CONTRACT if key not in run] == []
    assert run["loop"] is None


def test_the_first_try_of_kip_320_breaks_one_epoch_later(answer):
    code, run = answer("find strong_isr classic --version kip_320_first_try --bound epoch=2")

    assert (code, run["verdict"], run["depth"]) == (1, "broken", 13)


def test_a_run_is_reported_in_english_step_by_step_and_can_be_replayed(insync):
    result = insync("find single_writer election --without zk_writes_fenced")

    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert lines[0] == "single_writer of election 2.3 without zk_writes_fenced"
    assert lines[1] == "  ZooKeeper accepts no controller write from an older controller epoch"
    assert lines[2] == "broken after 10 steps (brokers=2, epoch=2, writes=1)"
    assert "10  write_is_applied(broker=1)" in lines
    assert "        stale_write: false → true" in lines
    assert lines[-1] == (
        "again: insync find single_writer election --version 2.3 --without zk_writes_fenced "
        "--brokers 2 --bound epoch=2 --bound writes=1"
    )


def test_the_line_under_a_run_tells_the_same_run_again(insync):
    first = insync("find two_brokers_believe_they_are_controller election").stdout

    again = insync(first.splitlines()[-1].removeprefix("again: insync ")).stdout

    def without_seconds(text: str) -> list[str]:
        return [line for line in text.splitlines() if not line.startswith("no run is shorter")]

    assert without_seconds(again) == without_seconds(first)


def test_a_claim_that_holds_says_within_what_and_after_how_many_states(insync, answer):
    result = insync("find strong_isr classic")
    code, found = answer("find strong_isr classic")

    assert "holds (brokers=3, log=2, records=2, epoch=1): all 39,619 states" in result.stdout
    assert (code, found["verdict"], found["steps"], found["depth"]) == (0, "holds", [], None)
    assert found["complete"]
    assert [key for key in CONTRACT if key not in found] == []


def test_what_can_happen_is_reached_by_a_run(insync, answer):
    result = insync("find two_brokers_believe_they_are_controller election")
    code, found = answer("find two_brokers_believe_they_are_controller election")

    assert "holds: reached after 9 steps" in result.stdout
    assert (code, found["verdict"], len(found["steps"])) == (0, "holds", 9)


def test_what_can_not_happen_within_the_bounds_is_broken(insync, answer):
    result = insync("find two_brokers_believe_they_are_controller election --brokers 1")
    code, found = answer("find two_brokers_believe_they_are_controller election --brokers 1")

    assert "broken (no reachable state within the bounds; brokers=1" in result.stdout
    assert (code, found["verdict"], found["steps"]) == (1, "broken", [])


def test_a_state_reached_at_once_needs_no_step(insync, monkeypatch):
    @sometimes("nobody is the controller")
    def nobody_is(now):
        return now.zk.epoch == 0

    more = replace(ELECTION, claims=(*ELECTION.claims, nobody_is))
    monkeypatch.setitem(SYSTEMS, "election", more)

    result = insync("find nobody_is election")

    assert result.exit_code == 0
    assert "reached after 0 steps" in result.stdout
    assert "in the initial state" in result.stdout


def test_a_vacuous_claim_is_unknown(answer):
    code, found = answer("find single_writer election --brokers 1")

    assert (code, found["verdict"]) == (2, "unknown")
    assert found["why"] == "vacuous: a_deposed_controller_has_a_write_in_flight is never reached"


def test_giving_up_is_unknown_and_the_line_to_repeat_gives_up_at_the_same_place(answer):
    code, found = answer("find strong_isr classic --max-states 10")

    assert (code, found["verdict"], found["distinct"]) == (2, "unknown", 7)  # whole levels only
    assert found["replay"].endswith(" --max-states 10")


@always_eventually("somebody is the controller in the end", fair=("broker_wins_election",))
def somebody_wins(now):
    return now.zk.epoch > 0


@always_eventually("a broker has a session in the end", fair=("broker_reads_epoch",))
def somebody_has_a_session(now):
    return some(BROKERS, lambda broker: now.session[broker])


@always_eventually("a broker has read the epoch", fair=("broker_connects", "broker_reads_epoch"))
def somebody_has_read(now):
    return some(BROKERS, lambda broker: now.read[broker].done)


@pytest.fixture
def with_eventuallys(monkeypatch):
    more = (somebody_wins, somebody_has_a_session, somebody_has_read)
    monkeypatch.setitem(SYSTEMS, "election", replace(ELECTION, claims=(*ELECTION.claims, *more)))


def test_a_run_that_may_stay_without_it_breaks_an_eventually(insync, answer, with_eventuallys):
    result = insync("find somebody_has_a_session election")
    code, found = answer("find somebody_has_a_session election")

    assert "broken after 0 steps, for ever" in result.stdout
    assert (code, found["verdict"], found["steps"], found["loop"]) == (1, "broken", [], 0)


def test_a_run_into_a_loop_breaks_an_eventually_and_is_reported_with_its_loop(
    insync, answer, with_eventuallys
):
    result = insync("find somebody_has_read election")
    code, found = answer("find somebody_has_read election")

    assert "broken after 0 steps, by a loop of 4 steps" in result.stdout
    assert "and again from step 1, without end" in result.stdout
    assert "no such loop begins earlier" in result.stdout
    assert (code, found["kind"], found["loop"], len(found["steps"])) == (1, "eventually", 0, 4)
    assert [key for key in CONTRACT if key not in found] == []


def test_an_eventually_is_refused_under_symmetry_with_the_reason(insync, with_eventuallys):
    result = insync("find somebody_wins election --symmetry")

    assert result.exit_code == 64
    assert "what is fair to one broker is lost there; leave --symmetry out" in result.stderr


def test_a_deadlock_is_found_by_the_shortest_run_to_it(insync, answer):
    result = insync("find deadlock classic")
    code, found = answer("find deadlock classic")

    assert "broken after 2 steps" in result.stdout
    assert (code, found["verdict"], len(found["steps"])) == (1, "broken", 2)
    assert result.stdout.splitlines()[-1].startswith("again: insync find deadlock classic")


def test_where_something_is_always_possible_no_deadlock_is_found(insync, answer):
    result = insync("find deadlock election")
    code, found = answer("find deadlock election")
    cut_short, _ = answer("find deadlock election --max-states 5")

    assert "holds (brokers=2, epoch=2, writes=1): all" in result.stdout
    assert (code, found["verdict"], found["steps"]) == (0, "holds", [])
    assert cut_short == 2


def test_a_release_gets_the_bounds_in_which_it_breaks_what_it_is_known_to_break(insync, answer):
    result = insync("find no_message_loss replication --version 0.10")
    code, run = answer("find no_message_loss replication --version 0.10")

    assert (result.exit_code, code, run["bounds"]["crashes"]) == (1, 1, 1)
    assert "crashes=1, for replication 0.10 is known for KIP-101: " in result.stdout


def test_bounds_of_zero_are_named_beside_the_verdict_with_an_offer(insync, answer):
    line = "find no_message_loss replication --version 0.10 --bound crashes=0"

    result, (code, run) = insync(line), answer(line)

    assert (result.exit_code, code) == (0, 0)
    assert "ruled out by bounds of 0: crashes=0 (processes that crash, in all), " in result.stdout
    assert "; to allow one: --bound crashes=1" in result.stdout
    assert run["ruled_out"] == ["crashes", "losses"]
