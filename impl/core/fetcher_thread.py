"""A follower's fetcher for many partitions of one leader (``AbstractFetcherThread``; g.8, h.3).

One round is ``do_work``: compare epochs and cut where that is due, then fetch. Leader and logs are
ports that are awaited: while a question is on its way partitions may be removed, or made to follow
anew, and then its answer is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from impl.core.truncation import EpochEnd, follower_truncation
from impl.log.errors import CorruptRecord, InvalidBatch, StorageError
from impl.releases import Release

Key = TypeVar("Key")

EARLIEST, LATEST = -2, -1
"""Timestamps of ListOffsets that mean the log's start, and its end."""


class Answer(Enum):
    """Kafka's error codes of fetches and of questions about epochs."""

    NONE = "NONE"
    FENCED_LEADER_EPOCH = "FENCED_LEADER_EPOCH"
    UNKNOWN_LEADER_EPOCH = "UNKNOWN_LEADER_EPOCH"
    OFFSET_OUT_OF_RANGE = "OFFSET_OUT_OF_RANGE"
    CORRUPT_MESSAGE = "CORRUPT_MESSAGE"
    NOT_LEADER_FOR_PARTITION = "NOT_LEADER_FOR_PARTITION"
    NOT_LEADER_OR_FOLLOWER = "NOT_LEADER_OR_FOLLOWER"
    UNKNOWN_TOPIC_OR_PARTITION = "UNKNOWN_TOPIC_OR_PARTITION"
    KAFKA_STORAGE_ERROR = "KAFKA_STORAGE_ERROR"
    UNKNOWN_SERVER_ERROR = "UNKNOWN_SERVER_ERROR"

    @classmethod
    def _missing_(cls, value: object) -> Answer:
        """A code that is not known here is one to try again after."""
        return cls.UNKNOWN_SERVER_ERROR


class Phase(Enum):
    """What a partition waits for."""

    TRUNCATING = "Truncating"
    FETCHING = "Fetching"


@dataclass(frozen=True, slots=True)
class FetchState:
    """One partition: where to go on, in which leader epoch, and in which phase."""

    offset: int
    leader_epoch: int
    phase: Phase
    last_fetched_epoch: int | None = None


class EpochQuestion(NamedTuple):
    """Where does ``epoch`` end? Asked in ``leader_epoch``, which is sent since 2.1 (KIP-320)."""

    leader_epoch: int | None
    epoch: int


class FetchQuestion(NamedTuple):
    """What comes at ``offset``? With ``last_fetched_epoch`` where truncation comes with it.

    ``leader_epoch``, the one that the asker is in, is sent since 2.1 (KIP-320).
    """

    leader_epoch: int | None
    offset: int
    last_fetched_epoch: int | None


class EpochReply(NamedTuple):
    """An answer about an epoch's end."""

    error: Answer
    end: EpochEnd


class FetchReply(NamedTuple):
    """An answer to a fetch: what came, the leader's high watermark and log start.

    ``batch`` is whatever the follower's log appends, None if nothing came.
    """

    error: Answer
    batch: Any = None
    high_watermark: int = 0
    log_start: int = 0
    diverging: EpochEnd | None = None


class OffsetQuestion(NamedTuple):
    """Where does the log begin (timestamp -2) or end (-1)? ``leader_epoch`` is sent since 2.1."""

    leader_epoch: int | None
    timestamp: int


class Leader(Protocol[Key]):
    """What a fetcher asks of its leader."""

    async def epoch_ends(self, questions: Mapping[Key, EpochQuestion]) -> Mapping[Key, EpochReply]:
        """OffsetForLeaderEpoch."""

    async def fetch(self, questions: Mapping[Key, FetchQuestion]) -> Mapping[Key, FetchReply]:
        """Fetch."""

    async def offset(self, key: Key, question: OffsetQuestion) -> int:
        """ListOffsets. OffsetUnknown."""


