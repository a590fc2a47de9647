"""Asking less finds the same: the steps that are asked about, and the leaves that are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from impl.core.partition import RemoteReplica
from impl.sim.simulation import Step
from impl.sim.simulator import SWARM
from impl.world.candidates import each_pending_request
from impl.world.cluster import PartitionCluster
from impl.world.faults import PROFILES
from impl.world.observation import ChangeTracker, leaves, observe
from impl.world.partition_simulator import PartitionSimulator
from impl.world.partition_steps import KINDS, partition_cluster
from impl.world.trace import apply_observation
from tests.impl.grid import grid


def asked_in_full(world: PartitionCluster) -> list[Step]:
    """Every step that may be taken, by asking about all that there could be."""
    return [
        Step(name, args)
        for name, kind in KINDS.items()
        for args in grid(world, kind)
        if kind.unmet is None or kind.unmet(world, *args) is None
    ]


@pytest.mark.parametrize("faults", [*sorted(PROFILES), SWARM])
@pytest.mark.parametrize("brokers", [1, 3])
def test_the_candidates_leave_out_no_step_that_may_be_taken(faults: str, brokers: int) -> None:
    simulator = PartitionSimulator(5, faults, brokers)

    for _ in range(250):
        assert simulator.world.enabled() == asked_in_full(simulator.world)
        simulator.advance()


def test_wrong_candidates_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    narrowed = replace(KINDS["follower_appends"], candidates=each_pending_request)
    monkeypatch.setitem(KINDS, "follower_appends", narrowed)

    with pytest.raises(AssertionError):
        test_the_candidates_leave_out_no_step_that_may_be_taken("everything", 3)


def differing(world: PartitionCluster, before: dict[str, object]) -> dict[str, object]:
    return {path: value for path, value in leaves(observe(world)).items() if before[path] != value}


def in_full(changed: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """What a log and its leader epochs are, where only their new end is shown."""
    facts = dict(before)
    apply_observation(facts, changed)
    return {path: facts[path] for path in changed}


@pytest.mark.parametrize("faults", ["everything", "crashes"])
def test_the_leaves_that_changed_are_those_that_differ(faults: str) -> None:
    simulator = PartitionSimulator(9, faults)
    changes = ChangeTracker(simulator.world)
    before = leaves(observe(simulator.world))

    for _ in range(600):
        simulator.advance()
        expected = differing(simulator.world, before)

        assert in_full(changes.look(), before) == expected
        before = leaves(observe(simulator.world))
        assert changes.known.items() <= before.items()


def change_checkpoint(world: PartitionCluster) -> None:
    world.hosts[2].checkpoint.offset += 1


def change_epoch_cache(world: PartitionCluster) -> None:
    world.hosts[2].log.epochs.assign(7, 0)


def change_known_end(world: PartitionCluster) -> None:
    world.hosts[2].partition.remotes[1] = RemoteReplica(5)


def change_min_read(world: PartitionCluster) -> None:
    world.controllers[2].read_epoch()


@pytest.mark.parametrize(
    "change", [change_checkpoint, change_epoch_cache, change_known_end, change_min_read]
)
def test_what_changes_in_a_broker_is_seen(change: Callable[[PartitionCluster], None]) -> None:
    world = partition_cluster()
    changes, before = ChangeTracker(world), leaves(observe(world))

    change(world)

    assert differing(world, before)
    assert in_full(changes.look(), before) == differing(world, before)
    assert changes.look() == {}
