"""Lines of a trace as arrays, with the steps of the model that each may be: a kernel's input.

Nothing here needs a compiler: it is also how lines are kept that are judged without one.
"""

from __future__ import annotations

from dataclasses import dataclass

from specs.native.unbounded_layout import Words


@dataclass(frozen=True)
class Way:
    """One move that a step may be: where its arguments come from.

    `sources` has, by parameter, the number of a line's argument, or -(number + 1): whom the
    broker that this argument names takes for the leader.
    """

    move: str
    sources: tuple[int, ...]


@dataclass(frozen=True)
class StepWays:
    """By step: the moves that it may be, and whether it may also change nothing."""

    starts: Words
    moves: Words
    sources: Words
    silent: Words
    leader: int


@dataclass(frozen=True)
class LineArrays:
    """Lines of a trace as arrays, `n` of them.

    steps (n): a step's number, -1 for one to stop at; args (n, arguments); changed (k, 6): field,
    four indices, code; those of line i are from `changed_from[i]` up to `changed_from[i + 1]`.
    """

    steps: Words
    args: Words
    changed_from: Words
    changed: Words
