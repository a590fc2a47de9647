"""A broker of one partition: the core's replica manager, one critical section per step.

Other handlers may run between two critical sections of a handler: a fetch is recorded without a
lock (``updateFollowerFetchState``), the ISR grows under the write lock (``maybeExpandIsr``), the
high watermark moves under the read lock (``maybeIncrementLeaderHW``). Here a handler is suspended
after the first, and the others are steps. Time passes only in steps that say so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from impl.core import answers
from impl.core.answers import NONE
from impl.core.fetch_sessions import as_kept
from impl.core.fetcher_thread import FetchQuestion, Phase
from impl.core.replica_events import Sender
from impl.core.replica_manager import CONSUMER, Answered, DelayedProduce
from impl.core.requests import LeaderAndIsr, UpdateMetadata
from impl.log import HighWatermarkCheckpoint, Record
from impl.log.record_log import RecordLog
from impl.releases import Release
from impl.sim.effects import EffectPort
from impl.sim.isr_write import SteppedIsr
from impl.world.fetches import Exchange, answer
from impl.world.stepped.controller_run import FIRST
from impl.world.stepped.in_memory_broker import InMemoryBroker
from impl.world.stepped.replica import LONG_MS
from impl.zookeeper.port import wait

MIN_ISR = 1
"""``min.insync.replicas``, here Kafka's default."""

MOST_BYTES = 1
"""An answer to a fetch holds so much, or one record if that is larger."""


class SteppedPartition(SteppedIsr[RecordLog]):
    """A replica whose ISR expansion and high watermark advance are steps of their own.

    A replica that was last caught up at time 0 lags by ``LONG_MS``.
    """

    async def shrink_now(self, replica: int) -> None:
        """Check the ISR at a time when only this replica is out of sync."""
        for one, known in self.remotes.items():
            known.last_caught_up = LONG_MS if one != replica else 0
        try:
            await self.maybe_shrink(LONG_MS)
        finally:
            for known in self.remotes.values():
                known.last_caught_up = 0

    def advance(self, now_ms: int) -> None:
        """A fetch handler is suspended here before it raises the high watermark."""

    def advance_now(self) -> None:
        """Advance the high watermark, unless a replica outside the ISR was caught up lately."""
        super().advance(LONG_MS)


