"""`insync verify`: the main job, one table."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from conformance.cli.common import Progress, emit_json, finish, json_option, say
from conformance.cli.remaining_time import DurationEstimate
from specs.rendering import TableLayout, as_data
from specs.verdict import Verdict

if TYPE_CHECKING:
    from conformance.verify import ClaimRow


@click.command()
@click.option("--deep", is_flag=True, help="Larger bounds, more seeds: tens of minutes.")
@json_option
def verify(deep: bool, json_target: str | None) -> None:
    """Prove, explore, find the known bugs, run conformance: every claim in one table.

    Exit code 0 when every row is as expected, the rows that history says are broken included.

    \b
    Example:
      insync verify
      insync verify --json verdicts.json
    """
    from conformance.verify import overall, planned
    from conformance.verify import verify as rows_of

    started = time.perf_counter()
    rows: list[ClaimRow] = []
    shown = _Shown(planned(deep), json_target)
    pace = DurationEstimate.of(f"verify{' --deep' if deep else ''}", len(shown.planned))
    say(pace.first_time(_SET_UP), json_target)
    shown.begin()
    with Progress() as progress:
        progress(f"row 1 of {len(shown.planned)}{pace.left()}; loading")
        for row in rows_of(
            deep,
            lambda line: progress(
                f"row {len(rows) + 1} of {len(shown.planned)}{pace.left()}; {line}"
            ),
        ):
            rows.append(row)
            progress.wipe()
            shown.add(row)
    pace.keep()
    verdict = overall(rows)
    seconds = time.perf_counter() - started
    _show(rows, verdict, seconds, json_target)
    emit_json(
        json_target,
        {
            "format": "insync.verdict/1",
            "verdict": verdict,
            "deep": deep,
            "seconds": round(seconds, 1),
            "rows": as_data(rows),
        },
    )
    finish(verdict)


_SET_UP = (
    "the first run makes machine code of six systems and starts Spark: about two minutes, "
    "and less than one from then on"
)


class _Shown:
    """The table, a row as soon as it is known."""

    def __init__(self, planned: list[tuple[str, str]], json_target: str | None) -> None:
        self.planned = planned
        like = [[claim, of, *_WIDEST, "000.0"] for claim, of in planned]
        self._table = TableLayout(_COLUMNS, like, right=["s"], prose=["of", "verdict", "counts"])
        self._json_target = json_target

    def begin(self) -> None:
        """The names of the columns."""
        self._say([*self._table.foot(), *self._table.head()])

    def add(self, row: ClaimRow) -> None:
        """One row."""
        of = f"{row.system} {_version(row)}"
        self._say(self._table.row([row.claim, of, _verdict(row), row.counts, _seconds(row)]))

    def _say(self, lines: list[str]) -> None:
        for line in lines:
            say(line, self._json_target)


_COLUMNS = ("claim", "of", "verdict", "counts", "s")
_WIDEST = ("broken, as history says (18 steps)", "5,647,383 orbits, up to 32 steps")
"""A verdict and counts as long as they get, but for a few."""


def _show(rows: list[ClaimRow], verdict: Verdict, seconds: float, json_target: str | None) -> None:
    say("", json_target)
    say("In words:", json_target)
    for sentence in dict.fromkeys(f"  {row.claim}: {row.words}" for row in rows):
        say(sentence, json_target)
    say("Within:", json_target)
    for sentence in dict.fromkeys(f"  {row.system} {row.version}: {_bounds(row)}" for row in rows):
        say(sentence, json_target)
    broken = [row.show for row in rows if row.verdict is Verdict.BROKEN and row.show]
    if broken:
        say("\nEach broken row is one command away:", json_target)
        for command in broken:
            say(f"  {command}", json_target)
    wrong = [row for row in rows if not row.as_expected]
    for row in wrong:
        say(
            f"\nNOT AS EXPECTED: {row.claim} on {row.system} {row.version} is {row.verdict}, "
            f"expected {row.expected}. {row.note}",
            json_target,
        )
    state = "every row is as expected" if not wrong else f"{len(wrong)} rows are not as expected"
    say(f"\n{verdict}: {len(rows)} rows, {state}, {seconds:.0f} s", json_target)


def _version(row: ClaimRow) -> str:
    return row.version + "".join(f" without {name}" for name in row.without)


def _verdict(row: ClaimRow) -> str:
    return f"{row.verdict}, {row.note}" if row.note else str(row.verdict)


def _bounds(row: ClaimRow) -> str:
    return ", ".join(f"{name} {size}" for name, size in row.bounds.items())


def _seconds(row: ClaimRow) -> str:
    return f"{row.seconds:.1f}" if row.seconds else ""
