"""Rules about truncation: no replica truncates what was committed.

A replica's high watermark is at most what the leader had committed; so a truncation below it
removes committed records. All members of an ISR have what its leader reports as committed. A
restarted process may have less than the one before, and know less: it reads its checkpoint. A
leader whose own log ended lower (its disk lost records that were never flushed, or it was elected
outside the ISR) makes its followers truncate too: the protocol was obeyed, and records are lost all
the same. No release logs a leader's response to a follower that asks for the end of an epoch, so
the leader's log end offset at the start of its epoch is used. The model truncates by the epochs of
both logs; lines at INFO show only log ends and high watermarks, so these are compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from conformance.ingest.schema import Event
from conformance.ingest.templates_data_plane import FOLLOWED, RAISED
from conformance.pipeline.history import History
from conformance.pipeline.monotonicity import ValueSeen
from conformance.pipeline.rule_context import RuleContext
from conformance.pipeline.rules import (
    NO_TRUNCATION_BELOW_HIGH_WATERMARK,
    STARTS_FROM_LOG,
    TRUNCATED_TO_EPOCH_END,
    WATERMARK_IN_LOG,
    FindingKind,
)

_SHRUNK = "isr_shrunk"
_LOADED = frozenset(("high_watermark_loaded", "replica_loaded"))
_TELLS = _LOADED | {"leader_started", "follower_started", RAISED, FOLLOWED, _SHRUNK}
_COMPLETED = "log_completed"
_LOADS = frozenset(("log_loaded", _COMPLETED))
_STARTS = frozenset(("leader_started", "follower_started"))
_AFTER_LOADING = frozenset(("process_started", "process_controller_thread"))
"""Lines that a process writes once its logs are loaded, before its replicas start."""
_ROLES = _STARTS | {"leader_and_isr_received", "leader_and_isr_applied"}
_RECOVERING = "RECOVERING"
_STATES = frozenset(("partition_changed", "leader_and_isr_received", "metadata_cached"))
_TO_WATERMARK = "truncates_to_high_watermark"
_BY_ITSELF = frozenset((_TO_WATERMARK, "truncates_to_own_end"))
"""Lines of a follower that no epoch tells where to cut: it cuts to its own high watermark."""
_CUTS = frozenset(("log_truncated", "truncation_chosen"))
_RESETS = frozenset(("fetch_offset_reset",))
_OWN_WORDS = "truncation_below_high_watermark"
_FOLLOWS = frozenset(("leader_and_isr_received", "follower_started"))
_SKEW = 1000  # milliseconds by which a leader's clock may be ahead of its follower's
_APART = 900_000  # milliseconds by which clocks of two brokers may be apart
_SINCE_LED = 60_000  # milliseconds for which a leader goes on that another one was elected beside
_AT_ONCE = 2000  # milliseconds between what a fetcher chooses and the cut that comes of it


def check(context: RuleContext) -> None:
    """Checks each replica with its leader, and each line in which a broker reports a truncation."""
    _within_the_log(context)
    _starts_from_its_log(context)
    _loaded_within_the_log(context)
    _where_the_leader_began(context)
    replicas: dict[tuple[int, str, int], list[Event]] = defaultdict(list)
    leaders: dict[tuple[str, int], list[Event]] = defaultdict(list)
    said: list[Event] = []
    unclean = _unclean_elections(context.history.events)
    for event in context.innocent(context.history.events):
        if event.tp is None or event.broker is None:
            continue
        if event.kind == "leader_started" and event.offset is not None:
            leaders[event.tp].append(event)
        if event.kind in _TELLS | _CUTS | _ROLES | _RESETS:
            replicas[event.broker, *event.tp].append(event)
        elif event.kind == _OWN_WORDS and event.high_watermark is not None:
            said.append(event)
    for event in said:
        context.looked(NO_TRUNCATION_BELOW_HIGH_WATERMARK)
        _blame(context, event, _KnownCommitted(event, event), leaders, unclean)
    for events in replicas.values():
        events.sort(key=lambda each: (each.at, context.history.key(each)))
    shrunk = _told_of_members(context, replicas)
    for where, events in sorted(replicas.items()):
        events = _without_second_starts(events)
        _keeps(context, events, shrunk.get(where, []), leaders, unclean)
        _log_ends(context, events)


def _unclean_elections(events: Iterable[Event]) -> dict[tuple[str, int], list[Event]]:
    """Elections of a leader outside the previous ISR: up to 1.0 the controller logs them, from 3.2
    on the state shows them (KIP-704), and otherwise the states do, by their zkVersions."""
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


def _starts_from_its_log(context: RuleContext) -> None:
    """Compares a replica's first start in a process with its loaded log and its first truncation.

    Nobody writes such a log before, and no fetcher of that process had the partition. A log that
    is "created" (LogManager) is loaded as well: its folder may be left of an earlier topic, where
    it could not be renamed.
    """
    replicas: dict[tuple[int, str, int], list[Event]] = defaultdict(list)
    for event in context.innocent(context.history.events):
        if event.tp is None or event.broker is None:
            continue
        if event.kind in _STARTS or event.kind in (*_LOADS, *_CUTS):
            replicas[event.broker, *event.tp].append(event)
    for _, events in sorted(replicas.items()):
        ordered = sorted(events, key=lambda each: (each.at, context.history.key(each)))
        led: Event | None = None
        loaded: list[Event] = []
        for one, other in pairwise(ordered):
            led = one if one.kind == "leader_started" else led
            loaded = [*loaded, one] if one.kind in _LOADS else []
            first = other.kind in _STARTS and other.previous_epoch == -1
            if loaded and first:
                _begins_where_loaded(context, loaded, other)
            if not 0 <= other.at - one.at < _AT_ONCE:
                continue
            if one.kind == "follower_started" and other.kind == "log_truncated":
                if one.at < other.at and _had_no_fetcher(context, one, led):
                    _cuts_what_is_there(context, one, other)
            elif (
                one.kind == "follower_started"
                and one.previous_epoch == -1
                and one.high_watermark is not None
                and other.template == _TO_WATERMARK
                and other.offset is not None
            ):
                _compared(
                    context, one, other, other.offset, one.high_watermark,
                    "the high watermark with which it started",
                )  # fmt: skip


def _begins_where_loaded(context: RuleContext, loaded: Sequence[Event], start: Event) -> None:
    """`loaded`: these may include earlier segments of one log, and a future log."""
    last, history = loaded[-1], context.history
    if start.offset is None or last.offset is None:
        return
    near = 0 <= start.at - last.at < _AT_ONCE
    if not near and (
        _began_anew(context, last, start, but=_AFTER_LOADING) or history.clock_was_set(last, start)
    ):
        return
    ends = {each.offset for each in loaded}
    before = loaded[-2] if len(loaded) > 1 else last
    if last.kind == _COMPLETED and before.offset != last.offset and last.at - before.at < _AT_ONCE:
        # The end of what was loaded at one time is in three lines, of which one is wrong.
        wrong = before if last.offset == start.offset else last
        if start.offset in (before.offset, last.offset):
            _compared(context, start, wrong, wrong.offset or 0, start.offset, "the start of it")
            return
    expected = start.offset if start.offset in ends else last.offset
    _compared(context, last, start, start.offset, expected, "the log, as it was loaded,")
    if len(loaded) == 1 and last.offset != start.offset and context.lacks(last, start.where):
        context.report(
            FindingKind.INCOMPLETE,
            STARTS_FROM_LOG,
            last,
            f"{last.topic}-{last.partition}: the log is loaded up to {last.offset} here, and its "
            f"replica starts at {start.offset}, at {start.where}; which is wrong is open",
            f"offset {start.offset}",
        )


def _had_no_fetcher(context: RuleContext, start: Event, led: Event | None) -> bool:
    """Whether no fetcher of an earlier leader can write to the log of the new follower.

    A fetcher is stopped only after that line.
    """
    return start.previous_epoch == -1 or (
        led is not None
        and led.leader_epoch == start.previous_epoch
        and not _began_anew(context, led, start)
        and context.history.same_process(led, start)
    )


def _cuts_what_is_there(context: RuleContext, start: Event, cut: Event) -> None:
    """A follower's first truncation: only one below the log end offset is logged."""
    if start.offset is None or cut.offset is None:
        return
    context.looked(STARTS_FROM_LOG)
    if cut.offset < start.offset or not context.history.same_process(start, cut):
        return
    if context.history.clock_was_set(start, cut) or not context.lacks(cut, start.where):
        return
    streams = (context.history.places[each.file].stream for each in (start, cut))
    sure = len(set(streams)) == 1
    context.report(
        FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
        STARTS_FROM_LOG,
        cut,
        f"{cut.topic}-{cut.partition}: broker {cut.broker} cuts its log to {cut.offset} here, and "
        f"started to follow with a log that ended at {start.offset}, at {start.where}"
        + ("" if sure else "; the clocks of the two logs may be apart"),
        f"an offset below {start.offset}",
    )


