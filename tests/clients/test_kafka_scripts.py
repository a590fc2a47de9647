"""Kafka's own scripts, of an old release and of the last with ZooKeeper, on our brokers.

Old ones that ask ZooKeeper do so here: the clusters have a real one. What brokers of a release did
not offer is refused by name, as Kafka's brokers of that release would have it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conformance.kafka.download import NotDownloaded
from conformance.kafka.java import NoJava
from impl.server.apis.versions import offered
from impl.server.cluster import Cluster, new_state
from impl.wire import api_name
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait
from impl.zookeeper.server import NoServer, find_jars, find_java
from tests.clients.conftest import SETTINGS
from tests.clients.scripts import Scripts
from tests.waiting import eventually

OLD, NEW = "1.1.1", "3.9.1"
BROKERS = ("0.10", "1.1", "2.3", "2.7")
DELETING = SETTINGS | {"delete.topic.enable": "true", "log.dirs": "data,data2"}
"""Topics can be deleted, as they can since 1.0; a broker has two directories."""
LINES = 20
RECORDS = 1000


class Desk:
    """Whoever types Kafka's commands at a cluster of ours."""

    def __init__(self, scripts: Scripts, cluster: Cluster) -> None:
        self.scripts = scripts
        self.cluster = cluster
        servers = cluster.bootstrap_servers
        self.servers = ("--bootstrap-server", servers)
        old = not scripts.release.since("3.0")
        self.brokers = ("--broker-list", servers) if old else self.servers
        """What producers call the brokers."""
        self.cluster_of = ("--zookeeper", cluster.state.connect) if old else self.servers
        """Where administrators go."""
        self.offered = {api_name(key): newest for key, _, newest in offered(cluster.release)}

    @property
    def by_zookeeper(self) -> bool:
        """Administrators write to ZooKeeper."""
        return self.cluster_of[0] == "--zookeeper"

    def typed(self, script: str, *arguments: str, given: str = "", needs: str = "") -> str:
        """What a script printed; it succeeded.

        ``needs``: an API which it asks brokers for, maybe in a version such as "Metadata v4".
        Empty where they do not offer it: it said so.
        """
        ran = self.scripts.run(script, *arguments, given=given)
        api, _, version = needs.partition(" v")
        if needs and self.offered.get(api, -1) < int(version or 0):
            named = re.sub(r"(?<=.)(?=[A-Z])", "_", api).upper()
            refused = f"does not support {named}"
            if version:
                refused = f"{api}Request versions older than {version} don't support"
            assert refused in ran.said, ran.said
            return ""
        assert ran.code == 0, ran.said
        assert "Exception" not in ran.said, ran.said
        return ran.out

    def by_admin(self, api: str) -> str:
        """The API that an administrator needs, if it is a broker that is asked."""
        return "" if self.by_zookeeper else api

    @property
    def offsets(self) -> str:
        """What an administrator needs to know of the ends of logs."""
        return self.by_admin("Metadata v4")

    def create(self, topic: str, *more: str) -> None:
        """A topic of 2 partitions on 2 brokers, unless more is said."""
        numbers = more or ("--partitions", "2", "--replication-factor", "2")
        self.typed("kafka-topics", *self.cluster_of, "--create", "--topic", topic, *numbers)

    def described(self, topic: str) -> str:
        """What kafka-topics says of a topic; empty where it cannot know."""
        return self.typed(
            "kafka-topics", *self.cluster_of, "--describe", "--topic", topic,
            needs=self.by_admin("DescribeConfigs"),
        )  # fmt: skip

    def state(self, topic: str, partition: int = 0) -> LeaderIsrAndControllerEpoch | None:
        """What ZooKeeper has of a partition."""
        port = self.cluster.session()
        try:
            client = ZnodeClient(port, self.cluster.release)
            return wait(client.state(TopicPartition(topic, partition)))
        finally:
            port.close()

    def leader(self, topic: str, partition: int = 0) -> int:
        """Who leads a partition, -1 if nobody does."""
        found = self.state(topic, partition)
        return -1 if found is None else found.leader

    def isr(self, topic: str, partition: int = 0) -> set[int]:
        """Who is in sync."""
        found = self.state(topic, partition)
        return set() if found is None else set(found.isr)

    @property
    def plain_producer(self) -> tuple[str, ...]:
        """Producers of 3.0 and later are idempotent unless configured otherwise (KIP-679)."""
        has = "InitProducerId" in self.offered or self.by_zookeeper
        return () if has else ("enable.idempotence=false",)


