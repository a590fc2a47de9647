"""The article on topics as a session: each of its commands, under its release, and what is printed.

A line with $ is typed, the lines below it are what it prints, those with ! on standard error.
Brokers are 0, 1 and 2, as there; the draws that it works through are those of seed 9.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from impl.server.cluster import Cluster, new_state
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait
from tests.cli.clusters import eventually, typed

WARNING = (
    "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore ('_') "
    "could collide. To avoid issues it is best to use either, but not both."
)
KEYS = (
    "WARNING: If partitions are increased for a topic that has a key, the partition logic or "
    "ordering of the messages will be affected"
)
SESSION = f"""
$ topics --create --topic topic_a --zookeeper HERE --partitions 3 --replication-factor 3 --seed SEED
{WARNING}
Created topic "topic_a".
$ topics --describe --topic topic_a --zookeeper HERE
Topic:topic_a\tPartitionCount:3\tReplicationFactor:3\tConfigs:
\tTopic: topic_a\tPartition: 0\tLeader: 1\tReplicas: 1,2,0\tIsr: 1,2,0
\tTopic: topic_a\tPartition: 1\tLeader: 2\tReplicas: 2,0,1\tIsr: 2,0,1
\tTopic: topic_a\tPartition: 2\tLeader: 0\tReplicas: 0,1,2\tIsr: 0,1,2
$ topics --create --topic topic_b --zookeeper HERE --replica-assignment 1:2:0,2:0:1,0:1:2
{WARNING}
Created topic "topic_b".
$ topics --list --zookeeper HERE
topic_a
topic_b
$ topics --create --topic topic_b --zookeeper HERE --partitions 1 --replication-factor 1
{WARNING}
Error while executing topic command : Topic 'topic_b' already exists.
$ topics --create --topic c --zookeeper HERE --replica-assignment 1:1
Error while executing topic command : Partition replica lists may not contain duplicate entries: 1
$ topics --create --topic c --zookeeper HERE --replica-assignment 1:2,0
Error while executing topic command : Partition 1 has different replication factor: 0
$ topics --create --topic c --zookeeper HERE --partitions 0 --replication-factor 1
Error while executing topic command : number of partitions must be larger than 0
$ topics --create --topic c --zookeeper HERE --partitions 1 --replication-factor 0
Error while executing topic command : replication factor must be larger than 0
$ topics --create --topic c --zookeeper HERE --partitions 1 --replication-factor 4
Error while executing topic command : replication factor: 4 larger than available brokers: 3
$ topics --alter --topic topic_a --zookeeper HERE --partitions 4
{KEYS}
Adding partitions succeeded!
$ topics --describe --topic topic_a --zookeeper HERE
Topic:topic_a\tPartitionCount:4\tReplicationFactor:3\tConfigs:
\tTopic: topic_a\tPartition: 0\tLeader: 1\tReplicas: 1,2,0\tIsr: 1,2,0
\tTopic: topic_a\tPartition: 1\tLeader: 2\tReplicas: 2,0,1\tIsr: 2,0,1
\tTopic: topic_a\tPartition: 2\tLeader: 0\tReplicas: 0,1,2\tIsr: 0,1,2
\tTopic: topic_a\tPartition: 3\tLeader: 1\tReplicas: 1,2,0\tIsr: 1,2,0
$ topics --alter --topic topic_a --zookeeper HERE --partitions 1
{KEYS}
Error while executing topic command : The number of partitions for a topic can only be increased
$ topics --delete --topic topic_c --zookeeper HERE
Error while executing topic command : Topic topic_c does not exist on ZK path HERE
$ topics --delete --topic topic_a --zookeeper HERE
Topic topic_a is marked for deletion.
Note: This will have no impact if delete.topic.enable is not set to true.
"""


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Path]:
    state = new_state(
        [0, 1, 2], "0.11", settings={"delete.topic.enable": "true",
                                     "controlled.shutdown.max.retries": "1"},
    )  # fmt: skip
    cluster = Cluster.create(tmp_path / "cluster", state)
    try:
        cluster.start()
        yield cluster.folder
    finally:
        cluster.stop(10)
        assert not cluster.running()


def played(line: str, here: Path) -> list[str]:
    """What a line prints, once leaders were elected for all that there is."""
    cluster = Cluster(here)
    port = cluster.session()
    client = ZnodeClient(port, cluster.release)

    def settled() -> bool:
        return all(
            wait(client.port.exists(f"/brokers/topics/{topic}/partitions/{number}/state"))
            is not None
            for topic in wait(client.topics())
            for number in (wait(client.topic(topic)) or pytest.fail("no topic")).partitions
        )

    eventually(settled, "leaders for all partitions")
    port.close()
    result = typed(line)
    reported = [f"! {line}" for line in result.stderr.splitlines()]
    return [*result.stdout.splitlines(), *reported]


def test_every_command_of_the_article_prints_what_it_says(here: Path):
    text = SESSION.replace("HERE", str(here)).replace("SEED", "9")
    expected: list[tuple[str, list[str]]] = []
    for line in text.strip("\n").split("\n"):
        if line.startswith("$ "):
            expected.append((line[2:], []))
        else:
            expected[-1][1].append(line)

    found = [(line, played(line, here)) for line, _ in expected]

    assert found == expected
    gone = here / "broker0" / "data"
    eventually(lambda: not list(gone.glob("topic_a-?")), "the replicas gone")
    assert len(list(gone.glob("topic_a-?.*-delete"))) == 4
    assert len(list(gone.glob("topic_b-?"))) == 3
