"""Rules about truncation: no replica truncates what it knew to be committed.

A replica's high watermark only grows while its process lives, and is at most what the leader had
committed; so a cut below it takes committed records away. A process that starts again may know
less than the one before: it reads its checkpoint. A leader whose own log ended below (its disk lost
what was never forced to it, or it was elected out of the ISR) makes its followers cut as well: the
protocol was obeyed, and records are lost all the same. What a leader answers to a follower that
asks where an epoch ends, no release logs; so its log's end at the start of its epoch is taken.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise

from conformance.ingest.schema import Event
from conformance.ingest.templates_data_plane import FOLLOWED, RAISED
from conformance.pipeline.rule_context import RuleContext
from conformance.pipeline.rules import (
    COMMITTED_IS_KEPT,
    CUT_TO_EPOCH_END,
    STARTS_FROM_LOG,
    WATERMARK_IN_LOG,
    FindingKind,
)

_TELLS = frozenset(
    ("leader_started", "follower_started", "high_watermark_loaded", RAISED, FOLLOWED)
)
_STARTS = frozenset(("leader_started", "follower_started"))
_RECOVERING = "RECOVERING"
_STATES = frozenset(("partition_changed", "leader_and_isr_received", "metadata_cached"))
_TO_WATERMARK = "truncates_to_high_watermark"
_CUTS = frozenset(("log_truncated", "truncation_chosen"))
_OWN_WORDS = "truncation_below_high_watermark"
_FOLLOWS = frozenset(("leader_and_isr_received", "follower_started"))
_SKEW = 1000  # milliseconds by which a leader's clock may be ahead of its follower's
_APART = 900_000  # milliseconds by which clocks of two brokers may be apart
_SINCE_LED = 60_000  # milliseconds for which a leader goes on that another one was elected beside
_AT_ONCE = 2000  # milliseconds between what a fetcher chooses and the cut that comes of it


def check(bench: RuleContext) -> None:
    """Each replica by itself, with its leader, and the line in which a broker says it of itself."""
    _within_the_log(bench)
    _starts_from_its_log(bench)
    _where_the_leader_began(bench)
    replicas: dict[tuple[int, str, int], list[Event]] = defaultdict(list)
    leaders: dict[tuple[str, int], list[Event]] = defaultdict(list)
    said: list[Event] = []
    unclean = _unclean_elections(bench.history.events)
    for event in bench.innocent(bench.history.events):
        if event.tp is None or event.broker is None:
            continue
        if event.kind == "leader_started" and event.offset is not None:
            leaders[event.tp].append(event)
        if event.kind in _TELLS | _CUTS:
            replicas[event.broker, *event.tp].append(event)
        elif event.kind == _OWN_WORDS and event.high_watermark is not None:
            said.append(event)
    for event in said:
        bench.looked(COMMITTED_IS_KEPT)
        _blame(bench, event, event, leaders, unclean)
    for _, events in sorted(replicas.items()):
        _keeps(
            bench,
            sorted(events, key=lambda each: (each.at, bench.history.key(each))),
            leaders,
            unclean,
        )


def _unclean_elections(events: Iterable[Event]) -> dict[tuple[str, int], list[Event]]:
    """Elections of a leader that no line shows in the ISR before: up to 1.0 the controller says so
    itself, from 3.2 on in the state (KIP-704), and else the states tell, by their zkVersions."""
    shown: dict[tuple[str, int, int], list[list[int]]] = defaultdict(list)
    found: dict[tuple[str, int], list[Event]] = defaultdict(list)
    states = []
    for event in events:
        if event.tp is None:
            continue
        if event.kind == "unclean_election" or event.detail == _RECOVERING:
            found[event.tp].append(event)
        elif event.kind in _STATES and event.version is not None:
            states.append(event)
            if event.isr is not None:
                shown[*event.tp, event.version].append(event.isr)
    for event in states:
        before = shown.get((event.topic or "", event.partition or 0, (event.version or 0) - 1), [])
        leader = event.leader
        if (
            before
            and leader is not None
            and leader >= 0
            and all(leader not in isr for isr in before)
        ):
            found[event.topic or "", event.partition or 0].append(event)
    for some in found.values():
        some.sort(key=lambda each: (each.at, each.where))
    return found


def _starts_from_its_log(bench: RuleContext) -> None:
    """A replica's first start in a process, beside the log that was made for it, and its first cut.

    Nobody writes such a log before, and no fetcher of that process had the partition.
    """
    replicas: dict[tuple[int, str, int], list[Event]] = defaultdict(list)
    for event in bench.innocent(bench.history.events):
        if event.tp is None or event.broker is None:
            continue
        if event.kind in _STARTS or event.kind in ("log_created", *_CUTS):
            replicas[event.broker, *event.tp].append(event)
    for _, events in sorted(replicas.items()):
        ordered = sorted(events, key=lambda each: (each.at, bench.history.key(each)))
        for one, other in pairwise(ordered):
            if not 0 <= other.at - one.at < _AT_ONCE:
                continue
            first = other.kind in _STARTS and other.previous_epoch == -1
            if one.kind == "log_created" and first and other.offset is not None:
                _compared(
                    bench, one, other, other.offset, 0, "the log, which was made just before,"
                )
            elif (
                one.kind == "follower_started"
                and one.previous_epoch == -1
                and one.high_watermark is not None
                and other.template == _TO_WATERMARK
                and other.offset is not None
            ):
                _compared(
                    bench, one, other, other.offset, one.high_watermark,
                    "the high watermark with which it started",
                )  # fmt: skip


def _compared(
    bench: RuleContext, one: Event, other: Event, offset: int, expected: int, what: str
) -> None:
    bench.looked(STARTS_FROM_LOG)
    if offset == expected or not bench.history.same_process(one, other):
        return
    if not bench.lacks(other, one.where):
        return
    bench.report(
        FindingKind.VIOLATION,
        STARTS_FROM_LOG,
        other,
        f"{other.topic}-{other.partition}: offset {offset} is reported by broker {other.broker} "
        f"here, and {what} is at {expected}, by {one.where}",
        f"offset {expected}",
    )


def _within_the_log(bench: RuleContext) -> None:
    """Log end and high watermark in one line."""
    for event in bench.history.events:
        mark, end = event.high_watermark, event.offset
        if event.kind not in _TELLS or mark is None or end is None:
            continue
        bench.looked(WATERMARK_IN_LOG)
        if mark > end:
            bench.report(
                FindingKind.VIOLATION,
                WATERMARK_IN_LOG,
                event,
                f"{event.topic}-{event.partition}: broker {event.broker} starts in leader epoch "
                f"{event.leader_epoch} with high watermark {mark}, and its log ends at {end}",
                f"a high watermark of at most {end}",
            )


def _where_the_leader_began(bench: RuleContext) -> None:
    """A follower's cut, beside its leader's line of the same leader epoch.

    The leader's answer is where its next epoch after the follower's last one begins, and its own
    epoch is the last of them. Where retention or DeleteRecords took the records of all epochs
    before, that epoch begins where its log does now: what is below is owed to nobody. A leader that
    began twice in an epoch may have lost more meanwhile, and who cuts to its own high watermark was
    answered nothing: neither is judged.
    """
    began: dict[tuple[int, str, int, int], list[Event]] = defaultdict(list)
    lines: dict[tuple[int, str, int], list[Event]] = defaultdict(list)
    raised: dict[tuple[int, str, int], int] = defaultdict(int)
    for event in bench.innocent(bench.history.events):
        if event.tp is None or event.broker is None:
            continue
        if event.kind == "log_start_raised" and event.offset is not None:
            where = event.broker, *event.tp
            raised[where] = max(raised[where], event.offset)
        if event.kind == "leader_started" and event.leader_epoch is not None:
            began[event.broker, *event.tp, event.leader_epoch].append(event)
        if event.kind in _FOLLOWS | _CUTS:
            lines[event.broker, *event.tp].append(event)
    for (broker, topic, partition), events in sorted(lines.items()):
        followed: Event | None = None
        chosen: Event | None = None
        for event in sorted(events, key=lambda each: (each.at, bench.history.key(each))):
            if event.kind in _FOLLOWS:
                followed = event
            elif event.kind == "truncation_chosen":
                chosen = event
            elif followed is not None and followed.leader not in (None, broker):
                if chosen is not None and event.at - chosen.at < _AT_ONCE:
                    continue
                epoch = followed.leader_epoch or 0
                starts = began.get((followed.leader or 0, topic, partition, epoch), [])
                begins = raised[followed.leader or 0, topic, partition]
                _cut_to_epoch_end(bench, event, followed, starts, begins)


def _cut_to_epoch_end(
    bench: RuleContext, cut: Event, followed: Event, starts: list[Event], begins: int
) -> None:
    """``begins``: where the leader's log began at most."""
    if len(starts) != 1 or starts[0].offset is None or cut.offset is None:
        return
    (start,) = starts
    if _began_anew(bench, followed, cut) or bench.history.topic_began(start, cut):
        return
    bench.looked(CUT_TO_EPOCH_END)
    if cut.offset <= max(start.offset or 0, begins):
        return
    file = bench.history.places[start.file]
    later = file.until is not None and file.until > cut.at
    later = later and not (file.jumps or file.holes or file.damaged)
    sure = bench.history.complete(start) or later  # else it may have begun again, and tells nowhere
    sure = sure and bench.history.same_process(followed, cut)
    sure = sure and not bench.history.clock_was_set(followed, cut)
    more = "" if sure else "; a later start of either process may be missing"
    bench.report(
        FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
        CUT_TO_EPOCH_END,
        cut,
        f"{cut.topic}-{cut.partition}: broker {cut.broker} cuts its log to {cut.offset}, and its "
        f"leader, broker {start.broker}, began leader epoch {start.leader_epoch} with a log that "
        f"ended at {start.offset}, at {start.where}{more}",
        f"an offset of at most {start.offset}",
    )


