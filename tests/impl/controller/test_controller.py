"""The controller on an embedded ZooKeeper: controllership, batches, moves, deletions."""

from __future__ import annotations

import pytest

from conformance.vectors.implementation.stage import NOW_MS, ControllerStage
from impl.core.broker_changes import ShutdownRefused
from impl.core.cluster_context import Replica
from impl.core.controller_parts import ControllerConfig, StateChangeFailed
from impl.core.event_controller import EventController
from impl.core.journal import ControllerJournal
from impl.core.requests import LeaderAndIsr, Request, StopReplica, UpdateMetadata
from impl.core.states import ReplicaState
from impl.releases import PRESETS, Release
from impl.znodes import LeaderIsrAndControllerEpoch, ReplicaAssignment, paths
from impl.znodes.client import ZnodeClient
from impl.znodes.retrying_client import ControllerMoved
from impl.zookeeper import ConnectionFault, EmbeddedSession, Znode
from impl.zookeeper.port import wait
from tests.impl.controller.controlled import T0, ControlledCluster

R23 = Release.of("2.3")


# Controllership


@pytest.mark.parametrize(
    ("release", "first", "last"),
    [
        ("0.10.1", LeaderAndIsr, UpdateMetadata),
        ("0.10.2", UpdateMetadata, UpdateMetadata),
        ("2.3", UpdateMetadata, UpdateMetadata),
    ],
)
def test_a_new_controller_tells_brokers_who_lives_first_since_0_10_2_and_before_it_last(
    release: str, first: type[Request], last: type[Request]
):
    """KAFKA-4443: who does not know a leader to be alive does not follow it."""
    stage = ControlledCluster(release, (2, 3))
    controller = stage.elected
    wait(controller.resign())
    registered = wait(stage.admin.port.get(paths.CONTROLLER))
    wait(stage.admin.port.delete(paths.CONTROLLER, registered.version))

    stage.run(stage.controller(3))

    sent = [request for broker, request in stage.take_sent() if broker == 2]
    assert (type(sent[0]), type(sent[-1])) == (first, last)
    assert len(sent) == 3


@pytest.mark.parametrize("release", PRESETS)
def test_the_first_controller_has_epoch_1_and_the_next_one_2(release: str):
    under = Release.of(release)
    stage = ControllerStage(under)
    first, second = EmbeddedSession(stage.zookeeper), EmbeddedSession(stage.zookeeper)

    one = wait(ZnodeClient(first, under).register_controller(1, NOW_MS))
    with pytest.raises(ControllerMoved):
        wait(ZnodeClient(second, under).register_controller(2, NOW_MS))
    first.close()
    two = wait(ZnodeClient(second, under).register_controller(2, NOW_MS))

    assert (one.epoch, two.epoch) == (1, 2)


def _with_a_lost_answer_to_the_epoch(release: str) -> tuple[ControllerStage, EventController]:
    stage = ControllerStage(Release.of(release))
    stage.start_broker(1)
    wait(stage.admin.make_path(paths.CONTROLLER_EPOCH, "4"))
    session = EmbeddedSession(stage.zookeeper)
    controller = EventController(1, session, stage.release, stage.send)
    asked = session.set_data

    async def losing(path: str, data: str, version: int = -1) -> Znode:
        session.set_data = asked  # type: ignore[method-assign]
        session.lose(ConnectionFault.REPLY)
        return await asked(path, data, version)

    session.set_data = losing  # type: ignore[method-assign]
    wait(controller.elect(NOW_MS))
    return stage, controller


@pytest.mark.parametrize("release", ["1.1", "2.0"])
def test_up_to_2_0_who_finds_the_epoch_counted_gives_up_and_lets_another_stand(release: str):
    """The write is sent again and refused by the version that it had itself written."""
    stage, controller = _with_a_lost_answer_to_the_epoch(release)

    assert not controller.active
    assert paths.CONTROLLER not in stage.zookeeper.nodes
    wait(controller.elect(NOW_MS))
    assert controller.active
    assert controller.core.context.epoch == 6


