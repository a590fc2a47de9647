"""The leader epoch that a leader assumes for a fetch within a fetch session (KIP-227, 1.1).

A leader keeps what was asked first, and reads the later fetches of the session from what it keeps
(``impl.server.fetch_sessions``). Source: FetchSession.scala.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from impl.core.fetcher_thread import FetchQuestion
from impl.releases import Release

Key = TypeVar("Key")


def forgets_epochs(release: Release) -> bool:
    """Whether leaders drop the leader epoch of a session's fetches (KIP-320, 2.1; KAFKA-9338,
    2.5)."""
    return release.since("2.1") and not release.since("2.5")


def as_kept(
    questions: Mapping[Key, FetchQuestion], release: Release
) -> Mapping[Key, FetchQuestion]:
    """A session's fetch as its leader reads it: without epochs where they are dropped, so never
    fenced."""
    if not forgets_epochs(release):
        return questions
    return {one: asked._replace(leader_epoch=None) for one, asked in questions.items()}
