"""Fault profiles of simulated clusters whose traces or log lines are judged."""

from __future__ import annotations

from impl.world.wide.runs import WIDE_FAULTS

TRACED_PROFILES = ("none", "crashes", "sessions", "lossy", "failures")
"""Topics and lists of replicas stay as they are in them: `replication` is of one list."""


def traced_profile(name: str) -> str:
    """A profile by name. ValueError lists the names."""
    if name not in TRACED_PROFILES:
        known = ", ".join(TRACED_PROFILES)
        raise ValueError(f"no profile {name!r} of brokers that are judged; there are {known}")
    return name


LOGGED_PROFILES = tuple(name for name in WIDE_FAULTS.names if name not in ("power", "disks"))
"""A disk that lost what was written leaves lines that no whole log has: that its broker cut below
what it had, say, since its leader had less."""


def logged_profile(name: str) -> str:
    """A profile by name. ValueError lists the names."""
    if name not in LOGGED_PROFILES:
        known = ", ".join(LOGGED_PROFILES)
        raise ValueError(
            f"no profile {name!r} of clusters whose logs are judged; there are {known}"
        )
    return name
