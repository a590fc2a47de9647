"""Valid topic names, and names that collide (``Topic``; fact sheet i.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from impl.admin.errors import InvalidTopic

LONGEST = 249
INTERNAL = ("__consumer_offsets", "__transaction_state")
_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")

COLLISION_WARNING = (
    "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore ('_') "
    "could collide. To avoid issues it is best to use either, but not both."
)


def check_name(name: str) -> None:
    """Raise InvalidTopic, with Kafka's message, for an invalid topic name."""
    if not name:
        raise InvalidTopic("Topic name is illegal, it can't be empty")
    if name in (".", ".."):
        raise InvalidTopic('Topic name cannot be "." or ".."')
    if len(name) > LONGEST:
        raise InvalidTopic(
            f"Topic name is illegal, it can't be longer than {LONGEST} characters, "
            f"topic name: {name}"
        )
    if not _LEGAL.fullmatch(name):
        raise InvalidTopic(
            f'Topic name "{name}" is illegal, it contains a character other than ASCII '
            "alphanumerics, '.', '_' and '-'"
        )


def has_collision_chars(name: str) -> bool:
    """Whether the name has a period or an underscore, which are the same in metric names."""
    return "." in name or "_" in name


def collide(one: str, other: str) -> bool:
    """Whether the names are equal except for periods and underscores."""
    return one.replace(".", "_") == other.replace(".", "_")


def check_collision(name: str, existing: Iterable[str]) -> None:
    """Raise InvalidTopic if the name collides with another existing topic."""
    alike = sorted(other for other in existing if collide(name, other) and other != name)
    if alike:
        raise InvalidTopic(f"Topic '{name}' collides with existing topics: {', '.join(alike)}")


def is_internal(name: str, transactions: bool = True) -> bool:
    """Whether the topic is internal; up to 0.10 ``__transaction_state`` is not."""
    return name in (INTERNAL if transactions else INTERNAL[:1])
