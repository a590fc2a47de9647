"""Rules about a leader's request log: fetches, high watermarks, ends of epochs.

No clock orders two requests, but a connection does: a broker reads no further request from it
before it has logged the previous one (the channel is muted meanwhile). So a request arrived after
all lines above its connection's previous request, and before its own line. Some values only grow
while a broker leads in one epoch: a value seen before a request came is not above the value in its
response; values that this does not order may come in any order.

For each partition this is a partial trace of `replication`: its steps are known by their responses,
in the order of the connections. A value that no such order explains is broken. A step of the model
needs the leader's whole log, of which a row has one offset.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from conformance.ingest.schema import Event
from conformance.pipeline.request_rows import RequestRow
from conformance.pipeline.rule_context import RuleContext
from conformance.pipeline.rules import (
    ENDS_AS_BEGAN,
    FETCHES_FROM_ITS_END,
    LEADER_REFUSES_OTHER_EPOCHS,
    TRUNCATED_AS_ANSWERED,
    WATERMARK_NEVER_FALLS,
    WITHIN_THE_LOG,
    FindingKind,
    Rule,
)

_AT_ONCE = 2_000  # milliseconds in which no topic is deleted and made anew


_ROLES = frozenset(("leader_started", "follower_started"))
RAISED_START = "log_start_raised"
_NAMES = {WITHIN_THE_LOG.name: "log end", WATERMARK_NEVER_FALLS.name: "high watermark"}


@dataclass(frozen=True, slots=True)
class LoggedValue:
    """A growing value that was at least `least`, or at most `most`, when a row was answered."""

    row: RequestRow
    least: int | None
    most: int | None
    what: str


def check(context: RuleContext, fenced: bool) -> None:
    """Checks what request logs show without other logs.

    `fenced`: fetches within a session are fenced too, as from 2.5.
    """
    before = Counter(context.checked)
    for _, rows in sorted(context.history.served.items()):
        compared = [row for row in rows if row.fine and row.compared(fenced)]
        _grow(context, LEADER_REFUSES_OTHER_EPOCHS, _epochs(compared), forgets=False)
        for _, those in sorted(_by_epoch(compared).items()):
            _grow(context, WATERMARK_NEVER_FALLS, _watermarks(those))
            _grow(context, WITHIN_THE_LOG, log_ends(those))
            _ends_of_epochs(context, those)
        _flows(context, rows)
    context.of_requests.update(Counter(context.checked) - before)


def beside_roles(
    context: RuleContext, replicas: Mapping[tuple[int, str, int], Sequence[Event]], fenced: bool
) -> None:
    """Compares leaders' responses with the lines that begin their epoch, and the next one.

    A broker that names the previous epoch is the process that led in it; a restarted one knows
    none. Its log ends in the new epoch where it ended in the previous one, or above.
    """
    served: dict[tuple[int, str, int], list[RequestRow]] = defaultdict(list)
    for (broker, _, topic, partition), rows in sorted(context.history.served.items()):
        if (broker, topic, partition) in replicas:
            served[broker, topic, partition] += [
                row for row in rows if row.fine and row.compared(fenced)
            ]
    for key, rows in sorted(served.items()):
        by_epoch = _by_epoch(rows)
        for event in replicas[key]:
            if event.kind not in _ROLES or event.offset is None:
                continue
            before = by_epoch.get(-1 if event.previous_epoch is None else event.previous_epoch, [])
            _no_more_than(context, WITHIN_THE_LOG, event, event.offset, log_ends(before))
            if event.high_watermark is not None:
                most = event.high_watermark
                _no_more_than(context, WATERMARK_NEVER_FALLS, event, most, _watermarks(before))
            if event.kind == "leader_started" and event.leader_epoch is not None:
                _where_it_began(context, event, by_epoch.get(event.leader_epoch, []), replicas[key])


def _no_more_than(
    context: RuleContext, rule: Rule, role: Event, most: int, values: Sequence[LoggedValue]
) -> None:
    """Compares the greatest value of the previous epoch with the start of the next one."""
    values = [each for each in values if id(each.row.event) not in context.blamed]
    if not values:
        return
    context.looked(rule)
    above = [each for each in values if (each.least or 0) > most]
    lines = {(each.row.event.file, each.row.event.line) for each in above}
    if not above or not context.beside_each_other(role, above[0].row.event):
        return
    shown, alone = above[0], len(lines) == 1 and len(values) > len(above)
    epoch = shown.row.current_leader_epoch
    here = f"{_name(role)} ends leader epoch {epoch} with {_NAMES[rule.name]} {most}"
    event = shown.row.event if alone else role
    _report(
        context, rule, shown.row.event, role, event, False,
        f"{here} ({role.where}), and showed {shown.what} in it ({shown.row.event.where})",
        f"no more than {most}" if alone else f"{shown.least} or more",
    )  # fmt: skip


def _where_it_began(
    context: RuleContext, start: Event, rows: Iterable[RequestRow], lines: Sequence[Event]
) -> None:
    """Ends of earlier epochs are not above the log end offset with which a leader began.

    Unless records were deleted from the log's start: then the oldest epoch begins there.
    """
    begin = start.offset or 0
    raised = max((each.offset or 0 for each in lines if each.kind == RAISED_START), default=0)
    for row in rows:
        asked, end = row.asked.get("leaderepoch", -1), row.answered.get("endoffset", -1)
        if row.fetch or end < 0:
            continue
        context.looked(ENDS_AS_BEGAN)
        epoch = row.current_leader_epoch
        own = asked == epoch
        wrong = end < begin if own else end > max(begin, raised)
        if wrong and context.beside_each_other(start, row.event):
            _report(
                context, ENDS_AS_BEGAN, start, row.event, row.event, True,
                f"{_name(start)} began leader epoch {epoch} with a log that ended at {begin} "
                f"({start.where}), and answers that epoch {asked} ends at {end}",
                f"{begin} or more" if own else f"{begin} or less",
            )  # fmt: skip


def _by_epoch(rows: Iterable[RequestRow]) -> dict[int, list[RequestRow]]:
    found: dict[int, list[RequestRow]] = defaultdict(list)
    for row in rows:
        found[row.current_leader_epoch].append(row)
    return found


def _epochs(rows: Iterable[RequestRow]) -> list[LoggedValue]:
    """A broker that answers in a leader epoch has it, and has no older one afterwards."""
    known = ((row, row.current_leader_epoch) for row in rows)
    return [LoggedValue(row, epoch, epoch, f"leader epoch {epoch}") for row, epoch in known]


def _watermarks(rows: Iterable[RequestRow]) -> list[LoggedValue]:
    found = []
    for row in rows:
        mark = row.answered.get("highwatermark", -1)
        if row.fetch and mark >= 0:
            found.append(LoggedValue(row, mark, mark, f"high watermark {mark}"))
    return found


def log_ends(rows: Iterable[RequestRow]) -> list[LoggedValue]:
    """The leader's log end offset, by the rows of one leader epoch, in which it only grows."""
    found = []
    for row in rows:
        if row.fetch:
            mark, offset = row.answered.get("highwatermark", -1), row.asked.get("fetchoffset", -1)
            if mark >= 0:
                found.append(LoggedValue(row, mark, None, f"high watermark {mark}"))
            if offset >= 0 and not row.diverging:  # else its log is another one (KIP-595)
                found.append(LoggedValue(row, offset, None, f"a fetch from offset {offset}"))
        elif (
            row.asked.get("leaderepoch") == row.current_leader_epoch
            and row.answered.get("endoffset", -1) >= 0
        ):
            end = row.answered["endoffset"]
            found.append(LoggedValue(row, end, end, f"the end {end} of its own epoch"))
    return found


