"""The replicas of a broker of one partition: the core's replica manager, one section per step.

Between two critical sections of one handler other handlers may run: a fetch is noted without a
lock (``updateFollowerFetchState``), the ISR grows under the write lock (``maybeExpandIsr``), the
high watermark moves under the read lock (``maybeIncrementLeaderHW``). Here a handler stands still
after the first, and the others are steps. No time goes by but where a step says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from impl.core import answers
from impl.core.answers import NONE
from impl.core.events import Sender
from impl.core.fetch_sessions import as_kept
from impl.core.fetcher_thread import (
    EpochQuestion,
    EpochReply,
    FetcherThread,
    FetchQuestion,
    FetchReply,
    FetchState,
    Phase,
)
from impl.core.partition import PartitionMemory
from impl.core.replica_manager import (
    CONSUMER,
    Answered,
    DelayedProduce,
    HostedLog,
    Replica,
    ReplicaManager,
)
from impl.core.requests import UpdateMetadata
from impl.log import Record, ReplicaLog
from impl.log.record_log import RecordLog
from impl.releases import Release
from impl.sim.effects import EffectPort, LeaderByEffect
from impl.sim.isr_write import IsrWrite, SteppedIsr
from impl.world.network import MOST_BYTES, PARTITION, Fetch, LeaderAndIsrInFlight
from impl.znodes import TopicPartition
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait
from impl.zookeeper.session import EmbeddedSession

LAG_MS = 10_000
"""``replica.lag.time.max.ms``."""

LATE_MS = 2 * LAG_MS
"""So late that who was caught up at the beginning of time lags by now."""

MIN_ISR = 1
"""``min.insync.replicas``, here Kafka's default."""

SavedFetcher = tuple[FetchState | None, bool]
SavedReplicas = tuple[PartitionMemory, int, int, tuple[SavedFetcher, ...], IsrWrite | None]


class SteppedPartition(SteppedIsr[HostedLog]):
    """A replica whose ISR grows, and whose high watermark moves, in steps of their own."""

    async def shrink_now(self, replica: int) -> None:
        """An ISR check at a time when this one alone is out of sync."""
        for one, known in self.remotes.items():
            known.last_caught_up = LATE_MS if one != replica else 0
        try:
            await self.maybe_shrink(LATE_MS)
        finally:
            for known in self.remotes.values():
                known.last_caught_up = 0

    def advance(self, now_ms: int) -> None:
        """Whoever is about to raise the high watermark stands still here."""

    def advance_now(self) -> None:
        """Advance the high watermark, unless a replica outside the ISR was caught up lately."""
        super().advance(LATE_MS)


