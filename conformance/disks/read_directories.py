"""Reads log directories without writing: brokers, checkpoints and the files of each replica.

A directory is one of a broker's `log.dirs`. For each replica the headers of all batches are kept,
each with the checksum of its bytes; records are not examined.
"""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from conformance.disks.findings import DiskFinding, Severity
from conformance.disks.predicted_truncation import EpochRuns, Run
from impl.log.checkpoint_file import TopicPartition, TornCheckpoint, parse_epochs, parse_offsets
from impl.log.crc32c import Buffer
from impl.log.directory_names import parse_name
from impl.log.dump import Dump, DumpOptions
from impl.log.errors import CorruptRecord, MalformedCheckpoint, StorageError
from impl.log.leader_epoch_file import NAME as EPOCHS
from impl.log.log_directory import CLEAN_SHUTDOWN
from impl.log.meta_properties import NAME as META
from impl.log.meta_properties import read_meta
from impl.log.producer_snapshots import SNAPSHOT
from impl.log.record_batch import check, header_at, size_at
from impl.log.segment import CLEANED, DELETED, INDEX, SWAP, TIME_INDEX
from specs.rendering import COUNTED, HIDDEN, under_key

HIGH_WATERMARKS = "replication-offset-checkpoint"
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
CHECKPOINTS = (HIGH_WATERMARKS, RECOVERY_POINTS, LOG_STARTS)
_DEEPEST = 4  # folders below a named one in which log directories are looked for
_SEGMENT = re.compile(r"\d{20}\.log")
_DIGITS = re.compile(r"(\d+)\D*$")
_REMAINS = (DELETED, CLEANED, SWAP)
_SHOWN = 5  # findings of one rule that are reported of one replica; more are counted


class NothingHereError(Exception):
    """There is no log directory; the message says what was looked for."""


@dataclass
class InspectedDirectory:
    """A log directory: its broker, its checkpoints, and the folders of its replicas."""

    path: str
    broker: int | None = None
    cluster: str | None = None
    clean: bool = field(default=False, metadata=under_key("clean_shutdown"))
    checkpoints: dict[str, dict[TopicPartition, int]] = field(default_factory=dict, metadata=HIDDEN)
    replicas: dict[TopicPartition, str] = field(default_factory=dict, metadata=COUNTED)
    findings: list[DiskFinding] = field(default_factory=list, metadata=HIDDEN)

    def finding(
        self, kind: Severity, rule: str, tp: TopicPartition, file: str, why: str
    ) -> DiskFinding:
        """A finding about a partition here, of no place in the file."""
        return DiskFinding(kind.value, rule, self.broker, *tp, file, "", why)


@dataclass
class ReplicaOnDisk:
    """One replica. `batches` has a row each: base offset, last offset, epoch, checksum, full.

    `start` is the first offset, `end` the one after the last readable batch; `hw` and `recovery`
    come from the checkpoints, None if absent. A batch is full if every offset has its record.
    """

    broker: int | None
    directory: str
    path: str
    topic: str
    partition: int
    clean: bool
    start: int = 0
    end: int = 0
    hw: int | None = None
    recovery: int | None = None
    size: int = 0
    segments: int = 0
    epochs: list[tuple[int, int]] | None = None
    batches: np.ndarray = field(default_factory=lambda: np.empty((0, 5), np.int64))
    findings: list[DiskFinding] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The partition, such as `orders-0`."""
        return f"{self.topic}-{self.partition}"

    @property
    def runs(self) -> tuple[Run, ...]:
        """Leader epochs of the batches, each with its start and end offsets."""
        if not len(self.batches):
            return ()
        epochs = self.batches[:, 2]
        begins = np.flatnonzero(np.diff(epochs, prepend=epochs[0] - 1))
        ends = np.append(begins[1:], len(epochs)) - 1
        return tuple(
            (int(epochs[first]), int(self.batches[first, 0]), int(self.batches[last, 1]) + 1)
            for first, last in zip(begins, ends, strict=True)
        )

    @property
    def committed(self) -> int:
        """The high watermark, limited by the end of the log."""
        return min(self.hw or 0, self.end)

    @property
    def held(self) -> EpochRuns:
        """The replica's log as epoch runs, as the model takes it."""
        return EpochRuns(self.runs, self.start, self.end, max(self.start, self.hw or 0))

    def add_finding(self, kind: Severity, rule: str, file: str, place: str, why: str) -> None:
        """Notes a finding; of many of one rule only the first few."""
        alike = [one for one in self.findings if one.rule == rule]
        if len(alike) < _SHOWN:
            self.findings.append(self.finding(kind, rule, place, why, file))

    def finding(
        self, kind: Severity, rule: str, place: str, why: str, file: str | None = None
    ) -> DiskFinding:
        """A finding about this replica, or about one file of it."""
        where = self.path if file is None else file
        return DiskFinding(
            kind.value, rule, self.broker, self.topic, self.partition, where, place, why
        )


