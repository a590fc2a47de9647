"""Rules about a single line and its thread's previous line: they do not contradict each other.

A line names some things twice: its writer in its prefix and in its text, a partition in its prefix
and in the request that it shows, a change beside the value before. And a line is in the log of the
process that wrote it: a process writes a logger's lines to one log. The model has steps, and not
the lines that log them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

from conformance.ingest.parse import MANY, STRAYED
from conformance.ingest.schema import Event
from conformance.ingest.templates_broker import FETCHER
from conformance.pipeline.history import numbers
from conformance.pipeline.places import Place, files_cover_interval
from conformance.pipeline.rule_context import RuleContext, as_set
from conformance.pipeline.rules import (
    BEGINS_AS_ASSIGNED,
    LINE_AGREES,
    OWN_LOG,
    STEPS_FOLLOW,
    FindingKind,
)
from model.topics.tables import PARTITION_TABLE, REPLICA_TABLE

_OF_ITS_OWN = frozenset(
    ("controller_elected", "controller_won", "controller_ready", "change_failed",
     "channel_connected")
)  # fmt: skip
"""Kinds in which a controller logs of itself, with its own number in the text."""
_NAMED_BY_OTHERS = frozenset(("process_starting", "cluster_id", "release", "session_expired"))
"""Kinds that name no writer: `History` takes it from the next line that does."""
_COMES_OF = {"topics_changed": "partitions_created", "brokers_changed": "broker_startup"}
"""By template: what a controller's next line is, if there is something new."""
_CAUSES = frozenset((*_COMES_OF, "partitions_added"))
_EFFECTS = {
    "partitions_created": frozenset(("topics_changed", "partitions_added")),
    "broker_startup": frozenset(("brokers_changed",)),
    "broker_failure": frozenset(("brokers_changed",)),
}
"""By template: what lines a controller's callback comes of, which name what it is for."""
_OF_SOME = frozenset(("deletion_starting", "deletion_handled", "broker_startup", "broker_failure"))
"""Templates of lines that Kafka writes only where there is something to name."""
_NAMES = re.compile(r"[\w.-]+")
_OLD_NAME = re.compile(r"\[([\w.-]+), ?(\d+)\]")
"""A partition as it is written in such lists up to 0.11."""
_ASSIGNED = re.compile(r"([\w.-]+) -> ")
_NEW_TOPICS = re.compile(r"\w*\([^)]")
_NEW_BROKERS = re.compile(r"\d[\d,]*, deleted brokers: *,")
_RENAMED = re.compile(r"(?:.*[/\\])?([^/\\]+)-(\d+)\.[0-9a-f]{32}-(?:delete|stray)")
_BROKERS = re.compile(
    r"([\d,]*), deleted brokers: *([\d,]*),(?: bounced brokers: *([\d,]*),)? "
    r"all live brokers: *([\d,]*)"
)
_FOLDER = re.compile(r".*[/\\](([^/\\]+-)\d+)")
_LISTS = re.compile(r"\w*\(([^)]*)\)\], deleted topics: ")
_PRODUCER_IDS = 1000  # in a block (ProducerIdManager.PidBlockSize)
_HELD = re.compile(r"(\d+) -> \d+")
_AT_ONCE = 1000  # milliseconds between two such lines
_FEW = 5  # names that a finding shows


def check(context: RuleContext) -> None:
    """Checks each line of the protocol."""
    owners = _owners(context)
    _one_change(context)
    _callbacks(context)
    _starts_as_registered(context)
    for event in context.history.events:
        _agrees(context, event)
        if event.from_state == "NewPartition" and event.isr and event.leader is not None:
            _begins(context, event)
        _own_log(context, event, owners)


def _begins(context: RuleContext, event: Event) -> None:
    """The first state of a partition; models number epochs and versions differently."""
    context.looked(BEGINS_AS_ASSIGNED)
    values = (("leader epoch", event.leader_epoch), ("zkVersion", event.version))
    wrong = [f"{name} {value}" for name, value in values if value]
    if wrong:
        context.report(
            FindingKind.VIOLATION,
            BEGINS_AS_ASSIGNED,
            event,
            f"{event.topic}-{event.partition} is new, and has {' and '.join(wrong)}",
        )


