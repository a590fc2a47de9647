"""The session over kazoo: what only a real connection can do, and what it must not do."""

from __future__ import annotations

import importlib
import shutil
import socket
import threading
import time
from pathlib import Path

import pytest

from impl.server.cluster import Cluster
from impl.server.embedded_zookeeper import EmbeddedClient, EmbeddedZooKeeperServer
from impl.zookeeper import ConnectionLoss, EventType, SessionExpired, WatchEvent
from impl.zookeeper.port import wait
from impl.zookeeper.real import RealSession
from impl.zookeeper.server import NoServer, find_jars, find_java, free_ports, serves
from impl.zookeeper.znode import Check, Create, SetData
from tests.impl.zookeeper.real_server import expire, real_zookeeper


class Recovering(Cluster):
    """Its server finds a transaction log without a snapshot in its data directory."""

    def _zookeeper_command(self) -> list[str]:
        java, *more = super()._zookeeper_command()
        return [java, "-Dzookeeper.snapshot.trust.empty=true", *more]


@pytest.mark.deep
def test_a_real_server_recovers_from_the_transactions_of_the_embedded_one(
    server: Cluster, tmp_path: Path
):
    ours = EmbeddedZooKeeperServer(("127.0.0.1", 0), tmp_path)
    thread = threading.Thread(target=ours.serve)
    thread.start()
    client = EmbeddedClient(ours.listener.address, 60_000)
    wait(client.create("/kept", "x"))
    wait(client.create("/mine", "", ephemeral=True))
    wait(client.multi([SetData("/kept", "y"), Create("/kept/inside", "z"), Check("/mine", 0)]))
    client.close()
    ours.stop()
    thread.join(5)

    theirs = tmp_path / "theirs"
    shutil.copytree(tmp_path / "version-2", theirs / "zookeeper" / "data" / "version-2")
    with real_zookeeper(theirs, Recovering) as recovered:
        session = RealSession(recovered.state.connect)
        kept, inside = wait(session.get("/kept")), wait(session.get("/kept/inside"))
        mine = wait(session.exists("/mine"))
        session.close()

    assert (kept.data, kept.version, kept.czxid, kept.mzxid) == ("y", 1, 1, 3)
    assert (inside.data, inside.czxid) == ("z", 3)
    assert mine is None


def test_an_expired_session_says_so_and_does_nothing_under_a_new_one(server: Cluster):
    mine, yours = RealSession(server.state.connect), RealSession(server.state.connect)
    wait(mine.create("/mine", ephemeral=True))
    wait(yours.exists("/mine", watch=True))

    expire(server, mine)

    assert yours.events() == [WatchEvent(EventType.DELETED, "/mine")]
    with pytest.raises(SessionExpired):
        wait(mine.create("/again", ephemeral=True))
    assert wait(yours.exists("/again")) is None
    mine.close()
    yours.close()


def test_watches_survive_a_broken_connection_and_tell_what_was_missed(server: Cluster):
    mine, yours = RealSession(server.state.connect), RealSession(server.state.connect)
    for path in ("/kept", "/changed", "/parent", "/gone"):
        wait(yours.create(path))
    for path in ("/kept", "/changed", "/gone", "/coming"):
        wait(mine.exists(path, watch=True))
    wait(mine.children("/parent", watch=True))

    mine._client._connection._socket.shutdown(socket.SHUT_RDWR)
    wait(yours.set_data("/changed", "x"))
    wait(yours.create("/parent/child"))
    wait(yours.create("/coming"))
    wait(yours.delete("/gone"))
    missed = until_answered(mine)
    wait(yours.set_data("/kept", "x"))

    assert sorted(missed, key=str) == [
        WatchEvent(EventType.CHILDREN_CHANGED, "/parent"),
        WatchEvent(EventType.CREATED, "/coming"),
        WatchEvent(EventType.DATA_CHANGED, "/changed"),
        WatchEvent(EventType.DELETED, "/gone"),
    ]
    assert mine.events() == [WatchEvent(EventType.DATA_CHANGED, "/kept")]
    assert mine.alive
    mine.close()
    yours.close()


def until_answered(session: RealSession) -> list[WatchEvent]:
    """The events that have come once the connection is there again."""
    events: list[WatchEvent] = []
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and len(events) < 4:
        try:
            events += session.events()
        except ConnectionLoss:
            time.sleep(0.05)
    return events


def test_a_closed_session_is_over_at_once_and_may_be_closed_again(server: Cluster):
    mine, yours = RealSession(server.state.connect), RealSession(server.state.connect)
    wait(mine.create("/short", ephemeral=True))

    mine.close()
    mine.close()

    assert wait(yours.exists("/short")) is None
    assert mine.events() == []
    with pytest.raises(SessionExpired):
        wait(mine.exists("/short"))
    yours.close()


def test_a_server_of_3_4_knows_no_create_that_answers_with_a_stat(
    server: Cluster, monkeypatch: pytest.MonkeyPatch
):
    mine = RealSession(server.state.connect)
    create, asked = mine._client.create_async, []

    def of_3_4(path: str, data: bytes, include_data: bool, **flags: bool) -> object:
        asked.append(include_data)
        if not include_data:
            return create(path, data, **flags)
        refused = mine._client.handler.async_result()
        refused.set_exception(mine._errors.UnimplementedError())
        return refused

    monkeypatch.setattr(mine._client, "create_async", of_3_4)
    made = wait(mine.create("/of-3.4", "x", ephemeral=True))
    next_one = wait(mine.create("/of-3.4-", sequential=True))

    assert made.path == "/of-3.4"
    assert made.znode == wait(mine.get("/of-3.4"))
    assert (made.znode.owner, made.znode.czxid > 0) == (mine.session, True)
    assert next_one.path.startswith("/of-3.4-0")
    assert asked == [True, False, False]
    mine.close()


def test_where_nobody_listens_the_session_says_so(server: Cluster):
    with pytest.raises(ConnectionLoss, match="no ZooKeeper answers at"):
        RealSession(f"127.0.0.1:{free_ports(1)[0]}", answer_ms=300)


def test_a_server_is_ours_only_while_it_is_the_one_we_started(server: Cluster, tmp_path: Path):
    port = int(server.state.connect.rpartition(":")[2])

    assert serves(server.folder / "zookeeper", port)
    assert not serves(tmp_path / "zookeeper", port)


def test_missing_jars_and_a_missing_java_are_named(tmp_path, monkeypatch):
    (tmp_path / "netty-all-4.jar").touch()

    with pytest.raises(NoServer, match=r"lacks zookeeper-\[0-9\]\*\.jar"):
        find_jars(tmp_path)

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(NoServer, match="set JAVA_HOME"):
        find_java()
