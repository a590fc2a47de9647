from __future__ import annotations

import re
from pathlib import Path

import pytest

from impl.releases import Release
from impl.server import properties
from impl.server.properties import WrongProperties, parse_properties
from impl.server.unsupported import REASON_OF

NEEDED = "zookeeper.connect=h:1\nlog.dirs=a, b\n"


def read(text: str, version: str = "2.3"):
    return parse_properties("server.properties", NEEDED + text, Release.of(version))


def test_defaults_are_those_of_the_release():
    old, new = read("", "0.11"), read("", "2.7")

    assert not old.truth("delete.topic.enable")
    assert new.truth("delete.topic.enable")
    assert old.whole_number("replica.lag.time.max.ms") == 10_000
    assert new.whole_number("replica.lag.time.max.ms") == 30_000
    assert read("", "0.10").truth("unclean.leader.election.enable")


def test_kafkas_names_are_understood():
    reported = read(
        "broker.id=7\n# a comment\nbroker.rack = east\nlisteners=PLAINTEXT://127.0.0.1:9093\n"
        "log.segment.bytes=1000\nlog.message.timestamp.type=LogAppendTime\nlog.retention.hours=2\n"
        "log.index.interval.bytes=10\nmin.insync.replicas=2\nauto.leader.rebalance.enable=false\n"
        "leader.imbalance.per.broker.percentage=5\n"
        "replica.high.watermark.checkpoint.interval.ms=100\n"
    )

    assert (reported.whole_number("broker.id"), reported.text("broker.rack")) == (7, "east")
    assert reported.log_dirs == ["a", "b"]
    assert reported.address == ("127.0.0.1", 9093)
    assert reported.log.segment_bytes == 1000
    assert reported.log.retention_ms == 2 * 3_600_000
    assert reported.log.message_timestamp_type == "LogAppendTime"


@pytest.mark.parametrize(
    "line, message",
    [
        ("min.insync.replica=2", "server.properties:3: min.insync.replica is no property of a "
         "broker; did you mean min.insync.replicas?"),
        ("broker.id=one", "server.properties:3: broker.id is a whole number, not 'one'"),
        ("broker.id=-2", "server.properties:3: broker.id is -1 or more, not '-2'"),
        ("delete.topic.enable=yes", "server.properties:3: delete.topic.enable is true or false, "
         "not 'yes'"),
        ("log.segment.bytes=1", "server.properties:3: log.segment.bytes is 14 or more, not 1"),
        ("log.message.timestamp.type=Now", "server.properties:3: log.message.timestamp.type is "
         "CreateTime or LogAppendTime, not 'Now'"),
        ("listeners=SSL://h:1", "server.properties:3: listeners is one listener such as "
         "PLAINTEXT://127.0.0.1:9092, not 'SSL://h:1'"),
        ("nonsense", "server.properties:3: 'nonsense' is no property; write name=value"),
        ("segment.bytes=100", "server.properties:3: segment.bytes is no property of a broker; did "
         "you mean log.segment.bytes?"),
        ("inter.broker.protocol.version=2.7", "server.properties:3: inter.broker.protocol.version: "
         "Version `2.7` is not a valid version"),
        ("log.message.format.version=9.9", "server.properties:3: log.message.format.version: "
         "Version `9.9` is not a valid version"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_file_and_line(line: str, message: str):
    with pytest.raises(WrongProperties) as refused:
        read(line)

    assert str(refused.value) == message


FORMAT, SPOKEN = "log.message.format.version", "inter.broker.protocol.version"


@pytest.mark.parametrize(
    ("version", "text", "why"),
    [
        ("0.10", f"{FORMAT}=0.11.0", "Version `0.11.0` is not a valid version"),
        ("0.11", f"{FORMAT}=0.11", "Version `0.11` is not a valid version"),
        ("0.11", f"{FORMAT}=1.0", "Version `1.0` is not a valid version"),
        ("0.11", f"{SPOKEN}=0.10.2", f"{FORMAT} 0.11.0-IV2 cannot be used when {SPOKEN} is set to "
         "0.10.2"),
        ("1.1", f"{SPOKEN}=0.10.2", f"{FORMAT} 1.1-IV0 can only be used when {SPOKEN} is set to "
         "version 0.11.0-IV0 or higher"),
        ("2.3", f"{SPOKEN}=0.9.0\n{FORMAT}=0.10.2", "is set to version 0.10.0 or higher"),
        ("2.7", f"{SPOKEN}=2.7-IV1", "2.7-IV1 lies between releases, and is not spoken"),
    ],
)  # fmt: skip
def test_a_format_or_a_protocol_that_a_release_does_not_know_or_take_is_refused(
    version: str, text: str, why: str
):
    with pytest.raises(WrongProperties, match=re.escape(why)):
        read(text, version)


@pytest.mark.parametrize(
    ("version", "text", "magic", "protocol"),
    [
        ("0.10", f"{FORMAT}=0.9.0", 0, "0.10.2"),
        ("0.11", f"{SPOKEN}=0.10.2.1\n{FORMAT}=0.10.2-IV0", 1, "0.10.2.1"),
        ("2.4", f"{SPOKEN}=2.4-IV1", 2, "2.4"),
        ("2.7", f"{SPOKEN}=2.6\n{FORMAT}=0.11.0-IV0", 2, "2.6"),
    ],
)
def test_a_format_and_a_protocol_are_named_as_kafka_names_them(
    version: str, text: str, magic: int, protocol: str
):
    found = read(text, version)

    assert (found.log.message_format, str(found.protocol)) == (magic, protocol)


@pytest.mark.parametrize("text, name", [("log.dirs=a", "zookeeper.connect"),
                                        ("zookeeper.connect=h:1", "log.dirs")])  # fmt: skip
def test_what_has_no_default_must_be_said(text: str, name: str):
    with pytest.raises(WrongProperties, match=f"p: {name} is missing"):
        parse_properties("p", text, Release.of("2.3"))


def test_what_kafka_has_and_this_broker_has_not_is_named_with_the_reason():
    reported = read("compression.type=gzip\nbroker.id=1\nnum.network.threads=8\n")

    assert reported.without_effect == {
        "compression.type": "batches are kept as they come",
        "num.network.threads": "a thread serves each connection, and one lock guards all replicas",
    }


def test_every_property_is_obeyed_or_named_as_not_supported():
    code = (
        "".join(
            path.read_text()
            for path in Path(properties.__file__).parent.rglob("*.py")
            if path.name not in ("properties.py", "unsupported.py")
        )
        + Path(properties.__file__).read_text().partition("class BrokerProperties")[2]
    )
    read_somewhere = set(re.findall(r'(?:whole_number|truth|text)\(\s*"([a-z.]+)"', code))

    assert set(properties.KNOWN) == read_somewhere
    assert not set(REASON_OF) & (set(properties.KNOWN) | properties.LOG_KEYS)


@pytest.mark.parametrize(
    "text, kept_ms",
    [
        ("log.retention.ms=5\nlog.retention.hours=2\n", 5),
        ("log.retention.hours=2\nlog.retention.minutes=1\n", 60_000),
        ("log.retention.minutes=1\nlog.retention.hours=2\n", 60_000),
        ("log.retention.hours=-1\n", -1),
    ],
)
def test_of_several_units_the_finest_counts(text: str, kept_ms: int):
    assert read(text).log.retention_ms == kept_ms
