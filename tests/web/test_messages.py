"""Messages as arrows: what is in flight, what was sent, lost, refused, overtaken or copied."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from conformance.web.board import board
from conformance.web.in_flight import READERS
from conformance.web.messages import sentence
from conformance.web.run_files import read_run
from model.language import ProtocolError, transition
from model.systems import SYSTEMS
from tests.web.test_board import ELECTED, REPLICATION, STORIES


def drawn(heading: str, lines: Sequence[str]) -> list[str]:
    picture = board(heading).frame(lines).picture
    return [sentence(one, picture) for one in picture["messages"]]


def of_story(name: str, steps: int) -> list[str]:
    run = read_run(STORIES / f"{name}.story")
    return drawn(run.heading, run.lines[:steps])


def test_every_system_says_what_is_in_flight():
    # In the form that is proved messages are histories, and none is ever on its way.
    assert set(READERS) == set(SYSTEMS) - {"replication_history"}


def test_a_request_is_sent_to_several_and_arrives_at_one():
    what = "leader epoch 1, leader 2, isr {1,2}, controller epoch 1"

    sent = drawn(REPLICATION, ELECTED)
    arrived = drawn(REPLICATION, [*ELECTED, "broker_becomes_leader broker=2 epoch=1 controller=1"])

    assert sent == [
        "write, controllers to ZooKeeper: broker 1: leader, leader_epoch, state_epoch, version: "
        "arrived",
        f"LeaderAndIsr, controllers to broker 1, broker 2: {what}: sent now",
    ]
    assert arrived == [
        f"LeaderAndIsr, controllers to broker 2: {what}: arrived",
        f"LeaderAndIsr, controllers to broker 1: {what}: in flight",
    ]


def test_what_waits_long_says_for_how_many_steps():
    stays = ("session_expires broker=2", "broker_reconnects broker=2")

    after = drawn(REPLICATION, [*ELECTED[:1], *stays])

    assert any(one.endswith("controller epoch 1 is won: in flight for 2 steps") for one in after)


def test_a_lost_reply_is_lost_for_as_long_as_somebody_waits_for_it():
    lines = [ELECTED[0], "reply_to_registration_is_lost broker=1"]
    said = "multi, ZooKeeper to broker 1: controller epoch 1 is won: lost"

    assert drawn(REPLICATION, lines) == [said]
    assert drawn(REPLICATION, [*lines, "session_expires broker=2"])[0].startswith(said)


def test_a_crash_loses_what_was_on_its_way_to_it():
    assert of_story("m2_is_lost", 26) == ["Fetch, broker 1 to broker 2: no record, hw 1: lost"]


def test_a_stop_replica_that_is_obeyed_has_arrived():
    """It was shown as lost once, by the name of the step."""
    steps = {one.name: one for one in SYSTEMS["reassignment"].transitions}

    assert steps["broker_stops_replica"].ends == "arrived"
    assert {one.ends for one in steps.values()} == {"arrived", "lost", "refused"}


def test_a_step_ends_messages_only_as_is_known():
    with pytest.raises(ProtocolError, match="ends='vanished': write one of 'arrived', 'lost'"):
        transition(ends="vanished")


def test_a_record_comes_from_its_producer():
    assert of_story("m2_is_lost", 7) == ["Produce, clients to broker 1: a record: arrived"]


def test_a_request_that_is_obeyed_may_come_again_and_an_older_one_is_late():
    run = read_run(STORIES / "restarted_broker_obeys.story")
    fates = {
        one["fate"]
        for end in range(len(run.lines) + 1)
        for one in board(run.heading).frame(run.lines[:end]).picture["messages"]
    }

    assert {"sent", "flying", "copy", "late"} <= fates


def test_a_write_that_is_refused_says_so():
    lines = [*ELECTED[:3], "controller_node_is_deleted", "broker_becomes_controller broker=2",
             "controller_election_is_fenced broker=1 leader=1"]  # fmt: skip

    assert "setData, controllers to ZooKeeper: broker 1: the check fails: refused" in drawn(
        REPLICATION, lines
    )


@pytest.mark.parametrize("name", sorted(READERS))
def test_arrows_end_in_lanes_that_there_are(name: str):
    paths = [p for p in sorted(STORIES.glob("*.story")) if f"system {name} " in p.read_text()]
    runs = [read_run(path) for path in paths[:3]]

    pictures = [board(one.heading).frame(one.lines[:end]).picture
                for one in runs for end in range(len(one.lines) + 1)]  # fmt: skip

    for picture in pictures:
        ends = {end for one in picture["messages"] for end in (one["source"], *one["targets"])}
        assert ends <= set(picture["lanes"])
    assert any(picture["messages"] for picture in pictures) or not runs
