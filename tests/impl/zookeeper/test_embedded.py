"""One client's view of the embedded ZooKeeper: watches, sequences, expiry, lost replies."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from impl.zookeeper import (
    BadArguments,
    BadVersion,
    Check,
    ConnectionFault,
    ConnectionLoss,
    Create,
    Delete,
    EmbeddedSession,
    EventType,
    NoChildrenForEphemerals,
    NodeExists,
    NoNode,
    RolledBack,
    RuntimeInconsistency,
    SessionExpired,
    SetData,
    WatchEvent,
    ZooKeeper,
)
from impl.zookeeper.port import wait

CREATED, DELETED = EventType.CREATED, EventType.DELETED
CHANGED, CHILDREN = EventType.DATA_CHANGED, EventType.CHILDREN_CHANGED


def two_sessions() -> tuple[EmbeddedSession, EmbeddedSession]:
    zookeeper = ZooKeeper()
    return EmbeddedSession(zookeeper), EmbeddedSession(zookeeper)


def test_a_look_at_a_missing_znode_leaves_a_watch_and_a_read_does_not():
    mine, yours = two_sessions()
    with pytest.raises(NoNode):
        wait(mine.get("/read", watch=True))
    with pytest.raises(NoNode):
        wait(mine.children("/listed", watch=True))
    wait(mine.exists("/looked", watch=True))

    for path in ("/read", "/listed", "/looked"):
        wait(yours.create(path))

    assert mine.events() == [WatchEvent(CREATED, "/looked")]


def test_a_child_watch_tells_of_children_that_come_and_go_and_not_of_their_data():
    mine, yours = two_sessions()
    wait(yours.create("/a"))
    wait(yours.create("/a/b"))
    wait(mine.children("/a", watch=True))

    wait(yours.set_data("/a/b", "x"))
    quiet = mine.events()
    wait(yours.delete("/a/b"))

    assert quiet == []
    assert mine.events() == [WatchEvent(CHILDREN, "/a")]


def test_who_watches_the_data_and_the_children_is_notified_of_the_end_once():
    mine, yours = two_sessions()
    wait(yours.create("/a"))
    wait(mine.get("/a", watch=True))
    wait(mine.children("/a", watch=True))

    wait(yours.delete("/a"))

    assert mine.events() == [WatchEvent(DELETED, "/a")]


def test_an_expired_session_is_forgotten_with_its_watches_and_others_hear_of_its_ephemerals():
    mine, yours = two_sessions()
    wait(yours.create("/controller", "2", ephemeral=True))
    wait(mine.get("/controller", watch=True))
    wait(yours.exists("/elsewhere", watch=True))

    mine.zookeeper.expire(yours.session)
    wait(mine.create("/elsewhere"))

    assert mine.events() == [WatchEvent(DELETED, "/controller")]
    assert yours.events() == []
    assert not yours.alive
    with pytest.raises(SessionExpired):
        wait(yours.get("/elsewhere"))


def test_a_multi_fires_its_watches_in_its_order_and_only_if_it_went_through():
    mine, yours = two_sessions()
    wait(yours.create("/a"))
    wait(mine.exists("/b", watch=True))
    wait(mine.get("/a", watch=True))

    wait(yours.multi([SetData("/a", "x"), Create("/b", ""), Check("/a", 9)]))
    refused = mine.events()
    wait(yours.multi([SetData("/a", "x"), Create("/b", "")]))

    assert refused == []
    assert mine.events() == [WatchEvent(CHANGED, "/a"), WatchEvent(CREATED, "/b")]


def test_sequential_znodes_count_creations_and_not_children():
    mine, _ = two_sessions()
    wait(mine.create("/q"))

    first = wait(mine.create("/q/n-", sequential=True)).path
    wait(mine.delete(first))
    wait(mine.create("/q/other"))
    third = wait(mine.create("/q/n-", sequential=True)).path

    assert first == "/q/n-0000000000"
    assert third == "/q/n-0000000002"


def test_a_multi_that_fails_uses_up_no_number():
    mine, _ = two_sessions()
    wait(mine.create("/q"))

    refused = wait(mine.multi([Create("/q/n-", "", sequential=True), Delete("/missing")]))
    done = wait(mine.multi([Create("/q/n-", "", sequential=True)] * 2))

    assert [type(outcome) for outcome in refused] == [RolledBack, NoNode]
    assert done == ["/q/n-0000000000", "/q/n-0000000001"]


def test_later_operations_of_a_multi_see_the_earlier_ones():
    mine, _ = two_sessions()

    outcomes = wait(
        mine.multi([Create("/a", ""), Create("/a/b", ""), Delete("/a/b"), SetData("/a", "x", 0)])
    )

    assert outcomes == ["/a", "/a/b", None, 1]
    assert wait(mine.get("/a")).creates == 1


def test_a_transaction_has_one_zxid():
    mine, _ = two_sessions()

    wait(mine.multi([Create("/a", ""), Create("/b", ""), SetData("/b", "x")]))

    assert wait(mine.get("/a")).czxid == wait(mine.get("/b")).czxid == wait(mine.get("/b")).mzxid


def test_only_writes_of_the_data_move_the_mzxid():
    mine, _ = two_sessions()
    created = wait(mine.create("/a")).znode

    wait(mine.create("/a/b"))
    beside = wait(mine.get("/a"))
    written = wait(mine.set_data("/a", "x"))

    assert beside.mzxid == created.mzxid
    assert written.mzxid > created.mzxid
    assert written.czxid == created.czxid


def test_a_session_creates_for_itself_alone():
    mine, yours = two_sessions()

    with pytest.raises(ValueError, match=f"cannot create for session {yours.session}"):
        wait(mine.multi([Create("/a", "", owner=yours.session)]))


def test_a_request_that_is_lost_does_nothing_and_a_reply_that_is_lost_undoes_nothing():
    mine, yours = two_sessions()
    mine.lose(ConnectionFault.REQUEST, ConnectionFault.REPLY)

    with pytest.raises(ConnectionLoss):
        wait(mine.create("/never"))
    with pytest.raises(ConnectionLoss):
        wait(mine.create("/done"))

    assert wait(yours.children("/")) == ["done"]
    with pytest.raises(NodeExists):
        wait(mine.create("/done"))


def test_a_refusal_may_be_lost_too():
    mine, _ = two_sessions()
    mine.lose(ConnectionFault.REPLY)

    with pytest.raises(ConnectionLoss):
        wait(mine.delete("/missing"))


def test_a_session_that_is_not_heard_of_is_overdue_after_its_timeout():
    zookeeper = ZooKeeper()
    session = EmbeddedSession(zookeeper, timeout_ms=6000, now_ms=1000).session
    EmbeddedSession(zookeeper)

    in_time = zookeeper.overdue(7000)
    late = zookeeper.overdue(7001)
    zookeeper.touch_session(session, 7001)

    assert (in_time, late) == ([], [session])
    assert zookeeper.overdue(13001) == []
    assert zookeeper.overdue(13002) == [session]


def test_a_closed_session_leaves_nothing_behind():
    mine, yours = two_sessions()
    wait(mine.create("/a", ephemeral=True))

    mine.close()
    mine.close()

    assert wait(yours.children("/")) == []
    assert mine.zookeeper.overdue(10**9) == []


def test_a_store_comes_back_from_what_was_saved_with_watches_leases_and_pending_events():
    zookeeper = ZooKeeper()
    mine, yours = EmbeddedSession(zookeeper, 6000, 5), EmbeddedSession(zookeeper)
    wait(yours.create("/a"))
    wait(mine.get("/a", watch=True))
    wait(mine.children("/", watch=True))
    wait(yours.exists("/b", watch=True))
    wait(yours.create("/c"))

    saved = zookeeper.save()
    wait(yours.create("/b"))
    mine.zookeeper.expire(mine.session)
    zookeeper.load(saved)

    assert zookeeper.save() == saved
    assert zookeeper.children("/") == ["a", "c"]
    assert zookeeper.overdue(6006) == [mine.session]
    assert mine.events() == [WatchEvent(CHILDREN, "/")]
    wait(yours.set_data("/a", "x"))
    wait(yours.create("/b"))
    assert mine.events() == [WatchEvent(CHANGED, "/a")]
    assert yours.events() == [WatchEvent(CREATED, "/b")]


@pytest.mark.parametrize(
    ("error", "ask"),
    [
        (BadArguments, lambda mine: mine.delete("/")),
        (BadVersion, lambda mine: mine.delete("/a", 1)),
        (NoNode, lambda mine: mine.create("/missing/n-", sequential=True)),
        (NoChildrenForEphemerals, lambda mine: mine.create("/mine/n-", sequential=True)),
        (NodeExists, lambda mine: mine.create("/")),
    ],
)
def test_refusals_are_zookeepers(
    error: type[Exception], ask: Callable[[EmbeddedSession], Coroutine[Any, Any, object]]
):
    mine, _ = two_sessions()
    wait(mine.create("/a"))
    wait(mine.create("/mine", ephemeral=True))
    before = mine.zookeeper.save()

    with pytest.raises(error):
        wait(ask(mine))

    assert mine.zookeeper.save() == before


@pytest.mark.parametrize("path", ["a", "", "/a/", "//a", "/a//b", "/./a", "/a/..", "/a\0b"])
def test_what_is_no_path_is_refused(path: str):
    mine, _ = two_sessions()
    wait(mine.create("/a"))

    with pytest.raises(ValueError, match="a znode path"):
        wait(mine.create(path))


def test_multi_results_of_a_refused_multi_are_errors_throughout():
    mine, _ = two_sessions()

    outcomes = wait(mine.multi([Create("/a", ""), Check("/a", 3), Create("/b", "")]))

    assert [type(outcome) for outcome in outcomes] == [RolledBack, BadVersion, RuntimeInconsistency]
    assert wait(mine.children("/")) == []
