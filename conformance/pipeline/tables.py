"""Shows the report to people: the facts of the JSON as tables, on a terminal and on the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from conformance.pipeline.causes import causes
from conformance.pipeline.rules import FindingKind
from specs.rendering import Table, as_lines

Say = Callable[[str], None]
_SHOWN = 20


def show_ingest(summary: dict[str, Any], say: Say) -> None:
    """Clusters, lines, events by kind, rejected lines, files that were left out."""
    _show(say, clusters(summary))
    show_lines(summary, say)
    _show(say, events(summary["events_by_kind"]))
    _show(say, rejected(summary))
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
    """What each line became, so that the sum can be checked."""
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
    """What was examined, the findings, and the verdict."""
    show_left_out(result, say)
    show_lines(result, say)
    _show(say, events(result["events_by_kind"]))
    recorded = result["coverage"]["recorded"]
    if not recorded or result["coverage"]["rules"]:
        _show(say, rules(result["coverage"]["compared"]))
    _show(say, clocks(result["clocks"]))
    steps = list(result["coverage"]["steps"].items())
    _show(say, Table(("step", "times"), steps, "Steps of the model that writes of states fit"))
    show_running(recorded, say)
    every = causes(result["findings"])
    for kind in FindingKind:
        some = [cause for cause in every if cause.finding["kind"] == kind.value]
        for cause in some[:_SHOWN]:
            show_finding(dict(cause.finding), say)
            if cause.more:
                say(f"  {cause.more}")
        if len(some) > _SHOWN:
            say(f"  ... and {len(some) - _SHOWN} more of this kind (all of them with --json)")
    say(f"verdict: {result['headline']}")


def show_running(recorded: Iterable[dict[str, Any]], say: Say) -> None:
    """What running processes traced: by partition, and where the model needed help."""
    for one in recorded:
        if "partitions" not in one:
            continue
        title = (
            f"{one['file']}: {one['files']} files of running processes, release {one['version']}"
        )
        rows = [(row["partition"], row["lines"], row["steps"], row["verdict"])
                for row in one["partitions"]]  # fmt: skip
        _show(say, Table(("partition", "lines", "steps of the model", "verdict"), rows, title))
        for row in one["partitions"]:
            if row["left"]:
                why = f": {row['beyond']}" if row["beyond"] else ""
                say(f"{row['partition']}: the last {row['left']:,} lines are not judged{why}")
        forced = list(one["by_force"].items())
        _show(
            say, Table(("what", "times"), forced, "What the model abstracts from, and lines show")
        )


# -- tables of this report and of the page --------------------------------------------------------


def clusters(result: Mapping[str, Any]) -> Table:
    """The content of each cluster, and the share of its lines that is understood."""
    return Table(
        ("cluster", "release", "brokers", "files", "lines", "protocol lines", "unknown",
         "understood"),
        [
            (
                row["cluster"], ", ".join(row["releases"]) or "?",
                ", ".join(map(str, row["brokers"])) or "?", row["files"], row["lines"],
                row["protocol"], row["unknown"],
                f"{100 - 100 * row['unknown'] / row['protocol']:.1f} %" if row["protocol"] else "",
            )
            for row in result["clusters"]
        ],
        "Clusters", right=("understood",),
    )  # fmt: skip


def events(kinds: Mapping[str, int]) -> Table:
    """The number of lines of each kind."""
    return Table(("kind", "lines"), list(kinds.items()), "Events")


def rejected(result: Mapping[str, Any]) -> Table:
    """Lines that match no template, or in another layout, by their shape."""
    return Table(
        ("lines", "reason", "cluster", "shape", "first at"),
        [
            (row["count"], row["reason"], row["cluster"], row["template"],
             f"{row['file']}:{row['line']}")
            for row in result["rejected_by_template"]
        ],
        "Rejected lines, by shape", prose=("shape",),
    )  # fmt: skip


def rules(compared: Iterable[Mapping[str, Any]], with_sentences: bool = False) -> Table:
    """How often each rule compared; for those that never did, the lines that they need."""
    sentences = ("says",) if with_sentences else ()
    return Table(
        ("rule", *sentences, "times compared", "nothing to compare without"),
        [
            (row["rule"], *(row[name] for name in sentences), row["compared"],
             "" if row["compared"] else row["needs"])
            for row in compared
        ],
        "Rules", prose=(*sentences, "nothing to compare without"),
    )  # fmt: skip


def clocks(found: Iterable[Mapping[str, Any]]) -> Table:
    """The offsets between the brokers' clocks, as far as requests and responses show them."""
    return Table(
        ("cluster", "clock of", "against", "at least", "at most", "skew", "requests"),
        [
            (
                row["cluster"], str(row["broker"]), str(row["against"]),
                *(("?" if row[name] is None else row[name]) for name in ("least", "most")),
                _skew(row["least"], row["most"]), row["pairs"],
            )
            for row in found
        ],
        "Clocks: how far a broker's is ahead, in milliseconds",
        right=("clock of", "against", "at least", "at most"),
    )  # fmt: skip


def _skew(least: int | None, most: int | None) -> str:
    if least is None and most is None:
        return "?"
    if least is None or most is None:
        return f"≤ {most} ms" if least is None else f"≥ {least} ms"
    if least > most:
        return f"it was set, or drifts, by {least - most} ms"
    return f"{(least + most) / 2:g} ms ± {(most - least) / 2:g}"


def show_finding(finding: dict[str, Any], say: Say, before: str = "") -> None:
    """Kind, rule, place, reason, and what was allowed; one line for what is not judged."""
    if finding["kind"] == FindingKind.NOT_JUDGED.value:
        say(f"{before}not judged: {finding['file']}:{finding['line']}: {finding['why']}")
        return
    say(f"{before}{finding['kind']}: {finding['rule']}")
    say(f"  {finding['file']}:{finding['line']}")
    say(f"  why:     {finding['why']}")
    say(f"  allowed: {finding['allowed']}")


def _show(say: Say, table: Table) -> None:
    if table.rows:
        say("\n".join(as_lines(table, _SHOWN)))
        say("")
