"""What a controller writes of requests for moves, as the articles quote it, and ingest reads it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.ingest.dialects import ANY
from impl.core.cluster_context import Replica
from impl.releases import Release
from impl.server.log4j_files import CONTROLLER, STATE_CHANGE
from impl.znodes import TopicPartition, paths
from impl.zookeeper.port import wait
from tests.conformance.logged import LoggedCluster
from tests.impl.controller.controlled import T0

OLD, NEW = "[t,0]", "t-0"
ASSIGNED = {
    "0.10": "kafka.common.KafkaException: Partition [t,0] to be reassigned is already assigned to "
    "replicas 1,2. Ignoring request for partition reassignment",
    "1.1": "Partition t-0 to be reassigned is already assigned to replicas 1,2. Ignoring request "
    "for partition reassignment.",
}
UNKNOWN = {
    "0.10": "kafka.common.KafkaException: Attempt to reassign partition [gone,0] that doesn't "
    "exist",
    "1.1": "Ignoring request to reassign partition gone-0 that doesn't exist.",
}


@pytest.mark.parametrize("version", ["0.10", "0.11", "1.1", "2.1", "2.3"])
def test_a_request_that_is_ignored_and_a_move_that_waits_are_reported_in_the_releases_words(
    tmp_path: Path, version: str
):
    reported = LoggedCluster(tmp_path, version, 1, 2)
    reported.ask({T0: (1, 2)})
    reported.ask({TopicPartition("gone", 0): (1,)})
    reported.ask({T0: (3, 2)})
    reported.isr(T0, 1, 2)
    reported.isr(T0, 1, 2, 3)

    form, lines = ("1.1" if reported.release.since("1.1") else "0.10"), reported.lines()
    thrown = reported.text(CONTROLLER)
    messages = [text for _, text, _ in lines] + thrown
    name, blank = (NEW, " ") if form == "1.1" else (OLD, "")
    caught_up = f"replicas have caught up with the leader for partition {name} being reassigned."
    expected = [
        ASSIGNED[form], UNKNOWN[form],
        f"New partition creation callback for {name}",
        f"Handling reassignment of partition {name} to new replicas 3,2",
        f"New replicas 3,2 for partition {name} being reassigned not yet caught up with the leader",
        f"Updated assigned replicas for partition {name} being reassigned to 3,2,1",
        f"Updated leader epoch for partition {name} to 1",
        f"1/2 {caught_up}{blank}Replica(s) 3 still need to catch up",
        f"2/2 {caught_up}{blank}Resuming partition reassignment",
    ]  # fmt: skip

    assert [one for one in expected if not any(text.endswith(one) for text in messages)] == []
    for _, text, logger in lines:
        assert ANY.read(logger, text) is not None, text


LIST = "from the list of reassigned partitions in zookeeper"
REMOVED = {
    "0.10": f"Removed partition [t,0] {LIST}",
    "1.0": f"Removed partition t-0 {LIST}",
    "1.1": f"Removing partition t-0 {LIST}",
    "2.1": f"Removing partitions Set(t-0) {LIST}",
    "2.3": f"Removing partitions Set(t-0) {LIST}",
    "2.4": f"Removing partitions Map(t-0 -> Buffer(3, 2)) {LIST}",
}


def begun(version: str) -> list[str]:
    """What a controller says when it begins, and when a request comes, from 2.0 to 2.3."""
    release = Release.of(version)
    rewritten = release.since("2.0") and not release.since("2.4")
    return [f"Removing partitions Set() {LIST}"] if rewritten else []


@pytest.mark.parametrize("version", REMOVED)
def test_an_entry_that_leaves_the_request_is_reported_in_the_releases_words(
    tmp_path: Path, version: str
):
    reported = LoggedCluster(tmp_path, version, 1, 2)
    reported.ask({T0: (3, 2)})
    reported.isr(T0, 1, 2, 3)

    about = [one for one in reported.lines() if LIST in one[1]]

    assert [one[1].partition("1] ")[2] or one[1].partition("]: ")[2] for one in about] == [
        *2 * begun(version), REMOVED[version]
    ]  # fmt: skip
    assert all(ANY.read(one[2], one[1]) is not None for one in about)


SEVERAL = {
    "1.1": [f"Removing partition gone-0 {LIST}", f"Removing partition t-0 {LIST}"],
    "2.0": [f"Removing partitions Set(gone-0, t-0) {LIST}"],
    "2.3": [f"Removing partitions Set(gone-0, t-0) {LIST}"],
    "2.4": [f"Removing partitions Map(gone-0 -> Buffer(1), gone-1 -> Buffer(2)) {LIST}"],
}


@pytest.mark.parametrize("version", SEVERAL)
def test_entries_that_are_refused_leave_the_request_one_by_one_and_together_since_2_0(
    tmp_path: Path, version: str
):
    reported = LoggedCluster(tmp_path, version, 1, 2)
    other = TopicPartition("gone", 1) if version == "2.4" else T0
    goals = {TopicPartition("gone", 0): (1,), other: (2,) if version == "2.4" else (1, 2)}
    reported.ask(goals)

    about = [text for _, text, _ in reported.lines() if LIST in text]

    assert [text.partition("1] ")[2] for text in about] == begun(version) + SEVERAL[version]
    assert wait(reported.admin.port.exists(paths.REASSIGN_PARTITIONS)) is None


@pytest.mark.parametrize("version", ["0.10", "0.11", "1.1", "2.1", "2.3"])
def test_the_state_of_a_moving_partition_that_is_gone_is_reported_as_never_created(
    tmp_path: Path, version: str
):
    reported = LoggedCluster(tmp_path, version, 1, 2)
    reported.ask({T0: (3, 2)})
    reported.leader_writes_isr(T0, (1, 2, 3))
    wait(reported.admin.port.delete(paths.state("t", 0)))
    reported.handle()

    name = NEW if reported.release.since("1.1") else OLD
    words = (
        f"Error handling reassignment of partition {name} to replicas 3,2 as it was never created"
    )
    found = [one for one in reported.lines() if one[1].endswith(words)]

    assert [one[0] for one in found] == ["ERROR"]
    assert ANY.read(found[0][2], found[0][1]) is not None


@pytest.mark.parametrize(
    ("version", "level", "words"),
    [
        ("0.10", "ERROR", "partition [t,0] for topic t since it is currently being deleted"),
        ("0.11.0.1", "ERROR", "partition [t,0] since it is currently being deleted"),
        ("1.1", "ERROR", "t-0 since the topic is currently being deleted"),
        ("2.3", "INFO", "t-0 since the topic is currently being deleted"),
    ],
)
def test_a_move_of_a_topic_that_is_being_deleted_is_reported_as_skipped(
    tmp_path: Path, version: str, level: str, words: str
):
    reported = LoggedCluster(tmp_path, version, 1, 2)
    reported.stop_broker(2)
    reported.handle()
    wait(reported.admin.request_deletion("t"))
    reported.handle()
    reported.ask({T0: (3, 1)})

    found = [
        one for one in reported.lines() if one[1].endswith(f"Skipping reassignment of {words}")
    ]

    assert [one[0] for one in found] == [level]
    assert ANY.read(found[0][2], found[0][1]) is not None


def test_a_move_to_a_dead_broker_is_refused_in_0_10_0(tmp_path: Path):
    reported = LoggedCluster(tmp_path, "0.10.0", 1, 2)
    reported.ask({T0: (3, 9)})

    assert wait(reported.admin.port.exists(paths.REASSIGN_PARTITIONS)) is None
    assert [one[1].partition("]: ")[2] for one in reported.lines() if one[0] == "ERROR"] == [
        "Error completing reassignment of partition [t,0]"
    ]
    assert (
        "kafka.common.KafkaException: Only 3 replicas out of the new set of replicas 3,9 for "
        "partition [t,0] to be reassigned are alive. Failing partition reassignment"
    ) in reported.text(CONTROLLER)


FAILED = "replicas [Topic=u,Partition=0,Replica=2] were not successfully deleted"
RETRIED = {
    "0.10": ("", "INFO", f"Retrying delete topic for topic u since {FAILED}"),
    "2.2": ("", "INFO", f"Retrying delete topic for topic u since {FAILED}"),
    "2.3": (
        " due to replica deletion failure",
        "INFO",
        f"Retrying deletion of topic u since {FAILED}",
    ),
    "2.8": (
        " due to replica deletion failure",
        "DEBUG",
        f"Retrying deletion of topics u since {FAILED}",
    ),
}


@pytest.mark.parametrize("version", RETRIED)
def test_a_deletion_that_fails_is_reported_as_halted_and_as_tried_again(
    tmp_path: Path, version: str
):
    reported = LoggedCluster(tmp_path, version, 1, 2)
    reported.create_topic("u", {0: (2,)})
    reported.handle()
    wait(reported.admin.request_deletion("u"))
    reported.handle()
    failed = [Replica(TopicPartition("u", 0), 2)]
    wait(reported.elected.core.deletion.replicas_failed(failed))

    why, level, again = RETRIED[version]
    lines = [one for one in reported.lines() if "TopicDeletionManager" in one[2]]
    said = [(one[0], re.sub(r"^\[.*?\],? ", "", one[1])) for one in lines]
    assert ("INFO", f"Halted deletion of topics u{why}") in said
    assert (level, again) in said
    waits = any(text.startswith("Not retrying deletion of topic u at") for _, text in said)
    assert waits is not reported.release.since("2.3")
    assert all(ANY.read(one[2], one[1]) is not None for one in lines)


@pytest.mark.parametrize(
    ("version", "level", "before", "after"),
    [
        ("0.10", "TRACE", "Controller 1 epoch 1 sent", "assigned replica list 1,3"),
        ("2.3", "TRACE", "[Controller id=1 epoch=1] Sent", "assigned replica list 1,3"),
        ("2.4", "TRACE", "[Controller id=1 epoch=1] Sent",
         "replica assignment ReplicaAssignment(replicas=1,3, addingReplicas=, removingReplicas=)"),
        ("2.7", "INFO", "[Controller id=1 epoch=1] Sent",
         "replica assignment ReplicaAssignment(replicas=1,3, addingReplicas=, removingReplicas=)"),
    ],
)  # fmt: skip
def test_what_is_sent_for_a_move_under_a_raised_epoch_is_in_the_log_of_state_changes(
    tmp_path: Path, version: str, level: str, before: str, after: str
):
    lines = LoggedCluster(tmp_path, version, 1, 2)
    lines.ask({T0: (1, 3)})
    lines.isr(T0, 1, 2, 3)

    name = OLD if version == "0.10" else NEW
    state = "(Leader:1,ISR:1,2,3,LeaderEpoch:2,ControllerEpoch:1)"
    beginning = f"{before} LeaderAndIsr request {state} with new {after} to leader 1 for partition "
    sent = [one for one in lines.lines(STATE_CHANGE) if "being reassigned" in one[1]]
    assert len(sent) == 2
    assert sent[1] == (level, f"{beginning}being reassigned {name}", "state.change.logger")
    assert ANY.read("state.change.logger", sent[1][1]) is not None
