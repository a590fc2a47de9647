"""Faults in a staged cluster: the weights of its steps, by profile."""

from __future__ import annotations

import random

from impl.sim.simulator import Faults, Profiles, Weight
from impl.world.staged.staged_cluster import StagedCluster

USUAL = 200
SELDOM = 20

MIND = {
    "leader_maybe_shrinks_isr": SELDOM,
    "leader_maybe_expands_isr": USUAL,
    "controller_handles_event": 2 * USUAL,
    "broker_replaces_its_old_registration": USUAL // 2,
    "node_of_expired_session_is_deleted": USUAL // 2,
}
"""What brokers do of themselves more or less often than the rest."""

ARRIVALS = ("leader_and_isr_arrives", "update_metadata_arrives", "stop_replica_arrives")

STAGED_PROFILES: dict[str, Faults] = {
    "none": {},
    "crashes": {"broker_crashes": 8},
    "sessions": {
        "session_expires": 6, "session_ends_before_its_nodes": 3, "controller_node_is_deleted": 3,
    },
    "lossy": {
        "reply_to_registration_is_lost": USUAL, "session_expires": 2,
        "controller_node_is_deleted": 6,
    },
    "operators": {
        "broker_asks_for_controlled_shutdown": 10, "shutdown_request_arrives": USUAL,
        "broker_changes_endpoints": 10, "preferred_election_is_requested": 10,
        "leaders_are_rebalanced": 10, "stop_replica_is_sent_again": USUAL, "broker_crashes": 2,
    },
    "slow": {
        **dict.fromkeys(ARRIVALS, SELDOM), "controller_handles_event": SELDOM,
        "broker_crashes": 2, "session_expires": 2, "leader_maybe_shrinks_isr": USUAL,
    },
    "everything": {
        "broker_crashes": 4, "session_expires": 4, "session_ends_before_its_nodes": 2,
        "controller_node_is_deleted": 4, "reply_to_registration_is_lost": SELDOM,
        "broker_asks_for_controlled_shutdown": 4,
        "broker_changes_endpoints": 4, "preferred_election_is_requested": 8,
        "leaders_are_rebalanced": 8, "stop_replica_is_sent_again": SELDOM,
        "log_directory_fails": 4, "log_directory_is_repaired": USUAL // 2,
    },
    "directories": {
        "log_directory_fails": 12, "log_directory_is_repaired": USUAL // 2, "broker_crashes": 4,
    },
}  # fmt: skip
"""By name, the weights that differ from a calm run's; `slow` has requests and events wait."""

FAULTS = (
    "broker_crashes", "session_expires", "session_ends_before_its_nodes",
    "controller_node_is_deleted", "reply_to_registration_is_lost",
    "broker_asks_for_controlled_shutdown",
    "broker_changes_endpoints", "preferred_election_is_requested", "leaders_are_rebalanced",
    "stop_replica_is_sent_again", "log_directory_fails", "log_directory_is_repaired",
)  # fmt: skip
"""What happens in no calm run: faults, and what operators do and timers."""


def _swarm(chance: random.Random) -> Faults:
    faults = {one: chance.choice((0, 1, 4, 16, 64)) for one in (*FAULTS, *ARRIVALS)}
    return faults | {one: chance.choice((16, 64, 256)) for one in ARRIVALS}


STAGED_FAULTS = Profiles("staged", STAGED_PROFILES, _swarm)


def staged_weights(world: StagedCluster, faults: Faults) -> dict[str, Weight]:
    """The weights of the steps by name."""
    usual = {name: 0 if name in FAULTS else MIND.get(name, USUAL) for name in world.kinds}
    return {name: faults.get(name, weight) for name, weight in usual.items()}
