"""What a controller writes of transitions that fail, as the articles quote it; ingest reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.ingest.dialects import ANY
from impl.core.cluster_context import Replica
from impl.core.partition_machine import (
    CONTROLLED_SHUTDOWN,
    OFFLINE,
    PREFERRED,
    REASSIGN,
    Strategy,
)
from impl.core.requests import LeaderAndIsr
from impl.core.states import PartitionState, ReplicaState
from impl.server.log4j_files import STATE_CHANGE
from impl.znodes import (
    BrokerInfo,
    ReplicaAssignment,
    TopicPartition,
    encode_broker,
    paths,
)
from impl.zookeeper.port import wait
from tests.conformance.logged import LoggedCluster
from tests.impl.controller.controlled import T0

RELEASES = ["0.10", "0.11", "1.0", "1.1", "2.3", "2.4"]


class Failing(LoggedCluster):
    """A controller whose partition t-0, on brokers 2 and 3, loses its leader."""

    def __init__(self, folder: Path, version: str, deletes: bool = True) -> None:
        super().__init__(folder, version, 2, 3, deletes=deletes)
        self.form = "new" if self.release.since("1.1") else "old" if self.files.old else "1.0"
        self.name = self.files.name(T0)

    def leader_dies(self) -> None:
        """And the controller hears of it."""
        self.stop_broker(2)
        self.handle()

    def errors(self) -> tuple[list[str], list[str]]:
        """The messages of state-change.log's errors, all read by ingest, and what was thrown."""
        errors = [text for level, text, _ in self.lines(STATE_CHANGE) if level == "ERROR"]
        for text in errors:
            assert ANY.read("state.change.logger", text) is not None, text
        return errors, self.thrown(STATE_CHANGE)


@pytest.mark.parametrize("version", RELEASES)
def test_an_election_that_meets_a_newer_controllers_state_is_reported_as_a_soft_failure(
    tmp_path: Path, version: str
):
    failing = Failing(tmp_path, version)
    failing.write_state(T0, 5)
    failing.leader_dies()

    errors, thrown = failing.errors()
    name = failing.name
    why = (
        f"borted leader election for partition {name} since the LeaderAndIsr path was already "
        "written by another controller. This probably means that the current controller 1 went "
        "through a soft failure and another controller was elected with epoch 5."
    )
    change = f"partition {name} from OfflinePartition to OnlinePartition"
    mine, met = "[Controller id=1 epoch=1] ", f"while electing leader for partition {name} due to: "
    about = [one for one in errors if "of replica" not in one]

    assert (
        about[: 1 if failing.form == "new" else 3]
        == {
            "old": [
                f"Controller 1 epoch 1 a{why}",
                f"Controller 1 epoch 1 encountered error {met}a{why}.",
                f"Controller 1 epoch 1 initiated state change for {change} failed",
            ],
            "1.0": [
                f"{mine}A{why}",
                f"{mine}Encountered error {met}{mine}A{why}",
                f"{mine}Initiated state change for {change} failed",
            ],
            "new": [f"{mine}Controller 1 epoch 1 failed to change state for {change}"],
        }[failing.form]
    )
    assert any(one.startswith("kafka.common.") and why in one for one in thrown)


@pytest.mark.parametrize("version", RELEASES)
def test_a_replica_that_cannot_leave_a_newer_controllers_isr_is_reported_as_a_soft_failure(
    tmp_path: Path, version: str
):
    failing = Failing(tmp_path, version)
    failing.write_state(T0, 5)
    failing.leader_dies()

    errors, thrown = failing.errors()
    change = (
        f"nitiated state change of replica 2 for partition {failing.name} from OnlineReplica to "
        "OfflineReplica failed"
    )
    blank = " " if failing.release.since("2.4") else ""
    why = (
        f"This probably{blank}means the current controller with epoch 1 went through a soft failure"
        " and another controller was elected with epoch 5. Aborting state change by this controller"
    )

    assert [one for one in errors if "of replica" in one] == [
        {
            "old": f"Controller 1 epoch 1 i{change}",
            "1.0": f"[Controller id=1 epoch=1] I{change}",
            "new": f"[Controller id=1 epoch=1] Controller 1 epoch 1 i{change}",
        }[failing.form]
    ]
    assert any(why in one for one in thrown)


@pytest.mark.parametrize("version", RELEASES)
def test_an_election_of_a_partition_without_a_state_is_reported_with_the_state_it_is_in(
    tmp_path: Path, version: str
):
    failing = Failing(tmp_path, version)
    wait(failing.admin.port.delete(paths.state("t", 0)))
    failing.leader_dies()

    errors, thrown = failing.errors()
    why = (
        f"LeaderAndIsr information doesn't exist for partition {failing.name} in OfflinePartition "
        "state"
    )

    assert any(one.startswith("kafka.common.") and why in one for one in thrown)
    assert [one for one in errors if "of replica" not in one][-1].endswith(
        f"failed to change state for partition {failing.name} from OfflinePartition to "
        "OnlinePartition"
        if failing.form == "new"
        else f"nitiated state change for partition {failing.name} from OfflinePartition to "
        "OnlinePartition failed"
    )
    assert failing.form == "new" or any(f"due to: {why}" in one for one in errors)


