"""A run as a short address, and what becomes of one that another version of the model made."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.web.address import address, open_address, transitions_digest
from conformance.web.answers import opening
from conformance.web.board import board
from conformance.web.run_files import read_run
from model.language import ProtocolError

STORIES = Path(__file__).resolve().parents[2] / "specs" / "stories"
LOST = read_run(STORIES / "m2_is_lost.story")
SHORT = address(LOST.heading, LOST.lines)


@pytest.mark.parametrize(
    "name",
    ["m2_is_lost", "deleted_topic_comes_back", "reassign_twelve_steps", "own_write_looks_failed"],
)
def test_an_address_gives_back_the_run_that_it_was_made_of(name: str):
    run = read_run(STORIES / f"{name}.story")

    back = open_address(address(run.heading, run.lines))

    assert (back.heading, back.lines, back.said) == (run.heading, run.lines, None)


def test_an_address_is_short():
    assert len(SHORT) < 60 + 8 * len(LOST.lines)
    assert len(SHORT) < sum(map(len, LOST.lines)) / 4


def test_an_address_of_another_text_of_the_model_says_so_and_is_played_as_far_as_it_goes():
    words, _, letters = SHORT.partition("~")
    other = f"{words}~{'AAAA' + letters[4:]}"

    back = open_address(other)

    assert back.lines == LOST.lines
    assert back.said is not None
    assert "another version of this model's text" in back.said


@pytest.mark.parametrize(
    "asked, nearest",
    [("2.3.9", "2.3"), ("0.9", "0.10"), ("2.10", "2.7"), ("kip_101", "2.5")],
)
def test_an_address_of_a_version_that_there_is_not_offers_the_nearest(asked: str, nearest: str):
    back = open_address(SHORT.replace("version+0.10", f"version+{asked}"))

    assert back.heading == f"system replication version {nearest} brokers 2"
    assert f"unknown version of replication '{asked}'" in (back.said or "")


def test_the_nearest_game_is_offered_up_to_the_line_that_is_possible_there():
    run = read_run(STORIES / "deposed_controller_writes_unfenced.story")
    newer = address(run.heading, run.lines).replace("version+2.0", "version+3.1")

    found = opening({"address": newer})

    assert found["heading"] == "system election version 2.7 brokers 2"
    assert 0 < len(found["lines"]) < len(run.lines)
    assert "unknown version of election '3.1'" in found["said"]
    assert "is not possible" in found["said"]


@pytest.mark.parametrize(
    "text, why",
    [
        ("", "no address of a run"),
        ("hello", "no address of a run"),
        ("system+replication", "no address of a run"),
        ("system+replication~", "not whole"),
        ("system+replication~*", "not whole"),
        (SHORT[:-1], "not whole"),
    ],
)
def test_an_address_that_is_none_is_refused_in_a_line(text: str, why: str):
    with pytest.raises(ProtocolError, match=why):
        open_address(text)


def test_any_letters_are_a_run_or_refused_and_never_an_accident():
    words, _, letters = SHORT.partition("~")
    answers = []
    for at in range(0, len(letters), 3):
        damaged = letters[:at] + ("A" if letters[at] != "A" else "B") + letters[at + 1 :]
        try:
            answers.append(opening({"address": f"{words}~{damaged}"})["said"] or "played")
        except ProtocolError as error:
            answers.append(str(error))

    assert len(set(answers)) > 2
    assert not [one for one in answers if "\n" in one]


def test_versions_of_the_model_have_fingerprints_of_their_own():
    marks = {
        transitions_digest(board(f"system classic version {version}").heading.recorded)
        for version in ("hw_truncation", "kip_101", "kip_320_first_try", "kip_320")
    }

    assert len(marks) == 4
