"""`insync verify`: its rows are known beforehand, so that they can be shown one by one."""

from __future__ import annotations

import re
from pathlib import Path

from conformance.cli.remaining_time import DurationEstimate
from conformance.verify import EXPLORATIONS, FINDINGS, PROGRESS, planned

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_rows_to_come_are_as_many_as_claims_are_asked():
    asked = sum(len(one.claims) for one in EXPLORATIONS)

    assert len(planned()) == 3 + len(PROGRESS) + asked + len(FINDINGS) + 10
    assert len(planned(deep=True)) > len(planned())


def test_a_later_run_says_how_long_the_last_one_took(tmp_path, monkeypatch):
    monkeypatch.setenv("INSYNC_CACHE", str(tmp_path))

    first = DurationEstimate.of("verify --deep", 3)
    first.keep()
    second = DurationEstimate.of("verify --deep", 3)

    assert first.first_time("two minutes") == "two minutes"
    assert first.left() == ""
    assert second.first_time("two minutes") == "the last run took 0 s"
    assert second.left() == ", nearly done"


def test_a_file_of_the_pace_that_is_damaged_means_no_estimate(tmp_path, monkeypatch):
    monkeypatch.setenv("INSYNC_CACHE", str(tmp_path))
    DurationEstimate.of("verify").keep()
    next(tmp_path.rglob("*.json")).write_text("{")

    assert DurationEstimate.of("verify").before_s is None


def test_the_rows_of_the_readme_are_rows_of_the_run_in_its_order_with_the_verdicts_expected():
    table = README.read_text(encoding="utf-8").split("─\n", 1)[1].split("```", 1)[0]
    shown = [re.split(r"\s{2,}", line.strip()) for line in table.splitlines() if line[:1].isalnum()]
    rows, (last,) = shown[:-1], shown[-1]
    to_come = iter(expected())

    assert len(rows) > 3
    for claim, of, verdict, *_ in rows:
        assert (claim, of, re.sub(r" \(.*|,$", "", verdict)) in to_come
    assert last.startswith(f"holds: {len(planned())} rows, every row is as expected, ")


def expected():
    """Claim, system and verdict of each row in order: verdicts only of proofs, of what is explored
    and found, and of logs."""
    broken = {(claim, f"{one.system} {one.version}") for one in EXPLORATIONS
              for claim in one.broken}  # fmt: skip
    proved = 3 + len(PROGRESS)
    found = proved + sum(len(one.claims) for one in EXPLORATIONS)
    rows = planned()
    for at, row in enumerate(rows):
        if at < proved:
            verdict = "holds, proved"
        elif at < found:
            verdict = "broken, as history says" if row in broken else "holds"
        elif at < found + len(FINDINGS):
            verdict = "broken, as history says"
        else:
            verdict = "broken, as planted" if at == len(rows) - 1 else "holds"
        yield *row, verdict
