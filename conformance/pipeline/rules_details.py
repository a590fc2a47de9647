"""Rules about lines in which one thread logs again what it has just logged, in other words.

A broker's log is loaded with the end with which its replica starts; a coordinator loads partitions
in the order in which it schedules them; requests of a channel are numbered one by one, and a broker
handles one at a time; a group's generation rises by one. The model has each of these steps once,
and not the lines that log its parts.

If the lines could stand so because a line between them is missing, the finding is `incomplete`;
it is `broken` if they could not stand so whatever is missing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from conformance.ingest.schema import Event
from conformance.pipeline.history import History, numbers
from conformance.pipeline.monotonicity import ValueSeen
from conformance.pipeline.rule_context import RuleContext, as_set
from conformance.pipeline.rules import (
    LOGGED_TWICE,
    REPLICAS_KEPT,
    STARTS_FROM_LOG,
    FindingKind,
)
from conformance.pipeline.rules_model import another_life

_AT_ONCE = 2000  # milliseconds in which a thread does what it does without a wait
_MINUTE = 60_000  # milliseconds
_OFFSETS, _TRANSACTIONS = "__consumer_offsets", "__transaction_state"
_PARTITION = re.compile(r"[\w.-]+-\d+")
_PLACED = re.compile(r"(\d+) -> \w+\(([\d, ]*)\)")
_ENDPOINT = re.compile(r"(\S+:\d+) \(id: (\d+) ")
_OLD_NAME = re.compile(r"\[([\w.-]+),(\d+)\]")
_BESIDE = frozenset(
    ("log_loaded", "log_created", "high_watermark_loaded", "replica_loaded", "brokers_counted",
     "high_watermark_unknown", "broker_epochs", "imbalance")
)  # fmt: skip
"""Kinds of lines that are compared with their neighbours (`NEIGHBOURS`)."""
_OF_COORDINATORS = frozenset(
    ("process_starting", "process_stopped", "coordinator_elected", "coordinator_loads",
     "coordinator_loaded", "coordinator_unloads", "coordinator_unloaded")
)  # fmt: skip
_RETENTION = frozenset(("segments_deletable", "segment_rolled", "log_start_raised"))
_CUTS = frozenset(("log_truncated", "truncation_without_effect"))
_CUT = frozenset(("log_truncated", "fetch_offset_reset", "truncation_chosen"))
_OF_SEGMENTS = _RETENTION | _CUT
_OF_REQUESTS = frozenset(
    ("leader_and_isr_handling", "leader_and_isr_applied", "obeyed", "metadata_cached")
)
"""Kinds of lines that a broker logs while it holds the lock for one request."""

Key = Hashable | None
"""What a line is about; None if it is no such line."""


@dataclass(frozen=True)
class Neighbours:
    """Two lines of a thread: the next `then` after a `first` line `agrees` with it.

    With `back`, only a `then` line needs the other, the last one before it.
    """

    what: str
    first: Callable[[Event], bool]
    then: Callable[[Event], bool]
    agrees: Callable[[Event, Event], bool]
    back: bool = False


def _kind(*kinds: str) -> Callable[[Event], bool]:
    return lambda event: event.kind in kinds


def _template(*templates: str) -> Callable[[Event], bool]:
    return lambda event: event.template in templates


def _of_one(a: Event, b: Event) -> bool:
    return a.tp == b.tp


def _ids(event: Event) -> set[int]:
    """The brokers whose epochs a line shows."""
    return {int(each.split("->")[0]) for each in (event.detail or "").split(",") if "->" in each}


def _balanced(shown: Event, ratio: Event) -> bool:
    none = (shown.detail or "").endswith("()")
    text = ratio.detail or ""
    zero = not text.strip("0.")
    return shown.replica == ratio.replica and (none == zero or text == "NaN")


def _leaves(leaving: Event, left: Event) -> bool:
    return not set(leaving.replicas or ()) & set(left.replicas or ())


NEIGHBOURS = (
    Neighbours(
        "a log is loaded before it is made", _kind("log_loaded"), _kind("log_created"), _of_one,
        back=True,
    ),
    Neighbours(
        "the high watermark of a log follows its making", _kind("log_created"),
        _kind("high_watermark_loaded", "replica_loaded"), _of_one,
    ),
    Neighbours(
        "a high watermark that no checkpoint has is 0", _kind("high_watermark_unknown"),
        _kind("high_watermark_loaded", "replica_loaded"),
        lambda unknown, loaded: _of_one(unknown, loaded) and not loaded.high_watermark,
    ),
    Neighbours(
        "who leaves is among those that leave", _template("broker_leaves"),
        _template("brokers_leaving"),
        lambda one, every: one.replica in (every.replicas or ()),
    ),
    Neighbours(
        "who leaves does not stay", _template("brokers_leaving"), _template("brokers_left"),
        _leaves,
    ),
    Neighbours(
        "active brokers are those whose epochs are known", _template("broker_epochs"),
        _template("brokers_active"),
        lambda epochs, active: _ids(epochs) == set(active.replicas or ()), back=True,
    ),
    Neighbours(
        "a broker is out of balance if some of its topics are", _template("not_preferred"),
        _template("imbalance_ratio"), _balanced,
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Queue:
    """What a thread queues, and what becomes of it, are logged in the same order."""

    what: str
    first: Callable[[Event], Key]
    then: Callable[[Event], Key]


def _about(kind: str, topic: str | None = _OFFSETS) -> Callable[[Event], Key]:
    def key(event: Event) -> Key:
        right = event.kind == kind and event.topic == topic
        return (event.partition, numbers(event.detail)) if right else None

    return key


QUEUES = (
    Queue(
        "a coordinator loads what it has scheduled",
        _about("coordinator_loads", _TRANSACTIONS), _about("coordinator_loaded", _TRANSACTIONS),
    ),
    Queue(
        "a coordinator loads what it has scheduled",
        _about("coordinator_loads"), _about("coordinator_loaded"),
    ),
    Queue(
        "a coordinator unloads what it has scheduled",
        _about("coordinator_unloads"), _about("coordinator_unloaded"),
    ),
    Queue(
        "a broker loads a partition when it is elected as its coordinator",
        _about("coordinator_elected", None), _about("coordinator_loads"),
    ),
)  # fmt: skip


def check(context: RuleContext) -> None:
    """Checks what one process logs twice, log by log."""
    _replicas_are_kept(context)
    _replicas_are_assigned(context)
    _log_starts_rise(context)
    if context.history.reduced:
        return  # where lines are left out, others become neighbours
    history = context.history
    for (_, broker), events in sorted(
        history.streams(lambda event: True).items(), key=lambda item: str(item[0])
    ):
        if broker is None:
            continue
        coordinates = [event for event in events if event.kind in _OF_COORDINATORS]
        for queue in QUEUES:
            _queued(context, queue, coordinates)
        _generations(context, events)
        _one_request_at_a_time(context, events)
        _responses(context, events)
    for events in _runs(history):
        some = [event for event in events if event.kind in _BESIDE]
        for pair in NEIGHBOURS:
            _neighbours(context, pair, some)
        _begins_anew(context, events)
    _fetches_no_more(context)
    _cuts_as_chosen(context)
    _coordinates_what_it_leads(context)
    _created_as_found(context)
    _known_brokers(context)


def _runs(history: History) -> Iterator[list[Event]]:
    """The lines of each log, or, if processes take turns in it, of one at a time.

    Lines that name no writer belong to the one that writes around them. Where several write at
    once, writers change more often than processes start: then these lines are nobody's.
    """
    for _, each in groupby(history.events, key=lambda each: history.places[each.file].stream):
        lines = list(each)
        begun = sum(event.kind == "process_starting" for event in lines)
        named = [event.broker for event in lines if event.broker is not None]
        turns = sum(a != b for a, b in pairwise(named))
        if turns > begun:
            lines = [event for event in lines if event.broker is not None]
        run: list[Event] = []
        writer: int | None = None
        for event in lines:
            if writer is not None and event.broker not in (None, writer):
                yield run
                run = []
            writer = writer if event.broker is None else event.broker
            run.append(event)
        yield run


def _report(context: RuleContext, event: Event, other: Event, what: str, kind: FindingKind) -> None:
    context.report(
        kind,
        LOGGED_TWICE,
        event,
        f"broker {event.broker}: {what}, and this line does not go with {other.where}"
        + ("" if kind is FindingKind.VIOLATION else "; a line between them may be missing"),
    )


# -- neighbours -----------------------------------------------------------------------------------


def _neighbours(context: RuleContext, pair: Neighbours, events: Sequence[Event]) -> None:
    lines = [event for event in events if pair.first(event) or pair.then(event)]
    for number, (a, b) in enumerate(pairwise(lines)):
        if not (pair.first(a) and pair.then(b)):
            continue
        moment = lines[max(0, number - 1) : number + 3]
        context.looked(LOGGED_TWICE)
        if pair.agrees(a, b) or not _goes_on(context.history, a, b):
            continue
        # Lines of one millisecond may stand in any order.
        firsts = [each for each in moment if each.at in (a.at, b.at) and pair.first(each)]
        thens = [each for each in moment if each.at in (a.at, b.at) and pair.then(each)]
        if any(pair.agrees(each, b) for each in firsts):
            continue
        if not pair.back and any(pair.agrees(a, each) for each in thens):
            continue
        for event, other in ((b, a), (a, b)):
            _report(context, event, other, pair.what, FindingKind.INCOMPLETE)


def _goes_on(history: History, a: Event, b: Event) -> bool:
    return (
        0 <= b.at - a.at <= _AT_ONCE
        and history.contiguous(a, b)
        and history.restart_between(a, b, but=("process_started",)) is None
    )


def _fetches_no_more(context: RuleContext) -> None:
    """A broker removes the fetchers of all partitions that a request makes it lead, then starts
    as their leader (ReplicaManager.makeLeaders), since 2.7 in another log."""
    history = context.history
    by_broker: dict[int | None, list[Event]] = defaultdict(list)
    for event in history.events:
        if event.kind in ("fetchers_removed", "leader_started") and event.broker is not None:
            by_broker[event.broker].append(event)
    for events in by_broker.values():
        removed: Event | None = None
        names: set[str] = set()
        order = {"fetchers_removed": 0, "leader_started": 1}
        for event in sorted(events, key=lambda each: (each.at, order[each.kind])):
            if event.kind == "fetchers_removed":
                removed, detail = event, _OLD_NAME.sub(r"\1-\2", event.detail or "")
                names = set(_PARTITION.findall(detail))
            elif removed is not None and event.at - removed.at <= _MINUTE:
                context.looked(LOGGED_TWICE)
                if event.tp_name in names or not _one_process(history, removed, event):
                    continue
                what = "it fetches a partition no more before it leads it"
                for line, other in ((removed, event), (event, removed)):
                    _report(context, line, other, what, FindingKind.INCOMPLETE)


def _cuts_as_chosen(context: RuleContext) -> None:
    """A fetcher cuts a log to the offset that it has just logged."""
    history = context.history
    chosen: dict[tuple[object, ...], Event] = {}
    for event in history.events:
        log = history.places[event.file].stream, event.tp
        if event.kind == "truncation_chosen":
            chosen[log] = event
        elif event.kind in _CUTS and (first := chosen.pop(log, None)) is not None:
            context.looked(LOGGED_TWICE)
            if first.offset == event.offset or not _goes_on(history, first, event):
                continue
            what = f"{event.tp_name} is cut to the offset that its fetcher has chosen"
            for line, other in ((event, first), (first, event)):
                _report(context, line, other, what, FindingKind.INCOMPLETE)


def _coordinates_what_it_leads(context: RuleContext) -> None:
    """A broker coordinates the groups of partitions that it leads, in their leader epochs
    (KafkaApis.handleLeaderAndIsrRequest), since 2.8."""
    history = context.history
    led: dict[tuple[int | None, int | None], list[Event]] = defaultdict(list)
    for event in history.events:
        if event.kind == "leader_started" and event.topic == _OFFSETS:
            led[event.broker, event.partition].append(event)
    for event in history.events:
        epoch = numbers(event.detail)
        if event.kind != "coordinator_elected" or not epoch:
            continue
        before = [
            each for each in led[event.broker, event.partition] if 0 <= event.at - each.at < _MINUTE
        ]
        start = max(before, key=lambda each: each.at, default=None)
        if start is None or history.clock_was_set(start, event):
            continue
        context.looked(LOGGED_TWICE)
        if start.leader_epoch not in epoch:
            what = "it is elected as coordinator in the leader epoch in which it starts to lead"
            for line, other in ((event, start), (start, event)):
                _report(context, line, other, what, FindingKind.INCOMPLETE)


def _created_as_found(context: RuleContext) -> None:
    """A topic is created with the replicas that the controller reads (AdminZkClient)."""
    history = context.history
    for event in history.events:
        if event.kind != "topic_creation":
            continue
        for partition, brokers in _PLACED.findall(event.detail or ""):
            for line, found in history.assigned((event.topic or "", int(partition))):
                if not 0 <= line.at - event.at <= _AT_ONCE or history.clock_was_set(event, line):
                    continue
                context.looked(LOGGED_TWICE)
                if set(found) != numbers(brokers):
                    what = f"{event.topic}-{partition} is created with the replicas that are read"
                    for one, other in ((event, line), (line, event)):
                        _report(context, one, other, what, FindingKind.INCOMPLETE)


def _one_process(history: History, a: Event, b: Event) -> bool:
    """Whether one process wrote both, perhaps to two logs of one clock."""
    if a.file == b.file:
        return _goes_on(history, a, b)
    return (
        history.restart_between(a, b, but=("process_started",)) is None
        and not history.clock_was_set(a, b)
        and history.log_covers(a, b.at)
        and history.log_covers(b, a.at)
    )


def _begins_anew(context: RuleContext, events: Sequence[Event]) -> None:
    """A replica whose log is assigned to it in the line before has led or followed in no epoch."""
    for a, b in pairwise(events):
        if (
            a.kind in ("high_watermark_loaded", "replica_loaded")
            and b.kind == "leader_started"
            and a.tp == b.tp
            and _goes_on(context.history, a, b)
        ):
            context.looked(LOGGED_TWICE)
            if b.previous_epoch != -1:
                what = "a replica that is new to its process starts after no leader epoch"
                _report(context, b, a, what, FindingKind.INCOMPLETE)


_COUNTED = frozenset(("brokers_counted", "channel_connected", "response_received",
                      "metadata_batch", "leader_and_isr_batch", "imbalance"))  # fmt: skip
"""Kinds of lines in which a controller names brokers that are alive, or were."""


def _known_brokers(context: RuleContext) -> None:
    """A broker that one line of a controller names, and none of all others, is no broker."""
    named: dict[int, list[Event]] = defaultdict(list)
    history = context.history
    known = set(history.live_brokers | history.writers)
    endpoints: dict[str, set[int | None]] = defaultdict(set)
    clusters = {event.detail for event in history.events if event.kind == "cluster_id"}
    for event in history.events:
        if event.kind == "broker_registered" and len(clusters) < 2:
            for each in re.findall(r"(?<=//)[^,\s]+:\d+", event.detail or ""):
                endpoints[each].add(event.replica)
            for host, port in re.findall(r"EndPoint\(([^,]+),(\d+)", event.detail or ""):
                endpoints[f"{host}:{port}"].add(event.replica)
    for event in history.events:
        if event.kind not in _COUNTED:
            known.update(event.replicas or (), event.isr or ())
            known.update(each for each in (event.leader, event.replica) if each is not None)
            continue
        some = {event.replica} | set(event.replicas or ())
        if event.kind == "channel_connected" and (found := _ENDPOINT.match(event.detail or "")):
            some |= {int(found[2])}
            _at_its_endpoint(context, event, int(found[2]), endpoints.get(found[1], set()))
        if event.kind == "metadata_batch":
            some |= numbers((event.detail or "").rpartition(" for ")[0])
        for broker in some - {None}:
            named[broker or 0].append(event)
    context.looked(LOGGED_TWICE, len(named))
    for broker, lines in sorted(named.items()):
        alone = len(lines) == 1 and id(lines[0]) not in context.blamed
        if alone and broker not in known and known:
            context.report(
                FindingKind.INCOMPLETE,
                LOGGED_TWICE,
                lines[0],
                f"broker {broker} is named here and in no other line; the brokers of these logs "
                f"are {as_set(sorted(known))}",
            )


def _at_its_endpoint(
    context: RuleContext, event: Event, broker: int, registered: set[int | None]
) -> None:
    if registered and broker not in registered:
        context.report(
            FindingKind.INCOMPLETE,
            LOGGED_TWICE,
            event,
            f"broker {broker} is connected to at an endpoint which broker "
            f"{as_set(sorted(each for each in registered if each is not None))} registered",
        )


# -- queues ---------------------------------------------------------------------------------------


def _queued(context: RuleContext, queue: Queue, events: Sequence[Event]) -> None:
    """Walks along both sequences: where one line of each differs, and the next agree again, one of
    the two is wrong; the one that stands twice in its sequence, or both."""
    for part in _processes(context.history, events):
        first = [(key, each) for each in part if (key := queue.first(each)) is not None]
        then = [(key, each) for each in part if (key := queue.then(each)) is not None]
        if not first or not then:
            continue
        for (key, a), (other, b) in _differences(first, then):
            context.looked(LOGGED_TWICE)
            if not context.history.contiguous(a, b):
                continue
            again = [each for each, _ in first].count(key) > 1
            twice = [each for each, _ in then].count(other) > 1
            for event, beside, wrong in ((a, b, again or not twice), (b, a, twice or not again)):
                if wrong:
                    _report(context, event, beside, queue.what, FindingKind.INCOMPLETE)


def _differences(
    first: Sequence[tuple[Key, Event]], then: Sequence[tuple[Key, Event]]
) -> Iterator[tuple[tuple[Key, Event], tuple[Key, Event]]]:
    one = other = 0
    while one < len(first) and other < len(then):
        if first[one][0] == then[other][0]:
            one, other = one + 1, other + 1
            continue
        left, right = ([key for key, _ in some] for some in (first[one:], then[other:]))
        close = abs(then[other][1].at - first[one][1].at) <= _AT_ONCE
        if left[1:3] == right[1:3] and (left[1:] or close):
            yield first[one], then[other]
            one, other = one + 1, other + 1
        elif left[1:2] and left[1] == right[0]:
            one += 1
        elif right[1:2] and left[0] == right[1]:
            other += 1
        elif left[:2] == right[1::-1] and len(left) > 1:
            one, other = one + 2, other + 2  # two lines of one millisecond
        else:
            return


def _processes(history: History, events: Sequence[Event]) -> Iterator[list[Event]]:
    """The lines of one log by process, where they show when one begins or ends."""
    part: list[Event] = []
    for event in events:
        if event.kind in ("process_starting", "process_stopped") or (
            part and not history.contiguous(part[-1], event)
        ):
            yield part
            part = []
        part.append(event)
    yield part


# -- segments -------------------------------------------------------------------------------------


def _log_starts_rise(context: RuleContext) -> None:
    """The start of a log, and the offsets at which its segments begin, only rise, while a process
    runs and nothing cuts the log."""
    history = context.history
    logs: dict[tuple[object, ...], list[Event]] = defaultdict(list)
    for event in context.innocent(history.events):
        if event.kind in _OF_SEGMENTS and event.tp is not None:
            logs[history.places[event.file].stream, event.broker, event.tp].append(event)

    def excuse(a: Event, b: Event) -> str | None:
        anew = history.restart_between(a, b) or history.replica_began(a, b)
        cut = any(a.at <= each.at <= b.at for each in cuts)
        return "the log is cut, or made anew" if anew or cut else None

    for _, events in sorted(logs.items(), key=lambda item: str(item[0])):
        cuts = [event for event in events if event.kind in _CUT]
        for what, kinds in (
            ("the start", ("log_start_raised",)), ("a segment", ("segment_rolled",))
        ):  # fmt: skip
            steps = [ValueSeen(e.offset, e) for e in events if e.kind in kinds and e.offset]
            first = events[0]
            context.never_falls(
                STARTS_FROM_LOG,
                f"{first.topic}-{first.partition}: {what} of the log of broker {first.broker}",
                steps, excuse, history.contiguous, "offset",
            )  # fmt: skip
        last: dict[str, Event] = {}
        for b in events:
            last[b.kind] = b
            for kind in ("segments_deletable", "segment_rolled"):
                a = last.get(kind)
                if a is None or b.kind != "log_start_raised" or not _goes_on(history, a, b):
                    continue
                context.looked(LOGGED_TWICE)
                start, deleted = b.offset or 0, max(numbers(a.detail), default=-1)
                if start <= deleted or (a.offset is not None and start > a.offset):
                    what = "a log starts behind segments that are deleted, not behind its last one"
                    for line, other in ((b, a), (a, b)):
                        _report(context, line, other, what, FindingKind.INCOMPLETE)


# -- generations ----------------------------------------------------------------------------------


def _generations(context: RuleContext, events: Sequence[Event]) -> None:
    """A group's generation rises by one with each rebalance, until the group is forgotten; and one
    partition has all that is known of it."""
    groups: dict[str | None, list[Event]] = defaultdict(list)
    for event in events:
        if event.kind == "group_generation":
            groups[event.detail].append(event)
    for lines in groups.values():
        torn = [n for n, (a, b) in enumerate(pairwise(lines)) if _torn(context, a, b)]
        context.looked(LOGGED_TWICE, len(lines) - 1)
        for number in torn:
            a, b = lines[number : number + 2]
            if number - 1 in torn:
                continue  # the line before it goes with neither
            wrong = [b] if number + 1 in torn or (number and len(lines) > number + 2) else [a, b]
            if number == 0 and number + 1 not in torn and len(lines) > 2:
                wrong = [a]
            for event in wrong:
                _report(
                    context, event, a if event is b else b,
                    f"group {event.detail} has one partition, and its generation rises by one",
                    FindingKind.INCOMPLETE,
                )  # fmt: skip


def _torn(context: RuleContext, a: Event, b: Event) -> bool:
    if not context.history.contiguous(a, b) or a.offset is None or b.offset is None:
        return False
    if a.tp != b.tp:
        return True
    anew = b.template == "group_prepares" and not b.offset
    if anew or context.history.restart_between(a, b) is not None:
        return False  # it may be loaded from before
    return b.offset != a.offset + (a.template == "group_prepares")


# -- requests -------------------------------------------------------------------------------------


def _one_request_at_a_time(context: RuleContext, events: Sequence[Event]) -> None:
    """A line about another request in the midst of the lines about one names a wrong request."""
    lines = [
        event
        for event in events
        if event.kind in _OF_REQUESTS
        and event.correlation is not None
        and event.controller_epoch is not None
        and event.template != "metadata_batch_cached"  # one line, and from 3.0 of any broker
    ]
    runs = [
        (request, list(some))
        for request, some in groupby(
            lines, key=lambda each: (each.controller, each.controller_epoch, each.correlation)
        )
    ]
    for number, ((_, before), (_, wrong), (_, after)) in enumerate(
        zip(runs, runs[1:], runs[2:], strict=False)
    ):
        context.looked(LOGGED_TWICE)
        if len(wrong) > 1 or runs[number][0] != runs[number + 2][0]:
            continue
        (event,) = wrong
        beside = [*runs[max(0, number - 1) : number], *runs[number + 3 : number + 4]]
        if any(
            request == runs[number + 1][0] and event.at in (some[0].at, some[-1].at)
            for request, some in beside
        ):
            continue  # two lines of one millisecond where one request ends and the next begins
        sole = context.history.places[event.file].sole  # else two processes may have one number
        if not sole or not context.history.contiguous(before[-1], after[0]):
            continue
        _report(
            context, event, before[-1],
            f"it handles request {before[-1].correlation} of controller {before[-1].controller} "
            f"before and after request {event.correlation} of controller {event.controller}",
            FindingKind.VIOLATION,
        )  # fmt: skip


def _responses(context: RuleContext, events: Sequence[Event]) -> None:
    """The responses of one channel have the numbers of its requests, one after the other."""
    channels: dict[tuple[int | None, int | None], list[Event]] = defaultdict(list)
    for event in events:
        if event.kind == "response_received" and event.correlation is not None:
            channels[event.controller_epoch, event.replica].append(event)
    for lines in channels.values():
        for a, b, c in zip(lines, lines[1:], lines[2:], strict=False):
            low, number, high = (each.correlation or 0 for each in (a, b, c))
            context.looked(LOGGED_TWICE)
            sole = context.history.places[b.file].sole
            if not sole or a.at == b.at or b.at == c.at or not context.history.contiguous(a, c):
                continue
            if low < high <= low + 2 and not low < number < high and number + 1 != high:
                _report(
                    context, b, a,
                    f"response {number} of broker {b.replica} stands between {low} and {high}",
                    FindingKind.VIOLATION,
                )  # fmt: skip


# -- replicas -------------------------------------------------------------------------------------


def _replicas_are_kept(context: RuleContext) -> None:
    """A controller changes the replicas of a partition under a new leader epoch alone.

    Up to 2.3 it may send the old leader epoch with the new replicas (KAFKA-9212); but never the
    replicas that it had before once more.
    """
    history = context.history
    by_epoch: dict[tuple[object, ...], list[Event]] = defaultdict(list)
    for event in context.innocent(history.events):
        if not event.replicas or event.tp is None:
            continue
        first = event.to_state == "NewPartition"
        epoch = 0 if first else event.leader_epoch
        age = history.age(event)
        if epoch is None or event.controller_epoch is None or age is None or epoch < 0:
            continue
        by_epoch[age, event.tp, event.controller, event.controller_epoch, epoch].append(event)
    for lines in by_epoch.values():
        context.looked(REPLICAS_KEPT, len(lines) - 1)
        sets = defaultdict(list)
        for event in lines:
            sets[frozenset(event.replicas or ())].append(event)
        if len(sets) < 2:
            continue
        right = max(sets, key=lambda each: len(sets[each]))
        for replicas, some in sets.items():
            if replicas != right and len(some) == 1 < len(sets[right]):
                _other_replicas(context, some[0], sets[right])


def _other_replicas(context: RuleContext, event: Event, right: Iterable[Event]) -> None:
    new = event.to_state == "NewPartition"  # lines before it are of another topic
    near = sorted(
        (each for each in right if each.at >= event.at or not new),
        key=lambda each: abs(each.at - event.at),
    )
    if not near:
        return
    beside = [each for each in near if abs(each.at - event.at) <= _AT_ONCE]
    before = any(each.at < event.at for each in beside)
    after = any(each.at > event.at for each in beside)
    apart = not beside and another_life(context.history, near[0], event)
    if apart or not context.lacks(event, near[0].where):
        return
    since_2_4 = context.history.controllers_remember_writes
    sure = (before and after) or (since_2_4 and bool(beside))
    if not sure and not since_2_4:
        return  # KAFKA-9212: a move that is done is sent with the leader epoch before it
    more = "" if sure else "; lines that show a new topic or another leader epoch may be missing"
    context.report(
        FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
        REPLICAS_KEPT,
        event,
        f"{event.tp_name}: the replicas are {as_set(event.replicas)} here, and "
        f"{as_set(near[0].replicas)} by the same controller and in the same leader epoch, at "
        f"{near[0].where}{more}",
        f"replicas {as_set(near[0].replicas)}",
    )


def _replicas_are_assigned(context: RuleContext) -> None:
    """A controller brings up replicas that the partition is assigned to."""
    assigned: dict[tuple[str, int] | None, set[int]] = defaultdict(set)
    for event in context.history.events:
        assigned[event.tp].update(event.replicas or ())
    for event in context.innocent(context.history.events):
        known = assigned[event.tp]
        if event.to_state not in ("NewReplica", "OnlineReplica") or not known:
            continue
        context.looked(REPLICAS_KEPT)
        if event.replica in known or not context.lacks(event, "alone"):
            continue
        context.report(
            FindingKind.INCOMPLETE,
            REPLICAS_KEPT,
            event,
            f"{event.tp_name}: a replica on broker {event.replica} comes up here, and every line "
            f"that shows its replicas has {as_set(sorted(known))}",
            f"a replica of {as_set(sorted(known))}",
        )
