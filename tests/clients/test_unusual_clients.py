"""What clients do now and then: old versions, static members, codecs, topics that are deleted."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest

from impl.server.apis.versions import newest
from impl.server.cluster import Cluster
from impl.wire import Fields, api_key
from impl.zookeeper.port import wait
from tests.clients.conftest import Wire
from tests.clients.fuzzing import BATCH
from tests.waiting import PATIENCE_S, eventually

confluent = pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")
confluent_admin = pytest.importorskip(
    "confluent_kafka.admin", reason="confluent-kafka is not installed"
)
kafka = pytest.importorskip("kafka", reason="kafka-python is not installed")

QUIET = {"log_level": 0, "message.timeout.ms": 20000}
COUNT = 30


@pytest.fixture
def admin(servers: str) -> Any:
    return confluent_admin.AdminClient({"bootstrap.servers": servers, "log_level": 0})


def create(admin: Any, topic: str, **more: Any) -> None:
    made = confluent_admin.NewTopic(topic, **{"num_partitions": 1, "replication_factor": 3} | more)
    admin.create_topics([made])[topic].result(15)
    brokers = admin.list_topics(timeout=PATIENCE_S).brokers.values()
    assert eventually(lambda: all(knows((one.host, one.port), topic) for one in brokers))


def knows(broker: tuple[str, int], topic: str) -> bool:
    """Whether this broker has received UpdateMetadata of a topic and its leader.

    Each broker receives it in its own time: a test that asks another one too early may fail.
    """
    wire = Wire(broker)
    answer = wire.ask("Metadata", 4, topics=[Fields(name=topic)], allow_auto_topic_creation=False)
    wire.close()
    return bool(answer.topics[0].error_code.name == "none")


Pairs = Sequence[tuple[bytes, bytes | None]]


def send(servers: str, topic: str, pairs: Pairs, **more: Any) -> None:
    """Keys and values to partition 0, all of which are acknowledged."""
    failed: list[Any] = []
    producer = confluent.Producer({"bootstrap.servers": servers, **QUIET, **more})
    for key, value in pairs:
        producer.produce(
            topic, value, key, partition=0,
            on_delivery=lambda error, _: failed.append(error) if error else None,
        )  # fmt: skip
    assert producer.flush(20) == 0
    assert failed == []


@contextlib.contextmanager
def consumer(servers: str, **more: Any) -> Iterator[Any]:
    settings = {"bootstrap.servers": servers, "group.id": "unusual", "log_level": 0,
                "auto.offset.reset": "earliest", "enable.auto.commit": False}  # fmt: skip
    made = confluent.Consumer(settings | more)
    try:
        yield made
    finally:
        made.close()


def read(member: Any, count: int, patience_s: float = PATIENCE_S) -> list[Any]:
    found: list[Any] = []
    deadline = time.monotonic() + patience_s
    while len(found) < count and time.monotonic() < deadline:
        found += [one for one in member.consume(100, 0.2) if one.error() is None]
    return found


@contextlib.contextmanager
def leader_of(cluster: Cluster, admin: Any, topic: str, leads: bool = True) -> Iterator[Wire]:
    """A connection to the leader of a topic's partition 0, or to another broker."""
    leader = admin.list_topics(topic, 10).topics[topic].partitions[0].leader
    broker = leader if leads else leader % 3 + 1
    wire = Wire(cluster.addresses()[broker - 1])
    try:
        yield wire
    finally:
        wire.close()


def latest(cluster: Cluster, api: str) -> int:
    """The newest version of an API that the cluster offers."""
    found = newest(api_key(api), cluster.release)
    assert found is not None
    return found


# Producers


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_what_is_compressed_comes_back_whatever_the_codec(
    codec: str, servers: str, admin: Any, topic: str
):
    create(admin, topic)
    pairs = [(b"%d" % one, b"value " * 200) for one in range(COUNT)]
    send(servers, topic, pairs, **{"compression.type": codec, "linger.ms": 200})

    with consumer(servers) as member:
        member.assign([confluent.TopicPartition(topic, 0, 0)])
        found = [(one.key(), one.value()) for one in read(member, COUNT)]

    assert found == pairs


