"""A broker of 2.8 knows the id of the topic that a log is of, and controllers pass it on (KIP-516).

Source: ReplicaManager.becomeLeaderOrFollower, Partition.checkOrSetTopicId, PartitionMetadataFile,
KafkaController.updateReplicaAssignmentForPartition (2.8.2).
"""

from __future__ import annotations

from conformance.vectors.implementation.hosted_broker import ME, OTHER, PARTITION, HostedBroker
from conformance.vectors.implementation.stage import ControllerStage
from impl.core.requests import LeaderAndIsr
from impl.disk.atomic import read_file
from impl.releases import Release
from impl.znodes import ReplicaAssignment, TopicZnode, encode_reassignment, encode_topic, paths
from impl.zookeeper.port import wait

R28 = Release.of("2.8")
METADATA = "/d/t-0/partition.metadata"


def test_a_log_gets_the_id_of_its_topic_from_the_request_after_the_one_that_made_it() -> None:
    broker = HostedBroker(R28)

    broker.ordered(1, ME, 1, topic_id="one")
    assert not broker.disk.exists(METADATA)
    broker.ordered(1, ME, 2, topic_id="one")
    assert read_file(broker.disk, METADATA) == b"version: 0\ntopic_id: one\n"


def test_a_request_about_another_topic_of_that_name_is_refused_before_its_epoch_is_looked_at() -> (
    None
):
    broker = HostedBroker(R28)
    broker.ordered(1, ME, 1)
    broker.ordered(1, ME, 2, topic_id="one")

    for epoch in (2, 3):
        top, errors = broker.ordered(1, OTHER, epoch, topic_id="two")
        assert (top, errors) == ("NONE", {PARTITION: "INCONSISTENT_TOPIC_ID"})
    assert broker.leader_epoch == 2
    assert broker.ordered(1, ME, 3)[1] == {PARTITION: "NONE"}  # of a controller without ids


def test_a_controller_passes_a_topics_id_on_and_keeps_it_when_the_topic_moves() -> None:
    stage = ControllerStage(R28)
    for one in (0, 1):
        stage.start_broker(one)
    controller = stage.controller(0)
    topic = TopicZnode({0: ReplicaAssignment((0,))}, "one")
    wait(stage.admin.make_path(paths.topic("t"), encode_topic(topic, 3)))
    stage.run(controller)
    ids = {
        entry.topic_id
        for _, request in stage.sent
        if isinstance(request, LeaderAndIsr)
        for entry in request.partitions.values()
    }
    assert ids == {"one"}

    wait(stage.admin.make_path("/admin"))
    text = encode_reassignment({PARTITION: (1,)})
    wait(stage.admin.port.create(paths.REASSIGN_PARTITIONS, text))
    stage.run(controller)

    moved = wait(stage.admin.topic("t"))
    assert moved is not None
    assert moved.topic_id == "one"
    assert moved.partitions[0].adding == (1,)
