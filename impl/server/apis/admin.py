"""Handlers of administrators' requests to brokers and to the controller (KIP-4 and later).

The work is done in ``topic_requests``, ``controller_api``, ``config_requests`` and ``log_dirs``;
here are only the messages. Source: KafkaApis, AdminManager (0.10.1 to 2.8).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from impl.core.api import PREFERRED_TYPE, UNCLEAN_TYPE
from impl.error_codes import NONE
from impl.server.apis import resources
from impl.server.apis.api_request import NO_OPERATIONS, ApiRequest, no_throttle
from impl.server.control_messages import by_topic
from impl.server.controller_api import wait_for_leaders
from impl.server.topic_requests import Changed, PartitionsToCreate, TopicToCreate
from impl.wire import Fields, error_code
from impl.znodes import TopicPartition

Value = TypeVar("Value")
KINDS = {0: PREFERRED_TYPE, 1: UNCLEAN_TYPE}
MISSING_CONTROLLER = "This is not the correct controller for this cluster."

# Topics


def create_topics(request: ApiRequest) -> Fields:
    """Create topics, and wait until their partitions have leaders."""
    validate = bool(request.get("validate_only", False))
    named, twice = _without_duplicates(request.body.topics)
    wrong = {one.name: _wrong_assignment(one) for one in named if _wrong_assignment(one)}
    topics = [_creatable(one) for one in named if one.name not in wrong]
    found = _or_not_controller(
        request.shared.topics.create(topics, validate), (one.name for one in topics)
    )
    found |= {name: ("INVALID_REQUEST", text) for name, text in wrong.items()}
    found |= dict.fromkeys(twice, ("INVALID_REQUEST", "Duplicate topic name."))
    if not validate:
        made = [name for name, (error, _) in found.items() if error == NONE]
        for name in _unfinished(request, made, _has_leaders):
            found[name] = "REQUEST_TIMED_OUT", "The topic is made, and has no leaders yet."
    wanted = {one.name: one for one in topics}
    rows = [_created(request, name, *came, wanted.get(name)) for name, came in found.items()]
    return Fields(throttle_time=no_throttle(), topics=rows)


def _created(
    request: ApiRequest, name: str, error: str, text: str, topic: TopicToCreate | None
) -> Fields:
    """Create or validate one topic; since version 5 (KIP-525) the answer has its counts and
    configs.
    """
    count = factor = -1
    configs: list[Fields] = []
    if topic is not None and error == NONE:
        config = request.shared.config
        count = topic.partitions or config.whole_number("num.partitions")
        factor = topic.factor or config.whole_number("default.replication.factor")
        if topic.by_hand is not None:
            each = topic.by_hand.split(",")
            count, factor = len(each), len(each[0].split(":"))
        configs = resources.settings_of_topic(request, dict(topic.configs))
    return Fields(
        name=name,
        error_code=error_code(error),
        error_message=text or None,
        topic_config_error_code=0,
        num_partitions=count,
        replication_factor=factor,
        configs=configs,
    )


def _without_duplicates(topics: Iterable[Any]) -> tuple[list[Any], list[str]]:
    """The topics that are named once, and the names that come twice."""
    rows = list(topics)
    names = [one.name for one in rows]
    twice = sorted({name for name in names if names.count(name) > 1})
    return [one for one in rows if one.name not in twice], twice


def _wrong_assignment(topic: Any) -> str:
    if not topic.assignments:
        return ""
    if topic.num_partitions != -1 or topic.replication_factor != -1:
        return (
            "Both numPartitions or replicationFactor and replicasAssignments were set. Both cannot "
            "be used at the same time."
        )
    numbers = sorted(one.partition_index for one in topic.assignments)
    if numbers != list(range(len(numbers))):
        return "partitions should be a consecutive 0-based integer sequence"
    return ""


def _creatable(topic: Any) -> TopicToCreate:
    by_hand = {one.partition_index: list(one.broker_ids) for one in topic.assignments}
    return TopicToCreate(
        topic.name,
        topic.num_partitions if topic.num_partitions != -1 else None,
        topic.replication_factor if topic.replication_factor != -1 else None,
        _text([by_hand[number] for number in sorted(by_hand)]) if by_hand else None,
        {one.name: one.value for one in topic.configs if one.value is not None},
    )


def _text(replicas: Iterable[Iterable[int]]) -> str:
    """An assignment as ``--replica-assignment`` has it."""
    return ",".join(":".join(map(str, one)) for one in replicas)


def create_partitions(request: ApiRequest) -> Fields:
    """Add partitions to topics; assignments cover the new partitions only."""
    validate = bool(request.body.validate_only)
    rows, twice = _without_duplicates(request.body.topics)
    topics: list[PartitionsToCreate] = []
    wrong: Changed = {}
    for one in rows:
        by_hand = None
        if one.assignments is not None:
            known = request.shared.partitions_of(one.name)
            if known and one.count > len(known) and len(one.assignments) != one.count - len(known):
                wrong[one.name] = (
                    "INVALID_REPLICA_ASSIGNMENT",
                    f"Increasing the number of partitions by {one.count - len(known)} but "
                    f"{len(one.assignments)} assignments provided.",
                )
                continue
            old = [list(metadata.replicas) for metadata in known.values()]
            by_hand = _text([*old, *(list(new.broker_ids) for new in one.assignments)])
        topics.append(PartitionsToCreate(one.name, one.count, by_hand))
    found = _or_not_controller(
        request.shared.topics.grow(topics, validate), (one.name for one in topics)
    )
    found |= wrong
    found |= dict.fromkeys(twice, ("INVALID_REQUEST", "Duplicate topic in request."))
    if not validate:
        counts = {one.name: one.count for one in rows}
        grown = [name for name, (error, _) in found.items() if error == NONE]
        for name in _unfinished(
            request,
            grown,
            lambda one, known: len(known) >= counts[one] and _has_leaders(one, known),
        ):
            found[name] = "REQUEST_TIMED_OUT", "The partitions are made, and have no leaders yet."
    return Fields(throttle_time=no_throttle(), results=_results(found))


def delete_topics(request: ApiRequest) -> Fields:
    """Delete topics, and wait until they are gone from the metadata."""
    names = list(dict.fromkeys(request.body.topic_names))
    found = _or_not_controller(request.shared.topics.delete(names), names)
    deleted = [name for name, (error, _) in found.items() if error == NONE]
    for name in _unfinished(request, deleted, lambda one, known: not known):
        found[name] = "REQUEST_TIMED_OUT", "The deletion has been asked for, and goes on."
    return Fields(throttle_time=no_throttle(), responses=_results(found))


def _or_not_controller(found: Changed | None, names: Iterable[str]) -> Changed:
    if found is None:
        return dict.fromkeys(names, ("NOT_CONTROLLER", MISSING_CONTROLLER))
    return found


def _results(found: Changed) -> list[Fields]:
    return [
        Fields(name=name, error_code=error_code(error), error_message=text or None)
        for name, (error, text) in found.items()
    ]


def _has_leaders(name: str, known: Mapping[int, Any]) -> bool:
    return bool(known) and all(metadata.state.leader >= 0 for metadata in known.values())


def _unfinished(
    request: ApiRequest, names: list[str], done: Callable[[str, Mapping[int, Any]], bool]
) -> list[str]:
    """Wait until the metadata tell that it is done: the topics of which it is not, in time."""
    shared = request.shared
    deadline = time.monotonic() + request.body.timeout.total_seconds()

    def left() -> list[str]:
        return [one for one in names if not done(one, shared.partitions_of(one))]

    with shared.replicas.changed:
        while left() and (seconds := deadline - time.monotonic()) > 0:
            shared.replicas.changed.wait(seconds)
        return left()


# Elections and moves


def elect_leaders(request: ApiRequest) -> Fields:
    """Elect preferred leaders, or (since version 1) unclean ones."""
    shared, kind = request.shared, KINDS.get(request.get("election_type", 0))
    named = request.body.topic_partitions
    wanted = None
    if named is not None:
        wanted = [TopicPartition(one.topic, number) for one in named for number in one.partitions]
    error, errors = "INVALID_REQUEST", dict[TopicPartition, str]()
    if kind is not None:
        shared.about_to_wait()
        error, errors, leaders = shared.control().requests.elect_leaders(kind, wanted)
        errors = wait_for_leaders(
            errors, leaders, shared.metadata, shared.replicas.changed,
            request.body.timeout.total_seconds(),
        )  # fmt: skip
    if error != NONE and wanted is not None:
        errors = dict.fromkeys(wanted, error)
    results = [
        Fields(
            topic=topic,
            partition_result=[
                Fields(partition_id=number, error_code=error_code(code), error_message=None)
                for number, code in parts
            ],
        )
        for topic, parts in _parted(errors).items()
    ]
    return Fields(
        throttle_time=no_throttle(), error_code=error_code(error), replica_election_results=results
    )


def _parted(rows: Mapping[TopicPartition, Value]) -> dict[str, list[tuple[int, Value]]]:
    """By topic: partitions' numbers, each with what belongs to it."""
    return by_topic((one.topic, (one.partition, value)) for one, value in rows.items())


