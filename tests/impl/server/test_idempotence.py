from __future__ import annotations

import time

import pytest

from impl.log import StoredRecord
from impl.server.clients import ClientError, Producer, ProducerBatch
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait
from tests.impl.server.conftest import Start
from tests.impl.server.test_cluster import registered, values
from tests.waiting import PATIENCE_S


def resent(producer: Producer, batch: ProducerBatch) -> tuple[str, int]:
    """The leader's answer to a batch: its error, and the offset of the batch's first record."""
    try:
        return "NONE", producer.send_batch("t", 0, batch, time.monotonic() + PATIENCE_S)
    except ClientError as error:
        return error.code, -1


def test_a_new_leader_and_a_broker_that_started_again_know_what_was_sent(start: Start):
    cluster = start(2)
    client = ZnodeClient(cluster.session(), cluster.release)
    wait(client.create_topic("t", {0: [1, 2]}))
    # Of now: a producer whose last record is seven days old is forgotten at a start.
    now_ms = int(time.time() * 1000)
    records = [StoredRecord(at, now_ms, None, b"%d" % at) for at in range(2)]
    with Producer(cluster.addresses(), idempotent=True) as producer:
        first = producer.send("t", [b"before"])
        assert producer.producer is not None
        number, epoch = producer.producer
        batch = ProducerBatch(records, (number, epoch, 1))
        appended = resent(producer, batch)
        cluster.kill(registered(client).leader)

        by_the_new_leader = resent(producer, batch)
        gap = resent(producer, ProducerBatch(records, (number, epoch, 9)))
        cluster.stop()
        cluster.start()
        after_a_restart = resent(producer, batch)
        older = resent(producer, ProducerBatch(records, (number, epoch - 1, 3)))

    assert first[0].offset == 0
    assert appended == by_the_new_leader == after_a_restart == ("NONE", 1)
    assert gap[0] == "OUT_OF_ORDER_SEQUENCE_NUMBER"
    assert older[0] == "INVALID_PRODUCER_EPOCH"
    assert values(cluster, "t") == [b"before", b"0", b"1"]
    client.port.close()


def test_0_10_has_no_producer_ids(start: Start):
    cluster = start(1, "0.10")
    client = ZnodeClient(cluster.session(), cluster.release)
    wait(client.create_topic("t", {0: [1]}))
    with Producer(cluster.addresses(), idempotent=True, timeout_s=10) as producer:
        with pytest.raises(ClientError, match="UNSUPPORTED_VERSION"):
            producer.send("t", [b"x"])
    client.port.close()


def test_an_idempotent_producer_waits_for_all():
    with pytest.raises(ValueError, match="Must set acks to all"):
        Producer([], acks=1, idempotent=True)
