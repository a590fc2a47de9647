"""Limits of a listener: number of connections, idle time, size of a request.

Source: SocketServer (ConnectionQuotas, KIP-402), RequestChannel, MemoryPool (KIP-72).
"""

from __future__ import annotations

import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

UNLIMITED = 2**31 - 1
REQUEST_BYTES = 100 << 20
SMALL = 64 << 10
"""A request of up to so many bytes waits for no memory: heartbeats pass whatever else comes."""

STALL_S = 10.0
"""A request that has begun and of which nothing more comes for so long is given up.

Kafka waits as long as for an idle connection, with all of the request's memory held.
"""


@dataclass(frozen=True)
class Limits:
    """The limits. ``connections`` and ``per_ip`` may change while the broker runs.

    ``idle_s``: connections.max.idle.ms, 0 for none. ``request_bytes``: socket.request.max.bytes.
    ``queued_bytes``: queued.max.request.bytes, the memory for requests. ``handled``: num.io.threads
    and queued.max.requests together. ``overrides``: by address, max.connections.per.ip.overrides.
    """

    connections: Callable[[], int] = lambda: UNLIMITED
    per_ip: Callable[[], int] = lambda: UNLIMITED
    idle_s: float = 0.0
    request_bytes: int = REQUEST_BYTES
    queued_bytes: int = 2 * REQUEST_BYTES
    handled: int = 508
    overrides: Mapping[str, int] = field(default_factory=dict)

    def of(self, address: str) -> int:
        """The maximum number of connections of an address."""
        return self.overrides.get(address, self.per_ip())


class TooManyConnections(Exception):
    """An address has reached its maximum number of connections."""


class ConnectionQuotas:
    """The open connections, by address."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._open: Counter[str] = Counter()
        self._changed = threading.Condition()

    def take(self, address: str, stopped: Callable[[], bool]) -> None:
        """Wait for room for a connection; TooManyConnections if its address has too many."""
        with self._changed:
            while self._open.total() >= self.limits.connections() and not stopped():
                self._changed.wait(0.05)
            most = self.limits.of(address)
            if self._open[address] >= most:
                raise TooManyConnections(
                    f"Rejected connection from /{address}, address already has the configured "
                    f"maximum of {most} connections."
                )
            self._open[address] += 1

    def give_back(self, address: str) -> None:
        """A connection has ended."""
        with self._changed:
            self._open[address] -= 1
            self._changed.notify_all()


class MemoryPool:
    """Memory for requests that are being read and handled.

    As in Kafka a request may exceed the bound, so that any request of an allowed size can be read.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.used = 0
        self._changed = threading.Condition()

    @contextmanager
    def room(self, size: int) -> Iterator[None]:
        """Wait until there is room for a request, and hold it."""
        if size <= SMALL:
            yield
            return
        with self._changed:
            while self.used >= self.size:
                self._changed.wait()
            self.used += size
        try:
            yield
        finally:
            with self._changed:
                self.used -= size
                self._changed.notify_all()


class RequestSlots:
    """Limits how many requests are handled at once; requests that wait do not count."""

    def __init__(self, count: int) -> None:
        self._free = threading.Semaphore(count)
        self._mine = threading.local()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Wait for a slot and hold it, unless ``let_go`` releases it earlier."""
        self._free.acquire()
        self._mine.held = True
        try:
            yield
        finally:
            self.let_go()

    def let_go(self) -> None:
        """Release this thread's slot before it waits: another request may be handled."""
        if getattr(self._mine, "held", False):
            self._mine.held = False
            self._free.release()


def set_timeout(connection: socket.socket, seconds: float) -> None:
    """Make reads and writes that wait for longer raise OSError; 0 means no timeout."""
    packed = struct.pack("ll", int(seconds), int(seconds % 1 * 1_000_000))
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, packed)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, packed)
