"""Bytes, requests and records that are wrong: Kafka's error codes, or the end of the connection."""

from __future__ import annotations

import signal
import socket
import struct
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from impl.log import StoredRecord, encode_batch
from impl.server.cluster import Cluster, new_state
from impl.wire import API_VERSIONS, Fields, api_key
from tests.clients.conftest import SETTINGS, Wire
from tests.clients.fuzzing import BATCH, apis_of, fuzz
from tests.waiting import PATIENCE_S, eventually

FRAMES, DEEP_FRAMES = 2_000, 1_000_000


def produced(wire: Wire, topic: str, records: bytes, acks: int = -1, version: int = 7) -> Any:
    part = Fields(index=0, records=records)
    answer = wire.ask(
        "Produce", version, transactional_id=None, acks=acks, timeout=timedelta(seconds=5),
        topic_data=[Fields(name=topic, partition_data=[part])],
    )  # fmt: skip
    return answer.responses[0].partition_responses[0]


def fetched(wire: Wire, topic: str, offset: int = 0, epoch: int = -1, version: int = 11) -> Any:
    part = Fields(
        partition=0, current_leader_epoch=epoch, fetch_offset=offset, log_start_offset=-1,
        partition_max_bytes=1 << 20, last_fetched_epoch=-1,
    )  # fmt: skip
    answer = wire.ask(
        "Fetch", version, replica_id=-1, max_wait=timedelta(0), min_bytes=1, max_bytes=1 << 20,
        isolation_level=0, session_id=0, session_epoch=-1, forgotten_topics_data=(), rack_id="",
        topics=[Fields(topic=topic, partitions=[part])],
    )  # fmt: skip
    return answer.responses[0].partitions[0]


def test_a_corrupt_batch_is_refused_and_the_connection_goes_on(led: Wire, topic: str):
    broken = BATCH[:-1] + b"?"

    assert produced(led, topic, broken).error_code.name == "corrupt_message"
    assert produced(led, topic, BATCH[:40]).error_code.name == "corrupt_message"
    assert produced(led, topic, BATCH).error_code == 0
    assert fetched(led, topic).records == BATCH[:12] + struct.pack(">i", 0) + BATCH[16:]


def test_a_batch_over_max_message_bytes_is_refused(led: Wire, topic: str):
    large = encode_batch([StoredRecord(0, 1, None, bytes(1_100_000))])

    assert produced(led, topic, large).error_code.name == "message_too_large"


def test_acks_that_mean_nothing_are_refused(led: Wire, topic: str):
    assert produced(led, topic, BATCH, acks=7).error_code.name == "invalid_required_acks"


def test_an_unknown_topic_is_reported(wire: Wire, topic: str):
    assert produced(wire, topic, BATCH).error_code.name == "unknown_topic_or_partition"
    assert fetched(wire, topic).error_code.name == "unknown_topic_or_partition"


def test_a_leader_epoch_of_the_past_is_fenced_and_one_of_the_future_unknown(led: Wire, topic: str):
    produced(led, topic, BATCH)

    assert fetched(led, topic, epoch=5).error_code.name == "unknown_leader_epoch"
    assert fetched(led, topic, epoch=0).error_code == 0
    ask = {"replica_id": -1, "topics": [Fields(topic=topic, partitions=[
        Fields(partition=0, current_leader_epoch=9, leader_epoch=0)])]}  # fmt: skip
    ended = led.ask("OffsetForLeaderEpoch", 3, **ask).topics[0].partitions[0]
    assert ended.error_code.name == "unknown_leader_epoch"


def test_an_offset_beyond_the_log_is_out_of_range(led: Wire, topic: str):
    assert fetched(led, topic, offset=77).error_code.name == "offset_out_of_range"


def test_older_consumers_are_given_the_format_that_they_know(led: Wire, topic: str):
    produced(led, topic, BATCH)

    magics = {version: fetched(led, topic, version=version).records[16] for version in (0, 2, 4)}

    assert magics == {0: 0, 2: 1, 4: 2}


def test_transactions_are_refused_by_name(wire: Wire):
    reported = wire.ask("InitProducerId", 1, transactional_id="t", transaction_timeout=timedelta(0))

    assert reported.error_code.name == "transactional_id_authorization_failed"


def in_session(wire: Wire, session: int, epoch: int, *parts: Any, forgotten: Any = ()) -> Any:
    """The answer to a fetch in version 7."""
    return wire.ask(
        "Fetch", 7, replica_id=-1, max_wait=timedelta(0), min_bytes=0, max_bytes=1 << 20,
        isolation_level=0, session_id=session, session_epoch=epoch, topics=parts,
        forgotten_topics_data=forgotten,
    )  # fmt: skip


def test_a_session_of_fetches_that_nobody_began_is_not_found(led: Wire):
    assert in_session(led, 9, 1).error_code.name == "fetch_session_id_not_found"


def test_a_session_of_fetches_says_what_is_new_until_nothing_is_left_of_it(led: Wire, topic: str):
    part = Fields(partition=0, fetch_offset=0, log_start_offset=-1, partition_max_bytes=1 << 20)
    first = in_session(led, 0, 0, Fields(topic=topic, partitions=[part]))
    session = first.session_id
    nothing = in_session(led, session, 1)
    produced(led, topic, BATCH)
    deadline, epoch, new = time.monotonic() + PATIENCE_S, 2, nothing
    while not new.responses and time.monotonic() < deadline:
        new, epoch = in_session(led, session, epoch), epoch + 1
    late = in_session(led, session, 1)
    ended = in_session(led, session, epoch, forgotten=[Fields(topic=topic, partitions=[0])])

    assert session > 0
    assert [len(one.responses) for one in (first, nothing, new)] == [1, 0, 1]
    assert new.responses[0].partitions[0].records[16:] == BATCH[16:]
    assert new.session_id == session
    assert late.error_code.name == "invalid_fetch_session_epoch"
    assert (ended.error_code, ended.session_id, ended.responses) == (0, 0, ())
    assert in_session(led, session, epoch + 1).error_code.name == "fetch_session_id_not_found"


