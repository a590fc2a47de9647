"""Compaction: the latest record of each key stays; a null value deletes its key after a delay.

Segments below the first that must not be touched are copied without what later records supersede,
small ones together, and replaced. The dirty part begins where the last cleaning ended. Tombstones
stay for ``delete.retention.ms`` after they were compacted first, so that who reads from the
beginning sees them. Source: LogCleaner, LogCleanerManager, Cleaner (KIP-58 for the lag, KIP-354).
"""

from __future__ import annotations

from dataclasses import dataclass

from impl.log.errors import CorruptRecord, CorruptSegment
from impl.log.log import Log
from impl.log.record import StoredRecord
from impl.log.record_batch import CONTROL, Batch, header_at, records_of, retained
from impl.log.segment import CLEANED, LOG, MAX_RELATIVE, Segment


def keys_in(buffer_bytes: int) -> int:
    """The keys that log.cleaner.dedupe.buffer.size has room for.

    Each has a hash of 16 bytes and an offset, and the buffer is filled to nine tenths.
    """
    return int(buffer_bytes * 0.9) // 24


MOST_KEYS = keys_in(128 << 20)


@dataclass(frozen=True)
class Cleanable:
    """The part of a log that can be compacted: offsets from ``first_dirty`` up to ``end`` are new.

    ``clean_bytes`` and ``dirty_bytes`` are sizes of segments; ``overdue``: a record has waited for
    longer than max.compaction.lag.ms.
    """

    first_dirty: int
    end: int
    clean_bytes: int
    dirty_bytes: int
    least_ratio: float
    overdue: bool

    @property
    def ratio(self) -> float:
        """The dirty part of the log."""
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0

    @property
    def is_due(self) -> bool:
        """Whether there is something to clean, and the dirty ratio exceeds the minimum."""
        return self.dirty_bytes > 0 and (self.overdue or self.ratio > self.least_ratio)


def cleanable(log: Log, checkpointed: int | None) -> Cleanable:
    """Find the part to compact; ``checkpointed`` is the offset where the last cleaning ended.

    Whole segments alone are compacted: below the high watermark, never the active one, none that
    has a record younger than min.compaction.lag.ms.
    """
    config = log.config
    first = log.log_start
    if checkpointed is not None and log.log_start <= checkpointed <= log.log_end:
        first = checkpointed
    clean_bytes = dirty_bytes = 0
    end, overdue = first, False
    for segment, following in zip(log.segments, log.segments[1:], strict=False):
        if following.base_offset <= first:
            clean_bytes += segment.size
            continue
        young = config.min_compaction_lag_ms and (
            segment.largest_timestamp() > log.now_ms() - config.min_compaction_lag_ms
        )
        if following.base_offset > log.high_watermark or young:
            break
        dirty_bytes += segment.size
        end = following.base_offset
        waited = log.now_ms() - segment.largest_timestamp()
        overdue |= waited > config.max_compaction_lag_ms
    return Cleanable(
        first, end, clean_bytes, dirty_bytes, config.min_cleanable_dirty_ratio, overdue
    )


def clean(log: Log, found: Cleanable, most_keys: int = MOST_KEYS) -> int:
    """Compact a log; returns the offset up to which it is clean. CorruptSegment, OSError."""
    log.flush(log.active.base_offset)  # what replaces segments must not outlive less than they had
    before = [one for one in log.segments[:-1] if one.base_offset < found.first_dirty]
    horizon = before[-1].modified_ms - log.config.delete_retention_ms if before else 0
    latest, end = _latest_offsets(log, found, most_keys)
    for group in _groups(log, end):
        _clean_group(log, group, latest, horizon)
    return end


def _latest_offsets(log: Log, found: Cleanable, most_keys: int) -> tuple[dict[bytes, int], int]:
    """The latest offset of each key of the dirty part, and the end of what was looked at."""
    latest: dict[bytes, int] = {}
    for segment in log.segments:
        if segment.base_offset >= found.end:
            break
        for place, batch in segment.batches(segment.index.lookup(found.first_dirty).position):
            if batch.last_offset < found.first_dirty or batch.attributes & CONTROL:
                continue
            for record in _records(segment, place, batch):
                if record.key is not None and record.offset >= found.first_dirty:
                    latest[record.key] = record.offset
            if len(latest) >= most_keys:
                return latest, batch.next_offset
    return latest, found.end


def _groups(log: Log, end: int) -> list[list[Segment]]:
    """Segments that become one: together no larger than a segment may be."""
    config = log.config
    groups: list[list[Segment]] = []
    size = index = 0
    for segment in log.segments[:-1]:
        if segment.base_offset >= end:
            break
        entries = max(len(segment.index), len(segment.time_index)) + 1
        fits = (
            groups
            and size + segment.size <= config.segment_bytes
            and index + entries <= segment.time_index.max_entries - 1
            and segment.next_offset() - groups[-1][0].base_offset <= MAX_RELATIVE
        )
        if fits:
            groups[-1].append(segment)
            size, index = size + segment.size, index + entries
        else:
            groups.append([segment])
            size, index = segment.size, entries
    return groups


def _clean_group(log: Log, group: list[Segment], latest: dict[bytes, int], horizon: int) -> None:
    modified = group[-1].modified_ms
    cleaned = Segment(
        log.disk, log.directory, group[0].base_offset, log.config, log.now_ms(), CLEANED
    )
    cleaned.create()
    for segment in group:
        keeps_tombstones = segment.modified_ms > horizon
        for place, batch in segment.batches():
            kept = _kept(log, segment, place, batch, latest, keeps_tombstones)
            if kept:
                left = header_at(kept)
                cleaned.append(
                    [kept], len(kept), left.base_offset, left.last_offset, left.max_timestamp,
                    left.last_offset,
                )  # fmt: skip
    cleaned.become_inactive()
    cleaned.sync()
    log.disk.set_modified_ms(cleaned.path(LOG), modified)
    log.replace_segments(cleaned, group)


def _kept(
    log: Log, segment: Segment, place: int, batch: Batch, latest: dict[bytes, int],
    keeps_tombstones: bool,
) -> bytes:  # fmt: skip
    """What stays of a batch: all of it, some records, its header alone for its producer's sake."""
    data = segment.log_file.read(place, batch.size)
    if batch.attributes & CONTROL:
        return data
    records = _records(segment, place, batch)
    stay = [
        record
        for record in records
        if record.key is not None
        and record.offset >= latest.get(record.key, record.offset)
        and (record.value is not None or keeps_tombstones)
    ]
    if len(stay) == len(records) and records:
        return data
    producer = log.producers.states.entries.get(batch.producer_id)
    is_last = producer is not None and batch.base_offset <= producer.last_offset < batch.next_offset
    return retained(data, 0, batch, stay) if stay or is_last else b""


def _records(segment: Segment, place: int, batch: Batch) -> list[StoredRecord]:
    try:
        return records_of(segment.log_file.read(place, batch.size))
    except CorruptRecord as error:
        where = f"byte {place + error.position}"
        raise CorruptSegment(segment.path(LOG), where, error.why) from error
