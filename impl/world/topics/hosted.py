"""What a broker holds of the topic, and how it answers controllers, by the rules of `impl.core`.

A replica in memory leads, follows, or does neither: its log was opened, and it knows no leader that
lives. Its leader epoch is that of the LeaderAndIsr which it obeyed last, -1 before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from impl.core import answers
from impl.core.requests import NO_LEADER_EPOCH, LeaderAndIsr, PartitionStop, StopReplica
from impl.releases import Release
from impl.znodes import TopicPartition

LEADER, FOLLOWER, NEITHER = "leader", "follower", "none"


@dataclass(frozen=True, slots=True)
class ReplicaInMemory:
    """A partition's number, the replica's role, and the leader epoch that it knows."""

    number: int
    role: str = NEITHER
    leader_epoch: int = NO_LEADER_EPOCH


@dataclass(frozen=True, slots=True)
class HostedTopic:
    """A broker's replicas in memory and directories, by partition; the newest controller it knows.

    A directory is of the topic as it is now (``current``), or of one before it (``stale``).
    """

    broker: int
    release: Release
    replicas: tuple[ReplicaInMemory, ...] = ()
    directories: tuple[tuple[int, str], ...] = ()
    seen: int = 0

    def role(self, number: int) -> str:
        """What the broker does for a partition."""
        return next((one.role for one in self.replicas if one.number == number), NEITHER)

    def refuses(self, controller_epoch: int) -> bool:
        """STALE_CONTROLLER_EPOCH: the broker has heard of a newer controller."""
        return answers.controller_epoch_error(controller_epoch, self.seen) != answers.NONE

    def obeys(self, request: LeaderAndIsr, directory: str) -> HostedTopic:
        """After a LeaderAndIsr; directories that it makes are ``directory``.

        Nobody follows a leader that does not live: the log is opened, and that is all.
        """
        held = {one.number: one for one in self.replicas}
        directories = dict(self.directories)
        for partition, order in request.partitions.items():
            number, state = partition.partition, order.state
            now = held.get(number, ReplicaInMemory(number))
            is_assigned = self.broker in order.replicas
            error = answers.leader_and_isr_error(
                now.leader_epoch, state.leader_epoch, is_assigned, False, self.release
            )
            if error != answers.NONE:
                continue
            directories.setdefault(number, directory)
            leads = state.leader == self.broker
            if leads or answers.leader_is_known(state.leader, request.live_leaders):
                role = LEADER if leads else FOLLOWER
                now = ReplicaInMemory(number, role, state.leader_epoch)
            held[number] = now
        return replace(
            self,
            replicas=tuple(held[number] for number in sorted(held)),
            directories=tuple(sorted(directories.items())),
            seen=request.controller_epoch,
        )

    def refuses_stop(self, number: int, stop: PartitionStop) -> bool:
        """FENCED_LEADER_EPOCH: the broker knows the leader epoch of a StopReplica (2.6)."""
        known = next((one.leader_epoch for one in self.replicas if one.number == number), None)
        error = answers.stop_replica_error(known, stop.leader_epoch, False, self.release)
        return error != answers.NONE

    def stops(
        self, request: StopReplica, disk_fails: bool
    ) -> tuple[HostedTopic, Mapping[TopicPartition, str]]:
        """After a StopReplica, and the error of each partition that was to be deleted.

        A directory that the disk cannot delete stays; its replica is gone all the same.
        """
        held = {one.number: one for one in self.replicas}
        directories = dict(self.directories)
        errors = {}
        for partition, stop in request.partitions.items():
            number = partition.partition
            known = held[number].leader_epoch if number in held else None
            stopped = answers.stop_replica(
                known, stop.leader_epoch, stop.delete, False, disk_fails, self.release
            )
            if stop.delete:
                errors[partition] = stopped.error
            if stopped.error == answers.NONE or stopped.gone:
                held.pop(number, None)
            if stopped.gone and not disk_fails:
                directories.pop(number, None)
        after = replace(
            self,
            replicas=tuple(held.values()),
            directories=tuple(directories.items()),
            seen=request.controller_epoch,
        )
        return after, errors

    def crashes(self) -> HostedTopic:
        """What is left of it when the process ends: its directories."""
        return replace(self, replicas=(), seen=0)

    def becomes_stale(self) -> HostedTopic:
        """Another topic of that name is there: what lies in the directories is not its own."""
        stale = tuple((number, "stale") for number, _ in self.directories)
        return replace(self, directories=stale)
