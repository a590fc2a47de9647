"""What a story tells: steps with their changes, refusals with their values, claims, fields."""

from __future__ import annotations

import pytest

from specs.story import StoryOutcome, difference, parse, play, rerecorded
from specs.verdict import Verdict

ELECTED = """\
quietly broker_connects broker=1
quietly broker_reads_epoch broker=1
"""


def played(lines: str, opening: str = "system election version 2.3 brokers 2\n") -> list[str]:
    """The output of one scene; it plays to its end."""
    outcome = play(parse(f"{opening}{lines}----\n"))
    assert outcome.failed is None, outcome.failed
    return outcome.lines[0]


def test_a_step_is_reported_with_every_leaf_that_it_changes():
    assert played("broker_connects broker=1\n") == [
        "broker_connects(broker=1)",
        "    session[1]: false → true",
    ]


def test_a_step_taken_quietly_is_taken_all_the_same():
    assert played("quietly broker_connects broker=1\nshow session\n") == [
        "session[1]: true",
        "session[2]: false",
    ]


def test_a_step_that_changes_nothing_says_so():
    steps = ("broker_connects", "broker_reads_epoch", "broker_wins_election",
             "broker_learns_it_won", "controller_sends_request")  # fmt: skip
    before = "".join(f"quietly {step} broker=1\n" for step in steps)
    obeyed = "broker_handles_request broker=2 sender=1 epoch=1\n"

    assert played(f"{before}quietly {obeyed}{obeyed}")[1] == "    nothing changes"


def test_a_refusal_tells_the_first_reason_that_fails_with_real_values():
    assert played("refused broker_wins_election broker=1\n") == [
        "refused broker_wins_election(broker=1)",
        "    the broker has a session — false (session[1] false)",
    ]


def test_an_impossible_step_ends_the_story_with_its_line_and_its_reason():
    outcome = playing("broker_wins_election broker=1\ncheck single_writer\n")

    assert outcome.verdict is Verdict.BROKEN
    assert outcome.failed == (
        3,
        "broker_wins_election(broker=1) is not possible: the broker has a session — false "
        "(session[1] false)",
    )


def test_an_impossible_step_names_the_values_with_which_it_would_be_possible():
    outcome = playing(
        "quietly broker_connects broker=2\nquietly broker_reads_epoch broker=2\n"
        "broker_wins_election broker=1\ncheck single_writer\n"
    )

    assert outcome.failed is not None
    assert outcome.failed[0] == 5
    assert outcome.failed[1].endswith("; possible here: broker_wins_election(broker=2)")


def test_of_many_values_with_which_a_step_is_possible_a_few_are_named():
    outcome = playing(
        "session_expires broker=1\ncheck single_writer\n",
        "system election version 2.3 brokers 5\n",
    )
    connected = "".join(f"quietly broker_connects broker={broker}\n" for broker in range(2, 6))
    one_of_five = playing(
        connected + "session_expires broker=1\ncheck single_writer\n",
        "system election version 2.3 brokers 5\n",
    )

    assert outcome.failed is not None
    assert "possible here" not in outcome.failed[1]
    assert one_of_five.failed is not None
    assert one_of_five.failed[1].endswith(
        "; possible here: session_expires(broker=2), session_expires(broker=3), "
        "session_expires(broker=4) and 1 more"
    )


def test_a_step_said_to_be_refused_must_be_refused():
    outcome = playing("refused broker_connects broker=1\n")

    assert outcome.failed is not None
    assert "broker_connects(broker=1) is possible here" in outcome.failed[1]


def test_history_is_reported_only_where_a_claim_of_the_story_reads_it():
    quiet = played(ELECTED + "broker_wins_election broker=1\ncheck single_writer\n")
    whole = played(ELECTED + "broker_wins_election broker=1\ncheck single_controller\n")

    assert [line for line in quiet if line.startswith("    won")] == []
    assert "    won: {} → {(1,1)}" in whole


