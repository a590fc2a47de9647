"""`configs`, `offsets`, `dump-log`, `produce` and `consume` on a log that a broker compacts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.clusters import answer, cluster, done, eventually, typed


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cluster of one broker, which compacts at once, with a topic of one partition."""
    options = "--set log.cleaner.backoff.ms=100 --set log.index.interval.bytes=100"
    folder = tmp_path_factory.mktemp("outer") / "cluster"
    with cluster(folder, f"--brokers 1 --version 2.3 {options}"):
        done(f"topics --create --zookeeper {folder} --topic t --partitions 1 "
             "--replication-factor 1")  # fmt: skip
        yield folder


def test_a_topic_that_is_set_to_compact_keeps_the_latest_of_each_key(here: Path):
    topic = f"--zookeeper {here} --entity-type topics --entity-name t"
    policy = "cleanup.policy=compact,segment.bytes=1500,min.cleanable.dirty.ratio=0.01"
    said = done(f"configs {topic} --alter --add-config {policy}")
    for turn in range(3):
        lines = "".join(f"k{number % 10}:{turn}-{number}\n" for number in range(60))
        done(f"produce --broker-list {here} --topic t --key-separator : --idempotent "
             "--batch-size 5", lines)  # fmt: skip
    data = here / "broker1" / "data"
    cleaned = data / "cleaner-offset-checkpoint"
    eventually(lambda: cleaned.read_text() != "", "a cleaning")

    def read() -> list[list[str]]:
        result = done(f"consume --bootstrap-server {here} --topic t --from-beginning "
                    "--timeout-ms 300 --print-offsets")  # fmt: skip
        return [line.split("\t") for line in result.splitlines()]

    eventually(lambda: len(read()) < 100, "fewer records")
    kept = read()

    assert said == "Completed Updating config for entity: topic 't'.\n"
    assert [value for _, _, value in kept[-10:]] == [f"2-{number}" for number in range(50, 60)]
    assert done(f"offsets --broker-list {here} --topic t") == "t:0:180\n"
    assert done(f"offsets --broker-list {here} --topic t --time -2 --partitions 0") == "t:0:0\n"
    files = sorted((data / "t-0").glob("*.log"))
    dumped = answer("dump-log --print-data-log " + " ".join(map(str, files)))
    printed = [
        line for one in dumped["files"] for line in one["lines"] if line.startswith("| offset: ")
    ]
    assert dumped["sound"]
    assert [line.rpartition("payload: ")[2] for line in printed] == [value for _, _, value in kept]


def test_an_offset_is_found_by_its_time(here: Path):
    done(f"topics --create --zookeeper {here} --topic times --partitions 1 --replication-factor 1")
    done(f"produce --broker-list {here} --topic times --batch-size 1", "a\nb\nc\n")
    log = here / "broker1" / "data" / "times-0" / "00000000000000000000.log"
    stamps = [int(one) for one in re.findall(r"CreateTime: (\d+) size", done(f"dump-log {log}"))]
    ask = f"offsets --broker-list {here} --topic times"

    assert done(f"{ask} --time {stamps[1]}") == f"times:0:{stamps.index(stamps[1])}\n"
    assert done(f"{ask} --time {stamps[-1] + 1}") == "times:0:\n"
    assert done(f"{ask} --time {stamps[0] - 9000} --version 1.1") == "times:0:\n"
    assert done(f"{ask} --time -1 --offsets 9 --version 1.1") == "times:0:3,0\n"


