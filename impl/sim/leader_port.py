"""What a follower's fetcher asks of its leader, as effects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from impl.core.fetcher_thread import (
    EpochQuestion,
    EpochReply,
    FetchQuestion,
    FetchReply,
    OffsetUnknown,
)
from impl.core.replica_manager import EARLIEST, LATEST, OffsetFound
from impl.sim.effects import Effect
from impl.znodes import TopicPartition


@dataclass(frozen=True, slots=True)
class AskLeader(Effect):
    """A question to the leader: ``kind`` is Fetch, OffsetForLeaderEpoch or ListOffsets."""

    kind: str
    questions: Mapping[TopicPartition, Any]


class LeaderByEffect:
    """The port that a round speaks to: every question is an effect."""

    async def epoch_ends(
        self, questions: Mapping[TopicPartition, EpochQuestion]
    ) -> Mapping[TopicPartition, EpochReply]:
        """OffsetForLeaderEpoch."""
        replies: Mapping[TopicPartition, EpochReply]
        replies = await AskLeader("OffsetForLeaderEpoch", questions)
        return replies

    async def fetch(
        self, questions: Mapping[TopicPartition, FetchQuestion]
    ) -> Mapping[TopicPartition, FetchReply]:
        """Fetch, as follower."""
        replies: Mapping[TopicPartition, FetchReply]
        replies = await AskLeader("Fetch", questions)
        return replies

    async def earliest(self, key: TopicPartition) -> int:
        """ListOffsets, the log's start."""
        return await self._offset(key, EARLIEST)

    async def latest(self, key: TopicPartition) -> int:
        """ListOffsets, the log's end."""
        return await self._offset(key, LATEST)

    async def _offset(self, key: TopicPartition, timestamp: int) -> int:
        replies: Mapping[TopicPartition, OffsetFound]
        replies = await AskLeader("ListOffsets", {key: timestamp})
        if key not in replies or replies[key].error != "NONE":
            raise OffsetUnknown(f"the leader does not tell where {key} begins or ends")
        return replies[key].offset