def _agrees(context: RuleContext, event: Event) -> None:
    for wrong in _contradictions(context, event):
        if wrong:
            context.report(FindingKind.VIOLATION, LINE_AGREES, event, wrong)
            return


def _contradictions(context: RuleContext, event: Event) -> Iterator[str | None]:
    """Each comparison within a line: None if it is consistent, otherwise the contradiction."""
    seen: list[str | None] = []
    name, kind = f"{event.topic}-{event.partition}", event.kind
    if event.offline is not None and event.replicas is not None:
        others = set(event.offline) - set(event.replicas)
        text = f"{name}: {as_set(sorted(others))} are offline, and not among its replicas"
        seen.append(text if others else None)
    for what, brokers in (("the ISR", event.isr), ("the replicas", event.replicas)):
        if brokers is not None and len(brokers) > 1:
            text = f"{name}: a broker stands twice in {what} {brokers}"
            seen.append(text if len(set(brokers)) < len(brokers) else None)
    if event.template in _OF_SOME:
        seen.append(None if event.detail else "the line is of some topics or brokers, and of none")
    if event.again is not None:
        seen.append(f"the line names {name} and {event.again}, and tells of one partition")
    if kind == "change_failed" and event.known_epoch is not None:
        head, values = event.controller_epoch, event.known_epoch
        text = f"{name}: controller epoch {head} stands at the head of the line, and {values} in it"
        seen.append(text if head is not None and head != values else None)
    if kind in _OF_ITS_OWN and event.broker is not None and event.controller is not None:
        differ = event.broker != event.controller
        seen.append(
            f"broker {event.broker} names itself as broker {event.controller}" if differ else None
        )
    elif kind == "broker_registered" and event.broker is not None and event.replica is not None:
        differ = event.broker != event.replica
        text = f"broker {event.broker} is registered under the number {event.replica}"
        seen.append(text if differ else None)
    elif kind == "leader_and_isr_sent" and event.leader is not None and event.replica is not None:
        leads = event.replica == event.leader
        text = (
            f"{name}: broker {event.replica} is made {event.detail} in a state whose leader "
            f"is {event.leader}"
        )
        seen.append(text if leads != (event.detail == "leader") else None)
    elif kind in ("isr_shrunk", "isr_expanded") and event.isr is not None and event.detail:
        before, after = numbers(event.detail), set(event.isr)
        right = after < before if kind == "isr_shrunk" else before < after
        old, new = as_set(sorted(before)), as_set(sorted(after))
        text = f"{name}: the ISR is said to be {_VERB[kind]} from {old} to {new}"
        seen.append(None if right else text)
    elif kind == "isr_removed" and event.isr and event.replica is not None:
        isr = as_set(sorted(event.isr))
        text = f"{name}: broker {event.replica} is removed from the ISR, which is {isr}"
        seen.append(text if event.replica in event.isr and len(event.isr) > 1 else None)
    elif kind == "truncation_without_effect" and event.detail and event.offset is not None:
        text = f"{name}: a cut to {event.offset} takes away {event.detail}, the last in the log"
        seen.append(text if event.offset <= int(event.detail) else None)
    elif kind == "truncation_below_high_watermark" and event.high_watermark is not None:
        text = f"{name}: offset {event.offset} is not below high watermark {event.high_watermark}"
        seen.append(text if (event.offset or 0) >= event.high_watermark else None)
    elif kind == "log_removed" and (renamed := _RENAMED.fullmatch(event.detail or "")):
        # Of a long topic's name the folder has the beginning (KAFKA-4893).
        same = (event.topic or "").startswith(renamed[1]) and int(renamed[2]) == event.partition
        text = f"{name}: its log is renamed to that of {renamed[1]}-{renamed[2]}"
        seen.append(None if same else text)
    elif kind == "fetchers_added" and event.broker is not None and event.detail:
        leader = re.split(r", host=| for ", event.detail)[0].rpartition("=")[2]
        text = f"broker {event.broker} fetches from broker {leader}, which is itself"
        seen.append(text if leader == str(event.broker) else None)
    elif event.logger == FETCHER and event.leader is not None and event.broker is not None:
        text = f"{name}: broker {event.broker} fetches from broker {event.leader}, which is itself"
        seen.append(text if event.leader == event.broker else None)
    elif kind == "log_created" and (folder := _FOLDER.fullmatch(event.detail or "")):
        text = f"{name}: its log is made in the folder of {folder[1]}"
        seen.append(text if folder[1] != name and name.startswith(folder[2]) else None)
    elif kind == "log_completed" and event.offset is not None and event.detail is not None:
        start, marks = int(event.detail), (event.high_watermark, event.offset)
        text = f"{name}: the log begins at {start}, and its high watermark and end are {marks}"
        seen.append(None if all(m is None or start <= m <= event.offset for m in marks) else text)
    elif event.template == "preferred_by_broker" and event.replicas:
        text = f"{name}: its preferred replica is broker {event.replica}, of {event.replicas}"
        seen.append(text if event.replicas[0] != event.replica else None)
    elif kind == "producer_ids" and event.offset is not None and event.version is not None:
        first = (event.version - 1) * _PRODUCER_IDS
        right = (event.replica, event.offset, int(event.detail or 0)) == (
            event.broker, first, first + _PRODUCER_IDS - 1
        )  # fmt: skip
        text = f"block {event.version} of producer ids, each of {_PRODUCER_IDS}, begins at {first}"
        seen.append(None if right else f"{text}, and is taken by broker {event.broker}")
    elif kind == "topics_changed" and (lists := _LISTS.match(event.detail or "")):
        found = {each.rpartition("-")[0] for each in _shown(event)[0]}
        found -= set(_NAMES.findall(lists[1]))
        seen.append(f"replicas of {_some(found)} are read, which is not new" if found else None)
    elif kind == "broker_epochs" and event.detail:
        brokers = _HELD.findall(event.detail)
        twice = len(set(brokers)) < len(brokers)
        seen.append(f"a broker stands twice among {event.detail}" if twice else None)
    elif kind == "brokers_changed" and (named := _BROKERS.fullmatch((event.detail or "").strip())):
        seen.append(_of_brokers(*(_numbers(each) for each in named.groups(default=""))))
    elif kind in _TABLES and event.from_state and (event.to_state or "") in _TABLES[kind]:
        table, state = _TABLES[kind], event.to_state or ""
        text = (
            f"{name} changes from {event.from_state} to {state}, which follows "
            f"{' and '.join(table[state])} only"
        )
        led = kind == "partition_changed" and event.leader is not None
        led = led and state != "OnlinePartition"
        if led:
            text = f"{name} changes to {state} with leader {event.leader}: what is led is online"
        seen.append(None if event.from_state in table[state] and not led else text)
    context.looked(LINE_AGREES, len(seen))
    yield from seen


