"""Every step of a stepped cluster."""

from __future__ import annotations

from functools import partial

from impl.sim.simulation import by_name
from impl.world.processes import PROCESSES
from impl.world.stepped import admin, controllers, elections, faults, moves, records, requests
from impl.world.stepped.stepped_cluster import SteppedCluster

STEPPED_CLUSTER_STEPS = by_name(
    admin.KINDS, controllers.KINDS, elections.KINDS, faults.KINDS, moves.KINDS, records.KINDS,
    requests.KINDS, PROCESSES,
)  # fmt: skip
"""Every step of a stepped cluster."""

stepped_cluster = partial(SteppedCluster, STEPPED_CLUSTER_STEPS)
"""A cluster with these steps."""