def _compared(
    context: RuleContext, one: Event, other: Event, offset: int, expected: int, what: str
) -> None:
    context.looked(STARTS_FROM_LOG)
    if offset == expected or not context.history.same_process(one, other):
        return
    if not context.lacks(other, one.where):
        return
    context.report(
        FindingKind.VIOLATION,
        STARTS_FROM_LOG,
        other,
        f"{other.topic}-{other.partition}: offset {offset} is reported by broker {other.broker} "
        f"here, and {what} is at {expected}, by {one.where}",
        f"offset {expected}",
    )


def _within_the_log(context: RuleContext) -> None:
    """Compares log end offset and high watermark in one line."""
    for event in context.history.events:
        mark, end = event.high_watermark, event.offset
        if event.kind not in _TELLS or mark is None or end is None:
            continue
        context.looked(WATERMARK_IN_LOG)
        if mark > end:
            context.report(
                FindingKind.VIOLATION,
                WATERMARK_IN_LOG,
                event,
                f"{event.topic}-{event.partition}: broker {event.broker} says that its high "
                f"watermark is {mark}, and that its log ends at {end}",
                f"a high watermark of at most {end}",
            )


def _loaded_within_the_log(context: RuleContext) -> None:
    """Compares a replica's loaded high watermark with its first start in a process.

    A checkpoint above the log end offset is lowered to it (Log.updateHighWatermark, Replica), and
    the replica starts at once with what it loaded. A future log may be loaded too.
    """
    loaded: dict[tuple[int, str, int], list[Event]] = defaultdict(list)
    history, events = context.history, context.innocent(context.history.events)
    for event in events:
        if event.kind in _LOADED and event.tp is not None and event.broker is not None:
            loaded[event.broker, *event.tp].append(event)
    for start in events:
        if start.kind not in _STARTS or start.previous_epoch != -1 or start.offset is None:
            continue
        where = start.broker or 0, start.topic or "", start.partition or 0
        near = [each for each in loaded.get(where, ()) if 0 <= start.at - each.at < _AT_ONCE]
        if not near or history.clock_was_set(near[-1], start):
            continue
        context.looked(WATERMARK_IN_LOG)
        end, last = start.offset, near[-1]
        if any((each.high_watermark or 0) <= end for each in near):
            continue
        if not history.same_process(last, start) or not context.lacks(last, start.where):
            continue
        context.report(
            FindingKind.VIOLATION,
            WATERMARK_IN_LOG,
            last,
            f"{last.topic}-{last.partition}: broker {last.broker} loads its replica with high "
            f"watermark {last.high_watermark} here, and its log ends at {end}, at {start.where}",
            f"a high watermark of at most {end}",
        )


