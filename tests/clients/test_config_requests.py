"""Configs that are described and altered over the wire, refused and listed in Kafka's words."""

from __future__ import annotations

from typing import Any

import pytest

from impl.server.config_types import TYPES
from impl.server.dynamic_configs import RATES, WITHOUT_EFFECT
from impl.server.properties import KNOWN, LOG_KEYS, TOPIC_KEYS
from impl.wire import Fields
from tests.clients.conftest import Wire
from tests.waiting import eventually


def described(wire: Wire, kind: int, name: str) -> tuple[str, str | None]:
    asked = Fields(resource_type=kind, resource_name=name, configuration_keys=None)
    [one] = wire.ask("DescribeConfigs", 1, resources=[asked], include_synonyms=False).results
    return one.error_code.name, one.error_message


@pytest.mark.parametrize(("kind", "name", "error", "message"), [
    (2, "no-such", "unknown_topic_or_partition", None),
    (4, "one", "invalid_request", "Broker id must be an integer, but it is: one"),
    (4, "7", "invalid_request", "Unexpected broker id, expected 1 or empty string, but received 7"),
    (8, "1", "invalid_request", "Unsupported resource type: BROKER_LOGGER"),
    (3, "1", "invalid_request", "Unsupported resource type: UNKNOWN"),
])  # fmt: skip
def test_what_cannot_be_described_is_refused_in_kafkas_words(
    wire: Wire, kind: int, name: str, error: str, message: str | None
):
    assert described(wire, kind, name) == (error, message)


def changed(led: Wire, topic: str, *operations: tuple[str, int, str | None]) -> str | None:
    """The message, None if the change was made; by the operations' numbers in Kafka."""
    configs = [
        Fields(name=name, config_operation=number, value=value)
        for name, number, value in operations
    ]
    asked = Fields(resource_type=2, resource_name=topic, configs=configs)
    answer = led.ask("IncrementalAlterConfigs", 0, resources=[asked], validate_only=False)
    message: str | None = answer.responses[0].error_message
    return message


def value_of(led: Wire, topic: str, name: str) -> str:
    asked = Fields(resource_type=2, resource_name=topic, configuration_keys=(name,))
    [one] = led.ask("DescribeConfigs", 1, resources=[asked], include_synonyms=False).results
    return str(one.configs[0].value)


def test_a_list_that_a_topic_has_not_begins_as_kafkas_default_whatever_its_broker_has(
    led: Wire, topic: str
):
    def of_brokers(operation: int) -> None:
        row = Fields(name="log.cleanup.policy", config_operation=operation, value="compact")
        named = [
            Fields(resource_type=4, resource_name=one, configs=[row]) for one in ("1", "2", "3")
        ]
        answer = led.ask("IncrementalAlterConfigs", 0, resources=named, validate_only=False)
        assert [one.error_message for one in answer.responses] == [None] * 3

    of_brokers(0)
    try:
        assert eventually(lambda: value_of(led, topic, "cleanup.policy") == "compact")
        assert changed(led, topic, ("cleanup.policy", 2, "compact")) is None
        assert eventually(lambda: value_of(led, topic, "cleanup.policy") == "delete,compact")
    finally:
        of_brokers(1)


def test_lists_are_added_to_and_taken_from_as_kafka_does(led: Wire, topic: str):
    throttled = "leader.replication.throttled.replicas"

    def value() -> str:
        return value_of(led, topic, throttled)

    for text in ("0:1,1:2", "0:1"):  # what is there is there a second time
        assert changed(led, topic, (throttled, 2, text)) is None
    assert eventually(lambda: value() == "0:1,1:2,0:1")
    assert changed(led, topic, (throttled, 3, "0:1")) is None  # and taken out once
    assert eventually(lambda: value() == "1:2,0:1")


@pytest.mark.parametrize(("operations", "message"), [
    ([("flush.ms", 2, "1")], "Config value append is not allowed for config key: flush.ms"),
    ([("flush.ms", 3, "1")], "Config value subtract is not allowed for config key: flush.ms"),
    ([("retention.ms", 0, None)], "Null value not supported for : SET:retention.ms"),
    ([("retention.ms", 0, "1"), ("retention.ms", 0, "2")],
     "Error due to duplicate config keys : retention.ms"),
])  # fmt: skip
def test_changes_that_make_no_sense_are_refused_in_kafkas_words(
    led: Wire, topic: str, operations: Any, message: str
):
    assert changed(led, topic, *operations) == message


def test_every_config_that_a_broker_describes_has_a_type():
    names = {*KNOWN, *LOG_KEYS, *TOPIC_KEYS, *RATES, *WITHOUT_EFFECT}

    assert names == set(TYPES)
    assert {name: TYPES[name].name for name in (
        "retention.bytes", "segment.bytes", "min.cleanable.dirty.ratio", "cleanup.policy",
        "preallocate", "offsets.topic.replication.factor", "broker.rack")} == {
        "retention.bytes": "LONG", "segment.bytes": "INT", "min.cleanable.dirty.ratio": "DOUBLE",
        "cleanup.policy": "LIST", "preallocate": "BOOLEAN",
        "offsets.topic.replication.factor": "SHORT", "broker.rack": "STRING",
    }  # fmt: skip
