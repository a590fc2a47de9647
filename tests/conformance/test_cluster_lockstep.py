"""Whole controllers, stage by stage, in step with `cluster`: state, writes and requests."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

from conformance.cli.lockstep import lockstep
from conformance.effects_of_cluster import EffectsOfCluster
from conformance.lockstep import Lockstep, Mismatch
from conformance.mapping import cluster
from conformance.walks import SHAPES, walk_cluster
from impl.core import answers, leader_election
from impl.core.broker_changes import BrokerChanges
from impl.core.event_controller import EventController
from impl.core.partition import Partition
from impl.core.replica_machine import ReplicaMachine
from impl.core.request_batch import RequestBatch
from impl.sim.event_run import ControllerThread
from impl.sim.simulation import Step, StepNotPossible
from impl.sim.simulator import SWARM
from impl.world.staged.faults import STAGED_PROFILES
from impl.world.staged.staged_cluster import StagedCluster
from impl.world.staged.staged_steps import STAGED_CLUSTER_STEPS, staged_cluster
from impl.znodes import paths
from impl.zookeeper.port import wait
from model.systems import system

TWO = {**cluster.BOUNDS, **SHAPES[1]}
BECOMES_CONTROLLER = (
    "broker_runs_for_controller",
    "controller_continues_event",
    "controller_continues_event",
)


@pytest.mark.parametrize("faults", [*STAGED_PROFILES, SWARM])
def test_no_fault_brings_the_two_out_of_step(faults: str) -> None:
    effects = EffectsOfCluster()

    progress = walk_cluster(3, 250, TWO, faults, effects)

    assert progress.steps == 250
    assert effects.writes > 0
    assert effects.requests > 0


def test_walks_of_a_cluster_are_the_same_for_the_same_seed() -> None:
    one, other = (walk_cluster(5, 120, TWO) for _ in range(2))

    assert one == other


@pytest.mark.deep
@pytest.mark.parametrize("faults", [*STAGED_PROFILES, SWARM])
def test_many_walks_stay_in_step(faults: str) -> None:
    effects = EffectsOfCluster()

    steps = sum(walk_cluster(seed, 300, None, faults, effects).steps for seed in range(12))

    assert steps == 3_600


@pytest.mark.deep
def test_a_newer_controller_is_found_at_elections_and_at_removals() -> None:
    fired = walk_cluster(5, 400, faults="everything", version="1.1").fired

    assert {"controller_finds_a_newer_controller", "controller_skips_isr_removal"} <= {*fired}


def test_every_step_has_a_row_and_every_transition_a_step_or_a_reason() -> None:
    recorded = system("cluster").recorded(None, cluster.AS_RELEASED)
    there = {step.transition.name for step in recorded.steps}

    assert set(cluster.ROWS) == set(STAGED_CLUSTER_STEPS)
    assert all(
        one.parameters == STAGED_CLUSTER_STEPS[name].parameters
        for name, one in cluster.ROWS.items()
    )
    assert set(cluster.MAP.steps_of) == there


def test_what_no_broker_shows_is_a_field_of_the_model() -> None:
    fields = system("cluster").recorded().fields

    assert set(cluster.UNOBSERVED) <= set(fields)
    assert {name for name, leaf in fields.items() if leaf.ghost} <= set(cluster.UNOBSERVED)


# Mutants


def first_mismatch(faults: str, seeds: int = 3, steps: int = 250) -> str:
    for seed in range(seeds):
        try:
            walk_cluster(seed, steps, TWO, faults, EffectsOfCluster())
        except Mismatch as mismatch:
            return str(mismatch).partition("\nthe steps so far")[0]
    return ""


def take_the_same_epoch_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    before = answers.leader_and_isr_error

    def lenient(current: int, asked: int, *rest: Any) -> str:
        return before(current - 1, asked, *rest)

    monkeypatch.setattr(answers, "leader_and_isr_error", lenient)


def keep_the_dead_in_the_isr(monkeypatch: pytest.MonkeyPatch) -> None:
    before = leader_election.offline

    def keeps(assignment: Any, isr: Any, live: Any, unclean: bool) -> Any:
        found = before(assignment, isr, live, unclean)
        return found and leader_election.Elected(found.leader, tuple(isr), found.recipients)

    monkeypatch.setattr(leader_election, "offline", keeps)


def elect_the_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    before = leader_election.offline
    monkeypatch.setattr(
        leader_election, "offline", lambda assignment, isr, live, unclean: before(
            assignment, isr, {*live, *isr}, unclean)
    )  # fmt: skip


def empty_the_isr(monkeypatch: pytest.MonkeyPatch) -> None:
    before = ReplicaMachine.without

    def empties(self: ReplicaMachine, broker: int, state: Any, topic: str) -> Any:
        found = before(self, broker, state, topic)
        return (
            found
            if found.isr != state.isr
            else type(state)(
                found.leader, found.leader_epoch, (), found.controller_epoch, found.zk_version
            )
        )

    monkeypatch.setattr(ReplicaMachine, "without", empties)


def tell_the_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    """UpdateMetadata names brokers that the controller knows to be gone."""
    before = RequestBatch._update_metadata

    def names(self: RequestBatch, broker: int, epoch: int) -> Any:
        request = before(self, broker, epoch)
        return type(request)(
            request.version, request.controller, request.controller_epoch, request.broker_epoch,
            request.partitions, tuple(sorted(self.context.broker_infos)),
        )  # fmt: skip

    monkeypatch.setattr(RequestBatch, "_update_metadata", names)


def forget_the_announcement(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failover without its first UpdateMetadata."""
    before = EventController.fail_over

    async def nothing(*_: Any) -> None:
        return

    async def silent(self: EventController) -> None:
        reported = self.core.update_metadata
        monkeypatch.setattr(self.core, "update_metadata", nothing)
        try:
            await before(self)
        finally:
            monkeypatch.setattr(self.core, "update_metadata", reported)

    monkeypatch.setattr(EventController, "fail_over", silent)


