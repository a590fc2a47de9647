"""What administrators do, by the admin clients of confluent-kafka and kafka-python."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

confluent_admin = pytest.importorskip(
    "confluent_kafka.admin", reason="confluent-kafka is not installed"
)
kafka = pytest.importorskip("kafka", reason="kafka-python is not installed")
kafka_admin = pytest.importorskip("kafka.admin", reason="kafka-python is not installed")

from confluent_kafka import ElectionType, KafkaException, TopicPartition  # noqa: E402

from tests.waiting import PATIENCE_S, eventually  # noqa: E402


@pytest.fixture
def admin(servers: str) -> Any:
    return confluent_admin.AdminClient({"bootstrap.servers": servers, "log_level": 0})


@pytest.fixture
def other(servers: str) -> Iterator[Any]:
    made = kafka_admin.KafkaAdminClient(bootstrap_servers=servers.split(","))
    with contextlib.closing(made):
        yield made


def create(admin: Any, topic: str, *args: Any, **more: Any) -> None:
    admin.create_topics([confluent_admin.NewTopic(topic, *args, **more)])[topic].result(15)


def error_of(act: Callable[[], Any]) -> str:
    with pytest.raises(KafkaException) as caught:
        act()
    return str(caught.value.args[0].name())


def partitions(admin: Any, topic: str) -> dict[int, Any]:
    return dict(admin.list_topics(topic, 10).topics[topic].partitions)


def test_topics_are_created_grown_and_deleted(admin: Any, topic: str):
    create(admin, topic, 2, 2)
    assert error_of(lambda: create(admin, topic, 2, 2)) == "TOPIC_ALREADY_EXISTS"
    made = partitions(admin, topic)
    more = confluent_admin.NewPartitions(topic, 3)
    admin.create_partitions([more])[topic].result(15)
    grown = partitions(admin, topic)
    admin.delete_topics([topic])[topic].result(15)

    assert (sorted(made), sorted(grown)) == ([0, 1], [0, 1, 2])
    assert {len(one.replicas) for one in grown.values()} == {2}
    assert topic not in admin.list_topics(timeout=PATIENCE_S).topics


def test_wrong_topics_are_refused_in_kafkas_words(admin: Any, topic: str):
    assert error_of(lambda: create(admin, topic, 1, 9)) == "INVALID_REPLICATION_FACTOR"
    assert error_of(lambda: create(admin, "a/b", 1, 1)) == "TOPIC_EXCEPTION"
    wrong = {"config": {"retention.ms": "soon"}}
    assert error_of(lambda: create(admin, topic, 1, 1, **wrong)) == "INVALID_CONFIG"
    delete = admin.delete_topics([topic])[topic]
    assert error_of(lambda: delete.result(15)) == "UNKNOWN_TOPIC_OR_PART"


def test_what_is_only_validated_is_not_made(admin: Any, topic: str):
    asked = confluent_admin.NewTopic(topic, 1, 1)
    admin.create_topics([asked], validate_only=True)[topic].result(15)

    assert topic not in admin.list_topics(timeout=PATIENCE_S).topics


def test_settings_of_a_topic_are_set_added_to_and_described(admin: Any, topic: str):
    create(admin, topic, 1, 1, config={"segment.bytes": "100000"})
    kind, entry = confluent_admin.ConfigResource, confluent_admin.ConfigEntry
    operation = confluent_admin.AlterConfigOpType

    def described() -> dict[str, tuple[str, bool]]:
        found = admin.describe_configs([kind("topic", topic)])
        [settings] = [one.result(15) for one in found.values()]
        return {name: (one.value, one.is_default) for name, one in settings.items()}

    def changed(name: str, value: str, how: Any) -> None:
        wanted = entry(name, value, incremental_operation=how)
        resource = kind("topic", topic, incremental_configs=[wanted])
        [one.result(15) for one in admin.incremental_alter_configs([resource]).values()]

    before = described()
    changed("retention.ms", "5000", operation.SET)
    changed("cleanup.policy", "compact", operation.APPEND)
    changed("segment.bytes", "", operation.DELETE)
    after = described()
    refused = error_of(lambda: changed("no.such", "1", operation.SET))

    assert before["segment.bytes"] == ("100000", False)
    assert before["retention.ms"] == ("604800000", True)
    assert after["retention.ms"] == ("5000", False)
    assert after["cleanup.policy"] == ("delete,compact", False)
    assert after["segment.bytes"] == ("1073741824", True)
    assert refused == "INVALID_REQUEST"


def test_a_broker_describes_itself(admin: Any):
    asked = confluent_admin.ConfigResource("broker", "2")
    [settings] = [one.result(15) for one in admin.describe_configs([asked]).values()]

    assert settings["num.partitions"].value == "2"
    assert settings["broker.id"].is_read_only


def test_partitions_move_and_preferred_leaders_are_elected(admin: Any, other: Any, topic: str):
    create(admin, topic, replica_assignment=[[1, 2]], num_partitions=1)
    moved = kafka.TopicPartition(topic, 0)
    other.alter_partition_reassignments({moved: [2, 3]})
    there = eventually(lambda: partitions(admin, topic)[0].replicas == [2, 3])
    left = other.list_partition_reassignments()
    eventually(lambda: partitions(admin, topic)[0].leader == 2)
    wanted = [TopicPartition(topic, 0), TopicPartition("no-such", 0)]
    reported = admin.elect_leaders(ElectionType.PREFERRED, wanted).result(15)
    errors = {one.topic: error.name() for one, error in reported.items()}

    assert there
    assert not left
    assert errors == {topic: "ELECTION_NOT_NEEDED", "no-such": "UNKNOWN_TOPIC_OR_PART"}


def test_directories_and_brokers_are_reported(other: Any, admin: Any, topic: str):
    create(admin, topic, 1, 3)

    def hosts() -> list[int]:
        return sorted(
            one["broker"]
            for one in other.describe_log_dirs()
            for directory in one["log_dirs"]
            if topic in [each["name"] for each in directory["topics"]]
        )

    everywhere = eventually(lambda: hosts() == [1, 2, 3])  # followers make their logs in time
    brokers = sorted(one.id for one in admin.describe_cluster().result(15).nodes)

    assert everywhere
    assert brokers == [1, 2, 3]


def test_groups_are_listed_described_and_deleted(admin: Any, servers: str, topic: str):
    create(admin, topic, 1, 1)
    consumer = kafka.KafkaConsumer(topic, bootstrap_servers=servers.split(","), group_id=topic)
    eventually(lambda: bool(consumer.poll(200) or consumer.assignment()))
    consumer.commit({kafka.TopicPartition(topic, 0): kafka.OffsetAndMetadata(0, "here", -1)})
    listed = [one.group_id for one in admin.list_consumer_groups().result(15).valid]
    group = admin.describe_consumer_groups([topic])[topic].result(15)
    busy = error_of(lambda: admin.delete_consumer_groups([topic])[topic].result(15))
    consumer.close()
    admin.delete_consumer_groups([topic])[topic].result(15)
    after = [one.group_id for one in admin.list_consumer_groups().result(15).valid]

    assert topic in listed
    assert [one.host for one in group.members] == ["/127.0.0.1"]
    assert busy == "NON_EMPTY_GROUP"
    assert topic not in after


def test_what_brokers_only_keep_is_set_and_said_to_have_no_effect(cluster: Any, admin: Any):
    def changed(value: str, how: Any) -> None:
        wanted = confluent_admin.ConfigEntry(
            "log.cleaner.threads", value, incremental_operation=how
        )
        resource = confluent_admin.ConfigResource("broker", "1", incremental_configs=[wanted])
        [one.result(15) for one in admin.incremental_alter_configs([resource]).values()]

    log = cluster.folder / "logs" / "broker1" / "insync.log"
    text = "'log.cleaner.threads' was supplied but has no"
    asked = confluent_admin.ConfigResource("broker", "1")

    changed("2", confluent_admin.AlterConfigOpType.SET)
    kept = eventually(lambda: log.exists() and text in log.read_text())
    [settings] = [one.result(15) for one in admin.describe_configs([asked]).values()]
    changed("", confluent_admin.AlterConfigOpType.DELETE)

    assert kept
    assert settings["log.cleaner.threads"].value == "2"
