"""Tables for people: plain text in a pipe, a little colour on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from conformance.cli.common import STDOUT, say

WIDTH_IN_A_PIPE = 100
LEAST_WIDTH = 80
"""A narrower terminal breaks the lines; squeezing sentences into five letters reads worse."""
UNBOUNDED = 10_000

_COLOURS = {"holds": "green", "broken": "red", "unknown": "yellow", "not checked": "yellow"}


def show_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    json_target: str | None = None,
    *,
    right: Iterable[str] = (),
    prose: Iterable[str] = (),
) -> None:
    """Print a table, unless standard output belongs to the JSON.

    Columns in `right` are numbers, aligned right; those in `prose` may be broken into lines, and
    the others never are, because names are for copying. None is an empty cell.
    """
    if json_target == STDOUT:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    numbers, sentences = set(right), set(prose)
    for column in columns:
        table.add_column(
            column,
            justify="right" if column in numbers else "left",
            no_wrap=column not in sentences,
            overflow="ignore" if column not in sentences else "fold",
        )
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    width = max(console.width, LEAST_WIDTH) if console.is_terminal else WIDTH_IN_A_PIPE
    needed = Measurement.get(console, console.options.update(width=UNBOUNDED), table)
    console.width = max(width, needed.minimum if sentences else needed.maximum)
    with console.capture() as drawn:
        console.print(table)
    lines = [line.rstrip() for line in drawn.get().splitlines()]
    say("\n".join(["", *lines, ""]))


def _cell(value: object) -> Text:
    text = "" if value is None else str(value)
    return Text(text, style=_COLOURS.get(text, ""))
