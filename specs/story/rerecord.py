"""Records the output of a story anew, and shows the difference from the old text."""

from __future__ import annotations

import difflib

from specs.story.play import StoryOutcome


def rerecorded(outcome: StoryOutcome) -> str:
    """The story's text with the output below each rule; comments and lines stay as they are."""
    lines: list[str] = []
    for scene, output in zip(outcome.story.scenes, outcome.lines, strict=True):
        lines += [*scene.above, *output]
    lines += outcome.story.tail
    return "\n".join(lines) + "\n"


def difference(outcome: StoryOutcome, before: str) -> list[str]:
    """A unified diff from the recorded text to the output; empty if there is none."""
    source = outcome.story.source
    if outcome.is_as_recorded:
        return []
    return [
        line.rstrip("\n")
        for line in difflib.unified_diff(
            before.splitlines(), rerecorded(outcome).splitlines(),
            f"{source} (recorded)", f"{source} (output now)", lineterm="", n=2,
        )
    ]  # fmt: skip