def test_replicas_whose_disk_failed_are_marked_offline_in_the_log_of_state_changes(tmp_path: Path):
    failing = Failing(tmp_path, "2.3")
    orders = [one for _, one in failing.placing if isinstance(one, LeaderAndIsr)]

    refused = {T0: "KAFKA_STORAGE_ERROR"}
    wait(failing.elected.leader_and_isr_answered(3, orders[-1], "NONE", refused))

    marked = "[Controller id=1] Mark replicas t-0 on broker 3 as offline"
    assert [text for _, text, _ in failing.lines(STATE_CHANGE) if "Mark" in text] == [marked]
    assert ANY.read("state.change.logger", marked) is not None


@pytest.mark.parametrize("version", ["0.10.1", "0.10", "0.11", "1.1", "2.4"])
def test_where_deletion_is_disabled_its_requests_go_since_0_10_2_and_the_log_says_so(
    tmp_path: Path, version: str
):
    failing = Failing(tmp_path, version, deletes=False)
    wait(failing.admin.request_deletion("t"))
    failing.handle()
    left = wait(failing.admin.deletions())
    if not left:
        wait(failing.admin.port.delete(paths.CONTROLLER, -1))
        wait(failing.admin.request_deletion("t"))
        failing.handle()

    found = [one for one in failing.lines() if "elet" in one[1]]
    removals = [one[1:] for one in found if "Removing" in one[1] and "Set()" not in one[1]]

    assert not any("Starting topic deletion" in text for _, text, _ in found)
    if version == "0.10.1":
        assert (left, removals) == (["t"], [])
        return
    assert wait(failing.admin.deletions()) == []
    what = "Set(t)" if failing.release.since("1.1") else "/admin/delete_topics/t"
    text, comma = f"Removing {what} since delete topic is disabled", "" if version == "2.4" else ","
    head, logger = {
        "0.10": (
            "[DeleteTopicsListener on Controller 1]: ",
            "kafka.controller.PartitionStateMachine$DeleteTopicsListener",
        ),
        "0.11": ("[Controller 1]: ", "kafka.controller.KafkaController"),
    }.get(version, ("[Controller id=1] ", "kafka.controller.KafkaController"))
    manager = f"[Topic Deletion Manager 1]{comma} {text}", "kafka.controller.TopicDeletionManager"
    assert removals == [(head + text, logger), manager]
    assert all(ANY.read(logger, line) is not None for line, logger in removals)


MINE = "Controller 1 epoch 1 "


@pytest.mark.parametrize(
    ("version", "thrown"),
    [
        ("0.10", "e"), ("0.11", f"{MINE}e"), ("1.0", "[Controller id=1 epoch=1] E"),
        ("1.1", f"{MINE}e"), ("2.4", f"{MINE}e"),
    ],
)  # fmt: skip
def test_a_new_partition_none_of_whose_replicas_is_alive_is_reported_with_who_lives(
    tmp_path: Path, version: str, thrown: str
):
    failing = Failing(tmp_path, version)
    failing.create_topic("u", {0: (8, 9)})
    failing.handle()

    name = failing.files.name(TopicPartition("u", 0))
    text = (
        f"ncountered error during state change of partition {name} from New to Online, assigned "
        "replicas are [8,9], live brokers are [Set(1, 2, 3)]. No assigned replica is alive."
    )
    assert failing.errors()[1][0] == f"kafka.common.StateChangeFailedException: {thrown}{text}"


@pytest.mark.parametrize(
    ("version", "which"), [("0.11", "the"), ("1.0", "the"), ("1.1", "one of"), ("2.3", "one of")]
)
def test_a_transition_that_is_not_valid_is_reported_with_those_that_are(
    tmp_path: Path, version: str, which: str
):
    failing = Failing(tmp_path, version)
    parts = failing.elected.core
    wait(parts.partitions.handle([T0], PartitionState.NEW))
    wait(parts.replicas.handle([Replica(T0, 2)], ReplicaState.DELETION_SUCCESSFUL))

    assert failing.errors()[1] == [
        f"java.lang.IllegalStateException: Partition {failing.name} should be in {which} "
        "NonExistentPartition states before moving to NewPartition state. Instead it is in "
        "OnlinePartition state",
        "java.lang.IllegalStateException: Replica [Topic=t,Partition=0,Replica=2] should be in the "
        "ReplicaDeletionStarted states before moving to ReplicaDeletionSuccessful state. Instead "
        "it is in OnlineReplica state",
    ]


