"""Rules about brokers: they obey no older controller and apply no older leader epoch.

Also, a controller has the registered broker epoch of each broker. A broker's log is compared with
itself, so that a request of an older controller is found without any controller's log, whose lines
a run of `election` (`rules_controllership`) would need.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

from conformance.ingest.schema import Event
from conformance.pipeline.monotonicity import ValueSeen
from conformance.pipeline.resets import Registration, denied_by_id, registrations
from conformance.pipeline.rule_context import RuleContext
from conformance.pipeline.rules import (
    EPOCH_AS_REGISTERED,
    NO_OLDER_CONTROLLER,
    NO_OLDER_LEADER_EPOCH,
    REFUSAL_JUSTIFIED,
    FindingKind,
)
from conformance.pipeline.rules_requests import CLOCKS_APART

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
_NOT_TAKEN = "leader_unavailable"
"""Prefix of the templates for a leader that is not available."""
_FETCHING = "fetchers_added"
_SESSIONS = frozenset(("session_begun", "session_expired"))
_ONCE_REGISTERED = frozenset(("process_started", "process_controller_thread", "process_logger"))
"""Lines that a process writes of its start when it is registered."""
_APPLYING = frozenset(("leader_and_isr_received", "leader_and_isr_handling"))


def check(context: RuleContext) -> None:
    """Checks each broker separately, and each of its logs separately."""
    for event in context.history.events:
        _refusal(context, event)
    _controllers(context)
    _replicas(context)
    _registered(context)


def _registered(context: RuleContext) -> None:
    """Compare the broker epochs that controllers log with those in the brokers' own registration
    lines."""
    _registers_once(context)
    _goes_back(context)
    sightings = [
        each
        for each in registrations(context.history.events)
        if id(each.event) not in context.blamed
    ]
    own: dict[int, list[Registration]] = defaultdict(list)
    brokers_of: dict[int, Counter[int]] = defaultdict(Counter)
    for each in sightings:
        brokers_of[each.czxid][each.broker] += 1
        if each.event.kind == "broker_registered":
            own[each.broker].append(each)
    seen = Counter((s.broker, s.czxid) for s in sightings if s.event.kind == "broker_epochs")
    returned = _returned(context, sightings)
    for each in sightings:
        if each.event.kind != "broker_epochs":
            continue
        context.looked(EPOCH_AS_REGISTERED)
        if each in returned:
            continue
        if _of_another(context, each, sightings, brokers_of[each.czxid]):
            continue
        if any(
            other.czxid == each.czxid
            and context.history.reset(*_in_order(other.event, each.event)) is None
            for other in own[each.broker]
        ):
            continue
        before = [other for other in own[each.broker] if other.event.at <= each.event.at]
        if before:
            _epoch_differs(context, each, sorted(before, key=lambda one: one.event.at), seen)


def _registers_once(context: RuleContext) -> None:
    """A process registers again only in a new session, which its client logs (1.1 and later)."""
    history = context.history
    session: dict[str, Event] = {}
    last: dict[tuple[str, int | None], Event] = {}
    for event in history.events:
        stream = history.places[event.file].stream
        if event.kind in _SESSIONS:
            session[stream] = event
        elif event.kind == "broker_registered":
            before, begun = last.get((stream, event.broker)), session.get(stream)
            last[stream, event.broker] = event
            if before is None or begun is None or not history.contiguous(begun, event):
                continue  # what hides the first session may hide another
            context.looked(EPOCH_AS_REGISTERED)
            began = history.restart_between(before, event, but=_ONCE_REGISTERED)
            if history.key(begun) < history.key(before) and began is None:
                context.report(
                    FindingKind.VIOLATION,
                    EPOCH_AS_REGISTERED,
                    event,
                    f"broker {event.broker} registers here, and did at {before.where}; the last "
                    f"session of its client began before, at {begun.where}",
                    "one registration in a session of ZooKeeper",
                )


def _goes_back(context: RuleContext) -> None:
    """A broker registers with an older czxid than before, in the same cluster."""
    for a, less in denied_by_id(context.history.events, context.history.contiguous):
        if context.blamed & {id(each) for each in (a, *less)}:
            continue
        first = less[0]
        alone = len(less) > 1 and all(
            (b.offset or 0) < (c.offset or 0) for b, c in pairwise(less)
        )  # the first one is the one that is wrong
        wrong, other = (a, first) if alone else (first, a)
        context.report(
            FindingKind.VIOLATION,
            EPOCH_AS_REGISTERED,
            wrong,
            f"broker {a.broker} registers with czxid {wrong.offset} here, and "
            f"{'after' if alone else 'before'} with {other.offset}, at {other.where}, in one "
            "cluster, by the id that it logs before each: a ZooKeeper's transactions only go on",
            f"a czxid {'below' if alone else 'above'} {other.offset}",
        )


def _returned(context: RuleContext, sightings: list[Registration]) -> list[Registration]:
    """Lines in which a controller's log has another epoch than in the lines before and after."""
    history = context.history
    shown: dict[tuple[str, int | None, int], list[Registration]] = defaultdict(list)
    for each in sightings:
        if each.event.kind == "broker_epochs":
            stream = history.places[each.event.file].stream
            shown[stream, each.event.broker, each.broker].append(each)
    wrong = []
    for _, some in sorted(shown.items(), key=lambda item: str(item[0])):
        some.sort(key=lambda each: history.key(each.event))
        for a, b, c in zip(some, some[1:], some[2:], strict=False):
            if a.czxid != c.czxid or b.czxid == a.czxid or a in wrong:
                continue
            if not a.event.at < b.event.at < c.event.at:
                continue  # lines of one millisecond may stand in any order
            if not history.contiguous(a.event, c.event) or history.reset(a.event, c.event):
                continue
            wrong.append(b)
            context.report(
                FindingKind.VIOLATION,
                EPOCH_AS_REGISTERED,
                b.event,
                f"broker {b.broker} has epoch {b.czxid} here, and {a.czxid} before and after, at "
                f"{a.event.where} and {c.event.where}: a znode that is gone does not come back",
                f"epoch {a.czxid}",
            )
    return wrong


