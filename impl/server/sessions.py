"""Opens a session with the ZooKeeper that ``zookeeper.connect`` names.

``127.0.0.1:2181`` is a real one, ``embedded@127.0.0.1:2181`` an embedded one in its own process.
Several threads of a broker share a session, so each ``Port`` object has a lock.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

from impl.server.embedded_zookeeper import EmbeddedClient
from impl.zookeeper.port import OpOutcome, Port
from impl.zookeeper.znode import ANY_VERSION, Created, Op, WatchEvent, Znode

EMBEDDED = "embedded@"


def open_session(connect: str, timeout_ms: int, answer_ms: int = 10_000) -> Port:
    """Open a session. ConnectionLoss if no server answers; ValueError for an invalid address."""
    if connect.startswith(EMBEDDED):
        host, _, port = connect.removeprefix(EMBEDDED).rpartition(":")
        if not host or not port.isdecimal():
            raise ValueError(f"an embedded ZooKeeper is named {EMBEDDED}HOST:PORT, not {connect}")
        return SharedPort(EmbeddedClient((host, int(port)), timeout_ms, answer_ms))
    from impl.zookeeper.real import RealSession

    logging.getLogger("kazoo").setLevel(logging.CRITICAL)  # what matters is raised
    return SharedPort(RealSession(connect, timeout_ms, answer_ms))


class SharedPort:
    """A ``Port`` for several threads: one operation at a time."""

    def __init__(self, port: Port) -> None:
        self._port = port
        self._lock = threading.RLock()

    @property
    def session(self) -> int:
        """The id of the session."""
        return self._port.session

    @property
    def alive(self) -> bool:
        """False once the client knows that its session has expired."""
        return self._port.alive

    @property
    def zxid(self) -> int:
        """See `Port`."""
        return self._port.zxid

    async def create(
        self, path: str, data: str = "", ephemeral: bool = False, sequential: bool = False
    ) -> Created:
        """See `Port`."""
        with self._lock:
            return await self._port.create(path, data, ephemeral, sequential)

    async def get(self, path: str, watch: bool = False) -> Znode:
        """See `Port`."""
        with self._lock:
            return await self._port.get(path, watch)

    async def exists(self, path: str, watch: bool = False) -> Znode | None:
        """See `Port`."""
        with self._lock:
            return await self._port.exists(path, watch)

    async def children(self, path: str, watch: bool = False) -> list[str]:
        """See `Port`."""
        with self._lock:
            return await self._port.children(path, watch)

    async def set_data(self, path: str, data: str, version: int = ANY_VERSION) -> Znode:
        """See `Port`."""
        with self._lock:
            return await self._port.set_data(path, data, version)

    async def delete(self, path: str, version: int = ANY_VERSION) -> None:
        """See `Port`."""
        with self._lock:
            await self._port.delete(path, version)

    async def multi(self, ops: Sequence[Op]) -> list[OpOutcome]:
        """See `Port`."""
        with self._lock:
            return await self._port.multi(ops)

    def events(self) -> list[WatchEvent]:
        """See `Port`."""
        with self._lock:
            return self._port.events()

    def close(self) -> None:
        """See `Port`."""
        with self._lock:
            self._port.close()
