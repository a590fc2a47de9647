"""Compares followers' requests, leaders' responses and their effects with the expected ones.

The expected request is computed from a fetcher's states and logs; the expected response, and the
leader's new knowledge of the follower, from the leader's log and memory; the follower's log end
offset, high watermark and next fetch offset, from the response and its earlier log. The core is not
consulted, so that a claim can compare the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any, NamedTuple

from impl.core.fetcher_thread import (
    EARLIEST,
    LATEST,
    EpochQuestion,
    FetchErrorCode,
    FetchQuestion,
    FetchState,
    OffsetQuestion,
    Phase,
)
from impl.core.partition import RemoteReplica
from impl.core.replica_manager import Replica
from impl.core.truncation import EpochEnd
from impl.log.errors import CorruptRecord
from impl.log.record_batch import batches_in, check
from impl.log.stored_log import StoredLog
from impl.releases import Release
from impl.world.fetches import Exchange, FollowerConnection
from impl.world.simulated_broker import BrokerWithDisk
from impl.world.whole_cluster.controller_requests import Difference, was_lately_caught_up
from impl.world.whole_cluster.observations import stored
from impl.znodes import TopicPartition

NOWHERE = -1, -1
EPOCHS, RECORDS, PLACES = "OffsetForLeaderEpoch", "Fetch", "ListOffsets"


def refusal(node: BrokerWithDisk, one: TopicPartition, epoch: int | None) -> str:
    """The error of a broker that is asked as leader in an epoch (None: any), or NONE."""
    replica, release = node.replicas.partitions.get(one), node.release
    if replica is None:
        offline = one in node.logs.offline
        return "KAFKA_STORAGE_ERROR" if offline else "UNKNOWN_TOPIC_OR_PARTITION"
    if epoch is not None and release.since("2.1") and epoch != replica.leader_epoch:
        is_old = epoch < replica.leader_epoch
        return "FENCED_LEADER_EPOCH" if is_old else "UNKNOWN_LEADER_EPOCH"
    if replica.leads:
        return "NONE"
    return "NOT_LEADER_OR_FOLLOWER" if release.since("2.6") else "NOT_LEADER_FOR_PARTITION"


def _end_of(log: StoredLog, epoch: int) -> tuple[int, int]:
    """The newest epoch up to one that a log has, and where it ends (KIP-279, 2.0)."""
    entries = log.log.epochs.entries
    if not log.release.since("2.0"):
        return log.end_offset_for(epoch)
    if epoch < 0 or not entries or epoch > entries[-1][0]:
        return NOWHERE
    older = [known for known, _ in entries if known <= epoch]
    later = [start for known, start in entries if known > epoch]
    return (older[-1] if older else epoch), (later[0] if later else log.log_end)


def _newest(log: StoredLog) -> int | None:
    entries = log.log.epochs.entries
    return entries[-1][0] if entries and log.release.since("0.11") else None


def _named(epoch: int, release: Release) -> int | None:
    """A leader epoch in a request: it has a field for it since 2.1 (KIP-320)."""
    return epoch if release.since("2.1") else None


# What is asked


def fetch_request_mismatch(connection: FollowerConnection, begins: bool) -> Iterator[Difference]:
    """How a follower's request differs from the expected one; a round that ``begins`` asks for
    leader epochs first, if any have to be compared."""
    rounds, exchange = connection.rounds, connection.exchange
    if exchange is None or exchange.kind == PLACES:
        return
    release = rounds.release
    newest = {one: _newest(stored(connection.logs[one])) for one in rounds.states}
    epochs, records = dict[TopicPartition, Any](), dict[TopicPartition, Any]()
    for one, state in rounds.states.items():
        current, epoch = _named(state.leader_epoch, release), newest[one]
        if state.phase is Phase.FETCHING:
            records[one] = FetchQuestion(
                current, state.offset, state.last_fetched_epoch, connection.logs[one].log_start
            )
        elif epoch is not None:
            epochs[one] = EpochQuestion(current, epoch)
    if begins:
        yield "asked for", exchange.kind, EPOCHS if epochs else RECORDS
    yield "asked", dict(exchange.questions), epochs if exchange.kind == EPOCHS else records


# What is answered


class _LeaderMemory(NamedTuple):
    replica: Replica
    follower: RemoteReplica | None
    isr: tuple[int, ...]
    pending: tuple[int, ...] | None
    hw: int
    log_start: int
    log_end: int


class LeaderBefore:
    """A leader's state before it answers a follower, and the expected response."""

    def __init__(self, node: BrokerWithDisk, follower: int, asked: Exchange) -> None:
        self.node, self.follower, self.asked = node, follower, asked
        self.refused = {
            one: refusal(node, one, question.leader_epoch)
            for one, question in asked.questions.items()
        }
        self.known = {
            one: self._memory(node.replicas.partitions[one])
            for one, error in self.refused.items()
            if error == "NONE"
        }
        self.ends = {
            one: _end_of(stored(known.replica.log), self._epoch(one))
            for one, known in self.known.items()
        }

    def _memory(self, its: Replica) -> _LeaderMemory:
        remote = its.remotes.get(self.follower)
        return _LeaderMemory(
            its, copy(remote), its.isr, its.pending, its.hw, its.log_start, its.log_end
        )

    def _epoch(self, one: TopicPartition) -> int:
        question = self.asked.questions[one]
        epoch = {EPOCHS: "epoch", RECORDS: "last_fetched_epoch"}.get(self.asked.kind)
        found = None if epoch is None else getattr(question, epoch)
        return -1 if found is None else int(found)