def join_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        Partition, "may_join", lambda self, replica, offset: replica not in self.isr
    )


def drop_who_keeps_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        Partition, "lagging",
        lambda self, now_ms: [one for one in self.isr if one != self.broker],
    )  # fmt: skip


def leave_notifications(monkeypatch: pytest.MonkeyPatch) -> None:
    from impl.znodes.client import ZnodeClient

    async def leaves(self: ZnodeClient, *rest: Any) -> None:
        return

    monkeypatch.setattr(ZnodeClient, "delete_notifications", leaves)


def keep_new_endpoints_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    async def quiet(self: BrokerChanges, broker: int) -> None:
        return

    monkeypatch.setattr(BrokerChanges, "modified", quiet)


def let_the_leaving_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that goes stays in the ISR of what it led."""
    before = leader_election.controlled_shutdown

    def keeps(assignment: Any, isr: Any, *rest: Any) -> Any:
        found = before(assignment, isr, *rest)
        return found and leader_election.Elected(found.leader, tuple(isr), found.recipients)

    monkeypatch.setattr(leader_election, "controlled_shutdown", keeps)


MUTANTS: tuple[tuple[Callable[[pytest.MonkeyPatch], None], str], ...] = (
    (take_the_same_epoch_twice, "everything"), (keep_the_dead_in_the_isr, "sessions"),
    (elect_the_dead, "sessions"), (empty_the_isr, "sessions"), (tell_the_dead, "sessions"),
    (forget_the_announcement, "sessions"), (join_at_once, "sessions"),
    (drop_who_keeps_up, "slow"), (leave_notifications, "crashes"),
    (keep_new_endpoints_quiet, "operators"), (let_the_leaving_lead, "operators"),
)  # fmt: skip
"""Each with a profile of faults under which it shows soon."""


@pytest.mark.parametrize(
    ("mutate", "faults"), MUTANTS, ids=lambda one: getattr(one, "__name__", one)
)
def test_a_mutant_of_the_implementation_is_noticed(
    mutate: Callable[[pytest.MonkeyPatch], None], faults: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutate(monkeypatch)

    assert first_mismatch(faults)


def test_a_broker_that_obeys_an_older_controller_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pair, _ = a_controller()
    pair.take(Step("controller_continues_event", (1,)))
    pair.take(Step("controller_node_is_deleted", ()))
    for name in (*BECOMES_CONTROLLER, "controller_continues_event"):
        pair.take(Step(name, (2,)))
    pair.take(Step("update_metadata_arrives", (2, 2)))
    monkeypatch.setattr(answers, "controller_epoch_error", lambda asked, known: "NONE")

    with pytest.raises(Mismatch, match=r"after update_metadata_arrives.*older_controller"):
        pair.take(Step("update_metadata_arrives", (2, 1)))


# Effects


def a_controller() -> tuple[Lockstep, EffectsOfCluster]:
    effects = EffectsOfCluster()
    pair = Lockstep(TWO, about=cluster.MAP, watcher=effects)
    for name in BECOMES_CONTROLLER:
        pair.take(Step(name, (1,)))
    return pair, effects


def test_to_become_controller_is_two_writes_and_to_announce_a_request_to_each_broker() -> None:
    pair, effects = a_controller()
    before = effects.requests

    pair.take(Step("controller_continues_event", (1,)))

    assert (effects.writes, before, effects.requests) == (2, 0, 2)


def test_what_is_written_on_the_side_is_a_mismatch(monkeypatch: pytest.MonkeyPatch) -> None:
    before = ControllerThread.resume

    def twice(self: ControllerThread) -> None:
        before(self)
        wait(self.port.embedded.create(f"{paths.CONFIG}/left-behind"))

    pair, _ = a_controller()
    monkeypatch.setattr(ControllerThread, "resume", twice)

    with pytest.raises(Mismatch, match="NodeCreated /config/left-behind, which shows nowhere"):
        pair.take(Step("controller_continues_event", (1,)))


def test_a_request_that_is_put_in_front_of_others_is_a_mismatch() -> None:
    pair, effects = a_controller()
    pair.take(Step("controller_continues_event", (1,)))
    world: StagedCluster = pair.world

    def jumps() -> None:
        world.do(Step("controller_continues_event", (1,)))
        channel = world.nodes[1].channels.open[2]
        assert channel.under_way is not None
        channel.waiting.appendleft(channel.under_way)
        channel.under_way = channel.waiting.pop()

    wrong = effects(world, cluster.MAP, jumps)

    assert wrong == ["the requests of controller 1 to broker 2 are not queued as sent"]


# The world


def test_a_step_that_is_not_possible_says_so() -> None:
    world = staged_cluster()

    with pytest.raises(StepNotPossible, match="did you mean broker_runs_for_controller"):
        world.do(Step("broker_runs_for_controler", (1,)))
    with pytest.raises(StepNotPossible, match=r"\(broker\) is among those with which"):
        world.do(Step("controller_continues_event", (1,)))


@pytest.mark.parametrize("faults", ["crashes", "lossy", "operators", "everything"])
def test_a_world_that_is_put_back_does_and_shows_the_same_again(faults: str) -> None:
    pair = Lockstep(TWO, about=cluster.MAP)
    chooser, again = random.Random(f"restored {faults}"), random.Random(7)
    for seed in range(12):
        walk_cluster(seed, 20, TWO, faults, pair=pair)
        world: StagedCluster = pair.world
        snapshot, shown, steps = world.snapshot(), [cluster.facts(world)], list[Step]()
        for _ in range(again.randrange(1, 40)):
            steps.append(chooser.choice(world.enabled()))
            world.do(steps[-1])
            shown.append(cluster.facts(world))

        for _ in range(2):
            world.restore(snapshot)
            seen = [cluster.facts(world)]
            for step in steps:
                world.do(step)
                seen.append(cluster.facts(world))
            assert seen == shown

        world.restore(snapshot)


def test_several_partitions_of_an_older_release_are_refused() -> None:
    with pytest.raises(ValueError, match=r"staged as since 1\.1, not as in 1\.0"):
        staged_cluster(version="1.0", partitions=2)


THREE = {**cluster.BOUNDS, **SHAPES[0], "queue": 20}


def goes_on(pair: Lockstep, broker: int) -> None:
    """The controller's event comes to its end."""
    while pair.world.nodes[broker].thread.place is not None:
        pair.take(Step("controller_continues_event", (broker,)))