def test_up_to_1_0_who_finds_the_epoch_counted_goes_on_under_the_one_that_it_read():
    _, controller = _with_a_lost_answer_to_the_epoch("0.11")

    assert (controller.active, controller.core.context.epoch) == (True, 4)


def test_a_controller_whose_session_is_gone_forgets_everything():
    stage = ControlledCluster("2.3", (1, 2))
    controller = stage.elected
    stage.zookeeper.expire(controller.core.client.port.session)

    wait(controller.guarded(controller.topics_changed))

    assert not controller.active
    assert controller.core.context.partitions() == []


class Ends(ControllerJournal):
    """How events ended."""

    def __init__(self) -> None:
        self.how: list[str] = []

    async def moved(self, event: str, why: str) -> None:
        self.how.append("moved")

    async def event_failed(self, event: str, why: str) -> None:
        self.how.append("failed")


@pytest.mark.parametrize(
    ("release", "how"), [("0.11", []), ("1.1", ["failed"]), ("2.3", ["failed"])]
)
def test_an_event_fails_when_the_session_ends_and_no_line_says_that_the_controller_moved(
    release: str, how: list[str]
):
    """ControllerEventManager: ControllerMovedException is of the fence alone; Expire resigns."""
    stage = ControlledCluster(release)
    controller = stage.elected
    ends = controller.journal = controller.core.context.journal = Ends()
    stage.zookeeper.expire(controller.core.client.port.session)

    wait(controller.guarded(controller.topics_changed))

    assert (ends.how, controller.active) == (how, False)


def test_a_batch_that_was_left_unsent_moves_the_controllership_to_another_broker():
    stage = ControlledCluster("2.3", (1, 2))
    controller = stage.elected
    controller.core.batch.add_update_metadata([2], [])

    wait(controller.guarded(controller.core.partitions.trigger_online))

    assert not controller.active
    assert wait(stage.admin.controller()) is None
    assert controller.core.batch.metadata_to == set()


# Brokers


@pytest.mark.parametrize(
    ("release", "epoch", "error", "level"),
    [
        ("2.3", -1, "BROKER_NOT_AVAILABLE", ["Shutting down broker 9"]),
        ("2.3", 7, "UNKNOWN_SERVER_ERROR", []),
        ("2.1", 7, "BROKER_NOT_AVAILABLE", ["Shutting down broker 9"]),
    ],
)
def test_a_broker_that_is_not_registered_is_not_shut_down(
    release: str, epoch: int, error: str, level: list[str]
):
    """``doControlledShutdown``: since 2.2 the epoch is looked up before anything is logged."""
    controller = ControlledCluster(release).elected
    lines: list[str] = []

    async def log_line(text: str, level: str = "INFO") -> None:
        lines.append(text)

    controller.journal.log_line = log_line  # type: ignore[method-assign]
    with pytest.raises(ShutdownRefused) as refused:
        wait(controller.brokers.shut_down(9, epoch))

    assert (refused.value.error, lines) == (error, level)


def test_up_to_1_0_the_topics_own_config_says_whether_the_last_may_leave_the_isr():
    """``removeReplicaFromIsr`` asks ``LogConfig.fromProps`` of the topic."""
    allows = ControllerConfig(unclean_leader_election=False, unclean_topics={"t": True})
    stage = ControlledCluster("1.0", (2,), config=allows)

    stage.stop_broker(2)
    stage.handle()

    left = stage.state(T0)
    assert left is not None
    assert (left.leader, left.isr) == (-1, ())


def test_whose_replica_has_left_the_isr_already_gets_the_state_under_this_controllers_epoch():
    """``doRemoveReplicasFromIsr`` makes it of what was read and of its own epoch."""
    stage = ControlledCluster("2.3", (2, 3))
    controller = stage.elected
    stage.leader_writes_isr(T0, (2,))
    wait(controller.trigger_move())
    wait(controller.elect(NOW_MS))
    stage.take_sent()

    wait(controller.core.replicas.handle([Replica(T0, 3)], ReplicaState.OFFLINE))

    [order] = [one.partitions[T0] for _, one in stage.take_sent() if isinstance(one, LeaderAndIsr)]
    read = stage.state(T0)
    assert read is not None
    assert (read.controller_epoch, order.state.controller_epoch) == (1, 2)
    assert order.state.zk_version == read.zk_version


