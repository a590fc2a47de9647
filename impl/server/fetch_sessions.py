"""Incremental fetch sessions on a leader (KIP-227, 1.1).

A fetcher first sends a full fetch of all partitions that it follows at a leader. The leader caches
it. The later fetches of the session name only the partitions whose parameters changed, and the
responses name only the partitions with news. A session ends with either process, when its fetcher
closes it, or when the leader evicts it; then a full fetch begins another.
Source: FetchSession.scala, FetchSessionHandler, FetchMetadata.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from impl.core.fetch_sessions import as_kept
from impl.core.fetcher_thread import FetchErrorCode, FetchQuestion, FetchReply
from impl.error_codes import NONE
from impl.releases import Release

Key = TypeVar("Key")

NO_SESSION = 0
"""The number in a fetcher's first fetch, and in an answer after which there is no session."""

INITIAL_EPOCH = 0
"""In a full fetch that wants a session."""

FINAL_EPOCH = -1
"""In a full fetch that wants none."""

SLOTS = 1000
"""``max.incremental.fetch.session.cache.slots``."""

EVICTION_MS = 120_000
"""``MIN_INCREMENTAL_FETCH_SESSION_EVICTION_MS``: how long a session is new, and is not stale."""

ID_NOT_FOUND = "FETCH_SESSION_ID_NOT_FOUND"
INVALID_EPOCH = "INVALID_FETCH_SESSION_EPOCH"


class FetchedPart(NamedTuple):
    """The parameters of one partition in a fetch, with its own byte limit."""

    question: FetchQuestion
    max_bytes: int


def next_epoch(epoch: int) -> int:
    """The session epoch of the next fetch: it wraps around, but never to 0."""
    if epoch < 0:
        return FINAL_EPOCH
    return 1 if epoch == 2**31 - 1 else epoch + 1


# The leader's side


@dataclass(slots=True)
class _CachedPart:
    """The last fetch parameters of a partition, and the state in the last response."""

    asked: FetchedPart
    high_watermark: int = -1
    log_start: int = -1

    def renewed(self, reply: FetchReply) -> bool:
        """Whether a reply has news for the fetcher; records the reply as sent."""
        failed = reply.error is not FetchErrorCode.NONE
        changed = (self.high_watermark, self.log_start) != (reply.high_watermark, reply.log_start)
        self.high_watermark = -1 if failed else reply.high_watermark  # to be sent once it is over
        self.log_start = reply.log_start
        return changed or failed or reply.batch is not None or reply.diverging is not None


@dataclass(slots=True, eq=False)
class FetchSession(Generic[Key]):
    """One fetcher's session. ``privileged``: a follower's, which has priority over consumers'."""

    number: int
    privileged: bool
    began_ms: int
    used_ms: int
    parts: dict[Key, _CachedPart]
    epoch: int = 1
    size: int = 0
    settled: bool = False

    def touch(self, now_ms: int) -> None:
        """Record the time of use, the size, and whether the session may be evicted."""
        self.used_ms, self.size = now_ms, len(self.parts)
        self.settled = now_ms - self.began_ms > EVICTION_MS


@dataclass(slots=True)
class FetchContext(Generic[Key]):
    """A fetch as its leader handles it. With an ``error`` the response carries that error only.

    ``session`` is set for an incremental fetch; ``began`` creates one for a full fetch.
    """

    questions: Mapping[Key, FetchQuestion]
    limits: Mapping[Key, int]
    error: str = NONE
    session: FetchSession[Key] | None = None
    began: Callable[[Mapping[Key, FetchReply]], int] | None = None
    _epoch: int = field(init=False)

    def __post_init__(self) -> None:
        self._epoch = NO_SESSION if self.session is None else self.session.epoch

    def answered(self, replies: Mapping[Key, FetchReply]) -> tuple[str, int, list[Key]]:
        """The error, the session id, and the partitions that the response names.

        An incremental response omits partitions without news. The named ones move to the end of the
        session's order, so that no partition takes all the space each time.
        """
        if self.session is None:
            number = NO_SESSION if self.began is None else self.began(replies)
            return NONE, number, list(replies)
        if self.session.epoch != self._epoch:  # the same fetch came twice
            return INVALID_EPOCH, self.session.number, []
        parts = self.session.parts
        named = [one for one, reply in replies.items() if parts[one].renewed(reply)]
        for one in named:
            parts[one] = parts.pop(one)
        return NONE, self.session.number, named


