"""`topics` on a broker's own controller, suspended between any two batches of an event."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from conformance.edges import EdgeReport, walk_edges
from conformance.lockstep import Lockstep
from conformance.mapping.topics import LEFT_OUT, MAP, MORE_ROWS
from conformance.mapping.topics_families import FAMILIES, LARGE
from conformance.mapping.topics_tasks import task_of
from impl.core import answers
from impl.core.broker_changes import BrokerChanges
from impl.core.deletion import DeletionManager
from impl.core.event_controller import EventController
from impl.core.replica_machine import ReplicaMachine
from impl.core.replica_manager import ReplicaManager
from impl.sim.simulation import Step, StepNotPossible
from impl.world.stepped.batches import BATCHES
from impl.world.stepped.stepped_cluster import SteppedCluster
from impl.world.stepped.stepped_steps import stepped_cluster
from impl.znodes import TopicPartition, paths
from impl.znodes.client import ZnodeClient
from impl.znodes.retrying_client import RetryingZnodeClient
from impl.zookeeper.znode import ANY_VERSION, Op
from model.systems import system
from specs.verdict import Verdict

EDGES = {
    "growing": 662, "disk": 116, "preferred": 171, "shutdown": 572, "returning": 4_581,
    "lost reply": 1_014, "deposed": 2_007, "conflict": 237,
}  # fmt: skip
"""Those of each family in 2.3."""

BECOMES_CONTROLLER = ("broker_runs_for_controller", *["controller_continues_event"] * 4)


def steps_of(world: SteppedCluster, *names: str) -> None:
    for name in names:
        world.do(Step(name, (1,)))


def acts(world: SteppedCluster, broker: int) -> str | None:
    return task_of(world.controllers[broker])


def with_a_topic() -> SteppedCluster:
    world = stepped_cluster(2, BATCHES)
    steps_of(world, *BECOMES_CONTROLLER)
    world.do(Step("admin_creates_topic", (1, 2, 0, 1)))
    steps_of(world, "controller_handles_topic_change")
    return world


def walked(name: str, version: str | None = None) -> EdgeReport:
    family = {**FAMILIES, **LARGE}[name]
    return walk_edges({**MAP.small, **family.bounds}, about=MAP, version=version, family=family)


@pytest.fixture(scope="module")
def reports() -> dict[str, EdgeReport]:
    return {name: walked(name) for name in FAMILIES}


def test_every_edge_of_each_family_of_faults_is_covered(reports: dict[str, EdgeReport]) -> None:
    covered = {name: (one.verdict, one.covered, one.edges) for name, one in reports.items()}

    assert covered == {name: (Verdict.HOLDS, edges, edges) for name, edges in EDGES.items()}


def test_every_transition_is_walked_in_some_family_or_listed_with_the_reason_why_not(
    reports: dict[str, EdgeReport],
) -> None:
    fired = {name for one in reports.values() for name in one.fired}
    known = {step.transition.name for step in system("topics").recorded().steps}

    assert fired == known
    besides = {"controller_skips_addition", *MORE_ROWS}  # up to 1.1; in stories
    assert {one.name for one in system("topics").transitions} - known == {*LEFT_OUT, *besides}


def test_what_a_family_leaves_out_is_counted(reports: dict[str, EdgeReport]) -> None:
    for name, one in reports.items():
        assert set(one.not_walked) <= set(FAMILIES[name].without)
    assert reports["deposed"].not_walked["session_expires"] == 34


OTHERS = {
    "2.1": {"shutdown": 560, "returning": 4_485, "lost reply": 998, "conflict": 191},
    "2.4": {"lost reply": 972},
    "2.7": {"shutdown": 574, "lost reply": 972},
    "2.8": {"shutdown": 574, "lost reply": 972},
}  # fmt: skip
"""Release -> the families that have other edges there than in 2.3: registrations are not compared
by epoch up to 2.1, since 2.6 a StopReplica has a leader epoch, and from 2.0 to 2.3 a controller
that begins writes the request for moves again."""


@pytest.mark.parametrize("version", OTHERS)
@pytest.mark.parametrize("name", ["disk", "shutdown"])
def test_other_releases_are_walked_as_well(name: str, version: str) -> None:
    report = walked(name, version)

    edges = OTHERS[version].get(name, EDGES[name])
    assert (report.verdict, report.covered, report.edges) == (Verdict.HOLDS, edges, edges)


@pytest.mark.parametrize("version", ["1.1", "2.0"])
def test_releases_that_counted_epochs_by_a_write_of_their_own_are_walked_as_well(
    version: str,
) -> None:
    found = [walked(name, version) for name in ("disk", "preferred", "conflict")]

    assert [(one.verdict, one.edges) for one in found] == [
        (Verdict.HOLDS, edges) for edges in (116, 171, 191)
    ]
    growing = walked("growing", version)
    assert growing.verdict is Verdict.HOLDS
    assert ("controller_skips_addition" in growing.fired) == (version == "1.1")
    with pytest.raises(ValueError, match=rf"walked as since 2\.1, not as in {version}"):
        walked("shutdown", version)


@pytest.mark.deep
@pytest.mark.parametrize("version", OTHERS)
@pytest.mark.parametrize("name", [name for name in EDGES if name not in ("disk", "shutdown")])
def test_every_family_is_walked_in_other_releases(name: str, version: str) -> None:
    test_other_releases_are_walked_as_well(name, version)


@pytest.mark.deep  # minutes: the graphs that the families are parts of
@pytest.mark.parametrize(
    ("name", "edges"),
    [
        ("none", 3_104), ("disks", 3_808), ("elections", 6_418), ("shutdowns", 17_640),
        ("crashes", 8_610), ("restart", 4_221), ("failing", 8_650), ("expiry", 50_518),
        ("failover", 39_942), ("two deleters", 26_038), ("from the beginning", 18_431),
    ],
)  # fmt: skip
def test_every_edge_of_a_large_part_is_covered(name: str, edges: int) -> None:
    report = walked(name)

    assert (report.verdict, report.covered, report.edges) == (Verdict.HOLDS, edges, edges)


FAULTS = (
    "broker_crashes", "session_expires", "controller_node_is_deleted",
    "reply_to_registration_is_lost",
    "request_is_lost", "stops_fail", "broker_asks_for_controlled_shutdown",
)  # fmt: skip


@pytest.mark.parametrize(
    ("seeds", "steps"), [(range(3), 60), pytest.param(range(60), 100, marks=pytest.mark.deep)]
)
def test_walks_with_every_fault_at_once_go_on_in_step_far_beyond_the_families(
    seeds: range, steps: int
) -> None:
    bounds = {
        **MAP.small, "controllers": 4, "crashes": 2, "expiries": 3, "losses": 1, "failures": 1,
        "conflicts": 1, "shutdowns": 2,
    }  # fmt: skip
    taken = 0
    for seed in seeds:
        chance, pair = Random(seed), Lockstep(bounds, about=MAP)
        for _ in range(steps):
            choices = pair.choices()
            if not choices:
                break  # all budgets are spent, and everybody is down
            often = [1 if one.name in FAULTS else 30 for one in choices]
            pair.take(chance.choices(choices, often)[0])
            taken += 1
        pair.compare_enabledness()

    assert taken > len(seeds) * steps / 2


def test_a_batch_of_a_creation_that_is_left_out_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async def forgets(self: ReplicaMachine, broker: int, partitions: list[TopicPartition]) -> None:
        """The new replicas stay as they are."""

    monkeypatch.setattr(ReplicaMachine, "_become_new", forgets)

    report = walk_edges(MAP.small, max_states=600, about=MAP)

    assert report.verdict is Verdict.BROKEN
    assert (
        "the model says NewReplica, the implementation NonExistentReplica" in report.mismatches[0]
    )


_changed, _fenced = EventController.partitions_changed, RetryingZnodeClient.fenced
_brokers_changed, _state = BrokerChanges.changed, ZnodeClient.state
_deleted, _handle = DeletionManager.replicas_deleted, ReplicaManager.handle


async def takes_nothing_back(self: EventController, topic: str) -> None:
    if topic not in self.core.context.queued_for_deletion:
        await _changed(self, topic)


async def fences_by_what_is_there(self: RetryingZnodeClient, op: Op, version: int) -> object:
    epoch = await self.read(paths.CONTROLLER_EPOCH)
    return await _fenced(self, op, epoch.version if epoch else version)


async def misses_nobody_who_is_back(self: BrokerChanges) -> None:
    known = self.core.context.broker_epochs
    now = await self.core.client.brokers()
    self.core.context.broker_epochs = {
        one: now[one][1] if one in now else epoch for one, epoch in known.items()
    }
    await _brokers_changed(self)


async def writes_over_any_version(self: ZnodeClient, partition: TopicPartition) -> object:
    state = await _state(self, partition)
    return state and replace(state, zk_version=ANY_VERSION)


async def forgets_the_newest_controller(self: ReplicaManager, *asked: Any) -> object:
    known = self.controller_epoch
    answered = await _handle(self, *asked)
    self.controller_epoch = known
    return answered


PLANTED: tuple[tuple[Any, str, Any, str, str], ...] = (
    (DeletionManager, "replicas_deleted", lambda self, replicas: _deleted(self, []), "disk",
     "controller_receives_stop_replica_response"),
    (EventController, "partitions_changed", takes_nothing_back, "growing",
     "controller_undoes_addition"),
    (RetryingZnodeClient, "fenced", fences_by_what_is_there, "deposed",
     "controller_write_is_fenced"),
    (BrokerChanges, "changed", misses_nobody_who_is_back, "returning", "controller_sees_failure"),
    (ZnodeClient, "state", writes_over_any_version, "conflict", "controller_write_conflicts"),
    (answers, "stop_replica_error", lambda *asked: answers.NONE, "shutdown 2.7",
     "stop: the model says fenced, the implementation stop"),
    (ReplicaManager, "handle", forgets_the_newest_controller, "growing",
     "seen[1]: the model says 1, the implementation 0"),
)  # fmt: skip
"""What is replaced, by what, and what the walk of which family says of it."""


@pytest.mark.parametrize(("owner", "name", "otherwise", "family", "found"), PLANTED)
def test_a_fault_of_the_implementation_is_found(
    owner: Any, name: str, otherwise: Any, family: str, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, otherwise)

    report = walked(*family.split())

    assert found in report.mismatches[0]


def test_a_controller_that_is_answered_over_a_session_that_is_over_is_in_nobodys_way() -> None:
    world = stepped_cluster(2, BATCHES)
    world.do(Step("broker_runs_for_controller", (1,)))
    world.do(Step("session_expires", (1,)))

    world.do(Step("controller_continues_event", (1,)))
    believed = acts(world, 1)
    world.do(Step("controller_resigns", (1,)))

    assert (believed, acts(world, 1)) == ("reads_zookeeper", None)
    assert world.why_not(Step("broker_runs_for_controller", (2,))) is None


def test_what_was_sent_to_an_earlier_registration_reaches_nobody() -> None:
    world = with_a_topic()
    steps_of(world, *["controller_continues_event"] * 4)

    world.do(Step("session_expires", (2,)))
    world.do(Step("broker_reconnects", (2,)))

    assert world.connections.keys() == {(1, 1)}


def test_a_controller_sends_nothing_twice_when_it_is_taken_up_again() -> None:
    world = with_a_topic()

    steps_of(world, *["controller_continues_event"] * 4)

    assert {to: len(queue) for to, queue in world.connections.items()} == {(1, 1): 1, (1, 2): 1}
    assert acts(world, 1) == "waits"


def test_a_world_is_put_back_into_the_middle_of_an_event() -> None:
    world = with_a_topic()
    steps_of(world, "controller_continues_event", "controller_continues_event")
    middle = world.snapshot()
    steps_of(world, "controller_continues_event", "controller_continues_event")
    end = MAP.facts(world)

    world.restore(middle)
    before = acts(world, 1)
    steps_of(world, "controller_continues_event", "controller_continues_event")

    assert (before, acts(world, 1)) == ("elects_new", "waits")
    assert MAP.facts(world) == end


@pytest.mark.parametrize("order", [(1, 0), (0, 1), (2, 0, 1), (1, 2, 0)])
def test_partitions_are_removed_in_whichever_order_they_are_listed(order: tuple[int, ...]) -> None:
    pair = Lockstep({**MAP.small, "brokers": 1, "partitions": len(order)}, about=MAP)
    life: Iterable[tuple[str, tuple[int, ...]]] = (
        *((name, (1,)) for name in BECOMES_CONTROLLER),
        ("admin_creates_topic", (1, 0, 0, len(order))),
        ("controller_handles_topic_change", (1,)), *[("controller_continues_event", (1,))] * 4,
        ("leader_and_isr_arrives", (1, 1)), ("admin_deletes_topic", ()),
        ("controller_handles_topic_deletion", (1,)), *[("controller_continues_event", (1,))] * 3,
        ("stop_replica_arrives", (1, 1)), ("answer_arrives", (1, 1)),
        ("controller_continues_event", (1,)),
    )  # fmt: skip
    for name, arguments in life:
        pair.take(Step(name, arguments))

    for number in order:
        pair.restore(pair.state, pair.world.snapshot())
        pair.compare_enabledness()
        pair.take(Step("partition_is_removed", (1, number)))
    pair.take(Step("controller_continues_event", (1,)))

    assert pair.last == ("topic_znode_is_deleted", (1,))
    assert pair.world.registered_lists() == {}


def test_a_controller_whose_session_is_over_ends_what_it_does_and_writes_nothing() -> None:
    world = with_a_topic()
    world.do(Step("session_expires", (1,)))

    cut_off = Step("controller_continues_without_session", (1,))
    seen = []
    while world.why_not(cut_off) is None:
        world.do(cut_off)
        seen.append(acts(world, 1))

    assert seen == ["makes_replicas", "elects_new", "enlists", "waits"]
    assert world.state(0) is None
    assert world.connections == {}


def test_several_brokers_that_fail_at_once_are_one_event_as_in_kafka() -> None:
    world = stepped_cluster(3, BATCHES)
    steps_of(world, *BECOMES_CONTROLLER)
    world.do(Step("admin_creates_topic", (2, 3, 1, 1)))
    steps_of(world, "controller_handles_topic_change", *["controller_continues_event"] * 4)
    for broker in (2, 3):
        world.do(Step("session_expires", (broker,)))

    one_alone = world.why_not(Step("broker_failure_is_handled", (1, 2)))
    steps_of(
        world,
        "broker_changes_are_handled_together",
        "controller_continues_event",
        "controller_continues_event",
    )
    state = world.state(0)

    assert one_alone == "nobody else comes or goes at the same time"
    assert state is not None
    assert (state.leader, state.isr) == (1, (1,))
    assert world.connections.keys() == {(1, 1)}


def test_what_may_not_be_done_says_what_is_missing() -> None:
    world = stepped_cluster(2, BATCHES)

    with pytest.raises(StepNotPossible, match="it is in the middle of an event"):
        world.do(Step("controller_continues_event", (1,)))
    assert world.why_not(Step("it_rains", ())) == "it_rains is the name of a step"
    with pytest.raises(ValueError, match=r"as since 1\.1"):
        stepped_cluster(2, BATCHES, "0.11")
