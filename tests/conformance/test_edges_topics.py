"""`topics` on a broker's own controller, put down between any two batches of an event."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from conformance.edges import walk_edges
from conformance.lockstep import Lockstep
from conformance.mapping.topics import LEFT_OUT, MAP
from impl import Step, StepNotPossible
from impl.controller.deletion import DeletionManager
from impl.controller.event_controller import EventController
from impl.controller.replica_machine import ReplicaMachine
from impl.world.topic_life import TopicLife
from model.systems import system
from specs.verdict import Verdict

GROWING = {**MAP.small, "brokers": 1, "partitions": 2}
"""One broker, a topic that gets a partition more; the other bounds have two brokers."""

IN_OFFICE = ("broker_stands", *["controller_goes_on"] * 4)


def steps_of(world: TopicLife, *names: str) -> None:
    for name in names:
        world.do(Step(name, (1,)))


def with_a_topic() -> TopicLife:
    world = TopicLife()
    steps_of(world, *IN_OFFICE)
    world.do(Step("admin_creates_topic", (1, 2, 0, 1)))
    steps_of(world, "controller_hears_of_topics")
    return world


def test_every_edge_is_covered_and_every_transition_of_a_life_without_faults_is_among_them() -> (
    None
):
    one, other = walk_edges(MAP.small, about=MAP), walk_edges(GROWING, about=MAP)

    assert (one.verdict, one.covered, one.edges, one.states) == (Verdict.HOLDS, 2_976, 2_976, 1_497)
    assert (other.verdict, other.covered, other.edges) == (Verdict.HOLDS, 601, 601)
    assert {*one.fired, *other.fired, *LEFT_OUT} == {
        step.transition.name for step in system("topics").recorded().steps
    }


def test_a_batch_of_a_creation_that_is_left_out_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReplicaMachine, "_become_new", lambda self, broker, partitions: None)

    report = walk_edges(MAP.small, max_states=600, about=MAP)

    assert report.verdict is Verdict.BROKEN
    assert (
        "the model says NewReplica, the implementation NonExistentReplica" in report.mismatches[0]
    )


def test_a_deletion_that_begins_over_an_answer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = DeletionManager.replicas_deleted
    monkeypatch.setattr(DeletionManager, "replicas_deleted", lambda self, replicas: heard(self, []))

    report = walk_edges(MAP.small, about=MAP)

    assert "controller_hears_deletion" in report.mismatches[0]


def test_an_added_partition_that_nobody_takes_back_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changed = EventController.partitions_changed

    def careless(self: EventController, topic: str) -> None:
        if topic not in self.core.context.queued_for_deletion:
            changed(self, topic)

    monkeypatch.setattr(EventController, "partitions_changed", careless)

    report = walk_edges(GROWING, about=MAP)

    assert any("controller_undoes_addition" in one for one in report.mismatches)


def test_a_controller_sends_nothing_twice_when_it_is_taken_up_again() -> None:
    world = with_a_topic()

    steps_of(world, *["controller_goes_on"] * 4)

    assert {to: len(queue) for to, queue in world.connections.items()} == {(1, 1): 1, (1, 2): 1}
    assert world.acts(1) == "waits"


def test_a_world_is_put_back_into_the_middle_of_an_event() -> None:
    world = with_a_topic()
    steps_of(world, "controller_goes_on", "controller_goes_on")
    middle = world.snapshot()
    steps_of(world, "controller_goes_on", "controller_goes_on")
    end = MAP.facts(world)

    world.restore(middle)
    before = world.acts(1)
    steps_of(world, "controller_goes_on", "controller_goes_on")

    assert (before, world.acts(1)) == ("elects_new", "waits")
    assert MAP.facts(world) == end


def test_partitions_are_removed_in_whichever_order_they_are_listed() -> None:
    pair = Lockstep(GROWING, about=MAP)
    life: Iterable[tuple[str, tuple[int, ...]]] = (
        *((name, (1,)) for name in IN_OFFICE),
        ("admin_creates_topic", (1, 0, 0, 2)),
        ("controller_hears_of_topics", (1,)), *[("controller_goes_on", (1,))] * 4,
        ("orders_arrive", (1, 1)), ("admin_deletes_topic", ()),
        ("controller_hears_of_deletions", (1,)), *[("controller_goes_on", (1,))] * 3,
        ("stops_arrive", (1, 1)), ("answer_arrives", (1, 1)), ("controller_goes_on", (1,)),
    )  # fmt: skip
    for name, arguments in life:
        pair.take(Step(name, arguments))

    pair.take(Step("partition_is_removed", (1, 1)))
    pair.take(Step("partition_is_removed", (1, 0)))
    pair.take(Step("controller_goes_on", (1,)))

    assert pair.last == ("topic_node_is_removed", (1,))
    assert pair.world.registered_lists() == {}


def test_what_may_not_be_done_says_what_is_missing() -> None:
    world = TopicLife()

    with pytest.raises(StepNotPossible, match="it is in the middle of an event"):
        world.do(Step("controller_goes_on", (1,)))
    assert world.why_not(Step("it_rains", ())) == "it_rains is the name of a step"
    with pytest.raises(ValueError, match=r"as since 2\.3"):
        TopicLife(version="1.1")
