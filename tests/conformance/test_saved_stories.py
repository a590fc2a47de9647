"""What a command finds is kept as a story that plays, and as what it is where there is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli.main import main
from conformance.play_story import replay_story
from conformance.story_of_run import as_story
from impl.world.partition_simulator import simulate
from impl.world.trace import lines_of
from specs.story import play, read_story
from specs.story.read import parse
from specs.verdict import Verdict
from tests.conformance.thinning import LEADER_ISR_EPOCHS, lines_of_partial, thinned
from tests.planting import deletes_any_controller, plant

HEADING = "system replication version 2.3 without lost_isr_answer_blocks brokers 2"


def asked(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(main, [str(one) for one in arguments])
    return result.exit_code, result.output


def plays(path: Path) -> bool:
    story = read_story(path)
    return play(story).verdict is Verdict.HOLDS and replay_story(story).verdict is Verdict.HOLDS


def damaged(lines: list[str], change: Callable[[dict[str, object]], bool]) -> list[str]:
    """The lines with the first one changed that a function takes."""
    for at, line in enumerate(lines):
        fields = json.loads(line)
        if change(fields):
            return [*lines[:at], json.dumps(fields), *lines[at + 1 :]]
    raise AssertionError("no line was changed")


def test_a_trace_that_does_not_fit_becomes_a_story_that_ends_with_what_the_model_does(
    tmp_path: Path,
) -> None:
    def another_epoch(fields: dict[str, object]) -> bool:
        observed = fields.get("observed")
        if fields.get("step") != "controller_elects_leader" or not isinstance(observed, dict):
            return False
        observed["zookeeper.state.leader_epoch"] += 1
        return True

    trace, story = tmp_path / "run.ndjson", tmp_path / "kept.story"
    lines = damaged(lines_of(simulate(5, 60)), another_epoch)
    trace.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    code, reported = asked("check", trace, "--save-story", story)

    assert (code, plays(story)) == (1, True)
    assert f"play it: insync story {story}" in reported
    assert "run.ndjson:20: impossible" in story.read_text()
    assert "\ncontroller_elects_leader broker=1 leader=3\n" in story.read_text()


def test_a_partial_trace_becomes_the_story_of_a_run_that_fits_what_was_seen(
    tmp_path: Path,
) -> None:
    trace, story = tmp_path / "run.ndjson", tmp_path / "kept.story"
    lines = lines_of_partial(
        thinned(simulate(3, 200), LEADER_ISR_EPOCHS, keeps_step=lambda _: False)
    )
    trace.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    code, _ = asked("check", trace, "--save-story", story)

    assert (code, plays(story)) == (0, True)


def test_a_simulated_run_is_kept_as_a_story(tmp_path: Path) -> None:
    story = tmp_path / "kept.story"

    code, _ = asked("simulate", "--seed", 5, "--steps", 40, "--save-story", story)

    assert (code, plays(story)) == (0, True)


def test_a_mismatch_of_walks_in_step_is_kept_as_a_story(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plant(monkeypatch, "KIP-101")
    story = tmp_path / "kept.story"

    code, _ = asked("lockstep", "--seeds", "52..52", "--steps", 220, "--every", 0, "--faults",
                    "everything", "--without-effects", "--save-story", story)  # fmt: skip

    assert code == 1
    assert play(read_story(story)).verdict is Verdict.HOLDS


def test_the_way_to_an_edge_that_differs_is_reported_from_the_beginning_and_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    deletes_any_controller(monkeypatch)
    story = tmp_path / "kept.story"

    code, reported = asked("edges", "election", "--max-states", 1_000, "--save-story", story)

    assert code == 1
    assert "from the beginning:\nafter controller_event_fails(" in reported
    assert play(read_story(story)).verdict is Verdict.HOLDS


def test_what_a_guard_is_for_becomes_a_story_that_it_refuses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("conformance.cli.surgery._stories", list)  # a claim is enough here
    story = tmp_path / "kept.story"

    code, _ = asked("surgery", "election", "--guard", "/controller_epoch is as it was won",
                    "--save-story", story)  # fmt: skip

    assert (code, play(read_story(story)).verdict) == (0, Verdict.HOLDS)
    assert "\nrefused write_is_applied broker=1\n" in story.read_text()
    assert "without it single_controller breaks" in story.read_text()


def test_a_step_that_is_refused_ends_the_story_with_its_reason() -> None:
    reported = as_story("T", "s", HEADING, ["broker_becomes_controller broker=1"],
                    ["broker_learns_it_won broker=2"])  # fmt: skip
    cut = as_story("T", "s", HEADING, ["broker_learns_it_won broker=2", "broker_crashes broker=1"])

    assert "refused broker_learns_it_won broker=2" in reported
    assert "the broker won and has not learned that yet" in reported
    assert "broker_crashes" not in cut
    assert play(parse(reported, "t.story")).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("check", "run.ndjson", "--save-story", "nowhere/x.story"), "there is no such folder"),
        (("mutants", "--save-story", "x.story"), "write --show ID --save-story x.story"),
        (("simulate", "--cluster", "--save-story", "x.story"), "is of single runs"),
    ],
)
def test_what_cannot_be_kept_is_refused_before_the_work_starts(
    arguments: tuple[str, ...], why: str
) -> None:
    code, reported = asked(*arguments)

    assert code == 64
    assert why in reported
