"""A run as one page, one picture, or one text: complete in itself, and readable on paper."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence
from typing import Any

from conformance.web.board import Board, Frame
from conformance.web.frozen import Packer, one_file
from conformance.web.lamps import Lamp
from conformance.web.retold import Retold

MOST_FRAMES = 2000

_WIDTH, _LINE, _PAD = 1180, 17, 10
_TINTS = ("#cfe3f7", "#f7dcb8", "#d3eccd", "#ecd0e6", "#f3ecb0", "#c9ebe8", "#f5cfc9", "#dcdcdc")


def frames_of(board: Board, lines: Sequence[str]) -> list[Frame]:
    """Every state on the run. Raises ProtocolError for a line that is not possible."""
    return [board.frame(lines[:end]) for end in range(min(len(lines), MOST_FRAMES) + 1)]


def page(told: Retold, frames: Sequence[Frame]) -> str:
    """One HTML file with everything in it: no address is fetched when it is opened."""
    packer = Packer()
    data = {
        "title": told.title, "heading": told.heading, "diagnosis": told.diagnosis,
        "lines": told.lines[: len(frames) - 1], "frames": [packer.frame(one) for one in frames],
        "table": packer.table,
    }  # fmt: skip
    return one_file("index.html", told.title, data)


def markdown(told: Retold, frames: Sequence[Frame]) -> str:
    """The run as a numbered list, each step with what it changed, and the claims at the end."""
    lines = [f"# {told.title}", "", f"`{told.heading}`", ""]
    for number, frame in enumerate(frames[1:], 1):
        lines.append(f"{number}. **{frame.label}**")
        lines += [f"   - `{change}`" for change in frame.changes] or ["   - nothing changes"]
        lines += [f"   - claim **{name}** breaks here" for name in broken_by(frames, number)]
    if told.loop is not None:
        lines += ["", f"And again from step {told.loop + 1}, without end."]
    if told.diagnosis is not None:
        lines += ["", f"Here it ends: {told.diagnosis}"]
    lines += ["", "| claim | at the end |", "|---|---|"]
    lines += [f"| {lamp.claim}: {lamp.sentence} | {state_of(lamp)} |" for lamp in frames[-1].lamps]
    return "\n".join(lines) + "\n"


def state_of(lamp: Lamp) -> str:
    """A claim's state in a word."""
    if lamp.kind.startswith("always"):
        return "holds" if lamp.lit else "**broken**"
    return "so here" if lamp.lit else "not here"


def broken_by(frames: Sequence[Frame], number: int) -> list[str]:
    """The `always` claims that hold before a step and not after it."""
    before = {lamp.claim for lamp in frames[number - 1].lamps if lamp.lit}
    return [
        lamp.claim
        for lamp in frames[number].lamps
        if lamp.kind.startswith("always") and not lamp.lit and lamp.claim in before
    ]


def svg(told: Retold, frames: Sequence[Frame]) -> str:
    """The run as a picture: a row a step, what it changed, and the logs after it."""
    rows: list[str] = []
    y = 70
    brokers = list(frames[0].picture["brokers"])
    for number, frame in enumerate(frames):
        breaks = broken_by(frames, number) if number else []
        texts = [*frame.changes, *(f"breaks {name}" for name in breaks)]
        height = max(len(texts) + 1, 2) * _LINE + _PAD
        rows.append(
            f'<rect x="8" y="{y}" width="{_WIDTH - 16}" height="{height}" rx="5" '
            f'fill="{"#fff4f4" if breaks else "#ffffff"}" stroke="#cfd4da"/>'
        )
        rows.append(_text(18, y + _LINE, f"{number}  {frame.label}", weight="bold"))
        for position, one in enumerate(texts):
            colour = "#a3191f" if one.startswith("breaks ") else "#1c2430"
            rows.append(_text(40, y + _LINE * (position + 2), one[:88], colour=colour, mono=True))
        for position, broker in enumerate(brokers):
            rows += _log(_WIDTH - 150 * (len(brokers) - position), y + 6, broker, frame.picture)
        y += height + 6
    for text in textwrap.wrap(told.diagnosis or "", 150):
        rows.append(_text(14, y + _LINE, text, colour="#a3191f", weight="bold"))
        y += _LINE
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{y + 20}" '
        f'viewBox="0 0 {_WIDTH} {y + 20}" font-family="sans-serif" font-size="13">',
        f"<title>{html.escape(told.title)}</title>",
        '<rect width="100%" height="100%" fill="#fbfaf7"/>',
        _text(14, 26, told.title[:150], weight="bold"),
        _text(14, 50, told.heading, colour="#5a6470"),
    ]
    return "\n".join([*head, *rows, "</svg>"]) + "\n"


def _text(
    x: int, y: int, words: str, colour: str = "#1c2430", weight: str = "normal", mono: bool = False
) -> str:
    family = ' font-family="monospace" font-size="12"' if mono else ""
    return (
        f'<text x="{x}" y="{y}" fill="{colour}" font-weight="{weight}"{family}>'
        f"{html.escape(words)}</text>"
    )


def _log(x: int, y: int, broker: str, picture: dict[str, Any]) -> list[str]:
    """A broker's log: a box a record, tinted by epoch, with the high watermark as a red line."""
    parts = [_text(x, y + 12, f"broker {broker}", colour="#5a6470")]
    log = picture["logs"].get(broker)
    if log is None:
        return parts
    for offset, record in enumerate(log["records"][:5]):
        tint = _TINTS[int(record.get("epoch") or 0) % len(_TINTS)]
        left = x + offset * 24
        parts.append(
            f'<rect x="{left}" y="{y + 17}" width="22" height="16" fill="{tint}" stroke="#8a929b"/>'
        )
        parts.append(_text(left + 7, y + 29, str(record.get("id", record.get("value", "•")))))
    if log["hw"] is not None:
        at = x + min(int(log["hw"]), 5) * 24 - 1
        parts.append(
            f'<line x1="{at}" y1="{y + 14}" x2="{at}" y2="{y + 36}" stroke="#a3191f" '
            'stroke-width="2"><title>high watermark</title></line>'
        )
    return parts
