"""Rules about requests from a controller to a broker: each is handled, in order.

At INFO both sides log each request in a line without partitions: the number of partitions and, at
the receiver, the correlation id. A controller has one channel to a broker, on which each request
gets the next number (RequestSendThread, NetworkClient.newClientRequest). So if the requests around
one agree on both sides, that one must agree too, whatever the clocks say. A request that was sent
again has used one number more: nothing is reported if the numbers around it do not continue alike.
The model's requests have no number, and are about one partition each.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise

from conformance.ingest.schema import Event
from conformance.pipeline.history import History, numbers
from conformance.pipeline.rule_context import RuleContext
from conformance.pipeline.rules import REQUEST_AS_SENT, FindingKind
from conformance.pipeline.rules_requests import CLOCKS_APART

_SENT = {"leader_and_isr_batch": "LeaderAndIsr", "metadata_batch": "UpdateMetadata",
         "stop_replica_sent": "StopReplica"}  # fmt: skip
_CAME = {"handling_batch": "LeaderAndIsr", "metadata_batch_cached": "UpdateMetadata",
         "stop_replica_batch": "StopReplica"}  # fmt: skip
_FINISHED = "finished_batch"
_SAMPLED = 300  # of one channel, by which is found where its numbers begin
_LEAST = 3  # requests that have to go together
_MOMENT = 1000  # milliseconds in which a request is sent and received
_WRONG = 2  # that may not, of one channel
_AROUND = 2  # requests before, and after, one whose line is missing where it was sent
_NUMBER = re.compile(r"\d+")

Request = tuple[str, int]
"""Its name, and of how many partitions it is."""


@dataclass(frozen=True)
class ChannelLines:
    """What one controller sent to a broker, and what one process of that broker received."""

    sent: list[Event]
    came: list[Event]

    @cached_property
    def _votes(self) -> Counter[int]:
        """How many requests agree for each distance between numbers and places."""
        places: dict[Request, set[int]] = defaultdict(set)
        for place, event in enumerate(self.sent):
            places[_sent(event)] |= self.moments[place]
        votes: Counter[int] = Counter()
        for event in self.came[:_SAMPLED]:
            for place in places[_came(event)]:
                if abs(self.sent[place].at - event.at) <= CLOCKS_APART:
                    votes[place - (event.correlation or 0)] += 1
        return votes

    @cached_property
    def offset(self) -> int | None:
        """The place of a request among those sent, minus its number; None if undecided."""
        (best, most), (_, next_most) = [*self._votes.most_common(2), (0, 0), (0, 0)][:2]
        enough = most >= _LEAST and most > next_most
        return best if enough and len(self.came[:_SAMPLED]) - most <= _WRONG else None

    @cached_property
    def moments(self) -> list[frozenset[int]]:
        """By place, the places of lines sent in that millisecond: their order is open."""
        found: list[frozenset[int]] = []
        for _, some in groupby(range(len(self.sent)), key=lambda place: self.sent[place].at):
            moment = frozenset(some)
            found += [moment] * len(moment)
        return found

    @cached_property
    def misplaced(self) -> set[int]:
        """Places of received requests whose numbers are not between those before and after."""
        numbers = [each.correlation or 0 for each in self.came]
        found: set[int] = set()
        for place, (one, other) in enumerate(pairwise(numbers)):
            if one < other or place in found or self.came[place].at == self.came[place + 1].at:
                continue
            # Without the wrong one the others grow: of two that are alike, one leaves a gap.
            before = numbers[place - 1] if place else -1
            after = numbers[place + 2] if place + 2 < len(numbers) else one + other + 1
            if before < other < after and not (one == other and before == one - 1):
                found.add(place)
            else:
                found.add(place + 1)
        return found

    def line_of(self, event: Event) -> Event | None:
        """The line that sent a received request, by its number."""
        place = (event.correlation or 0) + (self.offset or 0)
        return self.sent[place] if 0 <= place < len(self.sent) else None

    def lost_where_sent(self) -> tuple[Event, Event, Event] | None:
        """A received request, and the two lines between which the line that sent it is missing.

        All requests before it agree with those sent; all after it agree with the place before. But
        a request that was sent again also takes one more number, and equals one of the two.
        """
        ((best, _),) = self._votes.most_common(1) or [(0, 0)]
        for offset in (best, best + 1):
            before = [self.goes_together(n, offset=offset) for n in range(len(self.came))]
            number = before.index(False) if False in before else len(before)
            rest = range(number + 1, len(self.came))
            if number < _AROUND or len(rest) < _AROUND or len(self.came) < _LEAST:
                continue
            if not all(self.goes_together(n, offset=offset - 1) for n in rest):
                continue
            place = (self.came[number].correlation or 0) + offset
            around = self.sent[place - 1 : place + 1] if place else []
            if len(around) == 2 and _came(self.came[number]) not in map(_sent, around):
                return self.came[number], around[0], around[1]
        return None

    @property
    def begins_before(self) -> bool:
        """Whether the first received request is numbered before the first line of those sent."""
        offset, first = self.offset, self.came[0].correlation
        return offset is not None and first == 0 and offset == -1

    def was_sent_again_about(self, place: int) -> bool:
        """Whether a request that was sent again may explain the difference at this place: all
        requests up to it, or all from it on, agree by shifted numbers."""
        before, after = range(place + 1), range(place, len(self.came))
        return any(
            all(self.goes_together(each, shift) for each in before)
            or all(self.goes_together(each, -shift) for each in after)
            for shift in range(1, len(self.sent))
        )

    def goes_together(self, place: int, shift: int = 0, offset: int | None = None) -> bool:
        """Whether a received request agrees with the one that was sent at that place."""
        event = self.came[place]
        offset = (self.offset or 0) if offset is None else offset
        there = (event.correlation or 0) + offset + shift
        if not 0 <= there < len(self.sent) or place in self.misplaced:
            return False
        return any(_sent(self.sent[each]) == _came(event) for each in self.moments[there])

    def lost_where_came(self) -> Iterator[tuple[str, Event, Event | None]]:
        """Requests missing at the receiver: name, the next line there, and the line that sent it.

        If the request itself came, that line is None. Requests for no partition are not logged.
        """
        if self.goes_together(0):
            yield _came(self.came[0])[0], self.came[0], None
        for number, (one, other) in enumerate(pairwise(self.came)):
            if not (self.goes_together(number) and self.goes_together(number + 1)):
                continue
            yield _came(other)[0], other, None
            for missing in range((one.correlation or 0) + 1, other.correlation or 0):
                place = missing + (self.offset or 0)
                name, count = _sent(self.sent[place])
                if count and not {_sent(self.sent[n]) for n in self.moments[place]} - {
                    (name, count)
                }:
                    yield name, other, self.sent[place]


@dataclass(frozen=True)
class _Difference:
    """A received request and the line sent at its place; `between`: those around it agree."""

    channel: ChannelLines
    came: Event
    sent: Event
    between: bool


def check(context: RuleContext) -> None:
    """Checks each controller's channel to each broker, where both sides log whole requests."""
    if context.history.reduced:
        return  # numbers that are left out would look like another channel
    found: dict[int, list[_Difference]] = defaultdict(list)
    agree: Counter[int] = Counter()
    for channel in channels(context):
        if channel.offset is None:
            continue
        context.looked(REQUEST_AS_SENT, len(channel.came))
        right = [channel.goes_together(place) for place in range(len(channel.came))]
        if right.count(False) > _WRONG:
            continue
        for place, event in enumerate(channel.came):
            line = channel.line_of(event)
            if line is not None and right[place]:
                agree[id(line)] += 1
                continue
            between = any(right[:place]) and any(right[place + 1 :])
            if place in channel.misplaced:
                _misplaced(context, channel, place, between)
            elif line is not None and not channel.was_sent_again_about(place):
                found[id(line)].append(_Difference(channel, event, line, between))
    finished: dict[tuple[str, int | None, int | None], set[str | None]] = defaultdict(set)
    for event in context.history.events:
        if event.template == _FINISHED:
            finished[event.file, event.controller, event.correlation].add(event.detail)
    for number, some in sorted(found.items(), key=lambda item: item[1][0].sent.where):
        for each in some:
            key = each.came.file, each.came.controller, each.came.correlation
            twice = finished.get(key, set()) == {each.came.detail}
            _differ(context, each, agree[number] > 0, len(some) > 1 or twice)
    _alone(context)


