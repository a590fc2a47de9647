"""The stories of the repository: each has the output that it tells, says what it shows, and checks
it."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from specs.story import StoryOutcome, difference, parse, play, read_story
from specs.verdict import Verdict

STORIES = sorted((Path(__file__).parents[2] / "specs" / "stories").glob("**/*.story"))
HISTORY = {"m2_is_lost", "two_fast_elections_diverge", "first_try_at_kip_320", "rejoins_too_early",
           "deposed_controller_writes_unfenced", "restarted_broker_obeys",
           "two_controllers_are_obeyed", "elected_broker_assumes_another_controller",
           "older_leader_epoch_is_obeyed", "role_fails_half_way", "checkpoint_forgets",
           "zombie_fetcher_is_counted", "zombie_fetcher_is_counted_in_its_session",
           "same_leader_is_not_asked", "epoch_is_not_recorded",
           "own_write_looks_failed", "isr_is_written_blindly", "isr_is_counted_before_written",
           "isr_becomes_empty", "last_replica_standing", "unclean_election_loses",
           "lost_isr_answer_commits_alone", "power_loss_parts_the_logs",
           "lost_isr_answer_commits_with_another",
           "known_ends_outlive_an_epoch",
           "disk_is_lost_in_the_isr",
           "reassign_replica_slips_back", "reassign_stranger_stays", "reassign_earlier_term",
           "reassign_other_entry_is_lost", "reassign_dead_target",
           "reassign_asked_while_a_controller_begins",
           "reassign_clients_know_the_old_epoch", "reassign_acknowledged_without_isr",
           "deleted_topic_comes_back", "added_while_deleting",
           "fresh_broker_knows_no_leader", "bounce_is_overlooked", "node_of_the_last_session",
           "leaving_leader_is_not_notified", "resigned_controller_writes",
           "cached_version_for_ever", "late_stop_replica", "dead_leader_stays_registered",
           "dead_broker_is_taken_back", "late_response_stops_a_replica",
           "restarted_broker_obeys_the_deposed", "dead_broker_stays_in_the_metadata",
           "deposed_after_a_broker_started", "elected_too_early",
           "deposed_controller_brings_a_topic_back"}  # fmt: skip
"""Stories of what went wrong; each has a claim that breaks."""


@functools.cache
def played(path: Path) -> StoryOutcome:
    return play(read_story(path))


def test_there_are_stories():
    assert len(STORIES) >= 30


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_the_output_of_a_story_is_as_recorded(path: Path):
    outcome = played(path)

    assert outcome.failed is None
    assert difference(outcome, path.read_text(encoding="utf-8")) == []
    assert outcome.verdict is Verdict.HOLDS


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_a_story_says_in_a_sentence_what_it_is_about_and_what_it_shows(path: Path):
    title, shows, *_ = path.read_text(encoding="utf-8").splitlines()

    assert title.startswith("# ")
    assert title.endswith(".")
    assert shows.startswith("# Shows: ")


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_a_claim_breaks_in_the_stories_of_what_went_wrong_and_in_no_other(path: Path):
    broken = [line for scene in played(path).lines for line in scene if ": broken" in line]

    assert bool(broken) == (path.stem in HISTORY)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=pytest.mark.deep if at % 3 else ())
        for at, path in enumerate(STORIES)
    ],
    ids=lambda path: path.stem,
)
def test_a_story_is_noticed_to_differ_when_any_line_of_its_recording_does(path: Path):
    lines = path.read_text(encoding="utf-8").splitlines()
    inside = False
    for number, line in enumerate(lines):
        if inside and line:
            changed = [*lines[:number], line + "!", *lines[number + 1 :]]
            assert play(parse("\n".join(changed))).verdict is Verdict.BROKEN, line
            break
        inside = line == "----"
