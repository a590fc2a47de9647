"""Which topic names are allowed, and which two collide, as pure functions.

Source: org.apache.kafka.common.internals.Topic; metric names write a period as an underscore, so
topics that differ only in these have the same metric names.
"""

from __future__ import annotations

import string

LONGEST = 249
ALLOWED = frozenset(string.ascii_letters + string.digits + "._-")
"""ASCII alone: a letter of another script is none of them."""

ALIKE = frozenset("._")


def is_allowed(name: str) -> bool:
    """Whether a topic name is allowed: 1 to 249 allowed characters, and neither `.` nor `..`."""
    return 0 < len(name) <= LONGEST and name not in (".", "..") and ALLOWED.issuperset(name)


def may_collide(name: str) -> bool:
    """Whether the name needs a warning: it has a period or an underscore."""
    return not ALIKE.isdisjoint(name)


def collide(one: str, other: str) -> bool:
    """Whether the names are the same, or differ only in periods and underscores."""

    def folded(name: str) -> list[str]:
        return ["_" if letter in ALIKE else letter for letter in name]

    return folded(one) == folded(other)
