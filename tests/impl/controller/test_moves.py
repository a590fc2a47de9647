"""Requests for reassignments under /admin: seen again and again, changed, and failing."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from conformance.vectors.implementation.stage import ControllerStage
from impl.core.event_controller import EventController
from impl.core.partition_machine import PartitionMachine
from impl.core.states import PartitionState, ReplicaState
from impl.releases import PRESETS, Release
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, encode_state, paths
from impl.znodes.partitions import encode_partition_set, encode_reassignment
from impl.zookeeper.port import wait

T0, T1, T2 = (TopicPartition("t", number) for number in range(3))
BEFORE_1_1 = [one for one in PRESETS if not Release.of(one).since("1.1")]
SINCE_1_1 = [one for one in PRESETS if one not in BEFORE_1_1]


class Moving:
    """Brokers 1 to 3, the controller on broker 1, and a topic whose partitions are on broker 1."""

    def __init__(self, release: str, partitions: int = 2) -> None:
        self.stage = ControllerStage(Release.of(release))
        for broker in (1, 2, 3):
            self.stage.start_broker(broker)
        self.controller: EventController = self.stage.controller(1)
        self.stage.create_topic("t", dict.fromkeys(range(partitions), (1,)))
        self.run()

    def run(self) -> None:
        self.stage.run(self.controller)

    def ask(self, targets: dict[TopicPartition, Sequence[int]]) -> None:
        wait(self.stage.admin.port.create(paths.REASSIGN_PARTITIONS, encode_reassignment(targets)))
        self.run()

    def catch_up(self, *partitions: TopicPartition) -> None:
        """The leaders take every replica into the ISR, and the controller hears of it."""
        for partition in partitions:
            self.stage.leader_writes_isr(partition, self.replicas(partition))
            self.run()

    def replicas(self, partition: TopicPartition) -> tuple[int, ...]:
        topic = wait(self.stage.admin.topic(partition.topic))
        assert topic is not None
        return topic.partitions[partition.partition].replicas

    def requested(self) -> dict[TopicPartition, tuple[int, ...]]:
        return wait(self.stage.admin.reassignments())

    def epoch(self, partition: TopicPartition) -> int:
        state = self.stage.state(partition)
        assert state is not None
        return state.leader_epoch


@pytest.mark.parametrize("release", PRESETS)
def test_a_move_loses_partitions_that_its_controller_has_not_heard_of(release: str) -> None:
    """It writes the topic's znode from memory (``setTopicAssignmentRaw``)."""
    moving = Moving(release)
    grown = ControllerStage(Release.of(release))
    grown.create_topic("t", dict.fromkeys(range(3), (1,)))
    text = wait(grown.admin.port.get(paths.topic("t"))).data
    wait(moving.stage.admin.port.set_data(paths.topic("t"), text))

    wait(moving.stage.admin.port.create(paths.REASSIGN_PARTITIONS, encode_reassignment({T0: (2,)})))
    wait(moving.controller.guarded(moving.controller.reassignment_requested))

    topic = wait(moving.stage.admin.topic("t"))
    assert topic is not None
    assert sorted(topic.partitions) == [0, 1]


@pytest.mark.parametrize("release", PRESETS)
def test_a_request_after_one_of_two_partitions_is_seen(release: str) -> None:
    moving = Moving(release)
    moving.ask({T0: (2,), T1: (3,)})
    moving.catch_up(T0, T1)
    first = moving.replicas(T0), moving.replicas(T1), moving.requested()

    moving.ask({T0: (3,), T1: (2,)})
    moving.catch_up(T0, T1)

    assert first == ((2,), (3,), {})
    assert (moving.replicas(T0), moving.replicas(T1), moving.requested()) == ((3,), (2,), {})


