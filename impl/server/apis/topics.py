"""Metadata: brokers, and leaders of topics; a missing topic may be created (KIP-204).

Source: KafkaApis.handleTopicMetadataRequest, MetadataCache.getTopicMetadata.
"""

from __future__ import annotations

from typing import Any

from impl.admin.errors import AdminError, InvalidReplicationFactor, InvalidTopic
from impl.admin.topic_command import TopicCommand
from impl.admin.topic_names import check_name
from impl.core.requests import PartitionMetadata
from impl.error_codes import NONE
from impl.server.apis.api_request import NO_OPERATIONS, ApiRequest, BrokerParts, no_throttle
from impl.server.groups.coordinator import OFFSETS_TOPIC
from impl.wire import Fields, error_code
from impl.znodes import MalformedZnode
from impl.zookeeper.errors import ZooKeeperError


def metadata(request: ApiRequest) -> Fields:
    """Metadata of the named topics, or of all topics; in version 0 an empty list means all."""
    shared, cache = request.shared, request.shared.metadata
    wanted = request.body.topics
    with shared.replicas.lock:
        brokers = dict(cache.brokers)
        controller = -1 if cache.controller is None else cache.controller
        known: dict[str, dict[int, PartitionMetadata]] = {}
        for one, metadata in cache.partitions.items():
            known.setdefault(one.topic, {})[one.partition] = metadata
        racks = shared.replicas.racks
    if wanted is None or (request.version == 0 and not wanted):
        names = sorted(known)
    else:
        names = list(dict.fromkeys(topic.name for topic in wanted))
    topics = []
    for name in names:
        partitions = known.get(name)
        error = NONE if partitions is not None else _missing(request, name)
        rows = [
            _partition(request, number, metadata, brokers)
            for number, metadata in sorted((partitions or {}).items())
        ]
        topics.append(
            Fields(
                error_code=error_code(error), name=name, is_internal=name == OFFSETS_TOPIC,
                partitions=rows, topic_authorized_operations=NO_OPERATIONS,
            )
        )  # fmt: skip
    return Fields(
        throttle_time=no_throttle(),
        brokers=[
            Fields(node_id=one, host=host, port=port, rack=racks.get(one))
            for one, (host, port) in sorted(brokers.items())
        ],
        cluster_id=shared.cluster_id,
        controller_id=controller if controller in brokers else -1,
        topics=topics,
        cluster_authorized_operations=NO_OPERATIONS,
    )


def _partition(
    request: ApiRequest, number: int, metadata: PartitionMetadata, brokers: dict[int, Any]
) -> Fields:
    """One partition. Version 0 names only brokers that live, and says so where some do not."""
    leader, epoch = metadata.state.leader, metadata.state.leader_epoch
    error = NONE
    replicas, isr = list(metadata.replicas), list(metadata.state.isr)
    if leader not in brokers:
        error = "LEADER_NOT_AVAILABLE"
        if request.version == 0 or leader < 0:
            leader = -1
    if request.version == 0:
        if error == NONE and not set(replicas) | set(isr) <= set(brokers):
            error = "REPLICA_NOT_AVAILABLE"
        replicas = [one for one in replicas if one in brokers]
        isr = [one for one in isr if one in brokers]
    offline = [
        one for one in metadata.replicas if one not in brokers or one in metadata.offline_replicas
    ]
    return Fields(
        error_code=error_code(error), partition_index=number,
        leader_id=leader if leader in brokers else -1, leader_epoch=epoch,
        replica_nodes=replicas, isr_nodes=isr, offline_replicas=offline,
    )  # fmt: skip


def _missing(request: ApiRequest, name: str) -> str:
    """The error about a topic that is not known, which may be made now."""
    try:
        check_name(name)
    except AdminError:
        return "INVALID_TOPIC_EXCEPTION"
    allowed = request.get("allow_auto_topic_creation", True)
    config = request.shared.config
    if not allowed or not (name == OFFSETS_TOPIC or config.truth("auto.create.topics.enable")):
        return "UNKNOWN_TOPIC_OR_PARTITION"
    if not request.shared.metadata.brokers:
        return "LEADER_NOT_AVAILABLE"  # this broker has no metadata yet
    return create(request.shared, name)


def create(shared: BrokerParts, name: str) -> str:
    """Create a topic with the broker's default properties; returns the error for Metadata."""
    config = shared.config
    if name == OFFSETS_TOPIC:
        partitions = config.whole_number("offsets.topic.num.partitions")
        factor = config.whole_number("offsets.topic.replication.factor")
        if not shared.release.since("0.11"):  # KIP-115: since then it waits for enough brokers
            factor = min(factor, len(shared.metadata.brokers))
        settings = {"cleanup.policy": "compact",
                    "segment.bytes": config.text("offsets.topic.segment.bytes")}  # fmt: skip
    else:
        partitions = config.whole_number("num.partitions")
        factor, settings = config.whole_number("default.replication.factor"), {}
    try:
        TopicCommand(shared.client, "").create(name, partitions, factor, None, settings,
                                               if_not_exists=True)  # fmt: skip
    except InvalidReplicationFactor:
        return "INVALID_REPLICATION_FACTOR"
    except InvalidTopic:
        return "INVALID_TOPIC_EXCEPTION"
    except (AdminError, MalformedZnode, ZooKeeperError):
        return "UNKNOWN_TOPIC_OR_PARTITION"
    return "LEADER_NOT_AVAILABLE"
