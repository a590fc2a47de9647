"""Frames that are nearly requests of Kafka's: any API in any version, wrong in a few places.

A third is noise, or begins as a request and goes on as noise. The rest has every field that its
version has, with values that are right, at the edge or beyond; of most some bytes are changed, cut
or put in then. Connections end after some frames, whether their requests were answered or not.
"""

from __future__ import annotations

import random
import socket
import struct
import types
import typing
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import fields, is_dataclass
from datetime import timedelta
from functools import cache
from typing import Any
from uuid import UUID

from kio.index import load_request_schema
from kio.serial.errors import SerialError

from impl.log import StoredRecord, encode_batch
from impl.releases import Release
from impl.server.apis.versions import offered
from impl.wire import Fields, Header, api_key, api_name, encode_request, versions_of

OF_CONTROLLERS = ("LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown", "AlterIsr")
"""What brokers and controllers ask: a broker that is asked so obeys, and is of no use after."""

MAKE_MUCH = ("CreateTopics", "CreatePartitions")
"""Kafka too makes as many partitions as it is asked to: these have small numbers only, and none of
their bytes is changed."""

BATCH = encode_batch([StoredRecord(0, 1, b"k", b"v")])
NAMES = ("", "fuzz", "fuzz-1", "fuzz.2", "..", "no/name", "x" * 240, "__consumer_offsets", "ü\0\n")
"""The long one and any partition's number fit in 255 bytes: a controller that asks for a directory
that no file system can have fails the log directory, and so ends the broker, as Kafka's.
"""
BITS = {"int8": 8, "int16": 16, "uint16": 16, "int32": 32, "int64": 64}
PER_CONNECTION = 40


def apis_of(release: str, of_controllers: bool = False) -> list[str]:
    """What a release offers to clients, or to controllers and brokers alone."""
    names = [api_name(key) for key, _, _ in offered(Release.of(release))]
    return [one for one in names if (one in OF_CONTROLLERS) == of_controllers]


def wrong_frame(chance: random.Random, apis: list[str], topic: str) -> bytes:
    """A frame with its length. What no field can hold is noise instead."""
    if not chance.randrange(8):
        return _framed(chance.randbytes(chance.randrange(1, 64)))
    name = chance.choice(apis)
    version = chance.choice(versions_of(api_key(name)))
    if not chance.randrange(5):
        head = struct.pack(">hhih", api_key(name), version, 1, 4) + b"fuzz"
        return _framed(head + chance.randbytes(chance.randrange(80)))
    try:
        header = Header(api_key(name), version, chance.randrange(1 << 31), "fuzz")
        frame = bytearray(encode_request(header, any_body(chance, name, version, topic))[4:])
    except (SerialError, ValueError, TypeError, struct.error, ArithmeticError):
        return _framed(chance.randbytes(30))
    for _ in range(chance.choice((0, 0, 1, 1, 2, 5))):
        if len(frame) <= 8 or name in MAKE_MUCH:
            break
        at = chance.randrange(8, len(frame))
        change = chance.randrange(4)
        if change == 0:
            frame[at] = chance.randrange(256)
        elif change == 1:
            del frame[at:]
        elif change == 2:
            frame[at:at] = chance.randbytes(chance.randrange(1, 9))
        else:
            frame[at : at + 4] = struct.pack(">i", chance.choice((-1, -2, 2**31 - 1, 1 << 20)))
    return _framed(bytes(frame))


def fuzz(
    address: tuple[str, int], frames: int, seed: int, topic: str, apis: Iterable[str]
) -> int:  # fmt: skip
    """Send so many to one broker; on how many connections."""
    chance, named = random.Random(seed), list(apis)
    connection: socket.socket | None = None
    left = opened = 0
    for _ in range(frames):
        with suppress(OSError):
            if connection is None:
                connection = socket.create_connection(address, timeout=5)
                connection.setblocking(False)
                left, opened = chance.randint(1, PER_CONNECTION), opened + 1
            connection.sendall(wrong_frame(chance, named, topic))
            with suppress(BlockingIOError):
                if connection.recv(1 << 16) == b"":
                    left = 0
            left -= 1
            if left > 0:
                continue
        if connection is not None:
            connection.close()
        connection = None
    if connection is not None:
        connection.close()
    return opened


def _framed(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def any_body(chance: random.Random, name: str, version: int, topic: str) -> Any:
    """The body of a request, with any values that its fields can hold."""
    return _entity(chance, load_request_schema(api_key(name), version), topic, name in MAKE_MUCH)


@cache
def _shape(schema: Any) -> tuple[tuple[str, Any, str], ...]:
    """An entity's fields: name, type, and Kafka's name of the type."""
    hints = typing.get_type_hints(schema)
    return tuple(
        (one.name, hints[one.name], str(one.metadata.get("kafka_type", "")))
        for one in fields(schema)
    )


def _entity(chance: random.Random, schema: Any, topic: str, small: bool) -> Any:
    return Fields(**{
        name: _value(chance, hint, kind, topic, small) for name, hint, kind in _shape(schema)
    })  # fmt: skip


def _value(chance: random.Random, hint: Any, kind: str, topic: str, small: bool) -> Any:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        if not chance.randrange(4):
            return None
        hint = next(one for one in typing.get_args(hint) if one is not type(None))
    if typing.get_origin(hint) is tuple:
        one = typing.get_args(hint)[0]
        count = chance.choice((0, 1, 1, 1, 2, 3))
        return tuple(_value(chance, one, kind, topic, small) for _ in range(count))
    if is_dataclass(hint):
        return _entity(chance, hint, topic, small)
    return _plain(chance, kind, topic, small)


def _plain(chance: random.Random, kind: str, topic: str, small: bool) -> Any:
    if kind in BITS:
        most = (1 << BITS[kind] - (kind[0] != "u")) - 1
        if small:
            return chance.choice((-1, 0, 1, 2, 3)) if kind[0] != "u" else 1
        found = chance.choice((0, 0, 1, -1, 2, 3, 100, most, -most - 1, chance.randrange(most)))
        return abs(found) & most if kind[0] == "u" else found
    if kind == "string":
        return chance.choice((topic, topic, *NAMES))
    if kind in ("bytes", "records"):
        cut = BATCH[: chance.randrange(len(BATCH))]
        return chance.choice((BATCH, BATCH, BATCH + BATCH, cut, b"", chance.randbytes(40)))
    if kind.startswith("timedelta"):
        return timedelta(milliseconds=chance.choice((0, 1, 50, 6000, 60_000, 2**31 - 1)))
    if kind == "bool":
        return bool(chance.randrange(2))
    if kind == "uuid":
        return UUID(int=chance.getrandbits(128))
    if kind == "float64":
        return chance.choice((0.0, 1.5, float("inf")))
    return 0
