"""What a controller answers to leaders that want another ISR, and to administrators."""

from __future__ import annotations

import pytest

from conformance.vectors.implementation.stage import NOW_MS, ControllerStage
from impl.core.api import AlteredIsr, AlteredIsrs, ControllerApi
from impl.core.controller_parts import ControllerConfig
from impl.core.event_controller import EventController
from impl.core.requests import LeaderAndIsr, UpdateMetadata
from impl.releases import Release
from impl.znodes import LeaderIsrAndControllerEpoch, ReplicaAssignment, TopicPartition, paths
from impl.zookeeper.port import wait

T0 = TopicPartition("t", 0)
UNKNOWN = TopicPartition("unknown", 0)


def a_cluster(*replicas: int, unclean: bool = False) -> tuple[ControllerStage, EventController]:
    """Brokers 1 to 4 of release 2.7 whose leaders ask, and a topic ``t`` of one partition."""
    stage = ControllerStage(Release.of("2.7"))
    for broker in (1, 2, 3, 4):
        stage.start_broker(broker)
    wait(stage.admin.make_path("/admin"))
    controller = EventController(
        1, stage.sessions[1], stage.release, stage.send,
        ControllerConfig(unclean_leader_election=unclean), protocol=stage.release,
    )  # fmt: skip
    assert wait(controller.elect(NOW_MS))
    stage.create_topic("t", {0: replicas})
    stage.run(controller)
    stage.take_sent()
    return stage, controller


def registered(stage: ControllerStage) -> LeaderIsrAndControllerEpoch:
    state = stage.state(T0)
    assert state is not None
    return state


def asked(
    controller: EventController,
    wanted: LeaderIsrAndControllerEpoch,
    epoch: int | None = None,
    partition: TopicPartition = T0,
) -> tuple[str, AlteredIsrs]:
    known = controller.core.context.broker_epochs.get(wanted.leader, -1)
    answers: list[tuple[str, AlteredIsrs]] = []
    wait(ControllerApi(controller).alter_isr(
        wanted.leader, known if epoch is None else epoch, {partition: wanted},
        lambda error, found: answers.append((error, found)),
    ))  # fmt: skip
    (answer,) = answers
    return answer


def test_the_controller_writes_the_isr_that_a_leader_asks_for_and_tells_everybody():
    stage, controller = a_cluster(2, 3)
    before = registered(stage)
    wanted = LeaderIsrAndControllerEpoch(2, before.leader_epoch, (2,), -1, before.zk_version)

    error, found = asked(controller, wanted)

    after = registered(stage)
    assert (error, found) == ("NONE", {T0: AlteredIsr("NONE", after)})
    assert after.isr == (2,)
    assert after.leader_epoch == before.leader_epoch
    assert (after.controller_epoch, after.zk_version) == (1, before.zk_version + 1)
    reported = {to for to, request in stage.take_sent() if isinstance(request, UpdateMetadata)}
    assert reported == {1, 2, 3, 4}
    assert wait(stage.admin.isr_changes()) == {}


def test_a_question_asked_again_because_its_answer_was_lost_gets_it_once_more():
    stage, controller = a_cluster(2, 3)
    before = registered(stage)
    wanted = LeaderIsrAndControllerEpoch(2, before.leader_epoch, (2,), -1, before.zk_version)
    first = asked(controller, wanted)

    again = asked(controller, wanted)

    assert again == first
    assert registered(stage).zk_version == before.zk_version + 1


def test_an_isr_that_may_not_be_changed_is_refused_by_its_reason():
    stage, controller = a_cluster(2, 3)
    now = registered(stage)
    wanted = LeaderIsrAndControllerEpoch(2, now.leader_epoch, (2,), -1, now.zk_version)
    wait(controller.core.update_leader_epoch(T0))
    newer = registered(stage)

    older_epoch = asked(controller, wanted)
    same_epoch = LeaderIsrAndControllerEpoch(2, newer.leader_epoch, (2,), -1, now.zk_version)
    older_version = asked(controller, same_epoch)
    unknown = asked(controller, wanted, partition=UNKNOWN)
    bounced = asked(controller, wanted, epoch=0)
    wait(controller.resign())
    resigned = asked(controller, wanted)

    assert older_epoch[1] == {T0: AlteredIsr("FENCED_LEADER_EPOCH")}
    assert older_version[1] == {T0: AlteredIsr("INVALID_UPDATE_VERSION")}
    assert unknown[1] == {UNKNOWN: AlteredIsr("UNKNOWN_TOPIC_OR_PARTITION")}
    assert bounced == ("STALE_BROKER_EPOCH", {})
    assert resigned == ("NOT_CONTROLLER", {})
    assert registered(stage) == newer


