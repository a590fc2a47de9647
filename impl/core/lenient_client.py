"""A controller's reads of znodes: a malformed one is reported, and treated as missing.

So a partition whose state cannot be read has no leader, a topic whose assignment cannot be read has
no partitions, and everything else goes on (``Json.parseBytes`` of Kafka's decoders; fact sheet a).
Administrators' tools read without this care: they show the error.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

from impl.releases import Release
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, paths
from impl.znodes.brokers import BrokerInfo, decode_broker
from impl.znodes.client import ZnodeClient
from impl.znodes.cluster import decode_log_dir_event
from impl.znodes.partitions import decode_partition_set
from impl.znodes.text import MalformedZnode, number_of
from impl.znodes.topics import TopicZnode
from impl.zookeeper.port import Port

NOBODY = -1
T = TypeVar("T")
P = ParamSpec("P")


async def _decoded(decode: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """A decoder's answer as one that is awaited, as a read's is."""
    return decode(*args, **named)


class LenientZnodeClient(ZnodeClient):
    """Reports a malformed znode to ``trouble``, once for each different error."""

    def __init__(
        self, port: Port, release: Release, trouble: Callable[[str], Awaitable[None]]
    ) -> None:
        super().__init__(port, release)
        self.trouble = trouble
        self._reported: dict[str, str] = {}

    async def _or(self, path: str, read: Awaitable[T], otherwise: T) -> T:
        try:
            found = await read
        except MalformedZnode as error:
            text = str(error)
            if self._reported.get(path) != text:
                self._reported[path] = text
                await self.trouble(text)
            return otherwise
        self._reported.pop(path, None)
        return found

    async def state(self, partition: TopicPartition) -> LeaderIsrAndControllerEpoch | None:
        """The registered state; None if it is missing or malformed."""
        return await self._or(paths.state(*partition), super().state(partition), None)

    async def topic(self, name: str, watch: bool = False) -> TopicZnode | None:
        """The replica assignment of a topic; None if it is missing or malformed."""
        return await self._or(paths.topic(name), super().topic(name, watch), None)

    async def reassignments(self) -> dict[TopicPartition, tuple[int, ...]]:
        """The entries of ``/admin/reassign_partitions``; none if it is malformed."""
        path = paths.REASSIGN_PARTITIONS
        return await self._or(path, super().reassignments(), {})

    async def preferred_election(self) -> list[TopicPartition] | None:
        """The partitions of the preferred election request; none if it is malformed."""
        nothing: list[TopicPartition] | None = []
        return await self._or(paths.PREFERRED_ELECTION, super().preferred_election(), nothing)

    async def brokers(self, watch: bool = False) -> dict[int, tuple[BrokerInfo, int]]:
        """Registered brokers whose znodes are valid, by id: content and broker epoch.

        A watch is left on who is there, and since 1.1 (KIP-226) on what each of them says.
        """
        found = {}
        each = watch and self.release.since("1.1")
        for number in sorted(map(number_of, await self.names(paths.BROKER_IDS, watch))):
            there = await self.broker(number, each)
            if there is not None:
                found[number] = there
        return found

    async def broker(self, number: int, watch: bool = False) -> tuple[BrokerInfo, int] | None:
        """A broker's registration and its epoch; None if it is missing or malformed."""
        path = paths.broker(number)
        node = await self.read(path, watch)
        if node is None:
            return None
        info = await self._or(path, _decoded(decode_broker, number, node.data), None)
        return None if info is None else (info, node.czxid)

    async def isr_changes(self, watch: bool = False) -> dict[str, list[TopicPartition]]:
        """The ISR change notifications; a malformed one names no partition."""
        found: dict[str, list[TopicPartition]] = {}
        for name in await self.names(paths.ISR_CHANGES, watch):
            path = f"{paths.ISR_CHANGES}/{name}"
            node = await self.read(path)
            if node is not None:
                found[name] = await self._or(
                    path, _decoded(decode_partition_set, path, node.data), []
                )
        return found

    async def log_dir_events(self, watch: bool = False) -> dict[str, int]:
        """The notifications of failed log directories; a malformed one names no broker."""
        found: dict[str, int] = {}
        for name in await self.names(paths.LOG_DIR_EVENTS, watch):
            path = f"{paths.LOG_DIR_EVENTS}/{name}"
            node = await self.read(path)
            if node is not None:
                broker = await self._or(path, _decoded(decode_log_dir_event, path, node.data), None)
                found[name] = NOBODY if broker is None else broker
        return found
