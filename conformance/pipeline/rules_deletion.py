"""Rules about deletion: renamed logs, and topics whose logs were all deleted.

A log to be deleted is renamed first, and removed later. If the rename fails, the log directory goes
offline and the broker answers KAFKA_STORAGE_ERROR; the controller then marks the replica as
ineligible for deletion, and the topic stays until that broker restarts. The model's `topics` has
no folders or folder names, so these rules compare lines with each other.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise

from conformance.ingest.schema import Event
from conformance.pipeline.history import PROCESS, History
from conformance.pipeline.rule_context import RuleContext
from conformance.pipeline.rules import DELETED_IN_FULL, RENAMED, FindingKind

_APART = 900_000  # milliseconds by which clocks of two brokers may be apart
_ONE_REQUEST = 2  # lines that a broker writes of one request to stop a replica, at most
_AT_ONCE = 2000  # milliseconds between a request and what its broker cannot do


def check_names(context: RuleContext) -> None:
    """Checks each line that shows a log's new name, which is generated for it."""
    given: dict[tuple[int | None, str], Event] = {}
    for event in sorted(context.history.events, key=lambda each: (each.at, each.where)):
        if event.kind != "log_removed" or not event.detail:
            continue
        context.looked(RENAMED)
        first = given.setdefault((event.broker, event.detail), event)
        if first is not event and first.at < event.at:
            context.report(
                FindingKind.VIOLATION,
                RENAMED,
                event,
                f"{event.topic}-{event.partition}: broker {event.broker} renames a log to "
                f"{event.detail} here, and did so at {first.where}: each gets a name of its own",
            )
            continue
        name = f"{event.topic}-{event.partition}"
        if event.detail.replace("\\", "/").rpartition("/")[2] == name:
            context.report(
                FindingKind.VIOLATION,
                RENAMED,
                event,
                f"{name}: broker {event.broker} says that the log is renamed, and to be removed, "
                f"and names {event.detail}, where it was: nothing is renamed, and what the "
                "replica had stays",
            )


def check_made_again(context: RuleContext) -> None:
    """A log is created where none exists: an earlier one of the same process was renamed.

    A log that moves between directories is renamed without a log line.
    """
    history = context.history
    logs: dict[tuple[int | None, tuple[str, int] | None], Event] = {}
    stream = ""
    for event in history.events:
        here = history.places[event.file].stream
        if event.kind in PROCESS or here != stream:
            logs, stream = {}, here  # the process may be any one's that writes this log
        if event.kind not in ("log_created", "log_removed"):
            continue
        before, logs[event.broker, event.tp] = logs.get((event.broker, event.tp)), event
        if before is None or not before.kind == event.kind == "log_created":
            continue
        context.looked(RENAMED)
        if (
            before.detail == event.detail
            and history.contiguous(before, event)
            and not history.restart_between(before, event)
            and context.lacks(event, before.where)
        ):
            old = history.oldest_release < (0, 11)  # renamed since 0.10.2; or no line says which
            context.report(
                FindingKind.INCOMPLETE if old else FindingKind.VIOLATION,
                RENAMED,
                event,
                f"{event.tp_name}: its log is made in {event.detail} here, and was at "
                f"{before.where}; no line in between says that it was renamed",
                "the log that is there",
            )


def check_topics(context: RuleContext) -> None:
    """Compares each log that could not be renamed with the end of its topic's deletion."""
    failures: dict[str, list[Event]] = defaultdict(list)
    deleted: dict[str, list[Event]] = defaultdict(list)
    for event in context.history.events:
        if event.kind == "log_not_renamed":
            failures[_replica_of(event)[0]].append(event)
        elif event.kind == "topic_deleted" and event.topic:
            deleted[event.topic].append(event)
    for topic, ended in sorted(deleted.items()):
        _ends_once(context, topic, ended)
    for topic, failed in sorted(failures.items()):
        ends = sorted(deleted.get(topic, ()), key=lambda end: end.at)
        for failure in failed:
            context.looked(DELETED_IN_FULL)
            # Without an end the topic waits; one long before or after is of another deletion.
            end = next((end for end in ends if end.at >= failure.at), None)
            if end is not None and end.at - failure.at < _APART:
                _ends_without(context, failure, end, sole=len(ends) == 1)