def _where_the_leader_began(context: RuleContext) -> None:
    """Compares a follower's truncation with its leader's line of the same leader epoch.

    The leader's response is the start of its next epoch after the follower's last one; its own
    epoch is the last of them. If retention or DeleteRecords removed all records of earlier
    epochs, that epoch begins at the log start, and lower records are not required. Not judged are
    a leader that began twice in an epoch (it may have lost more meanwhile), a follower that
    truncates to its own high watermark (it got no response), and a log left from an earlier topic
    of that name (its replica was moved away from a dead broker), which may end in any epoch.
    """
    began: dict[tuple[int, str, int, int], list[Event]] = defaultdict(list)
    lines: dict[tuple[int, str, int], list[Event]] = defaultdict(list)
    raised: dict[tuple[int, str, int], int] = defaultdict(int)
    for event in context.innocent(context.history.events):
        if event.tp is None or event.broker is None:
            continue
        if event.kind == "log_start_raised" and event.offset is not None:
            where = event.broker, *event.tp
            raised[where] = max(raised[where], event.offset)
        if event.kind == "leader_started" and event.leader_epoch is not None:
            began[event.broker, *event.tp, event.leader_epoch].append(event)
        if event.kind in _FOLLOWS | _CUTS | {"log_created"}:
            lines[event.broker, *event.tp].append(event)
    for (broker, topic, partition), events in sorted(lines.items()):
        followed: Event | None = None
        chosen: Event | None = None
        made: Event | None = None  # the log, or the first line of its replica
        for event in sorted(events, key=lambda each: (each.at, context.history.key(each))):
            made = event if made is None or event.kind == "log_created" else made
            if event.kind == "log_created":
                continue
            if event.kind in _FOLLOWS:
                if followed is None or not _is_late(context.history, followed, event):
                    followed = event
            elif event.kind == "truncation_chosen":
                chosen = event
            elif followed is not None and followed.leader not in (None, broker):
                if chosen is not None and event.at - chosen.at < _AT_ONCE:
                    continue
                if context.history.topic_began(made, event):
                    continue
                epoch = followed.leader_epoch or 0
                starts = began.get((followed.leader or 0, topic, partition, epoch), [])
                begins = raised[followed.leader or 0, topic, partition]
                _cut_to_epoch_end(context, event, followed, starts, begins)


