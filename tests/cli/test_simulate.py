"""`insync simulate`: runs that repeat, traces that stay whole, and a verdict for each."""

from __future__ import annotations

import re

import pytest

import conformance.replay
from conformance.cli.git_commit import UNKNOWN, commit_of
from conformance.trace_report import TraceReport
from impl.world.partition_simulator import steps_of
from impl.world.partition_steps import KINDS
from impl.world.trace import read_trace
from specs.verdict import FindingKind, Verdict
from tests.planting import commits_alone, takes_anybody


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that finds line 12 of seed 2 impossible, and all else right."""

    def check_trace(path):
        if path.name != "seed-2.ndjson":
            return TraceReport(str(path), Verdict.HOLDS)
        report = TraceReport(str(path), Verdict.BROKEN)
        report.add(
            FindingKind.IMPOSSIBLE, str(path), 12, "follower_appends is possible", "no", "less"
        )
        return report

    monkeypatch.setattr(conformance.replay, "check_trace", check_trace)


def test_a_run_is_recorded_judged_and_counted(answer, tmp_path):
    code, found = answer(f"simulate --seed 7 --steps 200 --out {tmp_path}")

    run = found["runs"][0]
    trace = read_trace(tmp_path / "seed-7.ndjson")
    assert (code, found["verdict"], run["verdict"]) == (0, "holds", "holds")
    assert (run["seed"], run["steps"], len(trace.events)) == (7, 200, 200)
    assert run["file"] == str(tmp_path / "seed-7.ndjson")
    assert run["crashes"] == sum(event.step == "broker_crashes" for event in trace.events)
    last = list(trace.observations())[-1]
    assert run["committed"] >= max(broker["hw"] for broker in last["brokers"].values()) > 0
    assert run["controllers"] == last["zookeeper"]["controller_epoch"]


def test_the_same_seed_is_the_same_run_anywhere(insync, tmp_path):
    insync(f"simulate --seed 3 --steps 100 --out {tmp_path / 'one'}")
    insync(f"simulate --seeds 2..4 --steps 100 --out {tmp_path / 'two'}")

    one, two = (tmp_path / folder / "seed-3.ndjson" for folder in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


def test_a_range_of_seeds_includes_both_ends_and_has_a_row_each(insync, answer):
    result = insync("simulate --seeds 0..2 --steps 60").stdout
    _, found = answer("simulate --seeds 0..2 --steps 60")

    assert [run["seed"] for run in found["runs"]] == [0, 1, 2]
    assert [line.split()[:3] for line in result.splitlines() if line.lstrip()[:1].isdigit()] == [
        ["0", "holds", "60"],
        ["1", "holds", "60"],
        ["2", "holds", "60"],
    ]


def test_without_a_fault_nothing_crashes_and_what_was_never_taken_is_said(answer):
    _, found = answer("simulate --seeds 1..3 --steps 150 --faults none")

    assert [(run["crashes"], run["expiries"]) for run in found["runs"]] == [(0, 0)] * 3
    assert "broker_crashes" in found["never_taken"]
    assert set(found["never_taken"]) < set(KINDS)


def test_without_a_folder_nothing_is_left_behind(insync, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)

    result = insync("simulate --steps 50")

    assert result.exit_code == 0
    assert list(tmp_path.iterdir()) == []


def test_a_cluster_that_writes_logs_as_kafka_names_them_takes_the_same_steps(answer, tmp_path):
    line = "simulate --cluster --seed 5 --steps 100 --brokers 2"
    code, found = answer(f"{line} --out {tmp_path} --logs")

    logs = sorted(path.relative_to(tmp_path) for path in tmp_path.glob("*/*/*"))
    assert (code, found["runs"]) == (0, answer(line)[1]["runs"])
    assert [str(path) for path in logs] == [
        f"seed-5-logs/broker{broker}/{name}.log"
        for broker in (0, 1)
        for name in ("controller", "server", "state-change")
    ]


def test_a_second_campaign_may_join_the_first(insync, tmp_path):
    insync(f"simulate --seed 1 --steps 50 --out {tmp_path}")

    result = insync(f"simulate --seeds 1..2 --steps 50 --out {tmp_path}")

    assert result.exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["seed-1.ndjson", "seed-2.ndjson"]


def test_logs_of_an_earlier_run_never_stand_beside_another_trace(insync, tmp_path):
    insync(f"simulate --cluster --seed 1 --steps 50 --out {tmp_path} --logs")

    result = insync(f"simulate --seed 1 --steps 60 --out {tmp_path}")

    assert result.exit_code == 64
    assert "already holds seed-1-logs" in result.stderr


@pytest.mark.usefixtures("broken")
def test_one_broken_run_breaks_the_campaign_and_names_its_line(insync, answer, tmp_path):
    result = insync(f"simulate --seeds 1..3 --steps 50 --out {tmp_path}")
    code, found = answer("simulate --seeds 1..3 --steps 50")

    assert (result.exit_code, code, found["verdict"]) == (1, 1, "broken")
    assert f"{tmp_path}/seed-2.ndjson:12: follower_appends is possible: no" in result.stdout
    assert [run["verdict"] for run in found["runs"]] == ["holds", "broken", "holds"]
    assert found["runs"][1]["findings"][0]["line"] == 12


@pytest.mark.usefixtures("broken")
def test_a_broken_run_that_was_not_kept_comes_with_the_command_that_keeps_it(insync, tmp_path):
    result = insync("simulate --seeds 1..3 --steps 50 --faults lossy").stdout

    line = next(line for line in result.splitlines() if line.startswith("keep it: "))
    again = insync(line.removeprefix("keep it: insync ").replace("DIR", str(tmp_path)))
    assert "seed-2.ndjson:12: " in result
    assert again.exit_code == 1
    assert [path.name for path in tmp_path.iterdir()] == ["seed-2.ndjson"]


def test_a_broken_run_is_made_small_and_still_broken(insync, answer, tmp_path, monkeypatch):
    takes_anybody(monkeypatch)

    result = insync(f"simulate --seed 2 --steps 120 --shrink --out {tmp_path}")
    _, found = answer(f"check {tmp_path / 'seed-2-small.ndjson'} --engine local")

    small = read_trace(tmp_path / "seed-2-small.ndjson")
    assert result.exit_code == 1
    assert "made small: " in result.stdout
    assert found["verdict"] == "broken"
    assert len(small.events) < 30
    assert f"    {steps_of(small)[-1]}" in result.stdout.splitlines()


def test_a_run_is_reported_with_the_commit_that_gives_it_again(answer):
    _, found = answer("simulate --seed 1 --steps 20 --faults swarm")

    assert re.fullmatch(r"[0-9a-f]{40}(\+changes)?|unknown .*", found["commit"])
    assert found["faults"] == "swarm"


def test_outside_of_a_checkout_no_commit_is_claimed(tmp_path):
    (tmp_path / "file.py").write_text("")

    assert commit_of(tmp_path / "file.py") == UNKNOWN


def test_a_whole_cluster_is_run_and_judged(answer):
    code, found = answer("simulate --cluster --seeds 1..2 --steps 500")

    assert (code, found["verdict"], found["cluster"]) == (0, "holds", True)
    assert [run["seed"] for run in found["runs"]] == [1, 2]
    assert all(run["acknowledged"] > 5 and run["at_rest"] == "yes" for run in found["runs"])
    assert "power_fails" in found["never_taken"]


def test_a_cluster_that_loses_what_it_reported_is_broken_and_says_how_to_see_it_again(
    insync, monkeypatch
):
    commits_alone(monkeypatch)

    result = insync("simulate --cluster --seeds 0..4 --steps 1000 --faults crashes")

    assert result.exit_code == 1
    assert "below its high watermark" in result.stdout
    assert "again: insync simulate --cluster --seed " in result.stdout
