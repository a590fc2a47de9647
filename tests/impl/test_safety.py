"""What must hold in every world: on long random runs, and for every order that Hypothesis finds."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from impl import PROFILES, Simulator, World
from impl.broker import Partition, ReplicaFetcher, ReplicaManager
from impl.requests import LeaderAndIsrRequest
from impl.world.faults import weight
from impl.world.ghost import ClaimBroken, Ghost


def watched_run(seed: int, faults: str, steps: int) -> Ghost:
    """A run with the ghost looking on after every step."""
    simulator = Simulator(seed, faults)
    ghost = Ghost(simulator.world)
    for _ in range(steps):
        simulator.advance()
        ghost.look()
    return ghost


@pytest.mark.parametrize("faults", sorted(PROFILES))
def test_no_committed_record_is_lost_on_long_random_runs(faults: str) -> None:
    ghosts = [watched_run(seed, faults, 1500) for seed in range(4)]

    assert all(len(ghost.committed) > 10 for ghost in ghosts)


def test_runs_see_zombies_while_records_are_committed() -> None:
    """The claims are not empty: two believe they lead, and something is committed already."""
    simulator = Simulator(2, "sessions")
    ghost = Ghost(simulator.world)
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


def test_a_client_that_was_told_otherwise_is_noticed() -> None:
    simulator = Simulator(2, "none")
    ghost = Ghost(simulator.world)
    for _ in range(400):
        simulator.advance()
        ghost.look()
    told = simulator.world.told
    before = told.save()
    unheard = next(r for r, acks in told.acks.items() if acks == "all")

    told.acknowledged.add(simulator.world.next_record)
    told.acks[simulator.world.next_record] = "all"
    with pytest.raises(ClaimBroken, match="was acknowledged and is not committed"):
        ghost.look()
    told.load(before)
    told.read[0] = (unheard, 99)
    with pytest.raises(ClaimBroken, match="offset 0 was read otherwise"):
        ghost.look()
    told.load(before)
    told.differed.add(0)
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


def truncates_to_high_watermark(self: ReplicaFetcher, epoch: int, end: int) -> tuple[int, bool]:
    return min(self.partition.hw, self.partition.log.end), True


def forgets_the_slowest(self: Partition) -> int:
    ends = sorted(self.end_of(replica) for replica in self.isr)
    return ends[min(1, len(ends) - 1)]


def never_stale(self: ReplicaManager, request: LeaderAndIsrRequest) -> bool:
    return False


def joins_at_the_high_watermark(self: Partition, replica: int) -> bool:
    return self.end_of(replica) >= self.hw


@pytest.mark.parametrize(
    ("owner", "method", "mutant", "broken"),
    [
        (ReplicaFetcher, "truncation_offset", truncates_to_high_watermark, "lacks committed"),
        (Partition, "high_watermark_candidate", forgets_the_slowest, "lacks committed"),
        (Partition, "may_join", joins_at_the_high_watermark, "lacks committed"),
        (ReplicaManager, "controller_epoch_is_stale", never_stale, "obeys an older controller"),
        (ReplicaManager, "leader_epoch_is_old", never_stale, "applies an older leader epoch"),
    ],
)
def test_each_protocol_check_is_missed_when_it_is_gone(
    monkeypatch: pytest.MonkeyPatch, owner: type, method: str, mutant: object, broken: str
) -> None:
    monkeypatch.setattr(owner, method, mutant)

    assert broken in first_broken(range(40))


class AnyOrder(RuleBasedStateMachine):
    """Hypothesis as the scheduler: any step that is enabled, in any order."""

    @initialize(brokers=st.integers(1, 4))
    def begin(self, brokers: int) -> None:
        self.world = World(brokers)
        self.ghost = Ghost(self.world)

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
