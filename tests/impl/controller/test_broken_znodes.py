"""A znode that cannot be read is named with its place, and everything else goes on."""

from __future__ import annotations

import pytest

from conformance.vectors.implementation.stage import NOW_MS, ControllerStage
from impl.core.api import ControllerApi
from impl.core.controller_parts import ControllerConfig
from impl.core.event_controller import EventController
from impl.core.journal import ControllerJournal
from impl.core.lenient_client import LenientZnodeClient
from impl.core.states import PartitionState
from impl.releases import Release
from impl.znodes import ReplicaAssignment, TopicPartition, paths
from impl.zookeeper import ZooKeeperError
from impl.zookeeper.port import wait

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


class MalformedNotes(ControllerJournal):
    def __init__(self) -> None:
        self.errors: list[str] = []

    async def ignored(self, text: str) -> None:
        self.errors.append(text)

    async def election_failed(self, why: str) -> None:
        self.errors.append(why)


def elected(stage: ControllerStage, broker: int) -> tuple[EventController, list[str]]:
    notes = MalformedNotes()
    controller = EventController(
        broker, stage.sessions[broker], stage.release, stage.send,
        ControllerConfig(delete_topics=True), notes,
    )  # fmt: skip
    wait(controller.elect(NOW_MS))
    return controller, notes.errors


def a_cluster(release: str = "2.3") -> tuple[ControllerStage, EventController, list[str]]:
    """Brokers 1 to 3; topics t (two partitions) and u."""
    stage = ControllerStage(Release.of(release))
    for broker in (1, 2, 3):
        stage.start_broker(broker)
    wait(stage.admin.make_path("/admin"))
    controller, errors = elected(stage, 1)
    stage.create_topic("t", {0: (2, 3), 1: (2, 3)})
    stage.create_topic("u", {0: (2, 3)})
    stage.run(controller)
    return stage, controller, errors


def leader(stage: ControllerStage, partition: TopicPartition) -> int:
    state = stage.state(partition)
    assert state is not None
    return state.leader


def broken(stage: ControllerStage, path: str, text: str = '{"version":1,') -> None:
    wait(stage.admin.port.set_data(path, text))


def test_a_partition_whose_state_cannot_be_read_has_no_leader_and_the_others_get_one():
    stage, controller, errors = a_cluster()
    broken(stage, paths.state(*T0))

    stage.stop_broker(2)
    stage.run(controller)

    state = controller.core.context.partition_state(T0)
    assert [leader(stage, one) for one in (T1, U0)] == [3, 3]
    assert state is PartitionState.OFFLINE
    assert errors == [
        "/brokers/topics/t/partitions/0/state: line 1 column 14: "
        "no JSON (expecting property name enclosed in double quotes)"
    ]


def test_a_broker_becomes_controller_over_broken_znodes_and_names_each():
    stage, _, _ = a_cluster("2.4")
    broken(stage, paths.state(*T0), '{"version":1,"leader":"two"}')
    broken(stage, paths.topic("u"), "[]")
    wait(stage.admin.port.create(paths.ISR_CHANGE_PREFIX, "", sequential=True))
    wait(stage.admin.port.create(paths.LOG_DIR_EVENT_PREFIX, "{}", sequential=True))
    wait(stage.admin.port.create(paths.REASSIGN_PARTITIONS, '{"partitions":[{"topic":"t"}]}'))
    wait(stage.admin.port.create(paths.PREFERRED_ELECTION, "{"))
    stage.stop_broker(1)

    second, errors = elected(stage, 3)
    stage.stop_broker(2)
    stage.run(second)

    named = {text.split(": ")[0] for text in errors}
    assert second.active
    assert leader(stage, T1) == 3
    assert {
        paths.state(*T0), paths.topic("u"), paths.REASSIGN_PARTITIONS, paths.PREFERRED_ELECTION
    } <= named  # fmt: skip
    assert second.core.context.partition_state(T0) is not PartitionState.ONLINE
    assert wait(stage.admin.port.exists(paths.PREFERRED_ELECTION)) is None


@pytest.mark.parametrize("parent", [paths.ISR_CHANGES, paths.LOG_DIR_EVENTS])
def test_a_notification_that_cannot_be_read_is_named_and_removed(parent: str):
    stage, controller, errors = a_cluster()
    prefix = paths.ISR_CHANGE_PREFIX if parent == paths.ISR_CHANGES else paths.LOG_DIR_EVENT_PREFIX
    path = wait(stage.admin.port.create(prefix, "nonsense", sequential=True)).path
    wait(stage.admin.propagate_isr_changes([T1]))

    stage.run(controller)

    assert len(errors) == 1
    assert path in errors[0]
    assert wait(stage.admin.names(parent)) == []
    assert wait(stage.admin.names(paths.ISR_CHANGES)) == []


def test_a_registration_that_cannot_be_read_is_nobodys():
    stage, controller, errors = a_cluster()
    wait(stage.sessions[2].set_data(paths.broker(2), '{"version":9}'))
    stage.stop_broker(3)

    stage.run(controller)

    assert set(controller.core.context.broker_epochs) == {1}
    assert [text for text in errors if paths.broker(2) in text]


def test_an_assignment_that_became_unreadable_is_written_anew_from_what_is_known():
    stage, controller, _ = a_cluster("2.4")
    broken(stage, paths.topic("t"))

    wait(ControllerApi(controller).alter_reassignments({T0: (2, 1)}))

    topic = wait(stage.admin.topic("t"))
    assert topic is not None
    assert topic.partitions == {
        0: ReplicaAssignment((2, 1, 3), (1,), (3,)), 1: ReplicaAssignment((2, 3))
    }  # fmt: skip


def test_a_znode_is_named_once_until_it_is_mended_and_broken_again():
    stage, controller, errors = a_cluster()
    text = wait(stage.admin.port.get(paths.state(*T0))).data
    broken(stage, paths.state(*T0))
    wait(controller.core.read_states([T0]))
    wait(controller.core.read_states([T0]))
    once = len(errors)

    wait(stage.admin.port.set_data(paths.state(*T0), text))
    wait(controller.core.read_states([T0]))
    broken(stage, paths.state(*T0))
    wait(controller.core.read_states([T0]))

    assert (once, len(errors)) == (1, 2)


def test_a_broker_that_cannot_read_the_cluster_gives_the_controllership_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = ControllerStage(Release.of("2.3"))
    stage.start_broker(1)

    async def refused(*_: object, **__: object) -> dict[int, object]:
        raise ZooKeeperError("NoAuth for /brokers/ids")

    monkeypatch.setattr(LenientZnodeClient, "brokers", refused)
    notes = MalformedNotes()
    controller = EventController(
        1, stage.sessions[1], stage.release, stage.send, ControllerConfig(), notes
    )

    wait(controller.elect(NOW_MS))

    assert not controller.active
    assert wait(stage.admin.controller()) is None
    assert notes.errors == ["ZooKeeperError: NoAuth for /brokers/ids"]
