"""Handlers of Produce, Fetch and InitProducerId.

Record batches are neither decoded nor changed, except for consumers of an older message format than
the log's. Source: KafkaApis.handleProduceRequest, handleFetchRequest; fact sheet g.6, g.7.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from kio.schema.fetch.v12.response import EpochEndOffset, LeaderIdAndEpoch, SnapshotId

from impl.core.fetcher_thread import FetchQuestion, FetchReply
from impl.core.replica_manager import ProduceOutcome
from impl.error_codes import NONE
from impl.log.config import LOG_APPEND_TIME
from impl.log.errors import CorruptRecord, InvalidBatch
from impl.log.legacy_messages import encode_message, encode_wrapper
from impl.log.record_batch import batches_in, records_of, whole_batches
from impl.server.apis.api_request import ApiRequest, CloseConnection, FileRecords, no_throttle
from impl.server.control_messages import by_topic
from impl.server.fetch_sessions import FINAL_EPOCH, NO_SESSION, FetchedPart
from impl.server.replicas import now_ms
from impl.server.serving import Replies
from impl.wire import Fields, error_code
from impl.znodes import MalformedZnode, TopicPartition
from impl.znodes.producer_ids import ProducerIdsExhausted
from impl.zookeeper.errors import ZooKeeperError
from impl.zookeeper.port import wait

FOLLOWER_MAX_BYTES = 2**31 - 1
READ_COMMITTED = 1
ZSTD = "zstd"

# Producers


def produce(request: ApiRequest) -> Fields | None:
    """Append to partitions; with acks=0 there is no response: an error closes the connection."""
    acks, wait_ms = request.body.acks, _ms(request.body.timeout)
    errors: dict[TopicPartition, tuple[str, str]] = {}
    records: dict[TopicPartition, bytes] = {}
    for topic in request.body.topic_data:
        for one in topic.partition_data:
            partition = TopicPartition(topic.name, one.index)
            wrong = _wrong_records(request, one.records)
            if wrong is None:
                records[partition] = bytes(one.records)
            else:
                errors[partition] = wrong
    done = request.shared.serving.append(records, acks, wait_ms)
    if acks == 0:
        failed = [f"{one}: {error}" for one, (_, error) in done.items() if error != NONE]
        failed += [f"{one}: {error}" for one, (error, _) in errors.items() if error != NONE]
        if failed:
            raise CloseConnection(f"acks=0, and no response can report: {', '.join(failed)}")
        return None
    return Fields(
        throttle_time=no_throttle(),
        responses=[
            Fields(
                name=topic.name,
                partition_responses=[
                    _produced(request, TopicPartition(topic.name, one.index), done, errors)
                    for one in topic.partition_data
                ],
            )
            for topic in request.body.topic_data
        ],
    )


def _wrong_records(request: ApiRequest, records: bytes | None) -> tuple[str, str] | None:
    """An error and its message; None where the records may be appended.

    Source: ProduceRequest.validateRecords; KIP-110 for zstd.
    """
    if request.get("transactional_id") is not None:
        return "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", "there are no transactions here"
    if not records:
        return ("INVALID_RECORD" if request.version >= 3 else NONE), "no batch at all"
    try:
        batches = [batch for _, batch in batches_in(records)]
    except CorruptRecord as error:
        return "CORRUPT_MESSAGE", str(error)
    if request.version >= 3 and (len(batches) != 1 or batches[0].magic != 2):
        why = f"version {request.version} takes exactly one batch of format 2 for a partition"
        return ("INVALID_RECORD" if batches else "CORRUPT_MESSAGE"), why
    if request.version < 7 and any(batch.codec == ZSTD for batch in batches):
        return "UNSUPPORTED_COMPRESSION_TYPE", "zstd needs version 7 of Produce"
    return None


def _produced(
    request: ApiRequest,
    partition: TopicPartition,
    done: dict[TopicPartition, tuple[ProduceOutcome, str]],
    errors: dict[TopicPartition, tuple[str, str]],
) -> Fields:
    came, error = done.get(partition, (ProduceOutcome(NONE), NONE))
    text = came.message
    if partition in errors:
        error, text = errors[partition]
    error = request.error_at(partition, _code_of(request, error))
    log = request.shared.replicas.logs.log(partition) if error == NONE else None
    appended_at: datetime | None = None
    if log is not None and log.config.message_timestamp_type == LOG_APPEND_TIME:
        appended_at = datetime.fromtimestamp(log.active.max_timestamp / 1000, UTC)
    return Fields(
        index=partition.partition,
        error_code=error_code(error),
        base_offset=came.first_offset if error == NONE else -1,
        log_append_time=appended_at,
        log_start_offset=-1 if log is None else log.log_start,
        record_errors=(),
        error_message=text or None,
    )


def _code_of(request: ApiRequest, error: str) -> str:
    """The name of an error of the log in the words of the protocol, and of the release."""
    if error == "RECORD_TOO_LARGE":
        return "MESSAGE_TOO_LARGE"
    if error == "INVALID_RECORD" and not request.shared.release.since("2.4"):
        return "CORRUPT_MESSAGE"  # KIP-467 gave it a code of its own
    return error


def init_producer_id(request: ApiRequest) -> Fields:
    """Return a producer id for an idempotent producer."""
    number, error = -1, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"
    if request.body.transactional_id is None:
        number, error = _new_producer_id(request)
    return Fields(
        throttle_time=no_throttle(), error_code=error_code(error), producer_id=number,
        producer_epoch=0 if error == NONE else -1,
    )  # fmt: skip


def _new_producer_id(request: ApiRequest) -> tuple[int, str]:
    """An id that nobody has; those of transactions would have a coordinator."""
    shared = request.shared
    try:
        with shared.giving_ids:
            return wait(shared.producer_ids.generate(shared.client)), NONE
    except (MalformedZnode, ProducerIdsExhausted):
        return -1, "UNKNOWN_SERVER_ERROR"
    except ZooKeeperError:
        return -1, "COORDINATOR_LOAD_IN_PROGRESS"


# Consumers and followers


def fetch(request: ApiRequest) -> Fields:
    """Read from partitions, up to the high watermark; a follower reads beyond it.

    In a fetch session the broker knows the partitions from earlier fetches (KIP-227).
    """
    shared, body = request.shared, request.body
    most = max(0, request.get("max_bytes", FOLLOWER_MAX_BYTES))
    with shared.replicas.lock:
        context = shared.fetch_sessions.context(
            request.get("session_id", NO_SESSION), request.get("session_epoch", FINAL_EPOCH),
            _fetched_parts(request), _forgotten(request), body.replica_id >= 0, now_ms(),
        )  # fmt: skip
        if context.error != NONE:
            return _fetched(context.error, NO_SESSION, ())
        replies: Replies = {}
        if context.questions:
            replies = shared.serving.read(
                body.replica_id, context.questions, _ms(body.max_wait), body.min_bytes, most,
                context.limits,
            )  # fmt: skip
        error, session, named = context.answered(replies)
        rows = by_topic((one.topic, _partition(request, one, replies[one])) for one in named)
    return _fetched(error, session, [Fields(topic=topic, partitions=rows[topic]) for topic in rows])


def _fetched_parts(request: ApiRequest) -> dict[TopicPartition, FetchedPart]:
    """What a fetch says of the partitions that it names."""
    found = {}
    for topic in request.body.topics:
        for one in topic.partitions:
            epoch = _epoch(getattr(one, "current_leader_epoch", -1))
            last = _epoch(getattr(one, "last_fetched_epoch", -1))
            start = getattr(one, "log_start_offset", -1)
            question = FetchQuestion(epoch, one.fetch_offset, last, start)
            part = FetchedPart(question, max(0, one.partition_max_bytes))
            found[TopicPartition(topic.topic, one.partition)] = part
    return found


def _forgotten(request: ApiRequest) -> list[TopicPartition]:
    """The partitions that a session has no more."""
    return [
        TopicPartition(topic.topic, partition)
        for topic in request.get("forgotten_topics_data", ())
        for partition in topic.partitions
    ]


def _fetched(error: str, session: int, responses: Sequence[Fields]) -> Fields:
    return Fields(
        throttle_time=no_throttle(), error_code=error_code(error), session_id=session,
        responses=responses,
    )  # fmt: skip


def _partition(request: ApiRequest, partition: TopicPartition, reply: FetchReply) -> Fields:
    error = request.error_at(partition, reply.error.value)
    records: Any = b""
    if reply.batch is not None and reply.batch.length:
        try:
            records = _records(request, reply.batch)
        except InvalidBatch as refused:
            error = refused.code
    committed = request.get("isolation_level", 0) == READ_COMMITTED
    end = EpochEndOffset()
    if reply.diverging is not None:
        end = EpochEndOffset(epoch=reply.diverging.epoch, end_offset=reply.diverging.end)  # type: ignore[arg-type]
    return Fields(
        partition_index=partition.partition,
        error_code=error_code(error),
        high_watermark=reply.high_watermark,
        last_stable_offset=reply.high_watermark,
        log_start_offset=reply.log_start,
        diverging_epoch=end,
        current_leader=LeaderIdAndEpoch(),
        snapshot_id=SnapshotId(),
        aborted_transactions=() if committed else None,
        preferred_read_replica=-1,
        records=records,
    )


def _records(request: ApiRequest, region: Any) -> Any:
    """A region as it is, or in the format that a version of Fetch can carry (KIP-31, KIP-98).

    InvalidBatch UNSUPPORTED_COMPRESSION_TYPE for zstd before version 10.
    """
    if request.version >= 10 or request.body.replica_id >= 0:
        return FileRecords(region.held())
    newest = 0 if request.version < 2 else 1 if request.version < 4 else 2
    data = region.read()
    try:
        batches = list(batches_in(data))
        if any(batch.codec == ZSTD for _, batch in batches):
            raise InvalidBatch("UNSUPPORTED_COMPRESSION_TYPE", "zstd needs version 10 of Fetch")
        if all(batch.magic <= newest for _, batch in batches):
            return FileRecords(region.held())
        whole = whole_batches(data)
        return b"".join(
            _older(whole, at, batch.codec, newest)
            if batch.magic > newest
            else whole[at : at + batch.size]
            for at, batch in batches
        )
    except CorruptRecord as error:
        raise InvalidBatch("CORRUPT_MESSAGE", str(error)) from error


def _older(data: bytes, at: int, codec: str, magic: int) -> bytes:
    """A batch in format 0 or 1, at the same offsets (``AbstractRecords.downConvert``)."""
    records = records_of(data, at)
    if codec == "none":
        return b"".join(encode_message(one, magic) for one in records)
    return encode_wrapper(records, magic, codec) if records else b""


def _epoch(number: int) -> int | None:
    """An epoch in a request; -1 is none."""
    return None if number < 0 else number


def _ms(time: Any) -> int:
    return max(0, int(time.total_seconds() * 1000))
