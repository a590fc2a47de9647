"""Every template reads the line that stands beside it, and no other template reads it first."""

from __future__ import annotations

import pytest

from conformance.ingest import templates_3
from conformance.ingest.dialects import ANY, DIALECTS, KAFKA_2, dialect_for, skeleton
from conformance.ingest.notation import Template

EXAMPLES = [template for template in ANY.templates if template.example]


@pytest.mark.parametrize("template", EXAMPLES, ids=lambda template: template.name)
def test_a_template_reads_its_example(template: Template):
    kind, name, columns = ANY.read(template.logger, template.example) or ("", "", {})

    assert (kind, name) == (template.kind, template.name)
    assert {name for name, _ in template.readers} <= columns.keys()


def test_every_template_has_an_example_except_the_dump_of_the_configuration():
    without = [template.name for template in ANY.templates if not template.example]

    assert without == ["configuration"]


def test_an_election_tells_who_which_epoch_and_which_version():
    message = (
        "[Controller id=2] 2 successfully elected as the controller. Epoch incremented to 12 and "
        "epoch zk version is now 11"
    )

    read = KAFKA_2.read("kafka.controller.KafkaController", message)

    assert read is not None
    assert read[2] == {"broker": 2, "controller": 2, "controller_epoch": 12, "version": 11}


def test_a_topic_may_have_dashes_dots_and_digits_in_its_name():
    message = "[Broker id=1] Handling stop replica (delete=false) for partition a.b-7_c-12"

    read = KAFKA_2.read("state.change.logger", message)

    assert read is not None
    assert (read[2]["topic"], read[2]["partition"]) == ("a.b-7_c", 12)


def test_before_1_0_a_partition_that_moves_is_named_in_brackets():
    message = (
        "Controller 1 epoch 28 sent LeaderAndIsr request (Leader:1,ISR:1,0,LeaderEpoch:10,"
        "ControllerEpoch:28) with new assigned replica list 1,0 to leader 1 for partition being "
        "reassigned [orders,3]"
    )

    read = dialect_for("0.9").read("state.change.logger", message)

    assert read is not None
    assert (read[0], read[2]["topic"], read[2]["partition"]) == ("leader_epoch_raised", "orders", 3)


@pytest.mark.parametrize(
    "written",
    [
        "[Partition a-3 broker=2] ISR updated to [Replica(replicaId=2, topic=a, partition=3, "
        "isLocal=true, lastCaughtUpTimeMs=0, highWatermark=(offset=5 segment=[0:340])),"
        "Replica(replicaId=7, topic=a, partition=3, isLocal=false, lastCaughtUpTimeMs=99)] and "
        "zkVersion updated to [4]",
        "[Partition a-3 broker=2] ISR updated to [ReplicaId: 2; Topic: a; Partition: 3; isLocal: "
        "true; lastCaughtUpTimeMs: 0; Highwatermark: 5 [0 : 340],ReplicaId: 7; Topic: a; "
        "Partition: 3; isLocal: false; lastCaughtUpTimeMs: 99] and zkVersion updated to [4]",
    ],
    ids=["2.1", "1.0"],
)
def test_an_isr_of_replicas_as_leaders_write_it_up_to_2_3_is_read_by_their_ids(written):
    kind, _, columns = ANY.read("kafka.cluster.Partition", written) or ("", "", {})

    assert (kind, columns["isr"], columns["version"]) == ("isr_updated", [2, 7], 4)


def test_a_line_of_another_logger_is_a_note_that_keeps_its_broker():
    read = KAFKA_2.read("kafka.coordinator.group.GroupCoordinator", "[GroupCoordinator 3]: Hello")

    assert read == ("note", "note", {"broker": 3})


@pytest.mark.parametrize(
    "logger",
    [
        "state.change.logger",
        "kafka.controller.KafkaController",
        "kafka.server.ReplicaFetcherThread",
        "kafka.log.Log",
        "kafka.cluster.Partition",
        "kafka.server.epoch.LeaderEpochFileCache",
    ],
)
def test_a_line_of_a_protocol_logger_that_no_template_knows_is_not_read(logger: str):
    assert KAFKA_2.read(logger, "[Broker id=1] Something that no release has said") is None


@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_reads_what_was_never_changed(name: str):
    resigned = DIALECTS[name].read("kafka.controller.KafkaController", "[Controller id=4] Resigned")

    assert resigned == ("controller_resigned", "resigned", {"broker": 4})


def test_a_line_without_a_head_in_brackets_says_who_wrote_it():
    message = (
        "Controller 0 epoch 8 changed partition [orders,3] from OfflinePartition to "
        "OnlinePartition with leader 2"
    )

    kind, _, said = ANY.read("state.change.logger", message) or ("", "", {})

    assert kind == "partition_changed"
    assert (said["broker"], said["controller_epoch"]) == (0, 8)
    assert (said["topic"], said["partition"], said["leader"]) == ("orders", 3, 2)


def test_an_isr_in_brackets_is_no_partition():
    message = "[Partition orders-0 broker=5] ISR updated to [5,4] and zkVersion updated to [3]"

    _, _, said = ANY.read("kafka.cluster.Partition", message) or ("", "", {})

    assert said["isr"] == [5, 4]


def test_before_2_0_an_unavailable_leader_is_reported_with_the_epoch_of_the_state():
    old = (
        "Broker 0 received LeaderAndIsrRequest with correlation id 1 from controller 0 epoch 7 for "
        "partition orders-0 but cannot become follower since the new leader -1 is unavailable."
    )

    _, _, said = ANY.read("state.change.logger", old) or ("", "", {})

    assert said["state_epoch"] == 7
    assert "controller_epoch" not in said


def test_since_3_4_an_isr_is_read_without_the_broker_epochs_of_its_members():
    message = (
        "[Controller id=4 epoch=7] Changed partition orders-0 from OnlinePartition to "
        "OnlinePartition with state LeaderAndIsr(leader=4, leaderEpoch=2, isrWithBrokerEpoch="
        "List(BrokerState(brokerId=4, brokerEpoch=31), BrokerState(brokerId=5, brokerEpoch=-1)), "
        "leaderRecoveryState=RECOVERED, partitionEpoch=6)"
    )

    _, _, said = ANY.read("state.change.logger", message) or ("", "", {})

    assert (said["isr"], said["leader_epoch"], said["version"]) == ([4, 5], 2, 6)


@pytest.mark.parametrize("name", [template.name for template in templates_3.TEMPLATES])
def test_the_forms_of_3_0_belong_to_its_dialect_alone(name: str):
    (template,) = [each for each in templates_3.TEMPLATES if each.name == name]

    assert dialect_for("3.5").read(template.logger, template.example) is not None
    assert (dialect_for("2.7").read(template.logger, template.example) or ("note",))[0] in (
        "note",
        "isr_updated",
    )


def test_unknown_lines_are_counted_by_their_shape():
    one = skeleton("state.change.logger", "[Broker id=1] Moved orders-3 from 2 to 17")
    two = skeleton("state.change.logger", "[Broker id=2] Moved bills-0 from 5 to 1")

    assert one == two


def test_a_release_without_a_dialect_is_refused_with_those_that_have_one():
    with pytest.raises(KeyError, match=r"no dialect for release 4\.0; there is one of: 2\.0, 2\.1"):
        dialect_for("4.0")


@pytest.mark.parametrize(
    ("release", "line"), [("2.7.2", "2.7"), ("0.10.2.1", "0.10"), ("3.9.1", "3.9")]
)
def test_a_patch_is_read_as_its_line(release: str, line: str):
    assert dialect_for(release) is dialect_for(line)
