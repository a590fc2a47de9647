"""The embedded ZooKeeper behaves as the real one does."""

from __future__ import annotations

import json

import pytest

from impl.zookeeper import (
    BadVersion,
    Check,
    ControllerMoved,
    Create,
    Delete,
    KafkaZkClient,
    NoChildrenForEphemerals,
    NodeExists,
    NoNode,
    NotEmpty,
    PartitionState,
    RolledBack,
    RuntimeInconsistency,
    SessionExpired,
    SetData,
    ZooKeeper,
)


def a_cluster() -> KafkaZkClient:
    client = KafkaZkClient(ZooKeeper())
    client.create_top_level((1, 2, 3))
    return client


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


def test_payloads_are_kafkas() -> None:
    client = a_cluster()
    session = client.zookeeper.open_session()
    client.now_ms = 5
    epoch = client.register_broker(1, session)
    client.register_controller(1, session, 0, 0)

    texts = {path: node.data for path, node in client.zookeeper.nodes.items()}

    assert json.loads(texts["/controller"]) == {"version": 1, "brokerid": 1, "timestamp": "5"}
    assert texts["/controller_epoch"] == "1"
    assert json.loads(texts["/brokers/topics/t/partitions/0/state"]) == {
        "version": 1,
        "leader": -1,
        "leader_epoch": 0,
        "isr": [1, 2, 3],
        "controller_epoch": 0,
    }
    assert json.loads(texts["/brokers/topics/t"]) == {"version": 1, "partitions": {"0": [1, 2, 3]}}
    assert json.loads(texts["/brokers/ids/1"])["version"] == 4
    assert epoch == client.zookeeper.get("/brokers/ids/1").czxid


def test_the_first_controller_has_epoch_1_at_version_1() -> None:
    client = a_cluster()
    session = client.zookeeper.open_session()

    assert client.register_controller(2, session, *client.controller_epoch())
    assert client.controller_epoch() == (1, 1)


def test_a_registration_loses_to_a_controller_and_to_a_newer_epoch() -> None:
    client = a_cluster()
    first, second = client.zookeeper.open_session(), client.zookeeper.open_session()
    client.register_controller(1, first, 0, 0)

    while_somebody_is_there = client.register_controller(2, second, 1, 1)
    client.zookeeper.expire(first)
    with_an_old_read = client.register_controller(2, second, 0, 0)

    assert (while_somebody_is_there, with_an_old_read) == (False, False)
    assert client.controller() is None
    assert client.controller_epoch() == (1, 1)


def test_a_registration_from_an_expired_session_is_an_error_not_a_defeat() -> None:
    client = a_cluster()
    session = client.zookeeper.open_session()
    client.zookeeper.expire(session)

    with pytest.raises(SessionExpired):
        client.register_controller(1, session, 0, 0)


def test_a_deposed_controllers_write_is_refused_even_with_the_right_state_version() -> None:
    client = a_cluster()
    client.register_controller(1, client.zookeeper.open_session(), 0, 0)
    state = PartitionState(1, 1, (1, 2, 3), 1)

    with pytest.raises(ControllerMoved):
        client.write_state_as_controller(state, version=0, epoch_version=0)
    with pytest.raises(BadVersion):
        client.write_state_as_controller(state, version=4, epoch_version=1)

    assert client.write_state_as_controller(state, version=0, epoch_version=1) == 1
    assert client.partition_state() == (state, 1)


def test_a_state_that_is_no_state_is_named() -> None:
    client = a_cluster()
    client.zookeeper.set_data("/brokers/topics/t/partitions/0/state", '{"leader": 1}')

    with pytest.raises(ValueError, match="not a partition state"):
        client.partition_state()
