"""The board: what can happen, why not, and which guard saves us."""

from __future__ import annotations

import pytest

from conformance.web.board import Board, board
from conformance.web.retold import line_of_step
from model.language import ProtocolError
from model.systems import SYSTEMS
from specs.explorer import explore, find

REPLICATION = "system replication version 2.3 brokers 2"
ELECTED = (
    "broker_becomes_controller broker=1",
    "broker_learns_it_won broker=1",
    "controller_reads_partition broker=1",
    "controller_elects_leader broker=1 leader=2",
)


@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_every_system_opens_with_something_that_can_happen(name: str):
    here = board(f"system {name}")

    possible, _ = here.cards(here.start)

    assert possible
    assert all(card.summary and card.line.startswith(card.step) for card in possible)


def test_every_card_can_be_taken_and_changes_what_it_says():
    here = board(REPLICATION)
    possible, _ = here.cards(here.at(ELECTED))

    frames = [here.frame([*ELECTED, card.line]) for card in possible]

    assert [frame.changes or ("nothing changes",) for frame in frames] == [
        card.changes for card in possible
    ]


def test_the_cards_are_the_steps_that_the_explorer_takes():
    here = board("system classic version kip_320 brokers 2 log 1 records 1 epoch 1")
    recorded, bounds = here.heading.recorded, here.heading.given
    seen = {_key(here, ())}
    todo: list[tuple[str, ...]] = [()]
    while todo:
        lines = todo.pop()
        for card in here.cards(here.at(lines))[0]:
            after = (*lines, card.line)
            if _key(here, after) not in seen:
                seen.add(_key(here, after))
                todo.append(after)

    found = explore(recorded, bounds, ["strong_isr"])

    assert len(seen) == found.distinct


def _key(here: Board, lines: tuple[str, ...]) -> str:
    return repr(sorted((name, sorted(cells.items())) for name, cells in here.at(lines).items()))


def test_a_refused_step_says_its_first_reason_and_the_values():
    here = board(REPLICATION)

    _, refused = here.cards(here.start)

    why = {one.step: one.why for one in refused}
    assert why["broker_starts"] == "the process does not run — false (up {1,2})"
    assert why["controller_resigns"].startswith("the broker believes it is the controller — false")


def test_a_line_that_is_not_possible_is_refused_with_its_number():
    here = board(REPLICATION)

    with pytest.raises(ProtocolError, match=r"step 2: controller_resigns\(broker=2\) is not poss"):
        here.at([ELECTED[0], "controller_resigns broker=2"])


def test_a_guard_that_saves_us_is_named_with_the_claim_that_would_break():
    election = SYSTEMS["election"]
    unfenced = election.recorded("2.3", {"zk_writes_fenced": False})
    run = find(unfenced, election.limits({}), "single_writer")[1]
    assert run is not None
    *before, last = [line_of_step(step.step, step.args) for step in run.steps]

    saved = board("system election version 2.3 brokers 2").guards_that_save(before)

    assert last.startswith("write_is_applied")
    assert {(one["guard"], one["claim"]) for one in saved} >= {
        ("/controller_epoch is as it was won", "single_writer")
    }


def test_the_high_watermark_and_the_log_are_in_the_picture():
    here = board("system classic version kip_320 brokers 3")

    picture = here.frame([
        "controller_elects_leader replica=1", "becomes_leader replica=1 epoch=0",
        "leader_writes leader=1",
    ]).picture  # fmt: skip

    assert picture["logs"]["1"] == {"records": [{"id": 0, "epoch": 0}], "hw": 0}
    assert picture["badges"]["1"]["role"] == "leader"


def test_a_broker_that_believes_what_zookeeper_denies_is_seen_to():
    here = board(REPLICATION)

    badge = here.frame([*ELECTED, "session_expires broker=1"]).picture["badges"]["1"]

    assert (badge["believes"], badge["controls"], badge["registered"]) == (True, False, False)
