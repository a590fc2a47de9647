"""Where a follower truncates its log, and what its leader answers (fact sheet h.2 to h.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from impl.log.leader_epoch_cache import UNDEFINED
from impl.releases import Release

EndOffsetFor = Callable[[int], tuple[int, int]]
"""``endOffsetFor`` of a log: the newest epoch up to the asked one, and its exclusive end."""


class Truncation(NamedTuple):
    """The offset to truncate to; ``done`` unless the follower must ask again with an older
    epoch."""

    offset: int
    done: bool


class EpochEnd(NamedTuple):
    """A leader's response: an epoch (-1 in version 0) and its exclusive end offset, -1 if
    unknown."""

    epoch: int
    end: int


def follower_truncation(
    reply: EpochEnd,
    log_end: int,
    high_watermark: int,
    latest_epoch: int | None,
    end_offset_for: EndOffsetFor,
    release: Release,
) -> Truncation:
    """Where a follower truncates its log by the leader's answer.

    Without an epoch of its own, or of the leader's, it falls back on its high watermark; up to 0.10
    nothing else was known (KIP-101). Since 2.0 (KIP-279) an answer about an epoch that the follower
    does not know makes it ask once more.
    """
    if reply.end == UNDEFINED or latest_epoch is None or not release.since("0.11"):
        return Truncation(high_watermark, True)
    if not release.since("2.0") or reply.epoch == UNDEFINED:
        return Truncation(min(reply.end, log_end), True)
    known, end = end_offset_for(reply.epoch)
    if known == UNDEFINED:
        return Truncation(min(reply.end, log_end), True)
    if known != reply.epoch:
        return Truncation(min(end, log_end), False)
    return Truncation(min(end, reply.end, log_end), True)


def divergence(
    last_fetched_epoch: int, offset: int, log_start: int, end_offset_for: EndOffsetFor
) -> EpochEnd | None:
    """Where the log of a follower that fetches diverges from the leader's (2.7); None if it does
    not.

    FetchOutOfRange for an epoch that the leader does not know, or an offset before its log.
    """
    epoch, end = end_offset_for(last_fetched_epoch)
    if end == UNDEFINED or offset < log_start:
        raise FetchOutOfRange(f"offset {offset} of epoch {last_fetched_epoch} is not in the log")
    parts = epoch < last_fetched_epoch or end < offset
    return EpochEnd(epoch, end) if parts else None


class FetchOutOfRange(Exception):
    """``OFFSET_OUT_OF_RANGE``: the leader cannot serve that offset."""
