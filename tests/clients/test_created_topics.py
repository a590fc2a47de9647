"""What CreateTopics says of a topic that it has made (KIP-525): Kafka's own tools read it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from impl.server.cluster import Cluster
from impl.wire import Fields
from tests.clients.conftest import Wire

KIP_525 = 5


def asked(
    cluster: Cluster, name: str, count: int, factor: int, validate: bool, assignments: Any = ()
) -> Any:
    """The answer of whoever is controller."""
    topic = Fields(
        name=name, num_partitions=count, replication_factor=factor, assignments=assignments,
        configs=[Fields(name="retention.ms", value="7000")],
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
