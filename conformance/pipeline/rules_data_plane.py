"""Rules about how followers apply leaders' responses, and high watermarks (DEBUG, TRACE).

A line about a fetch has the log before it and the leader's response; the following lines show the
log and the high watermark after it. The model's `follower_appends` decides, from the offsets in
these lines alone, which step this is: the step depends on nothing else. Offsets that the lines do
not distinguish are one record in the model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from conformance.ingest.schema import Event
from conformance.ingest.templates_data_plane import FOLLOWED, KINDS, RAISED, RECEIVED, REPLICATED
from conformance.pipeline import rules_fetches
from conformance.pipeline.request_rows import REQUESTS
from conformance.pipeline.rule_context import RuleContext
from conformance.pipeline.rules import (
    FETCHES_FROM_ITS_END,
    FOLLOWS_AS_ANSWERED,
    TRUNCATED_AS_ANSWERED,
    WATERMARK_NEVER_FALLS,
    FindingKind,
)
from model.systems import system
from specs.partial.compiled_steps import CompiledSteps

_FOLLOWER, _LEADER = 1, 2
_CLOSE = 2_000  # milliseconds: two lines of one fetcher, or of one leader
_APART = 900_000  # milliseconds by which clocks of two brokers may be apart
_ENDS = frozenset(("log_truncated", "leader_started", "follower_started", "log_created",
                   "log_removed", "truncation_chosen", "fetch_offset_reset",
                   "leader_and_isr_received"))  # fmt: skip
"""Kinds after which a log may end elsewhere than it did."""
_AS_ANSWERED = "truncates_to_state"
_JUDGED = _ENDS | {*KINDS, rules_fetches.RAISED_START}


Replicas = Mapping[tuple[int, str, int], list[Event]]


def check(context: RuleContext, fenced: bool = False) -> None:
    """Checks each replica separately, in the order of its own log.

    `fenced`: the brokers are known to fence every fetch, as from 2.5.
    """
    replicas: dict[tuple[int, str, int], list[Event]] = defaultdict(list)
    has_watermarks = served = False
    for event in context.history.events:
        served = served or event.kind in REQUESTS
        if event.tp is not None and event.broker is not None and event.kind in _JUDGED:
            replicas[event.broker, *event.tp].append(event)
            has_watermarks = has_watermarks or event.kind in KINDS
    rules_fetches.beside_roles(context, replicas, fenced)
    if served:  # else these are lines of one partition, beside the requests of its cluster
        rules_fetches.check(context, fenced)
    if context.history.epoch_answers:
        _cuts(context, replicas)
    if not has_watermarks:
        return
    for _, events in sorted(replicas.items()):
        ordered = sorted(events, key=lambda each: (each.at, context.history.key(each)))
        _follows(context, ordered)
        _grows(context, ordered)


def _cuts(context: RuleContext, replicas: Replicas) -> None:
    """Compares a follower's truncation in a leader epoch with the answers it got in that epoch."""
    ends = context.history.epoch_answers
    for (broker, topic, partition), events in sorted(replicas.items()):
        follows: Event | None = None
        chosen: Event | None = None
        for event in sorted(events, key=lambda each: (each.at, context.history.key(each))):
            if event.kind in ("leader_and_isr_received", "follower_started"):
                follows = event
            elif event.kind == "truncation_chosen":
                chosen = event
            elif chosen is not None and event.at - chosen.at < _CLOSE and _is_own_choice(chosen):
                continue
            elif event.kind == "log_truncated" and follows is not None and event.offset is not None:
                answers = ends.get((broker, topic, partition, follows.leader_epoch or 0), [])
                if not answers or any(end < 0 for end, _ in answers):
                    continue  # nothing was answered, or that the epoch is not known
                most, where = max(answers, key=lambda one: one[0])
                context.looked(TRUNCATED_AS_ANSWERED)
                if event.offset > most:
                    sure = _all_answers(context, where, follows)
                    sure = sure and context.history.same_process(follows, event)
                    context.report(
                        FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
                        TRUNCATED_AS_ANSWERED, event,
                        f"{_name(event)} is cut to {event.offset} in leader epoch "
                        f"{follows.leader_epoch}, and its leader answered that the epoch ends at "
                        f"{most} ({where.where})", f"{most} or less",
                    )  # fmt: skip


def _is_own_choice(chosen: Event) -> bool:
    """Whether a follower truncates to an offset that is not from an answer about an epoch."""
    return chosen.template != _AS_ANSWERED


def _all_answers(context: RuleContext, answer: Event, follows: Event) -> bool:
    """Whether the request log is without gaps, from well before the follower began to follow."""
    since = context.history.places[answer.file].since
    return context.history.complete(answer) and since is not None and since < follows.at - _APART


