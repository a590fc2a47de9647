"""`insync check --report FILE.html`: one page, complete in itself, that shows what was found."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from conformance.ingest.reader import lines_of
from conformance.pipeline.timeline import State, Timeline

MOST_PARTITIONS = 60
MOST_FINDINGS = 200
_AROUND = 3
_LEFT, _WIDTH, _ROW = 190, 1150, 18
_TINTS = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#9c755f", "#e15759", "#76b7b2", "#edc948")

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 1rem auto; max-width: 1200px; padding: 0 1rem;
  color: #1c2430; background: #fbfaf7; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 1.6rem; }
table { border-collapse: collapse; } td, th { border: 1px solid #cfd4da; padding: .15rem .5rem;
  text-align: left; vertical-align: top; } td.n { text-align: right; }
.verdict { font-weight: 700; padding: .1rem .6rem; border-radius: 5px; background: #eef1f4; }
.broken, .violation, .impossible { color: #a3191f; } .holds { color: #1d6b3a; }
.finding { border: 1px solid #cfd4da; border-radius: 6px; padding: .3rem .7rem; margin: .5rem 0; }
pre { background: #eef1f4; padding: .4rem; overflow: auto; font-size: .8rem; }
pre b { background: #fff2b8; } .scroll { overflow-x: auto; } small { color: #5a6470; }
svg text { font: 11px system-ui, sans-serif; }
"""


