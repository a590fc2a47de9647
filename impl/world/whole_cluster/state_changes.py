"""Checks that each state change that a controller begins succeeds or fails, and is reported.

Kafka's state machines log for every partition and replica that it entered the target state, or why
it did not (``logSuccessfulTransition``, ``logFailedStateChange``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from impl.core.journal import ChangeFailure, ControllerJournal
from impl.core.states import PartitionState, ReplicaState
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition


class StateChanges(ControllerJournal):
    """Receives a controller's reports, and expects one for each partition and replica that changes
    state: success or failure.

    ``unsettled``: the first that was not reported, or more than once; empty if there is none.
    Changes that an error cut off are not checked. ``failed_moves``: the partitions whose
    reassignment failed in the event that is handled.
    """

    def __init__(self) -> None:
        self.unsettled = ""
        self.failed_moves: set[TopicPartition] = set()
        self._target = ""
        self._waiting: set[object] = set()

    def _expect(self, members: Collection[object], target: str) -> None:
        self._settle()
        self._waiting, self._target = {*members}, target

    def _settle(self) -> None:
        if self._waiting and not self.unsettled:
            named = ", ".join(sorted(map(str, self._waiting)))
            self.unsettled = f"whether {named} entered {self._target}"
        self._waiting.clear()

    def _report(self, member: object, target: str) -> None:
        if member not in self._waiting and not self.unsettled:
            self.unsettled = f"once whether {member} entered {target}"
        self._waiting.discard(member)

    async def partitions_change(
        self, partitions: Collection[TopicPartition], target: PartitionState
    ) -> None:
        """Begin a change of partitions; every result of the last change has to be reported."""
        self._expect(partitions, target.value)

    async def replicas_change(
        self, replicas: Collection[tuple[TopicPartition, int]], target: ReplicaState
    ) -> None:
        """Begin a change of replicas; every result of the last change has to be reported."""
        self._expect(replicas, target.value)

    async def partition_moved(
        self,
        partition: TopicPartition,
        before: PartitionState,
        after: PartitionState,
        replicas: Sequence[int],
        state: LeaderIsrAndControllerEpoch | None = None,
        is_written: bool = True,
    ) -> None:
        """The result for one of them."""
        self._report(partition, after.value)

    async def partition_failed(
        self,
        partition: TopicPartition,
        before: PartitionState,
        target: PartitionState,
        failure: ChangeFailure,
    ) -> None:
        """The result for one of them."""
        self._report(partition, target.value)

    async def replica_moved(
        self, broker: int, partition: TopicPartition, before: ReplicaState, after: ReplicaState
    ) -> None:
        """The result for one of them."""
        self._report((partition, broker), after.value)

    async def replica_failed(
        self,
        broker: int,
        partition: TopicPartition,
        before: ReplicaState,
        target: ReplicaState,
        failure: ChangeFailure,
    ) -> None:
        """The result for one of them."""
        self._report((partition, broker), target.value)

    async def event_begun(self, name: str) -> None:
        """An uncaught error may have ended the previous event."""
        self._waiting.clear()
        self.failed_moves.clear()

    async def event_done(self, name: str, failed: bool = False) -> None:
        """Check that the result of every change was reported, unless the event failed."""
        if failed:
            self._waiting.clear()
        self._settle()

    async def event_failed(self, event: str, why: str) -> None:
        """No more results are due."""
        self._waiting.clear()

    async def reassignment_failed(self, partition: TopicPartition, why: str) -> None:
        """No more results are due."""
        self._waiting.clear()
        self.failed_moves.add(partition)

    async def resigned(self) -> None:
        """No more results are due."""
        self._waiting.clear()
