"""Compares two runs of one system in lock-step: two versions, two runs, or a run and a trace.

In each row each side takes its line. A side that refuses the line skips it, with the reason, which
shows how the run continues without it. The first row whose sides are not the same is the first
difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from conformance.web.board import Board, RunFrame, board
from conformance.web.run_files import ReplayedRun
from conformance.web.run_tree import RunNode
from conformance.web.self_contained import PageTable, one_file
from model.language import ProtocolError
from specs.rendering import HIDDEN, only_attribute, parts
from specs.story.heading import heading_line, read_heading

if TYPE_CHECKING:
    from conformance.web.trace_as_run import ObservedStep

MOST_ROWS = 2000
AROUND = 3
"""Rows that a text shows on each side of the first difference."""


@dataclass(frozen=True)
class ComparedSide:
    """One side of a row: its step, why it is refused there (else None), and the state after it.

    Logs hold no state: their frame is None.
    """

    label: str
    refused: str | None
    frame: RunFrame | None


@dataclass(frozen=True)
class ComparedRow:
    """Both sides after as many lines; None after a run's end. `differs`: leaf by leaf."""

    left: ComparedSide | None = field(metadata=only_attribute("label"))
    right: ComparedSide | None = field(metadata=only_attribute("label"))
    differs: tuple[str, ...]
    words: str = ""

    @property
    def alike(self) -> bool:
        """Whether both sides did the same, and ended in the same state."""
        return not self.differs and not self.words


@dataclass
class Comparison:
    """A comparison, row by row. `first` is the number of the first difference, if any."""

    ALSO: ClassVar = parts("format", "alike", "first")
    format: ClassVar = "insync.comparison/1"

    left: str
    right: str
    rows: list[ComparedRow] = field(default_factory=list)
    diagnosis: str | None = None
    unit: str = field(default="step", metadata=HIDDEN)

    @property
    def alike(self) -> bool:
        """Whether there is no difference that counts."""
        return self.first is None

    @property
    def first(self) -> int | None:
        """The first row whose sides differ."""
        return next((n for n, row in enumerate(self.rows) if not row.alike), None)


class NoComparisonError(Exception):
    """The two things cannot be compared; the message says what can be."""


def under(run: ReplayedRun, words: str) -> ReplayedRun:
    """The same lines under other rules: `version kip_320`, `without fetch_fencing`, or a version.

    Raises ProtocolError for rules that the system does not have.
    """
    here = read_heading(run.heading)
    chosen = here.recorded.system
    plain = words.split()
    if len(plain) == 1:
        plain = ["version", *plain]
    if "version" not in plain[::2]:
        plain = ["version", here.recorded.version, *plain]
    bounds = [word for name, size in here.given.items() for word in (name, str(size))]
    other = read_heading(" ".join(["system", chosen.name, *plain, *bounds]))
    heading = heading_line(other.recorded, other.given)
    return replace(run, title=f"the same steps: {heading}", heading=heading, diagnosis=None)


def compared(left: ReplayedRun, right: ReplayedRun) -> Comparison:
    """Compares two runs in lock-step. Raises NoComparisonError for runs of two systems."""
    return compared_on((board(left.heading), left), (board(right.heading), right))


def compared_on(a: tuple[Board, ReplayedRun], b: tuple[Board, ReplayedRun]) -> Comparison:
    """Compares two runs, each on a board of its own, such as one without a guard."""
    (one, left), (other, right) = a, b
    names = one.heading.recorded.system.name, other.heading.recorded.system.name
    if names[0] != names[1]:
        raise NoComparisonError(
            f"the runs are of two systems, {names[0]} and {names[1]}; compare runs of one"
        )
    result = Comparison(left.title, right.title, [], right.diagnosis or left.diagnosis)
    sides = _Track(one, left.lines), _Track(other, right.lines)
    result.rows.append(_row(one, sides[0].begin(), sides[1].begin(), sides))
    for number in range(min(max(len(left.lines), len(right.lines)), MOST_ROWS)):
        result.rows.append(_row(one, sides[0].take(number), sides[1].take(number), sides))
    return result