def _alone(context: RuleContext) -> None:
    """Compares the one request of a moment, of channels too short for their numbers to tell."""
    sent: dict[tuple[object, ...], list[Event]] = defaultdict(list)
    came: dict[tuple[object, ...], list[Event]] = defaultdict(list)
    for event in context.innocent(context.history.events):
        if event.kind in _SENT and event.tp is None and _sent(event)[1]:
            for broker in _receivers(event):
                sent[event.broker, broker, _sent(event)[0]].append(event)
        elif event.template in _CAME:
            came[event.controller, event.broker, _came(event)[0]].append(event)
    counted = Counter(key[:2] for key, lines in came.items() for _ in lines)
    for key, lines in sorted(sent.items(), key=lambda item: str(item[0])):
        for one in lines if counted[key[:2]] < _LEAST else ():
            near = [each for each in came.get(key, ()) if abs(each.at - one.at) <= _MOMENT]
            if len(near) != 1 or sum(abs(each.at - one.at) <= 2 * _MOMENT for each in lines) > 1:
                continue
            (other,) = near
            context.looked(REQUEST_AS_SENT)
            if other.at < one.at or _sent(one) == _came(other):
                continue
            for event, beside in ((one, other), (other, one)):
                context.report(
                    FindingKind.INCOMPLETE,
                    REQUEST_AS_SENT,
                    event,
                    f"controller {one.broker} sends {_sent(one)[0]} of {_sent(one)[1]} partitions, "
                    f"at {one.where}, and broker {other.broker} receives one of "
                    f"{_came(other)[1]}, at {other.where}; requests between them may be missing",
                    f"as many as at {beside.where}",
                )


