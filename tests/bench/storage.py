"""The log on disk beside a plain copy of the same bytes, for `tests.bench.impl`.

`copy` writes the bytes to a file in pieces of one batch and reads nothing: the floor for an append.
`scan` is a recovery after an unclean stop: every checksum computed, indexes built anew. `read` is
what a fetch does.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from impl.disk import RealDisk
from impl.log.config import LogConfig
from impl.log.loading import load_log
from impl.log.log import Log
from impl.log.record import StoredRecord
from impl.log.record_batch import encode_batch, records_of

RECORDS = 1_000
"""Records in a batch."""


@dataclass
class Task:
    """One thing that is timed: bytes that it moved, and seconds of every round."""

    name: str
    size: int = 0
    walls: list[float] = field(default_factory=list)
    cpus: list[float] = field(default_factory=list)

    def time(self, size: int, work: Callable[[], object]) -> None:
        """Do it once."""
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        self.walls.append(time.perf_counter() - wall)
        self.cpus.append(time.process_time() - cpu)
        self.size = size

    @property
    def rate(self) -> float:
        """MB a second of wall time."""
        return self.size / median(self.walls) / 1e6

    @property
    def cpu_rate(self) -> float:
        """MB a second of processor time."""
        return self.size / max(median(self.cpus), 1e-9) / 1e6


@dataclass
class Bench:
    """Batches of one size of record, and what was measured with them."""

    record_bytes: int
    total_bytes: int
    folder: Path
    tasks: dict[str, Task] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        value = bytes(each * 7 % 251 for each in range(self.record_bytes))
        records = [StoredRecord(i, 1_700_000_000_000 + i, None, value) for i in range(RECORDS)]
        self.records = records
        self.batch = encode_batch(records)
        self.count = max(2, self.total_bytes // len(self.batch))
        self.size = self.count * len(self.batch)

    def round(self) -> None:
        """Every task once."""
        clock = time.time_ns
        config = LogConfig(segment_bytes=256 << 20, max_message_bytes=64 << 20)
        self._time("copy", self._copy)
        path = self.folder / "t-0"
        path.mkdir()
        log, _ = load_log(RealDisk(), str(path), config, lambda: clock() // 10**6, clean=False)
        self._time("append", lambda: self._append(log))
        self._time("flush", log.flush)
        self._time("read", lambda: self._read(log))
        end = log.log_end
        log.release()
        found: list[Log] = []

        def scan() -> None:
            again, reported = load_log(
                RealDisk(), str(path), config, lambda: clock() // 10**6, clean=False
            )
            found.append(again)
            if (again.log_end, reported.scanned_bytes, reported.notes) != (end, self.size, []):
                self.wrong.append(f"{again.log_end} of {end} offsets recovered: {reported.notes}")

        self._time("scan", scan)
        for each in path.iterdir():
            each.unlink()
        path.rmdir()
        found[0].release()
        few = max(1, min(self.count, 20_000_000 // len(self.batch)))
        self._time("encode", lambda: [encode_batch(self.records) for _ in range(few)], few)
        self._time("decode", lambda: [records_of(self.batch) for _ in range(few)], few)

    def _time(self, name: str, work: Callable[[], object], batches: int | None = None) -> None:
        size = self.size if batches is None else batches * len(self.batch)
        self.tasks.setdefault(name, Task(name)).time(size, work)

    def _copy(self) -> None:
        path = self.folder / "copy"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for _ in range(self.count):
            os.write(descriptor, self.batch)
        os.close(descriptor)
        path.unlink()

    def _append(self, log: Log) -> None:
        for _ in range(self.count):
            log.append_as_leader(self.batch, 1)

    def _read(self, log: Log) -> None:
        offset = 0
        while offset < log.log_end:
            fetched = log.read(offset, 1 << 20)
            data = fetched.region.read()
            offset += len(data) // len(self.batch) * RECORDS
