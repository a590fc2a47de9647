"""A simulated leader and fetcher, for questions about fetchers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from conformance.vectors.implementation.batch_log import BatchLog, LogBatch
from impl.core.fetcher_thread import (
    EARLIEST,
    EpochQuestion,
    EpochReply,
    FetchErrorCode,
    FetcherThread,
    FetchQuestion,
    FetchReply,
    OffsetQuestion,
    OffsetUnknown,
)
from impl.core.truncation import EpochEnd, FetchOutOfRange, divergence
from impl.log.errors import StorageError
from impl.releases import Release

PARTITION = "t-0"
_UNKNOWN = EpochEnd(-1, -1)


class SimulatedLeader:
    """A leader with a log for each partition; it can be set to fail in a given way."""

    def __init__(self, logs: Mapping[str, BatchLog], epoch: int) -> None:
        self.logs = dict(logs)
        self.epoch = epoch
        self.corrupt = 0  # so many fetches to come are damaged on their way
        self.epoch_fetches = self.fetches = 0
        self.meanwhile: Callable[[], None] | None = None  # happens while a question is on its way
        self.also_about: str | None = None  # a partition that nobody asked about
        self.offset_errors: dict[
            int, list[FetchErrorCode]
        ] = {}  # by timestamp, what ListOffsets says first

    def _refusal(self, asked: int | None) -> FetchErrorCode:
        if asked is None:
            return FetchErrorCode.NONE
        if asked < self.epoch:
            return FetchErrorCode.FENCED_LEADER_EPOCH
        return FetchErrorCode.UNKNOWN_LEADER_EPOCH if asked > self.epoch else FetchErrorCode.NONE

    async def epoch_ends(self, questions: Mapping[str, EpochQuestion]) -> dict[str, EpochReply]:
        """OffsetForLeaderEpoch."""
        self.epoch_fetches += 1
        replies = {key: self._epoch_end(key, one) for key, one in questions.items()}
        if self.also_about is not None:
            replies[self.also_about] = EpochReply(FetchErrorCode.NONE, EpochEnd(0, 0))
        self._meanwhile()
        return replies

    def _epoch_end(self, key: str, question: EpochQuestion) -> EpochReply:
        refusal = self._refusal(question.leader_epoch)
        if refusal is not FetchErrorCode.NONE:
            return EpochReply(refusal, _UNKNOWN)
        return EpochReply(
            FetchErrorCode.NONE, EpochEnd(*self.logs[key].end_offset_for(question.epoch))
        )

    async def fetch(self, questions: Mapping[str, FetchQuestion]) -> dict[str, FetchReply]:
        """Fetch, one batch at a time."""
        self.fetches += 1
        replies = {key: self._fetched(key, one) for key, one in questions.items()}
        self._meanwhile()
        return replies

    def _fetched(self, key: str, question: FetchQuestion) -> FetchReply:
        refusal, log = self._refusal(question.leader_epoch), self.logs[key]
        if refusal is not FetchErrorCode.NONE:
            return FetchReply(refusal)
        epoch = question.last_fetched_epoch
        try:
            known = log.end_offset_for
            parts = epoch is not None and divergence(epoch, question.offset, log.log_start, known)
        except FetchOutOfRange:
            parts = None
        if parts:
            return FetchReply(FetchErrorCode.NONE, diverging=parts)
        if not log.log_start <= question.offset <= log.log_end:
            return FetchReply(FetchErrorCode.OFFSET_OUT_OF_RANGE)
        if self.corrupt:
            self.corrupt -= 1
            return FetchReply(FetchErrorCode.CORRUPT_MESSAGE)
        batch = log.read(question.offset)
        return FetchReply(FetchErrorCode.NONE, batch, log.high_watermark, log.log_start)

    def _meanwhile(self) -> None:
        if self.meanwhile is not None:
            happens, self.meanwhile = self.meanwhile, None
            happens()

    async def offset(self, key: str, question: OffsetQuestion) -> int:
        """The log's start or end; first the errors that it is set to answer."""
        errors = self.offset_errors.get(question.timestamp, [])
        refusal = errors.pop(0) if errors else self._refusal(question.leader_epoch)
        if refusal is not FetchErrorCode.NONE:
            raise OffsetUnknown(key, refusal)
        log = self.logs[key]
        return log.log_start if question.timestamp == EARLIEST else log.log_end


class SimulatedFetcher(FetcherThread[str]):
    """A fetcher whose epochs can be set, and whose truncations can fail or be observed.

    An empty log counts as one of epoch 0, so it asks its leader, as in Kafka's own mock.
    """

    epochs: dict[str, int | None] | None = None
    failing: frozenset[str] = frozenset()
    failing_appends: frozenset[str] = frozenset()
    before_truncating: Callable[[], None] | None = None
    truncated_to: int | None = None

    def latest_epoch(self, key: str) -> int | None:
        """The epoch that is set, else the log's, else 0; there was none before KIP-101."""
        if not self.release.since("0.11"):
            return None
        if self.epochs is not None and key in self.epochs:
            return self.epochs[key]
        latest = super().latest_epoch(key)
        return 0 if latest is None else latest

    async def maybe_truncate(self) -> None:
        """As the fetcher does, after what was to happen before."""
        if self.before_truncating is not None:
            happens, self.before_truncating = self.before_truncating, None
            happens()
        await super().maybe_truncate()

    async def append(self, key: str, batch: LogBatch) -> None:
        """As the fetcher does, or not at all."""
        if key in self.failing_appends:
            raise StorageError(key, "", "it cannot be written")
        await super().append(key, batch)

    async def truncate(self, key: str, offset: int) -> None:
        """As the fetcher does, or not at all."""
        if key in self.failing:
            raise StorageError(key, "", "it cannot be cut")
        await super().truncate(key, offset)
        self.truncated_to = offset


class ScriptedLeader(SimulatedLeader):
    """A leader with given answers about epochs."""

    said: Mapping[str, EpochEnd] = {}
    error = FetchErrorCode.NONE
    errors: Mapping[str, FetchErrorCode] = {}

    def _epoch_end(self, key: str, question: EpochQuestion) -> EpochReply:
        error = self.errors.get(key, self.error)
        if error is not FetchErrorCode.NONE:
            return EpochReply(error, _UNKNOWN)
        return EpochReply(FetchErrorCode.NONE, self.said.get(key, _UNKNOWN))

    def _fetched(self, key: str, question: FetchQuestion) -> FetchReply:
        return FetchReply(FetchErrorCode.NONE, None, 0, 0)


def scripted_pair(
    under: Release, epochs: dict[str, int | None], said: Mapping[str, EpochEnd], end: int
) -> tuple[ScriptedLeader, SimulatedFetcher]:
    """A fetcher with empty logs with given ends, and with given epochs and answers."""
    logs = {key: BatchLog(start=end) for key in epochs}
    leader = ScriptedLeader(logs, 5)
    leader.said = said
    fetcher = SimulatedFetcher(leader, logs, under, on_fetch=False)
    fetcher.epochs = epochs
    fetcher.add(dict.fromkeys(epochs, (end, 5)))
    return leader, fetcher


def log_of(fields: Mapping[str, Any]) -> BatchLog:
    """A log from a question's notation: batches are [base offset, epoch, records]."""
    batches = tuple(LogBatch(*batch) for batch in fields.get("log", ()))
    return BatchLog(batches, fields.get("hw", 0), fields.get("logStart", 0))