def _is_late(history: History, followed: Event, event: Event) -> bool:
    """A request of an earlier leader epoch is refused: no broker follows by it."""
    return (event.leader_epoch or 0) < (followed.leader_epoch or 0) and (
        history.topic_began(followed, event) is None
    )


def _cut_to_epoch_end(
    context: RuleContext, cut: Event, followed: Event, starts: list[Event], begins: int
) -> None:
    """``begins``: the highest possible start of the leader's log."""
    if len(starts) != 1 or starts[0].offset is None or cut.offset is None:
        return
    (start,) = starts
    if _began_anew(context, followed, cut) or context.history.topic_began(start, cut):
        return
    context.looked(TRUNCATED_TO_EPOCH_END)
    if cut.offset <= max(start.offset or 0, begins):
        return
    file = context.history.places[start.file]
    later = file.until is not None and file.until > cut.at
    later = later and not (file.jumps or file.holes or file.damaged)
    sure = (
        context.history.complete(start) or later
    )  # else it may have begun again, and tells nowhere
    sure = sure and context.history.same_process(followed, cut)
    sure = sure and not context.history.clock_was_set(followed, cut)
    more = "" if sure else "; a later start of either process may be missing"
    context.report(
        FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
        TRUNCATED_TO_EPOCH_END,
        cut,
        f"{cut.topic}-{cut.partition}: broker {cut.broker} cuts its log to {cut.offset}, and its "
        f"leader, broker {start.broker}, began leader epoch {start.leader_epoch} with a log that "
        f"ended at {start.offset}, at {start.where}{more}",
        f"an offset of at most {start.offset}",
    )


def _without_second_starts(events: list[Event]) -> list[Event]:
    """Leaves out a leader's further starts in one epoch, which are wrong by themselves and have a
    rule of their own (`rules_states`)."""
    kept: list[Event] = []
    epoch: int | None = None
    for event in events:
        if event.kind != "leader_started" or event.leader_epoch != epoch:
            kept.append(event)
        epoch = event.leader_epoch if event.kind in _STARTS else epoch
    return kept


@dataclass(frozen=True)
class _KnownCommitted:
    """The committed part of a replica's log: `shown` says up to where; `since` is the line of its
    own broker, whose process had it."""

    shown: Event
    since: Event

    @property
    def mark(self) -> int:
        """The high watermark."""
        return self.shown.high_watermark or 0


def _told_of_members(
    context: RuleContext, replicas: Mapping[tuple[int, str, int], list[Event]]
) -> dict[tuple[int, str, int], list[tuple[int, Event]]]:
    """By replica: what leaders reported as committed while it was in their ISR, with their epochs.

    Every member of a leader's ISR has what that leader has committed.
    """
    history = context.history
    found: dict[tuple[int, str, int], list[tuple[int, Event]]] = defaultdict(list)
    for (broker, topic, partition), events in sorted(replicas.items()):
        role: Event | None = None
        for number, event in enumerate(events):
            if event.kind in _ROLES and event.leader_epoch is not None:
                role = event
            elif event.kind == _SHRUNK and event.high_watermark and role is not None:
                near = (each for each in events[number:] if each.at <= event.at + _SKEW)
                if (
                    event.at - role.at > _SKEW
                    and not any(each.kind in _ROLES for each in near)
                    and history.log_covers(role, event.at)
                    and history.same_process(role, event)
                    and not _began_anew(context, role, event)
                    and not history.clock_was_set(role, event)
                ):
                    for member in event.isr or ():
                        if member != broker:
                            shown = role.leader_epoch or 0, event
                            found[member, topic, partition].append(shown)
    return found