class FollowedLog(Protocol):
    """What a fetcher asks of a follower's log; each call that writes may raise StorageError."""

    high_watermark: int
    log_start: int

    @property
    def log_end(self) -> int:
        """The log end offset."""

    def latest_epoch(self) -> int | None:
        """The newest epoch in the log, None if there is none."""

    def end_offset_for(self, epoch: int) -> tuple[int, int]:
        """Epoch and exclusive end, see ``LeaderEpochFileCache``."""

    async def append(self, batch: Any) -> None:
        """Append what a leader answered. InvalidBatch, CorruptRecord."""

    async def truncate_to(self, offset: int) -> None:
        """Cut from an offset on."""

    async def truncate_fully_and_start_at(self, offset: int) -> None:
        """Forget every record; the log begins anew at an offset."""


class UnrequestedPartition(Exception):
    """``IllegalStateException``: an answer about a partition that was not asked about."""


class OffsetUnknown(Exception):
    """The leader did not say where its log begins or ends: ``error`` is its answer."""

    def __init__(self, key: object, error: Answer) -> None:
        super().__init__(f"the leader does not tell where {key} begins or ends: {error.value}")
        self.error = error


class Watching(Protocol):
    """What a fetcher tells of its logs; nothing by default."""

    def truncating(self, key: Any, offset: int, log_end: int, high_watermark: int) -> None:
        """A log is about to be cut to ``offset``; where it ends there already, it stays."""

    def append_failed(self, key: Any, error: str) -> None:
        """What was fetched could not be appended: the partition is followed no more (2.3)."""

    def replicated(self, key: Any, offset: int, log_end: int, high_watermark: int) -> None:
        """An answer to a fetch at ``offset`` was taken; what the log and the watermark are now."""


class Unwatched:
    """Nobody listens."""

    def truncating(self, key: Any, offset: int, log_end: int, high_watermark: int) -> None:
        """It is not reported."""

    def append_failed(self, key: Any, error: str) -> None:
        """It is not reported."""

    def replicated(self, key: Any, offset: int, log_end: int, high_watermark: int) -> None:
        """It is not reported."""


