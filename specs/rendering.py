"""Renders reports as JSON, as terminal tables and as HTML.

`as_data` makes the data that `--json` writes, that files keep, and that pages are drawn from;
`as_lines` and `as_html` draw a `Table`.

A report is a dataclass. Its keys are its fields, in their order; a field's metadata changes how
the field is shown. `ALSO` lists values that a report shows before its fields:

    @dataclass
    class Walked:
        ALSO: ClassVar = parts("verdict", system=at("recorded.system.name"))

        recorded: RecordedSystem = field(metadata=HIDDEN)
        steps: int
        seconds: float = field(metadata=rounded(3))
        by: str | None = field(metadata=called("noticed_by"))
        details: dict[str, Any] = field(metadata=FLAT)

        @property
        def verdict(self) -> Verdict: ...

A report that shows other values than its fields lists them in `SHOWN` and need not be a dataclass.
Verdicts and other enums are shown as their words, paths as text; sets and counters are sorted.
"""

from __future__ import annotations

import html
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from itertools import zip_longest
from operator import attrgetter
from pathlib import PurePath
from typing import Any

Metadata = Mapping[str, object]

HIDDEN: Metadata = {"hidden": True}
"""The field is no part of the data."""

FLAT: Metadata = {"flat": True}
"""The field is a mapping or a report, and its keys stand among those of the report."""

COUNTED: Metadata = {"counted": True}
"""Of the field only its length is shown."""


def rounded(digits: int) -> Metadata:
    """Shows a number with this many digits after the decimal point; None stays None."""
    return {"digits": digits}


def picked(*keys: str) -> Metadata:
    """Shows only these keys of the report in the field, or of each report in a list."""
    return {"picked": keys}


def only_attribute(attribute: str) -> Metadata:
    """Shows only this attribute of the object in the field; None stays None."""
    return {"its": attribute}


def at(path: str, *more: Metadata) -> Metadata:
    """For `parts`: the path of the value in the report, such as `recorded.system.name`."""
    return _joined({"at": path}, *more)


def under_key(key: str, *more: Metadata) -> Metadata:
    """Shows the field under another name."""
    return _joined({"key": key}, *more)


def parts(*names: str, **others: Metadata) -> Mapping[str, Metadata]:
    """The value of `ALSO` or `SHOWN`: properties by name, other values by key."""
    return {**{name: {} for name in names}, **others}


def _joined(*parts: Metadata) -> Metadata:
    return {name: value for part in parts for name, value in part.items()}


def as_data(value: object) -> Any:
    """A report, or a value made of reports, as JSON types. Raises TypeError for other values."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, PurePath):
        return str(value)
    if not isinstance(value, type) and (is_dataclass(value) or hasattr(value, "SHOWN")):
        return dict(_entries(value))
    if isinstance(value, Counter):
        return {key: value[key] for key in sorted(value)}
    if isinstance(value, Mapping):
        return {key: as_data(one) for key, one in value.items()}
    if isinstance(value, set | frozenset):
        return [as_data(one) for one in sorted(value)]
    if isinstance(value, Iterator | Sequence):
        return [as_data(one) for one in value]
    raise TypeError(f"no JSON form for {type(value).__name__}: {value!r}; make it plain data first")


def rows(reports: Iterable[object], **beside: object) -> list[dict[str, Any]]:
    """The data of each report; `beside` are keys to put before the report's own."""
    return [{**as_data(beside), **as_data(one)} for one in reports]


def keys_of(report: Any) -> list[str]:
    """The JSON keys of a report or a class of reports; flattened parts by the part's name."""
    return [key for key, _, _ in _named(report)]


def _named(report: Any) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """The key, the path to the value, and what is said of it, of everything that is shown."""
    shown = getattr(report, "SHOWN", None)
    for name, said in (getattr(report, "ALSO", {}) if shown is None else shown).items():
        yield name, said.get("at", name), said
    for one in fields(report) if shown is None else ():
        if not one.metadata.get("hidden"):
            yield one.metadata.get("key", one.name), one.name, one.metadata


def _entries(report: Any) -> Iterator[tuple[str, Any]]:
    for key, path, said in _named(report):
        data = _as_shown(attrgetter(path)(report), said)
        if said.get("flat"):
            yield from data.items()
        else:
            yield key, data


def _as_shown(value: Any, said: Mapping[str, Any]) -> Any:
    if value is None:
        return None
    if "counted" in said:
        return len(value)
    if "digits" in said:
        return round(value, said["digits"])
    if "its" in said:
        return as_data(getattr(value, said["its"]))
    return _picked(as_data(value), said["picked"]) if "picked" in said else as_data(value)


def _picked(data: Any, keys: Sequence[str]) -> Any:
    if isinstance(data, list):
        return [_picked(one, keys) for one in data]
    return {key: data[key] for key in keys}


# -- tables ---------------------------------------------------------------------------------------

GAP = "  "
KEPT = ("verdict", "answer")
"""Columns that are never left out on a terminal, besides the first."""
_SENTENCE, _READABLE = 60, 32
"""A column of sentences, some at least so long, stands below its row rather than be narrower."""
_BELOW = "    "

_COLOURS = {"holds": 32, "broken": 31, "unknown": 33, "not checked": 33}
_OPEN_ROWS = 25
"""Of a table in HTML so many rows are open at first."""
_MOST_ROWS = 500