def _numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",") if each]


def _of_brokers(
    new: list[int], deleted: list[int], bounced: list[int], live: list[int]
) -> str | None:
    """Contradictions in the line that shows which brokers are new, gone, and live."""
    for what, brokers in (("new", new), ("deleted", deleted), ("bounced", bounced), ("live", live)):
        if len(set(brokers)) < len(brokers):
            return f"a broker stands twice among the {what} ones, {brokers}"
    there = as_set(sorted(live))
    for what, brokers in (("new", new), ("bounced", bounced)):
        if not set(brokers) <= set(live):
            some = as_set(sorted(brokers))
            return f"of the {what} brokers {some}, not all are among the live {there}"
    if set(deleted) & set(live):
        some = as_set(sorted(deleted))
        return f"of the deleted brokers {some}, some are among the live {there}"
    return None


_VERB = {"isr_shrunk": "shrunk", "isr_expanded": "expanded"}
_TABLES = {"partition_changed": PARTITION_TABLE, "replica_changed": REPLICA_TABLE}


# -- whose log it is ------------------------------------------------------------------------------


def _one_change(context: RuleContext) -> None:
    """A change and the controller's reaction to it are two lines of one thread.

    If each of two adjacent lines lacks its counterpart, one of them names a wrong writer: the
    writer of fewer lines around them, or in this log.
    """
    history = context.history
    logs: dict[str, list[Event]] = {}
    for event in history.events:
        if event.broker is not None and (_cause(event) or event.template in _COMES_OF.values()):
            logs.setdefault(history.places[event.file].stream, []).append(event)
    for stream, events in sorted(logs.items()):
        counted = history.writers_of_logs.get(stream, {})
        pairs = [
            (number, cause, effect)
            for number, (cause, effect) in enumerate(pairwise(events))
            if _cause(cause) == effect.template
            and 0 <= effect.at - cause.at <= _AT_ONCE
            and history.contiguous(cause, effect)
        ]
        whole = {n for n, a, b in pairs if a.broker == b.broker}
        for number, cause, effect in pairs:
            context.looked(OWN_LOG)
            if number in whole:
                continue
            near = [
                each
                for n, each in enumerate(events)
                if number - 4 <= n < number + 6
                and abs(each.at - cause.at) <= _AT_ONCE
                and not {n - 1, n} & whole
            ]
            if any(_of_one(each, cause, effect) for each in near):
                continue  # two controllers write this log, and both tell of a change
            around = Counter(
                each.broker
                for each in history.events
                if abs(each.at - cause.at) <= _AT_ONCE
                and history.places[each.file].stream == stream
                and each not in (cause, effect)
            )
            votes = {
                each.broker: (around[each.broker], counted.get(each.broker or 0, 0))
                for each in (cause, effect)
            }
            few, most = sorted((cause, effect), key=lambda each: votes[each.broker])
            if votes[few.broker] == votes[most.broker]:
                continue
            context.report(
                FindingKind.VIOLATION,
                OWN_LOG,
                few,
                f"the line names broker {few.broker} as its writer, and what it goes with, at "
                f"{most.where}, broker {most.broker}: one controller writes both",
                f"a line of broker {most.broker}",
            )


