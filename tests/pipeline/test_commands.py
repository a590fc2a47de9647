"""`insync ingest` and `insync check`: what they print, write, refuse, and exit with."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from conformance.cli.ingest import ingest, suited
from conformance.ingest.files import LogSources, discover
from conformance.pipeline import store
from conformance.pipeline.local import LocalEngine
from specs.rendering import Table, as_lines
from tests.pipeline.written import changed, json_of, obeys, run_check, write

SHIPPED = Path(__file__).parents[1] / "data" / "logs"


def run_ingest(*arguments: str) -> Result:
    return CliRunner().invoke(ingest, [*arguments, "--engine", "local"])


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return write(
        tmp_path / "cluster",
        {"state-change.log": [changed(1, (1, 4), 1, 5, "1,2"), changed(2, (1, 4), 2, 6, "1,2")]},
    )


# --- the pair that our own simulator wrote


def test_the_shipped_correct_logs_hold():
    result = run_check(str(SHIPPED / "correct"), "--json", "-")

    found = json.loads(result.stdout)
    assert (result.exit_code, found["verdict"], found["findings"]) == (0, "holds", [])
    assert found["rejected_by_reason"] == {}


def test_the_shipped_planted_logs_are_broken_where_their_readme_says():
    result = run_check(str(SHIPPED / "planted"), "--json", "-")

    found = json.loads(result.stdout)
    readme = (SHIPPED / "planted" / "README.txt").read_text(encoding="utf-8")
    places = [
        f"{Path(finding['file']).relative_to(SHIPPED / 'planted')}:{finding['line']}"
        for finding in found["findings"]
    ]
    assert (result.exit_code, found["verdict"]) == (1, "broken")
    assert len(places) == 2
    assert all(f"{place} " in readme for place in places)
    assert [Path(each["name"]).name for each in found["skipped"]] == ["README.txt"]


# --- check


def test_the_json_has_the_keys_of_the_contract(good: Path):
    found = json.loads(run_check(str(good), "--json", "-").stdout)

    assert {"verdict", "lines", "traces", "findings", "coverage"} <= found.keys()
    assert found["lines"] == {"read": 2, "events": 2, "continuation": 0, "rejected": 0}
    assert found["coverage"]["rules"]["leader_epochs_never_go_back"] == 1


def test_a_finding_has_a_kind_a_place_a_rule_a_reason_and_what_was_allowed(tmp_path: Path):
    write(tmp_path, {"state-change.log": [changed(1, (1, 4), 7, 5, "1,2")]})

    result = run_check(str(tmp_path), "--json", "-")

    (finding,) = json.loads(result.stdout)["findings"]
    assert {"kind", "file", "line", "rule", "why", "allowed"} <= finding.keys()
    assert result.exit_code == 1


def test_the_report_in_words_names_file_line_rule_and_reason(tmp_path: Path):
    write(tmp_path, {"state-change.log": [changed(1, (1, 4), 7, 5, "1,2")]})

    said = run_check(str(tmp_path)).stdout

    assert f"{tmp_path / 'state-change.log'}:1" in said
    assert "why:     orders-0: leader 7 is not in the ISR {1,2}" in said
    assert "verdict: broken" in said


@pytest.mark.parametrize(
    "data, reason, code",
    [
        (b"", "is empty", 0),
        (b"\0\1\2\3", "is binary", 2),
        (gzip.compress(b"[2024-03-01 10:00:00,000] INFO x (kafka.A)\n" * 99)[:-9], "gzip ends", 2),
        (b"once upon a time\n", "has no line in Kafka's layout", 2),
        (b"[2024-03-01 10:00:00,000] INFO x (com.A)\n", "is not a log of a Kafka broker", 0),
    ],
    ids=["empty", "binary", "truncated gzip", "no log", "of a client"],
)
def test_a_bad_log_is_named_and_the_others_are_still_judged(
    good: Path, data: bytes, reason: str, code: int
):
    (good / "server.log").write_bytes(data)

    result = run_check(str(good), "--json", "-")

    found = json.loads(result.stdout)
    named = [*found["unreadable"], *found["silent"]]
    assert result.exit_code == code
    assert [Path(each["file"]).name for each in named] == ["server.log"]
    assert reason in named[0]["reason"]
    assert found["coverage"]["rules"]["leader_epochs_never_go_back"] == 1


def test_a_bad_log_takes_one_line_that_says_what_would_be_right(good: Path):
    (good / "server.log").write_bytes(b"\0\1\2\3")

    said = run_check(str(good)).stdout.splitlines()

    bad = good / "server.log"
    right = "a log is text, plain or packed by gzip, bzip2, xz, zstd or lz4"
    assert said[0] == f"could not be read: {bad}: is binary; {right}"


def test_a_folder_that_was_named_and_holds_no_log_is_not_green(good: Path, tmp_path: Path):
    empty = tmp_path / "wrong"
    write(empty, {"README.md": ["nothing here"]})

    result = run_check(str(good), str(empty))

    assert result.exit_code == 2
    assert f"could not be read: {empty}: holds no log; name the folder" in result.stdout


def test_a_link_to_nothing_under_the_name_of_a_log_is_not_green(good: Path):
    (good / "server.log").symlink_to(good / "gone.log")

    result = run_check(str(good))

    assert result.exit_code == 2
    assert f"{good / 'server.log'}: no such file or directory" in result.stdout


def test_rejected_lines_are_counted_with_the_first_place(good: Path):
    write(good, {"state-change.log.1": ["orphan", changed(0, (1, 4), 1, 4, "1,2")]})

    said = run_check(str(good)).stdout

    assert "4 lines read = 3 events + 0 continuation lines + 1 rejected" in said
    assert f"before it: 1, such as {good / 'state-change.log.1'}:1" in said


def test_lines_that_two_files_repeat_are_counted_and_reported(good: Path):
    write(good, {"copy/state-change.log": [changed(2, (1, 4), 2, 6, "1,2")]})

    said = run_check(str(good)).stdout

    assert "3 lines read = 3 events + 0 continuation lines + 0 rejected" in said
    assert "events: 1 of them repeat a line of another file; 2 differ" in said


def test_lines_in_another_layout_give_no_green(good: Path):
    bare = [changed(n, (1, 4), 1, 7, "1,2").removesuffix(" (state.change.logger)") for n in (3, 4)]
    write(good, {"other.log": [*bare, obeys(5, 1, 1, 4)]})

    result = run_check(str(good))

    assert result.exit_code == 2
    assert "2 of 5 lines are not in the layout of Kafka's log4j" in result.stdout


def test_broken_outweighs_a_bad_file(good: Path):
    (good / "server.log").write_bytes(b"")
    write(good, {"state-change.log.1": [changed(0, (1, 4), 7, 4, "1,2")]})

    assert run_check(str(good)).exit_code == 1


def test_a_folder_without_logs_was_not_checked(tmp_path: Path):
    write(tmp_path, {"README.md": ["nothing here"]})

    result = run_check(str(tmp_path))

    assert result.exit_code == 3
    assert "verdict: not checked" in result.stdout


def test_logs_in_which_nothing_can_be_compared_were_not_checked(tmp_path: Path):
    write(tmp_path, {"controller.log": ["[2024-03-01 10:00:00,000] INFO hi (kafka.utils.X)"]})

    assert run_check(str(tmp_path)).exit_code == 3


def test_a_path_that_does_not_exist_is_wrong_use(tmp_path: Path):
    result = run_check(str(tmp_path / "nowhere"))

    assert result.exit_code == 64
    assert result.stderr.count("\n") == 1
    assert "nowhere does not exist; name a log file or a folder" in result.stderr


def test_a_release_without_a_dialect_is_wrong_use(good: Path):
    result = run_check(str(good), "--version", "0.8")

    assert result.exit_code == 64
    assert "there is one of: 2.0, 2.1" in result.stderr


def test_a_master_without_spark_is_wrong_use(good: Path):
    result = run_check(str(good), "--master", "local[4]")

    assert result.exit_code == 64


def test_small_logs_are_read_here_and_large_ones_or_a_master_by_spark(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    found, out = discover([str(good)]), tmp_path / "out"
    assert run_ingest(str(good), "--out", str(out)).exit_code == 0

    assert suited("auto", None, found) == suited("auto", None, LogSources(), [str(out)]) == "local"
    assert suited("auto", "local[2]", found) == suited("spark", None, found) == "spark"
    monkeypatch.setattr(store, "SMALL", 100)
    assert suited("auto", None, found) == suited("auto", None, LogSources(), [str(out)]) == "spark"
    assert suited("local", None, found) == "local"


def test_a_dialect_that_is_mostly_unknown_gives_no_green(good: Path):
    write(good, {"controller.log": [obeys(1, 1, 1, 4).replace("Add", "Frob")] * 5})

    result = run_check(str(good))

    assert result.exit_code == 2
    assert "protocol_lines_are_understood" in result.stdout


# --- ingest


def test_ingest_writes_events_rejected_lines_and_a_summary(good: Path, tmp_path: Path):
    write(good, {"controller.log": [obeys(1, 1, 1, 4).replace("Add", "Frob")]})
    out = tmp_path / "out"

    result = run_ingest(str(good), "--out", str(out), "--json", str(tmp_path / "s.json"))

    assert result.exit_code == 0
    assert pq.read_table(out / "events").num_rows == 2
    assert pq.read_table(out / "rejected")["reason"].to_pylist() == ["unknown template"]
    summary = json_of(out / "summary.json")
    assert summary.pop("format") == "insync.ingest/2"
    reported = json_of(tmp_path / "s.json")
    assert reported.pop("format") == "insync.json/1"
    assert summary == reported


def test_an_output_folder_is_checked_like_the_logs_it_came_from(good: Path, tmp_path: Path):
    write(good, {"state-change.log.1": [changed(0, (1, 4), 7, 4, "1,2")], "README.md": ["x"]})
    (good / "server.log").write_bytes(b"\0\1")
    out = tmp_path / "out"
    run_ingest(str(good), "--out", str(out))

    said = run_check(str(good), "--json", "-").stdout
    kept = run_check(str(out), "--json", "-").stdout

    raw = json.loads(said)
    assert [Path(each["name"]).name for each in raw["skipped"]] == ["README.md"]
    assert Path(raw["unreadable"][0]["file"]).name == "server.log"
    assert kept == said


def test_ingesting_again_replaces_our_own_output_only(good: Path, tmp_path: Path):
    out, other = tmp_path / "out", tmp_path / "other"
    write(other, {"thesis.txt": ["years of work"]})

    codes = [run_ingest(str(good), "--out", str(folder)).exit_code for folder in (out, out, other)]

    assert codes == [0, 0, 64]
    assert (other / "thesis.txt").exists()
    assert run_ingest(str(good), "--out", str(other), "--force").exit_code == 0


def test_the_logs_themselves_are_never_replaced(good: Path):
    result = run_ingest(str(good), "--out", str(good), "--force")

    assert result.exit_code == 64
    assert (good / "state-change.log").exists()


def test_nothing_half_written_stays_behind(good: Path, tmp_path: Path, monkeypatch):
    def fails(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("conformance.pipeline.local.pq.ParquetWriter", fails)
    before = sorted(tmp_path.iterdir())

    result = run_ingest(str(good), "--out", str(tmp_path / "out"))

    assert isinstance(result.exception, OSError)
    assert sorted(tmp_path.iterdir()) == before


def test_the_lines_that_are_understood_can_be_read_with_an_example_each():
    result = run_ingest("--templates")

    assert result.exit_code == 0
    assert "Sending become-{detail=leader|follower} LeaderAndIsr request" in result.output
    assert "releases 0.9, 0.10, 0.11, 1.0, 1.1" in result.output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_request_to_end_leaves_nothing_behind(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
):
    def is_ended(_self: LocalEngine, _corpus: object, folder: str) -> None:
        (Path(folder) / "half").write_text("written")
        signal.raise_signal(number)

    monkeypatch.setattr(LocalEngine, "save", is_ended)
    before, handler = sorted(tmp_path.iterdir()), signal.getsignal(signal.SIGTERM)

    result = run_ingest(str(good), "--out", str(tmp_path / "out"))

    assert result.exit_code != 0
    assert sorted(tmp_path.iterdir()) == before
    assert signal.getsignal(signal.SIGTERM) is handler


def test_what_a_killed_writer_left_is_cleared_away_and_a_living_ones_is_not(
    good: Path, tmp_path: Path
):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    write(tmp_path, {f".out.{gone.pid}.part/half": [], f".out.{os.getppid()}.part/half": []})

    result = run_ingest(str(good), "--out", str(tmp_path / "out"))

    assert result.exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f".out.{os.getppid()}.part",
        "cluster",
        "out",
    ]


def test_an_output_that_cannot_be_put_in_its_place_leaves_the_one_before(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    out, rename = tmp_path / "out", Path.rename
    run_ingest(str(good), "--out", str(out))

    def fails(path: Path, target: Path) -> Path:
        if path.name.endswith(".part"):
            raise OSError("gone")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fails)
    result = run_ingest(str(good), "--out", str(out))

    assert isinstance(result.exception, OSError)
    assert json_of(out / "summary.json")["lines"]["events"] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cluster", "out"]


def test_a_recorded_trace_among_logs_is_listed_by_ingest(good: Path, tmp_path: Path):
    write(good, {"run.ndjson": ['{"format":"insync.trace/1"}']})

    run_ingest(str(good), "--out", str(tmp_path / "out"))

    (skipped,) = json_of(tmp_path / "out" / "summary.json")["skipped"]
    assert skipped["reason"] == "is a recorded trace; insync check reads it"


def test_every_event_line_is_a_position_of_one_event(good: Path, tmp_path: Path):
    write(good, {"copy/state-change.log": [changed(2, (1, 4), 2, 6, "1,2")] * 2})
    out = tmp_path / "out"

    run_ingest(str(good), "--out", str(out), "--json", str(tmp_path / "s.json"))

    summary = json_of(tmp_path / "s.json")
    positions = pq.read_table(out / "events")["positions"].to_pylist()
    assert len(positions) == summary["distinct_events"] == 2
    assert sum(map(len, positions)) == summary["lines"]["events"] == 4
    assert len({place for some in positions for place in some}) == 4


def test_ingest_with_a_bad_file_is_not_green(good: Path, tmp_path: Path):
    (good / "server.log").write_bytes(b"\0\1")

    assert run_ingest(str(good), "--out", str(tmp_path / "out")).exit_code == 3


def test_an_output_of_another_version_is_refused_by_name(tmp_path: Path):
    (tmp_path / "summary.json").write_text('{"format": "insync.ingest/9"}')

    result = run_check(str(tmp_path))

    assert result.exit_code == 64
    assert "insync.ingest/9" in result.stderr


@pytest.mark.parametrize("at_a_terminal", [True, False])
def test_a_table_fits_the_terminal_and_is_never_broken_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch, at_a_terminal: bool
):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: at_a_terminal, raising=False)
    monkeypatch.setenv("COLUMNS", "60")

    lines = as_lines(Table(("lines", "file"), [(3, "a/very/long/name" * 20)], "Files"))

    assert (max(map(len, lines[:-1])) <= 60) == at_a_terminal
    assert ("no room for: file" in lines[-1]) == at_a_terminal