def _keeps(
    context: RuleContext,
    events: list[Event],
    shrunk: list[tuple[int, Event]],
    leaders: Mapping[tuple[str, int], list[Event]],
    unclean: Mapping[tuple[str, int], list[Event]],
) -> None:
    """Checks one replica's lines from every log, all by its own broker's clock.

    `shrunk`: what its leaders showed as committed. It applies if the replica follows or leads in a
    later epoch and its process ran before that leader's epoch; else an earlier process was meant.
    """
    known: _KnownCommitted | None = None
    oldest: Event | None = None  # this process, in its earliest epoch
    loaded = False
    chosen: Event | None = None
    for event in events:
        chosen = event if event.kind == "truncation_chosen" else chosen
        if known is not None and _began_anew(context, known.since, event):
            known, loaded = None, False
        if oldest is not None and _began_anew(context, oldest, event):
            oldest, loaded = None, False
        if event.kind in _ROLES and event.leader_epoch is not None:
            for epoch, shown in shrunk if oldest is not None else ():
                assert oldest is not None
                if (oldest.leader_epoch or 0) < epoch < event.leader_epoch:
                    before = known
                    known = _KnownCommitted(shown, oldest)
                    if before is not None and before.mark >= known.mark:
                        known = before
            oldest = oldest or event
        ends = event.kind in _STARTS or event.kind in _CUTS
        if known is not None and ends and event.offset is not None:
            context.looked(NO_TRUNCATION_BELOW_HIGH_WATERMARK)
            cut = event.kind in _CUTS
            if event.offset < known.mark and (
                cut or event.offset < _at_least(events, known.since, event, known.mark)
            ):
                _blame(context, event, known, leaders, unclean, chosen)
                continue
        if event.kind in _TELLS and event.high_watermark is not None:
            # Another log of the partition may be loaded later: that of a move between disks.
            again = event.kind in _LOADED and loaded
            loaded = loaded or (event.kind in _LOADED and event.high_watermark > 0)
            if not again and (known is None or event.high_watermark >= known.mark):
                known = _KnownCommitted(event, event)


def _blame(
    context: RuleContext,
    less: Event,
    known: _KnownCommitted,
    leaders: Mapping[tuple[str, int], list[Event]],
    unclean: Mapping[tuple[str, int], list[Event]],
    chosen: Event | None = None,
) -> None:
    """Decides which broker caused a truncation, or a start, below what was committed.

    `chosen`: the last line in which the replica's fetcher says where to truncate.
    """
    assert less.tp is not None
    history = context.history
    mark, shown, since = known.mark, known.shown, known.since
    cuts = less.kind not in _STARTS
    what = "cuts its log to" if cuts else f"starts in leader epoch {less.leader_epoch} from"
    whose = "its" if shown.broker == less.broker else f"its leader's, broker {shown.broker}'s,"
    why = (
        f"{less.topic}-{less.partition}: broker {less.broker} {what} {less.offset}, and {whose} "
        f"high watermark was {mark} at {shown.where}; "
    )
    leader = _leader_of(less, leaders.get(less.tp, ()))
    sure = history.same_process(since, less) and not history.clock_was_set(since, less)
    whole = sure and not cuts and shown is since and history.server_log_covers(since, less)
    if whole and _one_after_another(context, since, less) and context.lacks(less, shown.where):
        kind = FindingKind.VIOLATION
        why += "no line of its log cuts it in between"
    elif leader is not None and (leader.offset or 0) < mark:
        kind = FindingKind.EXPLAINED
        why += (
            f"its leader, broker {leader.broker}, began with a log that ended at {leader.offset}, "
            f"at {leader.where}: what was committed is lost, by its disk or by an unclean election"
        )
    elif elections := [
        each
        for each in unclean.get(less.tp, ())
        if since.at - _SINCE_LED <= each.at <= less.at + _SKEW
    ]:
        kind = FindingKind.EXPLAINED
        why += f"its leader was elected from outside the ISR, at {elections[-1].where}"
    elif (
        cuts
        and shown.broker == less.broker
        and leader is not None
        and sure
        and not _may_have_fallen(context, since, less, chosen)
        and not _may_have_lost(less, mark, leader, leaders[less.tp])
    ):
        kind = FindingKind.VIOLATION
        why += f"its leader had all up to {leader.offset} at {leader.where}"
    else:
        kind = FindingKind.INCOMPLETE
        why += "what its leader had, or a new start of its process, may be missing"
    context.report(
        kind, NO_TRUNCATION_BELOW_HIGH_WATERMARK, less, why, f"an offset of {mark} or more"
    )


