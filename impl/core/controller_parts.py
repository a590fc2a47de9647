"""Objects that every event of a controller uses, constructed once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from impl.core.cluster_context import ClusterContext
from impl.core.deletion import DeletionManager
from impl.core.journal import ControllerJournal
from impl.core.lenient_client import LenientZnodeClient
from impl.core.partition_machine import PartitionMachine
from impl.core.replica_machine import ReplicaMachine
from impl.core.request_batch import RequestBatch, Send
from impl.releases import Release
from impl.znodes import LeaderIsrAndControllerEpoch, ReplicaAssignment, TopicPartition
from impl.zookeeper.port import Port


@dataclass(frozen=True, slots=True)
class ControllerConfig:
    """The controller's part of a broker's configuration; None: the release's default.

    ``unclean_topics`` are the topics whose own config allows (or forbids) unclean elections.
    """

    unclean_leader_election: bool | None = None
    delete_topics: bool | None = None
    imbalance_percentage: int = 10
    unclean_topics: Mapping[str, bool] = field(default_factory=dict)

    def unclean_allowed(self, topic: str, release: Release) -> bool:
        """``unclean.leader.election.enable``: true by default up to 0.10."""
        default = not release.since("0.11")
        if self.unclean_leader_election is not None:
            default = self.unclean_leader_election
        return self.unclean_topics.get(topic, default)

    def deletes_topics(self, release: Release) -> bool:
        """``delete.topic.enable``: false by default up to 0.11."""
        return release.since("1.0") if self.delete_topics is None else self.delete_topics


class StateChangeFailed(Exception):
    """``StateChangeFailedException``: a partition's state cannot be written by this controller."""


class ControllerParts:
    """Context, batch, machines and ZooKeeper of one broker's controller."""

    def __init__(
        self,
        broker: int,
        port: Port,
        release: Release,
        send: Send,
        config: ControllerConfig | None = None,
        journal: ControllerJournal | None = None,
        protocol: Release | None = None,
    ) -> None:
        self.broker = broker
        self.release = release
        self.leaders_ask = protocol is not None and protocol.since("2.7")  # AlterIsr is spoken
        self.config = config or ControllerConfig()
        self.context = ClusterContext(journal)
        self.client = LenientZnodeClient(port, release, self._malformed)
        self.batch = RequestBatch(broker, self.context, release, send, protocol)
        self.partitions = PartitionMachine(
            self.context, self.batch, self.client, release, self._unclean_allowed
        )
        self.replicas = ReplicaMachine(
            self.context, self.batch, self.client, release, self._unclean_allowed
        )
        self.deletion = DeletionManager(
            self.context,
            self.partitions,
            self.replicas,
            self.client,
            release,
            self.update_metadata_for,
            self.config.deletes_topics(release),
        )

    async def _malformed(self, text: str) -> None:
        await self.context.journal.ignored(text)

    def _unclean_allowed(self, topic: str) -> bool:
        return self.config.unclean_allowed(topic, self.release)

    # UpdateMetadata

    async def update_metadata(
        self, brokers: Iterable[int], partitions: Iterable[TopicPartition]
    ) -> None:
        """Send a round of UpdateMetadata alone; without partitions its content depends on the
        release."""
        self.batch.begin()
        self.batch.add_update_metadata(brokers, partitions)
        await self.batch.send_requests(self.context.epoch)

    async def update_metadata_for(self, partitions: Iterable[TopicPartition]) -> None:
        """Tell every broker about some partitions."""
        await self.update_metadata(self.context.live_or_shutting_down, partitions)

    # Leader epochs

    async def update_leader_epoch(self, partition: TopicPartition) -> LeaderIsrAndControllerEpoch:
        """Write the same leader and ISR under the next leader epoch (``updateLeaderEpoch``).

        StateChangeFailed if there is no state, or one that a newer controller has written;
        ZooKeeperError if it cannot be written.
        """
        while True:
            state = await self.client.state(partition)
            if state is None:
                raise StateChangeFailed(
                    f"Cannot update leader epoch for partition {partition} as leaderAndIsr path is "
                    "empty"
                )
            if state.controller_epoch > self.context.epoch:
                raise StateChangeFailed(
                    "Leader and isr path written by another controller. This probably means the "
                    f"current controller with epoch {self.context.epoch} went through a soft "
                    f"failure and another controller was elected with epoch "
                    f"{state.controller_epoch}. Aborting state change by this controller"
                )
            bumped = replace(
                state, leader_epoch=state.leader_epoch + 1, controller_epoch=self.context.epoch
            )
            updated = await self.client.update_states(
                {partition: bumped}, self.context.epoch_version
            )
            if partition in updated.done:
                # Before 2.4 UpdateMetadata has the old epoch (KAFKA-9212).
                done = updated.done[partition]
                if self.release.since("2.4"):
                    self.context.leadership[partition] = done
                await self.context.journal.leader_epoch_updated(partition, done)
                return done
            if partition in updated.failed:
                raise updated.failed[partition]

    async def update_leader_epoch_and_send(
        self, partition: TopicPartition, assignment: ReplicaAssignment, others: Iterable[int] = ()
    ) -> None:
        """The next leader epoch, sent to the replicas of an assignment and to some others.

        Replicas that it adds are new since 2.7 (KAFKA-10314). StateChangeFailed, ZooKeeperError.
        """
        state, replicas = await self.update_leader_epoch(partition), assignment.replicas
        new = assignment.adding if self.release.since("2.7") else ()
        self.batch.begin()
        for broker in (*replicas, *others):
            self.batch.add_leader_and_isr([broker], partition, state, replicas, broker in new)
        await self.batch.send_requests(self.context.epoch)
        known = self.context.assignment(partition)
        await self.context.journal.sent_for_move(partition, state, replicas, known)

    async def read_states(self, partitions: Iterable[TopicPartition]) -> None:
        """Read the registered states into the cache; partitions without a state are left
        unchanged."""
        for partition in partitions:
            state = await self.client.state(partition)
            if state is not None:
                self.context.leadership[partition] = state


Clock = Callable[[], int]
"""Milliseconds since 1970."""
