"""Bounds the offsets between brokers' clocks, from events whose order is known.

A request is sent before it is handled, and handled before it is answered. So on the sender's clock
the handling lies between sending and answer, and the receiver's clock is ahead by at least its time
minus the answer's time, and at most its time minus the sending time. Requests are matched by
controller epoch, receiver and correlation id, or by the state that they carry. No rule orders
events by a clock; a report shows the bounds to readers who compare the lines of several brokers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from conformance.ingest.schema import Event

_HANDLED = frozenset(
    ("leader_and_isr_received", "leader_and_isr_handling", "leader_and_isr_applied", "obeyed")
)
_FAR = 3_600_000  # milliseconds; a pair further apart is no pair, but two of one number


@dataclass(frozen=True)
class Clock:
    """`broker`'s clock is ahead of `against`'s by `least` to `most` milliseconds, where known.

    If `least` is above `most`, no single offset fits: a clock was set, or it drifts.
    """

    broker: int
    against: int
    least: int | None
    most: int | None
    pairs: int


def clocks(events: Iterable[Event]) -> list[Clock]:
    """The offsets of every pair of brokers with requests; `against` has the lower number."""
    sent: dict[tuple[object, ...], Event] = {}
    handled: dict[tuple[object, ...], list[Event]] = defaultdict(list)
    answered: dict[tuple[object, ...], Event] = {}
    taken: dict[tuple[object, ...], Event] = {}
    for event in events:
        if event.broker is None or event.controller_epoch is None:
            continue
        if event.kind == "leader_and_isr_sent":
            key = (*_controllership(event), event.replica, *_state(event))
            if key not in sent or event.at < sent[key].at:
                sent[key] = event
        elif event.kind == "response_received" and event.correlation is not None:
            answered[(*_controllership(event), event.replica, event.correlation)] = event
        elif event.kind in _HANDLED:
            if event.correlation is not None:
                handled[(*_controllership(event), event.broker, event.correlation)].append(event)
            if event.kind == "leader_and_isr_received":
                key = (*_controllership(event), event.broker, *_state(event))
                if key not in taken or event.at < taken[key].at:
                    taken[key] = event
    ahead: dict[tuple[int, int], list[int]] = defaultdict(list)  # of (broker, controller): at most
    behind: dict[tuple[int, int], list[int]] = defaultdict(list)  # of the same: at least
    for key, event in taken.items():
        if key in sent:
            _note(ahead, event, sent[key])
    for key, every in handled.items():
        if key in answered:
            _note(behind, max(every, key=lambda each: each.at), answered[key])
    return _bounds(ahead, behind)


def joined(parts: Iterable[Iterable[Clock]]) -> list[Clock]:
    """The clocks of all lines, of those of parts that share no controller epoch."""
    found: dict[tuple[int, int], list[Clock]] = defaultdict(list)
    for part in parts:
        for clock in part:
            found[clock.against, clock.broker].append(clock)
    return [
        Clock(
            broker,
            against,
            max((each.least for each in some if each.least is not None), default=None),
            min((each.most for each in some if each.most is not None), default=None),
            sum(each.pairs for each in some),
        )
        for (against, broker), some in sorted(found.items())
    ]


def _note(into: dict[tuple[int, int], list[int]], there: Event, here: Event) -> None:
    assert there.broker is not None
    assert here.broker is not None
    if there.broker != here.broker and abs(there.at - here.at) < _FAR:
        into[there.broker, here.broker].append(there.at - here.at)


def _bounds(
    ahead: dict[tuple[int, int], list[int]], behind: dict[tuple[int, int], list[int]]
) -> list[Clock]:
    found = []
    for low, high in sorted({(min(pair), max(pair)) for pair in (*ahead, *behind)}):
        # Seen from the lower number; where that one was asked, signs are the other way.
        most = ahead.get((high, low), []) + [-each for each in behind.get((low, high), [])]
        least = behind.get((high, low), []) + [-each for each in ahead.get((low, high), [])]
        found.append(
            Clock(
                high,
                low,
                max(least, default=None),
                min(most, default=None),
                len(most) + len(least),
            )
        )
    return found


def _controllership(event: Event) -> tuple[int | None, int | None]:
    return event.controller, event.controller_epoch


def _state(event: Event) -> tuple[object, ...]:
    return event.topic, event.partition, event.leader, event.leader_epoch, event.version
