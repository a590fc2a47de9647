"""ListOffsets, OffsetForLeaderEpoch and DeleteRecords (KafkaApis; fact sheet g.7, h.2, KIP-107)."""

from __future__ import annotations

from impl.core.fetcher_thread import EpochQuestion
from impl.core.replica_manager import CONSUMER
from impl.error_codes import NONE
from impl.server import delete_records as deletion
from impl.server.apis.api_request import ApiRequest, no_throttle
from impl.wire import Fields, error_code
from impl.znodes import TopicPartition
from impl.zookeeper.port import wait


def list_offsets(request: ApiRequest) -> Fields:
    """ListOffsets: the earliest (-2), the latest (-1), or the first offset of a timestamp (ms)."""
    consumer = request.body.replica_id == CONSUMER
    topics = []
    for topic in request.body.topics:
        rows = []
        for one in topic.partitions:
            partition = TopicPartition(topic.name, one.partition_index)
            rows.append(
                _segments(request, partition, one, consumer)
                if request.version == 0
                else _offset(request, partition, one, consumer)
            )
        topics.append(Fields(name=topic.name, partitions=rows))
    return Fields(throttle_time=no_throttle(), topics=topics)


def _offset(request: ApiRequest, partition: TopicPartition, one: Fields, consumer: bool) -> Fields:
    replicas = request.shared.replicas
    epoch = getattr(one, "current_leader_epoch", -1)
    with replicas.lock:
        found = wait(
            replicas.core.list_offset(
                partition, one.timestamp, consumer, None if epoch < 0 else epoch
            )
        )
        log = replicas.logs.log(partition)
        leader_epoch = -1 if log is None or found.offset < 0 else log.epoch_at(found.offset)
    error = request.error_at(partition, found.error)
    if error == "OFFSET_NOT_AVAILABLE" and request.version < 5:
        error = "LEADER_NOT_AVAILABLE"
    return Fields(
        partition_index=partition.partition,
        error_code=error_code(error),
        timestamp=found.timestamp,
        offset=found.offset,
        leader_epoch=leader_epoch,
    )


def _segments(
    request: ApiRequest, partition: TopicPartition, one: Fields, consumer: bool
) -> Fields:
    """Version 0 answers base offsets of segments: before 0.10.1 there was no time index."""
    error, found = request.shared.serving.offsets_before(
        partition, one.timestamp, one.max_num_offsets, consumer
    )
    return Fields(
        partition_index=partition.partition,
        error_code=error_code(request.error_at(partition, error)),
        old_style_offsets=tuple(found),
    )


def offset_for_leader_epoch(request: ApiRequest) -> Fields:
    """OffsetForLeaderEpoch: the end offsets of leader epochs."""
    questions = {
        TopicPartition(topic.topic, one.partition): EpochQuestion(
            _epoch(getattr(one, "current_leader_epoch", -1)), one.leader_epoch
        )
        for topic in request.body.topics
        for one in topic.partitions
    }
    replicas = request.shared.replicas
    with replicas.lock:
        found = wait(replicas.core.epoch_ends(questions))
    topics = []
    for topic in request.body.topics:
        rows = []
        for one in topic.partitions:
            partition = TopicPartition(topic.topic, one.partition)
            reply = found[partition]
            error = request.error_at(partition, reply.error.value)
            rows.append(
                Fields(
                    error_code=error_code(error),
                    partition=partition.partition,
                    leader_epoch=reply.end.epoch if error == NONE else -1,
                    end_offset=reply.end.end if error == NONE else -1,
                )
            )
        topics.append(Fields(topic=topic.topic, partitions=rows))
    return Fields(throttle_time=no_throttle(), topics=topics)


def delete_records(request: ApiRequest) -> Fields:
    """Raise log start offsets to the given offsets, or to the high watermarks (-1)."""
    offsets = {
        TopicPartition(topic.name, one.partition_index): one.offset
        for topic in request.body.topics
        for one in topic.partitions
    }
    wait_ms = round(request.body.timeout.total_seconds() * 1000)
    found = deletion.delete_records(request.shared.replicas, offsets, wait_ms)
    topics = []
    for topic in request.body.topics:
        rows = []
        for one in topic.partitions:
            partition = TopicPartition(topic.name, one.partition_index)
            low, error = found[partition]
            code = error_code(request.error_at(partition, error))
            rows.append(
                Fields(partition_index=one.partition_index, low_watermark=low, error_code=code)
            )
        topics.append(Fields(name=topic.name, partitions=rows))
    return Fields(throttle_time=no_throttle(), topics=topics)


def _epoch(number: int) -> int | None:
    return None if number < 0 else number
