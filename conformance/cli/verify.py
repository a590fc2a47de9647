"""`insync verify`: the main job, one table."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from conformance.cli.common import Progress, emit_json, finish, json_option, say
from conformance.cli.tables import show_table
from specs.verdict import Verdict

if TYPE_CHECKING:
    from conformance.verify import Row


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
    from conformance.verify import overall
    from conformance.verify import verify as rows_of

    started = time.perf_counter()
    rows: list[Row] = []
    with Progress() as progress:
        for row in rows_of(deep, lambda line: progress(f"{len(rows)} rows done; {line}")):
            rows.append(row)
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
            "rows": [row.as_json() for row in rows],
        },
    )
    finish(verdict)


def _show(rows: list[Row], verdict: Verdict, seconds: float, json_target: str | None) -> None:
    show_table(
        ["claim", "of", "verdict", "counts", "s"],
        [
            (row.claim, f"{row.system} {_version(row)}", _verdict(row), row.counts, _seconds(row))
            for row in rows
        ],
        json_target,
        right=["s"],
        prose=["of", "verdict", "counts"],
    )
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


def _version(row: Row) -> str:
    return row.version + "".join(f" without {name}" for name in row.without)


def _verdict(row: Row) -> str:
    return f"{row.verdict}, {row.note}" if row.note else str(row.verdict)


def _bounds(row: Row) -> str:
    return ", ".join(f"{name} {size}" for name, size in row.bounds.items())


def _seconds(row: Row) -> str:
    return f"{row.seconds:.1f}" if row.seconds else ""
