"""Draws a run for printing: a row per step, with its changes, the logs, and messages as arrows.

A mark and a word on its arrow show what happened to a message, so a print needs no colours.
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.web.board import RunFrame
from conformance.web.explain import broken_by
from conformance.web.messages import FATES, lane_names, sentence
from conformance.web.run_files import ReplayedRun

_WIDTH, _LINE, _PAD, _LANES, _RECORD, _MOST = 1280, 17, 10, 580, 19, 5
_LOGS, _ARROW = 44, 27
_INK, _SOFT, _BAD = "#1c2430", "#5a6470", "#a3191f"
_TINTS = ("#cfe3f7", "#f7dcb8", "#d3eccd", "#ecd0e6", "#f3ecb0", "#c9ebe8", "#f5cfc9", "#dcdcdc")
_MARKS = {"sent": "✉", "flying": "✉", "late": "⧖", "copy": "⧉", "lost": "✗", "refused": "⊘"}
_DASHES = {"late": "2 4", "copy": "8 3 2 3", "lost": "2 4"}


def svg(run: ReplayedRun, frames: Sequence[RunFrame]) -> str:
    """The run as SVG, complete in itself."""
    rows: list[str] = []
    y = 70
    for number, frame in enumerate(frames):
        breaks = broken_by(frames, number) if number else []
        texts = [*frame.changes, *(f"breaks {name}" for name in breaks)]
        arrows = frame.picture["messages"]
        height = max((len(texts) + 1) * _LINE + _PAD, _LOGS + _ARROW * len(arrows) + 4)
        rows.append(
            f'<rect x="8" y="{y}" width="{_WIDTH - 16}" height="{height}" rx="5" '
            f'fill="{"#fff4f4" if breaks else "#ffffff"}" stroke="#cfd4da"/>'
        )
        rows.append(_text(18, y + _LINE, f"{number}  {frame.label}", weight="bold"))
        for position, one in enumerate(texts):
            colour = _BAD if one.startswith("breaks ") else _INK
            rows.append(_text(40, y + _LINE * (position + 2), one[:72], colour=colour, mono=True))
        rows += _lanes(y, height, frame.picture)
        for place, message in enumerate(arrows):
            rows += _arrow(y + _LOGS + _ARROW * place, message, frame.picture)
        y += height + 6
    for text in textwrap.wrap(run.diagnosis or "", 150):
        rows.append(_text(14, y + _LINE, text, colour=_BAD, weight="bold"))
        y += _LINE
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{y + 20}" '
        f'viewBox="0 0 {_WIDTH} {y + 20}" font-family="sans-serif" font-size="13">',
        f"<title>{html.escape(run.title)}</title>",
        '<rect width="100%" height="100%" fill="#fbfaf7"/>',
        _text(14, 26, run.title[:160], weight="bold"),
        _text(14, 50, run.heading, colour=_SOFT),
    ]
    return "\n".join([*head, *rows, "</svg>"]) + "\n"


def _text(
    x: float, y: float, words: str, colour: str = _INK, weight: str = "normal", mono: bool = False,
    size: int = 0, anchor: str = "",
) -> str:  # fmt: skip
    family = ' font-family="monospace" font-size="12"' if mono else ""
    family += f' font-size="{size}"' if size else ""
    family += f' text-anchor="{anchor}"' if anchor else ""
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" fill="{colour}" font-weight="{weight}"{family}>'
        f"{html.escape(words)}</text>"
    )


def _middle(lane: str, picture: Mapping[str, Any]) -> float:
    """Where a lane's line stands."""
    wide = (_WIDTH - 16 - _LANES) / len(picture["lanes"])
    return float(_LANES + wide * (picture["lanes"].index(lane) + 0.5))


def _lanes(y: int, height: int, picture: Mapping[str, Any]) -> list[str]:
    parts = []
    for lane, name in lane_names(picture):
        x = _middle(lane, picture)
        parts.append(_text(x, y + 13, name, colour=_SOFT, size=11, anchor="middle"))
        parts.append(
            f'<line x1="{x:.0f}" y1="{y + _LOGS - 4}" x2="{x:.0f}" y2="{y + height - 3}" '
            'stroke="#cfd4da"/>'
        )
        log = picture["logs"].get(lane)
        if log is not None:
            parts += _log(x - _RECORD * _MOST / 2, y, log)
    return parts


def _log(x: float, y: int, log: Mapping[str, Any]) -> list[str]:
    """A broker's log: a box a record, tinted by epoch, with the high watermark as a red line."""
    parts = []
    for offset, record in enumerate(log["records"][:_MOST]):
        tint = _TINTS[int(record.get("epoch") or 0) % len(_TINTS)]
        left = x + offset * _RECORD
        parts.append(
            f'<rect x="{left:.0f}" y="{y + 18}" width="{_RECORD - 2}" height="16" fill="{tint}" '
            f'stroke="#8a929b"><title>epoch {record.get("epoch")}</title></rect>'
        )
        name = str(record.get("id", record.get("value", "•")))
        parts.append(_text(left + _RECORD / 2 - 1, y + 30, name, size=11, anchor="middle"))
    if log["hw"] is not None:
        at = x + min(int(log["hw"]), _MOST) * _RECORD - 1
        parts.append(
            f'<line x1="{at:.0f}" y1="{y + 15}" x2="{at:.0f}" y2="{y + 37}" stroke="{_BAD}" '
            f'stroke-width="2"><title>high watermark {log["hw"]}</title></line>'
        )
    return parts


def _arrow(y: int, message: Mapping[str, Any], picture: Mapping[str, Any]) -> list[str]:
    """A message: from a dot to a head at each lane that it goes to, with its mark and words."""
    here = _middle(message["source"], picture)
    there = [_middle(one, picture) for one in message["targets"]]
    far = max(there, key=lambda one: abs(one - here))
    fate, line = message["fate"], y + 7
    colour = _BAD if fate in ("lost", "refused") else _INK
    dashes = _DASHES.get(fate) or ("6 4" if message["answer"] else "")
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    parts = [
        f"<g><title>{html.escape(sentence(message, picture))}</title>",
        f'<line x1="{min(here, *there):.0f}" y1="{line}" x2="{max(here, *there):.0f}" '
        f'y2="{line}" stroke="{colour}" stroke-width="{3 if fate == "sent" else 1.5}"{dashed}/>',
        f'<circle cx="{here:.0f}" cy="{line}" r="3.5" fill="{colour}"/>',
    ]
    for one in there if fate != "lost" else []:
        back = one + (8 if one < here else -8)
        filled = colour if fate == "arrived" else "none"
        parts.append(
            f'<polyline points="{back:.0f},{line - 5} {one:.0f},{line} {back:.0f},{line + 5}" '
            f'fill="{filled}" stroke="{colour}" stroke-width="1.5"/>'
        )
    if fate in _MARKS:
        middle = (here + far) / 2
        parts.append(f'<circle cx="{middle:.0f}" cy="{line}" r="7" fill="#ffffff"/>')
        parts.append(_text(middle, line + 4, _MARKS[fate], colour=colour, size=12, anchor="middle"))
    left = min(here, far) < (_LANES + _WIDTH) / 2
    steps = f" ({message['steps']} steps)" if message["steps"] > 1 else ""
    words = f"{message['name']}: {message['label']}: {FATES[fate]}{steps}"[:104]
    at = min(here, *there) - 40 if left else max(here, *there) + 40
    parts.append(_text(at, line + 15, words, colour=colour, size=11,
                       anchor="start" if left else "end"))  # fmt: skip
    return [*parts, "</g>"]
