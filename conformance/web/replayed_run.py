"""A run as the explorer shows it, from any source."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReplayedRun:
    """A title, the heading of a game, and its lines. `loop`: see `specs.runs`.

    `diagnosis` says why it ends here: the trace continues in a way that no run of the model does.
    `places` gives the position of each line in a trace.
    """

    title: str
    heading: str
    lines: tuple[str, ...]
    loop: int | None = None
    diagnosis: str | None = None
    places: tuple[str, ...] = ()


class NoRunError(Exception):
    """A file holds no run; the message names the file and the files that do."""
