"""A broker's log directories: lock, identity, checkpoints, deletion, moves, failures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from impl.disk import Locked, MemoryDisk, RealDisk
from impl.disk.atomic import read_file
from impl.log.directory_names import delete_name, directory_name, future_name, parse_name
from impl.log.errors import StorageError
from impl.log.log_directory import LogSettings
from impl.log.log_manager import LogManager
from impl.log.log_tasks import LogTasks
from impl.log.meta_properties import InconsistentBrokerId, InconsistentClusterId
from tests.impl.log.batches import batch, values
from tests.impl.log.broker_of_logs import DELAY_MS, ROOT, T0, T1, BrokerOfLogs


def test_a_clean_stop_leaves_a_marker_and_a_start_takes_it_away():
    broker = BrokerOfLogs()
    broker.manager.create(T0).append_as_leader(batch(b"v"), 0)

    broker.manager.stop()
    marked = ".kafka_cleanshutdown" in broker.disk.names("/a")
    broker.starts()
    still = ".kafka_cleanshutdown" in broker.disk.names("/a")
    clean = [reported.clean for reported in broker.manager.directories[0].recoveries]
    broker.killed()

    assert (marked, still, clean) == (True, False, [True])
    assert [reported.clean for reported in broker.manager.directories[0].recoveries] == [False]


def test_a_clean_stop_needs_no_recovery_even_if_power_fails_right_after_it():
    for seed in range(30):
        broker = BrokerOfLogs()
        broker.disk.chance.seed(seed)
        log = broker.manager.create(T0)
        for _ in range(5):
            log.append_as_leader(batch(b"v"), 0)
            log.flush()

        broker.manager.stop()
        broker.disk.crash(power=True)
        again = broker.starts().log(T0)

        assert again is not None
        assert values(again) == [b"v"] * 5
        [reported] = broker.manager.directories[0].recoveries
        assert (reported.clean, reported.scanned_bytes, reported.notes) == (True, 0, [])


def test_checkpoints_are_in_kafkas_formats():
    broker = BrokerOfLogs()
    for partition, records in ((T0, 5), (("a-b.c", 3), 1)):
        log = broker.manager.create(partition)
        for _ in range(records):
            log.append_as_leader(batch(b"v"), 0)
        log.high_watermark = log.log_end
    log = broker.manager.create(T0)
    log.flush()
    log.advance_log_start(1)

    broker.manager.checkpoint()

    found = {
        name: read_file(broker.disk, f"/a/{name}-offset-checkpoint").decode()
        for name in ("recovery-point", "replication", "log-start")
    }
    assert found == {
        "recovery-point": "0\n2\na-b.c 3 0\nt 0 5\n",
        "replication": "0\n2\na-b.c 3 1\nt 0 5\n",
        "log-start": "0\n1\nt 0 1\n",
    }


def test_high_watermark_and_log_start_come_back_within_the_log():
    broker = BrokerOfLogs()
    log = broker.manager.create(T0)
    for _ in range(5):
        log.append_as_leader(batch(b"v"), 0)
    log.high_watermark = 4
    log.advance_log_start(1)
    broker.manager.checkpoint_high_watermarks()
    log.high_watermark = 5

    again = broker.killed().log(T0)

    assert again is not None
    assert (again.log_start, again.high_watermark, again.log_end) == (1, 4, 5)


def test_two_brokers_in_one_process_cannot_share_a_directory():
    broker = BrokerOfLogs()

    with pytest.raises(Locked, match=r"/a/\.lock: another broker uses this directory"):
        broker.starts()


def test_two_processes_cannot_share_a_directory_and_a_killed_one_lets_go(tmp_path):
    program = (
        "import sys, time; from impl.disk import RealDisk;"
        "from impl.log.log_directory import LogSettings;"
        "from impl.log.log_manager import LogManager;"
        f"LogManager(RealDisk(), ['{tmp_path}'], LogSettings(lambda: 0)).start(1);"
        "print('started', flush=True); time.sleep(60)"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "started\n"

    mine = LogManager(RealDisk(), [str(tmp_path)], LogSettings(lambda: 0))
    with pytest.raises(Locked):
        mine.start(1)
    other.kill()
    other.wait()
    other.stdout.close()

    assert mine.start(1) == 1
    mine.stop()


def test_directories_remember_whose_they_are():
    broker = BrokerOfLogs("/a", "/b")

    assert read_file(broker.disk, "/b/meta.properties") == b"#\nversion=0\nbroker.id=1\n"
    broker.manager.stop()
    with pytest.raises(InconsistentBrokerId, match=r"configured as 2; /a/meta\.properties says 1"):
        broker.starts(broker_id=2)
    assert broker.starts(broker_id=None).start is not None


def test_a_refused_start_lets_the_directories_go():
    broker = BrokerOfLogs()
    broker.manager.stop()

    with pytest.raises(InconsistentBrokerId):
        broker.starts(broker_id=2)

    broker.starts(broker_id=1)


def test_directories_of_two_brokers_or_of_another_cluster_are_refused():
    broker = BrokerOfLogs("/a")
    broker.manager.stop()
    other = BrokerOfLogs("/b")
    other.disk = broker.disk
    other.starts(broker_id=2, cluster_id="first").stop()

    broker.directories = ("/a", "/b")
    with pytest.raises(InconsistentBrokerId, match="several brokers: 1 in /a, 2 in /b"):
        broker.starts(broker_id=1)
    broker.directories = ("/b",)
    with pytest.raises(InconsistentClusterId, match=r"the cluster is second; /b/.* says first"):
        broker.starts(broker_id=2, cluster_id="second")


# Deletion


def test_a_deleted_log_is_renamed_at_once_and_removed_after_the_delay():
    broker = BrokerOfLogs()
    broker.manager.create(T0).append_as_leader(batch(b"v"), 0)
    doomed = delete_name(T0, f"{0:032x}")

    broker.manager.delete(T0)
    listed = broker.disk.names("/a")
    too_soon = broker.manager.remove_due()
    broker.clock.now_ms += DELAY_MS
    removed = broker.manager.remove_due()

    assert broker.manager.log(T0) is None
    assert doomed in listed
    assert directory_name(T0) not in listed
    assert (too_soon, removed) == ([], [T0])
    assert doomed not in broker.disk.names("/a")


def test_a_topic_made_again_has_nothing_of_its_predecessor():
    broker = BrokerOfLogs()
    log = broker.manager.create(T0)
    for _ in range(5):
        log.append_as_leader(batch(b"old"), 9)
    log.high_watermark = 5
    log.advance_log_start(4)
    broker.manager.checkpoint()

    broker.manager.delete(T0)
    broker.manager.create(T0).append_as_leader(batch(b"new"), 0)
    again = broker.killed().log(T0)

    assert again is not None
    assert values(again) == [b"new"]
    assert (again.log_start, again.high_watermark) == (0, 0)
    assert again.epochs.entries in ([], [(0, 0)])


def test_a_removal_that_fails_is_tried_after_a_delay_up_to_0_11(monkeypatch):
    broker = BrokerOfLogs(removals_fail_disks=False)
    for partition in (T0, T1):
        broker.manager.create(partition)
        broker.manager.delete(partition)
    broker.clock.now_ms += DELAY_MS
    remove = MemoryDisk.remove

    def stubborn(disk, path):
        if "t-0" in path and path.endswith(".log"):
            raise OSError(16, "Device or resource busy", path)
        remove(disk, path)

    monkeypatch.setattr(MemoryDisk, "remove", stubborn)
    first = broker.manager.remove_due()
    queue = [doomed.partition for doomed in broker.manager.directories[0].doomed]
    monkeypatch.undo()

    assert (first, queue) == ([T1], [T0])
    assert "tried again later" in broker.manager.directories[0].notes[0]
    assert broker.manager.remove_due() == []
    broker.clock.now_ms += DELAY_MS
    assert broker.manager.remove_due() == [T0]


def test_up_to_1_0_a_sweep_removes_whatever_was_deleted_by_then():
    broker = BrokerOfLogs(first_sweep_ms=30_000)
    removed = []
    for partition, waits in ((T0, 29_000), (T1, 1_000), (T0, DELAY_MS)):
        broker.manager.create(partition)
        broker.manager.delete(partition)
        removed.append(broker.manager.remove_due())
        broker.clock.now_ms += waits
        removed.append(broker.manager.remove_due())

    assert removed == [[], [], [], [T0, T1], [], [T0]]


def test_up_to_0_11_what_cannot_be_removed_is_tried_again_by_the_next_sweep(monkeypatch):
    broker = BrokerOfLogs(removals_fail_disks=False, first_sweep_ms=30_000)
    broker.manager.create(T0)
    broker.manager.delete(T0)
    broker.clock.now_ms += 30_000
    with monkeypatch.context() as busy:
        busy.setattr(MemoryDisk, "remove", lambda disk, path: Path("/nowhere/at/all").read_bytes())
        first = broker.manager.remove_due()
    broker.clock.now_ms += DELAY_MS - 1
    early = broker.manager.remove_due()
    broker.clock.now_ms += 1

    assert (first, early, broker.manager.remove_due()) == ([], [], [T0])


@pytest.mark.parametrize("what", ["a deleted log", "a dropped segment"])
def test_a_removal_that_fails_takes_its_directory_offline_and_no_other(monkeypatch, what: str):
    broker = BrokerOfLogs("/a", "/b")
    for partition in (T0, T1):
        broker.manager.create(partition)
    home = broker.manager.home(T0)
    assert home is not None
    if what == "a deleted log":
        broker.manager.delete(T0)
    else:
        log = broker.manager.log(T0)
        assert log is not None
        log.truncate_fully_and_start_at(5)
    broker.clock.now_ms += DELAY_MS
    remove = MemoryDisk.remove

    def stubborn(disk, path):
        if "t-0" in path and ".log" in path:
            raise OSError(16, "Device or resource busy", path)
        remove(disk, path)

    monkeypatch.setattr(MemoryDisk, "remove", stubborn)
    removed = broker.manager.remove_due()

    assert removed == []
    assert [path for path, _ in broker.failures] == [home.path]
    assert broker.failures[0][1].startswith("Error while deleting ")
    assert [one.failure != "" for one in broker.manager.directories] == [
        one is home for one in broker.manager.directories
    ]
    assert broker.manager.log(T1) is not None


def test_what_was_to_be_removed_is_still_to_be_removed_after_a_restart():
    broker = BrokerOfLogs()
    broker.manager.create(T0)
    broker.manager.delete(T0)

    broker.killed()
    kept = [doomed.partition for doomed in broker.manager.directories[0].doomed]
    broker.clock.now_ms += DELAY_MS

    assert kept == [T0]
    assert broker.manager.remove_due() == [T0]


def test_directory_names_say_what_they_are_for():
    longest = "x" * 249

    assert directory_name(("a-b", 3)) == "a-b-3"
    assert parse_name("/d", "a-b-3") == (("a-b", 3), "")
    assert parse_name("/d", delete_name(("a.b", 3), "0" * 32)) == (("a.b", 3), "delete")
    assert parse_name("/d", future_name(("a.b", 3), "0" * 32)) == (("a.b", 3), "future")
    assert len(delete_name((longest, 12), "0" * 32)) == 255
    for name in ("a", "-3", "a-b", "a-3.x-gone"):
        with pytest.raises(StorageError, match=f"/d/{name}: a log directory holds"):
            parse_name("/d", name)


def test_rolled_segments_are_flushed_up_to_the_active_one():
    broker = BrokerOfLogs()
    log = broker.manager.create(T0)
    for _ in range(5):
        log.append_as_leader(batch(b"v"), 0)

    flushed = [broker.manager.flush_rolled(), broker.manager.flush_rolled()]

    assert flushed == [1, 0]
    assert log.recovery_point == log.active.base_offset == 4


def test_tasks_run_at_kafkas_intervals():
    broker = BrokerOfLogs()
    tasks = LogTasks(broker.manager)
    start, ran = broker.clock.now_ms, {}

    for seconds in (0, 4, 5, 9, 10, 29, 30, 60, 89, 90, 329, 330):
        broker.clock.now_ms = start + 1_000 * seconds
        ran[seconds] = [name for name in tasks.run_due() if name not in ("flush", "removal")]

    assert [at for at, names in ran.items() if "high watermarks" in names] == [
        5, 10, 29, 60, 89, 329,
    ]  # fmt: skip
    assert [at for at, names in ran.items() if "checkpoints" in names] == [30, 90, 329]
    assert [at for at, names in ran.items() if "retention" in names] == [30, 330]


def test_retention_runs_over_all_logs():
    broker = BrokerOfLogs()
    for partition in (T0, T1):
        log = broker.manager.create(partition)
        for _ in range(6):
            log.append_as_leader(batch(b"v", at=0), 0)
        log.high_watermark = 6
    broker.clock.now_ms = 30 * 24 * 3_600_000

    assert broker.manager.apply_retention() == 6
    assert [len(log.segments) for log in broker.manager.directories[0].logs.values()] == [1, 1]
