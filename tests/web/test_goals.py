"""Goals: a state written in the notation, the shortest way from here, what a step waits for."""

from __future__ import annotations

import pytest

from conformance.web.answers import goals, way
from conformance.web.board import board
from conformance.web.goals import EXAMPLES, READY, reads
from model.language import ProtocolError
from model.systems import SYSTEMS

CLASSIC = "system classic version kip_320 brokers 3"
LED = ["controller_elects_leader replica=1", "becomes_leader replica=1 epoch=0"]


@pytest.mark.parametrize(
    "text",
    [
        "quorum.leader == 2",
        "now.quorum.leader == 2",
        "view[1].leader == 1 and view[2].leader == 2",
        "all_of(view[1].leader == 1, view[2].leader == 2)",
        "how_many(replica, lambda b: view[b].leader == b) == 2",
        "3 not in quorum.isr and not is_none(quorum.leader)",
        "0 < log[1].end <= 1",
        "some(replica, lambda b: log[b].end > view[b].hw)",
        "quorum.isr == {1}",
        "quorum.isr == {quorum.leader} and quorum.leader == 2",
    ],
)
def test_a_goal_in_the_notation_is_reached_by_the_run_that_is_found(text: str):
    found = way({"heading": CLASSIC, "goal": text})

    here = board(CLASSIC)
    reached = here.at(found["lines"])
    condition = reads(here.heading.recorded, text)
    assert here.twin.value(condition, reached, {})
    assert not here.twin.value(condition, here.at(found["lines"][:-1]), {})


def test_the_shortest_way_from_here_goes_on_from_here():
    found = way({"heading": CLASSIC, "lines": LED, "goal": "log[1].end == 1", "from": "here"})

    assert found["lines"] == [*LED, "leader_writes leader=1"]
    assert found["more"] == 1


def test_a_state_beyond_the_bounds_is_a_beginning_as_well():
    lines = [*LED, *["leader_writes leader=1"] * 5]

    found = way({"heading": CLASSIC, "lines": lines, "goal": "quorum.leader == 2", "from": "here"})

    assert found["bounds"]["log"] >= 5
    assert board(CLASSIC).at(found["lines"])


def test_a_goal_with_numbers_beyond_the_bounds_gets_room():
    found = way({"heading": f"{CLASSIC} records 4", "goal": "log[1].end == 4"})

    assert found["bounds"]["log"] == 4
    assert found["lines"].count("leader_writes leader=1") == 4


def test_what_a_refused_step_waits_for_makes_it_possible():
    step = "fenced_leader_raises_hw leader=1"
    here = board(CLASSIC)
    with pytest.raises(ProtocolError, match="not possible"):
        here.at([*LED, "leader_writes leader=1", step])

    found = way({"heading": CLASSIC, "lines": [*LED, "leader_writes leader=1"], "from": "here",
                 "step": step})  # fmt: skip

    assert found["more"] > 0
    assert here.at([*found["lines"], step])


def test_what_can_never_be_is_said_with_the_bounds():
    found = way({"heading": CLASSIC, "goal": "quorum.leader == 1 and 1 not in quorum.isr"})

    assert found["lines"] is None
    assert found["why"] == "no run within the bounds does"
    assert found["bounds"]["brokers"] == 3


@pytest.mark.parametrize(
    "text, why",
    [
        ("qurum.leader == 1", "did you mean 'quorum'"),
        ("view[1].ledaer == 2", "did you mean 'leader'"),
        ("view[9].hw == 1", "there is no replica 9: there are 3"),
        ("quorum.leader", "is not a condition"),
        ("quorum.leader ==", "is no expression"),
        ("1 < 2", "compares no field"),
        ("__import__('os').system('true')", "unknown word"),
        ("view[1].__class__ == 1", "is not understood"),
        ("open('pyproject.toml')", "unknown word 'open'"),
        ("[one for one in (1, 2)]", "is not understood"),
        ("(lambda: 1)()", "unknown word"),
        ("'a' * 9999999999 == 1", "is not understood"),
        ("(" * 200, "is no expression"),
        ("quorum.leader == 1 and " * 100 + "True", "letters at most"),
    ],
)
def test_a_goal_that_makes_no_sense_is_refused_in_a_line_and_never_run(text: str, why: str):
    with pytest.raises(ProtocolError) as refused:
        way({"heading": CLASSIC, "goal": text})

    assert why in str(refused.value)
    assert "goals.py" not in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_what_one_asks_for_first_is_offered_first(name: str):
    offered = goals({"heading": f"system {name}"})

    words = [one["words"] for one in offered]
    assert words[: len(READY.get(name, {}))] == list(READY.get(name, {}))
    assert len(words) == len(set(words))


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_of_a_goal_makes_sense_in_its_system(name: str):
    assert reads(SYSTEMS[name].recorded(), EXAMPLES[name]) is not None


def test_a_goal_of_a_release_gets_the_bounds_in_which_it_breaks():
    game = {"heading": "system replication version 0.10 brokers 2", "lines": []}

    found = way({**game, "claim": "no_message_loss", "from": "beginning"})

    assert (found["more"], found["bounds"]["crashes"]) == (18, 1)


def test_a_goal_that_is_not_found_names_what_bounds_of_zero_rule_out():
    game = {"heading": "system replication version 2.3 brokers 2", "lines": []}

    found = way({**game, "claim": "no_message_loss", "from": "beginning"})

    assert found["lines"] is None
    assert found["ruled_out"] == ["crashes", "losses"]
