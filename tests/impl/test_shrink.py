"""A failing run is made small, fails still, and is made of steps that the long one took."""

from __future__ import annotations

import pytest

from conformance.replay import judge
from impl.sim.simulator import SWARM
from impl.world.faults import LEFT_OUT, REPLICATION_FAULTS
from impl.world.minimize_run import FAULTS, shrink
from impl.world.partition_simulator import record, simulate, steps_of
from impl.world.trace import Trace
from tests.planting import plant


def misfits(trace: Trace) -> int | None:
    """After so many events the model does not follow."""
    lines = [finding.line for finding in judge(trace).findings]
    return min(lines) - 1 if lines else None  # the header's line


@pytest.fixture
def kip_101_is_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Followers cut at their high watermark, as up to 0.10."""
    plant(monkeypatch, "KIP-101")


def first_failing() -> Trace:
    runs = (simulate(seed, 800) for seed in range(40))
    return next(run for run in runs if misfits(run) is not None)


@pytest.mark.usefixtures("kip_101_is_undone")
def test_a_run_of_hundreds_of_steps_becomes_one_that_can_be_read() -> None:
    long = first_failing()

    found = shrink(long, misfits)

    small = found.trace
    assert misfits(small) == len(small.events)
    assert found.after[2] * 5 < found.before[2]
    assert found.after[1] <= 6 < found.before[1]
    assert shrink(small, misfits).after == found.after


@pytest.mark.usefixtures("kip_101_is_undone")
def test_no_single_step_of_a_small_run_can_go() -> None:
    small = shrink(first_failing(), misfits).trace
    steps = steps_of(small)

    for gone in range(len(steps)):
        shorter = record(steps[:gone] + steps[gone + 1 :], small.header)
        assert misfits(shorter) is None


def test_brokers_that_nobody_needs_go() -> None:
    run = simulate(3, 300, brokers=4)

    def two_elections(trace: Trace) -> int | None:
        elected = [at for at, event in enumerate(trace.events, 1)
                   if event.step == "controller_elects_leader"]  # fmt: skip
        return elected[1] if len(elected) > 1 else None

    found = shrink(run, two_elections)

    assert (found.before[0], found.after[0]) == (4, 2)
    assert found.after[1] == 0
    assert {event.step for event in found.trace.events}.isdisjoint(FAULTS)


def test_a_run_that_is_fine_is_not_made_small() -> None:
    with pytest.raises(ValueError, match="does not fail when it is played again"):
        shrink(simulate(1, 40), lambda trace: None)


def test_a_recorded_run_is_played_again_to_the_same_lines() -> None:
    run = simulate(6, 200, "lossy")

    assert record(steps_of(run), run.header) == run


def test_a_swarm_is_another_profile_each_seed_and_the_same_for_the_same() -> None:
    profiles = [REPLICATION_FAULTS.named(SWARM, seed) for seed in range(60)]

    assert profiles == [REPLICATION_FAULTS.named(SWARM, seed) for seed in range(60)]
    assert len({tuple(one.items()) for one in profiles}) > 30
    assert {one["crashes"] for one in profiles} == {0, 1, 3, 12}
    assert {*LEFT_OUT} == {name for one in profiles for name in LEFT_OUT if name in one}


def test_what_a_swarm_leaves_out_never_happens() -> None:
    for seed in range(12):
        taken = {event.step for event in simulate(seed, 150, SWARM).events}

        assert taken.isdisjoint({*LEFT_OUT} & REPLICATION_FAULTS.named(SWARM, seed).keys())
