"""FindCoordinator and the requests of consumer groups (KafkaApis; KIP-62, KIP-394, KIP-345)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from impl.error_codes import NONE
from impl.server.apis import topics
from impl.server.apis.api_request import NO_OPERATIONS, ApiRequest, no_throttle
from impl.server.broker_lock import LOOK_S
from impl.server.groups.coordinator import ANY_GENERATION, OFFSETS_TOPIC
from impl.server.groups.group import Group, GroupState, JoiningMember, JoinResponse, SyncResponse
from impl.server.groups.records import CommittedOffset
from impl.wire import Fields, error_code
from impl.znodes import TopicPartition
from impl.znodes.consumer_offsets import read_stored_offset, store_offset
from impl.zookeeper.errors import ZooKeeperError
from impl.zookeeper.port import wait

GROUP = 0
NO_NODE = -1
NO_TRANSACTIONS = "There are no transactions here; a producer may be idempotent."

Answered = TypeVar("Answered", JoinResponse, SyncResponse)


def find_coordinator(request: ApiRequest) -> Fields:
    """The leader of the group's partition of ``__consumer_offsets``, created at first use."""
    shared = request.shared
    if request.get("key_type", GROUP) != GROUP:
        return _coordinator("TRANSACTIONAL_ID_AUTHORIZATION_FAILED", NO_TRANSACTIONS)
    group = request.body.key
    with shared.replicas.lock:
        partitions = shared.metadata.partitions_of(OFFSETS_TOPIC)
        brokers = dict(shared.metadata.brokers)
    if not partitions:
        topics.create(shared, OFFSETS_TOPIC)
        return _coordinator("COORDINATOR_NOT_AVAILABLE", "the offsets topic is being made")
    number = shared.coordinator.partition_of(group)
    leader = partitions[number].state.leader if number in partitions else NO_NODE
    if leader not in brokers:
        return _coordinator("COORDINATOR_NOT_AVAILABLE", None)
    return _coordinator(NONE, None, leader, *brokers[leader])


def _coordinator(
    error: str, text: str | None, node: int = NO_NODE, host: str = "", port: int = -1
) -> Fields:
    return Fields(
        throttle_time=no_throttle(), error_code=error_code(error), error_message=text,
        node_id=node, host=host, port=port,
    )  # fmt: skip


def join_group(request: ApiRequest) -> Fields:
    """Join, and wait until all members have joined."""
    body = request.body
    session = _ms(body.session_timeout)
    rebalance = _ms(request.get("rebalance_timeout", body.session_timeout))
    who = JoiningMember(
        request.header.client_id or "", f"/{request.host}", request.get("group_instance_id"),
        rebalance,
        session, body.protocol_type, {one.name: bytes(one.metadata) for one in body.protocols},
    )  # fmt: skip
    first = request.version >= 4 and who.instance_id is None
    came = request.shared.coordinator.join(body.group_id, body.member_id, who, ask_for_id=first)
    joined = _waited(request, came)
    return Fields(
        throttle_time=no_throttle(),
        error_code=error_code(joined.error),
        generation_id=joined.generation,
        protocol_type=body.protocol_type,
        protocol_name=joined.protocol if joined.error == NONE or request.version < 7 else None,
        leader=joined.leader,
        member_id=joined.member_id,
        members=[
            Fields(member_id=member, group_instance_id=instance, metadata=metadata)
            for member, instance, metadata in joined.members
        ],
    )


def sync_group(request: ApiRequest) -> Fields:
    """Return the member's assignment; the group leader sends it for all members."""
    body = request.body
    assignment = {one.member_id: bytes(one.assignment) for one in body.assignments}
    came = request.shared.coordinator.sync(
        body.group_id, body.member_id, request.get("group_instance_id"), body.generation_id,
        assignment,
    )  # fmt: skip
    synced = _waited(request, came)
    return Fields(
        throttle_time=no_throttle(), error_code=error_code(synced.error),
        protocol_type=request.get("protocol_type"), protocol_name=request.get("protocol_name"),
        assignment=synced.assignment,
    )  # fmt: skip