def test_a_deposed_controller_changes_no_isr_and_resigns():
    stage, controller = a_cluster(2, 3)
    before = registered(stage)
    wait(stage.admin.port.set_data(paths.CONTROLLER_EPOCH, "2"))
    wanted = LeaderIsrAndControllerEpoch(2, before.leader_epoch, (2,), -1, before.zk_version)

    answer = asked(controller, wanted)

    assert answer == ("UNKNOWN_SERVER_ERROR", {})
    assert not controller.active
    assert registered(stage) == before


def test_an_isr_that_a_leader_asks_for_completes_a_reassignment():
    stage, controller = a_cluster(2, 3)
    begun = wait(ControllerApi(controller).alter_reassignments({T0: (3, 4)}))
    listed = ControllerApi(controller).list_reassignments()
    now = registered(stage)
    wanted = LeaderIsrAndControllerEpoch(2, now.leader_epoch, (2, 3, 4), -1, now.zk_version)

    asked(controller, wanted)

    topic = wait(stage.admin.topic("t"))
    assert begun == ("NONE", {T0: "NONE"})
    assert listed == ("NONE", {T0: ReplicaAssignment((3, 4, 2), (4,), (2,))})
    assert topic is not None
    assert topic.partitions[0] == ReplicaAssignment((3, 4))
    assert (registered(stage).leader, registered(stage).isr) == (3, (3, 4))
    assert ControllerApi(controller).list_reassignments() == ("NONE", {})


def test_a_reassignment_that_is_asked_for_takes_the_place_of_the_znodes_and_may_be_cancelled():
    stage, controller = a_cluster(2, 3)
    text = '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[2,4]}]}'
    wait(stage.admin.port.create(paths.REASSIGN_PARTITIONS, text))
    stage.run(controller)
    api = ControllerApi(controller)

    turned = wait(api.alter_reassignments({T0: (2, 1)}))
    entries = wait(stage.admin.reassignments())
    elsewhere = api.list_reassignments([UNKNOWN])
    cancelled = wait(api.alter_reassignments({T0: None}))
    again = wait(api.alter_reassignments({T0: None, UNKNOWN: None}))

    topic = wait(stage.admin.topic("t"))
    assert turned == cancelled == ("NONE", {T0: "NONE"})
    assert entries == {}
    assert elsewhere == ("NONE", {})
    assert topic is not None
    assert topic.partitions[0] == ReplicaAssignment((2, 3))
    assert again[1] == {
        T0: "NO_REASSIGNMENT_IN_PROGRESS",
        UNKNOWN: "NO_REASSIGNMENT_IN_PROGRESS",
    }


@pytest.mark.parametrize("target", [(), (2, 2), (-1,), (9,)])
def test_replicas_that_cannot_be_are_refused(target: tuple[int, ...]):
    stage, controller = a_cluster(2, 3)
    before = registered(stage)

    answer = wait(ControllerApi(controller).alter_reassignments({T0: target}))

    assert answer == ("NONE", {T0: "INVALID_REPLICA_ASSIGNMENT"})
    assert registered(stage) == before


def test_preferred_leaders_are_elected_where_they_are_in_sync_and_needed():
    stage, controller = a_cluster(2, 3)
    stage.stop_broker(2)
    stage.run(controller)
    stage.start_broker(2)
    stage.run(controller)
    api = ControllerApi(controller)

    too_early = wait(api.elect_leaders("PREFERRED", [T0, UNKNOWN]))
    stage.leader_writes_isr(T0, (3, 2))
    done = wait(api.elect_leaders("PREFERRED", [T0]))
    not_needed = wait(api.elect_leaders("PREFERRED", [T0]))
    of_all = wait(api.elect_leaders("PREFERRED", None))

    assert too_early[1] == {
        T0: "PREFERRED_LEADER_NOT_AVAILABLE",
        UNKNOWN: "UNKNOWN_TOPIC_OR_PARTITION",
    }
    assert done == ("NONE", {T0: "NONE"})
    assert registered(stage).leader == 2
    assert not_needed[1] == {T0: "ELECTION_NOT_NEEDED"}
    assert of_all == ("NONE", {})


def test_an_unclean_leader_is_elected_by_request_although_the_topic_forbids_it():
    stage, controller = a_cluster(2, 3)
    api = ControllerApi(controller)
    needless = wait(api.elect_leaders("UNCLEAN", [T0]))
    stage.leader_writes_isr(T0, (2,))
    stage.stop_broker(2)
    stage.run(controller)
    lost = registered(stage).leader
    stage.take_sent()

    elected = wait(api.elect_leaders("UNCLEAN", [T0]))

    orders = [request for _, request in stage.take_sent() if isinstance(request, LeaderAndIsr)]
    assert needless[1] == {T0: "ELECTION_NOT_NEEDED"}
    assert lost == -1
    assert elected == ("NONE", {T0: "NONE"})
    assert (registered(stage).leader, registered(stage).isr) == (3, (3,))
    assert orders
    stage.stop_broker(3)
    stage.run(controller)
    assert wait(api.elect_leaders("UNCLEAN", [T0]))[1] == {T0: "ELIGIBLE_LEADERS_NOT_AVAILABLE"}
