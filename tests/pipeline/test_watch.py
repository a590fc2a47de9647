"""`insync watch`: a finding is reported once, at once, and a kill neither loses nor repeats it."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli.watch import watch as command
from conformance.pipeline import stream
from conformance.pipeline.spark import SparkEngine
from conformance.pipeline.store import NotOursError
from conformance.pipeline.streaming_state import FINDING, ReportedFinding
from conformance.pipeline.watch_store import WatchStore
from tests.pipeline.test_streaming_state import places
from tests.pipeline.written import changed, checked, five_wrong, write

SHIPPED = Path(__file__).parents[1] / "data" / "logs"


def read_all(folder: Path, reported: WatchStore, final: bool = False) -> list[ReportedFinding]:
    """Follow a folder until nothing is new in it; what was reported meanwhile."""
    said: list[ReportedFinding] = []
    query = stream.watch(str(folder), reported, said.append, seconds=0, final=final)
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    return said


@pytest.mark.spark
def test_a_watch_that_goes_on_says_what_a_check_says_and_nothing_twice(
    spark: SparkEngine, tmp_path: Path
):
    logs = tmp_path / "planted"
    whole = {path: path.read_text() for path in sorted((SHIPPED / "planted").rglob("*.log"))}
    halves = {}
    for path, text in whole.items():
        copy = logs / path.relative_to(SHIPPED / "planted")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text[: 3 * len(text) // 4])
        halves[copy] = text

    first = WatchStore(str(tmp_path / "kept"), str(logs))
    said = read_all(logs, first)
    first.close()
    for copy, text in halves.items():
        copy.write_text(text)
    second = WatchStore(str(tmp_path / "kept"), str(logs))
    said += read_all(logs, second, final=True)

    expected = checked(logs)
    result = second.result()
    assert places([each.finding for each in said if each.what == FINDING]) == places(
        expected["findings"]
    )
    assert [each.what for each in said] == [FINDING] * len(expected["findings"])
    assert places(result["findings"]) == places(expected["findings"])
    assert result["lines"] == expected["lines"]
    assert result["verdict"] == expected["verdict"] == "broken"
    second.close()


def test_what_was_kept_and_not_reported_is_reported_when_a_trigger_is_repeated(tmp_path: Path):
    (tmp_path / "logs").mkdir()
    reported = WatchStore(str(tmp_path / "kept"), str(tmp_path / "logs"))
    words: list[ReportedFinding] = []
    said = [ReportedFinding(FINDING, finding) for finding in _findings(tmp_path)]

    def is_killed(_each: ReportedFinding) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reported.keep(3, said, {}, is_killed)
    reported.keep(3, [], {}, words.append)
    reported.keep(3, said, {}, words.append)

    assert [each.finding.line for each in words] == [1]


def _findings(tmp_path: Path):
    from conformance.pipeline.rules import Finding

    write(tmp_path / "bad", {"state-change.log": [changed(2, (1, 4), 3, 6, "1,2")]})
    return [
        Finding(**row | {"positions": tuple(row["positions"])})
        for row in checked(tmp_path / "bad")["findings"]
    ]


def test_a_checkpoint_of_another_folder_or_in_use_is_refused(tmp_path: Path):
    reported = WatchStore(str(tmp_path / "kept"), str(tmp_path / "a"))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine")

    for folder, logs, why in (
        ("kept", "b", "is of a watch of"),
        ("kept", "a", "is in use by another watch"),
        ("other", "a", "no checkpoint of a watch"),
    ):
        with pytest.raises(NotOursError, match=why):
            WatchStore(str(tmp_path / folder), str(tmp_path / logs))

    reported.close()
    WatchStore(str(tmp_path / "kept"), str(tmp_path / "a")).close()


@pytest.mark.parametrize("name, why", [("gone", "does not exist"), ("file", "is no folder")])
def test_a_folder_that_cannot_be_watched_is_wrong_use(tmp_path: Path, name: str, why: str):
    (tmp_path / "file").write_text("x")

    result = CliRunner().invoke(command, [str(tmp_path / name)])

    assert result.exit_code == 64
    assert why in result.stderr


@pytest.mark.deep
def test_a_watch_that_is_killed_ten_times_at_any_moment_finds_what_a_check_finds(tmp_path: Path):
    logs, kept, said = tmp_path / "logs", tmp_path / "kept", tmp_path / "said.txt"
    lines = five_wrong(22_000, 100)
    log = logs / "broker1" / "state-change.log"
    log.parent.mkdir(parents=True)
    log.write_text("".join(f"{each}\n" for each in lines[:1000]))

    chosen = random.Random(31)
    written = 1000
    for _ in range(10):
        process = _started(logs, kept, said)
        until = time.monotonic() + chosen.uniform(2, 14)  # a start takes about eight seconds
        with log.open("a") as file:
            while time.monotonic() < until:
                if written < 21000:
                    file.write("".join(f"{each}\n" for each in lines[written : written + 30]))
                    file.flush()
                    written += 30
                time.sleep(0.1)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(timeout=30)
    with log.open("a") as file:
        file.write("".join(f"{each}\n" for each in lines[written:]))
    last = _started(logs, kept, said, "--once", "--json", str(tmp_path / "result.json"))

    assert last.wait(timeout=300) == 1
    expected, result = checked(logs), json.loads((tmp_path / "result.json").read_text())
    reported = WatchStore(str(kept), str(logs))
    words = [each.finding for each in reported.every_word()]
    assert len(places(expected["findings"])) == 5
    assert places(words) == places(result["findings"]) == places(expected["findings"])
    assert len(words) == 5
    assert said.read_text().count("violation: ") == 5
    assert result["lines"] == expected["lines"]


def _started(logs: Path, kept: Path, said: Path, *more: str) -> subprocess.Popen[bytes]:
    arguments = [str(logs), "--checkpoint", str(kept), "--every", "1", *more]
    with said.open("ab") as file:
        return subprocess.Popen(
            [sys.executable, "-m", "conformance.cli", "watch", *arguments],
            stdout=file,
            start_new_session=True,
            cwd=Path(__file__).parents[2],
        )