def test_a_sometimes_is_asserted_to_hold_or_not():
    lines = played("check two_brokers_believe_they_are_controller\n"
                   "check winner_has_not_learned_it_won\n" + ELECTED
                 + "quietly broker_wins_election broker=1\n"
                   "check winner_has_not_learned_it_won\n")  # fmt: skip

    assert [line.partition(" — ")[0] for line in lines] == [
        "two_brokers_believe_they_are_controller: not so here",
        "winner_has_not_learned_it_won: not so here",
        "winner_has_not_learned_it_won: so it is",
    ]


def test_a_broken_claim_is_reported_with_its_sentence_and_what_it_looks_at():
    steps = [
        "controller_elects_leader replica=1", "controller_drops_replica replica=2",
        "becomes_follower follower=3 leader=1 epoch=0", "becomes_leader replica=1 epoch=1",
        "leader_writes leader=1", "follower_replicates leader=1 follower=3",
        "leader_advances_hw leader=1", "becomes_follower follower=3 leader=1 epoch=1",
    ]  # fmt: skip
    lines = played(
        "".join(f"quietly {step}\n" for step in steps) + "check strong_isr\ncheck leader_in_isr\n",
        "system classic version hw_truncation\n",
    )

    assert lines == [
        "strong_isr: broken — what a presumed leader calls committed is in the log of every "
        "registered ISR member",
        "    (log[1][0].epoch 1, log[3].end 0, log[3][0].epoch 0, quorum.isr {1,3}, "
        "view[1].leader 1)",
        "leader_in_isr: holds",
    ]


def test_a_claim_about_steps_speaks_of_every_step_so_far():
    lines = played(
        ELECTED + "quietly broker_wins_election broker=1\ncheck controller_epoch_never_falls\n"
    )

    assert lines == ["controller_epoch_never_falls: holds of every step"]


def test_the_first_step_that_is_possible_is_reported_where_there_is_no_dead_end():
    steps = "".join(f"quietly controller_elects_leader replica={replica}\n" for replica in (1, 2))
    lines = played(steps + "check deadlock\n", "system classic brokers 2 log 1 records 1 epoch 1\n")

    assert lines == ["some step is possible: becomes_leader(replica=1, epoch=0)"]


def test_numbers_have_no_limit_that_the_first_line_does_not_set():
    turn = "quietly session_expires broker=1\nquietly broker_connects broker=1\n" + "".join(
        f"quietly {step} broker=1\n"
        for step in ("broker_reads_epoch", "broker_wins_election", "broker_learns_it_won",
                     "controller_resigns_and_deletes_znode")
    )  # fmt: skip
    many = "quietly broker_connects broker=1\n" + turn * 70

    assert played(many + "show zk.epoch\ncheck single_controller\n") == [
        "zk.epoch: 70",
        "single_controller: holds",
    ]


def test_a_step_beyond_a_bound_of_the_first_line_is_refused_with_the_bound():
    opening = "system replication version 2.3 brokers 2 controllers 1\n"
    outcome = playing(
        "quietly broker_becomes_controller broker=1\nquietly session_expires broker=1\n"
        "broker_becomes_controller broker=2\ncheck leader_in_isr\n",
        opening,
    )

    assert outcome.failed is not None
    assert "leads beyond the bound controllers" in outcome.failed[1]


def test_a_marked_state_is_found_again_or_said_to_differ():
    there = "mark start\nquietly broker_connects broker=1\n"
    back = "quietly session_expires broker=1\nsame start\n"

    outcome = playing(there + "same start\n")

    assert played(there + back) == ["the state is the one marked start"]
    assert outcome.failed is not None
    assert outcome.failed[1].endswith("session[1]: false → true")


def test_a_field_is_shown_whole_by_index_or_by_part():
    assert played("show zk.epoch\n") == ["zk.epoch: 0"]
    assert played("show belief[2]\n") == [
        "belief[2].held: false", "belief[2].epoch: 0", "belief[2].version: 0",
    ]  # fmt: skip
    assert played("show belief[2].held\n") == ["belief[2].held: false"]


