"""Stories on the implementation: the same steps, the same states, and a reason where not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from conformance.mapping import MAPPED
from conformance.not_played import ReasonKind
from conformance.play_story import StoryReplay, replay_story, why_not_applicable
from impl.world.cluster import PartitionCluster
from impl.world.partition_steps import KINDS
from specs.story import Story, parse, read_story
from specs.verdict import Verdict
from tests.planting import never_leads, takes_anybody

STORIES = Path(__file__).parents[2] / "specs" / "stories"


def on_a_mapped_system(path: Path) -> bool:
    lines = path.read_text(encoding="utf-8").splitlines()
    return any(line.startswith(tuple(f"system {name} " for name in MAPPED)) for line in lines)


PLAYABLE = sorted(path for path in STORIES.glob("**/*.story") if on_a_mapped_system(path))


@cache
def replayed(path: Path) -> StoryReplay:
    return replay_story(read_story(path))


@pytest.mark.parametrize("path", PLAYABLE, ids=lambda path: path.stem)
def test_the_implementation_goes_where_the_story_goes_or_says_why_not(path: Path) -> None:
    reported = replayed(path)

    assert reported.failed is None
    if reported.why_not is None:
        assert reported.verdict is Verdict.HOLDS
        assert reported.compared == reported.steps > 0
    else:
        assert "\n" not in reported.why_not


NOT_PLAYED: dict[ReasonKind, set[str]] = {
    ReasonKind.DESIGN: {
        "cluster_refused_around_nothing_to_write", "cluster_refused_before_events_were_dropped",
        "cluster_refused_on_walk_5",
        "cluster_refused_before_winners_found_themselves", "deposed_after_a_broker_started",
        "first_try_at_kip_320", "isr_is_counted_before_written", "kip_320_fences_by_epoch",
        "lost_isr_answer_is_counted", "reassign_other_entry_is_lost", "resigned_controller_writes",
        "restarted_broker_refuses_the_deposed", "role_fails_half_way",
        "elected_broker_assumes_another_controller",
        "elected_broker_assumes_another_controller_in_topics", "zombie_fetcher_is_refused",
    },
    ReasonKind.OLDER: {
        "checkpoint_forgets", "cluster_refused_before_node_owners_were_checked",
        "deletion_is_not_resumed", "isr_is_written_blindly", "node_of_the_last_session",
        "older_leader_epoch_is_obeyed", "own_write_looks_failed", "reassign_replica_slips_back",
        "two_controllers_are_obeyed",
    },
    ReasonKind.BEYOND: {
        # Brokers that refuse a directory of another topic by its id (2.8).
        "topic_ids_refuse_the_dead",
    },
}  # fmt: skip
"""The stories that the implementation does not play, by kind of reason: there is no other."""


def test_what_the_implementation_does_not_play_is_this_and_for_these_reasons() -> None:
    elsewhere = set(STORIES.glob("**/*.story")) - set(PLAYABLE)
    not_of_a_map = {path.stem: why_not_applicable(read_story(path)) for path in elsewhere}
    kinds = {path.stem: replayed(path).kind for path in PLAYABLE}
    kinds.update({name: why.kind for name, why in not_of_a_map.items() if why is not None})

    assert {kind: {name for name in kinds if kinds[name] is kind} for kind in ReasonKind} == (
        NOT_PLAYED
    )


@pytest.mark.parametrize("version", ["1.1", "2.0"])
def test_a_cluster_of_an_older_release_plays_its_own_stories(version: str) -> None:
    heading = f"system cluster version {version} "
    reported = [replayed(path) for path in PLAYABLE if heading in path.read_text(encoding="utf-8")]

    assert sum(one.why_not is None and one.verdict is Verdict.HOLDS for one in reported) >= 2


HEADING = "system replication version 2.3 brokers 2\n"
LEADER = (
    HEADING
    + """
