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
    """An election without an eligible leader: the strategy, the candidates, and the state that was
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
    """Listens to every event of one broker's controller, and keeps none."""

    epoch = 0

    async def elected(self, epoch: int, epoch_version: int) -> None:
        """It became controller."""

    async def holds(self, broker: int) -> None:
        """Another broker is the controller, so this one does not try to be elected."""

    async def election_failed(self, why: str) -> None:
        """It could not become controller, or its failover failed."""

    async def leaders_wanted(
        self, kind: str, partitions: Collection[TopicPartition], trigger: str
    ) -> None:
        """An election by a strategy of its own begins: who asked for it, in Kafka's words."""

    async def preferred_wanted(
        self, partition: TopicPartition, preferred: int, leader: int
    ) -> None:
        """How a preferred election ended: the replica that was to lead, and who does."""

    async def ignored(self, text: str) -> None:
        """A znode that cannot be read is passed over."""

    async def endpoints_changed(self, broker: int, before: BrokerInfo, after: BrokerInfo) -> None:
        """A broker that is known has registered other endpoints."""

    async def lost_the_race(self, why: str) -> None:
        """Another broker became controller."""

    async def step(self, text: str) -> None:
        """One of the steps of a failover, in Kafka's words."""

    async def ready(self, epoch: int) -> None:
        """The state machines have started."""

    async def resigned(self) -> None:
        """It is no longer the controller."""

    async def moved(self, event: str, why: str) -> None:
        """During an event, a fenced write showed that another broker is the controller."""

    async def event_failed(self, event: str, why: str) -> None:
        """An event, named as it was queued, ended with an error; the next one is handled."""

    async def log_line(self, text: str, level: str = "INFO") -> None:
        """Something worth a line of controller.log, in Kafka's words."""

    async def marked_offline(self, broker: int, replicas: Sequence[TopicPartition]) -> None:
        """A broker answered that the log directories of these replicas have failed."""

    async def sent_for_move(
        self,
        partition: TopicPartition,
        state: LeaderIsrAndControllerEpoch,
        replicas: Sequence[int],
        assignment: ReplicaAssignment,
    ) -> None:
        """A state under a raised leader epoch was sent for a move, with this list of replicas."""

    async def leader_epoch_updated(
        self, partition: TopicPartition, state: LeaderIsrAndControllerEpoch
    ) -> None:
        """The same leader and ISR were written under the next leader epoch, for a move."""

    async def line_about(self, partition: TopicPartition, text: str) -> None:
        """The same of a partition that the text names, which releases write differently."""

    async def deletion(self, text: str) -> None:
        """Something worth a line of the deletion manager, in Kafka's words."""

    async def event_begun(self, name: str) -> None:
        """The next event of the queue is handled; it is named as its queue names it."""

    async def event_done(self, name: str, failed: bool = False) -> None:
        """It was handled, by one that is the controller still; ``failed``: it ended half way."""

    async def registrations_read(self, epochs: Mapping[int, int]) -> None:
        """The registered brokers and their broker epochs were read, at a failover, or after brokers
        started or failed."""

    async def brokers(
        self, new: Iterable[int], dead: Iterable[int], bounced: Iterable[int], live: Iterable[int]
    ) -> None:
        """Registrations changed."""

    async def topics(
        self,
        new: Collection[str],
        gone: Collection[str],
        assigned: Mapping[TopicPartition, Sequence[int]],
    ) -> None:
        """Topics came or went."""

    async def adding(self, partitions: Mapping[TopicPartition, ReplicaAssignment]) -> None:
        """A topic grew."""

    async def creates(self, partitions: Collection[TopicPartition]) -> None:
        """New partitions, and their replicas, are about to get their first states."""

    async def live_brokers_added(self, brokers: Iterable[int]) -> None:
        """Brokers are about to be known as live (``addLiveBrokers``)."""

    async def deletion_retried(
        self, topic: str, replicas: Sequence[tuple[TopicPartition, int]]
    ) -> None:
        """Replicas of a queued topic that were not deleted are to be tried again."""

    async def deletion_blocked(self, topic: str) -> None:
        """A queued topic still has to wait."""

    async def deletion_halted(self, topics: Sequence[str], why: str) -> None:
        """Queued topics have become ineligible for deletion."""

    async def deletion_disabled(self, topics: Sequence[str], begins: bool) -> None:
        """Requests for deletion are removed where it is disabled, maybe none.

        ``begins``: those that a new controller finds.
        """

    async def deletions_handled(self, topics: Collection[str]) -> None:
        """The deletion manager looks how far queued topics can go on (``resumeDeletions``)."""

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
        """An entry of ``/admin/reassign_partitions`` is looked at, to be begun or refused."""

    async def reassignment_refused(
        self, partition: TopicPartition, target: Sequence[int], why: str, live: Collection[int]
    ) -> None:
        """An entry of ``/admin/reassign_partitions`` is not begun, and will be dropped.

        ``why`` is one of the reasons of ``Reassigner.refuse``; ``live``: the brokers there are.
        """

    async def reassignment_failed(self, partition: TopicPartition, why: str) -> None:
        """The work of a reassignment ended in an error; its entry will be dropped."""

    async def reassignment_progress(
        self, partition: TopicPartition, target: Sequence[int], caught_up: Collection[int]
    ) -> None:
        """The ISR of a partition that moves was looked at: so many of its targets are in it."""

    async def reassignment_never_created(
        self, partition: TopicPartition, target: Sequence[int]
    ) -> None:
        """The ISR of a partition that moves was to be looked at, and there is no state of it."""

    async def reassignment_removing(
        self, entries: Mapping[TopicPartition, Sequence[int]], others: bool
    ) -> None:
        """Entries are about to leave ``/admin/reassign_partitions``; without others, the znode."""

    async def reassignment_removed(self, partition: TopicPartition) -> None:
        """A reassignment that was completed is out of ``/admin/reassign_partitions``."""

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
        """A partition entered a state; with what is registered, where a leader was to be elected.

        ``is_written``: it was written for that. Up to 1.0 who leads as preferred stays.
        """

    async def replica_moved(
        self, broker: int, partition: TopicPartition, before: ReplicaState, after: ReplicaState
    ) -> None:
        """A replica entered a state."""

    async def isr_removed(
        self, broker: int, partition: TopicPartition, state: LeaderIsrAndControllerEpoch
    ) -> None:
        """A replica was taken out of an ISR."""

    async def not_elected(self, partition: TopicPartition, strategy: str) -> None:
        """No replica may lead the partition by the strategy: nothing is written."""

    async def alter_isr_ignored(self, broker: int, epoch: int, known: int | None) -> None:
        """An AlterIsr names an earlier registration of a broker than the known one, if any."""

    async def newer_controller(self, partition: TopicPartition, epoch: int) -> None:
        """The state that was read names a newer controller epoch: it is left as it is."""

    async def not_in_isr(
        self, broker: int, partition: TopicPartition, state: LeaderIsrAndControllerEpoch
    ) -> None:
        """A replica that goes offline is out of the ISR already: nothing is written."""

    async def shutdown_begun(self, broker: int) -> None:
        """A ControlledShutdown of a registered broker is taken up."""

    async def shut_down(self, broker: int, remaining: Sequence[TopicPartition]) -> None:
        """A ControlledShutdown is answered; the broker still leads the remaining partitions."""

    async def partition_failed(
        self,
        partition: TopicPartition,
        before: PartitionState,
        target: PartitionState,
        failure: ChangeFailure,
    ) -> None:
        """A partition stays in its state: the state change failed."""

    async def replica_failed(
        self,
        broker: int,
        partition: TopicPartition,
        before: ReplicaState,
        target: ReplicaState,
        failure: ChangeFailure,
    ) -> None:
        """A replica stays in its state: the state change failed."""

    async def sends_leader_and_isr(self, broker: int, request: LeaderAndIsr) -> None:
        """A LeaderAndIsr request is handed to a broker's channel."""

    async def sends_metadata(
        self, brokers: Iterable[int], partitions: Mapping[TopicPartition, PartitionMetadata]
    ) -> None:
        """UpdateMetadata is handed to the channels of some brokers."""

    async def sends_stop_replica(self, broker: int, request: StopReplica) -> None:
        """A StopReplica request is handed to a broker's channel."""
