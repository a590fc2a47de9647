"""What a controller answers to leaders that want another ISR, and to administrators.

Most of it the simulator's claims hold to (`tests/impl/test_whole_cluster.py`).
"""

from __future__ import annotations

import pytest

from conformance.vectors.implementation.stage import NOW_MS, ControllerStage
from impl.core.api import AlteredIsr, AlteredIsrs, ControllerApi
from impl.core.controller_parts import ControllerConfig
from impl.core.event_controller import EventController
from impl.core.requests import LeaderAndIsr
from impl.releases import Release
from impl.znodes import LeaderIsrAndControllerEpoch, ReplicaAssignment, TopicPartition, paths
from impl.zookeeper.port import wait

T0 = TopicPartition("t", 0)
UNKNOWN = TopicPartition("unknown", 0)


def a_cluster(
    *replicas: int, unclean: bool = False, release: str = "2.7"
) -> tuple[ControllerStage, EventController]:
    """Brokers 1 to 4, whose leaders ask since 2.7, and a topic ``t`` of one partition."""
    stage = ControllerStage(Release.of(release))
    for broker in (1, 2, 3, 4):
        stage.start_broker(broker)
    wait(stage.admin.make_path("/admin"))
    controller = EventController(
        1, stage.sessions[1], stage.release, stage.send,
        ControllerConfig(unclean_leader_election=unclean), protocol=stage.release,
    )  # fmt: skip
    wait(controller.elect(NOW_MS))
    stage.create_topic("t", {0: replicas})
    stage.run(controller)
    stage.take_sent()
    return stage, controller


def registered(stage: ControllerStage) -> LeaderIsrAndControllerEpoch:
    state = stage.state(T0)
    assert state is not None
    return state


def test_an_isr_of_an_older_version_is_refused_by_that_reason():
    stage, controller = a_cluster(2, 3)
    now = registered(stage)
    stage.leader_writes_isr(T0, (2,))
    wanted = LeaderIsrAndControllerEpoch(2, now.leader_epoch, (2, 3, 4), -1, now.zk_version)
    answers: list[tuple[str, AlteredIsrs]] = []

    broker_epoch = controller.core.context.broker_epochs[2]
    wait(ControllerApi(controller).alter_isr(
        2, broker_epoch, {T0: wanted}, lambda error, found: answers.append((error, found))
    ))  # fmt: skip

    assert answers == [("NONE", {T0: AlteredIsr("INVALID_UPDATE_VERSION")})]
    assert registered(stage).isr == (2,)


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


@pytest.mark.parametrize(
    ("release", "named", "all_of_them"),
    [("2.3", "NONE", {T0: "NONE"}), ("2.4", "ELECTION_NOT_NEEDED", {})],
)
def test_up_to_2_3_an_election_that_is_not_needed_is_answered_as_done(
    release: str, named: str, all_of_them: dict[TopicPartition, str]
):
    """KafkaController.electPreferredLeaders, processReplicaLeaderElection (KIP-460)."""
    _, controller = a_cluster(2, 3, release=release)
    api = ControllerApi(controller)

    assert wait(api.elect_leaders("PREFERRED", [T0])) == ("NONE", {T0: named})
    assert wait(api.elect_leaders("PREFERRED", None)) == ("NONE", all_of_them)


def test_a_controller_that_is_deposed_before_it_elects_answers_that_it_is_none():
    stage, controller = a_cluster(2, 3)
    stage.leader_writes_isr(T0, (2,))
    stage.stop_broker(2)
    stage.run(controller)
    wait(stage.admin.port.set_data(paths.CONTROLLER_EPOCH, "9"))

    assert controller.active
    assert wait(ControllerApi(controller).elect_leaders("UNCLEAN", [T0])) == ("NOT_CONTROLLER", {})
