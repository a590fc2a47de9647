"""A real ZooKeeper for the tests that want one, started once and ended."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Iterator

import pytest

from impl.zookeeper.server import NoServer, ZooKeeperServer


@pytest.fixture(scope="session")
def server() -> Iterator[ZooKeeperServer]:
    if importlib.util.find_spec("kazoo") is None:
        pytest.skip("kazoo is not installed, so nothing here can talk to a real ZooKeeper")
    logging.getLogger("kazoo").setLevel(logging.CRITICAL)  # sessions are ended here on purpose
    try:
        started = ZooKeeperServer()
    except NoServer as why:
        pytest.skip(f"no real ZooKeeper here: {why}")
    with started:
        yield started
