"""Several log directories: where logs go, what fails alone, and moves from one to the other."""

from __future__ import annotations

import pytest

from impl.log.directory_names import parse_name
from impl.log.errors import StorageError
from tests.impl.log.batches import batch, values
from tests.impl.log.broker_of_logs import T0, T1, BrokerOfLogs

# Several directories


def test_a_new_log_goes_where_fewest_are():
    broker = BrokerOfLogs("/a", "/b")

    for number in range(4):
        broker.manager.create(("t", number))

    assert [len(directory.logs) for directory in broker.manager.directories] == [2, 2]


def test_a_failing_directory_is_offline_with_its_partitions_and_the_others_go_on():
    broker = BrokerOfLogs("/a", "/b")
    broker.manager.create(T0, "/a").append_as_leader(batch(b"v"), 0)
    broker.manager.create(T1, "/b")
    broker.disk.failing.add("/a")

    with pytest.raises(StorageError, match=r"/a: .*Input/output error"):
        with broker.manager.using(T0) as log:
            log.append_as_leader(batch(b"v"), 0)
    with broker.manager.using(T1) as log:
        log.append_as_leader(batch(b"v"), 0)
    broker.manager.checkpoint()

    assert broker.manager.partitions == [T1]
    assert set(broker.manager.offline) == {T0}
    assert [path for path, _ in broker.failures] == ["/a"]
    with pytest.raises(StorageError):
        broker.manager.create(("t", 2), "/a")
    assert broker.manager.home(("t", 2)) is None


def test_a_start_without_any_usable_directory_is_refused():
    broker = BrokerOfLogs("/a")
    broker.disk.crash(power=False)
    broker.disk.failing.add("/a")

    with pytest.raises(OSError, match=r"no log directory is usable: /a: .*Input/output error"):
        broker.starts()


def test_a_replica_moves_to_another_directory_through_a_future_log():
    broker = BrokerOfLogs("/a", "/b")
    log = broker.manager.create(T0, "/a")
    for number in range(7):
        log.append_as_leader(batch(b"%d" % number), number // 3)
    log.high_watermark = 6

    broker.manager.start_move(T0, "/b")
    rounds = 0
    while not broker.manager.copy_some(T0, 150):
        rounds += 1
    before = values(log)
    broker.manager.finish_move(T0)

    moved = broker.manager.log(T0)
    assert moved is not None
    assert rounds > 1
    assert moved.directory == "/b/t-0"
    assert values(moved) == before
    assert (moved.epochs.entries, moved.high_watermark) == ([(0, 0), (1, 3), (2, 6)], 6)
    assert [parse_name("/a", name).kind for name in broker.disk.names("/a") if "t-0" in name] == [
        "delete"
    ]
    again = broker.restarted().log(T0)
    assert again is not None
    assert values(again) == before


def test_a_move_survives_a_crash_half_way_and_can_be_given_up():
    broker = BrokerOfLogs("/a", "/b")
    log = broker.manager.create(T0, "/a")
    for number in range(7):
        log.append_as_leader(batch(b"%d" % number), 0)
    broker.manager.start_move(T0, "/b")
    broker.manager.copy_some(T0, 100)
    copied = broker.manager.future(T0)
    assert copied is not None
    end = copied.log_end

    manager = broker.killed()
    future = manager.future(T0)
    assert future is not None
    assert (future.log_end, end < 7) == (end, True)
    with pytest.raises(ValueError, match=f"the copy ends at {end}, the log at 7"):
        manager.finish_move(T0)
    manager.abandon_move(T0)

    assert manager.future(T0) is None
    current = manager.log(T0)
    assert current is not None
    assert len(values(current)) == 7


def test_a_partition_that_two_directories_claim_is_offline_until_one_is_removed():
    broker = BrokerOfLogs("/a", "/b")
    broker.manager.create(T0, "/a")
    broker.manager.stop()
    broker.disk.make_directory("/b/t-0")

    manager = broker.starts()

    assert manager.partitions == []
    assert "t-0 is in /a too; remove one of them" in str(manager.offline[T0])
