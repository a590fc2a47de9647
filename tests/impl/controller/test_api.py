"""What a controller answers to leaders that want another ISR, and to administrators.

Most of it the simulator's claims hold to (`tests/impl/test_whole_cluster.py`).
"""

from __future__ import annotations

import pytest

from impl.core.api import AlteredIsr, AlteredIsrs, ControllerApi
from impl.core.requests import LeaderAndIsr
from impl.releases import Release
from impl.znodes import LeaderIsrAndControllerEpoch, ReplicaAssignment, TopicPartition, paths
from impl.zookeeper.port import wait
from tests.impl.controller.controlled import T0, ControlledCluster

UNKNOWN = TopicPartition("unknown", 0)


def a_cluster(release: str = "2.7") -> tuple[ControlledCluster, ControllerApi]:
    """Four brokers, and ``t`` on two that are no controllers."""
    cluster = ControlledCluster(release, (2, 3), brokers=(1, 2, 3, 4), protocol=Release.of(release))
    return cluster, ControllerApi(cluster.elected)


def test_an_isr_of_an_older_version_is_refused_by_that_reason():
    cluster, api = a_cluster()
    now = cluster.registered()
    cluster.leader_writes_isr(T0, (2,))
    wanted = LeaderIsrAndControllerEpoch(2, now.leader_epoch, (2, 3, 4), -1, now.zk_version)
    answers: list[tuple[str, AlteredIsrs]] = []

    broker_epoch = cluster.elected.core.context.broker_epochs[2]
    wait(api.alter_isr(
        2, broker_epoch, {T0: wanted}, lambda error, found: answers.append((error, found))
    ))  # fmt: skip

    assert answers == [("NONE", {T0: AlteredIsr("INVALID_UPDATE_VERSION")})]
    assert cluster.registered().isr == (2,)


def test_a_reassignment_that_is_asked_for_takes_the_place_of_the_znodes_and_may_be_cancelled():
    cluster, api = a_cluster()
    cluster.ask({T0: (2, 4)})

    turned = wait(api.alter_reassignments({T0: (2, 1)}))
    entries = wait(cluster.admin.reassignments())
    elsewhere = api.list_reassignments([UNKNOWN])
    cancelled = wait(api.alter_reassignments({T0: None}))
    again = wait(api.alter_reassignments({T0: None, UNKNOWN: None}))

    assert turned == cancelled == ("NONE", {T0: "NONE"})
    assert entries == {}
    assert elsewhere == ("NONE", {})
    assert cluster.assigned()[0] == ReplicaAssignment((2, 3))
    assert again[1] == {
        T0: "NO_REASSIGNMENT_IN_PROGRESS",
        UNKNOWN: "NO_REASSIGNMENT_IN_PROGRESS",
    }


@pytest.mark.parametrize("target", [(), (2, 2), (-1,), (9,)])
def test_replicas_that_cannot_be_are_refused(target: tuple[int, ...]):
    cluster, api = a_cluster()
    before = cluster.registered()

    answer = wait(api.alter_reassignments({T0: target}))

    assert answer == ("NONE", {T0: "INVALID_REPLICA_ASSIGNMENT"})
    assert cluster.registered() == before


def test_an_unclean_leader_is_elected_by_request_although_the_topic_forbids_it():
    cluster, api = a_cluster()
    needless = wait(api.elect_leaders("UNCLEAN", [T0]))
    cluster.leader_writes_isr(T0, (2,))
    cluster.stop_broker(2)
    cluster.handle()
    lost = cluster.registered().leader
    cluster.take_sent()

    elected = wait(api.elect_leaders("UNCLEAN", [T0]))

    orders = [request for _, request in cluster.take_sent() if isinstance(request, LeaderAndIsr)]
    assert needless[1] == {T0: "ELECTION_NOT_NEEDED"}
    assert lost == -1
    assert elected == ("NONE", {T0: "NONE"})
    assert (cluster.registered().leader, cluster.registered().isr) == (3, (3,))
    assert orders
    cluster.stop_broker(3)
    cluster.handle()
    assert wait(api.elect_leaders("UNCLEAN", [T0]))[1] == {T0: "ELIGIBLE_LEADERS_NOT_AVAILABLE"}


@pytest.mark.parametrize(
    ("release", "named", "all_of_them"),
    [("2.3", "NONE", {T0: "NONE"}), ("2.4", "ELECTION_NOT_NEEDED", {})],
)
def test_up_to_2_3_an_election_that_is_not_needed_is_answered_as_done(
    release: str, named: str, all_of_them: dict[TopicPartition, str]
):
    """KafkaController.electPreferredLeaders, processReplicaLeaderElection (KIP-460)."""
    _, api = a_cluster(release)

    assert wait(api.elect_leaders("PREFERRED", [T0])) == ("NONE", {T0: named})
    assert wait(api.elect_leaders("PREFERRED", None)) == ("NONE", all_of_them)


def test_a_controller_that_is_deposed_before_it_elects_answers_that_it_is_none():
    cluster, api = a_cluster()
    cluster.leader_writes_isr(T0, (2,))
    cluster.stop_broker(2)
    cluster.handle()
    wait(cluster.admin.port.set_data(paths.CONTROLLER_EPOCH, "9"))

    assert cluster.elected.active
    assert wait(api.elect_leaders("UNCLEAN", [T0])) == ("NOT_CONTROLLER", {})
