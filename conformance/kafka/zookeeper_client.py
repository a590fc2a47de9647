"""The lab's own ZooKeeper client, past the proxies; it can end another client's session."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Self

from impl.releases import Release
from impl.znodes import MalformedZnode, TopicPartition, encode_config, paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper import ZooKeeperError
from impl.zookeeper.port import wait
from impl.zookeeper.real import RealSession

LOOPBACK = "127.0.0.1"
OF_TOOLS = Release.of("2.3")
"""Kafka's tools of this release write znodes in the form that every release reads."""


class LabZooKeeper(ZnodeClient):
    """A session with a lab's ZooKeeper, which ends with the ``with`` block."""

    def __init__(self, port: int, timeout_ms: int = 60_000) -> None:
        self.address = f"{LOOPBACK}:{port}"
        super().__init__(RealSession(self.address, timeout_ms), OF_TOOLS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the session."""
        self.port.close()

    def exists(self, path: str) -> bool:
        """Whether there is such a znode."""
        return wait(self.read(path)) is not None

    def delete(self, path: str) -> None:
        """Delete a znode. NoNode."""
        wait(self.port.delete(path))

    def make_topic(self, name: str, places: Mapping[int, Sequence[int]]) -> None:
        """Create a topic as Kafka's own tool does. NodeExists."""
        wait(self.make_path(paths.config("topics", name), encode_config({})))
        wait(self.create_topic(name, places))

    def replicas(self, topic: str) -> dict[int, list[int]]:
        """The registered replicas of a topic's partitions; none of a topic that does not exist."""
        found = wait(self.topic(topic))
        placed = {} if found is None else found.partitions
        return {number: list(one.replicas) for number, one in placed.items()}

    def isr(self, topic: str, number: int) -> list[int] | None:
        """The registered ISR of a partition, sorted; None without a state."""
        state = wait(self.state(TopicPartition(topic, number)))
        return None if state is None else sorted(state.isr)

    def registered(self) -> dict[int, int]:
        """Broker id -> its broker epoch (the czxid of its znode)."""
        return {one: epoch for one, (_, epoch) in wait(self.brokers()).items()}

    def expire(self, session: tuple[int, bytes]) -> None:
        """End another client's session, by its id and password, as if it had expired; its owner
        learns so when it connects."""
        from kazoo.client import KazooClient  # type: ignore[import-untyped]

        client: Any = KazooClient(hosts=self.address, timeout=10.0, client_id=session)
        client.start(timeout=30)
        client.stop()
        client.close()


def await_gone(port: int, path: str, patience_s: float) -> None:
    """Waits until there is no such node, or the time is up."""
    with LabZooKeeper(port) as client:
        deadline = time.monotonic() + patience_s
        while client.exists(path) and time.monotonic() < deadline:
            time.sleep(0.05)


def controller_of(port: int) -> int | None:
    """The registered controller; None if there is none, or ZooKeeper does not answer."""
    try:
        with LabZooKeeper(port) as client:
            return wait(client.controller())
    except (ZooKeeperError, MalformedZnode):
        return None
