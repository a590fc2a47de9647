"""Requests for reassignments under /admin: seen again and again, changed, and failing."""

from __future__ import annotations

import pytest

from impl.core.event_controller import EventController
from impl.core.partition_machine import PartitionMachine
from impl.core.states import PartitionState, ReplicaState
from impl.releases import PRESETS, Release
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, encode_state, paths
from impl.znodes.partitions import encode_partition_set
from impl.zookeeper.port import wait
from tests.impl.controller.controlled import T0, T1, T2, ControlledCluster

BEFORE_1_1 = [one for one in PRESETS if not Release.of(one).since("1.1")]
SINCE_1_1 = [one for one in PRESETS if one not in BEFORE_1_1]


def moving_cluster(release: str, partitions: int = 2) -> ControlledCluster:
    """The controller on broker 1, and ``t``, all on that broker too."""
    return ControlledCluster(release, *[(1,)] * partitions)


def requested(cluster: ControlledCluster) -> dict[TopicPartition, tuple[int, ...]]:
    """The reassignments that are asked for."""
    return wait(cluster.admin.reassignments())


def catch_up(cluster: ControlledCluster, *partitions: TopicPartition) -> None:
    """The leaders take every replica into the ISR, and the controller hears of it."""
    for partition in partitions:
        cluster.isr(partition, *cluster.replicas(partition))


@pytest.mark.parametrize("release", PRESETS)
def test_a_move_loses_partitions_that_its_controller_has_not_heard_of(release: str) -> None:
    """It writes the topic's znode from memory (``setTopicAssignmentRaw``)."""
    moving = moving_cluster(release)
    grown = moving_cluster(release, 3)
    text = wait(grown.admin.port.get(paths.topic("t"))).data
    wait(moving.admin.port.set_data(paths.topic("t"), text))

    moving.write_request({T0: (2,)})
    wait(moving.elected.guarded(moving.elected.reassignment_requested))

    assert sorted(moving.assigned()) == [0, 1]


@pytest.mark.parametrize("release", PRESETS)
def test_a_request_after_one_of_two_partitions_is_seen(release: str) -> None:
    moving = moving_cluster(release)
    moving.ask({T0: (2,), T1: (3,)})
    catch_up(moving, T0, T1)
    first = moving.replicas(T0), moving.replicas(T1), requested(moving)

    moving.ask({T0: (3,), T1: (2,)})
    catch_up(moving, T0, T1)

    assert first == ((2,), (3,), {})
    assert (moving.replicas(T0), moving.replicas(T1), requested(moving)) == ((3,), (2,), {})


@pytest.mark.parametrize("release", PRESETS)
def test_a_request_that_comes_before_its_predecessors_end_is_noticed_is_seen(release: str) -> None:
    moving = moving_cluster(release)
    moving.ask({T0: (2,), T1: (3,)})
    catch_up(moving, T0)
    moving.leader_writes_isr(T1, moving.replicas(T1))
    events = moving.elected.core.client.port.events()
    for event in events:
        wait(moving.elected.handle_watch_event(event, 0))
    assert requested(moving) == {}

    # Nothing that ZooKeeper reported since has reached the controller yet.
    moving.ask({T0: (1,)})
    catch_up(moving, T0)

    assert moving.replicas(T0) == (1,)


@pytest.mark.parametrize("release", ["1.1", "2.4", "2.7"])
def test_a_request_turns_a_move_that_is_under_way_since_1_1(release: str) -> None:
    """Up to 1.0 entries of partitions that move are passed over (``filterNot``); from 2.0 to 2.3 a
    controller that has written the request itself does not see another one."""
    moving = moving_cluster(release)
    moving.ask({T0: (2,)})
    wait(moving.admin.port.delete(paths.REASSIGN_PARTITIONS))
    moving.handle()

    moving.ask({T0: (3,)})
    catch_up(moving, T0)

    assert (moving.replicas(T0), requested(moving)) == ((3,), {})


@pytest.mark.parametrize("release", BEFORE_1_1)
def test_partitions_that_are_added_to_a_request_are_moved_up_to_1_0(release: str) -> None:
    moving = moving_cluster(release)
    moving.ask({T0: (2,)})

    moving.ask({T0: (2,), T1: (3,)}, over=True)

    assert moving.replicas(T1) == (3, 1)
    catch_up(moving, T0, T1)
    assert (moving.replicas(T0), moving.replicas(T1), requested(moving)) == ((2,), (3,), {})


