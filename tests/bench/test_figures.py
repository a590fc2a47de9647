"""The benchmarks with goals run, and would notice a missed goal or a loss."""

from __future__ import annotations

import json

import pytest

from conformance.mapping import MAPPED
from impl.disk.memory import MemoryFile
from impl.log.loading import load_log
from tests.bench import impl, lockstep, partial, replay, storage
from tests.bench.figures import Figure
from tests.bench.impl import QUICK, crashes

LOG = [f"log, records of {size} bytes: {what}" for size in ("100", "1,000")
       for what in ("copy", "append", "flush", "read", "scan", "encode", "decode")]  # fmt: skip
DEATHS = [f"deaths survived, {how}" for how in ("killed", "without power", "lying disk")]
NAMES = {
    impl: [
        "small, everything", "small, everything, traced", "small, none", "small, none, traced",
        "wide, everything, 1,000 steps", "wide, none, 1,000 steps", "held after 400 steps",
        "held after 4,000 steps", "the most ever held", *LOG, *DEATHS,
    ],
    lockstep: [
        "seeded", "watched", "hypothesis", *(f"steps of {name}" for name in lockstep.WALKED),
        *(f"edges of {name}" for name in MAPPED),
    ],
    replay: [
        "from NDJSON", "from memory", "from Arrow", "from Parquet",
    ],
    partial: [
        *(f"{kind}, 300 lines{what}" for kind in partial.KINDS
          for what in ("", ", the slowest of 1", ", followed")), "the most ever held",
    ],
}  # fmt: skip


@pytest.mark.parametrize("bench", NAMES, ids=lambda bench: bench.__name__)
def test_a_quick_run_tells_every_figure_in_a_table_and_in_json(bench, tmp_path, capsys):
    code = bench.main(["--quick", "--json", str(tmp_path / "bench.json")])

    reported = json.loads((tmp_path / "bench.json").read_text())
    shown = capsys.readouterr().out
    assert (code, reported["wrong"]) == (0, [])
    assert [one["name"] for one in reported["figures"]] == NAMES[bench]
    assert all(one["name"] in shown and one["value"] >= 0 for one in reported["figures"])
    survived = [one["value"] for one in reported["figures"] if one["name"] in DEATHS]
    assert survived == [QUICK.kill_points] * 3 * (bench is impl)


def test_a_figure_on_the_wrong_side_of_its_goal_is_missed():
    assert Figure("steps", 20_001, "steps/s", 20_000).well
    assert not Figure("steps", 19_999, "steps/s", 20_000).well
    assert Figure("run", 1.9, "s", 2, at_least=False).well
    assert not Figure("run", 2.1, "s", 2, at_least=False).well
    assert Figure("copy", 1, "MB/s").well


def test_a_disk_whose_syncs_do_nothing_loses_something_that_is_reported(monkeypatch):
    monkeypatch.setattr(MemoryFile, "sync", lambda file: None)

    _, lost = crashes(impl.BenchPlan(1, 1, 1, 1, 1, 1, 400))

    assert lost
    assert lost[0].startswith("without power: ")


def test_a_recovery_that_loses_a_batch_is_noticed(tmp_path, monkeypatch):
    def lossy(disk, directory, *more, **options):
        for path in (tmp_path / "t-0").glob("*.log"):
            if path.stat().st_size:
                path.write_bytes(path.read_bytes()[:-1])
        return load_log(disk, directory, *more, **options)

    monkeypatch.setattr(storage, "load_log", lossy)
    bench = storage.Bench(100, 300_000, tmp_path)

    bench.round()

    assert len(bench.wrong) == 1
    assert "of 2000 offsets recovered" in bench.wrong[0]
