"""The human report: the same facts as the JSON, in a few tables."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable
from io import StringIO
from typing import Any

from conformance.pipeline.causes import causes
from conformance.pipeline.findings import Kind

Say = Callable[[str], None]
_SHOWN = 20
_UNBROKEN = 10_000
"""Columns: more than any table needs."""


def show_ingest(summary: dict[str, Any], say: Say) -> None:
    """Clusters, lines, events by kind, rejected lines, files that were left out."""
    _table(
        say,
        "Clusters",
        ("cluster", "release", "brokers", "files", "lines", "protocol lines", "unknown"),
        (
            (
                row["cluster"],
                ", ".join(row["releases"]) or "?",
                ", ".join(map(str, row["brokers"])) or "?",
                row["files"],
                row["lines"],
                row["protocol"],
                row["unknown"],
            )
            for row in summary["clusters"]
        ),
    )
    show_lines(summary, say)
    _table(say, "Events", ("kind", "lines"), summary["events_by_kind"].items())
    _table(
        say,
        "Rejected lines, by shape",
        ("lines", "cluster", "shape", "first at"),
        (
            (row["count"], row["cluster"], row["template"], f"{row['file']}:{row['line']}")
            for row in summary["rejected_by_template"]
        ),
    )
    show_left_out(summary, say)


def show_left_out(summary: dict[str, Any], say: Say) -> None:
    """A line for each file that could not be read (to its end), and for each that is no log."""
    for row in summary["unreadable"]:
        say(f"could not be read: {row['file']}: {row['reason']}")
    for row in summary["silent"][:_SHOWN]:
        say(f"says nothing: {row['file']}: {row['reason']}")
    for row in summary["skipped"][:_SHOWN]:
        say(f"skipped: {row['name']}: {row['reason']}")
    if len(summary["skipped"]) > _SHOWN:
        say(f"... and {len(summary['skipped']) - _SHOWN} more skipped (all of them with --json)")
    if summary["unreadable"] or summary["skipped"] or summary["silent"]:
        say("")


def show_lines(summary: dict[str, Any], say: Say) -> None:
    """What became of every line, so that the sum can be checked."""
    lines, distinct = summary["lines"], summary["distinct_events"]
    repeated = sum(summary["events_by_kind"].values()) - distinct
    say(
        f"{lines['read']:,} lines read = {lines['events']:,} events + {lines['continuation']:,} "
        f"continuation lines + {lines['rejected']:,} rejected"
    )
    if repeated:
        say(f"  events: {repeated:,} of them repeat a line of another file; {distinct:,} differ")
    first: dict[str, str] = {}
    for row in summary["rejected_by_template"]:
        place = f"{row['file']}:{row['line']}"
        first[row["reason"]] = min(first.get(row["reason"], place), place)
    for reason, count in summary["rejected_by_reason"].items():
        say(f"  rejected, {reason}: {count:,}, such as {first[reason]}")
    say("")


def show_check(result: dict[str, Any], say: Say) -> None:
    """What was looked at, what was found, and the verdict."""
    show_left_out(result, say)
    show_lines(result, say)
    _table(say, "Events", ("kind", "lines"), result["events_by_kind"].items())
    recorded = result["coverage"]["recorded"]
    if not recorded or result["coverage"]["rules"]:
        show_rules(result["coverage"]["compared"], say)
    show_clocks(result["clocks"], say)
    steps = result["coverage"]["steps"]
    _table(say, "Steps of the model that writes of states fit", ("step", "times"), steps.items())
    show_running(recorded, say)
    every = causes(result["findings"])
    for kind in Kind:
        some = [cause for cause in every if cause.finding["kind"] == kind.value]
        for cause in some[:_SHOWN]:
            show_finding(dict(cause.finding), say)
            if cause.more:
                say(f"  {cause.more}")
        if len(some) > _SHOWN:
            say(f"  ... and {len(some) - _SHOWN} more of this kind (all of them with --json)")
    say(f"verdict: {result['headline']}")


def show_running(recorded: Iterable[dict[str, Any]], say: Say) -> None:
    """What running processes traced: by partition, and where the model had to be helped."""
    for one in recorded:
        if "partitions" not in one:
            continue
        _table(
            say,
            f"{one['file']}: {one['files']} files of running processes, release {one['version']}",
            ("partition", "lines", "steps of the model", "verdict"),
            ((row["partition"], row["lines"], row["steps"], row["verdict"])
             for row in one["partitions"]),
        )  # fmt: skip
        for row in one["partitions"]:
            if row["left"]:
                why = f": {row['beyond']}" if row["beyond"] else ""
                say(f"{row['partition']}: the last {row['left']:,} lines are not judged{why}")
        _table(
            say, "What the model abstracts from, and lines show", ("what", "times"),
            one["by_force"].items(),
        )  # fmt: skip


def show_rules(rows: Iterable[dict[str, Any]], say: Say) -> None:
    """How often each rule compared; where it never did, what lines that would take."""
    _table(
        say,
        "Rules",
        ("rule", "times compared", "nothing to compare without"),
        ((row["rule"], row["compared"], "" if row["compared"] else row["needs"]) for row in rows),
    )


def show_clocks(clocks: Iterable[dict[str, Any]], say: Say) -> None:
    """How far apart the brokers' clocks are, as far as requests and their answers tell."""
    _table(
        say,
        "Clocks: how far a broker's is ahead, in milliseconds",
        ("cluster", "broker", "of broker", "at least", "at most", "requests", ""),
        (
            (
                row["cluster"],
                str(row["broker"]),
                str(row["against"]),
                "?" if row["least"] is None else str(row["least"]),
                "?" if row["most"] is None else str(row["most"]),
                row["pairs"],
                "" if _steady(row["least"], row["most"]) else "it was set, or drifts",
            )
            for row in clocks
        ),
    )


def _steady(least: int | None, most: int | None) -> bool:
    return least is None or most is None or least <= most


def show_finding(finding: dict[str, Any], say: Say, before: str = "") -> None:
    """Kind, rule, place, reason, and what was allowed; in one line what is not judged."""
    if finding["kind"] == Kind.NOT_JUDGED.value:
        say(f"{before}not judged: {finding['file']}:{finding['line']}: {finding['why']}")
        return
    say(f"{before}{finding['kind']}: {finding['rule']}")
    say(f"  {finding['file']}:{finding['line']}")
    say(f"  why:     {finding['why']}")
    say(f"  allowed: {finding['allowed']}")


def _width() -> int:
    """That of the terminal; in a pipe or a file no cell is broken."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _UNBROKEN


def _table(
    say: Say,
    title: str,
    heads: tuple[str, ...],
    rows: Iterable[Iterable[Any]],
    shown: int = _SHOWN,
) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    every = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    if not every:
        return
    table = Table(title=title, title_justify="left", box=box.SIMPLE, pad_edge=False)
    for place, head in enumerate(heads):
        number = all(row[place].replace(",", "").isdigit() for row in every)
        table.add_column(head, justify="right" if number else "left", overflow="fold")
    for row in every[:shown]:
        table.add_row(*(Text(cell) for cell in row))
    text = StringIO()
    Console(file=text, width=_width(), highlight=False).print(table)
    say("\n".join(line.rstrip() for line in text.getvalue().rstrip().splitlines()))
    if len(every) > shown:
        say(f"... and {len(every) - shown} more")
    say("")
