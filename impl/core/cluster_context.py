"""A controller's memory of the cluster, as plain data (``ControllerContext``).

Nothing here reaches ZooKeeper or a broker: it is filled by whoever reads, and asked by the state
machines, the request batch and the deletion manager.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any, NamedTuple

from impl.core.journal import ControllerJournal
from impl.core.states import PartitionState, ReplicaState
from impl.znodes import BrokerInfo, LeaderIsrAndControllerEpoch, ReplicaAssignment, TopicPartition


class Replica(NamedTuple):
    """One replica of a partition (``PartitionAndReplica``)."""

    partition: TopicPartition
    broker: int


ContextMemory = tuple[Any, ...]
"""The fields of a context, each a copy of its own; see ``ClusterContext.memory``."""


class ClusterContext:
    """Brokers, assignments, leadership, states, and topics that are being deleted.

    ``journal`` is notified of changes; it outlives the controllership.
    """

    def __init__(self, journal: ControllerJournal | None = None) -> None:
        self.journal = journal or ControllerJournal()
        self.epoch = 0
        self.epoch_version = 0
        self.broker_epochs: dict[int, int] = {}  # registered brokers, the shutting down included
        self.broker_infos: dict[int, BrokerInfo] = {}
        self.shutting_down: set[int] = set()
        self.disconnected: set[int] = set()  # dead, and not taken for that yet: no channel is left
        self.offline_directories: dict[int, set[TopicPartition]] = {}
        self.assignments: dict[str, dict[int, ReplicaAssignment]] = {}
        self.topic_ids: dict[str, str] = {}  # of topics whose znode has one (2.8)
        self.leadership: dict[TopicPartition, LeaderIsrAndControllerEpoch] = {}
        self.partition_states: dict[TopicPartition, PartitionState] = {}
        self.replica_states: dict[Replica, ReplicaState] = {}
        self.queued_for_deletion: set[str] = set()
        self.deletion_started: set[str] = set()
        self.ineligible_for_deletion: set[str] = set()
        self.offline_partitions = 0

    # Brokers

    @property
    def live_or_shutting_down(self) -> set[int]:
        """Every registered broker."""
        return set(self.broker_epochs)

    @property
    def channel_epochs(self) -> dict[int, int]:
        """The brokers to which requests may be sent, with their broker epochs."""
        return {one: at for one, at in self.broker_epochs.items() if one not in self.disconnected}

    @property
    def live(self) -> set[int]:
        """Registered brokers that are not shutting down."""
        return set(self.broker_epochs) - self.shutting_down

    def is_replica_online(
        self, broker: int, partition: TopicPartition, shutting_down_too: bool = False
    ) -> bool:
        """The broker is live, and its replica's log directory has not failed."""
        lives = self.live_or_shutting_down if shutting_down_too else self.live
        return broker in lives and partition not in self.offline_directories.get(broker, ())

    def live_replicas(self, partition: TopicPartition, shutting_down_too: bool = False) -> set[int]:
        """The assigned brokers on which the replica is online."""
        return {
            broker
            for broker in self.replicas(partition)
            if self.is_replica_online(broker, partition, shutting_down_too)
        }

    # Assignments

    def assign(self, partition: TopicPartition, replicas: Iterable[int]) -> None:
        """Set the replicas; no reassignment is under way."""
        self.set_assignment(partition, ReplicaAssignment(tuple(replicas)))

    def set_assignment(self, partition: TopicPartition, assignment: ReplicaAssignment) -> None:
        """Set the whole assignment."""
        self.assignments.setdefault(partition.topic, {})[partition.partition] = assignment

    def assignment(self, partition: TopicPartition) -> ReplicaAssignment:
        """The assignment; without replicas if there is no such partition."""
        known = self.assignments.get(partition.topic, {})
        return known.get(partition.partition, ReplicaAssignment(()))

    def replicas(self, partition: TopicPartition) -> tuple[int, ...]:
        """The assigned brokers in their order; none if there is no such partition."""
        return self.assignment(partition).replicas

    def partitions(self) -> list[TopicPartition]:
        """Every partition, sorted."""
        return [one for topic in sorted(self.assignments) for one in self.partitions_of(topic)]

    def partitions_of(self, topic: str) -> list[TopicPartition]:
        """A topic's partitions, sorted."""
        return [TopicPartition(topic, number) for number in sorted(self.assignments.get(topic, ()))]

    def replicas_of(self, topic: str) -> list[Replica]:
        """Every replica of a topic, in order."""
        return [
            Replica(partition, broker)
            for partition in self.partitions_of(topic)
            for broker in self.replicas(partition)
        ]

    def replicas_on(self, brokers: Iterable[int]) -> list[Replica]:
        """Every replica on some brokers, in order."""
        wanted = set(brokers)
        return [
            Replica(partition, broker)
            for partition in self.partitions()
            for broker in self.replicas(partition)
            if broker in wanted
        ]

    def replicas_in(self, topic: str, state: ReplicaState) -> list[Replica]:
        """A topic's replicas in a state, in order."""
        return [one for one in self.replicas_of(topic) if self.replica_states.get(one) is state]

    def is_being_deleted(self, topic: str) -> bool:
        """The topic's deletion has started, not merely been queued."""
        return topic in self.deletion_started

    def forget_topic(self, topic: str) -> None:
        """Remove everything about a topic."""
        for partition in self.partitions_of(topic):
            self.leadership.pop(partition, None)
            self.partition_states.pop(partition, None)
        for replica in [one for one in self.replica_states if one.partition.topic == topic]:
            del self.replica_states[replica]
        self.assignments.pop(topic, None)
        self.topic_ids.pop(topic, None)

    # States

    def partition_state(self, partition: TopicPartition) -> PartitionState:
        """The state of a partition; NonExistent if the partition is unknown."""
        return self.partition_states.get(partition, PartitionState.NON_EXISTENT)

    def put_partition_state(self, partition: TopicPartition, state: PartitionState) -> None:
        """Set a partition's state, and update the count of offline partitions.

        Topics whose deletion has started do not count.
        """
        before = self.partition_state(partition)
        if not self.is_being_deleted(partition.topic):
            self.offline_partitions += (state is PartitionState.OFFLINE) - (
                before is PartitionState.OFFLINE
            )
        self.partition_states[partition] = state

    def replica_state(self, replica: Replica) -> ReplicaState:
        """The state of a replica; NonExistent if the replica is unknown."""
        return self.replica_states.get(replica, ReplicaState.NON_EXISTENT)

    def partitions_in(self, *states: PartitionState) -> list[TopicPartition]:
        """The partitions in some states, sorted."""
        return sorted(one for one, state in self.partition_states.items() if state in states)

    def memory(self) -> ContextMemory:
        """Everything but the journal, as a value that later changes do not touch."""
        fields = vars(self)
        plain = tuple(copy(fields[name]) for name in _PLAIN)
        return (
            *plain,
            {broker: set(one) for broker, one in self.offline_directories.items()},
            {topic: dict(one) for topic, one in self.assignments.items()},
        )

    def remember(self, memory: ContextMemory) -> None:
        """Restore what `memory` returned."""
        *plain, offline, assignments = memory
        for name, value in zip(_PLAIN, plain, strict=True):
            setattr(self, name, copy(value))
        self.offline_directories = {broker: set(one) for broker, one in offline.items()}
        self.assignments = {topic: dict(one) for topic, one in assignments.items()}

    def reset(self) -> None:
        """Forget everything: the broker is no longer controller."""
        self.__init__(self.journal)  # type: ignore[misc]  # a context that never knew anything

    # Reassignment (2.4 and later it is recorded in the assignment itself)

    def being_reassigned(self) -> Mapping[TopicPartition, ReplicaAssignment]:
        """The partitions that are being reassigned."""
        return {
            partition: self.assignment(partition)
            for partition in self.partitions()
            if self.assignment(partition).is_being_reassigned
        }


_NESTED = ("journal", "offline_directories", "assignments")
_PLAIN = tuple(sorted(name for name in vars(ClusterContext()) if name not in _NESTED))
