"""Prints a story as cards to cut out and put in order; the last page has the solution.

The story itself determines the shuffling, so the same story gives the same sheet; each card has a
letter, and the last page lists the letters in order.
"""

from __future__ import annotations

import html
import string
from collections.abc import Sequence
from hashlib import sha256

from conformance.web.board import RunFrame
from conformance.web.explain import broken_by
from conformance.web.run_files import ReplayedRun

_FEW = 6
_STYLE = """
@page { size: A4; margin: 12mm; }
body { font: 11pt/1.35 system-ui, sans-serif; color: #10151c; background: #fff; margin: 1rem; }
h1 { font-size: 14pt; } p { margin: .3rem 0; }
ol { list-style: none; padding: 0; margin: 0; display: grid; grid-template-columns: 1fr 1fr; }
li { border: 1px dashed #5a6470; padding: 4mm; min-height: 40mm; break-inside: avoid; }
li > b:first-child { float: right; border: 1px solid #10151c; border-radius: 50%; width: 1.7em;
  height: 1.7em; text-align: center; line-height: 1.7em; }
li ul { list-style: none; padding: 0; margin: 2mm 0 0; font: 9pt/1.3 ui-monospace, monospace; }
li ul li { border: 0; padding: 0; min-height: 0; overflow-wrap: anywhere; }
.breaks { font-weight: 700; } .key { break-before: page; }
"""


def letter_label(number: int) -> str:
    """`A` to `Z`, then `AA`, `AB` …; numbers begin with 0."""
    alphabet = string.ascii_uppercase
    rest, last = divmod(number, len(alphabet))
    return (letter_label(rest - 1) if rest else "") + alphabet[last]


def shuffled(run: ReplayedRun, count: int) -> list[int]:
    """The steps 1 to `count` in the order of the sheet: the same for the same story."""
    text = "\n".join([run.heading, *run.lines])
    return sorted(range(1, count + 1), key=lambda n: sha256(f"{n}\n{text}".encode()).digest())


def cards(run: ReplayedRun, frames: Sequence[RunFrame]) -> str:
    """The sheet as one self-contained page."""
    order = shuffled(run, len(frames) - 1)
    names = {step: letter_label(place) for place, step in enumerate(order)}
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        f"<title>{html.escape(run.title)}: cards</title><style>{_STYLE}</style></head><body>",
        f"<h1>{html.escape(run.title)}</h1>",
        f"<p>{html.escape(run.heading)}. Cut out, and lay in an order that can happen. "
        "Which claim breaks, and by which card?</p><ol>",
        *(_card(names[step], frames[step]) for step in order),
        f"</ol><section class='key'><h1>Key: {html.escape(run.title)}</h1>",
        f"<p>{' '.join(names[step] for step in sorted(names))}</p>",
    ]
    for step in sorted(names):
        for claim in broken_by(frames, step):
            parts.append(
                f"<p class='breaks'>{names[step]}, step {step}: {html.escape(claim)} breaks.</p>"
            )
    return "".join([*parts, "</section></body></html>\n"])


def _card(name: str, frame: RunFrame) -> str:
    kept = [*frame.changes[:_FEW], *(["…"] if len(frame.changes) > _FEW else [])]
    changes = "".join(f"<li>{html.escape(one)}</li>" for one in kept or ["nothing changes"])
    return f"<li><b>{name}</b><b>{html.escape(frame.label)}</b><ul>{changes}</ul></li>"
