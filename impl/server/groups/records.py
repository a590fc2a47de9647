"""Records of ``__consumer_offsets``: keys and values, in the versions of each release.

The version of a key is the type of its record: 0 and 1 for an offset that a group committed, 2 for
a group's members. A value of None is a tombstone. Source: GroupMetadataManager (schemas; versions
of values by inter.broker.protocol.version), 0.10.0 to 2.8.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import NamedTuple

from impl.releases import Release
from impl.znodes import TopicPartition

OFFSET_KEY, GROUP_KEY = 1, 2
DAY_MS = 86_400_000


class CommittedOffset(NamedTuple):
    """A committed offset of a group; ``leader_epoch`` is -1 if the commit had none."""

    offset: int
    leader_epoch: int = -1
    metadata: str = ""
    timestamp: int = -1


@dataclass(frozen=True)
class StoredMember:
    """A stored member; times in ms."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_ms: int
    session_ms: int
    subscription: bytes
    assignment: bytes


@dataclass(frozen=True)
class StoredGroup:
    """A stored generation of a group, with its assignment."""

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    changed_ms: int = -1
    members: tuple[StoredMember, ...] = field(default=())


class UnknownRecord(ValueError):
    """A key or a value is truncated, or of an unknown version."""


def offset_key(group: str, partition: TopicPartition) -> bytes:
    """The key of a committed offset."""
    return (
        struct.pack(">h", OFFSET_KEY)
        + _text(group)
        + _text(partition.topic)
        + struct.pack(">i", partition.partition)
    )


def group_key(group: str) -> bytes:
    """The key of a group's members."""
    return struct.pack(">h", GROUP_KEY) + _text(group)


def offset_value(committed: CommittedOffset, protocol: Release) -> bytes:
    """The value of an offset by inter-broker protocol: version 1, or 3 since 2.1."""
    offset, epoch, metadata, at = committed
    if protocol.since("2.1"):
        return struct.pack(">hqi", 3, offset, epoch) + _text(metadata) + struct.pack(">q", at)
    return struct.pack(">hq", 1, offset) + _text(metadata) + struct.pack(">qq", at, at + DAY_MS)


def group_value(group: StoredGroup, protocol: Release) -> bytes:
    """The value of a group: version 0, 1 since 0.10.1, 2 since 2.1, 3 since 2.3."""
    version = sum(protocol.since(one) for one in ("0.10.1", "2.1", "2.3"))
    parts = [
        struct.pack(">h", version), _text(group.protocol_type), struct.pack(">i", group.generation),
        _text(group.protocol), _text(group.leader),
    ]  # fmt: skip
    if version >= 2:
        parts.append(struct.pack(">q", group.changed_ms))
    parts.append(struct.pack(">i", len(group.members)))
    for one in group.members:
        parts.append(_text(one.member_id))
        if version >= 3:
            parts.append(_text(one.instance_id))
        parts += [_text(one.client_id), _text(one.client_host)]
        if version >= 1:
            parts.append(struct.pack(">i", one.rebalance_ms))
        parts.append(struct.pack(">i", one.session_ms))
        parts += [_bytes(one.subscription), _bytes(one.assignment)]
    return b"".join(parts)


def read_key(data: bytes) -> tuple[str, TopicPartition | None]:
    """The group, and the partition if the key is of an offset. UnknownRecord."""
    read = _Reader(data)
    version = read.number("h")
    if version in (0, OFFSET_KEY):
        return read.text() or "", TopicPartition(read.text() or "", read.number("i"))
    if version == GROUP_KEY:
        return read.text() or "", None
    raise UnknownRecord(f"a key of version {version}")


def read_offset(data: bytes) -> CommittedOffset:
    """Decode the value of an offset, in any version. UnknownRecord."""
    read = _Reader(data)
    version = read.number("h")
    if not 0 <= version <= 3:
        raise UnknownRecord(f"an offset of version {version}")
    offset = read.number("q")
    epoch = read.number("i") if version == 3 else -1
    metadata = read.text() or ""
    return CommittedOffset(offset, epoch, metadata, read.number("q"))


def read_group(data: bytes) -> StoredGroup:
    """Decode the value of a group, in any version. UnknownRecord."""
    read = _Reader(data)
    version = read.number("h")
    if not 0 <= version <= 3:
        raise UnknownRecord(f"a group of version {version}")
    kind, generation = read.text() or "", read.number("i")
    protocol, leader = read.text(), read.text()
    changed = read.number("q") if version >= 2 else -1
    members = []
    for _ in range(read.number("i")):
        member = read.text() or ""
        instance = read.text() if version >= 3 else None
        client, host = read.text() or "", read.text() or ""
        rebalance = read.number("i") if version >= 1 else None
        session = read.number("i")
        members.append(
            StoredMember(
                member, instance, client, host, session if rebalance is None else rebalance,
                session, read.data_field(), read.data_field(),
            )
        )  # fmt: skip
    return StoredGroup(kind, generation, protocol, leader, changed, tuple(members))


def _text(text: str | None) -> bytes:
    if text is None:
        return struct.pack(">h", -1)
    data = text.encode()
    return struct.pack(">h", len(data)) + data


def _bytes(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def number(self, code: str) -> int:
        try:
            (value,) = struct.unpack_from(f">{code}", self.data, self.at)
        except struct.error as error:
            raise UnknownRecord(f"cut at byte {self.at}") from error
        self.at += struct.calcsize(code)
        return int(value)

    def text(self) -> str | None:
        size = self.number("h")
        return None if size < 0 else self._take(size).decode(errors="replace")

    def data_field(self) -> bytes:
        return self._take(max(0, self.number("i")))

    def _take(self, size: int) -> bytes:
        if self.at + size > len(self.data):
            raise UnknownRecord(f"cut at byte {self.at}")
        self.at += size
        return self.data[self.at - size : self.at]
