"""Finds evidence that a cluster began anew: its ZooKeeper was wiped, or replaced by another.

Controller epochs and leader epochs then rightly start again. A new beginning excuses much, so it is
believed only if nothing else explains the lines. Three signs are strong; each compares lines of one
broker, so no two clocks are compared: a cluster id that this broker never logged before, where it
logged another, or that follows another in one file; its own registration with an older czxid than
its last one; and the line that creates `/controller_epoch`. The other signs are weak, because an
upgrade or a stale cache shows them too: `/feature` is created (2.7 does this at its first start in
an old ZooKeeper), a controller sees an older czxid, a broker registers with the same czxid again. A
weak sign counts if the next logged controller epoch is not above the last one before it, and if no
cluster id stayed the same. Even then it makes falls of epochs near it `explained` only if epochs
confirm it; a weak sign that nothing confirms or denies makes a fall `incomplete`.

If a czxid goes back between two processes of a broker that both log one cluster id, this is no
sign: the id is stored in the same ZooKeeper (KIP-78), which has lost no transaction.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from conformance.ingest.schema import Event

_PAIR = re.compile(r"(\d+) -> (-?\d+)")
_SOON = 60_000  # milliseconds within which a broker makes the first znodes of a new ZooKeeper


@dataclass(frozen=True)
class Reset:
    """A new ZooKeeper that began after `low`, by `high`, in milliseconds."""

    low: int
    high: int
    why: str
    event: Event
    strong: bool = True


@dataclass(frozen=True)
class Registration:
    """`event` shows that `broker` is registered with this czxid, its broker epoch (KIP-380)."""

    broker: int
    czxid: int
    event: Event


Contiguous = Callable[[Event, Event], bool]
"""Whether nothing that the writer of two lines wrote between them is missing."""


def find_resets(events: Sequence[Event], contiguous: Contiguous) -> tuple[Reset, ...]:
    """Every new beginning for which the lines give evidence, in order of time.

    The beginning of the first line is not a new beginning.
    """
    weighed = weigh(events, contiguous)
    merged = _merged([reset for reset, sure in weighed if sure])
    first = min((event.at for event in events), default=0)
    elections = _by_time(events, "controller_elected")
    return tuple(_narrowed(reset, elections) for reset in merged if reset.low >= first)


def weigh(events: Sequence[Event], contiguous: Contiguous) -> list[tuple[Reset, bool]]:
    """Every sign that nothing denies, and whether it is believed."""
    found = sorted(signs(events, contiguous), key=lambda reset: (reset.high, reset.low))
    epochs = sorted(
        (event.at, event.controller_epoch)
        for event in events
        if event.kind in ("controller_elected", "controller_ready") and event.controller_epoch
    )
    ids = _by_time(events, "cluster_id")
    strong = [reset for reset in found if reset.strong]
    weighed = []
    for reset in found:
        if reset.strong:
            weighed.append((reset, True))
            continue
        supported = any(reset.low < each.high and each.low < reset.high for each in strong)
        before = [epoch for at, epoch in epochs if at < reset.high - _SOON // 2]
        after = next((epoch for at, epoch in epochs if at > reset.low and _near(at, reset)), None)
        if supported:
            weighed.append((reset, True))
        elif not _same_id(ids, reset) and not (before and after and after > before[-1]):
            weighed.append((reset, bool(before and after and after <= before[-1])))
    return weighed


def _near(at: int, reset: Reset) -> bool:
    return at >= reset.high - _SOON // 2


def _same_id(ids: Sequence[Event], reset: Reset) -> bool:
    """Whether a cluster id was logged before and is logged again afterwards."""
    before = {event.detail for event in ids if event.at <= reset.low}
    after = {event.detail for event in ids if event.at >= reset.high}
    return bool(before & after)


def _merged(found: Sequence[Reset]) -> list[Reset]:
    merged: list[Reset] = []
    for reset in found:
        last = merged[-1] if merged else None
        if last is not None and reset.low < last.high:
            low, high = max(last.low, reset.low), min(last.high, reset.high)
            why = last.why if reset.why in last.why else f"{last.why}; {reset.why}"
            merged[-1] = Reset(low, high, why, last.event)
        else:
            merged.append(reset)
    return merged


def signs(events: Sequence[Event], contiguous: Contiguous) -> Iterable[Reset]:
    """Every sign of a new beginning, with the time interval of that beginning."""
    yield from _new_ids(events)
    yield from _new_registrations(events, contiguous)
    yield from _new_znodes(events)


def registrations(events: Iterable[Event]) -> list[Registration]:
    """Every line that shows a broker's registration, in order of time."""
    found = []
    for event in _by_time(events, "broker_registered", "broker_epochs"):
        if event.kind == "broker_registered":
            if event.broker is not None and event.offset is not None:
                found.append(Registration(event.broker, event.offset, event))
        else:
            for broker, czxid in _PAIR.findall(event.detail or ""):
                found.append(Registration(int(broker), int(czxid), event))
    return found


