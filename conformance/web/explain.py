"""Writes a run as one self-contained page or text, readable on paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.web.board import Board, RunFrame
from conformance.web.claims_of_state import ClaimStatus
from conformance.web.run_files import ReplayedRun
from conformance.web.self_contained import PageTable, one_file

MOST_FRAMES = 2000


def frames_of(board: Board, lines: Sequence[str]) -> list[RunFrame]:
    """Every state on the run. Raises ProtocolError for a line that is not possible."""
    return [board.frame(lines[:end]) for end in range(min(len(lines), MOST_FRAMES) + 1)]


def page(run: ReplayedRun, frames: Sequence[RunFrame]) -> str:
    """One HTML file with everything in it: no address is fetched when it is opened."""
    return one_file("index.html", run.title, packed(run, frames))


def embedded(run: ReplayedRun, frames: Sequence[RunFrame]) -> str:
    """A part to embed in another page: the board and the steps, from the initial state."""
    return one_file("index.html", run.title, packed(run, frames) | {"embed": True})


def packed(run: ReplayedRun, frames: Sequence[RunFrame]) -> dict[str, Any]:
    """The run as data for the page's script."""
    packer = PageTable()
    return {
        "title": run.title, "heading": run.heading, "diagnosis": run.diagnosis,
        "lines": run.lines[: len(frames) - 1], "frames": [packer.frame(one) for one in frames],
        "table": packer.table,
    }  # fmt: skip


def markdown(run: ReplayedRun, frames: Sequence[RunFrame]) -> str:
    """The run as a numbered list, each step with what it changed, and the claims at the end."""
    lines = [f"# {run.title}", "", f"`{run.heading}`", ""]
    for number, frame in enumerate(frames[1:], 1):
        lines.append(f"{number}. **{frame.label}**")
        lines += [f"   - `{change}`" for change in frame.changes] or ["   - nothing changes"]
        lines += [f"   - claim **{name}** breaks here" for name in broken_by(frames, number)]
    if run.loop is not None:
        lines += ["", f"And again from step {run.loop + 1}, without end."]
    if run.diagnosis is not None:
        lines += ["", f"Here it ends: {run.diagnosis}"]
    lines += ["", "| claim | at the end |", "|---|---|"]
    lines += [f"| {lamp.claim}: {lamp.sentence} | {state_of(lamp)} |" for lamp in frames[-1].lamps]
    return "\n".join(lines) + "\n"


def state_of(lamp: ClaimStatus) -> str:
    """The word for a claim's state."""
    if lamp.is_always:
        return "holds" if lamp.lit else "**broken**"
    return "so here" if lamp.lit else "not here"


def broken_by(frames: Sequence[RunFrame], number: int) -> list[str]:
    """The `always` claims that hold before a step and not after it."""
    before = {lamp.claim for lamp in frames[number - 1].lamps if lamp.lit}
    return [lamp.claim for lamp in frames[number].lamps if lamp.is_broken and lamp.claim in before]
