"""Requests and responses of any API in any version, with their headers and error codes.

kio's classes define the header of each message: a flexible version has tagged fields (KIP-482),
ControlledShutdown v0 names no client, and a response to ApiVersions always has header v0, so that a
client which does not know the broker's versions can read it.
"""

from __future__ import annotations

import io
import struct
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

from kio.index import UnknownEntity, load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode
from kio.schema.index import api_key_map, schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.serial.errors import SerialError
from kio.static.constants import EntityType

from impl.wire.lengths import end_of

Fields = SimpleNamespace
"""A message, or a part of one, with the fields of all its versions: each version writes its own."""

API_VERSIONS = 18
_KEY_AND_VERSION = struct.Struct(">hh")
_CORRELATION = struct.Struct(">i")
_NAMES = {key: name.title().replace("_", "") for key, name in api_key_map.items()}
_NAMES[56] = "AlterIsr"  # up to 2.8; kio has its name of 3.0, AlterPartition
_KEYS = {name: key for key, name in _NAMES.items()}
_OTHER_ERROR_NAMES = {
    "NOT_LEADER_FOR_PARTITION": "not_leader_or_follower",  # up to 2.5
    "GROUP_LOAD_IN_PROGRESS": "coordinator_load_in_progress",  # up to 0.11
    "GROUP_COORDINATOR_NOT_AVAILABLE": "coordinator_not_available",
    "NOT_COORDINATOR_FOR_GROUP": "not_coordinator",
    "PREFERRED_LEADER_NOT_AVAILABLE": "preferred_leader_not_available",
    "INVALID_TOPIC": "invalid_topic_exception",
}


class Malformed(ValueError):
    """Bytes that are not a valid message."""


class Header(NamedTuple):
    """The header of a request; ``client_id`` may be missing."""

    key: int
    version: int
    correlation: int
    client_id: str | None = None


class UnknownApi(Malformed):
    """A request with an unassigned API key."""


class UnknownVersion(Malformed):
    """A request in a version that its API does not have; ``header`` was read nevertheless."""

    def __init__(self, header: Header) -> None:
        super().__init__(f"no version {header.version} of {api_name(header.key)}")
        self.header = header


class Request(NamedTuple):
    """A request; ``body`` is kio's class of its API and version, with records as bytes."""

    header: Header
    body: Any


class Response(NamedTuple):
    """A response to the request with the same correlation id on its connection."""

    correlation: int
    body: Any


def api_name(key: int) -> str:
    """Kafka's name of an API, such as LeaderAndIsr; UnknownApi."""
    try:
        return _NAMES[key]
    except KeyError:
        raise UnknownApi(f"no API has the key {key}") from None


def api_key(name: str) -> int:
    """The key of an API; UnknownApi."""
    try:
        return _KEYS[name]
    except KeyError:
        raise UnknownApi(f"no API is called {name}") from None


@cache
def versions_of(key: int) -> range:
    """The supported versions of an API; UnknownApi."""
    api_name(key)
    known = [
        version
        for version, kinds in schema_name_map[api_key_map[key]].items()
        if EntityType.request in kinds
    ]
    return range(min(known), max(known) + 1)


def decode_header(frame: bytes) -> tuple[Header, int]:
    """The header of a request, and the offset of its body. Malformed, UnknownApi, UnknownVersion.

    ApiVersions in an unknown version is read as far as its client id, as brokers have to.
    """
    if len(frame) < _KEY_AND_VERSION.size + _CORRELATION.size:
        raise Malformed(f"a request of {len(frame)} bytes has no header")
    key, version = _KEY_AND_VERSION.unpack_from(frame)
    (correlation,) = _CORRELATION.unpack_from(frame, _KEY_AND_VERSION.size)
    try:
        schema = _request_class(key, version)
    except UnknownEntity:
        raise UnknownVersion(Header(key, version, correlation)) from None
    read, size = _read(schema.__header_schema__, frame, 0)
    return Header(key, version, correlation, getattr(read, "client_id", None)), size


def decode_request(frame: bytes) -> Request:
    """A request (without its length). Malformed, UnknownApi, UnknownVersion."""
    header, at = decode_header(frame)
    return decode_body(frame, header, at)