def _at_least(events: Iterable[Event], since: Event, until: Event, end: int) -> int:
    """The lowest end of a log that ended at `end`, by its broker's truncations at that time.

    Truncations in another file than the roles count at any time: that file's clock may differ.
    """
    for event in events:
        near = since.at - _SKEW <= event.at <= until.at + _SKEW
        if near or event.file not in (since.file, until.file):
            if event.kind in _RESETS:
                return 0
            if event.kind in _CUTS and event.offset is not None:
                end = min(end, event.offset)
    return end


def _one_after_another(context: RuleContext, a: Event, b: Event) -> bool:
    """Whether one process wrote both by their own text, and its truncations are in the same log, or
    both are in one without process lines and the second names the first one's epoch.

    If they are in two logs, the logs' clocks may differ.
    """
    history = context.history
    if history.places[a.file].stream != history.places[b.file].stream:
        return False
    if b.kind in _STARTS and a.kind in _STARTS:
        return b.previous_epoch == a.leader_epoch and a.leader_epoch is not None
    return a.file == b.file and history.contiguous(a, b)


def _log_ends(context: RuleContext, events: list[Event]) -> None:
    """Compares a replica's log end offsets from one line to the next: only a truncation, which is
    logged, shortens a log."""
    history = context.history

    def excuse(a: Event, b: Event) -> str | None:
        if _began_anew(context, a, b):
            return "the process, or the replica, began anew"
        least = _at_least(events, a, b, a.offset or 0)
        return "the log is cut in between" if (b.offset or 0) >= least else None

    def joined(a: Event, b: Event) -> bool:
        return (
            _one_after_another(context, a, b)
            and history.log_covers(a, b.at)
            and history.server_log_covers(a, b)
            and not history.clock_was_set(a, b)
            and context.lacks(b, a.where)
        )

    logs: dict[str, list[ValueSeen]] = defaultdict(list)
    for event in events:
        if (event.kind in _STARTS or event.kind == _SHRUNK) and event.offset is not None:
            logs[history.places[event.file].stream].append(ValueSeen(event.offset, event))
    for _, steps in sorted(logs.items()):
        first = steps[0].event
        what = f"{first.topic}-{first.partition}: the end of the log of broker {first.broker}"
        context.never_falls(STARTS_FROM_LOG, what, steps, excuse, joined, "offset")


def _may_have_fallen(context: RuleContext, since: Event, cut: Event, chosen: Event | None) -> bool:
    """Whether a replica truncates to its own high watermark, which may have become its leader's.

    A new leader's high watermark lags; a follower takes it, and truncates there if no epoch tells
    it where to (before KIP-101 none does).
    """
    old = (0,) < context.history.oldest_release < (0, 11)
    near = chosen is not None and 0 <= cut.at - chosen.at < _AT_ONCE
    by_itself = near and chosen is not None and chosen.template in _BY_ITSELF
    return (old or by_itself) and cut.at - since.at > _AT_ONCE


def _may_have_lost(cut: Event, mark: int, leader: Event, starts: Iterable[Event]) -> bool:
    """Whether the leader began with a shorter log at about that time, by clocks that may differ."""
    return any(
        start.broker == leader.broker
        and (start.offset or 0) < mark
        and abs(start.at - cut.at) < _APART
        for start in starts
    )


def _leader_of(cut: Event, starts: Iterable[Event]) -> Event | None:
    """The last start of the leader that a truncation follows, by its fetcher's name, or of any."""
    found = [
        start
        for start in starts
        if start.broker != cut.broker
        and cut.leader in (None, start.broker)
        and start.at <= cut.at + _SKEW
    ]
    return max(found, key=lambda start: start.at, default=None)


def _began_anew(context: RuleContext, a: Event, b: Event, but: Collection[str] = ()) -> bool:
    history = context.history
    return bool(
        history.restart_between(a, b, but)
        or history.reset(a, b)
        or history.topic_began(a, b)
        or history.replica_began(a, b)
        or history.replica_stopped(a, b)
    )