def test_a_running_broker_takes_what_is_set_for_it(here: Path):
    broker = f"configs --bootstrap-server {here} --entity-type brokers --entity-name 1"
    said = done(f"{broker} --alter --add-config log.retention.ms=1234567,min.insync.replicas=2")
    eventually(lambda: "retention" in done(f"{broker} --describe"), "the broker hears of it")
    described = done(f"{broker} --describe").splitlines()
    send = f"produce --broker-list {here} --topic times --request-required-acks all --timeout 1.5"
    eventually(lambda: typed(send, "x\n").exit_code == 1, "the broker hears of it")
    refused = typed(send, "x\n")
    wrong = typed(f"{broker} --alter --add-config log.retention.ms=soon")
    done(f"{broker} --alter --delete-config min.insync.replicas")
    taken = typed(f"{send}0", "x\n")

    assert said == "Completed updating config for broker: 1.\n"
    assert described[0] == "Configs for broker 1 are:"
    assert described[1] == (
        "  log.retention.ms=1234567 sensitive=false synonyms={DYNAMIC_BROKER_CONFIG:"
        "log.retention.ms=1234567, DEFAULT_CONFIG:log.retention.ms=604800000}"
    )
    assert refused.exit_code == 1
    assert "NOT_ENOUGH_REPLICAS" in refused.stderr
    assert taken.exit_code == 0
    assert wrong.exit_code == 1
    assert "log.retention.ms is a number, not 'soon'" in wrong.stderr


def test_up_to_2_5_a_throttle_counts_as_sensitive_and_is_named_by_who_alters_a_broker(here: Path):
    rate = "leader.replication.throttled.rate"
    broker = "--entity-type brokers --entity-name 1"
    done(f"configs --zookeeper {here} {broker} --alter --add-config {rate}=9")
    of_brokers = f"configs --bootstrap-server {here} {broker}"
    eventually(lambda: rate in done(f"{of_brokers} --describe"), "the broker hears of it", 20)
    described = done(f"{of_brokers} --describe").splitlines()
    refused = typed(f"{of_brokers} --alter --add-config log.retention.ms=1")
    newer = typed(f"{of_brokers} --alter --add-config log.retention.ms=1 --version 2.4")
    done(f"configs --zookeeper {here} {broker} --alter --delete-config {rate}")

    assert f"  {rate}=null sensitive=true synonyms={{DYNAMIC_BROKER_CONFIG:{rate}=null}}" in (
        described
    )
    assert refused.exit_code == newer.exit_code == 1
    assert "All sensitive broker config entries must be specified for --alter, " in refused.stderr
    assert f"missing entries: Set({rate})" in newer.stderr


@pytest.mark.parametrize(
    "line, why",
    [
        ("configs --zookeeper {here} --entity-type topics", "exactly one action"),
        ("configs --zookeeper {here} --entity-type users --describe", "Invalid entity-type users"),
        ("configs --entity-type topics --describe", "Only one of --bootstrap-server or"),
        ("configs --zookeeper {here} --entity-type topics --alter --add-config a=b", "entity name"),
        ("configs --zookeeper {here} --entity-type topics --entity-name t --alter", "At least one"),
        ("configs --zookeeper {here} --entity-type topics --entity-name t --alter "
         "--add-config segment.bytes=1", "Value must be at least 14"),
        ("configs --zookeeper {here} --entity-type brokers --entity-name 1 --alter "
         "--add-config log.retention.ms=1", "--bootstrap-server option must be specified"),
        ("configs --bootstrap-server {here} --entity-type topics --entity-name t --describe",
         "use --zookeeper"),
        ("offsets --broker-list {here} --topic t --partitions a", "write numbers with commas"),
        ("offsets --broker-list {here}", 'Missing required argument "[topic]"'),
        ("produce --broker-list {here} --topic t --idempotent --request-required-acks 1",
         "Must set acks to all"),
    ],
)  # fmt: skip
def test_wrong_use_is_answered_with_what_would_be_right(here: Path, line: str, why: str):
    result = typed(line.format(here=here), "")

    of_ours = result.stderr.startswith("insync: ")  # else Kafka's tool refuses, which exits with 1
    assert result.exit_code == (64 if of_ours else 1)
    assert why in result.stderr
    assert "Traceback" not in result.stderr


def test_what_is_not_there_is_named(here: Path):
    topic = typed(f"offsets --broker-list {here} --topic nowhere")
    partition = typed(f"offsets --broker-list {here} --topic t --partitions 0,7")

    assert (topic.exit_code, partition.exit_code) == (1, 1)
    assert topic.stderr == "Topic nowhere does not exist\n"
    assert partition.stderr == "Error: partition 7 does not exist\n"
    assert partition.stdout.startswith("t:0:")
