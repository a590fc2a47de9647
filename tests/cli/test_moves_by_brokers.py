"""Moves and elections that are asked for at the brokers, on one cluster of 2.7."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from impl.server.clients import Producer
from impl.server.cluster import Cluster
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait
from tests.cli.clusters import SETTINGS, answer, done, eventually, isrs, typed


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("outer") / "cluster"
    try:
        done(f"cluster start {folder} --brokers 3 --version 2.7 {SETTINGS} --set log.dirs=d1,d2 "
             "--set replica.fetch.max.bytes=20000 "
             "--set auto.leader.rebalance.enable=false")  # fmt: skip
        yield folder
    finally:
        found = Cluster(folder)
        found.stop(10)
        assert not found.running()


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


def executed_with_a_throttle_that_is_heard(here: Path, topic: str, plan: Path) -> str:
    """Start a move from brokers 1 and 2 that may copy next to nothing.

    News of configurations take a while, and what is small is copied before: so a move to where it
    is has the same throttle set, and brokers have surely heard of it when the real one begins.
    """
    file = f"--bootstrap-server {here} --reassignment-json-file"
    elsewhere = plan.parent / "still"
    elsewhere.mkdir()
    done(f"reassign --execute {file} {planned(elsewhere, topic, [1, 2])} --throttle 1")
    time.sleep(1.0)
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
    assert refused.exit_code == 64
    assert refused.stderr.startswith(
        "Error: Cannot execute because there is an existing partition assignment.  Use --additional"
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

    told = done(f"reassign --verify {file}")
    assert told.splitlines() == [
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
    told = done(f"reassign --verify {file}")
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
    assert "Reassignment of replica housed-0-2 completed successfully.\n" in told
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
        for _ in range(15):
            producer.send("kept", [b"x" * 100_000])
    plan = planned(tmp_path, "kept", [1], [str(other)])
    file = f"--bootstrap-server {here} --reassignment-json-file {plan}"

    done(f"reassign --execute {file} --replica-alter-log-dirs-throttle 1")
    time.sleep(0.5)
    held = done(f"reassign --verify {file}")
    futures = [one.name for one in other.iterdir() if one.name.endswith("-future")]
    cancelled = done(f"reassign --cancel {file}")
    after = done(f"reassign --verify {file}")

    assert held.endswith("Reassignment of replica kept-0-1 is still in progress.\n")
    assert len(futures) == 1
    assert "Successfully cancelled log directory move for: kept-0-1\n" in cancelled
    assert f"is not being moved from log dir {home} to {other}." in after
    assert (home / "kept-0").exists()


def test_elections_by_brokers_are_told_with_their_outcome(here: Path):
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

    assert too_early.exit_code == 64
    assert too_early.stdout == (
        "Error completing leader election (PREFERRED) for partition: led-0: The preferred leader "
        "was not available.\n"
    )
    assert too_early.stderr == "1 replica(s) could not be elected\n"
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


@pytest.mark.parametrize(
    "line, message",
    [
        ("reassign --list --zookeeper {here}", 'Missing required argument "[bootstrap-server]"'),
        ("reassign --cancel --bootstrap-server {here}",
         'Missing required argument "[reassignment-json-file]"'),
        ("reassign --list --verify --bootstrap-server {here}", "Command must include exactly one "
         "action: --generate, --execute, --verify, --cancel or --list"),
        ("reassign --list --bootstrap-server {here} --version 2.3", "--bootstrap-server: moves are "
         "asked for by --zookeeper in 2.3"),
        ("reassign --execute --bootstrap-server {here} --reassignment-json-file {plan}",
         "Error: Unknown broker id 9"),
        ("elect --bootstrap-server {here} --topic t --partition 0",
         "Missing required option(s): election-type"),
        ("elect --bootstrap-server {here} --election-type preferred", "One and only one of the "
         "following options is required: topic, all-topic-partitions, path-to-json-file"),
        ("elect --bootstrap-server {here} --election-type preferred --topic t",
         "Missing required option(s): partition"),
        ("elect --zookeeper {here} --election-type unclean", 'Option "[election-type]" can\'t be '
         'used with option "[zookeeper]"'),
        ("elect --bootstrap-server {here} --version 2.1", "--bootstrap-server: elections are asked "
         "for by --zookeeper in 2.1"),
        ("elect --bootstrap-server {here} --version 2.3 --election-type unclean",
         "--election-type unclean came with 2.4; the cluster is 2.3"),
    ],
)  # fmt: skip
def test_what_the_newer_tools_refuse_is_refused_in_their_words(
    here: Path, tmp_path: Path, line: str, message: str
):
    if "plan" in line and "known" not in done(f"topics --list --zookeeper {here}"):
        done(f"topics --create --zookeeper {here} --topic known --replica-assignment 1")
        eventually(lambda: isrs(here, "known") == [(1, {1})], "a leader")
    plan = planned(tmp_path, "known", [9])

    result = typed(line.format(here=here, plan=plan))

    assert result.exit_code == 64
    assert result.stderr.splitlines()[-1] == message
