"""The simulated world with its logs on disks: the same runs, and every crash is a recovery."""

from __future__ import annotations

import pytest

from impl import simulate
from impl.disk import MemoryDisk
from impl.log.config import LogConfig
from impl.log.loading import load_log
from impl.log.stored_replica_log import StoredReplicaLog
from impl.world import broker as broker_module
from impl.world.broker import PartitionBroker

CONFIG = LogConfig(segment_bytes=300, index_interval_bytes=100, segment_index_bytes=400)


def stored_log(disk: MemoryDisk) -> StoredReplicaLog:
    disk.make_directory("/d/t-0")
    log, _ = load_log(disk, "/d/t-0", CONFIG, lambda: 0, clean=False)
    return StoredReplicaLog(log)


@pytest.mark.parametrize("seed", range(4))
def test_a_run_on_disks_is_the_run_in_memory_and_crashes_lose_nothing(seed, monkeypatch):
    expected = simulate(seed, 400, "everything")
    recovered = []
    crash = PartitionBroker.crash

    def crash_and_recover(broker: PartitionBroker) -> None:
        crash(broker)
        log = broker.log
        assert isinstance(log, StoredReplicaLog)
        disk = log.log.disk
        assert isinstance(disk, MemoryDisk)
        disk.crash(power=False)
        broker.log = stored_log(disk)
        recovered.append(len(broker.log.records))
        assert broker.log.records == log.records
        # A real start also forgets an epoch that begins at the very end; this world keeps it.
        assert broker.log.epochs.entries == [
            entry for entry in log.epochs.entries if entry[1] < log.end
        ]
        broker.log.stored_epochs.replace(tuple(log.epochs.entries))
        broker.replicas = broker.fresh_replicas(0)

    monkeypatch.setattr(broker_module, "ReplicaLog", lambda release: stored_log(MemoryDisk()))
    monkeypatch.setattr(PartitionBroker, "crash", crash_and_recover)
    found = simulate(seed, 400, "everything")

    assert found.events == expected.events
    assert sum(recovered) > 0


def test_a_stored_log_becomes_what_was_saved():
    log = stored_log(MemoryDisk())
    for number in range(5):
        log.append((number, number // 2))
    saved = log.save()

    log.truncate_to(2)
    log.append((9, 7))
    log.epochs.assign(8, 3)
    log.load(saved)

    again = stored_log_again(log)
    assert log.save() == saved == again.save()
    with pytest.raises(ValueError, match="0 or higher, not -1"):
        log.truncate_to(-1)


def stored_log_again(log: StoredReplicaLog) -> StoredReplicaLog:
    disk = log.log.disk
    assert isinstance(disk, MemoryDisk)
    disk.crash(power=False)
    return stored_log(disk)
