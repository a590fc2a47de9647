"""The benchmark of the pipeline runs, tells what it measured, and would notice a difference."""

from __future__ import annotations

import json
from pathlib import Path

from tests.bench.pipeline import generated
from tests.bench.pipeline.__main__ import disagreements, main
from tests.bench.pipeline.generated import LogSize


def test_a_small_size_is_measured_and_what_was_planted_is_found(tmp_path: Path, capsys):
    target = tmp_path / "pipeline.json"

    sizes = ["--events", "2000", "--partitions", "5", "--skew", "--cores", "0", "--rounds", "1"]
    code = main([*sizes, "--json", str(target)])

    reported = json.loads(target.read_text())
    (size,) = reported["sizes"]
    assert (code, reported["wrong"]) == (0, [])
    assert set(size["lines_per_second_per_core"]) == {"read", "parse", "order", "check", "whole"}
    assert min(size["lines_per_second_per_core"].values()) > 0
    assert len(size["planted"]) == 6
    assert "2000-5-skew" in capsys.readouterr().out


def test_runs_that_find_different_things_are_reported():
    line = ["violation", "rule", "/a.log", 3]
    one = {"cores": 1, "digest": "a", "findings": [line]}
    other = {"cores": 2, "digest": "b", "findings": []}

    found = disagreements({"runs": [one, other], "planted": [{"file": "a.log", "line": 3}]})

    assert len(found) == 2
    assert "findings differ" in found[0]
    assert "2 cores" in found[1]


def test_the_same_seed_writes_the_same_logs(tmp_path: Path):
    for name in ("one", "other"):
        generated.write(LogSize(500, 3, seed=7), tmp_path / name)

    texts = [
        [path.read_text() for path in sorted((tmp_path / name).rglob("*.log*"))]
        for name in ("one", "other")
    ]

    assert texts[0] == texts[1]
    assert sum(text.count("\n") for text in texts[0]) >= 500
