"""A partition on its leader: followers' progress, ISR and high watermark (``Partition``; g, f.2).

``now_ms`` comes with each call. Up to 2.6 an ISR change is a conditional write that either works or
does not; since 2.7 it is a request to the controller, and pending until that answers (KIP-497).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from impl.log.leader_epoch_cache import LeaderEpochFileCache
from impl.releases import Release

UNKNOWN_END = -1
GIVES_UP = ("FENCED_LEADER_EPOCH", "INVALID_UPDATE_VERSION", "UNKNOWN_TOPIC_OR_PARTITION")
"""Answers after which a leader waits for the controller and does not ask again (2.7)."""


@dataclass(slots=True)
class Remote:
    """What a leader knows of one follower; times are ms."""

    end: int = UNKNOWN_END
    log_start: int = UNKNOWN_END
    last_caught_up: int = 0
    last_leader_end: int = 0
    last_fetch: int = 0

    def fetched(self, offset: int, log_start: int, leader_end: int, now_ms: int) -> None:
        """A fetch at ``offset``, when the leader's log ended at ``leader_end``.

        Reaching the end that the fetch before was shown counts as of that time.
        """
        if offset >= leader_end:
            self.last_caught_up = max(self.last_caught_up, now_ms)
        elif offset >= self.last_leader_end:
            self.last_caught_up = max(self.last_caught_up, self.last_fetch)
        self.end, self.log_start = offset, log_start
        self.last_leader_end, self.last_fetch = leader_end, now_ms

    def new_epoch(self, leader_end: int, now_ms: int, in_isr: bool) -> None:
        """A leader epoch begins: members of the ISR count as caught up now."""
        self.last_leader_end, self.last_fetch = leader_end, now_ms
        self.last_caught_up = now_ms if in_isr else 0


def high_watermark(
    leader_end: int,
    isr: Collection[int],
    remotes: Mapping[int, tuple[int, int]],
    now_ms: int,
    lag_ms: int,
    old: int,
) -> int:
    """The least end among the leader, the ISR, and whoever was caught up lately; it never falls.

    ``remotes`` maps a follower to its end (-1 unknown, which holds back) and when it was caught up.
    """
    waited_for = [
        end
        for replica, (end, caught_up) in remotes.items()
        if replica in isr or now_ms - caught_up <= lag_ms
    ]
    return max(old, min([leader_end, *waited_for]))


def out_of_sync(
    end: int, last_caught_up: int, leader_end: int, now_ms: int, lag_ms: int, release: Release
) -> bool:
    """A follower has lagged for too long; since 2.1 never one that has all there is."""
    if release.since("2.1") and end == leader_end:
        return False
    return now_ms - last_caught_up > lag_ms


class Epochs(Protocol):
    """What a leader asks of its log's epoch cache."""

    def assign(self, epoch: int, start: int) -> None:
        """Let an epoch begin at an offset."""


class ReplicaLog(Protocol):
    """What a leader asks of its log: where it begins and ends, in memory or on a disk."""

    log_start: int
    log_end: int
    high_watermark: int

    @property
    def epochs(self) -> Epochs:
        """The leader epochs of its records."""


@dataclass(slots=True)
class LogEnds:
    """A log of which nothing but offsets and epochs is kept."""

    log_end: int = 0
    high_watermark: int = 0
    log_start: int = 0
    epochs: LeaderEpochFileCache = field(default_factory=LeaderEpochFileCache)


