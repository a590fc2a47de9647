"""`insync story`: verdicts, differences, re-recording, and what is wrong use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli import main
from tests.planting import never_leads

TEXT = """\
# A title.
system election brokers 2
broker_connects broker=1
check single_writer
----
"""
UNCHECKED = TEXT.replace("check single_writer\n", "")


@pytest.fixture
def story(tmp_path: Path) -> Path:
    path = tmp_path / "a.story"
    path.write_text(TEXT)
    return path


def test_a_story_whose_output_is_as_recorded_holds(insync, story):
    insync(f"story --accept {story}")

    result = insync(f"story {story}")

    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "holds: 1 story, 1 steps, 1 checks, on the model"


def test_a_new_story_is_not_checked_and_shows_what_would_be_recorded(insync, story):
    result = insync(f"story {story}")

    assert result.exit_code == 3
    assert "+broker_connects(broker=1)" in result.stdout.splitlines()
    assert "nothing is recorded yet: insync story FILE --accept" in result.stdout
    assert story.read_text() == TEXT


def test_a_difference_is_broken_and_shown_as_a_diff(insync, story):
    story.write_text(TEXT + "and more!\n")

    result = insync(f"story {story}")

    assert result.exit_code == 1
    assert "-and more!" in result.stdout.splitlines()
    assert "--accept" in result.stdout
    assert story.read_text() == TEXT + "and more!\n"


def test_accept_writes_the_output_and_leaves_nothing_else(insync, story):
    first = insync(f"story --accept {story}")
    second = insync(f"story --accept {story}")

    assert (first.exit_code, second.exit_code) == (0, 0)
    assert story.read_text() == (
        TEXT + "broker_connects(broker=1)\n    session[1]: false → true\nsingle_writer: holds\n"
    )
    assert "already as recorded" in second.stdout
    assert list(story.parent.iterdir()) == [story]


def test_an_impossible_step_is_broken_and_nothing_is_recorded(insync, story):
    text = TEXT.replace("broker_connects", "broker_wins_election")
    story.write_text(text)

    result = insync(f"story --accept {story}")

    assert result.exit_code == 1
    assert f"{story}:3: broker_wins_election(broker=1) is not possible" in result.stdout
    assert "(session[1] false)" in result.stdout
    assert story.read_text() == text


@pytest.mark.parametrize("text", ["", "# Only a title.\n", UNCHECKED])
def test_what_checks_nothing_is_not_checked(insync, story, text):
    story.write_text(text)

    result = insync(f"story --accept {story}")

    assert result.exit_code == 3
    assert "add a line such as `check CLAIM`" in result.stdout


def test_a_wrong_word_is_wrong_use_in_one_line(insync, story):
    story.write_text(TEXT.replace("broker_connects", "broker_conects"))

    result = insync(f"story {story}")

    assert result.exit_code == 64
    assert result.stdout == ""
    assert result.stderr.startswith(f"insync: {story}:3: unknown word or step of election")
    assert result.stderr.count("\n") == 1


def test_a_folder_is_all_its_stories():
    """By the command that README shows, which is not run there again."""
    result = CliRunner().invoke(main, ["story", "specs/stories", "--json", "-"])

    payload = json.loads(result.stdout)
    assert result.exit_code == 0
    assert payload["format"] == "insync.story/1"
    assert len(payload["stories"]) >= 16
    assert {one["verdict"] for one in payload["stories"]} == {"holds"}


DEPOSED = "specs/stories/deposed_leader_shrinks.story"
WITHOUT = "specs/stories/node_of_the_last_session.story"
EARLIER = "specs/stories/dead_leader_stays_registered.story"


def test_both_sides_play_a_story_and_each_has_its_row(answer):
    code, payload = answer(f"story {DEPOSED} --on both")

    model, impl = payload["stories"]
    assert (code, payload["on"], model["steps"]) == (0, "both", impl["steps"])
    assert (impl["on"], impl["verdict"], impl["not_applicable"]) == ("impl", "holds", None)
    assert impl["checks"] >= impl["steps"]


def test_a_story_that_does_not_apply_is_never_green(insync):
    result = insync(f"story {WITHOUT} --on impl")

    assert result.exit_code == 3
    assert "shows Kafka before 0.10.0: by then a broker that finds its node" in " ".join(
        result.stdout.split()
    )


def test_a_story_of_what_an_earlier_release_did_is_played_as_that_one(answer):
    code, payload = answer(f"story {EARLIER} --on impl")

    (impl,) = payload["stories"]
    assert (code, impl["verdict"], impl["release"]) == (0, "holds", "2.1")


def test_the_line_where_the_implementation_goes_elsewhere_is_named(insync, monkeypatch):
    never_leads(monkeypatch)

    result = insync(f"story {DEPOSED} {WITHOUT} --on impl")

    assert result.exit_code == 1
    assert f"{DEPOSED}:10: broker_becomes_leader(broker=1, epoch=1, controller=1): " in (
        result.stdout
    )
    assert "not on the implementation: 1 story that shows Kafka before 0.10.0" in result.stdout
