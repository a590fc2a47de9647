"""Which names a topic may have, and which two are too alike, as pure functions.

Source: org.apache.kafka.common.internals.Topic; the names of metrics write a period as an
underscore, so that topics which differ in nothing else would share theirs.
"""

from __future__ import annotations

import string

LONGEST = 249
ALLOWED = frozenset(string.ascii_letters + string.digits + "._-")
"""ASCII alone: a letter of another script is none of them."""

ALIKE = frozenset("._")


def is_allowed(name: str) -> bool:
    """A topic may be called so: 1 to 249 allowed characters, and not a folder's own name."""
    return 0 < len(name) <= LONGEST and name not in (".", "..") and ALLOWED.issuperset(name)


def may_collide(name: str) -> bool:
    """The name is worth a warning: it has a character that another could stand for."""
    return not ALIKE.isdisjoint(name)


def collide(one: str, other: str) -> bool:
    """The same name, or names that differ in nothing but periods and underscores."""

    def folded(name: str) -> list[str]:
        return ["_" if letter in ALIKE else letter for letter in name]

    return folded(one) == folded(other)
