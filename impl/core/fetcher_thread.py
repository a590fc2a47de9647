"""A follower's fetcher for many partitions of one leader (``AbstractFetcherThread``; g.8, h.3).

One round is ``do_work``: compare epochs and cut where that is due, then fetch. What a leader
answers comes through a port, so that a round can be played without network.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from impl.core.truncation import EpochEnd, follower_truncation
from impl.releases import Release

Key = TypeVar("Key")


class Answer(Enum):
    """Kafka's error codes, those that a fetcher minds."""

    NONE = "NONE"
    FENCED_LEADER_EPOCH = "FENCED_LEADER_EPOCH"
    UNKNOWN_LEADER_EPOCH = "UNKNOWN_LEADER_EPOCH"
    OFFSET_OUT_OF_RANGE = "OFFSET_OUT_OF_RANGE"
    CORRUPT_MESSAGE = "CORRUPT_MESSAGE"
    NOT_LEADER_FOR_PARTITION = "NOT_LEADER_FOR_PARTITION"


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
    """Where does ``epoch`` end? Asked in ``leader_epoch``."""

    leader_epoch: int
    epoch: int


class FetchQuestion(NamedTuple):
    """What comes at ``offset``? With ``last_fetched_epoch`` where truncation comes with it."""

    leader_epoch: int
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


class Leader(Protocol[Key]):
    """What a fetcher asks of its leader."""

    def epoch_ends(self, questions: Mapping[Key, EpochQuestion]) -> Mapping[Key, EpochReply]:
        """OffsetForLeaderEpoch."""

    def fetch(self, questions: Mapping[Key, FetchQuestion]) -> Mapping[Key, FetchReply]:
        """Fetch."""

    def earliest(self, key: Key) -> int:
        """ListOffsets, the log's start."""

    def latest(self, key: Key) -> int:
        """ListOffsets, the log's end."""


