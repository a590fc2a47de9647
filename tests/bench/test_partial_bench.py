"""The benchmark of partial traces runs, and tells each figure."""

from __future__ import annotations

import json
from pathlib import Path

from conformance.partial import thinned
from conformance.partial.recording import simulated
from conformance.partial.thinning import LEADER_ISR_EPOCHS
from impl import simulate
from tests.bench.partial import main


def test_a_quick_run_tells_every_figure(tmp_path: Path) -> None:
    code = main(["--quick", "--json", str(tmp_path / "partial.json")])

    reported = json.loads((tmp_path / "partial.json").read_text())
    assert code == 0
    assert [row["what"] for row in reported["rows"]] == ["named", "nameless", "changes"]
    assert all(row["lines"] > 0 and row["cpu"] >= 0 for row in reported["rows"])


def test_a_thin_recording_is_the_whole_one_with_the_rest_left_out() -> None:
    thin = simulated(3, 200, names=True)

    assert thin.events == thinned(simulate(3, 200), LEADER_ISR_EPOCHS).events
    assert thin.initial == thinned(simulate(3, 200), LEADER_ISR_EPOCHS).initial