def denied_by_id(
    events: Iterable[Event], contiguous: Contiguous
) -> list[tuple[Event, list[Event]]]:
    """Registrations of a broker, each with later ones in the same cluster that have an older czxid.

    The cluster id that a process logs just before it first registers names the cluster: the process
    read it there. For a registration after session expiry the cluster is unknown.
    """
    named: dict[int | None, Event | None] = {}
    own: dict[tuple[int | None, str | None], list[tuple[Event, Event]]] = defaultdict(list)
    for event in _by_time(events, "cluster_id", "broker_registered"):
        if event.kind == "cluster_id":
            named[event.broker] = event
        elif (known := named.pop(event.broker, None)) is not None and event.offset is not None:
            own[event.broker, known.detail].append((known, event))
    found = []
    for some in own.values():
        for number, (since, a) in enumerate(some):
            less = [
                b for _, b in some[number + 1 :]
                if (b.offset or 0) < (a.offset or 0) and contiguous(since, b)
            ]  # fmt: skip
            if less:
                found.append((a, less))
    return found


def _new_ids(events: Iterable[Event]) -> Iterable[Reset]:
    """A broker that logged one cluster id logs another that it never logged before."""
    last: dict[int | None, Event] = {}
    known: dict[int | None, set[str | None]] = defaultdict(set)
    for event in _by_time(events, "cluster_id"):
        before = last.get(event.broker)
        changed = before is not None and before.detail != event.detail
        new = event.detail not in known[event.broker]
        if before is not None and changed and (new or before.file == event.file):
            why = f"the cluster id changes from {before.detail} to {event.detail}"
            yield Reset(before.at, event.at, why, event)
        known[event.broker].add(event.detail)
        last[event.broker] = event


def _new_registrations(events: Sequence[Event], contiguous: Contiguous) -> Iterable[Reset]:
    """Signs by czxids, which only grow for one broker while ZooKeeper keeps its data."""
    denied = {id(b) for a, less in denied_by_id(events, contiguous) for b in (a, *less)}
    threads: dict[int | None, list[Event]] = defaultdict(list)
    for event in _by_time(events, "process_controller_thread"):
        threads[event.broker].append(event)
    seen: dict[int | None, list[Registration]] = defaultdict(list)
    for sighting in registrations(events):
        if id(sighting.event) in denied:
            continue  # one of them is wrong
        seen[sighting.event.broker].append(sighting)
    for _, sightings in sorted(seen.items(), key=lambda item: str(item[0])):
        before: list[Registration] = []
        of: dict[int, Registration] = {}
        for sighting in sightings:
            broker, czxid, event = sighting.broker, sighting.czxid, sighting.event
            known = of.get(broker)
            reset: Reset | None = None
            if known is not None and known.czxid == czxid:
                # What another controller sees may be old: it has yet to hear of the new process.
                own = event.broker == broker
                ended = _began_again(threads[broker], known.event, event) if own else None
                if ended is not None:
                    why = f"broker {broker} registers again with czxid {czxid}"
                    reset = Reset(ended.at, event.at, why, event, strong=False)
            elif known is not None or event.kind == "broker_registered":
                # Another broker that is seen for the first time may have registered long ago.
                newer = [each for each in before if each.czxid > czxid]
                if newer:
                    newest = max(each.czxid for each in newer)
                    why = f"broker {broker} registers with czxid {czxid} after {newest} was seen"
                    own = event.kind == "broker_registered" and any(
                        each.broker == broker and each.event.kind == "broker_registered"
                        for each in newer
                    )
                    reset = Reset(newer[-1].event.at, event.at, why, event, strong=own)
            if reset is not None:
                yield reset
                before, of = [], {}
            if known is None or known.czxid != czxid or reset is not None:
                before.append(sighting)
            of[broker] = sighting


def _began_again(threads: Iterable[Event], a: Event, b: Event) -> Event | None:
    """The end of a process, or its last line, if another process began between two lines.

    The controller's thread shows this: it starts before it logs anything, and a second process
    with the same id fails before it starts. A registration shows it too: each creates a znode.
    """
    if b.kind == "broker_registered":
        return a
    ended = a if a.kind == "broker_epochs" else None
    for mark in threads:
        if a.at < mark.at < b.at:
            if mark.to_state == "Stopped":
                ended = mark
            elif ended is not None:
                return ended
    return None


def _new_znodes(events: Iterable[Event]) -> Iterable[Reset]:
    """Signs by the first znodes; their writer read the cluster id there if it logged one before.

    But a process whose session expired may meet another ZooKeeper, whose id it does not read.
    """
    last: dict[int | None, Event] = {}
    for event in _by_time(events, "cluster_id", "session_expired", "zookeeper_is_new"):
        if event.kind != "zookeeper_is_new":
            last[event.broker] = event
            continue
        strong = event.template != "feature_znode"
        why = f"{event.template} says that ZooKeeper is new"
        known, high = last.get(event.broker), event.at
        if known is not None and known.kind == "cluster_id" and event.at - known.at < _SOON:
            high = known.at
        yield Reset(event.at - _SOON, high, why, event, strong=strong)


def _narrowed(reset: Reset, elections: Iterable[Event]) -> Reset:
    """Narrows a reset by the election with an older epoch, which comes early in a new ZooKeeper."""
    before: Event | None = None
    for event in elections:
        if (
            before is not None
            and (event.controller_epoch or 0) <= (before.controller_epoch or 0)
            and max(reset.low, before.at) < min(reset.high, event.at)
        ):
            low, high = max(reset.low, before.at), min(reset.high, event.at)
            return Reset(low, high, reset.why, reset.event, reset.strong)
        before = event
    return reset


def _by_time(events: Iterable[Event], *kinds: str) -> list[Event]:
    return sorted((event for event in events if event.kind in kinds), key=lambda event: event.at)
