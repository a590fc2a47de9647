"""A follower's fetcher for many partitions of one leader (``AbstractFetcherThread``; g.8, h.3).

One round is ``do_work``: truncate the partitions that are in the Truncating phase, then fetch.
Leader and logs are ports that are awaited. While a request is in flight partitions may be removed,
or added again, and late answers are dropped.
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


class FetchErrorCode(Enum):
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
    def _missing_(cls, value: object) -> FetchErrorCode:
        """An unknown code: the request is sent again."""
        return cls.UNKNOWN_SERVER_ERROR


class Phase(Enum):
    """The next action of a partition's fetcher (``ReplicaState`` of ``PartitionFetchState``)."""

    TRUNCATING = "Truncating"
    FETCHING = "Fetching"


@dataclass(frozen=True, slots=True)
class FetchState:
    """One partition: its fetch offset, its leader epoch, and its phase."""

    offset: int
    leader_epoch: int
    phase: Phase
    last_fetched_epoch: int | None = None


class EpochQuestion(NamedTuple):
    """A request for the end offset of ``epoch``, made in ``leader_epoch`` (sent since 2.1,
    KIP-320)."""

    leader_epoch: int | None
    epoch: int


class FetchQuestion(NamedTuple):
    """A request for records from ``offset`` on; ``last_fetched_epoch`` where fetches truncate
    (2.7).

    ``leader_epoch``, the one that the asker is in, is sent since 2.1 (KIP-320). ``log_start``:
    where a follower's log begins (KIP-107, 0.11), -1 of a consumer.
    """

    leader_epoch: int | None
    offset: int
    last_fetched_epoch: int | None
    log_start: int = -1


class EpochReply(NamedTuple):
    """A response with an epoch and its end offset."""

    error: FetchErrorCode
    end: EpochEnd


class FetchReply(NamedTuple):
    """An answer to a fetch: what came, the leader's high watermark and log start, -1 if unknown.

    ``batch`` is whatever the follower's log appends, None if nothing came.
    """

    error: FetchErrorCode
    batch: Any = None
    high_watermark: int = -1
    log_start: int = -1
    diverging: EpochEnd | None = None


class OffsetQuestion(NamedTuple):
    """A request for the log's first (timestamp -2) or last (-1) offset; ``leader_epoch`` since
    2.1."""

    leader_epoch: int | None
    timestamp: int


class LeaderEndPoint(Protocol[Key]):
    """The requests of a fetcher to its leader."""

    async def epoch_ends(self, questions: Mapping[Key, EpochQuestion]) -> Mapping[Key, EpochReply]:
        """OffsetForLeaderEpoch."""

    async def fetch(self, questions: Mapping[Key, FetchQuestion]) -> Mapping[Key, FetchReply]:
        """Fetch."""

    async def offset(self, key: Key, question: OffsetQuestion) -> int:
        """ListOffsets. OffsetUnknown."""


class FollowedLog(Protocol):
    """The log operations of a fetcher; each one that writes may raise StorageError."""

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
        """Append the records of a fetch response. InvalidBatch, CorruptRecord."""

    async def truncate_to(self, offset: int) -> None:
        """Remove the records from an offset on."""

    async def truncate_fully_and_start_at(self, offset: int) -> None:
        """Remove every record; the log starts again at an offset."""


class UnrequestedPartition(Exception):
    """``IllegalStateException``: a response about a partition that was not requested."""


class OffsetUnknown(Exception):
    """The leader did not return its log's first or last offset: ``error`` is its response."""

    def __init__(self, key: object, error: FetchErrorCode) -> None:
        super().__init__(f"the leader does not tell where {key} begins or ends: {error.value}")
        self.error = error


class FetcherListener:
    """Is notified of what a fetcher does to its logs; does nothing by default."""

    def truncating(self, key: Any, offset: int, log_end: int, high_watermark: int) -> None:
        """A log is about to be truncated to ``offset``, even if it is no longer than that."""

    def append_failed(self, key: Any, error: Exception, offset: int) -> None:
        """Fetched records could not be appended: the partition is marked as failed (2.3)."""

    def replicated(self, key: Any, offset: int, log_end: int, high_watermark: int) -> None:
        """The answer to a fetch at ``offset`` was applied; the log end and high watermark now."""


