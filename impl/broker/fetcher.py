"""A follower's half of replication: compare epochs, truncate, fetch (``ReplicaFetcherThread``)."""

from __future__ import annotations

from impl.broker.partition import Partition, Role
from impl.journal import Journal
from impl.log import UNDEFINED
from impl.requests import AnsweredEpoch, AnsweredRecords, AskedEpoch, AskedRecords


class ReplicaFetcher:
    """Asks and applies on behalf of one partition; the partition holds all the state."""

    def __init__(self, partition: Partition, journal: Journal) -> None:
        self.partition = partition
        self.journal = journal

    def ask_epoch(self) -> AskedEpoch:
        """Where does my latest epoch end in the leader's log?"""
        partition = self.partition
        return AskedEpoch(partition.leader_epoch, partition.log.epochs.latest_epoch)

    def ask_records(self) -> AskedRecords:
        """What comes after my log end?"""
        return AskedRecords(self.partition.leader_epoch, self.partition.log.end)

    def follows(self, leader: int, leader_epoch: int) -> bool:
        """The partition still follows that leader in that epoch."""
        partition = self.partition
        return (
            partition.role is Role.FOLLOWER
            and partition.leader == leader
            and partition.leader_epoch == leader_epoch
        )

    def truncation_offset(self, epoch: int, end: int) -> tuple[int, bool]:
        """Where to cut, given the leader's answer (epoch, end), and whether that settles it.

        KIP-279: if the follower does not know the leader's epoch either, it cuts at the end of the
        epoch that it does know, and asks again with what is then its latest.
        """
        log = self.partition.log
        if end == UNDEFINED or log.epochs.latest_epoch == UNDEFINED:
            return min(self.partition.hw, log.end), True
        if epoch == UNDEFINED:
            return min(end, log.end), True
        mine, my_end = log.end_offset_for(epoch)
        if mine == UNDEFINED:
            return min(end, log.end), True
        if mine != epoch:
            return min(my_end, log.end), False
        return min(my_end, end, log.end), True

    def truncate(self, leader: int, answer: AnsweredEpoch) -> None:
        """Apply the leader's answer; one that is not for the current epoch is ignored."""
        partition = self.partition
        if not (self.follows(leader, answer.leader_epoch) and partition.truncating):
            return
        offset, done = self.truncation_offset(answer.epoch, answer.end)
        if answer.end == UNDEFINED:
            self.journal.truncated_to_high_watermark(partition.broker, leader, partition.hw)
        self.journal.truncated(partition.broker, leader, offset, partition.log.end, partition.hw)
        partition.log.truncate_to(offset)
        partition.hw = min(partition.hw, partition.log.end)
        partition.truncating = not done

    def append(self, leader: int, answer: AnsweredRecords) -> None:
        """Append what was fetched, if it is for this epoch and for this very log end.

        The high watermark follows the leader's, bounded by the log end; so it comes one fetch late.
        """
        partition = self.partition
        if not self.follows(leader, answer.leader_epoch) or partition.truncating:
            return
        if answer.offset != partition.log.end:
            return
        if answer.record is not None:
            partition.log.append(answer.record)
        partition.hw = min(answer.high_watermark, partition.log.end)