def test_versions_that_are_not_known_are_answered_in_version_0(wire: Wire):
    wire.socket.sendall(struct.pack(">ihhih", 10, API_VERSIONS, 99, 3, -1))
    answer = wire.answer("ApiVersions", 0)

    assert answer.correlation == 3
    assert answer.body.error_code.name == "unsupported_version"
    assert [(one.api_key, one.max_version) for one in answer.body.api_keys] == [(API_VERSIONS, 3)]
    assert wire.ask("Metadata", 1, topics=()).brokers  # and the connection goes on


def test_more_partitions_than_a_znode_can_name_are_refused_before_they_are_placed(
    cluster: Cluster, topic: str
):
    asked = Fields(
        name=topic, num_partitions=2**31 - 1, replication_factor=1, assignments=(), configs=()
    )
    answered = []
    for address in cluster.addresses():
        wire = Wire(address)
        answered += wire.ask(
            "CreateTopics", 1, topics=[asked], timeout=timedelta(seconds=5), validate_only=False
        ).topics  # fmt: skip
        wire.close()

    assert sorted(one.error_code.name for one in answered) == [
        "invalid_partitions", "not_controller", "not_controller"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "data",
    [
        struct.pack(">i", -1),
        struct.pack(">i", 2**31 - 1),
        struct.pack(">i", 2_000_001),
        struct.pack(">ihhih", 10, 999, 0, 1, -1),
        struct.pack(">ihhih", 10, api_key("Metadata"), 50, 1, -1),
        struct.pack(">ihhih", 10, api_key("LeaderAndIsr"), 2, 1, -1),
        struct.pack(">ihhihi", 14, api_key("Metadata"), 1, 1, -1, 2**31 - 1),
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\0\0\0\2hi",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
    ids=["negative", "2 GB", "over the limit", "unknown api", "unknown version", "not offered",
         "endless array", "http", "too short", "tls"],
)  # fmt: skip
def test_what_is_no_request_ends_its_connection(wire: Wire, data: bytes):
    wire.socket.sendall(data)

    assert wire.is_closed()


def test_with_acks_0_an_error_ends_the_connection(wire: Wire, topic: str):
    part = Fields(index=0, records=BATCH)
    wire.send("Produce", 7, transactional_id=None, acks=0, timeout=timedelta(seconds=1),
              topic_data=[Fields(name=topic, partition_data=[part])])  # fmt: skip

    assert wire.is_closed()


def test_requests_of_one_connection_are_answered_in_order(wire: Wire):
    for _ in range(20):
        wire.send("Metadata", 1, topics=())
        wire.send("ApiVersions", 0)
    answers = []
    for _ in range(20):
        for api, version in (("Metadata", 1), ("ApiVersions", 0)):
            answers.append(wire.answer(api, version).correlation)

    assert answers == list(range(1, 41))


def test_a_half_open_connection_hinders_nobody(cluster: Cluster, wire: Wire):
    half = [Wire(cluster.addresses()[0]) for _ in range(20)]
    for one in half:
        one.socket.sendall(struct.pack(">i", 1_000_000) + b"\0\3")

    assert wire.ask("Metadata", 1, topics=()).brokers
    for one in half:
        one.close()


def threads(cluster: Cluster, broker: int) -> int:
    """How many threads a broker has."""
    text = Path(f"/proc/{cluster.pid(f'broker{broker}')}/status").read_text()
    return int(text.partition("Threads:")[2].split()[0])


def resident(cluster: Cluster, broker: int) -> int:
    """Bytes of memory that a broker has."""
    text = Path(f"/proc/{cluster.pid(f'broker{broker}')}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) * 1024


@pytest.mark.parametrize(
    "frames",
    [FRAMES, pytest.param(DEEP_FRAMES, marks=pytest.mark.deep)],
)
def test_wrong_frames_kill_no_broker_and_leave_nothing_in_its_memory(
    cluster: Cluster, frames: int, led: Wire, topic: str
):
    # A wrong frame may happen to be a right one, and the topic is asked for in the end.
    address, apis = cluster.addresses()[1], [one for one in apis_of("2.4") if one != "DeleteTopics"]
    fuzz(address, max(500, frames // 10), 0, topic, apis)
    before, process = resident(cluster, 2), cluster.pid("broker2")
    connections = fuzz(address, frames, 1, topic, apis)

    assert connections > frames // 100
    assert cluster.pid("broker2") == process
    assert eventually(lambda: threads(cluster, 2) < 100)
    assert resident(cluster, 2) < before + (64 << 20)
    assert produced(led, topic, BATCH).error_code == 0


@pytest.mark.deep
def test_wrong_frames_of_controllers_kill_no_broker_either(tmp_path: Path):
    cluster = Cluster.create(tmp_path / "c", new_state((1, 2), "2.7", settings=SETTINGS))
    cluster.start()
    try:
        process = cluster.pid("broker2")
        address, apis = cluster.addresses()[1], apis_of("2.7", of_controllers=True)
        fuzz(address, 20_000, 3, "t", [*apis, "Metadata"])
        assert cluster.pid("broker2") == process
        with socket.create_connection(address, timeout=PATIENCE_S) as connection:
            connection.sendall(struct.pack(">ihhih", 10, API_VERSIONS, 0, 3, -1))
            assert connection.recv(100)
    finally:
        cluster.end(cluster.running(), signal.SIGKILL, 5.0)
