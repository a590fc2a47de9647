"""The log of one replica on a disk: segments, an epoch cache, and four offsets.

``log_start`` ≤ ``recovery_point`` is not promised, but ``log_start`` ≤ ``high_watermark`` ≤
``log_end`` is. Everything below ``recovery_point`` is durable. A leader gives offsets and its epoch
to what it appends; a follower takes both as they come. Source: kafka.log.Log.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple

from impl.disk import Disk
from impl.log.config import LOG_APPEND_TIME, LogConfig
from impl.log.errors import CorruptSegment, InvalidBatch, OffsetOutOfRange, StorageError
from impl.log.leader_epoch_file import LeaderEpochFile
from impl.log.producer_snapshots import ProducerSnapshots
from impl.log.record_batch import Batch, assigned, batches_in
from impl.log.region import Region
from impl.log.segment import MAX_RELATIVE, SWAP, Segment, TimedOffset
from impl.log.validation import check_batches, check_keys, check_time, convert_to_v2, messages

LATEST, EARLIEST = -1, -2
"""The timestamps that ask for the log end, and for the log start."""


class LogOffset(NamedTuple):
    """An offset and its position (``LogOffsetMetadata``)."""

    offset: int
    segment_base: int
    position: int


class AppendedRange(NamedTuple):
    """The result of an append: offsets of its first and last record, bytes, the latest
    timestamp."""

    first_offset: int
    last_offset: int
    size: int
    max_timestamp: int
    rolled: bool


class FetchedRegion(NamedTuple):
    """The result of a read: its start, and the bytes."""

    at: LogOffset
    region: Region


class Log:
    """One replica's log. ``now_ms`` is the broker's clock; ``ends_moved`` is called when the log
    was truncated, or its start raised: whoever keeps the checkpoints must write them before
    anything else happens, else a crash brings back offsets that belong to other records.
    """

    def __init__(
        self,
        disk: Disk,
        directory: str,
        config: LogConfig,
        epochs: LeaderEpochFile,
        producers: ProducerSnapshots,
        now_ms: Callable[[], int],
    ) -> None:
        self.disk = disk
        self.directory = directory
        self.config = config
        self.epochs = epochs
        self.producers = producers
        self.now_ms = now_ms
        self.segments: list[Segment] = []
        self.log_start = 0
        self.log_end = 0
        self.high_watermark = 0
        self.recovery_point = 0
        self.marked: list[tuple[int, Segment]] = []
        self.unflushed_roll = False
        self.ends_moved: Callable[[], None] = lambda: None

    @property
    def active(self) -> Segment:
        """The segment that is appended to."""
        return self.segments[-1]

    @property
    def size(self) -> int:
        """Bytes of records."""
        return sum(segment.size for segment in self.segments)

    # Appending

    def append_as_leader(self, data: bytes, leader_epoch: int) -> AppendedRange:
        """Append a producer's batches, with the next offsets and the leader's epoch.

        What is of another format than the log's is converted (``LogValidator``). A batch that an
        idempotent producer sent before is not appended again: the answer is that of then.
        InvalidBatch if anything is wrong.
        """
        now_ms = self.now_ms() if self.config.message_timestamp_type == LOG_APPEND_TIME else None
        parts: list[bytes | memoryview] = []
        stored: list[Batch] = []
        offset = self.log_end
        for at, batch, whole in check_batches(data, self.config):
            check_keys(whole, at, self.config)
            if self.config.message_format < 2:
                check_time(batch, self.config, self.now_ms())
                older = messages(whole, at, batch, offset, self.config.message_format, now_ms)
                parts.append(older)
                for _, one in batches_in(older):  # a compressed one tells its last offset alone
                    stored.append(one._replace(base_offset=offset))
                    offset = one.next_offset
                continue
            if batch.magic < 2:
                whole, at, batch = convert_to_v2(whole, at)
            if batch.records != batch.last_offset - batch.base_offset + 1:
                why = f"{batch.records} records over {batch.last_offset - batch.base_offset + 1}"
                raise InvalidBatch("INVALID_RECORD", f"byte {at}: {why} offsets")
            check_time(batch, self.config, self.now_ms())
            parts.extend(assigned(whole, at, batch, offset, leader_epoch, now_ms))
            last = offset + batch.records - 1
            latest = batch.max_timestamp if now_ms is None else now_ms
            stored.append(
                batch._replace(
                    base_offset=offset, last_offset=last, max_timestamp=latest,
                    leader_epoch=leader_epoch,
                )
            )  # fmt: skip
            offset = last + 1
        repeated = self.producers.states.admit(stored) if self.producers.kept else None
        if repeated is not None:
            return AppendedRange(
                repeated.first_offset, repeated.last_offset, 0, repeated.timestamp, False
            )
        return self._append(parts, stored)

    def append_as_follower(self, data: bytes) -> AppendedRange:
        """Append a leader's batches unchanged. InvalidBatch if they do not continue this log."""
        stored = [batch for _, batch, _ in check_batches(data, self.config)]
        expected = self.log_end
        for batch in stored:
            first = batch.last_offset if batch.magic < 2 else batch.base_offset
            if first < expected:
                why = f"a batch from offset {first} on, where the log expects {expected}"
                raise InvalidBatch("UNEXPECTED_APPEND_OFFSET", why)
            expected = batch.next_offset
        return self._append([data], stored)

    def _append(self, parts: list[bytes | memoryview], stored: list[Batch]) -> AppendedRange:
        size = sum(batch.size for batch in stored)
        first, last = stored[0].base_offset, stored[-1].last_offset
        latest = max(stored, key=lambda batch: batch.max_timestamp)
        rolled = self.active.should_roll(size, latest.max_timestamp, last, self.now_ms())
        if rolled:
            self.roll(max(self.log_end, last - MAX_RELATIVE))
        for batch in stored:
            if batch.leader_epoch >= 0 and batch.leader_epoch != self.epochs.latest_epoch:
                self.epochs.assign(batch.leader_epoch, batch.base_offset)
            elif batch.magic < 2 and self.config.older_format_ends_epochs and self.epochs.entries:
                self.epochs.clear()  # who follows next truncates to the high watermark
        self.active.append(parts, size, first, last, latest.max_timestamp, latest.last_offset)
        self.log_end = last + 1
        if self.producers.kept:
            for batch in stored:
                self.producers.states.appended(batch)
        if self.log_end - self.recovery_point >= self.config.flush_messages:
            self.flush()
        return AppendedRange(first, last, size, latest.max_timestamp, rolled)

    def roll(self, base_offset: int | None = None) -> Segment:
        """Start a new segment at the log end, unless the active one starts there.

        What came before is to be flushed soon (``flush``).
        """
        base = self.log_end if base_offset is None else base_offset
        if self.segments:
            if base == self.active.base_offset:
                return self.active
            self.active.become_inactive()
            if base <= self.recovery_point:
                self.active.sync()  # a flush will not come by here again
            self.producers.states.end = base
            self.producers.take(self.log_start)
        segment = Segment(self.disk, self.directory, base, self.config, self.now_ms())
        segment.create()
        self.segments.append(segment)
        self.log_end = max(self.log_end, base)
        self.unflushed_roll = True
        return segment

    def flush(self, up_to: int | None = None) -> None:
        """Make all records below an offset durable (by default below the log end)."""
        end = self.log_end if up_to is None else up_to
        if end > self.recovery_point:
            first = max(bisect_right(self._bases(), self.recovery_point) - 1, 0)
            for segment in self.segments[first:]:
                if segment.base_offset < end:
                    segment.sync()
            self.disk.sync_directory(self.directory)
            self.recovery_point = end
        self.unflushed_roll = self.recovery_point < self.active.base_offset

    # Reading

    def read(
        self, offset: int, max_bytes: int, up_to: int | None = None, at_least_one: bool = True
    ) -> FetchedRegion:
        """A region of at most ``max_bytes`` from an offset on, below ``up_to`` (an offset; the
        log end if none is given). Its first batch may begin before the offset. ``at_least_one``:
        the first batch comes whole, however large it is. OffsetOutOfRange, CorruptSegment.
        """
        end = self.log_end if up_to is None else min(up_to, self.log_end)
        if not self.log_start <= offset <= self.log_end:
            raise OffsetOutOfRange(offset, self.log_start, self.log_end)
        if offset >= end:
            at = self.position_of(offset)
            return FetchedRegion(at, self._segment(at.segment_base).region(at.position, 0))
        slot = self._slot(offset)
        while slot < len(self.segments):
            segment = self.segments[slot]
            found = segment.find(offset)
            if found is not None:
                position, batch = found
                limit = segment.size
                if end <= segment.base_offset:
                    limit = position
                elif end < self.log_end and (beyond := segment.find(end, position)) is not None:
                    limit = beyond[0]
                wanted = max(max_bytes, batch.size) if at_least_one else max_bytes
                length = max(0, min(limit - position, wanted))
                at = LogOffset(offset, segment.base_offset, position)
                return FetchedRegion(at, segment.region(position, length))
            slot += 1
        at = self.position_of(self.log_end)
        return FetchedRegion(at, self.active.region(at.position, 0))

    def position_of(self, offset: int) -> LogOffset:
        """The file position of an offset; OffsetOutOfRange if it is not within the log."""
        if not self.log_start <= offset <= self.log_end:
            raise OffsetOutOfRange(offset, self.log_start, self.log_end)
        if offset == self.log_end:
            return LogOffset(offset, self.active.base_offset, self.active.size)
        for segment in self.segments[self._slot(offset) :]:
            found = segment.find(offset)
            if found is not None:
                return LogOffset(offset, segment.base_offset, found[0])
        return LogOffset(offset, self.active.base_offset, self.active.size)

    def offset_for_time(self, timestamp: int) -> TimedOffset | None:
        """The first record at that time or later (LATEST, EARLIEST: the ends of the log).

        None if all records are older.
        """
        if timestamp == EARLIEST:
            return TimedOffset(-1, self.log_start, self.epoch_at(self.log_start))
        if timestamp == LATEST:
            return TimedOffset(-1, self.log_end, self.epochs.latest_epoch)
        for segment in self.segments:
            if segment.max_timestamp >= timestamp:
                found = segment.offset_for_time(timestamp, self.log_start)
                if found is not None:
                    return found
        return None

    def offsets_before(self, timestamp: int, most: int) -> list[int]:
        """The base offsets of the segments last modified at that time (ms) or before, and the log
        end
        if that is now; the latest first. LATEST and EARLIEST as elsewhere.

        What ListOffsets of version 0 knows of times. Source: Log.getOffsetsBefore,
        KafkaApis.fetchOffsetsBefore.
        """
        known = [(max(one.base_offset, self.log_start), one.modified_ms) for one in self.segments]
        if self.active.size:
            known.append((self.log_end, self.now_ms()))
        if timestamp == EARLIEST:
            known = known[:1]
        elif timestamp != LATEST:
            while known and known[-1][1] > timestamp:
                known.pop()
        return sorted((offset for offset, _ in known[::-1][:most]), reverse=True)

    def epoch_at(self, offset: int) -> int:
        """The leader epoch that covers an offset, -1 if none is known."""
        covering = [epoch for epoch, start in self.epochs.entries if start <= offset]
        return covering[-1] if covering else -1

    def end_offset_for(self, epoch: int) -> tuple[int, int]:
        """``endOffsetFor`` of this log: (epoch, exclusive end), see the epoch cache."""
        return self.epochs.end_offset_for(epoch, self.log_end)

    # Cutting

    def truncate_to(self, offset: int) -> bool:
        """Remove all records from an offset on, durably. False if the log ends there or before.

        A batch is cut whole: if the offset lies within one, the log ends where it began. Epochs are
        cut even if no record is. ValueError if the offset is negative.
        """
        if offset < 0:
            raise ValueError(f"a log is truncated to offset 0 or higher, not {offset}")
        if offset >= self.log_end:
            self.epochs.truncate_from_end(offset)
            return False
        if self.segments[0].base_offset > offset:
            self.truncate_fully_and_start_at(offset)
            return True
        self.producers.remove_outside(self.log_start, offset)
        self.drop([segment for segment in self.segments if segment.base_offset > offset])
        self.active.truncate_to(offset, self.now_ms())
        self.active.become_active()
        self.log_end = min(offset, self.active.next_offset())
        self._ended_at(self.log_end)
        self.load_producers()
        if self.producers.states.rules.kept_when_cut:
            self.producers.take(self.log_start)
        return True

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Remove all records; the empty log continues at an offset."""
        self.producers.remove_all()
        self.producers.states.forget_all(offset)
        self.drop(self.segments[:])
        self.log_start = self.log_end = offset
        self.roll(offset)
        self.epochs.clear()
        self._ended_at(offset)

    def _ended_at(self, end: int) -> None:
        self.epochs.truncate_from_end(end)
        self.log_start = min(self.log_start, end)
        self.recovery_point = min(self.recovery_point, end)
        self.high_watermark = max(self.log_start, min(self.high_watermark, end))
        self.ends_moved()

    def advance_log_start(self, offset: int) -> bool:
        """Raise the log start: records below cannot be read any more; OffsetOutOfRange above the
        high watermark.

        Segments wholly below go with the next retention. False if the log started there already.
        """
        if offset > self.high_watermark:
            raise OffsetOutOfRange(offset, self.log_start, self.high_watermark)
        if offset <= self.log_start:
            return False
        self.log_start = offset
        self.ends_moved()
        self.start_raised()
        return True

    def start_raised(self) -> None:
        """Forget epochs and producers that only records below the log start had."""
        self.epochs.truncate_from_start(self.log_start)
        self.producers.states.start_raised(self.log_start)

    # Producers

    def load_producers(self, from_records: bool = True) -> list[str]:
        """Rebuild the producers' state from the newest snapshot and the records after it.

        Without ``from_records`` a log without any snapshot is taken for one from before there were
        idempotent producers, and not read. What could not be used.
        """
        producers = self.producers
        if not producers.kept:
            return []
        notes = producers.load_newest(self.log_start, self.log_end, self.now_ms())
        if from_records or producers.offsets:
            for segment in self.segments[self._slot(producers.states.end) :]:
                known = producers.states.end
                try:
                    for _, batch in segment.batches(segment.index.lookup(known).position):
                        if batch.last_offset >= known:
                            producers.states.appended(batch)
                except CorruptSegment as error:
                    notes.append(f"{error}; the producers of what follows are not known")
        producers.states.end = self.log_end
        return notes

    def remove_old_snapshots(self) -> None:
        """Remove old snapshots, except those from the recovery point on and of the last two
        segments."""
        offsets = self.producers.offsets
        if len(offsets) > 1 and self.producers.kept:
            below = max(bisect_right(self._bases(), self.recovery_point - 1) - 1, 0)
            last_two = self.segments[-2:][0].base_offset
            self.producers.remove_below(min(self.segments[below].base_offset, last_two))

    def drop(self, segments: list[Segment], oldest_first: bool = False) -> None:
        """Rename segments to ``.deleted``; their files are removed later.

        From the end that is cut, and durably: whatever a crash leaves is a log without a gap.
        """
        due = self.now_ms() + self.config.file_delete_delay_ms
        for segment in segments if oldest_first else reversed(segments):
            segment.mark_deleted()
            self.segments.remove(segment)
            self.marked.append((due, segment))
        if segments:
            self.disk.sync_directory(self.directory)

    def replace_segments(self, cleaned: Segment, olds: list[Segment]) -> None:
        """Replace segments by the compacted segment that was made of them.

        Its files are durable under ``.swap`` before the first old one goes, so that a start after a
        crash finds either the old ones or what replaces them. Source: Log.replaceSegments.
        """
        cleaned.rename(SWAP)
        self.disk.sync_directory(self.directory)
        place = self.segments.index(olds[0])
        self.drop(olds)
        self.segments.insert(place, cleaned)
        cleaned.rename("")
        self.disk.sync_directory(self.directory)

    def remove_marked(self, now_ms: int | None = None) -> int:
        """Remove the files of dropped segments whose delay is over; returns the number of segments.

        All of them if no time is given. One that cannot be removed goes to the end of the queue,
        and is raised when the others are gone: StorageError.
        """
        waiting, self.marked = self.marked, []
        removed = 0
        failure: StorageError | None = None
        for due, segment in waiting:
            if now_ms is not None and due > now_ms:
                self.marked.append((due, segment))
                continue
            try:
                segment.remove()
                removed += 1
            except OSError as error:
                self.marked.append((due, segment))
                failure = StorageError(self.directory, "", str(error))
        if failure is not None:
            raise failure
        return removed

    # The whole

    def moved_to(self, directory: str) -> None:
        """The directory was renamed."""
        self.directory = directory
        self.epochs.moved_to(directory)
        self.producers.moved_to(directory)
        for segment in [*self.segments, *(segment for _, segment in self.marked)]:
            segment.moved_to(directory)

    @property
    def keeps_epochs(self) -> bool:
        """Whether the log has an epoch cache: since 2.1.1 depending on its message format,
        before always."""
        return self.config.message_format >= 2 or not self.config.epochs_by_format

    def reconfigure(self, config: LogConfig) -> None:
        """Use another configuration from now on, for the active segment too.

        In an older message format nothing is known of leader epochs any more (2.1.1).
        """
        self.config = config
        if self.keeps_epochs:
            self.epochs.resume()
        else:
            self.epochs.discard()
        for segment in self.segments:
            segment.config = config

    def close(self) -> None:
        """Trim the indexes durably, and close all files; the caller has flushed the log."""
        self.active.become_inactive()
        self.active.sync()
        self.producers.take(self.log_start)
        self.close_handlers()

    def close_handlers(self) -> None:
        """Close all files without writing."""
        for segment in [*self.segments, *(segment for _, segment in self.marked)]:
            segment.close()

    def _bases(self) -> list[int]:
        return [segment.base_offset for segment in self.segments]

    def _slot(self, offset: int) -> int:
        return max(bisect_right(self._bases(), offset) - 1, 0)

    def _segment(self, base_offset: int) -> Segment:
        return self.segments[self._slot(base_offset)]
