"""Fault profiles of simulated clusters whose traces or log lines are judged."""

from __future__ import annotations

from impl.world.whole_cluster.runs import WHOLE_CLUSTER_FAULTS

TRACED_PROFILES = ("none", "crashes", "sessions", "lossy", "failures")
"""Topics and lists of replicas stay as they are in them: `replication` is of one list."""

LOGGED_PROFILES = tuple(
    name for name in WHOLE_CLUSTER_FAULTS.names if name not in ("power", "disks")
)
"""A disk that lost what was written leaves lines that no whole log has: that its broker cut below
what it had, say, since its leader had less."""


def judged_profile(name: str, known: tuple[str, ...]) -> str:
    """A profile by name. ValueError lists those that are known."""
    if name not in known:
        raise ValueError(f"no profile {name!r} of what is judged; there are {', '.join(known)}")
    return name
