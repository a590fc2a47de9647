"""`election` on the controller of running brokers: every write, execution and answer is an edge."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from conformance.cli.edges import edges
from conformance.edges import walk_edges
from conformance.lockstep import Lockstep
from conformance.mapping import MAPPED, map_of
from conformance.mapping.election import MAP
from impl.core import answers
from impl.core.event_controller import EventController
from impl.sim.simulation import Step
from impl.world.stepped.elections import ELECTIONS, under_way
from impl.world.stepped.stepped_cluster import SteppedCluster
from impl.world.stepped.stepped_steps import STEPPED_CLUSTER_STEPS, stepped_cluster
from impl.znodes.retrying_client import RetryingZnodeClient
from impl.zookeeper import Op
from model.systems import system
from specs.verdict import Verdict
from tests.planting import deletes_any_controller


def election_world(version: str = "2.3") -> SteppedCluster:
    return stepped_cluster(2, ELECTIONS, version, only=MAP.rows)


def steps_of(world: SteppedCluster, *names: str) -> None:
    for name in names:
        step, broker = name.rsplit(" ", 1)
        world.do(Step(step, (int(broker),)))


BECOMES_CONTROLLER = ("broker_connects 1", "broker_runs_for_controller 1",
             "controller_continues_event 1", "controller_continues_event 1")  # fmt: skip


def test_every_edge_of_the_first_states_is_covered_and_every_transition_is_among_them() -> None:
    report = walk_edges(MAP.small, max_states=1_000, about=MAP)

    assert (report.verdict, report.mismatches) == (Verdict.UNKNOWN, [])
    assert report.covered == report.edges == 6_270
    assert set(report.fired) == {one.transition.name for one in system("election").recorded().steps}


@pytest.mark.deep
@pytest.mark.parametrize("version", ["2.1", "2.3", "2.7"])
def test_every_edge_of_the_whole_graph_is_covered(version: str) -> None:
    report = walk_edges(MAP.small, about=MAP, version=version)

    assert report.verdict is Verdict.HOLDS
    assert report.covered == report.edges == 215_488


@pytest.mark.parametrize("name", MAPPED)
def test_every_row_is_a_step_of_the_world_and_every_transition_and_field_has_its_place(
    name: str,
) -> None:
    about = map_of(name)
    recorded = system(name).recorded(None, about.switches)

    driven = {each for one in about.rows.values() for each in one.transitions}
    named, of_any_release = driven | set(about.left_out), {t.name for t in system(name).transitions}
    assert {step.transition.name for step in recorded.steps} <= named <= of_any_release
    assert not driven & set(about.left_out)
    assert {field for field, leaf in recorded.fields.items() if leaf.ghost} <= set(about.unobserved)
    assert set(about.unobserved) <= set(recorded.fields)
    assert all(one.transitions or one.silent or one.beyond for one in about.rows.values()), (
        "a step that is nothing in the model says why"
    )


def test_a_write_without_its_fence_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async def unfenced(self: RetryingZnodeClient, op: Op, version: int) -> object:
        return (await self.retry(lambda: self.port.multi([op])))[0]

    monkeypatch.setattr(RetryingZnodeClient, "fenced", unfenced)

    report = walk_edges(MAP.small, max_states=1_000, about=MAP)

    assert report.verdict is Verdict.BROKEN
    assert "pending[1].epoch_version" in "".join(report.mismatches)


def test_a_zombie_that_deletes_its_successor_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    deletes_any_controller(monkeypatch)

    report = walk_edges(MAP.small, max_states=1_000, about=MAP)

    assert "zk.controller: the model says 2, the implementation none" in report.mismatches[0]


def test_a_silent_step_that_changes_something_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgets(world: SteppedCluster, broker: int) -> None:
        world.controllers[broker].abandon()

    kinds, name = STEPPED_CLUSTER_STEPS, "reply_to_registration_is_lost"
    monkeypatch.setitem(kinds, name, replace(kinds[name], act=forgets))

    report = walk_edges(MAP.small, max_states=200, about=MAP)

    assert (
        "reply_to_registration_is_lost(broker=1) is no step of the model here"
        in report.mismatches[0]
    )


def test_an_older_controller_that_is_obeyed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "controller_epoch_error", lambda asked, known: answers.NONE)
    pair = Lockstep(MAP.small, about=MAP)
    for name in (*BECOMES_CONTROLLER, "controller_sends_request 1", "controller_event_fails 1",
                 *BECOMES_CONTROLLER[1:], "controller_sends_request 1"):  # fmt: skip
        step, broker = name.split()
        pair.take(Step(step, (int(broker),)))
    pair.take(Step("request_arrives", (1, 1, 2)))

    with pytest.raises(AssertionError, match=r"seen\[1\]: the model says 2, the implementation 1"):
        pair.take(Step("request_arrives", (1, 1, 1)))


def test_a_winner_whose_answer_is_lost_finds_itself_elected() -> None:
    world = election_world()
    steps_of(world, *BECOMES_CONTROLLER[:3], "reply_to_registration_is_lost 1")

    steps_of(world, "controller_continues_event 1")

    controller = world.controllers[1].controller
    assert controller.active
    assert (controller.core.context.epoch, controller.core.context.epoch_version) == (1, 1)


def test_a_registration_on_an_epoch_that_moved_is_refused_whole() -> None:
    world = election_world()
    steps_of(
        world,
        "broker_connects 1",
        "broker_connects 2",
        "broker_runs_for_controller 1",
        "broker_runs_for_controller 2",
    )
    steps_of(world, "controller_continues_event 2", "session_expires 2")

    steps_of(world, "controller_continues_event 1", "controller_continues_event 1")

    assert not world.controllers[1].controller.active
    assert world.controllers[1].place is None
    assert "/controller" not in world.zookeeper.nodes


def test_a_deposed_controller_hears_from_the_fence_that_it_is_one() -> None:
    world = election_world()
    steps_of(world, *BECOMES_CONTROLLER, "broker_connects 2", "controller_starts_write 1",
             "session_expires 1", "broker_runs_for_controller 2", "controller_continues_event 2",
             "controller_continues_event 2", "write_arrives_late 1")  # fmt: skip

    assert [one.controller.active for one in world.controllers.values()] == [False, True]


def test_a_deposed_controller_lets_a_state_of_its_successor_be() -> None:
    world = election_world()
    steps_of(world, *BECOMES_CONTROLLER, "broker_connects 2", "session_expires 1",
             "broker_runs_for_controller 2", "controller_continues_event 2",
             "controller_continues_event 2",
             "controller_starts_write 2", "controller_continues_event 2",
             "controller_starts_write 1")  # fmt: skip

    assert under_way(world, 1) == ()
    assert world.controllers[1].controller.active


def test_an_election_is_given_up_when_its_session_is_over() -> None:
    world = election_world()
    steps_of(world, "broker_connects 1", "broker_runs_for_controller 1", "session_expires 1")
    assert world.why_not(Step("broker_connects", (1,))) == "no election of it is under way"

    steps_of(world, "controller_continues_without_session 1", "broker_connects 1")

    assert world.enabled()[-1] == Step("session_expires", (1,))


def test_a_controller_that_keeps_silent_while_active_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def stays(self: EventController) -> None:
        return None

    monkeypatch.setattr(EventController, "resign", stays)

    report = walk_edges(MAP.small, max_states=300, about=MAP)

    assert "belief[1].held: the model says false, the implementation true" in report.mismatches[0]


def test_a_release_that_registers_in_two_writes_plays_stories_and_is_not_walked() -> None:
    assert walk_edges(MAP.small, max_states=5, about=MAP, version="2.1").mismatches == []
    with pytest.raises(ValueError, match=r"walked as since 2\.1, not as in 2\.0"):
        walk_edges(MAP.small, max_states=5, about=MAP, version="2.0")
    with pytest.raises(ValueError, match=r"elections are stepped as since 1\.1"):
        election_world("0.11")


def test_the_command_names_the_systems_with_a_map_and_prints_one() -> None:
    unknown = CliRunner().invoke(edges, ["classic"])
    printed = CliRunner().invoke(edges, ["election", "--map", "--json", "-"])
    walked = CliRunner().invoke(edges, ["election", "--max-states", "50", "--json", "-"])

    assert unknown.exit_code == 64
    assert "one of: cluster, election, reassignment, replication, topics" in unknown.output
    rows = json.loads(printed.output)["rows"]
    assert {one["step"] for one in rows} == set(MAP.rows)
    assert (walked.exit_code, json.loads(walked.output)["system"]) == (2, "election")
