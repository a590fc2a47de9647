"""All logs of a broker, over several directories: start, stop, checkpoints, retention, deletion.

Nothing runs by itself: a world can make every task a step of its own, and ``LogTasks`` runs them
at Kafka's intervals. A directory that fails takes its partitions offline (1.0+), a corrupt file
its partition alone; everything else goes on. Source: kafka.log.LogManager.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from uuid import uuid4

from impl.disk import Disk
from impl.log.checkpoint_file import TopicPartition
from impl.log.cleaner import Cleanable, clean, cleanable
from impl.log.config import LogConfig
from impl.log.directory_names import delete_name, directory_name, future_name
from impl.log.errors import StorageError
from impl.log.log import Log
from impl.log.log_directory import LogDirectory, LogRemoval, LogSettings
from impl.log.meta_properties import MetaProperties, agreed, write_meta
from impl.log.record_batch import whole_batches
from impl.log.retention import delete_old_segments


class LogManager:
    """The logs of one broker. ``unique`` names directories that are to go, ``failed`` receives
    a directory that went offline, ``removal`` of each try to remove a deleted log.
    """

    def __init__(
        self,
        disk: Disk,
        directories: Sequence[str],
        settings: LogSettings,
        unique: Callable[[], str] = lambda: uuid4().hex,
        failed: Callable[[str, str], None] = lambda directory, why: None,
        removal: Callable[[LogRemoval], None] = lambda removal: None,
    ) -> None:
        if not directories:
            raise ValueError("log.dirs names at least one directory")
        self.disk = disk
        self.settings = settings
        self.unique = unique
        self.failed = failed
        self.removal = removal
        self.directories = [LogDirectory(disk, path, settings) for path in directories]
        self._preferred: dict[TopicPartition, str] = {}  # where logs that are to come will go

    # Beginning and end

    def start(self, broker_id: int | None = None, cluster_id: str | None = None) -> int | None:
        """Lock the directories, compare ``meta.properties``, load the logs. Returns the common
        broker id.

        Locked if another broker uses a directory; InconsistentBrokerId, InconsistentClusterId;
        OSError if no directory is left.
        """
        try:
            metas: dict[str, MetaProperties] = {}
            for directory in self.directories:
                with self._directory_may_fail(directory):
                    directory.acquire()
                    if (meta := directory.read_meta()) is not None:
                        metas[directory.path] = meta
            found = agreed(metas, broker_id, cluster_id)
            for directory in self._online():
                with self._directory_may_fail(directory):
                    if found is not None and directory.path not in metas:
                        write_meta(self.disk, directory.path, MetaProperties(found, cluster_id))
                    directory.load()
            self._refuse_duplicates()
        except Exception:
            for directory in self.directories:
                directory.close_handlers()
            raise
        if not self._online():
            reported = "; ".join(f"{each.path}: {each.failure}" for each in self.directories)
            raise OSError(f"no log directory is usable: {reported}")
        return found

    def adopt(self, broker_id: int, cluster_id: str | None = None) -> None:
        """Write ``meta.properties`` where it is missing: the broker has an id from now on."""
        for directory in self._online():
            with self._directory_may_fail(directory):
                if directory.read_meta() is None:
                    meta = MetaProperties(broker_id, cluster_id)
                    write_meta(self.disk, directory.path, meta)

    def _refuse_duplicates(self) -> None:
        """A partition that two directories claim is offline in both: neither can be believed."""
        homes: dict[TopicPartition, LogDirectory] = {}
        for directory in self._online():
            for partition in sorted(directory.logs):
                first = homes.setdefault(partition, directory)
                if first is not directory:
                    name = directory_name(partition)
                    why = f"{name} is in {first.path} too; remove one of them"
                    error = StorageError(f"{directory.path}/{name}", "", why)
                    for each in (first, directory):
                        each.give_up(partition, error)

    def stop(self) -> None:
        """Shut down every online directory cleanly."""
        for directory in self._online():
            with self._directory_may_fail(directory):
                directory.close()

    def reconfigure(self, config: LogConfig, topic: str | None = None) -> None:
        """Use a changed configuration: the default for logs, or that of a topic."""
        self.settings = replace(self.settings, config=config)
        for directory in self.directories:
            directory.reconfigure(self.settings, topic)

    @contextmanager
    def _directory_may_fail(self, directory: LogDirectory) -> Iterator[None]:
        try:
            yield
        except (OSError, StorageError) as error:
            self.fail(directory.path, str(error))

    def fail(self, path: str, why: str) -> None:
        """Take a directory offline: its partitions are offline until a restart."""
        directory = self._directory(path)
        if directory.failure:
            return
        directory.failure = why
        for partition in [*directory.logs]:
            directory.broken[partition] = StorageError(path, "", why)
        directory.close_handlers()
        directory.logs.clear()
        directory.futures.clear()
        directory.doomed.clear()
        self.failed(path, why)

    def _online(self) -> list[LogDirectory]:
        return [directory for directory in self.directories if not directory.failure]

    def _directory(self, path: str) -> LogDirectory:
        for directory in self.directories:
            if directory.path == path:
                return directory
        known = ", ".join(directory.path for directory in self.directories)
        raise ValueError(f"{path} is none of the log directories {known}")

    # Partitions

    @property
    def partitions(self) -> list[TopicPartition]:
        """All partitions with a usable log, sorted."""
        return sorted(name for directory in self._online() for name in directory.logs)

    @property
    def offline(self) -> dict[TopicPartition, StorageError]:
        """The partitions whose logs cannot be used, with the reason."""
        return {name: why for each in self.directories for name, why in each.broken.items()}

    def home(self, partition: TopicPartition) -> LogDirectory | None:
        """The directory of a partition's log."""
        for each in self.directories:  # asked for with each batch
            if not each.failure and partition in each.logs:
                return each
        return None

    def log(self, partition: TopicPartition) -> Log | None:
        """A partition's log; None if there is none. StorageError if it is offline."""
        home = self.home(partition)
        if home is not None:
            return home.logs[partition]
        if partition in self.offline:
            raise self.offline[partition]
        return None

    @contextmanager
    def using(self, partition: TopicPartition) -> Iterator[Log]:
        """A partition's log, while it is worked with. An OSError takes its directory offline, a
        corrupt file the partition; both come out as StorageError. KeyError if there is no log.
        """
        home = self.home(partition)
        if home is None:
            if partition in self.offline:
                raise self.offline[partition]
            raise KeyError(f"no log of {directory_name(partition)} is here")
        try:
            yield home.logs[partition]
        except OSError as error:
            self.fail(home.path, str(error))
            raise StorageError(home.path, "", str(error)) from error
        except StorageError as error:
            home.give_up(partition, error)
            raise

    def create(self, partition: TopicPartition, path: str | None = None) -> Log:
        """A partition's log, created if missing: in that directory, else in the one with the
        fewest.

        StorageError if the partition is offline, or the directory fails.
        """
        log = self.log(partition)
        if log is not None:
            return log
        path = self._preferred.pop(partition, None) if path is None else path
        if path is None and not self._online():
            raise StorageError(self.directories[0].path, "", "no log directory is usable")
        if path is None:
            home = min(self._online(), key=lambda each: len(each.logs) + len(each.futures))
        else:
            home = self._directory(path)
        if home.failure:
            raise StorageError(home.path, "", home.failure)
        try:
            return home.add(partition)
        except OSError as error:
            self.fail(home.path, str(error))
            raise StorageError(home.path, "", str(error)) from error

    def delete(self, partition: TopicPartition) -> None:
        """Delete a partition's log: rename it now, and remove it later (``remove_due``).

        A copy to another directory that was under way goes with it. StorageError if it is offline,
        or cannot be renamed: then its directory is offline since 1.0, as Kafka has it
        (``asyncDelete``), and up to 0.11 only the log is off the map.
        """
        home = self.home(partition)
        if home is None:
            if (broken := self.offline.get(partition)) is not None:
                raise broken
            return
        self.abandon_move(partition)
        try:
            home.doom(partition, home.logs[partition], delete_name(partition, self.unique()))
            del home.logs[partition]
            home.checkpoint()
        except (OSError, StorageError) as error:
            if self.settings.removals_fail_disks:
                self.fail(home.path, str(error))
            home.logs.pop(partition, None)
            raise StorageError(home.path, "", str(error)) from error

    def _doom(self, home: LogDirectory, partition: TopicPartition, log: Log) -> None:
        with self._directory_may_fail(home):
            home.doom(partition, log, delete_name(partition, self.unique()))
            home.checkpoint()

    # Moving to another directory (1.1+)

    def future(self, partition: TopicPartition) -> Log | None:
        """The copy in progress to another directory."""
        return next(
            (each.futures[partition] for each in self._online() if partition in each.futures), None
        )

    def prefer(self, partition: TopicPartition, path: str) -> None:
        """Set the directory in which a missing log will be created. ValueError for an unknown
        one."""
        self._preferred[partition] = self._directory(path).path

    def start_move(self, partition: TopicPartition, path: str) -> Log | None:
        """Start to copy a partition to another directory; None if it is in that directory already.

        StorageError while a directory is offline: there may be a copy in it.
        Source: LogManager.getOrCreateLog
        """
        home, target = self.home(partition), self._directory(path)
        if home is None:
            raise KeyError(f"no log of {directory_name(partition)} is here")
        if target.failure:
            raise StorageError(target.path, "", target.failure)
        self.abandon_move(partition)
        if home is target:
            return None
        for one in self.directories:
            if one.failure:
                raise StorageError(target.path, "", f"{one.path} is offline: {one.failure}")
        current = home.logs[partition]
        log = target.create(partition, future_name(partition, self.unique()))
        log.truncate_fully_and_start_at(current.log_start)
        target.futures[partition] = log
        return log

    def copy_some(self, partition: TopicPartition, max_bytes: int) -> bool:
        """Copy up to so many bytes (one batch at least); True once the copy has caught up."""
        future = self.future(partition)
        if future is None:
            raise KeyError(f"{directory_name(partition)} is not being moved")
        with self.using(partition) as current:
            if future.log_end < current.log_start or future.log_end > current.log_end:
                future.truncate_fully_and_start_at(current.log_start)
            data = current.read(future.log_end, max_bytes).region.read()
            if data:
                future.append_as_follower(whole_batches(data))
            return future.log_end == current.log_end

    def compare_future(self, partition: TopicPartition) -> None:
        """Truncate a copy that was in progress before a restart to its common part with the log.

        An epoch that both have means that all before its end is the same in both; a copy that has
        no such epoch begins anew.
        """
        future = self.future(partition)
        if future is None:
            raise KeyError(f"{directory_name(partition)} is not being moved")
        with self.using(partition) as current:
            epoch = future.epochs.latest_epoch
            found, end = current.end_offset_for(epoch)
            if epoch < 0 or found != epoch or end < 0:
                future.truncate_fully_and_start_at(current.log_start)
            elif end < future.log_end:
                future.truncate_to(end)

    def truncate_future(self, partition: TopicPartition, offset: int) -> None:
        """Truncate the copy in progress, if there is one, as the log was truncated."""
        future = self.future(partition)
        if future is not None and future.log_end > offset:
            future.truncate_to(offset)

    def finish_move(self, partition: TopicPartition) -> None:
        """Replace the current log by its copy; the old log is deleted."""
        home = self.home(partition)
        target = next((each for each in self._online() if partition in each.futures), None)
        if home is None or target is None:
            raise KeyError(f"{directory_name(partition)} is not being moved")
        log, old = target.futures[partition], home.logs[partition]
        if log.log_end != old.log_end:
            raise ValueError(f"the copy ends at {log.log_end}, the log at {old.log_end}")
        log.flush()
        log.high_watermark, log.log_start = old.high_watermark, old.log_start
        path = f"{target.path}/{directory_name(partition)}"
        self.disk.rename(log.directory, path)
        self.disk.sync_directory(target.path)
        log.moved_to(path)
        del target.futures[partition], home.logs[partition]
        target.logs[partition] = log
        log.ends_moved = target.checkpoint
        target.checkpoint()
        self._doom(home, partition, old)

    def abandon_move(self, partition: TopicPartition) -> None:
        """Drop the copy in progress, if there is one."""
        for directory in self._online():
            log = directory.futures.pop(partition, None)
            if log is not None:
                self._doom(directory, partition, log)

    # What is due

    def flush_rolled(self) -> int:
        """Flush rolled segments, up to the active one; returns the number of flushed logs."""

        def flush(log: Log) -> int:
            due = log.unflushed_roll
            if due:
                log.flush(log.active.base_offset)
            return int(due)

        return self._sum_over_logs(flush)

    def apply_retention(self) -> int:
        """Delete old segments of all logs; returns their number."""
        return self._sum_over_logs(delete_old_segments)

    def expire_producers(self) -> int:
        """Forget idempotent producers that were inactive for too long; returns their number."""
        now_ms = self.settings.now_ms()
        return self._sum_over_logs(lambda log: log.producers.states.expire(now_ms))

    def clean_filthiest(self) -> bool:
        """Compact the log with the highest dirty ratio; False if none is due."""
        best: tuple[float, TopicPartition, LogDirectory, Cleanable] | None = None
        for directory in self._online():
            for partition, log in sorted(directory.logs.items()):
                if not log.config.compacts:
                    continue
                found = cleanable(log, directory.cleaned.get(partition))
                if found.is_due and (best is None or found.ratio > best[0]):
                    best = found.ratio, partition, directory, found
        if best is None:
            return False
        _, partition, directory, found = best
        with suppress(StorageError, KeyError), self.using(partition) as log:
            end = clean(log, found, self.settings.most_keys)
            directory.set_cleaned({**directory.cleaned, partition: end})
            return True
        return False

    def _sum_over_logs(self, work: Callable[[Log], int]) -> int:
        """Work on each log in turn; one that fails is offline, and the others go on."""
        total = 0
        for partition in self.partitions:
            with suppress(StorageError, KeyError), self.using(partition) as log:
                total += work(log)
        return total

    def remove_due(self) -> list[TopicPartition]:
        """Remove the files of deleted segments and partitions whose delay is over.

        Since 1.0 a file that the disk does not let go takes the directory offline.
        """
        now_ms = self.settings.now_ms()
        removed: list[TopicPartition] = []
        for directory in self._online():
            why = self._remove_segments(directory, now_ms)
            for one in directory.remove_doomed(now_ms):
                self.removal(one)
                if one.error is None:
                    removed.append(one.partition)
                elif isinstance(one.error, (OSError, StorageError)):
                    name = directory_name(one.partition)
                    where = f"in dir {directory.path}"
                    why = why or f"Error while deleting log for {name} {where}: {one.error}"
            if why and self.settings.removals_fail_disks:
                self.fail(directory.path, why)
        return removed

    def _remove_segments(self, directory: LogDirectory, now_ms: int) -> str:
        """Why one could not be removed, empty if all could; the others are."""
        why = ""
        for partition, log in directory.logs.items():
            try:
                log.remove_marked(now_ms)
            except StorageError as error:
                name = directory_name(partition)
                where = f"in dir {directory.path}"
                why = why or f"Error while deleting segments for {name} {where}: {error}"
        return why

    def checkpoint(self) -> None:
        """Write all checkpoints of all directories."""
        for directory in self._online():
            with self._directory_may_fail(directory):
                directory.checkpoint()
                for log in directory.logs.values():
                    log.remove_old_snapshots()

    def checkpoint_high_watermarks(self) -> None:
        """Write the high watermarks, as a broker does every five seconds."""
        for directory in self._online():
            with self._directory_may_fail(directory):
                directory.checkpoint_high_watermarks()
