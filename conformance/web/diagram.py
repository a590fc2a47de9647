"""Diagrams of lessons: a few lines of text, drawn as SVG.

A block begins with its kind and what it shows; each further line is a part of it.

    logs A committed record is cut           one row a replica: `*` before who leads; records as
    * broker 1: m1@0 m2@1 | m3@1             `name@epoch`, `|` is the high watermark, `~m2@1` was
    broker 2: m1@0 | ~m2@1                   cut, `.` is no record

    messages The high watermark comes late   lanes in the order of their names here; `->` arrives,
    broker 2 -> broker 1: fetch at 1         `-x` is lost, `..>` arrives late, before the last line;
    broker 1: raises its HW to 1             a name alone: what happens there; `--- words`: time
    --- later                                passes

    states A replica that is deleted         boxes and arrows from the first to the last, in rows;
    New -> Online: it has a log              `=>` goes back to a box that was there already
    Online -> Offline: its broker stops

Raises DiagramError with the line within the block that it cannot read.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 440
_TEXT = 12
_LETTER = 6.4
"""Pixels; a letter of sans-serif text at this size, on average, rather too wide than too narrow."""
_BOX = 46
_KINDS = {"logs": "log", "messages": "message", "states": "change of state"}
_LOG = re.compile(r"(\* )?([^:]+): ?(.*)")
_RECORD = re.compile(r"(~?)([\w'-]+)@(\d+)")
_MESSAGE = re.compile(r"(.+?) (->|-x|\.\.>) ([^:]+): (.+)")
_NOTE = re.compile(r"([^:>]+): (.+)")
_CHANGE = re.compile(r"(.+?) (->|=>) ([^:]+?)(?:: (.+))?")


class DiagramError(Exception):
    """The diagram cannot be drawn: the line within the block, from 0, and what would be right."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line


@dataclass(frozen=True)
class Drawing:
    """The parts of an SVG and its height in pixels; its width is WIDTH."""

    parts: tuple[str, ...]
    height: float


def diagram(text: str) -> str:
    """A block's text as a figure with its caption; screen readers get the block's lines."""
    first, *lines = [line.strip() for line in text.strip().splitlines()]
    kind, _, caption = first.partition(" ")
    if kind not in _KINDS or not caption:
        raise DiagramError(
            0, f"{first!r}: begin with logs, messages or states, and what the diagram shows"
        )
    if not lines:
        raise DiagramError(0, f"a diagram of {kind} has a line for each {_KINDS[kind]}; write one")
    drawing = {"logs": _logs, "messages": _messages, "states": _states}[kind](lines)
    said = "; ".join(_in_words(line) for line in lines)
    return (
        f'<figure class="diagram"><svg viewBox="0 0 {WIDTH} {drawing.height:.0f}" role="img" '
        f'aria-label="{html.escape(said)}"><defs><marker id="tip" viewBox="0 0 8 8" refX="7" '
        'refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">'
        '<path d="M0 0L8 4L0 8z" class="tip"/></marker></defs>'
        f"{''.join(drawing.parts)}</svg><figcaption>{html.escape(caption)}</figcaption></figure>"
    )


def on_paper(text: str) -> str:
    """The block for a page without pictures: its caption and its lines unchanged."""
    first, *lines = text.strip().splitlines()
    return "\n".join([f"*{first.partition(' ')[2]}*", "", "```", *lines, "```"])


def _in_words(line: str) -> str:
    for mark, words in (("..>", "sends late to"), ("->", "to"), ("=>", "back to"),
                        ("-x", "sends, and it is lost, to"), ("~", "cut: "), ("@", " of epoch "),
                        (" | ", " high watermark "), ("---", "")):  # fmt: skip
        line = line.replace(mark, words)
    return line.strip().removeprefix("* ")


def _svg_text(x: float, y: float, text: str, look: str = "", anchor: str = "middle") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
        f"{f' class={chr(34)}{look}{chr(34)}' if look else ''}>{html.escape(text)}</text>"
    )


