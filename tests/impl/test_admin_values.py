"""The tools refuse what Kafka's refuse: values that a configuration cannot have, other versions."""

from __future__ import annotations

import re

import pytest

from impl.admin.errors import AdminCommandFailed, AdminOperation, InvalidConfig, JsonMapping
from impl.admin.placement import parse_replica_assignment
from impl.admin.reassign_by_brokers import proposed_moves, throttled_by
from impl.admin.reassign_json import parse_execute, parse_generate
from impl.admin.topic_command import parse_configs
from impl.releases import Release
from impl.server.properties import TOPIC_KEYS
from impl.znodes import ReplicaAssignment, TopicPartition
from impl.znodes.text import NumberFormatException

R11, R20, R23 = (Release.of(one) for one in ("1.1", "2.0", "2.3"))
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
        ("message.format.version=new", "message.format.version: Version `new` is not a valid"),
        ("message.format.version=2.4", "Version `2.4` is not a valid version"),
        ("compression.type=lzma", "String must be one of: uncompressed, zstd, lz4"),
        ("flush.ms=-1", "flush.ms: Value must be at least 0"),
        ("flush.ms=soon", "flush.ms: Not a number of type LONG"),
        ("preallocate=1", "either true or false"),
    ],
)
def test_a_value_that_is_none_is_refused_by_name(text: str, why: str) -> None:
    with pytest.raises(InvalidConfig, match=why.replace(".", r"\.")):
        parse_configs([text], TOPIC_KEYS, R23)


@pytest.mark.parametrize(
    "text",
    ["retention.ms=-1", "min.insync.replicas=2", "unclean.leader.election.enable=TRUE",
     "message.timestamp.type=LogAppendTime", "message.format.version=0.10.2",
     "compression.type=lz4", "flush.ms=0", "preallocate=true",
     "message.downconversion.enable=false"],
)  # fmt: skip
def test_a_value_that_kafka_takes_is_taken(text: str) -> None:
    name, _, value = text.partition("=")

    assert parse_configs([text], TOPIC_KEYS, R23) == {name: value}


@pytest.mark.parametrize("value", ["9.9", "2.4", "soon"])
def test_a_message_format_that_nobody_knows_is_taken_by_tools_before_2_1(value: str) -> None:
    text = f"message.format.version={value}"

    assert parse_configs([text], TOPIC_KEYS, R20) == {"message.format.version": value}


@pytest.mark.parametrize("version", [0, 2, 9, "1"])
def test_files_of_another_version_are_refused_since_2_0(version: object) -> None:
    topics = {"version": version, "topics": [{"topic": "t"}]}
    with pytest.raises(AdminOperation, match=f"Not supported version field value {version}"):
        parse_execute({"version": version, "partitions": MOVE}, R20)
    with pytest.raises(AdminOperation, match="Not supported version"):
        parse_generate("1,2", topics, R20)
    assert parse_execute({"version": version, "partitions": MOVE}, R11).replicas
    assert parse_generate("1,2", topics, R11) == ([1, 2], ["t"])


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("{}", "No such field exists: `topic`"),
        ('"t-0"', 'Expected JSON object, received "t-0"'),
        ('{"topic":"t","partition":0}', "No such field exists: `replicas`"),
        ('{"topic":5,"partition":0,"replicas":[1]}', "Expected `String` value, received 5"),
        ('{"topic":"t","partition":"0","replicas":[1]}', 'Expected `Int` value, received "0"'),
        ('{"topic":"t","partition":0.5,"replicas":[1]}', "Expected `Int` value, received 0.5"),
        ('{"topic":"t","partition":0,"replicas":1}', "Expected JSON array, received 1"),
        ('{"topic":"t","partition":0,"replicas":[true]}', "Expected `Int` value, received true"),
        ('{"topic":"t","partition":99999999999,"replicas":[1]}', "Expected `Int` value"),
        ('{"topic":"t","partition":0,"replicas":[1],"log_dirs":[3]}', "Expected `String` value"),
    ],
)
def test_a_file_of_moves_with_a_wrong_entry_is_refused_by_what_is_wrong(
    entry: str, why: str
) -> None:
    with pytest.raises(JsonMapping, match=re.escape(why)):
        parse_execute(f'{{"version":1,"partitions":[{entry}]}}', R20)


def test_topics_to_move_are_read_as_a_file_of_moves_is() -> None:
    for text in ('{"topics":[{}]}', '{"topics":[{"topic":5}]}', '{"topics":{"topic":"t"}}'):
        with pytest.raises(JsonMapping):
            parse_generate("1,2", text, R20)
    with pytest.raises(AdminOperation, match="The input string is not a valid JSON"):
        parse_generate("1,2", "nonsense", R20)


@pytest.mark.parametrize("ids", ["0,x", "", "0,,1", "0, 1", "0 1", "1_0", "99999999999"])
def test_a_list_of_brokers_with_what_is_no_number_is_refused_as_java_does(ids: str) -> None:
    with pytest.raises(NumberFormatException, match="For input string"):
        parse_generate(ids, ["t"], R20)


def test_replicas_by_hand_may_have_blanks_and_nothing_else_that_is_no_number() -> None:
    assert parse_replica_assignment("0: 1,1:0,") == {0: (0, 1), 1: (1, 0)}
    with pytest.raises(NumberFormatException, match='For input string: "x"'):
        parse_replica_assignment("0:x")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{invalid_json", "Unexpected character ('i' (code 105))"),
        ("nonsense", "Unrecognized token 'nonsense'"),
        ('{"version":1', "Unexpected end-of-input"),
    ],
)
def test_a_file_of_moves_that_is_no_json_is_refused_since_2_8_as_the_parser_says(
    text: str, why: str
) -> None:
    with pytest.raises(AdminOperation, match=re.escape(why)):
        parse_execute(text, Release.of("2.8"))


@pytest.mark.parametrize(
    "text", ["nonsense", pytest.param("[" * 100_000, id="nested too deep for the parser")]
)
def test_what_is_no_json_is_an_empty_file_up_to_1_1(text: str) -> None:
    with pytest.raises(AdminCommandFailed, match="Partition reassignment data file is empty"):
        parse_execute(text, R11)
    with pytest.raises(AdminOperation, match="The input string is not a valid JSON"):
        parse_execute(text, R20)


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
