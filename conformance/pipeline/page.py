"""Writes `insync check --report FILE.html`: a self-contained page with the findings.

Broken findings come first; long parts are folded, and what is left out is counted.
"""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from conformance.ingest.reader import lines_of
from conformance.pipeline import tables
from conformance.pipeline.causes import AROUND, Cause, causes, that_matter
from conformance.pipeline.drawing import ZOOM, drawing
from conformance.pipeline.rules import BREAKS, RULES, FindingKind
from conformance.pipeline.timeline import Timeline
from specs.rendering import Table, as_html

MOST_FINDINGS = 100
"""Of each kind are shown, with the lines around them."""

_OPEN = 5  # clusters whose picture is open at first
_ROWS = 25  # of a table are open at first
_MOST_ROWS = 500
_LONGEST = 400
_ANCHORS = ("first", "not-seen", "findings", "timeline", "clocks", "model", "rules", "rejected")

_SAYS = {rule.name: rule.says for rule in RULES}

_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 1rem auto; max-width: 1200px; padding: 0 1rem;
  color: #1c2430; background: #fbfaf7; }
h1 { font-size: 1.4rem; margin: .4rem 0; } h2 { font-size: 1.15rem; margin: 1.8rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1rem 0 .3rem; }
table { border-collapse: collapse; font-size: .9rem; }
td, th { border: 1px solid #cfd4da; padding: .15rem .5rem; text-align: left; vertical-align: top; }
th { background: #eef1f4; font-weight: 600; } td.n { text-align: right; white-space: nowrap; }
nav a { margin-right: .9rem; white-space: nowrap; } a { color: #23527c; }
.verdict { font-weight: 700; padding: .1rem .6rem; border-radius: 5px; background: #eef1f4; }
.broken, .violation, .impossible, .known { color: #a3191f; } .holds { color: #1d6b3a; }
.incomplete, .unknown, .unreadable { color: #8a5a00; } .explained { color: #1d6b3a; }
.finding { border: 1px solid #cfd4da; border-left: 4px solid currentColor; border-radius: 6px;
  padding: .3rem .7rem; margin: .5rem 0; }
.finding > div { color: #1c2430; }
.finding, td, p { overflow-wrap: anywhere; } th { overflow-wrap: normal; }
pre { background: #eef1f4; padding: .4rem; overflow: auto; font-size: .8rem; }
pre b { background: #fff2b8; white-space: pre-wrap; } .scroll { overflow-x: auto; }
small { color: #5a6470; }
summary { cursor: pointer; }
svg text { font: 11px system-ui, sans-serif; fill: #1c2430; }
svg { display: block; } svg.time { cursor: grab; touch-action: pan-y; }
svg.time:focus-visible { outline: 2px solid #23527c; }
svg .tick { stroke: #1c2430; stroke-opacity: .12; }
@media (max-width: 600px) { body { font-size: 14px; padding: 0 .6rem; } td, th { padding: .1rem
  .3rem; } }
"""


def page(result: Mapping[str, Any], lines: Sequence[Timeline], paths: Mapping[str, str]) -> str:
    """The report. `paths`: the path of each file that a finding names."""
    verdict = str(result["verdict"])
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>insync check: {verdict}</title><style>{_STYLE}</style></head><body>",
        f"<h1>insync check <span class='verdict {verdict}'>{verdict}</span></h1>",
        f"<p><b>{html.escape(_sentence(result))}</b></p>",
        f"<p>{html.escape(str(result['headline']))}</p>",
        _matter(result["findings"], paths),
        _not_seen(result),
        _read(result),
        "<nav>" + "".join(f"<a href='#{name}'>{name}</a>" for name in _ANCHORS) + "</nav>",
        as_html(tables.clusters(result)) if result["clusters"] else "",
        _findings(result["findings"], paths),
        _timelines(lines),
        _clocks(result),
        _model(result["coverage"]),
        "<h2 id='rules'>Rules, and how often each compared</h2>",
        as_html(tables.rules(result["coverage"]["compared"], with_sentences=True)),
        as_html(tables.events(result["coverage"]["kinds"])),
        _rejected(result),
        f"<script>{ZOOM}</script>" if lines else "",
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _matter(findings: Sequence[Mapping[str, Any]], paths: Mapping[str, str]) -> str:
    """What to look at first: a few causes, unfolded, with the lines around their first places."""
    first = [cause for cause in that_matter(causes(findings)) if _is_urgent(cause)]
    if not first:
        return "<p>Nothing to look at first.</p>"
    around = _lines_around([cause.finding for cause in first], paths)
    parts = ["<h2 id='first'>To look at first</h2>"]
    for cause in first:
        one = cause.finding
        lines = around.get(_place(one)) or "<p>The file is not here any more.</p>"
        more = f"<br><small>{html.escape(cause.more)}</small>" if cause.more else ""
        place = f"{one['file']}:{one['line']}"
        parts.append(
            f"<div class='finding {one['kind']}'><b>{one['kind']}</b>: {html.escape(one['rule'])}"
            f"<div><small>{html.escape(_SAYS.get(one['rule'], ''))}<br>{html.escape(place)}</small>"
            f"<br>{html.escape(one['why'])}{more}<br>"
            f"<i>allowed:</i> {html.escape(one['allowed'])}{lines}</div></div>"
        )
    return "\n".join(parts)


def _sentence(result: Mapping[str, Any]) -> str:
    """The verdict as a sentence, for a reader who opens only this page."""
    every = causes(result["findings"])
    breaking = [cause for cause in every if cause.breaks]
    doubtful = [cause for cause in every if cause.finding["kind"] == FindingKind.INCOMPLETE.value]
    verdict = str(result["verdict"])
    if breaking:
        first = that_matter(breaking)[0].finding
        things = "one cause" if len(breaking) == 1 else f"{len(breaking)} causes"
        return (
            f"These logs break the protocol, for {things}. First to look at: {first['why']} "
            f"({first['file']}:{first['line']})."
        )
    if verdict == "holds":
        compared = sum(result["coverage"]["rules"].values())
        return f"Nothing in these logs breaks the protocol, in {compared:,} comparisons."
    if doubtful:
        things = "one cause" if len(doubtful) == 1 else f"{len(doubtful)} causes"
        return (
            f"Nothing surely breaks the protocol; {things} cannot be decided, since lines that "
            "could tell may be missing."
        )
    if verdict == "not checked":
        return "Nothing was compared: these logs say nothing that the rules are about."
    return "Nothing surely breaks the protocol; not everything could be read."


def _not_seen(result: Mapping[str, Any]) -> str:
    """What the verdict does not cover: rules, files, lines."""
    said = [str(each) for each in result["except"]]
    looked = result["coverage"]["compared"]
    idle = sorted(row["rule"] for row in looked if not row["compared"])
    if idle:
        said.append(f"no line to compare for: {', '.join(idle)}")
    for name, what in (("unreadable", "could not be read"), ("silent", "says nothing"),
                       ("skipped", "was left alone")):  # fmt: skip
        rows = result[name]
        said += [
            f"{row.get('file', row.get('name'))} {what}: {row['reason']}" for row in rows[:_ROWS]
        ]
        if len(rows) > _ROWS:
            said.append(f"and {len(rows) - _ROWS:,} more that {what}")
    items = "".join(f"<li>{html.escape(each)}</li>" for each in dict.fromkeys(said))
    listed = f"<ul>{items}</ul>" if items else "<p>All that was given was read and compared.</p>"
    return f"<h2 id='not-seen'>What was not seen</h2>{listed}"


def _is_urgent(cause: Cause) -> bool:
    return str(cause.finding["kind"]) != FindingKind.EXPLAINED.value


def _read(result: Mapping[str, Any]) -> str:
    lines = result["lines"]
    counts: dict[str, int] = defaultdict(int)
    for finding in result["findings"]:
        counts[finding["kind"]] += 1
    found = ", ".join(
        f"{counts[kind.value]} {kind.value}" for kind in FindingKind if counts[kind.value]
    )
    return (
        f"<p>{lines['read']:,} lines read = {lines['events']:,} events + "
        f"{lines['continuation']:,} continuation lines + {lines['rejected']:,} rejected. "
        f"Findings: {found or 'none'}.</p>"
    )


# -- findings -------------------------------------------------------------------------------------


def _findings(findings: Sequence[Mapping[str, Any]], paths: Mapping[str, str]) -> str:
    """Each cause once, with its number of findings and their places."""
    every = causes(findings)
    said = f"{len(findings):,} of {len(every):,} causes" if findings else "0"
    parts = [f"<h2 id='findings'>Findings ({said})</h2>"]
    if not findings:
        return parts[0] + "<p>None.</p>"
    by_kind = {
        kind: [cause for cause in every if cause.finding["kind"] == kind.value]
        for kind in FindingKind
    }
    shown = [cause.finding for some in by_kind.values() for cause in some[:MOST_FINDINGS]]
    around = _lines_around(shown, paths)
    for kind, some in by_kind.items():
        if not some:
            continue
        opened = " open" if kind in BREAKS or len(some) <= 3 else ""
        total = sum(cause.count for cause in some)
        parts.append(f"<details{opened}><summary>{total:,} {kind.value}</summary>")
        parts += [_finding(each, around.get(_place(each.finding))) for each in some[:MOST_FINDINGS]]
        if len(some) > MOST_FINDINGS:
            left = len(some) - MOST_FINDINGS
            parts.append(f"<p>{left:,} more causes of this kind; --report FILE.json has all.</p>")
        parts.append("</details>")
    return "\n".join(parts)


def _finding(cause: Cause, around: str | None) -> str:
    one = cause.finding
    kind, place = one["kind"], f"{one['file']}:{one['line']}"
    lines = around or "<p>The file is not here any more.</p>"
    return (
        f"<div class='finding {kind}'><b>{kind}</b>: {html.escape(one['rule'])}<div>"
        f"<small>{html.escape(place)}</small><br>{html.escape(one['why'])}<br>"
        f"<i>allowed:</i> {html.escape(one['allowed'])}{_others(cause)}"
        f"<details><summary>the lines around it</summary>{lines}</details></div></div>"
    )


def _others(cause: Cause) -> str:
    """The other places of one cause, folded."""
    if cause.count == 1:
        return ""
    others = cause.places[1:]
    listed = "<br>".join(map(html.escape, others[:_MOST_ROWS]))
    left = f"<br>and {len(others) - _MOST_ROWS:,} more" if len(others) > _MOST_ROWS else ""
    return (
        f"<details><summary>{html.escape(cause.more)}</summary><small>{listed}{left}</small>"
        "</details>"
    )


def _place(one: Mapping[str, Any]) -> tuple[str, int]:
    return str(one["file"]), int(one["line"])


def _lines_around(
    findings: Iterable[Mapping[str, Any]], paths: Mapping[str, str]
) -> dict[tuple[str, int], str]:
    """By place, the lines around it; each file is read once, only as far as needed."""
    wanted: dict[str, set[int]] = defaultdict(set)
    for one in findings:
        if one["file"] in paths:
            wanted[one["file"]].add(int(one["line"]))
    found = {}
    for file, numbers in wanted.items():
        near = {n for number in numbers for n in range(number - AROUND, number + AROUND + 1)}
        texts: dict[int, str] = {}
        problem = ""
        try:
            for number, text in enumerate(lines_of(paths[file]), 1):
                if number > max(near):
                    break
                if number in near:
                    texts[number] = text[:_LONGEST] + ("…" if len(text) > _LONGEST else "")
        except Exception as error:  # whatever is wrong with the file, the finding is still shown
            problem = html.escape(str(error))
        for number in numbers:
            kept = [
                f"<b>{line}</b>" if n == number else line
                for n in range(number - AROUND, number + AROUND + 1)
                if n in texts
                for line in [html.escape(f"{n:>7}  {texts[n]}")]
            ]
            found[file, number] = "<pre>" + "\n".join([*kept, problem]).rstrip() + "</pre>"
    return found


# -- time -----------------------------------------------------------------------------------------


def _timelines(lines: Sequence[Timeline]) -> str:
    parts = ["<h2 id='timeline'>Controllers, leaders and ISRs</h2>"]
    for n, line in enumerate(lines):
        opened = " open" if n < _OPEN else ""
        parts.append(f"<details{opened}><summary>{html.escape(line.cluster)}</summary>")
        parts.append(f"<div class='scroll'>{drawing(line)}</div></details>")
    return "\n".join(parts if lines else [*parts, "<p>No line shows a state.</p>"])


def _clocks(result: Mapping[str, Any]) -> str:
    skews = tables.clocks(result["clocks"])
    jumps = [
        (row["cluster"], ", ".join(map(str, row["brokers"])) or "?", f"{row['file']}:{line}")
        for row in result["files"]
        for line in row["jumps"]
    ]
    parts = [
        "<h2 id='clocks'>Clocks</h2><p>How far one broker's clock is ahead of another's, in ms, as "
        "requests and their answers bound it. No rule asks a clock what came first.</p>",
        as_html(skews)
        if skews.rows
        else "<p>No request can be followed from broker to broker.</p>",
        "<h3>Stamps that go back by more than a minute</h3>",
        as_html(Table(("cluster", "broker", "at"), jumps)),
    ]
    return "\n".join(parts)


# -- what was exercised ---------------------------------------------------------------------------


def _model(coverage: Mapping[str, Any]) -> str:
    parts = [
        "<h2 id='model'>The model's steps that these lines exercised</h2><p><i>judged</i>: the "
        "model was asked for the step and has it; <i>logged</i>: lines show it; <i>hidden</i>: it "
        "must have happened in between.</p>"
    ]
    for system in dict.fromkeys(row["system"] for row in coverage["model"]):
        rows = [row for row in coverage["model"] if row["system"] == system]
        seen = [row for row in rows if row["judged"] + row["logged"] + row["hidden"]]
        unseen = [row["step"] for row in rows if row not in seen]
        parts.append(f"<h3>{system}: {len(seen)} of {len(rows)} steps</h3>")
        parts.append(
            as_html(
                Table(
                    ("step", "judged", "logged", "hidden"),
                    [
                        (row["step"], *(row[name] or "" for name in ("judged", "logged", "hidden")))
                        for row in seen
                    ],
                )
            )
        )
        if unseen:
            parts.append(
                f"<details><summary>{len(unseen)} steps that no line shows</summary>"
                f"<p>{html.escape(', '.join(unseen))}</p></details>"
            )
    refusals = [
        (row["system"], row["step"], row["reason"], row["lines"]) for row in coverage["refusals"]
    ]
    parts.append("<h3>Refusals</h3>")
    parts.append(as_html(Table(("system", "step", "refused because", "lines"), refusals)))
    return "\n".join(parts)


def _rejected(result: Mapping[str, Any]) -> str:
    reasons = list(result["rejected_by_reason"].items())
    parts = [
        "<h2 id='rejected'>Rejected lines, by reason</h2>",
        as_html(Table(("reason", "lines"), reasons)),
    ]
    if result["rejected_by_template"]:
        parts.append(as_html(tables.rejected(result)))
    unreadable = [(row["file"], row["reason"]) for row in result["unreadable"]]
    skipped = [(row["name"], row["reason"]) for row in result["skipped"]]
    for title, rows in (("Could not be read", unreadable), ("Skipped", skipped)):
        if rows:
            parts.append(as_html(Table(("file", "why"), rows, title)))
    return "\n".join(parts)