@pytest.mark.parametrize("release", PRESETS)
def test_a_request_that_comes_before_its_predecessors_end_is_noticed_is_seen(release: str) -> None:
    moving = Moving(release)
    moving.ask({T0: (2,), T1: (3,)})
    moving.catch_up(T0)
    moving.stage.leader_writes_isr(T1, moving.replicas(T1))
    events = moving.controller.core.client.port.events()
    for event in events:
        wait(moving.controller.handle_watch_event(event, 0))
    assert moving.requested() == {}

    # Nothing that ZooKeeper reported since has reached the controller yet.
    text = encode_reassignment({T0: (1,)})
    wait(moving.stage.admin.port.create(paths.REASSIGN_PARTITIONS, text))
    moving.run()
    moving.catch_up(T0)

    assert moving.replicas(T0) == (1,)


@pytest.mark.parametrize("release", ["1.1", "2.4", "2.7"])
def test_a_request_turns_a_move_that_is_under_way_since_1_1(release: str) -> None:
    """Up to 1.0 entries of partitions that move are passed over (``filterNot``); from 2.0 to 2.3 a
    controller that has written the request itself does not see another one."""
    moving = Moving(release)
    moving.ask({T0: (2,)})
    wait(moving.stage.admin.port.delete(paths.REASSIGN_PARTITIONS))
    moving.run()

    moving.ask({T0: (3,)})
    moving.catch_up(T0)

    assert (moving.replicas(T0), moving.requested()) == ((3,), {})


@pytest.mark.parametrize("release", BEFORE_1_1)
def test_partitions_that_are_added_to_a_request_are_moved_up_to_1_0(release: str) -> None:
    moving = Moving(release)
    moving.ask({T0: (2,)})

    text = encode_reassignment({T0: (2,), T1: (3,)})
    wait(moving.stage.admin.port.set_data(paths.REASSIGN_PARTITIONS, text))
    moving.run()

    assert moving.replicas(T1) == (3, 1)
    moving.catch_up(T0, T1)
    assert (moving.replicas(T0), moving.replicas(T1), moving.requested()) == ((2,), (3,), {})


@pytest.mark.parametrize("release", SINCE_1_1)
def test_partitions_that_are_added_to_a_request_are_not_minded_since_1_1(release: str) -> None:
    moving = Moving(release)
    moving.ask({T0: (2,)})

    text = encode_reassignment({T0: (2,), T1: (3,)})
    wait(moving.stage.admin.port.set_data(paths.REASSIGN_PARTITIONS, text))
    moving.run()

    assert moving.replicas(T1) == (1,)


@pytest.mark.parametrize("release", ["1.1", "2.0", "2.1", "2.3"])
def test_what_a_controller_does_not_know_of_goes_with_its_request_from_1_1_to_2_3(
    release: str,
) -> None:
    moving = Moving(release, partitions=3)
    moving.ask({T0: (2,), T1: (3,)})
    text = encode_reassignment({T0: (2,), T1: (3,), T2: (2,)})
    wait(moving.stage.admin.port.set_data(paths.REASSIGN_PARTITIONS, text))
    moving.run()

    moving.catch_up(T0)

    assert moving.requested() == {T1: (3,)}


@pytest.mark.parametrize("release", PRESETS)
def test_a_move_whose_work_fails_leaves_the_request_and_the_others_go_on(release: str) -> None:
    moving = Moving(release)
    state = moving.stage.state(T0)
    assert state is not None
    newer = LeaderIsrAndControllerEpoch(state.leader, state.leader_epoch, state.isr, 9)
    wait(moving.stage.admin.port.set_data(paths.state(*T0), encode_state(newer)))

    moving.ask({T0: (2,), T1: (3,)})

    assert moving.requested() == {T1: (3,)}
    assert moving.controller.active
    moving.catch_up(T1)
    assert (moving.replicas(T1), moving.requested()) == ((3,), {})


