"""A leader and what it knows of its followers, as plain data with plain rules.

`replication` takes the same in steps of brokers that may fail in between, and counts no time; here
one leader is asked, with clock and offsets as a case says them. Where a release differs, `Habits`.

Source: Partition, Replica (0.10 to 2.8).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from conformance.plain_rules.answers import high_watermark, is_out_of_sync

UNKNOWN = -1
GIVEN_UP = frozenset({"FENCED_LEADER_EPOCH", "INVALID_UPDATE_VERSION",
                      "UNKNOWN_TOPIC_OR_PARTITION"})  # fmt: skip
"""Answers of a controller after which an ISR is not asked for again."""


class LeaderSwitches(NamedTuple):
    """How a release's leaders go about it.

    `asks_controller`: a new ISR waits for the controller's answer (2.7). `since_epoch_start`: who
    joins has fetched from where the leader's epoch begins (2.0). `end_keeps`: who has all there is
    is not out of sync, however long silent (2.1). `may_be_stale`: until the high watermark is where
    the epoch began, its place is not reported to clients (2.2).
    """

    asks_controller: bool
    since_epoch_start: bool
    end_keeps: bool
    may_be_stale: bool


@dataclass
class Follower:
    """What a leader knows of a follower; times in ms."""

    end: int = UNKNOWN
    start: int = UNKNOWN
    caught_up: int = 0
    shown: int = 0
    fetched: int = 0

    def fetches(self, offset: int, leader_end: int, now: int) -> None:
        """It fetched at `offset`, and was shown a log that ends at `leader_end`."""
        if offset >= leader_end:
            self.caught_up = max(self.caught_up, now)
        elif offset >= self.shown:
            self.caught_up = max(self.caught_up, self.fetched)
        self.end, self.start, self.shown, self.fetched = offset, 0, leader_end, now


@dataclass
class LeaderRules:
    """One partition's leader. `asked` are the ISRs that it asked its controller for."""

    broker: int
    replicas: Sequence[int]
    lag: int
    switches: LeaderSwitches
    end: int = 0
    hw: int = 0
    isr: tuple[int, ...] = ()
    pending: tuple[int, ...] | None = None
    epoch_start: int = 0
    leads: bool = False
    followers: dict[int, Follower] = field(default_factory=dict)
    asked: list[tuple[int, ...]] = field(default_factory=list)
    expands: int = 0
    shrinks: int = 0
    failures: int = 0
    refused: bool = False

    def lead(self, isr: Iterable[int], now: int) -> None:
        """LeaderAndIsr names it: nothing of before is known of the others, if another led."""
        self.isr, self.pending = tuple(isr), None
        for one in self.replicas:
            if one == self.broker:
                continue
            known = self.followers.setdefault(one, Follower())
            known.shown, known.fetched = self.end, now
            known.caught_up = now if one in self.isr else 0
            if not self.leads:
                known.end = known.start = UNKNOWN
        self.epoch_start, self.leads = self.end, True
        self.advance(now)

    def follow(self) -> None:
        """Another leads."""
        self.leads, self.isr, self.pending = False, (), None

    @property
    def counted(self) -> tuple[int, ...]:
        """Whom the high watermark waits for: the ISR with who is about to join (`maximalIsr`)."""
        joining = [one for one in self.pending or () if one not in self.isr]
        return (*self.isr, *joining)

    def advance(self, now: int) -> None:
        """The high watermark moves as far as everybody has come that it waits for."""
        known = {one: (held.end, held.caught_up) for one, held in self.followers.items()}
        self.hw = high_watermark(self.end, self.counted, known, now, self.lag, self.hw)

    def append(self, records: int, now: int) -> None:
        """Records come."""
        self.end += records
        self.advance(now)

    def fetched(self, replica: int, offset: int, leader_end: int, now: int) -> None:
        """A follower fetched; who is no replica is not noted."""
        known = self.followers.get(replica)
        if known is None:
            return
        known.fetches(offset, leader_end, now)
        late = self.switches.since_epoch_start and offset < self.epoch_start
        if replica not in self.counted and known.end >= self.hw and not late:
            self.change((*self.isr, replica), now)
        self.advance(now)

    def late(self, now: int) -> list[int]:
        """Who is out of sync."""
        known = [(one, self.followers[one]) for one in self.isr if one != self.broker]
        return [
            one
            for one, follower in known
            if is_out_of_sync(follower.end != self.end, follower.caught_up, now, self.lag,
                              self.switches.end_keeps)
        ]  # fmt: skip

    def shrink(self, late: Iterable[int], now: int) -> None:
        """Those leave the ISR, all in one write."""
        kept = tuple(one for one in self.isr if one not in late)
        if kept != self.isr:
            self.change(kept, now)

    def change(self, isr: tuple[int, ...], now: int) -> None:
        """Have another ISR; one change at a time where the controller is asked for it."""
        if not self.switches.asks_controller:
            if not self.refused:  # by ZooKeeper, as another has written
                self._adopt(isr, now)
        elif self.pending is None:
            self.pending = isr
            self.asked.append(isr)

    def _adopt(self, isr: tuple[int, ...], now: int) -> None:
        if len(isr) > len(self.isr):
            self.expands += 1
        else:
            self.shrinks += 1
        self.isr, self.pending = isr, None
        self.advance(now)

    def answered(self, error: str, now: int) -> None:
        """The controller's answer; most errors make the leader ask again."""
        if self.pending is None:
            return
        if error == "NONE":
            self._adopt(self.pending, now)
            return
        self.failures += 1
        if error not in GIVEN_UP:
            self.asked.append(self.pending)

    def offset(self, earliest: bool, for_client: bool) -> int | str:
        """ListOffsets."""
        if earliest:
            return 0
        if not for_client:
            return self.end
        stale = self.switches.may_be_stale and self.hw < self.epoch_start
        return "OFFSET_NOT_AVAILABLE" if stale else self.hw


def starts_fetcher(before: tuple[int, int] | None, leader: int, epoch: int, way: str) -> bool:
    """A follower needs another fetcher: notified of another leader, or of a newer epoch.

    `before` is the leader and the epoch until now. `way`: the same leader never does ("leader",
    to 1.1), does where an epoch was missed ("missed", 2.0), or in any other epoch ("epoch", 2.1):
    that it is no older one was looked at before.
    """
    if before is None or before[0] != leader or way == "leader":
        return before is None or before[0] != leader
    return epoch - before[1] not in ((0, 1) if way == "missed" else (0,))
