"""The benchmark of the explorer tells each figure."""

from __future__ import annotations

import json

import pytest

from tests.bench.explorer import main


def test_a_quick_run_tells_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["--quick", "--json", "-"])

    reported = json.loads(capsys.readouterr().out)
    (start,), (walk,) = reported["starts"], reported["walks"]
    assert code == 0
    assert 0 < start["page"] <= start["state"]
    assert [goal["states"] > 0 and goal["warm"] > 0 for goal in start["goals"]] == [True] * 3
    assert walk["steps"] == 5
    assert 0 < walk["median"] <= walk["worst"]
    assert 0 < reported["explained_bytes"] < 1_000_000
