"""Each write of a controller is fenced for a reason: without its fence a deposed one writes."""

from __future__ import annotations

import pytest

from model.topics import SYSTEM
from specs.explorer import find
from tests.specs.planted import Bug

FENCE = "the epoch that it won is the newest"
ONE, TWO = {"crashes": 0}, {"crashes": 0, "expiries": 2}
THREE = {"crashes": 0, "expiries": 3}

STEPS = {
    "partition_state_machine_starts": (ONE, 8),
    "controller_brings_partitions_online": (ONE, 12),
    "controller_drops_request": (ONE, 10),
    "controller_stops_replicas": (ONE, 12),
    "partition_znode_is_deleted": (ONE, 18),
    "topic_znode_is_deleted": (ONE, 16),
    "request_is_removed": (ONE, 17),
    "controller_elects_for_failed": (TWO, 11),
    "controller_takes_replicas_offline": (TWO, 12),
    "controller_elects_for_started": (THREE, 12),
}
"""Transition -> bounds, and steps of the shortest run on which a deposed controller writes."""

BY_A_STORY = {
    "controller_undoes_addition", "deletion_is_retried", "controller_write_conflicts",
    "controller_elects_preferred", "controller_moves_leaders", "controller_stops_followers",
    "replica_state_machine_starts",
}  # fmt: skip
"""Their fences are shown by stories of what is refused: `deposed_*`, and others."""


def test_every_write_that_is_fenced_is_looked_at():
    fenced = {
        step.transition.name
        for step in SYSTEM.recorded().steps
        if any(one.reason == FENCE for one in step.requires)
    }

    assert fenced == set(STEPS) | BY_A_STORY


@pytest.mark.deep
@pytest.mark.parametrize("step", STEPS)
def test_without_its_fence_a_deposed_controller_writes(step):
    bounds, steps = STEPS[step]
    cut = Bug(0, dropped=((step, FENCE),)).planted("topics")

    _, run = find(cut, SYSTEM.limits(bounds), "deposed_controllers_write_nothing", symmetry=True)

    assert run is not None
    assert len(run.steps) == steps