# --- log directories


def directories_in(paths: Iterable[str]) -> list[InspectedDirectory]:
    """The log directories that are named, or are below a named folder, in the order of their names.

    Raises NothingHereError, OSError.
    """
    found: dict[str, InspectedDirectory] = {}
    for path in paths:
        if not os.path.isdir(path):
            what = "is a file" if os.path.exists(path) else "is not there"
            raise NothingHereError(f"{path} {what}; name a broker's log directory (log.dirs)")
        here = [each for each in _directories_below(path, _DEEPEST) if _is_log_directory(each)]
        if not here:
            raise NothingHereError(
                f"{path} holds no log directory: no {META}, no {HIGH_WATERMARKS} and no folder "
                "such as orders-0 with segments; name a broker's log directory (log.dirs)"
            )
        for each in here:
            real = os.path.realpath(each)
            if real not in found:
                found[real] = directory_of(each)
    return sorted(found.values(), key=lambda one: one.path)


def _directories_below(path: str, depth: int) -> list[str]:
    found = [path]
    if depth and not _is_log_directory(path):
        for entry in sorted(os.scandir(path), key=lambda entry: entry.name):
            if entry.is_dir(follow_symlinks=False):
                with suppress(PermissionError):
                    found += _directories_below(entry.path, depth - 1)
    return found


def _is_log_directory(path: str) -> bool:
    names = {entry.name for entry in os.scandir(path)}
    if META in names or names & set(CHECKPOINTS):
        return True
    return any(_is_replica(os.path.join(path, name)) for name in sorted(names) if "-" in name)


def _is_replica(path: str) -> bool:
    try:
        return any(_SEGMENT.fullmatch(name) for name in os.listdir(path))
    except OSError:
        return False


def directory_of(path: str) -> InspectedDirectory:
    """One log directory, without the content of its replicas' folders. Raises OSError."""
    found = InspectedDirectory(path, clean=os.path.exists(os.path.join(path, CLEAN_SHUTDOWN)))
    _read_meta(found)
    for name in CHECKPOINTS:
        file = os.path.join(path, name)
        try:
            found.checkpoints[name] = parse_offsets(file, Path(file).read_bytes())
        except FileNotFoundError:
            found.checkpoints[name] = {}
        except MalformedCheckpoint as error:
            found.checkpoints[name] = {}
            found.findings.append(_unread(found, error))
    for entry in sorted(os.scandir(path), key=lambda entry: entry.name):
        if not entry.is_dir():
            continue
        try:
            named = parse_name(path, entry.name)
        except StorageError:
            continue
        if named.kind:
            what = "is to be deleted" if named.kind == "delete" else "is being copied here"
            why = f"a replica that {what}; it is not looked at"
            found.findings.append(
                found.finding(
                    Severity.USUAL, "nothing_is_left_over", named.partition, entry.path, why
                )
            )
        else:
            found.replicas[named.partition] = entry.path
    return found


class _Readable:
    """The part of a disk that reads a file; nothing is ever opened for writing."""

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def open(self, path: str, create: bool = False) -> _FileContent:
        assert not create
        return _FileContent(Path(path).read_bytes())


