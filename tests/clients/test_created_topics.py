"""What CreateTopics says of a topic that it has made (KIP-525): Kafka's own tools read it."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest

from impl.server.cluster import Cluster
from impl.wire import Fields
from tests.clients.conftest import Wire
from tests.waiting import PATIENCE_S

KIP_525 = 5


def asked(
    cluster: Cluster, name: str, count: int, factor: int, validate: bool, assignments: Any = (),
    configs: dict[str, str] | None = None,
) -> Any:  # fmt: skip
    """The answer of whoever is controller."""
    settings = configs or {"retention.ms": "7000"}
    topic = Fields(
        name=name, num_partitions=count, replication_factor=factor, assignments=assignments,
        configs=[Fields(name=one, value=value) for one, value in settings.items()],
    )  # fmt: skip
    for address in cluster.addresses():
        wire = Wire(address)
        answer = wire.ask(
            "CreateTopics", KIP_525, topics=[topic], timeout=timedelta(seconds=10),
            validate_only=validate,
        )  # fmt: skip
        wire.close()
        if answer.topics[0].error_code.name != "not_controller":
            return answer.topics[0]
    raise AssertionError("nobody is controller")


@pytest.mark.parametrize("validate", [True, False])
def test_numbers_and_settings_are_said_of_a_topic_made_or_only_validated(
    cluster: Cluster, topic: str, validate: bool
):
    made = asked(cluster, topic, -1, 2, validate)
    found = {one.name: (one.value, one.config_source) for one in made.configs}

    assert (made.num_partitions, made.replication_factor) == (2, 2)
    assert found["retention.ms"] == ("7000", 1)
    assert found["segment.bytes"] == ("1073741824", 5)


def test_an_assignment_by_hand_is_counted(cluster: Cluster, topic: str):
    by_hand = [Fields(partition_index=one, broker_ids=[1, 2, 3]) for one in range(4)]
    made = asked(cluster, topic, -1, -1, True, by_hand)

    assert (made.num_partitions, made.replication_factor) == (4, 3)


def test_nothing_is_said_of_what_is_refused(cluster: Cluster, topic: str):
    refused = asked(cluster, topic, 1, 9, False)

    assert refused.error_code.name == "invalid_replication_factor"
    assert (refused.num_partitions, refused.replication_factor) == (-1, -1)


def test_a_setting_that_brokers_only_keep_is_taken_and_said_to_have_no_effect(
    cluster: Cluster, topic: str
):
    made = asked(cluster, topic, 1, 3, False, configs={"compression.type": "lz4"})
    found = {one.name: (one.value, one.config_source) for one in made.configs}
    logs = [cluster.folder / "logs" / f"broker{one}" / "insync.log" for one in cluster.brokers]
    deadline = time.monotonic() + PATIENCE_S
    words = f"compression.type of topic {topic} has no effect here: batches are kept as they come"
    while time.monotonic() < deadline and not all(
        one.exists() and words in one.read_text() for one in logs
    ):
        time.sleep(0.1)

    assert made.error_code.name == "none"
    assert found["compression.type"] == ("lz4", 1)
    assert found["preallocate"] == ("false", 5)
    assert [one.read_text().count(words) for one in logs] == [1, 1, 1]
