"""Where transitions of `cluster` fire: bounds and switches, as data.

A row is explored whole. Together the small rows and the stories, which are played elsewhere, fire
every transition of every release, and each that a switch reverted brings in.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from model.language import RecordedSystem
from model.systems import SYSTEMS

CLUSTER = SYSTEMS["cluster"]
CALM = {"crashes": 0, "expiries": 0, "lingering": 0, "controllers": 1, "versions": 2}


@dataclass(frozen=True, eq=False)  # a key of what was explored
class CoverageRow:
    """One instance, how many states it has, and a transition that no row above it fires."""

    states: int
    bounds: Mapping[str, int]
    fires: str
    without: tuple[str, ...] = ()
    deep: bool = False

    @property
    def recorded(self) -> RecordedSystem:
        """The release with its switches reverted."""
        return CLUSTER.recorded(None, dict.fromkeys(self.without, False))

    @property
    def limits(self) -> dict[str, int]:
        """Every bound."""
        return CLUSTER.limits({**CALM, **self.bounds})

    def __str__(self) -> str:
        shown = {} if self.bounds == CLUSTER.limits({}) else self.bounds
        reported = [f"{name}={value}" for name, value in shown.items()] or ["default"]
        return "-".join(["2.3", *self.without, *reported])


ROWS = (
    CoverageRow(594, {"requests": 1}, "controller_begins_preferred_election"),
    CoverageRow(1_308, {"endpoints": 1}, "broker_changes_endpoints", deep=True),
    CoverageRow(1_550, {"expiries": 1}, "controller_resigns"),
    CoverageRow(1_662, {"lingering": 1}, "node_of_expired_session_is_deleted"),
    CoverageRow(1_432, {"expiries": 1},
                "controller_misses_bounced_brokers",
                without=("bounced_brokers_detected",), deep=True),
    CoverageRow(2_302, {"lingering": 1},
                "broker_keeps_registration_of_old_session",
                without=("znode_owner_checked",), deep=True),
    CoverageRow(115, {"losses": 1},
                "reply_to_registration_is_lost", without=("winner_reads_controller_back",)),
    CoverageRow(3_576, {"shutdowns": 1}, "controller_begins_controlled_shutdown"),
    CoverageRow(8_412, {"losses": 1, "shutdowns": 1}, "late_stop_replica_arrives", deep=True),
    CoverageRow(11_262, {"crashes": 1, "expiries": 1}, "broker_crashes", deep=True),
    CoverageRow(7_541, {"expiries": 2, "versions": 1},
                "controller_finds_brokers_unchanged", deep=True),
    CoverageRow(11_153, {"expiries": 1, "controllers": 2, "versions": 1},
                "controller_write_is_fenced", deep=True),
    CoverageRow(12_945, {"expiries": 1, "controllers": 2, "versions": 1},
                "controller_resigns_and_keeps_its_queue", without=("events_dropped",), deep=True),
    CoverageRow(22_980, {"losses": 1, "expiries": 1, "controllers": 2, "versions": 1},
                "broker_loses_controller_election", deep=True),
    CoverageRow(10_314, {"expiries": 1, "requests": 1}, "controller_begins_rebalance", deep=True),
    CoverageRow(27_648, {"expiries": 1, "endpoints": 1},
                "controller_finds_endpoints_unchanged", deep=True),
    CoverageRow(37_005, {"expiries": 1, "shutdowns": 1, "versions": 1},
                "controller_refuses_controlled_shutdown", deep=True),
    CoverageRow(28_039, {"directories": 1}, "log_directory_fails", deep=True),
    CoverageRow(1_099_138, {"directories": 1, "crashes": 1, "expiries": 1, "versions": 3},
                "log_directory_is_repaired", deep=True),
    CoverageRow(1_154, {"requests": 1},
                "controller_elects_preferred", without=("preferred_leaders_stay",)),
    CoverageRow(1_080_292, {"expiries": 1, "shutdowns": 1, "controllers": 2},
                "controller_skips_isr_removal", deep=True),
    CoverageRow(2_614_221, dict(CLUSTER.limits({})),
                "controller_finds_a_newer_controller", deep=True),
)  # fmt: skip
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


__all__ = ["CALM", "CLUSTER", "ROWS", "CoverageRow", "variants"]
