"""Which segments are deleted: by time, size or log start (``Log.deleteOldSegments``).

A log that is only compacted loses those below its start alone.
"""

from __future__ import annotations

from collections.abc import Callable

from impl.log.log import Log
from impl.log.segment import Segment

Goes = Callable[[Segment, Segment | None], bool]
"""Asked with a segment and the one after it, None for the active one."""


def delete_old_segments(log: Log) -> int:
    """Delete segments from the oldest on, only below the high watermark; returns their number.

    If all go, the log is rolled first.
    """
    config = log.config
    went = 0
    if not config.deletes:
        return _delete_while(log, _below(log.log_start))
    if config.retention_ms >= 0:
        oldest = log.now_ms() - config.retention_ms
        went += _delete_while(log, lambda segment, _: segment.largest_timestamp() < oldest)
    if config.retention_bytes >= 0:
        went += _delete_while(log, _surplus(log.size - config.retention_bytes))
    return went + _delete_while(log, _below(log.log_start))


def _surplus(surplus: int) -> Goes:
    def goes(segment: Segment, following: Segment | None) -> bool:
        nonlocal surplus
        surplus -= segment.size
        return surplus >= 0

    return goes


def _below(log_start: int) -> Goes:
    return lambda _, following: following is not None and following.base_offset <= log_start


def _delete_while(log: Log, goes: Goes) -> int:
    going: list[Segment] = []
    for segment, following in zip(log.segments, [*log.segments[1:], None], strict=True):
        end = log.log_end if following is None else following.base_offset
        is_last_and_empty = following is None and not segment.size
        if log.high_watermark < end or is_last_and_empty or not goes(segment, following):
            break
        going.append(segment)
    if not going:
        return 0
    if len(going) == len(log.segments):
        log.roll()
    log.drop(going, oldest_first=True)
    if log.segments[0].base_offset > log.log_start:
        log.log_start = log.segments[0].base_offset
        log.start_raised()
    return len(going)
