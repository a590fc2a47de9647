"""Moves and elections that are asked for at the brokers, on one cluster of 2.7."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from impl.admin.configs import LEADER_RATE, MOVE_RATE
from impl.server.clients import Producer
from impl.server.cluster import Cluster
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait
from tests.cli.clusters import answer, cluster, done, eventually, isrs, typed


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("outer") / "cluster"
    options = "--set log.dirs=d1,d2 --set replica.fetch.max.bytes=20000"
    more = "--set auto.leader.rebalance.enable=false"
    with cluster(folder, f"--brokers 3 --version 2.7 {options} {more}"):
        yield folder


def filled(here: Path, topic: str, replicas: str, batches: int = 1) -> None:
    """A topic of one partition, and so many batches of about 10 kB in it."""
    done(f"topics --create --zookeeper {here} --topic {topic} --replica-assignment {replicas}")
    with Producer(Cluster(here).addresses()) as producer:
        for _ in range(batches):
            producer.send(topic, [b"x" * 10_000])


def planned(folder: Path, topic: str, replicas: list[int], dirs: list[str] | None = None) -> Path:
    entry: dict[str, object] = {"topic": topic, "partition": 0, "replicas": replicas}
    if dirs is not None:
        entry["log_dirs"] = dirs
    plan = folder / f"{topic}.json"
    plan.write_text(json.dumps({"version": 1, "partitions": [entry]}))
    return plan


def throttle(here: Path, plan: Path, option: str, rate: str) -> None:
    """Throttle by a move to where all is, and wait until its brokers go by it.

    Configurations are heard after a while, and what is small is copied before. A topic's are
    written before those of brokers, and are heard in that order.
    """
    file = f"--bootstrap-server {here} --reassignment-json-file {plan}"
    done(f"reassign --execute {file} {option} 1")

    def throttled(broker: int) -> bool:
        one = f"--bootstrap-server {here} --entity-type brokers --entity-name {broker}"
        return f"{rate}=1 sens" in done(f"configs --describe {one}")

    for broker in json.loads(plan.read_text())["partitions"][0]["replicas"]:
        eventually(partial(throttled, broker), f"{rate} of broker {broker}")


def executed_with_a_throttle_that_is_heard(here: Path, topic: str, plan: Path) -> str:
    """Start a move from brokers 1 and 2 that may copy next to nothing."""
    file = f"--bootstrap-server {here} --reassignment-json-file"
    elsewhere = plan.parent / "still"
    elsewhere.mkdir()
    throttle(here, planned(elsewhere, topic, [1, 2]), "--throttle", LEADER_RATE)
    return done(f"reassign --execute {file} {plan} --throttle 1")


def configs(here: Path) -> dict[str, str]:
    cluster = Cluster(here)
    port = cluster.session()
    client = ZnodeClient(port, cluster.release)
    found = {
        f"{kind}/{name}": wait(client.port.get(f"/config/{kind}/{name}")).data
        for kind in ("topics", "brokers")
        for name in wait(client.names(f"/config/{kind}"))
    }
    port.close()
    return found


def test_a_throttled_move_is_listed_waits_and_is_cancelled(here: Path, tmp_path: Path):
    filled(here, "held", "1:2", batches=8)
    plan = planned(tmp_path, "held", [3, 2])
    file = f"--bootstrap-server {here} --reassignment-json-file {plan}"

    started = executed_with_a_throttle_that_is_heard(here, "held", plan)
    marked = configs(here)
    eventually(lambda: "held-0" in done(f"reassign --list --bootstrap-server {here}"), "the move")
    time.sleep(1.0)  # long enough for all of it, if nobody held it back
    listed = done(f"reassign --list --bootstrap-server {here}")
    waiting = done(f"reassign --verify {file}")
    refused = typed(f"reassign --execute {file}")
    cancelled = done(f"reassign --cancel {file}")
    again = done(f"reassign --cancel {file}")

    assert started.splitlines()[-3:] == [
        "Warning: You must run --verify periodically, until the reassignment completes, to ensure "
        "the throttle is removed.",
        "The inter-broker throttle limit was set to 1 B/s",
        "Successfully started partition reassignment for held-0",
    ]
    assert '"leader.replication.throttled.replicas":"0:1,0:2"' in marked["topics/held"]
    assert '"follower.replication.throttled.replicas":"0:3"' in marked["topics/held"]
    assert '"leader.replication.throttled.rate":"1"' in marked["brokers/3"]
    assert listed == (
        "Current partition reassignments:\nheld-0: replicas: 3,2,1. adding: 3. removing: 1.\n"
    )
    assert waiting == (
        "Status of partition reassignment:\n"
        "Reassignment of partition held-0 is still in progress.\n"
    )
    assert refused.exit_code == 1
    assert refused.stdout.startswith(
        "Cannot execute because there is an existing partition assignment.  Use --additional"
    )
    assert cancelled == (
        "Successfully cancelled partition reassignment for: held-0\n"
        "None of the specified partition moves are active.\n"
        "Clearing broker-level throttles on brokers 1,2,3\n"
        "Clearing topic-level throttles on topic held\n"
    )
    assert again.startswith("None of the specified partition reassignments are active.\n")
    assert isrs(here, "held") == [(1, {1, 2})]
    assert "throttled" not in "".join(configs(here).values())


def test_a_move_goes_on_once_its_throttle_is_raised_and_verify_takes_it_away(
    here: Path, tmp_path: Path
):
    filled(here, "raised", "1:2", batches=8)
    plan = planned(tmp_path, "raised", [3, 1])
    file = f"--bootstrap-server {here} --reassignment-json-file {plan}"
    executed_with_a_throttle_that_is_heard(here, "raised", plan)
    eventually(lambda: "raised-0" in done(f"reassign --list --bootstrap-server {here}"), "the move")

    done(f"reassign --execute {file} --throttle 100000000 --additional")
    eventually(lambda: "is complete" in done(f"reassign --verify {file}"), "the end")

    result = done(f"reassign --verify {file}")
    assert result.splitlines() == [
        "Status of partition reassignment:",
        "Reassignment of partition raised-0 is complete.",
        "",
        "Clearing broker-level throttles on brokers 1,2,3",
        "Clearing topic-level throttles on topic raised",
    ]
    assert isrs(here, "raised") == [(1, {1, 3})]
    assert "throttled" not in "".join(configs(here).values())


def test_a_replica_is_made_in_one_directory_and_moves_to_another(here: Path, tmp_path: Path):
    filled(here, "housed", "1", batches=3)
    first, second = (str(here / "broker2" / name) for name in ("d2", "d1"))
    plan = planned(tmp_path, "housed", [2], [first])
    file = f"--bootstrap-server {here} --reassignment-json-file {plan}"

    made = done(f"reassign --execute {file}")
    eventually(lambda: "still in progress" not in done(f"reassign --verify {file}"), "the end")
    result = done(f"reassign --verify {file}")
    there = (Path(first) / "housed-0").exists(), (Path(second) / "housed-0").exists()
    planned(tmp_path, "housed", [2], [second])
    moved = done(f"reassign --execute {file} --replica-alter-log-dirs-throttle 10000000")
    eventually(lambda: "still in progress" not in done(f"reassign --verify {file}"), "the end")
    read = answer(f"consume --bootstrap-server {here} --topic housed --from-beginning "
                  "--timeout-ms 500")["records"]  # fmt: skip
    done(f"cluster stop {here} 2")
    done(f"cluster start {here} 2")
    again = answer(f"consume --bootstrap-server {here} --topic housed --from-beginning "
                   "--timeout-ms 500")["records"]  # fmt: skip

    assert made.endswith("Successfully started log directory move for: housed-0-2\n")
    assert "Reassignment of replica housed-0-2 completed successfully.\n" in result
    assert there == (True, False)
    assert "The replica-alter-dir throttle limit was set to 10000000 B/s\n" in moved
    assert (Path(second) / "housed-0").exists()
    assert not (Path(first) / "housed-0").exists()
    assert len(read) == 3
    assert again == read


def test_a_held_move_between_directories_is_in_progress_until_it_is_cancelled(
    here: Path, tmp_path: Path
):
    filled(here, "kept", "1", batches=1)
    homes = [here / "broker1" / name for name in ("d1", "d2")]
    home = next(one for one in homes if (one / "kept-0").exists())
    other = next(one for one in homes if one != home)
    with Producer(Cluster(here).addresses()) as producer:
        for _ in range(80):  # a fetch of 1 MB passes each 11 s, the quota's window, however slow
            producer.send("kept", [b"x" * 100_000])
    plan = planned(tmp_path, "kept", [1], [str(other)])
    file = f"--bootstrap-server {here} --reassignment-json-file {plan}"
    still = tmp_path / "still"
    still.mkdir()
    option = "--replica-alter-log-dirs-throttle"
    throttle(here, planned(still, "kept", [1], [str(home)]), option, MOVE_RATE)

    done(f"reassign --execute {file} {option} 1")
    held = done(f"reassign --verify {file}")
    futures = [one.name for one in other.iterdir() if one.name.endswith("-future")]
    cancelled = done(f"reassign --cancel {file}")
    after = done(f"reassign --verify {file}")

    assert held.endswith("Reassignment of replica kept-0-1 is still in progress.\n")
    assert len(futures) == 1
    assert "Successfully cancelled log directory move for: kept-0-1\n" in cancelled
    assert f"is not being moved from log dir {home} to {other}." in after
    assert (home / "kept-0").exists()


def test_elections_by_brokers_are_reported_with_their_outcome(here: Path):
    filled(here, "led", "2:3")
    one = f"elect --bootstrap-server {here} --topic led --partition 0 --election-type"
    done(f"cluster stop {here} 2")
    eventually(lambda: isrs(here, "led") == [(3, {3})], "the other leader")
    too_early = typed(f"{one} preferred")
    done(f"cluster start {here} 2")
    eventually(lambda: isrs(here, "led") == [(3, {2, 3})], "both in sync")

    elected = done(f"{one} preferred")
    leads = isrs(here, "led")
    again = done(f"{one} unclean")

    assert too_early.exit_code == 1
    assert too_early.stdout == (
        "Error completing leader election (PREFERRED) for partition: led-0: The preferred leader "
        "was not available.\n"
    )
    assert too_early.stderr == (
        'Exception in thread "main" kafka.common.AdminCommandFailedException: '
        "1 replica(s) could not be elected\n"
    )
    assert elected == "Successfully completed leader election (PREFERRED) for partitions led-0\n"
    assert leads == [(2, {2, 3})]
    assert again == "Valid replica already elected for partitions led-0\n"


def test_a_partition_without_a_leader_in_sync_gets_an_unclean_one_by_request(here: Path):
    filled(here, "lost", "3:1")
    eventually(lambda: isrs(here, "lost") == [(3, {1, 3})], "both in sync")
    done(f"cluster kill {here} 1")
    eventually(lambda: isrs(here, "lost") == [(3, {3})], "one alone")
    done(f"cluster kill {here} 3")
    done(f"cluster start {here} 1")
    eventually(lambda: isrs(here, "lost") == [(-1, {3})], "nobody to lead")

    elected = done(f"elect --bootstrap-server {here} --election-type unclean --topic lost "
                   "--partition 0")  # fmt: skip
    leads = isrs(here, "lost")
    done(f"cluster start {here} 3")

    assert elected == "Successfully completed leader election (UNCLEAN) for partitions lost-0\n"
    assert leads == [(1, {1})]


UNCAUGHT = 'Exception in thread "main" '
FAILED = f"{UNCAUGHT}kafka.common.AdminCommandFailedException: "
UNKNOWN = f"{UNCAUGHT}joptsimple.UnrecognizedOptionException: "


@pytest.mark.parametrize(
    "line, message",
    [
        ("reassign --list --zookeeper {here}", f"{UNCAUGHT}java.lang.RuntimeException: You must "
         'specify --bootstrap-server when using "[list]"'),
        ("reassign --cancel --bootstrap-server {here}",
         'Missing required argument "[reassignment-json-file]"'),
        ("reassign --list --verify --bootstrap-server {here}", "Command must include exactly one "
         "action: --generate, --execute, --verify, --cancel, --list"),
        ("reassign --list --bootstrap-server {here} --throttle 9",
         'Option "[throttle]" can\'t be used with action "[list]"'),
        ("reassign --verify --version 2.7", "Please specify --bootstrap-server"),
        ("reassign --verify --bootstrap-server {here} --version 2.5",
         'Missing required argument "[zookeeper]"'),
        ("reassign --list --bootstrap-server {here} --version 2.3",
         f"{UNKNOWN}list is not a recognized option"),
        ("reassign --verify --zookeeper {here} --version 1.1 --reassignment-json-file {plan} "
         "--throttle 9", 'Option "[verify]" can\'t be used with option"[throttle]"'),
        ("elect --bootstrap-server {here} --topic t --partition 0",
         f"{FAILED}Missing required option(s): election-type"),
        ("elect --bootstrap-server {here} --election-type preferred", f"{FAILED}One and only one "
         "of the following options is required: topic, all-topic-partitions, path-to-json-file"),
        ("elect --bootstrap-server {here} --election-type preferred --topic t",
         f"{FAILED}Missing required option(s): partition"),
        ("elect --zookeeper {here} --election-type unclean",
         f"{UNKNOWN}election-type is not a recognized option"),
        ("elect --bootstrap-server {here} --version 2.1",
         f"{UNKNOWN}bootstrap-server is not a recognized option"),
        ("elect --bootstrap-server {here} --version 2.3 --election-type unclean",
         f"{UNKNOWN}election-type is not a recognized option"),
        ("topics --list --version 2.7", f"{UNCAUGHT}java.lang.IllegalArgumentException: Only one "
         "of --bootstrap-server or --zookeeper must be specified"),
        ("topics --list --bootstrap-server {here} --version 2.1",
         f"{UNKNOWN}bootstrap-server is not a recognized option"),
        ("topics --list --version 2.1", 'Missing required argument "[zookeeper]"'),
        ("topics --alter --bootstrap-server {here} --topic t",
         'Missing required argument "[partitions]"'),
        ("topics --alter --bootstrap-server {here} --topic t --partitions 3 --config a=b",
         'Option combination "[bootstrap-server],[config]" can\'t be used with option "[alter]"'),
        ("topics --delete --bootstrap-server {here} --topic t --if-exists --version 2.5",
         'Option "[if-exists]" can\'t be used with option "[bootstrap-server]"'),
        ("topics --create --bootstrap-server {here} --topic t --version 2.3",
         'Missing required argument "[partitions]"'),
        ("topics --list --zookeeper {here} --config a=b --version 2.0",
         'Option "[config]" can\'t be used with option"[list]"'),
    ],
)  # fmt: skip
def test_arguments_that_do_not_go_together_are_refused_on_standard_error_with_exit_code_1(
    here: Path, tmp_path: Path, line: str, message: str
):
    result = typed(line.format(here=here, plan=planned(tmp_path, "known", [9])))

    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.splitlines()[-1] == message


NO_TOPIC = "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: "
FAILING = "Error while executing topic command : "
OF_COMMANDS = "kafka.common.AdminCommandFailedException: "


@pytest.mark.parametrize(
    ("line", "code", "stream", "reported"),
    [
        ("reassign --execute --zookeeper {here} --version 1.1", 0, "stdout",
         ["Partitions reassignment failed due to ", OF_COMMANDS]),
        ("reassign --execute --zookeeper {here} --version 2.5", 0, "stdout",
         ["Partitions reassignment failed due to ", OF_COMMANDS]),
        ("reassign --execute --zookeeper {here}", 1, "stdout", ["Error: ", NO_TOPIC]),
        ("reassign --execute --bootstrap-server {here}", 1, "stdout", ["Error: ", NO_TOPIC]),
        ("topics --delete --zookeeper {here} --topic nope --version 0.10", 1, "stdout",
         [f"{FAILING}Topic nope does not exist on ZK path"]),
        ("topics --delete --bootstrap-server {here} --topic nope", 1, "stdout",
         [f"{FAILING}Topic 'nope' does not exist as expected"]),
        ("topics --delete --bootstrap-server {here} --topic nope --version 2.2", 1, "stdout",
         [f"{FAILING}Topics in [] does not exist"]),
        ("topics --create --bootstrap-server {here} --topic n --partitions 1 "
         "--replication-factor 9 --version 2.5", 1, "stdout", [
             f"{FAILING}org.apache.kafka.common.errors.InvalidReplicationFactorException: "
             "Replication factor: 9 larger than available brokers: 3."]),
        ("topics --create --bootstrap-server {here} --topic n --partitions 1 "
         "--replication-factor 9", 1, "stdout", [
             f"{FAILING}Replication factor: 9 larger than available brokers: 3."]),
    ],
)  # fmt: skip
def test_what_fails_at_work_is_reported_on_the_stream_and_with_the_exit_code_of_the_release(
    here: Path, tmp_path: Path, line: str, code: int, stream: str, reported: list[str]
):
    plan = planned(tmp_path, "nowhere", [9])
    file = f" --reassignment-json-file {plan}" if "reassign" in line else ""

    result = typed(line.format(here=here) + file)

    assert result.exit_code == code
    last = getattr(result, stream).splitlines()[-len(reported) :]
    assert [shown.startswith(begin) for shown, begin in zip(last, reported, strict=True)] == [
        True for _ in reported
    ], result.output


def test_topics_are_made_grown_described_and_deleted_by_asking_the_brokers(here: Path):
    create = f"topics --create --bootstrap-server {here} --topic asked --partitions 1"
    made = done(f"{create} --replication-factor 2 --config retention.ms=9000")
    eventually(lambda: "asked" in done(f"topics --list --bootstrap-server {here}"), "the topic")
    again = typed(f"{create} --replication-factor 2")
    spared = done(f"{create} --replication-factor 2 --if-not-exists")
    describe = f"topics --describe --bootstrap-server {here} --topic asked"
    described = done(describe)
    grown = done(f"topics --alter --bootstrap-server {here} --topic asked --partitions 2")
    eventually(lambda: "Partition: 1" in done(describe), "the second partition")
    shrunk = typed(f"topics --alter --bootstrap-server {here} --topic asked --partitions 1")
    deleted = done(f"topics --delete --bootstrap-server {here} --topic asked")
    eventually(lambda: "asked" not in done(f"topics --list --bootstrap-server {here}"), "the end")

    assert (made, grown, deleted, spared) == ("Created topic asked.\n", "", "", "")
    assert again.stdout == f"{FAILING}Topic 'asked' already exists.\n"
    assert described.splitlines()[0] == (
        "Topic: asked\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: retention.ms=9000"
    )
    assert shrunk.stdout == (
        f"{FAILING}Topic currently has 2 partitions, which is higher than the requested 1.\n"
    )


def asked_for_leaders(here: Path) -> bool:
    cluster = Cluster(here)
    port = cluster.session()
    found = wait(ZnodeClient(port, cluster.release).preferred_election())
    port.close()
    return found is not None


def test_an_election_by_zookeeper_passes_over_what_does_not_exist_and_one_waits_for_another(
    here: Path,
):
    elect = f"elect --zookeeper {here} --topic nope --partition 0 --version"
    skipped = {}
    for version in ("0.10", "1.1", "2.3"):
        skipped[version] = typed(f"{elect} {version}")
        eventually(lambda: not asked_for_leaders(here), "the request gone")

    assert [one.exit_code for one in skipped.values()] == [0, 0, 0]
    assert skipped["1.1"].stdout.splitlines() == [
        "Created preferred replica election path with ",
        "Successfully started preferred replica election for partitions Set()",
        "Skipping preferred replica leader election for partition nope-0 since it doesn't exist.",
    ]
    assert skipped["0.10"].stderr == (
        "Skipping preferred replica leader election for partition [nope,0] since topic nope "
        "doesn't exist\n"
    )
    assert skipped["2.3"].stdout.startswith("Warning: --zookeeper is deprecated and will be ")


def test_a_broker_that_is_no_number_is_reported_as_java_tells_it(here: Path):
    cluster = Cluster(here)
    port = cluster.session()
    wait(port.create("/brokers/ids/x", "y", ephemeral=True))
    result = typed(f"topics --describe --zookeeper {here}")
    port.close()

    assert result.exit_code == 1
    assert result.stdout == f'{FAILING}For input string: "x"\n'
