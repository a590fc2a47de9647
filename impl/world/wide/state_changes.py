"""Whether each state change that a controller begins comes to an end, one way or the other.

Kafka's state machines say of every partition and replica that they were given that it entered the
state, or why it did not (``logSuccessfulTransition``, ``logFailedStateChange``): none is passed
over in silence.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from impl.core.journal import ChangeFailure, ControllerJournal
from impl.core.states import PartitionState, ReplicaState
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition


class StateChanges(ControllerJournal):
    """Receives a controller's reports, and expects one of each partition and replica that it was
    to move: that it moved, or that it failed.

    ``unsettled``: the first that was reported not at all, or more than once; empty if there is
    none. What an error cuts off is not looked at. ``failed_moves``: the partitions whose
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
        """Of all that it was to move before, the result has been reported."""
        self._expect(partitions, target.value)

    async def replicas_change(
        self, replicas: Collection[tuple[TopicPartition, int]], target: ReplicaState
    ) -> None:
        """Of all that it was to move before, the result has been reported."""
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
        """An error that nobody caught may have ended the event before."""
        self._waiting.clear()
        self.failed_moves.clear()

    async def event_done(self, name: str, failed: bool = False) -> None:
        """The result of every change has been reported, unless the event failed."""
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
