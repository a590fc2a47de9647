"""What a step writes and sends is what it shows, no less and no more."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from conformance.cli.lockstep import lockstep
from conformance.effects import EffectsOfOnePartition
from conformance.lockstep import BOUNDS, Lockstep, Mismatch
from conformance.walks import walk
from impl.sim.simulation import Step
from impl.sim.simulator import SWARM
from impl.world import control
from impl.world.cluster import PartitionCluster
from impl.world.faults import PROFILES
from impl.world.partition_controller import Requests
from impl.znodes.client import States, UpdatedStates, ZnodeClient
from tests.planting import commits_alone

BECOMES_CONTROLLER = ("controller_reads_epoch", "controller_registers", "controller_learns_outcome",
             "controller_reads_partition")  # fmt: skip


def a_controller(effects: EffectsOfOnePartition) -> Lockstep:
    pair = Lockstep(BOUNDS, watcher=effects)
    for name in BECOMES_CONTROLLER:
        pair.take(Step(name, (1,)))
    return pair


def test_an_election_is_one_write_and_a_request_to_each_broker() -> None:
    effects = EffectsOfOnePartition()
    pair = a_controller(effects)
    before = effects.writes

    pair.take(Step("controller_elects_leader", (1, 2)))

    assert (effects.writes - before, effects.requests) == (1, 3)


@pytest.mark.parametrize("faults", [*PROFILES, SWARM])
def test_no_fault_makes_a_step_do_more_than_it_shows(faults: str) -> None:
    effects = EffectsOfOnePartition()

    progress = walk(5, 200, enabledness_every=0, faults=faults, effects=effects)

    assert progress.steps == 200
    assert effects.writes > 0


def test_a_znode_that_is_written_on_the_side_is_a_mismatch(monkeypatch: pytest.MonkeyPatch) -> None:
    written = ZnodeClient.update_states

    async def twice(
        self: ZnodeClient, states: States, epoch_version: int | None = None
    ) -> UpdatedStates:
        await self.make_path("/left/behind")
        return await written(self, states, epoch_version)

    monkeypatch.setattr(ZnodeClient, "update_states", twice)
    pair = a_controller(EffectsOfOnePartition())

    with pytest.raises(Mismatch, match="NodeCreated /left/behind, which shows nowhere"):
        pair.take(Step("controller_elects_leader", (1, 2)))


def test_a_request_that_is_reported_and_never_sent_is_a_mismatch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def drops(world: PartitionCluster, requests: Requests) -> None:
        for target, request in requests:
            world.on_request_sent(request.controller, target, request)

    monkeypatch.setattr(control, "put_in_flight", drops)
    pair = a_controller(EffectsOfOnePartition())

    with pytest.raises(Mismatch, match="request LeaderAndIsr of leader epoch 1"):
        pair.take(Step("controller_elects_leader", (1, 2)))


def test_requests_that_go_out_in_another_order_are_a_mismatch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sends = control.put_in_flight

    def backwards(world: PartitionCluster, requests: Requests) -> None:
        sends(world, requests[::-1])

    monkeypatch.setattr(control, "put_in_flight", backwards)
    pair = a_controller(EffectsOfOnePartition())

    with pytest.raises(Mismatch, match="requests go out by broker in their order"):
        pair.take(Step("controller_elects_leader", (1, 2)))


def test_the_command_tells_each_profile_and_what_was_compared() -> None:
    result = CliRunner().invoke(
        lockstep, ["--seeds", "0..1", "--steps", "60", "--faults", "lossy", "--json", "-"]
    )

    reported = json.loads(result.output)
    assert result.exit_code == 0
    assert (reported["verdict"], reported["profiles"][0]["steps"]) == ("holds", 120)
    assert reported["profiles"][0]["requests"] > 0


def test_the_command_tells_a_mismatch_with_its_diagnosis(monkeypatch: pytest.MonkeyPatch) -> None:
    commits_alone(monkeypatch)

    result = CliRunner().invoke(lockstep, ["--seeds", "0..2", "--faults", "none"])

    assert result.exit_code == 1
    assert "last accepted:" in result.output
    assert "nearest accepted alternative" in result.output