class PartitionBroker(InMemoryBroker):
    """A broker that hosts the partition from its start, and knows ``everybody`` as live.

    From 2.7 on its inter.broker.protocol.version is 2.6: it writes ISRs to ZooKeeper itself, and
    sends OffsetForLeaderEpoch.
    """

    min_isr = MIN_ISR
    protocol = Release.of("2.6")

    def __init__(
        self, broker: int, release: Release, port: EffectPort, everybody: tuple[int, ...]
    ) -> None:
        super().__init__(broker, release, port, SteppedPartition)
        self.everybody = everybody
        self._has_partition(0)

    # Life

    def start(self) -> None:
        """Start: the log is loaded, and the high watermark is the checkpointed one."""
        super().start()
        self._has_partition(self.checkpoint.read_bounded(self.log.log_end))

    def lose_memory(self) -> None:
        """Lose role, epochs and high watermark."""
        super().lose_memory()
        self._has_partition(0)

    def _has_partition(self, high_watermark: int) -> None:
        news = UpdateMetadata(0, 0, 0, 0, {}, self.everybody)
        ports = {one: (f"b{one}", 9092) for one in self.everybody}
        self.replicas.metadata.update(news, ports, Sender(0, 0, 0))
        wait(self.replicas.host(FIRST)).log.high_watermark = high_watermark

    # What can be seen

    @property
    def partition(self) -> SteppedPartition:
        """The replica."""
        hosted: SteppedPartition = self.hosted(FIRST)
        return hosted

    @property
    def log(self) -> RecordLog:
        """Its log; everything in it but the high watermark is on the disk."""
        return self.partition.log

    @property
    def checkpoint(self) -> HighWatermarkCheckpoint:
        """The high watermark on the disk."""
        return self.logs.checkpoint

    @property
    def does(self) -> str:
        """Its role: "leader", "follower", or "none" until the first LeaderAndIsr is applied."""
        if self.partition.leads:
            return "leader"
        return "none" if self.partition.leader is None else "follower"

    @property
    def locked(self) -> bool:
        """Whether ``leaderIsrUpdateLock`` is held: an ISR write waits for ZooKeeper's response.

        Appends, fetches, epoch requests and the high watermark take the read lock; makeLeader and
        makeFollower take the write lock.
        """
        return self.partition.writes_isr

    def under_way(self, leader: int) -> Exchange | None:
        """The exchange on the connection to a leader, None if the connection is idle."""
        connection = self.connections.get(leader)
        return None if connection is None else connection.exchange

    def has_failed(self, leader: int) -> bool:
        """Whether its fetcher from a leader was fenced, and waits for a LeaderAndIsr."""
        connection = self.connections.get(leader)
        return connection is not None and FIRST in connection.rounds.failed

    @property
    def truncating(self) -> bool:
        """Whether the follower has not yet compared its epochs with the leader's."""
        leader = self.partition.leader
        if leader is None or self.partition.leads or leader not in self.connections:
            return False
        state = self.connections[leader].rounds.states.get(FIRST)
        compares = state is not None and state.phase is Phase.TRUNCATING
        return compares and self.log.latest_epoch() is not None

    # LeaderAndIsr

    def waits_for_isr_lock(self, request: LeaderAndIsr, broker_epoch: int) -> bool:
        """Whether the request would change the partition, locked by an ISR write (to 2.6).

        Epochs are checked before the lock is taken, so a refusal does not wait.
        """
        order, release = request.partitions[FIRST], self.release
        errors = (
            answers.broker_epoch_error(request.broker_epoch, broker_epoch, release),
            answers.controller_epoch_error(request.controller_epoch, self.seen),
            answers.leader_and_isr_error(
                self.partition.leader_epoch, order.state.leader_epoch,
                self.broker in order.replicas, False, release,
            ),
        )  # fmt: skip
        known = answers.leader_is_known(order.state.leader, self.replicas.metadata.alive)
        return self.locked and known and all(error == NONE for error in errors)

    def handle_request(self, request: LeaderAndIsr, broker_epoch: int) -> Answered:
        """Apply a LeaderAndIsr, or refuse it."""
        return wait(self.replicas.handle(request, broker_epoch, 0))

    # Fetches

    def ask(self, leader: int) -> None:
        """Begin a round of its fetcher. Up to 2.0 its request does not name the current leader
        epoch."""
        connection = self.connections[leader]
        connection.ask()
        assert connection.exchange is not None, "a follower asks"
        asked_in = {FIRST: self.partition.leader_epoch}
        connection.exchange = replace(connection.exchange, asked_in=asked_in)

    def answer(self, follower: int, asked: Exchange, in_session: bool = False) -> Exchange:
        """Answer a follower as the leader, and record its position. ``in_session``: the request is
        read from the cache of fetch sessions."""
        questions = as_kept(asked.questions, self.release) if in_session else asked.questions
        read = replace(asked, questions=questions)
        replies = answer(self.replicas, follower, read, 0, MOST_BYTES).replies
        return replace(asked, replies=replies)

    # Clients

    def append(self, record: int, acks: int) -> str:
        """Append a producer's record; returns the error, if any, and checks the other results."""
        said, its = wait(self.replicas.append(FIRST, (record,), acks, self.min_isr, 0)), self.log
        if said.error == NONE:
            heard = said.first_offset, said.end_offset, said.leader_epoch
            there = its.log_end - 1, its.log_end, self.partition.leader_epoch
            assert heard == there, f"a producer hears of offsets and epoch {heard}, and not {there}"
            waits = None if said.awaited is None else said.awaited[1:]
            until = (its.log_end, self.partition.generation, self.min_isr) if acks == -1 else None
            assert waits == until, f"a producer waits for {waits}, and not {until}"
        return said.error

    def acknowledges(self, offset: int) -> bool:
        """Whether a producer with acks=all gets its response (``DelayedProduce``)."""
        partition: Any = self.partition
        awaited = DelayedProduce(partition, offset + 1, partition.generation, self.min_isr)
        return awaited.outcome(self.replicas, expired=False) == NONE

    def read(self, offset: int) -> Record | None:
        """The record that a consumer gets at an offset, None if it gets none."""
        question = {FIRST: FetchQuestion(None, offset, None)}
        batch = wait(self.replicas.read(CONSUMER, question, MOST_BYTES))[FIRST].batch
        return batch[0] if batch else None

    # The ISR

    def is_laggard(self, replica: int) -> bool:
        """Whether an ISR check that is late enough finds it lagging."""
        return replica in self.partition.lagging(LONG_MS)

    def may_join(self, replica: int) -> bool:
        """Whether a handler of its last fetch would add it to the ISR."""
        known = self.partition.remotes.get(replica)
        return known is not None and self.partition.may_join(replica, known.end)

    @property
    def may_advance(self) -> bool:
        """Whether the high watermark may advance."""
        return self.partition.next_high_watermark(LONG_MS) > self.partition.hw