def _waited(request: ApiRequest, came: Future[Answered] | Answered) -> Answered:
    """The answer; who waits for it leaves its place to others."""
    if not isinstance(came, Future):
        return came
    if not came.done():
        request.shared.about_to_wait()
    while True:
        try:
            return came.result(LOOK_S)
        except TimeoutError:
            request.shared.replicas.lock.still_asked()


def heartbeat(request: ApiRequest) -> Fields:
    """Handle a member's heartbeat."""
    body = request.body
    error = request.shared.coordinator.heartbeat(
        body.group_id, body.member_id, request.get("group_instance_id"), body.generation_id
    )
    return Fields(throttle_time=no_throttle(), error_code=error_code(error))


def leave_group(request: ApiRequest) -> Fields:
    """Remove members from the group: one up to version 2, any number since version 3."""
    body = request.body
    members: list[tuple[str, str | None]]
    if request.version < 3:
        members = [(body.member_id, None)]
    else:
        members = [(one.member_id, one.group_instance_id) for one in body.members]
    error, errors = request.shared.coordinator.leave(body.group_id, members)
    if request.version < 3 and error == NONE:
        error = errors[0]
    rows = [
        Fields(member_id=member, group_instance_id=instance, error_code=error_code(one))
        for (member, instance), one in zip(members, errors, strict=bool(errors))
    ]
    return Fields(throttle_time=no_throttle(), error_code=error_code(error), members=rows)


def offset_commit(request: ApiRequest) -> Fields:
    """Store the offsets that a group commits."""
    body = request.body
    largest = request.shared.config.whole_number("offset.metadata.max.bytes")
    wanted: dict[TopicPartition, CommittedOffset] = {}
    errors: dict[TopicPartition, str] = {}
    for topic in body.topics:
        for one in topic.partitions:
            partition = TopicPartition(topic.name, one.partition_index)
            metadata = one.committed_metadata or ""
            if partition not in request.shared.metadata.partitions:
                errors[partition] = "UNKNOWN_TOPIC_OR_PARTITION"
            elif len(metadata.encode()) > largest:
                errors[partition] = "OFFSET_METADATA_TOO_LARGE"
            else:
                epoch = getattr(one, "committed_leader_epoch", -1)
                wanted[partition] = CommittedOffset(one.committed_offset, epoch, metadata)
    if request.version == 0:
        error = _keep_in_zookeeper(request, wanted)
    else:
        error = request.shared.coordinator.commit(
            body.group_id, request.get("member_id", ""), request.get("group_instance_id"),
            request.get("generation_id_or_member_epoch", ANY_GENERATION), wanted,
        )  # fmt: skip
    return Fields(
        throttle_time=no_throttle(),
        topics=[
            Fields(
                name=topic.name,
                partitions=[
                    Fields(
                        partition_index=one.partition_index,
                        error_code=error_code(
                            errors.get(TopicPartition(topic.name, one.partition_index), error)
                        ),
                    )
                    for one in topic.partitions
                ],
            )
            for topic in body.topics
        ],
    )


def _keep_in_zookeeper(request: ApiRequest, wanted: dict[TopicPartition, CommittedOffset]) -> str:
    client, group = request.shared.client, request.body.group_id
    try:
        for partition, committed in wanted.items():
            wait(store_offset(client, group, partition, committed.offset))
    except ZooKeeperError:
        return "UNKNOWN_SERVER_ERROR"
    return NONE


def _offset_in_zookeeper(request: ApiRequest, partition: TopicPartition) -> tuple[str, int]:
    """An error, and the offset; that there is none is an error in version 0."""
    unknown = "UNKNOWN_TOPIC_OR_PARTITION", -1
    if partition not in request.shared.metadata.partitions:
        return unknown
    try:
        found = wait(read_stored_offset(request.shared.client, request.body.group_id, partition))
    except (ZooKeeperError, ValueError):
        return "UNKNOWN_SERVER_ERROR", -1
    return unknown if found is None else (NONE, found)


def _offsets_in_zookeeper(request: ApiRequest) -> Fields:
    topics = []
    for topic in request.body.topics:
        parts = []
        for number in topic.partition_indexes:
            error, offset = _offset_in_zookeeper(request, TopicPartition(topic.name, number))
            parts.append(
                Fields(partition_index=number, committed_offset=offset, metadata="",
                       error_code=error_code(error))
            )  # fmt: skip
        topics.append(Fields(name=topic.name, partitions=parts))
    return Fields(topics=topics)


