"""The tools refuse what Kafka's refuse: values that a configuration cannot have, other versions."""

from __future__ import annotations

import pytest

from impl.admin.errors import AdminCommandFailed, AdminOperation, InvalidConfig
from impl.admin.reassign_by_brokers import proposed_moves, throttled_by
from impl.admin.reassign_json import parse_execute, parse_generate
from impl.admin.topic_command import parse_configs
from impl.releases import Release
from impl.server.properties import TOPIC_KEYS
from impl.znodes import ReplicaAssignment, TopicPartition

R11, R20 = Release.of("1.1"), Release.of("2.0")
MOVE = [{"topic": "t", "partition": 0, "replicas": [1]}]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("retention.ms=abc", "retention.ms: Not a number of type LONG"),
        ("segment.bytes=1.5", "segment.bytes: Not a number of type INT"),
        ("segment.bytes=3", "segment.bytes: Value must be at least 14"),
        ("retention.ms=-2", "retention.ms: Value must be at least -1"),
        ("min.insync.replicas=0", "min.insync.replicas: Value must be at least 1"),
        ("min.insync.replicas=two", "min.insync.replicas: Not a number of type INT"),
        ("unclean.leader.election.enable=yes", "either true or false"),
        ("message.timestamp.type=Later", "String must be one of: CreateTime, LogAppendTime"),
        (
            "cleanup.policy=compact,keep",
            "Invalid value keep for configuration cleanup.policy: "
            "String must be one of: compact, delete",
        ),
        ("min.cleanable.dirty.ratio=2", "min.cleanable.dirty.ratio: Value must be no more than 1"),
        ("min.cleanable.dirty.ratio=-1", "min.cleanable.dirty.ratio: Value must be at least 0"),
        ("message.format.version=new", "is a release such as"),
        ("compression.type=lzma", "String must be one of: uncompressed, zstd, lz4"),
        ("flush.ms=-1", "flush.ms: Value must be at least 0"),
        ("flush.ms=soon", "flush.ms: Not a number of type LONG"),
        ("preallocate=1", "either true or false"),
    ],
)
def test_a_value_that_is_none_is_refused_by_name(text: str, why: str) -> None:
    with pytest.raises(InvalidConfig, match=why.replace(".", r"\.")):
        parse_configs([text], TOPIC_KEYS)


@pytest.mark.parametrize(
    "text",
    ["retention.ms=-1", "min.insync.replicas=2", "unclean.leader.election.enable=TRUE",
     "message.timestamp.type=LogAppendTime", "message.format.version=0.10.2",
     "compression.type=lz4", "flush.ms=0", "preallocate=true",
     "message.downconversion.enable=false"],
)  # fmt: skip
def test_a_value_that_kafka_takes_is_taken(text: str) -> None:
    name, _, value = text.partition("=")

    assert parse_configs([text], TOPIC_KEYS) == {name: value}


@pytest.mark.parametrize("version", [0, 2, 9, "1"])
def test_files_of_another_version_are_refused_since_2_0(version: object) -> None:
    topics = {"version": version, "topics": [{"topic": "t"}]}
    with pytest.raises(AdminOperation, match=f"Not supported version field value {version}"):
        parse_execute({"version": version, "partitions": MOVE}, R20)
    with pytest.raises(AdminOperation, match="Not supported version"):
        parse_generate("1,2", topics, R20)
    assert parse_execute({"version": version, "partitions": MOVE}, R11).replicas
    assert parse_generate("1,2", topics, R11) == ([1, 2], ["t"])


def test_what_is_no_json_is_an_empty_file_up_to_1_1() -> None:
    with pytest.raises(AdminCommandFailed, match="Partition reassignment data file is empty"):
        parse_execute("nonsense", R11)
    with pytest.raises(AdminOperation, match="The input string is not a valid JSON"):
        parse_execute("nonsense", R20)


@pytest.mark.parametrize("version", [{"version": 1}, {}])
def test_version_1_and_files_without_a_version_are_taken(version: dict[str, int]) -> None:
    assert len(parse_execute({**version, "partitions": MOVE}, R20).replicas) == 1


@pytest.mark.parametrize(
    ("release", "leaders", "followers"),
    [("2.7", "0:1,0:2,0:3,1:1,1:2", "0:4"), ("2.8", "0:1,0:2,1:1", "0:4,1:2")],
)
def test_whoever_is_about_to_get_a_partition_was_throttled_as_its_leader_up_to_2_7(
    release: str, leaders: str, followers: str
) -> None:
    """One move, 1,2 to 1,3, is overridden by 1,4; another, 1 to 2, goes on (KAFKA-10779)."""
    t0, t1 = TopicPartition("t", 0), TopicPartition("t", 1)
    moving = {
        t0: ReplicaAssignment((1, 3, 2), (3,), (2,)), t1: ReplicaAssignment((2, 1), (2,), (1,)),
    }  # fmt: skip
    current = {t0: (1, 3, 2), t1: (2, 1)}

    moves = proposed_moves(moving, {t0: (1, 4)}, current, Release.of(release))

    assert [throttled_by(moves, side)["t"] for side in (0, 1)] == [leaders, followers]