def alter_partition_reassignments(request: ApiRequest) -> Fields:
    """Start, change or (without replicas) cancel reassignments (KIP-455)."""
    targets = {
        TopicPartition(topic.name, one.partition_index): (
            None if one.replicas is None else tuple(one.replicas)
        )
        for topic in request.body.topics
        for one in topic.partitions
    }
    request.shared.about_to_wait()
    error, errors = request.shared.control().requests.alter_reassignments(targets)
    return Fields(
        throttle_time=no_throttle(), error_code=error_code(error), error_message=None,
        responses=[
            Fields(
                name=topic,
                partitions=[
                    Fields(partition_index=number, error_code=error_code(code), error_message=None)
                    for number, code in parts
                ],
            )
            for topic, parts in _parted(errors).items()
        ],
    )  # fmt: skip


def list_partition_reassignments(request: ApiRequest) -> Fields:
    """The reassignments in progress."""
    named = request.body.topics
    wanted = None
    if named is not None:
        wanted = [
            TopicPartition(one.name, number) for one in named for number in one.partition_indexes
        ]
    request.shared.about_to_wait()
    error, moving = request.shared.control().requests.list_reassignments(wanted)
    return Fields(
        throttle_time=no_throttle(), error_code=error_code(error), error_message=None,
        topics=[
            Fields(
                name=topic,
                partitions=[
                    Fields(
                        partition_index=number, replicas=found.replicas,
                        adding_replicas=found.adding, removing_replicas=found.removing,
                    )
                    for number, found in parts
                ],
            )
            for topic, parts in _parted(moving).items()
        ],
    )  # fmt: skip


