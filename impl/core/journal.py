"""The controller's listener: one method per event, which by default does nothing.

The controller writes no logs. It calls this port where Kafka would log; a writer, such as
``impl.server.controller_lines``, makes lines of it. Nothing here affects the controller.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from impl.core.requests import LeaderAndIsr, PartitionMetadata, StopReplica
from impl.core.states import PartitionState, ReplicaState
from impl.znodes import (
    BrokerInfo,
    LeaderIsrAndControllerEpoch,
    ReplicaAssignment,
    TopicPartition,
)


class NoLeader(NamedTuple):
    """An election without an eligible leader: the strategy, its candidates, the state that was
    read."""

    strategy: str
    allows_unclean: bool
    state: LeaderIsrAndControllerEpoch
    assigned: Collection[int]
    live: Collection[int]
    leaving: Collection[int]


@dataclass(frozen=True, slots=True)
class ChangeFailure:
    """Why a state change failed.

    ``newer``: the controller epoch that the partition's state names, where that is above ours;
    ``is_missing``: the partition has no state; ``is_invalid``: no such transition;
    ``assigned_and_live``: of a new partition none of whose replicas is on a live broker;
    ``no_leader``: nobody could be elected; ``refused``: ZooKeeper's error; ``is_silent``: Kafka
    logs nothing of it.
    """

    text: str
    newer: int | None = None
    is_missing: bool = False
    is_invalid: bool = False
    assigned_and_live: tuple[Collection[int], Collection[int]] | None = None
    no_leader: NoLeader | None = None
    refused: str = ""
    is_silent: bool = False


class ControllerJournal:
    """Listens to the events of one broker's controller; stores nothing."""

    epoch = 0

    async def elected(self, epoch: int, epoch_version: int) -> None:
        """The broker became controller."""

    async def holds(self, broker: int) -> None:
        """Another broker is the controller, so this one does not run for election."""

    async def election_failed(self, why: str) -> None:
        """The broker could not become controller, or its failover failed."""

    async def leaders_wanted(
        self, kind: str, partitions: Collection[TopicPartition], trigger: str
    ) -> None:
        """An election begins; ``trigger`` is its cause, in Kafka's words."""

    async def preferred_wanted(
        self, partition: TopicPartition, preferred: int, leader: int
    ) -> None:
        """A preferred election ended: the preferred replica, and the leader."""

    async def ignored(self, text: str) -> None:
        """A malformed znode is treated as missing."""

    async def endpoints_changed(self, broker: int, before: BrokerInfo, after: BrokerInfo) -> None:
        """A known broker has registered other endpoints."""

    async def lost_the_race(self, why: str) -> None:
        """Another broker became controller."""

    async def step(self, text: str) -> None:
        """A step of a failover begins, in Kafka's words."""

    async def ready(self, epoch: int) -> None:
        """The state machines have started."""

    async def resigned(self) -> None:
        """The broker is no longer the controller."""

    async def moved(self, event: str, why: str) -> None:
        """A write was fenced during an event: another broker is the controller."""

    async def event_failed(self, event: str, why: str) -> None:
        """An event, by its name in the queue, ended with an error; the next event is handled."""

    async def log_line(self, text: str, level: str = "INFO") -> None:
        """A line for controller.log, in Kafka's words."""

    async def marked_offline(self, broker: int, replicas: Sequence[TopicPartition]) -> None:
        """A broker answered that the log directories of these replicas have failed."""

    async def sent_for_move(
        self,
        partition: TopicPartition,
        state: LeaderIsrAndControllerEpoch,
        replicas: Sequence[int],
        assignment: ReplicaAssignment,
    ) -> None:
        """A state with a raised leader epoch was sent for a reassignment, with this list of
        replicas."""

    async def leader_epoch_updated(
        self, partition: TopicPartition, state: LeaderIsrAndControllerEpoch
    ) -> None:
        """The same leader and ISR were written with the next leader epoch, for a reassignment."""

    async def line_about(self, partition: TopicPartition, text: str) -> None:
        """A line for controller.log about a partition, whose name has another form in each
        release."""

    async def deletion(self, text: str) -> None:
        """A line of the deletion manager, in Kafka's words."""

    async def event_begun(self, name: str) -> None:
        """The next event is handled, by its name in the queue."""

    async def event_done(self, name: str, failed: bool = False) -> None:
        """An event was handled, and the broker is still controller; ``failed``: an error ended
        the event."""

    async def registrations_read(self, epochs: Mapping[int, int]) -> None:
        """The registered brokers and their broker epochs were read, at a failover, or after brokers
        started or failed."""

    async def brokers(
        self, new: Iterable[int], dead: Iterable[int], bounced: Iterable[int], live: Iterable[int]
    ) -> None:
        """Brokers started, died, or restarted."""

    async def topics(
        self,
        new: Collection[str],
        gone: Collection[str],
        assigned: Mapping[TopicPartition, Sequence[int]],
    ) -> None:
        """Topics were created or deleted."""

    async def adding(self, partitions: Mapping[TopicPartition, ReplicaAssignment]) -> None:
        """Partitions were added to a topic."""

    async def creates(self, partitions: Collection[TopicPartition]) -> None:
        """New partitions and their replicas are about to get their first states."""

    async def live_brokers_added(self, brokers: Iterable[int]) -> None:
        """Brokers are about to be added to the live ones (``addLiveBrokers``)."""

    async def deletion_retried(
        self, topic: str, replicas: Sequence[tuple[TopicPartition, int]]
    ) -> None:
        """The deletion of replicas of a queued topic is about to be retried."""

    async def deletion_blocked(self, topic: str) -> None:
        """A queued topic cannot be deleted yet."""

    async def deletion_halted(self, topics: Sequence[str], why: str) -> None:
        """Queued topics have become ineligible for deletion."""

    async def deletion_disabled(self, topics: Sequence[str], begins: bool) -> None:
        """Deletion requests are removed because deletion is disabled; the list may be empty.

        ``begins``: those that a new controller finds.
        """

    async def deletions_handled(self, topics: Collection[str]) -> None:
        """The deletion manager checks how far queued topics can be deleted
        (``resumeDeletions``)."""

    async def partitions_change(
        self, partitions: Collection[TopicPartition], target: PartitionState
    ) -> None:
        """A batch of partitions is about to enter a state (``handleStateChanges``); maybe none."""

    async def replicas_change(
        self, replicas: Collection[tuple[TopicPartition, int]], target: ReplicaState
    ) -> None:
        """A batch of replicas is about to enter a state (``handleStateChanges``); maybe none."""

    async def reassignment_triggered(
        self, partition: TopicPartition, target: Sequence[int]
    ) -> None:
        """An entry of ``/admin/reassign_partitions`` is checked, to be started or refused."""

    async def reassignment_refused(
        self, partition: TopicPartition, target: Sequence[int], why: str, live: Collection[int]
    ) -> None:
        """An entry of ``/admin/reassign_partitions`` is not started, and will be removed.

        ``why`` is one of the reasons of ``Reassigner.refuse``; ``live``: the brokers there are.
        """

    async def reassignment_failed(self, partition: TopicPartition, why: str) -> None:
        """A reassignment ended with an error; its entry will be removed."""

    async def reassignment_progress(
        self, partition: TopicPartition, target: Sequence[int], caught_up: Collection[int]
    ) -> None:
        """The ISR of a partition in reassignment was checked: the number of its targets in the
        ISR."""

    async def reassignment_never_created(
        self, partition: TopicPartition, target: Sequence[int]
    ) -> None:
        """The ISR of a partition in reassignment was to be checked, but the partition has no
        state."""

    async def reassignment_removing(
        self, entries: Mapping[TopicPartition, Sequence[int]], others: bool
    ) -> None:
        """Entries are about to be removed from ``/admin/reassign_partitions``; without others,
        the znode."""

    async def reassignment_removed(self, partition: TopicPartition) -> None:
        """The entry of a completed reassignment was removed from ``/admin/reassign_partitions``."""

    async def reassignment_caught_up(
        self, partition: TopicPartition, target: Sequence[int]
    ) -> None:
        """Every target replica is in the ISR: the reassignment is about to be completed."""

    async def partition_moved(
        self,
        partition: TopicPartition,
        before: PartitionState,
        after: PartitionState,
        replicas: Sequence[int],
        state: LeaderIsrAndControllerEpoch | None = None,
        is_written: bool = True,
    ) -> None:
        """A partition changed its state; ``state`` is the registered one, if a leader was to be
        elected.

        ``is_written``: it was written for that. Up to 1.0 who leads as preferred stays.
        """

    async def replica_moved(
        self, broker: int, partition: TopicPartition, before: ReplicaState, after: ReplicaState
    ) -> None:
        """A replica changed its state."""

    async def isr_removed(
        self, broker: int, partition: TopicPartition, state: LeaderIsrAndControllerEpoch
    ) -> None:
        """A replica was removed from an ISR."""

    async def not_elected(self, partition: TopicPartition, strategy: str) -> None:
        """No replica can lead the partition by the strategy: nothing is written."""

    async def alter_isr_ignored(self, broker: int, epoch: int, known: int | None) -> None:
        """An AlterIsr names another registration of a broker than the known one, if any."""

    async def newer_controller(self, partition: TopicPartition, epoch: int) -> None:
        """The state that was read has a newer controller epoch: it is not overwritten."""

    async def not_in_isr(
        self, broker: int, partition: TopicPartition, state: LeaderIsrAndControllerEpoch
    ) -> None:
        """A replica that goes offline is not in the ISR: nothing is written."""

    async def shutdown_begun(self, broker: int) -> None:
        """A ControlledShutdown of a registered broker begins."""

    async def shut_down(self, broker: int, remaining: Sequence[TopicPartition]) -> None:
        """A ControlledShutdown gets its response; the broker still leads the remaining
        partitions."""

    async def partition_failed(
        self,
        partition: TopicPartition,
        before: PartitionState,
        target: PartitionState,
        failure: ChangeFailure,
    ) -> None:
        """A state change of a partition failed: it keeps its state."""

    async def replica_failed(
        self,
        broker: int,
        partition: TopicPartition,
        before: ReplicaState,
        target: ReplicaState,
        failure: ChangeFailure,
    ) -> None:
        """A state change of a replica failed: it keeps its state."""

    async def sends_leader_and_isr(self, broker: int, request: LeaderAndIsr) -> None:
        """A LeaderAndIsr request is queued on a broker's channel."""

    async def sends_metadata(
        self, brokers: Iterable[int], partitions: Mapping[TopicPartition, PartitionMetadata]
    ) -> None:
        """UpdateMetadata is queued on the channels of some brokers."""

    async def sends_stop_replica(self, broker: int, request: StopReplica) -> None:
        """A StopReplica request is queued on a broker's channel."""
