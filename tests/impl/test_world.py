"""The world's state: snapshots are exact, comparable and fast; enabledness is honest."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from impl.sim.simulation import Step, StepNotPossible
from impl.world.cluster import PartitionCluster
from impl.world.observation import observe
from impl.world.partition_simulator import PartitionSimulator
from impl.world.partition_steps import KINDS, partition_cluster


def after(steps: int, seed: int = 7) -> PartitionCluster:
    simulator = PartitionSimulator(seed)
    for _ in range(steps):
        simulator.advance()
    return simulator.world


def test_a_restored_world_goes_on_exactly_as_the_first_one_did() -> None:
    simulator = PartitionSimulator(5)
    for _ in range(150):
        simulator.advance()
    snapshot = simulator.world.snapshot()
    steps = [step for step in (simulator.advance() for _ in range(150)) if step is not None]
    end = simulator.world.snapshot()

    other = partition_cluster()
    other.restore(snapshot)
    same_after_restoring = other.snapshot() == snapshot
    for step in steps:
        other.do(step)

    assert same_after_restoring
    assert other.snapshot() == end


def test_a_snapshot_does_not_change_with_the_world() -> None:
    simulator = PartitionSimulator(5)
    for _ in range(100):
        simulator.advance()
    snapshot = simulator.world.snapshot()
    before = repr(snapshot)

    for _ in range(100):
        simulator.advance()

    assert repr(snapshot) == before
    assert simulator.world.snapshot() != snapshot


def test_a_snapshot_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="of 2 brokers, this world has 3"):
        partition_cluster(3).restore(partition_cluster(2).snapshot())


def least_ms(act: Callable[[], object]) -> float:
    """The fastest of many runs: what the work costs, not what the machine was busy with."""
    times = []
    for _ in range(200):
        start = time.perf_counter()
        act()
        times.append(time.perf_counter() - start)
    return min(times) * 1000


def test_snapshot_and_restore_take_well_under_a_millisecond() -> None:
    world = after(2000)
    snapshot = world.snapshot()

    assert least_ms(world.snapshot) < 0.5
    assert least_ms(lambda: world.restore(snapshot)) < 0.5


def test_enabled_steps_are_sorted_and_exactly_those_that_can_be_taken() -> None:
    world = after(120)
    snapshot = world.snapshot()
    enabled = world.enabled()

    assert enabled == sorted(set(enabled))
    for name, kind in KINDS.items():
        for args in kind.candidates(world):
            step = Step(name, args)
            if step in enabled:
                world.do(step)
            else:
                with pytest.raises(StepNotPossible):
                    world.do(step)
            world.restore(snapshot)
    assert world.snapshot() == snapshot


def test_looking_changes_nothing_and_gives_plain_data() -> None:
    world = after(200)
    snapshot = world.snapshot()

    seen = observe(world)
    seen["brokers"][1]["log"].append("scribble")

    assert world.snapshot() == snapshot
    assert json.dumps(observe(world))


def test_session_ids_and_zxids_begin_elsewhere_for_another_seed_and_nothing_else_changes() -> None:
    one, two = observe(partition_cluster(seed=1)), observe(partition_cluster(seed=2))
    epochs = [seen["zookeeper"].pop("broker_epochs") for seen in (one, two)]

    assert epochs[0] != epochs[1]
    assert one == two