def _callbacks(context: RuleContext) -> None:
    """A controller's callback is for what the line before it shows as new or gone.

    A bounced broker fails and starts, each by a callback of its own.
    """
    history = context.history
    last: dict[tuple[str, int | None], Event] = {}
    of_moment: dict[tuple[str, int | None, int], list[Event]] = defaultdict(list)
    events = context.innocent(history.events)
    for event in events:
        if event.template in _CAUSES:
            of_moment[history.places[event.file].stream, event.broker, event.at].append(event)
    for event in events:
        key = history.places[event.file].stream, event.broker
        if event.template in _CAUSES:
            last[key] = event
        cause = last.get(key)
        if cause is None or cause.template not in _EFFECTS.get(event.template, ()):
            continue
        if not history.contiguous(cause, event):
            continue
        # Lines of one millisecond may stand in another order.
        shown = _shown(cause)
        shown += [each for beside in of_moment[*key, event.at] for each in _shown(beside)]
        said = set(_NAMES.findall(_OLD_NAME.sub(r"\1-\2", event.detail or "")))
        context.looked(STEPS_FOLLOW)
        if said not in shown and context.lacks(event, cause.where):
            context.report(
                FindingKind.VIOLATION,
                STEPS_FOLLOW,
                event,
                f"broker {event.broker} acts as the controller on {_some(said)} here, and the line "
                f"before, at {cause.where}, shows "
                + " and ".join(_some(each) for each in _shown(cause)),
                "what the line before shows as new, or gone",
            )


def _shown(cause: Event) -> list[set[str]]:
    """What a line shows as new or gone, one by one."""
    if cause.template == "brokers_changed":
        parts = (cause.detail or "").split(":")[:-1]
        return [{each for each in _NAMES.findall(part) if each.isdigit()} for part in parts]
    return [set(_ASSIGNED.findall(_OLD_NAME.sub(r"\1-\2", cause.detail or "")))]