def _grow(
    context: RuleContext, rule: Rule, values: Sequence[LoggedValue], forgets: bool = True
) -> None:
    """Checks values that only grow; `forgets`: a restarted process may know less than before."""
    for high, low, blamed in _falls(context, rule, values):
        other, since = (low, "after") if blamed is high else (high, "before")
        event = blamed.row.event
        _report(
            context, rule, high.row.event, low.row.event, event, forgets,
            f"{_name(event)} answers in leader epoch {blamed.row.current_leader_epoch} and shows "
            f"{blamed.what}, and {since} that {other.what} ({other.row.event.where})",
            f"no more than {other.most}" if blamed is high else f"{other.least} or more",
        )  # fmt: skip


def _report(
    context: RuleContext, rule: Rule, one: Event, other: Event, blamed: Event, forgets: bool,
    why: str, allowed: str,
) -> None:  # fmt: skip
    """Reports two lines that fit no order, unless the partition or the process began anew."""
    life = _one_life(context, one, other)
    if life is None or (forgets and context.history.restart_between(one, other)):
        return
    sure = life and (not forgets or context.history.same_process(one, other))
    context.report(
        FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE, rule, blamed, why, allowed
    )


def _ends_of_epochs(context: RuleContext, rows: Iterable[RequestRow]) -> None:
    """Ends of epochs do not fall while a leader leads, and a later epoch ends no earlier."""
    ends: list[RequestRow] = []
    for row in rows:
        asked, end = row.asked.get("leaderepoch", -1), row.answered.get("endoffset", -1)
        if row.fetch or end < 0:
            continue
        epoch_answered = row.answered.get("leaderepoch", asked)
        context.looked(ENDS_AS_BEGAN)
        if epoch_answered > asked:
            context.report(
                FindingKind.VIOLATION, ENDS_AS_BEGAN, row.event,
                f"{_name(row.event)} is asked where epoch {asked} ends, and answers of "
                f"{epoch_answered}",
                f"an epoch of at most {asked}",
            )  # fmt: skip
            continue
        for one in ends:
            epoch, before = one.asked["leaderepoch"], one.answered["endoffset"]
            if epoch <= asked and before > end and _ordered(one.event, row):
                _report(
                    context, ENDS_AS_BEGAN, one.event, row.event, row.event, True,
                    f"{_name(row.event)} answers in leader epoch {row.current_leader_epoch} "
                    f"that epoch {asked} ends at {end}, and had answered that epoch {epoch} ends "
                    f"at {before} ({one.event.where})", f"an end of {before} or more",
                )  # fmt: skip
                break
        else:
            ends = [each for each in ends if each.asked["leaderepoch"] != asked] + [row]