# Topics


@pytest.mark.parametrize("release", PRESETS)
def test_a_deletion_begins_in_the_middle_of_a_move(release: str):
    """A topic that moves is marked ineligible before it is queued, which marks nothing
    (``processTopicDeletion``, ``markTopicIneligibleForDeletion``)."""
    stage = ControlledCluster(release, (1, 2), config=ControllerConfig(delete_topics=True))
    stage.ask({T0: (2, 3)})

    wait(stage.admin.request_deletion("t"))
    stage.handle()

    assert stage.elected.reassigner.in_progress()
    assert stage.elected.core.context.is_being_deleted("t")


@pytest.mark.parametrize("release", ["2.3", "2.4"])
def test_a_reassignment_survives_its_controllers_end(release: str):
    stage = ControlledCluster(release, (1, 2))
    stage.ask({T0: (2, 3)})
    stage.stop_broker(1)
    stage.elected = stage.controller(2)
    stage.handle()

    stage.isr(T0, 2, 3)

    state = stage.registered()
    assert stage.assigned()[0] == ReplicaAssignment((2, 3))
    assert (state.leader, set(state.isr)) == (2, {2, 3})
    assert wait(stage.admin.reassignments()) == {}


def test_a_running_reassignment_can_be_turned_and_cancelled_since_2_4():
    stage = ControlledCluster("2.4", (1, 2), brokers=(1, 2, 3, 4))
    controller = stage.elected
    steps = controller.reassigner
    there = controller.core.context.assignment(T0).reassign_to((1, 3))
    wait(steps.reassign_recorded(T0, there))

    turned = controller.core.context.assignment(T0).reassign_to((1, 4))
    wait(steps.reassign_recorded(T0, turned))
    stopped = {
        broker
        for broker, request in stage.take_sent()
        if isinstance(request, StopReplica) and any(s.delete for s in request.partitions.values())
    }
    wait(steps.reassign_recorded(T0, controller.core.context.assignment(T0).reassign_to((1, 2))))

    assert stopped == {3}
    assert stage.assigned()[0] == ReplicaAssignment((1, 2))
    assert steps.in_progress() == set()


# Leader epochs


def test_a_leader_epoch_is_not_raised_over_what_a_newer_controller_wrote():
    stage = ControlledCluster("2.3", (1, 2))
    controller = stage.elected
    version = stage.registered().zk_version
    newer = LeaderIsrAndControllerEpoch(2, 5, (1, 2), 9, version)
    wait(stage.admin.update_states({T0: newer}))

    with pytest.raises(StateChangeFailed, match="written by another controller"):
        wait(controller.core.update_leader_epoch(T0))
    after = stage.registered()
    assert (after.leader_epoch, after.controller_epoch) == (5, 9)


@pytest.mark.parametrize(("release", "rounds"), [("2.4", [["t"], ["u"]]), ("2.5", [["t", "u"]])])
def test_topics_are_deleted_one_after_the_other_up_to_2_4(release: str, rounds: list[list[str]]):
    """KAFKA-9499: ``resumeDeletions`` begins with all that may be deleted together."""
    stage = ControlledCluster(release)
    for topic in ("t", "u"):
        stage.create_topic(topic, {0: (2,)})
    stage.handle()
    stage.take_sent()

    for topic in ("t", "u"):
        wait(stage.admin.request_deletion(topic))
    stage.handle()

    deletions = [one.partitions for _, one in stage.take_sent() if isinstance(one, StopReplica)]
    started = [sorted(one.topic for one in parts) for parts in deletions
               if any(stop.delete for stop in parts.values())]  # fmt: skip
    assert started == rounds
