"""A consumer that is a member of a group: it joins, commits offsets, and rejoins.

It has one thread; polling also sends the heartbeats. Source: ConsumerCoordinator, ConsumerProtocol
(version 0 of subscriptions and assignments), RangeAssignor.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from impl.log import StoredRecord
from impl.server.clients import ClientError, Consumer, error_in
from impl.server.connection import Address, Connection, Disconnected, UnsupportedVersion
from impl.wire import Fields

NOBODY = ""
NO_GENERATION = -1
RANGE = "range"
FORGETS_THE_MEMBER = ("UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID")
OUT_OF_RANGE = "OFFSET_OUT_OF_RANGE"


class PollResult(NamedTuple):
    """The result of polling one partition. ``joined``: how often the member has joined."""

    joined: int
    partition: int
    position: int
    records: list[StoredRecord]
    error: str = ""


class GroupConsumer(Consumer):
    """A member of ``group``, which reads ``topic`` from its beginning.

    ``restored`` are the committed offsets that the last join found.
    """

    def __init__(self, bootstrap: Sequence[Address], group: str, topic: str) -> None:
        super().__init__(bootstrap, timeout_s=3.0)
        self.group = group
        self.topic = topic
        self.session = timedelta(milliseconds=6000)
        self.generation = NO_GENERATION
        self.joins = 0
        self.member = NOBODY
        self.positions: dict[int, int] = {}
        self.restored: dict[int, int] = {}
        self._coordinator: Address | None = None
        self._next_beat = 0.0

    @property
    def joined(self) -> bool:
        """Whether the member believes that it belongs to the group."""
        return self.generation != NO_GENERATION

    # Asking the coordinator

    def _asked(self, api: str, version: int, body: Fields, timeout_s: float | None = None) -> Any:
        """Ask the coordinator; ClientError if it cannot be found or asked, and look again then."""
        try:
            if self._coordinator is None:
                self._coordinator = self._found_coordinator()
            return self.connection(self._coordinator).ask(api, version, body, timeout_s)
        except (Disconnected, UnsupportedVersion) as error:
            self._coordinator = None
            raise ClientError("COORDINATOR_NOT_AVAILABLE", f"{api}: {error}") from error

    def _found_coordinator(self) -> Address:
        self.refresh()
        for address in list(self.addresses.values()):
            connection: Connection = self.connection(address)
            try:
                found = connection.ask("FindCoordinator", 0, Fields(key=self.group), 3.0)
            except Disconnected:
                continue
            if not found.error_code:
                return found.host, found.port
        raise ClientError("COORDINATOR_NOT_AVAILABLE", f"there is no coordinator of {self.group}")

    def _check(self, api: str, error: str) -> None:
        """ClientError for an error, after which the member joins anew."""
        if error == "NONE":
            return
        self.generation = NO_GENERATION
        if error in FORGETS_THE_MEMBER:
            self.member = NOBODY
        if error in ("NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE"):
            self._coordinator = None
        raise ClientError(error, f"{api}: {error}")

    # Joining

    def join(self) -> None:
        """Join the next generation, and continue at the committed offsets. ClientError."""
        self.generation = NO_GENERATION
        subscription = struct.pack(">hi", 0, 1) + _text(self.topic) + struct.pack(">i", 0)
        body = Fields(
            group_id=self.group, session_timeout=self.session, rebalance_timeout=self.session,
            member_id=self.member, protocol_type="consumer",
            protocols=(Fields(name=RANGE, metadata=subscription),),
        )  # fmt: skip
        patience_s = self.session.total_seconds() + 5
        version = 0 if self._oldest() else 1
        joined = self._asked("JoinGroup", version, body, patience_s)
        self._check("JoinGroup", error_in(joined))
        self.member = joined.member_id
        assignments: dict[str, list[int]] = {}
        if joined.leader == joined.member_id:
            members = sorted(one.member_id for one in joined.members)
            assignments = _shares(members, self.partitions(self.topic, time.monotonic() + 3))
        body = Fields(
            group_id=self.group, generation_id=joined.generation_id, member_id=self.member,
            assignments=[
                Fields(member_id=one, assignment=_assignment(self.topic, numbers))
                for one, numbers in assignments.items()
            ],
        )  # fmt: skip
        synced = self._asked("SyncGroup", 0, body, patience_s)
        self._check("SyncGroup", error_in(synced))
        mine = _decode_assignment(bytes(synced.assignment))
        self.restored = self._committed(mine)
        self.positions = {one: max(0, offset) for one, offset in self.restored.items()}
        self.generation = joined.generation_id
        self.joins += 1
        self._next_beat = 0.0

    def _oldest(self) -> bool:
        """The coordinator is of 0.10.0, and knows no time to rebalance (KIP-62)."""
        if self._coordinator is None:
            self._coordinator = self._found_coordinator()
        try:
            return self.connection(self._coordinator).newest("JoinGroup", 1) == 0
        except (Disconnected, UnsupportedVersion) as error:
            self._coordinator = None
            raise ClientError("COORDINATOR_NOT_AVAILABLE", str(error)) from error

    def _committed(self, partitions: Sequence[int]) -> dict[int, int]:
        """By partition, how far the group has read; -1 where it has kept nothing."""
        topics = (Fields(name=self.topic, partition_indexes=list(partitions)),)
        answer = self._asked("OffsetFetch", 1, Fields(group_id=self.group, topics=topics))
        found = {}
        for topic in answer.topics:
            for one in topic.partitions:
                self._check("OffsetFetch", error_in(one))
                found[one.partition_index] = int(one.committed_offset)
        return found

    # Reading

    def poll_group(self) -> Iterator[PollResult]:
        """Poll each assigned partition in turn; joins first if necessary. ClientError.

        A position moves only past records that were returned, even if the next partition fails.
        """
        if not self.joined:
            self.join()
        if time.monotonic() >= self._next_beat:
            body = Fields(group_id=self.group, generation_id=self.generation, member_id=self.member)
            self._check("Heartbeat", error_in(self._asked("Heartbeat", 0, body)))
            self._next_beat = time.monotonic() + self.session.total_seconds() / 10
        for partition, position in list(self.positions.items()):
            try:
                records, following = self.poll(self.topic, partition, position, 50)
                found = PollResult(self.joins, partition, position, records)
            except ClientError as error:
                if error.code != OUT_OF_RANGE:
                    raise
                following = self.offset(self.topic, partition, -1)
                found = PollResult(self.joins, partition, position, [], error.code)
            self.positions[partition] = following
            yield found

    def commit(self) -> dict[int, int]:
        """Commit the positions, and return them. ClientError."""
        positions: Mapping[int, int] = dict(self.positions)
        rows = [
            Fields(partition_index=one, committed_offset=offset, committed_metadata="")
            for one, offset in positions.items()
        ]
        body = Fields(
            group_id=self.group, generation_id_or_member_epoch=self.generation,
            member_id=self.member, retention_time=timedelta(days=1),
            topics=(Fields(name=self.topic, partitions=rows),),
        )  # fmt: skip
        answer = self._asked("OffsetCommit", 2, body)
        for topic in answer.topics:
            for one in topic.partitions:
                self._check("OffsetCommit", error_in(one))
        return dict(positions)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">h", len(data)) + data


def _assignment(topic: str, partitions: Sequence[int]) -> bytes:
    numbers = b"".join(struct.pack(">i", one) for one in partitions)
    head = struct.pack(">hi", 0, 1) + _text(topic) + struct.pack(">i", len(partitions))
    return head + numbers + struct.pack(">i", 0)


def _decode_assignment(data: bytes) -> list[int]:
    """The partitions of an assignment of one topic; none of an empty one."""
    if len(data) < 6 or struct.unpack_from(">i", data, 2)[0] == 0:
        return []
    (size,) = struct.unpack_from(">h", data, 6)
    (count,) = struct.unpack_from(">i", data, 8 + size)
    return list(struct.unpack_from(f">{count}i", data, 12 + size))


def _shares(members: Sequence[str], partitions: Sequence[int]) -> dict[str, list[int]]:
    """``RangeAssignor``: partitions in a row, the first members get one more."""
    least, more = divmod(len(partitions), len(members))
    shares, at = {}, 0
    for place, member in enumerate(members):
        end = at + least + (place < more)
        shares[member] = list(partitions[at:end])
        at = end
    return shares
