"""Reassignment of partitions: the twelve steps, and KIP-455 (fact sheet j.1, j.2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence

from impl.core.cluster_context import Replica
from impl.core.controller_parts import ControllerParts, StateChangeFailed
from impl.core.deletion import MOVING
from impl.core.partition_machine import REASSIGN
from impl.core.states import PartitionState, ReplicaState
from impl.error_codes import (
    INVALID_REPLICA_ASSIGNMENT,
    NO_REASSIGNMENT_IN_PROGRESS,
    NONE,
    UNKNOWN_TOPIC_OR_PARTITION,
)
from impl.znodes import ReplicaAssignment, TopicPartition, paths
from impl.zookeeper.errors import SessionExpired, ZooKeeperError

DELETED = "the topic is queued for deletion"
UNKNOWN = "there is no such partition"
ASSIGNED = "the replicas are assigned already"
DEAD = "a new replica is not alive"


class Reassigner:
    """The reassignments in progress; up to 2.3 their targets are in memory and in one znode."""

    def __init__(self, core: ControllerParts) -> None:
        self.core = core
        self.targets: dict[TopicPartition, tuple[int, ...]] = {}
        self.looks_again = False
        """The request was deleted: the watch on its znode is to be set again, as an event."""

    @property
    def loaded_whole(self) -> bool:
        """Whether all entries of a request are loaded together (KAFKA-6193), and written from
        memory."""
        return self.core.release.since("1.1") and not self.recorded

    @property
    def recorded(self) -> bool:
        """Whether reassignments are recorded in the topics' znodes (KIP-455)."""
        return self.core.release.since("2.4")

    def forget(self) -> None:
        """The broker is no longer controller: drop the reassignments. Up to 0.10 they stay in
        memory."""
        if self.core.release.since("0.11"):
            self.targets.clear()
        self.looks_again = False

    def in_progress(self) -> set[TopicPartition]:
        """The partitions that are moving."""
        if self.recorded:
            return set(self.core.context.being_reassigned()) | set(self.targets)
        return set(self.targets)

    # How it begins

    async def requested(self) -> None:
        """``/admin/reassign_partitions`` was created: start its valid entries, remove the others.

        Up to 1.0 entries of partitions that move are passed over; later they turn the move. Kafka
        then begins a move to the very same replicas once more, which is left out here as in
        ``reassignment``.
        """
        found = await self.core.client.reassignments()
        turns = self.core.release.since("1.1")
        await self.begin_all(
            {
                one: target
                for one, target in found.items()
                if one not in self.targets or (turns and self.targets[one] != tuple(target))
            }
        )

    async def begin_all(self, found: Mapping[TopicPartition, Sequence[int]]) -> None:
        """Start or remove entries of the znode (``maybeTriggerPartitionReassignment``).

        Those that are refused, or whose work fails, leave the znode one by one; since 2.0 in one
        write, when all have been looked at. From 2.0 to 2.3 (KAFKA-6617) that write is done where
        none is refused, too: what was asked for since the znode was read goes unseen.
        """
        if self.loaded_whole:
            self.targets |= {one: tuple(target) for one, target in found.items()}
        refused: list[TopicPartition] = []
        for partition, target in found.items():
            if not await self.begin(partition, target):
                refused.append(partition)
                if not self.core.release.since("2.0"):
                    await self._leave([partition])
        if self.core.release.since("2.0") and (refused or not self.recorded):
            await self._leave(refused)

    async def _leave(self, refused: Sequence[TopicPartition]) -> None:
        await self.drop(refused)
        for partition in refused:
            self.targets.pop(partition, None)

    async def begin(self, partition: TopicPartition, target: Sequence[int]) -> bool:
        """Start one entry of the znode; False if it is refused, or fails.

        Then it is to be dropped, so that administrators may ask for something else.
        """
        journal = self.core.context.journal
        await journal.reassignment_triggered(partition, target)
        why = self.refuse(partition, target)
        if why is not None:
            live = self.core.context.live_or_shutting_down
            await journal.reassignment_refused(partition, target, why, live)
            return False
        return await self.attempt(partition, lambda: self._begin(partition, target))

    async def attempt(
        self, partition: TopicPartition, work: Callable[[], Awaitable[object]]
    ) -> bool:
        """Run a step of a reassignment; an error is logged, and False returned.

        So does a leader that is looked up and not known. That another controller is the controller,
        or the session over, goes through.
        """
        try:
            await work()
        except SessionExpired:
            raise
        except (StateChangeFailed, ZooKeeperError, LookupError) as error:
            await self.core.context.journal.reassignment_failed(partition, str(error))
            return False
        return True

    async def _begin(self, partition: TopicPartition, target: Sequence[int]) -> None:
        if self.recorded:
            current = self.core.context.assignment(partition)
            await self.reassign_recorded(partition, current.reassign_to(target))
            return
        await self.core.context.journal.line_about(
            partition,
            f"Handling reassignment of partition {partition} to new replicas {_ids(target)}",
        )
        self.targets[partition] = tuple(target)
        await self.core.client.retry(
            lambda: self.core.client.port.exists(paths.state(*partition), watch=True)
        )
        await self.core.deletion.mark_ineligible([partition.topic], MOVING)
        await self.go_on(partition)

    def refuse(self, partition: TopicPartition, target: Sequence[int]) -> str | None:
        """The reason to refuse an entry of the znode; None if it is valid.

        A mere reordering is begun; up to 2.3 the very same list is not. Brokers that are dead are
        waited for: only the API looks at them (2.4), and 0.10.0.
        """
        context = self.core.context
        if partition.topic in context.queued_for_deletion:
            return DELETED
        current = context.replicas(partition)
        if not current:
            return UNKNOWN
        if self.recorded:
            return None
        if tuple(target) == current:
            return ASSIGNED
        live = context.live_or_shutting_down
        waits = self.core.release.since("0.10.1") or live.issuperset(target)
        return None if waits else DEAD

    def validate(self, partition: TopicPartition, target: Sequence[int] | None) -> str:
        """The error of AlterPartitionReassignments for a target; None as target cancels (2.4).

        The target is looked at before the partition. A replica that a move adds already has to live
        as well: who is new is new to the replicas from before any move.
        Kafka: KafkaController.processApiPartitionReassignment, maybeTriggerPartitionReassignment
        """
        context = self.core.context
        current = context.assignment(partition)
        if target is None:
            error = NONE if current.is_being_reassigned else NO_REASSIGNMENT_IN_PROGRESS
        else:
            error = valid_target(target, current.origin, context.live)
        if error != NONE:
            return error
        is_there = current.replicas and partition.topic not in context.queued_for_deletion
        return NONE if is_there else UNKNOWN_TOPIC_OR_PARTITION

    # The twelve steps

    async def go_on(self, partition: TopicPartition) -> None:
        """Run the next steps of a reassignment; called whenever it may be able to continue."""
        if self.recorded:
            await self.reassign_recorded(partition, self.core.context.assignment(partition))
        elif await self.caught_up(partition, self.targets[partition]):
            await self._finish(partition, self.targets[partition])
        else:
            await self._widen(partition, self.targets[partition])

    async def caught_up(
        self, partition: TopicPartition, target: Sequence[int], is_news: bool = False
    ) -> bool:
        """Whether every target replica is in the registered ISR; ``is_news``: a watch fired for
        it."""
        state = await self.core.client.state(partition)
        journal = self.core.context.journal
        if state is None:
            if is_news:
                await journal.reassignment_never_created(partition, target)
            return False
        if is_news:
            there = [one for one in target if one in state.isr]
            await journal.reassignment_progress(partition, target, there)
        return set(target) <= set(state.isr)

    async def _widen(self, partition: TopicPartition, target: tuple[int, ...]) -> None:
        context, old = self.core.context, self.core.context.replicas(partition)
        await context.journal.line_about(
            partition,
            f"New replicas {_ids(target)} for partition {partition} being reassigned not yet "
            "caught up with the leader",
        )
        both = ReplicaAssignment(tuple(dict.fromkeys((*target, *old))))
        await self._write_assignment(partition, both)  # 1
        await self.core.update_leader_epoch_and_send(partition, both)  # 2
        fresh = [one for one in target if one not in old]
        await self._move(partition, fresh, ReplicaState.NEW)  # 3

    async def _finish(self, partition: TopicPartition, target: tuple[int, ...]) -> None:
        context, both = self.core.context, self.core.context.replicas(partition)
        await context.journal.reassignment_caught_up(partition, target)
        out = [one for one in both if one not in target]
        await self._move(partition, target, ReplicaState.ONLINE)  # 5
        context.assign(partition, target)  # 6, in memory alone
        await self._move_leader(partition, target, both)  # 7
        await self._stop(partition, out)  # 8, 9
        await self._write_assignment(partition, ReplicaAssignment(target))  # 10
        await self.drop([partition])  # 11
        await context.journal.reassignment_removed(partition)
        self.targets.pop(partition, None)
        await self.core.update_metadata_for([partition])  # 12
        await self.core.deletion.resume_for([partition.topic])

    async def _move_leader(
        self, partition: TopicPartition, target: Sequence[int], others: Sequence[int] = ()
    ) -> None:
        """Since 2.4 a request without a new leader goes to the targets alone, not to ``others``."""
        context = self.core.context
        leader = context.leadership[partition].leader
        if leader in target and context.is_replica_online(leader, partition):
            assigned = ReplicaAssignment(tuple(target))
            await self.core.update_leader_epoch_and_send(partition, assigned, others)
        else:
            await self.core.partitions.handle([partition], PartitionState.ONLINE, REASSIGN)

    async def _stop(self, partition: TopicPartition, brokers: Collection[int]) -> None:
        await self._move(partition, brokers, ReplicaState.OFFLINE)
        await self._move(partition, brokers, ReplicaState.DELETION_STARTED)
        await self._move(partition, brokers, ReplicaState.DELETION_SUCCESSFUL)
        await self._move(partition, brokers, ReplicaState.NON_EXISTENT)

    async def _move(
        self, partition: TopicPartition, brokers: Iterable[int], state: ReplicaState
    ) -> None:
        await self.core.replicas.handle([Replica(partition, one) for one in brokers], state)

    async def _write_assignment(
        self, partition: TopicPartition, assignment: ReplicaAssignment
    ) -> None:
        """Written from memory: partitions that it has not heard of yet are lost
        (``updateReplicaAssignmentForPartition``)."""
        context = self.core.context
        known = context.assignments.get(partition.topic, {})
        partitions = {**known, partition.partition: assignment}
        topic_id = context.topic_ids.get(partition.topic)
        await self.core.client.set_topic(
            partition.topic, partitions, context.epoch_version, topic_id
        )
        await context.journal.line_about(
            partition,
            f"Updated assigned replicas for partition {partition} being reassigned to "
            f"{_ids(assignment.replicas)}",
        )
        context.set_assignment(partition, assignment)

    async def drop(
        self, partitions: Sequence[TopicPartition], target: Sequence[int] | None = None
    ) -> None:
        """Remove the entries of partitions from the znode; with a target, only entries with that
        target.

        From 1.1 to 2.3 what is left is what the controller has in memory, whatever the znode says.
        When nothing is left the znode goes. A change of its data may have used up the watch, so
        that an event is to look at it again (``removePartitionsFromReassignedPartitions``).
        """
        entries = await self.core.client.reassignments()
        left = {one: entries.get(one, ()) for one in partitions}
        if self.loaded_whole:
            entries = {one: held for one, held in self.targets.items() if one not in left}
        else:
            wanted = None if target is None else tuple(target)
            left = {one: at for one, at in entries.items() if one in left and wanted in (None, at)}
            if not left:
                return
            entries = {one: at for one, at in entries.items() if one not in left}
        await self.core.context.journal.reassignment_removing(left, bool(entries))
        await self.core.client.set_reassignments(entries, self.core.context.epoch_version)
        self.looks_again |= not entries

    # KIP-455

    def goal(self, partition: TopicPartition, target: Sequence[int] | None) -> ReplicaAssignment:
        """What AlterPartitionReassignments, found valid, moves to: a target, or back (None)."""
        current = self.core.context.assignment(partition)
        return current.reassign_to(current.origin if target is None else target)

    async def reassign_recorded(self, partition: TopicPartition, goal: ReplicaAssignment) -> None:
        """Begin, turn, cancel or go on with a reassignment that the topic's znode records.

        A mere change of order is completed whoever is in the ISR (``isReassignmentComplete``).
        """
        context = self.core.context
        old = context.assignment(partition)
        await self.core.deletion.mark_ineligible([partition.topic], MOVING)
        if goal != old:
            await self._write_assignment(partition, goal)  # U1, U2
            unneeded = [one for one in old.replicas if one not in goal.replicas]
            await self._stop_outside(partition, unneeded)
        self.targets[partition] = goal.target
        if not self.core.leaders_ask:  # else ISRs change through this very controller
            await self.core.client.retry(
                lambda: self.core.client.port.exists(paths.state(*partition), watch=True)
            )
        if not goal.is_being_reassigned or await self.caught_up(partition, goal.target):
            await self._complete(partition, goal)
        else:
            await self.core.update_leader_epoch_and_send(partition, goal)  # A1
            await self._move(partition, goal.adding, ReplicaState.NEW)  # A2

    async def _complete(self, partition: TopicPartition, assignment: ReplicaAssignment) -> None:
        context, target = self.core.context, assignment.target
        await context.journal.reassignment_caught_up(partition, target)
        await self._move(partition, assignment.adding, ReplicaState.ONLINE)  # B1
        context.assign(partition, target)  # B2, in memory alone
        await self._move_leader(partition, target)  # B3
        await self._stop(partition, assignment.removing)  # B4, B5
        await self._write_assignment(partition, ReplicaAssignment(target))  # B6
        await self.drop([partition], target)  # B7
        self.targets.pop(partition, None)
        await self.core.update_metadata_for([partition])  # B8
        await self.core.deletion.resume_for([partition.topic])

    async def _stop_outside(self, partition: TopicPartition, brokers: Collection[int]) -> None:
        """Stop replicas that only an overridden reassignment had added."""
        if brokers:
            await self._stop(partition, brokers)


def valid_target(target: Sequence[int], current: Collection[int], live: Collection[int]) -> str:
    """NONE, or the error for a target that is empty, has duplicates, negative ids, or new dead
    brokers."""
    bad = (
        not target
        or len(set(target)) != len(target)
        or min(target) < 0
        or any(one not in live for one in target if one not in current)
    )
    return INVALID_REPLICA_ASSIGNMENT if bad else NONE


def _ids(brokers: Iterable[int]) -> str:
    return ",".join(map(str, brokers))
