"""Log directories that fail, one by one: within these bounds every way through it, and no other."""

from __future__ import annotations

import pytest

from model.systems import SYSTEMS
from specs.explorer import Exploration, explore
from specs.verdict import Verdict

CLUSTER = SYSTEMS["cluster"]
ONE_FAILURE = {
    "directories": 1, "crashes": 0, "expiries": 0, "lingering": 0, "controllers": 1, "versions": 2,
}  # fmt: skip
STEPS = {
    "log_directory_fails", "broker_reports_log_dir_failure",
    "controller_sends_leader_and_isr_for_log_dirs", "controller_finds_no_log_dir_event",
    "broker_answers_kafka_storage_error", "controller_marks_replicas_offline",
    "controller_finds_log_dirs_unchanged", "broker_stops_fetching",
}  # fmt: skip


def broken(found: Exploration) -> set[str]:
    return {
        name for name, one in found.claims.items()
        if one.verdict is Verdict.BROKEN and one.kind != "sometimes"
    }  # fmt: skip


def test_a_failed_directory_is_reported_and_its_replica_taken_offline_on_every_way():
    bounds = CLUSTER.limits(ONE_FAILURE)

    found = explore(CLUSTER.recorded(), bounds, engine="python")

    assert broken(found) == set()
    assert {name for name, times in found.fired.items() if times} >= STEPS
    assert found.distinct == 28_039


@pytest.mark.parametrize("version", ["0.10", "0.11"])
def test_before_kip_112_a_directory_does_not_fail_alone(version):
    names = {step.transition.name for step in CLUSTER.recorded(version).steps}

    assert names & STEPS == {"broker_stops_fetching"}


@pytest.mark.deep
def test_with_a_crash_and_an_expiry_as_well_nothing_is_broken():
    bounds = CLUSTER.limits({**ONE_FAILURE, "crashes": 1, "expiries": 1, "versions": 3})

    found = explore(CLUSTER.recorded(), bounds)

    assert broken(found) == set()
    assert found.distinct == 1_099_138
    assert found.fired["log_directory_is_repaired"] > 0