def topics(desk: Desk, topic: str, folder: Path) -> None:
    """Topics are made, described, grown, listed and deleted."""
    desk.create(topic, "--partitions", "2", "--replication-factor", "2", "--config",
                "retention.ms=100000000")  # fmt: skip
    made = desk.described(topic)
    desk.typed("kafka-topics", *desk.cluster_of, "--alter", "--topic", topic, "--partitions", "3",
               needs=desk.by_admin("CreatePartitions"))  # fmt: skip
    grown = desk.described(topic)
    listed = desk.typed("kafka-topics", *desk.cluster_of, "--list")
    desk.typed("kafka-topics", *desk.cluster_of, "--delete", "--topic", topic)
    gone = eventually(lambda: desk.state(topic) is None)

    assert topic in listed.split()
    assert gone
    if made:
        assert re.search(r"PartitionCount:\s?2\s+ReplicationFactor:\s?2\s", made), made
        assert "retention.ms=100000000" in made
        assert len(re.findall(r"Leader: [123]\s+Replicas: [123],[123]\s", made)) == 2
    if grown and "CreatePartitions" in desk.offered:
        assert len(re.findall(r"Leader: [123]\s", grown)) == 3


def configs(desk: Desk, topic: str, folder: Path) -> None:
    """What is set for a topic and for a broker is set, described and unset."""
    desk.create(topic)
    of_topic = ("--entity-type", "topics", "--entity-name", topic)
    of_broker = (*desk.servers, "--entity-type", "brokers", "--entity-name", "1")
    changing = desk.by_admin("IncrementalAlterConfigs")
    if changing and "DescribeConfigs" not in desk.offered:
        changing = "DescribeConfigs"  # which it asks for first
    desk.typed("kafka-configs", *desk.cluster_of, *of_topic, "--alter", "--add-config",
               "segment.bytes=1000000", needs=changing)  # fmt: skip
    result = desk.typed("kafka-configs", *desk.cluster_of, *of_topic, "--describe",
                      needs=desk.by_admin("DescribeConfigs"))  # fmt: skip
    describing = "DescribeConfigs"
    desk.typed("kafka-configs", *of_broker, "--alter", "--add-config", "log.retention.ms=90000000",
               needs=describing)  # fmt: skip
    of_one = desk.typed("kafka-configs", *of_broker, "--describe", needs=describing)
    desk.typed("kafka-configs", *of_broker, "--alter", "--delete-config", "log.retention.ms",
               needs=describing)  # fmt: skip
    of_none = desk.typed("kafka-configs", *of_broker, "--describe", needs=describing)

    assert ("segment.bytes=1000000" in result) == (not changing or changing in desk.offered)
    assert ("log.retention.ms=90000000" in of_one) == (describing in desk.offered)
    assert "log.retention.ms" not in of_none


def console(desk: Desk, topic: str, folder: Path) -> None:
    """Lines are sent and read by a group, which is listed, described, set back and deleted."""
    desk.create(topic)
    settings = [part for one in desk.plain_producer for part in ("--producer-property", one)]
    lines = [f"line {number}" for number in range(LINES)]
    desk.typed("kafka-console-producer", *desk.brokers, "--topic", topic, *settings,
               "--request-required-acks", "-1", given="\n".join([*lines, ""]))  # fmt: skip

    def read() -> list[str]:
        out = desk.typed(
            "kafka-console-consumer", *desk.servers, "--topic", topic, "--from-beginning",
            "--max-messages", str(LINES), "--timeout-ms", "60000", "--consumer-property",
            f"group.id={topic}",
        )  # fmt: skip
        return sorted(out.splitlines(), key=lambda line: int(line.split()[1]))

    first = read()
    patient = (*desk.servers, "--timeout", "60000")  # 5 s is short for Java on a busy machine
    group = (*patient, "--group", topic)
    listed = desk.typed("kafka-consumer-groups", *patient, "--list")
    result = desk.typed("kafka-consumer-groups", *group, "--describe", needs=desk.offsets)
    back = desk.typed("kafka-consumer-groups", *group, "--topic", topic, "--reset-offsets",
                      "--to-earliest", "--execute", needs=desk.offsets)  # fmt: skip
    again = read() if back else first
    desk.typed("kafka-consumer-groups", *group, "--delete", needs="DeleteGroups")
    after = desk.typed("kafka-consumer-groups", *patient, "--list")

    assert first == again == lines
    assert topic in listed.split()
    if result:
        ends = re.findall(rf"{topic}\s+\d+\s+\d+\s+(\d+)\s+0\s", result)
        assert sum(map(int, ends)) == LINES
    assert (topic in after.split()) == ("DeleteGroups" not in desk.offered)