def _differ(context: RuleContext, each: _Difference, agrees: bool, attested: bool) -> None:
    """Reports the wrong line of two. `agrees`: others confirm the sent; `attested`: the other."""
    event, line = each.came, each.sent
    name, count = _came(event)
    if name != _sent(line)[0] or agrees:
        wrong = [event]  # of another kind: its number is that of another request
    else:
        wrong = [line] if attested else [event, line]
    for this in wrong:
        context.report(
            _kind(context, each.channel, each.between),
            REQUEST_AS_SENT,
            this,
            f"request {event.correlation} of controller {event.controller} to broker "
            f"{event.broker} is {name} of {count} partitions, at {event.where}, and "
            f"{_sent(line)[0]} of {_sent(line)[1]} was sent at its place, at {line.where}; the "
            "requests around them go together" + ("" if len(wrong) == 1 else ", so one is wrong"),
            f"what the other line says, at {(line if this is event else event).where}",
        )


def _misplaced(context: RuleContext, channel: ChannelLines, place: int, between: bool) -> None:
    """Reports a request whose number is not between those of the requests around it."""
    event = channel.came[place]
    other = channel.came[place - 1 if place else place + 1]
    context.report(
        _kind(context, channel, between),
        REQUEST_AS_SENT,
        event,
        f"request {event.correlation} of controller {event.controller} to broker {event.broker} "
        f"stands beside request {other.correlation}, at {other.where}; the numbers of the others "
        "grow, and go together with what was sent",
        "the number between those around it",
    )


