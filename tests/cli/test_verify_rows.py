"""`insync verify`: its rows are known beforehand, so that they can be shown one by one."""

from __future__ import annotations

from conformance.cli.remaining_time import DurationEstimate
from conformance.verify import EXPLORATIONS, FINDINGS, PROGRESS, planned


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
