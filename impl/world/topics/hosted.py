"""What a broker holds of the topic, as plain data; the broker's replica manager does the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from impl.core import answers
from impl.core.partition import NO_EPOCH
from impl.core.replica_manager import Replica, ReplicaManager
from impl.core.requests import LeaderAndIsr, PartitionStop, StopReplica
from impl.log.errors import StorageError
from impl.releases import Release
from impl.znodes import TopicPartition
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait

LEADER, FOLLOWER, NEITHER = "leader", "follower", "none"


class NoRecords:
    """A log without records: whether there is one is all that is asked here."""

    high_watermark = log_start = log_end = 0
    directory = ""

    @property
    def epochs(self) -> NoRecords:
        """Its leader epochs."""
        return self

    def assign(self, epoch: int, start: int) -> None:
        """Let an epoch begin at an offset: nothing is kept of it."""


class TopicDirectories:
    """The directories of a broker: what is in one that is made, is of the topic as it is now, or
    ``stale``, as the request is."""

    def __init__(self, held: Mapping[int, str], made: str, disk_fails: bool = False) -> None:
        self.held = dict(held)
        self.made = made
        self.disk_fails = disk_fails

    def has(self, partition: TopicPartition) -> bool:
        """There is a directory."""
        return partition.partition in self.held

    def is_offline(self, partition: TopicPartition) -> bool:
        """No directory is taken offline here."""
        return False

    async def create(self, partition: TopicPartition) -> NoRecords:
        """The log in the directory, which is made if there is none."""
        self.held.setdefault(partition.partition, self.made)
        return NoRecords()

    async def delete(self, partition: TopicPartition) -> str | None:
        """Rename the directory. StorageError: it stays."""
        if self.disk_fails:
            raise StorageError(str(partition), "", "its directory cannot be renamed")
        return self.held.pop(partition.partition, None)


@dataclass(frozen=True, slots=True)
class ReplicaInMemory:
    """A replica as requests left it; its leader epoch is that of a LeaderAndIsr, -1 before one."""

    partition: TopicPartition
    leader: int | None = None
    leader_epoch: int = NO_EPOCH


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
        for one in self.replicas:
            if one.partition.partition == number and one.leader is not None:
                return LEADER if one.leader == self.broker else FOLLOWER
        return NEITHER

    def refuses(self, controller_epoch: int) -> bool:
        """STALE_CONTROLLER_EPOCH: the broker has heard of a newer controller."""
        return answers.controller_epoch_error(controller_epoch, self.seen) != answers.NONE

    def refuses_stop(self, partition: TopicPartition, stop: PartitionStop) -> bool:
        """FENCED_LEADER_EPOCH: the broker knows the leader epoch of a StopReplica (2.6)."""
        known = next(
            (one.leader_epoch for one in self.replicas if one.partition == partition), None
        )
        error = answers.stop_replica_error(known, stop.leader_epoch, False, self.release)
        return error != answers.NONE

    def obeys(self, request: LeaderAndIsr, directory: str) -> HostedTopic:
        """After a LeaderAndIsr; directories that it makes are ``directory``.

        The leaders that live are those of the request: UpdateMetadata has come before it.
        """
        return self._handle(request, TopicDirectories(dict(self.directories), directory))[0]

    def stops(
        self, request: StopReplica, disk_fails: bool
    ) -> tuple[HostedTopic, Mapping[TopicPartition, str]]:
        """After a StopReplica, and the error of each partition that was to be deleted.

        A directory that the disk cannot delete stays; its replica is gone all the same.
        """
        disk = TopicDirectories(dict(self.directories), "", disk_fails)
        after, errors = self._handle(request, disk)
        return after, {one: errors[one] for one, stop in request.partitions.items() if stop.delete}

    def _handle(
        self, request: LeaderAndIsr | StopReplica, disk: TopicDirectories
    ) -> tuple[HostedTopic, Mapping[TopicPartition, str]]:
        manager = ReplicaManager(self.broker, self.release, disk, 0, _nobody)
        manager.controller_epoch = self.seen
        for one in self.replicas:
            held: Replica = wait(manager.host(one.partition))
            held.leader, held.leader_epoch = one.leader, one.leader_epoch
            held.leads = one.leader == self.broker
        if isinstance(request, LeaderAndIsr):
            manager.metadata.brokers = dict.fromkeys(request.live_leaders, ("", 0))
        _, errors = wait(manager.handle(request, request.broker_epoch, 0))
        after = replace(
            self,
            replicas=tuple(_kept(one) for _, one in sorted(manager.partitions.items())),
            directories=tuple(sorted(disk.held.items())),
            seen=manager.controller_epoch,
        )
        return after, errors

    def crashes(self) -> HostedTopic:
        """What is left of it when the process ends: its directories."""
        return replace(self, replicas=(), seen=0)

    def becomes_stale(self) -> HostedTopic:
        """Another topic of that name is there: what lies in the directories is not its own."""
        stale = tuple((number, "stale") for number, _ in self.directories)
        return replace(self, directories=stale)


def _kept(replica: Replica) -> ReplicaInMemory:
    """A replica that was stopped forgets its leader epoch: where Kafka's broker keeps it, and then
    ignores what it is told in the same epoch, nobody counts leader epochs here."""
    is_stopped = replica.leader is None
    epoch = NO_EPOCH if is_stopped else replica.leader_epoch
    return ReplicaInMemory(replica.partition, replica.leader, epoch)


def _nobody() -> ZnodeClient:
    raise AssertionError("no ISR is written by whoever leads here: the world does that")
