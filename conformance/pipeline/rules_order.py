"""Rules about the order of steps in one process's log: each must follow its predecessor.

A broker logs that it received a request before it logs that it handles, completes or refuses it; a
replica leaves the state that the controller last put it in. One thread writes these lines at one
level, so a step without its predecessor was not taken, if nothing of the log is missing.

The model has these steps and not the lines that log them, so lines are compared. If more than a few
predecessors are missing, the log was filtered, and a missing line proves nothing.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from conformance.ingest.schema import Event
from conformance.pipeline.history import History
from conformance.pipeline.rule_context import RuleContext
from conformance.pipeline.rules import STEPS_FOLLOW, FindingKind

_RECEIVED, _HANDLED = "leader_and_isr_received", "leader_and_isr_handling"
_REFUSED = frozenset(("same_epoch_refused", "old_epoch_refused"))
_BEFORE = {
    _HANDLED: _RECEIVED,
    "leader_and_isr_applied": _HANDLED,
    **dict.fromkeys(_REFUSED, _RECEIVED),
}
"""By kind, the kind of the line that the same request has before it."""
_VERB = {_RECEIVED: "received", _HANDLED: "handled"}
_FEW = 2  # of one log: a line that stands in another place leaves two steps without another
_MANY = 5  # times as many steps follow the one before
_WHAT = "order"  # as `RuleContext.lacks` names what a line lacks

Torn = tuple[Event, str, str]
"""A line without the one before it, what is wrong, and what would be right."""


def check(context: RuleContext) -> None:
    """Checks each log separately."""
    whole: dict[str, int] = defaultdict(int)
    torn: dict[str, list[Torn]] = defaultdict(list)
    history = context.history
    for (stream, _), events in sorted(
        history.streams(lambda event: event.kind in _BEFORE or event.kind == _RECEIVED).items(),
        key=lambda item: str(item[0]),
    ):
        others = _requests_before(events)
        for some in _by_partition(events):
            whole[stream] += _requests(context, some, others, torn[stream])
    for (stream, _), events in sorted(
        history.streams(lambda event: event.kind == "replica_changed").items(),
        key=lambda item: str(item[0]),
    ):
        for some in _by_partition(events):
            whole[stream] += _replicas(history, some, torn[stream])
    for stream, found in sorted(torn.items()):
        context.looked(STEPS_FOLLOW, whole[stream] + len(found))
        if not whole[stream] and not history.reduced:
            continue  # a level hides the steps before: nor is it suspect among other partitions
        found = [each for each in found if context.lacks(each[0], _WHAT)]
        few = len(found) <= _FEW and (history.reduced or whole[stream] >= _MANY * len(found))
        for event, why, allowed in found:
            if few and id(event) not in context.blamed:
                context.report(FindingKind.VIOLATION, STEPS_FOLLOW, event, why, allowed)


def _by_partition(events: list[Event]) -> list[list[Event]]:
    found: dict[tuple[str, int], list[Event]] = defaultdict(list)
    for event in events:
        if event.tp is not None:
            found[event.tp].append(event)
    return [some for _, some in sorted(found.items())]


def _request(event: Event) -> tuple[int | None, ...]:
    return event.controller, event.controller_epoch, event.correlation


def _just_before(events: list[Event], event: Event) -> list[Event]:
    place = next(n for n, each in enumerate(events) if each is event)
    return events[max(0, place - len(_BEFORE)) : place]


def _requests_before(events: list[Event]) -> dict[int, Event]:
    """By a line's id, the last line before it about another request: its own begins after that."""
    found: dict[int, Event] = {}
    for before, event in pairwise(events):
        other = before if _request(before) != _request(event) else found.get(id(before))
        if other is not None:
            found[id(event)] = other
    return found


def _requests(
    context: RuleContext, events: list[Event], others: dict[int, Event], torn: list[Torn]
) -> int:
    """Counts request lines about a partition that have their predecessor; notes the others.

    A line that another rule finds wrong may be the predecessor that seems to be missing.
    """
    whole = 0
    requests: dict[tuple[int | None, ...], list[Event]] = defaultdict(list)
    for event in events:
        requests[_request(event)].append(event)
    for some in requests.values():
        for number, event in enumerate(some):
            before = _BEFORE.get(event.kind)
            if before is None:
                continue
            as_many = sum(1 for each in some[: number + 1] if _BEFORE.get(each.kind) == before)
            # Lines of one millisecond may stand in another order.
            there = sum(
                1
                for n, each in enumerate(some)
                if each.kind == before and (n < number or each.at == event.at)
            )
            if there >= as_many:
                whole += 1
            elif (
                id(event) in others
                and context.history.contiguous(others[id(event)], event)
                and context.blamed.isdisjoint(map(id, _just_before(events, event)))
            ):
                verb = _VERB[before]
                torn.append(
                    (
                        event,
                        f"{event.topic}-{event.partition}: broker {event.broker} logs here what "
                        f"became of request {event.correlation} of controller {event.controller}, "
                        f"epoch {event.controller_epoch}, and no line before says that it {verb} "
                        "it" + (" again" if there else ""),
                        f"a line before that says that the request is {verb}",
                    )
                )
    return whole


def _replicas(history: History, events: list[Event], torn: list[Torn]) -> int:
    """The same for the states of one partition's replicas, in one term as controller."""
    whole = 0
    replicas: dict[int | None, list[Event]] = defaultdict(list)
    for event in events:
        replicas[event.replica].append(event)
    for replica, some in replicas.items():
        for number, (a, b) in enumerate(pairwise(some)):
            if a.controller_epoch != b.controller_epoch or not history.contiguous(a, b):
                continue
            if history.age(a) != history.age(b):
                continue
            if a.to_state == b.from_state or _turned(some, number, a, b):
                whole += 1
                continue
            torn.append(
                (
                    b,
                    f"{b.topic}-{b.partition}: replica {replica} changes from {b.from_state} to "
                    f"{b.to_state} here; it was moved to {a.to_state} at {a.where}, by the same "
                    "controller",
                    f"a change from {a.to_state}",
                )
            )
    return whole


def _turned(events: list[Event], number: int, a: Event, b: Event) -> bool:
    """Whether the two are consistent in the other order, and of one millisecond."""
    before = events[number - 1] if number else None
    return (
        a.at == b.at
        and b.to_state == a.from_state
        and (before is None or before.to_state == b.from_state)
    )