class FetcherThread(Generic[Key]):
    """Partitions that follow one leader; ``failed`` are those that wait for the controller.

    ``on_fetch``: epochs are compared by the leader at every fetch (2.7), not by a request before.
    """

    def __init__(
        self, leader: Leader[Key], logs: Mapping[Key, FollowedLog], release: Release,
        on_fetch: bool, watching: Watching | None = None,
    ) -> None:  # fmt: skip
        self.leader = leader
        self.logs = logs
        self.release = release
        self.on_fetch = on_fetch
        self.watching = watching or Unwatched()
        self.states: dict[Key, FetchState] = {}
        self.failed: set[Key] = set()
        self.truncations = 0

    def follow(self, partitions: Mapping[Key, int]) -> None:
        """Follow partitions in their leader epochs, from where their logs say.

        That is the high watermark; where truncation comes with fetches it is the log end (2.7).
        """
        places = dict[Key, tuple[int, int]]()
        for key, leader_epoch in partitions.items():
            log = self.logs[key]
            from_end = self.on_fetch and self.latest_epoch(key) is not None
            places[key] = (log.log_end if from_end else log.high_watermark), leader_epoch
        self.add(places)

    def add(self, partitions: Mapping[Key, tuple[int, int]]) -> None:
        """Follow partitions from (offset, leader epoch) on.

        One that is followed in this very epoch goes on as it was (2.1 and later).
        """
        for key, (offset, leader_epoch) in partitions.items():
            known = self.states.get(key)
            if known and known.leader_epoch == leader_epoch and self.release.since("2.1"):
                continue
            self.failed.discard(key)
            latest = self.latest_epoch(key)
            fetches = self.on_fetch and latest is not None
            phase = Phase.FETCHING if fetches else Phase.TRUNCATING
            self.states[key] = FetchState(offset, leader_epoch, phase, latest if fetches else None)

    def remove(self, keys: Iterable[Key]) -> None:
        """Follow them no more."""
        for key in keys:
            self.states.pop(key, None)

    def latest_epoch(self, key: Key) -> int | None:
        """The newest epoch of a partition's log, None if it has none."""
        return self.logs[key].latest_epoch()

    def _sent(self, leader_epoch: int) -> int | None:
        """The leader epoch as a question carries it (KIP-320)."""
        return leader_epoch if self.release.since("2.1") else None

    def _is_of(self, asked: FetchState, state: FetchState) -> bool:
        """An answer is of the leader epoch that the partition is in now.

        Up to 2.0 a fetcher knew no leader epochs: whatever its leader answered was taken. 2.1.0
        took what was answered about epochs still (KAFKA-7786).
        """
        takes_late = self.release.parts == (2, 1, 0) and asked.phase is Phase.TRUNCATING
        knows = self.release.since("2.1") and not takes_late
        return asked.leader_epoch == state.leader_epoch or not knows

    async def truncate(self, key: Key, offset: int) -> None:
        """Cut a partition's log."""
        log = self.logs[key]
        self.watching.truncating(key, offset, log.log_end, log.high_watermark)
        await log.truncate_to(offset)
        self.truncations += 1

    async def append(self, key: Key, batch: Any) -> None:
        """Append what was fetched to a partition's log."""
        await self.logs[key].append(batch)

    async def do_work(self) -> None:
        """One round."""
        await self.maybe_truncate()
        await self.maybe_fetch()

    # Truncating

    async def maybe_truncate(self) -> None:
        """Cut the partitions that are to be compared with their leader first."""
        truncating = [key for key, one in self.states.items() if one.phase is Phase.TRUNCATING]
        epochs = {key: self.latest_epoch(key) for key in truncating}
        asked = {key: self.states[key] for key, epoch in epochs.items() if epoch is not None}
        if asked:
            await self._compare(asked, epochs)
        for key in truncating:
            if epochs[key] is None and key in self.states:
                await self._truncate_safely(key, self.logs[key].high_watermark, done=True)

    async def _compare(
        self, asked: Mapping[Key, FetchState], epochs: Mapping[Key, int | None]
    ) -> None:
        questions = {
            key: EpochQuestion(self._sent(state.leader_epoch), epoch)
            for key, state in asked.items()
            if (epoch := epochs[key]) is not None
        }
        await self.compared(asked, await self.leader.epoch_ends(questions))

    async def compared(
        self, asked: Mapping[Key, FetchState], replies: Mapping[Key, EpochReply]
    ) -> None:
        """Cut by the answers about the ends of epochs; ``asked`` is how partitions stood then."""
        unrequested = [key for key in replies if key not in asked]
        if unrequested:
            raise UnrequestedPartition(f"the leader answered about {unrequested}, not asked about")
        for key, reply in replies.items():
            state = self.states.get(key)
            if state is None or not self._is_of(asked[key], state):
                continue  # removed, or made to follow anew, while the question was on its way
            if reply.error is Answer.FENCED_LEADER_EPOCH:
                self._fail(key)
            elif reply.error is Answer.NONE:
                await self._cut(key, reply.end)

    async def _cut(self, key: Key, reply: EpochEnd) -> None:
        log = self.logs[key]
        truncation = follower_truncation(
            reply,
            log.log_end,
            log.high_watermark,
            self.latest_epoch(key),
            log.end_offset_for,
            self.release,
        )
        await self._truncate_safely(key, truncation.offset, truncation.done)

    async def _truncate_safely(self, key: Key, offset: int, done: bool) -> None:
        state = self.states[key]
        try:
            await self.truncate(key, offset)
        except StorageError:
            self._fail(key)
            return
        phase = Phase.FETCHING if done else state.phase
        latest = self.latest_epoch(key) if self.on_fetch else None
        self.states[key] = replace(state, offset=offset, phase=phase, last_fetched_epoch=latest)

    def _fail(self, key: Key) -> None:
        """Followed no more until the controller says so anew (2.1 and later)."""
        self.states.pop(key, None)
        self.failed.add(key)

    # Fetching

    async def maybe_fetch(self) -> None:
        """Fetch for the partitions that are compared, and append."""
        asked = {key: one for key, one in self.states.items() if one.phase is Phase.FETCHING}
        if not asked:
            return
        questions = {
            key: FetchQuestion(self._sent(one.leader_epoch), one.offset, one.last_fetched_epoch)
            for key, one in asked.items()
        }
        await self.fetched(asked, await self.leader.fetch(questions))

    async def fetched(
        self, asked: Mapping[Key, FetchState], replies: Mapping[Key, FetchReply]
    ) -> None:
        """Append what was fetched; ``asked`` is how partitions stood when it was asked for."""
        for key, reply in replies.items():
            state = self.states.get(key)
            if state is None or not self._is_of(asked[key], state):
                continue  # removed, or made to follow anew, while the question was on its way
            if state.offset == asked[key].offset and state.phase is Phase.FETCHING:
                await self._apply(key, state, reply)

    async def _apply(self, key: Key, state: FetchState, reply: FetchReply) -> None:
        if reply.error is Answer.FENCED_LEADER_EPOCH:
            self._fail(key)
        elif reply.error is Answer.OFFSET_OUT_OF_RANGE:
            await self._out_of_range(key, state)
        elif reply.error is Answer.NONE and reply.diverging is not None:
            await self._cut_while_fetching(key, reply.diverging)
        elif reply.error is Answer.NONE:
            await self._append(key, state, reply)

    async def _append(self, key: Key, state: FetchState, reply: FetchReply) -> None:
        log = self.logs[key]
        try:
            if reply.batch is not None:
                await self.append(key, reply.batch)
            log.high_watermark = min(reply.high_watermark, log.log_end)
            if log.log_start < reply.log_start <= log.high_watermark:
                log.log_start = reply.log_start
        except (StorageError, InvalidBatch, CorruptRecord) as error:
            self.watching.append_failed(key, str(error))
            self._fail(key)
            return
        self.watching.replicated(key, state.offset, log.log_end, log.high_watermark)
        latest = self.latest_epoch(key) if self.on_fetch else None
        self.states[key] = replace(state, offset=log.log_end, last_fetched_epoch=latest)

    async def _cut_while_fetching(self, key: Key, diverging: EpochEnd) -> None:
        await self._cut(key, diverging)
        if key in self.states:  # it goes on fetching, whether or not that was the last cut
            self.states[key] = replace(self.states[key], phase=Phase.FETCHING)

    async def _offset(self, key: Key, state: FetchState, timestamp: int) -> int:
        question = OffsetQuestion(self._sent(state.leader_epoch), timestamp)
        return await self.leader.offset(key, question)

    async def _out_of_range(self, key: Key, state: FetchState) -> None:
        """Find where to go on when the leader does not have the offset (fact sheet g.9)."""
        log = self.logs[key]
        try:
            end = await self._offset(key, state, LATEST)
            start = await self._offset(key, state, EARLIEST) if end >= log.log_end else 0
        except OffsetUnknown as refused:
            # Asked in an epoch that the leader has left, it is as after a fetch in that epoch;
            # otherwise it fetches at the same offset again.
            if refused.error is Answer.FENCED_LEADER_EPOCH and self.states.get(key) == state:
                self._fail(key)
            return
        if self.states.get(key) != state:
            return  # removed, or made to follow anew, while the questions were on their way
        try:
            if end < log.log_end:
                await self.truncate(key, end)
                self.states[key] = replace(state, offset=end)
                return
            if start > log.log_end:
                await log.truncate_fully_and_start_at(start)
        except StorageError:
            self._fail(key)
            return
        self.states[key] = replace(state, offset=max(start, log.log_end))