def fetch_response_mismatch(
    before: LeaderBefore, done: Exchange, now_ms: int
) -> Iterator[Difference]:
    """How a leader's response, and its state after it, differ from the expected ones."""
    node = before.node
    yield "about", [*(done.replies or {})], [*before.asked.questions]
    is_first = True
    for one, reply in (done.replies or {}).items():
        if node.disk.failing or one in node.logs.offline:
            return  # a log directory may have failed just now
        if done.kind == EPOCHS:
            epoch, end = before.ends.get(one, NOWHERE)
            known = epoch if node.release.since("2.0") else -1
            wanted = before.refused[one], EpochEnd(known, end)
            yield f"about an epoch of {one}", (reply.error.value, reply.end), wanted
        elif done.kind == PLACES:
            yield f"about the place of {one}", (reply.error, reply.offset), _place(before, one)
        else:
            yield from _fetched(before, one, reply, is_first)
            yield from _noted(before, one, reply, now_ms)
            is_first = is_first and reply.batch is None


def kept_of_others(
    before: LeaderBefore, done: Exchange, logs: Mapping[TopicPartition, Any]
) -> Iterator[tuple[TopicPartition, range]]:
    """The offsets that a response lets a follower keep although their records have an epoch that
    the leader never had: up to 1.1 it is the start of the next later epoch (KAFKA-6361)."""
    if done.kind != EPOCHS or before.node.release.since("2.0"):
        return
    for one, known in before.known.items():
        mine = [epoch for epoch, _ in stored(known.replica.log).log.epochs.entries]
        others = [
            start
            for epoch, start in stored(logs[one]).log.epochs.entries
            if mine and epoch > mine[0] and epoch not in mine
        ]
        if others:
            yield one, range(others[0], min(before.ends[one][1], logs[one].log_end))


def _place(before: LeaderBefore, one: TopicPartition) -> tuple[str, int]:
    error, where = before.refused[one], before.asked.questions[one].timestamp
    if error != "NONE":
        return error, -1
    return error, {EARLIEST: before.known[one].log_start, LATEST: before.known[one].log_end}[where]


def _fetched(
    before: LeaderBefore, one: TopicPartition, reply: Any, is_first: bool
) -> Iterator[Difference]:
    """Records, where they diverge, or neither; up to 2.6 nobody asks whether they do (KIP-595)."""
    known, question = before.known.get(one), before.asked.questions[one]
    marks = reply.high_watermark, reply.log_start
    if known is None:
        whole = reply.error.value, marks, reply.batch, reply.diverging
        yield f"for records of {one}", whole, (before.refused[one], NOWHERE, None, None)
        return
    error, diverging, has_records = "NONE", None, False
    last, offset = question.last_fetched_epoch, question.offset
    is_in = known.log_start <= offset <= known.log_end
    epoch, end = before.ends[one]
    if before.follower in known.replica.replicas:
        if last is not None and (end < 0 or offset < known.log_start):
            error = FetchErrorCode.OFFSET_OUT_OF_RANGE.value
        elif last is not None and (epoch < last or end < offset):
            diverging = EpochEnd(epoch, end)
        elif not is_in:
            error = FetchErrorCode.OFFSET_OUT_OF_RANGE.value
        else:
            has_records = offset < known.log_end
    said = reply.error.value, marks, reply.diverging
    yield f"for records of {one}", said, (error, (known.hw, known.log_start), diverging)
    if is_first or not has_records:  # else the answer may be full
        yield f"with records of {one}", reply.batch is not None, has_records
    if reply.batch is not None:
        batches = [batch for _, batch in batches_in(reply.batch)]
        if batches:  # else not one is there whole
            begins = batches[0].base_offset <= offset <= batches[0].last_offset
            yield f"with records of {one} from {offset} on", begins, True
            yield (
                f"with records of {one} that are there",
                batches[-1].last_offset < known.log_end,
                True,
            )


