"""kafka-configs straight in ZooKeeper, and what a running broker makes of its settings."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from impl.admin.config_command import ConfigCommand, parse_added
from impl.admin.configs import edit_config, read_config
from impl.admin.errors import AdminError, IllegalArgument
from impl.log import LogConfig
from impl.releases import Release
from impl.server.dynamic_configs import RATES, DynamicConfigs, invalid_value_reason, settable
from impl.server.properties import TOPIC_KEYS, parse_properties
from impl.server.topic_configs import TopicConfigs
from impl.znodes import paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait
from impl.zookeeper.session import EmbeddedSession
from impl.zookeeper.store import ZooKeeper
from impl.zookeeper.znode import Znode
from tests.impl.server.test_admin import client


def command() -> tuple[ConfigCommand, ZnodeClient]:
    known = client({1: None})
    wait(known.create_topic("t", {0: [1]}))
    keys = settable(Release.of("2.3"))
    made = ConfigCommand(
        known, {"topics": TOPIC_KEYS, "brokers": keys}, keys - RATES, invalid_value_reason
    )
    return made, known


def notices(known: ZnodeClient) -> int:
    return len(wait(known.names(paths.CONFIG_CHANGES)))


def test_a_topics_settings_are_set_described_and_unset_and_brokers_hear_of_it():
    tool, known = command()

    said = tool.alter("topics", "t", {"retention.ms": "5", "cleanup.policy": "compact,delete"}, [])
    first = tool.describe("topics", None)
    tool.alter("topics", "t", {}, ["retention.ms"])

    assert said == ["Completed Updating config for entity: topic 't'."]
    assert first == ["Configs for topic 't' are retention.ms=5,cleanup.policy=compact,delete"]
    assert tool.describe("topics", "t") == [
        "Configs for topic 't' are cleanup.policy=compact,delete"
    ]
    assert tool.describe("topics", "u") == ["Configs for topic 'u' are "]
    assert notices(known) == 2


@pytest.mark.parametrize(
    "kind, name, added, dropped, why",
    [
        ("topics", "t", {"retention.ms": "abc"}, [], "Not a number of type LONG"),
        ("topics", "t", {"min.cleanable.dirty.ratio": "2"}, [], "no more than 1"),
        ("topics", "t", {"min.cleanable.dirty.ratio": "x"}, [], "Not a number of type DOUBLE"),
        ("topics", "t", {"cleanup.policy": "shrink"}, [], "must be one of: compact, delete"),
        ("topics", "t", {"retntion.ms": "1"}, [], "Unknown topic config name: retntion.ms"),
        ("topics", "u", {"retention.ms": "1"}, [], 'Topic "u" does not exist.'),
        ("topics", "t", {}, ["retention.ms"], r"Invalid config\(s\): retention.ms"),
        ("brokers", "9", {"broker.id": "1"}, [], "Unknown Dynamic Configuration"),
        ("brokers", "9", {"log.retention.ms": "x"}, [], "is a number, not 'x'"),
        ("brokers", "1", {"log.retention.ms": "1"}, [], "--bootstrap-server option"),
        ("brokers", "<default>", {"log.retention.ms": "1"}, [], "--bootstrap-server option"),
    ],
)
def test_what_cannot_be_set_is_refused_and_nothing_is_written(kind, name, added, dropped, why):
    tool, known = command()

    with pytest.raises(AdminError, match=why):
        tool.alter(kind, name, added, dropped)

    assert read_config(tool.client, kind, name) == {}
    assert notices(known) == 0


def test_settings_are_written_with_brackets_around_commas():
    assert parse_added("a=1,b=[x,y],c=") == {"a": "1", "b": "x,y", "c": ""}
    assert parse_added("") == {}
    with pytest.raises(IllegalArgument, match="key=val"):
        parse_added("a=1,b")


def dynamic(release: str) -> tuple[DynamicConfigs, ZnodeClient, list[str]]:
    reported: list[str] = []
    text = "zookeeper.connect=h:1\nlog.dirs=a\nlog.retention.ms=9\nmin.insync.replicas=2\n"
    config = parse_properties("p", text, Release.of(release))
    known = ZnodeClient(client({1: None}).port, Release.of(release))
    return DynamicConfigs(config, config.log, reported.append), known, reported


def test_a_brokers_own_settings_come_before_those_for_all_and_these_before_its_file():
    found, known, reported = dynamic("2.3")
    edit_config(
        known, "brokers", "<default>", {"log.retention.ms": "20", "log.segment.bytes": "99"}
    )
    edit_config(known, "brokers", "1", {"log.retention.ms": "30", "min.insync.replicas": "1"})
    before = found.log.retention_ms, found.whole_number("min.insync.replicas")
    found.read(known, 1)

    assert before == (9, 2)
    assert (found.log.retention_ms, found.log.segment_bytes) == (30, 99)
    assert found.whole_number("min.insync.replicas") == 1
    assert found.synonyms("log.retention.ms") == [
        ("DYNAMIC_BROKER_CONFIG", "30"), ("DYNAMIC_DEFAULT_BROKER_CONFIG", "20"),
        ("STATIC_BROKER_CONFIG", "9"), ("DEFAULT_CONFIG", "604800000"),
    ]  # fmt: skip
    assert reported == []


def test_before_1_1_only_rates_can_be_set_for_a_broker():
    found, known, _ = dynamic("1.0")
    edit_config(known, "brokers", "1", {"log.retention.ms": "30"})
    found.read(known, 1)

    assert found.log.retention_ms == 9
    assert settable(Release.of("1.0")) == RATES


def test_a_setting_that_is_none_is_named_and_does_not_count():
    found, known, reported = dynamic("2.3")
    edit_config(known, "brokers", "1", {"log.retention.ms": "x", "min.insync.replicas": "0"})
    found.read(known, 1)

    assert found.log.retention_ms == 9
    assert found.whole_number("min.insync.replicas") == 2
    assert [line.partition(" ")[0] for line in reported] == [
        "log.retention.ms",
        "min.insync.replicas",
    ]


class LatePort(EmbeddedSession):
    """Its first read is answered after what ``meanwhile`` does."""

    meanwhile: Callable[[], None] | None = None

    async def get(self, path: str, watch: bool = False) -> Znode:
        found = await super().get(path, watch)
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return found


def test_an_answer_that_comes_late_does_not_undo_a_newer_one():
    store = ZooKeeper()
    late = LatePort(store, 6000, 0)
    slow = ZnodeClient(late, Release.of("2.3"))
    quick = ZnodeClient(EmbeddedSession(store, 6000, 0), Release.of("2.3"))
    configs = TopicConfigs(lambda text: None, Release.of("2.3"))
    wait(quick.make_path(paths.CONFIG_CHANGES))
    edit_config(quick, "topics", "t", {"retention.ms": "1"})

    def altered() -> None:
        edit_config(quick, "topics", "t", {"retention.ms": "2"})
        configs.read(quick, "t")

    late.meanwhile = altered
    configs.read(slow, "t")

    assert configs.overrides["t"] == {"retention.ms": "2"}


@pytest.mark.parametrize("release", ["0.10", "0.11", "2.0"])
def test_a_broker_says_which_topic_has_a_message_format_that_it_does_not_know(release: str):
    said: list[str] = []
    configs = TopicConfigs(said.append, Release.of(release))
    configs.overrides["t"] = {"message.format.version": "2.3", "retention.ms": "7"}

    config = configs.log_config("t", LogConfig())

    assert said == ["topic t: Version `2.3` is not a valid version"]
    assert (config.message_format, config.retention_ms) == (2, 7)