@pytest.mark.parametrize("acks", [1, -1])
def test_who_does_not_lead_refuses_producers_and_consumers(
    cluster: Cluster, admin: Any, topic: str, acks: int
):
    create(admin, topic)
    body = {
        "transactional_id": None, "acks": acks, "timeout": timedelta(seconds=5),
        "topic_data": [Fields(name=topic, partition_data=[Fields(index=0, records=BATCH)])],
    }  # fmt: skip
    with leader_of(cluster, admin, topic, leads=False) as wire:
        [refused] = wire.ask("Produce", 7, **body).responses[0].partition_responses
    with leader_of(cluster, admin, topic) as wire:
        [taken] = wire.ask("Produce", 7, **body).responses[0].partition_responses

    assert refused.error_code.name == "not_leader_or_follower"
    assert (taken.error_code, taken.base_offset) == (0, 0)


def test_batches_of_every_old_version_of_produce_are_taken(
    cluster: Cluster, admin: Any, topic: str
):
    create(admin, topic)
    offsets = []
    with leader_of(cluster, admin, topic) as wire:
        for version in range(3, latest(cluster, "Produce") + 1):
            answer = wire.ask(
                "Produce", version, transactional_id=None, acks=-1, timeout=timedelta(seconds=5),
                topic_data=[Fields(name=topic, partition_data=[Fields(index=0, records=BATCH)])],
            )  # fmt: skip
            offsets.append(answer.responses[0].partition_responses[0].base_offset)

    assert offsets == list(range(len(offsets)))


# Consumers


def test_a_consumer_of_a_compacted_topic_sees_the_last_of_each_key_and_no_tombstone(
    servers: str, admin: Any, topic: str
):
    settings = {"cleanup.policy": "compact", "segment.ms": "100", "segment.bytes": "2000",
                "min.cleanable.dirty.ratio": "0.01", "delete.retention.ms": "0"}  # fmt: skip
    create(admin, topic, config=settings)
    for turn in range(4):
        send(servers, topic, [(b"k%d" % one, b"%d-%d" % (one, turn)) for one in range(20)])
    send(servers, topic, [(b"k0", None)])

    def seen() -> list[tuple[int, bytes, bytes | None]]:
        with consumer(servers) as member:
            member.assign([confluent.TopicPartition(topic, 0, 0)])
            end = member.get_watermark_offsets(confluent.TopicPartition(topic, 0), 10)[1]
            found: list[Any] = []
            deadline = time.monotonic() + PATIENCE_S
            while (not found or found[-1].offset() < end - 1) and time.monotonic() < deadline:
                found += [one for one in member.consume(100, 0.2) if one.error() is None]
        return [(one.offset(), one.key(), one.value()) for one in found]

    last: list[tuple[int, bytes, bytes | None]] = []

    def is_clean() -> bool:
        send(servers, topic, [(b"last", b"x" * 1500)])  # a tombstone goes in a cleaning of its own
        last[:] = seen()
        return not any(key == b"k0" for _, key, _ in last)

    assert eventually(is_clean)
    of_keys = [(key, value) for _, key, value in last if key != b"last"]
    offsets = [offset for offset, _, _ in last]
    assert sorted(of_keys) == sorted((b"k%d" % one, b"%d-3" % one) for one in range(1, 20))
    assert offsets == sorted(offsets)
    assert offsets[0] == 61  # those of before are no more


@pytest.mark.parametrize("reset, expected", [("earliest", 0), ("latest", COUNT)])
def test_a_group_without_an_offset_begins_where_it_says(
    reset: str, expected: int, servers: str, admin: Any, topic: str
):
    create(admin, topic)
    send(servers, topic, [(b"k", b"v")] * COUNT)
    with consumer(servers, **{"auto.offset.reset": reset, "group.id": topic}) as member:
        member.subscribe([topic])
        assert eventually(lambda: bool(member.poll(0.2) or member.assignment()))
        found: list[Any] = []
        deadline = time.monotonic() + PATIENCE_S
        while not found and time.monotonic() < deadline:
            send(servers, topic, [(b"k", b"new")])
            found = read(member, 1, 1)

    assert found[0].offset() >= expected


