"""Logs that are too long for memory: what lies on disk meanwhile, and the same findings."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.ingest.dialects import NOTE
from conformance.ingest.files import discover
from conformance.pipeline.local import LocalEngine
from conformance.pipeline.rules import Finding
from conformance.pipeline.spill import Spill
from tests.bench.pipeline import generated, shifted
from tests.bench.pipeline.generated import LogSize
from tests.pipeline.test_real_logs import cluster

SHIPPED = Path(__file__).parents[1] / "data" / "logs"
SMALL = 1 << 14  # bytes of text that are merged together


def findings(folder: Path, engine: LocalEngine) -> list[Finding]:
    return engine.judge(engine.ingest(discover([str(folder)]), None)).findings


@pytest.fixture
def spilled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "spilled"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_rows_come_back_from_their_part_in_order(spilled: Path):
    spill = Spill(pa.schema({"n": pa.int64()}), 3)
    for start in (0, 90_000, 180_000):
        numbers = np.arange(start, start + 90_000)
        spill.add(pa.table({"n": numbers}), numbers % 3)

    assert spill.part(1)["n"].to_pylist() == list(range(1, 270_000, 3))
    assert spill.num_rows == sum(table.num_rows for table in spill.tables()) == 270_000


def test_nothing_stays_on_disk(spilled: Path):
    found = findings(SHIPPED / "planted", LocalEngine(whole=10, part=SMALL))

    assert found
    assert os.listdir(spilled) == []


def test_what_a_killed_process_left_is_cleared_away(spilled: Path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left, living = (spilled / f"insync-spill-{pid}-x" for pid in (gone.pid, os.getppid()))
    left.mkdir()
    living.mkdir()

    findings(SHIPPED / "planted", LocalEngine(whole=10, part=SMALL))

    assert os.listdir(spilled) == [living.name]


@pytest.mark.parametrize("name", ["correct", "planted"])
def test_the_shipped_logs_are_judged_the_same(name: str):
    assert findings(SHIPPED / name, LocalEngine(whole=10, part=SMALL)) == findings(
        SHIPPED / name, LocalEngine()
    )


@pytest.mark.parametrize("name", ["correct", "planted"])
def test_what_is_kept_of_them_is_the_same_with_the_lines_that_no_rule_reads(
    name: str, tmp_path: Path
):
    kept = []
    for part in (SMALL, 1 << 30):
        engine = LocalEngine(part=part)
        corpus = engine.ingest(discover([str(SHIPPED / name)]), None)
        folder = tmp_path / str(part)
        folder.mkdir()
        engine.save(corpus, str(folder))
        rows = pq.read_table(folder / "events").to_pylist()
        kept.append((sorted(rows, key=lambda row: (row["file"], row["line"])), corpus.figures))

    assert kept[0] == kept[1]
    assert corpus.figures.distinct == len(rows)
    assert any(row["kind"] == NOTE for row in rows)


def test_how_much_is_read_is_reported_while_files_are_read(tmp_path: Path):
    generated.write(LogSize(30_000, 7, False), tmp_path)
    shares = []

    LocalEngine(lambda what, share: shares.append(share) if what == "read" else None).ingest(
        discover([str(tmp_path)]), None
    )

    assert any(0.2 < share < 0.8 for share in shares)
    assert shares[-1] == 1


@pytest.mark.parametrize("skew", [False, True])
def test_of_large_logs_what_was_planted_is_found(
    tmp_path: Path, skew: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("conformance.pipeline.large.PART", 300)
    written = generated.write(LogSize(6000, 7, skew), tmp_path)

    found = findings(tmp_path, LocalEngine(whole=10, part=SMALL))

    assert {(Path(each.file), each.line) for each in found} == {
        (tmp_path / each.file, each.line) for each in written.planted
    }
    assert found == findings(tmp_path, LocalEngine())


@pytest.mark.parametrize("name", ["kafka-2.7.0-b", "kafka-2.7.0-a"])
def test_real_logs_are_judged_the_same(name: str):
    folder = cluster(name)

    assert findings(folder, LocalEngine(whole=1000, part=1 << 18)) == findings(
        folder, LocalEngine()
    )


@pytest.mark.deep
@pytest.mark.parametrize("name", ["kafka-0.10.2.1-a", "kafka-1.0.0-a", "kafka-2.5.0-a"])
def test_large_real_logs_are_judged_the_same(name: str):
    folder = cluster(name)

    assert findings(folder, LocalEngine(whole=1000, part=1 << 20)) == findings(
        folder, LocalEngine()
    )


def test_months_made_of_a_clusters_days_hold_as_the_days_do(tmp_path: Path):
    source = shifted.source_of(SHIPPED / "correct")
    lines = shifted.write(source, tmp_path / "months", 4 * source.lines)
    engine = LocalEngine()
    corpus = engine.ingest(discover([str(tmp_path / "months")]), None)

    assert lines == 4 * source.lines == sum(row["read"] for row in corpus.files)
    assert engine.judge(corpus).findings == []


def test_what_is_being_done_is_reported_up_to_its_end():
    reported: list[tuple[str, float]] = []
    engine = LocalEngine(lambda what, share: reported.append((what, share)), whole=10, part=SMALL)

    findings(SHIPPED / "correct", engine)

    assert list(dict.fromkeys(what for what, _ in reported)) == ["read", "merge", "check"]
    assert all(0 <= share <= 1 for _, share in reported)
    assert max(share for what, share in reported if what == "check") > 0.5
