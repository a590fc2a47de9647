"""Fetch sessions: what a leader makes of a fetch that is not its fetcher's first (KIP-227, 1.1).

A fetcher asks in full once, for all partitions that it follows at a leader. The leader keeps what
was asked, and reads the later fetches of the session from what it keeps. A session ends with its
connection, with either process, or when the leader has no room for it; then a full fetch begins
another. Source: FetchSession.scala, FetchSessionHandler.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from impl.core.fetcher_thread import FetchQuestion
from impl.releases import Release

Key = TypeVar("Key")

NO_SESSION = 0
"""The number in a full fetch, and in an answer that begins no session."""

SLOTS = 1000
"""``max.incremental.fetch.session.cache.slots``."""


class FetchSessions:
    """The sessions that a leader's process knows; where there is no room the oldest goes.

    They are numbered from ``first`` on, which should be another one for each process.
    """

    def __init__(self, release: Release, first: int = 1) -> None:
        self.release = release
        self._newest = first - 1
        self._known: dict[int, None] = {}

    def begin(self) -> int:
        """The number of a new session, NO_SESSION before there were any."""
        if not self.release.since("1.1"):
            return NO_SESSION
        self._newest += 1
        self._known[self._newest] = None
        if len(self._known) > SLOTS:
            del self._known[next(iter(self._known))]
        return self._newest

    def has(self, session: int) -> bool:
        """It is known; else the answer is FETCH_SESSION_ID_NOT_FOUND."""
        return session in self._known


def forgets_epochs(release: Release) -> bool:
    """Leaders keep no leader epochs of a session's fetches (KIP-320, 2.1; KAFKA-9338, 2.5)."""
    return release.since("2.1") and not release.since("2.5")


def as_kept(
    questions: Mapping[Key, FetchQuestion], release: Release
) -> Mapping[Key, FetchQuestion]:
    """A fetch of a session as its leader reads it: where epochs are forgotten, none is fenced."""
    if not forgets_epochs(release):
        return questions
    return {one: asked._replace(leader_epoch=None) for one, asked in questions.items()}
