"""Events of a controller, suspended at any of their effects and done over from plain data."""

from __future__ import annotations

from typing import Any

import pytest

from impl.core.event_controller import EventController
from impl.core.partition_machine import PartitionMachine
from impl.releases import Release
from impl.sim.effects import EffectJournal, JournalReport, SendRequests, ZkOperation
from impl.sim.event_run import ControllerThread, SuspensionPoint
from impl.znodes import BrokerInfo, TopicPartition, paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper import ConnectionLoss, EmbeddedSession, ZooKeeper, wait

RELEASES = ("0.10", "1.1", "2.3", "2.4", "2.7")


class SmallCluster:
    """Two brokers and a topic of two partitions; the controller of broker 1 is stepped."""

    def __init__(self, release: str, every_effect: bool = True) -> None:
        self.zookeeper, self.done = ZooKeeper(), list[SendRequests | JournalReport]()
        as_of = Release.of(release)
        self.admin = ZnodeClient(EmbeddedSession(self.zookeeper), as_of)
        for path in paths.persistent(as_of):
            wait(self.admin.make_path(path))
        for broker in (1, 2):
            client = ZnodeClient(EmbeddedSession(self.zookeeper), as_of)
            info = BrokerInfo((f"PLAINTEXT://b{broker}:9092",), 0)
            wait(client.register_broker(broker, info))
        wait(self.admin.create_topic("t", {0: (1, 2), 1: (2, 1)}))
        session = EmbeddedSession(self.zookeeper).session
        self.thread = ControllerThread(
            1, self.zookeeper, session, as_of, lambda thread, place: every_effect, self.done.append
        )

    def to_the_end(self, often_saved: bool = False) -> int:
        """Go on until the event is over; how many places it was suspended at."""
        places = 0
        while self.thread.place is not None:
            places += 1
            if often_saved:
                zookeeper, saved = self.zookeeper.save(), self.thread.save()
                self.thread.abandon()
                self.zookeeper.load(zookeeper)
                self.thread.load(saved)
            self.thread.resume()
        return places

    def outcome(self) -> Any:
        sent = [one for one in self.done if isinstance(one, SendRequests)]
        return self.zookeeper.save(), self.thread.controller.memory(), sent, self.done


def elects(controller: EventController) -> Any:
    return controller.elect(0)


@pytest.mark.parametrize("release", RELEASES)
def test_an_event_that_is_suspended_at_every_effect_comes_to_the_same(release: str):
    whole, stepped = SmallCluster(release, every_effect=False), SmallCluster(release)

    whole.thread.begin(elects)
    stepped.thread.begin(elects)
    places = stepped.to_the_end()

    assert places > 50
    assert stepped.outcome() == whole.outcome()
    assert stepped.thread.controller.active


@pytest.mark.parametrize("release", RELEASES)
def test_an_event_that_is_done_over_from_every_place_carries_nothing_out_twice(release: str):
    once, over = SmallCluster(release), SmallCluster(release)

    once.thread.begin(elects)
    once.to_the_end()
    over.thread.begin(elects)
    over.to_the_end(often_saved=True)

    assert over.outcome() == once.outcome()


def test_a_suspended_event_tells_which_procedures_it_is_in():
    cluster = SmallCluster("2.3", every_effect=False)
    created = paths.state(*TopicPartition("t", 1))

    def creates(thread: ControllerThread, place: SuspensionPoint) -> bool:
        effect = place.effect
        return isinstance(effect, ZkOperation) and any(op.path == created for op in effect.ops)

    cluster.thread.grain = creates
    cluster.thread.begin(elects)

    frame = cluster.thread.frame_of(PartitionMachine.handle)
    assert frame is not None
    assert cluster.thread.frame_of(EventController.fail_over) is not None
    assert cluster.thread.frame_of(EventController.topics_changed) is None


def test_a_registration_whose_answer_is_lost_is_found_out_by_reading_back():
    cluster = SmallCluster("2.3", every_effect=False)

    def registers(thread: ControllerThread, place: SuspensionPoint) -> bool:
        effect = place.effect
        is_multi = isinstance(effect, ZkOperation) and effect.operation == "multi"
        return is_multi and place.is_done and not thread.controller.active

    cluster.thread.grain = registers
    cluster.thread.begin(elects)
    cluster.thread.lose_answer()
    assert cluster.thread.place is not None
    assert isinstance(cluster.thread.place.answer, ConnectionLoss)
    cluster.to_the_end()

    assert cluster.thread.controller.active
    assert cluster.thread.controller.core.context.epoch == 1


def removes_topic(controller: EventController) -> Any:
    version = controller.core.context.epoch_version
    return controller.core.client.delete_topic("t", version)


