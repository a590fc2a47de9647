"""A broker's listening socket: one thread per connection, which handles requests in order.

Requests are read as whole frames. Responses are sent in pieces: bytes, and regions of files, which
are never parsed. Source: kafka.network.SocketServer.

The listener uses threads and no event loop: a request is handled by the core under one lock, with
disks, ZooKeeper and other brokers that block, and a loop would pass all of it to threads. With
threads a connection's requests are in order, back pressure is a socket that is not read, a response
uses `sendfile`, and a waiting request waits on its own condition. A connection costs 22 KB and 2
ms: 800 connections cost 18 MB, and each gets its response after 1.4 ms
(`python -m tests.bench.clients --connections 800`, two cores, under load); brokers write as many
MB/s as Kafka's, and read 1.7 times as many (`python -m tests.bench.against_kafka`). Ten thousand
connections per broker would need an event loop.
"""

from __future__ import annotations

import select
import socket
import socketserver
import threading
from collections.abc import Callable
from typing import Any

from impl.log.region import Region
from impl.server.connection import Address, read_exactly, read_size
from impl.server.limits import (
    STALL_S,
    ConnectionQuotas,
    Limits,
    MemoryPool,
    RequestSlots,
    TooManyConnections,
    set_timeout,
)

Answer = Callable[[bytes, str], list[Any] | None]
"""Takes a frame and the address of who sent it; gives the answer's pieces, None if none is due.
What it raises ends the connection.
"""


class ClientGone(Exception):
    """The client of a request has closed the connection."""


class Listener:
    """A port and the handler of its requests.

    OSError if the port is taken. ``trouble`` receives the errors that a handler did not catch,
    ``rejected`` the connections beyond the limits.
    """

    def __init__(
        self,
        address: Address,
        answer: Answer,
        trouble: Callable[[BaseException], None] = lambda error: None,
        limits: Limits | None = None,
        rejected: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.limits = limits or Limits()
        self.slots = RequestSlots(self.limits.handled)
        self._quotas = ConnectionQuotas(self.limits)
        self._memory = MemoryPool(self.limits.queued_bytes)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._mine = threading.local()
        self._stopped = False
        listener = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                try:
                    listener._serve(self.request, self.client_address[0], answer, trouble)
                finally:
                    listener._quotas.give_back(self.client_address[0])

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True
            block_on_close = False
            request_queue_size = 64

            def verify_request(self, request: object, client_address: Any) -> bool:
                try:
                    listener._quotas.take(client_address[0], lambda: listener._stopped)
                except TooManyConnections as error:
                    rejected(str(error))
                    return False
                return True

        self._server = Server(address, Handler)
        self.address: Address = self._server.server_address[:2]  # type: ignore[assignment]
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="acceptor", daemon=True
        )

    def start(self) -> None:
        """Begin to accept connections."""
        self._thread.start()

    def _serve(
        self, connection: socket.socket, host: str, answer: Answer,
        trouble: Callable[[BaseException], None],
    ) -> None:  # fmt: skip
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            self._open.add(connection)
        self._mine.connection = connection
        try:
            while not self._stopped and self._served(connection, host, answer, trouble):
                pass
        except OSError:
            return  # the client went away; it will connect again if it wants something
        finally:
            with self._lock:
                self._open.discard(connection)

    def _served(
        self, connection: socket.socket, host: str, answer: Answer,
        trouble: Callable[[BaseException], None],
    ) -> bool:  # fmt: skip
        """One frame, and its answer; False where the connection is over."""
        set_timeout(connection, self.limits.idle_s)
        size = read_size(connection, self.limits.request_bytes)
        if size is None:
            return False
        with self._memory.room(size):
            if self.limits.idle_s:
                set_timeout(connection, min(STALL_S, self.limits.idle_s))
            frame = read_exactly(connection, size)
            with self.slots.taken():
                try:
                    pieces = answer(frame, host)
                except ClientGone:
                    return False
                except Exception as error:
                    trouble(error)
                    return False
            del frame
        if pieces is not None:
            send_pieces(connection, pieces)
        return True

    def raise_if_client_gone(self) -> None:
        """Raise ClientGone if the client of this thread's request has closed the connection."""
        connection = getattr(self._mine, "connection", None)
        if connection is None:
            return
        ends = select.poll()
        try:
            ends.register(connection, select.POLLRDHUP)
        except ValueError as error:  # it was closed here
            raise ClientGone from error
        if ends.poll(0):
            raise ClientGone

    def close(self) -> None:
        """Accept no more connections, and close the open ones."""
        self._stopped = True
        if self._thread.is_alive():
            self._server.shutdown()
        self._server.server_close()
        with self._lock:
            for connection in self._open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue


def send_pieces(connection: socket.socket, pieces: list[Any]) -> None:
    """Send bytes, and each piece with a ``region`` from its file; releases the regions."""
    regions: list[Region] = [piece.region for piece in pieces if not isinstance(piece, bytes)]
    try:
        for number, piece in enumerate(pieces):
            if isinstance(piece, bytes):
                more = socket.MSG_MORE if number + 1 < len(pieces) else 0
                connection.sendall(piece, more)
            elif piece.region.send_to(connection.fileno()) < piece.region.length:
                raise OSError(f"{piece.region.file.path} was cut while it was sent")
    finally:
        for region in regions:
            region.release()