def _of_another(
    context: RuleContext, seen: Registration, every: list[Registration], brokers: Counter[int]
) -> bool:
    """Whether other lines have a czxid as another broker's: one transaction created one znode."""
    most, count = brokers.most_common(1)[0]
    if most == seen.broker or brokers[seen.broker] > 1 or count < 2:
        return False
    other = next(each for each in every if (each.broker, each.czxid) == (most, seen.czxid))
    if context.history.reset(*_in_order(other.event, seen.event)) is not None:
        return False
    context.report(
        FindingKind.VIOLATION,
        EPOCH_AS_REGISTERED,
        seen.event,
        f"broker {seen.broker} has epoch {seen.czxid} here, which is that of broker {most} at "
        f"{other.event.where} and in {count - 1} more lines",
        f"epoch {seen.czxid} of broker {most}",
    )
    return True


def _in_order(a: Event, b: Event) -> tuple[Event, Event]:
    return (a, b) if a.at <= b.at else (b, a)


def _epoch_differs(
    context: RuleContext,
    seen: Registration,
    before: list[Registration],
    lines: Counter[tuple[int, int]],
) -> None:
    """A controller has a broker epoch under which the broker never registered.

    An older epoch may belong to an earlier registration whose line is lost, unless the controller's
    previous line does not list the broker, or `before`, the broker's own lines, have all since an
    even older one. A newer epoch belongs to a later registration.
    """
    history, own = context.history, before[-1]
    if history.reset(own.event, seen.event) is not None:
        return
    if not history.server_log_covers(seen.event, own.event):
        return  # it may have registered again
    newer = seen.czxid > own.czxid
    between = len(before) > 1 and (
        before[-2].czxid < seen.czxid and history.server_log_covers(before[-2].event, own.event)
    )
    itself = seen.event.broker == seen.broker  # who controls has registered before it looked
    if not newer and not between and not itself and not _is_new(context, seen):
        return
    until = seen.event.at + CLOCKS_APART
    sure = newer and history.log_covers(own.event, until)
    known, others = lines[seen.broker, own.czxid], lines[seen.broker, seen.czxid]
    wrong = []
    if known or others < 2:  # else one line stands against several
        wrong.append((seen, own))
    if not known:
        wrong.append((own, seen))
    for this, that in wrong:
        context.report(
            FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
            EPOCH_AS_REGISTERED,
            this.event,
            f"broker {seen.broker} has epoch {this.czxid} here, and {that.czxid} at "
            f"{that.event.where}, without another registration in its log"
            + ("" if sure else "; the brokers' clocks may be apart"),
            f"epoch {that.czxid}",
        )


def _is_new(context: RuleContext, seen: Registration) -> bool:
    """Whether this controller's previous line with its live brokers lacks this broker."""
    history, event = context.history, seen.event
    lines = [
        each
        for each in history.events
        if each.kind == "broker_epochs"
        and history.places[each.file].stream == history.places[event.file].stream
        and each.broker == event.broker
        and history.key(each) < history.key(event)
    ]
    before = max(lines, key=history.key, default=None)
    if before is None or not history.contiguous(before, event):
        return False
    return all(each.broker != seen.broker for each in registrations([before]))


def _refusal(context: RuleContext, event: Event) -> None:
    if event.kind == "old_controller_refused":
        asked, known, what = event.controller_epoch, event.known_epoch, "controller epoch"
        fair = asked is not None and known is not None and asked < known
    elif event.kind == "old_epoch_refused":
        asked, known, what = event.leader_epoch, event.previous_epoch, "leader epoch"
        fair = asked is not None and known is not None and asked <= known
    else:
        return
    context.looked(REFUSAL_JUSTIFIED)
    if not fair:
        context.report(
            FindingKind.VIOLATION,
            REFUSAL_JUSTIFIED,
            event,
            f"broker {event.broker} refuses {what} {asked} as old, and knows {known}",
        )