class Replicas:
    """What a process of a broker makes of its replica; lost with it, but for the log.

    ``everybody``: the brokers, all of which it knows as live. ``session`` may be replaced by a
    newer one.
    """

    min_isr = MIN_ISR

    def __init__(
        self,
        broker: int,
        everybody: tuple[int, ...],
        log: ReplicaLog,
        high_watermark: int,
        session: EmbeddedSession,
        release: Release,
    ) -> None:
        self.broker = broker
        self.release = release
        self.log = RecordLog(log, high_watermark)
        self.port = EffectPort(session)
        client = ZnodeClient(self.port, release)
        self.manager = ReplicaManager(
            broker, release, self, LAG_MS, lambda: client, new_partition=SteppedPartition
        )
        self.manager.fetchers = self
        self.fetchers = {
            leader: FetcherThread[TopicPartition](
                LeaderByEffect(),
                {PARTITION: self.log},
                release,
                False,  # up to 2.7 epochs are asked for
            )
            for leader in everybody
            if leader != broker
        }
        news = UpdateMetadata(0, 0, 0, 0, {}, everybody)
        ports = {one: (f"broker-{one}", 9092) for one in everybody}
        self.manager.metadata.update(news, ports, Sender(0, 0, 0))
        partition = wait(self.manager.host(PARTITION))
        assert isinstance(partition, SteppedPartition), "it was made so"
        self.partition = partition

    # What can be seen

    @property
    def role(self) -> str:
        """What it does; "none" until the first LeaderAndIsr is applied."""
        if self.partition.leads:
            return "leader"
        return "none" if self.partition.leader is None else "follower"

    @property
    def controller_epoch(self) -> int:
        """The highest that it has seen, 0 at the start."""
        return self.manager.controller_epoch

    @property
    def locked(self) -> bool:
        """``leaderIsrUpdateLock`` is held: an ISR write waits for its answer, and all else for it.

        Appends, fetches, epoch questions and the high watermark read under it; makeLeader and
        makeFollower write under it.
        """
        return self.partition.writes_isr

    def fetching(self, leader: int) -> FetchState | None:
        """How its fetcher from a leader stands; None if it does not fetch from there."""
        return self.fetchers[leader].states.get(PARTITION)

    def has_failed(self, leader: int) -> bool:
        """Its fetcher from a leader was fenced, and waits for a LeaderAndIsr."""
        return PARTITION in self.fetchers[leader].failed

    @property
    def truncating(self) -> bool:
        """Whether the follower has not yet compared its epochs with the leader's."""
        leader = self.partition.leader
        if leader is None or self.partition.leads:
            return False
        state = self.fetching(leader)
        compares = state is not None and state.phase is Phase.TRUNCATING
        return compares and self.log.latest_epoch() is not None

    # LeaderAndIsr

    def waits_for_isr_lock(self, sent: LeaderAndIsrInFlight, broker_epoch: int) -> bool:
        """The request would change the partition, whose lock an ISR write holds (to 2.6).

        Epochs are checked before the lock is asked for, so a refusal does not wait.
        """
        state, release = sent.state, self.release
        errors = (
            answers.broker_epoch_error(sent.broker_epoch, broker_epoch, release),
            answers.controller_epoch_error(sent.controller_epoch, self.controller_epoch),
            answers.leader_and_isr_error(
                self.partition.leader_epoch, state.leader_epoch,
                self.broker in sent.order.replicas, False, release,
            ),
        )  # fmt: skip
        known = answers.leader_is_known(state.leader, self.manager.metadata.alive)
        return self.locked and known and all(error == NONE for error in errors)

    def hear(self, sent: LeaderAndIsrInFlight, broker_epoch: int) -> Answered:
        """Carry out a LeaderAndIsr, or refuse it."""
        return wait(self.manager.handle(sent.request, broker_epoch, 0))

    # Its fetchers: a port of the replica manager

    def add(self, partitions: Mapping[TopicPartition, Replica]) -> None:
        """Follow each one's leader."""
        for replica in partitions.values():
            assert replica.leader is not None, "a follower has a leader"
            self.fetchers[replica.leader].follow({replica.partition: replica.leader_epoch})

    def remove(self, partitions: list[TopicPartition]) -> None:
        """Follow these no more."""
        for fetcher in self.fetchers.values():
            fetcher.remove(partitions)

    def ask(self, leader: int) -> Fetch:
        """A round of a fetcher begins: what it asks."""
        fetcher = self.fetchers[leader]
        work = fetcher.do_work()
        asked = work.send(None)
        question = asked.questions[PARTITION]
        work.close()
        return Fetch(fetcher.states[PARTITION], question, asked_in=self.partition.leader_epoch)

    def answer(self, follower: int, asked: Fetch, in_session: bool = False) -> Fetch:
        """A leader's answer; where the follower is, is noted. ``in_session``: read from its cache
        of fetch sessions."""
        replies: Mapping[TopicPartition, EpochReply | FetchReply]
        match asked.question:
            case EpochQuestion() as question:
                replies = wait(self.manager.epoch_ends({PARTITION: question}))
            case FetchQuestion() as question:
                fetched: Mapping[TopicPartition, FetchQuestion] = {PARTITION: question}
                fetched = as_kept(fetched, self.release) if in_session else fetched
                replies = wait(self.manager.fetch(follower, fetched, MOST_BYTES, 0))
        return replace(asked, reply=replies[PARTITION])

    def apply(self, leader: int, answered: Fetch) -> None:
        """A leader's answer is here: the round goes on, and ends."""
        fetcher, asked = self.fetchers[leader], {PARTITION: answered.began}
        replies: Any = {PARTITION: answered.reply}
        work = (fetcher.on_epoch_ends if answered.asks_epoch else fetcher.on_fetched)(
            asked, replies
        )
        try:
            work.send(None)
            while True:
                work.send({})  # where the leader's log begins and ends, it does not tell
        except StopIteration:
            return

    # Its log: a port of the replica manager

    some_offline = False

    def has(self, partition: TopicPartition) -> bool:
        """Its log is here."""
        return True

    def is_offline(self, partition: TopicPartition) -> bool:
        """And can be used."""
        return False

    async def create(self, partition: TopicPartition) -> RecordLog:
        """The log."""
        return self.log

    async def delete(self, partition: TopicPartition) -> str | None:
        """No topic is deleted."""
        raise AssertionError(f"no controller here deletes {partition}")

    # Clients

    def append(self, record: int, acks: int) -> str:
        """A producer's record; the error, if there is one. What else it hears is of its record."""
        said, its = wait(self.manager.append(PARTITION, (record,), acks, self.min_isr, 0)), self.log
        if said.error == NONE:
            heard = said.first_offset, said.end_offset, said.leader_epoch
            there = its.log_end - 1, its.log_end, self.partition.leader_epoch
            assert heard == there, f"a producer hears of offsets and epoch {heard}, and not {there}"
            waits = None if said.awaited is None else said.awaited[1:]
            until = (its.log_end, self.partition.generation, self.min_isr) if acks == -1 else None
            assert waits == until, f"a producer waits for {waits}, and not {until}"
        return said.error

    def acknowledges(self, offset: int) -> bool:
        """A producer with acks=all is answered that its record is written (``DelayedProduce``)."""
        awaited = DelayedProduce(
            self.partition, offset + 1, self.partition.generation, self.min_isr
        )
        return awaited.outcome(self.manager, expired=False) == NONE

    def read(self, offset: int) -> Record | None:
        """What a consumer is given at an offset, None if there is nothing for it."""
        question = {PARTITION: FetchQuestion(None, offset, None)}
        batch = wait(self.manager.read(CONSUMER, question, MOST_BYTES))[PARTITION].batch
        return batch[0] if batch else None

    # The ISR

    def is_laggard(self, replica: int) -> bool:
        """A look late enough finds it lagging."""
        return replica in self.partition.lagging(LATE_MS)

    def may_join(self, replica: int) -> bool:
        """A handler of its last fetch would take it into the ISR."""
        known = self.partition.remotes.get(replica)
        return known is not None and self.partition.may_join(replica, known.end)

    @property
    def may_advance(self) -> bool:
        """The high watermark may be raised."""
        return self.partition.next_high_watermark(LATE_MS) > self.partition.hw

    # Plain data

    def save(self) -> SavedReplicas:
        """Everything but the log, as an immutable value."""
        return (
            self.partition.memory(), self.log.high_watermark, self.manager.controller_epoch,
            tuple(
                (one.states.get(PARTITION), PARTITION in one.failed)
                for one in self.fetchers.values()
            ),
            self.partition.isr_write,
        )  # fmt: skip

    def load(self, saved: SavedReplicas) -> None:
        """Become what was saved."""
        memory, self.log.high_watermark, self.manager.controller_epoch, fetchers, write = saved
        self.partition.recall(memory)
        for one, (state, failed) in zip(self.fetchers.values(), fetchers, strict=True):
            one.states = {} if state is None else {PARTITION: state}
            one.failed = {PARTITION} if failed else set()
        self.partition.isr_write = write
