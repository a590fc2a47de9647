"""Recovery of a segment after an unclean shutdown: valid batches stay, indexes are rebuilt.

Source: LogSegment.recover; the fact sheet, section l.
"""

from __future__ import annotations

from typing import NamedTuple

from impl.log.errors import CorruptRecord, CorruptSegment
from impl.log.leader_epoch_file import LeaderEpochFile
from impl.log.record import NO_TIMESTAMP
from impl.log.record_batch import PREFIX, Batch, check, size_at
from impl.log.segment import LOG, MAX_RELATIVE, Segment

CHUNK = 1 << 20
"""Bytes that a scan reads at once, more where a batch is larger."""


class SegmentScan(NamedTuple):
    """The result of a scan: bytes kept and removed, the next offset, why the scan ended early."""

    kept: int
    cut: int
    next_offset: int
    why: str


def recover_segment(
    segment: Segment, epochs: LeaderEpochFile | None, cuts: bool = True
) -> SegmentScan:
    """Check every batch; remove the first invalid one and all after it; rebuild and sync the
    indexes.

    Epochs above 0 that are newer than all in the cache enter it (None: the cache is left alone).
    Without ``cuts`` a bad batch is a CorruptSegment, and the records stay as they are.
    """
    segment.size = segment.log_file.size()
    segment.index.create()
    segment.time_index.create()
    segment.max_timestamp, segment.offset_of_max = NO_TIMESTAMP, segment.base_offset
    segment.first_timestamp = None
    position = indexed = 0
    expected = segment.base_offset
    why = ""
    data = b""
    begun = 0  # where in the file the bytes at hand begin
    while position < segment.size:
        try:
            at = position - begun
            if len(data) - at < PREFIX or len(data) - at < size_at(data, at):
                begun, at = position, 0
                data = _read(segment, position)
            batch = check(data, at)
            _check_offsets(batch, segment.base_offset, expected)
        except CorruptRecord as error:
            if not cuts:
                raise CorruptSegment(segment.path(LOG), f"byte {position}", error.why) from error
            why = f"{segment.path(LOG)}: byte {position}: {error.why}"
            break
        if batch.max_timestamp > segment.max_timestamp:
            segment.max_timestamp, segment.offset_of_max = batch.max_timestamp, batch.last_offset
        if position - indexed > segment.config.index_interval_bytes:
            last_offset = segment.config.index_last_offset
            segment.index.append(batch.last_offset if last_offset else batch.base_offset, position)
            segment.time_index.maybe_append(segment.max_timestamp, segment.offset_of_max)
            indexed = position
        if epochs is not None and batch.leader_epoch > max(0, epochs.latest_epoch):
            epochs.assign(batch.leader_epoch, batch.base_offset)
        expected = batch.next_offset
        position += batch.size
    cut = segment.size - position
    if cut:
        segment.cut_bytes(position)
    segment.bytes_since_index = position - indexed
    segment.become_inactive()
    segment.sync()
    return SegmentScan(position, cut, expected, why)


def _read(segment: Segment, position: int) -> bytes:
    """A chunk that holds the batch at that position whole, if the file does."""
    data = segment.log_file.read(position, CHUNK)
    size = size_at(data)
    return data if size <= len(data) else segment.log_file.read(position, size)


def _check_offsets(batch: Batch, base_offset: int, expected: int) -> None:
    first = batch.last_offset if batch.magic < 2 else batch.base_offset
    if first < expected:
        raise CorruptRecord(0, f"a batch from offset {first} on, after offset {expected - 1}")
    if batch.last_offset - base_offset > MAX_RELATIVE:
        raise CorruptRecord(0, f"offset {batch.last_offset} is too far from {base_offset}")
