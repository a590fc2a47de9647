"""Real files and the memory disk do the same; the memory disk also fails where a test says."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from impl.disk import Disk, Killed, Locked, MemoryDisk, RealDisk, replace_file
from impl.disk.atomic import read_file

NAMES = st.sampled_from(["a", "b", "sub", "sub/a", "sub/b"])


@pytest.fixture(params=["real", "memory"])
def disk(request, tmp_path) -> tuple[Disk, str]:
    return (RealDisk() if request.param == "real" else MemoryDisk()), f"{tmp_path}"


class BothDisks(RuleBasedStateMachine):
    """The same operations on both: the same answers, the same errors, the same files."""

    @initialize(number=st.integers(0, 10**9))
    def begin(self, number):
        self.folder = TemporaryDirectory()
        self.real, self.memory = RealDisk(), MemoryDisk()
        self.memory.make_directory(self.folder.name)
        self.both(lambda disk, at: disk.make_directory(f"{at}/sub"))

    def both(self, work):
        found = []
        for disk in (self.real, self.memory):
            try:
                found.append(work(disk, self.folder.name))
            except OSError as error:
                found.append(error.errno)
        assert found[0] == found[1]
        return found[0]

    def on_file(self, name, work, create=False):
        def on(disk, at):
            file = disk.open(f"{at}/{name}", create)
            try:
                return work(file)
            finally:
                file.close()

        return self.both(on)

    @rule(name=NAMES, create=st.booleans())
    def opened(self, name, create):
        self.on_file(name, lambda file: file.size(), create)

    @rule(name=NAMES, at=st.integers(0, 40), parts=st.lists(st.binary(max_size=9), min_size=1))
    def written(self, name, at, parts):
        self.on_file(name, lambda file: file.write(at, *parts))

    @rule(name=NAMES, at=st.integers(0, 60), length=st.integers(0, 60))
    def read(self, name, at, length):
        self.on_file(name, lambda file: file.read(at, length))

    @rule(name=NAMES, size=st.integers(0, 60))
    def truncated(self, name, size):
        self.on_file(name, lambda file: file.truncate(size))

    @rule(name=NAMES)
    def synced(self, name):
        self.on_file(name, lambda file: file.sync())

    @rule(old=st.sampled_from(["a", "b"]), new=st.sampled_from(["a", "b"]))
    def renamed(self, old, new):
        self.both(lambda disk, at: disk.rename(f"{at}/sub/{old}", f"{at}/sub/{new}"))

    @rule(name=NAMES.filter(lambda name: name != "sub"))
    def removed(self, name):
        self.both(lambda disk, at: disk.remove(f"{at}/{name}"))

    @rule()
    def folder_removed_and_made_again(self):
        self.both(lambda disk, at: disk.remove_directory(f"{at}/sub"))
        self.both(lambda disk, at: disk.make_directory(f"{at}/sub"))
        self.both(lambda disk, at: disk.sync_directory(f"{at}/sub"))

    @rule(name=NAMES, content=st.binary(max_size=30))
    def replaced(self, name, content):
        if name != "sub":
            self.both(lambda disk, at: replace_file(disk, f"{at}/{name}", content))

    @invariant()
    def they_hold_the_same(self):
        def everything(disk, at):
            return [
                (name, disk.names(f"{at}/{name}") if disk.is_directory(f"{at}/{name}") else
                 read_file(disk, f"{at}/{name}"))
                for name in disk.names(at)
            ]  # fmt: skip

        self.both(everything)
        self.both(lambda disk, at: [disk.exists(f"{at}/{name}") for name in ("a", "sub/b", "x")])

    def teardown(self):
        if hasattr(self, "folder"):
            self.folder.cleanup()


TestBothDisks = BothDisks.TestCase
TestBothDisks.settings = settings(max_examples=settings().max_examples // 4, stateful_step_count=20)


def test_a_lock_is_held_until_it_is_closed(disk):
    files, folder = disk
    files.make_directory(folder)
    held = files.lock(f"{folder}/.lock")

    with pytest.raises(Locked):
        files.lock(f"{folder}/.lock")
    held.close()

    files.lock(f"{folder}/.lock").close()


def test_a_region_is_sent_to_a_descriptor(disk):
    files, folder = disk
    files.make_directory(folder)
    file = files.open(f"{folder}/x", create=True)
    file.write(0, b"0123456789")
    reading, writing = os.pipe()

    sent = file.send(writing, 3, 4)

    assert (sent, os.read(reading, 100)) == (4, b"3456")
    os.close(reading)
    os.close(writing)
    file.close()


def test_a_file_that_was_taken_once_more_outlives_the_first_one(disk):
    files, folder = disk
    files.make_directory(folder)
    file = files.open(f"{folder}/x", create=True)
    file.write(0, b"0123456789")

    other = file.again()
    file.close()
    files.remove(f"{folder}/x")

    assert other.read(2, 3) == b"234"
    other.close()


def test_a_file_where_a_directory_should_be_is_refused(disk):
    files, folder = disk
    files.make_directory(folder)
    files.open(f"{folder}/x", create=True).close()

    with pytest.raises(NotADirectoryError):
        files.make_directory(f"{folder}/x")


def test_a_short_write_is_carried_on(tmp_path, monkeypatch):
    file = RealDisk().open(f"{tmp_path}/x", create=True)
    pwritev = os.pwritev
    monkeypatch.setattr(os, "pwritev", lambda fd, parts, at: pwritev(fd, [b"".join(parts)[:3]], at))

    file.write(2, b"0123", b"4567")
    file.close()

    assert Path(f"{tmp_path}/x").read_bytes() == b"\0\x0001234567"


# Death


def written(seed: int) -> MemoryDisk:
    """A durable file of 600 'a's, over which 1200 'b's are written, with room for 'c's."""
    disk = MemoryDisk(chance=Random(seed))
    disk.make_directory("/d")
    file = disk.open("/d/x", create=True)
    file.write(0, b"a" * 600)
    file.sync()
    disk.sync_directory("/d")
    file.write(0, b"b" * 1200)
    file.write(1200, b"c" * 600)
    return disk


def test_what_was_not_synced_may_be_there_or_not_or_in_part():
    outcomes = set()
    for seed in range(200):
        disk = written(seed)
        disk.crash(power=True)
        content = read_file(disk, "/d/x")
        outcomes.add(content)
        assert len(content) >= 600
        assert set(content) <= set(b"abc\0")

    assert b"a" * 600 in outcomes
    assert b"b" * 1200 + b"c" * 600 in outcomes
    assert any(b"\0" in content for content in outcomes)
    assert any(b"b" in content and b"a" in content for content in outcomes)


def test_what_was_synced_is_there_and_a_killed_process_takes_nothing_with_it():
    disk = written(0)
    disk.open("/d/x").sync()
    synced = read_file(disk, "/d/x")

    disk.crash(power=True)
    after_power = read_file(disk, "/d/x")
    disk.open("/d/x").write(0, b"z")
    disk.crash(power=False)

    assert after_power == synced
    assert read_file(disk, "/d/x")[:1] == b"z"


def test_entries_of_a_directory_go_from_the_newest_on():
    kept = set()
    for seed in range(40):
        disk = MemoryDisk(chance=Random(seed))
        disk.make_directory("/d")
        for name in "abc":
            disk.open(f"/d/{name}", create=True)
        disk.rename("/d/a", "/d/z")
        disk.crash(power=True)
        kept.add("".join(disk.names("/d")))

    assert kept == {"", "a", "ab", "abc", "bcz"}


def test_a_killed_process_can_do_nothing_more():
    disk = MemoryDisk()
    disk.make_directory("/d")
    file = disk.open("/d/x", create=True)
    disk.kill_after = 1

    file.write(0, b"whole")
    with pytest.raises(Killed, match="killed while writing"):
        file.write(5, b"torn")
    for work in (file.sync, lambda: file.read(0, 1), lambda: disk.remove("/d/x")):
        with pytest.raises(Killed):
            work()
    disk.crash(power=False)

    assert read_file(disk, "/d/x").startswith(b"whole")
    with pytest.raises(Killed, match="its process is dead"):
        file.read(0, 1)


def test_a_disk_that_lies_forgets_what_it_said_was_durable():
    met = set()
    for seed in range(40):
        disk = MemoryDisk(chance=Random(seed))
        disk.make_directory("/d")
        disk.lies = lambda path: True
        replace_file(disk, "/d/x", b"content")
        disk.crash(power=True)
        met.add(read_file(disk, "/d/x") if disk.exists("/d/x") else None)

    assert {None, b"", b"content"} <= met


def test_power_cannot_be_lost_where_no_account_is_kept():
    with pytest.raises(ValueError, match="power_loss=False"):
        MemoryDisk(power_loss=False).crash(power=True)


def test_a_failing_directory_is_an_error_and_its_neighbour_is_not():
    disk = MemoryDisk()
    disk.make_directory("/d")
    disk.make_directory("/dd")
    file = disk.open("/d/x", create=True)
    disk.failing.add("/d")

    for work in (lambda: file.write(0, b"x"), lambda: disk.names("/d"), lambda: file.sync()):
        with pytest.raises(OSError, match="Input/output error"):
            work()
    assert disk.names("/dd") == []
