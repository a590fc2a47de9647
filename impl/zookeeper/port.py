"""The port to ZooKeeper: operations of a broker and a controller, one session at a time.

``EmbeddedSession`` answers from memory, ``impl.zookeeper.real.RealSession`` from a server. A caller
cannot distinguish them; a test checks this operation by operation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Coroutine, Sequence
from typing import Any, Protocol, TypeVar

from impl.zookeeper.errors import ZooKeeperError
from impl.zookeeper.znode import ANY_VERSION, Created, Op, WatchEvent, Znode

T = TypeVar("T")

OpOutcome = str | int | ZooKeeperError | None
"""What an operation of a multi came to: the path created, the version written, None, an error.

That is all that ZooKeeper's reply says.
"""


class Port(Protocol):
    """One client's session. Every call may raise SessionExpired, or ConnectionLoss.

    After ConnectionLoss it is unknown whether the write was done. ``watch=True`` sets a one-shot
    watch, which notifies through ``events``. An operation that creates an ephemeral znode names
    ``session`` as its owner; any other session as owner is refused.
    """

    @property
    def session(self) -> int:
        """The id of the session."""

    @property
    def alive(self) -> bool:
        """False once the client knows that its session has expired."""

    @property
    def zxid(self) -> int:
        """The newest transaction that the server had executed at its last response."""

    async def create(
        self, path: str, data: str = "", ephemeral: bool = False, sequential: bool = False
    ) -> Created:
        """Create a znode. NodeExists, NoNode (its parent), NoChildrenForEphemerals."""

    async def get(self, path: str, watch: bool = False) -> Znode:
        """The znode and its data. NoNode: then no watch is set."""

    async def exists(self, path: str, watch: bool = False) -> Znode | None:
        """The znode without its data (empty text); None if there is none: a watch is set too."""

    async def children(self, path: str, watch: bool = False) -> list[str]:
        """The names of the children, sorted. NoNode: then no watch is set."""

    async def set_data(self, path: str, data: str, version: int = ANY_VERSION) -> Znode:
        """Write the data. NoNode, BadVersion."""

    async def delete(self, path: str, version: int = ANY_VERSION) -> None:
        """Delete a znode. NoNode, BadVersion, NotEmpty."""

    async def multi(self, ops: Sequence[Op]) -> list[OpOutcome]:
        """All of the operations or none; if one fails, all results are errors."""

    def events(self) -> list[WatchEvent]:
        """The notifications since the last call, in order."""

    def close(self) -> None:
        """End the session: its ephemeral znodes are removed at once. A second call does nothing."""


class PortOperations(ABC):
    """The operations of a ``Port``, by one function of a method's name and its arguments."""

    @abstractmethod
    def operate(self, operation: str, *arguments: Any) -> Awaitable[Any]:
        """Carry out an operation; its arguments are in order, and complete."""

    async def create(
        self, path: str, data: str = "", ephemeral: bool = False, sequential: bool = False
    ) -> Created:
        """See `Port`."""
        made: Created = await self.operate("create", path, data, ephemeral, sequential)
        return made

    async def get(self, path: str, watch: bool = False) -> Znode:
        """See `Port`."""
        node: Znode = await self.operate("get", path, watch)
        return node

    async def exists(self, path: str, watch: bool = False) -> Znode | None:
        """See `Port`."""
        node: Znode | None = await self.operate("exists", path, watch)
        return node

    async def children(self, path: str, watch: bool = False) -> list[str]:
        """See `Port`."""
        return list(await self.operate("children", path, watch))

    async def set_data(self, path: str, data: str, version: int = ANY_VERSION) -> Znode:
        """See `Port`."""
        node: Znode = await self.operate("set_data", path, data, version)
        return node

    async def delete(self, path: str, version: int = ANY_VERSION) -> None:
        """See `Port`."""
        await self.operate("delete", path, version)

    async def multi(self, ops: Sequence[Op]) -> list[OpOutcome]:
        """See `Port`."""
        return list(await self.operate("multi", tuple(ops)))


class ForwardingPort(PortOperations):
    """A ``Port`` to the session of another one, ``port``."""

    def __init__(self, port: Port) -> None:
        self.port = port

    @property
    def session(self) -> int:
        """The id of the session."""
        return self.port.session

    @property
    def alive(self) -> bool:
        """False once the client knows that its session has expired."""
        return self.port.alive

    @property
    def zxid(self) -> int:
        """See `Port`."""
        return self.port.zxid

    def events(self) -> list[WatchEvent]:
        """See `Port`."""
        return self.port.events()

    def close(self) -> None:
        """See `Port`."""
        self.port.close()


def wait(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never suspends, because all its ports answer at once.

    Drivers of coroutines that do suspend (the simulator, an event loop) do not use it.
    """
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    work.close()
    raise RuntimeError(f"{work!r} suspended: its port does not answer at once")
