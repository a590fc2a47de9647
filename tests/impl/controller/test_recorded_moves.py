"""Moves that a topic's znode records (KIP-455): whom they ask, how they go on, when they end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.vectors.implementation.stage import NOW_MS
from impl.core.api import ControllerApi
from impl.core.requests import LeaderAndIsr, UpdateMetadata
from impl.znodes import TopicPartition, paths
from impl.znodes.partitions import encode_partition_set, encode_reassignment
from impl.zookeeper.port import wait
from tests.impl.controller.controlled import T0, T1, ControlledCluster
from tests.impl.controller.test_moves import catch_up, moving_cluster, requested

SINCE_2_4 = ("2.4", "2.6", "2.7", "2.8")


def alter(moving: ControlledCluster, *target: int, partition: TopicPartition = T0) -> None:
    api = ControllerApi(moving.elected)
    wait(api.alter_reassignments({partition: target}))
    moving.handle()


@pytest.mark.parametrize("release", ["2.3", *SINCE_2_4])
def test_where_the_leader_stays_the_targets_alone_are_asked_since_2_4(release: str) -> None:
    """``updateLeaderEpochAndSendRequest`` gets the completed assignment."""
    moving = moving_cluster(release, 1)
    moving.ask({T0: (1, 2)})
    catch_up(moving, T0)
    moving.take_sent()
    before = moving.registered(T0).leader_epoch

    moving.ask({T0: (1,)})

    asked = {
        broker
        for broker, one in moving.take_sent()
        if isinstance(one, LeaderAndIsr) and one.partitions[T0].state.leader_epoch == before + 1
    }
    assert asked == ({1, 2} if release == "2.3" else {1})


@pytest.mark.parametrize("release", SINCE_2_4)
def test_added_replicas_are_new_ones_since_2_7(release: str) -> None:
    """KAFKA-10314: else a broker with an offline log directory does not make them."""
    moving = moving_cluster(release, 1)
    moving.take_sent()

    alter(moving, 1, 2)

    first = moving.take_sent()
    said = [one.partitions[T0].is_new for broker, one in first
            if broker == 2 and isinstance(one, LeaderAndIsr)]  # fmt: skip
    assert said[0] is (release in ("2.7", "2.8"))
    assert said[-1]


@pytest.mark.parametrize("release", SINCE_2_4)
def test_another_order_is_complete_whoever_is_in_the_isr(release: str) -> None:
    """``isReassignmentComplete`` does not look at the ISR then."""
    moving = moving_cluster(release, 1)
    alter(moving, 1, 2)
    catch_up(moving, T0)
    moving.leader_writes_isr(T0, (1,))

    alter(moving, 2, 1)

    assert moving.replicas(T0) == (2, 1)
    assert not moving.elected.reassigner.in_progress()


@pytest.mark.parametrize("release", SINCE_2_4)
def test_a_move_that_is_asked_for_by_the_znode_does_not_keep_a_deletion_at_a_failover(
    release: str,
) -> None:
    """``fetchTopicDeletionsInProgress`` knows what topics record; the znode is read later."""
    moving = moving_cluster(release, 1)
    wait(moving.elected.resign())
    node = wait(moving.admin.port.get(paths.CONTROLLER))
    wait(moving.admin.port.delete(paths.CONTROLLER, node.version))
    wait(moving.admin.request_deletion("t"))
    text = encode_reassignment({T0: (1, 2)})
    wait(moving.admin.port.create(paths.REASSIGN_PARTITIONS, text))

    wait(moving.elected.elect(NOW_MS))

    assert moving.elected.core.context.is_being_deleted("t")
    assert requested(moving) == {}


@pytest.mark.parametrize("release", SINCE_2_4)
def test_a_move_that_goes_on_makes_its_topic_wait_again(release: str) -> None:
    """``onPartitionReassignment`` marks the topic each time."""
    moving = moving_cluster(release, 1)
    alter(moving, 1, 2)
    context = moving.elected.core.context
    context.queued_for_deletion.add("t")

    wait(moving.elected.reassigner.go_on(T0))

    assert context.ineligible_for_deletion == {"t"}


@pytest.mark.parametrize("release", ["2.6", "2.7"])
def test_an_announced_isr_completes_a_move_since_2_7(release: str) -> None:
    """KAFKA-10521: the controller may expect AlterIsr, and the leader not know it yet."""
    moving = moving_cluster(release, 1)
    moving.elected.core.leaders_ask = True  # so that no state is watched
    alter(moving, 1, 2)
    moving.leader_writes_isr(T0, (1, 2))
    wait(moving.admin.make_path(f"{paths.ISR_CHANGES}/x1", encode_partition_set([T0])))

    moving.handle()

    assert bool(moving.elected.reassigner.in_progress()) is (release == "2.6")


@pytest.mark.parametrize("release", ["2.1", "2.2", "2.7"])
def test_an_announcement_of_a_partition_that_is_not_there_is_told_all_the_same(
    release: str,
) -> None:
    moving = moving_cluster(release, 1)
    moving.take_sent()
    gone = encode_partition_set([TopicPartition("gone", 0)])
    wait(moving.admin.make_path(f"{paths.ISR_CHANGES}/x1", gone))

    moving.handle()

    asked = [broker for broker, one in moving.take_sent() if isinstance(one, UpdateMetadata)]
    assert asked == [1, 2, 3]


@pytest.mark.parametrize("release", SINCE_2_4)
def test_what_is_asked_for_of_many_leaves_the_znode_before_any_begins(release: str) -> None:
    """``processApiPartitionReassignment``: the latest request takes precedence."""
    moving = moving_cluster(release)
    moving.ask({T0: (1, 2), T1: (1, 2)})
    written: list[int] = []
    client = moving.elected.core.client
    write, topic = client.set_reassignments, client.set_topic

    async def set_reassignments(entries, version):
        written.append(len(entries))
        await write(entries, version)

    async def set_topic(*given):
        written.append(-1)
        await topic(*given)

    client.set_reassignments = set_reassignments  # type: ignore[method-assign]
    client.set_topic = set_topic  # type: ignore[method-assign]
    wait(ControllerApi(moving.elected).alter_reassignments({T0: (1, 3), T1: (1, 3)}))

    assert written[:2] == [0, -1]


@pytest.mark.parametrize("release", ["2.5", "2.6"])
def test_who_is_not_in_the_known_isr_is_not_asked_to_lead_since_2_6(release: str) -> None:
    """KAFKA-9866."""
    moving = moving_cluster(release, 1)
    alter(moving, 2, 1)
    catch_up(moving, T0)
    context = moving.elected.core.context
    context.leadership[T0] = replace(context.leadership[T0], isr=(1,))
    wanted: list[object] = []

    async def leaders_wanted(kind, partitions, trigger):
        wanted.append(list(partitions))

    moving.elected.journal.leaders_wanted = leaders_wanted  # type: ignore[method-assign]
    wait(moving.elected.guarded(moving.elected.rebalance))

    assert wanted == ([[T0]] if release == "2.5" else [])


def test_nobody_is_elected_of_a_topic_that_is_to_be_deleted_or_of_an_unknown_one() -> None:
    moving = moving_cluster("2.3", 1)
    moving.ask({T0: (2, 1)})
    catch_up(moving, T0)
    moving.elected.core.context.queued_for_deletion.add("t")
    before = moving.registered(T0).leader_epoch

    failed = wait(moving.elected.elect_preferred([T0, TopicPartition("unknown", 0)]))

    assert (failed, moving.registered(T0).leader_epoch) == ({}, before)


@pytest.mark.parametrize("release", SINCE_2_4)
def test_a_broker_that_starts_does_not_mind_a_move_of_a_topic_that_is_gone(release: str) -> None:
    """``maybeResumeReassignments`` looks at the assignment, and of that topic there is none."""
    moving = moving_cluster(release, 1)
    alter(moving, 1, 2)
    moving.elected.core.context.forget_topic("t")

    moving.stop_broker(2)
    moving.start_broker(2)
    moving.handle()

    assert moving.elected.active
    assert moving.elected.core.context.broker_epochs[2] == wait(moving.admin.brokers())[2][1]
