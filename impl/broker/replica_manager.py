"""What a broker answers: to its controller, to its followers, and to its own timers.

``ReplicaManager`` of Kafka 2.3 for one partition. The checks that carry the protocol are methods of
their own (``broker_epoch_is_stale``, ``controller_epoch_is_stale``, ``leader_epoch_is_old``,
``fenced``), so that a test may plant a fault in one of them by replacing it.
"""

from __future__ import annotations

from impl.broker.fetcher import ReplicaFetcher
from impl.broker.partition import IsrWrite, Partition, SavedPartition
from impl.journal import Journal
from impl.log import ReplicaLog
from impl.requests import (
    AnsweredEpoch,
    AnsweredRecords,
    AskedEpoch,
    AskedRecords,
    Errors,
    LeaderAndIsrRequest,
)
from impl.zookeeper import NO_LEADER, BadVersion, KafkaZkClient, PartitionState

SavedReplicaManager = tuple[SavedPartition, int]


class ReplicaManager:
    """One partition on one broker, with the highest controller epoch seen (0 at start)."""

    def __init__(
        self,
        broker: int,
        assignment: tuple[int, ...],
        log: ReplicaLog,
        hw: int,
        client: KafkaZkClient,
        journal: Journal,
    ) -> None:
        self.broker = broker
        self.assignment = assignment
        self.client = client
        self.journal = journal
        self.controller_epoch = 0
        self.partition = Partition(broker, assignment, log, hw)
        self.fetcher = ReplicaFetcher(self.partition, journal)

    # LeaderAndIsr

    def broker_epoch_is_stale(self, request: LeaderAndIsrRequest, broker_epoch: int) -> bool:
        """The request was meant for an earlier registration of this broker (KIP-380)."""
        return request.broker_epoch < broker_epoch

    def controller_epoch_is_stale(self, request: LeaderAndIsrRequest) -> bool:
        """The request comes from a controller older than one that was heard before."""
        return request.controller_epoch < self.controller_epoch

    def leader_epoch_is_old(self, request: LeaderAndIsrRequest) -> bool:
        """The request tells nothing newer than what was applied: an equal epoch is old too."""
        return request.state.leader_epoch <= self.partition.leader_epoch

    def waits_for_isr_lock(self, request: LeaderAndIsrRequest, broker_epoch: int) -> bool:
        """The request would change the partition, whose lock an ISR write holds (to 2.6).

        Epochs are checked before the lock is asked for, so a refusal does not wait.
        """
        if not self.partition.locked:
            return False
        refused = (
            self.broker_epoch_is_stale(request, broker_epoch)
            or self.controller_epoch_is_stale(request)
            or request.state.leader_epoch <= self.partition.leader_epoch
            or request.state.leader == NO_LEADER
        )
        return not refused

    def become_leader_or_follower(self, request: LeaderAndIsrRequest, broker_epoch: int) -> Errors:
        """Apply a LeaderAndIsr request, or refuse it with Kafka's code (semantics f.2).

        An old leader epoch is answered with STALE_CONTROLLER_EPOCH as well, but the controller
        epoch has been noted by then. A request without a leader answers NONE and is not applied:
        the leader epoch does not advance.
        """
        if self.broker_epoch_is_stale(request, broker_epoch):
            return Errors.STALE_BROKER_EPOCH
        self.journal.leader_and_isr_received(request)
        if self.controller_epoch_is_stale(request):
            self.journal.controller_epoch_was_old(request, self.controller_epoch)
            return Errors.STALE_CONTROLLER_EPOCH
        self.controller_epoch = request.controller_epoch
        previous = self.partition.leader_epoch
        if self.leader_epoch_is_old(request):
            self.journal.leader_epoch_was_old(request, previous)
            return Errors.STALE_CONTROLLER_EPOCH
        if request.state.leader == NO_LEADER:
            self.journal.leader_was_unavailable(request)
            return Errors.NONE
        if request.state.leader == self.broker:
            self.partition.make_leader(request)
            self.journal.became_leader(request, self.partition.log.end, previous)
        else:
            self.partition.make_follower(request)
            self.journal.became_follower(request)
        return Errors.NONE

    # Followers

    def fenced(self, leader_epoch: int) -> Errors:
        """Whether a follower's request in that leader epoch may be answered (KIP-320)."""
        partition = self.partition
        if leader_epoch < partition.leader_epoch:
            return Errors.FENCED_LEADER_EPOCH
        if leader_epoch > partition.leader_epoch:
            return Errors.UNKNOWN_LEADER_EPOCH
        return Errors.NONE if partition.leads else Errors.NOT_LEADER_FOR_PARTITION

    def last_offset_for_leader_epoch(self, question: AskedEpoch) -> AnsweredEpoch | Errors:
        """Answer OffsetForLeaderEpoch."""
        refused = self.fenced(question.leader_epoch)
        if refused is not Errors.NONE:
            return refused
        epoch, end = self.partition.log.end_offset_for(question.epoch)
        return AnsweredEpoch(question.leader_epoch, epoch, end)

    def fetch_for_follower(self, follower: int, question: AskedRecords) -> AnsweredRecords | Errors:
        """Answer a fetch, and remember the offset as the follower's log end.

        The high watermark in the answer is the one before that offset was known (semantics g.1).
        """
        refused = self.fenced(question.leader_epoch)
        if refused is not Errors.NONE:
            return refused
        partition = self.partition
        records = partition.log.records
        if question.offset > len(records):
            return Errors.OFFSET_OUT_OF_RANGE
        record = records[question.offset] if question.offset < len(records) else None
        answer = AnsweredRecords(question.leader_epoch, question.offset, record, partition.hw)
        partition.known_end[follower] = question.offset
        return answer

    # The ISR

    def shrink_isr(self, replica: int) -> None:
        """Have ZooKeeper remove a lagging replica by a conditional write; its answer is to come."""
        partition = self.partition
        self.journal.isr_shrinks(
            self.broker,
            partition.isr,
            replica,
            partition.end_of(replica),
            partition.hw,
            partition.log.end,
        )
        self._write_isr(tuple(member for member in partition.isr if member != replica))

    def expand_isr(self, replica: int) -> None:
        """Have ZooKeeper add a replica that caught up, likewise."""
        self.journal.isr_expands(self.broker, self.partition.isr, replica)
        self._write_isr((*self.partition.isr, replica))

    def _write_isr(self, isr: tuple[int, ...]) -> None:
        partition = self.partition
        state = partition.state_with(isr, self.controller_epoch)
        partition.isr_write = IsrWrite(state, self._written(state))

    def _written(self, state: PartitionState) -> int | None:
        try:
            return self.client.write_state(state, self.partition.zk_version)
        except BadVersion:
            return None

    def hear_isr_is_written(self) -> None:
        """The answer to the ISR write arrives: it is done, under this version."""
        write = self.partition.isr_write
        assert write is not None
        assert write.version is not None
        self._adopt(write.state, write.version)

    def send_isr_write_again(self) -> None:
        """The connection broke before the answer came: the client sends the write once more.

        The version that it names is no longer registered, if only because of the first attempt.
        """
        write = self.partition.isr_write
        assert write is not None
        self.partition.isr_write = IsrWrite(write.state, self._written(write.state))

    def read_isr_back(self) -> None:
        """The write was refused: is what is registered one's own write (KAFKA-1382)?"""
        write = self.partition.isr_write
        assert write is not None
        registered, version = self.client.partition_state()
        if registered == write.state:
            self._adopt(registered, version)
        else:
            self.partition.isr_write = None
            self.journal.isr_update_skipped(self.broker, self.partition.zk_version)

    def give_up_isr_write(self) -> None:
        """The session is gone: the request fails, and ISR and version stay as they were."""
        self.partition.isr_write = None

    def _adopt(self, state: PartitionState, version: int) -> None:
        self.partition.adopt_isr(state.isr, version)
        self.journal.isr_updated(self.broker, state.isr, version)

    # Plain data

    def save(self) -> SavedReplicaManager:
        """Everything but the log, as an immutable value."""
        return self.partition.save(), self.controller_epoch

    def load(self, saved: SavedReplicaManager) -> None:
        """Become what was saved."""
        self.partition.load(saved[0])
        self.controller_epoch = saved[1]
