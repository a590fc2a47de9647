"""DeleteRecords on running brokers (KIP-107)."""

from __future__ import annotations

import pytest

from impl.admin.topic_command import TopicCommand
from impl.server.clients import ClientError, Consumer, Producer
from impl.znodes.client import ZnodeClient
from tests.impl.server.conftest import Start


def test_records_are_deleted_once_every_live_replica_begins_at_the_offset(start: Start) -> None:
    cluster = start(2)
    client = ZnodeClient(cluster.session(), cluster.release)
    TopicCommand(client, "").create("t", by_hand="1:2")
    TopicCommand(client, "").create("kept", configs={"cleanup.policy": "compact"})
    with Producer(cluster.addresses()) as producer:
        producer.send("t", [b"%d" % number for number in range(9)])
        producer.send("kept", [b"v"], key=b"k")

    with Consumer(cluster.addresses(), timeout_s=5) as consumer:
        assert consumer.delete_records("t", 0, 4) == 4
        assert next(iter(consumer.read_all("t", 0))).value == b"4"
        for topic, offset, error in (
            ("t", 10, "OFFSET_OUT_OF_RANGE"), ("kept", 1, "POLICY_VIOLATION"),
        ):  # fmt: skip
            with pytest.raises(ClientError, match=error):
                consumer.delete_records(topic, 0, offset)
        assert consumer.delete_records("t", 0, 2) == 4  # it begins later already
        assert consumer.delete_records("t", 0, -1) == 9
        cluster.kill(1)
        assert consumer.offset("t", 0, -2) == 9  # whoever leads now knows it as well
    client.port.close()