LISTING = ZkOperation("children", (paths.partitions("t"), False))


def with_a_topic_of_three() -> SmallCluster:
    """The controller is the controller, and about to remove a topic whose partitions are listed."""
    cluster = SmallCluster("2.3")
    for number in (0, 1, 2):
        wait(cluster.admin.make_path(paths.state("t", number)))
    cluster.thread.begin(elects)
    cluster.to_the_end()
    cluster.thread.begin(removes_topic)
    while cluster.thread.place != SuspensionPoint(LISTING, True, ["0", "1", "2"]):
        cluster.thread.resume()
    return cluster


def removed(cluster: SmallCluster) -> list[int]:
    """The partitions whose nodes are gone, in the order in which they went."""
    thread, gone = cluster.thread, list[int]()
    while thread.place is not None:
        thread.resume()
        left = [one for one in range(3) if paths.partition("t", one) in cluster.zookeeper.nodes]
        gone += [one for one in range(3) if one not in (*left, *gone)]
    return gone


def test_an_answer_on_its_way_may_be_another_such_as_the_order_of_children():
    cluster = with_a_topic_of_three()

    cluster.thread.answer_with(LISTING, ["2", "0", "1"])

    assert removed(cluster) == [2, 0, 1]


def test_an_answer_that_came_may_be_decided_as_late_as_it_first_matters():
    cluster = with_a_topic_of_three()
    while paths.partition("t", 0) in cluster.zookeeper.nodes:
        cluster.thread.resume()
    place = cluster.thread.place

    with pytest.raises(ValueError, match="would have done otherwise"):
        cluster.thread.answer_with(LISTING, ["1", "0", "2"])
    with pytest.raises(ValueError, match="was not carried out in this event"):
        cluster.thread.answer_with(ZkOperation("children", ("/", False)), [])
    assert cluster.thread.place == place
    cluster.thread.answer_with(LISTING, ["0", "2", "1"])

    assert cluster.thread.place == place
    assert removed(cluster) == [0, 2, 1]


def test_a_run_that_stands_where_it_was_saved_is_not_done_over():
    cluster = with_a_topic_of_three()
    saved, frame = cluster.thread.save(), cluster.thread.stack()[0]

    cluster.thread.load(saved)
    stays = cluster.thread.stack()[0]
    cluster.thread.resume()
    cluster.thread.load(saved)

    assert stays is frame
    assert cluster.thread.stack()[0] is not frame
    assert cluster.thread.save() is saved


def test_another_process_or_session_knows_nothing_and_has_begun_nothing():
    cluster = with_a_topic_of_three()
    session = EmbeddedSession(cluster.zookeeper).session

    cluster.thread.renew(session)

    assert cluster.thread.place is None
    assert cluster.thread.port.session == session
    assert not cluster.thread.controller.active
    assert cluster.thread.controller.core.context.partitions() == []


def at_the_end_of_a_failover(release: str) -> SmallCluster:
    """A new controller that has looked for a request for preferred leaders, and found none."""
    cluster = SmallCluster(release)
    cluster.thread.begin(elects)
    looks = ZkOperation("exists", (paths.PREFERRED_ELECTION, True))
    seen = 0  # once when it sets its watches, and once at the end
    while seen < 2:
        cluster.thread.resume()
        place = cluster.thread.place
        assert place is not None
        seen += place.is_done and place.effect == looks
    return cluster


@pytest.mark.parametrize("release", RELEASES)
def test_a_request_for_preferred_leaders_that_a_new_controller_did_not_see_is_deleted_as_well(
    release: str,
) -> None:
    cluster = at_the_end_of_a_failover(release)
    partition = TopicPartition("t", 0)
    wait(cluster.admin.request_preferred_election([partition]))

    cluster.to_the_end()

    assert cluster.thread.controller.active
    assert paths.PREFERRED_ELECTION not in cluster.zookeeper.nodes
    state = wait(cluster.admin.state(partition))
    assert state is not None
    assert state.leader_epoch == 0


@pytest.mark.parametrize("release", RELEASES)
def test_who_is_deposed_by_the_end_of_its_failover_finds_it_out_there_since_2_1(
    release: str,
) -> None:
    cluster = at_the_end_of_a_failover(release)
    wait(cluster.admin.port.set_data(paths.CONTROLLER_EPOCH, "9"))

    cluster.to_the_end()

    assert cluster.thread.controller.active is not Release.of(release).since("2.1")


def test_a_journal_reports_the_same_effect_whether_arguments_are_named_or_not():
    journal = EffectJournal()

    by_place = journal.event_done("TopicChange", True).send(None)
    by_name = journal.event_done("TopicChange", failed=True).send(None)

    assert by_place == by_name == JournalReport("event_done", ("TopicChange", True))
