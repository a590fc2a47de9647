"""What running processes traced is a run of the model, line by line; what is not is named."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conformance.chaos.run import ChaosPlan, run_chaos
from conformance.chaos.schedule import ChaosFault, faults
from conformance.cli.check import check
from conformance.running.running_report import RunningReport, judge_running
from conformance.running.traced_cluster import TOPIC, inject_fault, traced_cluster, written_to
from impl.server.clients import Consumer, Producer
from impl.server.cluster import TRACE, Cluster
from specs.verdict import Verdict
from tests.impl.planted import plant
from tests.running.planted_broker import FAULTS, brokers_with


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The traces of three processes of which one is killed, one paused, one stopped."""
    folder = tmp_path_factory.mktemp("running") / "cluster"
    with traced_cluster(folder) as cluster, written_to(cluster):
        for fault in (
            ChaosFault("kill", 1, 1.8, 0.6),
            ChaosFault("pause", 2, 2.0, 0.6),
            ChaosFault("stop", 3, 0.1, 0.6),
        ):
            inject_fault(cluster, fault)
            time.sleep(fault.quiet)
    return folder / TRACE


@pytest.fixture
def copied(run: Path, tmp_path: Path) -> Path:
    """The same files, for a test to spoil."""
    return Path(shutil.copytree(run, tmp_path / "trace"))


def judged(folder: Path) -> RunningReport:
    return judge_running(sorted(folder.iterdir()), str(folder))


def spoil(path: Path, change: Callable[[dict[str, Any]], bool]) -> int:
    """Change the first line for which `change` says so; the line."""
    texts = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for number, text in enumerate(texts, 1):
        fields = json.loads(text)
        if "args" in fields and change(fields):
            texts[number - 1] = json.dumps(fields, separators=(",", ":")) + "\n"
            path.write_text("".join(texts), encoding="utf-8")
            return number
    raise AssertionError(f"{path} has such a line")


def head(path: Path, **changed: object) -> int:
    first, newline, rest = path.read_text(encoding="utf-8").partition("\n")
    fields = json.loads(first) | changed
    text = json.dumps(fields, separators=(",", ":")) + newline + rest
    return path.write_text(text, encoding="utf-8")


def test_every_line_of_processes_that_were_killed_paused_and_stopped_is_explained(run: Path):
    report = judged(run)

    assert not report.findings
    assert report.verdict is Verdict.HOLDS
    assert [one.name for one in report.replayed] == ["/controller", "cluster", f"{TOPIC}-0"]
    fired = report.fired
    for step in (
        "broker_crashes", "broker_becomes_leader", "follower_truncates", "leader_expands_isr",
        "follower_appends", "leader_advances_hw", "leader_acknowledges_acks_all", "consumer_reads",
        "write_is_applied", "broker_handles_request",
    ):  # fmt: skip
        assert fired[step], f"{step} was taken"


def test_the_command_line_takes_the_folder_of_a_cluster(run: Path):
    result = CliRunner().invoke(check, [str(run), "--json", "-"])

    reported = json.loads(result.output)
    assert result.exit_code == 0
    (one,) = reported["coverage"]["recorded"]
    assert [row["verdict"] for row in one["partitions"]] == ["holds"] * 3
    assert reported["lines"]["read"] == one["accepted"]


def test_a_last_line_that_is_cut_is_a_process_that_was_killed(copied: Path):
    path = copied / "broker1-1.ndjson"
    path.write_bytes(path.read_bytes()[:-30])

    assert judged(copied).verdict is Verdict.HOLDS


Spoilt = tuple[Callable[[Path], object], str]


def _cut_out(folder: Path) -> None:
    path = folder / "broker2-1.ndjson"
    texts = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(texts[:40] + texts[41:]), encoding="utf-8")


def _from_elsewhere(folder: Path) -> None:
    head(folder / "broker3-1.ndjson", cluster="another")


def _twice(folder: Path) -> None:
    shutil.copy(folder / "broker2-1.ndjson", folder / "broker9-1.ndjson")