def _flows(context: RuleContext, rows: Iterable[RequestRow]) -> None:
    """Checks one follower's requests on one connection, in one leader epoch, by its own log."""
    flows: dict[int, list[RequestRow]] = defaultdict(list)
    for row in rows:
        follower = row.event.replica
        if follower is None or follower < 0:
            continue
        flow = flows[follower]
        if flow and not _goes_on(flow[-1], row):
            _flow(context, flow)
            flow.clear()
        if row.fine and row.current_leader_epoch >= 0:
            flow.append(row)
    for _, flow in sorted(flows.items()):
        _flow(context, flow)


def _goes_on(one: RequestRow, row: RequestRow) -> bool:
    """Whether the same process of the follower sends the next request."""
    return (row.current_leader_epoch, row.run) == (one.current_leader_epoch, one.run) and row.fine


def _flow(context: RuleContext, flow: Sequence[RequestRow]) -> None:
    """Checks consecutive rows without errors."""
    last: RequestRow | None = None  # the fetch that last named an offset
    end: RequestRow | None = None  # the answer about an epoch since
    idle = True  # no records were answered since
    for number, row in enumerate(flow):
        if not row.fetch:
            end = row if row.answered.get("endoffset", -1) >= 0 else None
            last = None
            continue
        offset = row.asked.get("fetchoffset")
        if offset is not None and id(row.event) not in context.blamed:
            if end is not None:
                _at_the_end(context, end, row, offset)
            if last is None or not _from_where_it_ended(context, last, row, flow[number:], idle):
                last, end, idle = row, None, True
        idle = idle and row.size == 0
        if row.diverging:
            last = None


def _at_the_end(context: RuleContext, end: RequestRow, row: RequestRow, offset: int) -> None:
    context.looked(TRUNCATED_AS_ANSWERED)
    most = end.answered["endoffset"]
    if offset > most and _one_life(context, end.event, row.event) is not None:
        context.report(
            FindingKind.VIOLATION if _one_life(context, end.event, row.event)
            else FindingKind.INCOMPLETE,
            TRUNCATED_AS_ANSWERED, row.event,
            f"{_name(row.event)} answered broker {row.event.replica} that epoch "
            f"{end.asked.get('leaderepoch')} ends at {most} ({end.event.where}), and is asked next "
            f"for what follows {offset}", f"an offset of {most} or less",
        )  # fmt: skip


