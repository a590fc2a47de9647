"""Draws a cluster over time as SVG: controllers, starts, leaders and ISRs.

Each partition has a row: the leader in its colour with the leader epoch above, and below a thin
lane per broker, filled while that broker is in the ISR. Partitions with the same history share a
row. Logs are quiet for days and busy for seconds, so quiet times are drawn shorter: the width of
a stretch without changes is the logarithm of its duration.
"""

from __future__ import annotations

import html
import math
import zlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from conformance.pipeline.timeline import LeadershipState, Timeline

MOST_ROWS = 40
_LEFT, _WIDTH, _LEADER, _LANE, _GAP, _TOP = 190, 990, 13, 3, 4, 26
_NARROW = 1.5  # pixels; nothing is drawn narrower
_CLOSEST = 64  # times as wide the picture can be made
_MOST_BARS = 2000  # that are drawn each by itself; of more, narrow ones are drawn together
_ALIKE = 10_000  # milliseconds within which partitions change together
_TINTS = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#9c755f", "#e15759", "#76b7b2", "#edc948")
_NOBODY, _SEVERAL = "#ffffff", "#b9bec6"


class Axis:
    """From a time in milliseconds to pixels."""

    def __init__(self, moments: Iterable[int]) -> None:
        self.moments = sorted(set(moments)) or [0]
        self.places = [0.0]
        for before, after in zip(self.moments, self.moments[1:], strict=False):
            self.places.append(self.places[-1] + math.log1p((after - before) / 1000))
        self._scale = _WIDTH / (self.places[-1] or 1.0)

    def at(self, moment: int) -> float:
        """The distance of a moment from the left edge of the picture, in pixels."""
        n = min(max(bisect_right(self.moments, moment) - 1, 0), len(self.moments) - 1)
        beyond = 0.0
        if n + 1 < len(self.moments):
            whole = math.log1p((self.moments[n + 1] - self.moments[n]) / 1000) or 1.0
            beyond = min(math.log1p(max(moment - self.moments[n], 0) / 1000), whole)
        return _LEFT + (self.places[n] + beyond) * self._scale

    def ticks(self) -> Iterator[tuple[float, int]]:
        """A few moments that are far enough apart to be labelled."""
        last = -math.inf
        for moment in self.moments:
            place = self.at(moment)
            if place - last >= 165 and place <= _LEFT + _WIDTH - 115:
                yield place, moment
                last = place


@dataclass(frozen=True)
class _Bar:
    start: float
    end: float
    colour: str
    title: str
    label: str
    members: tuple[int, ...] = ()


def drawing(line: Timeline, most: int = MOST_ROWS) -> str:
    """The picture of one cluster, and a sentence on what is not drawn."""
    groups = _alike(line)
    busiest = sorted(groups, key=lambda names: (-len(line.partitions[names[0]]), names))
    chosen = sorted(busiest[:most], key=lambda names: _natural(names[0]))
    brokers = _brokers(line)
    tint = {broker: _TINTS[n % len(_TINTS)] for n, broker in enumerate(brokers)}
    axis = Axis(
        [line.since, line.until]
        + [term.since for term in line.terms]
        + [start.at for start in line.starts]
        + [state.at for names in chosen for state in line.partitions[names[0]]]
    )
    lanes = max(1, len(brokers))
    row = _LEADER + _LANE * lanes + _GAP
    marks = bool(line.starts) * (_LEADER + _GAP)
    height = _TOP + _LEADER + _GAP + marks + row * len(chosen) + 30
    width = _LEFT + _WIDTH + 10
    bars = len(line.terms) + sum(len(line.partitions[names[0]]) for names in chosen)
    least = _NARROW / (_CLOSEST if bars <= _MOST_BARS else 1)
    clip = f"time-{zlib.crc32(line.cluster.encode())}"
    parts = [
        f"<svg width='{width}' height='{height}' viewBox='0 0 {width} {height}' class='time' "
        f"tabindex='0' data-left='{_LEFT}' data-width='{_WIDTH}' data-closest='{_CLOSEST}' "
        f"role='img' aria-label='controllers, leaders and ISRs of {html.escape(line.cluster)} over "
        "time; plus and minus zoom, the arrow keys move, 0 shows all'>"
        f"<clipPath id='{clip}'><rect x='{_LEFT}' y='0' width='{_WIDTH + 10}' height='{height}'/>"
        "</clipPath>"
    ]
    moving: list[str] = []
    for n, (broker, colour) in enumerate(tint.items()):
        x = _LEFT + n * 86
        parts.append(f"<rect x='{x}' y='4' width='12' height='12' fill='{colour}'/>")
        parts.append(f"<text x='{x + 16}' y='14'>broker {broker}</text>")
    y = _TOP
    parts.append(f"<text x='4' y='{y + 11}'>controller, epoch</text>")
    for bar in _together(_terms(line, axis, tint), least):
        moving += _leader(bar, y)
    y += _LEADER + _GAP
    if line.starts:
        parts.append(f"<text x='4' y='{y + 11}'>starts of brokers</text>")
        for start in line.starts:
            title = f"broker {start.broker} has started, {when(start.at)}, {start.where}"
            place, colour = axis.at(start.at), tint.get(start.broker, _SEVERAL)
            moving += _leader(_Bar(place, place, colour, title, ""), y)
        y += marks
    for names in chosen:
        more = f" +{len(names) - 1} alike" if len(names) > 1 else ""
        every = html.escape(", ".join(names))
        label = html.escape(_short(names[0], 27 - len(more)) + more)
        parts.append(f"<text x='4' y='{y + 11}'>{label}<title>{every}</title></text>")
        for bar in _together(_states(line.partitions[names[0]], axis, tint, line.until), least):
            moving += _leader(bar, y)
            moving += _members(bar, y + _LEADER, brokers, tint)
        y += row
    for place, moment in axis.ticks():
        moving.append(
            f"<line x1='{place:.1f}' x2='{place:.1f}' y1='{_TOP}' y2='{y}' class='tick'/>"
        )
        moving.append(f"<text x='{place:.1f}' y='{y + 14}'>{when(moment)}</text>")
    picture = "".join([*parts, f"<g clip-path='url(#{clip})'>", *moving, "</g></svg>"])
    return picture + _left_out(line, chosen)


