"""The core's port operations as values (effects) that a driver carries out: one class per port.

The core awaits an effect, and the coroutine yields it to its driver. The driver carries it out at
once or later, and returns the result, or lets it be lost.
"""

from __future__ import annotations

import inspect
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from impl.core.fetcher_thread import (
    EpochQuestion,
    EpochReply,
    FetchErrorCode,
    FetchQuestion,
    FetchReply,
    OffsetQuestion,
    OffsetUnknown,
)
from impl.core.journal import ControllerJournal
from impl.core.replica_manager import OffsetFound
from impl.core.request_batch import Round
from impl.znodes import TopicPartition
from impl.zookeeper.port import ForwardingPort
from impl.zookeeper.session import EmbeddedSession
from impl.zookeeper.znode import Op


class Effect:
    """An operation awaited by the core; its result is the value that the driver sends back."""

    __slots__ = ()

    def __await__(self) -> Generator[Effect, Any, Any]:
        return (yield self)


@dataclass(frozen=True, slots=True)
class ZkOperation(Effect):
    """An operation on ZooKeeper: a method of ``Port`` by name, and its arguments in order."""

    operation: str
    arguments: tuple[Any, ...]

    @property
    def path(self) -> str:
        """The path of the znode; empty for a multi."""
        return "" if self.operation == "multi" else str(self.arguments[0])

    @property
    def ops(self) -> tuple[Op, ...]:
        """The operations of a multi; empty for any other operation."""
        return tuple(self.arguments[0]) if self.operation == "multi" else ()


@dataclass(frozen=True, slots=True)
class SendRequests(Effect):
    """A round of requests for the channels to the brokers; it may be empty."""

    requests: Round


@dataclass(frozen=True, slots=True)
class JournalReport(Effect):
    """A report of the core: a method of its journal by name, and its arguments."""

    event: str
    arguments: tuple[Any, ...]


class EffectPort(ForwardingPort):
    """A session with ZooKeeper whose operations are effects.

    ``embedded`` may be replaced when the broker has a new session.
    """

    def __init__(self, session: EmbeddedSession) -> None:
        self.embedded = session

    @property
    def port(self) -> EmbeddedSession:  # type: ignore[override]
        """The session."""
        return self.embedded

    def operate(self, operation: str, *arguments: Any) -> ZkOperation:
        """The operation, to be carried out by the driver."""
        return ZkOperation(operation, arguments)


async def send_as_effect(requests: Round) -> None:
    """The send function of a controller's channels, as an effect."""
    await SendRequests(tuple(requests))


class EffectJournal(ControllerJournal):
    """A controller's journal whose every event is an effect."""


def _reporting(name: str) -> Any:
    method = getattr(ControllerJournal, name)
    parameters = inspect.signature(method)

    async def report(self: EffectJournal, *arguments: Any, **named: Any) -> None:
        await JournalReport(name, parameters.bind(self, *arguments, **named).args[1:])

    report.__name__ = name
    report.__doc__ = method.__doc__
    return report


for _name, _method in vars(ControllerJournal).items():
    if callable(_method) and not _name.startswith("_"):
        setattr(EffectJournal, _name, _reporting(_name))


# Requests of a follower's fetcher to its leader


@dataclass(frozen=True, slots=True)
class AskLeader(Effect):
    """A request to the leader: ``kind`` is Fetch, OffsetForLeaderEpoch or ListOffsets."""

    kind: str
    questions: Mapping[TopicPartition, Any]


class LeaderByEffect:
    """The leader's end point of a fetcher whose requests are effects."""

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
        """Fetch from the leader, as a follower."""
        replies: Mapping[TopicPartition, FetchReply]
        replies = await AskLeader("Fetch", questions)
        return replies

    async def offset(self, key: TopicPartition, question: OffsetQuestion) -> int:
        """ListOffsets."""
        replies: Mapping[TopicPartition, OffsetFound]
        replies = await AskLeader("ListOffsets", {key: question})
        error = replies[key].error if key in replies else FetchErrorCode.UNKNOWN_SERVER_ERROR.value
        if error != "NONE":
            raise OffsetUnknown(key, FetchErrorCode(error))
        return replies[key].offset
