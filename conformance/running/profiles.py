"""What goes wrong in simulated clusters whose traces are judged."""

from __future__ import annotations

TRACED_PROFILES = ("none", "crashes", "sessions", "lossy", "failures")
"""Topics and lists of replicas stay as they are in them: `replication` is of one list."""


def traced_profile(name: str) -> str:
    """A profile by name. ValueError lists the names."""
    if name not in TRACED_PROFILES:
        known = ", ".join(TRACED_PROFILES)
        raise ValueError(f"no profile {name!r} of brokers that are judged; there are {known}")
    return name