def when(moment: int) -> str:
    """A time as the log shows it."""
    return datetime.fromtimestamp(moment / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _left_out(line: Timeline, chosen: Sequence[tuple[str, ...]]) -> str:
    drawn = sum(map(len, chosen))
    said = f"{len(line.terms)} terms of controllers, {drawn} partitions in {len(chosen)} rows"
    if drawn < len(line.partitions):
        said += f"; {len(line.partitions) - drawn} quieter partitions are not drawn"
    since, until = when(line.since), when(line.until)
    return (
        f"<p><small>{said}. From {since} to {until}; quiet times are drawn shorter than they were. "
        "Point at a bar for its state and the line that shows it. Drag or use the arrow keys to "
        "move, Ctrl and the wheel or + and - to zoom, 0 to see all.</small></p>"
    )


def _alike(line: Timeline) -> list[tuple[str, ...]]:
    found: dict[object, list[str]] = defaultdict(list)
    for name, states in line.partitions.items():
        if states:
            key = tuple(
                (state.leader, state.epoch, state.isr, state.at // _ALIKE) for state in states
            )
            found[key].append(name)
    return [tuple(sorted(names, key=_natural)) for names in found.values()]


def _natural(name: str) -> tuple[str, int]:
    topic, _, number = name.rpartition("-")
    return topic, int(number) if number.isdigit() else 0


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else "…" + name[-most + 1 :]


def _brokers(line: Timeline) -> list[int]:
    states = [state for states in line.partitions.values() for state in states]
    found = {term.broker for term in line.terms} | {b for state in states for b in state.isr}
    found |= {start.broker for start in line.starts}
    found |= {state.leader for state in states if state.leader is not None and state.leader >= 0}
    return sorted(found)


def _terms(line: Timeline, axis: Axis, tint: Mapping[int, str]) -> Iterator[_Bar]:
    for term in line.terms:
        end = axis.at(term.until if term.until is not None else line.until)
        epoch = "?" if term.epoch is None else str(term.epoch)
        title = f"broker {term.broker} is controller, epoch {epoch}, {term.where}"
        yield _Bar(axis.at(term.since), end, tint.get(term.broker, _SEVERAL), title, epoch)


def _states(
    states: Sequence[LeadershipState], axis: Axis, tint: Mapping[int, str], until: int
) -> Iterator[_Bar]:
    for state, after in zip(states, [*states[1:], None], strict=True):
        end = axis.at(after.at if after is not None else until)
        leader = state.leader if state.leader is not None else -1
        isr = ",".join(map(str, state.isr))
        who = f"leader {leader}" if leader >= 0 else "no leader"
        title = f"{who}, leader epoch {state.epoch}, ISR {{{isr}}}, {state.where}"
        colour = tint.get(leader, _NOBODY)
        yield _Bar(axis.at(state.at), end, colour, title, str(state.epoch), state.isr)


def _together(bars: Iterable[_Bar], least: float) -> Iterator[_Bar]:
    """Merges adjacent bars too narrow to be seen (in pixels) into one, with their number."""
    narrow: list[_Bar] = []
    for bar in bars:
        if bar.end - bar.start < least:
            narrow.append(bar)
            if bar.end - narrow[0].start < least:
                continue
            yield _merged(narrow)
            narrow = []
            continue
        if narrow:
            yield _merged(narrow)
            narrow = []
        yield bar
    if narrow:
        yield _merged(narrow)


def _merged(bars: Sequence[_Bar]) -> _Bar:
    if len(bars) == 1:
        return bars[0]
    title = f"{len(bars)} changes within a moment; the last: {bars[-1].title}"
    return _Bar(bars[0].start, bars[-1].end, _SEVERAL, title, "", bars[-1].members)


def _true(bar: _Bar) -> str:
    """The width of a bar that is drawn wider so that it can be seen."""
    width = bar.end - bar.start
    return f"data-w='{max(width, 0):.3f}' " if width < _NARROW else ""


def _leader(bar: _Bar, y: int) -> list[str]:
    width = max(bar.end - bar.start, _NARROW)
    stroke = " stroke='#a3191f'" if bar.colour == _NOBODY else ""
    label = html.escape(bar.label)
    hidden = " visibility='hidden'" if width <= 7 * len(bar.label) + 4 else ""
    text = f"<text x='{bar.start + 3:.2f}' y='{y + 11}'{hidden}>{label}</text>" if label else ""
    return [
        f"<g><title>{html.escape(bar.title)}</title><rect x='{bar.start:.2f}' y='{y}' "
        f"width='{width:.2f}' height='{_LEADER}' {_true(bar)}fill='{bar.colour}' "
        f"fill-opacity='.6'{stroke}/>{text}</g>"
    ]


def _members(bar: _Bar, y: int, brokers: Sequence[int], tint: Mapping[int, str]) -> Iterator[str]:
    width = max(bar.end - bar.start, _NARROW)
    for lane, broker in enumerate(brokers):
        if broker in bar.members:
            yield (
                f"<rect x='{bar.start:.2f}' y='{y + lane * _LANE}' width='{width:.2f}' "
                f"{_true(bar)}height='{_LANE - 1}' fill='{tint[broker]}'/>"
            )


ZOOM = """
document.querySelectorAll('svg.time').forEach(svg => {
  const left = +svg.dataset.left, width = +svg.dataset.width, closest = +svg.dataset.closest;
  const bars = [...svg.querySelectorAll('g rect')].map(rect => ({
    rect, x: +rect.getAttribute('x') - left, least: +rect.getAttribute('width'),
    w: +(rect.dataset.w ?? rect.getAttribute('width')),
    text: rect.parentNode.querySelector(':scope > title') && rect.nextElementSibling,
  }));
  const ticks = [...svg.querySelectorAll('line.tick')].map(line => ({
    line, text: line.nextElementSibling, x: +line.getAttribute('x1') - left,
  }));
  let scale = 1, from = 0;
  const draw = () => {
    scale = Math.min(Math.max(scale, 1), closest);
    from = Math.min(Math.max(from, 0), width - width / scale);
    const at = x => left + (x - from) * scale;
    for (const {rect, x, w, least, text} of bars) {
      const wide = Math.max(w * scale, Math.min(least, 1.5));
      rect.setAttribute('x', at(x));
      rect.setAttribute('width', wide);
      if (text) {
        const begins = Math.max(at(x), left) + 3;
        const room = at(x) + wide - begins > 7 * text.textContent.length + 1;
        text.setAttribute('x', begins);
        text.setAttribute('visibility', room ? 'visible' : 'hidden');
      }
    }
    for (const {line, text, x} of ticks) {
      line.setAttribute('x1', at(x));
      line.setAttribute('x2', at(x));
      text.setAttribute('x', at(x));
    }
  };
  const zoom = (by, x) => {
    const under = from + (x - left) / scale;
    scale = Math.min(Math.max(scale * by, 1), closest);
    from = under - (x - left) / scale;
    draw();
  };
  const move = pixels => { from += pixels / scale; draw(); };
  const middle = left + width / 2;
  svg.addEventListener('keydown', event => {
    const keys = {
      '+': () => zoom(1.5, middle), '=': () => zoom(1.5, middle), '-': () => zoom(1 / 1.5, middle),
      ArrowLeft: () => move(-width / 8), ArrowRight: () => move(width / 8),
      Home: () => { from = 0; draw(); }, End: () => { from = width; draw(); },
      0: () => { scale = 1; draw(); },
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    keys[event.key]();
    event.preventDefault();
  });
  svg.addEventListener('wheel', event => {
    if (!event.ctrlKey) return;
    zoom(event.deltaY < 0 ? 1.25 : 0.8, event.clientX - svg.getBoundingClientRect().left);
    event.preventDefault();
  }, {passive: false});
  let held = null;
  svg.addEventListener('pointerdown', event => { held = event.clientX; });
  window.addEventListener('pointerup', () => { held = null; });
  window.addEventListener('pointermove', event => {
    if (held === null || scale === 1) return;
    move(held - event.clientX);
    held = event.clientX;
  });
});
"""
"""Makes every picture of a page zoom and move, by the mouse and by the keyboard."""
