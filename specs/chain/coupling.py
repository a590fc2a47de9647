"""What is the same on both sides after every step: the claims about the one are of the other.

Logs, the registered state, who leads and what is committed are equal. High watermarks are not: in
the proof's form one may stay where a checkpoint would take it back to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from specs.chain.mapping import kept, waits
from specs.chain.view import View

Both = tuple[object, object]
"""A value of `replication`, and that of the proof's form."""

UNHEARD = ("executed", "unanswered")


def registered_state(now: View, seen: View) -> Iterator[Both]:
    """The partition's state in ZooKeeper, and its version."""
    yield now["zk.leader_epoch"], seen["zk.epoch"]
    yield now["zk.version"], seen["zk.version"]
    yield now.members("zk.isr"), seen.members("zk.isr")
    leader = seen["zk.leader"] if seen["zk.named"] else None
    yield now["zk.leader"], leader


def roles(now: View, seen: View) -> Iterator[Both]:
    """Who leads, follows, or looks for where to cut, and in which epoch."""
    for b in now.layout.brokers:
        role = now["replica.role", b]
        if role == "follower":
            role = "truncating" if now["replica.truncating", b] else "following"
        yield {"none": "down", "leader": "leading"}.get(role, role), seen["replica.role", b]
        if role != "none":
            yield now["replica.epoch", b], seen["replica.epoch", b]


def logs(now: View, seen: View) -> Iterator[Both]:
    """Every log, record by record, with the epochs."""
    for b in now.layout.brokers:
        records = seen.records("log", b)
        yield now.records("log", b), tuple(record - 1 for record in records)
        yield now.records("log", b, part="epoch"), tuple(seen["written_in", r] for r in records)


def commits(now: View, seen: View) -> Iterator[Both]:
    """What is committed."""
    end = now["committed.end"]
    records = tuple(seen["committed.at.id", o] for o in range(seen["committed.end"]))
    yield end, seen["committed.end"]
    yield tuple(now["committed.at.id", o] + 1 for o in range(end)), records
    yield (
        tuple(now["committed.at.epoch", o] for o in range(end)),
        tuple(seen["written_in", record] for record in records),
    )
    yield now["committed_twice"], seen["committed_twice"]


def offices(now: View, seen: View) -> Iterator[Both]:
    """What leaders know: their ISR and version, the start of their epoch, the ends of others."""
    for b in now.layout.brokers:
        if now["replica.role", b] != "leader":
            continue
        e = now["replica.epoch", b]
        unheard = seen["office.write", e] in UNHEARD
        isr, version = ("isr_before", "version_before") if unheard else ("isr", "zk_version")
        yield now.members("replica.isr", b), seen.members(f"office.{isr}", e)
        yield now["replica.zk_version", b], seen[f"office.{version}", e]
        yield now["replica.epoch_start", b], seen["office.start", e]
        for other in now.layout.brokers:
            yield now["known_end", b, other], seen["office.known_end", e, other]
        pending, write = now["isr_write.state", b], seen["office.write", e]
        yield pending == "none", write == "none"
        yield pending == "applied", write == "executed"
        if pending != "none":
            yield now.members("isr_write.isr", b), seen.members("office.written_isr", e)


def high_watermarks(now: View, seen: View) -> Iterator[Both]:
    """A high watermark here, or what a restart would make of it, is never above the one there;
    and of a leader that one is no higher, unless it is below the start of its epoch."""
    for b in now.layout.brokers:
        there = seen["replica.hw", b]
        yield max(now["replica.hw", b], kept(now, b), there), there
        if now["replica.role", b] == "leader" and there > now["replica.epoch_start", b]:
            yield now["replica.hw", b], there


def requests(now: View, seen: View) -> Iterator[Both]:
    """A LeaderAndIsr in flight was sent, with its leader; who can take office by it finds in its
    office what it says, or in the request."""
    epochs, controllers = now.layout.range("epoch"), now.layout.range("controllers")
    for e in epochs:
        named = seen["request.leader", e] if seen["request.named", e] else None
        if seen["request.sent", e]:
            yield now["elected", e], named
        for c in controllers:
            for b in now.layout.brokers:
                if not now["request.in_flight", e, c, b]:
                    continue
                yield True, seen["request.sent", e]
                fresh = seen["replica.epoch", b] < e
                if b != named or not (fresh or seen["replica.role", b] == "down"):
                    continue
                place, version = ("request", "version") if fresh else ("office", "zk_version")
                yield now.members("request.isr", e, c, b), seen.members(f"{place}.isr", e)
                yield now["request.version", e, c, b], seen[f"{place}.{version}", e]


def fetches(now: View, seen: View) -> Iterator[Both]:
    """What fetchers asked and were answered was asked and sent there, too."""
    for f in now.layout.brokers:
        given = False
        for leader in now.layout.brokers:
            state = now["fetch.state", f, leader]
            if state == "idle":
                continue
            e, offset = now["fetch.epoch", f, leader], now["fetch.offset", f, leader]
            if state in ("asks_records", "records_are_answered"):
                asked = seen["asked", f, e]
                yield True, asked is not None and asked >= offset
            if state == "records_are_answered":
                yield True, now["fetch.hw", f, leader] <= seen["told_hw", e]
                if now["fetch.has_record", f, leader]:
                    record = now["fetch.id", f, leader] + 1
                    yield True, seen["answered", e, offset, record]
                    yield now["fetch.record_epoch", f, leader], seen["written_in", record]
            given = given or (state == "epoch_is_answered" and waits(now, f, leader))
        yield given, seen["answer.given", f]


COUPLING: dict[str, Callable[[View, View], Iterator[Both]]] = {
    "the registered state is the same": registered_state,
    "roles and epochs are the same": roles,
    "the logs are the same": logs,
    "the same is committed": commits,
    "leaders know the same": offices,
    "no high watermark is above the one there": high_watermarks,
    "requests in flight were sent there": requests,
    "fetches under way were sent there": fetches,
}
"""Sentence -> the pairs of values that must be equal."""


def first_difference(now: View, seen: View) -> tuple[str, Both] | None:
    """The first of the sentences that fails, with the two values; None if all hold."""
    for sentence, pairs in COUPLING.items():
        for here, there in pairs(now, seen):
            if here != there:
                return sentence, (here, there)
    return None
