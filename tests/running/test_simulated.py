"""A simulated cluster of whole brokers traces, and the model judges each line: faults are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.running.judge import judge_running
from conformance.running.profiles import TRACED_PROFILES
from conformance.running.simulated import judged_run, traced_run
from impl.core import answers
from impl.core.fetcher_thread import FetcherThread
from impl.core.partition import Partition
from impl.core.replica_manager import AcksAwaited, ReplicaManager
from impl.core.truncation import follower_truncation
from specs.verdict import Verdict
from tests.impl.planted import plant

STEPS = 500


@pytest.mark.parametrize("faults", TRACED_PROFILES)
def test_every_line_of_a_simulated_cluster_is_a_step_of_the_model(faults: str) -> None:
    report = judged_run(1, STEPS, faults)

    assert report.verdict is Verdict.HOLDS, report.findings
    assert {one.name for one in report.replayed} == {"/controller", "t0-0", "t0-1"}
    assert report.fired["follower_appends"] > 10
    assert (report.fired["broker_crashes"] > 0) is (faults in ("crashes", "failures"))


@pytest.mark.parametrize("release", ["0.11", "2.4", "2.6"])
def test_other_releases_are_judged_as_well(release: str) -> None:
    report = judged_run(0, STEPS, "failures", release)

    assert report.verdict is Verdict.HOLDS, report.findings
    assert report.version == release


def test_the_same_seed_leaves_the_same_lines(tmp_path: Path) -> None:
    for name in ("one", "other"):
        assert traced_run(tmp_path / name, 5, STEPS) == STEPS

    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert "zookeeper-1.ndjson" in files
    for name in files:
        first, second = (tmp_path / one / name for one in ("one", "other"))
        assert first.read_bytes() == second.read_bytes()


def test_a_line_that_is_taken_out_is_missed(tmp_path: Path) -> None:
    traced_run(tmp_path, 5, STEPS)
    file = tmp_path / "broker2-1.ndjson"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:20] + lines[21:]))

    report = judge_running(sorted(tmp_path.iterdir()))

    assert report.verdict is Verdict.UNKNOWN
    assert any("a line is missing" in one.why for one in report.findings)


def test_profiles_that_change_topics_are_refused() -> None:
    with pytest.raises(
        ValueError, match="no profile 'operators' of brokers that are judged; there are"
    ):
        judged_run(0, STEPS, "operators")


FAULTS = {
    "the controller epoch is never noted": (
        ReplicaManager.handle, "self.controller_epoch = request.controller_epoch", "pass",
    ),
    "no leader epoch is sent": (
        FetcherThread._sent, 'return leader_epoch if self.release.since("2.1") else None',
        "return None",
    ),
    "a producer is acknowledged before its records are committed": (
        AcksAwaited.outcome, "reached = replica.hw >= self.end", "reached = True",
    ),
    "consumers read above the high watermark": (
        ReplicaManager._read, "up_to = hw if reader == CONSUMER else None", "up_to = None",
    ),
    "a follower of another leader epoch is not fenced": (
        answers.current_leader_epoch_error, "if asked is not None and asked > current:",
        "if False:",
    ),
    "the high watermark does not wait for the ISR": (
        Partition.reached, "self.log_end, self.maximal_isr, remotes,", "self.log_end, (), {},",
    ),
    "a follower cuts its log to nothing": (
        follower_truncation, "return Truncation(min(end, reply.end, log_end), True)",
        "return Truncation(0, True)",
    ),
    "a replica that is told an older leader epoch obeys": (
        answers.leader_and_isr_error, "if asked <= current:", "if asked < current - 1:",
    ),
    "a deposed leader adopts a foreign zkVersion": (
        Partition.written, "if there is not None and there.with_zk_version(wanted.zk_version) == "
        "wanted:", "if there is not None:",
    ),
    "no check of the broker epoch (KIP-380)": (
        answers.broker_epoch_error, 'return "STALE_BROKER_EPOCH"', "return NONE",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_the_code_that_serves_is_found(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, line, otherwise = FAULTS[name]
    plant(monkeypatch, function, line, otherwise)

    assert any(judged_run(seed, STEPS).verdict is Verdict.BROKEN for seed in range(12))
