"""Deletion of topics (``TopicDeletionManager``; fact sheet i.6)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from enum import Enum

from impl.core.cluster_context import ClusterContext, Replica
from impl.core.partition_machine import PartitionMachine
from impl.core.replica_machine import ReplicaMachine
from impl.core.states import PartitionState, ReplicaState
from impl.releases import Release
from impl.znodes import TopicPartition, paths
from impl.znodes.client import ZnodeClient

MOVING = "topic reassignment in progress"


class Action(Enum):
    """The action for a queued topic."""

    COMPLETE = "completeDeletion"
    RETRY = "retry"
    START = "start"
    WAIT = "wait"


def decide(
    states: Iterable[ReplicaState], ineligible: bool, release: Release
) -> tuple[Action, bool]:
    """The action for a queued topic whose replicas are in these states.

    The second answer: failed replicas go offline first, to be tried once more.
    """
    found = set(states)
    if found <= {ReplicaState.DELETION_SUCCESSFUL}:
        return Action.COMPLETE, False
    busy = ReplicaState.DELETION_STARTED in found
    retry = not busy and ReplicaState.DELETION_INELIGIBLE in found
    if busy or ineligible:
        return Action.WAIT, retry
    return (Action.RETRY if retry else Action.START), retry


class DeletionManager:
    """Carries queued topics through their deletion.

    ``update_metadata`` sends UpdateMetadata for some partitions to every broker; ``enabled`` is
    ``delete.topic.enable``.
    """

    def __init__(
        self,
        context: ClusterContext,
        partitions: PartitionMachine,
        replicas: ReplicaMachine,
        client: ZnodeClient,
        release: Release,
        update_metadata: Callable[[list[TopicPartition]], Awaitable[None]],
        enabled: bool = True,
    ) -> None:
        self.context = context
        self.partitions = partitions
        self.replicas = replicas
        self.client = client
        self.release = release
        self.update_metadata = update_metadata
        self.enabled = enabled

    async def init(self, queued: Iterable[str], ineligible: Iterable[str]) -> None:
        """At failover: the queued topics, and which of them are ineligible.

        With deletion disabled the requests are removed (since 0.10.2).
        """
        if self.enabled:
            self.context.queued_for_deletion |= set(queued)
            self.context.ineligible_for_deletion |= (
                set(ineligible) & self.context.queued_for_deletion
            )
        elif self.release.since("0.10.2"):
            topics = sorted(queued)
            await self.context.journal.deletion_disabled(topics, begins=True)
            await self.drop_requests(topics)

    async def drop_requests(self, topics: Iterable[str]) -> None:
        """Remove requests that will not be carried out."""
        for topic in sorted(topics):
            await self.client.fenced_delete(paths.deletion(topic), self.context.epoch_version)

    async def enqueue(self, topics: Iterable[str]) -> None:
        """Queue topics for deletion, and start those that can be deleted now."""
        if self.enabled:
            self.context.queued_for_deletion |= set(topics)
            await self.resume()

    async def mark_ineligible(self, topics: Iterable[str], why: str) -> None:
        """Mark queued topics that have to wait."""
        queued = self.context.queued_for_deletion
        halted = queued & set(topics)
        if halted - self.context.ineligible_for_deletion:
            await self.context.journal.deletion_halted(sorted(halted), why)
        self.context.ineligible_for_deletion |= halted

    async def resume_for(self, topics: Iterable[str]) -> None:
        """Mark topics as eligible again, and resume their deletion."""
        waiting = self.context.queued_for_deletion & set(topics)
        if waiting:
            self.context.ineligible_for_deletion -= waiting
            await self.resume()

    async def replicas_failed(self, replicas: Iterable[Replica]) -> None:
        """The deletion of these replicas failed, or their broker did: they are retried later."""
        queued = self.context.queued_for_deletion
        failed = [replica for replica in replicas if replica.partition.topic in queued]
        if failed:
            await self.replicas.handle(failed, ReplicaState.DELETION_INELIGIBLE)
            await self.mark_ineligible(
                {replica.partition.topic for replica in failed}, "replica deletion failure"
            )
            await self.resume()

    async def replicas_deleted(self, replicas: Iterable[Replica]) -> None:
        """Brokers have deleted these replicas."""
        await self.replicas.handle(
            [one for one in replicas if one.partition.topic in self.context.queued_for_deletion],
            ReplicaState.DELETION_SUCCESSFUL,
        )
        await self.resume()

    async def resume(self) -> None:
        """Continue the deletion of every queued topic as far as possible.

        Up to 2.4 one topic after the other, later all together (KAFKA-9499).
        """
        retry: list[Replica] = []
        ready: list[str] = []
        queued = sorted(self.context.queued_for_deletion)
        if queued:
            await self.context.journal.deletions_handled(queued)
        for topic in queued:
            members = self.context.replicas_of(topic)
            states = [self.context.replica_state(one) for one in members]
            blocked = topic in self.context.ineligible_for_deletion
            action, retries = decide(states, blocked, self.release)
            if action is Action.COMPLETE:
                await self._complete(topic)
                continue
            if retries:
                again = self.context.replicas_in(topic, ReplicaState.DELETION_INELIGIBLE)
                await self.context.journal.deletion_retried(topic, again)
                retry += again
            if action in (Action.START, Action.RETRY):
                ready.append(topic)
            elif blocked:
                await self.context.journal.deletion_blocked(topic)
            if not self.release.since("2.5"):
                await self._try(retry, ready)
                retry, ready = [], []
        await self._try(retry, ready)

    async def _try(self, retry: list[Replica], ready: list[str]) -> None:
        if retry:
            await self.try_again(retry)
        if ready:
            await self._begin(ready)

    async def try_again(self, replicas: Iterable[Replica]) -> None:
        """Move replicas that could not be deleted to Offline, so that their deletion can be
        retried."""
        await self.replicas.handle(replicas, ReplicaState.OFFLINE)

    async def _begin(self, topics: list[str]) -> None:
        for topic in topics:
            await self.context.journal.deletion(f"Deletion of topic {topic} (re)started")
        fresh = [one for one in topics if one not in self.context.deletion_started]
        if self.release.since("2.1"):
            gone = [one for topic in fresh for one in self.context.partitions_of(topic)]
            if gone:
                await self.partitions.handle(gone, PartitionState.OFFLINE)
                await self.partitions.handle(gone, PartitionState.NON_EXISTENT)
        self.context.deletion_started |= set(topics)
        await self.update_metadata(
            [one for topic in topics for one in self.context.partitions_of(topic)]
        )
        await self._stop_replicas(topics)

    async def _stop_replicas(self, topics: list[str]) -> None:
        dead: list[Replica] = []
        alive: list[Replica] = []
        for topic in topics:
            for replica in self.context.replicas_of(topic):
                if not self.context.is_replica_online(replica.broker, replica.partition):
                    dead.append(replica)
                elif self.context.replica_state(replica) is not ReplicaState.DELETION_SUCCESSFUL:
                    alive.append(replica)
        await self.replicas.handle(dead, ReplicaState.DELETION_INELIGIBLE)
        await self.replicas.handle(alive, ReplicaState.OFFLINE)
        await self.replicas.handle(alive, ReplicaState.DELETION_STARTED)
        await self.mark_ineligible(
            {replica.partition.topic for replica in dead}, "offline replicas"
        )

    async def _complete(self, topic: str) -> None:
        members = self.context.replicas_in(topic, ReplicaState.DELETION_SUCCESSFUL)
        if not self.release.since("2.1"):
            gone = self.context.partitions_of(topic)
            await self.partitions.handle(gone, PartitionState.OFFLINE)
            await self.partitions.handle(gone, PartitionState.NON_EXISTENT)
        await self.replicas.handle(members, ReplicaState.NON_EXISTENT)
        await self.client.delete_topic(topic, self.context.epoch_version)
        for topics in (
            self.context.queued_for_deletion,
            self.context.deletion_started,
            self.context.ineligible_for_deletion,
        ):
            topics.discard(topic)
        self.context.forget_topic(topic)
        await self.context.journal.deletion(f"Deletion of topic {topic} successfully completed")
