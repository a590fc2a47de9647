"""The leader epoch cache: where each leader epoch begins in a log, as pure functions over a list.

Entries are (epoch, start offset), oldest first. In the systems the log's records carry their epoch,
and the log itself is read; the theorem `epoch_cache_is_the_logs` and the tests show that the two
agree. Two designs: KIP-279's (2.0), and KIP-101's of 0.11 to 1.1, named `_before`.

Source: LeaderEpochFileCache (assign, endOffsetFor, truncateFromEnd, truncateFromStart).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import NamedTuple

NONE = -1
"""No epoch, no offset."""

Entries = tuple[tuple[int, int], ...]


class End(NamedTuple):
    """The newest known epoch up to the one asked for, and the exclusive end of its records."""

    epoch: int
    end: int


UNKNOWN = End(NONE, NONE)


class NoSuchEntry(ValueError):
    """`IllegalArgumentException`: no epoch, and since 2.7 no offset, is below 0."""


def latest(entries: Entries) -> int | None:
    """The newest epoch."""
    return entries[-1][0] if entries else None


def previous(entries: Entries) -> int | None:
    """The epoch before the newest."""
    return entries[-2][0] if len(entries) > 1 else None


def assigned(entries: Entries, epoch: int, start: int) -> Entries:
    """The entries once an epoch begins: a known epoch adds none; conflicting ones go (KIP-279).

    NoSuchEntry for a negative epoch.
    """
    if epoch < 0:
        raise NoSuchEntry(f"an epoch is 0 or more, not {epoch}")
    if entries and entries[-1][0] == epoch and entries[-1][1] <= start:
        return entries
    older = takewhile(lambda entry: entry[0] < epoch and entry[1] < start, entries)
    return (*older, (epoch, start))


def assigned_before(entries: Entries, epoch: int, start: int) -> Entries:
    """`assigned` by KIP-101: an epoch is added if it is newer and begins no earlier than the
    last."""
    newest, begun = entries[-1] if entries else (NONE, 0)
    return (*entries, (epoch, start)) if epoch > newest and start >= begun else entries


def end_of(entries: Entries, epoch: int, log_end: int) -> End:
    """The end of the records of an epoch or of older ones (KIP-279).

    The newest epoch ends with the log; an epoch before the first entry ends where that begins.
    """
    newest = latest(entries)
    if epoch == NONE or newest is None or epoch > newest:
        return UNKNOWN
    begun = [entry for entry in entries if entry[0] <= epoch]
    end = entries[len(begun)][1] if len(begun) < len(entries) else log_end
    return End(begun[-1][0] if begun else epoch, end)


def end_before(entries: Entries, epoch: int, log_end: int) -> int:
    """`end_of` by KIP-101: only the offset, none for an epoch older than the first entry."""
    if not entries or epoch < entries[0][0]:
        return NONE
    return end_of(entries, epoch, log_end).end


def cut_at_end(entries: Entries, end: int) -> Entries:
    """Removes epochs that begin at the truncated log's end or later; an end below 0 is none."""
    return entries if end < 0 else tuple(entry for entry in entries if entry[1] < end)


def cut_at_start(entries: Entries, start: int) -> Entries:
    """The log start moves up: so does the start of the epoch there; older epochs are removed."""
    gone = [entry for entry in entries if entry[1] <= start]
    return entries if not gone else ((gone[-1][0], start), *entries[len(gone) :])


def cut_at_start_before(entries: Entries, start: int) -> Entries:
    """`cut_at_start` by KIP-101, where two epochs may begin at one offset: both stay."""
    gone = [entry for entry in entries if entry[1] < start]
    kept = entries[len(gone) :]
    covered = bool(kept) and kept[0][1] == start
    return kept if covered or not gone else ((gone[-1][0], start), *kept)


def diverging_epoch(
    entries: Sequence[tuple[int, int]], log: tuple[int, int], fetched: int, offset: int
) -> End | None:
    """Where a follower's log diverges from the leader's, by a fetch response (KIP-595, 2.7); None:
    nowhere.

    `log` is the leader's, from its start to its end; `fetched` the epoch of the follower's last
    record. LookupError: the leader does not have that epoch, or no longer that offset.
    """
    start, end = log
    known = end_of(tuple(entries), fetched, end)
    if known == UNKNOWN or offset < start:
        raise LookupError(f"offset {offset} of epoch {fetched} is not in the leader's log")
    return known if known.epoch < fetched or known.end < offset else None


def where_to_cut(
    answer: End, log_end: int, hw: int, latest_epoch: int | None, mine: Callable[[int], End]
) -> tuple[int, bool]:
    """Where a follower truncates after its leader's answer, and whether it is done then.

    `mine` is the end of an epoch in the follower's own log. If nothing can be compared, it
    truncates to its high watermark. For an epoch that it does not know it asks once more (KIP-279).
    """
    if answer.end == NONE or latest_epoch is None:
        return min(hw, log_end), True
    own = UNKNOWN if answer.epoch == NONE else mine(answer.epoch)
    if own == UNKNOWN:
        return min(answer.end, log_end), True
    if own.epoch != answer.epoch:
        return min(own.end, log_end), False
    return min(own.end, answer.end, log_end), True