class _FileContent:
    def __init__(self, content: bytes) -> None:
        self.content = content

    def size(self) -> int:
        return len(self.content)

    def read(self, position: int, length: int) -> bytes:
        return self.content[position : position + length]

    def close(self) -> None:
        pass


def _read_meta(found: InspectedDirectory) -> None:
    try:
        meta = read_meta(_Readable(), found.path)  # type: ignore[arg-type]
    except MalformedCheckpoint as error:
        meta = None
        found.findings.append(_unread(found, error))
    if meta is not None:
        found.broker, found.cluster = meta.broker_id, meta.cluster_id
        return
    for part in reversed(Path(found.path).absolute().parts):  # as in kafka-logs-2, broker1/data
        number = _DIGITS.search(part)
        if number is not None:
            found.broker = int(number[1])
            return


def _unread(found: InspectedDirectory, error: MalformedCheckpoint) -> DiskFinding:
    more = "" if not isinstance(error, TornCheckpoint) else "; it was never written whole"
    return DiskFinding(
        Severity.BROKEN.value, "files_can_be_read", found.broker, None, None, error.path,
        error.where, f"{error.why}{more}",
    )  # fmt: skip


# --- replicas


def replica_of(directory: InspectedDirectory, tp: TopicPartition) -> ReplicaOnDisk:
    """One replica's files. Raises OSError if one cannot be read."""
    path = directory.replicas[tp]
    offsets = directory.checkpoints
    replica = ReplicaOnDisk(
        directory.broker, directory.path, path, *tp, clean=directory.clean,
        hw=offsets[HIGH_WATERMARKS].get(tp), recovery=offsets[RECOVERY_POINTS].get(tp),
    )  # fmt: skip
    _read_segments(replica, offsets[LOG_STARTS].get(tp))
    _read_epochs(replica)
    _read_beside(replica)
    _check_checkpoints(replica, offsets[LOG_STARTS].get(tp), directory)
    return replica


def mapped(path: str) -> Buffer:
    """A file's bytes, memory-mapped, because a segment may be larger than memory."""
    with open(path, "rb") as file:
        if not file.seek(0, 2):
            return b""
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _read_segments(replica: ReplicaOnDisk, log_start: int | None) -> None:
    names = sorted(name for name in os.listdir(replica.path) if _SEGMENT.fullmatch(name))
    rows: list[tuple[int, int, int, int, int]] = []
    bases = [int(name.split(".")[0]) for name in names]
    replica.segments = len(names)
    replica.start = max(bases[0] if bases else 0, log_start or 0)
    end = bases[0] if bases else 0
    for number, (name, base) in enumerate(zip(names, bases, strict=True)):
        path = os.path.join(replica.path, name)
        if base < end:
            replica.add_finding(
                Severity.BROKEN, "offsets_grow", path, "",
                f"the segment begins at offset {base}, and the one before ends at {end}",
            )  # fmt: skip
        following = bases[number + 1] if number + 1 < len(bases) else None
        end = _read_segment(replica, path, max(end, base), following, rows)
    replica.end = max(end, replica.start)
    if rows:
        replica.batches = np.array(rows, np.int64)


