"""A whole trace with parts removed: what a log would have kept of the same run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from conformance.partial.read_partial import PartialEvent, PartialTrace
from impl.world.trace import FORMAT, Trace, TraceEvent, apply_observation

LEADER_ISR_EPOCHS = (
    "zookeeper.state.leader", "zookeeper.state.leader_epoch", "zookeeper.state.isr",
    "zookeeper.state.controller_epoch", "zookeeper.controller_epoch",
)  # fmt: skip
"""What the registered state says: leader, ISR, and both epochs."""


def thinned(
    trace: Trace,
    leaves: Iterable[str] | None = None,
    keeps_line: Callable[[TraceEvent], bool] = lambda event: True,
    keeps_step: Callable[[TraceEvent], bool] = lambda event: True,
    hidden: int = 8,
) -> PartialTrace:
    """The lines that are kept, each with the chosen leaves as they were then.

    `leaves` None keeps those that a step changed, as the whole trace does. What `keeps_step`
    refuses loses its name and arguments.
    """
    chosen = None if leaves is None else tuple(leaves)
    known = dict(trace.header.initial)
    events: list[PartialEvent] = []
    for event in trace.events:
        apply_observation(known, event.observed)
        if not keeps_line(event):
            continue
        named = keeps_step(event)
        observed = dict(event.observed) if chosen is None else {p: known[p] for p in chosen}
        events.append(
            PartialEvent(
                len(events) + 2, event.node, event.step if named else None,
                dict(event.args) if named else {}, observed,
            )
        )  # fmt: skip
    head = trace.header
    initial = head.initial if chosen is None else {p: head.initial[p] for p in chosen}
    return PartialTrace(head.run, head.brokers, head.version, hidden, dict(initial), tuple(events))


def lines_of_partial(trace: PartialTrace) -> list[str]:
    """The lines of the file, without line ends."""
    header = {
        "format": FORMAT, "partial": True, "run": trace.run, "brokers": trace.brokers,
        "version": trace.version, "system": "replication", "hidden": trace.hidden,
        "initial": trace.initial,
    }  # fmt: skip
    seq: Counter[int | str] = Counter()
    lines: list[dict[str, Any]] = [header]
    for clock, event in enumerate(trace.events, 1):
        seq[event.node] += 1
        line: dict[str, Any] = {
            "run": trace.run, "clock": clock, "node": event.node, "seq": seq[event.node],
        }  # fmt: skip
        if event.step is not None:
            line |= {"step": event.step, "args": event.args}
        lines.append(line | {"observed": event.observed})
    lines.append({"end": True, "run": trace.run, "events": len(trace.events)})
    return [json.dumps(line, separators=(",", ":")) for line in lines]
