"""`insync chaos` on the command line: a short run, wrong use, and (deep) longer ones."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conformance.chaos import run
from conformance.cli.main import main

ROOT = Path(__file__).resolve().parents[2]


def typed(line: str) -> Result:
    return CliRunner().invoke(main, ["chaos", *line.split()])


def test_a_short_run_holds_and_says_what_was_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    # A broker that waits for a core of a busy machine keeps its session; who is killed loses it.
    monkeypatch.setitem(run.SETTINGS, "zookeeper.session.timeout.ms", "10000")
    out = tmp_path / "out"

    clients = "ours,librdkafka,kafka-python,aiokafka"
    result = typed(
        f"--rounds 1 --seed 5 --faults kill --trace --clients {clients} --out {out} --json -"
    )

    reported = json.loads(result.stdout)
    history = json.loads((out / "history.json").read_text())
    assert result.exit_code == 0, result.output
    assert reported["verdict"] == reported["trace"]["verdict"] == "holds"
    assert reported["anomalies"] == []
    assert len(reported["faults"]) == reported["rounds"] == 1
    assert reported["counts"]["acknowledged_by_all"] > 0
    assert reported["counts"]["read"] > 0
    assert list(reported["by_client"]) == clients.split(",")
    assert all(one["acknowledged_by_all"] and one["read"] for one in reported["by_client"].values())
    assert reported["trace"]["events"] > 100
    assert len(history["sends"]) > 10
    assert len(list((out / "cluster" / "trace").iterdir())) >= 4


@pytest.mark.deep
def test_no_fault_begins_when_the_time_is_up_and_those_that_were_are_judged():
    result = typed("--rounds 100 --seed 5 --faults slow --minutes 0.05 --json -")

    reported = json.loads(result.stdout)
    assert result.exit_code == 0, result.output
    assert reported["rounds"] == 100
    assert 0 < len(reported["faults"]) < 20
    assert reported["counts"]["found"] > 0


def test_an_interrupt_ends_every_process(tmp_path: Path):
    out = tmp_path / "out"
    command = [sys.executable, "-m", "conformance.cli", "chaos", "--out", str(out)]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    deadline = time.monotonic() + 40
    pids = out / "cluster" / "run"
    while time.monotonic() < deadline and not (pids / "broker3.pid").exists():
        time.sleep(0.1)
    time.sleep(1.0)
    numbers = [int(one.read_text()) for one in pids.glob("*.pid")]

    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)

    assert process.returncode == 130
    assert b"Traceback" not in said
    assert len(numbers) == 4
    deadline = time.monotonic() + 5  # who was killed still has to die, as soon as it has a core
    while time.monotonic() < deadline and any(map(_runs, numbers)):
        time.sleep(0.05)
    assert [one for one in numbers if _runs(one)] == []


def _runs(pid: int) -> bool:
    """A process that has ended lingers (Z) until the parent that it got last has asked for it."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.deep
def test_a_replica_whose_directory_has_failed_is_dead_to_the_model_as_to_the_controller():
    result = typed("--rounds 5 --seed 2 --faults disk --trace --json -")

    reported = json.loads(result.stdout)
    assert [one for one in reported["trace"]["findings"] if one["kind"] == "impossible"] == []
    assert reported["anomalies"] == []
    assert result.exit_code == 0


@pytest.mark.deep
@pytest.mark.parametrize("version", ["0.11", "2.3", "2.7"])
def test_no_release_since_0_11_loses_what_all_acknowledged(version: str, tmp_path: Path):
    result = typed(f"--rounds 20 --seed 11 --version {version} --json -")

    reported = json.loads(result.stdout)
    assert reported["anomalies"] == [], reported["anomalies"]
    assert result.exit_code == 0


@pytest.mark.deep
@pytest.mark.parametrize("version", ["2.3", "2.7"])
def test_real_clients_lose_nothing_either(version: str):
    result = typed(f"--rounds 15 --seed 21 --version {version} --clients all --json -")

    reported = json.loads(result.stdout)
    assert reported["anomalies"] == [], reported["anomalies"]
    assert result.exit_code == 0


@pytest.mark.deep
def test_replicas_of_0_11_diverge_at_most_by_a_known_bug():
    """On a busy machine sessions expire, and two elections in a row follow."""
    result = typed("--rounds 15 --seed 21 --version 0.11 --clients all --json -")

    reported = json.loads(result.stdout)
    assert {one["entry"] for one in reported["anomalies"]} <= {"KIP-279"}, reported["anomalies"]
    assert result.exit_code == bool(reported["anomalies"])


@pytest.mark.deep
def test_0_10_loses_records_and_each_loss_is_a_known_bug():
    result = typed("--rounds 6 --seed 3 --faults cascade --version 0.10 --json -")

    reported = json.loads(result.stdout)
    assert result.exit_code == 1
    assert reported["anomalies"]
    assert {one["entry"] for one in reported["anomalies"]} == {"KIP-101"}
