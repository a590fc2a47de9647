"""Clusters of processes for these tests: each is ended, however its test ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from impl.server.cluster import Cluster, new_state

Start = Callable[..., Cluster]

SETTINGS = {
    "zookeeper.session.timeout.ms": "2000",
    "controlled.shutdown.retry.backoff.ms": "200",
    "controlled.shutdown.max.retries": "1",
    "replica.fetch.backoff.ms": "100",
}


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    begun: list[Cluster] = []

    def run(
        brokers: int = 2, version: str = "2.3", zookeeper: str = "embedded",
        request_log: bool = False, **settings: str,
    ) -> Cluster:  # fmt: skip
        named = {name.replace("_", "."): value for name, value in settings.items()}
        state = new_state(range(1, brokers + 1), version, zookeeper, settings=SETTINGS | named)
        state.request_log = request_log
        cluster = Cluster.create(tmp_path / f"cluster{len(begun)}", state)
        begun.append(cluster)
        cluster.start()
        return cluster

    yield run
    for cluster in begun:
        cluster.stop(10)
        assert not cluster.running()