@dataclass(frozen=True)
class Table:
    """A table of a report. None is an empty cell; an int is written with commas.

    Columns of ints, and those in `right`, are aligned right; those in `prose` may be broken into
    lines; names and numbers are not, so that they can be copied. If the terminal is too narrow,
    long prose moves below its row; then columns are left out, the last first, never the first.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    title: str = ""
    right: Collection[str] = ()
    prose: Collection[str] = ()

    @property
    def cells(self) -> list[list[str]]:
        """The cells as they are written."""
        return [[_cell_text(value) for value in row] for row in self.rows]

    @property
    def numbers(self) -> set[str]:
        """The names of the columns that are aligned right."""
        found = {
            name
            for place, name in enumerate(self.columns)
            if self.rows and all(_is_number(row[place]) for row in self.rows)
        }
        return found | set(self.right)


def as_lines(table: Table, most: int | None = None) -> list[str]:
    """A table as lines fitted to the terminal, or in full width in a pipe: at most so many rows."""
    layout = TableLayout(table.columns, table.cells, table.numbers, table.prose)
    title = [table.title] if table.title else []
    left = 0 if most is None else max(len(table.rows) - most, 0)
    rest = [f"... and {left:,} more"] if left else []
    return [*title, *layout.lines(most), *rest]


def as_html(table: Table) -> str:
    """A table as HTML: rows beyond the first ones are folded, and rows beyond many only counted."""
    rows = list(table.rows)
    if not rows:
        return "<p>None.</p>"
    shown, more = rows[:_OPEN_ROWS], rows[_OPEN_ROWS:_MOST_ROWS]
    text = _html_rows(table, shown)
    if more:
        text += f"<details><summary>{len(more):,} more</summary>{_html_rows(table, more)}</details>"
    if len(rows) > _MOST_ROWS:
        text += f"<p>and {len(rows) - _MOST_ROWS:,} more; --report FILE.json has them all.</p>"
    return (f"<h3>{html.escape(table.title)}</h3>" if table.title else "") + text


def _html_rows(table: Table, rows: Iterable[Sequence[object]]) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in table.columns)
    body = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in rows)
    return f"<div class='scroll'><table><tr>{head}</tr>{body}</table></div>"


def _html_cell(value: object) -> str:
    number = " class='n'" if _is_number(value) else ""
    return f"<td{number}>{html.escape(_cell_text(value))}</td>"


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _cell_text(value: object) -> str:
    if value is None:
        return ""
    return f"{value:,}" if _is_number(value) else str(value)


def terminal_width() -> int | None:
    """The width of the output terminal in columns; None for a pipe or a file."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


@dataclass(frozen=True)
class Column:
    """A column as it is printed: its place in a row, its name and its width."""

    place: int
    name: str
    width: int
    right: bool

    def lines(self, text: str) -> list[str]:
        """The lines of a cell, padded to the width."""
        if len(text) <= self.width:
            return [self._filled(text)]
        parts = textwrap.wrap(text, self.width, break_long_words=False, break_on_hyphens=False)
        return [self._filled(part) for part in parts]

    def _filled(self, text: str) -> str:
        filled = text.rjust(self.width) if self.right else text.ljust(self.width)
        colour = _COLOURS.get(text)
        return f"\x1b[{colour}m{filled}\x1b[0m" if colour and sys.stdout.isatty() else filled


class TableLayout:
    """The column widths of a table, computed from all of its cells."""

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
        movable = [
            place
            for place in list(texts)[1:]
            if columns[place] in sentences - set(KEPT) and natural[place] >= _SENTENCE
        ]
        least |= {place: max(least[place], _READABLE) for place in movable}
        self._room = terminal_width()
        widths = _fitted(natural, least, columns, self._room, movable)
        self.below = [place for place in movable if place not in widths]
        self.columns = [
            Column(place, columns[place], width, columns[place] in numbers)
            for place, width in widths.items()
        ]
        printed = {*widths, *self.below}
        self.left_out = [name for place, name in enumerate(columns) if place not in printed]
        self._columns = columns

    def head(self) -> list[str]:
        """The names of the columns, and a line below."""
        names = self.row(self._columns)
        width = sum(column.width for column in self.columns) + len(GAP) * (len(self.columns) - 1)
        return [*names, "─" * width]

    def row(self, cells: Sequence[str]) -> list[str]:
        """The lines of one row, without the cells of columns that were left out."""
        parts = [one.lines(cells[one.place]) for one in self.columns]
        blank = {number: " " * one.width for number, one in enumerate(self.columns)}
        beside = [
            GAP.join(
                blank[number] if part is None else part for number, part in enumerate(line)
            ).rstrip()
            for line in zip_longest(*parts)
        ]
        return [
            *beside,
            *(line for place in self.below for line in self._wrapped_below(cells[place])),
        ]

    def _wrapped_below(self, text: str) -> list[str]:
        return textwrap.wrap(
            text,
            max(self._room or 0, len(_BELOW) + _READABLE),
            initial_indent=_BELOW,
            subsequent_indent=_BELOW,
            break_long_words=False,
            break_on_hyphens=False,
        )

    def foot(self) -> list[str]:
        """The lines that name what was left out, if anything was."""
        if not self.left_out:
            return []
        names = ", ".join(self.left_out)
        return [f"(no room for: {names}; see them in a wider terminal, a pipe, or with `--json -`)"]

    def lines(self, most: int | None = None) -> list[str]:
        """The lines of the table, or of its first `most` rows."""
        rows = [line for cells in self._cells[:most] for line in self.row(cells)]
        return [*self.head(), *rows, *self.foot()]


def _fitted(
    natural: dict[int, int],
    least: dict[int, int],
    columns: Sequence[str],
    room: int | None,
    movable: Sequence[int],
) -> dict[int, int]:
    """The widths of the columns beside each other: first long prose goes, then the last ones."""
    kept = list(natural)

    def needed(widths: dict[int, int]) -> int:
        return sum(widths[place] for place in kept) + len(GAP) * (len(kept) - 1)

    if room is None or needed(natural) <= room:
        return natural
    for place in movable:
        if needed(least) > room:
            kept.remove(place)
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