class LeaderPartition:
    """One partition where this broker leads, or led; ``log`` is its log, by default in memory."""

    def __init__(
        self,
        broker: int,
        replicas: Iterable[int],
        lag_ms: int,
        release: Release,
        log_end: int = 0,
        checkpoint: int | None = None,
        log: ReplicaLog | None = None,
    ) -> None:
        self.broker = broker
        self.replicas = tuple(replicas)
        self.lag_ms = lag_ms
        self.release = release
        self.log = log or LogEnds(log_end, max(0, min(checkpoint or 0, log_end)))
        self.remotes: dict[int, Remote] = {}
        self.leads = False
        self.leader: int | None = None
        self.leader_epoch = -1
        self.epoch_start = 0
        self.isr: tuple[int, ...] = ()
        self.pending: tuple[int, ...] | None = None  # the ISR that was asked for (2.7)
        self.requests: list[tuple[int, ...]] = []  # those to the controller, in order
        self.expands = self.shrinks = self.failures = 0

    @property
    def log_end(self) -> int:
        """The log end offset."""
        return self.log.log_end

    @property
    def log_start(self) -> int:
        """Where the log begins."""
        return self.log.log_start

    @property
    def hw(self) -> int:
        """The high watermark."""
        return self.log.high_watermark

    @property
    def epochs(self) -> Epochs:
        """The leader epochs of the log."""
        return self.log.epochs

    # Roles

    def make_leader(self, epoch: int, isr: Iterable[int], now_ms: int) -> bool:
        """Lead in an epoch; True if somebody else led before (``makeLeader``)."""
        new = self.leader != self.broker
        self.isr, self.pending = tuple(isr), None
        self.leader_epoch, self.epoch_start = epoch, self.log_end
        self.leader, self.leads = self.broker, True
        if self.release.since("2.0"):
            self.epochs.assign(epoch, self.log_end)
        for replica in self.replicas:
            if replica == self.broker:
                continue
            remote = self.remotes.setdefault(replica, Remote())
            remote.new_epoch(self.log_end, now_ms, replica in self.isr)
            if new:
                remote.end = remote.log_start = UNKNOWN_END
        self.advance(now_ms)
        return new

    def make_follower(self, leader: int, epoch: int) -> bool:
        """Follow in an epoch; False if the fetcher may go on as it is (``makeFollower``)."""
        same, before = self.leader == leader, self.leader_epoch
        self.isr, self.pending, self.leads = (), None, False
        self.leader, self.leader_epoch = leader, epoch
        return not (same and keeps_fetching(before, epoch, self.release))

    # Followers and producers

    def append(self, count: int, now_ms: int) -> None:
        """Records from a producer."""
        self.log.log_end += count
        self.advance(now_ms)

    def follower_fetched(
        self, replica: int, offset: int, now_ms: int, leader_end: int | None = None
    ) -> None:
        """A follower fetched; it may join the ISR, and the high watermark may move.

        ``leader_end`` is the leader's log end when the fetch was read, by default the one now.
        """
        shown = self.log_end if leader_end is None else leader_end
        self.remotes[replica].fetched(offset, 0, shown, now_ms)
        if self.may_join(replica, offset):
            self.expand(replica, now_ms)
        self.advance(now_ms)

    def may_join(self, replica: int, offset: int) -> bool:
        """A replica outside the ISR has all that is committed, and reached this epoch's start.

        The second condition since 2.0 (KAFKA-7128); since 2.7 one change at a time.
        """
        reached = offset >= self.epoch_start or not self.release.since("2.0")
        return (
            replica not in self.maximal_isr
            and replica in self.replicas
            and self.remotes[replica].end >= self.hw
            and reached
            and self.pending is None
        )

    # The ISR

    @property
    def maximal_isr(self) -> tuple[int, ...]:
        """The ISR and who is about to join it; who is about to leave still counts."""
        joining = [one for one in self.pending or () if one not in self.isr]
        return (*self.isr, *joining)

    def expand(self, replica: int, now_ms: int) -> None:
        """Add a replica, or ask for it."""
        if replica not in self.maximal_isr:
            self.change((*self.isr, replica), now_ms)

    def shrink(self, replicas: Collection[int], now_ms: int) -> None:
        """Remove replicas, or ask for it."""
        self.change(tuple(one for one in self.isr if one not in replicas), now_ms)

    def lagging(self, now_ms: int) -> list[int]:
        """The members of the ISR that are out of sync."""
        return [
            member
            for member in self.isr
            if member != self.broker
            and out_of_sync(
                self.known(member).end,
                self.known(member).last_caught_up,
                self.log_end,
                now_ms,
                self.lag_ms,
                self.release,
            )
        ]

    def known(self, member: int) -> Remote:
        """What is known of a follower: nothing of one in the ISR that is no replica.

        A move shortens the list of replicas before the old ones leave the ISR. Up to 2.3 nothing
        stood against dropping such a one, and since 3.0 neither (KAFKA-9672).
        """
        return self.remotes.get(member) or Remote()

    def maybe_shrink(self, now_ms: int) -> None:
        """The periodic look at who lags."""
        late = self.lagging(now_ms)
        if late and self.pending is None:
            self.shrink(late, now_ms)

    def change(self, isr: tuple[int, ...], now_ms: int) -> None:
        """Have another ISR: at once, or when the controller agrees (2.7)."""
        if isr == self.isr or self.pending is not None:
            return
        if self.release.since("2.7"):
            self.pending = isr
            self.requests.append(isr)
        else:
            self.adopt(isr, now_ms)

    def change_succeeded(self, now_ms: int) -> None:
        """The controller agreed to the change that was asked for."""
        if self.pending is not None:
            isr, self.pending = self.pending, None
            self.adopt(isr, now_ms)

    def change_failed(self, error: str) -> None:
        """The controller did not: ask again, or wait for it, by its answer."""
        self.failures += 1
        if self.pending is not None and error not in GIVES_UP:
            self.requests.append(self.pending)

    def adopt(self, isr: tuple[int, ...], now_ms: int) -> None:
        """The other ISR is registered."""
        self.expands += len(isr) > len(self.isr)
        self.shrinks += len(isr) < len(self.isr)
        self.isr = isr
        self.advance(now_ms)

    def advance(self, now_ms: int) -> None:
        """Raise the high watermark as far as it may go."""
        if not self.leads:
            return
        remotes = {
            one: (known.end, known.last_caught_up)
            for one, known in self.remotes.items()
            if one in self.replicas
        }
        self.log.high_watermark = high_watermark(
            self.log_end, self.maximal_isr, remotes, now_ms, self.lag_ms, self.hw
        )

    # Consumers

    def list_offset(self, earliest: bool, for_consumer: bool) -> int | str:
        """ListOffsets: an offset, or OFFSET_NOT_AVAILABLE.

        A consumer is not told a high watermark that may be behind the last leader's (2.2).
        """
        if earliest:
            return self.log_start
        if not for_consumer:
            return self.log_end
        if self.hw < self.epoch_start and self.release.since("2.2"):
            return "OFFSET_NOT_AVAILABLE"
        return self.hw


def keeps_fetching(before: int, epoch: int, release: Release) -> bool:
    """Told to follow the same leader in ``epoch``, a follower need not start over (f.2)."""
    if not release.since("2.0"):
        return True
    if not release.since("2.1"):
        return epoch in (before, before + 1)
    return epoch == before if not release.since("3.0") else epoch <= before


def is_under_replicated(
    isr: Collection[int], replicas: Collection[int], adding: Collection[int], release: Release
) -> bool:
    """Fewer in sync than assigned; replicas that are being added do not count since 2.4."""
    expected = [one for one in replicas if not (release.since("2.4") and one in adding)]
    return len(isr) < len(expected)