# Directories and brokers


def describe_log_dirs(request: ApiRequest) -> Fields:
    """The log directories of this broker, with the requested replicas, or all of them."""
    named = request.body.topics
    wanted = None
    if named is not None:
        wanted = {TopicPartition(one.topic, number) for one in named for number in one.partitions}
    with request.shared.replicas.lock:
        described = request.shared.log_dirs.describe()
    results = []
    for one in described:
        rows = [row for row in one.replicas if wanted is None or row.partition in wanted]
        results.append(
            Fields(
                error_code=error_code(one.error), log_dir=one.path,
                topics=[
                    Fields(
                        name=topic,
                        partitions=[
                            Fields(
                                partition_index=row.partition.partition, partition_size=row.size,
                                offset_lag=row.behind, is_future_key=row.future,
                            )
                            for row in parts
                        ],
                    )
                    for topic, parts in by_topic((row.partition.topic, row) for row in rows).items()
                ],
            )
        )  # fmt: skip
    return Fields(throttle_time=no_throttle(), results=results)


def alter_replica_log_dirs(request: ApiRequest) -> Fields:
    """Move replicas to other log directories of this broker."""
    wanted = {
        TopicPartition(topic.name, number): str(one.path)
        for one in request.body.dirs
        for topic in one.topics
        for number in topic.partitions
    }
    with request.shared.replicas.lock:
        errors = request.shared.log_dirs.alter(wanted)
    return Fields(
        throttle_time=no_throttle(),
        results=[
            Fields(
                topic_name=topic,
                partitions=[
                    Fields(partition_index=number, error_code=error_code(code))
                    for number, code in parts
                ],
            )
            for topic, parts in _parted(errors).items()
        ],
    )


def describe_cluster(request: ApiRequest) -> Fields:
    """The live brokers and the controller (KIP-700)."""
    shared = request.shared
    with shared.replicas.lock:
        brokers, controller = dict(shared.metadata.brokers), shared.metadata.controller
        racks = shared.replicas.racks
    return Fields(
        throttle_time=no_throttle(), error_code=error_code(NONE), error_message=None,
        cluster_id=shared.cluster_id or "",
        controller_id=-1 if controller not in brokers else controller,
        brokers=[
            Fields(broker_id=one, host=host, port=port, rack=racks.get(one))
            for one, (host, port) in sorted(brokers.items())
        ],
        cluster_authorized_operations=NO_OPERATIONS,
    )  # fmt: skip


HANDLERS: dict[str, Callable[[ApiRequest], Fields | None]] = {
    "CreateTopics": create_topics,
    "CreatePartitions": create_partitions,
    "DeleteTopics": delete_topics,
    "DescribeConfigs": resources.describe_configs,
    "AlterConfigs": resources.alter_configs,
    "IncrementalAlterConfigs": resources.incremental_alter_configs,
    "ElectLeaders": elect_leaders,
    "AlterPartitionReassignments": alter_partition_reassignments,
    "ListPartitionReassignments": list_partition_reassignments,
    "DescribeLogDirs": describe_log_dirs,
    "AlterReplicaLogDirs": alter_replica_log_dirs,
    "DescribeCluster": describe_cluster,
}