class FetchSessions(Generic[Key]):
    """The sessions that a leader has cached (``FetchManager`` and ``FetchSessionCache``).

    ``numbers`` returns random positive session ids. When the cache is full, a new session evicts a
    stale one; or a follower's session evicts a consumer's; or a larger session evicts a smaller one
    that is not new. Otherwise it is not created.
    """

    def __init__(self, release: Release, numbers: Callable[[], int], slots: int = SLOTS) -> None:
        self.release = release
        self.slots = slots
        self.known: dict[int, FetchSession[Key]] = {}
        self._numbers = numbers

    def context(
        self,
        number: int,
        epoch: int,
        asked: Mapping[Key, FetchedPart],
        forgotten: Collection[Key],
        follower: bool,
        now_ms: int,
    ) -> FetchContext[Key]:
        """The context of an incremental fetch, or of a full fetch (session epochs 0 and -1)."""
        if epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self.known.pop(number, None)  # a full fetch ends the session that it names
            if epoch == FINAL_EPOCH:
                return _complete(asked)

            def began(replies: Mapping[Key, FetchReply]) -> int:
                return self._begin(follower, asked, replies, now_ms)

            return _complete(asked, began)
        session = self.known.get(number)
        if session is None:
            return FetchContext({}, {}, ID_NOT_FOUND)
        if session.epoch != epoch:
            return FetchContext({}, {}, INVALID_EPOCH)
        return self._incremental(session, asked, forgotten, now_ms)

    def _incremental(
        self,
        session: FetchSession[Key],
        asked: Mapping[Key, FetchedPart],
        forgotten: Collection[Key],
        now_ms: int,
    ) -> FetchContext[Key]:
        parts = session.parts
        for one, part in asked.items():
            known = parts.get(one)
            if known is None:
                parts[one] = _CachedPart(part)
            else:
                known.asked = part
        for one in forgotten:
            parts.pop(one, None)
        if not parts:
            del self.known[session.number]
            return _complete({})
        if self.release.since("2.5"):
            session.touch(now_ms)
        elif session.size != len(parts):
            session.touch(session.used_ms)  # KAFKA-9137: only a session's size was kept up to date
        session.epoch = next_epoch(session.epoch)
        questions = {one: kept.asked.question for one, kept in parts.items()}
        limits = {one: kept.asked.max_bytes for one, kept in parts.items()}
        return FetchContext(as_kept(questions, self.release), limits, session=session)

    def _begin(
        self,
        follower: bool,
        asked: Mapping[Key, FetchedPart],
        replies: Mapping[Key, FetchReply],
        now_ms: int,
    ) -> int:
        """The number of a new session; NO_SESSION where there is no room for it."""
        if len(self.known) >= self.slots and not self._evicts(follower, len(replies), now_ms):
            return NO_SESSION
        parts = {one: _CachedPart(asked[one]) for one in replies}
        for one, part in parts.items():
            part.renewed(replies[one])
        number = self._numbers()
        while number == NO_SESSION or number in self.known:
            number = self._numbers()
        session = self.known[number] = FetchSession(number, follower, now_ms, now_ms, parts)
        session.touch(now_ms)
        return number

    def _evicts(self, privileged: bool, size: int, now_ms: int) -> bool:
        """Whether one has made room for a new one of some size (``tryEvict``)."""
        if not self.known:
            return False
        oldest = min(self.known.values(), key=lambda one: (one.used_ms, one.number))
        if now_ms - oldest.used_ms > EVICTION_MS:
            del self.known[oldest.number]
            return True
        worth = [
            (one.privileged, one.size, one.number)
            for one in self.known.values()
            if one.settled or (privileged and not one.privileged)
        ]
        if not worth or (privileged, size, NO_SESSION) < min(worth):
            return False
        del self.known[min(worth)[2]]
        return True


def _complete(
    asked: Mapping[Key, FetchedPart],
    began: Callable[[Mapping[Key, FetchReply]], int] | None = None,
) -> FetchContext[Key]:
    """A fetch that names all partitions that it is about."""
    questions = {one: part.question for one, part in asked.items()}
    limits = {one: part.max_bytes for one, part in asked.items()}
    return FetchContext(questions, limits, began=began)


# The fetcher's side


class FetchSessionHandler(Generic[Key]):
    """The fetch session of a fetcher with one leader: session id and epoch of its next fetch."""

    def __init__(self) -> None:
        self.number = NO_SESSION
        self.epoch = INITIAL_EPOCH
        self.parts: dict[Key, FetchedPart] = {}

    def __str__(self) -> str:
        """``FetchMetadata.toString``."""
        number = self.number or "INVALID"
        named = {INITIAL_EPOCH: "INITIAL", FINAL_EPOCH: "FINAL"}
        return f"(sessionId={number}, epoch={named.get(self.epoch, self.epoch)})"

    def next(self, parts: Mapping[Key, FetchedPart]) -> tuple[dict[Key, FetchedPart], list[Key]]:
        """The partitions that the next fetch names, and those that the leader is to forget."""
        if self.epoch == INITIAL_EPOCH:
            self.parts = dict(parts)
            return dict(parts), []
        forgotten = [one for one in self.parts if one not in parts]
        for one in forgotten:
            del self.parts[one]
        added = {one: part for one, part in parts.items() if one not in self.parts}
        altered = {one: parts[one] for one, part in self.parts.items() if parts[one] != part}
        named = {**added, **altered}
        self.parts.update(named)
        return named, forgotten

    def answered(self, error: str, number: int, named: Collection[Key]) -> str:
        """Handle a response's error, session id and partitions; why it is unusable, or empty."""
        if error != NONE:
            why = f"was unable to process the fetch request with {self}: {error}."
            self._next_is_full_fetch(NO_SESSION if error == ID_NOT_FOUND else self.number)
            return why
        full = self.epoch == INITIAL_EPOCH
        unasked = [one for one in named if one not in self.parts]
        omitted = [one for one in self.parts if one not in named] if full else []
        if unasked or omitted:
            self._next_is_full_fetch(NO_SESSION if full else self.number)
            kind = "a full" if full else "an incremental"
            parts = (("omitted", omitted), ("extra", unasked))
            odd = [f"{what}=({', '.join(map(str, some))})" for what, some in parts if some]
            return f"sent {kind} fetch response that is invalid: {', '.join(odd)}"
        if number == NO_SESSION:
            self._next_is_full_fetch(NO_SESSION)
        else:
            self.number, self.epoch = number, next_epoch(self.epoch)
        return ""

    def failed(self) -> None:
        """Handle a lost response: the next fetch is a full one, which closes this session."""
        self._next_is_full_fetch(self.number)

    def _next_is_full_fetch(self, number: int) -> None:
        self.number, self.epoch = number, INITIAL_EPOCH
