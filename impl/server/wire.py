"""Messages between processes: frames over loopback sockets, a header in JSON and bytes behind it.

A frame is two lengths (4 bytes each, big endian), the header, the body. Requests and answers go
in turn on one connection: a sender that hears nothing in time closes it, so an answer can never be
taken for that of another question. A listener tells by the first bytes of a connection whether it
is Kafka's protocol that comes (``impl.wire``), and hands its frames on whole.
"""

from __future__ import annotations

import json
import select
import socket
import socketserver
import struct
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from impl.log.region import Region
from impl.server.limits import (
    REQUEST_BYTES,
    STALL_S,
    ConnectionQuotas,
    Limits,
    MemoryPool,
    Slots,
    TooManyConnections,
    give_up_after,
)
from impl.wire import FrameTooLarge, size_of

_LENGTHS = struct.Struct(">II")
Address = tuple[str, int]


class Message(NamedTuple):
    """A header and what comes behind it: bytes, or regions of files, which are never looked at.

    Regions are ``held``: they are let go of once they were sent.
    """

    head: dict[str, Any]
    body: bytes = b""
    regions: tuple[Region, ...] = ()


class Disconnected(OSError):
    """The other side is not there, went away, or said nothing in time."""


def send(connection: socket.socket, message: Message) -> None:
    """Send one frame whole; the connection is of no use after an OSError."""
    try:
        head = json.dumps(message.head, separators=(",", ":")).encode()
        size = len(message.body) + sum(region.length for region in message.regions)
        connection.sendall(_LENGTHS.pack(len(head), size) + head + message.body)
        for region in message.regions:
            if region.send_to(connection.fileno()) < region.length:
                raise OSError(f"{region.file.path} was cut while it was sent")
    finally:
        for region in message.regions:
            region.release()


def receive(connection: socket.socket, largest: int = REQUEST_BYTES) -> Message | None:
    """The next frame; None where the other side ended between two. Disconnected for anything else
    that is no frame, and for one beyond ``largest`` bytes.
    """
    lengths = receive_lengths(connection, largest)
    return None if lengths is None else receive_rest(connection, *lengths)


def receive_lengths(connection: socket.socket, largest: int) -> tuple[int, int] | None:
    """How long header and body of the next frame are; None where the other side ended before."""
    lengths = _read(connection, _LENGTHS.size, may_end=True)
    if not lengths:
        return None
    head_size, body_size = _LENGTHS.unpack(lengths)
    if head_size + body_size > largest:
        raise Disconnected(f"a frame of {head_size + body_size} bytes; {largest} is the most")
    return head_size, body_size


def receive_rest(connection: socket.socket, head_size: int, body_size: int) -> Message:
    """What follows the lengths."""
    try:
        head = json.loads(_read(connection, head_size))
    except ValueError as error:
        raise Disconnected("the header of a frame is no JSON") from error
    if not isinstance(head, dict):
        raise Disconnected("the header of a frame is no JSON object")
    return Message(head, _read(connection, body_size))


def _read(connection: socket.socket, size: int, may_end: bool = False) -> bytes:
    parts: list[bytes] = []
    missing = size
    while missing:
        part = connection.recv(min(missing, 1 << 20))
        if not part:
            if may_end and not parts:
                return b""
            raise Disconnected("the connection ended within a frame")
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


