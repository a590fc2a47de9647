"""A log directory that was made by a process which died at once is as durable as any other."""

from __future__ import annotations

from random import Random

import pytest

from impl.disk import Killed, MemoryDisk
from impl.log import LogManager, LogSettings
from impl.log.record import StoredRecord
from impl.log.record_batch import encode_batch


def manager(disk: MemoryDisk) -> LogManager:
    return LogManager(disk, ["/d"], LogSettings(lambda: 0))


@pytest.mark.parametrize("seed", range(12))
def test_what_is_flushed_survives_though_the_directorys_maker_was_killed(seed: int) -> None:
    disk = MemoryDisk(chance=Random(seed))  # what is not forced to disk is lost now and then
    disk.kill_after = 1  # the directory is there, and nobody has forced its entry to disk
    with pytest.raises(Killed):
        manager(disk).start(1)
    disk.crash(power=False)

    first = manager(disk)
    first.start(1)
    log = first.create(("orders", 0))
    log.append_as_leader(encode_batch([StoredRecord(0, 0, None, b"kept")]), 0)
    log.flush()
    disk.crash(power=True)
    again = manager(disk)
    again.start(1)

    found = again.log(("orders", 0))
    assert found is not None
    assert found.log_end == 1