def _starts_as_registered(context: RuleContext) -> None:
    """A process starts under the broker id that it registered, if no other starts beside it."""
    history = context.history
    stream = ""
    begun: list[Event] = []
    registered: list[Event] = []
    for event in history.events:
        here = history.places[event.file].stream
        if here != stream or event.kind == "process_stopped":
            stream, begun, registered = here, [], []
        if event.kind == "process_starting":
            begun.append(event)
            registered = []  # what stands before was in another session of the process before
        elif event.kind == "broker_registered":
            registered.append(event)
        elif event.kind == "process_started":
            if len(begun) == len(registered) == 1 and history.contiguous(begun[0], event):
                context.looked(OWN_LOG)
                if event.broker != registered[0].broker:
                    context.report(
                        FindingKind.VIOLATION,
                        OWN_LOG,
                        event,
                        f"broker {event.broker} has started here, and the process had registered "
                        f"as broker {registered[0].broker}, at {registered[0].where}",
                        f"broker {registered[0].broker}",
                    )
            begun, registered = [], []


def _some(names: set[str]) -> str:
    """Names as a finding shows them, shortened to a few."""
    return ", ".join(sorted(names)[:_FEW]) + ("" if len(names) <= _FEW else ", ...") or "nothing"


def _of_one(event: Event, cause: Event, effect: Event) -> bool:
    """Whether a line by the writer of one of the two may be the counterpart of that one."""
    return (event.broker == cause.broker and event.template == effect.template) or (
        event.broker == effect.broker and event.template == cause.template
    )


def _cause(event: Event) -> str | None:
    """The template of the line that follows from this one, if there is one."""
    if event.template == "topics_changed" and not _NEW_TOPICS.match(event.detail or ""):
        return None
    if event.template == "brokers_changed" and not _NEW_BROKERS.match(event.detail or ""):
        return None
    return _COMES_OF.get(event.template)


def _owners(context: RuleContext) -> dict[str, dict[int, int]]:
    """The broker of each log in which a few lines name another broker; those with their numbers.

    By log: the brokers that few of its lines name, with the number of lines by its own broker.
    A broker with many lines in another log of that folder shares the folder.
    """
    history = context.history
    folders = {place.stream: place.folder for place in history.places.values()}
    named: dict[str, Counter[int]] = defaultdict(Counter)
    for stream, counted in history.writers_of_logs.items():
        named[folders[stream]].update(counted)
    found = {}
    for stream, counted in history.writers_of_logs.items():
        inside = named[folders[stream]]
        few = {broker for broker in counted if inside[broker] <= STRAYED}
        if len(counted) - len(few) != 1 or not few:
            continue
        (owner,) = set(counted) - few
        # A log of few lines is that of the broker that writes the other logs of its folder.
        alone = set(inside) == {owner, *few}
        most = inside[owner] if alone and counted[owner] > STRAYED else counted[owner]
        if most >= MANY * len(few):
            found[stream] = dict.fromkeys(few, owner)
    return found


def _own_log(context: RuleContext, event: Event, owners: dict[str, dict[int, int]]) -> None:
    history = context.history
    place = history.places[event.file]
    if event.broker is None or not place.writers or event.kind in _NAMED_BY_OTHERS:
        return
    context.looked(OWN_LOG)
    owner = owners.get(place.stream, {}).get(event.broker)
    if owner is None or len(event.positions) > 1:
        return  # a copy of a line of its writer's own log was put in
    own = _own_files(context, event.broker, place)
    sure = files_cover_interval(own, event.at, event.at) and not history.clock_was_set(event)
    more = "" if sure else "; its own log, which would show that it writes elsewhere, is not here"
    context.report(
        FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
        OWN_LOG,
        event,
        f"the line names broker {event.broker} as its writer, and stands in the log of broker "
        f"{owner}{more}",
        f"a line of broker {owner}",
    )


def _own_files(context: RuleContext, broker: int, place: Place) -> list[Place]:
    """The files of a broker's own log with the same name as the log of `place`."""
    name = place.stream.rpartition("/")[2]
    files = [
        each
        for each in context.history.places.values()
        if each.stream != place.stream
        and each.stream.rpartition("/")[2] == name
        and dict(each.writers).get(broker, 0) > STRAYED
    ]
    streams = {each.stream for each in files}
    every = [each for each in context.history.places.values() if each.stream in streams]
    return sorted(every, key=lambda each: each.roll) if len(streams) == 1 else []
