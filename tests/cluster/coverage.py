"""Where each transition of `cluster` fires: bounds, versions and switches, as data.

A row is explored whole. Together the rows fire every transition of every release, and each that a
switch reverted brings in; the stories, which are played elsewhere, fire most of them as well.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from model.language import RecordedSystem
from model.systems import SYSTEMS
from tests.story.test_stories import STORIES

CLUSTER = SYSTEMS["cluster"]
CALM = {"crashes": 0, "expiries": 0, "lingering": 0, "controllers": 1, "versions": 2}


@dataclass(frozen=True)
class CoverageRow:
    """One instance, how many states it has, and what it fires that no row above it does."""

    states: int
    bounds: Mapping[str, int]
    brings: tuple[str, ...]
    version: str = "2.3"
    without: tuple[str, ...] = ()
    deep: bool = False

    @property
    def recorded(self) -> RecordedSystem:
        """The release with its switches reverted."""
        return CLUSTER.recorded(self.version, dict.fromkeys(self.without, False))

    @property
    def limits(self) -> dict[str, int]:
        """Every bound."""
        return CLUSTER.limits({**CALM, **self.bounds})

    def __str__(self) -> str:
        shown = {} if self.bounds == CLUSTER.limits({}) else self.bounds
        reported = [f"{name}={value}" for name, value in shown.items()] or ["default"]
        return "-".join([self.version, *self.without, *reported])


ROWS = (
    CoverageRow(
        594,
        {"requests": 1},
        (
            "admin_asks_for_preferred_leaders",
            "broker_becomes_controller",
            "broker_learns_it_won",
            "broker_updates_metadata",
            "controller_sends_initial_update_metadata",
            "controller_begins_preferred_election",
            "controller_deletes_preferred_request",
            "controller_finds_no_imbalance",
            "controller_finds_no_request",
            "controller_reads_context",
            "controller_starts_replica_state_machine",
            "controller_sends_election_batch",
            "controller_sends_preferred_batch",
            "older_epoch_is_refused",
            "rebalance_timer_fires",
        ),
    ),
    CoverageRow(
        1_308,
        {"endpoints": 1},
        (
            "broker_changes_endpoints",
            "controller_reads_endpoints",
        ),
        deep=True,
    ),
    CoverageRow(
        1_638,
        {"expiries": 1},
        (
            "broker_becomes_follower",
            "broker_becomes_leader",
            "broker_finds_leader_not_in_metadata_cache",
            "broker_reconnects",
            "broker_reports_isr_change",
            "controller_elects_leader",
            "controller_finds_replica_not_in_isr",
            "controller_finds_no_isr_change",
            "controller_brings_replicas_online",
            "controller_node_is_deleted",
            "controller_sends_update_metadata_for_dead_brokers",
            "controller_reads_isr_changes",
            "controller_reads_state",
            "controller_removes_replica",
            "controller_resigns",
            "controller_sees_bounced_brokers",
            "controller_sees_dead_brokers",
            "controller_sees_new_brokers",
            "controller_sends_removal_batch",
            "controller_sends_update_metadata_for_new_brokers",
            "follower_catches_up",
            "leader_commits",
            "leader_expands_isr",
            "leader_isr_write_is_refused",
            "session_expires",
        ),
    ),
    CoverageRow(
        1_750,
        {"lingering": 1},
        (
            "broker_replaces_its_old_registration",
            "node_of_expired_session_is_deleted",
            "session_ends_before_its_nodes",
        ),
    ),
    CoverageRow(
        1_520,
        {"expiries": 1},
        ("controller_misses_bounced_brokers",),
        without=("bounced_brokers_detected",),
        deep=True,
    ),
    CoverageRow(
        2_478,
        {"lingering": 1},
        ("broker_keeps_registration_of_old_session",),
        without=("znode_owner_checked",),
        deep=True,
    ),
    CoverageRow(
        115,
        {"losses": 1},
        (
            "reply_to_registration_is_lost",
            "elected_broker_assumes_another_controller",
        ),
        without=("winner_reads_controller_back",),
    ),
    CoverageRow(
        3_576,
        {"shutdowns": 1},
        (
            "broker_asks_for_controlled_shutdown",
            "broker_starts",
            "broker_stops",
            "broker_stops_fetching",
            "controller_answers_shutdown",
            "controller_begins_shutdown",
            "controller_moves_leader",
            "controller_stops_follower",
            "controller_sends_shutdown_batch",
            "controller_write_conflicts",
            "leader_shrinks_isr",
            "shutdown_request_arrives",
        ),
    ),
    CoverageRow(
        8_420,
        {"losses": 1, "shutdowns": 1},
        (
            "late_stop_replica_arrives",
            "stop_replica_is_sent_again",
        ),
        deep=True,
    ),
    CoverageRow(
        11_852,
        {"crashes": 1, "expiries": 1},
        ("broker_crashes",),
        deep=True,
    ),
    CoverageRow(
        8_926,
        {"expiries": 2, "versions": 1},
        ("controller_finds_brokers_unchanged",),
        deep=True,
    ),
    CoverageRow(
        12_321,
        {"expiries": 1, "controllers": 2, "versions": 1},
        (
            "controller_is_fenced",
            "older_controller_is_refused",
        ),
        deep=True,
    ),
    CoverageRow(
        14_113,
        {"expiries": 1, "controllers": 2, "versions": 1},
        ("controller_resigns_and_keeps_its_queue",),
        without=("events_dropped",),
        deep=True,
    ),
    CoverageRow(
        25_352,
        {"losses": 1, "expiries": 1, "controllers": 2, "versions": 1},
        (
            "broker_loses_controller_election",
            "controller_is_still_active",
        ),
        deep=True,
    ),
    CoverageRow(
        10_882,
        {"expiries": 1, "requests": 1},
        (
            "controller_begins_rebalance",
            "controller_cannot_elect_preferred",
        ),
        deep=True,
    ),
    CoverageRow(
        29_200,
        {"expiries": 1, "endpoints": 1},
        ("controller_finds_endpoints_unchanged",),
        deep=True,
    ),
    CoverageRow(
        41_753,
        {"expiries": 1, "shutdowns": 1, "versions": 1},
        (
            "controller_finds_no_leader",
            "controller_finds_no_other_isr_member",
            "controller_refuses_shutdown",
        ),
        deep=True,
    ),
    CoverageRow(
        28_039,
        {"directories": 1},
        (
            "broker_answers_kafka_storage_error",
            "broker_reports_log_dir_failure",
            "controller_sends_leader_and_isr_for_log_dirs",
            "controller_finds_no_log_dir_event",
            "controller_finds_log_dirs_unchanged",
            "controller_marks_replicas_offline",
            "log_directory_fails",
        ),
        deep=True,
    ),
    CoverageRow(
        1_164_426,
        {"directories": 1, "crashes": 1, "expiries": 1, "versions": 3},
        ("log_directory_is_repaired",),
        deep=True,
    ),
    CoverageRow(
        1_154,
        {"requests": 1},
        ("controller_elects_preferred",),
        without=("preferred_leaders_stay",),
    ),
    CoverageRow(
        1_237_347,
        {"expiries": 1, "shutdowns": 1, "controllers": 2},
        ("controller_skips_isr_removal",),
        deep=True,
    ),
    CoverageRow(
        2_939_579,
        dict(CLUSTER.limits({})),
        ("controller_finds_a_newer_controller",),
        deep=True,
    ),
)
"""From the smallest up: what needs more than one thing to go wrong comes later."""


@functools.cache
def variants() -> tuple[RecordedSystem, ...]:
    """Every release, and the default with each true-or-false switch set the other way."""
    switches: dict[str, Any] = dict(CLUSTER.recorded().switches)
    changed = [{name: not value} for name, value in switches.items() if isinstance(value, bool)]
    return (
        *map(CLUSTER.recorded, CLUSTER.versions),
        *(CLUSTER.recorded(None, one) for one in changed),
    )


def story_coverage() -> tuple[set[str], set[tuple[str, str]]]:
    """What the stories of `cluster` fire, and the guards that they show as the first to fail."""
    fired: set[str] = set()
    refused: set[tuple[str, str]] = set()
    for path in STORIES:
        text = path.read_text(encoding="utf-8")
        if "\nsystem cluster " in text:
            refused |= set(re.findall(r"(?m)^refused (\w+)(?:\(.*\))?\n    (.*?) — false", text))
            fired |= set(re.findall(r"(?m)^(?:quietly )?(\w+)(?= \w+=|$)", text))
    return fired, refused


__all__ = ["CALM", "CLUSTER", "ROWS", "CoverageRow", "story_coverage", "variants"]
