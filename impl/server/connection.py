"""A client's connection: requests and responses as frames, in order; it reconnects after a failure.

A sender that gets no response in time closes its connection, so that a late response is never taken
for the response to a later request.
"""

from __future__ import annotations

import select
import socket
import threading
from typing import Any

from impl.server.limits import REQUEST_BYTES
from impl.wire import (
    Fields,
    FrameTooLarge,
    Header,
    Malformed,
    api_key,
    decode_response,
    encode_request,
    error_name,
    size_of,
)

Address = tuple[str, int]


class Disconnected(OSError):
    """The other side is unreachable, closed the connection, or did not respond in time."""


class UnsupportedVersion(Exception):
    """The broker offers no version of an API that this client knows."""


def read_exactly(connection: socket.socket, size: int, may_end: bool = False) -> bytes:
    """Read exactly that many bytes. Disconnected if the connection ends within them; with
    ``may_end`` an end before the first byte returns no bytes."""
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
    return parts[0] if len(parts) == 1 else b"".join(parts)


def read_size(connection: socket.socket, largest: int) -> int | None:
    """The length of the next frame; None if the connection ended before it. Disconnected for an
    invalid length."""
    prefix = read_exactly(connection, 4, may_end=True)
    if not prefix:
        return None
    try:
        return size_of(prefix, largest)
    except FrameTooLarge as error:
        raise Disconnected(str(error)) from error


class FrameConnection:
    """A client connection of frames; it connects at first use, and reconnects after a failure."""

    def __init__(self, address: Address, timeout_s: float = 30.0) -> None:
        self.address = address
        self.timeout_s = timeout_s
        self._socket: socket.socket | None = None
        self._closed = False
        self._turn = threading.Lock()

    def exchange(self, frame: bytes, timeout_s: float | None = None) -> bytes:
        """Send a frame, which begins with its length, and wait for its response.

        Disconnected: then it is unknown whether the request arrived.
        """
        with self._turn:
            connection = self._send(frame, self.timeout_s if timeout_s is None else timeout_s)
            try:
                size = read_size(connection, 2 * REQUEST_BYTES)
                if size is None:
                    raise Disconnected("the connection ended before the answer came")
                return read_exactly(connection, size)
            except OSError as error:
                raise self._broken(error) from error

    def send_without_response(self, frame: bytes) -> None:
        """Send a frame that has no response. Disconnected."""
        with self._turn:
            self._send(frame, self.timeout_s)

    def _send(self, frame: bytes, patience_s: float) -> socket.socket:
        try:
            connection = self._connected(patience_s)
            connection.settimeout(patience_s)
            connection.sendall(frame)
        except OSError as error:
            raise self._broken(error) from error
        return connection

    def _broken(self, error: OSError) -> Disconnected:
        """The connection is of no use any more: why."""
        self._drop()
        if isinstance(error, Disconnected):
            return error
        host, port = self.address
        return Disconnected(f"{host}:{port}: {error or type(error).__name__}")

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
        """Close it for good, from any thread; a waiting thread gets Disconnected."""
        self._closed = True
        connection = self._socket
        if connection is not None:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                connection.close()


class Connection(FrameConnection):
    """A client connection to a broker, in Kafka's protocol. ``client_id`` names the client."""

    def __init__(self, address: Address, timeout_s: float = 30.0, client_id: str = "") -> None:
        super().__init__(address, timeout_s)
        self.client_id = client_id
        self._asked = 0
        self._offered: dict[int, int] | None = None

    def ask(
        self,
        api: str,
        version: int,
        body: Any,
        timeout_s: float | None = None,
        correlation: int | None = None,
    ) -> Any:
        """Send a request in a version, and return the body of its response. Disconnected.

        A request without a number gets the next one.
        """
        key, number = api_key(api), self._number(correlation)
        frame = encode_request(Header(key, version, number, self.client_id), body)
        try:
            answer = decode_response(self.exchange(frame, timeout_s), key, version)
        except Malformed as error:
            raise self._broken(Disconnected(f"no answer to {api}: {error}")) from error
        if answer.correlation != number:
            text = f"an answer to request {answer.correlation}, not to {number}"
            raise self._broken(Disconnected(text))
        return answer.body

    def request_without_response(self, api: str, version: int, body: Any) -> None:
        """Send a request that has no response (Produce with acks=0). Disconnected."""
        header = Header(api_key(api), version, self._number(None), self.client_id)
        self.send_without_response(encode_request(header, body))

    def _number(self, given: int | None) -> int:
        if given is not None:
            return given
        number, self._asked = self._asked, (self._asked + 1) & 0x7FFFFFFF
        return number

    def newest(self, api: str, known: int) -> int:
        """The newest version of an API that both the broker and this client know.

        ApiVersions is sent once per connection. Disconnected, UnsupportedVersion.
        """
        if self._offered is None:
            answer = self.ask("ApiVersions", 0, Fields())
            if answer.error_code:
                raise UnsupportedVersion(f"ApiVersions: {error_name(answer.error_code)}")
            self._offered = {one.api_key: one.max_version for one in answer.api_keys}
        latest = self._offered.get(api_key(api))
        if latest is None:
            name = "".join(f"_{one}" if one.isupper() else one.upper() for one in api)
            raise UnsupportedVersion(f"The broker does not support {name.removeprefix('_')}")
        return min(known, latest)

    def _drop(self) -> None:
        super()._drop()
        self._offered = None  # another release may listen there next


def _has_ended(connection: socket.socket) -> bool:
    """The other side has closed it; between two questions nothing else can have come."""
    asked = select.poll()
    asked.register(connection, select.POLLIN)
    return bool(asked.poll(0))
