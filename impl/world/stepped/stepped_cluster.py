"""A stepped cluster: every event, request and fault is a step, and a grain suspends controllers.

Controllers and brokers are those that serve clients (`impl.core`), over logs of numbered records. A
grain sets the suspension points: batch by batch in the life of a topic (`BATCHES`), write by write
where a partition moves (`WRITES`), or by controller registrations and the controllers' writes
(`ELECTIONS`). Source: fact sheet b to k.
"""

from __future__ import annotations

from functools import partial

from impl.sim.world_of_steps import by_name
from impl.world.processes import PROCESSES
from impl.world.stepped import admin, controllers, elections, faults, moves, records, requests
from impl.world.stepped.batches import BATCHES
from impl.world.stepped.controller_run import FIRST, TOPIC
from impl.world.stepped.elections import ELECTIONS
from impl.world.stepped.state import SteppedCluster
from impl.world.stepped.writes import WRITES

__all__ = [
    "BATCHES", "ELECTIONS", "FIRST", "STEPPED_KINDS", "TOPIC", "WRITES", "SteppedCluster",
    "stepped_cluster",
]  # fmt: skip

STEPPED_KINDS = by_name(
    admin.KINDS, controllers.KINDS, elections.KINDS, faults.KINDS, moves.KINDS, records.KINDS,
    requests.KINDS, PROCESSES,
)  # fmt: skip
"""Every step of a stepped cluster."""

stepped_cluster = partial(SteppedCluster, STEPPED_KINDS)
"""A cluster with these steps."""
