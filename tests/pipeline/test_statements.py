"""What Kafka's protocol loggers can write, by its source: known, release by release."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conformance.ingest.collect import collect, release_of, statements_of
from conformance.ingest.dialects import ANY, dialect_for
from conformance.ingest.samples import heads_of, samples
from conformance.ingest.statements import NOTE, Statement, is_protocol, release, statements
from tests.pipeline.written import checked

RELEASES = [
    *("0.9", "0.10", "0.11", "1.0", "1.1"),
    *(f"2.{minor}" for minor in range(9)),
    *(f"3.{minor}" for minor in range(10)),
]


def understood(statement: Statement, name: str) -> bool:
    """Whether that release's dialect makes of the release's line what the table says."""
    number = release(name)
    head = heads_of(statement.logger, number)
    for text in samples(statement.shape, number):
        read = dialect_for(name).read(statement.logger, head + text)
        if statement.kind == NOTE:
            return statement.is_known and read is not None
        if read is not None and read[0] == statement.kind:
            return True
    return False


@pytest.mark.parametrize("name", RELEASES)
def test_every_statement_of_a_release_is_understood(name: str):
    written = [each for each in statements() if each.first <= release(name) <= each.last]

    remain = [each for each in written if not understood(each, name)]

    assert len(written) > 290
    assert remain == []


def test_what_every_release_writes_about_leaders_and_isrs_is_an_event():
    events = {
        *("partition_changed", "leader_and_isr_sent", "leader_and_isr_received", "metadata_cached"),
        *("isr_shrunk", "isr_updated", "controller_elected", "controller_resigned"),
    }

    for name in RELEASES:
        number = release(name)
        found = {each.kind for each in statements() if each.first <= number <= each.last}
        assert events <= found, name


def test_loggers_of_the_table_must_be_understood():
    assert {each.logger for each in statements() if not is_protocol(each.logger)} == set()


def test_notes_of_the_table_are_no_events_in_any_form():
    for each in statements():
        if each.kind == NOTE and each.is_known:
            head = heads_of(each.logger, each.last)
            read = ANY.read(each.logger, head + next(samples(each.shape, each.last)))
            assert read is not None, each
            assert read[0] == NOTE, each


# Quoted in the articles and in bug reports.
QUOTED = {
    "kafka.controller.KafkaController": (
        "[Controller id=1] Ignoring request to reassign partition orders-0 that doesn't exist.",
        "[Controller 1]: Error handling reassignment of partition [orders,0] to replicas 1,2 as it "
        "was never created",
        "[Controller id=1] 1/3 replicas have caught up with the leader for partition orders-0 being"
        " reassigned. Replica(s) 2 still need to catch up",
        "[Controller id=1] 3/3 replicas have caught up with the leader for partition orders-0 being"
        " reassigned. Resuming partition reassignment",
        "[Controller id=1] Removing partitions Set(orders-0) from the list of reassigned partitions"
        " in zookeeper",
        "[Controller id=1] Skipping reassignment of orders-0 since the topic is currently being "
        "deleted",
        "[Controller id=1] Skipping reassignment of partition orders-0 for topic orders since it is"
        " currently being deleted",
        "[Controller id=1] Error completing reassignment of partition orders-0",
        "[Controller id=1] Acquired new producerId block ProducerIdsBlock(assignedBrokerId=1, "
        "firstProducerId=0, size=1000) by writing to Zk with path version 1",
        "[Controller id=1] There is no producerId block yet (Zk path version 0), creating the "
        "first block",
    ),
    "kafka.controller.TopicDeletionManager$DeleteTopicsThread": (
        "[delete-topics-thread-1], Starting ",
        "[delete-topics-thread-1], Shutdown completed ",
        "[delete-topics-thread-1], Error due to ",
    ),
    "kafka.log.LogManager": (
        "Deleted log for partition [orders,0] in /data/orders-0.8f3d-delete.",
        "Exception in deleting Log(/data/orders-0.8f3d-delete). Moving it to the end of the queue.",
        "Exception in kafka-delete-logs thread.",
    ),
    "state.change.logger": (
        "[Broker id=1] Removing 2 partition(s) from topic orders with ID q8Xn2YpPQbOe7Xk1mG4dqA "
        "from the metadata cache since the full UMR did not include them.",
        "Controller 1 epoch 3 encountered error while electing leader for partition [orders,0] due "
        "to: Preferred replica 2 for partition [orders,0] is either not alive or not in the isr. "
        'Current leader and ISR: [{"leader":1,"leader_epoch":4,"isr":[1]}].',
        "Controller 1 epoch 3 aborted leader election for partition [orders,0] since the "
        "LeaderAndIsr path was already written by another controller. This probably means that the "
        "current controller 1 went through a soft failure and another controller was elected with "
        "epoch 4.",
    ),
}


@pytest.mark.parametrize("logger, text", [(k, v) for k, every in QUOTED.items() for v in every])
def test_a_line_that_is_often_quoted_is_known(logger: str, text: str):
    assert ANY.read(logger, text) is not None


def test_a_line_that_no_release_writes_is_not_known():
    assert ANY.read("kafka.log.LogManager", "Deleted log for partitions orders-0") is None
    assert ANY.read("kafka.controller.KafkaController", "[Controller id=1] Resigned!") is None


# --- how the table is made

SCALA = """
package kafka.server

