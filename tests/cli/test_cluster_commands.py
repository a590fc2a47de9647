from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from impl.server.cluster import Cluster
from impl.server.processes import lock_folder
from impl.zookeeper.server import free_ports
from tests.cli.clusters import answer, cluster, done, eventually, isrs, typed
from tests.clients.conftest import Wire

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One cluster of three brokers for all tests of this file."""
    with cluster(
        tmp_path_factory.mktemp("outer") / "cluster", "--brokers 3 --version 2.3"
    ) as folder:
        yield folder


def test_status_names_every_process_and_the_controller(here: Path):
    result = answer(f"cluster status {here}")

    assert list(result["processes"]) == ["zookeeper", "broker1", "broker2", "broker3"]
    assert {one["state"] for one in result["processes"].values()} == {"runs"}
    assert result["controller"] in (1, 2, 3)
    assert f"controller: {result['controller']}" in done(f"cluster status {here}")


def test_a_paused_broker_is_shown_as_paused_and_goes_on(here: Path):
    pid = answer(f"cluster status {here}")["processes"]["broker2"]["pid"]

    paused = answer(f"cluster pause {here} 2")["processes"]["broker2"]
    again = done(f"cluster start {here}")
    resumed = answer(f"cluster resume {here} 2")["processes"]["broker2"]

    assert (paused["state"], resumed["state"]) == ("paused", "runs")
    assert (paused["pid"], resumed["pid"]) == (pid, pid)
    assert f"broker2: runs already, process {pid}" in again


def test_a_topics_life_as_kafkas_script_tells_it(here: Path):
    topics = f"--zookeeper {here} --topic life"
    created = done(f"topics --create {topics} --replica-assignment 1:2,2:3 "
                   "--config min.insync.replicas=1")  # fmt: skip
    eventually(lambda: "none" not in done(f"topics --describe {topics}"), "leaders")
    described = done(f"topics --describe {topics}")
    grown = done(f"topics --alter {topics} --partitions 3")
    eventually(lambda: len(isrs(here, "life")) == 3, "the new partition")
    deleted = done(f"topics --delete {topics}")
    eventually(lambda: "life" not in done(f"topics --list --zookeeper {here}"), "no topic")

    assert created == "Created topic life.\n"
    assert described == (
        "Topic:life\tPartitionCount:2\tReplicationFactor:2\tConfigs:min.insync.replicas=1\n"
        "\tTopic: life\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2\n"
        "\tTopic: life\tPartition: 1\tLeader: 2\tReplicas: 2,3\tIsr: 2,3\n"
    )
    assert grown.endswith("Adding partitions succeeded!\n")
    assert deleted == (
        "Topic life is marked for deletion.\n"
        "Note: This will have no impact if delete.topic.enable is not set to true.\n"
    )


def test_an_internal_topic_is_created_and_never_deleted(here: Path):
    internal = typed(f"topics --create --zookeeper {here} --topic __consumer_offsets "
                     "--partitions 1 --replication-factor 1")  # fmt: skip
    kept = typed(f"topics --delete --zookeeper {here} --topic __consumer_offsets")

    assert internal.exit_code == 0
    assert kept.stdout.endswith(
        "Topic __consumer_offsets is a kafka internal topic and is not allowed to be marked for "
        "deletion.\n"
    )


def test_lines_go_in_and_come_out_by_key_and_partition(here: Path):
    done(f"topics --create --zookeeper {here} --topic keyed --partitions 3 --replication-factor 3")
    lines = "".join(f"k{number % 5}:v{number}\n" for number in range(20))

    sent = answer_of_produce(here, "keyed", lines)
    read = answer(f"consume --bootstrap-server {here} --topic keyed --from-beginning "
                  "--timeout-ms 500")["records"]  # fmt: skip
    part = done(f"consume --bootstrap-server {here} --topic keyed --partition "
                f"{read[0]['partition']} --offset 1 --max-messages 1 --print-offsets")  # fmt: skip

    assert sent["acknowledged"] == 20
    assert sorted(one["value"] for one in read) == sorted(f"v{number}" for number in range(20))
    homes = {one["value"]: one["partition"] for one in read}
    assert all(homes[f"v{number}"] == homes[f"v{number % 5}"] for number in range(20))
    assert part.split("\t")[:2] == [str(read[0]["partition"]), "1"]


def answer_of_produce(folder: Path, topic: str, lines: str) -> dict[str, object]:
    result = done(f"produce --broker-list {folder} --topic {topic} --key-separator : "
                "--request-required-acks all --json -", lines)  # fmt: skip
    found: dict[str, object] = json.loads(result)
    return found


def test_a_partition_moves_and_its_leadership_is_given_back(here: Path, tmp_path: Path):
    done(f"topics --create --zookeeper {here} --topic moving --replica-assignment 1:2")
    plan = tmp_path / "plan.json"
    moves = [{"topic": "moving", "partition": 0, "replicas": [3, 1]}]
    plan.write_text(json.dumps({"version": 1, "partitions": moves}))
    file = f"--zookeeper {here} --reassignment-json-file {plan}"
    eventually(lambda: isrs(here, "moving") == [(1, {1, 2})], "a leader")

    started = done(f"reassign --execute {file} --throttle 1000000")
    eventually(lambda: "still in progress" not in done(f"reassign --verify {file}"), "the end")
    moved = isrs(here, "moving")
    elected = done(f"elect --zookeeper {here} --topic moving --partition 0")
    eventually(lambda: isrs(here, "moving") == [(3, {1, 3})], "the preferred leader")

    assert "Save this to use as the --reassignment-json-file option during rollback" in started
    assert "The inter-broker throttle limit was set to 1000000 B/s" in started
    assert started.endswith("Successfully started reassignment of partitions.\n")
    assert moved == [(1, {1, 3})]
    assert elected.endswith(
        "Successfully started preferred replica election for partitions Set(moving-0)\n"
    )


@pytest.mark.parametrize(
    "line, message",
    [
        ("topics --create --topic a.b --partitions 0 --replication-factor 1",
         "Error while executing topic command : Number of partitions must be larger than 0."),
        ("topics --create --topic x --partitions 1 --replication-factor 4", "Error while executing "
         "topic command : Replication factor: 4 larger than available brokers: 3."),
        ("topics --create --topic x --replica-assignment 1:1", "Error while executing topic command"
         " : Partition replica lists may not contain duplicate entries: 1"),
        ("topics --create --topic x --replica-assignment 1:2,3", "Error while executing topic "
         "command : Partition 1 has different replication factor: 3"),
        ("topics --create --topic x/y --partitions 1 --replication-factor 1", "Error while "
         "executing topic command : Topic name \"x/y\" is illegal, it contains a character other "
         "than ASCII alphanumerics, '.', '_' and '-'"),
        ("topics --create --topic x --partitions 1 --replication-factor 1 --config who=me",
         "Error while executing topic command : Unknown topic config name: who"),
        ("topics --delete --topic nobody", "Error while executing topic command : Topic 'nobody' "
         "does not exist as expected"),
        ("topics --delete --topic nobody --version 0.11", "Error while executing topic command : "
         "Topic nobody does not exist on ZK path {here}"),
        ("topics --create --topic x --replica-assignment 1:x", "Error while executing topic "
         'command : For input string: "x"'),
        ("topics --create --topic x --partitions 99999999999 --replication-factor 1",
         'Exception in thread "main" joptsimple.OptionArgumentConversionException: Cannot parse '
         "argument '99999999999' of option partitions"),
        ("topics --create --topic x --partitions 1", 'Missing required argument '
         '"[replication-factor]"'),
        ("topics --create --list", "Command must include exactly one action: --list, --describe, "
         "--create, --alter or --delete"),
        ("produce --broker-list {here}", 'Missing required argument "[topic]"'),
        ("consume --bootstrap-server {here} --topic t --offset 3", "The partition is required "
         "when offset is specified."),
        ("topics --list --partitions 2", 'Option "[partitions]" can\'t be used with option '
         '"[list]"'),
        ("reassign --execute", "If --execute option is used, command must include "
         "--reassignment-json-file that was output during the --generate option"),
    ],
)  # fmt: skip
def test_what_kafka_refuses_is_refused_in_its_words(
    here: Path, tmp_path: Path, line: str, message: str
):
    plan = tmp_path / "plan.json"
    nowhere = {"topic": "nowhere", "partition": 0, "replicas": [1]}
    plan.write_text(json.dumps({"version": 1, "partitions": [nowhere]}))
    names = {"here": here, "plan": plan}

    where = "" if line.startswith(("produce", "consume")) else f" --zookeeper {here}"
    result = typed(line.format(**names) + where)

    at_work = message.startswith("Error while executing topic command : ")
    stream = result.stdout if at_work else result.stderr
    assert result.exit_code == 1
    assert stream.splitlines()[-1] == message.format(**names)
    assert "x" not in done(f"topics --list --zookeeper {here}").split()


def test_a_cluster_of_ids_from_0_grows_by_a_broker_and_its_zookeeper_starts_alone(tmp_path: Path):
    folder = tmp_path / "grows"
    try:
        shared = tmp_path / "server.properties"
        shared.write_text("broker.id=5\nnum.partitions=4\nnum.network.threads=3\nzzz=1\n")
        first, second = free_ports(2)
        begun = typed(f"cluster start {folder} --broker-ids 0,7 --version 2.8.1 --config {shared} "
                      f"--listeners PLAINTEXT://localhost:{first},127.0.0.1:{second}")  # fmt: skip
        assert f"bootstrap.servers=localhost:{first},127.0.0.1:{second}" in begun.stdout
        assert [one.partition("server.properties")[2] for one in begun.stderr.splitlines()] == [
            ":1: broker.id is left out: --broker-ids says it",
            ":3: num.network.threads has no effect here: a thread serves each connection, and one "
            "lock guards all replicas",
            ":4: zzz is no property of a broker, and is left out",
        ]
        wire = Wire(("127.0.0.1", second))
        reported = wire.ask("DescribeCluster", 0, include_cluster_authorized_operations=False)
        wire.close()
        assert sorted((one.broker_id, one.host, one.port) for one in reported.brokers) == [
            (0, "localhost", first), (7, "127.0.0.1", second),
        ]  # fmt: skip
        assert reported.controller_id in (0, 7)
        assert "num.partitions=4" in (folder / "broker7" / "server.properties").read_text()
        done(f"topics --create --zookeeper {folder} --topic t --replica-assignment 0:7")
        assert "broker3: started" in done(f"cluster add {folder} 3")
        plan = tmp_path / "plan.json"
        to = {"topic": "t", "partition": 0, "replicas": [3, 0]}
        plan.write_text(json.dumps({"version": 1, "partitions": [to]}))
        done(f"reassign --zookeeper {folder} --reassignment-json-file {plan} --execute")
        described = ""
        for _ in range(100):
            described = done(f"topics --describe --zookeeper {folder} --topic t")
            if "Replicas: 3,0" in described and "Isr: 0,3" in described.replace("3,0", "0,3"):
                break
            time.sleep(0.1)
        assert "Replicas: 3,0" in described
        done(f"cluster stop {folder}")

        assert done(f"cluster start {folder} zookeeper").startswith("zookeeper: started")
        assert "t" in done(f"topics --list --zookeeper {folder}").split()
        assert "broker0: started" in done(f"cluster start {folder}")
    finally:
        done(f"cluster stop {folder}")


@pytest.mark.parametrize(
    "line, words",
    [
        ("cluster start {empty} --version 3.0", "--version 3.0: no release 3.0 from 0.10.0 to 2.8"),
        ("cluster start {empty} --set min.insync.replica=2",
         "insync: --set: min.insync.replica is no property of a broker; did you mean "
         "min.insync.replicas?"),
        ("cluster start {empty} --racks a,b", "--racks a,b: name 3 racks, one a broker"),
        ("cluster start {empty} --zookeeper none", "--zookeeper none: write embedded, real"),
        ("cluster start {empty} 2", "has no cluster yet; write: insync cluster start"),
        ("cluster start {full}", "is no cluster and not empty; name an empty directory"),
        ("cluster start {here} --brokers 2", "has a cluster already"),
        ("cluster kill {here} 9", "there is no broker 9 in"),
        ("cluster add {here} 1", "has a broker 1 already; name another id"),
        ("cluster add {here} 9 --rack a", "have no racks: name none"),
        ("cluster add {empty} 9", "is no cluster; write: insync cluster start"),
        ("cluster start {empty} --broker-ids 1,1", "name up to 20 ids, each once"),
        ("cluster start {empty} --broker-ids a", "write whole numbers from 0 on, such as 0,1,2"),
        ("cluster start {empty} --broker-ids 0,1 --brokers 3", "leave out --brokers 3"),
        ("cluster start {empty} --listeners 127.0.0.1:1", "name 3 listeners, one a broker"),
        ("cluster start {empty} --brokers 1 --listeners SSL://h:1", "write HOST:PORT,HOST:PORT"),
        ("cluster start {empty} --brokers 1 --listeners 0.0.0.0:9092", "clients can connect to"),
        ("cluster start {empty} --config nowhere", "--config nowhere: No such file"),
        ("cluster start {empty} --config {wrong}", "server.properties:2: num.partitions is"),
        ("cluster start {here} --config {wrong}", "has a cluster already"),
        ("cluster status {full}", "is no cluster; write: insync cluster start"),
        ("topics --list --zookeeper nowhere", "write HOST:PORT, or a cluster's directory"),
        ("produce --broker-list {here} --topic t --request-required-acks 2", "write 0, 1 or all"),
    ],
)  # fmt: skip
def test_wrong_use_says_what_to_write_and_leaves_nothing(
    here: Path, tmp_path: Path, line: str, words: str
):
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine").write_text("dear to me")
    empty, wrong = tmp_path / "empty", tmp_path / "server.properties"
    wrong.write_text("broker.id=0\nnum.partitions=many\n")

    result = typed(line.format(here=here, full=full, empty=empty, wrong=wrong))

    assert result.exit_code == 64
    assert words in result.stderr
    assert not empty.exists()
    assert [one.name for one in full.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    "release, line",
    [("1.0", "org.I0Itec.zkclient.exception.ZkTimeoutException: Unable to connect to zookeeper "
      "server within timeout: 30000"),
     ("1.1", "kafka.zookeeper.ZooKeeperClientTimeoutException: Timed out waiting for connection "
      "while in state: CONNECTING")],
)  # fmt: skip
def test_where_no_zookeeper_answers_a_tool_ends_by_the_exception_of_its_client(
    release: str, line: str
):
    result = typed(f"topics --list --zookeeper 127.0.0.1:1 --version {release}")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f'Exception in thread "main" {line}\n'


def test_while_one_process_changes_the_cluster_another_may_not(here: Path):
    with lock_folder(here):
        result = typed(f"cluster kill {here} 1")

    assert result.exit_code == 64
    assert "is being changed by another process" in result.stderr
    assert answer(f"cluster status {here}")["processes"]["broker1"]["state"] == "runs"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_start_that_is_interrupted_leaves_nothing_running(tmp_path: Path, number: int):
    folder = tmp_path / "cluster"
    command = [sys.executable, "-m", "conformance.cli", "cluster", "start", str(folder)]
    starting = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    eventually(lambda: (folder / "run" / "broker1.pid").exists(), "the first broker")

    starting.send_signal(number)
    code = starting.wait(30)

    assert code == 130
    assert Cluster(folder).running() == []


def test_a_process_that_ended_by_itself_is_not_taken_for_a_living_one(here: Path):
    pid = answer(f"cluster status {here}")["processes"]["broker3"]["pid"]
    os.kill(pid, signal.SIGKILL)
    eventually(
        lambda: answer(f"cluster status {here}")["processes"]["broker3"]["state"] == "ended",
        "the end of the process",
    )

    refused = typed(f"cluster pause {here} 3")
    done(f"cluster start {here} 3")

    assert refused.exit_code == 64
    assert "broker3 does not run" in refused.stderr
    assert answer(f"cluster status {here}")["processes"]["broker3"]["state"] == "runs"
