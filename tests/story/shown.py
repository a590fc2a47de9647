"""What the stories of a system show: steps that are taken, and guards that refuse."""

from __future__ import annotations

import functools
import re

from tests.story.test_stories import STORIES


@functools.cache
def _of(system: str) -> str:
    """The texts of all stories of a system."""
    texts = [path.read_text(encoding="utf-8") for path in STORIES]
    return "\n".join(text for text in texts if f"\nsystem {system} " in text)


def refused_in(system: str) -> set[tuple[str, str]]:
    """(step, reason) of every refusal: the first guard that fails."""
    return set(re.findall(r"(?m)^refused (\w+)(?:\(.*\))?\n    (.*?) — false", _of(system)))


def taken_in(system: str) -> set[str]:
    """Every transition that is taken, shown or quietly."""
    return set(re.findall(r"(?m)^(?:quietly )?(\w+)(?: \w+=| *#|$)", _of(system)))
