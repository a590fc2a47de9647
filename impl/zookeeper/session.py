"""A client's session on the embedded ZooKeeper, with watches and connection faults on demand.

The caller sets the faults of a real connection before each operation: nothing is random.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum
from typing import Self, TypeVar

from impl.zookeeper.errors import ConnectionLoss, NoAuth, RolledBack, ZooKeeperError
from impl.zookeeper.port import OpOutcome
from impl.zookeeper.store import ZooKeeper
from impl.zookeeper.znode import (
    ANY_VERSION,
    NO_SESSION,
    Create,
    Created,
    Op,
    SetData,
    WatchEvent,
    Znode,
)

T = TypeVar("T")


class ConnectionFault(Enum):
    """A fault of the next operation."""

    REQUEST = "request"
    """It never arrives: nothing is done."""

    REPLY = "reply"
    """The operation is executed, and its response is lost."""
    DENIAL = "denial"
    """An ACL does not allow it."""


class EmbeddedSession:
    """A ``Port`` to a ``ZooKeeper`` in memory; ``timeout_ms`` as for ``open_session``."""

    def __init__(self, zookeeper: ZooKeeper, timeout_ms: int = 0, now_ms: int = 0) -> None:
        self.zookeeper = zookeeper
        self.session = zookeeper.open_session(timeout_ms, now_ms)
        self.faults: list[ConnectionFault | Callable[[], None] | None] = []

    @classmethod
    def known(cls, zookeeper: ZooKeeper, session: int) -> Self:
        """An existing session by its id."""
        one = cls.__new__(cls)
        one.zookeeper, one.session, one.faults = zookeeper, session, []
        return one

    @property
    def alive(self) -> bool:
        """Whether the session has not expired."""
        return self.session in self.zookeeper.sessions

    @property
    def zxid(self) -> int:
        """The newest transaction of the only server."""
        return self.zookeeper.zxid

    def lose(self, *losses: ConnectionFault) -> None:
        """Set the faults of the next operations, one for each."""
        self.faults.extend(losses)

    def deny(self, after: int) -> None:
        """Refuse one operation with NoAuth, after that many other operations."""
        self.faults += [*[None] * after, ConnectionFault.DENIAL]

    def overtake(self, after: int, by: Callable[[], None]) -> None:
        """Call a function after that many operations, before the next one arrives."""
        self.faults += [*[None] * after, by]

    async def create(
        self, path: str, data: str = "", ephemeral: bool = False, sequential: bool = False
    ) -> Created:
        """Create a znode, owned by this session if it is ephemeral."""
        owner = self.session if ephemeral else NO_SESSION
        return self._ask(lambda: self.zookeeper.create_at(path, data, owner, sequential))

    async def get(self, path: str, watch: bool = False) -> Znode:
        """The znode; a watch is left if there is one."""
        return self._ask(lambda: self._read(path, watch))

    async def exists(self, path: str, watch: bool = False) -> Znode | None:
        """The znode without its data, or None; a watch is left either way."""
        return self._ask(lambda: self._look(path, watch))

    async def children(self, path: str, watch: bool = False) -> list[str]:
        """The children's names, sorted; a watch is left if the znode exists."""
        return self._ask(lambda: self._list(path, watch))

    async def set_data(self, path: str, data: str, version: int = ANY_VERSION) -> Znode:
        """Write the data if the version is as expected."""
        return self._ask(lambda: self.zookeeper.set_data(path, data, version))

    async def delete(self, path: str, version: int = ANY_VERSION) -> None:
        """Delete the znode if the version is as expected."""
        self._ask(lambda: self.zookeeper.delete(path, version))

    async def multi(self, ops: Sequence[Op]) -> list[OpOutcome]:
        """All of the operations or none; a denial concerns the last of them."""
        try:
            return self._ask(lambda: self._multi(ops))
        except NoAuth as denied:
            return [*[RolledBack()] * (len(ops) - 1), denied]

    def events(self) -> list[WatchEvent]:
        """The notifications since the last call."""
        return self.zookeeper.take_events(self.session)

    def close(self) -> None:
        """End the session."""
        if self.alive:
            self.zookeeper.expire(self.session)

    def _read(self, path: str, watch: bool) -> Znode:
        node = self.zookeeper.get(path)
        if watch:
            self.zookeeper.watches.watch_data(path, self.session)
        return node

    def _look(self, path: str, watch: bool) -> Znode | None:
        node = self.zookeeper.nodes.get(path)
        if watch:
            self.zookeeper.watches.watch_data(path, self.session)
        return None if node is None else replace(node, data="")

    def _list(self, path: str, watch: bool) -> list[str]:
        names = self.zookeeper.children(path)
        if watch:
            self.zookeeper.watches.watch_children(path, self.session)
        return names

    def _multi(self, ops: Sequence[Op]) -> list[OpOutcome]:
        for op in ops:
            if isinstance(op, Create) and op.owner not in (NO_SESSION, self.session):
                raise ValueError(f"session {self.session} cannot create for session {op.owner}")
        results = self.zookeeper.multi_at(ops)
        return [_outcome(op, result) for op, result in zip(ops, results, strict=True)]

    def _ask(self, operation: Callable[[], T]) -> T:
        fault = self.faults.pop(0) if self.faults else None
        if callable(fault):
            fault()
        # A client learns of its expired session before anything else: ZooKeeper checks it first.
        self.zookeeper.require_alive(self.session)
        if fault is ConnectionFault.DENIAL:
            raise NoAuth("an ACL does not allow it")
        if fault is ConnectionFault.REQUEST:
            raise ConnectionLoss("the connection broke before the request arrived")
        if fault is ConnectionFault.REPLY:
            with contextlib.suppress(ZooKeeperError):  # an error response is lost as well
                operation()
            raise ConnectionLoss("the connection broke before the reply came")
        return operation()


def _outcome(op: Op, result: Created | ZooKeeperError | None) -> OpOutcome:
    if isinstance(result, Created):
        return result.znode.version if isinstance(op, SetData) else result.path
    return result
