"""One cluster for all these tests, which real clients talk to; and frames of our own making."""

from __future__ import annotations

import socket
import struct
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from impl.server.cluster import Cluster, new_state
from impl.wire import Fields, Header, Response, api_key, decode_response, encode_request
from tests.waiting import PATIENCE_S

SETTINGS = {
    "zookeeper.session.timeout.ms": "6000",
    "controlled.shutdown.max.retries": "1",
    "controlled.shutdown.retry.backoff.ms": "100",
    "replica.fetch.backoff.ms": "100",
    "num.partitions": "2",
    "default.replication.factor": "3",
    "offsets.topic.num.partitions": "3",
    "group.initial.rebalance.delay.ms": "200",
    "socket.request.max.bytes": "2000000",
}
DIRECTORIES = ("data", "data2")
HERE = SETTINGS | {"log.dirs": ",".join(DIRECTORIES), "log.cleaner.backoff.ms": "200"}


class Wire:
    """A connection that speaks Kafka's frames, and whatever else a test sends."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.create_connection(address, timeout=PATIENCE_S)
        self.asked = 0

    def ask(self, api: str, version: int, **fields: Any) -> Any:
        """A request, and the body of its answer."""
        self.send(api, version, **fields)
        return self.answer(api, version).body

    def send(self, api: str, version: int, **fields: Any) -> None:
        self.asked += 1
        header = Header(api_key(api), version, self.asked, "wire")
        self.socket.sendall(encode_request(header, Fields(**fields)))

    def answer(self, api: str, version: int) -> Response:
        (size,) = struct.unpack(">i", self._read(4))
        return decode_response(self._read(size), api_key(api), version)

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            assert part, "the broker has closed the connection"
            data += part
        return data

    def is_closed(self) -> bool:
        """The broker ends the connection, without a word."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def close(self) -> None:
        self.socket.close()


@pytest.fixture(scope="package")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    state = new_state((1, 2, 3), "2.4", settings=HERE)
    found = Cluster.create(tmp_path_factory.mktemp("clients") / "cluster", state)
    found.start()
    yield found
    found.stop(10)
    assert not found.running()


@pytest.fixture
def servers(cluster: Cluster) -> str:
    return cluster.bootstrap_servers


@pytest.fixture
def topic() -> str:
    return f"t-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def wire(cluster: Cluster) -> Iterator[Wire]:
    made = Wire(cluster.addresses()[0])
    yield made
    made.close()


@pytest.fixture
def led(cluster: Cluster, topic: str) -> Any:
    """A topic, and a connection to its leader."""
    first = Wire(cluster.addresses()[0])
    asked = {"topics": [Fields(name=topic)], "allow_auto_topic_creation": True}
    deadline = time.monotonic() + PATIENCE_S
    while True:
        reported = first.ask("Metadata", 4, **asked)
        parts = reported.topics[0].partitions
        if parts and all(one.error_code == 0 for one in parts):
            break
        assert time.monotonic() < deadline
        time.sleep(0.1)
    leader = next(one.leader_id for one in parts if one.partition_index == 0)
    where = next((one.host, one.port) for one in reported.brokers if one.node_id == leader)
    first.close()
    made = Wire(where)
    yield made
    made.close()
