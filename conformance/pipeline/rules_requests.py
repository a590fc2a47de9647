"""Rules about a controller's requests: sent, received, handled, and what the broker then holds.

A broker receives the requests that the controller sent, handles them, and holds the last leader
epoch sent. Lines are compared by their values: by the correlation id within one log, by controller
epochs between logs, never by two brokers' clocks. In the model a request has no correlation
id, so the model accepts the arrival of any request ever sent. These rules therefore match each
received request with one that was sent.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from conformance.ingest.schema import Event
from conformance.pipeline.history import History, numbers
from conformance.pipeline.monotonicity import ValueSeen
from conformance.pipeline.rule_context import RuleContext, as_set
from conformance.pipeline.rules import (
    HOLDS_AS_RECEIVED,
    NO_OLDER_LEADER_EPOCH,
    ONE_OWNER,
    REQUEST_AS_SENT,
    FindingKind,
)
from conformance.pipeline.rules_model import another_life, same_life

_AT_ONCE = 1000  # milliseconds by which a broker's clock may be behind its controller's here
_ONE_REQUEST = 10_000  # milliseconds in which a request is handled whose lines are put together
CLOCKS_APART = 900_000  # milliseconds by which clocks of two brokers may be apart
_STEPS = frozenset(("leader_and_isr_received", "leader_and_isr_handling", "leader_and_isr_applied"))
_IN_ORDER = ("leader_and_isr_received", "leader_and_isr_handling", "leader_and_isr_applied")
_REFUSED = frozenset(("same_epoch_refused", "old_epoch_refused"))
_OF_REQUESTS = _STEPS | _REFUSED
_STARTED = frozenset(("leader_started", "follower_started"))
_RECEIVED = frozenset(("leader_and_isr_received", "metadata_cached"))
_HEARD = _RECEIVED | _STARTED
_ARRIVES = {"leader_and_isr_received": "leader_and_isr_sent", "metadata_cached": "metadata_sent"}
_CONTENT = ("leader", "leader_epoch", "isr", "version", "replicas", "is_new", "state_epoch")
_NOT_TAKEN = ("leader_unavailable", "step_skipped", "follower_skipped", "become_skipped")
"""Templates, or their beginnings, of what a broker says where it may not take a leader epoch."""
_BATCH = "leader_and_isr_batch_handled"
_STOPPED_FETCHERS = ("fetchers_stopped", "fetchers_stopped_for_leader")
_BATCH_LINES = ("handling_batch", "finished_batch")
_FORGOTTEN = "metadata_dropped"
_WRITTEN = frozenset(("partition_changed", "isr_removed"))
_WRITES = (*_WRITTEN, "leader_epoch_raised")
_LAST_RECEIVED = "told"  # the name of that neighbour in the kept state of a watch

Partition = tuple[str, int]


def check(context: RuleContext) -> None:
    """Checks each partition separately: request by request, then what was received and held."""
    partitions: dict[Partition, list[Event]] = defaultdict(list)
    kinds = _STEPS | _REFUSED | _STARTED | _RECEIVED | {*_ARRIVES.values(), *_WRITES}
    for event in context.history.events:
        if (event.kind in kinds or _is_not_taken(event.template)) and event.tp is not None:
            partitions[event.tp].append(event)
    for _, every in sorted(partitions.items()):
        logs: dict[tuple[str, int], list[Event]] = defaultdict(list)
        for event in every:
            if event.broker is not None:
                logs[context.history.places[event.file].stream, event.broker].append(event)
        streams: dict[str, list[Event]] = defaultdict(list)
        for (stream, _), events in sorted(logs.items()):
            if any(event.kind in _STEPS for event in events):
                streams[stream] += events
        for _, events in sorted(streams.items()):
            _handled_as_received(context, sorted(events, key=context.history.key))
        for _, events in sorted(logs.items()):
            _received_epochs_grow(context, context.innocent(events))
            _holds_as_received(context, context.innocent(events))
        _holds_between_its_starts(context, context.innocent(every))
        _arrives_as_sent(context, every)
        _no_older_than_written(context, context.innocent(every))
        _starts_as_received(context, context.innocent(every))
        _starts_as_written(context, context.innocent(every))
        _starts_from_the_write(context, context.innocent(every))
        _starts_as_raised(context, context.innocent(every))
    _batches(context)
    _handled_for_the_obeyed(context)


@cache
def _is_not_taken(template: str) -> bool:
    return template.startswith((*_NOT_TAKEN, _FORGOTTEN))


# -- one request in one log -----------------------------------------------------------------------


def _handled_as_received(context: RuleContext, events: list[Event]) -> None:
    """Lines of one request about one partition: it is received, handled, and completed.

    If lines in one log form such a request together, but one names another broker or number, they
    are not of two requests: each of those would be there in part.
    """
    groups: list[list[Event]] = []
    newest: dict[tuple[int | None, ...], list[Event]] = {}
    refused: set[tuple[int | None, ...]] = set()
    for event in events:
        if event.correlation is None or event.kind not in _OF_REQUESTS:
            continue
        key = event.broker, event.controller, event.correlation
        if event.kind in _REFUSED:
            refused.add(key)
            continue
        group = newest.get(key)
        if (
            group is None
            or any(each.kind == event.kind for each in group)
            or not _of_one_request(context.history, group[-1], event)
        ):
            group = newest[key] = []
            groups.append(group)
        group.append(event)
    for group in groups:
        _one_request(context, group)
    parts = [
        group
        for group in groups
        if len(group) < len(_STEPS)
        and (group[0].broker, group[0].controller, group[0].correlation) not in refused
    ]
    for one, other in pairwise(parts):
        _torn(context, one, other)


def _torn(context: RuleContext, one: list[Event], other: list[Event]) -> None:
    """Two requests in one log that each lack a line which the other has."""
    lines = sorted([*one, *other], key=context.history.key)
    if tuple(each.kind for each in lines) != _IN_ORDER or any(
        id(e) in context.blamed for e in lines
    ):
        return
    near = all(_of_one_request(context.history, a, b) for a, b in pairwise(lines))
    first, second = one[0], other[0]
    whose, which = first.broker != second.broker, first.correlation != second.correlation
    if not near or whose == which or first.controller != second.controller:
        return
    (wrong, *_), right = (one, other[0]) if len(one) < len(other) else (other, one[0])
    if not context.lacks(wrong, right.where):
        return
    context.report(
        FindingKind.VIOLATION,
        REQUEST_AS_SENT,
        wrong,
        f"{wrong.tp_name}: request {wrong.correlation} of controller {wrong.controller} to broker "
        f"{wrong.broker} has this line only, and request {right.correlation} to broker "
        f"{right.broker}, at {right.where}, lacks it",
        f"request {right.correlation} to broker {right.broker}",
    )


def _of_one_request(history: History, a: Event, b: Event) -> bool:
    return 0 <= b.at - a.at < _ONE_REQUEST and history.contiguous(a, b)


def _one_request(context: RuleContext, group: list[Event]) -> None:
    if len(group) < 2:
        return
    context.looked(REQUEST_AS_SENT, len(group) - 1)
    for what, said in (
        ("to become {}", {id(each): _role(each) for each in group}),
        ("of controller epoch {}", {id(each): each.controller_epoch for each in group}),
        ("with leader {}", {id(each): _leader(each) for each in group}),
    ):
        values = Counter(value for value in said.values() if value is not None)
        if len(values) < 2:
            continue
        # What most lines say is right; of two, the one that was written first.
        right = max(values, key=lambda value: (values[value], value == said[id(group[0])]))
        wrong = [each for each in group if said[id(each)] not in (None, right)]
        other = next(each for each in group if said[id(each)] == right)
        for event in wrong:
            context.report(
                FindingKind.VIOLATION,
                REQUEST_AS_SENT,
                event,
                f"{event.tp_name}: request {event.correlation} of controller {event.controller} is "
                f"{what.format(said[id(event)])} here, and {what.format(right)} at {other.where}",
                f"a request {what.format(right)}",
            )


def _role(event: Event) -> str | None:
    if event.kind != "leader_and_isr_received":
        return event.to_state
    return None if event.leader is None else "leader" if _leads(event) else "follower"


def _leader(event: Event) -> str | None:
    if event.kind == "leader_and_isr_received":
        return None if event.leader is None else str(event.leader)
    return (event.detail or "").rpartition(" ")[2] or None


def _leads(event: Event) -> bool:
    return event.leader == event.broker


def _batches(context: RuleContext) -> None:
    """A request of several partitions is handled and finished with one controller and number.

    Large clusters judged in parts keep all of these lines: they are about no partition.
    """
    logs: dict[tuple[str, int], list[Event]] = defaultdict(list)
    history = context.history
    for event in history.events:
        if event.kind == _BATCH and event.broker is not None and event.tp is None:
            logs[history.places[event.file].stream, event.broker].append(event)
    within = history.streams(
        lambda event: event.kind in _REFUSED or event.template in _STOPPED_FETCHERS
    )
    for where, events in sorted(logs.items()):
        inside = within.get(where, [])
        for number, (begun, done) in enumerate(pairwise(events)):
            if (begun.template, done.template) != _BATCH_LINES:
                continue
            if not _of_one_request(history, begun, done):
                continue
            context.looked(REQUEST_AS_SENT)
            _inside_a_batch(context, begun, done, inside)
            whose = begun.controller != done.controller
            if not whose and begun.correlation == done.correlation:
                _as_many(context, begun, done)
            if whose == (begun.correlation != done.correlation):
                continue
            column = "controller" if whose else "correlation"
            around = [*events[max(0, number - 4) : number], *events[number + 2 : number + 6]]
            near = Counter(getattr(each, column) for each in around)
            wrong, right = begun, done
            if near[getattr(begun, column)] > near[getattr(done, column)]:
                wrong, right = done, begun
            context.report(
                FindingKind.VIOLATION,
                REQUEST_AS_SENT,
                wrong,
                f"broker {wrong.broker}: request {wrong.correlation} of controller "
                f"{wrong.controller} stands here, and request {right.correlation} of controller "
                f"{right.controller} at {right.where}, for one request",
                f"request {right.correlation} of controller {right.controller}",
            )


def _as_many(context: RuleContext, begun: Event, done: Event) -> None:
    """Both lines of one request have the same number of partitions."""
    if begun.detail is None or done.detail is None or begun.detail == done.detail:
        return
    for event, other in ((begun, done), (done, begun)):
        context.report(
            FindingKind.VIOLATION,
            REQUEST_AS_SENT,
            event,
            f"broker {event.broker}: request {event.correlation} of controller {event.controller} "
            f"is for {event.detail} partitions here, and for {other.detail} at {other.where}",
            "one number of partitions",
        )


def _inside_a_batch(context: RuleContext, begun: Event, done: Event, lines: list[Event]) -> None:
    """Lines logged while a request is handled, under one lock, belong to that request."""
    history = context.history
    if (begun.controller, begun.correlation) != (done.controller, done.correlation):
        return
    low = bisect_left(lines, history.key(begun), key=history.key)
    high = bisect_left(lines, history.key(done), key=history.key)
    for event in lines[low:high]:
        same = event.controller == begun.controller, event.correlation == begun.correlation
        if all(same) or not any(same) or not begun.at < event.at < done.at:
            continue  # lines of one millisecond may stand in another order
        about = f"{event.tp_name}: " if event.tp is not None else ""
        verb = "refuses" if event.kind in _REFUSED else "stops fetchers for"
        context.report(
            FindingKind.VIOLATION,
            REQUEST_AS_SENT,
            event,
            f"{about}broker {event.broker} {verb} request {event.correlation} of "
            f"controller {event.controller} here, while it handles request {begun.correlation} of "
            f"controller {begun.controller}, from {begun.where} to {done.where}",
            f"request {begun.correlation} of controller {begun.controller}",
        )


def _handled_for_the_obeyed(context: RuleContext) -> None:
    """Between two lines that obey one controller under one epoch no other one is obeyed.

    Requests of an older controller are refused in a line of their own; a newer one stays known.
    """
    history = context.history
    kinds = {"obeyed", "old_controller_refused", _BATCH, "stop_replica_handled"}
    for _, every in sorted(
        history.streams(lambda event: event.kind in kinds).items(), key=lambda item: str(item[0])
    ):
        obeyed = [event for event in every if event.kind == "obeyed"]
        keys = [history.key(event) for event in obeyed]
        refused = {
            (event.controller, event.correlation)
            for event in every
            if event.kind == "old_controller_refused"
        }
        for event in every:
            if event.kind not in (_BATCH, "stop_replica_handled") or event.controller is None:
                continue
            place = bisect_left(keys, history.key(event))
            if not 0 < place < len(obeyed) or id(event) in context.blamed:
                continue
            before, after = obeyed[place - 1], obeyed[place]
            if not before.at < event.at < after.at or event.correlation is None:
                continue  # lines of one millisecond may stand in another order
            known = before.controller, before.controller_epoch
            if known != (after.controller, after.controller_epoch):
                continue
            if not history.contiguous(before, after) or not history.same_process(before, after):
                continue
            if history.restart_between(before, after) or history.reset(before, after):
                continue
            context.looked(ONE_OWNER)
            if event.controller == before.controller:
                continue
            if (event.controller, event.correlation) in refused:
                continue
            context.report(
                FindingKind.VIOLATION,
                ONE_OWNER,
                event,
                f"broker {event.broker} handles a request of controller {event.controller} here, "
                f"and obeys controller {before.controller} of epoch {before.controller_epoch} "
                f"before it, at {before.where}, and after it, at {after.where}",
                f"a request of controller {before.controller}, or a refusal",
            )


# -- what a broker is sent, and holds -------------------------------------------------------------


def _received_epochs_grow(context: RuleContext, events: list[Event]) -> None:
    """Requests of one channel never have an older leader epoch after a newer one.

    Each controller has its own channel: a request of an older controller after a newer one is
    refused, in a line without a partition; another rule checks that.
    """
    history = context.history
    steps, fresh, newest = [], False, 0
    passed_on = history.passed_on(event for event in events if event.kind in _RECEIVED)
    for event in events:
        if event.template == _FORGOTTEN:
            fresh = True
        if event.kind not in _RECEIVED or event.leader_epoch is None:
            continue
        newest = max(newest, event.controller_epoch or 0)
        if event.controller_epoch is not None and event.controller_epoch < newest:
            continue
        if (event.leader or 0) < -1 or event.leader_epoch < 0:
            fresh = True  # the topic is being deleted
            continue
        if id(event) in passed_on:
            continue
        new = event.is_new is True and event.leader_epoch == 0
        steps.append(ValueSeen(event.leader_epoch, event, fresh=fresh or new))
        fresh = False
    if context.cut or len({step.event.kind for step in steps}) < 2:
        return  # of one kind alone other rules judge

    def excuse(a: Event, b: Event) -> str | None:
        mark = (
            history.topic_began(a, b)
            or history.replica_began(a, b)
            or history.restart_between(a, b)
        )
        if mark is not None:
            return f"the replica began anew at {mark.where}"
        if _was_sent_before(b, a):
            return f"it was sent before the request at {a.where}, over a connection that broke"
        reset = history.reset(a, b)
        return None if reset is None else reset.why

    def joined(a: Event, b: Event) -> bool:
        return (
            history.contiguous(a, b)
            and history.same_process(a, b)
            and not history.replica_stopped(a, b)
            and not history.lived_twice(b)
        )

    for some in [steps] if not history.reduced else _noted(steps):
        first = some[0].event
        for fall in context.never_falls(
            NO_OLDER_LEADER_EPOCH,
            f"{first.tp_name}: the leader epoch that broker {first.broker} is sent",
            some,
            excuse,
            joined,
        ):
            context.beside.append((fall.step.event, fall.last.event.where))


def _was_sent_before(one: Event, other: Event) -> bool:
    """Whether a controller sent one request before another; its first copy may arrive later."""
    same = (one.controller, one.controller_epoch) == (other.controller, other.controller_epoch)
    return same and (one.correlation or 0) < (other.correlation or 0)


def _noted(steps: list[ValueSeen]) -> Iterable[list[ValueSeen]]:
    """Where lines are left out: each fall that was noted when all were there, and from where."""
    by = {step.event.where: step for step in steps}
    return [[by[s.event.beside], s] for s in steps if s.event.beside in by and s.event.beside]


def _holds_as_received(context: RuleContext, events: list[Event]) -> None:
    """Compares the held leader epoch in a refusal with the leader epoch applied last."""
    history = context.history
    held: Event | None = None
    taken = False
    received: dict[tuple[int | None, int | None], Event] = {}
    for event in events:
        if event.kind == "leader_and_isr_received":
            received[event.controller, event.correlation] = event
        elif event.kind == "leader_and_isr_handling":
            held, taken = None, True  # until it is completed
        elif event.template.startswith(_NOT_TAKEN):
            held, taken = None, False
        elif event.kind == "leader_and_isr_applied":
            asked = received.get((event.controller, event.correlation))
            near = asked is not None and _of_one_request(history, asked, event)
            held = asked if near and taken else None
        elif event.kind in _STARTED:
            held = event
        elif event.kind in _REFUSED:
            same = event.kind == "same_epoch_refused"
            stated = event.leader_epoch if same else event.previous_epoch
            asked = received.get((event.controller, event.correlation))
            if asked is not None and _of_one_request(history, asked, event):
                _refused_as_asked(context, event, asked)
            if held is None or stated is None or held.leader_epoch is None:
                continue
            if id(event) in context.blamed or another_life(history, held, event):
                continue
            # A logger's level may be changed while a broker runs: it is as it was, at both ends.
            if not (
                (asked is not None or held.kind in _STARTED)
                and history.contiguous(held, event)
                and history.same_process(held, event)
                and not history.replica_stopped(held, event)
            ):
                held = None  # another request may have come meanwhile
                continue
            context.looked(HOLDS_AS_RECEIVED)
            if stated == held.leader_epoch or not context.lacks(event, held.where):
                continue
            context.report(
                FindingKind.VIOLATION,
                HOLDS_AS_RECEIVED,
                event,
                f"{event.tp_name}: broker {event.broker} says that it holds leader epoch {stated} "
                f"here, and took {held.leader_epoch} at {held.where}",
                f"leader epoch {held.leader_epoch}",
            )


def _holds_between_its_starts(context: RuleContext, events: list[Event]) -> None:
    """Compares the held leader epoch in a refusal with starts in another log.

    Up to 2.7 leaders log their starts in server.log, with the epoch held before: one process holds
    no less than at its last start, and no more than its next start reports.
    """
    history = context.history
    starts: dict[int | None, list[Event]] = defaultdict(list)
    for event in events:
        if event.kind in _STARTED and event.leader_epoch is not None:
            starts[event.broker].append(event)
    for event in events:
        if event.kind not in _REFUSED or not starts[event.broker]:
            continue
        same = event.kind == "same_epoch_refused"
        stated = event.leader_epoch if same else event.previous_epoch
        own = [each for each in starts[event.broker] if each.logger != event.logger]
        before = max((each for each in own if each.at < event.at), key=_time, default=None)
        after = min((each for each in own if each.at > event.at), key=_time, default=None)
        for start, held, less in (
            (before, before.leader_epoch if before else None, True),
            (after, after.previous_epoch if after else None, False),
        ):
            if start is None or held is None or held < 0 or stated is None:
                continue
            first, last = (start, event) if less else (event, start)
            if (
                another_life(history, first, last)
                or history.replica_stopped(first, last)
                or history.clock_was_set(first, last)
                or not history.same_process(first, last)
            ):
                continue
            context.looked(HOLDS_AS_RECEIVED)
            if (stated >= held if less else stated <= held) or not context.lacks(
                event, start.where
            ):
                continue
            sure = history.in_step(start, event)
            context.report(
                FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
                HOLDS_AS_RECEIVED,
                event,
                f"{event.tp_name}: broker {event.broker} says that it holds leader epoch {stated} "
                f"here, and {'took' if less else 'says later that it held'} {held} at "
                f"{start.where}" + ("" if sure else "; the clocks of the two logs may be apart"),
                f"a leader epoch of at {'least' if less else 'most'} {held}",
            )


def _time(event: Event) -> int:
    return event.at


def _refused_as_asked(context: RuleContext, refusal: Event, asked: Event) -> None:
    context.looked(REQUEST_AS_SENT)
    if asked.leader_epoch != refusal.leader_epoch:
        context.report(
            FindingKind.VIOLATION,
            REQUEST_AS_SENT,
            refusal,
            f"{refusal.tp_name}: request {refusal.correlation} of controller {refusal.controller} "
            f"has leader epoch {refusal.leader_epoch} here, and {asked.leader_epoch} where it "
            f"came, at {asked.where}",
            f"leader epoch {asked.leader_epoch}",
        )


def _starts_as_received(context: RuleContext, events: list[Event]) -> None:
    """A broker that starts in a leader epoch was sent it: its log of requests, if it is here, has
    that line.

    Requests are handled one after another, and each is logged before it is handled.
    """
    history = context.history
    received: dict[int | None, list[Event]] = defaultdict(list)
    for event in events:
        if event.kind == "leader_and_isr_received" and event.leader_epoch is not None:
            received[event.broker].append(event)
    times, epochs = {}, {}
    for broker, some in received.items():
        some.sort(key=lambda each: (each.at, history.key(each)))
        times[broker] = [each.at for each in some]
        epochs[broker] = {each.leader_epoch for each in some}
    for event in events:
        if event.kind not in _STARTED or event.leader_epoch is None or event.broker not in received:
            continue
        place = bisect_right(times[event.broker], event.at)
        if not place or id(event) in context.blamed:
            continue
        last = received[event.broker][place - 1]
        if another_life(history, last, event) or history.restart_between(last, event):
            continue
        context.looked(HOLDS_AS_RECEIVED)
        if event.leader_epoch in epochs[event.broker] or not context.lacks(event, _LAST_RECEIVED):
            continue
        if not (
            event.at - last.at < _ONE_REQUEST  # the logger's level may have been changed since
            and history.log_covers(last, event.at)
            and history.same_process(last, event)
            and not history.clock_was_set(last, event)
        ):
            continue  # the request that received it may be missing
        role = "leader" if event.kind == "leader_started" else "follower"
        context.report(
            FindingKind.VIOLATION,
            HOLDS_AS_RECEIVED,
            event,
            f"{event.tp_name}: broker {event.broker} starts as {role} in leader epoch "
            f"{event.leader_epoch} here, which no request had; the last one had "
            f"{last.leader_epoch}, at {last.where}",
            f"leader epoch {last.leader_epoch}",
        )


def _starts_as_written(context: RuleContext, events: list[Event]) -> None:
    """No broker starts in a leader epoch above those that controllers write later.

    Brokers' clocks may differ: a case is certain only if the lines are further apart than that, or
    in one log, because the controller itself starts.
    """
    history = context.history
    written = sorted(
        (e for e in events if e.kind in _WRITTEN and e.leader_epoch is not None and e.leader != -2),
        key=lambda each: (each.at, history.key(each)),
    )
    logs: dict[tuple[str, int | None], list[Event]] = defaultdict(list)
    for each in written:
        logs[history.places[each.file].stream, each.broker].append(each)
    for event in events:
        if event.kind not in _STARTED or event.leader_epoch is None or id(event) in context.blamed:
            continue
        own = logs.get((history.places[event.file].stream, event.broker), [])
        after = bisect_right(own, event.at, key=lambda each: each.at)
        here = (
            after < len(own)
            and event.leader_epoch > (own[after].leader_epoch or 0)
            and history.contiguous(event, own[after])
        )
        place = bisect_right(written, event.at + _ONE_REQUEST, key=lambda each: each.at)
        if not here and place == len(written):
            continue
        context.looked(HOLDS_AS_RECEIVED)
        later = own[after] if here else written[place]
        if event.leader_epoch <= (later.leader_epoch or 0):
            continue
        alone = history.value_counts("leader_epoch", event.tp)[event.leader_epoch] == 1
        # In one log a replica that was made again is no sign of another life of its topic.
        anew = (
            bool(history.reset(event, later) or history.topic_began(event, later))
            if here
            else another_life(history, event, later)
        )
        if not alone or anew or not context.lacks(event, later.where):
            continue
        sure = (
            (here or (later.at - event.at > CLOCKS_APART and not history.lived_twice(event)))
            and same_life(history, event, later)
            and not history.clock_was_set(event, later)
        )
        context.report(
            FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
            HOLDS_AS_RECEIVED,
            event,
            f"{event.tp_name}: broker {event.broker} starts in leader epoch {event.leader_epoch} "
            f"here, which no other line has, and leader epoch {later.leader_epoch} is written "
            f"later, at {later.where}" + ("" if sure else "; their clocks may be apart"),
            f"leader epoch {later.leader_epoch} or less",
        )


def _starts_from_the_write(context: RuleContext, events: list[Event]) -> None:
    """The leader that a controller writes starts in that leader epoch, with the ISR of the write.

    In a leader epoch only its leader changes the ISR, and it starts first. If a broker starts in a
    leader epoch that no line has, and not in the one written for it just before, one of the two
    lines is wrong: the write, if its epoch does not follow the one before.
    """
    history = context.history
    writes = [e for e in events if e.kind in _WRITES and e.leader_epoch is not None]
    times = sorted(each.at for each in writes)
    written = {each.leader_epoch for each in writes}
    others = {e.leader_epoch for e in events if e.kind not in ("leader_started", *_WRITES)}
    starts: dict[int | None, list[Event]] = defaultdict(list)
    for event in events:
        if event.kind == "leader_started" and event.leader_epoch is not None:
            starts[event.broker].append(event)
    for some in starts.values():
        some.sort(key=lambda each: each.at)
    for number, write in enumerate(writes):
        own = starts.get(write.leader, [])
        first = bisect_left(own, write.at - _AT_ONCE, key=lambda each: each.at)
        last = bisect_right(own, write.at + _ONE_REQUEST, key=lambda each: each.at)
        start = next((e for e in own[first:last] if not another_life(history, write, e)), None)
        if start is None or {id(start), id(write)} & context.blamed:
            continue
        if bisect_right(times, start.at) > bisect_right(times, write.at):
            continue  # it may have been sent what was written since
        context.looked(HOLDS_AS_RECEIVED)
        if start.leader_epoch == write.leader_epoch:
            _starts_with_the_isr(context, write, start, own)
            continue
        if start.leader_epoch in written | others:
            continue
        if any(each.leader_epoch == write.leader_epoch for each in own):
            continue  # it was sent an older state first
        if (history.places[start.file].until or 0) < write.at + _ONE_REQUEST:
            continue  # what it was sent may come later
        before = writes[number - 1] if number else None
        if before is not None and not history.contiguous(before, write):
            before = None
        right = (
            write.leader_epoch in others
            or before is None
            or write.from_state == "NewPartition"
            or write.leader_epoch == (before.leader_epoch or 0) + 1
        )
        if write.version is not None and write.version < (write.leader_epoch or 0):
            right = False
        wrong, other = (start, write) if right else (write, start)
        if not context.lacks(wrong, other.where):
            continue
        context.report(
            FindingKind.INCOMPLETE,
            HOLDS_AS_RECEIVED,
            wrong,
            f"{wrong.tp_name}: leader epoch {wrong.leader_epoch} stands here, in no other line, "
            f"and leader epoch {other.leader_epoch} at {other.where}: broker {write.leader} starts "
            "as the leader that was written",
            f"leader epoch {other.leader_epoch}",
        )


def _starts_as_raised(context: RuleContext, events: list[Event]) -> None:
    """The leader starts in the leader epoch that the controller raises for a reassignment."""
    starts = [e for e in events if e.kind == "leader_started" and e.leader_epoch is not None]
    for event in events:
        if event.kind != "leader_epoch_raised" or event.leader_epoch is None:
            continue
        near = [each for each in starts if -_AT_ONCE <= each.at - event.at <= _ONE_REQUEST]
        if not near:
            continue  # up to 2.3 it may have been sent the epoch before (KAFKA-9212)
        context.looked(HOLDS_AS_RECEIVED)
        if event.leader_epoch in {each.leader_epoch for each in near}:
            continue
        if context.lacks(event, near[0].where) and not another_life(
            context.history, *sorted((event, near[0]), key=lambda each: each.at)
        ):
            context.report(
                FindingKind.INCOMPLETE,
                HOLDS_AS_RECEIVED,
                event,
                f"{event.tp_name}: leader epoch {event.leader_epoch} is written here for a move, "
                f"and its leader starts in leader epoch {near[0].leader_epoch} then, at "
                f"{near[0].where}; another start may be missing",
                f"leader epoch {near[0].leader_epoch}",
            )


def _starts_with_the_isr(
    context: RuleContext, write: Event, start: Event, starts: list[Event]
) -> None:
    history = context.history
    if start.isr is None or write.isr is None or set(start.isr) == set(write.isr):
        return
    if any(
        each.leader_epoch == start.leader_epoch
        and each.at < start.at
        and not another_life(history, each, start)
        for each in starts
    ):
        return  # it has started in it before, and may have changed the ISR since
    sure = same_life(history, write, start) and history.same_process(write, start)
    if not context.lacks(start, write.where):
        return
    replicas = {b for _, some in history.assigned(start.tp or ("", 0)) for b in some}
    new = write.from_state == "NewPartition" and set(start.isr) == replicas
    wrong, right = (write, start) if new else (start, write)
    context.report(
        FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
        HOLDS_AS_RECEIVED,
        wrong,
        f"{wrong.tp_name}: the ISR of leader epoch {wrong.leader_epoch} is {as_set(wrong.isr)} "
        f"here, and {as_set(right.isr)} at {right.where}: its leader begins with what was written",
        f"the ISR {as_set(right.isr)}",
    )


# -- between logs ---------------------------------------------------------------------------------


@dataclass
class _Channel:
    """What one controller sent about one partition to one broker, and what arrived there."""

    sent: list[Event]
    came: list[Event]


def _arrives_as_sent(context: RuleContext, events: list[Event]) -> None:
    """Requests of one controller arrive unchanged, in the order in which they were sent.

    So a received line that equals no sent one is wrong, if a later one equals one, and the sender's
    log is without gaps from the election of that controller to there.
    """
    channels: dict[tuple[str, int, int, int], _Channel] = defaultdict(lambda: _Channel([], []))
    for event in events:
        if not event.controller_epoch or event.controller is None:
            continue
        if event.kind in _ARRIVES.values() and event.broker == event.controller:
            for broker in _receivers(event):
                key = event.kind, event.controller, event.controller_epoch, broker
                channels[key].sent.append(event)
        elif event.kind in _ARRIVES and event.broker is not None and _tells(event):
            key = _ARRIVES[event.kind], event.controller, event.controller_epoch, event.broker
            channels[key].came.append(event)
    for _, channel in sorted(channels.items()):
        if channel.sent and channel.came:
            _one_channel(context, channel, events)


def _tells(came: Event) -> bool:
    """Whether a received request's line has the state: in 0.10.0.0 it has none."""
    return came.leader_epoch is not None