def _noted(
    before: LeaderBefore, one: TopicPartition, reply: Any, now_ms: int
) -> Iterator[Difference]:
    """How far the follower is, since when, whether it is in the ISR, and the high watermark."""
    _, offset, _, start = before.asked.questions[one]
    known = before.known.get(one)
    if known is None or not known.replica.leads:
        return
    its, release = known.replica, before.node.release
    remote = its.remotes.get(before.follower)
    is_read = reply.error is FetchErrorCode.NONE and reply.diverging is None
    if known.follower is None or not is_read or before.follower not in its.replicas:
        yield f"and knows of it in {one}", remote, known.follower
        yield f"and has as ISR of {one}", (its.isr, its.pending), (known.isr, known.pending)
        yield f"and has as high watermark of {one}", its.hw, known.hw
        return
    caught_up, was = known.follower.last_caught_up, known.follower
    if offset >= known.log_end:
        caught_up = max(caught_up, now_ms)
    elif offset >= was.last_leader_end:
        caught_up = max(caught_up, was.last_fetch)
    yield (
        f"and knows of it in {one}",
        remote,
        RemoteReplica(offset, start, caught_up, known.log_end, now_ms),
    )
    joins = (
        before.follower not in known.isr
        and known.pending is None
        and offset >= known.hw
        and (offset >= its.epoch_start or not release.since("2.0.1"))
    )
    wider = (*known.isr, before.follower)
    if release.since("2.7"):
        yield f"and has as ISR of {one}", its.isr, known.isr
        yield f"and asks as ISR of {one} for", its.pending, wider if joins else known.pending
    else:  # the write may be refused
        yield (
            f"and has as ISR of {one}",
            its.isr,
            wider if joins and its.isr != known.isr else known.isr,
        )
    waited_for = [
        each.end
        for broker, each in its.remotes.items()
        if broker in its.replicas
        and (broker in (*its.isr, *(its.pending or ())) or was_lately_caught_up(its, each, now_ms))
    ]
    highest = max(known.hw, known.log_start, min([known.log_end, *waited_for]))
    yield f"and has as high watermark of {one}", its.hw, highest


# What a follower makes of it


class FollowerBefore:
    """A follower's state before it continues a round."""

    def __init__(self, node: BrokerWithDisk, connection: FollowerConnection) -> None:
        assert connection.exchange is not None, "something was asked"
        self.node, self.done = node, connection.exchange
        self.states = dict(connection.rounds.states)
        self.logs = {one: stored(log) for one, log in connection.logs.items()}
        self.marks = {
            one: (log.high_watermark, log.log_start, log.log_end, _newest(log))
            for one, log in self.logs.items()
        }
        self.cuts = {one: self._cut(one, reply) for one, reply in self.replies.items()}

    @property
    def replies(self) -> Mapping[TopicPartition, Any]:
        """The replies, if they arrived."""
        return {} if self.done.is_lost else self.done.replies or {}

    def fits(self, one: TopicPartition) -> bool:
        """Whether the reply is for the partition's current leader epoch and fetch position."""
        state, asked = self.states.get(one), self.done.questions[one]
        if state is None:
            return False
        epoch = self.done.asked_in.get(one)
        late = self.node.release.parts == (2, 1, 0) and self.done.kind == EPOCHS
        knows = self.node.release.since("2.1") and not late
        if knows and epoch != state.leader_epoch:
            return False
        if self.done.kind == RECORDS:
            return bool(state.offset == asked.offset) and state.phase is Phase.FETCHING
        return True

    def first_out_of_range(self) -> TopicPartition | None:
        """The first partition that is out of range; a ListOffsets request for it comes next."""
        for one, reply in self.replies.items() if self.done.kind == RECORDS else ():
            if reply.error is FetchErrorCode.OFFSET_OUT_OF_RANGE and self.fits(one):
                return one
        return None

    def _cut(self, one: TopicPartition, reply: Any) -> tuple[int, bool]:
        """The offset to truncate to, by the leader's answer, and whether no further epoch is asked.

        KIP-101, KIP-279.
        """
        end = reply.end if self.done.kind == EPOCHS else getattr(reply, "diverging", None)
        if end is None or one not in self.marks:
            return NOWHERE[0], False
        hw, _, log_end, newest = self.marks[one]
        if end.end < 0 or newest is None:
            return hw, True
        known, own = _end_of(self.logs[one], end.epoch)
        if not self.node.release.since("2.0") or end.epoch < 0 or known < 0:
            return min(end.end, log_end), True
        if known != end.epoch:
            return min(own, log_end), False
        return min(own, end.end, log_end), True


