"""Replicas move between the directories of their broker (KIP-113), as clients ask for it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from impl.server.cluster import Cluster
from impl.wire import Fields
from tests.clients.conftest import DIRECTORIES, Wire
from tests.waiting import eventually

kafka = pytest.importorskip("kafka", reason="kafka-python is not installed")
kafka_admin = pytest.importorskip("kafka.admin", reason="kafka-python is not installed")

BROKER = 1
COUNT = 40


@pytest.fixture
def admin(servers: str) -> Iterator[Any]:
    made = kafka_admin.KafkaAdminClient(bootstrap_servers=servers.split(","))
    with contextlib.closing(made):
        yield made


def directory(cluster: Cluster, name: str) -> str:
    return str(cluster.folder / f"broker{BROKER}" / name)


def filled(admin: Any, servers: str, topic: str) -> list[bytes]:
    """A topic with one replica, on the broker, and what is in it."""
    admin.create_topics([kafka_admin.NewTopic(topic, replica_assignments={0: [BROKER]})])
    values = [b"%d" % number for number in range(COUNT)]
    producer = kafka.KafkaProducer(bootstrap_servers=servers.split(","), acks="all")
    for sent in [producer.send(topic, value, partition=0) for value in values]:
        sent.get(20)
    producer.close()
    return values


def found_in(admin: Any, topic: str) -> list[tuple[str, bool]]:
    """The directories of the broker that have the topic, and whether it is a copy."""
    [mine] = [one for one in admin.describe_log_dirs() if one["broker"] == BROKER]
    return [
        (one["log_dir"], partition["is_future_key"])
        for one in mine["log_dirs"]
        for each in one["topics"]
        if each["name"] == topic
        for partition in each["partitions"]
    ]


def alter(wire: Wire, path: str, *partitions: tuple[str, int], version: int = 1) -> list[str]:
    """The error of each partition that is to be in a directory of the broker."""
    topics = [Fields(name=topic, partitions=[number]) for topic, number in partitions]
    answer = wire.ask("AlterReplicaLogDirs", version, dirs=[Fields(path=path, topics=topics)])
    return [one.error_code.name for topic in answer.results for one in topic.partitions]


def test_a_replica_moves_to_another_directory_and_is_read_and_written_there(
    cluster: Cluster, admin: Any, servers: str, topic: str
):
    values = filled(admin, servers, topic)
    [(before, _)] = found_in(admin, topic)
    [other] = {directory(cluster, name) for name in DIRECTORIES} - {before}

    reported = admin.alter_replica_log_dirs({(topic, 0, BROKER): other})
    moved = eventually(lambda: found_in(admin, topic) == [(other, False)])
    consumer = kafka.KafkaConsumer(
        topic, bootstrap_servers=servers.split(","), auto_offset_reset="earliest",
        consumer_timeout_ms=3000,
    )  # fmt: skip
    producer = kafka.KafkaProducer(bootstrap_servers=servers.split(","), acks="all")
    offset = producer.send(topic, b"after", partition=0).get(20).offset
    read = [next(consumer).value for _ in range(COUNT + 1)]
    producer.close()
    consumer.close()

    assert [error.__name__ for error in reported.values()] == ["NoError"]
    assert moved
    assert offset == COUNT
    assert read == [*values, b"after"]
    assert list((cluster.folder / f"broker{BROKER}").glob(f"data*/{topic}-0*-future")) == []


@pytest.mark.parametrize("version", [0, 1])
def test_a_replica_that_is_not_there_yet_is_made_in_the_directory_that_was_named(
    cluster: Cluster, admin: Any, wire: Wire, topic: str, version: int
):
    wanted = directory(cluster, DIRECTORIES[version])  # each has its turn

    reported = alter(wire, wanted, (topic, 0), version=version)
    admin.create_topics([kafka_admin.NewTopic(topic, replica_assignments={0: [BROKER]})])

    assert reported == ["replica_not_available"]
    assert eventually(lambda: found_in(admin, topic) == [(wanted, False)])


def test_what_cannot_be_done_is_refused_with_kafkas_codes_a_partition_each(
    cluster: Cluster, admin: Any, servers: str, wire: Wire, topic: str
):
    filled(admin, servers, topic)
    [(here, _)] = found_in(admin, topic)
    far = str(cluster.folder / "elsewhere")
    long_name = "n" * 249  # a copy of it has no name that a file system takes

    assert alter(wire, far, (topic, 0)) == ["log_dir_not_found"]
    assert alter(wire, "data2", (topic, 0)) == ["log_dir_not_found"]  # not absolute
    assert alter(wire, "", (topic, 0)) == ["log_dir_not_found"]
    assert alter(wire, f"{here}\0", (topic, 0)) == ["log_dir_not_found"]
    assert sorted(alter(wire, here, (topic, 0), (topic, 7), (long_name, 0))) == [
        "invalid_topic_exception", "none", "replica_not_available",
    ]  # fmt: skip
    assert alter(wire, here) == []
    assert found_in(admin, topic) == [(here, False)]


def test_a_topic_of_the_longest_name_is_not_copied_and_takes_no_directory_offline(
    cluster: Cluster, admin: Any, servers: str, wire: Wire, topic: str
):
    longest = topic + "n" * (249 - len(topic))
    filled(admin, servers, longest)
    errors = {
        error
        for name in DIRECTORIES
        for error in alter(wire, directory(cluster, name), (longest, 0))
    }
    [mine] = [one for one in admin.describe_log_dirs() if one["broker"] == BROKER]
    admin.delete_topics([longest])

    assert errors == {"invalid_topic_exception"}
    assert [one["error_code"] for one in mine["log_dirs"]] == [0, 0]