def _read_segment(
    replica: ReplicaOnDisk,
    path: str,
    end: int,
    following: int | None,
    rows: list[tuple[int, int, int, int, int]],
) -> int:
    """Appends a segment's batches to `rows`; returns the offset after the last one."""
    data = mapped(path)
    replica.size += len(data)
    last_epoch = rows[-1][2] if rows else -1
    at = 0
    while at < len(data):
        problem: CorruptRecord | None = None
        try:
            size = size_at(data, at)
            batch = header_at(data, at)
            if at + size > len(data):
                why = f"a batch of {size} bytes, of which {len(data) - at} are"
                raise CorruptRecord(at, why)
        except CorruptRecord as error:
            _damaged(replica, path, error, end, following, cut=True)
            return end
        try:
            check(data, at)
        except CorruptRecord as error:
            problem = error
        first = end if batch.magic < 2 and batch.codec != "none" else batch.base_offset
        if problem is not None:
            _damaged(replica, path, problem, end, following, cut=False)
            if first < end or batch.last_offset < first or first > end + 1_000_000_000:
                return end  # the header is not to be believed either
        elif first < end or batch.last_offset < first:
            replica.add_finding(
                Severity.BROKEN, "offsets_grow", path, f"byte {at}",
                f"a batch of offsets {first} to {batch.last_offset} follows offset {end - 1}",
            )  # fmt: skip
            at += size
            continue
        if batch.leader_epoch < last_epoch and batch.magic == 2 and problem is None:
            replica.add_finding(
                Severity.BROKEN, "epochs_grow", path, f"byte {at}",
                f"offset {first} has leader epoch {batch.leader_epoch}, and the batch before it "
                f"has {last_epoch}",
            )  # fmt: skip
        epoch = batch.leader_epoch if batch.magic == 2 else -1
        full = batch.records == batch.last_offset - first + 1
        checksum = int.from_bytes(data[at + 17 : at + 21], "big") if batch.magic == 2 else 0
        rows.append((first, batch.last_offset, epoch, checksum, int(full and problem is None)))
        last_epoch, end = max(last_epoch, epoch), batch.next_offset
        at += size
    return end


def _damaged(
    replica: ReplicaOnDisk,
    path: str,
    error: CorruptRecord,
    end: int,
    following: int | None,
    cut: bool,
) -> None:
    """A start after a kill scans the log above the recovery point, and cuts at the first fault."""
    scanned = not replica.clean and end >= (replica.recovery or 0)
    why = f"{error.why}; the last offset before it is {end - 1}"
    if following is not None:
        why += f", and segments go on from {following}"
    kind = Severity.BROKEN
    if scanned:
        lost = (replica.hw or 0) > end
        kind = Severity.AT_RISK if lost else Severity.USUAL
        kind = Severity.BROKEN if following is not None and cut and lost else kind
        why += f"; the next start cuts the log to {end}"
        if lost:
            why += f", below the high watermark {replica.hw}"
    replica.add_finding(kind, "batches_are_whole", path, f"byte {error.position}", why)


def _read_epochs(replica: ReplicaOnDisk) -> None:
    file = os.path.join(replica.path, EPOCHS)
    try:
        replica.epochs = parse_epochs(file, Path(file).read_bytes())
    except FileNotFoundError:
        return
    except MalformedCheckpoint as error:
        replica.add_finding(Severity.BROKEN, "files_can_be_read", file, error.where, error.why)
        return
    before: tuple[int, int] | None = None
    for line, (epoch, start) in enumerate(replica.epochs, 3):
        if before is not None and (epoch <= before[0] or start < before[1]):
            replica.add_finding(
                Severity.BROKEN,
                "epochs_fit_batches",
                file,
                f"line {line}",
                f"epoch {epoch} begins at {start}, after epoch {before[0]} at {before[1]}",
            )
            return
        before = epoch, start
    _compare_epochs(replica, file)


def _compare_epochs(replica: ReplicaOnDisk, file: str) -> None:
    """Checks that each epoch of the batches has an entry with its start, and no other has one."""
    begins: dict[int, int] = {}
    for epoch, first, _ in replica.runs:
        begins.setdefault(epoch, first)
    begins.pop(-1, None)
    known = dict(replica.epochs or ())
    lines = {epoch: line for line, (epoch, _) in enumerate(replica.epochs or (), 3)}
    for epoch, first in sorted(begins.items()):
        start = known.get(epoch)
        if start is None:
            replica.add_finding(
                Severity.BROKEN, "epochs_fit_batches", file, "",
                f"epoch {epoch} begins with the batch at offset {first}, and is no entry",
            )  # fmt: skip
        elif start > first and first >= replica.start:
            replica.add_finding(
                Severity.BROKEN,
                "epochs_fit_batches",
                file,
                f"line {lines[epoch]}",
                f"epoch {epoch} begins at {start}, and the batch at offset {first} has it",
            )
    for epoch, start in sorted(known.items()):
        within = next((run for run in replica.runs if run[1] <= start < run[2]), None)
        if start > replica.end:
            kind = Severity.BROKEN if replica.clean else Severity.USUAL
            replica.add_finding(
                kind, "epochs_fit_batches", file, f"line {lines[epoch]}",
                f"epoch {epoch} begins at {start}, above the log's end {replica.end}",
            )  # fmt: skip
        elif within is not None and 0 <= within[0] != epoch and start > replica.start:
            replica.add_finding(
                Severity.BROKEN, "epochs_fit_batches", file, f"line {lines[epoch]}",
                f"epoch {epoch} begins at {start}, and the batch there has epoch {within[0]}",
            )  # fmt: skip


