"""Opens a session with the ZooKeeper that ``zookeeper.connect`` names.

``127.0.0.1:2181`` is a real one, ``embedded@127.0.0.1:2181`` an embedded one in its own process.
Several threads of a broker share a session, so each ``Port`` object has a lock.
"""

from __future__ import annotations

import logging
import threading
from typing import Any

from impl.server.embedded_zookeeper import EmbeddedClient
from impl.zookeeper.port import ForwardingPort, Port
from impl.zookeeper.znode import WatchEvent

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


class SharedPort(ForwardingPort):
    """A ``Port`` for several threads: one operation at a time."""

    def __init__(self, port: Port) -> None:
        super().__init__(port)
        self._lock = threading.RLock()

    async def operate(self, operation: str, *arguments: Any) -> Any:
        """Carry out an operation, alone."""
        with self._lock:
            return await getattr(self.port, operation)(*arguments)

    def events(self) -> list[WatchEvent]:
        """See `Port`."""
        with self._lock:
            return super().events()

    def close(self) -> None:
        """See `Port`."""
        with self._lock:
            super().close()