def _ends_once(context: RuleContext, topic: str, ended: list[Event]) -> None:
    """Each topic deletion that ends was (re)started, if the log says so of the first one.

    A topic that is created again without partitions ends its deletion at once.
    """
    history = context.history
    named = re.compile(rf"(?<![\w.-]){re.escape(topic)}(?![\w.-])")
    begins = [
        event
        for event in history.events
        if (event.template == "deletion_started" and event.topic == topic)
        or event.kind == "controller_elected"
        or (event.kind == "topics_changed" and named.search(event.detail or ""))
    ]
    for one, other in pairwise(sorted(ended, key=history.key)):
        if one.broker != other.broker or not history.contiguous(one, other):
            continue
        context.looked(DELETED_IN_FULL)
        above = [event for event in begins if _before(history, event, other)]
        is_logged = any(event.template == "deletion_started" for event in above)
        if not is_logged or any(not _before(history, event, one) for event in above):
            continue
        context.report(
            FindingKind.VIOLATION,
            DELETED_IN_FULL,
            other,
            f"the deletion of topic {topic} ends here, and ended at {one.where}; no line between "
            "them says that it was started again",
        )


def _before(history: History, a: Event, b: Event) -> bool:
    """Whether a line stands above another in the same log."""
    streams = (history.places[each.file].stream for each in (a, b))
    return len(set(streams)) == 1 and history.key(a) < history.key(b)


def _ends_without(context: RuleContext, failure: Event, end: Event, sole: bool) -> None:
    """A topic's deletion ends although the log of one replica could not be renamed."""
    history = context.history
    if history.restart_between(end, failure) is not None:
        return  # it tried again
    topic, partition = _replica_of(failure)
    rounds = [
        event
        for event in history.events
        if event.template == "deletion_started" and event.topic == topic
    ]
    if any(failure.at < one.at <= end.at for one in rounds):
        return  # the request was sent again, and a log that is offline is no log to some releases
    sure = sole and len(rounds) == 1
    sure = sure and _one_request_failed(context, rounds[0], failure, end, (topic, partition))
    more = "" if sure else "; another request to delete it, or a new process, may be missing"
    context.report(
        FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
        DELETED_IN_FULL,
        end,
        f"the deletion of topic {topic} ends, and broker {failure.broker} could not rename the log "
        f"of {topic}-{partition} at {failure.where}{more}",
    )


def _one_request_failed(
    context: RuleContext, began: Event, failure: Event, end: Event, replica: tuple[str, int]
) -> bool:
    """Whether the deletion sent that broker one request for the replica, and got the failure."""
    history = context.history
    if history.reduced or not history.contiguous(began, end):
        return False
    requests, started = [], False
    for event in history.events:
        if event.tp != replica:
            continue
        if event.broker == failure.broker and event.kind == "log_removed":
            return False
        if event.broker == failure.broker and event.kind == "stop_replica_handled":
            if event.detail == "true":
                requests.append(event)
        elif event.kind == "replica_changed" and event.replica == failure.broker:
            own = event.controller in (None, end.broker) and began.at <= event.at <= end.at
            started |= own and event.to_state == "ReplicaDeletionStarted"
    if not started or not 1 <= len(requests) <= _ONE_REQUEST:
        return False
    asked = min(requests, key=lambda request: request.at)
    return (
        0 <= failure.at - asked.at < _AT_ONCE
        and history.complete(asked)
        and history.complete(failure)
        and history.log_covers(failure, end.at)
        and not history.clock_was_set(asked, failure, began, end)
    )


def _replica_of(failure: Event) -> tuple[str, int]:
    """Topic and partition, from the name of a folder."""
    topic, _, number = (failure.detail or "").rpartition("-")
    return topic, int(number) if number.isdigit() else -1
