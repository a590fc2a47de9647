"""The benchmark of the implementation runs, and would notice a missed goal or a loss."""

from __future__ import annotations

import json

from impl.disk.memory import MemoryFile
from tests.bench import impl
from tests.bench.impl import QUICK, MeasuredFigure, crashes, main


def test_a_quick_run_tells_every_figure_in_a_table_and_in_json(tmp_path, capsys):
    code = main(["--quick", "--json", str(tmp_path / "impl.json")])

    reported = json.loads((tmp_path / "impl.json").read_text())
    shown = capsys.readouterr().out
    assert (code, reported["wrong"]) == (0, [])
    assert len(reported["figures"]) == 18
    for one in reported["figures"]:
        assert one["name"] in shown
        assert one["value"] > 0
    survived = [one for one in reported["figures"] if one["unit"] == "deaths"]
    assert [one["value"] for one in survived] == [QUICK.kill_points] * 3


def test_a_figure_on_the_wrong_side_of_its_goal_is_missed():
    assert MeasuredFigure("steps", 20_001, "steps/s", 20_000).well
    assert not MeasuredFigure("steps", 19_999, "steps/s", 20_000).well
    assert MeasuredFigure("run", 1.9, "s", 2, at_least=False).well
    assert not MeasuredFigure("run", 2.1, "s", 2, at_least=False).well
    assert MeasuredFigure("copy", 1, "MB/s").well


def test_a_disk_whose_syncs_do_nothing_loses_something_that_is_reported(monkeypatch):
    monkeypatch.setattr(MemoryFile, "sync", lambda file: None)

    _, lost = crashes(impl.BenchPlan(1, 1, 1, 1, 1, 1, 400))

    assert lost
    assert lost[0].startswith("without power: ")
