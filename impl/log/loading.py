"""Loads a log from a partition's directory, after a clean or an unclean shutdown.

After a clean stop the files are believed, and one that contradicts itself is an error that names
it; only an index, which can be built again, is. After an unclean stop every segment from the one
with the recovery point on is scanned: the first bad batch and everything after it goes. Everything
that was repaired or dropped is reported. Source: Log.loadSegments, recoverLog; the fact sheet, l.

Stricter than Kafka in two places, so that a loss of power at any moment leaves a sound log: what
was scanned is synced before the recovery point moves over it; and segments that begin above the
end of a torn one are dropped, where Kafka would keep a log with a gap. A gap below the recovery
point is kept, and reported. A log that is compacted has gaps; there they are nothing to mention.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field

from impl.disk import Disk
from impl.log.checkpoint_file import TornCheckpoint
from impl.log.config import LogConfig
from impl.log.errors import CorruptIndex, CorruptSegment, StorageError
from impl.log.leader_epoch_cache import LeaderEpochFileCache
from impl.log.leader_epoch_file import LeaderEpochFile
from impl.log.log import Log
from impl.log.producer_snapshots import ProducerSnapshots
from impl.log.producer_state import ProducerRules
from impl.log.segment import CLEANED, DELETED, INDEX, LOG, SWAP, TIME_INDEX, TXN_INDEX, Segment
from impl.log.segment_recovery import recover_segment

TEMPORARY = ".tmp"


@dataclass
class RecoveryReport:
    """The findings when a log was loaded. ``notes``: every irregularity."""

    directory: str
    clean: bool
    scanned_bytes: int = 0
    cut_bytes: int = 0
    notes: list[str] = field(default_factory=list)


def load_log(
    disk: Disk,
    directory: str,
    config: LogConfig,
    now_ms: Callable[[], int],
    clean: bool,
    recovery_point: int = 0,
    log_start: int = 0,
    cache: LeaderEpochFileCache | None = None,
    has_epochs: bool = True,
    producers: ProducerRules | None = None,
) -> tuple[Log, RecoveryReport]:
    """The log of a directory, and what was done to it; a directory without segments is an empty
    log. ``recovery_point`` and ``log_start`` are as checkpointed. Without ``has_epochs`` (0.10) no
    producers are known either. StorageError, OSError.
    """
    epochs = LeaderEpochFile(disk, directory, cache or LeaderEpochFileCache(), has_epochs)
    rules = (producers or ProducerRules()) if has_epochs else None
    snapshots = ProducerSnapshots(disk, directory, rules)
    log = Log(disk, directory, config, epochs, snapshots, now_ms)
    reported = RecoveryReport(directory, clean)
    bases = _tidied(log, reported)
    try:
        if log.keeps_epochs:
            epochs.load()
        else:
            epochs.discard()
    except TornCheckpoint as error:
        if clean:
            raise
        reported.notes.append(f"{error}; epochs are taken from the records")
        epochs.clear()
        recovery_point = 0
    _load_segments(log, bases, recovery_point, epochs, reported)
    _settle(log, log_start, reported)
    reported.notes += log.load_producers(from_records=not clean)
    if clean and log.log_end < recovery_point:
        why = f"the log ends at {log.log_end}, though {recovery_point} was durable"
        reported.notes.append(f"{directory}: {why}")
    log.recovery_point = log.log_end
    log.producers.take(log.log_start)
    if not clean:
        # Each segment that is recovered leaves a snapshot, and the log begins with the last one.
        reported.notes += log.load_producers()
        disk.sync_directory(directory)
    return log, reported


def _load_segments(
    log: Log,
    bases: list[int],
    recovery_point: int,
    epochs: LeaderEpochFile,
    reported: RecoveryReport,
) -> None:
    """Take up the segments, scanning them from the recovery point on, or from where they err."""
    unsound = len(bases) if reported.clean else max(bisect_right(bases, recovery_point) - 1, 0)
    for slot, base in enumerate(bases):
        segment = Segment(log.disk, log.directory, base, log.config, log.now_ms())
        if has_gap_before(log, base) and not config_has_gaps(log):
            if slot >= unsound and base > recovery_point:
                _drop(log, bases[slot:], reported, f"offsets before {base} are missing")
                return
            reported.notes.append(f"{segment.path(LOG)}: offsets before {base} are missing")
        if slot < unsound and _believed(segment, reported):
            log.segments.append(segment)
            continue
        # After a clean stop only the indexes are in doubt, those of this segment alone.
        scan = recover_segment(segment, None if reported.clean else epochs, cuts=not reported.clean)
        reported.scanned_bytes += scan.kept + scan.cut
        log.segments.append(segment)
        if scan.cut:
            reported.cut_bytes += scan.cut
            reported.notes.append(f"{scan.why}; {scan.cut} bytes cut")
            _drop(log, bases[slot + 1 :], reported, "what comes before was cut")
            return
        if not reported.clean:
            unsound = min(unsound, slot)


def config_has_gaps(log: Log) -> bool:
    """The log is compacted: what is missing was superseded."""
    return log.config.compacts


def has_gap_before(log: Log, base: int) -> bool:
    """Records are missing between the segments so far and one that begins at that offset."""
    return bool(log.segments) and base > log.segments[-1].next_offset()


def _settle(log: Log, log_start: int, reported: RecoveryReport) -> None:
    """Offsets, the active segment and the epochs agree with the segments that there are."""
    if log.segments:
        log.log_end = log.active.next_offset()
        if log.log_end < log_start:
            why = f"the log ends at {log.log_end}, and starts at {log_start}"
            _drop(log, [segment.base_offset for segment in log.segments], reported, why)
            log.segments.clear()
    if not log.segments:
        log.log_end = log_start
        log.roll(log_start)
        log.unflushed_roll = False
    else:
        log.active.become_active()
    log.log_start = log.high_watermark = max(log_start, log.segments[0].base_offset)
    log.epochs.truncate_from_end(log.log_end)
    log.epochs.truncate_from_start(log.log_start)


def _believed(segment: Segment, reported: RecoveryReport) -> bool:
    """Take up a segment without a scan; False, with a note, if it has to be scanned."""
    for suffix in (INDEX, TIME_INDEX) if segment.config.time_index else (INDEX,):
        if not segment.disk.exists(segment.path(suffix)):
            reported.notes.append(f"{segment.path(suffix)}: missing; built again from the segment")
            return False
    try:
        segment.load()
    except CorruptIndex as error:
        reported.notes.append(f"{error}; built again from the segment")
        return False
    except CorruptSegment as error:
        if reported.clean:
            raise
        reported.notes.append(f"{error}; scanned, though below the recovery point")
        return False
    return True


def _tidied(log: Log, reported: RecoveryReport) -> list[int]:
    """Base offsets of the segments, once what an interrupted change left behind is gone."""
    disk, directory = log.disk, log.directory
    bases: list[int] = []
    _finish_swaps(log)
    names = disk.names(directory)
    for name in names:
        path = f"{directory}/{name}"
        stem, dot, suffix = name.partition(".")
        if name.endswith((DELETED, CLEANED, TEMPORARY)):
            disk.remove(path)
        elif dot + suffix in (INDEX, TIME_INDEX, TXN_INDEX) and f"{stem}{LOG}" not in names:
            reported.notes.append(f"{path}: an index without a segment; removed")
            disk.remove(path)
        elif dot + suffix == LOG:
            if not (stem.isdigit() and len(stem) == 20):
                raise StorageError(path, "", "a segment is named by twenty digits")
            bases.append(int(stem))
    return sorted(bases)


def _finish_swaps(log: Log) -> None:
    """Compactions that were at the point of replacing segments: the compacted ones are whole.

    What is left of those that they were made of goes first, so that a crash here changes nothing.
    Source: Log.removeTempFilesAndCollectSwapFiles, completeSwapOperations.
    """
    disk, directory = log.disk, log.directory
    for name in disk.names(directory):
        stem, _, _ = name.partition(".")
        if not name.endswith(LOG + SWAP):
            continue
        if not (stem.isdigit() and len(stem) == 20):
            raise StorageError(f"{directory}/{name}", "", "a segment is named by twenty digits")
        swapped = Segment(disk, directory, int(stem), log.config, log.now_ms(), SWAP)
        if not log.config.compacts and not swapped.log_file.size():
            why = "an unfinished compaction that kept nothing; this log does not compact"
            raise StorageError(swapped.path(LOG), "", why)
        modified = swapped.modified_ms
        end = recover_segment(swapped, None, cuts=False).next_offset
        olds = [
            Segment(disk, directory, int(other.partition(".")[0]), log.config, 0)
            for other in disk.names(directory)
            if other.endswith(LOG) and other.partition(".")[0].isdigit()
        ]
        for old in reversed(olds):
            if swapped.base_offset <= old.base_offset < max(end, swapped.base_offset + 1):
                old.remove()
        disk.sync_directory(directory)
        disk.set_modified_ms(swapped.path(LOG), modified)
        swapped.rename("")
        disk.sync_directory(directory)
        swapped.close()
    for name in disk.names(directory):
        if name.endswith(SWAP):
            disk.remove(f"{directory}/{name}")  # an index: without its segment it is nothing


def _drop(log: Log, bases: list[int], reported: RecoveryReport, why: str) -> None:
    """Remove segments from the newest on, so that no crash leaves a gap."""
    for base in reversed(bases):
        segment = Segment(log.disk, log.directory, base, log.config, 0)
        reported.notes.append(f"{segment.path(LOG)}: dropped, because {why}")
        reported.cut_bytes += segment.log_file.size()
        segment.remove()
    if bases:
        log.disk.sync_directory(log.directory)
