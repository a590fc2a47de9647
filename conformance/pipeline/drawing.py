"""A cluster's controllers, leaders and ISRs over time as one picture (SVG, as text).

A row a partition: above the leader in its colour, with the leader epoch; below a thin lane for each
broker, filled while it is in sync. Partitions with the same history share a row. Logs are quiet for
days and busy for seconds, so quiet times are drawn shorter: a stretch without any change is as wide
as the logarithm of how long it was.
"""

from __future__ import annotations

import html
import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from conformance.pipeline.timeline import State, Timeline

MOST_ROWS = 40
_LEFT, _WIDTH, _LEADER, _LANE, _GAP, _TOP = 190, 990, 13, 3, 4, 26
_NARROW = 1.5  # pixels; what is narrower is drawn together
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
        """Where a moment is, counted from the left edge of the picture."""
        n = min(max(bisect_right(self.moments, moment) - 1, 0), len(self.moments) - 1)
        beyond = 0.0
        if n + 1 < len(self.moments):
            whole = math.log1p((self.moments[n + 1] - self.moments[n]) / 1000) or 1.0
            beyond = min(math.log1p(max(moment - self.moments[n], 0) / 1000), whole)
        return _LEFT + (self.places[n] + beyond) * self._scale

    def ticks(self) -> Iterator[tuple[float, int]]:
        """A few moments that are far enough apart to be written below."""
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
    """The picture of one cluster, and in words what is not drawn."""
    groups = _alike(line)
    busiest = sorted(groups, key=lambda names: (-len(line.partitions[names[0]]), names))
    chosen = sorted(busiest[:most], key=lambda names: _natural(names[0]))
    brokers = _brokers(line)
    tint = {broker: _TINTS[n % len(_TINTS)] for n, broker in enumerate(brokers)}
    axis = Axis(
        [line.since, line.until]
        + [term.since for term in line.terms]
        + [state.at for names in chosen for state in line.partitions[names[0]]]
    )
    lanes = max(1, len(brokers))
    row = _LEADER + _LANE * lanes + _GAP
    height = _TOP + _LEADER + _GAP + row * len(chosen) + 30
    width = _LEFT + _WIDTH + 10
    parts = [
        f"<svg width='{width}' height='{height}' viewBox='0 0 {width} {height}' role='img' "
        f"aria-label='controllers, leaders and ISRs of {html.escape(line.cluster)} over time'>"
    ]
    for n, (broker, colour) in enumerate(tint.items()):
        x = _LEFT + n * 86
        parts.append(f"<rect x='{x}' y='4' width='12' height='12' fill='{colour}'/>")
        parts.append(f"<text x='{x + 16}' y='14'>broker {broker}</text>")
    y = _TOP
    parts.append(f"<text x='4' y='{y + 11}'>controller, epoch</text>")
    for bar in _together(_terms(line, axis, tint)):
        parts += _leader(bar, y)
    y += _LEADER + _GAP
    for names in chosen:
        more = f" +{len(names) - 1} alike" if len(names) > 1 else ""
        every = html.escape(", ".join(names))
        label = html.escape(_short(names[0], 27 - len(more)) + more)
        parts.append(f"<text x='4' y='{y + 11}'>{label}<title>{every}</title></text>")
        for bar in _together(_states(line.partitions[names[0]], axis, tint, line.until)):
            parts += _leader(bar, y)
            parts += _members(bar, y + _LEADER, brokers, tint)
        y += row
    for place, moment in axis.ticks():
        parts.append(f"<line x1='{place:.1f}' x2='{place:.1f}' y1='{_TOP}' y2='{y}' class='tick'/>")
        parts.append(f"<text x='{place:.1f}' y='{y + 14}'>{when(moment)}</text>")
    return "".join([*parts, "</svg>"]) + _left_out(line, groups, chosen)


def when(moment: int) -> str:
    """A time as it stands in the log."""
    return datetime.fromtimestamp(moment / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _left_out(
    line: Timeline, groups: Sequence[tuple[str, ...]], chosen: Sequence[tuple[str, ...]]
) -> str:
    drawn = sum(map(len, chosen))
    said = f"{len(line.terms)} terms of controllers, {drawn} partitions in {len(chosen)} rows"
    if drawn < len(line.partitions):
        said += f"; {len(line.partitions) - drawn} quieter partitions are not drawn"
    since, until = when(line.since), when(line.until)
    return (
        f"<p><small>{said}. From {since} to {until}; quiet times are drawn shorter than they were. "
        "Point at a bar for its state and the line that tells of it.</small></p>"
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
    found |= {state.leader for state in states if state.leader is not None and state.leader >= 0}
    return sorted(found)


def _terms(line: Timeline, axis: Axis, tint: Mapping[int, str]) -> Iterator[_Bar]:
    for term in line.terms:
        end = axis.at(term.until if term.until is not None else line.until)
        epoch = "?" if term.epoch is None else str(term.epoch)
        title = f"broker {term.broker} is controller, epoch {epoch}, {term.where}"
        yield _Bar(axis.at(term.since), end, tint.get(term.broker, _SEVERAL), title, epoch)


def _states(
    states: Sequence[State], axis: Axis, tint: Mapping[int, str], until: int
) -> Iterator[_Bar]:
    for state, after in zip(states, [*states[1:], None], strict=True):
        end = axis.at(after.at if after is not None else until)
        leader = state.leader if state.leader is not None else -1
        isr = ",".join(map(str, state.isr))
        who = f"leader {leader}" if leader >= 0 else "no leader"
        title = f"{who}, leader epoch {state.epoch}, ISR {{{isr}}}, {state.where}"
        colour = tint.get(leader, _NOBODY)
        yield _Bar(axis.at(state.at), end, colour, title, str(state.epoch), state.isr)


def _together(bars: Iterable[_Bar]) -> Iterator[_Bar]:
    """Bars too narrow to be seen as one, with their number."""
    narrow: list[_Bar] = []
    for bar in bars:
        if bar.end - bar.start < _NARROW:
            narrow.append(bar)
            if bar.end - narrow[0].start < _NARROW:
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


def _leader(bar: _Bar, y: int) -> list[str]:
    width = max(bar.end - bar.start, _NARROW)
    stroke = " stroke='#a3191f'" if bar.colour == _NOBODY else ""
    text = ""
    if bar.label and width > 7 * len(bar.label) + 4:
        text = f"<text x='{bar.start + 3:.1f}' y='{y + 11}'>{html.escape(bar.label)}</text>"
    return [
        f"<g><title>{html.escape(bar.title)}</title><rect x='{bar.start:.1f}' y='{y}' "
        f"width='{width:.1f}' height='{_LEADER}' fill='{bar.colour}' fill-opacity='.6'{stroke}/>"
        f"{text}</g>"
    ]


def _members(bar: _Bar, y: int, brokers: Sequence[int], tint: Mapping[int, str]) -> Iterator[str]:
    width = max(bar.end - bar.start, _NARROW)
    for lane, broker in enumerate(brokers):
        if broker in bar.members:
            yield (
                f"<rect x='{bar.start:.1f}' y='{y + lane * _LANE}' width='{width:.1f}' "
                f"height='{_LANE - 1}' fill='{tint[broker]}'/>"
            )