def _receivers(sent: Event) -> Iterable[int]:
    if sent.replica is not None:
        return (sent.replica,)
    return numbers(sent.detail)


def _one_channel(context: RuleContext, channel: _Channel, events: list[Event]) -> None:
    history = context.history
    came = sorted(channel.came, key=history.key)
    sent: dict[object, list[Event]] = defaultdict(list)
    for each in channel.sent:
        sent[_state(each)].append(each)
    like = [next((s for s in sent[_state(each)] if _alike(s, each)), None) for each in came]
    context.looked(REQUEST_AS_SENT, len(came))
    doubted = any(id(each) in context.blamed for each in channel.sent)
    for number, event in enumerate(came):
        if like[number] is not None or id(event) in context.blamed or doubted:
            continue
        later = [n for n in range(number + 1, len(came)) if like[n] is not None]
        near = min(
            channel.sent, key=lambda each: (_differences(each, event), abs(each.at - event.at))
        )
        until = like[later[0]] if later else None
        age = history.age(event)
        if age is None or age != history.age(near):
            continue
        if not since_elected(context, channel.sent[0], until or channel.sent[-1]):
            continue  # what it is like may be missing
        sure = until is not None and history.contiguous(event, came[later[0]])
        if not context.lacks(event, "sent"):
            continue
        what = ", ".join(name for name in _CONTENT if _differs(near, event, name))
        wrong, right = event, near
        if sure and _attested(events, near, event):
            wrong, right = near, event
        context.report(
            FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
            REQUEST_AS_SENT,
            wrong,
            f"{event.tp_name}: what controller {event.controller} sent in epoch "
            f"{event.controller_epoch} and what came to broker {event.broker} differ in "
            f"{what or 'nothing'}: {_text(wrong)} here, and {_text(right)} at {right.where}"
            + ("" if sure else "; another request of that controller may be missing"),
            f"what was sent, {_text(right)}",
        )


