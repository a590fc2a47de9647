"""A run that was found is kept as a story, and shown in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.web.findings import of_story_text
from impl.world.partition_simulator import simulate
from impl.world.trace import write_trace
from specs.grading import exercises
from tests.cli.conftest import command as insync
from tests.planting import commits_alone

WRONG = """[{"source": "nobody", "case": "the dead lead", "versions": "1.1+", "kind": "derived",
"input": {"strategy": "Offline", "assignment": [1, 2], "isr": [1], "live": [1],
"uncleanEnabled": false}, "expected": {"leader": 2}}]"""


def test_a_found_run_is_kept_as_a_story_that_plays(tmp_path: Path):
    kept = tmp_path / "lost.story"

    found = insync(
        "find", "strong_isr", "classic", "--version", "kip_101", "--save-story", str(kept)
    )

    assert found.exit_code == 1
    assert insync("story", str(kept)).exit_code == 0


def test_a_bug_of_the_zoo_is_kept_too(tmp_path: Path):
    kept = tmp_path / "bug.story"

    insync("bugs", "KAFKA-532", "--save-story", str(kept))

    assert insync("story", str(kept)).exit_code == 0


def test_where_nothing_is_found_nothing_is_written(tmp_path: Path):
    kept = tmp_path / "none.story"

    found = insync("find", "strong_isr", "classic", "--brokers", "2", "--save-story", str(kept))

    assert "there is no run to keep" in found.output
    assert not kept.exists()


def test_a_found_run_is_opened_in_the_browser(monkeypatch: pytest.MonkeyPatch):
    served: list[dict[str, Any]] = []
    monkeypatch.setattr(
        "conformance.cli.play.serve", lambda opened, port, opens: served.append(opened)
    )

    found = insync("find", "strong_isr", "classic", "--version", "hw_truncation", "--open")

    assert found.exit_code == 1
    assert served[0]["heading"].startswith("system classic version hw_truncation brokers 3")
    assert len(served[0]["lines"]) == 8


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    shown: list[dict[str, Any]] = []

    def serve(opened: dict[str, Any], port: int, opens: bool, **more: Any) -> None:
        shown.append({**opened, **more})

    monkeypatch.setattr("conformance.cli.play.serve", serve)
    return shown


def test_what_exploring_breaks_is_opened_too(served: list[dict[str, Any]]):
    found = insync("explore", "classic", "--version", "hw_truncation", "--claim", "strong_isr",
                   "--open")  # fmt: skip

    assert found.exit_code == 1
    assert len(served[0]["lines"]) == 8


def test_a_story_is_opened_and_of_several_the_one_that_goes_otherwise(
    served: list[dict[str, Any]], tmp_path: Path
):
    good, bad = tmp_path / "a.story", tmp_path / "b.story"
    opening = "# It.\nsystem classic\n\ncontroller_elects_leader replica="
    good.write_text(f"{opening}1\ncheck leader_in_isr\n----\n")
    insync("story", str(good), "--accept")
    bad.write_text(f"{opening}2\ncheck leader_in_isr\n----\nsomething else\n")

    insync("story", str(good), str(bad), "--open")

    assert served[0]["lines"] == ["controller_elects_leader replica=2"]


def test_a_run_that_is_explained_is_opened(served: list[dict[str, Any]]):
    story = Path(__file__).resolve().parents[2] / "specs" / "stories" / "m2_is_lost.story"

    result = insync("explain", str(story), "--open")

    assert result.exit_code == 0
    assert served[0]["heading"] == "system replication version 0.10 brokers 2"


def test_a_trace_is_opened_beside_the_model(served: list[dict[str, Any]], tmp_path: Path):
    path = tmp_path / "run.ndjson"
    write_trace(path, simulate(3, 20))

    insync("explain", str(path), "--open")

    assert served[0]["comparison"]["first"] is None
    assert len(served[0]["comparison"]["rows"]) == len(served[0]["lines"]) + 1


def test_a_simulated_run_is_opened_beside_the_model(served: list[dict[str, Any]]):
    result = insync("simulate", "--seeds", "3..4", "--steps", "20", "--open")

    assert result.exit_code == 0
    assert served[0]["comparison"]["first"] is None


def test_what_still_goes_wrong_with_a_design_is_opened(
    served: list[dict[str, Any]], tmp_path: Path
):
    exercise = next(one for one in exercises() if one.task == "repair")
    answer = tmp_path / "answer.txt"
    answer.write_text(f"# exercise {exercise.name}\n{exercise.opening}\n")

    result = insync("grade", str(answer), "--open")

    assert result.exit_code == 1
    assert served[0]["lines"]


def test_logs_that_were_checked_are_opened_at_the_line_that_broke_a_rule(
    served: list[dict[str, Any]],
):
    logs = Path(__file__).resolve().parents[1] / "data" / "logs" / "planted"

    result = insync("check", str(logs), "--engine", "local", "--open")

    beside = served[0]["comparison"]
    assert result.exit_code == 1
    assert beside["rows"][beside["first"]][1][0].endswith("server.log:29)")
    assert "no_older_leader_epoch_is_applied" in beside["diagnosis"]


def test_a_counterexample_to_induction_is_opened_as_a_state_and_a_step(
    served: list[dict[str, Any]],
):
    result = insync("prove", "single_controller", "--without", "zk_writes_fenced", "--open")

    beside = served[0]["comparison"]
    (row,) = beside["rows"]
    assert result.exit_code == 2
    assert row[1][0] == "write_is_applied broker=1"
    assert "stale_write: false → true" in row[2]
    assert "no_stale_write_or_request_is_accepted does not hold after it" in row[3]


def test_a_proof_that_goes_through_has_nothing_to_open(served: list[dict[str, Any]]):
    result = insync("prove", "single_controller", "--open")

    assert result.exit_code == 0
    assert "there is no counterexample to show" in result.output
    assert served == []


def test_what_a_guard_is_for_is_opened_beside_the_system_that_has_it(
    served: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("conformance.cli.surgery._stories", list)  # a claim is enough here

    insync("surgery", "election", "--guard", "/controller_epoch is as it was won", "--open")

    beside = served[0]["comparison"]
    left, right, _, words = beside["rows"][beside["first"]]
    assert left[1] is not None
    assert "/controller_epoch is as it was won — false" in left[1]
    assert right[1] is None
    assert words.startswith("refused on the left")
    assert "single_controller breaks" in beside["diagnosis"]


def test_a_wrong_answer_is_opened_beside_what_is_expected(
    served: list[dict[str, Any]], tmp_path: Path
):
    path = tmp_path / "election.json"
    path.write_text(WRONG)

    result = insync("vectors", str(path), "--open")

    beside = served[0]["comparison"]
    assert result.exit_code == 1
    assert beside["rows"][0][0][0].startswith("expected: ")
    assert beside["rows"][0][1][0].startswith("got: ")


def test_a_story_that_a_diagnosis_tells_is_a_run():
    text = (Path(__file__).resolve().parents[2] / "specs/stories/m2_is_lost.story").read_text()

    reported = of_story_text(text)

    assert reported.heading == "system replication version 0.10 brokers 2"
    assert len(reported.lines) == 36


def test_edges_that_are_alike_have_nothing_to_open(served: list[dict[str, Any]]):
    result = insync("edges", "election", "--max-states", "20", "--open")

    assert "there is no run to show" in result.output
    assert served == []


def test_the_first_edge_that_differs_is_opened_as_the_run_to_it(
    served: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
):
    commits_alone(monkeypatch)

    result = insync("edges", "--open")

    assert result.exit_code == 1
    assert served[0]["heading"].startswith("system replication")
    assert served[0]["lines"][-1] == "leader_appends broker=1"
