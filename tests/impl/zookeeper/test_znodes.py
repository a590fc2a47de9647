"""Kafka's znodes: paths, texts by release, and texts that are no such thing."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl import znodes
from impl.releases import PRESETS, Release
from impl.znodes import (
    BrokerInfo,
    LeaderIsrAndControllerEpoch,
    MalformedZnode,
    ReplicaAssignment,
    TopicPartition,
    TopicZnode,
    paths,
)
from impl.znodes.client import ZnodeClient
from impl.znodes.producer_ids import decode_block
from impl.zookeeper import EmbeddedSession, ZooKeeper, wait

IDS = st.lists(st.integers(0, 9), unique=True, max_size=4).map(tuple)
SOME_IDS = st.lists(st.integers(0, 9), unique=True, min_size=1, max_size=4).map(tuple)
NAMES = st.text("abz._-09", min_size=1, max_size=5)


def decode_moves(text: str, release: str = "2.3") -> dict[TopicPartition, tuple[int, ...]]:
    return znodes.decode_reassignment(text, Release.of(release))


def test_a_line_of_releases_means_its_last_one():
    assert Release.of("0.10").since("0.10.2")
    assert not Release.of("0.10.0").since("0.10.1")
    assert Release.of("2.3") < Release.of("2.4")
    assert str(Release.of("2.3")) == "2.3"


@pytest.mark.parametrize("text", ["", "2", "2.x", "v2.3", "2.3.", "latest"])
def test_what_is_no_release_is_refused(text: str):
    with pytest.raises(ValueError, match=r"a release looks like 2\.3"):
        Release.of(text)


def test_the_versions_that_releases_write():
    written = {
        name: (
            znodes.broker_version(Release.of(name)),
            znodes.topic_version(Release.of(name)),
            znodes.config_change_version(Release.of(name)),
        )
        for name in (*PRESETS, "0.10.0", "2.8")
    }

    assert written["0.10.0"] == (3, 1, 1)
    assert written["0.10"] == written["0.11"] == written["2.3"] == (4, 1, 2)
    assert written["2.4"] == (4, 2, 2)
    assert written["2.7"] == (5, 2, 2)
    assert written["2.8"] == (5, 3, 2)


@pytest.mark.parametrize(("protocol", "version"), [(None, 5), ("2.6", 4)])
def test_a_broker_registers_as_its_inter_broker_protocol_says(protocol: str | None, version: int):
    client = ZnodeClient(EmbeddedSession(ZooKeeper()), Release.of("2.7"))
    wait(client.make_path(paths.BROKER_IDS))
    spoken = None if protocol is None else Release.of(protocol)

    wait(client.register_broker(1, BrokerInfo(("PLAINTEXT://h:9092",), 0), protocol=spoken))

    node = wait(client.read(paths.broker(1)))
    assert node is not None
    assert json.loads(node.data)["version"] == version


def test_what_a_broker_creates_at_its_start_grew_with_the_releases():
    old, new = (paths.persistent(Release.of(name)) for name in ("0.10", "2.3"))

    assert "/log_dir_event_notification" not in old
    assert set(new) - set(old) == {"/latest_producer_id_block", "/log_dir_event_notification"}
    assert "/brokers/seqid" in old
    assert paths.state("t", 3) == "/brokers/topics/t/partitions/3/state"
    with pytest.raises(ValueError, match="there are topics, clients, users, brokers"):
        paths.config("quotas", "t")


@given(
    st.integers(1, 5),
    st.lists(st.tuples(NAMES, st.integers(0, 65535)), min_size=1, max_size=3),
    st.integers(0, 2**41),
    st.one_of(st.none(), NAMES),
)
def test_a_registration_is_read_as_it_was_written(
    version: int, hosts: list[tuple[str, int]], timestamp: int, rack: str | None
):
    endpoints = tuple(f"PLAINTEXT://{host}:{port}" for host, port in hosts)
    security = {"PLAINTEXT": "PLAINTEXT"} if version >= 4 else {}
    info = BrokerInfo(endpoints, timestamp, 9999, rack, security)

    read = znodes.decode_broker(1, znodes.encode_broker(info, version))

    assert read.timestamp == timestamp
    assert read.jmx_port == 9999
    assert read.rack == (rack if version >= 3 else None)
    assert read.endpoints == (endpoints if version >= 2 else endpoints[:1])
    assert read.security == security


def test_host_and_port_are_of_the_first_plaintext_listener_else_null_and_minus_1():
    inside = BrokerInfo(("SSL://s:1", "IN://h:2"), 0, security={"SSL": "SSL", "IN": "PLAINTEXT"})
    none = BrokerInfo(("SSL://s:1",), 0)

    fields = [json.loads(znodes.encode_broker(info)) for info in (inside, none)]

    assert [(one["host"], one["port"]) for one in fields] == [("h", 2), (None, -1)]
    assert fields[1]["listener_security_protocol_map"] == {"SSL": "SSL"}


@given(
    st.dictionaries(st.integers(0, 40), st.tuples(SOME_IDS, SOME_IDS), min_size=1, max_size=4),
    st.integers(1, 3),
)
def test_a_topic_is_read_as_it_was_written(
    partitions: dict[int, tuple[tuple[int, ...], tuple[int, ...]]], version: int
):
    moving = version > 1
    topic = TopicZnode(
        {
            number: ReplicaAssignment(old).reassign_to(new) if moving else ReplicaAssignment(old)
            for number, (old, new) in sorted(partitions.items())
        },
        "id" if version == 3 else None,
    )

    read = znodes.decode_topic("t", znodes.encode_topic(topic, version))

    assert read == topic
    assert list(read.partitions) == sorted(partitions)


def test_a_topic_of_2_4_lists_changes_and_always_has_both_maps():
    topic = TopicZnode({1: ReplicaAssignment((1, 2)), 0: ReplicaAssignment((3, 1), (3,), (1,))})

    assert json.loads(znodes.encode_topic(topic, 2)) == {
        "version": 2,
        "partitions": {"0": [3, 1], "1": [1, 2]},
        "adding_replicas": {"0": [3]},
        "removing_replicas": {"0": [1]},
    }
    with pytest.raises(ValueError, match="version 1 cannot say"):
        znodes.encode_topic(topic, 1)
    with pytest.raises(ValueError, match="has a topic_id"):
        znodes.encode_topic(topic, 3)


@given(SOME_IDS, SOME_IDS, SOME_IDS)
def test_a_reassignment_keeps_its_origin_whatever_its_target_becomes(
    origin: tuple[int, ...], first: tuple[int, ...], second: tuple[int, ...]
):
    there = ReplicaAssignment(origin).reassign_to(first)
    turned = there.reassign_to(second)

    assert set(there.origin) == set(turned.origin) == set(origin)
    assert there.target == first
    assert turned.target == second
    assert set(turned.replicas) == set(origin) | set(second)
    assert not turned.reassign_to(turned.origin).is_being_reassigned


@given(st.integers(-2, 9), st.integers(0, 99), IDS, st.integers(0, 99), st.integers(0, 99))
def test_a_state_is_read_as_it_was_written(
    leader: int, epoch: int, isr: tuple[int, ...], controller: int, version: int
):
    state = LeaderIsrAndControllerEpoch(leader, epoch, isr, controller, version)

    assert znodes.decode_state("t", 0, znodes.encode_state(state), version) == state


@given(st.dictionaries(st.tuples(NAMES, st.integers(0, 9)), SOME_IDS, max_size=4))
def test_reassignments_and_sets_of_partitions_are_read_as_they_were_written(
    targets: dict[tuple[str, int], tuple[int, ...]],
):
    wanted = {TopicPartition(*key): replicas for key, replicas in targets.items()}

    assert decode_moves(znodes.encode_reassignment(wanted)) == wanted
    for path in (paths.PREFERRED_ELECTION, f"{paths.ISR_CHANGE_PREFIX}0000000000"):
        assert znodes.decode_partition_set(path, znodes.encode_partition_set(wanted)) == [*wanted]


def test_configs_and_their_news_are_read_as_they_were_written():
    config = {"cleanup.policy": "compact", "retention.ms": "1000"}
    change = f"{paths.CONFIG_CHANGE_PREFIX}0000000000"

    assert znodes.decode_config("topics", "t", znodes.encode_config(config)) == config
    assert znodes.decode_config("topics", "t", "") == {}
    for version in (1, 2):
        text = znodes.encode_config_change("topics", "t.0", version)
        assert znodes.decode_config_change(change, text) == ("topics", "t.0")


def test_the_znodes_of_the_whole_cluster_are_read_as_they_were_written():
    event = f"{paths.LOG_DIR_EVENT_PREFIX}0000000000"

    assert znodes.decode_controller(znodes.encode_controller(7, 5)) == 7
    assert znodes.decode_controller_epoch("12") == 12
    assert znodes.decode_cluster_id(znodes.encode_cluster_id("abc")) == "abc"
    assert znodes.decode_log_dir_event(event, znodes.encode_log_dir_event(3)) == 3
    assert znodes.decode_log_dir_event(event, '{"broker":3,"event":9}') is None


@pytest.mark.parametrize(
    ("read", "text", "complaint"),
    [
        (
            lambda text: znodes.decode_topic("t", text),
            '{"version":1,',
            "/brokers/topics/t: line 1 column 14: no JSON",
        ),
        (
            lambda text: znodes.decode_topic("t", text),
            '{"version":1,"partitions":{"0":[1,"2"]}}',
            '/brokers/topics/t: partitions.0[1]: is "2", not a whole number',
        ),
        (
            lambda text: znodes.decode_topic("t", text),
            '{"version":4,"partitions":{}}',
            "/brokers/topics/t: version: is 4, and known are 1 to 3",
        ),
        (
            lambda text: znodes.decode_topic("t", text),
            '{"version":1,"partitions":{"x":[1]}}',
            "/brokers/topics/t: partitions.x: is not the number of a partition",
        ),
        (
            lambda text: znodes.decode_state("t", 0, text, 0),
            '{"version":1,"leader":1,"leader_epoch":0,"isr":[1]}',
            "/brokers/topics/t/partitions/0/state: controller_epoch: is missing",
        ),
        (
            lambda text: znodes.decode_state("t", 0, text, 0),
            "[]",
            "/brokers/topics/t/partitions/0/state: the text: is [], not a JSON object",
        ),
        (
            decode_moves,
            '{"version":1,"partitions":[{"topic":"t","partition":true,"replicas":[1]}]}',
            "/admin/reassign_partitions: partitions[0].partition: is true, not a whole number",
        ),
        (
            decode_moves,
            '{"partitions":[{"topic":"t","partition":-1,"replicas":[1]}]}',
            "/admin/reassign_partitions: partitions[0].partition: is -1, and partitions",
        ),
        (
            lambda text: znodes.decode_broker(3, text),
            '{"version":4,"endpoints":["h:9092"],"timestamp":"1"}',
            "/brokers/ids/3: endpoints[0]: is 'h:9092', not LISTENER://host:port",
        ),
        (
            lambda text: znodes.decode_broker(3, text),
            '{"version":4,"endpoints":[],"timestamp":"soon"}',
            "/brokers/ids/3: timestamp: is 'soon', not milliseconds in digits",
        ),
        (znodes.decode_controller_epoch, "one", "/controller_epoch: line 1 column 1: 'one'"),
        (znodes.decode_controller, "{}", "/controller: brokerid: is missing"),
        (
            decode_block,
            '{"version":1,"broker":1,"block_start":"0","block_end":"x"}',
            "/latest_producer_id_block: block_end: is 'x', not a number as text",
        ),
        (
            lambda text: znodes.decode_config_change("/config/changes/c", text),
            '{"version":2,"entity_path":"topics"}',
            "/config/changes/c: entity_path: is 'topics', not such as topics/T",
        ),
    ],
)
def test_bad_texts_are_named_with_the_place(
    read: Callable[[str], object], text: str, complaint: str
):
    with pytest.raises(MalformedZnode) as refused:
        read(text)

    assert str(refused.value).startswith(complaint)


A_MOVE = '{"topic":"t","partition":0,"replicas":[1],"log_dirs":["any"]}'


def test_a_request_for_moves_with_a_field_that_nobody_knows_is_refused_since_2_0():
    """Jackson binds it to classes then (KAFKA-4914); before, fields are looked up by name."""
    whole = [f'{{"partitions":[{A_MOVE}]}}', '{"partitions":[],"by":"me"}']

    assert [decode_moves(text, "1.1") for text in whole] == [{TopicPartition("t", 0): (1,)}, {}]
    for text, unknown in zip(whole, (r"partitions\[0\]\.log_dirs", "by"), strict=True):
        with pytest.raises(MalformedZnode, match=f"partitions: {unknown}: is no field"):
            decode_moves(text, "2.0")


def test_a_request_for_moves_that_is_no_json_or_names_none_asks_for_nothing_up_to_1_1():
    assert [decode_moves(text, "1.1") for text in ("soon", '{"version":1}')] == [{}, {}]
    for text in ("soon", '{"version":1}'):
        with pytest.raises(MalformedZnode):
            decode_moves(text, "2.0")
    with pytest.raises(MalformedZnode):  # JSON of another kind fails in each release
        decode_moves("[]", "1.1")


@pytest.mark.parametrize("text", ["t", "-0", "t-x", "", "t--"])
def test_what_is_no_partition_is_refused(text: str):
    with pytest.raises(ValueError, match="written topic-N"):
        TopicPartition.of(text)


def test_the_last_dash_separates_topic_and_partition():
    assert TopicPartition.of("a-b.c-3") == ("a-b.c", 3)
    assert str(TopicPartition("a-b", 0)) == "a-b-0"