def test_the_end_for_readers_of_what_is_committed_is_the_high_watermark(
    cluster: Cluster, servers: str, admin: Any, topic: str
):
    create(admin, topic)
    send(servers, topic, [(b"k", b"v")] * COUNT)
    found = {}
    with leader_of(cluster, admin, topic) as wire:
        for isolation in (0, 1):
            for timestamp in (-1, -2, 0, 2**62):
                part = Fields(partition_index=0, current_leader_epoch=-1, timestamp=timestamp)
                answer = wire.ask(
                    "ListOffsets", 5, replica_id=-1, isolation_level=isolation,
                    topics=[Fields(name=topic, partitions=[part])],
                )  # fmt: skip
                row = answer.topics[0].partitions[0]
                found[isolation, timestamp] = (row.error_code.name, row.offset)

    assert found == {
        (isolation, timestamp): ("none", offset)
        for isolation in (0, 1)
        for timestamp, offset in ((-1, COUNT), (-2, 0), (0, 0), (2**62, -1))
    }


# Groups


def test_a_static_member_comes_back_without_a_rebalance(servers: str, admin: Any, topic: str):
    create(admin, topic, num_partitions=2)
    rounds: list[tuple[str, int]] = []

    def settings(name: str) -> dict[str, Any]:
        return {"group.id": topic, "group.instance.id": name, "session.timeout.ms": 10000,
                "heartbeat.interval.ms": 300}  # fmt: skip

    def member(stack: contextlib.ExitStack, name: str) -> Any:
        made = stack.enter_context(consumer(servers, **settings(name)))
        made.subscribe([topic], on_assign=lambda _, parts: rounds.append((name, len(parts))))
        return made

    with contextlib.ExitStack() as stays, contextlib.ExitStack() as goes:
        one, two = member(stays, "one"), member(goes, "two")

        def shared() -> bool:
            one.poll(0.1)
            two.poll(0.1)
            return len(one.assignment()) == len(two.assignment()) == 1

        assert eventually(shared)
        mine, before = two.assignment(), [name for name, _ in rounds].count("one")
        goes.close()  # a static member does not leave
        again = member(goes, "two")

        def is_back() -> bool:
            one.poll(0.1)
            again.poll(0.1)
            return bool(again.assignment())

        assert eventually(is_back)
        after = [name for name, _ in rounds].count("one")
        back = again.assignment()

    assert after == before
    assert [(part.topic, part.partition) for part in back] == [
        (part.topic, part.partition) for part in mine
    ]


def coordinator(cluster: Cluster, group: str) -> Wire:
    """A connection to whoever coordinates a group."""
    found: list[Any] = []

    def is_known() -> bool:
        first = Wire(cluster.addresses()[0])
        found[:] = [first.ask("FindCoordinator", 1, key=group, key_type=0)]
        first.close()
        return bool(found[0].error_code == 0)

    assert eventually(is_known)
    return Wire((found[0].host, found[0].port))


def commit(wire: Wire, group: str, version: int, topic: str, *parts: tuple[int, int]) -> list[str]:
    """Commit offsets without metadata, as somebody who is in no group; the errors."""
    answer = wire.ask(
        "OffsetCommit", version, group_id=group, generation_id_or_member_epoch=-1, member_id="",
        group_instance_id=None, retention_time=timedelta(milliseconds=-1),
        topics=[Fields(name=topic, partitions=[
            Fields(partition_index=number, committed_offset=offset, committed_leader_epoch=-1,
                   commit_timestamp=-1, committed_metadata=None)
            for number, offset in parts
        ])],
    )  # fmt: skip
    return [one.error_code.name for one in answer.topics[0].partitions]


def committed(wire: Wire, group: str, version: int, topic: str, *numbers: int) -> list[Any]:
    answer = wire.ask(
        "OffsetFetch", version, group_id=group, require_stable=False,
        topics=[Fields(name=topic, partition_indexes=numbers)],
    )  # fmt: skip
    return [
        (one.error_code.name, one.committed_offset, one.metadata)
        for one in answer.topics[0].partitions
    ]