def verifiable(desk: Desk, topic: str, folder: Path) -> None:
    """All that the verifiable producer says was acknowledged, the verifiable consumer reads."""
    desk.create(topic)
    given = folder / "producer.properties"
    given.write_text("".join(f"{one}\n" for one in desk.plain_producer))
    sent = desk.typed("kafka-verifiable-producer", *desk.brokers, "--topic", topic,
                      "--max-messages", str(RECORDS), "--acks", "-1",
                      "--producer.config", str(given))  # fmt: skip
    read = desk.typed("kafka-verifiable-consumer", *desk.brokers, "--topic", topic,
                      "--max-messages", str(RECORDS), "--group-id", topic,
                      "--reset-policy", "earliest")  # fmt: skip

    [reported] = [one for one in map(json.loads, sent.splitlines()) if one["name"] == "tool_data"]
    batches = [json.loads(line) for line in read.splitlines()]
    assert (reported["sent"], reported["acked"]) == (RECORDS, RECORDS)
    assert sum(one["count"] for one in batches if one["name"] == "records_consumed") == RECORDS
    assert all(one["success"] for one in batches if one["name"] == "offsets_committed")


def performance(desk: Desk, topic: str, folder: Path) -> None:
    """The performance tests send and read every record."""
    desk.create(topic)
    sent = desk.typed("kafka-producer-perf-test", "--topic", topic, "--num-records", str(RECORDS),
                      "--record-size", "100", "--throughput", "-1", "--producer-props",
                      "acks=all", f"bootstrap.servers={desk.cluster.bootstrap_servers}",
                      *desk.plain_producer)  # fmt: skip
    read = desk.typed("kafka-consumer-perf-test", *desk.brokers, "--topic", topic,
                      "--messages", str(RECORDS))  # fmt: skip

    ends = desk.typed("kafka-run-class GetOffsetShell", *desk.brokers, "--topic", topic,
                      needs=desk.offsets)  # fmt: skip

    heads, values = (line.split(", ") for line in read.splitlines()[-2:])
    assert sent.splitlines()[-1].startswith(f"{RECORDS} records sent"), sent
    assert int(dict(zip(heads, values, strict=False))["data.consumed.in.nMsg"]) == RECORDS, read
    if ends:
        assert sum(int(line.rpartition(":")[2]) for line in ends.splitlines()) == RECORDS


def moves(desk: Desk, topic: str, folder: Path) -> None:
    """A plan is proposed, carried out under a throttle, and found done; the throttle is gone."""
    desk.create(topic, "--replica-assignment", "1:2,2:1")
    named, plan = folder / "topics.json", folder / "plan.json"
    named.write_text(json.dumps({"version": 1, "topics": [{"topic": topic}]}))
    targets = [{"topic": topic, "partition": 0, "replicas": [2, 3]},
               {"topic": topic, "partition": 1, "replicas": [3, 1]}]  # fmt: skip
    plan.write_text(json.dumps({"version": 1, "partitions": targets}))
    script = "kafka-reassign-partitions"
    carried = ("--reassignment-json-file", str(plan))
    needs = desk.by_admin("ListPartitionReassignments")

    proposed = desk.typed(script, *desk.cluster_of, "--generate", "--topics-to-move-json-file",
                          str(named), "--broker-list", "1,2,3")  # fmt: skip
    begun = desk.typed(script, *desk.cluster_of, "--execute", *carried, "--throttle", "10000000",
                       needs=needs)  # fmt: skip
    if not begun:
        assert f'"topic":"{topic}"' in proposed
        return
    done = eventually(lambda: [desk.isr(topic, 0), desk.isr(topic, 1)] == [{2, 3}, {1, 3}])
    found = desk.typed(script, *desk.cluster_of, "--verify", *carried, needs=needs)
    left = desk.described(topic)

    assert f'"topic":"{topic}"' in proposed
    assert "Successfully started" in begun
    assert done
    assert len(re.findall(rf"{topic}-[01] (?:is completed|completed successfully)", found)) == 2
    assert "Throttle was removed" in found or "Clearing topic-level throttles" in found
    assert "throttled" not in left


