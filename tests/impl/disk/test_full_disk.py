"""A disk that becomes full in the middle of a write, and what a log makes of that."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from impl.disk import FillableDisk
from impl.log import StorageError
from impl.log.log_directory import LogSettings
from impl.log.log_manager import LogManager
from tests.impl.log.batches import batch, values
from tests.impl.log.broker_of_logs import T0, T1


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    return tmp_path / "full"


def test_what_would_grow_gets_a_part_and_an_error_and_the_rest_goes_on(
    tmp_path: Path, marker: Path
):
    here, there = tmp_path / "here", tmp_path / "there"
    disk = FillableDisk(marker)
    for folder in (here, there):
        disk.make_directory(str(folder))
    file, other = (disk.open(str(one / "file"), create=True) for one in (here, there))
    file.write(0, b"0123456789")
    marker.write_text(f"{here}\n")

    with pytest.raises(OSError, match="No space left") as grown:
        file.write(10, b"abcd", b"efgh")
    with pytest.raises(OSError, match="No space left"):
        disk.open(str(here / "new"), create=True)
    with pytest.raises(OSError, match="No space left"):
        disk.make_directory(str(here / "sub"))
    file.write(0, b"98765")
    other.write(0, b"elsewhere")
    disk.rename(str(here / "file"), str(here / "renamed"))

    assert grown.value.errno == errno.ENOSPC
    assert (here / "renamed").read_bytes() == b"9876556789abcd"
    assert (there / "file").read_bytes() == b"elsewhere"
    marker.unlink()
    file.write(14, b"efgh")
    assert (here / "renamed").read_bytes() == b"9876556789abcdefgh"
    file.close()
    other.close()


def test_a_full_disk_takes_its_directory_offline_and_what_was_appended_is_there_after_a_restart(
    tmp_path: Path, marker: Path
):
    folders = [str(tmp_path / one) for one in ("a", "b")]
    disk = FillableDisk(marker)
    failed: list[str] = []

    def started() -> LogManager:
        settings = LogSettings(lambda: 0)
        manager = LogManager(disk, folders, settings, failed=lambda path, why: failed.append(path))
        manager.start(1)
        return manager

    manager = started()
    first, second = manager.create(T0, folders[0]), manager.create(T1, folders[1])
    for log in (first, second):
        log.append_as_leader(batch(b"before"), 0)
    marker.write_text(folders[0])

    with pytest.raises(StorageError, match="No space left"), manager.using(T0) as log:
        log.append_as_leader(batch(b"half of it"), 0)
    with manager.using(T1) as log:
        log.append_as_leader(batch(b"after"), 0)
    left = (list(manager.offline), manager.partitions, failed)
    for directory in manager.directories:
        directory.close_handlers()
    marker.unlink()
    again = started()

    assert left == ([T0], [T1], folders[:1])
    found = [again.log(T0), again.log(T1)]
    assert [values(log) for log in found if log] == [[b"before"], [b"before", b"after"]]
