"""The benchmark of the log runs, and would notice a recovery that lost something."""

from __future__ import annotations

import json

from impl.log.loading import load_log
from tests.bench import storage
from tests.bench.storage import main


def test_a_quick_run_tells_every_task_in_a_table_and_in_json(tmp_path, capsys):
    code = main(["--quick", "--json", str(tmp_path / "storage.json"), "--folder", str(tmp_path)])

    reported = json.loads((tmp_path / "storage.json").read_text())
    shown = capsys.readouterr().out
    assert (code, reported["wrong"]) == (0, [])
    assert [bench["record_bytes"] for bench in reported["benches"]] == [100, 1000]
    for bench in reported["benches"]:
        assert set(bench["megabytes_per_second"]) == {
            "copy", "append", "flush", "read", "scan", "encode", "decode",
        }  # fmt: skip
        assert all(rate > 0 for rate in bench["megabytes_per_second"].values())
    assert "records of 1,000 bytes" in shown
    assert list(tmp_path.glob("tmp*")) == []


def test_a_recovery_that_loses_a_batch_is_noticed(tmp_path, monkeypatch, capsys):
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