def truncates_on_fetch(release: Release, protocol: Release) -> bool:
    """Whether leaders compare epochs at every fetch, without an OffsetForLeaderEpoch request
    before.

    Leaders of 2.7 know how (KIP-595, KAFKA-10435); followers name their last epoch since 2.8
    (KAFKA-10554), where the inter.broker.protocol.version is 2.7 or later.
    """
    return release.since("2.8") and protocol.since("2.7")


class FetcherThread(Generic[Key]):
    """Fetches the partitions of one leader; those in ``failed`` wait for a LeaderAndIsr.

    ``on_fetch``: see ``truncates_on_fetch``.
    """

    def __init__(
        self, leader: LeaderEndPoint[Key], logs: Mapping[Key, FollowedLog], release: Release,
        on_fetch: bool, watching: FetcherListener | None = None,
    ) -> None:  # fmt: skip
        self.leader = leader
        self.logs = logs
        self.release = release
        self.on_fetch = on_fetch
        self.watching = watching or FetcherListener()
        self.states: dict[Key, FetchState] = {}
        self.failed: set[Key] = set()
        self.truncations = 0

    def follow(self, partitions: Mapping[Key, int]) -> None:
        """Follow partitions in their leader epochs, from their log ends or high watermarks on.

        That is the high watermark; where truncation comes with fetches it is the log end (2.8).
        """
        places = dict[Key, tuple[int, int]]()
        for key, leader_epoch in partitions.items():
            log = self.logs[key]
            from_end = self.on_fetch and self.latest_epoch(key) is not None
            places[key] = (log.log_end if from_end else log.high_watermark), leader_epoch
        self.add(places)

    def add(self, partitions: Mapping[Key, tuple[int, int]]) -> None:
        """Follow partitions from (offset, leader epoch) on.

        A partition that is followed in this leader epoch already is left as it is (since 2.1).
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
        """Stop following them."""
        for key in keys:
            self.states.pop(key, None)

    def latest_epoch(self, key: Key) -> int | None:
        """The newest epoch of a partition's log, None if it has none."""
        return self.logs[key].latest_epoch()

    def _sent(self, leader_epoch: int) -> int | None:
        """The leader epoch of a request, None before 2.1 (KIP-320)."""
        return leader_epoch if self.release.since("2.1") else None

    def _is_of(self, asked: FetchState, state: FetchState) -> bool:
        """The answer is for the leader epoch that the partition is in now.

        Up to 2.0 a fetcher knew no leader epochs and applied every answer. 2.1.0 still applied
        late answers to OffsetForLeaderEpoch (KAFKA-7786).
        """
        takes_late = self.release.parts == (2, 1, 0) and asked.phase is Phase.TRUNCATING
        knows = self.release.since("2.1") and not takes_late
        return asked.leader_epoch == state.leader_epoch or not knows

    async def truncate(self, key: Key, offset: int) -> None:
        """Truncate a partition's log."""
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
        """Truncate the partitions that are in the Truncating phase."""
        truncating = [key for key, one in self.states.items() if one.phase is Phase.TRUNCATING]
        epochs = {key: self.latest_epoch(key) for key in truncating}
        known = {key: epoch for key, epoch in epochs.items() if epoch is not None}
        if known:
            await self._compare(known)
        for key in truncating:
            if key not in known and key in self.states:
                await self._truncate_safely(key, self.logs[key].high_watermark, done=True)

    async def _compare(self, epochs: Mapping[Key, int]) -> None:
        asked = {key: self.states[key] for key in epochs}
        questions = {
            key: EpochQuestion(self._sent(asked[key].leader_epoch), epoch)
            for key, epoch in epochs.items()
        }
        await self.on_epoch_ends(asked, await self.leader.epoch_ends(questions))

    async def on_epoch_ends(
        self, asked: Mapping[Key, FetchState], replies: Mapping[Key, EpochReply]
    ) -> None:
        """Truncate by the answers to OffsetForLeaderEpoch.

        ``asked``: the states of the partitions when the request was sent.
        """
        unrequested = [key for key in replies if key not in asked]
        if unrequested:
            raise UnrequestedPartition(f"the leader answered about {unrequested}, not asked about")
        for key, reply in replies.items():
            state = self.states.get(key)
            if state is None or not self._is_of(asked[key], state):
                continue  # removed, or added again, while the request was in flight
            if reply.error is FetchErrorCode.FENCED_LEADER_EPOCH:
                self._fail(key)
            elif reply.error is FetchErrorCode.NONE:
                await self._truncate_to_epoch_end(key, reply.end)

    async def _truncate_to_epoch_end(self, key: Key, reply: EpochEnd) -> None:
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
        """Stop following it until the next LeaderAndIsr request (since 2.1)."""
        self.states.pop(key, None)
        self.failed.add(key)

    # Fetching

    async def maybe_fetch(self) -> None:
        """Fetch for the partitions that are in the Fetching phase, and append."""
        asked = {key: one for key, one in self.states.items() if one.phase is Phase.FETCHING}
        if not asked:
            return
        questions = {
            key: FetchQuestion(
                self._sent(one.leader_epoch),
                one.offset,
                one.last_fetched_epoch,
                self.logs[key].log_start,
            )
            for key, one in asked.items()
        }
        await self.on_fetched(asked, await self.leader.fetch(questions))

    async def on_fetched(
        self, asked: Mapping[Key, FetchState], replies: Mapping[Key, FetchReply]
    ) -> None:
        """Append what was fetched.

        ``asked``: the states of the partitions when the request was sent.
        """
        for key, reply in replies.items():
            state = self.states.get(key)
            if state is None or not self._is_of(asked[key], state):
                continue  # removed, or added again, while the request was in flight
            if state.offset == asked[key].offset and state.phase is Phase.FETCHING:
                await self._apply(key, state, reply)

    async def _apply(self, key: Key, state: FetchState, reply: FetchReply) -> None:
        if reply.error is FetchErrorCode.FENCED_LEADER_EPOCH:
            self._fail(key)
        elif reply.error is FetchErrorCode.OFFSET_OUT_OF_RANGE:
            await self._out_of_range(key, state)
        elif reply.error is FetchErrorCode.NONE and reply.diverging is not None:
            await self._truncate_while_fetching(key, reply.diverging)
        elif reply.error is FetchErrorCode.NONE:
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
            self.watching.append_failed(key, error, state.offset)
            if not self._is_fetched_again(error):
                self._fail(key)
            return
        self.watching.replicated(key, state.offset, log.log_end, log.high_watermark)
        latest = self.latest_epoch(key) if self.on_fetch else None
        self.states[key] = replace(state, offset=log.log_end, last_fetched_epoch=latest)

    def _is_fetched_again(self, error: Exception) -> bool:
        """What came was corrupt: the next answer may be whole."""
        is_altered = isinstance(error, InvalidBatch) and error.code == "CORRUPT_MESSAGE"
        return is_altered or isinstance(error, CorruptRecord)

    async def _truncate_while_fetching(self, key: Key, diverging: EpochEnd) -> None:
        await self._truncate_to_epoch_end(key, diverging)
        if key in self.states:  # fetching goes on; the next fetch may truncate again
            self.states[key] = replace(self.states[key], phase=Phase.FETCHING)

    async def _offset(self, key: Key, state: FetchState, timestamp: int) -> int:
        question = OffsetQuestion(self._sent(state.leader_epoch), timestamp)
        return await self.leader.offset(key, question)

    async def _out_of_range(self, key: Key, state: FetchState) -> None:
        """Find the next fetch offset after OFFSET_OUT_OF_RANGE (fact sheet g.9)."""
        log = self.logs[key]
        try:
            end = await self._offset(key, state, LATEST)
            start = await self._offset(key, state, EARLIEST) if end >= log.log_end else end
        except OffsetUnknown as refused:
            # ListOffsets in a fenced epoch fails the partition, as a fetch does; after any other
            # error it fetches at the same offset again.
            if (
                refused.error is FetchErrorCode.FENCED_LEADER_EPOCH
                and self.states.get(key) == state
            ):
                self._fail(key)
            return
        if self.states.get(key) != state:
            return  # removed, or added again, while the requests were in flight
        try:
            if end < log.log_end:
                await self.truncate(key, end)
            elif start > log.log_end:
                await log.truncate_fully_and_start_at(start)
        except StorageError:
            self._fail(key)
            return
        latest = self.latest_epoch(key) if self.on_fetch else None
        place = max(start, log.log_end)
        self.states[key] = replace(state, offset=place, last_fetched_epoch=latest)