@pytest.mark.parametrize("release", PRESETS)
def test_a_move_of_a_partition_whose_leader_is_not_known_leaves_the_request(release: str) -> None:
    """Its state is there, and every target in the ISR: the lookup of its leader fails
    (``moveReassignedPartitionLeaderIfRequired``)."""
    moving = Moving(release)
    moving.ask({T0: (1, 2)})
    moving.catch_up(T0)
    del moving.controller.core.context.leadership[T0]

    moving.ask({T0: (2, 1), T1: (2,)})

    assert moving.requested() == {T1: (2,)}
    assert moving.controller.active


@pytest.mark.parametrize("release", PRESETS)
def test_a_move_that_fails_while_a_controller_begins_leaves_the_request(release: str) -> None:
    moving = Moving(release)
    text = encode_reassignment({T0: (2,), T1: (3,)})
    wait(moving.stage.admin.port.create(paths.REASSIGN_PARTITIONS, text))
    state = moving.stage.state(T0)
    assert state is not None
    newer = LeaderIsrAndControllerEpoch(state.leader, state.leader_epoch, state.isr, 9)
    wait(moving.stage.admin.port.set_data(paths.state(*T0), encode_state(newer)))
    moving.stage.stop_broker(1)
    moving.stage.start_broker(1)

    moving.controller = moving.stage.controller(2)

    assert moving.requested() == {T1: (3,)}
    assert moving.controller.active


