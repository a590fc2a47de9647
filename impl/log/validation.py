"""Checks of a producer's or a leader's bytes before a log appends them (``LogValidator``)."""

from __future__ import annotations

from impl.log.config import LOG_APPEND_TIME, LogConfig
from impl.log.errors import CorruptRecord, InvalidBatch
from impl.log.legacy_messages import encode_message, encode_wrapper
from impl.log.record import StoredRecord
from impl.log.record_batch import Batch, check, encode_batch, records_of


def check_batches(data: bytes, config: LogConfig) -> list[tuple[int, Batch, bytes]]:
    """Each batch with its position; InvalidBatch if one is truncated, altered or too large."""
    found: list[tuple[int, Batch, bytes]] = []
    at = 0
    try:
        while at < len(data):
            batch = check(data, at)
            found.append((at, batch, data))
            at += batch.size
    except CorruptRecord as error:
        raise InvalidBatch("CORRUPT_MESSAGE", str(error)) from error
    if not found:
        raise InvalidBatch("INVALID_RECORD", "no batch at all")
    for at, batch, _ in found:
        if batch.size > config.max_message_bytes:
            why = f"byte {at}: {batch.size} bytes, at most {config.max_message_bytes}"
            raise InvalidBatch("RECORD_TOO_LARGE", why)
    if len(data) > config.segment_bytes:
        why = f"{len(data)} bytes, a segment has {config.segment_bytes}"
        raise InvalidBatch("RECORD_LIST_TOO_LARGE", why)
    return found


def check_keys(data: bytes, at: int, config: LogConfig) -> None:
    """InvalidBatch if a record for a compacted log has no key."""
    if not config.compacts:
        return
    try:
        keyless = [one for one in records_of(data, at) if one.key is None]
    except CorruptRecord as error:
        raise InvalidBatch("CORRUPT_MESSAGE", str(error)) from error
    if keyless:
        why = "Compacted topic cannot accept message without key"
        raise InvalidBatch("INVALID_RECORD", why)


def check_time(batch: Batch, config: LogConfig, now_ms: int) -> None:
    """InvalidBatch if a timestamp is too far from the broker's clock."""
    widest = config.message_timestamp_difference_max_ms
    if config.message_timestamp_type == LOG_APPEND_TIME or batch.max_timestamp < 0:
        return
    if abs(batch.max_timestamp - now_ms) > widest:
        why = f"{batch.max_timestamp} is more than {widest} ms from the broker's time"
        raise InvalidBatch("INVALID_TIMESTAMP", why)


def convert_to_v2(data: bytes, at: int) -> tuple[bytes, int, Batch]:
    """Messages of an older format as a v2 batch, as the leader stores them."""
    try:
        whole = encode_batch(records_of(data, at))
        return whole, 0, check(whole)
    except CorruptRecord as error:
        raise InvalidBatch("CORRUPT_MESSAGE", str(error)) from error


def messages(
    data: bytes, at: int, batch: Batch, base_offset: int, magic: int, now_ms: int | None
) -> bytes:
    """A batch of any format as messages of format 0 or 1, as the leader stores it (to 0.10).

    Its records get offsets from ``base_offset`` on; ``now_ms``, if given, becomes their time
    (LogAppendTime, which format 0 has not). A compressed batch stays one compressed message.
    What older formats have no place for, headers and producer ids, is lost, as Kafka has it.
    Source: LogValidator.convertAndAssignOffsetsNonCompressed.
    """
    try:
        records = records_of(data, at)
    except CorruptRecord as error:
        raise InvalidBatch("CORRUPT_MESSAGE", str(error)) from error
    placed = [
        StoredRecord(
            base_offset + number, each.timestamp if now_ms is None else now_ms, each.key, each.value
        )
        for number, each in enumerate(records)
    ]
    overrides = now_ms is not None and magic == 1
    if batch.codec == "none":
        return b"".join(encode_message(one, magic, append_time=overrides) for one in placed)
    codec = batch.codec
    if codec == "zstd":
        raise InvalidBatch("UNSUPPORTED_COMPRESSION_TYPE", f"format {magic} has no zstd")
    return encode_wrapper(placed, magic, codec, append_time=overrides)
