"""Checks that the lengths in a message fit into its bytes, before anything is allocated.

kio allocates as many elements as the length of an array says. A few bytes with a length of two
billion would end the process. Kafka had the same bug (OutOfMemoryError: KAFKA-14063,
CVE-2022-34917). This pass checks every length before any field is decoded: no array may have more
elements than fit into the remaining bytes.
"""

from __future__ import annotations

import struct
import types
import typing
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, NamedTuple

Walk = Callable[[bytes, int, int], int]
"""From an offset to the one behind a field; the third is where the message ends. WrongLength."""

_I16 = struct.Struct(">h")
_I32 = struct.Struct(">i")
_FIXED = {
    "bool": 1, "int8": 1, "int16": 2, "uint16": 2, "error_code": 2, "int32": 4, "uint32": 4,
    "timedelta_i32": 4, "int64": 8, "uint64": 8, "float64": 8, "timedelta_i64": 8,
    "datetime_i64": 8, "uuid": 16,
}  # fmt: skip
_WITH_LENGTH = ("string", "bytes", "records")


class WrongLength(ValueError):
    """A length that exceeds its message, or null in a field that is not nullable."""


class _Field(NamedTuple):
    """``size`` in bytes if it is fixed; ``least`` is the minimum in any case."""

    size: int | None
    least: int
    walk: Walk


def end_of(schema: Any, frame: bytes, at: int) -> int:
    """The offset after a kio entity; WrongLength."""
    return _entity(schema).walk(frame, at, len(frame))


def _skip(size: int) -> Walk:
    def walk(_frame: bytes, at: int, end: int) -> int:
        if end - at < size:
            raise WrongLength(f"{size} bytes are due, and {end - at} left")
        return at + size

    return walk


def _varint(frame: bytes, at: int, end: int) -> tuple[int, int]:
    """An unsigned number, 7 bits a byte, and the offset behind it."""
    found = shift = 0
    while at < end and shift < 35:
        byte = frame[at]
        at += 1
        found |= (byte & 127) << shift
        if byte < 128:
            return found, at
        shift += 7
    raise WrongLength("a number has no end")


def _length(frame: bytes, at: int, end: int, packed: struct.Struct | None) -> tuple[int, int]:
    """A length, -1 for null, and the offset behind it. ``packed`` is None in a flexible version."""
    if packed is None:
        number, at = _varint(frame, at, end)
        return number - 1, at
    if end - at < packed.size:
        raise WrongLength("a length is cut")
    (number,) = packed.unpack_from(frame, at)
    if number < -1:
        raise WrongLength(f"{number} is no length")
    return number, at + packed.size


def _text(packed: struct.Struct | None) -> Walk:
    def walk(frame: bytes, at: int, end: int) -> int:
        size, at = _length(frame, at, end, packed)
        if size > end - at:
            raise WrongLength(f"{size} bytes are due, and {end - at} left")
        return at + max(0, size)

    return walk


def _array(element: _Field, packed: struct.Struct | None, nullable: bool) -> Walk:
    def walk(frame: bytes, at: int, end: int) -> int:
        count, at = _length(frame, at, end, packed)
        if count < 0 and not nullable:
            raise WrongLength("an array is null that cannot be")
        if count * element.least > end - at:
            raise WrongLength(f"{count} elements are due, and {end - at} bytes left")
        if element.size is not None:
            return at + max(0, count) * element.size
        for _ in range(count):
            at = element.walk(frame, at, end)
        return at

    return walk


def _nullable(element: _Field) -> Walk:
    """An entity that may be missing: a byte says whether it is there."""

    def walk(frame: bytes, at: int, end: int) -> int:
        if at >= end:
            raise WrongLength("an entity is cut")
        return at + 1 if frame[at] > 127 else element.walk(frame, at + 1, end)

    return walk


def _tags(known: dict[int, Walk]) -> Walk:
    def walk(frame: bytes, at: int, end: int) -> int:
        count, at = _varint(frame, at, end)
        for _ in range(count):
            tag, at = _varint(frame, at, end)
            size, at = _varint(frame, at, end)
            if size > end - at:
                raise WrongLength(f"a tagged field of {size} bytes, and {end - at} are left")
            if tag in known:
                known[tag](frame, at, at + size)
            at += size
        return at

    return walk


def _entity(schema: Any) -> _Field:
    return _walker_of(schema)


@cache
def _walker_of(schema: Any) -> _Field:
    hints = typing.get_type_hints(schema)
    parts: list[_Field] = []
    tags: dict[int, Walk] = {}
    for one in fields(schema):
        made = _field(hints[one.name], str(one.metadata.get("kafka_type", "")), schema)
        if "tag" in one.metadata:
            tags[one.metadata["tag"]] = made.walk
        else:
            parts.append(made)
    if schema.__flexible__:
        parts.append(_Field(None, 1, _tags(tags)))
    return _joined(parts)


def _joined(parts: Sequence[_Field]) -> _Field:
    """Fields one after the other; neighbours of fixed sizes are passed at once."""
    walks, fixed, least = list[Walk](), 0, sum(one.least for one in parts)
    for one in parts:
        if one.size is not None:
            fixed += one.size
            continue
        if fixed:
            walks.append(_skip(fixed))
            fixed = 0
        walks.append(one.walk)
    if not walks:
        return _Field(fixed, max(1, least), _skip(fixed))
    if fixed:
        walks.append(_skip(fixed))

    def walk(frame: bytes, at: int, end: int) -> int:
        for each in walks:
            at = each(frame, at, end)
        return at

    return _Field(None, max(1, least), walk)


def _field(hint: Any, kind: str, schema: Any) -> _Field:
    nullable = typing.get_origin(hint) in (typing.Union, types.UnionType)
    if nullable:
        hint = next(one for one in typing.get_args(hint) if one is not type(None))
    compact = schema.__flexible__
    if typing.get_origin(hint) is tuple:
        element = _field(typing.get_args(hint)[0], kind, schema)
        return _Field(
            None, 1 if compact else 4, _array(element, None if compact else _I32, nullable)
        )
    if is_dataclass(hint):
        made = _entity(hint)
        return _Field(None, 1, _nullable(made)) if nullable else made
    if kind in _WITH_LENGTH:
        packed = None if compact else _I16 if kind == "string" else _I32
        return _Field(None, 1 if packed is None else packed.size, _text(packed))
    return _Field(_FIXED[kind], _FIXED[kind], _skip(_FIXED[kind]))
