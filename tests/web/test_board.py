"""The board: what can happen, why not, and which guard saves us."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.web.board import Board, board
from conformance.web.phrases import heading_of, phrase
from conformance.web.run_files import line_of_step, read_run
from conformance.web.self_contained import STATIC
from model.language import ProtocolError
from model.systems import SYSTEMS
from specs.explorer import explore, find

STORIES = Path(__file__).resolve().parents[2] / "specs" / "stories"
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

    assert picture["logs"]["1"] == {
        "records": [{"id": 0, "epoch": 0}], "hw": 0, "new": [0], "cut": [],
    }  # fmt: skip
    assert picture["badges"]["1"]["role"] == "leader"


def test_a_record_that_was_truncated_is_kept_as_a_ghost_of_where_it_stood():
    run = read_run(STORIES / "m2_is_lost.story")
    logs = [board(run.heading).frame(run.lines[:end]).picture["logs"]["2"]
            for end in range(len(run.lines) + 1)]  # fmt: skip

    by_the_step = [n for n, log in enumerate(logs) if any(one["now"] for one in log["cut"])]
    ghosts = [[one["offset"] for one in log["cut"]] for log in logs]

    assert len(by_the_step) == 1
    assert ghosts[: by_the_step[0]] == [[]] * by_the_step[0]
    assert ghosts[by_the_step[0] :] == [[1]] * (len(logs) - by_the_step[0])


def test_a_record_that_takes_the_place_of_a_truncated_one_ends_its_ghost():
    seen = set[tuple[int, int]]()  # (ghosts, records) of one log
    for path in sorted(STORIES.glob("*.story")):
        if "system replication " not in path.read_text():
            continue
        run = read_run(path)
        for end in range(len(run.lines) + 1):
            for log in board(run.heading).frame(run.lines[:end]).picture["logs"].values():
                assert all(one["offset"] >= len(log["records"]) for one in log["cut"])
                seen.add((len(log["cut"]), len(log["records"])))

    assert any(ghosts and records for ghosts, records in seen)


def test_what_the_last_step_made_possible_comes_first_and_faults_last():
    here = board(REPLICATION)

    possible, _ = here.choices(ELECTED)

    order = [(one.fault, not one.fresh) for one in possible]
    assert order == sorted(order)
    assert possible[0].words in (
        "broker 2 becomes leader (epoch 1, controller 1)",
        "broker 1 becomes follower (epoch 1, controller 1)",
    )
    assert possible[-1].actor == "What can fail"


@pytest.mark.parametrize(
    "line, words, actor",
    [
        ("broker_crashes broker=2", "broker 2 crashes", "What can fail"),
        ("session_expires broker=2", "the session of broker 2 expires", "What can fail"),
        ("leader_shrinks_isr leader=1 replica=2", "leader 1 shrinks ISR (replica 2)", "Broker 1"),
        ("controller_elects_leader broker=3 leader=1", "controller 3 elects leader 1",
         "Controller"),
        ("controller_write_is_fenced broker=1", "controller 1: write is fenced", "Controller"),
        ("fenced_becomes_follower follower=3 leader=1 epoch=0",
         "broker 3 becomes follower (leader 1, epoch 0)", "Broker 3"),
        ("admin_deletes_topic", "admin deletes topic", "Clients and administrators"),
    ],
)  # fmt: skip
def test_a_step_is_reported_in_words_under_who_takes_it(line: str, words: str, actor: str):
    name, *pairs = line.split()
    steps = [one for of in SYSTEMS.values() for one in of.transitions if one.name == name]

    assert phrase(line) == words
    given = dict(pair.split("=") for pair in pairs)
    assert {heading_of(step, given) for step in steps} == {actor}


@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_every_step_of_every_system_names_its_parameters_in_words(name: str):
    for version in SYSTEMS[name].versions:
        for step in board(f"system {name} version {version}").heading.recorded.steps:
            line = " ".join([step.transition.name, *(f"{one}=7" for one in step.parameters)])
            assert phrase(line).count("7") == len(step.parameters)
            assert "_" not in phrase(line)


def test_every_field_that_the_page_shows_has_its_name_in_kafka():
    words = (STATIC / "words.js").read_text()
    known = set(re.findall(r'^  "([\w.]+)": \["', words, re.MULTILINE))

    for name in SYSTEMS:
        if name == "replication_history":  # the form that is proved; nobody plays it
            continue
        here = board(f"system {name}")
        rows = here.picture._rows(here.start)
        for field in rows:
            parts = field.split(".")
            found = {".".join(parts[:end]) for end in range(1, len(parts) + 1)} & known
            assert found or here.heading.recorded.fields[field].ghost, f"{name}: {field}"


def test_a_broker_that_believes_what_zookeeper_denies_is_seen_to():
    here = board(REPLICATION)

    badge = here.frame([*ELECTED, "session_expires broker=1"]).picture["badges"]["1"]

    assert (badge["believes"], badge["controls"], badge["registered"]) == (True, False, False)
