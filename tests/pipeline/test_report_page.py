"""The report as a page: what it draws, what it tells, and that it needs nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.ingest.files import discover
from conformance.pipeline.drawing import MOST_ROWS, Axis, drawing
from conformance.pipeline.local import LocalEngine
from conformance.pipeline.page import _findings
from conformance.pipeline.timeline import ControllerTerm, LeadershipState, Timeline, timelines
from specs.rendering import Table, as_html
from tests.pipeline.written import obeys, run_check, write

LOGS = Path(__file__).resolve().parents[1] / "data" / "logs"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("report") / "report.html"
    run_check(str(LOGS / "planted"), "--report", str(out))
    return out.read_text(encoding="utf-8")


def test_a_finding_is_reported_with_the_lines_around_it(report: str):
    finding = re.search(r"<small>(\S*planted/broker1/server\.log):29</small>", report)

    assert finding is not None
    assert re.search(r"<b> *29  \[", report)


def test_controllers_and_partitions_have_a_bar_for_each_state(report: str):
    (line,) = timelines(LocalEngine().ingest(discover([str(LOGS / "planted")]), None).events)

    states = sum(len(states) for states in line.partitions.values())
    assert len(line.terms) > 0
    assert states > len(line.partitions) > 0
    assert report.count("<g><title>") == len(line.terms) + len(line.starts) + states
    assert report.count("has started, 20") == len(line.starts) > 0
    assert f"{len(line.terms)} terms of controllers, {len(line.partitions)} partitions" in report


def test_epochs_never_go_back_in_what_is_drawn():
    lines = timelines(LocalEngine().ingest(discover([str(LOGS / "correct")]), None).events)

    assert any(line.partitions for line in lines)
    for line in lines:
        for states in line.partitions.values():
            epochs = [state.epoch or 0 for state in states]
            assert epochs == sorted(epochs)


def test_the_page_fetches_nothing(report: str):
    assert not re.search(r"""(?:src|href)=["'](?!#)""", report)
    assert "http://" not in report
    assert "https://" not in report


def test_logs_without_any_state_have_a_report_too(tmp_path: Path):
    write(tmp_path, {"b1/state-change.log": [obeys(1, 1, 1, 1), obeys(2, 1, 1, 2)]})
    out = tmp_path / "r.html"

    result = run_check(str(tmp_path / "b1"), "--report", str(out))

    assert result.exit_code == 0
    assert "Findings" in out.read_text()


@pytest.mark.parametrize(
    "name, why",
    [
        ("r.pdf", "name a FILE.html, a FILE.json or a NAME.parquet"),
        ("no/such/r.html", "there is no such folder"),
        (".", "a report is a page, JSON or tables"),
    ],
)
def test_a_report_that_cannot_be_written_is_refused_before_the_work(
    name: str, why: str, tmp_path: Path
):
    result = run_check(str(LOGS / "correct"), "--report", str(tmp_path / name))

    assert result.exit_code == 64
    assert why in result.output
    assert "lines read" not in result.output


def test_a_page_has_every_part_of_the_report(report: str):
    for part in (
        "id='findings'",
        "id='timeline'",
        "id='clocks'",
        "Stamps that go back",
        "id='model'",
        "steps that no line shows",
        "refused because",
        "id='rules'",
        "id='rejected'",
    ):
        assert part in report
    assert "<td>broker_wins_election</td>" in report
    assert "<td>leader_shrinks_isr</td>" in report


def line_of(partitions: int, states: int) -> Timeline:
    """A cluster in which every partition has a history of its own."""
    found = {
        f"orders-{n}": [
            LeadershipState(
                20_000 * (n + 60 * number), 1 + number % 3, number, (1, 2, 3), f"f:{number}"
            )
            for number in range(states)
        ]
        for n in range(partitions)
    }
    return Timeline("big", 0, 20_000 * 90 * states, [ControllerTerm(1, 7, 0, None, "f:1")], found)


def test_of_many_partitions_the_busiest_are_drawn_and_the_others_counted():
    picture = drawing(line_of(partitions=90, states=2))

    assert f"{MOST_ROWS} partitions in {MOST_ROWS} rows; 50 quieter" in picture


def test_changes_too_near_to_be_seen_are_drawn_as_one():
    picture = drawing(line_of(partitions=1, states=5000))

    assert "changes within a moment" in picture
    assert picture.count("<g><title>") < 1000


def test_partitions_with_one_history_share_a_row_that_names_them_all():
    states = [LeadershipState(5000, 1, 3, (1, 2), "f:1"), LeadershipState(9000, 2, 4, (2,), "f:2")]
    twins = {f"orders-{n}": states for n in range(3)}

    picture = drawing(Timeline("one", 0, 10_000, [], twins))

    assert "orders-0 +2 alike<title>orders-0, orders-1, orders-2</title>" in picture
    assert picture.count("<g><title>") == 2


def test_a_quiet_month_leaves_room_for_a_busy_second():
    month = 30 * 24 * 3600 * 1000
    axis = Axis([0, 300, 1000, month, month + 1000])

    assert axis.at(month) < axis.at(month + 1000)
    assert axis.at(1000) - axis.at(0) > 30
    assert sorted(map(axis.at, axis.moments)) == [axis.at(moment) for moment in axis.moments]


def test_what_is_too_much_for_a_page_is_folded_and_counted():
    rows = [(f"name {n}", n) for n in range(700)]

    text = as_html(Table(("name", "count"), rows))

    assert "<summary>475 more</summary>" in text
    assert "and 200 more" in text


def test_a_page_escapes_what_lines_say():
    assert "<script>" not in as_html(Table(("name",), [("<script>",)]))
    twin = Timeline("<b>", 0, 9, [], {"<i>-0": [LeadershipState(5, 1, 3, (1,), "<u>:1")]})
    assert not re.search("<[bu]>|<i>", drawing(twin))


def test_the_first_sentence_says_what_was_found_and_where(report: str):
    assert re.search(
        r"<b>These logs break the protocol, for \w+ causes?; first to look at: \S+:\d+ ", report
    )


def test_what_was_not_seen_is_said(report: str):
    seen = report.split("id='not-seen'")[1].split("<h2")[0]

    assert "<li>no line to compare for: " in seen


def test_findings_of_one_cause_are_one_with_a_count():
    one = {
        "kind": "incomplete", "rule": "r", "cluster": "c", "file": "f", "allowed": "a",
        "why": "orders-1 goes back from 7 to 3",
    }  # fmt: skip
    every = [one | {"line": n, "why": f"orders-{n} goes back from 7 to 3"} for n in range(1, 60)]

    text = _findings(every, {})

    assert "59 of 1 causes" in text
    assert text.count("class='finding") == 1
    assert "and 58 more of the same cause, up to f:59" in text


def test_the_picture_zooms_and_moves_by_keys_and_needs_nothing_from_outside(report: str):
    assert re.search(r"<svg [^>]*class='time' tabindex='0'", report)
    for key in ("'+'", "'-'", "ArrowLeft", "ArrowRight", "Home", "End"):
        assert key in report.split("<script>")[1]
    assert not re.search(r"<script[^>]+src|import\(|fetch\(", report)


def test_bars_too_narrow_to_be_seen_say_how_wide_they_are():
    states = [LeadershipState(1000 + n, 1, n, (1, 2), f"f:{n}") for n in range(30)]

    picture = drawing(Timeline("one", 0, 10_000_000, [], {"orders-0": states}))

    assert picture.count("<g><title>") > 10
    assert "data-w='" in picture
