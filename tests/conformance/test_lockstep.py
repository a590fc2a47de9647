"""Model and implementation move together: same state after every step, same steps possible."""

from __future__ import annotations

import pytest
from hypothesis import settings

from conformance.lockstep import BOUNDS, Lockstep, Mismatch
from conformance.mapping import AS_RELEASED, ROWS, STEPS_OF, UNOBSERVED
from conformance.model_stepper import ModelStepper
from conformance.walks import walk
from impl.releases import DEFAULT
from impl.sim.simulation import Step
from impl.world.cluster import PartitionCluster
from impl.world.partition_steps import KINDS
from model.systems import system
from tests.conformance.machine import InStep, run
from tests.planting import commits_alone, plant

ELECTION = ("controller_reads_epoch", "controller_registers", "controller_learns_outcome")
"""How a broker becomes controller when nobody is in its way."""


InStep.TestCase.settings = settings(max_examples=20, stateful_step_count=40, deadline=None)
TestInStep = InStep.TestCase


@pytest.mark.parametrize("seed", range(12))
def test_a_seeded_walk_stays_in_step(seed: int) -> None:
    progress = walk(seed, steps=150)

    assert progress.steps == 150


def test_walks_are_the_same_for_the_same_seed() -> None:
    one, other = walk(3, steps=80), walk(3, steps=80)

    assert one == other


def test_every_transition_of_the_model_is_taken_in_some_walk() -> None:
    fired: set[str] = set()

    # The rarest of all: a lost reply that finds another controller, a removal that is fenced, a
    # write that is given up, and a deposed leader that would take a replica back.
    for seed in (46, 50, 52, 224, *range(60)):
        fired |= set(walk(seed, steps=300, enabledness_every=0).fired)
        if fired == set(STEPS_OF) - {"leader_answers_fetch_in_session"}:
            break
    fired |= set(walk(0, steps=600, enabledness_every=0, faults="fetch sessions").fired)

    assert fired == set(STEPS_OF)


def test_every_step_has_a_row_and_every_transition_an_implementation() -> None:
    recorded = system("replication").recorded(DEFAULT, AS_RELEASED)

    assert set(ROWS) == set(KINDS)
    assert set(STEPS_OF) == {step.transition.name for step in recorded.steps}
    assert all(row.parameters == KINDS[name].parameters for name, row in ROWS.items())


@pytest.mark.parametrize("seed", [9, 46])
def test_a_winner_of_0_10_that_did_not_hear_of_it_is_beyond_the_model_and_nobody_else_is(
    seed: int,
) -> None:
    """It goes on under an epoch that it did not win: its row says so; who lost stands again."""
    assert walk(seed, 160, enabledness_every=20, version="0.10").steps == 160


def test_brokers_of_2_8_under_an_older_protocol_ask_where_leader_epochs_end() -> None:
    """``inter.broker.protocol.version``: under that of 2.7 logs are cut by what fetches bring."""
    assert walk(1, 120, enabledness_every=0, version="2.8").steps == 120


def test_what_no_observation_shows_is_a_field_of_the_model_with_a_reason() -> None:
    fields = system("replication").recorded().fields

    assert set(UNOBSERVED) <= set(fields)
    assert {name for name, leaf in fields.items() if leaf.ghost} <= set(UNOBSERVED)


def first_mismatch(seeds: int, steps: int = 150) -> str:
    for seed in range(seeds):
        try:
            walk(seed, steps, enabledness_every=5)
        except Mismatch as mismatch:
            return str(mismatch)
    return ""


def test_a_follower_that_truncates_to_its_high_watermark_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plant(monkeypatch, "KIP-101")

    diagnosis = first_mismatch(seeds=60, steps=220)

    assert "after follower_truncates" in diagnosis
    assert "the model says" in diagnosis


def test_a_broker_that_obeys_an_older_controller_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plant(monkeypatch, "KAFKA-532")

    diagnosis = first_mismatch(seeds=60)

    assert "leader_and_isr_arrives" in diagnosis


def test_a_leader_that_ignores_its_slowest_isr_member_is_caught_with_the_steps_so_far(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    commits_alone(monkeypatch)

    diagnosis = first_mismatch(seeds=30)

    assert "leader_advances_hw" in diagnosis
    assert "the steps so far:" in diagnosis
    assert "controller_elects_leader(" in diagnosis


def after_an_election(epoch: int) -> Lockstep:
    """The first leader is elected; leader epochs go up to this one."""
    pair = Lockstep({**BOUNDS, "epoch": epoch})
    for name in (*ELECTION, "controller_reads_partition"):
        pair.take(Step(name, (1,)))
    pair.take(Step("controller_elects_leader", (1, 1)))
    pair.take(Step("controller_reads_partition", (1,)))
    return pair


def test_a_bound_of_the_partner_leaves_the_step_out_on_both_sides() -> None:
    pair, second = after_an_election(1), Step("controller_elects_leader", (1, 2))

    assert second in pair.world.enabled()
    assert second not in pair.choices()
    assert pair.compare_enabledness() > 0


def test_the_same_step_is_offered_where_the_bound_allows_it() -> None:
    assert Step("controller_elects_leader", (1, 2)) in after_an_election(2).choices()


def test_a_step_that_the_model_refuses_is_a_mismatch_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    offered = PartitionCluster.enabled
    early = Step("controller_reads_partition", (1,))
    monkeypatch.setattr(PartitionCluster, "enabled", lambda self: [*offered(self), early])

    with pytest.raises(Mismatch, match="the implementation offers controller_reads_partition"):
        Lockstep().compare_enabledness()


def test_a_step_that_the_implementation_lacks_is_a_mismatch_with_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    why_not = PartitionCluster.why_not
    monkeypatch.setattr(
        PartitionCluster, "why_not",
        lambda self, step: "never" if step.name == "session_expires" else why_not(self, step),
    )  # fmt: skip

    with pytest.raises(Mismatch, match="the model allows session_expires"):
        Lockstep().compare_enabledness()


def test_the_machine_of_bundles_and_swarms_finds_a_leader_that_waits_for_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    commits_alone(monkeypatch)

    with pytest.raises(Mismatch, match="leader_advances_hw"):
        run(examples=60, steps=40, derandomize=True)


def test_the_partner_is_compiled_once() -> None:
    assert ModelStepper.of(BOUNDS) is ModelStepper.of(dict(BOUNDS))
