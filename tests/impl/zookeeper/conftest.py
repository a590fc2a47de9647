"""A real ZooKeeper for the tests that want one, started once and ended."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from impl.server.cluster import Cluster
from tests.cli.clusters import need_real_zookeeper
from tests.impl.zookeeper.real_server import real_zookeeper


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    need_real_zookeeper()
    logging.getLogger("kazoo").setLevel(logging.CRITICAL)  # sessions are ended here on purpose
    with real_zookeeper(tmp_path_factory.mktemp("zookeeper")) as started:
        yield started