@pytest.mark.parametrize("release", SINCE_1_1)
def test_partitions_that_are_added_to_a_request_are_not_minded_since_1_1(release: str) -> None:
    moving = moving_cluster(release)
    moving.ask({T0: (2,)})

    moving.ask({T0: (2,), T1: (3,)}, over=True)

    assert moving.replicas(T1) == (1,)


@pytest.mark.parametrize("release", ["1.1", "2.0", "2.1", "2.3"])
def test_what_a_controller_does_not_know_of_goes_with_its_request_from_1_1_to_2_3(
    release: str,
) -> None:
    moving = moving_cluster(release, 3)
    moving.ask({T0: (2,), T1: (3,)})
    moving.ask({T0: (2,), T1: (3,), T2: (2,)}, over=True)

    catch_up(moving, T0)

    assert requested(moving) == {T1: (3,)}


@pytest.mark.parametrize("release", PRESETS)
def test_a_move_whose_work_fails_leaves_the_request_and_the_others_go_on(release: str) -> None:
    moving = moving_cluster(release)
    moving.write_state(T0, 9)

    moving.ask({T0: (2,), T1: (3,)})

    assert requested(moving) == {T1: (3,)}
    assert moving.elected.active
    catch_up(moving, T1)
    assert (moving.replicas(T1), requested(moving)) == ((3,), {})


@pytest.mark.parametrize("release", PRESETS)
def test_a_move_of_a_partition_whose_leader_is_not_known_leaves_the_request(release: str) -> None:
    """Its state is there, and every target in the ISR: the lookup of its leader fails
    (``moveReassignedPartitionLeaderIfRequired``)."""
    moving = moving_cluster(release)
    moving.ask({T0: (1, 2)})
    catch_up(moving, T0)
    del moving.elected.core.context.leadership[T0]

    moving.ask({T0: (2, 1), T1: (2,)})

    assert requested(moving) == {T1: (2,)}
    assert moving.elected.active


@pytest.mark.parametrize("release", PRESETS)
def test_a_move_that_fails_while_a_controller_begins_leaves_the_request(release: str) -> None:
    moving = moving_cluster(release)
    moving.write_request({T0: (2,), T1: (3,)})
    moving.write_state(T0, 9)
    moving.stop_broker(1)
    moving.start_broker(1)

    moving.elected = moving.controller(2)

    assert requested(moving) == {T1: (3,)}
    assert moving.elected.active


