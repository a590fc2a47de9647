"""One replica of a stepped cluster.

A fetch is one step here: the follower compares epochs, truncates and fetches until it has all
records of its leader, and the leader knows that. A follower that has caught up joins the ISR with
its next fetch, in a separate step, because Kafka takes another lock for it.
"""

from __future__ import annotations

from typing import Any

from impl.core.partition import NO_EPOCH, Partition
from impl.core.requests import LeaderAndIsrPartitionState
from impl.log.record_log import RecordLog
from impl.sim.isr_write import SteppedIsr
from impl.znodes import TopicPartition
from impl.zookeeper.port import wait

LONG_MS = 60_000
"""How late a leader checks its ISR: later than any replica may lag."""


class SteppedReplica(SteppedIsr[RecordLog]):
    """A replica that writes its ISR to ZooKeeper conditionally on its cached version.

    ``first`` marks a leader since the partition's creation that has appended nothing. A leader that
    is stopped, and not deleted, still leads.
    """

    def __init__(
        self, broker: int, partition: TopicPartition, log: RecordLog, *others: Any
    ) -> None:
        super().__init__(broker, partition, log, *others)
        self.first = False

    # What a controller says

    def become_follower(self, order: LeaderAndIsrPartitionState) -> bool:
        """Become a follower, and forget everything that it knew as a leader."""
        self.first = False
        new = super().become_follower(order)
        if new:
            self.remotes.clear()
        return new

    def stop(self) -> None:
        """Do nothing: its broker stops fetching, and the replica keeps its state."""

    # Records

    def produce(self, record: int) -> None:
        """Append a producer's record, in the leader's epoch."""
        wait(self.log.append_as_leader((record,), self.leader_epoch))
        self.first = False
        self.advance(0)

    @property
    def records(self) -> list[tuple[int, int]]:
        """The records of its log."""
        return self.log.log.records

    def has_log_of(self, other: SteppedReplica) -> bool:
        """Whether the replica has exactly the other's records."""
        return self.records == other.records

    def knows_caught_up(self, follower: int) -> bool:
        """Whether the follower's last fetch was at the log end."""
        known = self.remotes.get(follower)
        return known is not None and known.end == self.log_end

    # The ISR

    def out_of_sync_replicas(self) -> list[int]:
        """The replicas that a late enough ISR check finds; only the ISR members that are not
        replicas if there are any, because the check throws at them."""
        if self.isr_member_without_replica is None:
            return self.lagging(2 * LONG_MS)
        return [one for one in self.isr if one not in (self.broker, *self.remotes)]

    # Plain data

    def save(self) -> Any:
        """Everything but the records, as a value."""
        return super().save(), self.first

    def load(self, saved: Any) -> None:
        """Restore what `save` returned."""
        isr, self.first = saved
        super().load(isr)


class ForgetfulReplica(SteppedReplica):
    """A replica that forgets its leader epoch when it is stopped, and obeys any later request.
    Kafka keeps the epoch and ignores requests of the same epoch, which nothing here counts."""

    def stop(self) -> None:
        """Stop leading and following the partition."""
        Partition.stop(self)
        self.leader_epoch = NO_EPOCH
