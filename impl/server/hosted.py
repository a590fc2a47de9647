"""One replica on a running broker: a leader's partition over a log on the disk.

The rules are ``LeaderPartition``'s; what is added is how another ISR comes about, and the lines
that Kafka logs. Up to 2.6, and later while inter.broker.protocol.version is below 2.7, a leader
writes it to ZooKeeper, conditional on the version that it holds; then it asks the controller
(KIP-497). Source: kafka.cluster.Partition.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable

from impl.core.leader_partition import GIVES_UP, LeaderPartition
from impl.core.requests import PartitionOrder
from impl.log import Log
from impl.releases import Release
from impl.server.isr_requests import Answered, IsrChange, IsrRequests
from impl.server.log4j_files import Log4jFiles
from impl.server.state_texts import ids
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition
from impl.znodes.client import ZnodeClient
from impl.znodes.text import MalformedZnode
from impl.zookeeper.errors import ZooKeeperError
from impl.zookeeper.port import wait

NO_EPOCH = -1


class HostedPartition(LeaderPartition):
    """A replica: leading, following, or stopped. Whoever calls holds the replica manager's lock.

    ``client`` gives the ZooKeeper client of the session that the broker has now; ``changed`` is
    told of an ISR that was written. With ``isr_requests`` nothing is written: it is asked for.
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
        isr_requests: IsrRequests | None = None,
    ) -> None:
        super().__init__(broker, (), lag_ms, release, log=log)
        self.partition = partition
        self.stored = log
        self.files = files
        self.client = client
        self.changed = changed
        self.isr_requests = isr_requests
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
        if self.isr_requests is not None:
            self.isr_requests.forget(self.partition)
        self.replicas = order.replicas
        self.controller_epoch = controller_epoch
        self.zk_version = order.state.zk_version
        return previous

    def moved_to(self, log: Log) -> None:
        """The log is in another directory from now on."""
        self.log = self.stored = log

    def stop(self) -> None:
        """Told to stop: it neither leads nor follows."""
        self.leads, self.leader, self.isr, self.pending = False, None, (), None
        if self.isr_requests is not None:
            self.isr_requests.forget(self.partition)
        self.reigns += 1

    # The ISR

    def expand(self, replica: int, now_ms: int) -> None:
        """Add a replica that caught up."""
        if replica in self.maximal_isr:
            return
        if self.isr_requests is not None:
            self._ask((*self.isr, replica))
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
                f"(brokerId: {one}, endOffset: {self.known(one).end})" for one in replicas
            )
            text += (
                f". Leader: (highWatermark: {self.hw}, endOffset: {self.log_end}). "
                f"Out of sync replicas: {late}."
            )
        self.files.partition(self.partition, text)
        if self.isr_requests is not None:
            self._ask(kept)
            return
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
        self.files.partition(
            self.partition,
            f"ISR updated to [{ids(wanted.isr)}] and zkVersion updated to [{version}]",
            "INFO" if self.release.since("2.4") else "TRACE",
        )

    def _written(self, wanted: LeaderIsrAndControllerEpoch) -> int | None:
        """The version that the write got, None if it was refused."""
        client = self.client()
        updated = wait(client.update_states({self.partition: wanted}))
        if self.partition in updated.done:
            return updated.done[self.partition].zk_version
        if self.partition in updated.failed:
            raise updated.failed[self.partition]
        there = wait(client.state(self.partition))
        if there is not None and there.with_zk_version(self.zk_version) == wanted:
            return there.zk_version
        return None

    # The ISR by way of the controller (2.7)

    def _ask(self, isr: tuple[int, ...]) -> None:
        """Ask for another ISR: one change at a time, and until then the larger one counts."""
        if self.pending is None and isr != self.isr:
            self.pending = isr
            self._send(isr)

    def _send(self, isr: tuple[int, ...]) -> None:
        assert self.isr_requests is not None, "only who has a controller to ask does so"
        state = LeaderIsrAndControllerEpoch(
            self.broker, self.leader_epoch, isr, self.controller_epoch, self.zk_version
        )
        answered = self._answered_to(isr, self.leader_epoch)
        self.isr_requests.ask(IsrChange(self.partition, state, answered))

    def _answered_to(self, isr: tuple[int, ...], epoch: int) -> Answered:
        def answered(error: str, state: LeaderIsrAndControllerEpoch | None) -> None:
            if self.pending is not isr or self.leader_epoch != epoch:
                return  # a LeaderAndIsr came in between: what it said counts
            if state is None:
                self._refused(isr, error)
            elif state.leader_epoch == self.leader_epoch and state.zk_version > self.zk_version:
                self._agreed(state)

        return answered

    def _refused(self, isr: tuple[int, ...], error: str) -> None:
        """Ask again, unless only a LeaderAndIsr can help; until it comes the change is pending."""
        self.failures += 1
        if error in GIVES_UP:
            text, level = f"Failed to update ISR to {ids(isr)}: {error}. Giving up.", "DEBUG"
        else:
            text = f"Failed to update ISR to {ids(isr)} due to unexpected {error}. Retrying."
            level = "WARN"
        self.files.partition(self.partition, text, level)
        if error not in GIVES_UP:
            self._send(isr)

    def _agreed(self, state: LeaderIsrAndControllerEpoch) -> None:
        self.pending, self.zk_version = None, state.zk_version
        self.adopt(state.isr, int(time.time() * 1000))
        self.files.partition(
            self.partition,
            f"ISR updated from AlterIsr to {ids(state.isr)} and version updated to "
            f"[{state.zk_version}]",
        )
        self.changed(self.partition)
