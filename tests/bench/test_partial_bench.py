"""The benchmark of partial traces runs, and tells each figure."""

from __future__ import annotations

import json
from pathlib import Path

from tests.bench.partial import main


def test_a_quick_run_tells_every_figure(tmp_path: Path) -> None:
    code = main(["--quick", "--json", str(tmp_path / "partial.json")])

    reported = json.loads((tmp_path / "partial.json").read_text())
    assert code == 0
    assert [row["what"] for row in reported["rows"]] == ["named", "nameless", "changes"]
    assert all(row["lines"] > 0 and row["cpu"] >= 0 for row in reported["rows"])
