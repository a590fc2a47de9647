"""One replica of a stepped cluster: a leader's partition and a follower's fetcher over one log.

Fetches are whole here: a follower that fetches compares, cuts and fetches until it has all that its
leader has and the leader knows it. That a follower which has caught up joins the ISR is left to its
next fetch: Kafka asks for that under another lock, and here a step of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from impl.core.fetcher_thread import (
    Answer,
    EpochQuestion,
    EpochReply,
    FetcherThread,
    FetchQuestion,
    FetchReply,
    OffsetQuestion,
    OffsetUnknown,
)
from impl.core.partition import NO_EPOCH, Partition
from impl.core.replica_manager import ReplicaManager
from impl.core.requests import PartitionOrder
from impl.log.record_log import RecordLog
from impl.sim.isr_write import SteppedIsr
from impl.znodes import TopicPartition
from impl.zookeeper.port import wait

LONG_MS = 60_000
"""How late a leader looks when it looks for laggards: later than any of them may lag."""

MOST_ROUNDS = 8
"""Rounds of a fetcher until it has everything: to compare epochs, to cut, to fetch, to be noted."""

MOST_RECORDS = 1_000
"""Of one fetch."""


class SteppedReplica(SteppedIsr[RecordLog]):
    """A replica with its fetcher; its ISR is written to ZooKeeper under the version that it holds.

    ``first`` marks who leads since the partition began and has appended nothing. A leader that is
    stopped, and not deleted, goes on leading.
    """

    def __init__(
        self, broker: int, partition: TopicPartition, log: RecordLog, *others: Any
    ) -> None:
        super().__init__(broker, partition, log, *others)
        self.first = False
        self.asked: ReplicaManager | None = None
        self.fetcher: FetcherThread[TopicPartition] = FetcherThread(
            self, {partition: log}, self.release, self.release.since("2.7")
        )

    # What a controller says

    def become_follower(self, order: PartitionOrder) -> bool:
        """Follow; nothing that it knew as a leader is left."""
        self.first = False
        new = super().become_follower(order)
        if new:
            self.remotes.clear()
        return new

    def follow_leader(self) -> None:
        """Fetch from the leader, in the epoch of the moment."""
        self.fetcher.add({self.partition: (self.log.high_watermark, self.leader_epoch)})

    def stop(self) -> None:
        """Fetch no more."""
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
        wait(self.log.append_as_leader((record,), self.leader_epoch))
        self.first = False
        self.advance(0)

    @property
    def records(self) -> list[tuple[int, int]]:
        """What is in its log."""
        return self.log.log.records

    def has_all_of(self, other: SteppedReplica) -> bool:
        """Every record of the other's log is in this one, where it is there."""
        return self.records[: other.log_end] == other.records

    def knows_caught_up(self, follower: int) -> bool:
        """The follower's last fetch was at the very end."""
        known = self.remotes.get(follower)
        return known is not None and known.end == self.log_end

    def fetch_all(self, leader: SteppedReplica, asked: ReplicaManager) -> None:
        """Rounds of the fetcher until there is nothing more to come, and the leader knows it."""
        self._fetch(leader, asked, lambda: self.has_all_of(leader))

    def fetch_again(self, leader: SteppedReplica, asked: ReplicaManager) -> None:
        """One more fetch, at the end: the leader may take it into the ISR."""
        self._fetch(leader, asked, lambda: True)

    def _fetch(self, leader: SteppedReplica, asked: ReplicaManager, is_enough: Any) -> None:
        self.asked = asked
        for _ in range(MOST_ROUNDS):
            wait(self.fetcher.do_work())
            if is_enough() and leader.knows_caught_up(self.broker):
                break
        self.asked = None

    # Questions to the leader

    @property
    def _leader(self) -> ReplicaManager:
        assert self.asked is not None, "a fetch has a leader"
        return self.asked

    async def epoch_ends(
        self, questions: Mapping[TopicPartition, EpochQuestion]
    ) -> Mapping[TopicPartition, EpochReply]:
        """OffsetForLeaderEpoch."""
        return await self._leader.epoch_ends(questions)

    async def fetch(
        self, questions: Mapping[TopicPartition, FetchQuestion]
    ) -> Mapping[TopicPartition, FetchReply]:
        """Fetch, as a follower."""
        return await self._leader.fetch(self.broker, questions, MOST_RECORDS, 0)

    async def offset(self, key: TopicPartition, question: OffsetQuestion) -> int:
        """ListOffsets."""
        found = await self._leader.list_offset(
            key, question.timestamp, False, question.leader_epoch
        )
        if found.error != "NONE":
            raise OffsetUnknown(key, Answer(found.error))
        return found.offset

    # The ISR

    def laggards(self) -> list[int]:
        """Whom a look for laggards finds, late enough for each of them; a stranger, over whom it
        throws, is found alone."""
        return self.lagging(2 * LONG_MS) if self.stranger is None else [self.stranger]

    # Plain data

    def save(self) -> Any:
        """Everything but the records, as a value."""
        return (
            self.memory(), self.first, self.isr_write, self.log.high_watermark,
            tuple(self.fetcher.states.items()), frozenset(self.fetcher.failed),
        )  # fmt: skip

    def load(self, saved: Any) -> None:
        """Become what was saved."""
        memory, self.first, self.isr_write, self.log.high_watermark, states, failed = saved
        self.recall(memory)
        self.fetcher.states, self.fetcher.failed = dict(states), set(failed)


class ForgetfulReplica(SteppedReplica):
    """A replica that is stopped forgets its leader epoch, and obeys whatever comes next: where
    Kafka's broker keeps it, and ignores what it is told in the same epoch, nobody counts them."""

    def stop(self) -> None:
        """It does nothing for the partition any more."""
        super().stop()
        Partition.stop(self)
        self.leader_epoch = NO_EPOCH
