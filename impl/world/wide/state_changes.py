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
    """Listens to a controller; ``unsettled`` is the first of its state changes of which it did not
    say once that it was done, or that it failed; empty if there is none.

    What an error cuts off is not looked at.
    """

    def __init__(self) -> None:
        self.unsettled = ""
        self._target = ""
        self._waiting: set[object] = set()

    def _begin(self, members: Collection[object], target: str) -> None:
        self._end()
        self._waiting, self._target = {*members}, target

    def _end(self) -> None:
        if self._waiting and not self.unsettled:
            named = ", ".join(sorted(map(str, self._waiting)))
            self.unsettled = f"whether {named} entered {self._target}"
        self._waiting.clear()

    def _ends(self, member: object, target: str) -> None:
        if member not in self._waiting and not self.unsettled:
            self.unsettled = f"once whether {member} entered {target}"
        self._waiting.discard(member)

    async def partitions_change(
        self, partitions: Collection[TopicPartition], target: PartitionState
    ) -> None:
        """What was begun before is to be done."""
        self._begin(partitions, target.value)

    async def replicas_change(
        self, replicas: Collection[tuple[TopicPartition, int]], target: ReplicaState
    ) -> None:
        """What was begun before is to be done."""
        self._begin(replicas, target.value)

    async def partition_moved(
        self,
        partition: TopicPartition,
        before: PartitionState,
        after: PartitionState,
        replicas: Sequence[int],
        state: LeaderIsrAndControllerEpoch | None = None,
        is_written: bool = True,
    ) -> None:
        """One of them is done."""
        self._ends(partition, after.value)

    async def partition_failed(
        self,
        partition: TopicPartition,
        before: PartitionState,
        target: PartitionState,
        failure: ChangeFailure,
    ) -> None:
        """One of them failed."""
        self._ends(partition, target.value)

    async def replica_moved(
        self, broker: int, partition: TopicPartition, before: ReplicaState, after: ReplicaState
    ) -> None:
        """One of them is done."""
        self._ends((partition, broker), after.value)

    async def replica_failed(
        self,
        broker: int,
        partition: TopicPartition,
        before: ReplicaState,
        target: ReplicaState,
        failure: ChangeFailure,
    ) -> None:
        """One of them failed."""
        self._ends((partition, broker), target.value)

    async def event_begun(self, name: str) -> None:
        """An error that nobody caught may have ended the event before."""
        self._waiting.clear()

    async def event_done(self, name: str, failed: bool = False) -> None:
        """All that it began is to be done, unless it failed."""
        if failed:
            self._waiting.clear()
        self._end()

    async def event_failed(self, event: str, why: str) -> None:
        """The rest of it is not done."""
        self._waiting.clear()

    async def reassignment_failed(self, partition: TopicPartition, why: str) -> None:
        """The rest of it is not done."""
        self._waiting.clear()

    async def resigned(self) -> None:
        """The rest is another controller's to do."""
        self._waiting.clear()
