"""One replica on a running broker: a leader's partition over a log on the disk.

The rules are ``LeaderPartition``'s; what is added is the write of the ISR to ZooKeeper, conditional
on the version that the leader holds (up to 2.6, and later while inter.broker.protocol.version is
below 2.7), and the lines that Kafka logs. Source: kafka.cluster.Partition.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from impl.controller.requests import PartitionOrder
from impl.log import Log
from impl.releases import Release
from impl.replication.leader_partition import LeaderPartition
from impl.server.log4j_files import Log4jFiles
from impl.server.state_texts import ids
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition
from impl.znodes.client import ZnodeClient
from impl.znodes.text import MalformedZnode
from impl.zookeeper.errors import ZooKeeperError

NO_EPOCH = -1


class HostedPartition(LeaderPartition):
    """A replica: leading, following, or stopped. Whoever calls holds the replica manager's lock.

    ``client`` gives the ZooKeeper client of the session that the broker has now; ``changed`` is
    told of an ISR that was written.
    """

    def __init__(
        self,
        broker: int,
        partition: TopicPartition,
        log: Log,
        lag_ms: int,
        release: Release,
        files: Log4jFiles,
        client: Callable[[], ZnodeClient],
        changed: Callable[[TopicPartition], None],
    ) -> None:
        super().__init__(broker, (), lag_ms, release, log=log)
        self.partition = partition
        self.stored = log
        self.files = files
        self.client = client
        self.changed = changed
        self.controller_epoch = NO_EPOCH
        self.zk_version = NO_EPOCH
        self.reigns = 0  # how often it ceased to lead, or was told to follow anew

    # LeaderAndIsr

    def lead(self, order: PartitionOrder, controller_epoch: int, now_ms: int) -> bool:
        """``makeLeader``; True if somebody else led before."""
        previous = self._take(order, controller_epoch)
        start = self.log_end
        state = order.state
        for gone in [one for one in self.remotes if one not in order.replicas]:
            del self.remotes[gone]
        new = self.make_leader(state.leader_epoch, state.isr, now_ms)
        name, epoch = self.partition, state.leader_epoch
        if self.release.since("2.4"):
            self.files.partition(
                name,
                f"{name} starts at leader epoch {epoch} from offset {start} with high watermark "
                f"{self.hw}. Previous leader epoch was {previous}.",
            )
        elif self.release.since("0.11"):
            self.files.partition(
                name,
                f"{name} starts at Leader Epoch {epoch} from offset {start}. Previous Leader "
                f"Epoch was: {previous}",
            )
        return new

    def follow(self, order: PartitionOrder, controller_epoch: int) -> bool:
        """``makeFollower``; False if the fetcher may go on as it is."""
        self._take(order, controller_epoch)
        self.reigns += 1
        return self.make_follower(order.state.leader, order.state.leader_epoch)

    def _take(self, order: PartitionOrder, controller_epoch: int) -> int:
        previous = self.leader_epoch
        self.replicas = order.replicas
        self.controller_epoch = controller_epoch
        self.zk_version = order.state.zk_version
        return previous

    def stop(self) -> None:
        """Told to stop: it neither leads nor follows."""
        self.leads, self.leader, self.isr = False, None, ()
        self.reigns += 1

    # The ISR in ZooKeeper

    def expand(self, replica: int, now_ms: int) -> None:
        """Add a replica that caught up."""
        if replica in self.isr:
            return
        both = f"{ids(self.isr)} to {ids((*self.isr, replica))}"
        where = "" if self.release.since("0.11") else f" for partition {self._old_name}"
        self.files.partition(self.partition, f"Expanding ISR{where} from {both}")
        self.change((*self.isr, replica), now_ms)

    def shrink(self, replicas: Collection[int], now_ms: int) -> None:
        """Remove replicas that lag."""
        kept = tuple(one for one in self.isr if one not in replicas)
        where = "" if self.release.since("0.11") else f" for partition {self._old_name}"
        text = f"Shrinking ISR{where} from {ids(self.isr)} to {ids(kept)}"
        if self.release.since("2.2"):
            late = " ".join(
                f"(brokerId: {one}, endOffset: {self.remotes[one].end})" for one in replicas
            )
            text += (
                f". Leader: (highWatermark: {self.hw}, endOffset: {self.log_end}). "
                f"Out of sync replicas: {late}."
            )
        self.files.partition(self.partition, text)
        self.change(kept, now_ms)

    @property
    def _old_name(self) -> str:
        return self.files.name(self.partition)

    def change(self, isr: Iterable[int], now_ms: int) -> None:
        """Write another ISR, under the version that is known; memory follows the write.

        A refused write changes nothing, unless what is registered is one's own (KAFKA-1382).
        """
        wanted = LeaderIsrAndControllerEpoch(
            self.broker, self.leader_epoch, tuple(isr), self.controller_epoch, self.zk_version
        )
        try:
            version = self._written(wanted)
        except (ZooKeeperError, MalformedZnode) as error:
            self.files.partition(
                self.partition, f"Failed to update ISR to {ids(wanted.isr)}: {error}", "ERROR"
            )
            return
        if version is None:
            brackets = not self.release.since("2.4")
            shown = f"[{self.zk_version}]" if brackets else str(self.zk_version)
            self.files.partition(
                self.partition,
                f"Cached zkVersion {shown} not equal to that in zookeeper, skip updating ISR",
            )
            return
        self.zk_version = version
        self.adopt(wanted.isr, now_ms)
        self.changed(self.partition)
        word = "version" if self.release.since("2.7") else "zkVersion"
        self.files.partition(
            self.partition,
            f"ISR updated to [{ids(wanted.isr)}] and {word} updated to [{version}]",
            "INFO" if self.release.since("2.4") else "TRACE",
        )

    def _written(self, wanted: LeaderIsrAndControllerEpoch) -> int | None:
        """The version that the write got, None if it was refused."""
        client = self.client()
        updated = client.update_states({self.partition: wanted})
        if self.partition in updated.done:
            return updated.done[self.partition].zk_version
        if self.partition in updated.failed:
            raise updated.failed[self.partition]
        there = client.state(self.partition)
        if there is not None and there.with_zk_version(self.zk_version) == wanted:
            return there.zk_version
        return None