def applied_response_mismatch(
    before: FollowerBefore, connection: FollowerConnection
) -> Iterator[Difference]:
    """How log end offsets, high watermarks and next fetch offsets differ from the expected ones."""
    if before.node.disk.failing:
        return
    if before.done.kind == PLACES:
        yield from _placed_otherwise(before, connection)
        return
    refused = before.first_out_of_range()
    if refused is not None:
        epoch = _named(before.states[refused].leader_epoch, before.node.release)
        yield from _next_asked(connection, refused, OffsetQuestion(epoch, LATEST))
        return  # the other answers are applied when it is known where the log begins or ends
    after, on_fetch = connection.rounds.states, connection.rounds.on_fetch
    for one, was in before.states.items():
        log, (hw, start, end, newest) = before.logs[one], before.marks[one]
        if one in before.node.logs.offline:
            continue
        reply, wanted = before.replies.get(one), was
        marks, failed = (hw, start, end), False
        if reply is not None and before.fits(one):
            error = FetchErrorCode(reply.error)
            failed = error is FetchErrorCode.FENCED_LEADER_EPOCH
            if error is FetchErrorCode.NONE and (
                before.done.kind == EPOCHS or reply.diverging is not None
            ):
                cut, done = before.cuts[one]
                marks = min(hw, cut), start, min(cut, end)
                done = done or before.done.kind == RECORDS
                phase = Phase.FETCHING if done else was.phase
                wanted = FetchState(
                    cut, was.leader_epoch, phase, _newest(log) if on_fetch else None
                )
            elif error is FetchErrorCode.NONE and _is_whole(reply.batch or b""):
                last = [batch.last_offset for _, batch in batches_in(reply.batch or b"")]
                end = last[-1] + 1 if last else end
                hw = max(start, min(reply.high_watermark, end))
                start = reply.log_start if start < reply.log_start <= hw else start
                marks = hw, start, end
                newest = _newest(log) if on_fetch else None
                wanted = FetchState(end, was.leader_epoch, Phase.FETCHING, newest)
        elif was.phase is Phase.TRUNCATING and newest is None:
            continue  # it is cut to its high watermark, unless it has come in the meantime
        found = log.high_watermark, log.log_start, log.log_end
        yield f"the high watermark, start and end of {one}", found, marks
        yield f"where it goes on in {one}", after.get(one), None if failed else wanted
        if failed:
            yield f"that {one} has failed", one in connection.rounds.failed, True


def _is_whole(records: bytes) -> bool:
    """As the leader sent them; else they are fetched again."""
    try:
        for at, _ in batches_in(records):
            check(records, at)
    except CorruptRecord:
        return False
    return True


def _next_asked(
    connection: FollowerConnection, one: TopicPartition, question: OffsetQuestion
) -> Iterator[Difference]:
    exchange = connection.exchange
    yield "asked next", None if exchange is None else dict(exchange.questions), {one: question}


def _placed_otherwise(
    before: FollowerBefore, connection: FollowerConnection
) -> Iterator[Difference]:
    """What becomes of a partition after OFFSET_OUT_OF_RANGE: its log is cut to the leader's end, or
    begins anew at the leader's start if it ends below (``fetchOffsetAndTruncate``)."""
    ((one, asked),) = before.done.questions.items()
    log, (hw, start, end, _) = before.logs[one], before.marks[one]
    if one in before.node.logs.offline:
        return
    wanted, reply, failed = before.states.get(one), before.replies.get(one), False
    is_told, asks_for_end = reply is not None and reply.error == "NONE", asked.timestamp == LATEST
    at = reply.offset if reply is not None and is_told else -1
    if is_told and asks_for_end and at >= end:
        yield from _next_asked(connection, one, OffsetQuestion(asked.leader_epoch, EARLIEST))
    elif wanted is not None and wanted == before.done.began.get(one):
        failed = reply is not None and reply.error == FetchErrorCode.FENCED_LEADER_EPOCH.value
        if is_told:
            if asks_for_end:
                hw, start, end = max(min(start, at), min(hw, at)), min(start, at), at
            elif at > end:
                hw = start = end = at
            newest = _newest(log) if connection.rounds.on_fetch else None
            wanted = FetchState(max(at, end), wanted.leader_epoch, Phase.FETCHING, newest)
    found = log.high_watermark, log.log_start, log.log_end
    yield f"the high watermark, start and end of {one}", found, (hw, start, end)
    after = connection.rounds.states.get(one)
    yield f"where it goes on in {one}", after, None if failed else wanted
    if failed:
        yield f"that {one} has failed", one in connection.rounds.failed, True
