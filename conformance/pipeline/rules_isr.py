"""Rules about ISR changes: a leader changes the ISR it wrote last, and writes what it announced.

Source: Partition.maybeShrinkIsr, maybeExpandIsr and updateIsr, which hold one lock: no other line
of that partition's ISR comes between the two lines of one change. Since KIP-497 the response comes
later, and other changes are refused meanwhile with the same lines: such announcements are not
judged. In both forms a leader changes the ISR that it wrote last, until it receives another state.

The model writes an ISR in one step without an announcement, so these rules compare lines.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from conformance.ingest.schema import Event
from conformance.pipeline.history import numbers
from conformance.pipeline.rule_context import RuleContext, as_set
from conformance.pipeline.rules import ISR_AS_ANNOUNCED, FindingKind

_ANNOUNCED = frozenset(("isr_shrunk", "isr_expanded"))
_TOLD = frozenset(("leader_started", "leader_and_isr_received", "leader_and_isr_applied"))
"""Kinds of lines that show that a leader received a state, from which it goes on."""
_NEAR = 1000  # milliseconds between two logs of one broker, within which no order is taken
_AT_ONCE = 60_000  # milliseconds that a write to ZooKeeper takes at most, or its session ends
_BY_CONDITIONAL_WRITE = "zkVersion"


def check(context: RuleContext) -> None:
    """Checks each leader's lines about each partition, in one log."""
    logs: dict[tuple[object, ...], list[Event]] = defaultdict(list)
    received: dict[tuple[object, ...], list[Event]] = defaultdict(list)
    for event in context.history.events:
        if event.tp is not None and event.kind in _ANNOUNCED | {"isr_updated", "isr_refused"}:
            stream = context.history.places[event.file].stream
            logs[stream, event.broker, *event.tp].append(event)
        elif event.tp is not None and event.kind in _TOLD:
            received[event.broker, *event.tp].append(event)
    for where, events in sorted(logs.items(), key=lambda item: str(item[0])):
        for wrote, said in pairwise(events):
            if wrote.kind == "isr_updated" and said.kind in _ANNOUNCED:
                _goes_on(context, wrote, said, received.get(where[1:], []))
        for number, (said, wrote) in enumerate(pairwise(events)):
            if said.kind in _ANNOUNCED and wrote.kind == "isr_updated":
                before = events[number - 1] if number else None
                _one_change(context, said, wrote, before)


def _one_change(context: RuleContext, said: Event, wrote: Event, before: Event | None) -> None:
    history = context.history
    if said.isr is None or wrote.isr is None:
        return
    near = 0 <= wrote.at - said.at < _AT_ONCE
    if not near or not history.contiguous(said, wrote) or history.restart_between(said, wrote):
        return
    if not history.suspects(wrote, said.where) and not history.suspects(said, wrote.where):
        return
    context.looked(ISR_AS_ANNOUNCED)
    if set(said.isr) == set(wrote.isr):
        return
    if before is not None and said.at == wrote.at and set(before.isr or ()) == set(wrote.isr):
        return  # lines of one millisecond may stand in another order
    context.beside += [(wrote, said.where), (said, wrote.where)]
    if id(wrote) in context.blamed or id(said) in context.blamed:
        return
    # Of a controller's answer (KIP-497) it is open whether it is that to this change.
    own = wrote.detail == _BY_CONDITIONAL_WRITE
    for event, other in ((said, wrote),) if own else ((said, wrote), (wrote, said)):
        context.report(
            FindingKind.VIOLATION if own else FindingKind.INCOMPLETE,
            ISR_AS_ANNOUNCED,
            event,
            f"{said.topic}-{said.partition}: broker {said.broker} is about to write the ISR "
            f"{as_set(said.isr)}, at {said.where}, and wrote {as_set(wrote.isr)}, at {wrote.where}",
            f"the ISR {as_set(other.isr)}",
        )


def _goes_on(context: RuleContext, wrote: Event, said: Event, received: list[Event]) -> None:
    """A leader changes the ISR that it wrote last, if it has received no other state since.

    A log that has a line of an earlier state would have one of that too: its own or another.
    """
    history = context.history
    if wrote.isr is None or not said.detail or said.at == wrote.at:
        return
    if not history.contiguous(wrote, said) or history.restart_between(wrote, said):
        return
    if any(wrote.at - _NEAR <= each.at <= said.at + _NEAR for each in received):
        return
    known = [each for each in received if each.at < wrote.at and history.log_covers(each, said.at)]
    if not known or not history.same_process(wrote, said) or history.clock_was_set(wrote, *known):
        return
    context.looked(ISR_AS_ANNOUNCED)
    before = numbers(said.detail)
    if before == set(wrote.isr) or not context.lacks(said, wrote.where):
        return
    context.report(
        FindingKind.VIOLATION,
        ISR_AS_ANNOUNCED,
        said,
        f"{said.topic}-{said.partition}: broker {said.broker} changes the ISR "
        f"{as_set(sorted(before))} here, and the one that it wrote last is {as_set(wrote.isr)}, at "
        f"{wrote.where}",
        f"a change of the ISR {as_set(wrote.isr)}",
    )