class Connection:
    """A client's side: connected when first used, and again after it broke.

    ``client_id`` names the asker, as the headers of Kafka's requests do; with it, requests are
    numbered unless they have a number.
    """

    def __init__(self, address: Address, timeout_s: float = 30.0, client_id: str = "") -> None:
        self.address = address
        self.client_id = client_id
        self._asked = 0
        self.timeout_s = timeout_s
        self._socket: socket.socket | None = None
        self._closed = False
        self._turn = threading.Lock()

    def ask(
        self, head: dict[str, Any], body: bytes = b"", timeout_s: float | None = None
    ) -> Message:
        """Send a request and wait for its answer; Disconnected, and then nobody knows whether it
        was heard.
        """
        with self._turn:
            patience = self.timeout_s if timeout_s is None else timeout_s
            try:
                connection = self._connected(patience)
                connection.settimeout(patience)
                send(connection, Message(self._header(head), body))
                answer = receive(connection)
                if answer is None:
                    raise Disconnected("the connection ended before the answer came")
            except OSError as error:
                self._drop()
                if isinstance(error, Disconnected):
                    raise
                host, port = self.address
                raise Disconnected(f"{host}:{port}: {error or type(error).__name__}") from error
            return answer

    def _header(self, head: dict[str, Any]) -> dict[str, Any]:
        if not self.client_id:
            return head
        number, self._asked = self._asked, self._asked + 1
        return {"correlation": number, **head, "client_id": self.client_id}

    def _connected(self, patience_s: float) -> socket.socket:
        if self._closed:
            raise Disconnected("the connection was closed on this side")
        if self._socket is not None and _has_ended(self._socket):
            self._drop()  # it was idle for too long: nothing was asked on it
        if self._socket is None:
            self._socket = socket.create_connection(self.address, timeout=min(patience_s, 5.0))
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._socket

    def _drop(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def close(self) -> None:
        """End it for good, from any thread; whoever waits for an answer is Disconnected."""
        self._closed = True
        connection = self._socket
        if connection is not None:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                connection.close()


def _has_ended(connection: socket.socket) -> bool:
    """The other side has closed it; between two questions nothing else can have come."""
    asked = select.poll()
    asked.register(connection, select.POLLIN)
    return bool(asked.poll(0))


Answer = Callable[[dict[str, Any], bytes], Message]
KafkaAnswer = Callable[[bytes, str], list[Any] | None]
"""Takes a frame of Kafka's protocol and the address of who sent it; gives the answer's pieces, None
if none is due. What it raises ends the connection.
"""


class Listener:
    """A server: every connection is answered in a thread of its own, in order.

    OSError if the port is taken. ``trouble`` is told of what a handler could not deal with,
    ``rejected`` of connections that were one too many.
    """

    def __init__(
        self,
        address: Address,
        answer: Answer,
        trouble: Callable[[BaseException], None] = lambda error: None,
        limits: Limits | None = None,
        rejected: Callable[[str], None] = lambda text: None,
        kafka: KafkaAnswer | None = None,
    ) -> None:
        self.kafka = kafka
        self.limits = limits or Limits()
        self.slots = Slots(self.limits.handled)
        self._quotas = ConnectionQuotas(self.limits)
        self._memory = MemoryPool(self.limits.queued_bytes)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._stopped = False
        listener = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                try:
                    listener._serve(self.request, self.client_address[0], answer, trouble)
                finally:
                    listener._quotas.give_back(self.client_address[0])

        class Server(_Server):
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
        """Let clients in."""
        self._thread.start()

    def _serve(
        self, connection: socket.socket, host: str, answer: Answer,
        trouble: Callable[[BaseException], None],
    ) -> None:  # fmt: skip
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            self._open.add(connection)
        try:
            give_up_after(connection, self.limits.idle_s)
            kafka = self.kafka
            if kafka is not None and _begins_as_kafka(connection, self.limits.request_bytes):
                while not self._stopped and self._served_kafka(connection, host, kafka, trouble):
                    pass
                return
            while not self._stopped:
                give_up_after(connection, self.limits.idle_s)
                lengths = receive_lengths(connection, self.limits.request_bytes)
                if lengths is None:
                    return
                with self._memory.room(sum(lengths)):
                    if self.limits.idle_s:
                        give_up_after(connection, min(STALL_S, self.limits.idle_s))
                    request = receive_rest(connection, *lengths)
                    reply = self._answered(request, answer, trouble)
                    del request
                send(connection, reply)
        except OSError:
            return  # the client went away; it will connect again if it wants something
        finally:
            with self._lock:
                self._open.discard(connection)

    def _served_kafka(
        self, connection: socket.socket, host: str, answer: KafkaAnswer,
        trouble: Callable[[BaseException], None],
    ) -> bool:  # fmt: skip
        """One frame of Kafka's, and its answer; False where the connection is over."""
        give_up_after(connection, self.limits.idle_s)
        prefix = _read(connection, 4, may_end=True)
        if not prefix:
            return False
        try:
            size = size_of(prefix, self.limits.request_bytes)
        except FrameTooLarge as error:
            raise Disconnected(str(error)) from error
        with self._memory.room(size):
            if self.limits.idle_s:
                give_up_after(connection, min(STALL_S, self.limits.idle_s))
            frame = _read(connection, size)
            with self.slots.taken():
                try:
                    pieces = answer(frame, host)
                except Exception as error:
                    trouble(error)
                    return False
            del frame
        if pieces is not None:
            _send_pieces(connection, pieces)
        return True

    def _answered(
        self, request: Message, answer: Answer, trouble: Callable[[BaseException], None]
    ) -> Message:
        with self.slots.taken():
            try:
                return answer(request.head, request.body)
            except Exception as error:
                trouble(error)
                text = f"{type(error).__name__}: {error}"
                return Message({"error": "UNKNOWN_SERVER_ERROR", "message": text})

    def close(self) -> None:
        """Let nobody in any more, and end what is open."""
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


def _begins_as_kafka(connection: socket.socket, largest: int) -> bool:
    """The first frame is Kafka's: the header of one of ours begins where its correlation id is.

    Nothing is taken from the connection. Disconnected for a length that neither has.
    """
    peek = socket.MSG_PEEK | socket.MSG_WAITALL
    size = int.from_bytes(connection.recv(4, peek).ljust(4, b"\0"), "big", signed=True)
    if not 0 <= size <= largest:
        raise Disconnected(f"a frame of {size} bytes; {largest} is the most")
    if size < _LEAST_HEADER:
        return True
    return connection.recv(10, peek)[8:] != b'{"'


_LEAST_HEADER = len('{"api":"Fetch"}')


def _send_pieces(connection: socket.socket, pieces: list[Any]) -> None:
    """Send bytes, and what has a ``region`` from its file; regions are let go of."""
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


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
