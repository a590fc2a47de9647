"""Followers and their leaders, one connection each way: asked, answered, applied, or lost.

``FetcherThread`` asks and applies in one round. Here a round stops where it would wait, and begins
anew when the answer is there: an answer about a partition of which it would ask otherwise by then
is not looked at, as Kafka does not where offset or epoch have moved on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from impl.core import answers
from impl.core.fetcher_thread import (
    Answer,
    CannotAppend,
    EpochQuestion,
    EpochReply,
    FetcherThread,
    FetchQuestion,
    FetchReply,
)
from impl.core.truncation import EpochEnd, divergence
from impl.core.truncation import OffsetOutOfRange as NotInLog
from impl.log import InvalidBatch, Log, StorageError
from impl.log.errors import OffsetOutOfRange
from impl.log.followed import FollowedLog
from impl.log.record_batch import batches_in
from impl.releases import Release
from impl.world.wide.replicas import Replica, Replicas
from impl.znodes import TopicPartition

MOST_BYTES = 4_096
"""So much of a partition at most in one answer."""

Questions = Mapping[TopicPartition, Any]


@dataclass(frozen=True)
class Exchange:
    """What is on a connection; ``replies`` is None until the leader has answered."""

    kind: str
    questions: Questions
    replies: Mapping[TopicPartition, Any] | None = None


class NotYet(Exception):
    """The round waits for its leader."""


class FollowerLog(FollowedLog):
    """A follower's log, as a fetcher uses it."""

    def __init__(self, log: Log, release: Release) -> None:
        super().__init__(release)
        self._log = log

    @property
    def log(self) -> Log:
        """The log."""
        return self._log

    def append(self, batch: bytes) -> None:
        """Append whole batches. CannotAppend."""
        try:
            self.log.append_as_follower(batch)
        except InvalidBatch as error:
            raise CannotAppend(str(error)) from error

    def truncate_to(self, offset: int) -> None:
        """Cut from an offset on."""
        self.log.truncate_to(offset)

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Forget every record; the log begins anew at an offset."""
        self.log.truncate_fully_and_start_at(offset)


class Connection:
    """One broker's fetcher for the partitions that it follows one leader in."""

    def __init__(self, leader: int, release: Release) -> None:
        self.leader = leader
        self.logs: dict[TopicPartition, FollowerLog] = {}
        self.rounds: FetcherThread[TopicPartition] = FetcherThread(
            self, self.logs, release, release.since("2.7")
        )
        self.exchange: Exchange | None = None
        self.release = release
        self.offsets: Replicas | None = None  # who tells where a log begins and ends, at this hour

    def add(self, replica: Replica) -> None:
        """Follow one more partition."""
        log = FollowerLog(replica.stored, self.release)
        self.logs[replica.partition] = log
        from_end = self.release.since("2.7") and log.latest_epoch() is not None
        offset = log.end if from_end else log.high_watermark
        self.rounds.add({replica.partition: (offset, replica.leader_epoch)})

    def remove(self, partition: TopicPartition) -> None:
        """Follow it no more."""
        self.rounds.remove([partition])
        self.logs.pop(partition, None)

    def ask(self) -> None:
        """Begin a round: a question is on its way, if there is one."""
        self.exchange = None
        self._round()

    def apply(self, leader: Replicas | None) -> None:
        """Go on with the round: the answer is here. ``leader`` answers what comes up on the way."""
        self.offsets = leader
        self._round()
        self.offsets = None

    def _round(self) -> None:
        try:
            self.rounds.do_work()
        except NotYet:
            return
        self.exchange = None  # nothing to ask for

    # The port that a round speaks to

    def _answered(self, kind: str, questions: Questions) -> dict[TopicPartition, Any]:
        done = self.exchange
        if done is not None and done.kind == kind and done.replies is not None:
            self.exchange = None
            return {
                one: reply
                for one, reply in done.replies.items()
                if one in questions and questions[one] == done.questions[one]
            }
        self.exchange = Exchange(kind, dict(questions))
        raise NotYet

    def epoch_ends(
        self, questions: Mapping[TopicPartition, EpochQuestion]
    ) -> Mapping[TopicPartition, EpochReply]:
        """OffsetForLeaderEpoch."""
        return self._answered("epochs", questions)

    def fetch(
        self, questions: Mapping[TopicPartition, FetchQuestion]
    ) -> Mapping[TopicPartition, FetchReply]:
        """Fetch, as follower."""
        return self._answered("records", questions)

    def earliest(self, key: TopicPartition) -> int:
        """ListOffsets, the log's start."""
        return self._asked(key).log_start

    def latest(self, key: TopicPartition) -> int:
        """ListOffsets, the log's end."""
        return self._asked(key).log_end

    def _asked(self, key: TopicPartition) -> Replica:
        replica = None if self.offsets is None else self.offsets.hosted.get(key)
        if replica is None or not replica.leads:
            raise NotYet
        return replica


