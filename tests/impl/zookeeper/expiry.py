"""How a test has a real ZooKeeper expire a session that is alive and well."""

from __future__ import annotations

import importlib
import time

from impl.zookeeper.real import RealSession
from impl.zookeeper.server import ZooKeeperServer


def expire(server: ZooKeeperServer, victim: RealSession) -> None:
    """Have the server end a session as if it had fallen silent: another client takes it and goes.

    The victim may win the session back in between, so it is done until the victim has noticed.
    """
    kazoo = importlib.import_module("kazoo.client")
    deadline = time.monotonic() + 20
    while victim.alive and time.monotonic() < deadline:
        thief = kazoo.KazooClient(server.hosts, client_id=victim._client.client_id)
        thief.start(timeout=5)
        thief.stop()
        thief.close()
        until = time.monotonic() + 2
        while victim.alive and time.monotonic() < until:
            time.sleep(0.005)
    assert not victim.alive, "the session would not expire"