def _controllers(context: RuleContext) -> None:
    history = context.history

    def excuse(a: Event, b: Event) -> str | None:
        mark = history.restart_between(a, b)
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
        for event in context.innocent(events):
            value = (
                event.known_epoch
                if event.kind == "old_controller_refused"
                else event.controller_epoch
            )
            if value is not None:
                steps.append(ValueSeen(value, event))
        context.never_falls(
            NO_OLDER_CONTROLLER,
            f"the controller epoch that broker {broker} obeys",
            steps,
            excuse,
            joined,
        )


def _replicas(context: RuleContext) -> None:
    history = context.history
    logs: dict[tuple[str, int, str, int], list[Event]] = defaultdict(list)
    for event in context.innocent(history.events):
        shows_a_state = event.kind in _STARTED | _APPLYING or event.template.startswith(_NOT_TAKEN)
        if shows_a_state and event.tp is not None and event.broker is not None:
            stream = history.places[event.file].stream
            logs[(stream, event.broker, *event.tp)].append(event)
    for tp in sorted({(topic, partition) for _, _, topic, partition in logs}):
        for event in context.innocent(history.fetchers(tp)):
            if event.broker is not None:
                logs[(history.places[event.file].stream, event.broker, *tp)].append(event)

    def excuse(a: Event, b: Event) -> str | None:
        # A restart is no excuse: the controller sends the registered state, and since KIP-380 a
        # request for the previous incarnation is refused. Up to 2.3 the controller may send an
        # older epoch from its memory.
        mark = history.topic_began(a, b) or history.replica_began(a, b)
        if mark is not None:
            return f"the replica began anew at {mark.where}"
        reset = history.reset(a, b)
        if reset is not None:
            return reset.why
        mark = history.restart_between(a, b)
        if mark is not None and (b.kind == _FETCHING or history.may_be_passed_on(a, b)):
            return f"the process restarted at {mark.where}, and was sent what the controller kept"
        return None

    def joined(a: Event, b: Event) -> bool:
        # Within one process a replica is removed by a request only, which this log shows.
        return history.contiguous(a, b) and (
            history.server_log_covers(a, b)
            or (history.same_process(a, b) and not history.replica_stopped(a, b))
        )

    for (_, broker, topic, partition), events in sorted(logs.items()):
        name = f"{topic}-{partition}: the leader epoch applied by broker {broker}"
        for line in events:
            _applied_above_held(context, line, name)
        events.sort(key=history.key)
        for kinds in (_STARTED | {_FETCHING}, _APPLYING):
            steps = _steps(
                [each for each in events if each.kind in kinds | {"obeyed"}], context.blamed
            )
            context.never_falls(NO_OLDER_LEADER_EPOCH, name, steps, excuse, joined, "leader_epoch")


def _applied_above_held(context: RuleContext, event: Event, name: str) -> None:
    """Compares two epochs within one line: the applied one and the one held before."""
    if event.kind not in _STARTED or event.leader_epoch is None or event.previous_epoch is None:
        return
    context.looked(NO_OLDER_LEADER_EPOCH)
    if event.leader_epoch <= event.previous_epoch:
        context.report(
            FindingKind.VIOLATION,
            NO_OLDER_LEADER_EPOCH,
            event,
            f"{name} is {event.leader_epoch}, and it held {event.previous_epoch}",
            f"a leader epoch above {event.previous_epoch}",
        )


def _request(event: Event) -> tuple[int | None, ...]:
    return event.controller, event.controller_epoch, event.correlation


def _steps(events: list[Event], blamed: set[int]) -> list[ValueSeen]:
    """Epochs in the order in which they were held, applied, or received and then applied.

    Lines after a reported line may be its consequence, and are not reported again.
    """
    steps: list[ValueSeen] = []
    received: dict[tuple[object, ...], Event] = {}
    after_blame = False
    for event in events:
        if id(event) in blamed:
            after_blame = True
            continue
        request = _request(event)
        if event.kind == "obeyed":
            # Up to 1.1 the line names the controller epoch of the state, not of the request.
            last = steps[-1].event if steps else None
            if last and (last.controller, last.correlation) == (
                event.controller,
                event.correlation,
            ):
                steps.pop()  # the leader is not available: the replica keeps its epoch
        elif event.kind == "leader_and_isr_received":
            received[request] = event
        elif event.kind == "leader_and_isr_handling":
            asked = received.get(request)
            if asked is not None and asked.leader_epoch is not None:
                fresh = after_blame or (asked.is_new is True and asked.leader_epoch == 0)
                # An equal epoch is correct if the first request could not be carried out.
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
