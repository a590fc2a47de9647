"""What a check found as JSON and as Parquet tables: the same as the page, read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from conformance.pipeline.export import FORMAT, SCHEMAS, refuse, tables
from conformance.pipeline.store import NotOursError
from tests.pipeline.written import json_of, obeys, run_check, write

LOGS = Path(__file__).resolve().parents[1] / "data" / "logs"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One check that writes all three reports, and its JSON."""
    into = tmp_path_factory.mktemp("reports")
    names = [into / name for name in ("r.html", "r.json", "r.parquet")]
    given = [word for name in names for word in ("--report", str(name))]
    result = run_check(str(LOGS / "planted"), *given, "--json", str(into / "check.json"))
    assert result.exit_code == 1
    return into


def rows(written: Path, name: str) -> list[dict[str, Any]]:
    table = pq.read_table(written / "r.parquet" / f"{name}.parquet")
    assert table.schema.equals(SCHEMAS[name])
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def test_every_table_has_its_schema_and_the_rows_that_the_index_says(written: Path):
    index = json_of(written / "r.parquet" / "report.json")

    assert index["format"] == FORMAT
    assert index["verdict"] == "broken"
    assert {name: len(rows(written, name)) for name in SCHEMAS} == index["tables"]


def test_findings_coverage_and_rejected_lines_are_those_of_the_check(written: Path):
    check = json_of(written / "check.json")

    assert rows(written, "findings") == check["findings"]
    assert rows(written, "coverage") == check["coverage"]["model"]
    assert rows(written, "refusals") == check["coverage"]["refusals"]
    assert rows(written, "clocks") == check["clocks"]
    assert rows(written, "rejected") == check["rejected_by_template"]
    assert {row["rule"]: row["compared"] for row in rows(written, "rules")} == (
        check["coverage"]["rules"]
    )
    assert sum(row["read"] for row in rows(written, "files")) == check["lines"]["read"]


def test_the_json_has_the_check_and_the_timelines_of_the_tables(written: Path):
    whole, check = json_of(written / "r.json"), json_of(written / "check.json")

    assert whole["format"] == FORMAT
    reported = {name: value for name, value in check.items() if name != "format"}
    assert {name: whole[name] for name in reported} == reported
    assert whole["timeline"] == rows(written, "timeline")
    assert whole["controllers"] == rows(written, "controllers")
    assert len(whole["timeline"]) > len({row["partition"] for row in whole["timeline"]}) > 0


def test_a_former_report_is_replaced_and_nothing_else(written: Path, tmp_path: Path):
    former = written / "r.parquet"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    (tmp_path / "file.parquet").write_text("mine")

    refuse(str(former))
    refuse(str(tmp_path / "new.parquet"))
    with pytest.raises(NotOursError, match="no report of insync"):
        refuse(str(tmp_path / "mine"))
    with pytest.raises(NotOursError, match="is a file"):
        refuse(str(tmp_path / "file.parquet"))


def test_what_is_not_ours_is_refused_before_the_work(tmp_path: Path):
    (tmp_path / "r.parquet").write_text("mine")

    result = run_check(str(LOGS / "correct"), "--report", str(tmp_path / "r.parquet"))

    assert result.exit_code == 64
    assert "Parquet tables go into a folder" in result.output
    assert "lines read" not in result.output


def test_stamps_that_go_back_are_a_table_of_their_own(tmp_path: Path):
    write(tmp_path, {"b1/state-change.log": [obeys(9000, 1, 1, 1), obeys(2, 1, 1, 1)]})

    run_check(str(tmp_path / "b1"), "--report", str(tmp_path / "r.parquet"))

    (jump,) = rows(tmp_path, "jumps")
    assert (jump["brokers"], jump["line"]) == ([1], 2)


def test_a_table_without_rows_has_its_schema_all_the_same():
    empty = {
        "findings": [], "clocks": [], "files": [], "rejected_by_template": [],
        "coverage": {"model": [], "refusals": [], "rules": {}, "kinds": {}},
    }  # fmt: skip

    made = tables(empty, [])

    assert {name: table.schema for name, table in made.items()} == SCHEMAS
    assert all(table.num_rows == 0 for table in made.values())