def _state(event: Event) -> object:
    return event.leader, event.leader_epoch, frozenset(event.isr or ())


def _alike(sent: Event, came: Event) -> bool:
    return not any(_differs(sent, came, name) for name in _CONTENT)


def _differences(sent: Event, came: Event) -> int:
    return sum(_differs(sent, came, name) for name in _CONTENT)


def _differs(a: Event, b: Event, name: str) -> bool:
    one, other = getattr(a, name), getattr(b, name)
    if one is None or other is None:
        return False
    return one != other if name != "isr" else set(one) != set(other)


def since_elected(context: RuleContext, sent: Event, until: Event) -> bool:
    """Whether everything that this controller sent since its election is here, up to a line."""
    history = context.history
    place = history.places[sent.file]
    if not place.sole or not history.contiguous(sent, until):
        return False
    begun = history.first_stamp(sent)
    taken = history.elections.get((sent.broker, sent.controller_epoch), ())
    return begun is not None and any(
        begun <= at <= sent.at and history.log_covers(sent, at) for at in taken
    )


def _attested(events: Iterable[Event], sent: Event, came: Event) -> bool:
    """Whether other lines of that state confirm the received request, and not the sent one."""
    names = [name for name in _CONTENT if _differs(sent, came, name)]
    votes = [0, 0]
    for each in events:
        if each is sent or each is came or each.version != came.version:
            continue
        if each.kind in _ARRIVES or each.kind in _ARRIVES.values():
            for number, other in enumerate((sent, came)):
                complete = all(getattr(each, name) is not None for name in names)
                votes[number] += complete and not any(_differs(each, other, name) for name in names)
    return votes[1] > votes[0]


