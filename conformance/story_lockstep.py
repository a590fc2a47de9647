"""Drives stories of the model in lock-step, as far as the current release follows them.

A story reaches a rare state by the shortest path, which no random walk of this length finds. Many
end where an old release did what the newest does not: the tour ends there, without a mismatch.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import specs
from conformance.lockstep import BOUNDS, Lockstep
from conformance.model_stepper import Key
from specs.story.read import StoryError, read_story

STORIES = Path(specs.__file__).parent / "stories"
HEADING = re.compile(r"^system (\w+)", re.MULTILINE)


@cache
def systems_of_stories() -> dict[Path, str]:
    """The file of each story -> its system. Only headings are read."""
    found = {path: HEADING.search(path.read_text("utf-8")) for path in STORIES.rglob("*.story")}
    return {path: heading[1] for path, heading in sorted(found.items()) if heading is not None}


@cache
def tours() -> dict[str, Path]:
    """Name of each story of `replication` -> its file."""
    of_one_partition = (
        path for path, system in systems_of_stories().items() if system == "replication"
    )
    return {path.stem: path for path in of_one_partition}


@cache
def route(name: str) -> tuple[int, tuple[Key, ...]]:
    """The number of brokers of a story and its steps: those before the first that takes a set."""
    keys: list[Key] = []
    try:
        story = read_story(tours()[name])
    except StoryError:
        return BOUNDS["brokers"], ()  # a story that cannot be read is a finding of `insync story`
    assert story.heading is not None, "tours() has found it"
    for command in story.commands:
        if command.is_step:
            values = command.arguments.values()
            if any(isinstance(value, frozenset) for value in values):
                break
            keys.append((command.what, tuple(int(v) for v in values if isinstance(v, int))))
    return story.heading.step_bounds["brokers"], tuple(keys)


def tour(name: str) -> int:
    """Drives a story's steps on both sides; returns how many. Raises Mismatch."""
    brokers, keys = route(name)
    pair = Lockstep({**BOUNDS, "brokers": brokers})
    for taken, key in enumerate(keys):
        if key not in pair.model.enabled(pair.state):
            return taken
        pair.drive(key)
        pair.compare_enabledness()
    return len(keys)
