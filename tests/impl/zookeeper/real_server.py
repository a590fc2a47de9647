"""A real ZooKeeper server: that of a cluster without brokers; and how it expires a session."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from impl.server.cluster import Cluster, new_state
from impl.zookeeper.real import RealSession


@contextmanager
def real_zookeeper(folder: Path, kind: type[Cluster] = Cluster) -> Iterator[Cluster]:
    """A server whose address is ``state.connect``; it ends with the block."""
    Cluster.create(folder, new_state([], zookeeper="real"))
    cluster = kind(folder)
    cluster.start()
    try:
        yield cluster
    finally:
        cluster.stop()


def expire(server: Cluster, victim: RealSession) -> None:
    """Have the server end a session as if it had fallen silent: another client takes it and goes.

    The victim may win the session back in between, so it is done until the victim has noticed.
    """
    kazoo = importlib.import_module("kazoo.client")
    deadline = time.monotonic() + 20
    while victim.alive and time.monotonic() < deadline:
        thief = kazoo.KazooClient(server.state.connect, client_id=victim._client.client_id)
        thief.start(timeout=5)
        thief.stop()
        thief.close()
        until = time.monotonic() + 2
        while victim.alive and time.monotonic() < until:
            time.sleep(0.005)
    assert not victim.alive, "the session would not expire"
