"""The replicas of one broker over its logs, and what its controller tells it about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from impl.core import answers
from impl.core.leader_partition import LeaderPartition
from impl.core.requests import LeaderAndIsr, PartitionOrder, Request, StopReplica
from impl.log import Log, LogManager, StorageError
from impl.releases import Release
from impl.world.wide.channels import Answer
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition
from impl.znodes.client import ZnodeClient
from impl.zookeeper.errors import SessionExpired
from impl.zookeeper.port import wait

NONE = answers.NONE


class Waiting(NamedTuple):
    """A producer that waits for the ISR: until the high watermark is at ``end``, in this reign."""

    end: int
    reign: int
    record: int


class Replica(LeaderPartition):
    """One replica; its ISR is written to ZooKeeper under the version that it holds (to 2.6)."""

    def __init__(self, replicas: Replicas, partition: TopicPartition, log: Log) -> None:
        super().__init__(replicas.broker, (), replicas.lag_ms, replicas.release, log=log)
        self.partition = partition
        self.stored = log
        self.home = replicas
        self.born = 0  # for those who look on: of which of the topics of that name it is
        self.controller_epoch = self.zk_version = -1
        self.reign = 0
        self.waiting: list[Waiting] = []

    def take(self, order: PartitionOrder) -> None:
        """What a LeaderAndIsr request says of the partition."""
        self.born = self.home.born(self.partition.topic)
        self.replicas = order.replicas
        self.controller_epoch = order.state.controller_epoch
        self.zk_version = order.state.zk_version
        self.remotes = {one: held for one, held in self.remotes.items() if one in self.replicas}

    def cease(self) -> None:
        """It does not lead any more; its producers hear nothing good."""
        self.reign += 1
        self.waiting.clear()

    def change(self, isr: Iterable[int], now_ms: int) -> None:
        """Write another ISR; memory follows the write, and a refused one changes nothing."""
        wanted = LeaderIsrAndControllerEpoch(
            self.broker, self.leader_epoch, tuple(isr), self.controller_epoch, self.zk_version
        )
        try:
            version = self._written(wanted)
        except SessionExpired:
            return
        if version is not None:
            self.zk_version = version
            self.adopt(wanted.isr, now_ms)
            self.home.isr_changes.add(self.partition)

    def _written(self, wanted: LeaderIsrAndControllerEpoch) -> int | None:
        client = self.home.client()
        updated = wait(client.update_states({self.partition: wanted}))
        if self.partition in updated.done:
            return updated.done[self.partition].zk_version
        there = wait(client.state(self.partition))
        if there is not None and there.with_zk_version(self.zk_version) == wanted:
            return there.zk_version
        return None


class Replicas:
    """``ReplicaManager``. ``follow`` and ``leave`` tell the fetchers; ``client`` is the session's.

    ``born`` tells which of the topics of one name there is now; no broker asks that.
    """

    def __init__(
        self,
        broker: int,
        release: Release,
        logs: LogManager,
        lag_ms: int,
        now_ms: Callable[[], int],
        client: Callable[[], ZnodeClient],
        follow: Callable[[Replica], None],
        leave: Callable[[TopicPartition], None],
        born: Callable[[str], int],
    ) -> None:
        self.broker = broker
        self.release = release
        self.logs = logs
        self.lag_ms = lag_ms
        self.now_ms = now_ms
        self.client = client
        self.follow = follow
        self.leave = leave
        self.born = born
        self.controller_epoch = 0
        self.hosted: dict[TopicPartition, Replica] = {}
        self.alive: set[int] = set()
        self.isr_changes: set[TopicPartition] = set()

    def leading(self) -> list[Replica]:
        """The replicas that lead."""
        return [one for one in self.hosted.values() if one.leads]

    def handle(self, request: Request, broker_epoch: int) -> Answer:
        """Answer a controller (fact sheet f)."""
        error = answers.broker_epoch_error(request.broker_epoch, broker_epoch, self.release)
        if error != NONE:
            return error, {}
        error = answers.controller_epoch_error(request.controller_epoch, self.controller_epoch)
        if error != NONE:
            return error, {}
        self.controller_epoch = request.controller_epoch
        match request:
            case LeaderAndIsr():
                return NONE, {one: self._told(one, o) for one, o in request.partitions.items()}
            case StopReplica():
                return NONE, {
                    one: self._stop(one, stop.delete, stop.leader_epoch)
                    for one, stop in request.partitions.items()
                }
            case _:
                self.alive = set(request.live_brokers)
                return NONE, {}

    def host(self, partition: TopicPartition) -> Replica:
        """A new replica over its log. StorageError."""
        return Replica(self, partition, self.logs.create(partition))

    def _told(self, partition: TopicPartition, order: PartitionOrder) -> str:
        hosted = self.hosted.get(partition)
        error = answers.leader_and_isr_error(
            -1 if hosted is None else hosted.leader_epoch,
            order.state.leader_epoch,
            self.broker in order.replicas,
            partition in self.logs.offline,
            self.release,
        )
        if error != NONE:
            return error
        if hosted is None:
            try:
                hosted = self.host(partition)
            except StorageError:
                return "KAFKA_STORAGE_ERROR"
            self.hosted[partition] = hosted
        if order.state.leader == self.broker:
            self.leave(partition)
            hosted.take(order)
            hosted.make_leader(order.state.leader_epoch, order.state.isr, self.now_ms())
            return NONE
        if answers.leader_is_known(order.state.leader, self.alive):
            hosted.take(order)
            hosted.cease()
            if hosted.make_follower(order.state.leader, order.state.leader_epoch):
                self.leave(partition)
                self.follow(hosted)
        return NONE

    def _stop(self, partition: TopicPartition, delete: bool, epoch: int) -> str:
        hosted = self.hosted.get(partition)
        error = answers.stop_replica_error(
            None if hosted is None else hosted.leader_epoch,
            epoch,
            partition in self.logs.offline,
            self.release,
        )
        if error != NONE:
            return error
        self.leave(partition)
        if hosted is not None:
            hosted.leads, hosted.leader, hosted.isr = False, None, ()
            hosted.cease()
        if delete:
            self.hosted.pop(partition, None)
            self.isr_changes.discard(partition)
            try:
                self.logs.delete(partition)
            except StorageError:
                return "KAFKA_STORAGE_ERROR"
        return NONE
