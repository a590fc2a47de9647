"""Runs in columns: judged as the same runs in lines are, to the line and to the word."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from conformance import replay
from conformance.columns.judge import check_columns
from conformance.columns.magic import FORMS, is_columns
from conformance.columns.schema import KEY
from conformance.columns.writing import convert, table_of, write_columns
from conformance.replay import TraceReport, check_trace
from impl import Trace, TraceError, simulate, write_trace
from specs.verdict import Verdict
from tests.conformance.faults import FAULTS, harmed


@pytest.fixture(scope="module")
def run() -> Trace:
    return simulate(8, 150, "everything", 3)


def in_lines(folder: Path, trace: Trace) -> TraceReport:
    write_trace(folder / "run.ndjson", trace)
    return check_trace(folder / "run.ndjson")


def in_columns(folder: Path, trace: Trace, form: str) -> TraceReport:
    write_columns(folder / f"run.{form}", trace)
    return check_columns(folder / f"run.{form}")


def judged_or_refused(folder: Path, trace: Trace, form: str) -> TraceReport | TraceError:
    try:
        return in_columns(folder, trace, form)
    except TraceError as error:
        return error


def without_file(report: TraceReport) -> TraceReport:
    findings = [dataclasses.replace(finding, file="", positions=()) for finding in report.findings]
    return dataclasses.replace(report, path="", findings=findings)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("native", [False, True])
def test_runs_fit_and_fire_the_same_steps(
    form: str, native: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if native:
        monkeypatch.setattr(replay, "NATIVE_FROM", 1)
    for brokers, faults in ((2, "crashes"), (3, "everything"), (5, "lossy")):
        trace = simulate(3, 150, faults, brokers)

        report = in_columns(tmp_path, trace, form)

        assert report.verdict is Verdict.HOLDS
        assert without_file(report) == without_file(in_lines(tmp_path, trace))


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_planted_fault_is_found_at_the_same_line_in_the_same_words(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chooser, verdicts = random.Random(fault), []
    for seed in range(3):
        trace, line = harmed(simulate(seed, 120, "everything", 3), fault, chooser)
        wanted = in_lines(tmp_path, trace)
        monkeypatch.setattr(replay, "NATIVE_FROM", chooser.choice((1, 10**9)))
        found = judged_or_refused(tmp_path, trace, chooser.choice(sorted(FORMS)))
        monkeypatch.undo()
        verdicts.append(wanted.verdict)
        if isinstance(found, TraceError):  # a value that no observation has, and so no column
            hidden = "entries" in str(found)  # what a log lacks shows where it goes on
            assert wanted.findings[0].line == line
            assert found.line > line if hidden else found.line == line
            continue
        assert without_file(found) == without_file(wanted)

    assert Verdict.BROKEN in verdicts


def test_a_run_that_does_not_begin_as_the_model_does_is_broken_at_its_first_line(
    run: Trace, tmp_path: Path
) -> None:
    initial = {**run.header.initial, "zookeeper.controller_epoch": 5}
    trace = dataclasses.replace(run, header=dataclasses.replace(run.header, initial=initial))

    found = in_columns(tmp_path, trace, "arrow")

    assert (found.verdict, found.findings[0].line) == (Verdict.BROKEN, 1)
    assert without_file(found) == without_file(in_lines(tmp_path, trace))


# -- what cannot be vouched for ------------------------------------------------------------------

Lines = list[dict[str, object]]


def edited(lines: Lines, at: int, **fields: object) -> Lines:
    return [{**line, **fields} if n == at else line for n, line in enumerate(lines)]


@pytest.mark.parametrize(
    "harm",
    [
        lambda lines: edited(lines, 40, run="another"),
        lambda lines: edited(lines, 40, clock=99),
        lambda lines: edited(lines, 40, clock=1),
        lambda lines: edited(lines, 40, seq=77),
        lambda lines: edited(lines, 40, seq=0),
        lambda lines: [*lines[:40], *lines[41:]],
        lambda lines: [*lines[:40], lines[41], lines[40], *lines[42:]],
        lambda lines: [*lines[:40], lines[39], *lines[40:]],
        lambda lines: edited(edited(lines, 40, seq=0), 39, run="another"),
        lambda lines: edited(edited(lines, 40, run="another"), 39, seq=0),
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_rows_that_are_no_run_are_named_as_lines_are(
    harm: Callable[[Lines], Lines], form: str, run: Trace, tmp_path: Path
) -> None:
    write_trace(tmp_path / "run.ndjson", run)
    text = (tmp_path / "run.ndjson").read_text().splitlines()
    lines = harm([json.loads(line) for line in text[1:-1]])
    rows = ["\n".join([text[0], *(json.dumps(line) for line in lines), text[-1]]), ""]
    (tmp_path / "run.ndjson").write_text("\n".join(rows))
    table = table_of(run, tmp_path)
    given = [line["clock"] for line in lines]  # the rows as the harm has moved them
    before = [event.clock for event in run.events]
    kept = [before.index(clock) if clock in before else 40 for clock in given]
    moved = table.take(kept) if len(kept) != len(before) or kept != sorted(set(kept)) else table
    for name in ("run", "clock", "seq"):
        kind = table.schema.field(name).type
        column = pa.array([line[name] for line in lines])
        column = column.dictionary_encode().cast(kind) if name == "run" else column
        moved = moved.set_column(moved.schema.get_field_index(name), table.field(name), column)
    nodes = pa.array([str(line["node"]) for line in lines]).dictionary_encode()
    moved = moved.set_column(moved.schema.get_field_index("node"), table.field("node"), nodes)

    found = written(tmp_path / f"run.{form}", moved)
    wanted = check_trace(tmp_path / "run.ndjson")

    assert (found.verdict, wanted.verdict) == (Verdict.NOT_CHECKED, Verdict.NOT_CHECKED)
    assert found.findings[0].line == wanted.findings[0].line
    assert found.findings[0].why == wanted.findings[0].why


def written(path: Path, table: pa.Table) -> TraceReport:
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table, max_chunksize=50)
    return check_columns(path)


def recast(table: pa.Table, **fields: object) -> pa.Table:
    reported = {**json.loads(table.schema.metadata[KEY]), **fields}
    return table.replace_schema_metadata({KEY: json.dumps(reported)})


def with_null(table: pa.Table, name: str) -> pa.Table:
    values = [None if n == 7 else value for n, value in enumerate(table[name].to_pylist())]
    column = pa.array(values, table.schema.field(name).type)
    return table.set_column(table.schema.get_field_index(name), table.field(name), column)


def as_text(table: pa.Table, name: str) -> pa.Table:
    column = pa.array(["x"] * len(table))
    return table.set_column(table.schema.get_field_index(name), name, column)


def with_no_value(table: pa.Table) -> pa.Table:
    rows = table["replica.hw"].to_pylist()
    at = next(n for n, row in enumerate(rows) if row)
    rows[at] = [{**rows[at][0], "value": None}]
    column = pa.array(rows, table.schema.field("replica.hw").type)
    return table.set_column(table.schema.get_field_index("replica.hw"), "replica.hw", column)


@pytest.mark.parametrize(
    ("harm", "line", "why"),
    [
        (lambda t: t.slice(0, 100), 101, "truncated after 100 events; the file says that it has"),
        (lambda t: t.slice(0, 0), 1, "the run has no events"),
        (lambda t: t.drop_columns(["replica.hw"]), 1, "no column replica.hw, which is list<"),
        (lambda t: as_text(t, "zk.version"), 1, "column zk.version is string, where int64"),
        (lambda t: as_text(t, "replica.hw"), 1, "column replica.hw is string, where list"),
        (lambda t: with_null(t, "seq"), 9, "the event lacks seq"),
        (with_no_value, None, "replica.hw changes at an index, or to a value, that is null"),
        (lambda t: recast(t, version="9.9"), 1, "unknown version '9.9'"),
        (lambda t: recast(t, version="2.7", layout="0"), 1, "columns of another model: layout 0"),
        (lambda t: recast(t, system="x"), 1, "unknown system 'x'"),
        (lambda t: recast(t, brokers=0), 1, "0 brokers"),
        (lambda t: recast(t, brokers=2), 1, "columns of another model"),
        (lambda t: recast(t, seed="one"), 1, "the header's seed is 'one'"),
        (lambda t: recast(t, format="insync.columns/7"), 1, "unknown format 'insync.columns/7'"),
        (lambda t: t.replace_schema_metadata(None), 1, "unknown format None"),
        (lambda t: t.replace_schema_metadata({KEY: "{"}), 1, "its metadata `insync` is not JSON"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", FORMS)
def test_what_is_no_whole_run_of_this_model_is_not_checked_and_says_why(
    harm: Callable[[pa.Table], pa.Table], line: int | None, why: str, form: str, run: Trace,
    tmp_path: Path,
) -> None:  # fmt: skip
    report = written(tmp_path / f"run.{form}", harm(table_of(run, tmp_path)))

    assert report.verdict is Verdict.NOT_CHECKED
    assert why in report.findings[0].why
    assert line in (None, report.findings[0].line)


@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_is_cut_off_is_not_checked_wherever_it_is_cut(
    form: str, run: Trace, tmp_path: Path
) -> None:
    path = tmp_path / f"run.{form}"
    write_columns(path, run)
    whole = path.read_bytes()
    for part in (8, 200, len(whole) // 2, len(whole) - 9, len(whole) - 1):
        path.write_bytes(whole[:part])

        report = check_columns(path)

        assert report.verdict is Verdict.NOT_CHECKED
        assert "truncated" in report.findings[0].why


def test_a_byte_that_was_changed_is_never_taken_for_a_run(run: Trace, tmp_path: Path) -> None:
    path, chooser = tmp_path / "run.parquet", random.Random(2)
    write_columns(path, run)
    whole = path.read_bytes()

    for _ in range(40):
        at = chooser.randrange(4, len(whole))
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :])
        report = check_columns(path)
        # What a byte says may mean nothing to us: the writer's name, a statistic.
        assert report.verdict is not Verdict.HOLDS or report.accepted == len(run.events)


def test_an_arrow_file_that_is_cut_off_says_how_many_lines_are_left(
    run: Trace, tmp_path: Path
) -> None:
    path = tmp_path / "run.arrow"
    written(path, table_of(run, tmp_path))
    path.write_bytes(path.read_bytes()[:-3000])

    (finding,) = check_columns(path).findings

    assert finding.why.startswith("truncated after 150 events")
    assert finding.line == 151


def test_columns_that_another_program_has_written_anew_are_read(run: Trace, tmp_path: Path) -> None:
    table = table_of(run, tmp_path)
    for name in ("run", "node", "step"):  # no dictionaries, and wider numbers
        column = table[name].cast(pa.string())
        table = table.set_column(table.schema.get_field_index(name), name, column)
    for name in ("zk.leader", "zk.controller"):
        column = table[name].cast(pa.int32())
        table = table.set_column(table.schema.get_field_index(name), name, column)
    order = np.random.default_rng(1).permutation(table.num_columns)
    table = table.select([table.column_names[n] for n in order])

    report = written(tmp_path / "run.parquet", table)

    assert (report.verdict, report.accepted) == (Verdict.HOLDS, 150)


# -- converting ----------------------------------------------------------------------------------


def test_only_a_whole_run_is_converted_and_nothing_is_left_of_another(
    run: Trace, tmp_path: Path
) -> None:
    write_trace(tmp_path / "run.ndjson", run)
    whole = (tmp_path / "run.ndjson").read_text()
    (tmp_path / "run.ndjson").write_text(whole[: len(whole) // 2])

    with pytest.raises(TraceError, match="truncated in the middle of a line"):
        convert(tmp_path / "run.ndjson", tmp_path / "run.arrow")

    assert [path.name for path in tmp_path.iterdir()] == ["run.ndjson"]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"args": {"broker": "one"}}, "broker is 'one', and the arguments in columns are whole"),
        ({"observed": {"brokers.1.age": 1}}, "brokers.1.age is no leaf of the first observation"),
        ({"observed": {"next_record": 2**70}}, "next_record is 1180591620717411303424, and its"),
        ({"observed": {"zookeeper.registered": [1, 70_000]}}, "zk.registered.* has no place for"),
    ],
)
def test_what_no_column_can_say_is_refused(
    fields: dict[str, object], why: str, run: Trace, tmp_path: Path
) -> None:
    events = list(run.events)
    events[3] = dataclasses.replace(events[3], line=5, **fields)  # type: ignore[arg-type]

    with pytest.raises(TraceError, match=f":5: {why}"):
        write_columns(tmp_path / "run.arrow", dataclasses.replace(run, events=tuple(events)))

    assert list(tmp_path.iterdir()) == []


def test_columns_are_known_by_what_is_in_them(run: Trace, tmp_path: Path) -> None:
    write_columns(tmp_path / "run.arrow", run)
    write_columns(tmp_path / "run.parquet", run)
    parquet.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    (tmp_path / "run.ndjson").write_text("{}")
    (tmp_path / "run.arrow").rename(tmp_path / "anything")

    names = sorted(path.name for path in tmp_path.iterdir() if is_columns(path))

    assert names == ["anything", "run.parquet"]
    assert not is_columns(tmp_path)