def page(result: Mapping[str, Any], lines: Sequence[Timeline], paths: Mapping[str, str]) -> str:
    """The report. `paths`: where each file lies that a finding names."""
    verdict = str(result["verdict"])
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>insync check: {verdict}</title><style>{_STYLE}</style></head><body>",
        f"<h1>insync check <span class='verdict {verdict}'>{verdict}</span></h1>",
        _read(result),
    ]
    for line in lines:
        parts.append(f"<h2>{html.escape(line.cluster)}: controllers, leaders and ISRs</h2>")
        parts.append(f"<div class='scroll'>{drawing(line)}</div>")
    parts += [
        _findings(result["findings"], paths),
        _table("Rules, and how often each compared", result["coverage"]["rules"]),
        _table("Kinds of events", result["coverage"]["kinds"]),
        _rejected(result["rejected_by_template"]),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _read(result: Mapping[str, Any]) -> str:
    lines = result["lines"]
    return (
        f"<p>{lines['read']:,} lines read = {lines['events']:,} events + "
        f"{lines['continuation']:,} continuation lines + {lines['rejected']:,} rejected.</p>"
    )


# -- the drawing ----------------------------------------------------------------------------------


def drawing(line: Timeline) -> str:
    """Controllers above, then a band for each partition: its leader's colour, its ISR inside."""
    busiest = sorted(line.partitions, key=lambda name: (-len(line.partitions[name]), name))
    chosen = sorted(busiest[:MOST_PARTITIONS])
    brokers = sorted(
        {term.broker for term in line.terms}
        | {b for name in chosen for state in line.partitions[name] for b in state.isr}
        | {state.leader or 0 for name in chosen for state in line.partitions[name]}
    )
    tint = {
        broker: _TINTS[n % len(_TINTS)] for n, broker in enumerate(b for b in brokers if b >= 0)
    }
    height = (len(chosen) + 4) * _ROW + 40
    parts = [
        f"<svg width='{_LEFT + _WIDTH + 20}' height='{height}' role='img' "
        f"aria-label='timeline of {html.escape(line.cluster)}'>"
    ]
    for n, (broker, colour) in enumerate(tint.items()):
        parts.append(f"<rect x='{_LEFT + n * 90}' y='4' width='12' height='12' fill='{colour}'/>")
        parts.append(f"<text x='{_LEFT + n * 90 + 16}' y='14'>broker {broker}</text>")
    span = max(line.until - line.since, 1)

    def at(moment: int) -> float:
        return _LEFT + (moment - line.since) / span * _WIDTH

    y = 24
    parts.append(f"<text x='4' y='{y + 13}'>controller (epoch)</text>")
    for term in line.terms:
        end = at(term.until if term.until is not None else line.until)
        parts.append(_bar(at(term.since), end, y, tint.get(term.broker, "#888"),
                          f"controller {term.broker} epoch {term.epoch}, {term.where}",
                          "" if term.epoch is None else str(term.epoch)))  # fmt: skip
    for name in chosen:
        y += _ROW
        parts.append(f"<text x='4' y='{y + 13}'>{html.escape(name[-28:])}</text>")
        parts += _band(line.partitions[name], y, tint, at, line.until)
    y += _ROW
    for moment in (line.since, line.until):
        anchor = "start" if moment == line.since else "end"
        parts.append(f"<text x='{at(moment):.1f}' y='{y + 14}' text-anchor='{anchor}'>"
                     f"{_when(moment)}</text>")  # fmt: skip
    if len(line.partitions) > len(chosen):
        left = len(line.partitions) - len(chosen)
        parts.append(f"<text x='4' y='{y + 32}'>{left} quieter partitions are not drawn</text>")
    return "".join([*parts, "</svg>"])


def _band(
    states: Sequence[State], y: int, tint: Mapping[int, str], at: Any, until: int
) -> list[str]:
    parts = []
    for state, after in zip(states, [*states[1:], None], strict=True):
        end = at(after.at if after is not None else until)
        leader = state.leader if state.leader is not None else -1
        colour = tint.get(leader, "#ffffff")
        isr = ",".join(map(str, state.isr))
        title = f"leader {leader} epoch {state.epoch} ISR {{{isr}}}, {state.where}"
        parts.append(_bar(at(state.at), end, y, colour, title, f"{state.epoch} {{{isr}}}"))
    return parts


def _bar(start: float, end: float, y: int, colour: str, title: str, label: str) -> str:
    width = max(end - start, 1.0)
    stroke = " stroke='#a3191f'" if colour == "#ffffff" else ""
    text = ""
    if width > 7 * len(label):
        text = f"<text x='{start + 2:.1f}' y='{y + 13}' fill='#10151c'>{html.escape(label)}</text>"
    return (
        f"<g><title>{html.escape(title)}</title><rect x='{start:.1f}' y='{y + 1}' "
        f"width='{width:.1f}' height='{_ROW - 3}' fill='{colour}' fill-opacity='.55'{stroke}/>"
        f"{text}</g>"
    )


def _when(moment: int) -> str:
    return datetime.fromtimestamp(moment / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


# -- findings and tables --------------------------------------------------------------------------


def _findings(findings: Sequence[Mapping[str, Any]], paths: Mapping[str, str]) -> str:
    if not findings:
        return "<h2>Findings</h2><p>None.</p>"
    shown = findings[:MOST_FINDINGS]
    parts = [f"<h2>Findings ({len(findings)})</h2>"]
    for one in shown:
        place = f"{one['file']}:{one['line']}"
        parts.append(
            f"<div class='finding'><b class='{one['kind']}'>{one['kind']}</b>: {one['rule']}<br>"
            f"<small>{html.escape(place)}</small><br>{html.escape(one['why'])}<br>"
            f"<i>allowed:</i> {html.escape(one['allowed'])}"
            f"<details><summary>the lines around it</summary>{_around(one, paths)}</details></div>"
        )
    if len(findings) > len(shown):
        parts.append(f"<p>{len(findings) - len(shown)} more are in the JSON.</p>")
    return "\n".join(parts)


def _around(finding: Mapping[str, Any], paths: Mapping[str, str]) -> str:
    path = paths.get(finding["file"])
    if path is None:
        return "<p>The file is not here any more.</p>"
    wanted, kept = int(finding["line"]), []
    try:
        for number, text in enumerate(lines_of(path), 1):
            if number > wanted + _AROUND:
                break
            if number >= wanted - _AROUND:
                line = html.escape(f"{number:>7}  {text[:400]}")
                kept.append(f"<b>{line}</b>" if number == wanted else line)
    except Exception as error:  # whatever is wrong with the file, the finding is still told
        kept.append(html.escape(str(error)))
    return "<pre>" + "\n".join(kept) + "</pre>"


def _table(title: str, counts: Mapping[str, int]) -> str:
    rows = "".join(
        f"<tr><td>{html.escape(name)}</td><td class='n'>{count:,}</td></tr>"
        for name, count in counts.items()
    )
    return f"<h2>{title}</h2><table>{rows or '<tr><td>none</td></tr>'}</table>"


def _rejected(unknown: Sequence[Mapping[str, Any]]) -> str:
    rows = "".join(
        f"<tr><td class='n'>{one['count']:,}</td><td>{html.escape(one['reason'])}</td>"
        f"<td>{html.escape(one['template'])}</td>"
        f"<td><small>{html.escape(one['file'])}:{one['line']}</small></td></tr>"
        for one in unknown[:100]
    )
    return f"<h2>Rejected lines</h2><table>{rows or '<tr><td>none</td></tr>'}</table>"