def test_who_gives_up_a_controllership_of_2_0_and_deletes_anothers_node_tells_its_owner() -> None:
    pair = Lockstep(THREE, about=cluster.MAP, version="1.1")
    for step in (
        Step("broker_runs_for_controller", (3,)),
        Step("reply_to_registration_is_lost", (3,)),
        Step("controller_node_is_deleted", ()),
        *[Step(name, (1,)) for name in BECOMES_CONTROLLER],
        Step("controller_continues_event", (3,)),
        Step("controller_continues_event", (1,)),
    ):
        pair.take(step)
    goes_on(pair, 1)
    pair.take(Step("controller_handles_event", (1,)))

    assert "broker_loses_controller_election" in pair.progress.fired
    assert pair.last == ("controller_resigns", (1,))


def test_up_to_2_1_who_is_gone_is_dead_while_those_that_started_with_it_are_notified() -> None:
    pair = Lockstep(THREE, about=cluster.MAP, version="2.1")
    pair.take(Step("broker_runs_for_controller", (2,)))
    goes_on(pair, 2)
    pair.take(Step("session_expires", (1,)))
    pair.take(Step("controller_handles_event", (2,)))
    goes_on(pair, 2)
    pair.take(Step("broker_reconnects", (1,)))
    pair.take(Step("session_expires", (3,)))
    pair.take(Step("controller_handles_event", (2,)))

    assert pair.world.nodes[2].thread.controller.core.context.live == {1, 2}
    goes_on(pair, 2)
    assert {"controller_sees_new_brokers", "controller_sees_dead_brokers"} <= {*pair.progress.fired}


