"""The report as a page: what it draws, what it tells, and that it needs nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.ingest.files import discover
from conformance.pipeline.local import LocalEngine
from conformance.pipeline.timeline import timelines
from tests.pipeline.written import obeys, run_check, write

LOGS = Path(__file__).resolve().parents[1] / "data" / "logs"


@pytest.fixture
def report(tmp_path: Path) -> str:
    out = tmp_path / "report.html"
    run_check(str(LOGS / "planted"), "--report", str(out))
    return out.read_text(encoding="utf-8")


def test_a_finding_is_told_with_the_lines_around_it(report: str):
    finding = re.search(r"<small>(\S*planted/broker1/server\.log):32</small>", report)

    assert finding is not None
    assert re.search(r"<b> *32  \[", report)


def test_controllers_and_partitions_have_a_bar_for_each_state(report: str):
    (line,) = timelines(LocalEngine().ingest(discover([str(LOGS / "planted")]), None).events)

    states = sum(len(states) for states in line.partitions.values())
    assert len(line.terms) > 0
    assert states > len(line.partitions) > 0
    assert report.count("<g><title>") == len(line.terms) + states


def test_epochs_never_go_back_in_what_is_drawn():
    for line in timelines(LocalEngine().ingest(discover([str(LOGS / "correct")]), None).events):
        for states in line.partitions.values():
            epochs = [state.epoch or 0 for state in states]
            assert epochs == sorted(epochs)


def test_the_page_fetches_nothing(report: str):
    assert not re.search(r"""(?:src|href)=["']""", report)
    assert "http://" not in report
    assert "https://" not in report


def test_logs_without_any_state_have_a_report_too(tmp_path: Path):
    write(tmp_path, {"b1/state-change.log": [obeys(1, 1, 1, 1), obeys(2, 1, 1, 2)]})
    out = tmp_path / "r.html"

    result = run_check(str(tmp_path / "b1"), "--report", str(out))

    assert result.exit_code == 0
    assert "Findings" in out.read_text()


@pytest.mark.parametrize(
    "name, why", [("r.pdf", "name a FILE.html"), ("no/such/r.html", "there is no such folder")]
)
def test_a_report_that_cannot_be_written_is_refused_before_the_work(
    name: str, why: str, tmp_path: Path
):
    result = run_check(str(LOGS / "correct"), "--report", str(tmp_path / name))

    assert result.exit_code == 64
    assert why in result.output
    assert "lines read" not in result.output
