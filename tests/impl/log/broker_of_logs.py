"""A broker that is its logs and nothing else: started, stopped, killed, and run by the clock."""

from __future__ import annotations

from pathlib import Path

from impl.disk import MemoryDisk
from impl.log.config import LogConfig
from impl.log.log_directory import LogSettings
from impl.log.log_manager import LogManager
from tests.impl.log.batches import ManualClock

ROOT = Path(__file__).parents[3]
T0, T1 = ("t", 0), ("t", 1)
DELAY_MS = LogConfig().file_delete_delay_ms


class BrokerOfLogs:
    """A manager on a memory disk that can be stopped, killed and started again."""

    def __init__(
        self,
        *directories: str,
        removals_fail_disks: bool = True,
        first_sweep_ms: int | None = None,
    ) -> None:
        self.removals_fail_disks = removals_fail_disks
        self.first_sweep_ms = first_sweep_ms
        self.clock = ManualClock()
        self.disk = MemoryDisk(self.clock)
        self.directories = directories or ("/a",)
        self.failures: list[tuple[str, str]] = []
        self.numbers = iter(range(1_000))
        self.starts()

    def starts(self, broker_id: int | None = 1, cluster_id: str | None = None) -> LogManager:
        self.manager = LogManager(
            self.disk,
            self.directories,
            LogSettings(
                self.clock,
                LogConfig(segment_bytes=200),
                removals_fail_disks=self.removals_fail_disks,
                first_sweep_ms=self.first_sweep_ms,
            ),
            unique=lambda: f"{next(self.numbers):032x}",
            failed=lambda path, why: self.failures.append((path, why)),
        )
        self.manager.start(broker_id, cluster_id)
        return self.manager

    def killed(self) -> LogManager:
        self.disk.crash(power=False)
        return self.starts()

    def restarted(self) -> LogManager:
        self.manager.stop()
        return self.starts()
