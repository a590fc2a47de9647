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
from tests.impl.controller.controlled import T0, T1, ControlledCluster

U0 = TopicPartition("u", 0)


class MalformedNotes(ControllerJournal):
    def __init__(self) -> None:
        self.errors: list[str] = []

    async def ignored(self, text: str) -> None:
        self.errors.append(text)

    async def election_failed(self, why: str) -> None:
        self.errors.append(why)


class ReadingCluster(ControlledCluster):
    """Brokers 1 to 3, topics t (two partitions) and u, and what cannot be read."""

    def __init__(self, release: str = "2.3") -> None:
        self.config, self.notes = ControllerConfig(delete_topics=True), MalformedNotes()
        self.errors = self.notes.errors
        super().__init__(release, (2, 3), (2, 3), config=self.config, journal=self.notes)
        self.create_topic("u", {0: (2, 3)})
        self.handle()

    def breaks(self, path: str, text: str = '{"version":1,') -> None:
        """A text that cannot be read is written to a znode."""
        wait(self.admin.port.set_data(path, text))


def test_a_partition_whose_state_cannot_be_read_has_no_leader_and_the_others_get_one():
    cluster = ReadingCluster()
    cluster.breaks(paths.state(*T0))

    cluster.stop_broker(2)
    cluster.handle()

    state = cluster.elected.core.context.partition_state(T0)
    assert [cluster.registered(one).leader for one in (T1, U0)] == [3, 3]
    assert state is PartitionState.OFFLINE
    assert cluster.errors == [
        "/brokers/topics/t/partitions/0/state: line 1 column 14: "
        "no JSON (expecting property name enclosed in double quotes)"
    ]


def test_a_broker_becomes_controller_over_broken_znodes_and_names_each():
    cluster = ReadingCluster("2.4")
    cluster.breaks(paths.state(*T0), '{"version":1,"leader":"two"}')
    cluster.breaks(paths.topic("u"), "[]")
    wait(cluster.admin.port.create(paths.ISR_CHANGE_PREFIX, "", sequential=True))
    wait(cluster.admin.port.create(paths.LOG_DIR_EVENT_PREFIX, "{}", sequential=True))
    wait(cluster.admin.port.create(paths.REASSIGN_PARTITIONS, '{"partitions":[{"topic":"t"}]}'))
    wait(cluster.admin.port.create(paths.PREFERRED_ELECTION, "{"))
    cluster.stop_broker(1)

    cluster.errors.clear()
    cluster.elected = cluster.controller(3, cluster.config, cluster.notes)
    cluster.stop_broker(2)
    cluster.handle()

    named = {text.split(": ")[0] for text in cluster.errors}
    assert cluster.registered(T1).leader == 3
    assert {
        paths.state(*T0), paths.topic("u"), paths.REASSIGN_PARTITIONS, paths.PREFERRED_ELECTION
    } <= named  # fmt: skip
    assert cluster.elected.core.context.partition_state(T0) is not PartitionState.ONLINE
    assert wait(cluster.admin.port.exists(paths.PREFERRED_ELECTION)) is None


@pytest.mark.parametrize("parent", [paths.ISR_CHANGES, paths.LOG_DIR_EVENTS])
def test_a_notification_that_cannot_be_read_is_named_and_removed(parent: str):
    cluster = ReadingCluster()
    prefix = paths.ISR_CHANGE_PREFIX if parent == paths.ISR_CHANGES else paths.LOG_DIR_EVENT_PREFIX
    path = wait(cluster.admin.port.create(prefix, "nonsense", sequential=True)).path
    wait(cluster.admin.propagate_isr_changes([T1]))

    cluster.handle()

    assert len(cluster.errors) == 1
    assert path in cluster.errors[0]
    assert wait(cluster.admin.names(parent)) == []
    assert wait(cluster.admin.names(paths.ISR_CHANGES)) == []


def test_a_registration_that_cannot_be_read_is_nobodys():
    cluster = ReadingCluster()
    wait(cluster.sessions[2].set_data(paths.broker(2), '{"version":9}'))
    cluster.stop_broker(3)

    cluster.handle()

    assert set(cluster.elected.core.context.broker_epochs) == {1}
    assert [text for text in cluster.errors if paths.broker(2) in text]


def test_an_assignment_that_became_unreadable_is_written_anew_from_what_is_known():
    cluster = ReadingCluster("2.4")
    cluster.breaks(paths.topic("t"))

    wait(ControllerApi(cluster.elected).alter_reassignments({T0: (2, 1)}))

    assert cluster.assigned() == {
        0: ReplicaAssignment((2, 1, 3), (1,), (3,)), 1: ReplicaAssignment((2, 3))
    }  # fmt: skip


def test_a_znode_is_named_once_until_it_is_mended_and_broken_again():
    cluster = ReadingCluster()
    text = wait(cluster.admin.port.get(paths.state(*T0))).data
    cluster.breaks(paths.state(*T0))
    wait(cluster.elected.core.read_states([T0]))
    wait(cluster.elected.core.read_states([T0]))
    once = len(cluster.errors)

    wait(cluster.admin.port.set_data(paths.state(*T0), text))
    wait(cluster.elected.core.read_states([T0]))
    cluster.breaks(paths.state(*T0))
    wait(cluster.elected.core.read_states([T0]))

    assert (once, len(cluster.errors)) == (1, 2)


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