def _from_where_it_ended(
    context: RuleContext, last: RequestRow, row: RequestRow, later: Sequence[RequestRow], idle: bool
) -> bool:
    """Whether the row's offset is reported: it falls, or grows although nothing was answered."""
    was, now = last.asked["fetchoffset"], row.asked["fetchoffset"]
    context.looked(FETCHES_FROM_ITS_END)
    if now == was or (now > was and not idle):
        return False
    following = [each.asked["fetchoffset"] for each in later[1:] if "fetchoffset" in each.asked]
    blamed, other = row, last
    if now < was and following and now <= following[0] < was:
        blamed, other = last, row  # it goes on below: the one before is out of place
    sure = _one_life(context, last.event, row.event)
    if sure is None:
        return False
    more = "before that" if blamed is row else "after that"
    reason = "nothing was answered in between" if now > was else "its log only grew"
    context.report(
        FindingKind.VIOLATION if sure else FindingKind.INCOMPLETE,
        FETCHES_FROM_ITS_END, blamed.event,
        f"{row.event.topic}-{row.event.partition}: broker {row.event.replica} fetches from offset "
        f"{blamed.asked['fetchoffset']} in leader epoch {row.current_leader_epoch}, and {more} "
        f"from {other.asked['fetchoffset']} ({other.event.where}); {reason}",
        f"offset {other.asked['fetchoffset']}",
    )  # fmt: skip
    return blamed is row


def _falls(
    context: RuleContext, rule: Rule, values: Sequence[LoggedValue]
) -> Iterator[tuple[LoggedValue, LoggedValue, LoggedValue]]:
    """Yields a value, a later one that is below it, and the one of the two to blame."""
    out = {n for n, value in enumerate(values) if id(value.row.event) in context.blamed}
    key = context.history.key
    keys = [key(value.row.event) for value in values]
    greatest = _running(values, out)
    for number, low in enumerate(values):
        before = low.row.before
        if low.most is None or before is None or number == 0 or number in out:
            continue
        context.looked(rule)
        while True:
            at = bisect_right(keys, key(before)) - 1
            while at >= 0 and not _ordered(values[at].row.event, low.row):
                at -= 1
            high = greatest[at] if at >= 0 else None
            if high is None or (values[high].least or 0) <= low.most:
                break
            alone = _alone(values, high, number, out)
            yield values[high], low, values[high] if alone else low
            out.add(high if alone else number)
            greatest = _running(values, out)
            if not alone:
                break


def _running(values: Sequence[LoggedValue], out: set[int]) -> list[int | None]:
    """For each value, the index of the greatest so far."""
    found: list[int | None] = []
    most: int | None = None
    for number, value in enumerate(values):
        least = value.least
        counts = least is not None and number not in out
        if counts and (most is None or (least or 0) > (values[most].least or 0)):
            most = number
        found.append(most)
    return found


def _alone(values: Sequence[LoggedValue], high: int, low: int, out: set[int]) -> bool:
    """Whether a single line shows a value this great, and lower values follow."""
    below, most = values[low].most or 0, values[high].least or 0
    shown = {
        (each.row.event.file, each.row.event.line)
        for number, each in enumerate(values[:low])
        if number not in out and each.least is not None and each.least > below
    }
    later = [each for each in values[low + 1 :] if each.least is not None]
    return len(shown) == 1 and any((each.least or 0) < most for each in later)


def _ordered(one: Event, row: RequestRow) -> bool:
    """Whether a line of the same log was written before a row's request came."""
    before = row.before
    if before is None:
        return False
    return (one.file, one.line) == (before.file, before.line) or one.at < before.at


def _one_life(context: RuleContext, one: Event, other: Event) -> bool | None:
    """Whether the partition was certainly the same one; None if a line shows that it was not."""
    history = context.history
    if history.topic_began(one, other) or history.replica_began(one, other):
        return None
    if history.reset(one, other):
        return None
    if 0 <= other.at - one.at < _AT_ONCE:
        return True
    return not history.reduced and history.server_log_covers(one, other)


def _name(event: Event) -> str:
    return f"{event.topic}-{event.partition}: broker {event.broker}"
