"""Brokers that are killed again and again, while segments roll and logs are compacted."""

from __future__ import annotations

import random
import threading
import time

import pytest

from impl.server.clients import Consumer, Producer
from impl.server.cluster import Cluster
from impl.znodes import TopicPartition, paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait
from tests.impl.server.conftest import Start
from tests.impl.server.test_cluster import values
from tests.waiting import eventually

PLAIN, COMPACTED = TopicPartition("plain", 0), TopicPartition("compacted", 0)
KILLS = 4


class Work(threading.Thread):
    """Sends to both topics until it is stopped, and keeps what was acknowledged."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__()
        self.cluster, self.stopped, self.sent = cluster, False, 0
        self.values: list[bytes] = []
        self.last: dict[bytes, bytes] = {}

    def run(self) -> None:
        """Each producer goes on until it fails."""
        while not self.stopped:
            try:
                with Producer(self.cluster.addresses(), timeout_s=6) as producer:
                    while not self.stopped:
                        self._send(producer)
            except Exception:  # the next one goes on; only what was acknowledged counts
                time.sleep(0.2)

    def _send(self, producer: Producer) -> None:
        self.sent += 5
        batch = [b"%d" % (self.sent + number) for number in range(5)]
        producer.send(PLAIN.topic, batch)
        self.values += batch
        key, value = b"k%d" % (self.sent // 5 % 20), b"%d" % self.sent
        producer.send(COMPACTED.topic, [value], key=key)
        self.last[key] = value


def latest(cluster: Cluster) -> dict[bytes, bytes]:
    """The last value of each key that a consumer finds."""
    found: dict[bytes, bytes] = {}
    with Consumer(cluster.addresses()) as consumer:
        offset = 0
        while True:
            records, after = consumer.poll(COMPACTED.topic, 0, offset)
            found |= {one.key: one.value for one in records if one.key and one.value}
            if after == offset:
                return found
            offset = after


@pytest.mark.deep
@pytest.mark.parametrize("version", ["0.10", "0.11", "2.3", "2.7"])
def test_nothing_that_was_acknowledged_is_lost_however_often_brokers_are_killed(
    start: Start, version: str
):
    cluster = start(
        3, version, log_segment_bytes="3000", log_cleaner_backoff_ms="200",
        log_cleaner_enable="true", log_cleaner_min_cleanable_ratio="0.01",
        replica_high_watermark_checkpoint_interval_ms="100", min_insync_replicas="2",
        unclean_leader_election_enable="false",
    )  # fmt: skip
    chance = random.Random(version)
    client = ZnodeClient(cluster.session(), cluster.release)
    policy = '{"version":1,"config":{"cleanup.policy":"compact"}}'
    wait(client.make_path(paths.config("topics", COMPACTED.topic), policy))
    for topic in (PLAIN.topic, COMPACTED.topic):
        wait(client.create_topic(topic, {0: [1, 2, 3]}))
    work = Work(cluster)
    work.start()
    try:
        for _ in range(KILLS):
            time.sleep(1 + chance.random())
            for broker in chance.sample([1, 2, 3], chance.randint(1, 3)):
                cluster.kill(broker)
            cluster.start()
    finally:
        work.stopped = True
        work.join()

    def whole(partition: TopicPartition) -> bool:
        state = wait(client.state(partition))
        return state is not None and set(state.isr) == {1, 2, 3}

    assert eventually(lambda: whole(PLAIN) and whole(COMPACTED), 60)
    assert work.values
    assert not set(work.values) - set(values(cluster, PLAIN.topic))
    found = latest(cluster)
    assert {key: found.get(key) for key in work.last} == {
        key: value if int(found.get(key, b"-1")) <= int(value) else found[key]
        for key, value in work.last.items()
    }
    client.port.close()
