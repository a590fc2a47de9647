"""Tables for people: as wide as they are in a pipe, fitted to the width of a terminal.

What does not fit breaks between words, in columns of prose; where that is not enough, columns are
left out, and the line below says which. Names and numbers are never broken: they are for copying.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import click

from conformance.cli.common import STDOUT, say, terminal_width

GAP = "  "
KEPT = ("verdict", "answer")
"""Columns that are never left out, besides the first."""

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

    Columns in `right` are numbers, aligned right; those in `prose` may be broken into lines. None
    is an empty cell.
    """
    if json_target == STDOUT:
        return
    table = Table(columns, [[_text(value) for value in row] for row in rows], right, prose)
    say("\n".join(["", *table.lines(), ""]))


@dataclass(frozen=True)
class Column:
    """A column as it is printed: its place in a row, its name and its width."""

    place: int
    name: str
    width: int
    right: bool

    def lines(self, text: str) -> list[str]:
        """A cell, filled up to the width."""
        if len(text) <= self.width:
            return [self._filled(text)]
        parts = textwrap.wrap(text, self.width, break_long_words=False, break_on_hyphens=False)
        return [self._filled(part) for part in parts]

    def _filled(self, text: str) -> str:
        filled = text.rjust(self.width) if self.right else text.ljust(self.width)
        colour = _COLOURS.get(text)
        return click.style(filled, fg=colour) if colour and sys.stdout.isatty() else filled


class Table:
    """A layout for cells that are known, or for `sizes` like those that will come."""

    def __init__(
        self,
        columns: Sequence[str],
        cells: Sequence[Sequence[str]],
        right: Iterable[str] = (),
        prose: Iterable[str] = (),
    ) -> None:
        self._cells = cells
        numbers, sentences = set(right), set(prose)
        texts = {
            place: [name, *(row[place] for row in cells)] for place, name in enumerate(columns)
        }
        natural = {place: max(map(len, of)) for place, of in texts.items()}
        least = {
            place: max(len(word) for text in of for word in (text.split() or [""]))
            if columns[place] in sentences
            else natural[place]
            for place, of in texts.items()
        }
        widths = _fitted(natural, least, columns, terminal_width())
        self.columns = [
            Column(place, columns[place], width, columns[place] in numbers)
            for place, width in widths.items()
        ]
        self.left_out = [name for place, name in enumerate(columns) if place not in widths]

    def head(self) -> list[str]:
        """The names of the columns, and a line below."""
        names = self.row([column.name for column in self.columns], everything=False)
        width = sum(column.width for column in self.columns) + len(GAP) * (len(self.columns) - 1)
        return [*names, "─" * width]

    def row(self, cells: Sequence[str], everything: bool = True) -> list[str]:
        """The lines of one row; `everything`: its cells include those of columns left out."""
        texts = [cells[one.place] for one in self.columns] if everything else cells
        parts = [one.lines(text) for one, text in zip(self.columns, texts, strict=True)]
        blank = {number: " " * one.width for number, one in enumerate(self.columns)}
        return [
            GAP.join(
                blank[number] if part is None else part for number, part in enumerate(line)
            ).rstrip()
            for line in zip_longest(*parts)
        ]

    def foot(self) -> list[str]:
        """What was left out, where something was."""
        if not self.left_out:
            return []
        names = ", ".join(self.left_out)
        return [f"(no room for: {names}; see them in a wider terminal, a pipe, or with `--json -`)"]

    def lines(self) -> list[str]:
        """The whole table."""
        rows = [line for cells in self._cells for line in self.row(cells)]
        return [*self.head(), *rows, *self.foot()]


def _fitted(
    natural: dict[int, int], least: dict[int, int], columns: Sequence[str], room: int | None
) -> dict[int, int]:
    """The widths of the columns that are printed: the last are left out first."""
    kept = list(natural)

    def needed(widths: dict[int, int]) -> int:
        return sum(widths[place] for place in kept) + len(GAP) * (len(kept) - 1)

    if room is None or needed(natural) <= room:
        return natural
    while needed(least) > room:
        spare = [place for place in kept[1:] if columns[place] not in KEPT]
        if not spare:
            break
        kept.remove(spare[-1])
    left = max(room - needed(least), 0)
    wanted = sum(natural[place] - least[place] for place in kept)
    return {
        place: least[place] + min(
            natural[place] - least[place],
            left * (natural[place] - least[place]) // max(wanted, 1),
        )
        for place in kept
    }  # fmt: skip


def _text(value: object) -> str:
    return "" if value is None else str(value)
