"""Encodes and decodes a controller's requests to brokers, and their responses, as Kafka's messages.

Topics have no ids here, so LeaderAndIsr 5 and UpdateMetadata 7 (2.8), which name topics by them,
are sent in the versions before. Source: LeaderAndIsrRequest.json, UpdateMetadataRequest.json,
StopReplicaRequest.json, and Protocol.java before 2.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from impl.core.metadata_cache import Endpoints
from impl.core.replica_manager import Answered
from impl.core.requests import (
    LeaderAndIsr,
    LeaderAndIsrPartitionState,
    PartitionMetadata,
    PartitionStop,
    Request,
    StopReplica,
    UpdateMetadata,
)
from impl.wire import Fields, error_code, error_name
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition

Value = TypeVar("Value")
PLAINTEXT = 0
NO_BROKER_EPOCH = -1
_CAPS = {"LeaderAndIsr": 4, "UpdateMetadata": 6}


class LiveBrokers(NamedTuple):
    """Endpoints and racks of the live brokers of an UpdateMetadata."""

    endpoints: Endpoints = {}
    racks: Mapping[int, str | None] = {}


def version_of(request: Request) -> int:
    """The version in which a request is sent."""
    return min(request.version, _CAPS.get(type(request).__name__, request.version))


def encode(request: Request, live: LiveBrokers) -> Fields:
    """The body of a request, valid for every version."""
    common = {"controller_id": request.controller, "controller_epoch": request.controller_epoch,
              "broker_epoch": request.broker_epoch}  # fmt: skip
    match request:
        case LeaderAndIsr():
            rows = [_order(one, entry) for one, entry in request.partitions.items()]
            leaders = [
                Fields(broker_id=one, host_name=host, port=port)
                for one in request.live_leaders
                for host, port in [live.endpoints.get(one, ("", -1))]
            ]
            return Fields(
                **common, ungrouped_partition_states=rows, topic_states=_topic_states(rows),
                live_leaders=leaders,
            )  # fmt: skip
        case UpdateMetadata():
            rows = [_metadata(one, metadata) for one, metadata in request.partitions.items()]
            return Fields(
                **common, ungrouped_partition_states=rows, topic_states=_topic_states(rows),
                live_brokers=[
                    _live_broker(one, live) for one in request.live_brokers if one in live.endpoints
                ],
            )  # fmt: skip
        case StopReplica():
            stops = request.partitions
            rows = [
                Fields(
                    topic_name=one.topic, partition_index=one.partition,
                    leader_epoch=stop.leader_epoch, delete_partition=stop.delete,
                )
                for one, stop in stops.items()
            ]  # fmt: skip
            return Fields(
                **common, delete_partitions=any(stop.delete for stop in stops.values()),
                ungrouped_partitions=rows, topic_states=_topic_states(rows),
                topics=[
                    Fields(name=topic, partition_indexes=[one.partition_index for one in parts])
                    for topic, parts in by_topic((row.topic_name, row) for row in rows).items()
                ],
            )  # fmt: skip


def _order(partition: TopicPartition, entry: LeaderAndIsrPartitionState) -> Fields:
    return Fields(
        **_state(partition, entry.state), partition_epoch=entry.state.zk_version,
        replicas=entry.replicas, adding_replicas=(), removing_replicas=(), is_new=entry.is_new,
    )  # fmt: skip


def _metadata(partition: TopicPartition, metadata: PartitionMetadata) -> Fields:
    return Fields(
        **_state(partition, metadata.state), zk_version=metadata.state.zk_version,
        replicas=metadata.replicas, offline_replicas=metadata.offline_replicas,
    )  # fmt: skip


def _state(partition: TopicPartition, state: LeaderIsrAndControllerEpoch) -> dict[str, Any]:
    return {
        "topic_name": partition.topic, "partition_index": partition.partition,
        "controller_epoch": state.controller_epoch, "leader": state.leader,
        "leader_epoch": state.leader_epoch, "isr": state.isr,
    }  # fmt: skip


def _topic_states(rows: Iterable[Fields]) -> list[Fields]:
    return [
        Fields(topic_name=topic, partition_states=parts)
        for topic, parts in by_topic((row.topic_name, row) for row in rows).items()
    ]


def _live_broker(broker: int, live: LiveBrokers) -> Fields:
    host, port = live.endpoints[broker]
    where = Fields(port=port, host=host, listener="PLAINTEXT", security_protocol=PLAINTEXT)
    return Fields(
        id_=broker, v0_host=host, v0_port=port, endpoints=(where,), rack=live.racks.get(broker)
    )


def by_topic(rows: Iterable[tuple[str, Value]]) -> dict[str, list[Value]]:
    """Group rows by topic, in the order in which topics first occur."""
    found: dict[str, list[Value]] = {}
    for topic, value in rows:
        found.setdefault(topic, []).append(value)
    return found


def decode(api: str, version: int, body: Any) -> tuple[Request, LiveBrokers]:
    """A request, and the live brokers that an UpdateMetadata carries."""
    common = (
        version, body.controller_id, body.controller_epoch,
        getattr(body, "broker_epoch", NO_BROKER_EPOCH),
    )  # fmt: skip
    match api:
        case "LeaderAndIsr":
            entries = {
                one: LeaderAndIsrPartitionState(
                    _state_of(row, row.partition_epoch), tuple(row.replicas),
                    bool(getattr(row, "is_new", False)),
                )
                for one, row in _partition_states(body)
            }  # fmt: skip
            leaders = tuple(one.broker_id for one in body.live_leaders)
            return LeaderAndIsr(*common, entries, leaders), LiveBrokers()
        case "UpdateMetadata":
            partitions = {
                one: PartitionMetadata(
                    _state_of(row, row.zk_version), tuple(row.replicas),
                    tuple(getattr(row, "offline_replicas", ())),
                )
                for one, row in _partition_states(body)
            }  # fmt: skip
            endpoints = {one.id_: _endpoint(one) for one in body.live_brokers}
            racks = {one.id_: getattr(one, "rack", None) for one in body.live_brokers}
            live = LiveBrokers(endpoints, racks)
            return UpdateMetadata(*common, partitions, tuple(endpoints)), live
        case _:
            return StopReplica(*common, dict(_stops(body))), LiveBrokers()


def _partition_states(body: Any) -> Iterator[tuple[TopicPartition, Any]]:
    if hasattr(body, "topic_states"):
        for topic in body.topic_states:
            for row in topic.partition_states:
                yield TopicPartition(topic.topic_name, row.partition_index), row
    else:
        for row in body.ungrouped_partition_states:
            yield TopicPartition(row.topic_name, row.partition_index), row


def _stops(body: Any) -> Iterator[tuple[TopicPartition, PartitionStop]]:
    if hasattr(body, "topic_states"):
        for one, row in _partition_states(body):
            yield one, PartitionStop(row.delete_partition, row.leader_epoch)
    elif hasattr(body, "topics"):
        for topic in body.topics:
            for number in topic.partition_indexes:
                yield TopicPartition(topic.name, number), PartitionStop(body.delete_partitions)
    else:
        for row in body.ungrouped_partitions:
            one = TopicPartition(row.topic_name, row.partition_index)
            yield one, PartitionStop(body.delete_partitions)


def _state_of(row: Any, version: int) -> LeaderIsrAndControllerEpoch:
    return LeaderIsrAndControllerEpoch(
        row.leader, row.leader_epoch, tuple(row.isr), row.controller_epoch, version
    )


def _endpoint(broker: Any) -> tuple[str, int]:
    if hasattr(broker, "endpoints"):
        where = next(iter(broker.endpoints))
        return where.host, where.port
    return broker.v0_host, broker.v0_port


# Answers


def encode_answer(answered: Answered) -> Fields:
    """The body of a response to any of these requests."""
    whole, errors = answered
    return Fields(
        error_code=error_code(whole),
        partition_errors=[
            Fields(
                topic_name=one.topic, partition_index=one.partition, error_code=error_code(error)
            )
            for one, error in errors.items()
        ],
    )


def decode_answer(body: Any) -> Answered:
    """The error of the response, and of each of its partitions."""
    return error_name(body.error_code), {
        TopicPartition(one.topic_name, one.partition_index): error_name(one.error_code)
        for one in getattr(body, "partition_errors", ())
    }