class FollowedLog(Protocol):
    """What a fetcher asks of a follower's log."""

    high_watermark: int
    start: int

    @property
    def end(self) -> int:
        """The log end offset."""

    def latest_epoch(self) -> int | None:
        """The newest epoch in the log, None if there is none."""

    def end_offset_for(self, epoch: int) -> tuple[int, int]:
        """Epoch and exclusive end, see ``LeaderEpochFileCache``."""

    def append(self, batch: Any) -> None:
        """Append what a leader answered."""

    def truncate_to(self, offset: int) -> None:
        """Cut from an offset on."""

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Forget every record; the log begins anew at an offset."""


class UnrequestedPartition(Exception):
    """``IllegalStateException``: an answer about a partition that was not asked about."""


class CannotAppend(Exception):
    """The log cannot be written: its partition fails, the others go on (2.3)."""


class CannotTruncate(Exception):
    """The log cannot be cut: its partition fails, the others go on."""


class FetcherThread(Generic[Key]):
    """Partitions that follow one leader; ``failed`` are those that wait for the controller.

    ``on_fetch``: epochs are compared by the leader at every fetch (2.7), not by a request before.
    """

    def __init__(
        self, leader: Leader[Key], logs: Mapping[Key, FollowedLog], release: Release, on_fetch: bool
    ) -> None:
        self.leader = leader
        self.logs = logs
        self.release = release
        self.on_fetch = on_fetch
        self.states: dict[Key, FetchState] = {}
        self.failed: set[Key] = set()
        self.truncations = 0

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

    def truncate(self, key: Key, offset: int) -> None:
        """Cut a partition's log."""
        self.logs[key].truncate_to(offset)
        self.truncations += 1

    def append(self, key: Key, batch: Any) -> None:
        """Append what was fetched to a partition's log."""
        self.logs[key].append(batch)

    def do_work(self) -> None:
        """One round."""
        self.maybe_truncate()
        self.maybe_fetch()

    # Truncating

    def maybe_truncate(self) -> None:
        """Cut the partitions that are to be compared with their leader first."""
        truncating = [key for key, one in self.states.items() if one.phase is Phase.TRUNCATING]
        epochs = {key: self.latest_epoch(key) for key in truncating}
        questions = {
            key: EpochQuestion(self.states[key].leader_epoch, epoch)
            for key, epoch in epochs.items()
            if epoch is not None
        }
        if questions:
            self._compare(questions)
        for key in truncating:
            if epochs[key] is None and key in self.states:
                self._truncate_safely(key, self.logs[key].high_watermark, done=True)

    def _compare(self, questions: dict[Key, EpochQuestion]) -> None:
        replies = self.leader.epoch_ends(questions)
        unrequested = [key for key in replies if key not in questions]
        if unrequested:
            raise UnrequestedPartition(f"the leader answered about {unrequested}, not asked about")
        for key, reply in replies.items():
            question, state = questions[key], self.states.get(key)
            if state is None or state.leader_epoch != question.leader_epoch:
                continue  # removed, or told to follow anew, while the question was on its way
            if reply.error is Answer.FENCED_LEADER_EPOCH:
                self._fail(key)
            elif reply.error is Answer.NONE:
                self._cut(key, reply.end)

    def _cut(self, key: Key, reply: EpochEnd) -> None:
        log = self.logs[key]
        truncation = follower_truncation(
            reply,
            log.end,
            log.high_watermark,
            self.latest_epoch(key),
            log.end_offset_for,
            self.release,
        )
        self._truncate_safely(key, truncation.offset, truncation.done)

    def _truncate_safely(self, key: Key, offset: int, done: bool) -> None:
        state = self.states[key]
        try:
            self.truncate(key, offset)
        except CannotTruncate:
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

    def maybe_fetch(self) -> None:
        """Fetch for the partitions that are compared, and append."""
        questions = {
            key: FetchQuestion(one.leader_epoch, one.offset, one.last_fetched_epoch)
            for key, one in self.states.items()
            if one.phase is Phase.FETCHING
        }
        if not questions:
            return
        for key, reply in self.leader.fetch(questions).items():
            state = self.states.get(key)
            if state is None or state.leader_epoch != questions[key].leader_epoch:
                continue
            if state.offset == questions[key].offset:
                self._apply(key, state, reply)

    def _apply(self, key: Key, state: FetchState, reply: FetchReply) -> None:
        if reply.error is Answer.FENCED_LEADER_EPOCH:
            self._fail(key)
        elif reply.error is Answer.OFFSET_OUT_OF_RANGE:
            self._out_of_range(key, state)
        elif reply.error is Answer.NONE and reply.diverging is not None:
            self._cut_while_fetching(key, reply.diverging)
        elif reply.error is Answer.NONE:
            self._append(key, state, reply)

    def _append(self, key: Key, state: FetchState, reply: FetchReply) -> None:
        log = self.logs[key]
        if reply.batch is not None:
            try:
                self.append(key, reply.batch)
            except CannotAppend:
                self._fail(key)
                return
        log.high_watermark = min(reply.high_watermark, log.end)
        if log.start < reply.log_start <= log.high_watermark:
            log.start = reply.log_start
        latest = self.latest_epoch(key) if self.on_fetch else None
        self.states[key] = replace(state, offset=log.end, last_fetched_epoch=latest)

    def _cut_while_fetching(self, key: Key, diverging: EpochEnd) -> None:
        self._cut(key, diverging)
        if key in self.states:  # it goes on fetching, whether or not that was the last cut
            self.states[key] = replace(self.states[key], phase=Phase.FETCHING)

    def _out_of_range(self, key: Key, state: FetchState) -> None:
        """Find where to go on when the leader does not have the offset (fact sheet g.9)."""
        log, end = self.logs[key], self.leader.latest(key)
        start = self.leader.earliest(key) if end >= log.end else 0
        if self.states.get(key) != state:
            return  # removed, or told to follow anew, while the questions were on their way
        if end < log.end:
            self.truncate(key, end)
            self.states[key] = replace(state, offset=end)
            return
        if start > log.end:
            log.truncate_fully_and_start_at(start)
        self.states[key] = replace(state, offset=max(start, log.end))
