"""Kafka's releases as comparable values, and which of them the implementation behaves like.

Behaviour that differs is asked for by comparison, as Kafka's own notes tell it: ``since("2.2")``
reads "2.2 and later". Source: the fact sheet's tags, which name minor releases.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import total_ordering

PRESETS = ("0.10", "0.11", "1.1", "2.0", "2.1", "2.3", "2.4", "2.7")
"""The releases that can be asked for by name; each means the last one of its line."""

DEFAULT = "2.3"

# The last patch of a line matters only where a line changed its behaviour within itself.
_LAST_OF_LINE: dict[tuple[int, ...], tuple[int, ...]] = {(0, 10): (0, 10, 2)}


@total_ordering
@dataclass(frozen=True, slots=True)
class Release:
    """A release, such as 2.3 or 0.10.1; a line's name (0.10) means its last one."""

    parts: tuple[int, ...]

    @staticmethod
    def of(text: str) -> Release:
        """Read "2.3" or "0.10.1"; ValueError for what is no release."""
        if not re.fullmatch(r"\d+\.\d+(\.\d+)*", text):
            raise ValueError(f"a release looks like 2.3 or 0.10.1, not {text!r}")
        parts = tuple(int(part) for part in text.split("."))
        return Release(_LAST_OF_LINE.get(parts, parts))

    def since(self, text: str) -> bool:
        """This release is that one or a later one; "0.10" here means its first one, 0.10.0."""
        return self.parts >= tuple(int(part) for part in text.split("."))

    def __lt__(self, other: Release) -> bool:
        return self.parts < other.parts

    def __str__(self) -> str:
        return ".".join(str(part) for part in self.parts)


def presets() -> list[Release]:
    """The supported releases, oldest first."""
    return [Release.of(name) for name in PRESETS]