def offset_fetch(request: ApiRequest) -> Fields:
    """The offsets of a group: of some partitions, or (since version 2) of all that it committed."""
    if request.version == 0:
        return _offsets_in_zookeeper(request)
    error, known = request.shared.coordinator.committed(request.body.group_id)
    wanted: dict[str, list[int]] = {}
    if request.body.topics is None:
        for one in sorted(known):
            wanted.setdefault(one.topic, []).append(one.partition)
    else:
        for topic in request.body.topics:
            wanted[topic.name] = list(topic.partition_indexes)
    nothing = CommittedOffset(-1)
    rows = []
    for name, numbers in wanted.items():
        parts = []
        for number in numbers:
            found = known.get(TopicPartition(name, number), nothing)
            parts.append(
                Fields(
                    partition_index=number, committed_offset=found.offset,
                    committed_leader_epoch=found.leader_epoch, metadata=found.metadata,
                    error_code=error_code(error),
                )
            )  # fmt: skip
        rows.append(Fields(name=name, partitions=parts))
    return Fields(throttle_time=no_throttle(), topics=rows, error_code=error_code(error))


def list_groups(request: ApiRequest) -> Fields:
    """The groups that this broker coordinates."""
    states = set(request.get("states_filter", ()) or ())
    coordinator = request.shared.coordinator
    with coordinator.lock:
        found = [
            Fields(
                group_id=group.name, protocol_type=group.protocol_type,
                group_state=_state(request, group),
            )
            for group in coordinator.groups()
            if not states or _state(request, group) in states
        ]  # fmt: skip
    return Fields(throttle_time=no_throttle(), error_code=error_code(NONE), groups=found)


def _state(request: ApiRequest, group: Group) -> str:
    if group.state is GroupState.COMPLETING and not request.shared.release.since("1.1"):
        return "AwaitingSync"
    return group.state.value


def describe_groups(request: ApiRequest) -> Fields:
    """Groups with their members; a group that does not exist is Dead."""
    return Fields(
        throttle_time=no_throttle(),
        groups=[_described(request, name) for name in request.body.groups],
    )


def _described(request: ApiRequest, name: str) -> Fields:
    coordinator = request.shared.coordinator
    error = coordinator.error_of(name, may_be_empty=True)
    with coordinator.lock:
        group = coordinator.group(name) if error == NONE else None
        gone = "" if error != NONE else GroupState.DEAD.value
        members = [] if group is None else [*group.members.values()]
        settled = group is not None and group.state is GroupState.STABLE
        protocol = (group.protocol or "") if group is not None and settled else ""
        return Fields(
            error_code=error_code(error),
            group_id=name,
            group_state=gone if group is None else _state(request, group),
            protocol_type="" if group is None else group.protocol_type,
            protocol_data=protocol,
            members=[
                Fields(
                    member_id=one.member_id, group_instance_id=one.who.instance_id,
                    client_id=one.who.client_id, client_host=one.who.client_host,
                    member_metadata=one.who.protocols.get(protocol, b"") if settled else b"",
                    member_assignment=one.assignment if settled else b"",
                )
                for one in members
            ],
            authorized_operations=NO_OPERATIONS,
        )  # fmt: skip


def delete_groups(request: ApiRequest) -> Fields:
    """Delete empty groups, with their offsets."""
    rows = [
        Fields(group_id=name, error_code=error_code(request.shared.coordinator.delete(name)))
        for name in request.body.groups_names
    ]
    return Fields(throttle_time=no_throttle(), results=rows)


def _ms(time: Any) -> int:
    return int(time.total_seconds() * 1000)


HANDLERS: dict[str, Callable[[ApiRequest], Fields | None]] = {
    "FindCoordinator": find_coordinator,
    "JoinGroup": join_group,
    "SyncGroup": sync_group,
    "Heartbeat": heartbeat,
    "LeaveGroup": leave_group,
    "OffsetCommit": offset_commit,
    "OffsetFetch": offset_fetch,
    "ListGroups": list_groups,
    "DescribeGroups": describe_groups,
    "DeleteGroups": delete_groups,
}