WRONG: dict[str, Spoilt] = {
    "a line is missing": (_cut_out, r"broker2-1\.ndjson:41: seq is 41 where 40 is next"),
    "a broker's file is missing": (
        lambda folder: (folder / "broker2-1.ndjson").unlink(),
        r"zookeeper-1\.ndjson:\d+: broker 2 registers here, and no file of it tells of that",
    ),
    "ZooKeeper's file is missing": (
        lambda folder: (folder / "zookeeper-1.ndjson").unlink(),
        r":1: there is no trace of ZooKeeper",
    ),
    "a file is of another cluster": (
        _from_elsewhere, r"broker3-1\.ndjson:1: it is of cluster another, the others of "
    ),
    "two files are one start of one broker": (
        _twice, r"broker9-1\.ndjson:1: it says that it is start 1 of broker 2, and so does "
    ),
    "a broker is of another release": (
        lambda folder: head(folder / "broker2-1.ndjson", version="1.1"),
        r"broker2-1\.ndjson:1: it is of release 1\.1, the others of 2\.3",
    ),
    "every file says another release than it is of": (
        lambda folder: [head(one, version="2.0") for one in folder.glob("broker*")],
        r"the file's release is another than its header says: leader epochs are sent",
    ),
    "a file is empty": (
        lambda folder: (folder / "broker2-1.ndjson").write_text(""),
        r"broker2-1\.ndjson:1: no header of a process's trace",
    ),
    "a line is no JSON": (
        lambda folder: (folder / "broker1-2.ndjson").write_text(
            (folder / "broker1-2.ndjson").read_text().replace('"seq":9,', '"seq":9 ', 1)
        ),
        r"broker1-2\.ndjson:10: not JSON",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_belong_together_is_named_and_unknown(name: str, copied: Path):
    import re

    do, said = WRONG[name]
    do(copied)

    report = judged(copied)

    reported = [f"{Path(one.file).name}:{one.line}: {one.why}" for one in report.findings]
    assert any(re.search(said, one) for one in reported), reported
    assert report.verdict is Verdict.UNKNOWN
    assert all(one.kind == "incomplete" for one in report.findings)


def test_nothing_at_all_is_not_checked(tmp_path: Path):
    assert judge_running([], str(tmp_path)).verdict is Verdict.NOT_CHECKED


def _raise(name: str) -> Callable[[dict[str, Any]], bool]:
    def change(fields: dict[str, Any]) -> bool:
        args = fields["args"]
        if fields["step"] == "records_replicated" and args["log_end"] > args["offset"] > 9:
            args[name] += 1
            return True
        return False

    return change


def _isr(fields: dict[str, Any]) -> bool:
    if fields["step"] == "isr_updated":
        fields["args"]["zk_version"] -= 1
        return True
    return False


def _epoch(fields: dict[str, Any]) -> bool:
    if fields["step"] == "became_leader" and fields["args"]["leader_epoch"] > 0:
        fields["args"]["start"] += 1
        return True
    return False


CHANGED: dict[str, Callable[[dict[str, Any]], bool]] = {
    "a high watermark above its leader's": _raise("high_watermark"),
    "a log end beyond what was fetched": _raise("log_end"),
    "a zkVersion of another write": _isr,
    "a leader that starts elsewhere than its log ends": _epoch,
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_line_that_no_step_explains_is_named(name: str, copied: Path):
    path, line = copied, 0
    for path in sorted(copied.glob("broker*")):
        try:
            line = spoil(path, CHANGED[name])
            break
        except AssertionError:
            continue

    report = judged(copied)

    assert line
    assert report.verdict is Verdict.BROKEN
    (found,) = report.findings
    assert (found.file, found.line) == (str(path), line)
    assert f"trace, line {line} ({TOPIC}-0)" in found.why


def planted(monkeypatch: pytest.MonkeyPatch, fault: str, folder: Path) -> Cluster:
    """Brokers start with a fault in the code that serves."""
    brokers_with(monkeypatch, fault)
    with traced_cluster(folder) as cluster:
        with Producer(cluster.addresses(), acks=1) as producer:
            producer.send(TOPIC, [b"one"])
            cluster.pause(2)
            producer.send(TOPIC, [b"two"])
            producer.send(TOPIC, [b"three"])
            with Consumer(cluster.addresses(), timeout_s=2) as consumer:
                consumer.partitions(TOPIC, time.monotonic() + 5)
                consumer.read(TOPIC, 0, 1, wait_ms=100)
            cluster.resume(2)
            producer.acks = -1
            producer.send(TOPIC, [b"four"])
        cluster.kill(3)
        cluster.start(only="broker3")
        time.sleep(0.5)
    return cluster


def test_each_line_that_a_fault_of_brokers_replaces_is_there(monkeypatch: pytest.MonkeyPatch):
    for fault in FAULTS.values():
        plant(monkeypatch, fault.function, fault.line, fault.otherwise)


SAID = {
    "watermark-does-not-wait": "high_watermark_raised",
    "log-is-cut-to-nothing": "log_truncating",
    "no-leader-epoch-is-sent": "records_asked",
    "consumers-read-above-the-watermark": "fetch_served",
    "producers-are-answered-at-once": "producer_answered",
}


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(one, marks=[] if number == 0 else [pytest.mark.deep])
        for number, one in enumerate(SAID)
    ],
)
def test_a_fault_planted_into_the_code_that_serves_is_named_by_its_line(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    assert fault in FAULTS
    planted(monkeypatch, fault, tmp_path / "cluster")

    report = judged(tmp_path / "cluster" / TRACE)

    assert report.verdict is Verdict.BROKEN
    found = report.findings[0]
    line = Path(found.file).read_text(encoding="utf-8").splitlines()[found.line - 1]
    assert json.loads(line)["step"] == SAID[fault], found


@pytest.mark.deep
@pytest.mark.parametrize("seed", [1, 2])
def test_a_hundred_kills_pauses_and_restarts_are_explained(seed: int, tmp_path: Path):
    befalls = tuple(faults(100, seed, 3, ("kill", "pause", "stop")))
    plan = ChaosPlan(befalls, seed, "2.3", trace=True)

    trace = run_chaos(tmp_path / "cluster", plan, print).trace

    assert trace is not None
    assert not trace.findings
    assert trace.verdict is Verdict.HOLDS