def directories(desk: Desk, topic: str, folder: Path) -> None:
    """A replica moves to the other directory of its broker (KIP-113)."""
    desk.create(topic, "--replica-assignment", "1")
    own = desk.cluster.folder / "broker1"
    assert eventually(lambda: bool([*own.glob(f"data*/{topic}-0")]))
    [here] = own.glob(f"data*/{topic}-0")
    there = own / ("data2" if here.parent.name == "data" else "data") / here.name
    plan = folder / f"{topic}.json"
    entry = {"topic": topic, "partition": 0, "replicas": [1], "log_dirs": [str(there.parent)]}
    plan.write_text(json.dumps({"version": 1, "partitions": [entry]}))
    carried = ("--reassignment-json-file", str(plan))
    servers = desk.servers if desk.by_zookeeper else ()
    needs = "AlterReplicaLogDirs" if desk.by_zookeeper else "ListPartitionReassignments"

    script = "kafka-reassign-partitions"
    begun = desk.typed(script, *desk.cluster_of, *servers, "--execute", *carried, needs=needs)
    if not begun:
        return
    done = eventually(lambda: there.is_dir() and not here.is_dir())
    found = desk.typed(script, *desk.cluster_of, *servers, "--verify", *carried, needs=needs)

    assert "Successfully started" in begun
    assert done
    assert re.search(rf"{topic}-0-1 (?:is )?completed successfully", found), found


def elections(desk: Desk, topic: str, folder: Path) -> None:
    """After its preferred leader was away, a partition gets it back."""
    desk.create(topic, "--replica-assignment", "2:1")
    assert eventually(lambda: desk.leader(topic) == 2)
    desk.cluster.stop_one(2)
    other = eventually(lambda: desk.leader(topic) == 1)
    desk.cluster.start(only="broker2")
    whole = eventually(lambda: desk.isr(topic) == {1, 2})
    before = desk.leader(topic)
    if desk.by_zookeeper:
        desk.typed("kafka-preferred-replica-election", *desk.cluster_of)
    else:
        desk.typed("kafka-leader-election", *desk.servers, "--election-type", "preferred",
                   "--topic", topic, "--partition", "0", needs="ElectLeaders")  # fmt: skip
    elected = desk.by_zookeeper or "ElectLeaders" in desk.offered

    assert (other, whole, before) == (True, True, 1)
    assert eventually(lambda: desk.leader(topic) == (2 if elected else 1))


def looks(desk: Desk, topic: str, folder: Path) -> None:
    """Directories are described, and each broker says what it offers."""
    desk.create(topic, "--replica-assignment", "1:2:3")
    everywhere = eventually(lambda: desk.isr(topic) == {1, 2, 3})
    said = desk.typed("kafka-log-dirs", *desk.servers, "--describe", "--topic-list", topic,
                      needs="DescribeLogDirs")  # fmt: skip
    versions = desk.typed("kafka-broker-api-versions", *desk.servers)

    assert everywhere
    if said:
        found = json.loads(said.splitlines()[-1])["brokers"]
        hosts = [one["broker"] for one in found for each in one["logDirs"] if each["partitions"]]
        assert sorted(hosts) == [1, 2, 3]
    assert len(re.findall(r"Fetch\(1\): 0 to \d+ \[usable: \d+\]", versions)) == 3


SCENARIOS = (
    topics, configs, console, verifiable, performance, moves, directories, elections, looks,
)  # fmt: skip


def scripts_of(version: str) -> Scripts:
    """Skips, with the reason, where they cannot run."""
    try:
        return Scripts(version)
    except (NotDownloaded, NoJava) as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module", params=BROKERS)
def real(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """A cluster of that release, with a real ZooKeeper."""
    try:
        find_jars(), find_java()
    except NoServer as error:
        pytest.skip(f"old scripts ask ZooKeeper: {error}")
    state = new_state((1, 2, 3), request.param, "real", settings=DELETING)
    found = Cluster.create(tmp_path_factory.mktemp("scripts") / "cluster", state)
    found.start()
    yield found
    found.stop(10)


@pytest.mark.deep
@pytest.mark.parametrize("version", [OLD, NEW])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.__name__)
def test_kafkas_own_scripts_do_what_they_do_on_kafka(
    scenario: Callable[[Desk, str, Path], None], version: str, real: Cluster, topic: str,
    tmp_path: Path,
):  # fmt: skip
    scenario(Desk(scripts_of(version), real), topic, tmp_path)


def test_without_the_jars_it_is_said_what_to_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("INSYNC_KAFKA_CACHE", str(tmp_path))

    with pytest.raises(NotDownloaded, match=r"write: insync kafka fetch 3\.9\.1"):
        Scripts("3.9.1")
