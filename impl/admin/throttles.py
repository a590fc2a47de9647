"""Replication throttles of reassignments: configuration names, and messages (KIP-73, KIP-113).

Source: ReassignPartitionsCommand; article on partition reassignment.
"""

from __future__ import annotations

from impl.releases import Release

LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
MOVE_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
LEADERS = "leader.replication.throttled.replicas"
FOLLOWERS = "follower.replication.throttled.replicas"

WARNING = (
    "Warning: You must run Verify periodically, until the reassignment completes, to ensure the "
    "throttle is removed. You can also alter the throttle by rerunning the Execute command passing "
    "a new value."
)


def rates_set(rate: int, release: Release) -> str:
    """What is said of a rate between brokers; up to 1.0 there was no other."""
    between = "inter-broker " if release.since("1.1") else ""
    return f"The {between}throttle limit was set to {rate} B/s"