def decode_body(frame: bytes, header: Header, at: int) -> Request:
    """Decode the body of a request, whose header ended at ``at``. Malformed."""
    return Request(header, _read(_request_class(header.key, header.version), frame, at)[0])


def decode_response(frame: bytes, key: int, version: int) -> Response:
    """Decode a response of that API and version. Malformed, UnknownApi, UnknownVersion.

    A response to ApiVersions with UNSUPPORTED_VERSION is in version 0 for every requested version.
    """
    try:
        schema = _response_class(key, version)
    except UnknownEntity:
        raise UnknownVersion(Header(key, version, -1)) from None
    header, at = _read(schema.__header_schema__, frame, 0)
    return Response(header.correlation_id, _read(schema, frame, at)[0])


def encode_request(header: Header, body: Any) -> bytes:
    """A frame with its length. ``body``: kio's class, or ``Fields``. UnknownApi, UnknownVersion."""
    try:
        schema = _request_class(header.key, header.version)
    except UnknownEntity:
        raise UnknownVersion(header) from None
    frame = io.BytesIO()
    frame.write(bytes(_CORRELATION.size))
    fields = Fields(
        request_api_key=header.key,
        request_api_version=header.version,
        correlation_id=header.correlation,
        client_id=header.client_id,
    )
    _writer(schema.__header_schema__)(frame, fields)
    _writer(schema)(frame, body)
    _CORRELATION.pack_into(frame.getbuffer(), 0, frame.tell() - _CORRELATION.size)
    return frame.getvalue()


def encode_response(key: int, version: int, correlation: int, body: Any) -> list[Any]:
    """A frame with its length, in pieces: bytes, and the record objects of ``body``.

    A record object needs only a length; its content is not read. UnknownApi, UnknownVersion.
    """
    try:
        schema = _response_class(key, version)
    except UnknownEntity:
        raise UnknownVersion(Header(key, version, correlation)) from None
    pieces = _Pieces()
    _writer(schema.__header_schema__)(pieces, Fields(correlation_id=correlation))
    _writer(schema)(pieces, body)
    return pieces.framed()


class _Pieces:
    """The buffer that kio writes to: joins bytes, and keeps record objects as they are."""

    def __init__(self) -> None:
        self.pieces: list[Any] = []
        self.bytes = bytearray()

    def write(self, data: Any) -> None:
        """Append a piece."""
        if isinstance(data, bytes):
            self.bytes += data
        elif len(data):
            self.pieces += [bytes(self.bytes), data]
            self.bytes.clear()

    def framed(self) -> list[Any]:
        """All pieces, after their total length."""
        tail = [bytes(self.bytes)] if self.bytes or not self.pieces else []
        pieces = [*self.pieces, *tail]
        pieces[0] = _CORRELATION.pack(sum(map(len, pieces))) + pieces[0]
        return pieces


@cache
def _request_class(key: int, version: int) -> Any:
    api_name(key)
    return load_request_schema(key, version)


@cache
def _response_class(key: int, version: int) -> Any:
    api_name(key)
    return load_response_schema(key, version)


@cache
def _reader(schema: Any) -> Any:
    return entity_reader(schema)


@cache
def _writer(schema: Any) -> Any:
    return entity_writer(schema)


def _read(schema: Any, frame: bytes, at: int) -> tuple[Any, int]:
    """An entity at an offset, and the offset behind it."""
    try:
        if schema.__type__ is not EntityType.header:
            end_of(schema, frame, at)
        found, size = _reader(schema)(frame, at)
    except (SerialError, ValueError, KeyError, TypeError, ArithmeticError) as error:
        raise Malformed(f"no {schema.__name__}: {error}") from error
    return found, at + size


def error_code(name: str) -> ErrorCode:
    """The code of an error name; KeyError for an unknown name."""
    return ErrorCode[_OTHER_ERROR_NAMES.get(name, name.lower())]


def error_name(code: int) -> str:
    """Kafka's current name of an error code; ValueError for an unknown code."""
    return ErrorCode(code).name.upper()
