"""Batches and logs for tests."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from impl.disk import Disk, MemoryDisk
from impl.log.config import LogConfig
from impl.log.loading import RecoveryReport, load_log
from impl.log.log import Log
from impl.log.record import StoredRecord
from impl.log.record_batch import encode_batch


class ManualClock:
    """Milliseconds that only a test moves."""

    def __init__(self, now_ms: int = 1_000) -> None:
        self.now_ms = now_ms

    def __call__(self) -> int:
        return self.now_ms


def batch(*values: bytes, at: int = 1_000, base: int = 0, epoch: int = -1) -> bytes:
    """A batch of records with these values, a millisecond apart."""
    records = [
        StoredRecord(base + place, at + place, b"key", value) for place, value in enumerate(values)
    ]
    return encode_batch(records, epoch)


def values(log: Log, offset: int | None = None, up_to: int | None = None) -> list[bytes | None]:
    """The values that a consumer finds, from an offset on (the log start if none is given)."""
    found: list[bytes | None] = []
    at = log.log_start if offset is None else offset
    end = log.log_end if up_to is None else up_to
    while at < end:
        records = list(log.read(at, 500, up_to).region.records(at))
        if not records:
            break
        found += [record.value for record in records]
        at = records[-1].offset + 1
    return found


def opened(
    disk: Disk, clock: ManualClock, config: LogConfig, clean: bool = False, recovery_point: int = 0,
    log_start: int = 0,
) -> tuple[Log, RecoveryReport]:  # fmt: skip
    """The log in ``/d/t-0``, made if it is not there."""
    disk.make_directory("/d/t-0")
    return load_log(disk, "/d/t-0", config, clock, clean, recovery_point, log_start)


def fresh(config: LogConfig | None = None) -> tuple[Log, MemoryDisk, ManualClock]:
    """A new log on a memory disk."""
    clock = ManualClock()
    disk = MemoryDisk(clock)
    log, _ = opened(disk, clock, config or LogConfig())
    return log, disk, clock


def overwrite(disk: Disk, path: str, position: int, content: bytes) -> None:
    """Damage a file."""
    file = disk.open(path)
    file.write(position, content)
    file.close()


def names(log: Log, suffixes: Sequence[str] = (".log",)) -> list[str]:
    """Files of the log's directory with these suffixes."""
    return [name for name in log.disk.names(log.directory) if name.endswith(tuple(suffixes))]


MAYBE = st.none() | st.binary(max_size=40)
HEADERS = st.lists(st.tuples(st.text(max_size=5), MAYBE), max_size=3).map(tuple)


@st.composite
def record_lists(draw: st.DrawFn) -> list[StoredRecord]:
    """Records at consecutive offsets, with timestamps in any order."""
    base = draw(st.integers(0, 2**40))
    times = draw(st.lists(st.integers(0, 2**45), min_size=1, max_size=8))
    return [
        StoredRecord(base + place, time, draw(MAYBE), draw(MAYBE), draw(HEADERS))
        for place, time in enumerate(times)
    ]
