"""Writes a run as a story: text that anybody can play, edit and keep."""

from __future__ import annotations

from typing import Any

from model.language import RecordedSystem
from model.systems import system
from specs.runs import Run
from specs.state_text import text
from specs.story.heading import heading_line
from specs.story.play import play
from specs.story.read import RULE, parse
from specs.story.rerecord import rerecorded
from specs.verdict import Verdict

HERE = "here"


def story_from_run(run: Run, recorded: RecordedSystem | None = None) -> str:
    """The text of a story that takes the run's steps and checks its claim at their end, recorded.

    `recorded` is the system on which the run was found, if it is not the one that its version and
    switches name (a planted bug); such a story plays on that system only.
    """
    if recorded is None:
        recorded = system(run.system).recorded(run.version, run.without)
    heading = heading_line(recorded, run.bounds)
    verb = "reaches" if run.verdict is Verdict.HOLDS else "breaks"
    lines = [
        f"# The shortest run that {verb} {run.claim}: {run.sentence}.",
        f"# Shows: {len(run.steps)} steps, as found by: {run.replay}",
        heading,
        "",
    ]
    for number, step in enumerate(run.steps):
        if number == run.loop:
            lines += [f"mark {HERE}   # from here on without end"]
        lines.append(" ".join([step.step, *(f"{k}={_word(v)}" for k, v in step.args.items())]))
    if run.loop is not None and run.loop < len(run.steps):
        lines.append(f"same {HERE}")
    elif run.loop is not None:
        lines.append("# And so it stays: nothing that must happen can happen any more.")
    lines += [f"check {run.claim}", RULE]
    story = parse("\n".join(lines) + "\n", f"{run.system}-{run.claim}.story")
    outcome = play(story, recorded)
    if outcome.failed is not None:
        raise AssertionError(f"a run cannot be played as a story: {outcome.failed[1]}")
    return rerecorded(outcome)


def _word(value: Any) -> str:
    return text(value, is_set=isinstance(value, list))