def test_an_offset_without_metadata_is_kept_by_every_version_in_the_same_place(
    cluster: Cluster, admin: Any, topic: str
):
    create(admin, topic)
    wire = coordinator(cluster, topic)
    commits, fetches = latest(cluster, "OffsetCommit"), latest(cluster, "OffsetFetch")
    found = []
    for version in range(1, commits + 1):
        errors = commit(wire, topic, version, topic, (0, version), (9, 1))
        found.append((errors, committed(wire, topic, min(version, fetches), topic, 0, 9)))
    wire.close()

    assert found == [
        (["none", "unknown_topic_or_partition"], [("none", version, ""), ("none", -1, "")])
        for version in range(1, commits + 1)
    ]


def test_version_0_keeps_offsets_in_zookeeper_whichever_broker_is_asked(
    cluster: Cluster, admin: Any, topic: str
):
    create(admin, topic)
    first, second = (Wire(one) for one in cluster.addresses()[:2])
    errors = commit(first, topic, 0, topic, (0, 7))
    again = commit(first, topic, 0, topic, (0, 8))
    found = committed(second, topic, 0, topic, 0, 1)
    nowhere = commit(first, "", 0, topic, (0, 1))
    first.close()
    second.close()
    port = cluster.session()
    node = wait(port.get(f"/consumers/{topic}/offsets/{topic}/0"))
    port.close()
    wire = coordinator(cluster, topic)
    elsewhere = committed(wire, topic, 1, topic, 0)
    wire.close()

    assert errors == again == ["none"]
    assert found == [("none", 8, ""), ("unknown_topic_or_partition", -1, "")]
    assert nowhere == ["unknown_server_error"]
    assert node.data == "8"
    assert elsewhere == [("none", -1, "")]


def test_the_offsets_of_a_topic_that_is_deleted_are_gone_and_so_is_its_group(
    cluster: Cluster, servers: str, admin: Any, topic: str
):
    create(admin, topic)
    other = f"{topic}-other"
    create(admin, other)
    wire = coordinator(cluster, topic)
    commit(wire, topic, 2, topic, (0, 5))
    commit(wire, topic, 2, other, (0, 6))
    before = [committed(wire, topic, 2, one, 0) for one in (topic, other)]
    admin.delete_topics([topic])[topic].result(15)
    assert eventually(lambda: committed(wire, topic, 2, topic, 0) == [("none", -1, "")])
    left = committed(wire, topic, 2, other, 0)
    admin.delete_topics([other])[other].result(15)

    def groups() -> list[str]:
        return [one.group_id for one in admin.list_consumer_groups().result(15).valid]

    gone = eventually(lambda: topic not in groups())
    wire.close()

    assert before == [[("none", 5, "")], [("none", 6, "")]]
    assert left == [("none", 6, "")]
    assert gone


# Metadata


def test_a_list_of_topics_may_be_empty_missing_or_very_long(wire: Wire, admin: Any, topic: str):
    create(admin, topic)
    many = [Fields(name=f"{topic}-{number}") for number in range(5000)]

    def topics(version: int, wanted: Any) -> list[Any]:
        found = wire.ask("Metadata", version, topics=wanted, allow_auto_topic_creation=False)
        return list(found.topics)

    unknown = topics(4, many)

    assert topics(4, ()) == []
    assert topic in [one.name for one in topics(4, None)]
    assert topic in [one.name for one in topics(0, ())]
    assert len(unknown) == 5000
    assert {one.error_code.name for one in unknown} == {"unknown_topic_or_partition"}


def test_a_topic_is_made_by_being_asked_for_only_where_the_client_allows_it(
    wire: Wire, admin: Any, topic: str
):
    def reported(allowed: bool) -> str:
        answer = wire.ask(
            "Metadata", 4, topics=[Fields(name=topic)], allow_auto_topic_creation=allowed
        )
        return str(answer.topics[0].error_code.name)

    refused = reported(False)
    there = topic in admin.list_topics(timeout=PATIENCE_S).topics
    first = reported(True)

    assert (refused, there, first) == ("unknown_topic_or_partition", False, "leader_not_available")
    assert eventually(lambda: reported(False) == "none")