def _read_beside(replica: ReplicaOnDisk) -> None:
    """Reads indexes, snapshots, and what an unfinished cleaning or removal leaves."""
    for name in sorted(os.listdir(replica.path)):
        path = os.path.join(replica.path, name)
        if name.endswith(_REMAINS):
            replica.add_finding(
                Severity.USUAL, "nothing_is_left_over", path, "",
                "a cleaning, a swap or a removal was not finished; the next start does so",
            )  # fmt: skip
        elif name.endswith((INDEX, TIME_INDEX, SNAPSHOT)):
            _compare_index(replica, path, name)


def _compare_index(replica: ReplicaOnDisk, path: str, name: str) -> None:
    rule = "snapshots_are_whole" if name.endswith(SNAPSHOT) else "indexes_fit_segments"
    # Indexes of what a start scans are made anew, and a snapshot that cannot be read is left out.
    stem = name.split(".")[0]
    scanned = not replica.clean and stem.isdigit() and _is_newest(replica, int(stem))
    kind = Severity.USUAL if scanned or name.endswith(SNAPSHOT) else Severity.BROKEN
    dump = Dump(path, mapped, DumpOptions(verify=True))
    try:
        for _ in dump.lines():
            pass
    except FileNotFoundError:
        return  # a living broker removed it
    faults = dump.damage or ([] if dump.sound else dump.findings[:2])
    for fault in faults[:1]:
        place, _, why = fault.removeprefix(f"{path}: ").partition(": ")
        if not why:
            place, why = "", fault
        if "segment" in place:  # reported of the segment itself
            continue
        replica.add_finding(kind, rule, path, place, " ".join(why.split()))


def _is_newest(replica: ReplicaOnDisk, base: int) -> bool:
    names = [name for name in os.listdir(replica.path) if _SEGMENT.fullmatch(name)]
    newest = max((int(name.split(".")[0]) for name in names), default=0)
    return base >= newest or newest >= (replica.recovery or 0) <= base


def _check_checkpoints(
    replica: ReplicaOnDisk, log_start: int | None, directory: InspectedDirectory
) -> None:
    """Compares checkpoints with the log end offset."""
    for name, rule, offset, what in (
        (HIGH_WATERMARKS, "high_watermark_is_in_the_log", replica.hw, "the high watermark"),
        (RECOVERY_POINTS, "checkpoints_are_in_the_log", replica.recovery, "the recovery point"),
        (LOG_STARTS, "checkpoints_are_in_the_log", log_start, "the log's start"),
    ):
        if offset is None:
            continue
        file = os.path.join(directory.path, name)
        end = replica.batches[-1][1] + 1 if len(replica.batches) else replica.end
        end = max(int(end), 0) if name == LOG_STARTS else replica.end
        if offset > end:
            replica.add_finding(
                Severity.BROKEN, rule, file, f"{replica.topic} {replica.partition}",
                f"{what} is {offset}, and the log ends at {end}",
            )  # fmt: skip


Progress = Callable[[str], None]


def replicas_by_partition(
    directories: Iterable[InspectedDirectory],
) -> Mapping[TopicPartition, list[InspectedDirectory]]:
    """The replicas of each partition in these directories."""
    found: dict[TopicPartition, list[InspectedDirectory]] = {}
    for directory in directories:
        for tp in directory.replicas:
            found.setdefault(tp, []).append(directory)
    return dict(sorted(found.items()))
