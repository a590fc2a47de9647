"""Findings of one cause are one, with a count; and the page begins with what matters."""

from __future__ import annotations

from pathlib import Path

from conformance.pipeline.causes import causes, that_matter
from tests.pipeline.written import changed, checked, run_check, write


def broken(folder: Path) -> Path:
    """Seven partitions whose leader is not in the ISR, and one leader epoch that goes back."""
    lines = [changed(n, (1, 4), 7, 5, "1,2", tp=f"orders-{n}") for n in range(7)]
    lines += [changed(20, (1, 4), 1, 9, "1,2"), changed(21, (1, 4), 1, 8, "1,2")]
    return write(folder, {"state-change.log": lines})


def test_one_fault_of_many_partitions_is_one_cause_with_a_count(tmp_path: Path):
    result = checked(broken(tmp_path))

    found = {(each["rule"], each["count"]) for each in result["causes"]}

    assert found == {("leader_is_in_its_isr", 7), ("leader_epochs_never_go_back", 1)}
    assert len(result["findings"]) == 8


def test_the_report_in_words_tells_a_cause_once(tmp_path: Path):
    said = run_check(str(broken(tmp_path))).stdout

    assert said.count("violation: leader_is_in_its_isr") == 1
    assert f"and 6 more of the same cause, up to {tmp_path / 'state-change.log'}:7" in said


def test_what_breaks_and_what_is_frequent_comes_first(tmp_path: Path):
    every = causes(checked(broken(tmp_path))["findings"])

    assert [each.count for each in that_matter(every)] == [7, 1]


def test_the_page_begins_with_the_verdict_in_a_sentence_and_what_matters(tmp_path: Path):
    page = tmp_path / "report.html"
    run_check(str(broken(tmp_path / "logs")), "--report", str(page))

    text = page.read_text()
    top = text[: text.index("lines read =")]
    assert "broken (control plane only; except: " in top
    assert "To look at first" in top
    assert "Changed partition orders-0" in top  # the line itself, in its context
    assert "and 6 more of the same cause" in top


def test_what_stands_beside_another_finding_comes_after_what_stands_elsewhere():
    places = [("a", 9), ("a", 10), ("a", 12), ("a", 50), ("b", 10)]
    every = causes(
        {
            "kind": "violation",
            "rule": f"rule_{number}",
            "cluster": "c",
            "file": file,
            "line": line,
            "why": "so",
        }
        for number, (file, line) in enumerate(places)
    )

    first = [(each.finding["file"], each.finding["line"]) for each in that_matter(every)]

    assert first == [("a", 9), ("a", 50), ("b", 10)]
