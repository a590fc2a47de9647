"""The core's port operations as values (effects) that a driver carries out: one class per port.

The core awaits an effect, and the coroutine yields it to its driver. The driver carries it out at
once or later, and returns the result, or lets it be lost.
"""

from __future__ import annotations

import inspect
from collections.abc import Generator, Mapping, Sequence
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
from impl.zookeeper.port import OpOutcome
from impl.zookeeper.session import EmbeddedSession
from impl.zookeeper.znode import ANY_VERSION, Created, Op, WatchEvent, Znode


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


class EffectPort:
    """A session with ZooKeeper whose operations are effects.

    ``session`` may be replaced when the broker has a new session.
    """

    def __init__(self, session: EmbeddedSession) -> None:
        self.embedded = session

    @property
    def session(self) -> int:
        """The id of the session."""
        return self.embedded.session

    @property
    def alive(self) -> bool:
        """Whether the session has not expired."""
        return self.embedded.alive

    @property
    def zxid(self) -> int:
        """The newest transaction."""
        return self.embedded.zxid

    async def create(
        self, path: str, data: str = "", ephemeral: bool = False, sequential: bool = False
    ) -> Created:
        """Create a znode."""
        made: Created = await ZkOperation("create", (path, data, ephemeral, sequential))
        return made

    async def get(self, path: str, watch: bool = False) -> Znode:
        """The znode and its data."""
        node: Znode = await ZkOperation("get", (path, watch))
        return node

    async def exists(self, path: str, watch: bool = False) -> Znode | None:
        """The znode without its data, or None."""
        node: Znode | None = await ZkOperation("exists", (path, watch))
        return node

    async def children(self, path: str, watch: bool = False) -> list[str]:
        """The names of the children, sorted."""
        names: list[str] = await ZkOperation("children", (path, watch))
        return list(names)

    async def set_data(self, path: str, data: str, version: int = ANY_VERSION) -> Znode:
        """Write the data if the version is as expected."""
        node: Znode = await ZkOperation("set_data", (path, data, version))
        return node

    async def delete(self, path: str, version: int = ANY_VERSION) -> None:
        """Delete the znode if the version is as expected."""
        await ZkOperation("delete", (path, version))

    async def multi(self, ops: Sequence[Op]) -> list[OpOutcome]:
        """All of the operations or none."""
        outcomes: list[OpOutcome] = await ZkOperation("multi", (tuple(ops),))
        return list(outcomes)

    def events(self) -> list[WatchEvent]:
        """The notifications that have come since the last call, in order."""
        return self.embedded.events()

    def close(self) -> None:
        """End the session."""
        self.embedded.close()


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