@pytest.mark.parametrize(
    ("version", "begins", "fails"),
    [
        ("0.11", "preferred replica leader election for partitions [t,0]", ". Leader is 2"),
        ("1.1", "preferred replica leader election for partitions t-0", ". Leader is 2"),
        ("2.3", "preferred replica leader election for partitions t-0",
         " to 9. Leader is still 2"),
        ("2.4", "replica leader election (PREFERRED) for partitions t-0 triggered by ZkTriggered",
         " to 9. Leader is still 2"),
    ],
)  # fmt: skip
def test_a_preferred_election_is_reported_with_who_leads_after_it(
    tmp_path: Path, version: str, begins: str, fails: str
):
    failing = Failing(tmp_path, version)
    controller, name = failing.elected, failing.name
    wait(controller.elect_preferred([T0]))
    controller.core.context.set_assignment(T0, ReplicaAssignment((9, 2)))
    wait(controller.elect_preferred([T0]))

    found = [text.partition("]")[2].lstrip(": ") for _, text, _ in failing.lines()
             if "leader election" in text]  # fmt: skip
    before = begins.replace("[t,0]", "").replace("t-0", "")  # a new controller's, of nothing
    assert found == [
        f"Starting {before}",
        f"Starting {begins}",
        f"Partition {name} completed preferred replica leader election. New leader is 2",
        f"Starting {begins}",
        f"Partition {name} failed to complete preferred replica leader election{fails}",
    ]


@pytest.mark.parametrize(
    ("version", "text"),
    [
        ("1.1", "Updated broker: 3 : (EndPoint(h,9,ListenerName(PLAINTEXT),PLAINTEXT)) : null"),
        ("2.3", "Updated broker metadata: 3 : (EndPoint(b3,9092,ListenerName(PLAINTEXT),"
         "PLAINTEXT)) : null -> 3 : (EndPoint(h,9,ListenerName(PLAINTEXT),PLAINTEXT)) : null"),
    ],
)  # fmt: skip
def test_a_broker_that_registers_other_endpoints_is_reported_with_them(
    tmp_path: Path, version: str, text: str
):
    failing = Failing(tmp_path, version)
    moved = BrokerInfo(("PLAINTEXT://h:9",), 1)
    wait(failing.sessions[3].set_data(paths.broker(3), encode_broker(moved)))
    failing.handle()

    found = [text for _, text, _ in failing.lines() if "pdate" in text]
    assert found[-2:] == [
        f"[Controller id=1] {text}", "[Controller id=1] Broker info update callback for 3"
    ]  # fmt: skip


NOW = 'Current leader and ISR: [{"leader":2,"leader_epoch":0,"isr":[2,3]}]'
ELECTING = "rror while electing leader for partition"


@pytest.mark.parametrize(
    ("version", "strategy", "text"),
    [
        ("0.10", REASSIGN, "kafka.common.NoReplicaOnlineException: None of the reassigned replicas "
         f"for partition [t,0] are in-sync with the leader. {NOW}"),
        ("0.10", PREFERRED, "kafka.common.StateChangeFailedException: encountered e"
         f"{ELECTING} [t,0] due to: Preferred replica 3 for partition [t,0] is either not alive or "
         f"not in the isr. {NOW}."),
        ("0.11", OFFLINE, "kafka.common.NoReplicaOnlineException: No broker in ISR for partition "
         "[t,0] is alive. Live brokers are: [Set(1)], ISR brokers are: [2,3]"),
        ("1.0", OFFLINE, "kafka.common.NoReplicaOnlineException: No replica in ISR for partition "
         "t-0 is alive. Live brokers are: [Set(1)], ISR brokers are: [2,3]"),
        ("1.0", CONTROLLED_SHUTDOWN, "kafka.common.StateChangeFailedException: "
         f"[Controller id=1 epoch=1] Encountered e{ELECTING} t-0 due to: No other replicas in "
         "ISR 2,3 for t-0 besides shutting down brokers 2,3"),
        ("1.1", CONTROLLED_SHUTDOWN, "kafka.common.StateChangeFailedException: Failed to elect "
         "leader for partition t-0 under strategy "
         "ControlledShutdownPartitionLeaderElectionStrategy"),
        ("2.3", OFFLINE, "kafka.common.StateChangeFailedException: Failed to elect leader for "
         "partition t-0 under strategy OfflinePartitionLeaderElectionStrategy"),
        ("2.4", OFFLINE, "kafka.common.StateChangeFailedException: Failed to elect leader for "
         "partition t-0 under strategy OfflinePartitionLeaderElectionStrategy(false)"),
    ],
)  # fmt: skip
def test_an_election_that_finds_nobody_is_reported_by_its_selector_and_since_1_1_by_its_strategy(
    tmp_path: Path, version: str, strategy: Strategy, text: str
):
    failing = Failing(tmp_path, version)
    context = failing.elected.core.context
    context.shutting_down |= {2, 3}
    context.set_assignment(T0, ReplicaAssignment((3, 2)))
    if strategy is OFFLINE:
        context.put_partition_state(T0, PartitionState.OFFLINE)
    wait(failing.elected.core.partitions.handle([T0], PartitionState.ONLINE, strategy))

    assert failing.errors()[1] == [text]
