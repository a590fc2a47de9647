"""Faults that are planted in a recorded run, each at one line that a seed chooses."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable

from impl.world.trace import Trace, TraceEvent, is_end


def _other(value: object) -> object:
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return "leader" if value != "leader" else "follower"
        case list():
            return [] if value else [[7, 7]]
        case {"from": first, "then": then}:
            return {"from": first, "then": [] if then else [[7, 7]]}
    return value


def _changes_a_leaf(event: TraceEvent, chooser: random.Random) -> TraceEvent:
    seen = dict(event.observed)
    simple = [
        path for path, value in seen.items() if isinstance(value, int | str | list) or is_end(value)
    ]
    path = chooser.choice(simple) if simple else "next_record"
    return dataclasses.replace(event, observed={**seen, path: _other(seen.get(path, 40))})


def _shows_more(event: TraceEvent, chooser: random.Random) -> TraceEvent:
    more = chooser.choice(("zookeeper.controller_epoch", "brokers.2.hw", "next_record"))
    return dataclasses.replace(event, observed={**event.observed, more: 4_000})


def _hides(event: TraceEvent, _: random.Random) -> TraceEvent:
    return dataclasses.replace(event, observed={})


def _other_broker(event: TraceEvent, chooser: random.Random) -> TraceEvent:
    name = chooser.choice(sorted(event.args))
    return dataclasses.replace(event, args={**event.args, name: event.args[name] % 3 + 1})


def _lacks_arguments(event: TraceEvent, _: random.Random) -> TraceEvent:
    return dataclasses.replace(event, args={})


def _names_nothing(event: TraceEvent, _: random.Random) -> TraceEvent:
    return dataclasses.replace(event, step="leader_prays")


def _is_another_step(event: TraceEvent, chooser: random.Random) -> TraceEvent:
    other = chooser.choice([
        "broker_crashes", "session_expires", "leader_appends", "controller_resigns",
        "leader_advances_hw", "follower_sends_fetch",
    ])  # fmt: skip
    return dataclasses.replace(event, step=other, args={"broker": 1, **event.args})


FAULTS: dict[str, Callable[[TraceEvent, random.Random], TraceEvent]] = {
    "changes a leaf": _changes_a_leaf,
    "hides what it changed": _hides,
    "is another step": _is_another_step,
    "is of another broker": _other_broker,
    "lacks its arguments": _lacks_arguments,
    "names no step": _names_nothing,
    "shows more than happened": _shows_more,
}


def harmed(trace: Trace, fault: str, chooser: random.Random) -> tuple[Trace, int]:
    """The run with one event harmed, and its line; events have the lines of a file."""
    events = [dataclasses.replace(event, line=at) for at, event in enumerate(trace.events, 2)]
    at = chooser.choice([n for n, event in enumerate(events) if event.args])
    events[at] = FAULTS[fault](events[at], chooser)
    return dataclasses.replace(trace, events=tuple(events)), events[at].line
