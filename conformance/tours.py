"""Stories as tours: what they tell is driven in lock-step, as far as today's release goes along.

A story leads to a rare corner by the shortest way, which no random walk of this length finds. Many
end where an old release did what the newest does not: there the tour ends, and that is no mismatch.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import specs
from conformance.lockstep import BOUNDS, Lockstep
from conformance.partner import Key
from specs.story.errors import StoryError
from specs.story.read import read_story

STORIES = Path(specs.__file__).parent / "stories"
SYSTEM = "replication"


@cache
def tours() -> dict[str, tuple[int, tuple[Key, ...]]]:
    """Name of each story of `replication` -> its number of brokers and its steps."""
    found: dict[str, tuple[int, tuple[Key, ...]]] = {}
    for path in sorted(STORIES.rglob("*.story")):
        try:
            story = read_story(path)
        except StoryError:
            continue  # a story that cannot be read is a finding of `insync story`
        heading = story.heading
        if heading is None or heading.recorded.system.name != SYSTEM:
            continue
        keys: list[Key] = []
        for command in story.commands:
            if command.is_step:
                values = command.arguments.values()
                if any(isinstance(value, frozenset) for value in values):
                    break
                keys.append((command.what, tuple(int(v) for v in values if isinstance(v, int))))
        found[path.stem] = heading.step_bounds["brokers"], tuple(keys)
    return found


def tour(name: str) -> int:
    """Drives a story's steps on both sides; returns how many. Raises Mismatch."""
    brokers, keys = tours()[name]
    pair = Lockstep({**BOUNDS, "brokers": brokers})
    for taken, key in enumerate(keys):
        if key not in pair.partner.enabled(pair.state):
            return taken
        pair.drive(key)
        pair.compare_enabledness()
    return len(keys)
