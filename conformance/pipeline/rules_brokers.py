"""Brokers: they obey no older controller, apply no older leader epoch, refuse only the old."""

from __future__ import annotations

from collections import defaultdict

from conformance.ingest.schema import Event
from conformance.pipeline.findings import (
    NO_OLDER_CONTROLLER,
    NO_OLDER_LEADER_EPOCH,
    REFUSAL_JUSTIFIED,
    Kind,
)
from conformance.pipeline.monotonicity import ValueSeen
from conformance.pipeline.rule_context import RuleContext

# Lines that a broker writes after it has accepted the controller epoch of the request.
_OBEYED = frozenset(
    (
        "obeyed",
        "metadata_cached",
        "leader_and_isr_handling",
        "leader_and_isr_applied",
        "same_epoch_refused",
        "old_epoch_refused",
        "request_refused",
    )
)
_STARTED = frozenset(("leader_started", "follower_started"))
_APPLYING = frozenset(("leader_and_isr_received", "leader_and_isr_handling"))


def check(bench: RuleContext) -> None:
    """Each broker by itself, each of its logs by itself."""
    for event in bench.history.events:
        _refusal(bench, event)
    _controllers(bench)
    _replicas(bench)


def _refusal(bench: RuleContext, event: Event) -> None:
    if event.kind == "old_controller_refused":
        asked, known, what = event.controller_epoch, event.known_epoch, "controller epoch"
        fair = asked is not None and known is not None and asked < known
    elif event.kind == "old_epoch_refused":
        asked, known, what = event.leader_epoch, event.previous_epoch, "leader epoch"
        fair = asked is not None and known is not None and asked <= known
    else:
        return
    bench.looked(REFUSAL_JUSTIFIED)
    if not fair:
        bench.report(
            Kind.VIOLATION,
            REFUSAL_JUSTIFIED,
            event,
            f"broker {event.broker} refuses {what} {asked} as old, and knows {known}",
        )


def _controllers(bench: RuleContext) -> None:
    history = bench.history

    def excuse(a: Event, b: Event) -> str | None:
        mark = history.restarted(a, b)
        if mark is not None:
            return f"the process restarted at {mark.where}"
        reset = history.reset(a, b)
        return None if reset is None else reset.why

    def joined(a: Event, b: Event) -> bool:
        return history.contiguous(a, b) and history.same_process(a, b)

    seen = history.streams(
        lambda event: event.kind in _OBEYED or event.kind == "old_controller_refused"
    )
    for (_, broker), events in sorted(seen.items(), key=lambda item: (item[0][0], str(item[0][1]))):
        if broker is None:
            continue
        steps = []
        for event in bench.innocent(events):
            value = (
                event.known_epoch
                if event.kind == "old_controller_refused"
                else event.controller_epoch
            )
            if value is not None:
                steps.append(ValueSeen(value, event))
        bench.never_falls(
            NO_OLDER_CONTROLLER,
            f"the controller epoch that broker {broker} obeys",
            steps,
            excuse,
            joined,
        )


def _replicas(bench: RuleContext) -> None:
    history = bench.history
    logs: dict[tuple[str, int, str, int], list[Event]] = defaultdict(list)
    for event in bench.innocent(history.events):
        if event.kind in _STARTED | _APPLYING and event.tp is not None and event.broker is not None:
            stream = history.places[event.file].stream
            logs[(stream, event.broker, *event.tp)].append(event)

    def excuse(a: Event, b: Event) -> str | None:
        # No restart excuses it: the controller sends what ZooKeeper holds, and since KIP-380
        # a request made for the process before is refused.
        mark = history.topic_began(a, b) or history.replica_began(a, b)
        if mark is not None:
            return f"the replica began anew at {mark.where}"
        reset = history.reset(a, b)
        return None if reset is None else reset.why

    def joined(a: Event, b: Event) -> bool:
        # Within one process a replica is removed by a request only, which this log shows.
        return history.contiguous(a, b) and (
            history.server_log_covers(a, b)
            or (history.same_process(a, b) and not history.replica_stopped(a, b))
        )

    for (_, broker, topic, partition), events in sorted(logs.items()):
        name = f"{topic}-{partition}: the leader epoch applied by broker {broker}"
        for line in events:
            _applied_above_held(bench, line, name)
        for kinds in (_STARTED, _APPLYING):
            steps = _steps([each for each in events if each.kind in kinds], bench.blamed)
            bench.never_falls(NO_OLDER_LEADER_EPOCH, name, steps, excuse, joined, "leader_epoch")


def _applied_above_held(bench: RuleContext, event: Event, name: str) -> None:
    """The line itself may say which epoch was held before."""
    if event.kind not in _STARTED or event.leader_epoch is None or event.previous_epoch is None:
        return
    bench.looked(NO_OLDER_LEADER_EPOCH)
    if event.leader_epoch <= event.previous_epoch:
        bench.report(
            Kind.VIOLATION,
            NO_OLDER_LEADER_EPOCH,
            event,
            f"{name} is {event.leader_epoch}, and it held {event.previous_epoch}",
            f"a leader epoch above {event.previous_epoch}",
        )


def _steps(events: list[Event], blamed: set[int]) -> list[ValueSeen]:
    """Epochs in the order in which they were held, applied, or received and then applied.

    What follows a blamed line follows from it, and is not blamed again.
    """
    steps: list[ValueSeen] = []
    received: dict[tuple[object, ...], Event] = {}
    after_blame = False
    for event in events:
        if id(event) in blamed:
            after_blame = True
            continue
        request = (event.controller, event.controller_epoch, event.correlation)
        if event.kind == "leader_and_isr_received":
            received[request] = event
        elif event.kind == "leader_and_isr_handling":
            asked = received.get(request)
            if asked is not None and asked.leader_epoch is not None:
                fresh = after_blame or (asked.is_new is True and asked.leader_epoch == 0)
                # Equal is right where the first request could not be followed to its end.
                steps.append(ValueSeen(asked.leader_epoch, event, fresh=fresh))
                after_blame = False
        elif event.leader_epoch is not None:
            held = event.previous_epoch
            known = held is not None and held >= 0
            if known:
                steps.append(ValueSeen(held or 0, event, fresh=after_blame))
            # A replica that held none was just loaded: it may be sent its old epoch again.
            fresh = after_blame and not known
            steps.append(ValueSeen(event.leader_epoch, event, strict=known, fresh=fresh))
            after_blame = False
    return steps
