"""What must hold in every world: on long random runs, and for every order that Hypothesis finds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from impl import PROFILES, Simulator, World
from impl.core.partition import Partition
from impl.world.faults import weight
from impl.world.ghost import ClaimBroken, PartitionHistory
from tests.planting import plant


def watched_run(seed: int, faults: str, steps: int) -> PartitionHistory:
    """A run after every step of which each claim of `Ghost` is asked; ClaimBroken if one fails."""
    simulator = Simulator(seed, faults)
    ghost = PartitionHistory(simulator.world)
    for _ in range(steps):
        simulator.advance()
        ghost.look()
    return ghost


@pytest.mark.parametrize(
    "seeds", [range(2), pytest.param(range(2, 8), marks=pytest.mark.deep)], ids=["few", "more"]
)
@pytest.mark.parametrize("faults", sorted(PROFILES))
def test_no_committed_record_is_lost_on_long_random_runs(faults: str, seeds: range) -> None:
    ghosts = [watched_run(seed, faults, 1500) for seed in seeds]

    assert all(len(ghost.committed) > 10 for ghost in ghosts)


def test_runs_see_zombies_while_records_are_committed() -> None:
    """The claims are not empty: two believe they lead, and something is committed already."""
    simulator = Simulator(2, "sessions")
    ghost = PartitionHistory(simulator.world)
    leaders = controllers = 0

    for _ in range(1500):
        simulator.advance()
        ghost.look()
        brokers = simulator.world.brokers.values()
        if ghost.committed:
            leaders = max(leaders, sum(broker.replicas.partition.leads for broker in brokers))
            believers = sum(broker.controller.belief is not None for broker in brokers)
            controllers = max(controllers, believers)

    assert leaders >= 2
    assert controllers >= 2


def test_a_client_that_saw_otherwise_is_noticed() -> None:
    simulator = Simulator(2, "none")
    ghost = PartitionHistory(simulator.world)
    for _ in range(400):
        simulator.advance()
        ghost.look()
    reported = simulator.world.client_view
    before = reported.save()
    unheard = next(r for r, acks in reported.acks.items() if acks == "all")

    reported.acknowledged.add(simulator.world.next_record)
    reported.acks[simulator.world.next_record] = "all"
    with pytest.raises(ClaimBroken, match="was acknowledged and is not committed"):
        ghost.look()
    reported.load(before)
    reported.read[0] = (unheard, 99)
    with pytest.raises(ClaimBroken, match="offset 0 was read otherwise"):
        ghost.look()
    reported.load(before)
    reported.differed.add(0)
    with pytest.raises(ClaimBroken, match="two reads of one offset"):
        ghost.look()


def first_broken(seeds: range) -> str:
    for seed in seeds:
        for faults in ("everything", "crashes", "sessions"):
            try:
                watched_run(seed, faults, 400)
            except ClaimBroken as broken:
                return str(broken)
    return "nothing is broken"


def forgets_the_slowest(self: Partition[Any], now_ms: int) -> int:
    ends = [self.log_end, *(one.end for name, one in self.remotes.items() if name in self.isr)]
    return max(self.hw, sorted(ends)[min(1, len(ends) - 1)])


@pytest.mark.parametrize(
    ("entry", "broken"),
    [
        ("KIP-101", "lacks committed"),
        ("KAFKA-7128", "lacks committed"),
        ("KAFKA-532", "obeys an older controller"),
        ("KAFKA-1188", "applies an older leader epoch"),
    ],
)
def test_each_protocol_check_is_missed_when_it_is_gone(
    monkeypatch: pytest.MonkeyPatch, entry: str, broken: str
) -> None:
    plant(monkeypatch, entry)

    assert broken in first_broken(range(40))


def test_a_leader_that_does_not_wait_for_its_slowest_member_loses_records(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Partition, "reached", forgets_the_slowest)

    assert "lacks committed" in first_broken(range(40))


class AnyOrder(RuleBasedStateMachine):
    """Hypothesis as the scheduler: any step that is enabled, in any order."""

    @initialize(brokers=st.integers(1, 4))
    def begin(self, brokers: int) -> None:
        self.world = World(brokers)
        self.ghost = PartitionHistory(self.world)

    @rule(data=st.data())
    def anything(self, data: st.DataObject) -> None:
        self.world.do(data.draw(st.sampled_from(self.world.enabled())))

    @rule(data=st.data())
    def something_likely(self, data: st.DataObject) -> None:
        steps = self.world.enabled()
        weights = [weight(self.world, step, PROFILES["none"]) for step in steps]
        likely = [step for step, share in zip(steps, weights, strict=True) if share >= 100]
        self.world.do(data.draw(st.sampled_from(likely or steps)))

    @precondition(lambda self: hasattr(self, "world"))
    @rule()
    def time_travel(self) -> None:
        before = self.world.snapshot()
        for step in self.world.enabled()[:3]:
            self.world.do(step)
            self.world.restore(before)
        assert self.world.snapshot() == before

    @invariant()
    def the_claims_hold(self) -> None:
        if hasattr(self, "ghost"):
            self.ghost.look()


AnyOrder.TestCase.settings = settings(max_examples=60, stateful_step_count=60, deadline=None)
TestAnyOrder = AnyOrder.TestCase
