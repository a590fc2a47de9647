"""Answers about records in a log: producers' state, and compaction.

The answers come from a log of the implementation on a disk in memory (producer_state, log_cleaner).
"""

from __future__ import annotations

from typing import Any

from conformance.vectors.questions import Answer, Question, given, release, under
from impl.disk import MemoryDisk
from impl.log.by_release import config_of, epoch_cache_of, has_epochs, producer_rules_of
from impl.log.cleaner import clean, cleanable
from impl.log.config import COMPACT, LogConfig
from impl.log.errors import InvalidBatch
from impl.log.loading import load_log
from impl.log.log import Log
from impl.log.record import StoredRecord
from impl.log.record_batch import batches_in, encode_batch, records_of

FOLDER = "/d/t-0"


class _LogOnDisk:
    """One log on a disk, and a clock in milliseconds that the case moves."""

    def __init__(self, question: Question, config: LogConfig, expiration_ms: int | None) -> None:
        self.numbers = release(question).parts
        self.now_ms = 1_000_000
        self.disk = MemoryDisk(lambda: self.now_ms)
        self.disk.make_directory(FOLDER)
        self.config = config_of(self.numbers, config)
        self.expiration_ms = expiration_ms
        self.log = self._load()

    def _load(self) -> Log:
        log, _ = load_log(
            self.disk, FOLDER, self.config, lambda: self.now_ms, True,
            cache=epoch_cache_of(self.numbers), has_epochs=has_epochs(self.numbers),
            producers=producer_rules_of(self.numbers, self.expiration_ms),
        )  # fmt: skip
        return log

    def restart(self) -> None:
        """Stops the log cleanly, and starts it from the disk."""
        self.log.flush()
        self.log.close()
        self.log = self._load()

    def encoded(self, records: list[tuple[Any, Any]], producer: tuple[int, int, int]) -> bytes:
        """A batch at the log's end."""
        stored = [
            StoredRecord(self.log.log_end + at, self.now_ms, _bytes(key), _bytes(value))
            for at, (key, value) in enumerate(records)
        ]
        return encode_batch(stored, 0, producer=producer)


def _bytes(text: Any) -> bytes | None:
    return None if text is None else str(text).encode()


def appends(question: Question) -> dict[str, Any]:
    """A log's answers to producers' batches, and its state of the last producer asked about."""
    asked = given(question)
    kept = _LogOnDisk(question, LogConfig(), asked.get("expirationMs"))
    results: list[Any] = []
    producer = 0
    for step in asked["steps"]:
        if step["do"] == "restart":
            kept.restart()
        elif step["do"] == "wait":
            kept.now_ms += step["ms"]
            kept.log.producers.states.expire(kept.now_ms)
        elif step["do"] == "truncate":
            kept.log.truncate_to(step["offset"])
        else:
            producer = step["producer"]
            data = kept.encoded(
                [(None, number) for number in range(step["records"])],
                (producer, step["epoch"], step["sequence"]),
            )
            try:
                replicated = step["do"] == "replicate"
                done = (
                    kept.log.append_as_follower(data)
                    if replicated
                    else kept.log.append_as_leader(data, 0)
                )
            except InvalidBatch as refused:
                results.append(refused.code)
            else:
                results.append(done.first_offset)
    entry = kept.log.producers.states.entries.get(producer)
    known = {} if entry is None else {"epoch": entry.epoch, "lastSequence": entry.last_sequence}
    return {"results": results, "known": entry is not None, "end": kept.log.log_end, **known}


def compacted(question: Question) -> dict[str, Any]:
    """The keys and offsets that remain in segments after one compaction or several."""
    asked = given(question)
    config = LogConfig(
        cleanup_policy=COMPACT,
        segment_bytes=asked["segmentBytes"],
        delete_retention_ms=asked["deleteRetentionMs"],
        min_compaction_lag_ms=asked["minCompactionLagMs"],
    )
    kept = _LogOnDisk(question, config, None)
    dirty: int | None = asked.get("firstDirty")
    cleaned: list[int] = []
    for step in asked["steps"]:
        if step["do"] == "wait":
            kept.now_ms += step["ms"]
        elif step["do"] == "clean":
            kept.log.high_watermark = asked.get("highWatermark", kept.log.log_end)
            found = cleanable(kept.log, dirty)
            dirty = clean(kept.log, found, asked["capacity"])
            cleaned.append(dirty)
        else:
            _append_segment(kept, step["records"])
    batches, keys, offsets = [], [], []
    for segment in kept.log.segments:
        data = segment.log_file.read(0, segment.size)
        for at, batch in batches_in(data):
            batches.append(batch.last_offset)
            for record in records_of(data, at):
                offsets.append(record.offset)
                keys.append((record.key or b"").decode())
    return {"keys": keys, "offsets": offsets, "batches": batches, "cleanedTo": cleaned}


def _append_segment(kept: _LogOnDisk, records: list[Any]) -> None:
    """Each record in a batch of its own; then the next segment begins."""
    for key, value, *producer in records:
        number = (*producer, -1, -1, -1)[:3]
        kept.log.append_as_leader(kept.encoded([(key, value)], number), 0)
    kept.log.roll()


ANSWERS: dict[tuple[str, str], Answer] = {
    **under("producer_state", appends=appends),
    **under("log_cleaner", compacted=compacted),
}
"""By file and operation."""
