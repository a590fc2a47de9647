"""Configurations of a log, under Kafka's names for topics and for brokers (``LogConfig``)."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from impl.releases import Release, api_version

COMPACT, DELETE = "compact", "delete"
CREATE_TIME = "CreateTime"
LOG_APPEND_TIME = "LogAppendTime"

DAY_MS = 24 * 60 * 60 * 1000
LARGEST = 2**63 - 1
_NEWEST = Release.of("2.8")

ONLY_KEPT = {
    "compression.type": "producer", "flush.ms": str(LARGEST), "preallocate": "false",
    "message.downconversion.enable": "true",
}  # fmt: skip
"""What Kafka has for topics and these logs do not: how they are, under Kafka's names."""


@dataclass(frozen=True)
class LogConfig:
    """Sizes in bytes, times in milliseconds; -1 is no limit. Defaults are Kafka's.

    ``message_format``: the magic that a leader stores (``message.format.version``, KIP-31, KIP-98):
    0 before 0.10.0, 1 before 0.11, 2 since. ``index_last_offset``: index entries carry the last
    offset of their batch (2.0+), before that the first. ``epochs_by_format``: an older message
    format than v2 keeps no leader epochs (2.1.1, KAFKA-7897); before, there is a cache in any.
    ``older_format_ends_epochs``: what is appended in one clears the cache (2.2.1, KAFKA-7601).
    ``time_index``: segments have one, and are rolled and deleted by the times of their records
    (0.10.1, KIP-33); before, by those of their files.
    ``cleanup_policy``: ``delete``,
    ``compact``, or both with a comma between (KIP-71). The ratio is of bytes not compacted yet.
    """

    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * DAY_MS
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10 << 20
    index_interval_bytes: int = 4096
    retention_bytes: int = -1
    retention_ms: int = 7 * DAY_MS
    cleanup_policy: str = DELETE
    delete_retention_ms: int = DAY_MS
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = LARGEST
    flush_messages: int = LARGEST
    file_delete_delay_ms: int = 60_000
    max_message_bytes: int = 1_048_588
    message_timestamp_type: str = CREATE_TIME
    message_timestamp_difference_max_ms: int = LARGEST
    message_format: int = 2
    index_last_offset: bool = True
    epochs_by_format: bool = True
    older_format_ends_epochs: bool = True
    time_index: bool = True

    @property
    def compacts(self) -> bool:
        """Whether the log is compacted: the latest record of each key is kept."""
        return COMPACT in self.cleanup_policy

    @property
    def deletes(self) -> bool:
        """Whether old segments are deleted by time and by size."""
        return DELETE in self.cleanup_policy

    def but(self, properties: Mapping[str, str]) -> LogConfig:
        """With properties by a topic's names (``segment.bytes``) or a broker's
        (``log.segment.bytes``); ValueError for an unknown name or a value that is none.
        """
        values: dict[str, int | float | str] = {}
        for name, text in properties.items():
            field = FIELDS.get(name)
            if field is None:
                near = difflib.get_close_matches(name, FIELDS, n=1)
                hint = f"; perhaps {near[0]}" if near else ""
                raise ValueError(f"{name} is not a property of a log{hint}")
            values[field] = _value(name, text)
        return replace(self, **values)  # type: ignore[arg-type]


_OF_RELEASE = ("index_last_offset", "epochs_by_format", "older_format_ends_epochs", "time_index")
_SETTABLE = [field.name for field in fields(LogConfig) if field.name not in _OF_RELEASE]

FIELDS = {name.replace("_", "."): name for name in _SETTABLE if name != "message_format"} | {
    "message.format.version": "message_format",
    "log.message.format.version": "message_format",
    "log.segment.bytes": "segment_bytes",
    "log.roll.ms": "segment_ms",
    "log.roll.jitter.ms": "segment_jitter_ms",
    "log.index.size.max.bytes": "segment_index_bytes",
    "log.index.interval.bytes": "index_interval_bytes",
    "log.retention.bytes": "retention_bytes",
    "log.retention.ms": "retention_ms",
    "log.cleanup.policy": "cleanup_policy",
    "log.cleaner.delete.retention.ms": "delete_retention_ms",
    "log.cleaner.min.cleanable.ratio": "min_cleanable_dirty_ratio",
    "log.cleaner.min.compaction.lag.ms": "min_compaction_lag_ms",
    "log.cleaner.max.compaction.lag.ms": "max_compaction_lag_ms",
    "log.flush.interval.messages": "flush_messages",
    "log.segment.delete.delay.ms": "file_delete_delay_ms",
    "message.max.bytes": "max_message_bytes",
    "log.message.timestamp.type": "message_timestamp_type",
    "log.message.timestamp.difference.max.ms": "message_timestamp_difference_max_ms",
}
"""Kafka's names, of topics and of brokers, and the field of each."""

_LEAST = {
    "segment_bytes": 14,
    "segment_ms": 1,
    "segment_index_bytes": 0,
    "flush_messages": 0,
    "max_compaction_lag_ms": 1,
    "retention_ms": -1,
    "retention_bytes": -(2**63),
}


def _value(name: str, text: str) -> int | float | str:
    if FIELDS[name] == "cleanup_policy":
        return _policy(name, text)
    if FIELDS[name] == "min_cleanable_dirty_ratio":
        return _ratio(name, text)
    if FIELDS[name] == "message_timestamp_type":
        if text not in (CREATE_TIME, LOG_APPEND_TIME):
            raise ValueError(f"{name} is {CREATE_TIME} or {LOG_APPEND_TIME}, not {text!r}")
        return text
    if FIELDS[name] == "message_format":
        return magic_of(text)
    try:
        number = int(text)
    except ValueError:
        raise ValueError(f"{name} is a number, not {text!r}") from None
    least = _LEAST.get(FIELDS[name], 0)
    if number < least:
        raise ValueError(f"{name} is {least} or more, not {number}")
    return number


def _policy(name: str, text: str) -> str:
    parts = [part.strip() for part in text.split(",")]
    if not parts or any(part not in (COMPACT, DELETE) for part in parts):
        raise ValueError(f"{name} is {COMPACT}, {DELETE} or {COMPACT},{DELETE}, not {text!r}")
    return ",".join(dict.fromkeys(parts))


def _ratio(name: str, text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        raise ValueError(f"{name} is a number from 0 to 1, not {text!r}") from None
    if not 0 <= found <= 1:
        raise ValueError(f"{name} is from 0 to 1, not {text}")
    return found


def magic_of(version: str) -> int:
    """The message format of a release by name, such as 0.10.2 or 2.3-IV1; ValueError."""
    line, _ = api_version(version, _NEWEST)
    return 0 if line < (0, 10) else 1 if line < (0, 11) else 2
