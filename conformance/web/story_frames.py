"""Turns a story into frames that a page plays without a server, each with its state.

A beat is a step, a refused step, or a checked claim. Frames are packed in a table
(`frozen.PageTable`), so that a page with several runs stores repetitions once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.web.address import address
from conformance.web.board import Board, RunFrame, board
from conformance.web.phrases import phrase
from conformance.web.run_files import ReplayedRun, line_of
from conformance.web.self_contained import PageTable
from model.language import ProtocolError
from specs.story.commands import StoryCommand
from specs.story.heading import heading_line
from specs.story.read import Story


def run_of_story(story: Story, packer: PageTable) -> dict[str, Any]:
    """The run of a story: heading, address, lines, beats and frames.

    A beat has `state` (the number of steps before), `kind`, `words`, `note`, and `quiet` if the
    story does not print it.
    """
    assert story.heading is not None
    heading = heading_line(story.heading.recorded, story.heading.given)
    here = board(heading)
    lines: list[str] = []
    beats = [_frame(0, "start", "the initial state")]
    for command in story.commands:
        if command.is_step:
            lines.append(line_of(command))
            beats.append(_frame(len(lines), "step", phrase(lines[-1]),
                               quiet=command.verb == "quietly", label=command.label))  # fmt: skip
        elif command.verb == "refused":
            words = phrase(line_of(command))
            beats.append(_frame(len(lines), "refused", words, _why_not(here, lines, command),
                               label=command.label))  # fmt: skip
        elif command.verb == "check":
            run = _checked(here, lines, command.what)
            beats.append(_frame(len(lines), "check", command.what, run))
    return _run(heading, lines, beats, [here.frame(lines[:n]) for n in range(len(lines) + 1)],
                packer)  # fmt: skip


def run_of(run: ReplayedRun, frames: Sequence[RunFrame], packer: PageTable) -> dict[str, Any]:
    """The run of a replayed run: each step a beat."""
    lines = list(run.lines[: len(frames) - 1])
    beats = [_frame(0, "start", "the initial state")]
    beats += [_frame(n, "step", frames[n].words, label=frames[n].label)
              for n in range(1, len(frames))]  # fmt: skip
    return _run(run.heading, lines, beats, frames, packer)


def _run(
    heading: str, lines: list[str], beats: list[dict[str, Any]], frames: Sequence[RunFrame],
    packer: PageTable,
) -> dict[str, Any]:  # fmt: skip
    return {"heading": heading, "address": address(heading, lines), "lines": lines,
            "beats": beats, "frames": [packer.frame(one) for one in frames]}  # fmt: skip


def _frame(
    state: int, kind: str, words: str, note: str = "", quiet: bool = False, label: str = ""
) -> dict[str, Any]:
    return {"state": state, "kind": kind, "words": words, "note": note, "quiet": quiet,
            "label": label}  # fmt: skip


def _why_not(here: Board, lines: Sequence[str], command: StoryCommand) -> str:
    try:
        here.take(here.at(lines), line_of(command), len(lines) + 1)
    except ProtocolError as error:
        _, _, why = str(error).partition("not possible: ")
        return why or str(error)
    raise ProtocolError(f"{command.label} is possible, and the story says that it is not")


def _checked(here: Board, lines: Sequence[str], claim: str) -> str:
    for lamp in here.frame(lines).lamps:
        if lamp.claim == claim:
            held = "holds" if lamp.is_always else "reached"
            return f"{held if lamp.lit else 'broken'}: {lamp.sentence}"
    return ""