def _keeps(
    bench: RuleContext,
    events: list[Event],
    leaders: Mapping[tuple[str, int], list[Event]],
    unclean: Mapping[tuple[str, int], list[Event]],
) -> None:
    """One replica's lines, from whichever log; the clock is its broker's own in all of them."""
    known: Event | None = None
    for event in events:
        if known is not None and _began_anew(bench, known, event):
            known = None
        mark = None if known is None else known.high_watermark
        if event.kind in _TELLS:
            if event.high_watermark is not None and event.high_watermark >= (mark or 0):
                known = event
        elif known is not None and mark is not None and event.offset is not None:
            bench.looked(COMMITTED_IS_KEPT)
            if event.offset < mark:
                _blame(bench, event, known, leaders, unclean)


def _blame(
    bench: RuleContext,
    cut: Event,
    known: Event,
    leaders: Mapping[tuple[str, int], list[Event]],
    unclean: Mapping[tuple[str, int], list[Event]],
) -> None:
    """A cut below the high watermark that `known` tells: whose fault is it?"""
    assert cut.tp is not None
    mark = known.high_watermark or 0
    why = (
        f"{cut.topic}-{cut.partition}: broker {cut.broker} cuts its log to {cut.offset}, and its "
        f"high watermark was {mark} at {known.where}; "
    )
    leader = _leader_of(cut, leaders.get(cut.tp, ()))
    if leader is not None and (leader.offset or 0) < mark:
        kind = FindingKind.EXPLAINED
        why += (
            f"its leader, broker {leader.broker}, began with a log that ended at {leader.offset}, "
            f"at {leader.where}: what was committed is lost, by its disk or by an unclean election"
        )
    elif elections := [
        each
        for each in unclean.get(cut.tp, ())
        if known.at - _SINCE_LED <= each.at <= cut.at + _SKEW
    ]:
        kind = FindingKind.EXPLAINED
        why += f"its leader was elected from outside the ISR, at {elections[-1].where}"
    elif (
        leader is not None
        and bench.history.same_process(known, cut)
        and not bench.history.clock_was_set(known, cut)
        and not _may_have_lost(cut, mark, leader, leaders[cut.tp])
    ):
        kind = FindingKind.VIOLATION
        why += f"its leader had all up to {leader.offset} at {leader.where}"
    else:
        kind = FindingKind.INCOMPLETE
        why += "what its leader had, or a new start of its process, may be missing"
    bench.report(kind, COMMITTED_IS_KEPT, cut, why, f"an offset of {mark} or more")


def _may_have_lost(cut: Event, mark: int, leader: Event, starts: Iterable[Event]) -> bool:
    """Whether the leader began with less at about that time, by clocks that may be apart."""
    return any(
        start.broker == leader.broker
        and (start.offset or 0) < mark
        and abs(start.at - cut.at) < _APART
        for start in starts
    )


def _leader_of(cut: Event, starts: Iterable[Event]) -> Event | None:
    """The last start of the leader that a cut follows, as its fetcher names it, else of any."""
    found = [
        start
        for start in starts
        if start.broker != cut.broker
        and cut.leader in (None, start.broker)
        and start.at <= cut.at + _SKEW
    ]
    return max(found, key=lambda start: start.at, default=None)


def _began_anew(bench: RuleContext, a: Event, b: Event) -> bool:
    history = bench.history
    return bool(
        history.restarted(a, b)
        or history.reset(a, b)
        or history.topic_began(a, b)
        or history.replica_began(a, b)
        or history.replica_stopped(a, b)
    )
