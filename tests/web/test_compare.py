"""Two runs in lock-step, and a trace beside the model: where they part, and why."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.web.board import board
from conformance.web.compare import NoComparisonError, as_text, compared, under
from conformance.web.run_files import ReplayedRun, read_run
from impl.world.partition_simulator import simulate
from impl.world.trace import Trace, write_trace
from tests.cli.conftest import command as insync

STORIES = Path(__file__).resolve().parents[2] / "specs" / "stories"
LOGS = Path(__file__).resolve().parents[1] / "data" / "logs"
LOST = STORIES / "m2_is_lost.story"
UNFENCED = STORIES / "deposed_controller_writes_unfenced.story"


@pytest.fixture(scope="module")
def trace() -> Trace:
    return simulate(7, 60)


@pytest.fixture
def broken(trace: Trace, tmp_path: Path) -> tuple[Path, int]:
    """A trace in which a high watermark is seen where no run has it, and the line of that."""
    at, name = next(
        (n, path) for n, event in enumerate(trace.events) if n > 20
        for path in event.observed if path.endswith(".hw")
    )  # fmt: skip
    events = list(trace.events)
    seen = {**events[at].observed, name: events[at].observed[name] + 3}
    events[at] = replace(events[at], observed=seen)
    path = tmp_path / "broken.ndjson"
    write_trace(path, Trace(trace.header, tuple(events)))
    return path, at + 2


def test_a_run_beside_itself_is_alike():
    run = read_run(LOST)

    result = compared(run, run)

    assert result.first is None
    assert len(result.rows) == len(run.lines) + 1
    assert as_text(result).endswith(f"alike: {len(run.lines)} steps, state by state")


def test_the_same_steps_under_the_fix_part_where_the_fix_changes_what_they_do():
    run = read_run(LOST)

    result = compared(run, under(run, "0.11"))

    assert result.first is not None
    row = result.rows[result.first]
    assert "log[2]: [id 0 epoch 1] → [id 0 epoch 1, id 1 epoch 1]" in row.differs
    assert all(one.alike for one in result.rows[: result.first])


def test_what_a_side_refuses_is_passed_over_there_with_its_reason():
    run = read_run(UNFENCED)
    result = compared(run, under(run, "2.3"))

    refused = [row.right.frame for row in result.rows if row.right and row.right.refused]

    assert result.first is not None
    assert result.rows[result.first].words.startswith("refused on the right: ")
    assert refused
    assert all(frame is not None and frame.changes == () for frame in refused)
    assert len(result.rows) == len(run.lines) + 1


def test_the_first_difference_stands_in_the_middle_of_the_text():
    run = read_run(LOST)
    result = compared(run, read_run(STORIES / "m2_is_saved.story"))

    rows = [line for line in as_text(result).splitlines() if re.match(r"[ ≠~] +\d+  ", line)]

    assert len(rows) == 7
    assert rows[3].startswith(f"≠   {result.first}")


def test_a_run_that_ends_earlier_differs_there():
    played = read_run(LOST)
    shorter = replace(played, lines=played.lines[:5])

    result = compared(played, shorter)

    assert result.first == 6
    assert result.rows[6].words == "the right run has ended"


def test_runs_of_two_systems_are_not_compared():
    with pytest.raises(NoComparisonError, match="two systems, replication and classic"):
        compared(read_run(LOST), ReplayedRun("x", "system classic", ()))


def test_what_differs_is_reported_leaf_by_leaf_with_both_values():
    heading = "system classic version kip_320 brokers 3"
    elected = "controller_elects_leader replica=1"
    other = "controller_elects_leader replica=2"

    result = compared(ReplayedRun("a", heading, (elected,)), ReplayedRun("b", heading, (other,)))

    assert result.first == 1
    assert any(leaf.endswith("1 → 2") for leaf in result.rows[1].differs)


def test_a_trace_that_fits_is_alike_and_exits_with_zero(trace: Trace, tmp_path: Path):
    path = tmp_path / "run.ndjson"
    write_trace(path, trace)

    result = insync("compare", "model", str(path))

    assert result.exit_code == 0
    assert "alike: " in result.output


def test_a_trace_that_does_not_fit_parts_from_the_model_at_that_line(broken: tuple[Path, int]):
    path, line = broken

    result = insync("compare", "model", str(path), "--json", "-")

    reported = json.loads(result.output)
    assert result.exit_code == 1
    assert reported["first"] == len(reported["rows"]) - 1
    assert f"broken.ndjson:{line}:" in reported["rows"][-1]["words"]
    assert [leaf for leaf in reported["rows"][-1]["differs"] if ".hw: " in leaf]


def test_a_trace_that_does_not_fit_is_explained_to_its_last_line_that_does(
    broken: tuple[Path, int], tmp_path: Path
):
    path, line = broken
    run = read_run(path)

    insync("explain", str(path), "--out", str(tmp_path / "x.html"))
    text = insync("explain", str(path)).output

    assert board(run.heading).at(run.lines)
    assert f"broken.ndjson:{line}:" in text
    assert "Here it ends: " in text
    assert 'diagnosis":"' in (tmp_path / "x.html").read_text()
    assert run.places[-1].split()[0].startswith("broken.ndjson:")


def test_the_findings_of_a_check_are_explained_by_the_trace_that_they_are_of(
    broken: tuple[Path, int], tmp_path: Path
):
    found = tmp_path / "found.json"
    insync("check", str(broken[0]), "--json", str(found))

    result = insync("explain", str(found))

    assert result.exit_code == 0
    assert "Here it ends: " in result.output


def test_a_trace_with_parts_missing_is_laid_beside_the_run_that_fits(trace: Trace, tmp_path: Path):
    path = tmp_path / "partial.ndjson"
    write_trace(path, trace)
    header, *lines = path.read_text().splitlines()
    head = {**json.loads(header), "partial": True}
    path.write_text("\n".join([json.dumps(head), *lines]) + "\n")

    result = insync("compare", "model", str(path))

    assert result.exit_code == 0
    assert "alike: " in result.output


def test_logs_are_laid_beside_what_is_allowed():
    result = insync("compare", "model", str(LOGS / "planted"), "--json", "-")

    reported = json.loads(result.output)
    assert result.exit_code == 1
    assert reported["rows"][reported["first"]]["left"] == "allowed: a leader epoch above 13"
    assert "broker1/server.log:29" in reported["rows"][reported["first"]]["right"]


def test_logs_with_nothing_wrong_are_alike():
    result = insync("compare", "model", str(LOGS / "correct"))

    assert result.exit_code == 0
    assert result.output.splitlines()[-1].endswith("and nothing that is not allowed")


def test_a_file_that_is_neither_trace_nor_log_is_refused(tmp_path: Path):
    path = tmp_path / "server.log"
    path.write_text("Dear diary\n")

    result = insync("compare", "model", str(path))

    assert result.exit_code == 64
    assert "no line of a broker that is understood" in result.output


def test_a_page_of_a_comparison_is_whole_in_itself(tmp_path: Path):
    out = tmp_path / "both.html"

    result = insync("compare", str(LOST), "0.11", "--out", str(out))

    text = out.read_text()
    assert result.exit_code == 1
    assert not re.search(r"""(?:src|href)=["'](?!#)""", text)
    assert len(text) < 1_000_000