def _kind(context: RuleContext, channel: ChannelLines, between: bool) -> FindingKind:
    """Certain if requests before and after it agree, and neither log has a gap."""
    whole = all(
        context.history.contiguous(some[0], some[-1]) for some in (channel.sent, channel.came)
    )
    return FindingKind.VIOLATION if between and whole else FindingKind.INCOMPLETE


def channels(context: RuleContext) -> Iterator[ChannelLines]:
    """Each controller's channel to each process of a broker, with both sides' lines."""
    history = context.history
    sent: dict[tuple[int | None, int | None, int | None], list[Event]] = defaultdict(list)
    came: dict[tuple[str, int | None, int | None], list[Event]] = defaultdict(list)
    for event in context.innocent(history.events):
        if event.kind in _SENT and event.tp is None and event.controller_epoch is not None:
            # Two requests of one millisecond that are alike are one event at two places.
            times = sum(each.startswith(f"{event.file}:") for each in event.positions)
            for broker in _receivers(event):
                sent[event.broker, event.controller_epoch, broker] += [event] * max(1, times)
        elif event.template in _CAME and event.correlation is not None:
            stream = history.places[event.file].stream
            came[stream, event.broker, event.controller].append(event)
    for (_, to, controller), events in sorted(came.items(), key=lambda item: str(item[0])):
        for epoch, part in _by_epoch(events):
            lines = sent.get((controller, epoch, to), [])
            begins = [0]
            for number, (one, other) in enumerate(pairwise(part), 1):
                around = part[max(number - 2, begins[-1]) : number + 2]
                if _is_new_channel(history, part[begins[-1]], one, other, around):
                    begins.append(number)
            for low, high in pairwise([*begins, len(part)]):
                since, until = part[low].at - CLOCKS_APART, part[high - 1].at + CLOCKS_APART
                near = [each for each in lines if since <= each.at <= until]
                if near and high - low >= _LEAST:
                    yield ChannelLines(near, part[low:high])


def _is_new_channel(
    history: History, first: Event, one: Event, other: Event, around: list[Event]
) -> bool:
    """Whether the controller opened a new channel: the broker restarted or got another session
    after the `first` request; the controller may learn of it after further requests came.

    If no server log shows either, numbers that fall below all `around` and continue there do.
    """
    if history.restart_between(one, other):
        return True
    number = other.correlation or 0
    if number > (one.correlation or 0):
        return False
    place = around.index(other)
    before, after = around[:place], around[place + 1 :]
    begins = all(number <= (each.correlation or 0) for each in before)
    goes_on = all(number < (each.correlation or 0) <= (one.correlation or 0) for each in after)
    unseen = begins and goes_on and not history.server_log_covers(one, other)
    return unseen or history.registered_anew(first, other)


def _by_epoch(events: list[Event]) -> Iterator[tuple[int | None, list[Event]]]:
    """Requests in the order of one log, by the controller epoch that their lines show.

    Lines without one have the epoch of those around them or, after the last one, its epoch if
    their numbers continue.
    """
    known = [number for number, event in enumerate(events) if event.controller_epoch is not None]
    groups: dict[int | None, list[Event]] = defaultdict(list)
    for number, event in enumerate(events):
        place = bisect_right(known, number)
        if not place:
            continue
        before = events[known[place - 1]]
        if place < len(known):
            same = events[known[place]].controller_epoch == before.controller_epoch
        else:
            same = (event.correlation or 0) >= (before.correlation or 0)
        if same or event is before:
            groups[before.controller_epoch].append(event)
    yield from groups.items()


def _receivers(event: Event) -> frozenset[int]:
    if event.replica is not None:
        return frozenset((event.replica,))
    brokers, _, _ = (event.detail or "").rpartition(" for ")
    return numbers(brokers)


def _sent(event: Event) -> Request:
    numbers = [int(each) for each in _NUMBER.findall((event.detail or "").rpartition(" for ")[2])]
    return _SENT[event.kind], sum(numbers)


def _came(event: Event) -> Request:
    numbers = [int(each) for each in _NUMBER.findall(event.detail or "")]
    return _CAME[event.template], sum(numbers)
