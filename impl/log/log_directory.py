"""One of a broker's ``log.dirs``: its lock, its checkpoints, its partitions.

Source: LogManager; the fact sheet, sections h.6, i.6, k.4 and l.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from os.path import dirname

from impl.disk import Disk, File, Locked, replace_file
from impl.log.checkpoint_file import OffsetCheckpoint, TopicPartition, TornCheckpoint
from impl.log.cleaner import MOST_KEYS
from impl.log.config import LogConfig
from impl.log.directory_names import directory_name, parse_name
from impl.log.errors import StorageError
from impl.log.leader_epoch_cache import LeaderEpochFileCache
from impl.log.loading import RecoveryReport, load_log
from impl.log.log import Log
from impl.log.meta_properties import MetaProperties, read_meta
from impl.log.producer_state import ProducerRules

CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
LOCK = ".lock"


@dataclass
class DirectoryToDelete:
    """A directory that was renamed to ``-delete``; it is removed at a time (ms)."""

    partition: TopicPartition
    path: str
    due_ms: int
    log: Log | None = None


@dataclass(frozen=True, slots=True)
class LogRemoval:
    """The directory of a deleted log was removed, or, with an ``error``, could not be removed.

    ``log`` is None where the directory was found at the start.
    """

    partition: TopicPartition
    path: str
    log: Log | None = None
    error: Exception | None = None


@dataclass(frozen=True)
class LogSettings:
    """The parameters of every log of a broker. ``config_of``: a topic's own configuration.

    ``scan_everything``: for a disk that does not keep what it said was durable: no marker of a
    clean stop and no recovery point is believed, every segment is scanned at every start.
    ``cleans``: there is a cleaner (log.cleaner.enable), with a checkpoint of its own.
    ``most_keys``: how many keys one cleaning looks at (log.cleaner.dedupe.buffer.size).
    ``has_epochs``: without it (0.10) neither leader epochs nor log starts have checkpoints.
    ``removals_fail_disks``: what cannot be removed or renamed for it takes its directory offline
    (KIP-112, 1.0); before, removing was tried again after another delay, and a log that could not
    be renamed was off the map all the same. ``first_sweep_ms``: up to 1.0 deleted logs were removed
    all at once, whenever each was deleted, every file.delete.delay.ms, first so long after the
    start; None: each after its own delay.
    """

    now_ms: Callable[[], int]
    config: LogConfig = field(default_factory=LogConfig)
    config_of: Callable[[str, LogConfig], LogConfig] = lambda topic, config: config
    new_cache: Callable[[], LeaderEpochFileCache] = LeaderEpochFileCache
    scan_everything: bool = False
    has_epochs: bool = True
    cleans: bool = True
    most_keys: int = MOST_KEYS
    removals_fail_disks: bool = True
    first_sweep_ms: int | None = None
    producers: ProducerRules = field(default_factory=ProducerRules)


class LogDirectory:
    """The partitions in one directory. ``failure`` is the reason why it is offline, empty if it is
    not.

    ``broken``: partitions that could not be loaded, or failed later, with the reason; the others go
    on.
    """

    def __init__(self, disk: Disk, path: str, settings: LogSettings) -> None:
        self.disk = disk
        self.path = path
        self.settings = settings
        self.began_ms = settings.now_ms()
        self.logs: dict[TopicPartition, Log] = {}
        self.futures: dict[TopicPartition, Log] = {}
        self.doomed: list[DirectoryToDelete] = []
        self.broken: dict[TopicPartition, StorageError] = {}
        self._kept: dict[TopicPartition, tuple[int, int, int]] = {}
        self.recoveries: list[RecoveryReport] = []
        self.notes: list[str] = []
        self.failure = ""
        self.high_watermarks = OffsetCheckpoint(disk, f"{path}/replication-offset-checkpoint")
        self.recovery_points = OffsetCheckpoint(disk, f"{path}/recovery-point-offset-checkpoint")
        self.log_starts = OffsetCheckpoint(disk, f"{path}/log-start-offset-checkpoint")
        self.cleaner_offsets = OffsetCheckpoint(disk, f"{path}/cleaner-offset-checkpoint")
        self.cleaned: dict[TopicPartition, int] = {}
        self._marker = f"{path}/{CLEAN_SHUTDOWN}"
        self._lock: File | None = None

    # Beginning and end

    def acquire(self) -> None:
        """Create the directory if missing, and lock it. Locked if another broker uses it;
        OSError."""
        self.disk.make_directory(self.path)
        with suppress(PermissionError):  # whoever made it may have been killed before this
            self.disk.sync_directory(dirname(self.path) or ".")
        try:
            self._lock = self.disk.lock(f"{self.path}/{LOCK}")
        except Locked:
            raise Locked(
                f"{self.path}/{LOCK}: another broker uses this directory; stop it, or name another"
            ) from None

    @property
    def clean(self) -> bool:
        """Whether the last shutdown was clean."""
        return self.disk.exists(self._marker) and not self.settings.scan_everything

    def read_meta(self) -> MetaProperties | None:
        """The content of ``meta.properties``; None if it has no ids. MalformedCheckpoint,
        OSError."""
        try:
            return read_meta(self.disk, self.path)
        except TornCheckpoint as error:
            if self.clean:
                raise
            self.notes.append(f"{error}; written anew")
            return None

    def load(self) -> None:
        """Load every partition. After StorageError or OSError the whole directory is offline."""
        clean = self.clean
        for checkpoint in self._checkpoints():
            checkpoint.create()
        points = self._read(self.recovery_points, clean)
        starts = self._read(self.log_starts, clean)
        marks = self._read(self.high_watermarks, clean)
        self.cleaned = self._read(self.cleaner_offsets, clean)
        if self.settings.scan_everything:
            points = {}
        for name in self.disk.names(self.path):
            if self.disk.is_directory(f"{self.path}/{name}"):
                self._load_partition(name, clean, points, starts, marks)
        # From here on a crash is an unclean stop again.
        if self.disk.exists(self._marker):
            self.disk.remove(self._marker)
            self.disk.sync_directory(self.path)
        if not clean:
            # What the files say of partitions that are gone must not meet their successors.
            self.checkpoint()

    def _checkpoints(self) -> list[OffsetCheckpoint]:
        """Those that a broker of this kind keeps."""
        return [
            self.high_watermarks,
            self.recovery_points,
            *([self.log_starts] if self.settings.has_epochs else []),
            *([self.cleaner_offsets] if self.settings.cleans else []),
        ]

    def _read(self, checkpoint: OffsetCheckpoint, clean: bool) -> dict[TopicPartition, int]:
        try:
            return checkpoint.read()
        except TornCheckpoint as error:
            if clean:
                raise
            self.notes.append(f"{error}; taken as empty")
            return {}

    def _load_partition(
        self,
        name: str,
        clean: bool,
        points: Mapping[TopicPartition, int],
        starts: Mapping[TopicPartition, int],
        marks: Mapping[TopicPartition, int],
    ) -> None:
        partition, kind = parse_name(self.path, name)
        path = f"{self.path}/{name}"
        if kind == "delete":
            self.doomed.append(DirectoryToDelete(partition, path, self._removal_due(partition)))
            return
        # Checkpoints are by partition and mention the current log; a future one is scanned whole.
        point, start = (0, 0) if kind else (points.get(partition, 0), starts.get(partition, 0))
        try:
            log, reported = load_log(
                self.disk, path, self._config(partition), self.settings.now_ms, clean, point, start,
                self.settings.new_cache(), self.settings.has_epochs, self.settings.producers,
            )  # fmt: skip
        except StorageError as error:
            if kind:  # a copy under way is worth nothing by itself
                self.notes.append(f"{error}; the copy is given up")
                self.doomed.append(DirectoryToDelete(partition, path, self.settings.now_ms()))
                return
            self.broken[partition] = error
            self._kept[partition] = point, start, marks.get(partition, 0)
            return
        self.recoveries.append(reported)
        if kind:
            self.futures[partition] = log
            return
        log.high_watermark = max(log.log_start, min(marks.get(partition, 0), log.log_end))
        self._adopt(partition, log)

    def create(self, partition: TopicPartition, name: str) -> Log:
        """Create an empty log in a directory of that name."""
        path = f"{self.path}/{name}"
        self.disk.make_directory(path)
        log, _ = load_log(
            self.disk, path, self._config(partition), self.settings.now_ms, clean=False,
            cache=self.settings.new_cache(), has_epochs=self.settings.has_epochs,
            producers=self.settings.producers,
        )  # fmt: skip
        return log

    def add(self, partition: TopicPartition) -> Log:
        """Create a log for a partition that has none here."""
        log = self.create(partition, directory_name(partition))
        self._adopt(partition, log)
        return log

    def _adopt(self, partition: TopicPartition, log: Log) -> None:
        self.logs[partition] = log
        # Kafka writes the recovery points here, after a truncation. A log start or a high watermark
        # that was lowered must not come back either, over records that came later; nor records
        # below a log start that was raised, when their epochs are forgotten.
        log.ends_moved = self.checkpoint

    def give_up(self, partition: TopicPartition, why: StorageError) -> None:
        """Take a partition offline; the others stay online."""
        log = self.logs.pop(partition, None)
        if log is not None:
            self._kept[partition] = log.recovery_point, log.log_start, log.high_watermark
            log.close_handlers()
        self.broken[partition] = why

    def _config(self, partition: TopicPartition) -> LogConfig:
        config = self.settings.config_of(partition[0], self.settings.config)
        if self.settings.has_epochs or config.message_format < 2:
            return config
        return replace(config, message_format=1)  # the newest that a broker without epochs knows

    def reconfigure(self, settings: LogSettings, topic: str | None = None) -> None:
        """Use other settings, for the logs of one topic or for all."""
        self.settings = settings
        for partition, log in [*self.logs.items(), *self.futures.items()]:
            if topic in (None, partition[0]):
                log.reconfigure(self._config(partition))

    def close(self) -> None:
        """Shut down cleanly: flush, write checkpoints, and mark the shutdown as clean."""
        for log in [*self.logs.values(), *self.futures.values()]:
            log.flush()
            log.close()
        self.checkpoint()
        # No half-written marker: its name is all that it says.
        if not self.broken:
            replace_file(self.disk, self._marker, b"")
        self.close_handlers()

    def close_handlers(self) -> None:
        """Close all files, and release the lock, without writing."""
        for log in [*self.logs.values(), *self.futures.values()]:
            log.close_handlers()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    # Checkpoints

    def checkpoint(self) -> None:
        """Write all checkpoints. Entries of offline partitions stay."""
        self._lower_cleaned()
        points = {name: kept[0] for name, kept in self._kept.items()}
        starts = {name: kept[1] for name, kept in self._kept.items() if kept[1]}
        for name, log in self.logs.items():
            points[name] = log.recovery_point
            if log.log_start > log.segments[0].base_offset:  # else the first segment tells it
                starts[name] = log.log_start
        self.recovery_points.write(points)
        if self.settings.has_epochs:
            self.log_starts.write(starts)
        self.checkpoint_high_watermarks()

    def _lower_cleaned(self) -> None:
        """Nothing beyond a log's end was compacted, nor of a log that is not here any more."""
        known = {
            name: min(offset, self.logs[name].log_end) if name in self.logs else offset
            for name, offset in self.cleaned.items()
            if name in self.logs or name in self._kept
        }
        if known != self.cleaned:
            self.set_cleaned(known)

    def set_cleaned(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Write the offsets up to which logs are compacted (``cleaner-offset-checkpoint``)."""
        self.cleaned = dict(offsets)
        self.cleaner_offsets.write(self.cleaned)

    def checkpoint_high_watermarks(self) -> None:
        """Write the high watermark of each log."""
        marks = {name: kept[2] for name, kept in self._kept.items()}
        marks.update((name, log.high_watermark) for name, log in self.logs.items())
        self.high_watermarks.write(marks)

    # Deletion

    def doom(self, partition: TopicPartition, log: Log, name: str) -> None:
        """Rename a log's directory to a ``-delete`` name; it is removed later."""
        path = f"{self.path}/{name}"
        self.disk.rename(log.directory, path)
        self.disk.sync_directory(self.path)
        log.moved_to(path)
        self.doomed.append(DirectoryToDelete(partition, path, self._removal_due(partition), log))

    def _removal_due(self, partition: TopicPartition) -> int:
        """When a log that is deleted now is removed, by the manager's clock."""
        now_ms, first = self.settings.now_ms(), self.settings.first_sweep_ms
        if first is None:
            return now_ms + self._config(partition).file_delete_delay_ms
        every = max(1, self.settings.config.file_delete_delay_ms)
        sweeps = max(0, (now_ms - self.began_ms - first) // every + 1)
        return self.began_ms + first + sweeps * every

    def remove_doomed(self, now_ms: int) -> list[LogRemoval]:
        """Remove directories whose time has come; reports those that cannot be removed.

        Up to 0.11 it is then tried again after another delay.
        """
        waiting, self.doomed = self.doomed, []
        removals: list[LogRemoval] = []
        for doomed in waiting:
            if doomed.due_ms > now_ms:
                self.doomed.append(doomed)
                continue
            error: Exception | None = None
            try:
                self._remove(doomed)
            except Exception as unexpected:  # nothing ends the thread, nor keeps the others here
                error = unexpected
                again = not self.settings.removals_fail_disks
                later = "; tried again later" if again else ""
                self.notes.append(f"{doomed.path}: not removed: {error}{later}")
                if again:
                    due = self._removal_due(doomed.partition)
                    self.doomed.append(replace(doomed, due_ms=due))
            removals.append(LogRemoval(doomed.partition, doomed.path, doomed.log, error))
        return removals

    def _remove(self, doomed: DirectoryToDelete) -> None:
        if doomed.log is not None:
            doomed.log.close_handlers()
            doomed.log.epochs.cache.clear()
        for name in self.disk.names(doomed.path):
            self.disk.remove(f"{doomed.path}/{name}")
        self.disk.remove_directory(doomed.path)