@pytest.mark.parametrize("release", PRESETS)
@pytest.mark.parametrize("found", [{}, {T1: (3,)}], ids=["nothing", "a_request"])
def test_a_request_changed_while_a_controller_begins_is_written_over_from_2_0_to_2_3(
    release: str, found: dict[TopicPartition, tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it read is written again when it has begun that (KAFKA-6617), unseen what came since."""
    moving = Moving(release)
    admin, begins = moving.stage.admin, PartitionMachine.startup
    if found:
        wait(admin.port.create(paths.REASSIGN_PARTITIONS, encode_reassignment(found)))
    moving.stage.stop_broker(1)
    moving.stage.start_broker(1)

    async def begins_late(machine: PartitionMachine) -> None:
        text = encode_reassignment({**found, T0: (2,)})
        if found:
            wait(admin.port.set_data(paths.REASSIGN_PARTITIONS, text))
        else:
            wait(admin.port.create(paths.REASSIGN_PARTITIONS, text))
        await begins(machine)

    monkeypatch.setattr(PartitionMachine, "startup", begins_late)
    moving.controller = moving.stage.controller(2)
    moving.run()

    since = Release.of(release)
    reads_late = since.since("2.4")
    written_over = since.since("2.0") and not reads_late
    unseen = bool(found) and since.since("1.1") and not reads_late  # no change of data is watched
    assert (T0 in moving.requested()) is not written_over
    assert moving.replicas(T0) == ((1,) if written_over or unseen else (2, 1))


@pytest.mark.parametrize("release", ["2.0", "2.1", "2.3"])
def test_a_request_of_which_nothing_is_left_is_seen_again_by_a_new_controller(release: str) -> None:
    moving = Moving(release)

    moving.ask({T0: (2,)})
    moving.catch_up(T0)
    moving.ask({T0: (3,)})

    assert moving.replicas(T0) == (3, 2)


@pytest.mark.parametrize("release", PRESETS)
def test_a_move_that_fails_when_it_is_finished_is_an_error_of_the_event_alone(release: str) -> None:
    moving = Moving(release)
    moving.ask({T0: (2,)})
    moving.stage.leader_writes_isr(T0, moving.replicas(T0))
    state = moving.stage.state(T0)
    assert state is not None
    newer = LeaderIsrAndControllerEpoch(1, state.leader_epoch, state.isr, 9, state.zk_version)
    wait(moving.stage.admin.port.set_data(paths.state(*T0), encode_state(newer)))

    moving.run()

    assert moving.controller.active
    assert moving.replicas(T1) == (1,)


@pytest.mark.parametrize("release", PRESETS)
def test_a_preferred_leader_that_leads_is_not_elected_again_but_from_1_1_to_2_1(
    release: str,
) -> None:
    moving = Moving(release)
    text = encode_partition_set([T0])
    wait(moving.stage.admin.port.create(paths.PREFERRED_ELECTION, text))

    moving.run()

    elected = Release.of(release).since("1.1") and not Release.of(release).since("2.2")
    assert moving.epoch(T0) == int(elected)
    assert not wait(moving.stage.admin.preferred_election())
    context = moving.controller.core.context
    assert set(context.replica_states.values()) == {ReplicaState.ONLINE}


@pytest.mark.parametrize("release", PRESETS)
def test_a_preferred_leader_that_leads_is_left_alone_by_a_new_controller(release: str) -> None:
    moving = Moving(release)
    moving.stage.stop_broker(2)
    moving.run()
    wait(moving.stage.admin.port.create(paths.PREFERRED_ELECTION, encode_partition_set([T0, T1])))
    registered = wait(moving.stage.admin.port.get(paths.CONTROLLER))
    wait(moving.stage.admin.port.delete(paths.CONTROLLER, registered.version))

    moving.controller = moving.stage.controller(3)
    moving.run()

    assert (moving.epoch(T0), moving.epoch(T1)) == (0, 0)
    assert not wait(moving.stage.admin.preferred_election())


def changes_hands(moving: Moving, other: EventController | None) -> EventController:
    """`/controller` is deleted, and the other of brokers 1 and 2 gets it; gives that one."""
    wait(moving.stage.admin.port.delete(paths.CONTROLLER))
    before = moving.controller
    if other is None:
        other = moving.stage.controller(2)
    else:
        moving.stage.run(other)
    moving.stage.run(before)
    assert other.active
    assert not before.active
    moving.controller = other
    return before


@pytest.mark.parametrize("release", ["0.10", "0.11", "2.3"])
def test_who_resigned_begins_its_moves_again_up_to_0_10(release: str) -> None:
    """KAFKA-5310: a move of an earlier term is begun once more, though nobody asks for it."""
    moving = Moving(release, 1)
    moving.ask({T0: (2,)})
    wait(moving.stage.admin.port.delete(paths.REASSIGN_PARTITIONS))
    first = changes_hands(moving, None)
    moving.ask({T0: (1,)})
    assert moving.replicas(T0) == (1,)

    changes_hands(moving, first)

    assert moving.replicas(T0) == ((2, 1) if release == "0.10" else (1,))
    assert moving.requested() == {}


@pytest.mark.parametrize("release", ["0.10", "0.11"])
def test_what_is_asked_for_now_comes_before_a_move_of_an_earlier_term(release: str) -> None:
    moving = Moving(release, 1)
    moving.ask({T0: (2,)})
    wait(moving.stage.admin.port.delete(paths.REASSIGN_PARTITIONS))
    first = changes_hands(moving, None)
    moving.ask({T0: (3, 1)})

    changes_hands(moving, first)
    moving.catch_up(T0)

    assert moving.replicas(T0) == (3, 1)


@pytest.mark.parametrize("release", BEFORE_1_1)
def test_who_leads_as_preferred_as_far_as_is_known_is_left_alone_and_online_up_to_1_0(
    release: str,
) -> None:
    """The strategy looks into the controller's memory, not at the state that was just read."""
    moving = Moving(release)
    moving.ask({T0: (1, 2)})
    moving.catch_up(T0)
    epoch, state = moving.epoch(T0), moving.stage.state(T0)
    assert state is not None
    other = LeaderIsrAndControllerEpoch(2, epoch, (1, 2), state.controller_epoch)
    wait(moving.stage.admin.port.set_data(paths.state(*T0), encode_state(other)))
    context = moving.controller.core.context
    context.put_partition_state(T0, PartitionState.OFFLINE)

    wait(moving.controller.elect_preferred([T0]))

    assert moving.epoch(T0) == epoch
    assert context.partition_state(T0) is PartitionState.ONLINE