def _follows(context: RuleContext, events: list[Event]) -> None:
    known: int | None = None
    events, starts = _without_raised_starts(events)
    for at, event in enumerate(events):
        if event.kind in _ENDS or (at and not _goes_on(context, events[at - 1], event)):
            known = None
        if event.kind != RECEIVED or event.offset is None or event.high_watermark is None:
            continue
        end = event.offset
        if known is not None:
            context.looked(FETCHES_FROM_ITS_END)
            if end != known and context.beside_each_other(event, events[at - 1]):
                context.report(
                    _sure(events[at - 1], event), FETCHES_FROM_ITS_END, event,
                    f"{_name(event)} ends at {end}, and after the fetch before it ended at {known}",
                    f"a log that ends at {known}",
                )  # fmt: skip
        after, mark = end, None
        for later in _answer(context, events, at):
            if later.kind == REPLICATED and later.offset is not None:
                after = later.offset
            elif later.kind == FOLLOWED:
                mark = later
        known = after
        if mark is not None and mark.high_watermark is not None:
            _as_answered(context, event, mark, after, starts[id(mark)])


def _without_raised_starts(events: list[Event]) -> tuple[list[Event], dict[int, int]]:
    """The other lines, and by line the log start then: retention has a thread of its own."""
    others, starts, start = [], {}, 0
    for event in events:
        if event.kind == rules_fetches.RAISED_START:
            start = max(start, event.offset or 0)
        else:
            others.append(event)
            starts[id(event)] = start
    return others, starts


def _answer(context: RuleContext, events: list[Event], at: int) -> Iterator[Event]:
    """The lines that show the effect of one response."""
    for number in range(at + 1, min(at + 3, len(events))):
        later = events[number]
        if later.kind not in (REPLICATED, FOLLOWED) or not _goes_on(context, events[at], later):
            return
        yield later
        if later.kind == FOLLOWED:
            return


def _goes_on(context: RuleContext, one: Event, other: Event) -> bool:
    """Whether no line can be missing between two lines of a replica, in one process."""
    history = context.history
    return (
        one.file == other.file
        and history.contiguous(one, other)
        and history.same_process(one, other)
    )


def _sure(one: Event, other: Event) -> FindingKind:
    """VIOLATION if two lines are close in time, as log levels may change while a broker runs."""
    return FindingKind.VIOLATION if 0 <= other.at - one.at < _CLOSE else FindingKind.INCOMPLETE


def _as_answered(context: RuleContext, asked: Event, mark: Event, after: int, start: int) -> None:
    """``start``: the least log start offset, as far as it was logged. Since 2.5 a high watermark
    is never below it."""
    answered, became = asked.high_watermark or 0, mark.high_watermark or 0
    end = asked.offset or 0
    context.looked(FOLLOWS_AS_ANSWERED)
    mine = appended(end, after, answered)
    context.fired["follower_appends"] += 1
    if mine < became == start:
        return
    if mine != became and context.beside_each_other(mark, asked):
        # A log that was loaded may begin later than its lines show.
        context.report(
            FindingKind.INCOMPLETE if mine < became <= after else FindingKind.VIOLATION,
            FOLLOWS_AS_ANSWERED, mark,
            f"{_name(asked)} ends at {after}, its leader answered high watermark {answered} "
            f"({asked.where}), and its own becomes {became}; follower_appends makes it {mine}",
            f"high watermark {mine}",
        )  # fmt: skip


def _grows(context: RuleContext, events: list[Event]) -> None:
    """Checks that a leader's high watermark grows, from one start to the next."""
    known: Event | None = None
    for event in events:
        if event.kind != RAISED:
            known = None if event.kind in _ENDS else known
            continue
        if known is not None and _goes_on(context, known, event):
            context.looked(WATERMARK_NEVER_FALLS)
            was, now = known.high_watermark or 0, event.high_watermark or 0
            if now < was and context.beside_each_other(event, known):
                context.report(
                    _sure(known, event), WATERMARK_NEVER_FALLS, event,
                    f"{_name(event)}: the leader's high watermark falls from {was} "
                    f"({known.where}) to {now}", f"{was} or more",
                )  # fmt: skip
        known = event


def _name(event: Event) -> str:
    return f"{event.topic}-{event.partition}: the log of broker {event.broker}"


@lru_cache(maxsize=65536)
def appended(end: int, after: int, answered: int) -> int:
    """A follower's high watermark, by the model, after its log grew from ``end`` to ``after`` and
    its leader's response was ``answered``.
    """
    places = sorted({0, end, after, answered})
    begins, ends, mark = (places.index(one) for one in (end, after, answered))
    moves = _moves()
    numbers, ledger = moves.numbers, moves.ledger
    ledger.load({})
    step = moves.by_name["follower_appends"]
    ledger.apply([
        (numbers["replica.role"], (_FOLLOWER,), 2), (numbers["replica.leader"], (_FOLLOWER,), 2),
        (numbers["replica.epoch"], (_FOLLOWER,), 1), (numbers["log.end"], (_FOLLOWER,), begins),
    ])  # fmt: skip
    for record in range(begins, max(ends, begins + 1)):
        slot = {"state": 4, "epoch": 1, "offset": record, "hw": mark,
                "has_record": int(ends > begins), "id": 0, "record_epoch": 1}  # fmt: skip
        at = (_FOLLOWER, _LEADER)
        ledger.apply([(numbers[f"fetch.{name}"], at, code) for name, code in slot.items()])
        assert step.refusal(*at) < 0, "a follower that waits for an answer takes it"
        moves.take(step, at)
    return places[int(ledger.read(numbers["replica.hw"], (_FOLLOWER,)))]


@cache
def _moves() -> CompiledSteps:
    return CompiledSteps(system("replication").recorded(), {"brokers": 2}, frozenset())