# The leader's half


def answer(leader: Replicas, follower: int, exchange: Exchange) -> Exchange:
    """The leader's answers; what a follower has is noted, and its ISR may grow by that."""
    ask = _epoch_end if exchange.kind == "epochs" else _records
    replies = {one: ask(leader, follower, one, asked) for one, asked in exchange.questions.items()}
    return Exchange(exchange.kind, exchange.questions, replies)


def _leading(
    leader: Replicas, partition: TopicPartition, epoch: int
) -> tuple[Replica | None, Answer]:
    replica = leader.hosted.get(partition)
    if replica is None:
        return None, Answer.NOT_LEADER_FOR_PARTITION
    asked = epoch if leader.release.since("2.1") else None
    error = answers.current_leader_epoch_error(
        replica.leader_epoch, asked, replica.leads, True, leader.release
    )
    if error == "NOT_LEADER_OR_FOLLOWER":
        error = "NOT_LEADER_FOR_PARTITION"
    return (replica if error == answers.NONE else None), Answer(error)


def _epoch_end(
    leader: Replicas, _: int, partition: TopicPartition, asked: EpochQuestion
) -> EpochReply:
    replica, error = _leading(leader, partition, asked.leader_epoch)
    if replica is None:
        return EpochReply(error, EpochEnd(-1, -1))
    epoch, end = replica.stored.end_offset_for(asked.epoch)
    return EpochReply(error, EpochEnd(epoch if leader.release.since("2.0") else -1, end))


def _records(
    leader: Replicas, follower: int, partition: TopicPartition, asked: FetchQuestion
) -> FetchReply:
    replica, error = _leading(leader, partition, asked.leader_epoch)
    if replica is None:
        return FetchReply(error)
    hw, start = replica.hw, replica.log_start
    if follower not in replica.replicas:
        return FetchReply(Answer.NONE, None, hw, start)
    log = replica.stored
    try:
        if asked.last_fetched_epoch is not None:
            end = divergence(
                asked.last_fetched_epoch, asked.offset, log.log_start, log.end_offset_for
            )
            if end is not None:
                return FetchReply(Answer.NONE, None, hw, start, end)
        data = log.read(asked.offset, MOST_BYTES).region.read()
    except (OffsetOutOfRange, NotInLog):
        return FetchReply(Answer.OFFSET_OUT_OF_RANGE, None, hw, start)
    except StorageError:
        return FetchReply(Answer.NOT_LEADER_FOR_PARTITION)
    if follower in replica.remotes:
        replica.follower_fetched(follower, asked.offset, leader.now_ms())
    return FetchReply(Answer.NONE, _whole(data), hw, start)


def _whole(data: bytes) -> bytes | None:
    """The whole batches at the beginning of what was read; None if there is none."""
    end = 0
    for at, batch in batches_in(data):
        end = at + batch.size
    return data[:end] or None