def _wrapped(text: str, width: float) -> list[str]:
    """Words in lines of at most `width` pixels; a longer word has a line of its own."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if len(longer) * _LETTER <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _block(x: float, y: float, text: str, width: float, look: str = "") -> tuple[list[str], float]:
    """Lines of text around x from y down, and how high they are."""
    lines = _wrapped(text, width)
    return [_svg_text(x, y + 14 * n, line, look) for n, line in enumerate(lines)], 14.0 * len(lines)


# -- logs -----------------------------------------------------------------------------------------


def _logs(lines: Sequence[str]) -> Drawing:
    parts: list[str] = []
    y = 8.0
    for number, line in enumerate(lines, 1):
        found = _LOG.fullmatch(line)
        if found is None:
            raise DiagramError(
                number, f"{line!r}: write who, then its records: broker 1: m1@0 | m2@0"
            )
        leads, who, rest = found.groups()
        parts.append(_svg_text(8, y + 20, who, "who", "start"))
        if leads:
            parts.append(_svg_text(8, y + 34, "leads", "dim", "start"))
        x = 118.0
        for token in rest.split():
            record = _RECORD.fullmatch(token)
            if token == "|":
                parts.append(
                    f'<path class="hw" d="M{x - 3} {y - 2}V{y + 38}"/>'
                    + _svg_text(x - 3, y + 49, "HW", "hw")
                )
            elif token == ".":
                parts.append(f'<rect x="{x}" y="{y}" width="{_BOX - 6}" height="34" class="none"/>')
                x += _BOX
            elif record is not None:
                cut, name, epoch = record.groups()
                look = f"e{int(epoch) % 8}{' cut' if cut else ''}"
                parts.append(
                    f'<rect x="{x}" y="{y}" width="{_BOX - 6}" height="34" rx="4" class="{look}"/>'
                    + _svg_text(x + _BOX / 2 - 3, y + 15, name, "cut" if cut else "record")
                    + _svg_text(x + _BOX / 2 - 3, y + 29, f"e{epoch}", "small")
                )
                x += _BOX
            else:
                raise DiagramError(
                    number, f"{token!r}: write a record as name@epoch, ~name@epoch, | or ."
                )
        y += 58
    return Drawing(tuple(parts), y)


# -- messages -------------------------------------------------------------------------------------


def _lanes(lines: Sequence[str]) -> dict[str, float]:
    """Where each lane stands: in the order in which messages and notes name them."""
    names: list[str] = []
    for line in lines:
        message = _MESSAGE.fullmatch(line)
        note = None if message or line.startswith("---") else _NOTE.fullmatch(line)
        for name in (message[1], message[3]) if message else (note[1],) if note else ():
            if name not in names:
                names.append(name)
    ends = 62.0
    step = (WIDTH - 2 * ends) / max(1, len(names) - 1)
    return {name: ends + step * n if len(names) > 1 else WIDTH / 2 for n, name in enumerate(names)}


def _messages(lines: Sequence[str]) -> Drawing:
    lanes = _lanes(lines)
    parts: list[str] = []
    late: list[tuple[float, str]] = []
    y = last = 44.0
    for number, line in enumerate(lines, 1):
        last = y
        message, note = _MESSAGE.fullmatch(line), _NOTE.fullmatch(line)
        if line.startswith("---"):
            parts.append(f'<path class="gap" d="M8 {y:.0f}H{WIDTH - 8}"/>')
            parts.append(_svg_text(WIDTH / 2, y + 4, line.strip("- "), "dim over"))
            y += 24
        elif message is not None:
            sender, how, receiver, text = message.groups()
            if sender == receiver:
                raise DiagramError(number, f"{line!r}: a message goes from one to another")
            here, there = lanes[sender], lanes[receiver]
            words, high = _block(
                (here + there) / 2, y + 2, text, max(150.0, abs(there - here) - 12), "over"
            )
            y += high
            if how == "-x":
                end = here + (there - here) * 0.62
                parts.append(
                    f'<path class="lost" d="M{here:.0f} {y - 4:.0f}L{end:.0f} {y + 2:.0f}"/>'
                )
                parts.append(
                    f'<path class="cross" d="M{end - 5:.0f} {y - 3:.0f}l10 10m0 -10l-10 10"/>'
                )
            elif how == "..>":
                late.append((there, f"M{here:.0f} {y - 4:.0f}"))
            else:
                parts.append(
                    f'<path class="sent" d="M{here:.0f} {y - 4:.0f}L{there:.0f} {y + 6:.0f}" '
                    'marker-end="url(#tip)"/>'
                )
            parts += words
            y += 22
        elif note is not None:
            x = lanes[note[1]]
            words, high = _block(x, y + 8, note[2], 122)
            widest = max(len(one) for one in _wrapped(note[2], 122)) * _LETTER + 12
            left = min(max(2.0, x - widest / 2), WIDTH - widest - 2)
            words, _ = _block(left + widest / 2, y + 8, note[2], 122)
            parts.append(
                f'<rect x="{left:.1f}" y="{y - 6:.0f}" width="{widest:.1f}" '
                f'height="{high + 6:.0f}" rx="5" class="note"/>'
            )
            parts += words
            y += high + 14
        else:
            raise DiagramError(
                number,
                f"{line!r}: write `broker 1 -> broker 2: fetch`, `broker 1: crashes` or `---`",
            )
    for there, begin in late:
        way = f"{begin}L{there:.0f} {last - 8:.0f}"
        parts.insert(0, f'<path class="late" d="{way}" marker-end="url(#tip)"/>')
    heads = [
        f'<path class="lane" d="M{x:.0f} 30V{y:.0f}"/>' + _svg_text(x, 20, name, "who")
        for name, x in lanes.items()
    ]
    return Drawing((*heads, *parts), y + 6)


# -- states ---------------------------------------------------------------------------------------


def _states(lines: Sequence[str]) -> Drawing:
    """A column of boxes in the order in which they are named; arrows back go along the side."""
    changes = []
    names: list[str] = []
    for number, line in enumerate(lines, 1):
        found = _CHANGE.fullmatch(line)
        if found is None:
            raise DiagramError(number, f"{line!r}: write `Online -> Offline: its broker stops`")
        before, how, after, text = found.groups()
        changes.append((before, how, after, text or ""))
        for name in (before, after):
            if name not in names:
                names.append(name)
    wide = max(len(name) for name in names) * _LETTER + 24
    left, middle = 8.0, 8.0 + wide / 2
    top = {name: 6.0 + 56 * n for n, name in enumerate(names)}
    parts = [
        f'<rect x="{left}" y="{top[name]:.0f}" width="{wide:.1f}" height="28" rx="6" class="box"/>'
        + _svg_text(middle, top[name] + 18, name, "who")
        for name in names
    ]
    aside = left + wide + 20
    around = []
    for number, (before, how, after, text) in enumerate(changes, 1):
        down = names.index(after) - names.index(before)
        if down == 0:
            raise DiagramError(number, f"{before}: an arrow goes from one state to another")
        if how == "->" and down == 1:
            y = top[before] + 28
            parts.append(
                f'<path class="sent" d="M{middle:.0f} {y:.0f}v27" marker-end="url(#tip)"/>'
            )
            words = _wrapped(text, WIDTH - middle - 40)[:2]
            for n, one in enumerate(words):
                parts.append(_svg_text(middle + 10, y + 17 - 6 * (len(words) - 1) + 13 * n, one, "",
                                    "start"))  # fmt: skip
                aside = max(aside, middle + 18 + len(one) * _LETTER)
        else:
            around.append((before, how, after, text))
            aside = max(aside, left + wide + 18 + len(text) * _LETTER)
    for before, how, after, text in around:  # along the right side; its words stand over its end
        y, z = top[before] + 20, top[after] + 9
        x = min(aside, WIDTH - 4 - 10 * (len(around) - 1))
        aside = x + 10
        parts.append(
            f'<path class="{"back" if how == "=>" else "sent"}" d="M{left + wide:.0f} {y:.0f}'
            f'H{x:.0f}V{z:.0f}H{left + wide + 2:.0f}" marker-end="url(#tip)"/>'
            + (
                _svg_text(left + wide + 12, z - 4, text, "", "start")
                if how == "->"
                else _svg_text(x - 6, y + 12, text, "", "end")
            )
        )
    return Drawing(tuple(parts), top[names[-1]] + 36)