def test_up_to_2_1_a_broker_waits_until_the_node_of_its_last_session_is_gone() -> None:
    pair = Lockstep(THREE, about=cluster.MAP, version="2.1")
    pair.take(Step("session_ends_before_its_nodes", (1,)))

    assert Step("broker_replaces_its_old_registration", (1,)) not in pair.world.enabled()
    pair.take(Step("node_of_expired_session_is_deleted", (1,)))
    pair.take(Step("broker_reconnects", (1,)))


def test_a_controller_of_2_0_without_a_session_waits_where_requests_are_deleted() -> None:
    pair = Lockstep(THREE, about=cluster.MAP, version="2.0")
    pair.take(Step("broker_runs_for_controller", (2,)))
    for _ in range(4):
        pair.take(Step("controller_continues_event", (2,)))
    pair.take(Step("session_expires", (2,)))
    pair.take(Step("controller_continues_event", (2,)))

    assert pair.last == ("controller_sends_election_batch", (2,))
    assert Step("controller_continues_event", (2,)) not in pair.world.enabled()


@pytest.mark.parametrize("seed", [0, 4])
def test_since_2_6_nobody_shuts_down_in_a_walk(seed: int) -> None:
    fired = walk_cluster(seed, 300, faults="operators", version="2.7").fired

    assert "admin_asks_for_preferred_leaders" in fired
    assert "broker_asks_for_controlled_shutdown" not in fired


def test_up_to_2_0_a_leader_may_take_in_who_lacks_what_was_committed_as_in_no_walk() -> None:
    assert walk_cluster(4, 300, faults="crashes", version="1.1").steps == 300


def test_a_win_that_is_heard_without_a_session_makes_a_zombie() -> None:
    """Kafka asks nothing of ZooKeeper between its election and its failover."""
    pair = Lockstep(TWO, about=cluster.MAP)
    for name in ("broker_runs_for_controller", "session_expires", "controller_continues_event"):
        pair.take(Step(name, (1,)))

    assert pair.last == ("broker_learns_it_won", (1,))
    assert pair.world.nodes[1].thread.controller.active


# The command


def test_the_command_walks_clusters_and_counts_what_fired() -> None:
    found = CliRunner().invoke(lockstep, [
        "--system", "cluster", "--seeds", "1..1", "--steps", "80", "--faults", "crashes",
    ])  # fmt: skip

    assert found.exit_code == 0, found.output
    assert "of 83 transitions fired" in found.output


def test_the_map_lists_each_row_and_leaves_nothing_out() -> None:
    found = CliRunner().invoke(lockstep, ["--system", "cluster", "--map", "--json", "-"])

    reported = json.loads(found.output)
    assert reported["left_out"] == {}
    goes_on = reported["rows"]["controller_continues_event"]["transitions"]
    assert goes_on[:2] == ["broker_learns_it_won", "broker_loses_controller_election"]
