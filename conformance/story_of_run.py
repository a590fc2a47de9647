"""Writes a run that a check found as a recorded story, up to the refused step."""

from __future__ import annotations

from collections.abc import Sequence

from model.language import RecordedSystem
from specs.story import Story
from specs.story.play import play
from specs.story.read import RULE, parse
from specs.story.rerecord import rerecorded

NAME = "found.story"


class NoStory(Exception):
    """What was found cannot be reported as a story; the message says why."""


def as_story(
    title: str, shows: str, heading: str, lines: Sequence[str], then: Sequence[str] = ()
) -> str:
    """Writes a story that takes `lines` quietly, and then those of `then` with their output.

    A step that the model refuses becomes a `refused` line, with the reason; one among `lines` ends
    the story. The story ends with a claim about states. Raises NoStory.
    """
    head = [f"# {title}", f"# Shows: {shows}", heading, ""]
    taken = [f"quietly {line}" for line in lines]
    failed = _first_refused(head, taken)
    if failed is not None:
        return _recorded(head, [*taken[:failed], f"refused {lines[failed]}"])
    kept = list(taken)
    for line in then:
        trial = [*kept, line]
        kept = trial if _first_refused(head, trial) is None else [*kept, f"refused {line}"]
        if kept is trial:
            break  # one of them is possible: it is what the model does here
    return _recorded(head, kept)


def claim_of(recorded: RecordedSystem) -> str:
    """A claim about states that the system makes, for a story to end with."""
    names = [name for name, (claim, _) in recorded.claims.items() if claim.kind == "always"]
    return "leader_unique" if "leader_unique" in names else names[0]


def _first_refused(head: Sequence[str], lines: Sequence[str]) -> int | None:
    """The place of the first line that cannot be played."""
    story = parse("\n".join([*head, *lines, RULE]) + "\n", NAME)
    failed = play(story, _system_of(story)).failed
    return None if failed is None else failed[0] - len(head) - 1


def _recorded(head: Sequence[str], lines: Sequence[str]) -> str:
    recorded = _system_of(parse("\n".join([*head, *lines, RULE]) + "\n", NAME))
    text = "\n".join([*head, *lines, f"check {claim_of(recorded)}", RULE]) + "\n"
    outcome = play(parse(text, NAME), recorded)
    if outcome.failed is not None:
        raise NoStory(f"line {outcome.failed[0]}: {outcome.failed[1]}")
    return rerecorded(outcome)


def _system_of(story: Story) -> RecordedSystem:
    if story.heading is None:
        raise NoStory("it names no system")
    return story.heading.recorded