/** warn("in a comment") */
abstract class AbstractThing(name: String) extends Logging {
  def shared(): Unit = info(s"Shared $name")
}

class ReplicaFetcherThread(id: Int, other: Option[String] = None) extends AbstractThing("x") {
  private val message = s"Gone at ${offset + 1}"
  def run(): Unit = {
    debug("First %d of " + "[%s]".format(id))
    stateChangeLogger.withControllerEpoch(epoch(3)).trace(
      s"Sent ${if (id > 0) "leader" else "follower"} to $id: ${names.map { case (a, b) => a }}")
    warn(message, error)
    if (trace) trace("quote \\" and (bracket")
    error(somethingElse)
  }
  class Inner extends Logging { info("Inside") }
}
object Unused { def info(text: String) = text }
"""


def test_statements_are_read_from_calls_however_the_text_is_put_together():
    found = statements_of([("core/src/main/scala/kafka/server/ReplicaFetcherThread.scala", SCALA)])

    assert {(each.logger.rpartition(".")[2], each.shape, each.level) for each in found} == {
        ("ReplicaFetcherThread", "Shared {}", "info"),
        ("ReplicaFetcherThread", "First %d of [{}]", "debug"),
        ("logger", "Sent leader to {}: {}", "trace"),
        ("logger", "Sent follower to {}: {}", "trace"),
        ("ReplicaFetcherThread", "Gone at {}", "warn"),
        ("ReplicaFetcherThread", 'quote " and (bracket', "trace"),
        ("ReplicaFetcherThread", "{}", "error"),
        ("ReplicaFetcherThread$Inner", "Inside", "info"),
    }


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@localhost")
    subprocess.run(["git", "-C", folder, *who, *arguments], check=True, capture_output=True)


def test_the_table_says_from_which_release_to_which(tmp_path: Path):
    file = tmp_path / "core/src/main/scala/kafka/log/Log.scala"
    file.parent.mkdir(parents=True)
    git(tmp_path, "init", "-q")
    for tag, text in (("2.0.0", "One"), ("2.1.0-rc0", "No"), ("2.1.0", "Two"), ("2.3.0", "Two")):
        body = f'package kafka.log\nclass Log extends Logging {{ info("Number {text}") }}\n'
        file.write_text(body)
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-q", "--allow-empty", "-m", tag)
        git(tmp_path, "tag", tag)

    found = {each.shape: ends for each, ends in collect(str(tmp_path)).items()}

    assert found == {"Number One": ((2, 0), (2, 0)), "Number Two": ((2, 1), (2, 3))}
    assert release_of("0.8.2.2") is release_of("trunk") is release_of("4.0.0") is None


def test_the_command_without_a_repository_says_what_to_name():
    said = subprocess.run(
        [sys.executable, "-m", "conformance.ingest.collect"], capture_output=True, text=True
    )

    assert said.returncode == 1
    assert "a clone of apache/kafka" in said.stderr


def test_a_topic_that_is_deleted_at_0_9_is_no_violation(tmp_path: Path):
    state = "(Leader:{},ISR:0,1,LeaderEpoch:{},ControllerEpoch:1)"
    info = f"(LeaderAndIsrInfo:{state.format(0, 5)},ReplicationFactor:2),AllReplicas:0,1)"
    says = "Controller 0 epoch 1 sending"
    messages = [
        f"{says} become-leader LeaderAndIsr request {state.format(0, 5)} to broker 0 for partition "
        "[orders,0]",
        f"Broker 0 received LeaderAndIsr request {info} correlation id 3 from controller 0 epoch 1 "
        "for partition [orders,0]",
        f"{says} UpdateMetadata request {state.format(0, 5)} to broker 0 for partition orders-0",
        # While a topic is deleted its leader is -2, and the epoch is written anew.
        f"{says} UpdateMetadata request {state.format(-2, 0)} to broker 0 for partition orders-0",
        "Broker 0 deleted partition [orders,0] from metadata cache in response to UpdateMetadata "
        "request sent by controller 0 epoch 1 with correlation id 9",
        f"{says} become-leader LeaderAndIsr request {state.format(0, 6)} to broker 0 for partition "
        "[orders,0]",
    ]
    lines = [
        f"[2016-03-01 10:00:0{second},000] TRACE {message} (state.change.logger)\n"
        for second, message in enumerate(messages)
    ]
    (tmp_path / "state-change.log").write_text("".join(lines))

    result = checked(tmp_path)

    assert (result["verdict"], result["findings"]) == ("holds", [])
    assert result["lines"]["rejected"] == 0


def test_a_leader_of_0_11_names_its_partition_twice_and_alike(tmp_path: Path):
    starts = "starts at Leader Epoch {} from offset 0. Previous Leader Epoch was: {}"
    lines = [
        f"[2017-09-01 10:00:0{epoch},000] INFO Partition [orders,0] on broker 1: orders-0 "
        f"{starts.format(epoch, epoch - 1)} (kafka.cluster.Partition)\n"
        for epoch in range(3)
    ]
    (tmp_path / "server.log").write_text("".join(lines))

    result = checked(tmp_path)

    assert (result["verdict"], result["findings"]) == ("holds", [])
    assert result["lines"]["rejected"] == 0
