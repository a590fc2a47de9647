"""Any damage to any file: a log that can be read from end to end, or an error that names a file."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.disk import MemoryDisk
from impl.log.config import LogConfig
from impl.log.errors import StorageError
from impl.log.log import Log
from impl.log.log_directory import LogSettings
from impl.log.log_manager import LogManager
from tests.impl.log.batches import ManualClock, batch

CONFIG = LogConfig(segment_bytes=400, index_interval_bytes=100, segment_index_bytes=120)
WRITTEN = [b"%02d" % number for number in range(12)]

SIZE = len(batch(WRITTEN[0]))


def stopped(clean: bool) -> tuple[MemoryDisk, ManualClock]:
    """A broker with one partition of twelve records, after a stop."""
    clock = ManualClock()
    disk = MemoryDisk(clock)
    manager = LogManager(disk, ["/d"], LogSettings(clock, CONFIG))
    manager.start(1)
    log = manager.create(("t", 0))
    for number, value in enumerate(WRITTEN):
        log.append_as_leader(batch(value, at=1_000 + number), number // 4)
    log.high_watermark = 9
    manager.checkpoint()
    if clean:
        manager.stop()
    disk.crash(power=False)
    return disk, clock


def files(disk: MemoryDisk) -> list[str]:
    return [
        f"{folder}/{name}"
        for folder in ("/d", "/d/t-0")
        for name in disk.names(folder)
        if not disk.is_directory(f"{folder}/{name}")
    ]


def read(log: Log) -> dict[int, bytes | None]:
    """Every record by its offset, as a consumer meets them."""
    found: dict[int, bytes | None] = {}
    at = log.log_start
    while at < log.log_end:
        for record in log.read(at, 300).region.records(at):
            found[record.offset] = record.value
            at = record.offset + 1
    return found


def check(log: Log, notes: list[str]) -> None:
    """It can be read, cut and appended to; what is missing between two records was reported."""
    found = read(log)
    assert found == {offset: WRITTEN[offset] for offset in found}
    assert log.log_start <= log.high_watermark <= log.log_end
    if len(found) < log.log_end - log.log_start:
        assert any("are missing" in note for note in notes)
    log.offset_for_time(1_005)
    log.truncate_to(max(log.log_start, log.log_end - 2))
    log.append_as_leader(batch(b"new"), 9)
    assert [*read(log).values()][-1] == b"new"


DAMAGE = st.one_of(
    st.tuples(st.just("flip"), st.integers(0, 2**16), st.integers(1, 255)),
    st.tuples(st.just("cut"), st.integers(0, 2**16), st.just(0)),
    st.tuples(st.just("zeros"), st.integers(0, 2**16), st.integers(1, 200)),
    st.tuples(st.just("more"), st.integers(0, 255), st.integers(1, 200)),
    st.tuples(st.just("remove"), st.just(0), st.just(0)),
)


def damaged(disk: MemoryDisk, path: str, kind: str, where: int, how: int) -> None:
    if kind == "remove":
        disk.remove(path)
        return
    file = disk.open(path)
    place = where % max(1, file.size())
    if kind == "cut":
        file.truncate(place)
    elif kind == "zeros":
        file.write(place, bytes(min(how, file.size() - place)))
    elif kind == "more":
        file.write(file.size(), bytes([where]) * how)
    elif file.size():
        if path.endswith(".log"):  # past the offset, length and epoch, which no checksum covers
            place = place // SIZE * SIZE + 16 + place % (SIZE - 16)
        if place < file.size():
            file.write(place, bytes([file.read(place, 1)[0] ^ how]))


def failure(work: Callable[[], object]) -> Exception | None:
    """The error that a start or a read ended with, if it is one that names its reason."""
    try:
        work()
    except (OSError, StorageError) as error:
        return error
    return None


@pytest.mark.parametrize("clean", [True, False])
@given(st.lists(st.tuples(st.integers(0, 2**16), DAMAGE), min_size=1, max_size=3))
def test_a_log_is_readable_or_its_partition_is_offline_with_a_reason(clean, damage):
    disk, clock = stopped(clean)
    for which, (kind, where, how) in damage:
        paths = files(disk)
        damaged(disk, paths[which % len(paths)], kind, where, how)

    there = sum(disk.open(path).size() for path in files(disk) if path.endswith(".log"))
    manager = LogManager(disk, ["/d"], LogSettings(clock, CONFIG))
    refused = failure(lambda: manager.start(1))
    if refused is not None:
        assert str(refused).startswith("no log directory is usable: /d: /d/")
        return
    directory = manager.directories[0]
    if not manager.offline:
        notes = [note for reported in directory.recoveries for note in reported.notes]

        def work() -> None:
            with manager.using(("t", 0)) as log:
                check(log, notes)

        # A clean stop is believed, and a recovery point: what is wrong below is found by readers.
        scanned = sum(reported.scanned_bytes for reported in directory.recoveries)
        assert failure(work) is None or scanned < there
    for why in manager.offline.values():
        assert why.path.startswith("/d/t-0/")
