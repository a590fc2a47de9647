"""Coordinates the groups of the partitions of ``__consumer_offsets`` that this broker leads.

A partition's groups are loaded at the first request for one of them in a leadership, and unloaded
when the leadership ends. Source: GroupCoordinator, GroupMetadataManager (0.10.0 to 2.8).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future

from impl.core.answers import java_hash
from impl.core.replica_manager import Replica
from impl.error_codes import NONE
from impl.log import StoredRecord, encode_batch
from impl.log.errors import CorruptRecord, OffsetOutOfRange, StorageError
from impl.log.record_batch import batches_in, records_of
from impl.server.groups.group import Group, GroupState, JoiningMember, JoinResponse, SyncResponse
from impl.server.groups.records import (
    CommittedOffset,
    StoredGroup,
    UnknownRecord,
    group_key,
    group_value,
    offset_key,
    offset_value,
    read_group,
    read_key,
    read_offset,
)
from impl.server.properties import BrokerProperties
from impl.server.replicas import now_ms
from impl.server.serving import Serving
from impl.znodes import TopicPartition
from impl.zookeeper.port import wait

OFFSETS_TOPIC = "__consumer_offsets"
TICK_S = 0.05
READ_BYTES = 1 << 20
ANY_GENERATION = -1

_OF_APPENDS = {
    "UNKNOWN_TOPIC_OR_PARTITION": "COORDINATOR_NOT_AVAILABLE",
    "NOT_ENOUGH_REPLICAS": "COORDINATOR_NOT_AVAILABLE",
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND": "COORDINATOR_NOT_AVAILABLE",
    "REQUEST_TIMED_OUT": "COORDINATOR_NOT_AVAILABLE",
    "NOT_LEADER_FOR_PARTITION": "NOT_COORDINATOR",
    "NOT_LEADER_OR_FOLLOWER": "NOT_COORDINATOR",
    "KAFKA_STORAGE_ERROR": "NOT_COORDINATOR",
    "RECORD_TOO_LARGE": "INVALID_COMMIT_OFFSET_SIZE",
    "RECORD_LIST_TOO_LARGE": "INVALID_COMMIT_OFFSET_SIZE",
}
"""What a group hears when its record could not be written."""


class GroupCoordinator:
    """``lock`` guards all groups; it is never held while a record is written or awaited."""

    def __init__(self, serving: Serving, config: BrokerProperties) -> None:
        self.serving = serving
        self.replicas = serving.replicas
        self.config = config
        self.delay_s = config.whole_number("group.initial.rebalance.delay.ms") / 1000
        self.lock = threading.RLock()
        self._groups: dict[int, dict[str, Group]] = {}
        self._led: dict[int, tuple[Replica, int]] = {}
        self._stopped = threading.Event()

    def start(self) -> None:
        """Run the timers of sessions and rebalances until ``stop``."""
        threading.Thread(target=self._tick, name="group-coordinator", daemon=True).start()

    def stop(self) -> None:
        """Release every waiting thread."""
        self._stopped.set()
        with self.lock:
            for number in [*self._led]:
                self._unload(number)

    # Which groups are here

    def partition_of(self, group: str) -> int:
        """The partition of ``__consumer_offsets`` that a group's records go to."""
        with self.replicas.lock:
            known = self.replicas.metadata.partitions_of(OFFSETS_TOPIC)
        count = len(known) or self.config.whole_number("offsets.topic.num.partitions")
        return (java_hash(group) & 0x7FFFFFFF) % count

    def error_of(self, group: str, may_be_empty: bool = False) -> str:
        """The error of a request for a group, or NONE; loads the group's partition if necessary."""
        if not group and not may_be_empty:
            return "INVALID_GROUP_ID"
        if self._stopped.is_set():
            return "COORDINATOR_NOT_AVAILABLE"
        return NONE if self._load(self.partition_of(group)) else "NOT_COORDINATOR"

    def _leading(self, number: int) -> tuple[Replica, int] | None:
        replica = self.replicas.partitions.get(TopicPartition(OFFSETS_TOPIC, number))
        if replica is None or not replica.leads:
            return None
        return replica, replica.generation

    def _load(self, number: int) -> bool:
        """The groups of a partition are known; False if another broker leads it."""
        with self.replicas.lock:
            leads = self._leading(number)
        with self.lock:
            known = self._led.get(number)
            if known is not None and known != leads:
                self._unload(number)
            if leads is None:
                return False
            if known == leads:
                return True
            self._groups[number] = self._read(leads[0])
            self._led[number] = leads
            return True

    def _unload(self, number: int) -> None:
        self._led.pop(number, None)
        for group in self._groups.pop(number, {}).values():
            group.die()

    def _read(self, replica: Replica) -> dict[str, Group]:
        """Every group of a partition, by its log."""
        members: dict[str, StoredGroup] = {}
        offsets: dict[str, dict[TopicPartition, tuple[int, CommittedOffset]]] = {}
        for record in self._records(replica):
            try:
                name, partition = read_key(record.key or b"")
                if partition is not None and record.value is not None:
                    read = record.offset, read_offset(record.value)
                    offsets.setdefault(name, {})[partition] = read
                elif partition is not None:
                    offsets.get(name, {}).pop(partition, None)
                elif record.value is not None:
                    members[name] = read_group(record.value)
                else:
                    members.pop(name, None)
            except UnknownRecord:
                continue  # of a later release: left to it
        found: dict[str, Group] = {}
        for name in sorted(members.keys() | {one for one, kept in offsets.items() if kept}):
            group = found[name] = Group(name, self.delay_s)
            if name in members:
                group.load(members[name], time.monotonic())
            group.offsets = offsets.get(name, {})
        return found

    def _records(self, replica: Replica) -> Iterator[StoredRecord]:
        with self.replicas.lock:
            offset, end = replica.log_start, replica.log_end
        while offset < end:
            try:
                with self.replicas.lock:
                    region = wait(replica.log.read(offset, READ_BYTES, None, True))
                    data = region.read()
                before = offset
                for at, batch in batches_in(data):
                    for record in records_of(data, at):
                        if record.offset >= offset:
                            yield record
                    offset = max(offset, batch.next_offset)
            except (CorruptRecord, OffsetOutOfRange, StorageError):
                return
            if offset == before:
                return

    def group(self, name: str) -> Group | None:
        """A group of this broker, or None; the caller holds ``lock``."""
        return self._groups.get(self.partition_of(name), {}).get(name)

    def _get_or_create(self, name: str) -> Group:
        number = self.partition_of(name)
        groups = self._groups.setdefault(number, {})
        return groups.setdefault(name, Group(name, self.delay_s))

    def groups(self) -> list[Group]:
        """All groups of this broker; the caller holds ``lock``."""
        with self.replicas.lock:
            known = self.replicas.metadata.partitions_of(OFFSETS_TOPIC)
        for partition in known:
            self._load(partition)
        return [group for groups in self._groups.values() for group in groups.values()]

    # Members

    def join(
        self, name: str, member_id: str, who: JoiningMember, ask_for_id: bool
    ) -> Future[JoinResponse] | JoinResponse:
        """JoinGroup: the response, or a future of it."""
        error = self.error_of(name)
        if error != NONE:
            return JoinResponse(error, member_id)
        least = self.config.whole_number("group.min.session.timeout.ms")
        most = self.config.whole_number("group.max.session.timeout.ms")
        if not least <= who.session_ms <= most:
            return JoinResponse("INVALID_SESSION_TIMEOUT", member_id)
        now = time.monotonic()
        with self.lock:
            group = self.group(name)
            if group is None:
                if member_id:
                    return JoinResponse("UNKNOWN_MEMBER_ID", member_id)
                group = self._get_or_create(name)
            if member_id:
                return group.join(member_id, who, now)
            if len(group.members) >= self.config.whole_number("group.max.size"):
                return JoinResponse("GROUP_MAX_SIZE_REACHED", member_id)
            return group.join_unknown(who, ask_for_id, now)

    def sync(
        self, name: str, member_id: str, instance_id: str | None, generation: int,
        assignment: Mapping[str, bytes],
    ) -> Future[SyncResponse] | SyncResponse:  # fmt: skip
        """SyncGroup: the member's assignment; the group leader sends it for all members."""
        error = self.error_of(name)
        if error != NONE:
            return SyncResponse(error)
        with self.lock:
            group = self.group(name)
            if group is None:
                return SyncResponse("UNKNOWN_MEMBER_ID")
            error = group.error_of(member_id, instance_id, generation)
            if error != NONE:
                return SyncResponse(error)
            member = group.members[member_id]
            if group.state is GroupState.PREPARING:
                return SyncResponse("REBALANCE_IN_PROGRESS")
            if group.state is GroupState.STABLE:
                member.note_heartbeat(time.monotonic())
                return SyncResponse(NONE, member.assignment)
            member.answer_sync(SyncResponse("REBALANCE_IN_PROGRESS"))
            waiting = member.syncing = Future()
            if group.leader != member_id:
                return waiting
            stored = group.stored(assignment, now_ms())
        error = self._store_group(name, stored)
        with self.lock:
            if group.state is GroupState.COMPLETING and group.generation == generation:
                if error == NONE:
                    group.assign(assignment, time.monotonic())
                else:
                    for one in group.members.values():
                        one.answer_sync(SyncResponse(error))
                    group.prepare_round(time.monotonic())
        return waiting

    def heartbeat(
        self, name: str, member_id: str, instance_id: str | None, generation: int
    ) -> str:  # fmt: skip
        """Heartbeat; REBALANCE_IN_PROGRESS means that the member has to rejoin."""
        error = self.error_of(name)
        if error != NONE:
            return error
        with self.lock:
            group = self.group(name)
            if group is None:
                return "UNKNOWN_MEMBER_ID"
            error = group.error_of(member_id, instance_id, generation)
            if error != NONE:
                return error
            group.members[member_id].note_heartbeat(time.monotonic())
            return NONE if group.state is GroupState.STABLE else "REBALANCE_IN_PROGRESS"

    def leave(self, name: str, members: Iterable[tuple[str, str | None]]) -> tuple[str, list[str]]:
        """LeaveGroup: the error of the request, and of each member (by id or instance id)."""
        error = self.error_of(name)
        if error != NONE:
            return error, []
        errors = []
        now = time.monotonic()
        with self.lock:
            group = self.group(name)
            for member_id, instance_id in members:
                if group is None:
                    errors.append("UNKNOWN_MEMBER_ID")
                    continue
                if not member_id and instance_id in group.static:
                    member_id = group.static[instance_id]
                if group.is_fenced(member_id, instance_id):
                    errors.append("FENCED_INSTANCE_ID")
                elif member_id in group.pending:
                    del group.pending[member_id]
                    group.maybe_complete_round(now)
                    errors.append(NONE)
                elif member_id in group.members:
                    group.remove(member_id, now)
                    errors.append(NONE)
                else:
                    errors.append("UNKNOWN_MEMBER_ID")
        return NONE, errors

    # Offsets

    def commit(
        self, name: str, member_id: str, instance_id: str | None, generation: int,
        offsets: Mapping[TopicPartition, CommittedOffset],
    ) -> str:  # fmt: skip
        """OffsetCommit: written and replicated before the response."""
        error = self.error_of(name, may_be_empty=True)
        if error != NONE:
            return error
        with self.lock:
            group = self.group(name)
            if group is None:
                if generation != ANY_GENERATION:
                    return "ILLEGAL_GENERATION"
                group = self._get_or_create(name)
            error = self._commit_error(group, member_id, instance_id, generation)
        if error != NONE or not offsets:
            return error
        at = now_ms()
        protocol = self.config.protocol
        pairs = [
            (offset_key(name, one), offset_value(committed._replace(timestamp=at), protocol))
            for one, committed in offsets.items()
        ]
        error, first = self._append(name, pairs)
        if error == NONE:
            with self.lock:
                for number, (one, committed) in enumerate(offsets.items()):
                    known = group.offsets.get(one)
                    if known is None or known[0] < first + number:
                        group.offsets[one] = first + number, committed._replace(timestamp=at)
        return error

    def _commit_error(
        self, group: Group, member_id: str, instance_id: str | None, generation: int
    ) -> str:
        if group.state is GroupState.DEAD:
            return "COORDINATOR_NOT_AVAILABLE"
        if group.is_fenced(member_id, instance_id):
            return "FENCED_INSTANCE_ID"
        if generation < 0 and group.state is GroupState.EMPTY:
            return NONE  # it assigns its partitions itself, and keeps its offsets here
        if group.state is GroupState.COMPLETING:
            return "REBALANCE_IN_PROGRESS"
        error = group.error_of(member_id, instance_id, generation)
        if error == NONE:
            group.members[member_id].note_heartbeat(time.monotonic())
        return error

    def committed(self, name: str) -> tuple[str, dict[TopicPartition, CommittedOffset]]:
        """OffsetFetch: all offsets that a group has committed."""
        error = self.error_of(name, may_be_empty=True)
        if error != NONE:
            return error, {}
        with self.lock:
            group = self.group(name)
            found = {} if group is None else group.offsets
            return NONE, {one: committed for one, (_, committed) in found.items()}

    def forget(self, gone: Collection[TopicPartition]) -> None:
        """Remove the offsets of partitions whose topic is deleted (KAFKA-2000), and each group that
        then has neither members nor offsets."""
        removed: list[tuple[str, list[bytes]]] = []
        with self.lock:
            for group in self.groups():
                keys = [offset_key(group.name, one) for one in group.offsets if one in gone]
                for one in gone:
                    group.offsets.pop(one, None)
                if keys and group.state is GroupState.EMPTY and not group.offsets:
                    group.die()
                    self._groups[self.partition_of(group.name)].pop(group.name)
                    keys += [group_key(group.name)] if group.generation > 0 else []
                if keys:
                    removed.append((group.name, keys))
        for name, keys in removed:  # nobody waits for it
            self._append(name, [(key, None) for key in keys], acks=0)

    # Administration

    def delete(self, name: str) -> str:
        """DeleteGroups: delete an empty group and its offsets."""
        error = self.error_of(name, may_be_empty=True)
        if error != NONE:
            return error
        with self.lock:
            group = self.group(name)
            if group is None or group.state is GroupState.DEAD:
                return "GROUP_ID_NOT_FOUND"
            if group.state is not GroupState.EMPTY:
                return "NON_EMPTY_GROUP"
            group.die()
            keys = [offset_key(name, one) for one in group.offsets]
        error, _ = self._append(name, [(key, None) for key in [*keys, group_key(name)]])
        with self.lock:
            if error == NONE:
                self._groups.get(self.partition_of(name), {}).pop(name, None)
            else:
                group.state = GroupState.EMPTY
        return error

    # Records

    def _store_group(self, name: str, stored: StoredGroup) -> str:
        value = group_value(stored, self.config.protocol)
        error, _ = self._append(name, [(group_key(name), value)])
        return "REBALANCE_IN_PROGRESS" if error == "COORDINATOR_NOT_AVAILABLE" else error

    def _append(
        self, name: str, pairs: Sequence[tuple[bytes, bytes | None]], acks: int = -1
    ) -> tuple[str, int]:
        """Write records, with acks=all if nothing else is said: an error, and the first offset."""
        stamp = now_ms()
        records = [StoredRecord(at, stamp, key, value) for at, (key, value) in enumerate(pairs)]
        partition = TopicPartition(OFFSETS_TOPIC, self.partition_of(name))
        timeout_ms = self.config.whole_number("offsets.commit.timeout.ms")
        answers = self.serving.append({partition: encode_batch(records)}, acks, timeout_ms)
        done, error = answers[partition]
        return _OF_APPENDS.get(error, error), done.first_offset

    # What happens by itself

    def _tick(self) -> None:
        while not self._stopped.wait(TICK_S):
            with self.replicas.lock:
                led = {number: self._leading(number) for number in [*self._led]}
            with self.lock:
                for number, leads in led.items():
                    if self._led.get(number) != leads:
                        self._unload(number)
                now = time.monotonic()
                to_store = []
                for group in [one for known in self._groups.values() for one in known.values()]:
                    group.expire(now)
                    if group.to_store:
                        group.to_store = False
                        to_store.append((group.name, group.stored({}, now_ms())))
            for name, stored in to_store:
                threading.Thread(
                    target=self._store_group, args=(name, stored), name="store-group", daemon=True
                ).start()
