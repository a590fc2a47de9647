"""Requests collected and sent together (``ControllerBrokerRequestBatch``; fact sheet, e)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace

from impl.core.cluster_context import ClusterContext
from impl.core.requests import (
    LEADER_EPOCH_DURING_DELETE,
    NO_LEADER_EPOCH,
    LeaderAndIsr,
    LeaderAndIsrPartitionState,
    PartitionMetadata,
    PartitionStop,
    Request,
    StopReplica,
    UpdateMetadata,
    request_version,
)
from impl.releases import Release
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition
from impl.znodes.states import LEADER_DURING_DELETE

Round = Sequence[tuple[int, Request]]
"""Requests of one round, each with its broker, in the order in which they are sent."""

Send = Callable[[Round], Awaitable[None]]
"""Hands a round to the brokers' channels; a round may be empty."""

NO_BROKER_EPOCH = -1


class BatchNotSent(Exception):
    """``IllegalStateException``: a round begins before the last one was sent."""


class RequestBatch:
    """The requests of one round to the brokers of a context; ``send`` sends them.

    ``protocol`` is the inter.broker.protocol.version, by default that of the release.
    """

    def __init__(
        self,
        controller: int,
        context: ClusterContext,
        release: Release,
        send: Send,
        protocol: Release | None = None,
    ) -> None:
        self.controller = controller
        self.context = context
        self.release = release
        self.protocol = protocol or release
        self.send = send
        self.leader_and_isrs: dict[int, dict[TopicPartition, LeaderAndIsrPartitionState]] = {}
        self.stops: dict[int, list[tuple[TopicPartition, PartitionStop]]] = {}
        self.metadata_to: set[int] = set()
        self.metadata: dict[TopicPartition, PartitionMetadata] = {}

    def begin(self) -> None:
        """Begin a new batch; BatchNotSent if the last one was not sent."""
        for held, kind in (
            (self.leader_and_isrs, "leaderAndIsr"),
            (self.stops, "stopReplica"),
            (self.metadata_to, "updateMetadata"),
        ):
            if held:
                raise BatchNotSent(
                    f"Controller to broker state change requests batch is not empty while creating "
                    f"a new one. Some {kind} state changes might be lost"
                )

    def clear(self) -> None:
        """Drop the collected requests."""
        self.leader_and_isrs, self.stops = {}, {}
        self.metadata_to, self.metadata = set(), {}

    # Collecting

    def add_leader_and_isr(
        self,
        brokers: Iterable[int],
        partition: TopicPartition,
        state: LeaderIsrAndControllerEpoch,
        replicas: Iterable[int],
        is_new: bool,
    ) -> None:
        """Add LeaderAndIsr for brokers, and UpdateMetadata of the partition for all brokers."""
        for broker in brokers:
            if broker < 0:
                continue
            entries = self.leader_and_isrs.setdefault(broker, {})
            was_new = partition in entries and entries[partition].is_new
            entries[partition] = LeaderAndIsrPartitionState(
                state, tuple(replicas), is_new or was_new,
                self.context.topic_ids.get(partition.topic),
            )  # fmt: skip
        self.add_update_metadata(self.context.live_or_shutting_down, [partition])

    def add_stop_replica(
        self, brokers: Iterable[int], partition: TopicPartition, delete: bool
    ) -> None:
        """Add a StopReplica; since 2.6 one for each partition, and "delete" stays once it is
        set."""
        stop = PartitionStop(delete, self._stop_epoch(partition))
        for broker in brokers:
            if broker < 0:
                continue
            stops = self.stops.setdefault(broker, [])
            if self.release.since("2.6"):
                said = dict(stops)
                was = partition in said and said[partition].delete
                stops[:] = {**said, partition: replace(stop, delete=delete or was)}.items()
            else:
                stops.append((partition, stop))

    def _stop_epoch(self, partition: TopicPartition) -> int:
        if not self.release.since("2.6"):
            return NO_LEADER_EPOCH
        if partition.topic in self.context.queued_for_deletion:
            return LEADER_EPOCH_DURING_DELETE
        known = self.context.leadership.get(partition)
        return NO_LEADER_EPOCH if known is None else known.leader_epoch

    def add_update_metadata(
        self, brokers: Iterable[int], partitions: Iterable[TopicPartition]
    ) -> None:
        """Add UpdateMetadata for brokers, without partitions whose state is unknown.

        No partitions at all means all of them up to 2.1, and none since 2.2. Up to 1.1 those of
        topics that are to go are named each time (partitionsToBeDeleted).
        """
        self.metadata_to |= {broker for broker in brokers if broker >= 0}
        named = list(partitions)
        if not named and not self.release.since("2.2"):
            named = self.context.partitions()
        if not self.release.since("2.0"):
            named += [
                partition
                for topic in sorted(self.context.queued_for_deletion)
                for partition in self.context.partitions_of(topic)
            ]
        for partition in named:
            known = self.context.leadership.get(partition)
            if known is not None:
                self.metadata[partition] = self._metadata(partition, known)

    def _metadata(
        self, partition: TopicPartition, known: LeaderIsrAndControllerEpoch
    ) -> PartitionMetadata:
        replicas = self.context.replicas(partition)
        if partition.topic in self.context.queued_for_deletion:
            known = LeaderIsrAndControllerEpoch(
                LEADER_DURING_DELETE, 0, known.isr, known.controller_epoch, known.zk_version
            )
        offline = tuple(
            replica
            for replica in replicas
            if not self.context.is_replica_online(replica, partition, shutting_down_too=True)
        )
        return PartitionMetadata(
            known, replicas, offline if self._version("UpdateMetadata") >= 4 else ()
        )

    # Sending

    async def send_requests(self, epoch: int) -> None:
        """Send the round: LeaderAndIsr to each broker, then UpdateMetadata, then StopReplica.

        Since 2.2 nothing is sent to brokers that are gone; before, the channel drops it there.
        """
        journal, requests = self.context.journal, list[tuple[int, Request]]()
        for broker, entries in sorted(self.leader_and_isrs.items()):
            if self._reachable(broker):
                request = self._leader_and_isr(broker, entries, epoch)
                await journal.sends_leader_and_isr(broker, request)
                requests.append((broker, request))
        recipients = [broker for broker in sorted(self.metadata_to) if self._reachable(broker)]
        if recipients:
            await journal.sends_metadata(recipients, self.metadata)
        for broker in recipients:
            requests.append((broker, self._update_metadata(broker, epoch)))
        for broker, stops in sorted(self.stops.items()):
            if self._reachable(broker):
                for stop in self._stop_replicas(broker, stops, epoch):
                    await journal.sends_stop_replica(broker, stop)
                    requests.append((broker, stop))
        await self.send(requests)
        self.clear()

    def _reachable(self, broker: int) -> bool:
        return broker in self.context.broker_epochs or not self.release.since("2.2")

    def _leader_and_isr(
        self, broker: int, entries: dict[TopicPartition, LeaderAndIsrPartitionState], epoch: int
    ) -> LeaderAndIsr:
        leaders = {entry.state.leader for entry in entries.values()}
        return LeaderAndIsr(
            self._version("LeaderAndIsr"),
            self.controller,
            epoch,
            self._broker_epoch(broker),
            dict(entries),
            tuple(sorted(leaders & self.context.live_or_shutting_down)),
        )

    def _update_metadata(self, broker: int, epoch: int) -> UpdateMetadata:
        return UpdateMetadata(
            self._version("UpdateMetadata"),
            self.controller,
            epoch,
            self._broker_epoch(broker),
            dict(self.metadata),
            tuple(sorted(self.context.live_or_shutting_down)),
        )

    def _stop_replicas(
        self, broker: int, stops: list[tuple[TopicPartition, PartitionStop]], epoch: int
    ) -> list[StopReplica]:
        version = self._version("StopReplica")
        deletes = [one for one in stops if one[1].delete]
        keeps = [one for one in stops if not one[1].delete]
        if version >= 3:
            groups = [stops]
        elif self.release.since("2.3"):
            groups = [group for group in (deletes, keeps) if group]
        elif self.release.since("1.1"):
            groups = [[], *([one] for one in stops)]
        else:
            groups = [keeps, *([one] for one in deletes)]
        return [
            StopReplica(
                version,
                self.controller,
                epoch,
                self._broker_epoch(broker),
                dict(group),
                frozenset(one for one, stop in group if self._raises_event(one, stop)),
            )
            for group in groups
        ]

    def _raises_event(self, partition: TopicPartition, stop: PartitionStop) -> bool:
        if not stop.delete:
            return False
        return not self.release.since("2.3") or self.context.is_being_deleted(partition.topic)

    def _broker_epoch(self, broker: int) -> int:
        if not self.protocol.since("2.2"):
            return NO_BROKER_EPOCH
        return self.context.broker_epochs.get(broker, NO_BROKER_EPOCH)

    def _version(self, kind: str) -> int:
        return request_version(kind, self.protocol)
