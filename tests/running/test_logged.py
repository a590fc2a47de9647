"""Simulated clusters that write Kafka's log lines, and are judged by them and by their end."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from conformance.running.profiles import LOGGED_PROFILES, judged_profile
from conformance.running.simulated_log_files import judged_logs, run_with_log_files
from impl.core.deletion import DeletionManager
from impl.core.metadata_cache import MetadataCache
from impl.core.replica_machine import ReplicaMachine
from impl.world.whole_cluster.claims import ClusterClaims
from specs.verdict import Verdict
from tests.impl.planted import plant

STEPS = 1_000


@pytest.mark.parametrize(("release", "seed"), [("2.3", 3), ("2.7", 2)])
def test_topics_that_go_while_partitions_move_leave_lines_without_a_finding(
    release: str, seed: int
) -> None:
    report = judged_logs(seed, STEPS, "everything", release)

    assert report.verdict is Verdict.HOLDS, report.first
    assert report.lines > STEPS
    compared = report.checked
    assert compared["each_state_write_is_a_step_of_the_model"] > 20
    assert compared["controller_lines_are_a_run_of_the_model"] > 500
    assert compared["a_deleted_log_is_renamed"] > 0


def test_a_late_request_of_an_older_controller_is_no_leader_epoch_that_goes_back() -> None:
    """It is refused whole, in a line that names no partition."""
    report = judged_logs(2, 300, "operators", "2.7", settles=False)

    assert report.findings == []


def test_a_request_that_arrives_after_a_later_one_is_no_leader_epoch_that_goes_back() -> None:
    """Its connection broke, and its correlation id says when it was sent."""
    report = judged_logs(2, 1_200, "retention", "0.10.0", settles=False)

    assert report.findings == []


@pytest.mark.parametrize(
    ("faults", "seed", "release", "steps"),
    [
        pytest.param("denials", 7, "2.3", 540, id="a-member-of-the-isr-is-no-replica-any-more"),
        pytest.param("everything", 8, "2.4", 1_180, id="a-state-is-made-and-written-in-one-event"),
        pytest.param("directories", 3, "2.7", 370, id="a-directory-fails-within-a-request"),
        pytest.param("operators", 13, "2.3", 1_260, id="a-log-is-left-of-an-earlier-topic"),
    ],
)
def test_what_kafka_does_as_well_breaks_no_claim(
    faults: str, seed: int, release: str, steps: int, tmp_path: Path
) -> None:
    assert run_with_log_files(tmp_path, seed, steps, faults, release) == (steps, "")


def test_the_same_seed_leaves_the_same_lines(tmp_path: Path) -> None:
    for name in ("one", "other"):
        assert run_with_log_files(tmp_path / name, 5, STEPS) == (STEPS, "")

    files = sorted((tmp_path / "one").rglob("*.log"))
    assert {file.parent.name for file in files} == {f"broker{one}" for one in range(4)}
    for file in files:
        again = tmp_path / "other" / file.relative_to(tmp_path / "one")
        assert file.read_bytes() == again.read_bytes()


def test_a_profile_whose_disks_lose_what_they_held_has_no_whole_logs() -> None:
    with pytest.raises(ValueError, match="no profile 'disks' of what is judged"):
        judged_profile("disks", LOGGED_PROFILES)


def _found(faults: str = "everything") -> Counter[str]:
    return Counter(one.partition(":")[0] for one in _said(faults))


def _said(faults: str = "everything") -> list[str]:
    return [judged_logs(seed, STEPS, faults).first for seed in (0, 3)]


def judged_without_claims_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulator's claims see most faults before a line tells them."""
    monkeypatch.setattr(ClusterClaims, "look", lambda claims: None)


def test_a_leader_epoch_that_stays_is_found_in_the_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    judged_without_claims_of_steps(monkeypatch)
    line = "leader_epoch=state.leader_epoch + 1,"
    plant(monkeypatch, ReplicaMachine.without, line, "leader_epoch=state.leader_epoch,")

    assert _found()["one_leader_per_leader_epoch"]


def test_a_topic_that_is_never_deleted_is_found_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = "DELETION_SUCCESSFUL,", "DELETION_INELIGIBLE,"
    plant(monkeypatch, DeletionManager.replicas_deleted, before, after)

    assert _found("operators")["requested_deletions_end"]


def test_metadata_that_is_not_taken_is_found_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    judged_without_claims_of_steps(monkeypatch)
    line = "self.partitions[partition] = metadata"
    plant(
        monkeypatch, MetadataCache.update, line, "self.partitions.setdefault(partition, metadata)"
    )

    assert any("tells clients of" in one for one in _said())