@pytest.mark.parametrize("release", PRESETS)
@pytest.mark.parametrize("found", [{}, {T1: (3,)}], ids=["nothing", "a_request"])
def test_a_request_changed_while_a_controller_begins_is_written_over_from_2_0_to_2_3(
    release: str, found: dict[TopicPartition, tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it read is written again when it has begun that (KAFKA-6617), unseen what came since."""
    moving = moving_cluster(release)
    begins = PartitionMachine.startup
    if found:
        moving.write_request(found)
    moving.stop_broker(1)
    moving.start_broker(1)

    async def begins_late(machine: PartitionMachine) -> None:
        moving.write_request({**found, T0: (2,)}, over=bool(found))
        await begins(machine)

    monkeypatch.setattr(PartitionMachine, "startup", begins_late)
    moving.elected = moving.controller(2)
    moving.handle()

    since = Release.of(release)
    reads_late = since.since("2.4")
    written_over = since.since("2.0") and not reads_late
    unseen = bool(found) and since.since("1.1") and not reads_late  # no change of data is watched
    assert (T0 in requested(moving)) is not written_over
    assert moving.replicas(T0) == ((1,) if written_over or unseen else (2, 1))


@pytest.mark.parametrize("release", ["2.0", "2.1", "2.3"])
def test_a_request_of_which_nothing_is_left_is_seen_again_by_a_new_controller(release: str) -> None:
    moving = moving_cluster(release)

    moving.ask({T0: (2,)})
    catch_up(moving, T0)
    moving.ask({T0: (3,)})

    assert moving.replicas(T0) == (3, 2)


@pytest.mark.parametrize("release", PRESETS)
def test_a_move_that_fails_when_it_is_finished_is_an_error_of_the_event_alone(release: str) -> None:
    moving = moving_cluster(release)
    moving.ask({T0: (2,)})
    moving.leader_writes_isr(T0, moving.replicas(T0))
    moving.write_state(T0, 9)

    moving.handle()

    assert moving.elected.active
    assert moving.replicas(T1) == (1,)


@pytest.mark.parametrize("release", PRESETS)
def test_a_preferred_leader_that_leads_is_not_elected_again_but_from_1_1_to_2_1(
    release: str,
) -> None:
    moving = moving_cluster(release)
    text = encode_partition_set([T0])
    wait(moving.admin.port.create(paths.PREFERRED_ELECTION, text))

    moving.handle()

    elected = Release.of(release).since("1.1") and not Release.of(release).since("2.2")
    assert moving.registered(T0).leader_epoch == int(elected)
    assert not wait(moving.admin.preferred_election())
    context = moving.elected.core.context
    assert set(context.replica_states.values()) == {ReplicaState.ONLINE}


@pytest.mark.parametrize("release", PRESETS)
def test_a_preferred_leader_that_leads_is_left_alone_by_a_new_controller(release: str) -> None:
    moving = moving_cluster(release)
    moving.stop_broker(2)
    moving.handle()
    wait(moving.admin.port.create(paths.PREFERRED_ELECTION, encode_partition_set([T0, T1])))
    registered = wait(moving.admin.port.get(paths.CONTROLLER))
    wait(moving.admin.port.delete(paths.CONTROLLER, registered.version))

    moving.elected = moving.controller(3)
    moving.handle()

    assert (moving.registered(T0).leader_epoch, moving.registered(T1).leader_epoch) == (0, 0)
    assert not wait(moving.admin.preferred_election())


def changes_hands(moving: ControlledCluster, other: EventController | None) -> EventController:
    """`/controller` is deleted, and the other of brokers 1 and 2 gets it; gives that one."""
    wait(moving.admin.port.delete(paths.CONTROLLER))
    before = moving.elected
    if other is None:
        other = moving.controller(2)
    else:
        moving.run(other)
    moving.run(before)
    assert other.active
    assert not before.active
    moving.elected = other
    return before


@pytest.mark.parametrize("release", ["0.10", "0.11", "2.3"])
def test_who_resigned_begins_its_moves_again_up_to_0_10(release: str) -> None:
    """KAFKA-5310: a move of an earlier term is begun once more, though nobody asks for it."""
    moving = moving_cluster(release, 1)
    moving.ask({T0: (2,)})
    wait(moving.admin.port.delete(paths.REASSIGN_PARTITIONS))
    first = changes_hands(moving, None)
    moving.ask({T0: (1,)})
    assert moving.replicas(T0) == (1,)

    changes_hands(moving, first)

    assert moving.replicas(T0) == ((2, 1) if release == "0.10" else (1,))
    assert requested(moving) == {}


@pytest.mark.parametrize("release", ["0.10", "0.11"])
def test_what_is_asked_for_now_comes_before_a_move_of_an_earlier_term(release: str) -> None:
    moving = moving_cluster(release, 1)
    moving.ask({T0: (2,)})
    wait(moving.admin.port.delete(paths.REASSIGN_PARTITIONS))
    first = changes_hands(moving, None)
    moving.ask({T0: (3, 1)})

    changes_hands(moving, first)
    catch_up(moving, T0)

    assert moving.replicas(T0) == (3, 1)


@pytest.mark.parametrize("release", BEFORE_1_1)
def test_who_leads_as_preferred_as_far_as_is_known_is_left_alone_and_online_up_to_1_0(
    release: str,
) -> None:
    """The strategy looks into the controller's memory, not at the state that was just read."""
    moving = moving_cluster(release)
    moving.ask({T0: (1, 2)})
    catch_up(moving, T0)
    state = moving.registered()
    other = LeaderIsrAndControllerEpoch(2, state.leader_epoch, (1, 2), state.controller_epoch)
    wait(moving.admin.port.set_data(paths.state(*T0), encode_state(other)))
    context = moving.elected.core.context
    context.put_partition_state(T0, PartitionState.OFFLINE)

    wait(moving.elected.elect_preferred([T0]))

    assert moving.registered(T0).leader_epoch == state.leader_epoch
    assert context.partition_state(T0) is PartitionState.ONLINE