def _text(event: Event) -> str:
    parts: Mapping[str, object] = {
        "leader": event.leader, "leader epoch": event.leader_epoch, "ISR": event.isr,
        "zkVersion": event.version, "replicas": event.replicas, "isNew": event.is_new,
        "of controller epoch": event.state_epoch,
    }  # fmt: skip
    return ", ".join(f"{name} {value}" for name, value in parts.items() if value is not None)


def _newest(written: Iterable[Event]) -> tuple[list[int], list[Event]]:
    """Controller epochs with writes, and the newest leader epoch written up to each."""
    by: dict[int, Event] = {}
    for each in written:
        epoch = each.controller_epoch or 0
        if epoch not in by or (each.leader_epoch or 0) > (by[epoch].leader_epoch or 0):
            by[epoch] = each
    epochs = sorted(by)
    found: list[Event] = []
    for epoch in epochs:
        last = found[-1] if found else by[epoch]
        found.append(max(last, by[epoch], key=lambda each: each.leader_epoch or 0))
    return epochs, found


def _no_older_than_written(context: RuleContext, events: list[Event]) -> None:
    """A controller reads the writes of earlier ones: it sends no older leader epoch."""
    history = context.history
    written: dict[int, list[Event]] = defaultdict(list)
    for event in events:
        if event.kind not in _WRITTEN or event.leader_epoch is None or event.leader == -2:
            continue
        age = history.age(event)
        if event.controller_epoch and age is not None:
            written[age].append(event)
    newest_of = {age: _newest(some) for age, some in written.items()}
    for event in events:
        if event.kind not in _HEARD or event.leader_epoch is None:
            continue
        age = history.age(event)
        if age not in newest_of or (event.leader or 0) < -1 or event.leader_epoch < 0:
            continue
        by = event
        if event.kind in _STARTED:
            # The request is of the controller that was obeyed last, or of a newer one.
            last = history.obeyed_before(event)
            if last is None or history.restart_between(last, event) or history.age(last) != age:
                continue
            by = last
        controllers, newest_by = newest_of[age]
        place = bisect_left(controllers, by.controller_epoch or 0)
        if not place or id(event) in context.blamed:
            continue
        newest = newest_by[place - 1]
        context.looked(NO_OLDER_LEADER_EPOCH)
        if event.leader_epoch >= (newest.leader_epoch or 0) or another_life(history, newest, event):
            continue
        context.beside.append((event, newest.where))
        sure = (
            same_life(history, newest, event)
            and not history.lived_twice(event)
            and history.fenced
            and (event.kind != "metadata_cached" or event.broker in (event.replicas or ()))
            and (by is event or (history.contiguous(by, event) and history.same_process(by, event)))
        )
        context.report(
            FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
            NO_OLDER_LEADER_EPOCH,
            event,
            f"{event.tp_name}: broker {event.broker} is sent leader epoch {event.leader_epoch} by "
            f"the controller of epoch {by.controller_epoch}, and {newest.leader_epoch} was "
            f"written in epoch {newest.controller_epoch}, at {newest.where}"
            + ("" if sure else "; lines that show a new topic or ZooKeeper may be missing"),
            f"leader epoch {newest.leader_epoch} or newer",
        )
