"""Periodic tasks on a broker's logs, at Kafka's intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from impl.log.log_manager import LogManager


@dataclass(frozen=True)
class LogTaskIntervals:
    """Milliseconds; the defaults are Kafka's.

    ``high_watermarks``: replica.high.watermark.checkpoint.interval.ms; ``checkpoints``:
    log.flush.offset.checkpoint.interval.ms; ``retention``: log.retention.check.interval.ms;
    ``cleaner``: log.cleaner.backoff.ms, 0 without a cleaner;
    ``producers``: producer.id.expiration.check.interval.ms;
    ``initial``: before the first run of ``checkpoints`` and ``retention``.
    """

    high_watermarks: int = 5_000
    checkpoints: int = 60_000
    retention: int = 300_000
    cleaner: int = 15_000
    producers: int = 600_000
    initial: int = 30_000


class LogTasks:
    """The tasks of one manager; they run only in ``run_due``."""

    def __init__(self, manager: LogManager, intervals: LogTaskIntervals | None = None) -> None:
        every = intervals or LogTaskIntervals()
        self.manager = manager
        now_ms = manager.settings.now_ms()
        self._tasks: dict[str, tuple[Callable[[], object], int]] = {
            "flush": (manager.flush_rolled, 0),
            "high watermarks": (manager.checkpoint_high_watermarks, every.high_watermarks),
            "checkpoints": (manager.checkpoint, every.checkpoints),
            "retention": (manager.apply_retention, every.retention),
            "producers": (manager.expire_producers, every.producers),
            "removal": (manager.remove_due, 0),
        }
        if every.cleaner:
            self._tasks["cleaner"] = (manager.clean_filthiest, every.cleaner)
        self._due = {name: now_ms + interval for name, (_, interval) in self._tasks.items()}
        for name in ("checkpoints", "retention"):
            self._due[name] = now_ms + every.initial

    def run_due(self) -> list[str]:
        """Run the tasks that are due, in a fixed order; returns their names."""
        now_ms = self.manager.settings.now_ms()
        ran = [name for name in self._tasks if self._due[name] <= now_ms]
        for name in ran:
            work, interval = self._tasks[name]
            went_on = work()
            # One log at a time is compacted; the next one without a pause.
            at_once = name == "cleaner" and went_on
            self._due[name] = now_ms + (0 if at_once else interval)
        return ran
