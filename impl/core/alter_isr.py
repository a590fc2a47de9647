"""ISR changes that leaders request from the controller (``DefaultAlterIsrManager``; KIP-497, 2.7).

A change waits until it is answered, or until a LeaderAndIsr has made it void. One request is under
way at a time, with all changes that wait; whoever sends it takes them by ``batch`` and hands the
answer to ``answered``. What is not answered, left out of an answer, or refused as a whole, is sent
again. Fact sheet g.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from impl.core.partition import IsrAnswered
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition


@dataclass(eq=False)
class IsrChange:
    """One partition's pending ISR change: the leader's state, with the requested ISR."""

    partition: TopicPartition
    state: LeaderIsrAndControllerEpoch
    answered: IsrAnswered


class AlterIsrManager:
    """The pending ISR changes, by partition."""

    def __init__(self) -> None:
        self.waiting: dict[TopicPartition, IsrChange] = {}

    def submit(
        self, partition: TopicPartition, wanted: LeaderIsrAndControllerEpoch, answered: IsrAnswered
    ) -> None:
        """Queue an ISR change."""
        self.waiting[partition] = IsrChange(partition, wanted, answered)

    def clear(self, partition: TopicPartition) -> None:
        """Drop the pending change of a partition (``clearPending``)."""
        self.waiting.pop(partition, None)

    def batch(self) -> list[IsrChange]:
        """All pending changes: the content of the next request."""
        return list(self.waiting.values())

    def answered(
        self,
        batch: list[IsrChange],
        answers: Mapping[TopicPartition, tuple[str, LeaderIsrAndControllerEpoch | None]],
        now_ms: int,
    ) -> None:
        """Handle the controller's response: by partition the error, or the registered state."""
        for change in batch:
            if self.waiting.get(change.partition) is not change:
                continue  # void, or followed by another one, while this was on its way
            if change.partition not in answers:
                continue  # it goes on waiting: the next request has it again
            error, state = answers[change.partition]
            del self.waiting[change.partition]
            change.answered(error, state, now_ms)