def with_trace(run: ReplayedRun, observed: ObservedStep | None) -> Comparison:
    """Compares a trace with the model, up to the line that does not fit, and what differs there."""
    result = compared(replace(run, title="the model"), run)
    if observed is None and run.diagnosis is not None:
        none, more = (
            ComparedSide("no run goes on", None, None),
            ComparedSide("the next line", None, None),
        )
        result.rows.append(ComparedRow(none, more, (), run.diagnosis))
    if observed is None or len(run.lines) > MOST_ROWS:
        return result
    here = board(run.heading)
    last = RunNode(here.at(run.lines))
    seen = RunNode(observed.over(last.state))
    best = ComparedSide(f"no step of the model is {observed.label}", None, here.frame(run.lines))
    differs = tuple(here.leaves.changes(last.state, seen.state))
    fewest = None
    for line in observed.candidates:
        try:
            after = RunNode(here.take(last.state, line, len(run.lines) + 1))
        except ProtocolError:
            continue
        # What no trace shows is as this step leaves it.
        over = observed.over(after.state)
        leaves = tuple(here.leaves.changes(after.state, over))
        if fewest is None or len(leaves) < fewest:
            fewest, differs, seen = len(leaves), leaves, RunNode(over)
            best = ComparedSide(line, None, here.shown(line, last, after, line))
    shown = here.shown(observed.label, last, seen)
    words = run.diagnosis or "the trace goes on as the model does not"
    result.rows.append(ComparedRow(best, ComparedSide(observed.label, None, shown), differs, words))
    return result


class _Track:
    """One side on its way: refused lines are passed over."""

    def __init__(self, played: Board, lines: Sequence[str]) -> None:
        self.board, self.lines = played, lines
        self.here = RunNode(played.start)

    def begin(self) -> ComparedSide:
        return ComparedSide(
            "the beginning", None, self.board.shown("the beginning", None, self.here)
        )

    def take(self, number: int) -> ComparedSide | None:
        if number >= len(self.lines):
            return None
        line, before = self.lines[number], self.here
        try:
            self.here = RunNode(self.board.take(before.state, line, number + 1))
        except ProtocolError as error:
            why = str(error).removeprefix(f"step {number + 1}: ")
            return ComparedSide(line, why, self.board.shown(line, before, before))
        return ComparedSide(line, None, self.board.shown(line, before, self.here, line))


def _row(
    one: Board, left: ComparedSide | None, right: ComparedSide | None, sides: tuple[_Track, _Track]
) -> ComparedRow:
    differs = tuple(one.leaves.changes(sides[0].here.state, sides[1].here.state))
    words = ""
    if left is None or right is None:
        words = f"the {'left' if left is None else 'right'} run has ended"
    elif (left.refused is None) != (right.refused is None):
        who, why = ("left", left.refused) if left.refused else ("right", right.refused)
        words = f"refused on the {who}: {why}"
    elif left.label != right.label:
        words = "two steps"
    return ComparedRow(left, right, differs, words)


# -- as sentences
# ------------------------------------------------------------------------------------


def as_text(result: Comparison) -> str:
    """The rows around the first difference, each with what differs."""
    lines = [f"left:  {result.left}", f"right: {result.right}"]
    first = result.first
    if first is None:
        if result.unit == "step":
            return "\n".join([*lines, f"alike: {_counted(len(result.rows) - 1)}, state by state"])
        run = _counted(len(result.rows), result.unit)
        return "\n".join([*lines, f"alike: {run}, and nothing that is not allowed"])
    lines.append(f"the first difference is at {result.unit} {first}")
    for number in range(max(first - AROUND, 0), min(first + AROUND + 1, len(result.rows))):
        row = result.rows[number]
        left, right = (one.label if one else "—" for one in (row.left, row.right))
        mark = "≠" if number == first else " " if row.alike else "~"
        lines.append(f"{mark} {number:>4}  {left}" + (f"  |  {right}" if right != left else ""))
        if not row.alike:
            lines += [f"          {row.words}"] if row.words else []
            lines += [f"          {leaf.replace(' → ', ' | ')}" for leaf in row.differs]
    return "\n".join(lines)


def _counted(number: int, unit: str = "step") -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}"


def packed(result: Comparison) -> dict[str, Any]:
    """The data that the page draws."""
    packer = PageTable()

    def side(one: ComparedSide | None) -> Any:
        if one is None:
            return None
        return [one.label, one.refused, packer.frame(one.frame) if one.frame else None]

    rows = [[side(row.left), side(row.right), list(row.differs), row.words] for row in result.rows]
    return {
        "left": result.left, "right": result.right, "first": result.first,
        "diagnosis": result.diagnosis, "rows": rows, "table": packer.table,
    }  # fmt: skip


def page(result: Comparison) -> str:
    """The comparison as one HTML file that needs no other."""
    return one_file("compare.html", f"{result.left} | {result.right}", packed(result))
