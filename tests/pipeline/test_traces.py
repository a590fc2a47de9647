"""Recorded traces go through the same command, and need no engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from impl.world.partition_simulator import simulate
from impl.world.trace import write_trace
from tests.pipeline.written import changed, run_check, write


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "run.ndjson"
    write_trace(path, simulate(seed=5, steps=60))
    return path


def test_a_recorded_run_of_the_implementation_holds(trace: Path):
    result = run_check(str(trace), "--json", "-")

    found = json.loads(result.stdout)
    assert (result.exit_code, found["verdict"], found["traces"]) == (0, "holds", 1)
    assert found["lines"] == {"read": 60, "events": 60, "continuation": 0, "rejected": 0}


def test_a_trace_that_is_cut_short_is_not_checked(trace: Path):
    trace.write_text("".join(trace.read_text().splitlines(keepends=True)[:20]))

    result = run_check(str(trace), "--json", "-")

    found = json.loads(result.stdout)
    assert (result.exit_code, found["verdict"]) == (3, "not checked")
    assert [finding["kind"] for finding in found["findings"]] == ["unreadable"]


def test_traces_and_logs_are_judged_together(trace: Path):
    write(trace.parent, {"state-change.log": [changed(1, (1, 4), 7, 5, "1,2")]})

    result = run_check(str(trace.parent), "--json", "-")

    found = json.loads(result.stdout)
    assert (result.exit_code, found["verdict"]) == (1, "broken")
    assert [each["verdict"] for each in found["coverage"]["recorded"]] == ["holds"]
