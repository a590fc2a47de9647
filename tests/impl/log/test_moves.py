"""What is cut from the log while it is copied to another directory is cut from the copy too."""

from __future__ import annotations

import pytest

from impl.log.errors import StorageError
from tests.impl.log.batches import batch, values
from tests.impl.log.broker_of_logs import T0, T1, BrokerOfLogs


def half_copied() -> BrokerOfLogs:
    """Seven records in epochs 0, 1 and 2, some of them in a copy that is under way."""
    broker = BrokerOfLogs("/a", "/b")
    log = broker.manager.create(T0, "/a")
    for number in range(7):
        log.append_as_leader(batch(b"%d" % number), number // 3)
    broker.manager.start_move(T0, "/b")
    while (broker.manager.future(T0) or log).log_end < 5:
        broker.manager.copy_some(T0, 100)
    return broker


def ends(broker: BrokerOfLogs) -> tuple[int, int]:
    log, future = broker.manager.log(T0), broker.manager.future(T0)
    assert log is not None
    assert future is not None
    return log.log_end, future.log_end


def finished(broker: BrokerOfLogs) -> list[bytes | None]:
    while not broker.manager.copy_some(T0, 100):
        continue
    broker.manager.finish_move(T0)
    log = broker.manager.log(T0)
    assert log is not None
    assert log.directory == "/b/t-0"
    return values(log)


def test_a_cut_of_the_log_cuts_the_copy_so_that_they_cannot_diverge():
    broker = half_copied()
    log = broker.manager.log(T0)
    assert log is not None

    log.truncate_to(2)
    broker.manager.truncate_future(T0, 2)
    for number in range(4):
        log.append_as_leader(batch(b"new %d" % number), 3)

    assert ends(broker) == (6, 2)
    assert finished(broker) == [b"0", b"1", b"new 0", b"new 1", b"new 2", b"new 3"]


def test_a_copy_of_before_a_restart_is_cut_to_what_both_have():
    broker = half_copied()
    broker.killed()
    log = broker.manager.log(T0)
    assert log is not None
    log.truncate_to(4)  # within the epoch that the copy ends in
    for number in range(4):
        log.append_as_leader(batch(b"new %d" % number), 3)

    broker.manager.compare_future(T0)

    assert ends(broker) == (8, 4)
    assert finished(broker) == [b"0", b"1", b"2", b"3", b"new 0", b"new 1", b"new 2", b"new 3"]


def test_a_copy_whose_epoch_the_log_does_not_have_begins_anew():
    broker = half_copied()
    broker.killed()
    log = broker.manager.log(T0)
    assert log is not None
    log.truncate_to(2)  # the copy ends in epoch 1, which is gone
    log.append_as_leader(batch(b"new"), 3)

    broker.manager.compare_future(T0)

    assert ends(broker) == (3, 0)
    assert finished(broker) == [b"0", b"1", b"new"]


def test_a_log_that_is_to_come_is_made_where_it_is_wanted_once():
    broker = BrokerOfLogs("/a", "/b")
    broker.manager.create(T1, "/b")

    broker.manager.prefer(T0, "/b")
    log = broker.manager.create(T0)

    assert log.directory == "/b/t-0"
    with pytest.raises(ValueError, match="/c is none of the log directories /a, /b"):
        broker.manager.prefer(T0, "/c")


def test_what_is_not_being_moved_cannot_be_compared():
    broker = BrokerOfLogs("/a")
    broker.manager.create(T0)

    broker.manager.truncate_future(T0, 0)

    with pytest.raises(KeyError, match="t-0 is not being moved"):
        broker.manager.compare_future(T0)


def test_no_copy_is_begun_while_a_directory_is_offline_for_one_may_be_there():
    broker = BrokerOfLogs("/a", "/b", "/c")
    broker.manager.create(T0, "/a")
    broker.manager.fail("/c", "it is gone")

    with pytest.raises(StorageError, match="/c is offline: it is gone"):
        broker.manager.start_move(T0, "/b")

    assert broker.manager.future(T0) is None
    assert broker.manager.start_move(T0, "/a") is None  # where it is already
