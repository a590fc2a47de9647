"""One replica of a partition that moves: a leader's partition and a follower's fetcher, one log.

Fetches are whole here: a follower that fetches compares, cuts and fetches until it has all that its
leader has and the leader knows it. That a follower which has caught up joins the ISR is left to its
next fetch: Kafka asks for that under another lock, and here a step of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from impl.core import answers
from impl.core.fetcher_thread import (
    Answer,
    EpochQuestion,
    EpochReply,
    FetcherThread,
    FetchQuestion,
    FetchReply,
)
from impl.core.partition import Partition, Remote
from impl.core.requests import PartitionOrder
from impl.core.truncation import EpochEnd, divergence
from impl.log import ReplicaLog
from impl.log.record_log import RecordLog
from impl.releases import Release
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition
from impl.zookeeper.port import wait

LONG_MS = 60_000
"""How late a leader looks when it looks for laggards: later than any of them may lag."""

MOST_ROUNDS = 8
"""Rounds of a fetcher until it has everything: to compare epochs, to cut, to fetch, to be noted."""


class MovedReplica(Partition[RecordLog]):
    """A replica with its fetcher; its ISR is written to ZooKeeper under the version that it holds.

    ``first`` marks who leads since the partition began and has appended nothing.
    """

    def __init__(
        self, broker: int, partition: TopicPartition, log: ReplicaLog, release: Release
    ) -> None:
        self.stored = RecordLog(log)
        super().__init__(broker, partition, self.stored, LONG_MS // 2, release)
        self.first = self.loses = False
        self.unheard: LeaderIsrAndControllerEpoch | None = None
        self.holds_back = True
        self.leading: MovedReplica | None = None
        self.fetcher: FetcherThread[TopicPartition] = FetcherThread(
            self, {partition: self.stored}, release, release.since("2.7")
        )

    # What a controller says

    def take(self, order: PartitionOrder, alive: Iterable[int]) -> None:
        """Lead or follow, as a LeaderAndIsr says that was not refused."""
        state = order.state
        if state.leader == self.broker:
            self.fetcher.remove([self.partition])
            self._told(order)
            # Who is in the ISR and no replica any more keeps what is known of him, as in 2.3.
            known = {*order.replicas, *state.isr}
            self.remotes = {one: held for one, held in self.remotes.items() if one in known}
            self.make_leader(state.leader_epoch, state.isr, 0)
        elif answers.leader_is_known(state.leader, set(alive)):
            self._told(order)
            self.first = False
            if self.make_follower(state.leader, state.leader_epoch):
                self.remotes.clear()
                self.fetcher.remove([self.partition])
                self.follow_leader()

    def _told(self, order: PartitionOrder) -> None:
        self.replicas = order.replicas
        self.zk_version = order.state.zk_version
        self.controller_epoch = order.state.controller_epoch

    def follow_leader(self) -> None:
        """Fetch from the leader, in the epoch of the moment."""
        self.fetcher.add({self.partition: (self.log.high_watermark, self.leader_epoch)})

    def stop(self) -> None:
        """Fetch no more; a leader goes on leading (``stopReplica`` without delete)."""
        self.fetcher.remove([self.partition])

    @property
    def role(self) -> str:
        """What it does: none before it was told anything."""
        if self.leads:
            return "leader"
        if self.leader is None:
            return "none"
        return "follower" if self.fetcher.states or self.fetcher.failed else "stopped"

    # Records

    def produce(self, record: int) -> None:
        """A producer's record, in the leader's epoch."""
        wait(self.stored.append(((record, self.leader_epoch),)))
        self.first = False
        self.advance(0)

    def has_all_of(self, other: MovedReplica) -> bool:
        """Every record of the other's log is in this one, where it is there."""
        return self.stored.log.records[: other.log_end] == other.stored.log.records

    def knows_caught_up(self, follower: int) -> bool:
        """The follower's last fetch was at the very end."""
        known = self.remotes.get(follower)
        return known is not None and known.end == self.log_end

    def fetch_all(self, leader: MovedReplica) -> None:
        """Rounds of the fetcher until there is nothing more to come, and the leader knows it."""
        self.leading, leader.holds_back = leader, True
        for _ in range(MOST_ROUNDS):
            wait(self.fetcher.do_work())
            if self.has_all_of(leader) and leader.knows_caught_up(self.broker):
                break
        self.leading = None

    def fetch_again(self, leader: MovedReplica) -> None:
        """One more fetch, at the end: the leader may take it into the ISR."""
        self.leading, leader.holds_back = leader, False
        for _ in range(MOST_ROUNDS):
            wait(self.fetcher.do_work())
            if leader.knows_caught_up(self.broker):
                break
        self.leading, leader.holds_back = None, True

    # The leader's answers

    def _error(self, epoch: int | None) -> Answer:
        leader = self.leading
        assert leader is not None, "a fetch has a leader"
        return Answer(
            answers.current_leader_epoch_error(
                leader.leader_epoch, epoch, leader.leads, True, leader.release
            )
        )

    async def epoch_ends(
        self, questions: Mapping[TopicPartition, EpochQuestion]
    ) -> Mapping[TopicPartition, EpochReply]:
        """OffsetForLeaderEpoch."""
        asked, leader = questions[self.partition], self.leading
        error = self._error(asked.leader_epoch)
        assert leader is not None
        end = leader.stored.end_offset_for(asked.epoch) if error is Answer.NONE else (-1, -1)
        return {self.partition: EpochReply(error, EpochEnd(*end))}

    async def fetch(
        self, questions: Mapping[TopicPartition, FetchQuestion]
    ) -> Mapping[TopicPartition, FetchReply]:
        """Fetch, as a follower: where it is, is noted, and its ISR may grow by that."""
        asked, leader = questions[self.partition], self.leading
        error = self._error(asked.leader_epoch)
        assert leader is not None
        if error is not Answer.NONE:
            return {self.partition: FetchReply(error)}
        hw = leader.hw
        if self.broker not in leader.replicas:
            return {self.partition: FetchReply(Answer.NONE, None, hw)}
        if asked.last_fetched_epoch is not None:
            end = divergence(
                asked.last_fetched_epoch, asked.offset, 0, leader.stored.end_offset_for
            )
            if end is not None:
                return {self.partition: FetchReply(Answer.NONE, None, hw, 0, end)}
        if asked.offset > leader.log_end:
            return {self.partition: FetchReply(Answer.OFFSET_OUT_OF_RANGE, None, hw)}
        records = tuple(leader.stored.log.records[asked.offset :])
        if self.broker in leader.remotes:
            await leader.follower_fetched(self.broker, asked.offset, 0)
        return {self.partition: FetchReply(Answer.NONE, records or None, hw)}

    async def earliest(self, key: TopicPartition) -> int:
        """ListOffsets, the log's start."""
        assert self.leading is not None, "a fetch has a leader"
        return self.leading.log_start

    async def latest(self, key: TopicPartition) -> int:
        """ListOffsets, the log's end."""
        assert self.leading is not None, "a fetch has a leader"
        return self.leading.log_end

    # The ISR

    async def expand(self, replica: int, now_ms: int) -> None:
        """Not before the fetch that is a step of its own."""
        if not self.holds_back:
            await super().expand(replica, now_ms)

    def laggards(self) -> list[int]:
        """Whom a look for laggards finds, late enough for each of them."""
        return self.lagging(2 * LONG_MS)

    async def change(self, isr: tuple[int, ...], now_ms: int) -> None:
        """Write another ISR; memory follows the write, and a refused one changes nothing."""
        wanted = self.wanted(isr)
        version = await self.written(wanted)
        if self.loses:
            self.loses, self.unheard = False, wanted
        elif version is not None:
            self.zk_version = version
            self.adopt(wanted.isr, now_ms)

    def reads_back(self) -> None:
        """The write that was not answered is sent again: it is refused, and may be one's own."""
        assert self.unheard is not None, "a write was not answered"
        wanted, self.unheard = self.unheard, None
        version = wait(self.written(wanted))
        if version is not None:
            self.zk_version = version
            self.adopt(wanted.isr, 0)

    # Plain data

    def save(self) -> Any:
        """Everything but the records, as a value."""
        return (
            self.replicas, self.zk_version, self.controller_epoch, self.first, self.unheard,
            self.leads, self.leader, self.leader_epoch, self.epoch_start, self.isr,
            self.log.high_watermark,
            tuple((one, replace(held)) for one, held in self.remotes.items()),
            tuple(self.fetcher.states.items()), frozenset(self.fetcher.failed),
        )  # fmt: skip

    def load(self, saved: Any) -> None:
        """Become what was saved."""
        (
            self.replicas, self.zk_version, self.controller_epoch, self.first, self.unheard,
            self.leads, self.leader, self.leader_epoch, self.epoch_start, self.isr,
            self.log.high_watermark,
            remotes, states, failed,
        ) = saved  # fmt: skip
        self.remotes: dict[int, Remote] = {one: replace(held) for one, held in remotes}
        self.fetcher.states = dict(states)
        self.fetcher.failed = set(failed)