broker_becomes_controller broker=1
broker_learns_it_won broker=1
controller_reads_partition broker=1
controller_elects_leader broker=1 leader=1
broker_becomes_leader broker=1 epoch=1 controller=1
leader_appends broker=1
"""
)


def story(text: str) -> Story:
    return parse(f"{text.rstrip()}\n----\n", "a.story")


def test_a_state_that_differs_is_reported_with_both_values(monkeypatch: pytest.MonkeyPatch) -> None:
    never_leads(monkeypatch)

    reported = replay_story(story(LEADER))

    assert reported.verdict is Verdict.BROKEN
    assert reported.failed is not None
    line, why = reported.failed
    assert line == 7
    assert "replica.isr[1, 1]: the story says 1, the implementation none" in why


def test_a_step_that_only_the_model_can_take_is_reported_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind = KINDS["leader_appends"]
    refuses = replace(kind, unmet=lambda *_: "the broker believes that it leads")
    monkeypatch.setitem(KINDS, kind.name, refuses)

    reported = replay_story(story(LEADER))

    assert reported.failed is not None
    assert reported.failed[1].endswith(
        "leader_appends(1) is not possible in the implementation: "
        "the broker believes that it leads — false"
    )


def test_what_only_the_model_refuses_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    takes_anybody(monkeypatch)
    shrunk = "leader_shrinks_isr leader=1 replica=2\nleader_learns_isr_is_written leader=1\n"

    reported = replay_story(
        story(f"{LEADER}{shrunk}refused leader_expands_isr leader=1 replica=2\n")
    )

    assert reported.failed is not None
    assert "is refused by the model, and leader_expands_isr(1, 2) is possible" in reported.failed[1]


def test_a_refusal_that_both_share_is_counted() -> None:
    reported = replay_story(story(f"{LEADER}refused leader_shrinks_isr leader=2 replica=1\n"))

    assert (reported.verdict, reported.steps, reported.refusals) == (Verdict.HOLDS, 6, 1)


def test_a_step_that_is_another_transition_here_is_a_refusal_of_this_one() -> None:
    refused = "refused older_epoch_is_refused broker=1 epoch=1 controller=1\n"
    arrives = "broker_becomes_leader broker=1 epoch=1 controller=1\n"
    before = LEADER.partition(arrives)[0]

    assert replay_story(story(f"{before}{refused}{arrives}")).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("heading", "words"),
    [
        (
            "system cluster version 0.11 brokers 2 partitions 2",
            "several partitions is staged as since 1.1, not as in 0.11",
        ),
        (
            "system election version 0.11 brokers 2",
            "as since 1.1, not as in 0.11",
        ),
        (
            "system replication version 2.3 without isr_write_conditional brokers 2",
            "by then a leader's ISR write names the zkVersion that it cached",
        ),
    ],
)
def test_what_does_not_apply_says_why_before_anything_is_played(
    heading: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PartitionCluster, "do", None)

    reported = replay_story(story(f"{heading}\n\nrefused controller_resigns broker=1\n"))

    assert reported.why_not is not None
    assert words in reported.why_not
    assert reported.verdict is Verdict.NOT_CHECKED


@pytest.mark.parametrize("name", ["m2_is_lost", "m2_is_saved"])
def test_what_kip_101_mended_is_lost_before_it_and_saved_since(name: str) -> None:
    reported = replay_story(read_story(STORIES / f"{name}.story"))

    assert (reported.why_not, reported.verdict) == (None, Verdict.HOLDS)


def test_replicas_that_leave_out_of_turn_are_a_difference_that_the_map_names(
    tmp_path: Path,
) -> None:
    lines = (STORIES / "reassign_six_stages.story").read_text(encoding="utf-8").splitlines()
    first = lines.index("controller_takes_old_replica_offline broker=5 replica=1")
    lines[first : first + 2] = reversed(lines[first : first + 2])

    other = tmp_path / "out_of_turn.story"
    other.write_text("\n".join(lines), encoding="utf-8")

    reported = replay_story(read_story(other))

    assert reported.why_not is not None
    assert reported.why_not.endswith("in the order of their ids, and the model in any order")
    assert reported.kind is ReasonKind.DESIGN


def test_a_refusal_that_only_a_better_model_has_does_not_apply() -> None:
    reported = replay_story(read_story(STORIES / "cluster_refused_around_nothing_to_write.story"))

    assert reported.why_not == "no release does what it shows (isr_expansion_checks_liveness)"
    assert reported.kind is ReasonKind.DESIGN


def test_a_story_of_a_system_without_a_map_says_which_have_one() -> None:
    reported = replay_story(story("system classic version kip_320 brokers 2\n\ncheck strong_isr\n"))

    assert reported.why_not is not None
    assert reported.why_not.startswith("classic has designs as they were published")
    assert reported.kind is ReasonKind.DESIGN


def test_a_story_that_no_release_tells_does_not_apply_and_as_released_it_does() -> None:
    """A leader that hears nothing of its larger ISR counts on it, in the model by default."""
    grown = """
leader_shrinks_isr leader=1 replica=2
leader_learns_isr_is_written leader=1
broker_becomes_follower broker=2 epoch=1 controller=1
follower_sends_fetch broker=2 leader=1
leader_answers_fetch leader=1 follower=2
follower_appends follower=2 leader=1
follower_sends_fetch broker=2 leader=1
leader_answers_fetch leader=1 follower=2
leader_expands_isr leader=1 replica=2
isr_answer_is_lost leader=1
session_expires broker=1
leader_gives_up_isr_write leader=1
"""
    released = LEADER.replace("2.3 brokers", "2.3 without lost_isr_answer_blocks brokers")

    assert replay_story(story(LEADER + grown)).why_not == (
        "no release does what it shows (lost_isr_answer_blocks)"
    )
    assert replay_story(story(released + grown)).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("name", "release"),
    [
        ("cluster_refused_before_one_of_two_bounces_is_seen", "2.1"),  # KIP-380
        ("dead_leader_stays_registered", "2.1"),  # KAFKA-3143
        ("leaving_leader_is_not_notified", "2.0"),  # KAFKA-7482
        ("same_leader_is_not_asked", "1.1"),  # KAFKA-7164
        ("unclean_election_loses", "0.10"),  # KIP-106
        ("two_fast_elections_diverge", "1.1"),
        ("deposed_controller_writes_unfenced", "2.0"),  # KAFKA-6082
        ("addition_is_skipped", "1.1"),  # KAFKA-6612
        ("fresh_broker_knows_no_leader", "0.10.1"),  # KAFKA-4443
        ("reassign_dead_target", "0.10.0"),  # KAFKA-4214
        ("reassign_refused_around_a_death", "0.10.0"),
        ("reassign_earlier_term", "0.10"),  # KAFKA-5310
        ("deleted_topic_comes_back", "2.3"),  # to 2.7, KIP-516
    ],
)
def test_what_a_release_did_is_played_by_that_release(name: str, release: str) -> None:
    replayed = replay_story(read_story(STORIES / f"{name}.story"))

    assert (replayed.release, replayed.verdict, replayed.failed) == (release, Verdict.HOLDS, None)


def test_a_story_that_asserts_nothing_is_played_in_no_other_release() -> None:
    found = replay_story(story(LEADER.replace("version 2.3", "version 2.3 without fetch_fencing")))

    assert found.why_not == "the implementation is as released, without a switch for fetch_fencing"
