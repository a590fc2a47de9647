"""The benchmark of conformance runs, tells each rate, and would notice a missed goal."""

from __future__ import annotations

import json

import pytest

from tests.bench.conformance import GOALS, Rate, main


def test_a_quick_run_tells_every_rate(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["--quick", "--json", "-"])

    reported = json.loads(capsys.readouterr().out)
    assert (code, reported["missed"]) == (0, [])
    assert [one["what"] for one in reported["rates"]] == [
        "lock-step, seeded", "lock-step, Hypothesis", "whole, from NDJSON", "whole, from memory",
        "whole, from Arrow", "whole, from Parquet", "partial, 60 lines",
    ]  # fmt: skip
    assert all(one["counted"] > 0 and one["per_cpu_s"] > 0 for one in reported["rates"])


def test_a_rate_below_its_goal_is_missed_and_one_without_a_goal_never() -> None:
    slow = GOALS["whole, from Arrow"] - 1

    assert Rate("whole, from Arrow", 1, slow, 10**9).missed
    assert not Rate("whole, from Arrow", 1, slow + 1, 1).missed
    assert not Rate("whole, from Parquet", 1, 1, 1).missed
