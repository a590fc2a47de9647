"""Requests of a follower's fetcher to its leader, as effects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from impl.core.fetcher_thread import (
    Answer,
    EpochQuestion,
    EpochReply,
    FetchQuestion,
    FetchReply,
    OffsetQuestion,
    OffsetUnknown,
)
from impl.core.replica_manager import OffsetFound
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

    async def offset(self, key: TopicPartition, question: OffsetQuestion) -> int:
        """ListOffsets."""
        replies: Mapping[TopicPartition, OffsetFound]
        replies = await AskLeader("ListOffsets", {key: question})
        error = replies[key].error if key in replies else Answer.UNKNOWN_SERVER_ERROR.value
        if error != "NONE":
            raise OffsetUnknown(key, Answer(error))
        return replies[key].offset