def test_what_a_field_does_not_have_there_is_said():
    outcome = playing("show log[9]\n", "system classic\n")

    assert outcome.failed == (3, "log has nothing at [9]: show log shows where it has")


def test_a_log_is_shown_as_a_list_of_records():
    lines = played(
        "quietly controller_elects_leader replica=1\nquietly becomes_leader replica=1 epoch=0\n"
        "quietly leader_writes leader=1\nquietly leader_writes leader=1\nshow log[1]\n",
        "system classic brokers 2\n",
    )

    assert lines == ["log[1]: [id 0 epoch 0, id 1 epoch 0]"]


def test_what_checks_nothing_is_not_checked():
    assert play(parse("")).verdict is Verdict.NOT_CHECKED
    assert recorded("broker_connects broker=1\n").verdict is Verdict.NOT_CHECKED
    assert recorded("check single_writer\n").verdict is Verdict.HOLDS


def test_a_new_story_of_which_nothing_is_recorded_is_not_checked():
    text = "system election brokers 2\nbroker_connects broker=1\ncheck single_writer\n----\n"

    assert play(parse(text)).verdict is Verdict.NOT_CHECKED


def test_what_is_reported_otherwise_is_broken_with_the_difference():
    text = "system election brokers 2\nbroker_connects broker=1\ncheck single_writer\n----\n"
    right = rerecorded(play(parse(text)))
    wrong = right.replace("true", "false")

    outcome = play(parse(wrong, "a.story"))

    assert outcome.verdict is Verdict.BROKEN
    assert outcome.first_difference == 0
    assert "-    session[1]: false → false" in difference(outcome, wrong)
    assert "+    session[1]: false → true" in difference(outcome, wrong)


def test_output_that_nobody_tells_any_more_is_a_difference():
    text = "system election brokers 2\ncheck single_writer\n----\nsingle_writer: holds\nand more!\n"

    outcome = play(parse(text))

    assert outcome.verdict is Verdict.BROKEN
    assert outcome.first_difference == 0


def test_recording_again_keeps_comments_and_changes_nothing_the_second_time():
    text = (
        "# A title.\nsystem election brokers 2   # as few as there can be\n\n"
        "broker_connects broker=1   # remark\n----\n\n# next\ncheck single_writer\n----\n\n# end\n"
    )

    once = rerecorded(play(parse(text)))
    twice = rerecorded(play(parse(once)))

    assert once == twice
    assert [line for line in text.splitlines() if line not in once.splitlines()] == []


def playing(lines: str, opening: str = "system election version 2.3 brokers 2\n") -> StoryOutcome:
    return play(parse(f"# A title.\n{opening}{lines}----\n"))


def recorded(lines: str) -> StoryOutcome:
    """Played a second time, now with its recording."""
    return play(parse(rerecorded(playing(lines))))


@pytest.mark.parametrize(
    ("version", "left"),
    [("0.10", "none"), ("0.11", "none"), ("1.0", "none"), ("1.1", "moving"), ("2.3", "moving")],
)
def test_what_is_left_of_a_request_is_read_again_up_to_1_0(version: str, left: str):
    """It is withdrawn while one of its moves runs: since 1.1 the other's entry comes back."""
    shown = played(
        "quietly topic_is_created first=1 second=2 third=none\n"
        "quietly admin_requests_two_reassignments first=2 second=1 third=none\n"
        "quietly broker_becomes_controller broker=1\nquietly broker_learns_it_won broker=1\n"
        "quietly controller_reads_context broker=1\n"
        "quietly controller_begins_with_targets_in_sync broker=1\n"
        "quietly admin_withdraws_request\n"
        "quietly controller_sets_target_in_memory broker=1\n"
        "quietly controller_keeps_leader broker=1\n"
        "quietly controller_deletes_old_replicas broker=1\n"
        "quietly controller_writes_target_replicas broker=1\n"
        "quietly controller_removes_request_entry broker=1\nshow zk.other\n",
        f"system reassignment version {version} brokers 2\n",
    )

    assert shown == [f"zk.other: {left}"]
