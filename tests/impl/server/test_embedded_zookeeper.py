from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.ingest.transaction_log import TransactionLogReader
from impl.server.embedded_zookeeper import EmbeddedClient, EmbeddedZooKeeperServer
from impl.zookeeper.errors import (
    BadVersion,
    ConnectionLoss,
    NodeExists,
    NoNode,
    SessionExpired,
    ZooKeeperError,
)
from impl.zookeeper.port import Port, wait
from impl.zookeeper.session import EmbeddedSession
from impl.zookeeper.store import ZooKeeper
from impl.zookeeper.znode import Check, Create, Delete, EventType, SetData, WatchEvent
from tests.waiting import PATIENCE_S


class RunningStore:
    def __init__(self, folder: Path, port: int = 0) -> None:
        self.server = EmbeddedZooKeeperServer(("127.0.0.1", port), folder)
        self.thread = threading.Thread(target=self.server.serve)
        self.thread.start()
        self.address = self.server.listener.address

    def stop(self) -> None:
        self.server.stop()
        self.thread.join(PATIENCE_S)
        assert not self.thread.is_alive()


def test_a_server_that_starts_again_goes_on_with_its_transactions_and_ends_the_sessions_before(
    tmp_path: Path,
) -> None:
    first = RunningStore(tmp_path)
    client = EmbeddedClient(first.address, 60_000)
    wait(client.create("/kept", "x"))
    wait(client.create("/mine", "", ephemeral=True))
    wait(client.multi([SetData("/kept", "y"), Create("/other", "z"), Check("/mine", 0)]))
    wait(client.multi([Delete("/mine"), Check("/kept", 7)]))  # which fails
    first.stop()  # and the client never closed its session
    second = RunningStore(tmp_path)
    again = EmbeddedClient(second.address, 60_000)
    wait(again.delete("/other"))
    again.close()
    second.stop()
    logs = [TransactionLogReader(str(path)) for path in sorted((tmp_path / "version-2").iterdir())]
    read = [each for log in logs for each in log]

    assert [log.path.rpartition(".")[2] for log in logs] == ["1", "4"]
    assert [one.zxid for one in read] == [1, 2, 3, 4, 5, 6]
    assert [[(w.kind, w.path, w.data, w.version) for w in one.writes] for one in read] == [
        [("Create", "/kept", "x", 0)], [("Create", "/mine", "", 0)],
        [("SetData", "/kept", "y", 1), ("Create", "/other", "z", 0), ("Check", "/mine", None, -1)],
        [], [("Delete", "/other", None, -1)], [],
    ]  # fmt: skip
    assert [(one.session, one.by_client) for one in read if one.closes] == [
        (client.session, False), (again.session, True)
    ]  # fmt: skip


def test_notifications_whose_answer_was_lost_are_told_again(running: RunningStore) -> None:
    client = EmbeddedClient(running.address, 60_000)
    wait(client.create("/a"))
    heard = [client.events()]
    for _ in range(2):
        wait(client.children("/a", watch=True))
        wait(client.create("/a/n_", "", sequential=True))
        # What waits in a socket while the server is silent is answered to nobody, when it goes on.
        running.server.answer(b'{"op":"events","session":%d,"args":[0]}' % client.session, "")
        heard += [client.events(), client.events()]

    changed = [WatchEvent(EventType.CHILDREN_CHANGED, "/a")]
    assert heard == [[], changed, [], changed, []]


@pytest.fixture
def running(tmp_path: Path) -> Iterator[RunningStore]:
    found = RunningStore(tmp_path)
    yield found
    found.stop()


def asked(port: Port) -> list[object]:
    """One history, with whatever each operation answers."""
    me = port.session
    steps = [
        lambda: wait(port.create("/a", "one")).path,
        lambda: wait(port.create("/a", "two")),
        lambda: wait(port.create("/a/b", "", ephemeral=True)).znode.version,
        lambda: wait(port.create("/a/n_", "", sequential=True)).path,
        lambda: wait(port.children("/a", watch=True)),
        lambda: wait(port.get("/a", watch=True)).data,
        lambda: wait(port.set_data("/a", "three", 0)).version,
        lambda: wait(port.set_data("/a", "four", 0)),
        lambda: wait(port.exists("/none", watch=True)),
        lambda: wait(port.multi([Check("/a", 1), Create("/none", "x", me), SetData("/a", "z", 1)])),
        lambda: wait(port.multi([Delete("/a/b"), Check("/a", 7), Delete("/none")])),
        lambda: wait(port.delete("/a/b")),
        lambda: wait(port.get("/a/b")),
        lambda: [tuple(event) for event in port.events()],
        lambda: port.events(),
    ]
    answers: list[object] = []
    for step in steps:
        try:
            answer: object = step()
        except ZooKeeperError as error:
            answer = (type(error), str(error))
        if isinstance(answer, list):
            answer = [(type(o), str(o)) if isinstance(o, ZooKeeperError) else o for o in answer]
        answers.append(answer)
    return answers


def test_behind_a_socket_it_answers_as_it_does_in_memory(running: RunningStore):
    client = EmbeddedClient(running.address, 5000)

    there, here = asked(client), asked(EmbeddedSession(ZooKeeper()))
    client.close()

    assert there == here
    assert {NodeExists, BadVersion, NoNode} <= {one[0] for one in here if isinstance(one, tuple)}


def test_a_session_that_is_silent_for_too_long_expires_and_others_are_notified(
    running: RunningStore,
):
    silent, watching = EmbeddedClient(running.address, 600), EmbeddedClient(running.address, 30_000)
    wait(silent.create("/mine", "", ephemeral=True))
    wait(watching.exists("/mine", watch=True))

    silent._over.set()  # its heart stops, as that of a stopped process
    deadline = time.monotonic() + PATIENCE_S
    events: list[WatchEvent] = []
    while not events and time.monotonic() < deadline:
        events = watching.events()
        time.sleep(0.02)

    assert events == [WatchEvent(EventType.DELETED, "/mine")]
    silent._over.clear()
    with pytest.raises(SessionExpired):
        wait(silent.get("/"))
    assert not silent.alive
    watching.close()


def test_what_was_written_is_there_when_it_starts_again_and_sessions_are_over(tmp_path: Path):
    first = RunningStore(tmp_path)
    client = EmbeddedClient(first.address, 5000)
    wait(client.create("/kept", "a"))
    wait(client.set_data("/kept", "b"))
    owned = wait(client.create("/gone", "", ephemeral=True)).znode
    first.stop()

    second = RunningStore(tmp_path)
    again = EmbeddedClient(second.address, 5000)
    kept, gone = wait(again.get("/kept")), wait(again.exists("/gone"))
    newer = wait(again.create("/later", "")).znode
    sessions = client.session, again.session
    again.close()
    client.close()
    second.stop()

    assert (kept.data, kept.version) == ("b", 1)
    assert gone is None
    assert newer.czxid > owned.czxid
    assert sessions[1] > sessions[0]


def test_where_nobody_listens_the_connection_is_lost(tmp_path: Path):
    gone = RunningStore(tmp_path)
    gone.stop()

    with pytest.raises(ConnectionLoss):
        EmbeddedClient(gone.address, 5000)
