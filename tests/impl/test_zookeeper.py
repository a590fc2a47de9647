"""The embedded ZooKeeper behaves as the real one does."""

from __future__ import annotations

import pytest

from impl.zookeeper import (
    BadVersion,
    Check,
    Create,
    Delete,
    NoChildrenForEphemerals,
    NodeExists,
    NoNode,
    NotEmpty,
    RolledBack,
    RuntimeInconsistency,
    SessionExpired,
    SetData,
    ZooKeeper,
)


def test_a_znode_begins_at_version_0_and_every_write_adds_one() -> None:
    zookeeper = ZooKeeper()

    created = zookeeper.create("/a", "x")
    written = zookeeper.set_data("/a", "y", version=0)

    assert (created.version, written.version) == (0, 1)
    assert zookeeper.get("/a").data == "y"
    assert written.czxid == created.czxid


def test_a_conditional_write_with_an_old_version_is_refused_and_changes_nothing() -> None:
    zookeeper = ZooKeeper()
    zookeeper.create("/a", "x")
    zookeeper.set_data("/a", "y")
    before = zookeeper.save()

    with pytest.raises(BadVersion, match="at version 1, not 0"):
        zookeeper.set_data("/a", "z", version=0)

    assert zookeeper.save() == before


def test_refusals_carry_zookeepers_names() -> None:
    zookeeper = ZooKeeper()
    zookeeper.create("/a", "")
    zookeeper.create("/a/b", "")
    session = zookeeper.open_session()
    zookeeper.create("/mine", "", session)

    for error, refused in (
        (NodeExists, lambda: zookeeper.create("/a", "")),
        (NoNode, lambda: zookeeper.create("/missing/child", "")),
        (NoNode, lambda: zookeeper.get("/missing")),
        (NoNode, lambda: zookeeper.delete("/missing")),
        (NotEmpty, lambda: zookeeper.delete("/a")),
        (NoChildrenForEphemerals, lambda: zookeeper.create("/mine/child", "")),
        (SessionExpired, lambda: zookeeper.create("/yours", "", 99)),
    ):
        with pytest.raises(error):
            refused()


def test_a_path_that_is_no_path_is_refused() -> None:
    with pytest.raises(ValueError, match="begins with one /"):
        ZooKeeper().create("a", "")


def test_ephemerals_die_with_their_session_and_with_no_other() -> None:
    zookeeper = ZooKeeper()
    mine, yours = zookeeper.open_session(), zookeeper.open_session()
    zookeeper.create("/mine", "", mine)
    zookeeper.create("/yours", "", yours)

    gone = zookeeper.expire(mine)

    assert gone == ["/mine"]
    assert zookeeper.exists("/yours")
    with pytest.raises(SessionExpired):
        zookeeper.expire(mine)


def test_sessions_are_never_used_twice() -> None:
    zookeeper = ZooKeeper()

    first = zookeeper.open_session()
    zookeeper.expire(first)

    assert zookeeper.open_session() != first


def test_children_are_direct_children_alone() -> None:
    zookeeper = ZooKeeper()
    zookeeper.make_path("/a/b/c")
    zookeeper.make_path("/ab")

    assert zookeeper.children("/") == ["a", "ab"]
    assert zookeeper.children("/a") == ["b"]


def test_a_multi_is_one_transaction() -> None:
    zookeeper = ZooKeeper()
    zookeeper.create("/a", "x")

    results = zookeeper.multi(
        [Check("/a", 0), SetData("/a", "y", 0), Create("/b", ""), Delete("/b")]
    )

    assert results[0] is None
    assert zookeeper.get("/a").data == "y"
    assert not zookeeper.exists("/b")


def test_a_multi_that_fails_changes_nothing_and_says_which_operation_failed() -> None:
    zookeeper = ZooKeeper()
    zookeeper.create("/a", "x")
    before = zookeeper.save()

    results = zookeeper.multi([Create("/b", ""), SetData("/a", "y", 7), Create("/c", "")])

    assert [type(result) for result in results] == [RolledBack, BadVersion, RuntimeInconsistency]
    assert zookeeper.save() == before
