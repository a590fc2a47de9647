"""Traces of any system, played in the explorer up to the line that does not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.web.played_trace import stepped
from conformance.web.run_files import NoRunError, read_run
from tests.cli.conftest import command as insync

STEPS: list[dict[str, Any]] = [
    {"step": "broker_becomes_controller", "args": {"broker": 1},
     "observed": {"zk.controller": 1, "zk.epoch": 1}},
    {"step": "broker_learns_it_won", "args": {"broker": 1}, "observed": {"belief[1]": 1}},
    {"step": "admin_deletes_topic"},
    {"step": "broker_crashes", "args": {"broker": 2}, "observed": {"up": [1]}},
]  # fmt: skip


def written(path: Path, steps: list[dict[str, Any]], **head: Any) -> Path:
    header = {"format": "insync.trace/1", "run": "r", "system": "topics", "version": "2.3",
              "brokers": 2, **head}  # fmt: skip
    lines = [{"run": "r", "node": 1, "seq": n, **one} for n, one in enumerate(steps, 1)]
    rows = [header, *lines, {"end": True, "run": "r", "events": len(steps)}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_trace_of_another_system_is_a_run_of_that_system(tmp_path: Path):
    lost = {"step": "reply_is_lost", "args": {"broker": 1}}  # its former name
    steps = [STEPS[0], lost, STEPS[1], STEPS[3]]
    path = written(tmp_path / "t.ndjson", steps)

    run = read_run(path)
    laid = insync("compare", "model", str(path))

    assert run.heading == "system topics version 2.3 brokers 2"
    assert run.lines[1] == "reply_to_registration_is_lost broker=1"
    assert run.lines[-1] == "broker_crashes broker=2"
    assert run.diagnosis is None
    assert laid.exit_code == 0


def test_it_ends_before_the_step_that_is_not_possible_with_the_reason(tmp_path: Path):
    path = written(tmp_path / "t.ndjson", STEPS)

    reported = stepped(path)
    laid = insync("compare", "model", str(path))

    assert len(reported.lines) == 2
    assert reported.diagnosis is not None
    assert f"{path}:4: " in reported.diagnosis
    assert "admin_deletes_topic() is not possible" in reported.diagnosis
    assert laid.exit_code == 1


def test_what_was_seen_otherwise_is_reported_with_both_values(tmp_path: Path):
    steps = [STEPS[0], {**STEPS[1], "observed": {"belief[1]": 2}}]

    reported = stepped(written(tmp_path / "t.ndjson", steps))

    assert reported.diagnosis is not None
    assert "belief[1] was seen as 2, and after this step it is 1" in reported.diagnosis


def test_a_step_of_the_implementation_is_known_by_the_systems_map(tmp_path: Path):
    steps = [{"step": name, "args": {"broker": 1}}
             for name in ("broker_connects", "broker_runs_for_controller",
                          "controller_continues_event", "reply_to_registration_is_lost")
             ]  # fmt: skip

    reported = stepped(written(tmp_path / "t.ndjson", steps, system="election"))

    assert reported.diagnosis is None
    assert [line.split()[0] for line in reported.lines] == [
        "broker_connects", "broker_reads_epoch", "broker_wins_election",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "head, lines, why",
    [
        ({"system": "tpoics"}, STEPS[:1], "did you mean 'topics'"),
        ({"format": "insync.trace/9"}, STEPS[:1], "insync.trace/9' is not known"),
        ({}, [], "no events"),
    ],
)
def test_what_is_no_trace_of_a_system_is_refused_in_a_line(
    head: dict[str, Any], lines: list[dict[str, Any]], why: str, tmp_path: Path
):
    with pytest.raises(NoRunError, match=why):
        stepped(written(tmp_path / "t.ndjson", lines, **head))


def test_a_lost_line_and_a_missing_step_end_the_run(tmp_path: Path):
    lost = [STEPS[0], {**STEPS[1], "seq": 7}]
    hidden = [STEPS[0], {"hidden": 2, "observed": {"up": [1]}}]

    assert "a line of node 1 is missing" in str(stepped(written(tmp_path / "a", lost)).diagnosis)
    assert "steps are missing" in str(stepped(written(tmp_path / "b", hidden)).diagnosis)


def test_a_trace_that_was_cut_off_is_refused(tmp_path: Path):
    path = written(tmp_path / "t.ndjson", STEPS[:2])
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))

    with pytest.raises(NoRunError, match="it was cut off"):
        stepped(path)
